/* field/reader.h - the place in a signature's text, its tokens and its error messages.
 *
 * Every error says where, what was expected and what was found, because signatures are typed by
 * people. Nothing is read behind `end`, and nothing is allocated outside the arena. Not here: what
 * the tokens mean together (signature.c).
 */
#ifndef FIELD_READER_H
#define FIELD_READER_H

#include "base/arena.h"
#include "base/str.h"

#include <cleat/json.h>

struct reader {
	struct arena *ar;
	cleat_error *err;           /* may be NULL */
	const char *text, *p, *end; /* end is where the text, valid UTF-8 or the limit ends */
	size_t max;                 /* the limit */
	bool too_long;              /* it was the limit */
};

/* ---- errors: fill in *err and return CLEAT_EINVAL or CLEAT_ENOMEM -------------------------- */

int reader_no_memory(struct reader *r);
/* "column 14: " (with the line, where there are several) and the message. */
int reader_fail(struct reader *r, const char *at, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* "column 14: expected WHAT, got ..." at the reader's place. */
int reader_expected(struct reader *r, const char *what);
/* What is at the reader's place, for "got ...". Terminated, in the arena; never NULL. */
const char *reader_found(struct reader *r);

/* ---- tokens ------------------------------------------------------------------------------- */

/* The text from the reader's place on. */
struct str reader_ahead(const struct reader *r);
/* These skip white space first: the next place; the character there (0 at the end); is it c, and
 * then go past it. */
const char *reader_place(struct reader *r);
char reader_peek(struct reader *r);
bool reader_take(struct reader *r, char c);
/* Length of the string literal at p with both quotes; 0 when it is not closed. */
size_t reader_string(const struct reader *r, const char *p);
/* Length of the number at p; 0 when there is none. A point counts only before a digit, so that
 * 1..14 is a range. */
size_t reader_number(const struct reader *r, const char *p);
/* Parses n bytes as JSON; CLEAT_EINVAL, without a message, when it is none. */
int reader_json(struct reader *r, const char *at, size_t n, const cleat_json **ret);
/* The string literal at the reader's place, decoded, and goes past it. Names, texts and choices
 * are C strings in a field, so NUL has no place in them. */
int reader_text(struct reader *r, const char **ret);

#endif
