/* base/base64.h - RFC 4648: bytes as text.
 *
 * Decoding is strict: there is exactly one text for some bytes. White space, characters of the other
 * alphabet, missing or superfluous padding and bits after the last byte are refused.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

enum base64 {
	BASE64_STANDARD, /* section 4, padded */
	BASE64_URL       /* section 5, without padding */
};

/* Characters for n bytes; SIZE_MAX when that is more than a size_t holds. */
size_t base64_size(enum base64 kind, size_t n);
/* Writes base64_size() characters and gives the end; not terminated. */
char *base64_encode(enum base64 kind, const void *bytes, size_t n, char *to);
/* Appends the bytes. CLEAT_OK, CLEAT_EPROTO when the text is not base64, or the status of `out`, which
 * has nothing appended then. */
int base64_decode(enum base64 kind, struct str text, struct buf *out);

#endif
