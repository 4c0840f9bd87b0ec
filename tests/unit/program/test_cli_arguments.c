/* test_cli_arguments.c - words to JSON by a schema (program/cli/arguments.c). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "support_files.h"
#include "test.h"
#include "unit/program/cli_support.h"

static const char *said;

static int setup(void **state)
{
	scratch_begin(state);
	scratch_put("text", "some \"text\"\n");
	scratch_put("json", "[1, 2.50]");
	return chdir(scratch_dir);
}

static int teardown(void **state)
{
	keep_free_all();
	return scratch_end(state);
}

static const char schema_text[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"s\":{\"type\":\"string\"},\"n\":{\"type\":\"number\"},\"i\":{\"type\":\"integer\",\"maximum\":9},"
	"\"b\":{\"type\":\"boolean\"},\"e\":{\"enum\":[\"red\",\"green\",3]},"
	"\"a\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
	"\"t\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"o\":{\"type\":\"object\"},\"any\":{},"
	"\"opt\":{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"null\"}]},"
	"\"two\":{\"type\":[\"string\",\"number\"]},"
	"\"ref\":{\"$ref\":\"#/$defs/count\"},\"get-it\":{\"type\":\"string\"},"
	"\"maybe\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}},"
	"\"either\":{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]},"
	"\"titled\":{\"oneOf\":[{\"const\":\"1\"},{\"const\":2}]},"
	"\"choice\":{\"anyOf\":[{\"enum\":[\"x\",\"y\"]},{\"type\":\"null\"}]},"
	"\"only\":{\"allOf\":[{\"$ref\":\"#/$defs/word\"}]}},"
	"\"$defs\":{\"count\":{\"type\":\"integer\"},\"word\":{\"type\":\"string\"}},"
	"\"additionalProperties\":false}";

/* Words separated by "|"; messages go to `said`. */
static char *make(const char *line, const char *schema, int *code)
{
	const char *words[16];
	char *rest = NULL;
	struct cli cli = { 0 };
	cleat_doc *doc = schema ? cleat_doc_parse(schema, strlen(schema), NULL, NULL, NULL) : NULL;
	cleat_doc *made;
	char *text;
	int n = 0;

	for (char *w = strtok_r(keepf("%s", line), "|", &rest); w; w = strtok_r(NULL, "|", &rest))
		words[n++] = w;
	capture_begin();
	made = cli_arguments(&cli, "tool", n, words, cleat_doc_root(doc), code);
	said = capture_end();
	text = cleat_json_print(cleat_doc_root(made), NULL);
	cleat_doc_free(made);
	cleat_doc_free(doc);
	return text;
}

TEST(values_get_the_types_of_the_schema)
{
	static const struct {
		const char *line, *json;
	} cases[] = {
		{ "", "{}" },
		{ "s=x", "{\"s\":\"x\"}" },
		{ "s=5", "{\"s\":\"5\"}" },
		{ "s=", "{\"s\":\"\"}" },
		{ "s=true|n=1", "{\"s\":\"true\",\"n\":1}" },
		{ "s=a=b", "{\"s\":\"a=b\"}" },
		{ "s=\"q\"\\", "{\"s\":\"\\\"q\\\"\\\\\"}" },
		{ "s=\x01\n\tx", "{\"s\":\"\\u0001\\n\\tx\"}" },
		{ "s=ä€😀", "{\"s\":\"ä€😀\"}" },
		{ "n=5", "{\"n\":5}" },
		{ "n=-1.50e3", "{\"n\":-1.50e3}" },
		{ "n=12345678901234567890", "{\"n\":12345678901234567890}" },
		{ "i=9", "{\"i\":9}" },
		{ "b=true", "{\"b\":true}" },
		{ "b=no", "{\"b\":false}" },
		{ "b=yes", "{\"b\":true}" },
		{ "e=red", "{\"e\":\"red\"}" },
		{ "e=3", "{\"e\":3}" },
		{ "a=1", "{\"a\":[1]}" },
		{ "a=1|s=x|a=2", "{\"a\":[1,2],\"s\":\"x\"}" },
		{ "a=[1, 2]", "{\"a\":[1,2]}" },
		{ "a:=[3]", "{\"a\":[3]}" },
		{ "t=a,b|t=c", "{\"t\":[\"a,b\",\"c\"]}" },
		{ "o={\"x\":1}", "{\"o\":{\"x\":1}}" },
		{ "any=x", "{\"any\":\"x\"}" },
		{ "any=5", "{\"any\":5}" },
		{ "any=yes", "{\"any\":\"yes\"}" },
		{ "any=[1]", "{\"any\":[1]}" },
		{ "opt=5", "{\"opt\":5}" },
		{ "opt:=null", "{\"opt\":null}" },
		{ "two=5", "{\"two\":5}" },
		{ "two=x", "{\"two\":\"x\"}" },
		{ "two:=\"5\"", "{\"two\":\"5\"}" },
		{ "ref=5", "{\"ref\":5}" },
		{ "n=9007199254740993", "{\"n\":9007199254740993}" },
		{ "opt=null", "{\"opt\":null}" },
		{ "maybe=a|maybe=b", "{\"maybe\":[\"a\",\"b\"]}" },
		{ "maybe=null", "{\"maybe\":null}" },
		{ "maybe=[\"a\"]", "{\"maybe\":[\"a\"]}" },
		{ "either=5", "{\"either\":\"5\"}" },
		{ "either=a|either=5", "{\"either\":[\"a\",\"5\"]}" },
		{ "titled=1", "{\"titled\":\"1\"}" },
		{ "titled=2", "{\"titled\":2}" },
		{ "choice=x", "{\"choice\":\"x\"}" },
		{ "choice=null", "{\"choice\":null}" },
		{ "only=5", "{\"only\":\"5\"}" },
		{ "s=@text", "{\"s\":\"some \\\"text\\\"\\n\"}" },
		{ "any:=@json", "{\"any\":[1,2.50]}" },
		{ "{\"s\":\"x\",\"n\":1.0}", "{\"s\":\"x\",\"n\":1.0}" },
		{ "{\"s\":\"x\"}|n=2", "{\"s\":\"x\",\"n\":2}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		int code;
		char *text = make(cases[i].line, schema_text, &code);

		if (!text)
			fail_msg("%s: %s", cases[i].line, said);
		assert_int_equal(code, EXIT_GOOD);
		assert_string_equal(text, cases[i].json);
		free(text);
	}
}

TEST(what_does_not_fit_is_said_before_anything_is_sent)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "n=x", "argument \"n\" must be a number, not \"x\"" },
		{ "n=", "argument \"n\" must be a number, not \"\"" },
		{ "n=0x10", "argument \"n\" must be a number" },
		{ "n=1e", "argument \"n\" must be a number" },
		{ "i=1.5", "i: expected" },
		{ "i=10", "i: expected" },
		{ "b=maybe", "argument \"b\" must be a boolean, not \"maybe\"" },
		{ "e=blue", "argument \"e\" must be one of red|green|3, not \"blue\"" },
		{ "a=x", "argument \"a\" must be an integer, not \"x\"" },
		{ "o=x", "argument \"o\" must be an object, not \"x\"" },
		{ "n:=x", "argument \"n\" is no JSON: " },
		{ "n:=", "argument \"n\" is no JSON: " },
		{ "s=@nowhere", "argument \"s\" cannot be read from nowhere: No such file" },
		{ "s=1|s=2", "argument \"s\" is given twice" },
		{ "a=1|a:=[2]", "argument \"a\" is given twice" },
		{ "{\"s\":\"x\"}|s=y", "argument \"s\" is given twice" },
		{ "getit=x", "there is no argument \"getit\", did you mean \"get-it\"?" },
		{ "qqqqqq=x", "there is no argument \"qqqqqq\"\n" },
		{ "{\"zz\":1}", "unknown member \"zz\"" },
		{ "{1}", "the arguments are not a JSON object: " },
		{ "word", "\"word\" is not an argument: write key=value" },
		{ "=x", "\"=x\" is not an argument" },
		{ "s=\xff", "argument \"s\" must be text in UTF-8" },
		{ "s=y|{\"s\":\"x\"}", "argument \"s\" is given twice" },
		{ "a=[1]|a=2", "argument \"a\" is given twice" },
		{ "titled=3", "argument \"titled\" must be one of 1|2, not \"3\"" },
		{ "choice=z", "argument \"choice\" must be one of x|y, not \"z\"" },
		{ "maybe=1|maybe:=[2]", "argument \"maybe\" is given twice" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		int code;
		char *text = make(cases[i].line, schema_text, &code);

		if (text)
			fail_msg("%s: %s", cases[i].line, text);
		assert_int_equal(code, EXIT_USAGE);
		if (strncmp(said, "cleat: tool: ", 13) != 0 ||
		    strncmp(said + 13, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s: %s", cases[i].line, said);
	}
}

/* Schemas of a server that is out to make us busy: in a circle, and with branches of branches. */
TEST(schemas_that_lead_nowhere_end)
{
	struct text t = { 0 };
	char *text;
	int code;

	text_puts(&t,
		  "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"anyOf\":[");
	for (int i = 0; i < 100; i++)
		text_printf(&t, "%s{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"}]}",
			    i ? "," : "");
	text_puts(&t, "]}}}");
	text = make("x=5", text_str(&t), &code);
	text_free(&t);
	assert_non_null(text);
	assert_string_equal(text, "{\"x\":5}");
	free(text);
	text = make("x=5", "{\"properties\":{\"x\":{\"$ref\":\"#/properties/x\"}}}", &code);
	assert_string_equal(text, "{\"x\":5}");
	free(text);
}

TEST(a_type_is_said_with_all_that_it_may_be)
{
	static const struct {
		const char *schema, *words;
	} rows[] = {
		{ "{\"type\":[\"boolean\",\"null\",\"string\"]}", "boolean|string" },
		{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
		  "\"string\"}},{\"type\":\"null\"}]}",
		  "string|string[]" },
		{ "{\"type\":\"array\",\"items\":{\"type\":[\"integer\",\"string\"]}}",
		  "(integer|string)[]" },
		{ "{\"type\":\"array\"}", "json[]" },
		{ "{\"oneOf\":[{\"type\":\"null\"}]}", "json" },
		{ "{}", "json" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_doc *doc =
			cleat_doc_parse(rows[i].schema, strlen(rows[i].schema), NULL, NULL, NULL);

		assert_string_equal(argument_type(cleat_doc_root(doc)), rows[i].words);
		cleat_doc_free(doc);
	}
	keep_free_all();
}

TEST(missing_arguments_are_named_with_their_type)
{
	static const char *const schemas[][2] = {
		{ "{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"number\"}}}",
		  "cleat: tool: missing argument \"a\" (number)\n" },
		{ "{\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":"
		  "\"string\"}}}}",
		  "cleat: tool: missing argument \"a\" (string[])\n" },
		{ "{\"required\":[\"a\"],\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]}}}",
		  "cleat: tool: missing argument \"a\" (x|y)\n" },
		{ "{\"required\":[\"a\"]}", "cleat: tool: missing argument \"a\" (json)\n" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(schemas); i++) {
		int code;

		assert_null(make("", schemas[i][0], &code));
		assert_int_equal(code, EXIT_USAGE);
		assert_string_equal(said, schemas[i][1]);
	}
}

/* A schema that says that there may be others, or none at all, lets every name through. */
TEST(other_names_pass_where_the_schema_lets_them)
{
	static const char *const schemas[] = {
		NULL,
		"{\"type\":\"object\"}",
		"{\"properties\":{\"a\":{}},\"additionalProperties\":true}",
		"{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"string\"}}",
		"{\"properties\":{\"a\":{}},\"patternProperties\":{\"^z\":{}}}",
		/* A schema that cannot be used is not the caller's fault. */
		"{\"properties\":{\"zz\":{\"type\":\"string\"}},\"minProperties\":\"x\"}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(schemas); i++) {
		int code;
		char *text = make("zz=x", schemas[i], &code);

		if (!text)
			fail_msg("%s: %s", schemas[i], said);
		assert_string_equal(text, "{\"zz\":\"x\"}");
		free(text);
	}
	assert_string_equal(said, "");
}

TEST_GROUP(setup, teardown)
