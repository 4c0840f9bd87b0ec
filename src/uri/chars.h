/* uri/chars.h - characters of URIs and their percent-encoding.
 *
 * The classes of RFC 3986 section 2 and RFC 3987 section 2.2, and the normal form that templates are
 * matched in. Independent of the locale. Not here: which classes a part of a URI may hold
 * (uri/reference.c).
 */
#ifndef URI_CHARS_H
#define URI_CHARS_H

#include "base/str.h"

enum uri_char {
	CHAR_OTHER = 0, /* '%', all that may not appear in a URI, and every byte beyond ASCII */
	CHAR_ALPHA = 1,
	CHAR_DIGIT = 2,
	CHAR_MARK = 4, /* - . _ ~ */
	CHAR_SUB_DELIM = 8,
	CHAR_GEN_DELIM = 16,
	CHAR_UCS = 32,     /* beyond ASCII, in an IRI: ucschar */
	CHAR_PRIVATE = 64, /* beyond ASCII, in the query of an IRI: iprivate */
	CHAR_UNRESERVED = CHAR_ALPHA | CHAR_DIGIT | CHAR_MARK,
	CHAR_RESERVED = CHAR_SUB_DELIM | CHAR_GEN_DELIM
};

extern const unsigned char uri_char_classes[256];

/* The one class of a byte. */
static inline unsigned uri_char_class(char c)
{
	return uri_char_classes[(unsigned char)c];
}

/* The class of the code point at s.p[i] (i < n), beyond ASCII too, and its length in bytes.
 * CHAR_OTHER for a broken sequence. */
unsigned uri_char_at(struct str s, size_t i, size_t *ret_len);
/* 0 to 15, or -1. */
int uri_hex_digit(char c);
/* Is there a complete escape at s.p[i]? */
bool uri_escape_at(struct str s, size_t i);
/* Writes '%' and two capital hex digits. */
void uri_escape(char out[3], unsigned char c);
/* Writes the normal form of what stands at s.p[*i] (i < n) and moves on; returns the length, 1 or
 * 3, or 0 for a broken escape. */
size_t uri_normal_next(struct str s, size_t *i, char out[3]);
/* Does this piece of normal form continue an encoded character (UTF-8 10xxxxxx)? */
bool uri_continues(const char *piece, size_t n);

#endif
