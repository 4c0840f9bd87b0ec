/* json/plain.c - which bytes of a text stand in JSON as they are: valid UTF-8 without control characters,
 * quotes and backslashes. See node.h. Text is looked at eight bytes at a time, and only where one of them
 * needs care character by character. Not here: what becomes of the others (writer.c, build.c).
 */
#include "json/node.h"

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Is any of the eight bytes a control character, a quote, a backslash or not ASCII? */
static bool word_needs_care(uint64_t w)
{
	uint64_t quote = w ^ (ONES * '"'), slash = w ^ (ONES * '\\');

	return ((w | ((w - ONES * 0x20) & ~w) | ((quote - ONES) & ~quote) |
		 ((slash - ONES) & ~slash)) &
		HIGHS) != 0;
}

size_t text_step(const unsigned char *p, size_t n, bool *valid)
{
	unsigned char lo = 0x80, hi = 0xBF;
	size_t len;

	*valid = true;
	if (p[0] < 0x80)
		return 1;
	*valid = false;
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 1;
	len = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	if (p[0] == 0xE0)
		lo = 0xA0;
	else if (p[0] == 0xED)
		hi = 0x9F;
	else if (p[0] == 0xF0)
		lo = 0x90;
	else if (p[0] == 0xF4)
		hi = 0x8F;
	for (size_t i = 1; i < len; i++) {
		if (i == n || p[i] < lo || p[i] > hi)
			return i;
		lo = 0x80;
		hi = 0xBF;
	}
	*valid = true;
	return len;
}

/* Eight bytes that need care where one of the few of a short text does. */
static uint64_t short_word(const char *p, size_t n)
{
	if (n >= 4)
		return node_load4(p) | (uint64_t)node_load4(p + n - 4) << 32;
	return ONES * 'a' << 24 | (uint64_t)(unsigned char)p[n - 1] << 16 |
	       (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[0];
}

/* From `i`, where something needs care or is not ASCII, character by character. */
static size_t careful_prefix(struct str s, size_t i)
{
	const unsigned char *p = (const unsigned char *)s.p;

	while (i < s.n) {
		bool valid;
		size_t len;

		if (s.n - i >= 8 && !word_needs_care(node_load8(s.p + i))) {
			i += 8;
			continue;
		}
		if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
			return i;
		len = text_step(p + i, s.n - i, &valid);
		if (!valid)
			return i;
		i += len;
	}
	return i;
}

size_t text_safe_prefix(struct str s)
{
	size_t i = 0;

	if (s.n < 8)
		return s.n == 0 || !word_needs_care(short_word(s.p, s.n)) ? s.n
									  : careful_prefix(s, 0);
	while (s.n - i >= 8 && !word_needs_care(node_load8(s.p + i)))
		i += 8;
	/* the rest is in the last eight bytes */
	if (s.n - i < 8 && !word_needs_care(node_load8(s.p + s.n - 8)))
		return s.n;
	return careful_prefix(s, i);
}
