/* uri/reference.h - URIs and relative references by RFC 3986.
 *
 * Slices of the text, nothing decoded, nothing allocated. Not here: templates (uri/template.h), what
 * a scheme means, connecting to anything.
 */
#ifndef URI_REFERENCE_H
#define URI_REFERENCE_H

#include "base/buf.h"
#include "base/str.h"

/* The parts of a reference, without their delimiters. An absent one has p == NULL; a part that is
 * there may be empty ("http://h?" has an empty query). The path is never absent. */
struct uri {
	struct str scheme, authority, path, query, fragment;
	struct str userinfo, host,
		port; /* of the authority; host of an IPv6 literal has brackets */
};

enum uri_flag { URI_IRI = 1 /* characters of RFC 3987 are allowed too */ };

/* Splits and checks the text against RFC 3986 (characters, percent escapes, IP literals, port).
 * False when it is not a URI reference; *ret is then of no use. A URI is one with a scheme. A port may
 * be empty and has no maximum, a host may be empty: what a scheme asks beyond the grammar is up to
 * the caller. Linear in the length. */
bool uri_split(struct str text, unsigned flags, struct uri *ret);
/* Appends ref resolved against base (5.2, strict), with scheme and host in lower case, the digits of
 * escapes in capitals (6.2.2.1) and dot segments removed. An empty base, or one that is not absolute,
 * leaves a relative result, which keeps the ".." that go beyond it. A result with a scheme does not
 * change when it is resolved again. False when ref, or base, is not a URI reference; then nothing is
 * written. Errors of the buf latch; it needs room for both texts and 4 bytes. */
bool uri_resolve(struct buf *out, struct str base, struct str ref);
/* Its port, or the usual one of http and https; 0: none, also for one above 65,535. */
unsigned uri_port(const struct uri *u);
/* Are these URLs with the same scheme, host and port (RFC 6454)? */
bool uri_same_origin(struct str a, struct str b);
/* The part before '#'; does not check. */
struct str uri_without_fragment(struct str text);

#endif
