/* protocol/uri_chars.c - characters of URIs and their percent-encoding, for the URI template files.
 *
 * Byte classes of RFC 3986 section 2 and the normal form that matching compares in: everything that
 * may not stand in a URI is escaped, escapes have capital digits. Independent of the locale. Not
 * here: resolving or normalising whole URIs.
 */
#include "protocol/uri_template_impl.h"

#include <string.h>

int uri_char_class(char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return CHAR_UNRESERVED;
	if (memchr("-._~", c, 4))
		return CHAR_UNRESERVED;
	return memchr(":/?#[]@!$&'()*+,;=", c, 18) ? CHAR_RESERVED : CHAR_OTHER;
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

struct str uri_prefix(struct str s, size_t max)
{
	size_t i = 0;

	if (max == 0)
		return s;
	for (; i < s.n; i++)
		if (((unsigned char)s.p[i] & 0xC0) != 0x80 && max-- == 0)
			break;
	return (struct str){ s.p, i };
}
