/* tests/unit/test_signature_print.c - schemas to signatures, and signatures there and back. */
#include "field/signature.h"
#include "test.h"

#include "field/field.h"
#include "support.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- printing ----------------------------------------------------------------------------- */

/* In both texts ' stands for ". */
static void expect_print(const char *schema, const char *signature)
{
	char *json = support_json(schema), *wanted = support_json(signature);
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_doc_parse(json, strlen(json), NULL, NULL, &err);
	char *text;

	if (!doc)
		fail_msg("%s: %s", json, err.message);
	text = cleat_signature_print("f", cleat_doc_root(doc), true, &err);
	assert_string_equal(text, wanted);
	free(text);
	free(json);
	free(wanted);
	cleat_doc_free(doc);
}

static void expect_print_type(const char *property, const char *wanted)
{
	char json[1024], text[512];

	snprintf(json, sizeof json, "{'type':'object','properties':{'a':%s},'required':['a']}",
		 property);
	snprintf(text, sizeof text, "f(a: %s)", wanted);
	expect_print(json, text);
}

TEST(what_the_grammar_says_is_printed)
{
	expect_print("{'type':'object','properties':{"
		     "'city':{'type':'string','description':'City \\'name\\''},"
		     "'days':{'type':'integer','minimum':1,'maximum':14,'default':1},"
		     "'unit':{'type':'string','enum':['a','b c'],'default':'b c'},"
		     "'odd name':{'type':'array','items':{'type':'string'},"
		     "'minItems':1}},'required':['city']}",
		     "f(city: string 'City \\'name\\'', days?: integer 1..14 = 1, "
		     "unit?: a|'b c' = 'b c', 'odd name'?: string[] 1..)");
	expect_print_type("{'enum':['only']}", "(only)");
	expect_print_type("{'enum':['string','1']}", "'string'|'1'");
	expect_print_type("{'type':'array','items':{'enum':['x','y']}}", "(x|y)[]");
	expect_print_type("{'type':'number','maximum':1.5}", "number ..1.5");
	expect_print_type("{}", "json");
	expect_print_type("true", "json");
	expect_print_type("{'type':'array'}", "json[]");
}

TEST(what_it_cannot_say_becomes_a_json_type)
{
	expect_print_type("{'type':['string','null']}", "string");
	expect_print_type("{'type':['boolean','string','null']}", "boolean|string");
	expect_print_type("{'type':'array','items':{'type':['string','integer']}}",
			  "(string|integer)[]");
	expect_print_type("{'oneOf':[{'type':'array'},{'type':'object'},{'type':'object'}]}",
			  "json[]|object");
	expect_print_type(
		"{'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]}",
		"string|string[]");
	expect_print_type("{'oneOf':[{'type':'string'},{'$ref':'#/x'}]}", "json");
	expect_print_type("{'anyOf':[{'type':'integer','minimum':1},{'type':'null'}]}",
			  "integer 1..");
	expect_print_type("{'anyOf':[{'type':'integer'},{'type':'string'}]}", "integer|string");
	expect_print_type("{'$ref':'#/x'}", "json");
	expect_print_type("{'type':'null'}", "json");
	expect_print_type("{'type':7}", "json");
	expect_print_type("{'enum':[1,2],'type':'integer'}", "integer");
	expect_print_type("{'enum':['a|b'],'type':'string'}", "string");
	expect_print_type("{'enum':['a','a'],'type':'string'}", "string");
	expect_print_type("{'enum':[],'type':'string'}", "string");
	expect_print_type("{'type':'object','properties':{'x':{}}}", "object");
	expect_print_type("{'type':'array','items':{'type':'array'}}", "json[]");
	expect_print_type("{'type':'integer','minimum':0.5,'maximum':1e300}", "integer");
	expect_print_type("{'type':'integer','minimum':5,'maximum':1}", "integer");
	expect_print_type("{'type':'number','minimum':1e999}", "number");
	expect_print_type("{'type':'string','minLength':-1}", "string");
	expect_print_type("{'type':'integer','default':1}", "integer");
	expect_print("{'properties':{'a':{'type':'integer','default':'x'}}}", "f(a?: integer)");
	expect_print("{'properties':{'a':{'enum':['x','y'],'default':'z'}}}", "f(a?: x|y)");
	expect_print("{'properties':{'a':{'type':'array','items':{'enum':['x','y']},"
		     "'default':['x','z']},'b':{'type':'array','items':{'enum':"
		     "['x','y']},'default':['y']}}}",
		     "f(a?: (x|y)[], b?: (x|y)[] = ['y'])");
	expect_print_type("{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':[{'anyOf':["
			  "{'type':'string'}]}]}]}]}]}",
			  "json");
	expect_print("{'properties':7,'required':8}", "f()");
	expect_print("[1,2]", "f()");
}

TEST(printing_takes_nothing_and_anything)
{
	cleat_error err;
	char *text = cleat_signature_print("x", NULL, false, NULL);

	assert_string_equal(text, "x()");
	free(text);
	assert_null(cleat_signature_print(NULL, NULL, false, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	text = cleat_signature_print("\x1b[2J\xff\xe2\x80\xae", NULL, false, NULL);
	assert_string_equal(text, "\\u001b[2J\xef\xbf\xbd\\u202e()");
	free(text);
	expect_print("{'properties':{'\\u009b\\'':{'default':['\\u007f'],"
		     "'description':'\\u202e'}}}",
		     "f('\\u009b\\''?: json = ['\\u007f'] '\\u202e')");
}

TEST(docs_are_left_out_on_demand)
{
	cleat_doc *doc = cleat_doc_newf(NULL, "{properties: {a: {description: 'D'}}}");
	char *text = cleat_signature_print("f", cleat_doc_root(doc), false, NULL);

	assert_string_equal(text, "f(a?: json)");
	free(text);
	cleat_doc_free(doc);
}

TEST(huge_schemas_are_cut)
{
	struct buf b;
	cleat_doc *doc;
	char *text;

	for (int kind = 0; kind < 4; kind++) {
		buf_init(&b, NULL, 8 << 20);
		buf_appendz(&b, "{\"properties\":{\"a\":");
		if (kind == 0)
			for (int i = 0; i < 100000; i++)
				buf_printf(&b, "{},\"ü%d\":", i);
		if (kind == 1) {
			buf_appendz(&b, "{\"description\":\"");
			for (int i = 0; i < 100000; i++)
				buf_appendz(&b, "ü");
			buf_appendz(&b, "\"},\"b\":");
		}
		if (kind == 2) {
			buf_appendz(&b, "{\"default\":[1");
			for (int i = 0; i < 4000; i++)
				buf_appendz(&b, ",\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
			buf_appendz(&b, "]},\"b\":");
		}
		if (kind == 3) {
			buf_appendz(&b, "{\"enum\":[\"a\"");
			for (int i = 0; i < 255; i++)
				buf_printf(&b, ",\"a long choice number %d\"", i);
			buf_appendz(&b, "]},\"b\":");
		}
		buf_appendz(&b, "{}}}");
		doc = cleat_doc_parse(buf_str(&b).p, buf_size(&b), NULL, NULL, NULL);
		assert_non_null(doc);
		text = cleat_signature_print("f", cleat_doc_root(doc), true, NULL);
		assert_non_null(text);
		assert_true(strlen(text) < SIGNATURE_PRINTED);
		assert_string_equal(text + strlen(text) - 3, "…");
		assert_int_equal(utf8_valid_prefix(str_of(text)), strlen(text));
		free(text);
		cleat_doc_free(doc);
		buf_done(&b);
	}
}

TEST(printing_survives_memory_failure)
{
	static char doc_text[3000];
	cleat_doc *doc;

	memset(doc_text, 'd', sizeof doc_text - 1);
	doc = cleat_doc_newf(NULL, "{properties: {a: {default: [1, %s], description: %s}}}",
			     doc_text, "D");
	assert_non_null(doc);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_error err = { 0 };
		char *text;

		text = signature_print(&fa.hook, "f", cleat_doc_root(doc), true, &err);
		assert_true(!text == fail_alloc_hit(&fa));
		if (!text)
			assert_int_equal(err.status, CLEAT_ENOMEM);
		else
			fa.hook.free(fa.hook.ctx, text);
		assert_true(fa.round < 100);
	}
	cleat_doc_free(doc);
}

/* ---- there and back ----------------------------------------------------------------------- */

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static const char *space(void)
{
	static const char *const some[] = { "", " ", "", "\n\t" };

	return some[pick(4)];
}

static void random_text(struct buf *b)
{
	static const char *const pieces[] = { "a",       " ",       "\\\"",
					      "\\\\",    "\\n",     "é",
					      "\\u001b", "\\u202e", "\\u007f",
					      "|",       ")",       ",",
					      "日本",    "=",       "\xf0\x9f\x98\x80",
					      "/",       "[",       "\\ud83d\\ude00" };

	buf_putc(b, '"');
	for (unsigned i = pick(8); i > 0; i--)
		buf_appendz(b, pieces[pick(CLEAT_COUNT(pieces))]);
	buf_putc(b, '"');
}

static void random_choices(struct buf *b, unsigned n)
{
	static const char *const some[] = {
		"a",        "b-c",   "\"string\"", "\"x y\"", "text/css",
		"\"true\"", "größe", "\"1\"",      "_",       "\"\\u200e\\\"\""
	};
	unsigned first = pick(CLEAT_COUNT(some));

	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s%s%s%s", i ? "|" : "", space(),
			   some[(first + i) % CLEAT_COUNT(some)], space());
}

static void random_argument(struct buf *b, int i)
{
	/* type, range, default */
	static const char *const some[][3] = {
		{ "string", " 0..9", "\"a\\u202e\\n\"" },
		{ "int", " -3..", "3.0" },
		{ "integer", " ..14", "-1e1" },
		{ "number", " -0.5..1e3", "0.250" },
		{ "float", " 1e-7..", "1e-3" },
		{ "bool", "", "true" },
		{ "json", "", "{\"a\": [1, \"]\\u009b\"]}" },
		{ "any", "", "null" },
		{ "object", "", "{ }" },
		{ "string[]", " 1..4", "[ \"q\" ]" },
		{ "json[]", " ..9", "[[], 1.50]" },
		{ "object[]", "", "[{\"b\":{}}]" },
		{ "int[]", " 0..", "[12345678901234567]" },
	};
	unsigned type = pick(CLEAT_COUNT(some) + 3);

	if (pick(4))
		buf_printf(b, "%sarg%d%s", space(), i, space());
	else
		buf_printf(b, "\"%d \\u001b%s\"", i, pick(2) ? "é" : "\\\\");
	buf_printf(b, "%s%s:%s", pick(3) ? "" : "?", space(), space());
	if (type < CLEAT_COUNT(some)) {
		buf_appendz(b, some[type][0]);
		if (pick(2))
			buf_appendz(b, some[type][1]);
		if (pick(2))
			buf_printf(b, "%s=%s%s", space(), space(), some[type][2]);
	} else if (type == CLEAT_COUNT(some)) {
		random_choices(b, 2 + pick(6));
	} else {
		buf_putc(b, '(');
		random_choices(b, 1 + pick(6));
		buf_appendz(b, type % 2 ? ")" : ")[] 0..7 = []");
	}
	buf_appendz(b, space());
	if (pick(2))
		random_text(b);
}

static void random_signature(struct buf *b)
{
	int n = (int)pick(9);

	buf_appendz(b, "tool(");
	for (int i = 0; i < n; i++) {
		random_argument(b, i);
		buf_appendz(b, i + 1 < n || pick(2) ? "," : "");
	}
	buf_appendz(b, ")");
	buf_putc(b, '\0');
}

static char *print_schema(const char *schema)
{
	cleat_doc *doc = cleat_doc_parse(schema, strlen(schema), NULL, NULL, NULL);
	char *text = cleat_signature_print("tool", cleat_doc_root(doc), true, NULL);

	assert_non_null(text);
	cleat_doc_free(doc);
	return text;
}

static void parse_ok(struct arena *ar, const char *text, struct signature *sig, const char **rest)
{
	cleat_error err = { 0 };

	if (signature_parse(ar, text, sig, rest, &err))
		fail_msg("%s: %s", text, err.message);
}

TEST(what_is_printed_reads_as_the_same_schema)
{
	for (uint64_t i = 1; i <= 3000; i++) {
		cleat_error err = { 0 };
		char *schema, *printed, *again, *printed_again;
		struct signature sig;
		struct arena ar;
		struct buf b;

		seed = i * UINT64_C(0x9E3779B97F4A7C15);
		buf_init(&b, NULL, SIGNATURE_MAX);
		random_signature(&b);
		schema = cleat_signature_schema(b.data, NULL, &err);
		if (!schema)
			fail_msg("seed %u: %s\n%s", (unsigned)i, err.message, b.data);
		printed = print_schema(schema);
		again = cleat_signature_schema(printed, NULL, &err);
		if (!again)
			fail_msg("seed %u: %s\n%s", (unsigned)i, err.message, printed);
		assert_string_equal(again, schema);
		printed_again = print_schema(again);
		assert_string_equal(printed_again, printed);
		arena_init(&ar, NULL, 0);
		parse_ok(&ar, printed, &sig, NULL);
		assert_int_equal(field_table_check(sig.fields, NULL), CLEAT_OK);
		arena_done(&ar);
		free(schema);
		free(printed);
		free(again);
		free(printed_again);
		buf_done(&b);
	}
}
