/* base/str.c - see str.h. */
#include "base/str.h"

#include <string.h>

static unsigned char str_lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

bool str_same(struct str a, struct str b)
{
	if (str_eq(a, b)) /* mostly */
		return true;
	for (size_t i = 0; i < a.n && a.n == b.n; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return false;
	return a.n == b.n;
}

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_among(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_eqz(s, *words))
			return true;
	return false;
}

bool str_has_nul(struct str s)
{
	return s.n && memchr(s.p, '\0', s.n) != NULL;
}

uint32_t str_hash(struct str s, uint32_t seed)
{
	uint32_t h = 2166136261u ^ seed;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h ^ (h >> 15);
}

/* Bytes of the well-formed sequence at p, or 0 (Unicode 15, table 3-7). */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
	unsigned char lo = 0x80, hi = 0xBF;
	size_t len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF) {
		len = 2;
	} else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
		len = 3;
		lo = p[0] == 0xE0 ? 0xA0 : lo;
		hi = p[0] == 0xED ? 0x9F : hi;
	} else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
		len = 4;
		lo = p[0] == 0xF0 ? 0x90 : lo;
		hi = p[0] == 0xF4 ? 0x8F : hi;
	} else {
		return 0;
	}
	if (n < len || p[1] < lo || p[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if (p[i] < 0x80 || p[i] > 0xBF)
			return 0;
	return len;
}

size_t utf8_valid_prefix(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n) {
		uint64_t word;
		size_t len;

		if (s.n - i >= 8) {
			memcpy(&word, p + i, 8);
			if (!(word & 0x8080808080808080u)) {
				i += 8;
				continue;
			}
		}
		len = utf8_sequence(p + i, s.n - i);
		if (!len)
			return i;
		i += len;
	}
	return i;
}

size_t utf8_length(struct str s)
{
	size_t count = 0;

	for (size_t i = 0; i < s.n; i++)
		count += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return count;
}

uint32_t utf8_next(struct str s, size_t *i)
{
	static const unsigned char first_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	const unsigned char *p = (const unsigned char *)s.p + *i;
	size_t len = utf8_sequence(p, s.n - *i);
	uint32_t c = p[0] & first_bits[len];

	*i += len ? len : 1;
	for (size_t k = 1; k < len; k++)
		c = c << 6 | (p[k] & 0x3F);
	return len ? c : UTF8_BAD;
}

bool utf8_unsafe(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x1F },        { 0x7F, 0x9F },       { 0x61C, 0x61C },   { 0x200B, 0x200B },
		{ 0x200E, 0x200F }, { 0x2028, 0x202E },   { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF },
		{ 0xFFF9, 0xFFFB }, { 0xE0000, 0xE007F },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i][0]; i++)
		if (c <= ranges[i][1])
			return true;
	return false;
}

/* The folded character at s->p, which is moved on. */
static unsigned char fold(struct str *s)
{
	unsigned char c = (unsigned char)*s->p;
	size_t len = 1;

	if (s->n >= 2 && memcmp(s->p, "\xC5\xBF", 2) == 0)
		c = 's', len = 2;
	else if (s->n >= 3 && memcmp(s->p, "\xE2\x84\xAA", 3) == 0)
		c = 'k', len = 3;
	s->p += len;
	s->n -= len;
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

bool str_lookalike(struct str a, const char *z)
{
	struct str b = str_of(z);

	if (str_eq(a, b))
		return false;
	while (a.n && b.n)
		if (fold(&a) != fold(&b))
			return false;
	return a.n == b.n;
}

enum { DISTANCE_MAX_LEN = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

size_t str_distance(struct str a, struct str b, size_t limit)
{
	size_t rows[3][DISTANCE_MAX_LEN + 1];
	size_t *before = rows[0], *prev = rows[1], *cur = rows[2];

	if (a.n > DISTANCE_MAX_LEN || b.n > DISTANCE_MAX_LEN)
		return SIZE_MAX;
	if ((a.n > b.n ? a.n - b.n : b.n - a.n) > limit)
		return SIZE_MAX;
	for (size_t j = 0; j <= b.n; j++)
		prev[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *spare = before;

		cur[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			bool same = str_lower(a.p[i - 1]) == str_lower(b.p[j - 1]);

			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + !same);
			if (i > 1 && j > 1 && str_lower(a.p[i - 1]) == str_lower(b.p[j - 2]) &&
			    str_lower(a.p[i - 2]) == str_lower(b.p[j - 1]) &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[b.n] <= limit ? prev[b.n] : SIZE_MAX;
}

void str_nearest_offer(struct str_nearest *n, struct str candidate)
{
	size_t limit = n->wanted.n / 3, d;

	limit = limit > 4 ? 4 : limit; /* of one or two letters only the case may differ */
	if (n->best.p && n->distance == 0)
		return;
	if (n->best.p)
		limit = n->distance - 1;
	d = str_distance(n->wanted, candidate, limit);
	if (d == SIZE_MAX)
		return;
	n->best = candidate;
	n->distance = d;
}
