/* test_cli_jsonedit.c - one member of a file with comments is changed, every other byte stays. */
#include "support.h"
#include "test.h"

#include "text/jsonedit.h"

#include <stdlib.h>
#include <string.h>

static const char *const path[] = { "mcpServers", "new" };

static void expect(const char *from, struct text *got, const char *to)
{
	if (strcmp(text_str(got), to) != 0)
		fail_msg("from\n%s\ngot\n%s\nexpected\n%s", from, text_str(got), to);
	text_free(got);
	keep_free_all();
}

TEST(a_member_is_added_where_a_person_would)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "{\n  \"mcpServers\": {\n    \"new\": {\n      \"x\": 1\n    }\n  }\n}\n" },
		/* comments alone stay */
		{ " // nothing\n",
		  " // nothing\n{\n  \"mcpServers\": {\n    \"new\": {\n      \"x\": 1\n    }\n  }\n}\n" },
		{ "{}", "{\n  \"mcpServers\": {\n    \"new\": {\n      \"x\": 1\n    }\n  }\n}" },
		{ "{\n\t\"mcpServers\": {}\n}\n",
		  "{\n\t\"mcpServers\": {\n\t\t\"new\": {\n\t\t\t\"x\": 1\n\t\t}\n\t}\n}\n" },
		{ "{\n    \"mcpServers\": {\n        \"a\": 1\n    }\n}\n",
		  "{\n    \"mcpServers\": {\n        \"a\": 1,\n        \"new\": {\n            "
		  "\"x\": 1\n        }\n    }\n}\n" },
		/* a comment after the last member stays with it */
		{ "{\n  \"mcpServers\": {\n    \"a\": 1 // mine\n  }\n}\n",
		  "{\n  \"mcpServers\": {\n    \"a\": 1, // mine\n    \"new\": {\n      \"x\": 1\n    "
		  "}\n  }\n}\n" },
		/* a trailing comma is a habit: it is kept */
		{ "{\n  \"mcpServers\": {\n    \"a\": {\"b\": [1,],}, /* , */\n  },\n}\n",
		  "{\n  \"mcpServers\": {\n    \"a\": {\"b\": [1,],}, /* , */\n    \"new\": {\n      "
		  "\"x\": 1\n    },\n  },\n}\n" },
		/* nothing may follow such a comment on its line */
		{ "{\"mcpServers\":{\"a\":1 // mine\n}}",
		  "{\"mcpServers\":{\"a\":1, // mine\n\"new\": {\n  \"x\": 1\n}\n}}" },
		/* all in one line */
		{ "{\"mcpServers\":{\"a\":1}}",
		  "{\"mcpServers\":{\"a\":1, \"new\": {\n  \"x\": 1\n}}}" },
		/* other members, and the same names elsewhere */
		{ "{\"other\": {\"mcpServers\": {\"new\": 1}}, \"mcpServers\": {\"a\": \"}\"}}",
		  "{\"other\": {\"mcpServers\": {\"new\": 1}}, \"mcpServers\": {\"a\": \"}\", "
		  "\"new\": {\n  \"x\": 1\n}}}" },
		/* there already: replaced, in its place; a key may be written with escapes */
		{ "{\n  \"mcpServers\": {\n    \"n\\u0065w\": [ 7 ], // why\n    \"z\": 2\n  }\n}",
		  "{\n  \"mcpServers\": {\n    \"n\\u0065w\": {\n      \"x\": 1\n    }, // why\n    "
		  "\"z\": 2\n  }\n}" },
		{ "{\n  \"mcpServers\": { // none yet\n  }\n}",
		  "{\n  \"mcpServers\": {\n    \"new\": {\n      \"x\": 1\n    } // none yet\n  }\n}" },
		{ "{\r\n  \"mcpServers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n",
		  "{\r\n  \"mcpServers\": {\r\n    \"a\": 1,\n    \"new\": {\n      \"x\": 1\n    }\r\n "
		  " }\r\n}\r\n" },
	};
	cleat_doc *value = cleat_doc_newf(NULL, "{x: 1}");

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct text got = { 0 };

		jsonedit_set(&got, cases[i].from, strlen(cases[i].from), path, 2,
			     cleat_doc_root(value));
		expect(cases[i].from, &got, cases[i].to);
	}
	cleat_doc_free(value);
}

TEST(a_member_is_removed_with_its_comma)
{
	static const struct {
		const char *from, *to; /* NULL: it is not there */
	} cases[] = {
		{ "", NULL },
		{ "{}", NULL },
		{ "{\"mcpServers\": {\"a\": {\"new\": 1}}}", NULL },
		{ "{\"mcpServers\": {\"new\": 1}}", "{\"mcpServers\": {}}" },
		{ "{\"mcpServers\": {\"a\": 1, \"new\": 1}}", "{\"mcpServers\": {\"a\": 1 }}" },
		{ "{\"mcpServers\": {\"new\": 1, \"a\": 1}}", "{\"mcpServers\": { \"a\": 1}}" },
		{ "{\n  \"mcpServers\": {\n    \"a\": 1, // keep\n    \"new\": {\n      \"x\": 1\n    }\n  "
		  "}\n}\n",
		  "{\n  \"mcpServers\": {\n    \"a\": 1 // keep\n  }\n}\n" },
		{ "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"new\": 2,\n    \"b\": 3\n  }\n}\n",
		  "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"b\": 3\n  }\n}\n" },
		{ "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"new\": 2,\n  },\n}\n",
		  "{\n  \"mcpServers\": {\n    \"a\": 1,\n  },\n}\n" },
		/* nothing may follow such a comment on its line */
		{ "{\"mcpServers\": {\n  // none\n  \"new\": 1 }}",
		  "{\"mcpServers\": {\n  // none\n }}" },
		{ "{\"mcpServers\": {\"a\": 1, // a\n  \"new\": 1 }}",
		  "{\"mcpServers\": {\"a\": 1 // a\n }}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct text got = { 0 };
		bool there = jsonedit_remove(&got, cases[i].from, strlen(cases[i].from), path, 2);

		assert_int_equal(there, cases[i].to != NULL);
		if (there)
			expect(cases[i].from, &got, cases[i].to);
		text_free(&got);
	}
}

/* What was put in and taken out again leaves the text as it was. */
TEST(putting_in_and_taking_out_is_nothing)
{
	static const char *const texts[] = {
		"{\n  \"mcpServers\": {\n    \"a\": 1\n  }\n}\n",
		"{\n\t\"servers\": 1, // x\n\t\"mcpServers\": {\n\t\t\"a\": 1, /* y */\n\t\t\"b\": []\n\t}\n}",
		"{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n    },\n  },\n}\n",
	};
	cleat_doc *value = cleat_doc_newf(NULL, "{command: 'x', args: ['a', 'b'], env: {N: '1'}}");

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		struct text with = { 0 }, without = { 0 };

		jsonedit_set(&with, texts[i], strlen(texts[i]), path, 2, cleat_doc_root(value));
		assert_true(jsonedit_remove(&without, text_str(&with), with.n, path, 2));
		expect(texts[i], &without, texts[i]);
		text_free(&with);
	}
	cleat_doc_free(value);
}

TEST(differences_look_like_those_of_diff)
{
	static const struct {
		const char *before, *after, *shown;
	} cases[] = {
		{ "", "a\nb\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n" },
		{ "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\nx\n6\n7\n8\n9\n",
		  "--- f\n+++ f\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+x\n 6\n 7\n 8\n" },
		{ "1\n2\n3\n", "1\n3\n", "--- f\n+++ f\n@@ -1,3 +1,2 @@\n 1\n-2\n 3\n" },
		{ "a: 1\nb: 2\n", "a: 1\nb: 3\n",
		  "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n" },
		{ "}\n}\n", "}\nx\n}\n}\n", "--- f\n+++ f\n@@ -1,2 +1,4 @@\n }\n+x\n+}\n }\n" },
		{ "a", "b", "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n+b\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct text before = { 0 }, after = { 0 };
		char *shown = NULL;
		size_t n = 0;
		FILE *to = open_memstream(&shown, &n);

		text_puts(&before, cases[i].before);
		text_puts(&after, cases[i].after);
		jsonedit_diff(to, "f", &before, &after, false);
		fclose(to);
		if (strcmp(shown, cases[i].shown) != 0)
			fail_msg("got\n%s\nexpected\n%s", shown, cases[i].shown);
		free(shown);
		text_free(&before);
		text_free(&after);
	}
}
