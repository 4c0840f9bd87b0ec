/* format/alabel.c - labels of host names that are Punycode ("xn--...").
 *
 * Decodes by RFC 3492 and checks what IDNA (RFC 5891, 5892) says that can be said without tables of
 * Unicode properties: hyphens, the exceptions, and the contextual rules, with scripts taken as ranges.
 * Not here: which of the other code points are allowed, combining marks outside the blocks that hold
 * nothing else, and what joiners may follow. So a label that is refused is wrong; one that is
 * accepted may still be.
 */
#include "format/impl.h"

#include "uri/chars.h"

enum { LABEL_MAX = 63, PREFIX = 4 };

struct label {
	uint32_t c[LABEL_MAX];
	size_t n;
};

/* ---- Punycode ----------------------------------------------------------------------------- */

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_BIAS = 72, FIRST_N = 0x80 };

/* RFC 3492 section 5; BASE for what is not a digit. */
static uint32_t digit_value(char c)
{
	switch (uri_char_class(c)) {
	case CHAR_ALPHA: return (uint32_t)((c | 0x20) - 'a');
	case CHAR_DIGIT: return (uint32_t)(c - '0' + 26);
	default: return BASE;
	}
}

/* Section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta /= first ? DAMP : 2;
	delta += delta / points;
	for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* One number of variable length (section 3.3), added to *i; false at a bad digit and where it would
 * not fit. */
static bool add_number(struct str s, size_t *at, uint32_t bias, uint32_t *i)
{
	uint32_t weight = 1;

	for (uint32_t k = BASE;; k += BASE) {
		uint32_t digit = *at < s.n ? digit_value(s.p[(*at)++]) : BASE;
		uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;

		if (digit == BASE || digit > (UINT32_MAX - *i) / weight)
			return false;
		*i += digit * weight;
		if (digit < t)
			return true;
		if (weight > UINT32_MAX / (BASE - t))
			return false;
		weight *= BASE - t;
	}
}

/* Puts a code point at place i; it has fewer than LABEL_MAX before it, a digit each at the least. */
static void insert(struct label *l, size_t i, uint32_t c)
{
	for (size_t k = l->n++; k > i; k--)
		l->c[k] = l->c[k - 1];
	l->c[i] = c;
}

/* Section 6.2. False also when there is nothing beyond ASCII: then it is not an A-label. */
static bool alabel_decode(struct str s, struct label *l)
{
	uint32_t n = FIRST_N, i = 0, bias = FIRST_BIAS;
	size_t at = s.n;

	while (at > 0 && s.p[at - 1] != '-')
		at--;
	for (size_t k = 0; k + 1 < at; k++) {
		char c = s.p[k];

		l->c[l->n++] = (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	if (at == s.n || at == 1) /* no numbers, or a delimiter with nothing before it */
		return false;
	while (at < s.n) {
		uint32_t before = i, points = (uint32_t)l->n + 1;

		if (!add_number(s, &at, bias, &i))
			return false;
		bias = adapt(i - before, points, before == 0);
		if (i / points > 0x10FFFF - n)
			return false;
		n += i / points;
		i %= points;
		if (n >= 0xD800 && n <= 0xDFFF)
			return false;
		insert(l, i++, n);
	}
	return true;
}

/* ---- IDNA --------------------------------------------------------------------------------- */

struct range {
	uint32_t first, last;
};

static bool in(const struct range *ranges, uint32_t c)
{
	for (; ranges->last; ranges++)
		if (c >= ranges->first && c <= ranges->last)
			return true;
	return false;
}

/* RFC 5892 section 2.6, the ones that are DISALLOWED, and what is never anything else: controls,
 * private use, noncharacters. */
static const struct range disallowed[] = {
	{ 0x0080, 0x009F }, { 0x0640, 0x0640 },    { 0x07FA, 0x07FA }, { 0x302E, 0x302F },
	{ 0x3031, 0x3035 }, { 0x303B, 0x303B },    { 0xE000, 0xF8FF }, { 0xFDD0, 0xFDEF },
	{ 0xFFFE, 0xFFFF }, { 0xF0000, 0x10FFFF }, { 0, 0 },
};

/* The blocks that hold nothing but combining marks. */
static const struct range marks[] = {
	{ 0x0300, 0x036F }, { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF },
	{ 0x20D0, 0x20FF }, { 0xFE20, 0xFE2F }, { 0, 0 },
};

static const struct range greek[] = { { 0x0370, 0x03FF }, { 0x1F00, 0x1FFF }, { 0, 0 } };
static const struct range hebrew[] = { { 0x0590, 0x05FF }, { 0, 0 } };
static const struct range kana_or_han[] = {
	{ 0x3005, 0x3005 }, { 0x3007, 0x3007 }, { 0x3041, 0x3096 },   { 0x309D, 0x309F },
	{ 0x30A1, 0x30FA }, { 0x30FD, 0x30FF }, { 0x31F0, 0x31FF },   { 0x3400, 0x4DBF },
	{ 0x4E00, 0x9FFF }, { 0xF900, 0xFAFF }, { 0x20000, 0x3FFFF }, { 0, 0 },
};
static const struct range arabic_digits[] = { { 0x0660, 0x0669 }, { 0, 0 } };
static const struct range extended_digits[] = { { 0x06F0, 0x06F9 }, { 0, 0 } };

static bool any(const struct label *l, const struct range *ranges)
{
	for (size_t i = 0; i < l->n; i++)
		if (in(ranges, l->c[i]))
			return true;
	return false;
}

/* RFC 5892 appendix A. No code point is 0, which stands for the place before and behind. */
static bool context_ok(const struct label *l, size_t i)
{
	uint32_t before = i > 0 ? l->c[i - 1] : 0, behind = i + 1 < l->n ? l->c[i + 1] : 0;

	switch (l->c[i]) {
	case 0x200C:
	case 0x200D: return before != 0; /* ZERO WIDTH (NON-)JOINER: A.1, A.2 in part */
	case 0x00B7: return before == 'l' && behind == 'l'; /* MIDDLE DOT: A.3 */
	case 0x0375: return in(greek, behind);              /* KERAIA: A.4 */
	case 0x05F3:
	case 0x05F4: return in(hebrew, before);  /* GERESH, GERSHAYIM: A.5, A.6 */
	case 0x30FB: return any(l, kana_or_han); /* KATAKANA MIDDLE DOT: A.7 */
	default: return !in(disallowed, l->c[i]);
	}
}

/* RFC 5891 section 4.2.3. */
static bool hyphens_ok(const struct label *l)
{
	return l->c[0] != '-' && l->c[l->n - 1] != '-' &&
	       !(l->n >= 4 && l->c[2] == '-' && l->c[3] == '-');
}

bool format_alabel(struct str label)
{
	struct label l = { .n = 0 };

	if (label.n <= PREFIX || label.n > LABEL_MAX ||
	    !alabel_decode((struct str){ label.p + PREFIX, label.n - PREFIX }, &l))
		return false;
	for (size_t i = 0; i < l.n; i++)
		if (!context_ok(&l, i))
			return false;
	return hyphens_ok(&l) && !in(marks, l.c[0]) &&
	       !(any(&l, arabic_digits) && any(&l, extended_digits)); /* A.8, A.9 */
}
