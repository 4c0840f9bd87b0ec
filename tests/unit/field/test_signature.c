/* tests/unit/test_signature.c - reading signatures: tables, schemas, errors, limits. */
#include "field/signature.h"
#include "test.h"

#include "field/field.h"
#include "support.h"
#include "json/parse.h"

#include <cleat/schema.h>
#include <stdlib.h>
#include <string.h>

/* The signature's arguments as a schema; in both texts ' stands for ". */
static void expect_schema(const char *text, const char *wanted)
{
	cleat_error err = { 0 };
	char *signature = support_json(text), *json = support_json(wanted);
	char *schema = cleat_signature_schema(signature, NULL, &err);
	cleat_schema *compiled;

	if (!schema)
		fail_msg("%s: %s", signature, err.message);
	assert_string_equal(schema, json);
	compiled = cleat_schema_parse(schema, strlen(schema), NULL, &err);
	if (!compiled)
		fail_msg("%s: %s", signature, err.message);
	cleat_schema_free(compiled);
	free(schema);
	free(signature);
	free(json);
}

/* f(a: TYPE) gives {"type":"object","properties":{"a":WANTED},"required":["a"]}. */
static void expect_type(const char *type, const char *wanted)
{
	char signature[512], schema[1024];

	snprintf(signature, sizeof signature, "f(a: %s)", type);
	snprintf(schema, sizeof schema, "{'type':'object','properties':{'a':%s},'required':['a']}",
		 wanted);
	expect_schema(signature, schema);
}

static void expect_error(const char *signature, const char *wanted)
{
	cleat_error err = { 0 };

	assert_null(cleat_signature_schema(signature, NULL, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_string_equal(err.message, wanted);
}

TEST(the_example_of_the_header_reads)
{
	expect_schema("forecast(city: string 'City name', days: integer 1..14 = 1 'Days ahead',\n"
		      "         unit?: celsius|fahrenheit, tags: string[] = [])",
		      "{'type':'object','properties':{"
		      "'city':{'type':'string','description':'City name'},"
		      "'days':{'type':'integer','description':'Days ahead','minimum':1,"
		      "'maximum':14,'default':1},"
		      "'unit':{'type':'string','enum':['celsius','fahrenheit']},"
		      "'tags':{'type':'array','items':{'type':'string'},'default':[]}},"
		      "'required':['city']}");
}

TEST(every_type_has_its_words)
{
	expect_type("string", "{'type':'string'}");
	expect_type("integer", "{'type':'integer'}");
	expect_type("int", "{'type':'integer'}");
	expect_type("number", "{'type':'number'}");
	expect_type("num", "{'type':'number'}");
	expect_type("float", "{'type':'number'}");
	expect_type("boolean", "{'type':'boolean'}");
	expect_type("bool", "{'type':'boolean'}");
	expect_type("json", "{}");
	expect_type("any", "{}");
	expect_type("object", "{'type':'object'}");
}

TEST(choices_are_words_or_strings)
{
	expect_type("a|b", "{'type':'string','enum':['a','b']}");
	expect_type("a | 'b c'\n|d", "{'type':'string','enum':['a','b c','d']}");
	expect_type("(a|b)", "{'type':'string','enum':['a','b']}");
	expect_type("('only')", "{'type':'string','enum':['only']}");
	expect_type("text/plain|image/svg+xml|v1.2-x|Größe",
		    "{'type':'string','enum':['text/plain','image/svg+xml','v1.2-x',"
		    "'Größe']}");
	expect_type("'string'|'null'", "{'type':'string','enum':['string','null']}");
	expect_error("f(a: string|integer)", "column 6: \"string\" as a choice must be in quotes");
	expect_error("f(a: x|null)", "column 8: \"null\" as a choice must be in quotes");
	expect_error("f(a: x|y|x)", "column 10: a choice stands twice");
	expect_error("f(a: x|1)", "column 8: expected a choice, got \"1\"");
	expect_error("f(a: x|\"\")", "column 8: a choice must not be empty or contain \"|\"");
	expect_error("f(a: x|\"y|z\")", "column 8: a choice must not be empty or contain \"|\"");
	expect_error("f(a: x|)", "column 8: expected a choice, got \")\"");
	expect_error("f(a: (x y))", "column 9: expected \"|\" or \")\", got \"y\"");
}

TEST(arrays_follow_their_element)
{
	expect_type("string[]", "{'type':'array','items':{'type':'string'}}");
	expect_type("json [ ]", "{'type':'array','items':{}}");
	expect_type("object[]", "{'type':'array','items':{'type':'object'}}");
	expect_type("(a|b)[]", "{'type':'array','items':{'type':'string','enum':['a','b']}}");
	expect_type("bool[] 1..3", "{'type':'array','minItems':1,'maxItems':3,"
				   "'items':{'type':'boolean'}}");
	expect_error("f(a: a|b[])", "column 9: an array of choices is written (a|b)[]");
	expect_error("f(a: int[][])", "column 11: arrays of arrays are written json[]");
	expect_error("f(a: int 1..2[])", "column 14: a range after \"[]\" counts elements");
	expect_error("f(a: int[3])", "column 10: expected \"]\", got \"3\"");
}

TEST(ranges_have_one_or_two_ends)
{
	expect_type("integer 1..14", "{'type':'integer','minimum':1,'maximum':14}");
	expect_type("integer -5..", "{'type':'integer','minimum':-5}");
	expect_type("integer ..14", "{'type':'integer','maximum':14}");
	expect_type("integer..14", "{'type':'integer','maximum':14}");
	expect_type("integer 1e2..1.0e3", "{'type':'integer','minimum':100,'maximum':1000}");
	expect_type("number 0..0.5", "{'type':'number','minimum':0,'maximum':0.5}");
	expect_type("string 1..80", "{'type':'string','minLength':1,'maxLength':80}");
	expect_type("integer -9007199254740992..9007199254740992",
		    "{'type':'integer','minimum':-9007199254740992,"
		    "'maximum':9007199254740992}");
	expect_error("f(a: int 2..1)", "column 10: the range is empty");
	expect_error("f(a: int ..)", "column 10: a range needs a number on one side of \"..\"");
	expect_error("f(a: int 5)", "column 11: expected \"..\" of a range, got \")\"");
	expect_error("f(a: int 0.5..1)",
		     "column 10: a bound here must be a whole number of at most 2^53");
	expect_error("f(a: int 0..9007199254740994)",
		     "column 13: a bound here must be a whole number of at most 2^53");
	expect_error("f(a: string -1..1)", "column 13: a length cannot be negative");
	expect_error("f(a: number 0..1e999)", "column 16: expected a number, got \"1e999\"");
	expect_error("f(a: number 01..2)", "column 13: expected a number, got \"01\"");
	expect_error("f(a: bool 0..1)",
		     "column 11: only integers, numbers, strings and arrays have a range");
	expect_error("f(a: x|y 0..1)",
		     "column 10: only integers, numbers, strings and arrays have a range");
}

/* f(a: TYPE) with an argument that may be absent. */
static void expect_optional(const char *type, const char *wanted)
{
	char signature[512], schema[1024];

	snprintf(signature, sizeof signature, "f(a: %s)", type);
	snprintf(schema, sizeof schema, "{'type':'object','properties':{'a':%s}}", wanted);
	expect_schema(signature, schema);
}

TEST(defaults_are_json_and_make_optional)
{
	expect_optional("integer = 3", "{'type':'integer','default':3}");
	expect_optional("integer = -3.0", "{'type':'integer','default':-3.0}");
	expect_optional("bool = true 'D'", "{'type':'boolean','description':'D','default':true}");
	expect_optional("json = null", "{'default':null}");
	expect_optional("string = 'a, b)' 'D'",
			"{'type':'string','description':'D','default':'a, b)'}");
	expect_optional("int[] = [ 1,\n2 ]",
			"{'type':'array','items':{'type':'integer'},'default':[1,2]}");
	expect_optional("object = {'a': ['}', {}]}", "{'type':'object','default':{'a':['}',{}]}}");
	expect_optional("x|y = y", "{'type':'string','enum':['x','y'],'default':'y'}");
	expect_optional("x|y = 'y'", "{'type':'string','enum':['x','y'],'default':'y'}");
	expect_error("f(a: int 1..14 = 20)",
		     "column 18: default of a: expected integer between 1 and 14, got 20");
	expect_error("f(a: int = \"x\")", "column 12: default of a: expected integer, got \"x\"");
	expect_error(
		"f(a: json = [\"x)",
		"column 13: expected a JSON value as default (text stands in quotes), got \"[\"");
	expect_error("f(a: x|y = z)",
		     "column 12: default of a: expected one of \"x\", \"y\", got \"z\"");
	expect_error("f(a: string = Oslo)", "column 15: expected a JSON value as default, got "
					    "\"Oslo\" (text stands in quotes)");
	expect_error("f(a: (x|y)[] = [x])", "column 16: the default is not valid JSON");
	expect_error(
		"f(a: int[] = [1)",
		"column 14: expected a JSON value as default (text stands in quotes), got \"[\"");
	expect_error(
		"f(a: int = )",
		"column 12: expected a JSON value as default (text stands in quotes), got \")\"");
	expect_error("f(a: int \"D\" = 1)", "column 14: a default stands before the description");
}

TEST(long_messages_are_cut_between_characters)
{
	static const char e40[] = "éééééééééééééééééééééééééééééééééééééééé";
	char text[600];
	cleat_error err;

	for (int pad = 0; pad < 3; pad++) {
		snprintf(text, sizeof text, "f(%.*sa: %s|b%s|c%s = 1)", pad, "xx", e40, e40, e40);
		assert_null(cleat_signature_schema(text, NULL, &err));
		assert_true(strlen(err.message) > 240);
		assert_int_equal(utf8_valid_prefix(str_of(err.message)), strlen(err.message));
	}
}

TEST(argument_names_are_words_or_strings)
{
	expect_schema("f('a b'?: int, $x.y-z: bool, größe: any,)",
		      "{'type':'object','properties':{'a b':{'type':'integer'},"
		      "'$x.y-z':{'type':'boolean'},'größe':{}},"
		      "'required':['$x.y-z','größe']}");
	expect_error("f(a: int, \"a\": int)", "column 11: argument \"a\" stands twice");
	expect_error("f(\"\": int)", "column 3: an argument's name must not be empty");
	expect_error("f(\"a\\u0000\": int)", "column 3: text must not contain NUL");
	expect_error("f(a)", "column 4: expected \":\" or \"?:\" and a type, got \")\"");
	expect_error("f(a?)", "column 5: expected \":\" and a type, got \")\"");
	expect_error("f(,)", "column 3: expected an argument's name or \")\", got \",\"");
	expect_error("f(a: int b: int)", "column 10: expected \",\" or \")\", got \"b\"");
	expect_error("f(a: int", "column 9: expected \",\" or \")\", got the end");
}

TEST(types_that_do_not_exist_are_explained)
{
	expect_error("f(a: integr)", "column 6: unknown type \"integr\" (did you mean integer?)");
	expect_error("f(a: String)", "column 6: unknown type \"String\" (did you mean string?)");
	expect_error("forecast(a: )",
		     "column 13: expected a type (string, integer, number, boolean, json, object, "
		     "a|b, ...), got \")\"");
	expect_error("f(a: \"City\")",
		     "column 6: expected a type (string, integer, number, boolean, "
		     "json, object, a|b, ...), got \"City\"");
	expect_error("f(ä: int,\n  b: quux)",
		     "line 2, column 6: expected a type (string, integer, number, boolean, json, "
		     "object, a|b, ...), got \"quux\"");
	expect_error("f(ä: (", "column 7: expected a choice, got the end");
}

TEST(texts_are_json_strings)
{
	expect_type("int 'say \\'hi\\'\\n\\u00e9'",
		    "{'type':'integer','description':'say \\'hi\\'\\né'}");
	expect_error("f(a: int \"open)", "column 16: expected a closing quote, got the end");
	expect_error("f(a: int \"a\nb\")",
		     "column 10: not a JSON string (line breaks and control characters must be "
		     "escaped: \\n, \\u0007)");
	expect_error("f(a: int \"\\u0000\")", "column 10: text must not contain NUL");
	expect_error("f(a: int \xff)", "column 10: expected \",\" or \")\", got a byte that is not "
				       "UTF-8");
	expect_error("f \xff", "column 3: expected the end, got a byte that is not UTF-8");
	expect_error("f(a: int \x1b[2J)", "column 10: expected \",\" or \")\", got \"\\u001b\"");
}

static void parse_ok(struct arena *ar, const char *text, struct signature *sig, const char **rest)
{
	cleat_error err = { 0 };

	if (signature_parse(ar, text, sig, rest, &err))
		fail_msg("%s: %s", text, err.message);
}

TEST(names_end_where_arguments_or_a_command_begin)
{
	struct signature sig;
	struct arena ar;
	const char *rest;

	arena_init(&ar, NULL, 0);
	parse_ok(&ar, " ns:tool-1.x ", &sig, NULL);
	assert_string_equal(sig.name, "ns:tool-1.x");
	assert_int_equal(field_count(sig.fields), 0);
	assert_null(sig.description);
	parse_ok(&ar, "größe \"What it does\"", &sig, NULL);
	assert_string_equal(sig.name, "größe");
	assert_string_equal(sig.description, "What it does");
	parse_ok(&ar, "f(a: int) \"Doc\" : echo \xff \"$a\"", &sig, &rest);
	assert_string_equal(sig.description, "Doc");
	assert_string_equal(rest, ": echo \xff \"$a\"");
	parse_ok(&ar, "ls: ls -l", &sig, &rest);
	assert_string_equal(sig.name, "ls");
	assert_string_equal(rest, ": ls -l");
	parse_ok(&ar, "ls:", &sig, &rest);
	assert_string_equal(sig.name, "ls");
	assert_string_equal(rest, ":");
	parse_ok(&ar, "ls()  ", &sig, &rest);
	assert_string_equal(rest, "");
	arena_done(&ar);
	expect_error("", "column 1: expected a name, got the end");
	expect_error("(a: int)", "column 1: expected a name, got \"(\"");
	expect_error("f g", "column 3: expected the end, got \"g\"");
	expect_error("f() \"d\" x", "column 9: expected the end, got \"x\"");
	expect_error("\x07", "column 1: expected a name, got \"\\u0007\"");
	assert_int_equal(signature_parse(&ar, NULL, &sig, NULL, NULL), CLEAT_EINVAL);
}

TEST(the_name_is_given_back)
{
	char *name = NULL, *schema = cleat_signature_schema("  add(a: int)", &name, NULL);

	assert_non_null(name);
	assert_string_equal(name, "add");
	free(name);
	free(schema);
}

/* What is between the parentheses, alone: columns are counted from its own beginning. */
TEST(arguments_may_stand_alone)
{
	static const struct {
		const char *text;
		size_t n;
		const char *why; /* NULL: it is right */
	} cases[] = {
		{ "", 0, NULL },
		{ "  ", 0, NULL },
		{ "a: number, b?: string", 2, NULL },
		{ "a: number,", 1, NULL },
		{ "a: number)", 0, "column 10: expected \",\" or the end, got \")\"" },
		{ "a: number b", 0, "column 11: expected \",\" or the end, got \"b\"" },
		{ ", a: number", 0, "column 1: expected an argument's name or \")\", got \",\"" },
		{ "a: numbr", 0, "column 4: unknown type \"numbr\" (did you mean number?)" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const cleat_field *fields = NULL;
		cleat_error err = { 0 };
		struct arena ar;
		size_t n = 0;
		int rc;

		arena_init(&ar, NULL, 0);
		rc = signature_parse_args(&ar, cases[i].text, &fields, &err);
		assert_int_equal(rc, cases[i].why ? CLEAT_EINVAL : CLEAT_OK);
		if (cases[i].why)
			assert_string_equal(err.message, cases[i].why);
		while (!rc && fields[n].type != CLEAT_T_END)
			n++;
		assert_int_equal(n, cases[i].n);
		arena_done(&ar);
	}
}

TEST(limits_hold)
{
	static char text[40000];
	struct signature sig;
	struct arena ar;
	const char *rest;
	int n;

	memset(text, 'n', 129);
	expect_error(text, "column 1: a name has at most 128 characters");
	text[128] = '\0';
	free(cleat_signature_schema(text, NULL, NULL));

	n = sprintf(text, "f(");
	for (int i = 0; i < 64; i++)
		n += sprintf(text + n, "a%d: int,", i);
	sprintf(text + n, ")");
	arena_init(&ar, NULL, 0);
	parse_ok(&ar, text, &sig, NULL);
	assert_int_equal(field_count(sig.fields), 64);
	assert_int_equal(field_table_check(sig.fields, NULL), CLEAT_OK);
	sprintf(text + n, "b:int)");
	assert_int_equal(signature_parse(&ar, text, &sig, NULL, NULL), CLEAT_EINVAL);

	n = sprintf(text, "f(a: ");
	for (int i = 0; i < 256; i++)
		n += sprintf(text + n, "%sa%d", i ? "|" : "", i);
	sprintf(text + n, ")");
	parse_ok(&ar, text, &sig, NULL);
	sprintf(text + n, "|b)");
	assert_int_equal(signature_parse(&ar, text, &sig, NULL, NULL), CLEAT_EINVAL);

	memset(text, ' ', sizeof text - 1);
	memcpy(text, "f(a: int", 8);
	expect_error(text, "a signature has at most 16384 bytes");
	memcpy(text, "f(a: int)", 9);
	expect_error(text, "a signature has at most 16384 bytes");
	text[16384] = '\0';
	parse_ok(&ar, text, &sig, NULL);
	text[16384] = ' ';
	text[20] = ':';
	parse_ok(&ar, text, &sig, &rest);
	assert_ptr_equal(rest, text + 20);
	arena_done(&ar);
}

TEST(deep_defaults_do_not_recurse)
{
	static char text[12000];
	int n = sprintf(text, "f(a: json = ");

	memset(text + n, '[', 5000);
	memset(text + n + 5000, ']', 5000);
	strcpy(text + n + 10000, ")");
	expect_error(text, "column 13: the default is not valid JSON");
}

TEST(reading_survives_memory_failure)
{
	static char text[16000];
	int k = sprintf(text, "tool(x: a|\"b c\" = a, y: json = [1,{\"z\":\"");

	memset(text + k, 'q', 6000);
	sprintf(text + k + 6000, "\"}], \"odd name\"?: (p|q)[] = [\"p\"] \"D\") \"Doc\"");
	for (int bad = 0; bad < 2; bad++) {
		if (bad)
			strcat(text, " junk");
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			struct signature sig;
			cleat_error err = { 0 };
			struct arena ar;
			int rc;

			arena_init(&ar, &fa.hook, 0);
			rc = signature_parse(&ar, text, &sig, NULL, &err);
			assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM
					     : bad               ? CLEAT_EINVAL
								 : CLEAT_OK);
			assert_int_equal(err.status, rc);
			arena_done(&ar);
			assert_true(fa.round < 100);
		}
	}
}

/* An arena that is all but full makes every single allocation the one that fails. */
TEST(reading_survives_a_full_arena)
{
	static const char *const texts[] = {
		"tool(x: a|\"b c\" = a, \"odd\"?: (p|q)[] = [\"p\"] \"D\", n: number 0.5..) \"Doc\"",
		"tool(x: a|\"b c\" = z)",
		"tool(x: string = Oslo)",
		"tool(x: integr)",
		"tool(x: int 1..",
	};
	const size_t chunk = 4096 - 64;
	size_t failed = 0;

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++)
		for (size_t filled = 16; filled <= chunk; filled += 16) {
			struct signature sig;
			cleat_error err = { 0 };
			struct arena ar;
			int rc;

			arena_init(&ar, NULL, chunk);
			assert_non_null(arena_alloc(&ar, filled));
			rc = signature_parse(&ar, texts[i], &sig, NULL, &err);
			assert_int_equal(rc, err.status);
			assert_true(rc == CLEAT_ENOMEM || rc == (i ? CLEAT_EINVAL : CLEAT_OK));
			failed += rc == CLEAT_ENOMEM;
			arena_done(&ar);
		}
	assert_true(failed > 100);
}
