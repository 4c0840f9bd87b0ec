/* test_serve_prompt.c - Markdown files as prompts: front matter, messages, arguments. */
#include "serve/prompts/frontmatter.h"
#include "serve/prompts/prompt.h"
#include "test.h"

#include "support.h"
#include "json/copy.h"

#include <stdlib.h>

/* ---- front matter ------------------------------------------------------------------------- */

TEST(front_matter_becomes_json)
{
	static const struct {
		const char *text, *front, *body;
	} table[] = {
		{ "no front", "{}", "no front" },
		{ "", "{}", "" },
		{ "---\n---\nbody", "{}", "body" },
		{ "---\nname: x\n---\n", "{\"name\":\"x\"}", "" },
		{ "\xEF\xBB\xBF---\r\nname: x\r\n---\r\nbody", "{\"name\":\"x\"}", "body" },
		{ "---\na: b: c # no\nb: 'it''s' # yes\nc: \"q\\\"\\n\"\n---\n",
		  "{\"a\":\"b: c\",\"b\":\"it's\",\"c\":\"q\\\"\\n\"}", "" },
		{ "---\na: true\nb: false\nc: null\nd: ~\ne:\nf: 12\ng: 2020-01-01\n---\n",
		  "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":null,\"f\":\"12\",\"g\":"
		  "\"2020-01-01\"}",
		  "" },
		{ "---\n# note\n\na: x#y\n---\n", "{\"a\":\"x#y\"}", "" },
		{ "---\na: [x, 'y, z', \"w\", ]\nb: []\nc: {k: v, l: true}\n---\n",
		  "{\"a\":[\"x\",\"y, z\",\"w\"],\"b\":[],\"c\":{\"k\":\"v\",\"l\":true}}", "" },
		{ "---\na: |\n  one\n\n   two\n  three\nb: >-\n  x\n  y\n\n  z\n---\n",
		  "{\"a\":\"one\\n\\n two\\nthree\\n\",\"b\":\"x y\\nz\"}", "" },
		{ "---\nargs:\n  - name: p\n    required: true\n  - name: q\n    description: >\n"
		  "      long\n      text\n  - { name: r }\nb: c\n---\n",
		  "{\"args\":[{\"name\":\"p\",\"required\":true},{\"name\":\"q\",\"description\":"
		  "\"long text\\n\"},{\"name\":\"r\"}],\"b\":\"c\"}",
		  "" },
		{ "---\nargs:\n- a\n- 'b'\n- http://x\n---\n",
		  "{\"args\":[\"a\",\"b\",\"http://x\"]}", "" },
		{ "---\na: 1\n...\nbody", "{\"a\":\"1\"}", "body" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const cleat_json *front;
		struct str body;
		struct arena ar;
		cleat_error err = { .message = "" };
		int rc;

		arena_init(&ar, NULL, 0);
		rc = frontmatter_split(&ar, str_of(table[i].text), &front, &body, &err);
		assert_string_equal(err.message, "");
		assert_int_equal(rc, CLEAT_OK);
		assert_string_equal(json_text(&ar, front).p, table[i].front);
		assert_true(str_eqz(body, table[i].body));
		arena_done(&ar);
	}
}

TEST(what_is_not_understood_is_told_with_its_line)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "---\nname: x\n", "line 1: --- is never closed by a second ---" },
		{ "---\nname\n---\n", "line 2: expected key: value" },
		{ "---\nname:x\n---\n", "line 2: expected key: value" },
		{ "---\n\n  a: b\n---\n", "line 3: expected a key in the first column" },
		{ "---\na: b\n  c: d\n---\n",
		  "line 3: indented, but nothing before it asks for that" },
		{ "---\na:\n  c: d\n---\n", "line 3: expected \"- \" and an item of the list" },
		{ "---\na: 'b\n---\n", "line 2: ' is never closed" },
		{ "---\na: \"b\n---\n", "line 2: \" is never closed" },
		{ "---\na: \"\\q\"\n---\n", "a text in \"...\" has a wrong escape" },
		{ "---\na: 'b' c\n---\n", "line 2: there is something after the value" },
		{ "---\na: [b\n---\n", "line 2: expected , or ]" },
		{ "---\na: [[b]]\n---\n", "line 2: expected , or ]" },
		{ "---\na: {b}\n---\n", "line 2: expected key: value between { and }" },
		{ "---\na: &x b\n---\n", "line 2: expected a text; put it in quotes" },
		{ "---\na: *x\n---\n", "line 2: expected a text; put it in quotes" },
		{ "---\na: !!str b\n---\n", "line 2: expected a text; put it in quotes" },
		{ "---\n&x a: b\n---\n", "line 2: expected key: value" },
		{ "---\n\ta: b\n---\n", "line 2: expected key: value" },
		{ "---\na: |x\n  b\n---\n", "line 2: expected |, |-, > or >-" },
		{ "---\na: |\n   b\n  c\n---\n", "line 4: indented less than the lines before" },
		{ "---\nargs:\n  - name: a\n   b: c\n---\n",
		  "line 4: expected \"- \" and an item of the list" },
		{ "---\nargs:\n  - name: a\n      b: c\n---\n",
		  "line 4: indented, but nothing before it asks for that" },
		{ "a\xff", "expected text in UTF-8 without NUL" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const cleat_json *front;
		struct str body;
		struct arena ar;
		cleat_error err = { .message = "" };

		arena_init(&ar, NULL, 0);
		assert_int_equal(frontmatter_split(&ar, str_of(table[i].text), &front, &body, &err),
				 CLEAT_EINVAL);
		assert_string_equal(err.message, table[i].want);
		arena_done(&ar);
	}
}

ARENA_TEST(a_key_that_stands_twice_is_refused)
{
	const cleat_json *front;
	struct str body;
	cleat_error err;

	assert_int_equal(
		frontmatter_split(ar, STR_LIT("---\na: 1\na: 2\n---\n"), &front, &body, &err),
		CLEAT_EINVAL);
}

/* ---- messages ----------------------------------------------------------------------------- */

TEST(a_body_is_divided_at_its_roles)
{
	static const struct {
		const char *body, *want; /* role=text; ... */
	} table[] = {
		{ "", "user=;" },
		{ "Say hi", "user=Say hi;" },
		{ "\n\n  Say\n\nhi \n\n", "user=  Say\n\nhi;" },
		{ "## user\nA\n## assistant\nB\n", "user=A;assistant=B;" },
		{ "## assistant\nB", "assistant=B;" },
		{ "Before\n## assistant\nB\n## user\nC", "user=Before;assistant=B;user=C;" },
		{ "## user  \r\nA\r\n", "user=A;" },
		{ "## user\n\n## assistant\nB", "user=;assistant=B;" },
		{ "A\n## user", "user=A;user=;" },
		/* not exactly a role */
		{ "## User\nA", "user=## User\nA;" },
		{ "## users\nA", "user=## users\nA;" },
		{ " ## user\nA", "user= ## user\nA;" },
		{ "# user\nA", "user=# user\nA;" },
	};
	struct prompt_message m[PROMPT_MESSAGES_MAX];

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		size_t n = prompt_split(str_of(table[i].body), m);
		char got[512] = "";

		for (size_t k = 0; k < n; k++)
			snprintf(got + strlen(got), sizeof got - strlen(got), "%s=%.*s;", m[k].role,
				 STR_ARGS(m[k].text));
		assert_string_equal(got, table[i].want);
	}
}

TEST(too_many_messages_are_none)
{
	struct prompt_message m[PROMPT_MESSAGES_MAX];
	size_t one = strlen("## user\nx\n");
	char *text = malloc((PROMPT_MESSAGES_MAX + 1) * one + 1);

	for (size_t i = 0; i <= PROMPT_MESSAGES_MAX; i++)
		memcpy(text + i * one, "## user\nx\n", one + 1);
	assert_int_equal(prompt_split(str_of(text), m), 0);
	text[PROMPT_MESSAGES_MAX * one] = 0;
	assert_int_equal(prompt_split(str_of(text), m), PROMPT_MESSAGES_MAX);
	free(text);
}

/* ---- files -------------------------------------------------------------------------------- */

TEST(arguments_are_a_signature_or_a_list)
{
	static const struct {
		const char *front, *want; /* name[?][:doc], ...; "!": error */
	} table[] = {
		{ "title: x", "none" },
		{ "args: path: string \"What\", depth?: integer", "path:What depth?" },
		{ "args:\n  - name: a\n    description: A\n    required: true\n  - name: b",
		  "a:A b?" },
		{ "arguments:\n  - name: a\n    required: false", "a?" },
		{ "args: [a, b]", "a b" },
		{ "args: []", "" },
		{ "args: path: strin",
		  "!args: column 7: unknown type \"strin\" (did you mean string?)" },
		{ "args:\n  - description: x", "!args: argument 1 has no name" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		char text[256], got[256] = "";
		struct prompt_file f;
		struct arena ar;
		cleat_error err;

		arena_init(&ar, NULL, 0);
		snprintf(text, sizeof text, "---\n%s\n---\nbody", table[i].front);
		if (prompt_file_parse(&ar, str_of(text), &f, &err))
			snprintf(got, sizeof got, "!%s", err.message);
		else if (!f.fields)
			snprintf(got, sizeof got, "none");
		else
			for (const cleat_field *a = f.fields; a->type; a++)
				snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s%s%s%s",
					 a == f.fields ? "" : " ", a->name, a->optional ? "?" : "",
					 a->doc ? ":" : "", a->doc ? a->doc : "");
		assert_string_equal(got, table[i].want);
		arena_done(&ar);
	}
}

TEST(every_failing_allocation_is_told)
{
	static const char text[] = "---\nname: x\nd: 'y'\nargs:\n  - name: a\n    description: |\n"
				   "      b\n---\nbody";

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct prompt_file f;
		struct arena ar;
		cleat_error err;
		int rc;

		arena_init(&ar, &fa.hook, 0);
		rc = prompt_file_parse(&ar, str_of(text), &f, &err);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		arena_done(&ar);
	}
}
