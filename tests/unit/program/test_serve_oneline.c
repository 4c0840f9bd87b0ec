/* test_serve_oneline.c - a tool in one line: signature, colon, command; words without a shell. */
#include "serve/config/oneline.h"
#include "test.h"

#include "support.h"

#include <stdlib.h>

TEST(a_line_is_a_signature_and_what_to_run)
{
	static const struct {
		const char *text, *name, *description, *rest;
		size_t column;
	} table[] = {
		{ "disk_usage(path: string \"Folder\"): du -sh \"$path\"", "disk_usage", NULL,
		  "du -sh \"$path\"", 36 },
		{ "now: date", "now", NULL, "date", 6 },
		{ "now() \"The time: now\" :date ", "now", "The time: now", "date", 24 },
		{ "x(a: \"):\"|b):\n\tcat\n", "x", NULL, "cat", 16 },
		{ "é(): true", "é", NULL, "true", 6 },
		{ "x: a: b", "x", NULL, "a: b", 4 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct oneline l;
		struct arena ar;
		cleat_error err = { .message = "" };

		arena_init(&ar, NULL, 0);
		assert_int_equal(oneline_parse(&ar, table[i].text, &l, &err), CLEAT_OK);
		assert_string_equal(l.name, table[i].name);
		assert_string_equal(l.rest, table[i].rest);
		assert_int_equal(l.column, table[i].column);
		if (table[i].description)
			assert_string_equal(l.description, table[i].description);
		else
			assert_null(l.description);
		assert_non_null(strstr(l.schema, "\"object\""));
		arena_done(&ar);
	}
}

TEST(mistakes_are_told_with_their_column)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "x(a: string)", "column 13: expected a colon and what to run, as in NAME(path: "
				  "string): du -sh ..." },
		{ "x() du",
		  "column 5: expected a colon and what to run, as in NAME(path: string): du "
		  "-sh ..." },
		{ "x():", "column 5: expected what to run, got nothing" },
		{ "x(): \n ", "column 8: expected what to run, got nothing" },
		{ "x(a: strin): y", "column 6: unknown type \"strin\" (did you mean string?)" },
		{ "\xff: y", "expected UTF-8" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct oneline l;
		struct arena ar;
		cleat_error err;

		arena_init(&ar, NULL, 0);
		assert_int_equal(oneline_parse(&ar, table[i].text, &l, &err), CLEAT_EINVAL);
		assert_string_equal(err.message, table[i].want);
		arena_done(&ar);
	}
}

TEST(words_are_divided_without_a_shell)
{
	static const struct {
		const char *text, *want; /* '|' between words; "!..." an error */
	} table[] = {
		{ "du -sh  {path}", "du|-sh|{path}" },
		{ "a 'b c' \"d e\"", "a|b c|d e" },
		{ "a'b c'\"d\"e", "ab cde" },
		{ "a '' \"\"", "a||" },
		{ "a\\ b \\'c \\\\", "a b|'c|\\" },
		{ "\"a\\\"b\\\\c\\n\"", "a\"b\\c\\n" },
		{ "'a\\b'", "a\\b" },
		/* nothing else means anything */
		{ "a; b && c | d > e $HOME $(x) `y` *.c ~",
		  "a;|b|&&|c|||d|>|e|$HOME|$(x)|`y`|*.c|~" },
		{ "a\tb\nc", "a|b|c" },
		{ "a\\", "a\\" },
		{ "", "!column 7: expected a command" },
		{ "a 'b c", "!column 9: ' is never closed" },
		{ "é \"b", "!column 9: \" is never closed" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const char *const *words;
		char got[256] = "";
		struct arena ar;
		cleat_error err;

		arena_init(&ar, NULL, 0);
		if (oneline_words(&ar, table[i].text, 7, &words, &err))
			snprintf(got, sizeof got, "!%s", err.message);
		else
			for (size_t k = 0; words[k]; k++)
				snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s",
					 k ? "|" : "", words[k]);
		assert_string_equal(got, table[i].want);
		arena_done(&ar);
	}
}

TEST(too_much_is_over_a_limit)
{
	char *text = malloc(ONELINE_MAX + 2);
	const char *const *words;
	struct oneline l;
	struct arena ar;
	cleat_error err;

	arena_init(&ar, NULL, 0);
	memset(text, 'a', ONELINE_MAX + 1);
	text[ONELINE_MAX + 1] = 0;
	assert_int_equal(oneline_parse(&ar, text, &l, &err), CLEAT_ELIMIT);
	for (size_t i = 0; i < ONELINE_WORDS_MAX + 1; i++)
		memcpy(text + 2 * i, "a ", 3);
	assert_int_equal(oneline_words(&ar, text, 1, &words, &err), CLEAT_ELIMIT);
	text[2 * ONELINE_WORDS_MAX] = 0;
	assert_int_equal(oneline_words(&ar, text, 1, &words, &err), CLEAT_OK);
	arena_done(&ar);
	free(text);
}

TEST(every_failing_allocation_is_told)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		const char *const *words;
		struct oneline l;
		struct arena ar;
		cleat_error err;
		int rc;

		arena_init(&ar, &fa.hook, 0);
		rc = oneline_parse(&ar, "x(a: string, b: integer = 3): du 'a b' c", &l, &err);
		if (!rc)
			rc = oneline_words(&ar, l.rest, l.column, &words, &err);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		arena_done(&ar);
	}
}
