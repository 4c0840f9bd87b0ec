/* uri/chars.c - characters of URIs and their percent-encoding; see chars.h.
 *
 * In the normal form everything that may not appear in a URI is escaped, and escapes have capital
 * digits. Not here: resolving or normalising whole URIs.
 */
#include "uri/chars.h"

#include <string.h>

#define A CHAR_ALPHA
#define D CHAR_DIGIT
#define M CHAR_MARK
#define S CHAR_SUB_DELIM
#define G CHAR_GEN_DELIM

/* clang-format off */
const unsigned char uri_char_classes[256] = {
	/*          0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f */
	[0x20] =    0, S, 0, G, S, 0, S, S, S, S, S, S, S, M, M, G,
	[0x30] =    D, D, D, D, D, D, D, D, D, D, G, S, 0, S, 0, G,
	[0x40] =    G, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
	[0x50] =    A, A, A, A, A, A, A, A, A, A, A, G, 0, G, 0, M,
	[0x60] =    0, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
	[0x70] =    A, A, A, A, A, A, A, A, A, A, A, 0, 0, 0, M, 0,
};
/* clang-format on */

#undef A
#undef D
#undef M
#undef S
#undef G

/* RFC 3987 section 2.2. Planes 1 to 13 go from their first code point, 14 from E1000; no plane has
 * its last two. */
static unsigned wide_class(uint32_t c)
{
	if ((c >= 0xA0 && c <= 0xD7FF) || (c >= 0xF900 && c <= 0xFDCF) ||
	    (c >= 0xFDF0 && c <= 0xFFEF))
		return CHAR_UCS;
	if (c >= 0xE000 && c <= 0xF8FF)
		return CHAR_PRIVATE;
	if (c < 0x10000 || c > 0x10FFFD || (c & 0xFFFF) > 0xFFFD || (c >= 0xE0000 && c < 0xE1000))
		return CHAR_OTHER;
	return c >= 0xF0000 ? CHAR_PRIVATE : CHAR_UCS;
}

unsigned uri_char_at(struct str s, size_t i, size_t *ret_len)
{
	size_t next = i;
	uint32_t c;

	*ret_len = 1;
	if ((unsigned char)s.p[i] < 0x80)
		return uri_char_class(s.p[i]);
	c = utf8_next(s, &next);
	*ret_len = next - i;
	return c == UTF8_BAD ? CHAR_OTHER : wide_class(c);
}

int uri_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uri_escape_at(struct str s, size_t i)
{
	return s.n - i >= 3 && s.p[i] == '%' && uri_hex_digit(s.p[i + 1]) >= 0 &&
	       uri_hex_digit(s.p[i + 2]) >= 0;
}

void uri_escape(char out[3], unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";

	out[0] = '%';
	out[1] = digits[c >> 4];
	out[2] = digits[c & 15];
}

size_t uri_normal_next(struct str s, size_t *i, char out[3])
{
	char c = s.p[*i];

	if (c == '%') {
		if (!uri_escape_at(s, *i))
			return 0;
		uri_escape(out, (unsigned char)(uri_hex_digit(s.p[*i + 1]) << 4 |
						uri_hex_digit(s.p[*i + 2])));
		*i += 3;
		return 3;
	}
	++*i;
	if (uri_char_class(c) == CHAR_OTHER) {
		uri_escape(out, (unsigned char)c);
		return 3;
	}
	out[0] = c;
	return 1;
}

bool uri_continues(const char *piece, size_t n)
{
	return n == 3 && memchr("89AB", piece[1], 4);
}
