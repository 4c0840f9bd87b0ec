/* tests/unit/test_pattern_limits.c - schema/pattern: what is too much for it, what it writes for PCRE2,
 * and memory that fails. What patterns mean is in test_pattern.c.
 */

#include "base/error.h"
#include "format/pattern.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define S(text)                                                                                    \
	{                                                                                          \
		"" text, sizeof(text) - 1                                                          \
	}

/* ---- limits ------------------------------------------------------------------------------- */

/* `n` times `unit` between `head` and `tail`, from malloc. */
static struct str repeated(const char *head, const char *unit, size_t n, const char *tail)
{
	struct buf b;

	buf_init(&b, NULL, 1 << 20);
	buf_appendz(&b, head);
	for (size_t i = 0; i < n; i++)
		buf_appendz(&b, unit);
	buf_appendz(&b, tail);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	return buf_str(&b);
}

TEST(limits_are_told_and_one_less_is_taken)
{
	static const struct {
		const char *head, *unit, *tail;
		size_t n;
		int want;
		bool valid;
		const char *message;
	} table[] = {
		{ "", "a", "", REGEX_MAX_PATTERN + 1, CLEAT_ELIMIT, false,
		  "longer than 65536 bytes" },
		{ "", "(?:", "", 201, CLEAT_ELIMIT, false, "groups nest deeper than 200" },
		{ "(?<n>", "a", ")", 60000, CLEAT_ELIMIT, true, "too large" },
		{ "a{", "1", "}", 100, CLEAT_ELIMIT, true, "repeated more than 65535 times" },
		{ "a{0,", "9", "}", 5, CLEAT_ELIMIT, true, "repeated more than 65535 times" },
		{ "a{65535", "", "}", 0, CLEAT_OK, true, NULL },
		{ "a{0,65535", "", "}", 0, CLEAT_OK, true, NULL },
		{ "(?:(?:(?:a{1,99}){1,99}){1,99}", "", "){1,99}", 0, CLEAT_ELIMIT, true,
		  "too large" },
		{ "", "()", "\\1001", 1001, CLEAT_ELIMIT, true,
		  "a reference beyond the first 1000 groups" },
		{ "", "()", "\\1000", 1000, CLEAT_OK, true, NULL },
		{ "", "\\s", "", 10000, CLEAT_ELIMIT, true, "no room for the pattern" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct str p = repeated(table[i].head, table[i].unit, table[i].n, table[i].tail);
		struct regex *re;
		cleat_error e;

		error_clear(&e);
		assert_int_equal(pattern_compile(NULL, p, &re, &e), table[i].want);
		if (table[i].message)
			assert_non_null(strstr(e.message, table[i].message));
		assert_int_equal(pattern_is_valid(p), table[i].valid);
		regex_free(re);
		free((void *)p.p);
	}
}

TEST(two_hundred_names_and_levels_are_taken)
{
	for (size_t n = 200; n <= 201; n++) {
		struct buf b;
		struct regex *re;

		buf_init(&b, NULL, 1 << 16);
		for (size_t i = 0; i < n; i++)
			buf_printf(&b, "(?<n%zu>a)", i);
		assert_int_equal(pattern_compile(NULL, buf_str(&b), &re, NULL),
				 n == 200 ? CLEAT_OK : CLEAT_ELIMIT);
		assert_int_equal(pattern_is_valid(buf_str(&b)), n == 200);
		regex_free(re);
		buf_reset(&b, 0);
		for (size_t i = 0; i < n; i++)
			buf_appendz(&b, "(");
		for (size_t i = 0; i < n; i++)
			buf_appendz(&b, ")");
		assert_int_equal(pattern_compile(NULL, buf_str(&b), &re, NULL),
				 n == 200 ? CLEAT_OK : CLEAT_ELIMIT);
		regex_free(re);
		buf_done(&b);
	}
}

/* ---- translation -------------------------------------------------------------------------- */

/* Groups capture only where something refers to them; everything beyond ASCII is escaped. */
TEST(translation_is_plain_and_captures_what_is_needed)
{
	static const struct {
		struct str pattern;
		const char *want;
	} table[] = {
		{ S("(a)(b)\\2"), "(?:a)(b)\\g{1}" },
		{ S("(?<x>a)(?<y>b)"), "(?:a)(?:b)" },
		{ S("\\1(a)"), "(?:)(?:a)" },
		{ S("é-_ \n"), "\\x{e9}\\-_\\ \\x{a}" },
		{ S("[\\uD800]"), "[^\\x{0}-\\x{10ffff}]" },
		{ S("[^\\uD800]"), "[^]" },
		{ S("x(?:a|(b)\\1){0}\\1y"), "x(?:)y" },
		{ S("a{3}b{2,}?"), "a{3,3}b{2,}?" },
		{ S("\\p{Script=Greek}\\P{Assigned}"), "\\p{sc:Greek}\\p{Cn}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		for (int strict = 0; strict <= 1; strict++) {
			struct buf b;

			buf_init(&b, NULL, 1000);
			buf_appendz(&b, ">");
			assert_int_equal(pattern_translate(table[i].pattern, strict, &b, NULL),
					 CLEAT_OK);
			buf_putc(&b, '\0');
			assert_int_equal(buf_str(&b).p[0], '>');
			assert_string_equal(buf_str(&b).p + 1, table[i].want);
			buf_done(&b);
		}
}

/* Taking back what is repeated zero times must not take back a failure from before it. */
TEST(full_buffer_stays_full)
{
	struct buf b;

	for (size_t max = 0; max < 12; max++) {
		buf_init(&b, NULL, max);
		assert_int_equal(pattern_translate(STR_LIT("abcdef(?:gh){0}i"), true, &b, NULL),
				 max < 7 ? CLEAT_ELIMIT : CLEAT_OK);
		buf_done(&b);
	}
}

TEST(every_failing_allocation_is_told)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct regex *re;
		cleat_error e;
		int rc;

		rc = pattern_compile(&fa.hook, STR_LIT("^(?<a>x{0}[\\s\\d]+)\\k<a>$"), &re, &e);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		if (rc)
			assert_null(re);
		regex_free(re);
	}
	assert_true(pattern_is_valid(STR_LIT("^a$")));
}
