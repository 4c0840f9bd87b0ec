/* fuzz_pattern.c - a pattern: is it valid, does it compile, what does it match.
 *
 * Invariants: what is valid is translated by the lenient reader to the same; what was translated is
 * never a syntax error to PCRE2, only too large, or a lookbehind or a script that it has not; a
 * match is yes, no or over the limit; and the same twice.
 */
#include "format/pattern.h"
#include "require.h"

#include <stdlib.h>

static const struct str texts[] = {
	{ NULL, 0 },
	{ "a", 1 },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 30 },
	{ "tool_name-1.2", 13 },
	{ "\0\t\n\r \"\\/{}[]()^$*+?|.", 22 },
	{ "\xC3\xA9t\xC3\xA9 \xCE\xB1\xCE\xA9 \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x90\xB2\xE2\x80\xA8",
	  26 },
};

static void match(const struct regex *re)
{
	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		size_t at = 0, end = 0;
		int rc = regex_match(re, texts[i], 0, &at, &end);

		require(rc == 0 || rc == 1 || rc == CLEAT_ELIMIT);
		require(rc != 1 || (at <= end && end <= texts[i].n));
		require(regex_match(re, texts[i], 0, NULL, NULL) == rc);
	}
}

static bool has(struct str s, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= s.n; i++)
		if (memcmp(s.p + i, part, n) == 0)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str source = { (const char *)data, size };
	bool valid = pattern_is_valid(source);
	struct buf strict, lenient;
	struct regex *re;
	cleat_error e;
	int s, l, rc;

	buf_init(&strict, NULL, REGEX_MAX_PATTERN);
	buf_init(&lenient, NULL, REGEX_MAX_PATTERN);
	s = pattern_translate(source, true, &strict, &e);
	l = pattern_translate(source, false, &lenient, &e);
	require(!valid || (s == l && s != CLEAT_EINVAL));
	require(valid || s == CLEAT_EINVAL || s == CLEAT_ELIMIT);
	require(s != CLEAT_OK || str_eq(buf_str(&strict), buf_str(&lenient)));
	rc = pattern_compile(NULL, source, &re, &e);
	require(rc == CLEAT_OK ? l == CLEAT_OK && re != NULL : re == NULL);
	require(l == CLEAT_OK || rc == l);
	require(rc != CLEAT_EINVAL || l == CLEAT_EINVAL);
	require(rc != CLEAT_EUNSUPPORTED || has(source, "(?<") || has(source, "\\p") ||
		has(source, "\\P"));
	if (re)
		match(re);
	regex_free(re);
	buf_done(&strict);
	buf_done(&lenient);
	return 0;
}
