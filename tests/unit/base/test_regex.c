/* tests/unit/test_regex.c - base/regex: finding, and never hanging. What a pattern may be in JSON
 * Schema is in test_pattern.c, a missing PCRE2 in test_regex_missing.c.
 */

#include "base/error.h"
#include "base/regex.h"
#include "support.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct regex *compile(const char *pattern, unsigned flags)
{
	struct regex *re;
	cleat_error e;

	error_clear(&e);
	if (regex_compile(NULL, str_of(pattern), flags, &re, &e) != CLEAT_OK)
		fail_msg("%.60s: %s", pattern, e.message);
	return re;
}

/* ---- first: everybody loads and matches at once ------------------------------------------- */

struct worker {
	pthread_t thread;
	const struct regex *re;
	int wrong;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct regex *own;

	w->wrong = regex_compile(NULL, STR_LIT("^b+$"), 0, &own, NULL) != CLEAT_OK;
	for (int i = 0; i < 200 && !w->wrong; i++) {
		size_t at = 0, end = 0;

		w->wrong |= regex_match(w->re, STR_LIT("xxaaby"), 0, &at, &end) != 1 || at != 2 ||
			    end != 5;
		w->wrong |= regex_match(w->re, STR_LIT("xxaay"), 0, NULL, NULL) != 0;
		w->wrong |= regex_match(own, STR_LIT("bbb"), 0, NULL, NULL) != 1;
	}
	regex_free(own);
	return NULL;
}

TEST(one_regex_serves_many_threads)
{
	enum { THREADS = 8 };
	struct worker w[THREADS];
	struct regex *re = compile("(?:a|aa)+b", 0);

	for (int i = 0; i < THREADS; i++) {
		w[i].re = re;
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
		assert_int_equal(w[i].wrong, 0);
	}
	regex_free(re);
}

/* ---- finding ------------------------------------------------------------------------------ */

TEST(place_of_the_match_is_told)
{
	static const struct {
		const char *pattern, *text;
		unsigned flags;
		size_t from;
		int want;
		size_t at, end;
	} table[] = {
		{ "b+", "abbc", 0, 0, 1, 1, 3 },
		{ "b+", "abbc", 0, 2, 1, 2, 3 },
		{ "b+", "abbc", 0, 3, 0, 9, 9 },
		{ "b+", "abbc", 0, 4, 0, 9, 9 },
		{ "", "", 0, 0, 1, 0, 0 },
		{ "", "abc", 0, 3, 1, 3, 3 },
		{ "^b", "ab", 0, 1, 0, 9, 9 }, /* the start of the text, not of the search */
		{ "(?<=a)b", "ab", 0, 1, 1, 1, 2 },
		{ ".", "é", 0, 0, 1, 0, 2 },
		{ "É", "é", REGEX_CASELESS, 0, 1, 0, 2 },
		{ "É", "é", 0, 0, 0, 9, 9 },
		{ "a$", "a\n", 0, 0, 1, 0, 1 },
		{ "a$", "a\n", REGEX_ECMA, 0, 0, 9, 9 },
		{ "^b$", "a\nb\nc", REGEX_MULTILINE, 0, 1, 2, 3 },
		{ "^b$", "a\nb\nc", 0, 0, 0, 9, 9 },
		{ "(a)?\\1b", "b", REGEX_ECMA, 0, 1, 0, 1 },
		{ "(a)?\\1b", "b", 0, 0, 0, 9, 9 },
		{ "[^]", "\n", REGEX_ECMA, 0, 1, 0, 1 },
		{ "\\w", "é", 0, 0, 0, 9, 9 }, /* never Unicode properties */
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re = compile(table[i].pattern, table[i].flags);
		size_t at = 9, end = 9;

		assert_int_equal(regex_match(re, str_of(table[i].text), table[i].from, &at, &end),
				 table[i].want);
		assert_int_equal(at, table[i].at);
		assert_int_equal(end, table[i].end);
		regex_free(re);
	}
}

/* What a group matched, what took no part, and what there is no room for. */
TEST(groups_of_the_match_are_told)
{
	static const struct {
		const char *pattern, *text;
		int want;
		const char *group[REGEX_GROUPS]; /* NULL: absent */
	} table[] = {
		{ "^(\\d+)/(\\d+) (.*)$", "3/10 three", 1, { "3", "10", "three" } },
		{ "(a)?(b)", "xb", 1, { NULL, "b", NULL } },
		{ "(b)(a)?", "xb", 1, { "b", NULL, NULL } },
		{ "b", "abc", 1, { NULL, NULL, NULL } },
		{ "(a)(b)(c)(d)", "abcd", 1, { "a", "b", "c" } },
		{ "()", "", 1, { "", NULL, NULL } },
		{ "(x)", "abc", 0, { NULL, NULL, NULL } },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re = compile(table[i].pattern, 0);
		struct str got[REGEX_GROUPS] = { { NULL, 0 } };

		assert_int_equal(regex_groups(re, str_of(table[i].text), got, NULL), table[i].want);
		for (size_t k = 0; k < REGEX_GROUPS; k++) {
			assert_int_equal(got[k].p == NULL, table[i].group[k] == NULL);
			assert_true(str_eq(got[k], str_of(table[i].group[k])));
		}
		regex_free(re);
	}
}

TEST(nothing_may_be_absent_or_hold_nul)
{
	struct regex *re = compile("^$", 0);
	const struct str none = { NULL, 0 };

	assert_int_equal(regex_match(re, none, 0, NULL, NULL), 1);
	regex_free(re);
	assert_int_equal(regex_compile(NULL, none, 0, &re, NULL), CLEAT_OK);
	assert_int_equal(regex_match(re, none, 0, NULL, NULL), 1);
	regex_free(re);
	assert_int_equal(regex_compile(NULL, STR_LIT("a\0b"), 0, &re, NULL), CLEAT_OK);
	assert_int_equal(regex_match(re, STR_LIT("xa\0b"), 0, NULL, NULL), 1);
	assert_int_equal(regex_match(re, STR_LIT("xa\0c"), 0, NULL, NULL), 0);
	regex_free(re);
	regex_free(NULL);
}

/* PCRE2 is told not to look, so that what is not UTF-8 must never reach it. */
TEST(text_that_is_no_utf8_is_refused)
{
	static const struct {
		struct str text;
		size_t from;
	} table[] = {
		{ { "\xFF", 1 }, 0 },
		{ { "a\xC3", 2 }, 0 },
		{ { "\xED\xA0\xBD", 3 }, 0 },
		{ { "\xC0\x80", 2 }, 0 },
		{ { "\xF4\x90\x80\x80", 4 }, 0 },
		{ { "\xC3\xA9", 2 }, 1 }, /* in the middle of é */
		{ { "ab", 2 }, 3 },
	};
	struct regex *re = compile(".", 0);

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		assert_int_equal(regex_match(re, table[i].text, table[i].from, NULL, NULL),
				 CLEAT_EINVAL);
	assert_int_equal(regex_match(re, STR_LIT("a"), 0, NULL, NULL), 1);
	regex_free(re);
}

/* ---- compiling ---------------------------------------------------------------------------- */

TEST(wrong_patterns_are_told_with_their_place)
{
	static const struct {
		const char *pattern, *message;
		int status;
	} table[] = {
		{ "a(b", "offset 3: ", CLEAT_EINVAL },
		{ "ab)", "offset 2: ", CLEAT_EINVAL },
		{ "\\C", "offset 2: ", CLEAT_EINVAL }, /* a byte of a character */
		{ "(*UCP)a", "offset ", CLEAT_EINVAL },
		{ "\xFF", "offset 0: ", CLEAT_EINVAL },
		{ "a{65536}", "offset ", CLEAT_ELIMIT },
		{ "((((a{1,100}){1,100}){1,100}){1,100})", "offset ", CLEAT_ELIMIT },
		{ "(?<=(?:a{9999}){9999})", "offset ", CLEAT_ELIMIT },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re;
		cleat_error e;

		if (regex_compile(NULL, str_of(table[i].pattern), 0, &re, &e) != table[i].status)
			fail_msg("%s: %s", table[i].pattern, e.message);
		assert_int_equal(e.status, table[i].status);
		assert_memory_equal(e.message, table[i].message, strlen(table[i].message));
		assert_true(strlen(e.message) > strlen("offset 0: "));
		assert_null(re);
		assert_int_equal(regex_compile(NULL, str_of(table[i].pattern), 0, &re, NULL),
				 table[i].status);
	}
}

TEST(long_and_deep_patterns_are_over_a_limit)
{
	static char text[REGEX_MAX_PATTERN + 1];
	struct regex *re;
	cleat_error e;

	memset(text, 'a', sizeof text);
	assert_int_equal(regex_compile(NULL, (struct str){ text, sizeof text }, 0, &re, &e),
			 CLEAT_ELIMIT);
	assert_string_equal(e.message, "longer than 65536 bytes");
	assert_int_equal(regex_compile(NULL, (struct str){ text, 8000 }, 0, &re, &e), CLEAT_OK);
	regex_free(re);
	memset(text, '(', sizeof text);
	assert_int_equal(regex_compile(NULL, (struct str){ text, 1000 }, 0, &re, &e), CLEAT_ELIMIT);
}

/* ---- never hanging ------------------------------------------------------------------------ */

enum { LONG = 64 * 1024 };

/* `n` bytes of `unit` again and again, then `last`; from malloc. */
static struct str long_text(const char *unit, size_t n, char last)
{
	size_t k = strlen(unit);
	char *p = malloc(n);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = unit[i % k];
	if (last)
		p[n - 1] = last;
	return (struct str){ p, n };
}

TEST(hostile_patterns_end)
{
	static const struct {
		const char *pattern, *unit;
		char last;
		size_t n;
	} table[] = {
		{ "^(a+)+$", "a", '!', 40 },
		{ "^(a+)+$", "a", '!', LONG },
		{ "^(?:a|a)*$", "a", '!', 40 },
		{ "(?:a|aa)+$", "a", '!', LONG },
		{ "(a*)*[bc]", "a", 0, LONG },
		{ "(?:(?:(?:a*)*)*)*$", "a", '!', LONG },
		{ "(?:a*?)*?$", "a", '!', LONG },
		/* n * n / 2 without a single step back, which PCRE2 has no limit for */
		{ "[ab]*[cd]", "a", 0, LONG },
		{ "(?=[ab]*)[cd]|(?=[ab]*x)x", "a", 0, LONG },
		{ "[ab]{9999}[cd]", "a", 0, LONG },
		{ "(?<=[ab]{9999}c)[ad]", "a", 0, LONG },
		{ "(a*)b[ab]*?\\1[cd]", "aaaaaaaaaaaaaaaaaaaaaaab", 0, LONG },
		{ "(?:\\p{L}|\\p{Lo})*$", "\xE4\xB8\xAD", 0, LONG / 3 * 3 - 3 },
		{ "[^\\x{4e2e}-\\x{4eff}\\x{5000}-\\x{5100}]*[cd]", "\xE4\xB8\xAD", 0,
		  LONG / 3 * 3 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re = compile(table[i].pattern, REGEX_ECMA);
		struct str text = long_text(table[i].unit, table[i].n, table[i].last);
		int rc = regex_match(re, text, 0, NULL, NULL);

		/* The one with \p{L} fits: it only must not be wrong. */
		if (rc != CLEAT_ELIMIT && !(rc == 1 && strstr(table[i].pattern, "\\p")))
			fail_msg("%s: %d", table[i].pattern, rc);
		/* It is not spoiled by that. */
		assert_int_equal(regex_match(re, STR_LIT("zzz"), 0, NULL, NULL) >= 0, 1);
		free((void *)text.p);
		regex_free(re);
	}
}

/* Each item of a class, each capture, each alternative is work that no step back shows. */
TEST(patterns_of_many_parts_end)
{
	static const struct {
		const char *head, *unit, *tail;
		size_t n;
	} table[] = {
		{ "[", "\\x{5000}-\\x{5001}\\x{6000}", "\\x{4e2d}]*[cd]", 1500 },
		{ "[", "\\p{Lu}", "\\x{4e2d}]*[cd]", 4000 },
		{ "", "()", "(?:\\x{4e2d}|\\x{4e2d}\\x{4e2d})*$", 1500 },
		{ "(?:", "b|", "[\\x{4e2d}a]d)[ef]", 1500 },
		{ "", "(?:", "[\\x{4e2d}a])d", 1 },
	};
	struct str text = long_text("\xE4\xB8\xAD", LONG / 3 * 3 + 3, 0);
	static char pattern[REGEX_MAX_PATTERN];

	((char *)text.p)[text.n - 1] = 'x';
	((char *)text.p)[text.n - 2] = 'x';
	((char *)text.p)[text.n - 3] = 'x';
	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re;
		int rc;

		strcpy(pattern, table[i].head);
		for (size_t k = 0; k < table[i].n; k++)
			memcpy(pattern + strlen(table[i].head) + k * strlen(table[i].unit),
			       table[i].unit, strlen(table[i].unit) + 1);
		strcat(pattern, table[i].tail);
		re = compile(pattern, REGEX_ECMA);
		rc = regex_match(re, text, 0, NULL, NULL);
		assert_true(rc == CLEAT_ELIMIT || rc == 0);
		regex_free(re);
	}
	free((void *)text.p);
}

TEST(long_texts_match_ordinary_patterns)
{
	static const struct {
		const char *pattern, *unit;
		char last;
		size_t n;
		int want;
	} table[] = {
		{ "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", "QUJD", 0,
		  1024 * 1024, 1 },
		{ "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", "QUJD", '!',
		  1024 * 1024, 0 },
		{ "^(?:[^\"\\\\]|\\\\[^\\n])*$", "text ", 0, LONG, 1 },
		{ "[A-Za-z0-9_]+@[A-Za-z0-9_]+\\.com", "foo bar@example.org, ", 0, 4 * LONG, 0 },
		{ "^[^\\n\\r\\x{2028}\\x{2029}]*$", "\xE4\xB8\xAD", 0, 3 * LONG, 1 },
		{ "\\bzzz\\b", "hello world ", 0, 4 * LONG, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct regex *re = compile(table[i].pattern, REGEX_ECMA);
		struct str text = long_text(table[i].unit, table[i].n, table[i].last);

		if (regex_match(re, text, 0, NULL, NULL) != table[i].want)
			fail_msg("%s: not %d", table[i].pattern, table[i].want);
		free((void *)text.p);
		regex_free(re);
	}
}

TEST(budget_for_many_matches_is_spent_and_kept)
{
	struct str text = long_text("a", LONG, '!');
	struct regex *re = compile("^(a+)+$", 0), *quick = compile("^a", 0);
	uint64_t budget = 100000, before;

	assert_int_equal(regex_match_within(quick, text, &budget), 1);
	assert_true(budget > 98000 && budget < 100000);
	before = budget;
	assert_int_equal(regex_match_within(re, text, &budget), CLEAT_ELIMIT);
	assert_true(budget < before / 4); /* nearly all, and never below nothing */
	budget = 0;
	assert_int_equal(regex_match_within(quick, text, &budget), CLEAT_ELIMIT);
	assert_int_equal(budget, 0);
	budget = UINT64_MAX; /* the limit of a single match holds nevertheless */
	assert_int_equal(regex_match_within(re, text, &budget), CLEAT_ELIMIT);
	assert_true(UINT64_MAX - budget < 100000000);
	regex_free(re);
	regex_free(quick);
	free((void *)text.p);
}

/* ---- memory ------------------------------------------------------------------------------- */

MEMORY_TEST(ordinary_matches_after_the_first_allocate_nothing)
{
	struct regex *re;
	size_t before;

	assert_int_equal(regex_compile(&fa->hook, STR_LIT("^[a-z][a-z0-9_]*$"), 0, &re, NULL),
			 CLEAT_OK);
	assert_int_equal(regex_match(re, STR_LIT("a_tool"), 0, NULL, NULL), 1);
	before = fa->requests;
	for (int i = 0; i < 100; i++)
		assert_int_equal(regex_match(re, STR_LIT("a_tool"), 0, NULL, NULL), 1);
	assert_int_equal(fa->requests, before);
	assert_true(fa->bytes < 8 * 1024);
	regex_free(re);
}

TEST(memory_of_a_large_match_is_bounded_and_given_back)
{
	struct str text = long_text("a", LONG, '!');
	struct fail_alloc fa;
	struct regex *re;
	size_t idle;

	fail_alloc_init(&fa, 0, false);
	assert_int_equal(regex_compile(&fa.hook, STR_LIT("^(?:a|b)*$"), 0, &re, NULL), CLEAT_OK);
	idle = fa.bytes;
	assert_int_equal(regex_match(re, text, 0, NULL, NULL), 0);
	assert_true(fa.peak > idle + 64 * 1024);       /* it was large */
	assert_true(fa.peak < (size_t)LONG * 512 * 2); /* but bounded */
	assert_int_equal(fa.bytes, idle);              /* and nothing stays */
	regex_free(re);
	assert_int_equal(fa.live, 0);
	free((void *)text.p);
}

TEST(every_failing_allocation_is_told)
{
	struct str text = long_text("a", 2000, '!');

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct regex *re;
		cleat_error e;
		int rc;

		rc = regex_compile(&fa.hook, STR_LIT("^(?:a|b)*$"), 0, &re, &e);
		assert_int_equal(rc, re ? CLEAT_OK : CLEAT_ENOMEM);
		if (re) {
			rc = regex_match(re, text, 0, NULL, NULL);
			assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : 0);
			fail_alloc_calm(&fa); /* and it can still be used */
			assert_int_equal(regex_match(re, text, 0, NULL, NULL), 0);
		} else {
			assert_int_equal(e.status, CLEAT_ENOMEM);
		}
		regex_free(re);
	}
	free((void *)text.p);
}
