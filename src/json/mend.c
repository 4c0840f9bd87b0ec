/* json/mend.c - see mend.h. An escape of half a pair and that of U+FFFD are equally long, so nothing moves. */
#include "json/mend.h"

#include "base/cold.h"
#include "base/error.h"

enum { ESCAPE = 6 }; /* bytes of \uXXXX */

/* The unit that is escaped at p, by four digits; -1: something else. */
static int escaped_unit(const char *p, const char *end)
{
	int v = 0;

	if (end - p < ESCAPE || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < ESCAPE; i++) {
		char c = (char)(p[i] | 0x20);
		int digit = p[i] >= '0' && p[i] <= '9' ? p[i] - '0'
			    : c >= 'a' && c <= 'f'     ? c - 'a' + 10
						       : -1;

		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

static bool is_high(int unit)
{
	return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low(int unit)
{
	return unit >= 0xDC00 && unit < 0xE000;
}

/* The next escape of half a pair; NULL: there is none. Where a text is JSON a backslash is in a string, and escapes
 * what follows it; where it is not, it does not matter. */
static const char *next_half(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		int unit = escaped_unit(p, end);

		if (is_high(unit) && is_low(escaped_unit(p + ESCAPE, end)))
			p += 2 * ESCAPE;
		else if (is_high(unit) || is_low(unit))
			return p;
		else
			p += 2;
	}
	return NULL;
}

int json_mend(struct arena *ar, struct str text, struct str *ret, unsigned *mended)
{
	const char *half;
	char *copy;

	*mended = 0;
	*ret = text;
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0) {
		*mended = JSON_MENDED_BOM;
		*ret = text = (struct str){ text.p + 3, text.n - 3 };
	}
	half = next_half(text.p, text.p + text.n);
	if (!half)
		return CLEAT_OK;
	copy = arena_strndup(ar, text.p, text.n);
	if (!copy)
		return CLEAT_ENOMEM;
	while (half) {
		memcpy(copy + (half - text.p), "\\ufffd", ESCAPE);
		half = next_half(half + ESCAPE, text.p + text.n);
	}
	*mended |= JSON_MENDED_SURROGATE;
	*ret = (struct str){ copy, text.n };
	return CLEAT_OK;
}

static COLD int parse_mended(struct arena *ar, struct str text, const cleat_json_limits *limits,
			     const cleat_json **ret, unsigned *mended, cleat_error *err)
{
	if (json_mend(ar, text, &text, mended) != CLEAT_OK)
		return error_set(err, CLEAT_ENOMEM, "out of memory while reading JSON");
	return *mended ? json_parse(ar, text, limits, ret, err) : CLEAT_EPROTO;
}

int json_parse_peer(struct arena *ar, struct str text, const cleat_json_limits *limits,
		    const cleat_json **ret, unsigned *mended, cleat_error *err)
{
	int rc = json_parse(ar, text, limits, ret, err);

	*mended = 0;
	return rc == CLEAT_EPROTO ? parse_mended(ar, text, limits, ret, mended, err) : rc;
}

const char *json_mended_words(unsigned mended)
{
	switch (mended) {
	case JSON_MENDED_BOM: return "a byte order mark before a message was skipped";
	case JSON_MENDED_SURROGATE:
		return "half of a surrogate pair in a string (\\ud800 to \\udfff) was read as U+FFFD";
	default:
		return "a byte order mark before a message was skipped, and half of a surrogate pair in "
		       "a string was read as U+FFFD";
	}
}
