/* test_serve_glob.c - globs: what they match, that hostile ones end, that memory may fail. */
#include "serve/folder/glob.h"
#include "support.h"
#include "test.h"

#include <string.h>

static bool matches(const char *pattern, const char *path)
{
	cleat_error err = { 0 };
	struct glob *g = glob_new(NULL, str_of(pattern), &err);
	bool yes;

	if (!g)
		fail_msg("%s: %s", pattern, err.message);
	yes = glob_match(g, str_of(path));
	glob_free(g);
	return yes;
}

TEST(patterns_match_what_they_say)
{
	static const struct {
		const char *pattern, *path;
		bool expected;
	} cases[] = {
		{ "*.md", "a.md", true },
		{ "*.md", "sub/a.md", true }, /* without a slash: the name, anywhere */
		{ "*.md", "a.mdx", false },
		{ "*.md", ".md", true },
		{ "a*c", "abc", true },
		{ "a*c", "ac", true },
		{ "a*c", "ab", false },
		{ "a*b*c", "aXbYbZc", true },
		{ "?.c", "\xc3\xa4.c", true }, /* a character, not a byte */
		{ "?.c", "ab.c", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[!a-c]x", "dx", true },
		{ "[]]x", "]x", true },
		{ "[a-]x", "-x", true },
		{ "[\\]]x", "]x", true },
		{ "[\\]{a,b}]", "{", true }, /* braces in a class */
		{ "/a", "a", true },
		{ "/a", "b/a", false },
		{ "a/*.c", "a/b.c", true },
		{ "a/*.c", "a/b/c.c", false },
		{ "a/*.c", "x/a/b.c", false },
		{ "a/**", "a/b", true },
		{ "a/**", "a/b/c", true },
		{ "a/**", "a", false },
		{ "a/**", "ab/c", false },
		{ "a/**/c", "a/c", true },
		{ "a/**/c", "a/b/c", true },
		{ "a/**/c", "a/b/b/c", true },
		{ "a/**/c", "a/bc", false },
		{ "a/**/c", "a/b/xc", false },
		{ "**/c", "c", true },
		{ "**/c", "a/b/c", true },
		{ "**/c", "ac", false },
		{ "**", "a/b", true },
		{ "a**b", "axxb", true },
		{ "a**b", "ax/xb", false },
		{ "**/*.md", "x.md", true },
		{ "docs/**/*.md", "docs/x.md", true },
		{ "docs/**/*.md", "docs/y/z/x.md", true },
		{ "*.{c,h}", "a.h", true },
		{ "*.{c,h}", "a.x", false },
		{ "{a,b}/{c,d}", "b/c", true },
		{ "{a,b}/{c,d}", "b/e", false },
		{ "a{b,c{d,e}}f", "acef", true },
		{ "a{b,c{d,e}}f", "abf", true },
		{ "a{b,c{d,e}}f", "acf", false },
		{ "a{,b}", "a", true },
		{ "a{b", "a{b", true }, /* no pair: itself */
		{ "a\\*b", "a*b", true },
		{ "a\\*b", "axb", false },
		{ "\\{a,b}", "{a,b}", true },
		{ "[{]", "{", true },
		{ "*", "sub/.x", true },
		{ "a\xff", "a\xff", true },
		{ "a\xff", "a\xfe", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		if (matches(cases[i].pattern, cases[i].path) != cases[i].expected)
			fail_msg("%s and %s: expected %d", cases[i].pattern, cases[i].path,
				 cases[i].expected);
}

TEST(directories_that_cannot_match_are_not_entered)
{
	static const struct {
		const char *pattern, *directory;
		bool expected;
	} cases[] = {
		{ "*.md", "any/where", true },   { "docs/*.md", "docs", true },
		{ "docs/*.md", "src", false },   { "docs/*.md", "docs/sub", false },
		{ "docs/**", "docs/sub", true }, { "**/x.c", "a/b", true },
		{ "docs/**/x", "do", false },    { "docs/**/x", "", true },
		{ "{a,b}/x", "b", true },        { "{a,b}/x", "c", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct glob *g = glob_new(NULL, str_of(cases[i].pattern), NULL);

		assert_non_null(g);
		if (glob_may_enter(g, str_of(cases[i].directory)) != cases[i].expected)
			fail_msg("%s in %s: expected %d", cases[i].pattern, cases[i].directory,
				 cases[i].expected);
		glob_free(g);
	}
}

TEST(what_is_no_glob_is_refused)
{
	static const char *const bad[] = {
		"", "[a", "[", "a\\", "[z-a]", "[!", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"
	};
	char longer[GLOB_TEXT_MAX + 2];

	for (size_t i = 0; i < CLEAT_COUNT(bad); i++) {
		cleat_error err = { 0 };

		if (glob_new(NULL, str_of(bad[i]), &err))
			fail_msg("%s was taken", bad[i]);
		assert_true(err.status < 0 && err.message[0]);
	}
	memset(longer, 'a', sizeof longer);
	assert_null(glob_new(NULL, (struct str){ longer, sizeof longer }, NULL));
	assert_null(glob_new(NULL, (struct str){ longer, GLOB_ITEMS_MAX + 1 }, NULL));
	assert_null(glob_new(NULL, (struct str){ "a\0b", 3 }, NULL));
}

/* a*a*a*...b against aaaa...: exponential for whoever backtracks. */
TEST(a_hostile_pattern_ends)
{
	char pattern[201], path[4001];
	struct glob *g;

	for (size_t i = 0; i < 200; i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[199] = 'b';
	memset(path, 'a', 4000);
	g = glob_new(NULL, (struct str){ pattern, 200 }, NULL);
	assert_non_null(g);
	assert_false(glob_match(g, (struct str){ path, 4000 }));
	glob_free(g);
}

/* Each class had room for all of the text after it: 100 MB for a glob that any client may send. */
TEST(many_classes_take_little_memory)
{
	char text[1024] = "";
	struct fail_alloc fa;
	struct glob *g;

	for (int i = 0; i < 250; i++)
		memcpy(text + 3 * i, "[a]", 4);
	memcpy(text + 750, "{,b}{,b}{,b}{,b}{,b}{,b}", 25);
	fail_alloc_init(&fa, SIZE_MAX, false);
	g = glob_new(&fa.hook, str_of(text), NULL);
	assert_non_null(g);
	assert_true(fa.peak < 4 << 20);
	glob_free(g);
}

TEST(memory_may_fail_at_any_time)
{
	struct fail_alloc fa;

	for (size_t n = 1;; n++) {
		struct glob *g;
		cleat_error err = { 0 };

		fail_alloc_init(&fa, n, true);
		g = glob_new(&fa.hook, STR_LIT("{a,b}/**/[x-z]*.{c,h}"), &err);
		assert_true(g || err.status == CLEAT_ENOMEM);
		if (g)
			assert_true(glob_match(g, STR_LIT("b/q/y1.h")));
		glob_free(g);
		assert_int_equal(fa.live, 0);
		if (!fail_alloc_hit(&fa))
			break;
	}
}
