/* test_cli_config.c - JSON as people write it, and the variables in it (program/text/jsonc.c, program/clients/expand.c). */
#include "support.h"
#include "test.h"

#include "clients/expand.h"
#include "text/jsonc.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- jsonc ----------------------------------------------------------------------------------- */

TEST(comments_and_trailing_commas_become_spaces)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "{}", "{}" },
		{ "[1,]", "[1 ]" },
		{ "[1,\n\t]", "[1 \n\t]" },
		{ "{\"a\":1,}", "{\"a\":1 }" },
		{ "{\"a\":1,/*x*/}", "{\"a\":1      }" },
		{ "{\"a\":1, // x\n}", "{\"a\":1      \n}" },
		{ "[1,2]", "[1,2]" },
		{ "// x\n[1]", "    \n[1]" },
		{ "/* a\n b */[1]", "    \n     [1]" },
		{ "[\"// no\", \"/* no */\", \",]\"]", "[\"// no\", \"/* no */\", \",]\"]" },
		{ "[\"\\\"//\",]", "[\"\\\"//\" ]" },
		{ "\xef\xbb\xbf[1]", "   [1]" },
		{ "[1,,]", "[1, ]" }, /* still wrong, and said so by the parser */
		{ "[1] /* open", "[1]        " },
		{ "\"open", "\"open" },
		{ "\"open\\", "\"open\\" },
		{ "/", "/" },
		{ "", "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		size_t n = strlen(cases[i].from);
		/* Of exactly this size, so that the sanitizer sees a step too far. */
		char *text = malloc(n ? n : 1);

		memcpy(text, cases[i].from, n);
		jsonc_blank(text, n);
		assert_int_equal(n, strlen(cases[i].to));
		if (memcmp(text, cases[i].to, n) != 0)
			fail_msg("%s became %.*s", cases[i].from, (int)n, text);
		free(text);
	}
}

TEST(positions_are_those_of_the_file)
{
	static const char text[] =
		"{\n  \"x\": [1, {\"a\": 2}, \"}\"],\n  \"servers\": {\n"
		"    \"a\": {},\n    \"b\": { \"env\": { \"K\": \"v\" } }\n  }\n}";
	static const struct {
		const char *path[4];
		size_t depth, line, column;
	} cases[] = {
		{ { NULL }, 0, 1, 1 },
		{ { "x" }, 1, 2, 8 },
		{ { "servers" }, 1, 3, 14 },
		{ { "servers", "a" }, 2, 4, 10 },
		{ { "servers", "b", "env" }, 3, 5, 19 },
		{ { "servers", "b", "env", "K" }, 4, 5, 26 },
		{ { "servers", "c" }, 2, 0, 0 },
		{ { "x", "a" }, 2, 0, 0 },
		{ { "y" }, 1, 0, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		size_t line = 0, column = 0;
		bool found = jsonc_locate(text, sizeof text - 1, cases[i].path, cases[i].depth,
					  &line, &column);

		assert_int_equal(found, cases[i].line != 0);
		assert_int_equal(line, cases[i].line);
		assert_int_equal(column, cases[i].column);
	}
}

/* Whatever the text is, looking for something in it ends, within it. */
TEST(locating_in_no_json_ends)
{
	static const char *const texts[] = { "",
					     "{",
					     "{\"",
					     "{\"a",
					     "{\"a\"",
					     "{\"a\":",
					     "{\"a\":[",
					     "{\"a\":1",
					     "{\"a\":1,",
					     "{\"a\":\"x\\",
					     "{\"b\":[[[}}}",
					     "{\"b\":x y z",
					     "[1,2",
					     "}",
					     "{\"b\":}" };
	static const char *const path[] = { "a", "b" };

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		size_t n = strlen(texts[i]), line, column;
		char *text = malloc(n ? n : 1);

		memcpy(text, texts[i], n);
		assert_false(jsonc_locate(text, n, path, 2, &line, &column));
		free(text);
	}
}

/* ---- expand ------------------------------------------------------------------------------------ */

static const char *get(const char *name)
{
	static const struct {
		const char *name, *value;
	} known[] = { { "A", "alpha" }, { "EMPTY", "" }, { "LOOP", "${A}" }, { "x_1", "one" } };

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].value;
	return NULL;
}

static const struct expand_places places = { .workspace = "/src/project",
					     .home = "/home/me",
					     .get = get };

TEST(variables_are_replaced_and_nothing_else)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "${A}", "alpha" },
		{ "x${A}y${x_1}z", "xalphayonez" },
		{ "${env:A}", "alpha" },
		{ "${A:-d}", "alpha" },
		{ "${NONE:-d}", "d" },
		{ "${NONE:-}", "" },
		{ "${NONE:-a:-b}", "a:-b" },
		{ "${EMPTY:-d}", "d" },
		{ "${NONE:-${A}}", "alpha" },
		{ "${NONE:-x${NONE:-${A}}y}z", "xalphayz" },
		{ "${NONE:-${LOOP}}", "${A}" },
		{ "${A:-${NONE}}", "alpha" },
		{ "${EMPTY}", "" },
		{ "${env:NONE:-d}", "d" },
		{ "${workspaceFolder}/x", "/src/project/x" },
		{ "${workspaceFolderBasename}", "project" },
		{ "${userHome}", "/home/me" },
		{ "a${/}b${pathSeparator}c", "a/b/c" },
		{ "$A $ $$ $(A) `A` %A%", "$A $ $$ $(A) `A` %A%" },
		{ "${LOOP}", "${A}" }, /* what comes in stays as it is */
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *why = NULL, *got = expand(cases[i].from, &places, &why);

		if (!got)
			fail_msg("%s: %s", cases[i].from, why);
		assert_string_equal(got, cases[i].to);
	}
	keep_free_all();
}

TEST(what_cannot_be_replaced_is_an_error)
{
	static const struct {
		const char *from, *why;
	} cases[] = {
		{ "${NONE}", "${NONE} is not set" },
		{ "x ${env:NONE}", "${NONE} is not set" },
		{ "${input:token}", "${input:token} is a question to the user of an editor" },
		{ "${command:x}", "${command:x} is not a known variable" },
		{ "${}", "${} is not a known variable" },
		{ "${1A}", "${1A} is not a known variable" },
		{ "${a b}", "${a b} is not a known variable" },
		{ "${A:x}", "${A:x} is not a known variable" },
		{ "${A", "\"${A\" has no closing }" },
		{ "${NONE:-${A}", "\"${NONE:-${A}\" has no closing }" },
		{ "${NONE:-${NONE}}", "${NONE} is not set" },
		{ "${N:-${N:-${N:-${N:-${N:-${N:-x}}}}}}", "has defaults inside of defaults" },
		{ "ok ${", "\"${\" has no closing }" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *why = NULL;

		assert_null(expand(cases[i].from, &places, &why));
		assert_non_null(why);
		if (strncmp(why, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("%s: %s", cases[i].from, why);
	}
	keep_free_all();
}
