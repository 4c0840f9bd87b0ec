/* uri/address.c - IP addresses in text; see address.h.
 *
 * One walk from left to right over each, by index; nothing is copied or converted except the numbers
 * that have a range.
 */
#include "uri/address.h"

#include "uri/chars.h"

/* How many digits a dec-octet at p has, of n bytes; 0 where there is none. */
static size_t octet_length(const char *p, size_t n)
{
	unsigned value = 0;
	size_t i = 0;

	while (i < n && i < 3 && (unsigned char)(p[i] - '0') <= 9)
		value = value * 10 + (unsigned)(p[i++] - '0');
	return value > 255 || (i > 1 && p[0] == '0') ? 0 : i;
}

bool ip4_valid(struct str text)
{
	size_t at = 0;

	for (int part = 0; part < 4; part++) {
		size_t digits;

		if (part > 0 && (at == text.n || text.p[at++] != '.'))
			return false;
		digits = octet_length(text.p + at, text.n - at);
		if (digits == 0)
			return false;
		at += digits;
	}
	return at == text.n;
}

/* The hex digits at text.p[i], at most five: a group has four. */
static size_t group_length(struct str text, size_t i)
{
	size_t n = 0;

	while (n < 5 && i + n < text.n && uri_hex_digit(text.p[i + n]) >= 0)
		n++;
	return n;
}

static bool gap_at(struct str text, size_t i)
{
	return text.n - i >= 2 && text.p[i] == ':' && text.p[i + 1] == ':';
}

bool ip6_valid(struct str text)
{
	bool gap = gap_at(text, 0);
	size_t i = gap ? 2 : 0, groups = 0, len;

	while (i < text.n) {
		len = group_length(text, i);
		if (i + len < text.n && text.p[i + len] == '.') {
			if (!ip4_valid((struct str){ text.p + i, text.n - i }))
				return false;
			groups += 2;
			break;
		}
		if (len == 0 || len > 4 || ++groups > 8)
			return false;
		i += len;
		if (i == text.n)
			break;
		if (gap_at(text, i)) {
			if (gap)
				return false;
			gap = true;
			i += 2;
		} else if (text.p[i++] != ':' || i == text.n) {
			return false;
		}
	}
	return gap ? groups <= 7 : groups == 8;
}
