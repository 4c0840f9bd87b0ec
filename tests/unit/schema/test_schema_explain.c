/* tests/unit/test_schema_explain.c - the words about values that do not fit a schema.
 *
 * They are read by people and by models, who repair a call from them; so every line is pinned. In the
 * tables ' stands for ", to keep them readable.
 */
#include "base/buf.h"
#include "base/str.h"
#include "schema/check.h"
#include "unit/schema/schema_rig.h"

#include <string.h>

/* What schema_check() comes to, and its lines. */
static void expect_of(const char *schema, const cleat_schema_options *opts, const char *value,
		      const char *member, int rc, const char *lines)
{
	cleat_schema *s = schema_of(schema, opts);
	cleat_doc *doc = value_of(value);
	char *want = support_json(lines);
	struct buf b;

	buf_init(&b, NULL, 1 << 16);
	assert_int_equal(schema_check(s, cleat_doc_root(doc), member, &b), rc);
	buf_putc(&b, '\0');
	if (strcmp(buf_str(&b).p, want) != 0)
		print_error("%s\n%s\n", schema, value);
	assert_string_equal(buf_str(&b).p, want);
	buf_done(&b);
	free(want);
	cleat_doc_free(doc);
	cleat_schema_free(s);
}

static void expect(const char *schema, const char *value, const char *lines)
{
	const cleat_schema_options opts = { .assert_formats = true };

	expect_of(schema, &opts, value, NULL, *lines ? CLEAT_EINVAL : CLEAT_OK, lines);
}

/* ---- the words ---------------------------------------------------------------------------- */

#define A20 "aaaaaaaaaaaaaaaaaaaa"
#define D20 "12345678901234567890"

static const struct {
	const char *schema, *value, *lines;
} words[] = {
	/* one value: type, bounds, values */
	{ "{'properties':{'days':{'type':'integer','minimum':1,'maximum':14}}}",
	  "{'days':'tomorrow'}", "days: expected integer between 1 and 14, got 'tomorrow'" },
	{ "{'properties':{'days':{'type':'integer','minimum':1,'maximum':14}}}", "{'days':15}",
	  "days: expected integer between 1 and 14, got 15" },
	{ "{'type':'integer'}", "1.5", "expected integer, got 1.5" },
	{ "{'type':'integer'}", "1.0", "" },
	{ "{'type':['string','null','integer']}", "true",
	  "expected integer or string or null, got true" },
	{ "{'type':['integer','number']}", "[]", "expected number, got []" },
	{ "{'minimum':5}", "3", "expected number of at least 5, got 3" },
	{ "{'maximum':5}", "7", "expected number of at most 5, got 7" },
	{ "{'exclusiveMinimum':0,'exclusiveMaximum':1}", "1",
	  "expected number greater than 0 and less than 1, got 1" },
	{ "{'minimum':1,'exclusiveMaximum':3}", "3",
	  "expected number of at least 1 and less than 3, got 3" },
	{ "{'maximum':9,'exclusiveMinimum':3}", "3",
	  "expected number of at most 9 and greater than 3, got 3" },
	{ "{'type':'integer','multipleOf':5,'minimum':0}", "7",
	  "expected integer of at least 0 that is a multiple of 5, got 7" },
	{ "{'multipleOf':0.01}", "0.005", "expected number that is a multiple of 0.01, got 0.005" },
	{ "{'minLength':2}", "'é'", "expected string of at least 2 characters, got 1 character" },
	{ "{'type':'string','minLength':1,'maxLength':3}", "'abcd'",
	  "expected string of 1 to 3 characters, got 4 characters" },
	{ "{'maxLength':0}", "'x'", "expected string of at most 0 characters, got 1 character" },
	{ "{'pattern':'^[a-z]+$'}", "'A'", "expected string matching '^[a-z]+$', got 'A'" },
	{ "{'type':'string','format':'date'}", "'tomorrow'",
	  "expected string that is a date such as 2026-07-28, got 'tomorrow'" },
	{ "{'minItems':2,'maxItems':2}", "[1]", "expected array of 2 elements, got 1 element" },
	{ "{'maxItems':1}", "[1,2]", "expected array of at most 1 element, got 2 elements" },
	{ "{'minProperties':2}", "{'a':1}", "expected object of at least 2 members, got 1 member" },
	{ "{'maxProperties':0}", "{'a':1}", "expected object of at most 0 members, got 1 member" },
	{ "{'enum':['celsius','fahrenheit']}", "'kelvin'",
	  "expected one of 'celsius', 'fahrenheit', got 'kelvin'" },
	{ "{'enum':[1,null,[2]]}", "2", "expected one of 1, null, [2], got 2" },
	{ "{'enum':['one']}", "2", "expected 'one', got 2" },
	{ "{'enum':[]}", "2", "expected nothing (the list of values is empty), got 2" },
	{ "{'const':{'a':[1,2]}}", "{'a':[1,3]}", "expected {'a':[1,2]}, got {'a':[1,3]}" },
	/* a schema that leaves the type open is asked about the one at hand */
	{ "{'minLength':3,'minimum':5}", "'a'",
	  "expected string of at least 3 characters, got 1 character" },
	{ "{'minLength':3,'minimum':5}", "3", "expected number of at least 5, got 3" },
	/* but what else is allowed is not kept back */
	{ "{'type':['string','null'],'maxLength':3}", "'abcd'",
	  "expected string of at most 3 characters or null, got 4 characters" },
	/* a reference is where it leads */
	{ "{'properties':{'a':{'$ref':'#/$defs/a'}},'$defs':{'a':{'type':'null'}}}", "{'a':1}",
	  "a: expected null, got 1" },
	{ "{'allOf':[{'minimum':3},{'maximum':1}]}", "2",
	  "expected number of at least 3, got 2\nexpected number of at most 1, got 2" },
	{ "{'if':{'required':['zip']},'then':{'properties':{'zip':{'minLength':5}}}}",
	  "{'zip':'1'}", "zip: expected string of at least 5 characters, got 1 character" },
	{ "{'if':{'type':'integer'},'else':{'type':'string'}}", "null",
	  "expected string, got null" },
	{ "{'$dynamicRef':'#m','$defs':{'m':{'$dynamicAnchor':'m','type':'boolean'}}}", "1",
	  "expected boolean, got 1" },
	/* false, not */
	{ "false", "1", "no value is allowed, got 1" },
	{ "{'properties':{'a':false}}", "{'a':1}", "a: must not be there, got 1" },
	{ "{'prefixItems':[{}],'items':false}", "[0,1,2]",
	  "[1]: must not be there, got 1\n[2]: must not be there, got 2" },
	{ "{'prefixItems':[{}],'unevaluatedItems':false}", "[0,1]",
	  "[1]: must not be there, got 1" },
	{ "{'not':{'type':'string'}}", "'x'", "must not be string, got 'x'" },
	{ "{'not':{'enum':['x','y']}}", "'x'", "must not be one of 'x', 'y', got 'x'" },
	{ "{'not':{'required':['a','b']}}", "{'a':1,'b':2}",
	  "must not be object with 'a' and 'b', got {'a':1,'b':2}" },
	{ "{'not':{'properties':{'a':{'type':'null'}}}}", "{'a':null}",
	  "must not have the form that 'not' describes, got {'a':null}" },
	/* members */
	{ "{'required':['city'],'properties':{'city':{'type':'string','description':'City name'}}}",
	  "{}", "city: required, but missing (string 'City name')" },
	{ "{'required':['u'],'properties':{'u':{'enum':['a','b'],'description':'Scale'}}}", "{}",
	  "u: required, but missing (string 'Scale', one of 'a', 'b')" },
	{ "{'required':['u'],'properties':{'u':{'enum':['a','b']}}}", "{}",
	  "u: required, but missing (one of 'a', 'b')" },
	{ "{'required':['n'],'properties':{'n':{'type':'array','items':{'type':'string'},"
	  "'title':'Names'}}}",
	  "{}", "n: required, but missing (array of string 'Names')" },
	{ "{'required':['a','b','c'],'properties':{'a':{'$ref':'#/$defs/a'},'b':{'title':'B'}},"
	  "'$defs':{'a':{'type':'integer','description':'Age'}}}",
	  "{}",
	  "a: required, but missing (integer 'Age')\nb: required, but missing ('B')\n"
	  "c: required, but missing" },
	{ "{'required':['x'],'properties':{'x':{'anyOf':[{'type':'string'},{'type':'null'}]}}}",
	  "{}", "x: required, but missing (string or null)" },
	{ "{'properties':{'x':{'type':'string'}}}", "{'x':null}",
	  "x: expected string, got null (optional: leave it out)" },
	{ "{'properties':{'x':{'type':'string'}},'required':['x']}", "{'x':null}",
	  "x: expected string, got null" },
	{ "{'items':{'type':'string'}}", "[null]", "[0]: expected string, got null" },
	{ "{'properties':{'city':{}},'additionalProperties':false}", "{'cty':1,'q':2}",
	  "unknown member 'cty' (did you mean 'city'?)\nunknown member 'q'" },
	{ "{'properties':{'city':{}},'unevaluatedProperties':false}", "{'cty':1}",
	  "unknown member 'cty' (did you mean 'city'?)" },
	{ "{'patternProperties':{'^x':{'type':'integer'}},'additionalProperties':false}",
	  "{'xa':'1','y':2}", "xa: expected integer, got '1'\nunknown member 'y'" },
	{ "{'additionalProperties':{'type':'integer'}}", "{'a':'1'}",
	  "a: expected integer, got '1'" },
	{ "{'propertyNames':{'maxLength':3}}", "{'abcd':1}",
	  "the name of member 'abcd' does not fit: expected string of at most 3 characters, got 4 "
	  "characters" },
	{ "{'propertyNames':{'not':{'enum':['x']}}}", "{'x':1}",
	  "the name of member 'x' does not fit: must not be 'x', got 'x'" },
	{ "{'dependentRequired':{'card':['address','name']}}", "{'card':1}",
	  "address: required, because 'card' is there\nname: required, because 'card' is there" },
	{ "{'dependentSchemas':{'a':{'required':['b']}}}", "{'a':1}", "b: required, but missing" },
	{ "{'properties':{'x':{}}}", "{'x':1,'x':2}", "'x' stands twice" },
	/* elements */
	{ "{'uniqueItems':true}", "[1,2,1.0]",
	  "elements must differ, but [0] and [2] are equal: 1" },
	{ "{'contains':{'type':'integer','minimum':5}}", "[1,'x']",
	  "expected at least 1 element of this form: integer of at least 5, got 0 such elements" },
	{ "{'contains':{'type':'object','required':['x'],'properties':{'x':{'type':'null'}}},"
	  "'minContains':2}",
	  "[7,{'x':null},{'x':0},{}]",
	  "expected at least 2 elements of this form: object, got 1 such element; nearest is "
	  "[2].x: expected null, got 0" },
	{ "{'contains':{'const':1},'maxContains':1}", "[1,1]",
	  "expected at most 1 element of this form: 1, got 2 such elements" },
	/* forms */
	{ "{'anyOf':[{'type':'string'},{'type':'integer','minimum':3}]}", "1",
	  "expected string or integer of at least 3, got 1" },
	{ "{'oneOf':[{'const':'a','title':'A'},{'const':'b','title':'B'}]}", "'c'",
	  "expected one of 'a', 'b', got 'c'" },
	{ "{'anyOf':[{'required':['a']},{'required':['b','c']}]}", "{}",
	  "expected object with 'a' or object with 'b' and 'c', got {}" },
	{ "{'anyOf':[{'type':'object','properties':{'a':{}}},{'type':'array','items':{}}]}", "5",
	  "expected array or object, got 5" },
	{ "{'anyOf':[false,false]}", "5", "expected nothing or nothing, got 5" },
	{ "{'oneOf':[{'type':'integer'},{'type':'number'}]}", "5",
	  "must fit exactly one of the 2 allowed forms, but fits form 1 (integer) and form 2 "
	  "(number)" },
	{ "{'oneOf':[{'type':'null'},{'title':'A','properties':{'a':{}}},{'properties':{'b':{}}}]}",
	  "{}", "must fit exactly one of the 3 allowed forms, but fits form 2 ('A') and form 3" },
	/* nearest: not by the number of problems alone */
	{ "{'anyOf':[{'type':'object','required':['a'],'properties':{'a':{'type':'null'}}},"
	  "{'type':'array','items':{'type':'string'}}]}",
	  "['x',2]",
	  "fits none of the 2 allowed forms; nearest is form 2: [1]: expected string, got 2" },
	{ "{'oneOf':[{'title':'Circle','properties':{'kind':{'const':'circle'}}},{'title':'Square',"
	  "'properties':{'kind':{'const':'square'}},'required':['a','b','c']}]}",
	  "{'kind':'square'}",
	  "fits none of the 2 allowed forms; nearest is form 2 ('Square'): a: required, but "
	  "missing" },
	{ "{'items':{'anyOf':[{'type':'null'},{'properties':{'a':{'items':{'type':'null'}}}}]}}",
	  "[{'a':[1]}]",
	  "[0]: fits none of the 2 allowed forms; nearest is form 2: [0].a[0]: expected null, got "
	  "1" },
	{ "{'anyOf':[{'properties':{'a':{'anyOf':[{'properties':{'b':{'type':'null'}}},"
	  "{'type':'null'}]}}}]}",
	  "{'a':{'b':1}}",
	  "a: fits none of the 2 allowed forms; nearest is form 1: a.b: expected null, got 1" },
	/* what a form would have known is not called unknown when none fits */
	{ "{'anyOf':[{'properties':{'a':{'type':'null'}}}],'unevaluatedProperties':false}",
	  "{'a':1}", "a: expected null, got 1" },
	{ "{'required':['b'],'allOf':[{'properties':{'a':{}}}],'unevaluatedProperties':false}",
	  "{'a':1,'c':2}", "b: required, but missing\nunknown member 'c'" },
	/* places */
	{ "{'properties':{'a':{'properties':{'b':{'items':{'properties':{'c':{'type':'null'}}}}}}}}",
	  "{'a':{'b':[{},{'c':1}]}}", "a.b[1].c: expected null, got 1" },
	{ "{'additionalProperties':{'additionalProperties':{'type':'null'}}}",
	  "{'x y':{'a.b':1,'':2,'[0]':3,'é':4}}",
	  "'x y'.'a.b': expected null, got 1\n'x y'.'': expected null, got 2\n"
	  "'x y'.'[0]': expected null, got 3\n'x y'.é: expected null, got 4" },
	{ "{'items':{'properties':{'id':{}},'additionalProperties':false}}", "[{'ID':1}]",
	  "[0]: unknown member 'ID' (did you mean 'id'?)" },
	/* what is shown is cut, and harmless */
	{ "{'type':'null'}", "'" A20 A20 A20 "a'", "expected null, got '" A20 A20 A20 "…'" },
	{ "{'type':'null'}", D20 D20 D20 "1", "expected null, got " D20 D20 D20 "…" },
	{ "{'maximum':" D20 D20 D20 "1}", "1e999",
	  "expected number of at most " D20 D20 D20 "…, got 1e999" },
	{ "{'const':'" A20 A20 A20 "a'}", "1", "expected '" A20 A20 A20 "…', got 1" },
	{ "{'additionalProperties':{'type':'null'}}", "{'" A20 A20 A20 "a':1}",
	  "'" A20 A20 A20 "…': expected null, got 1" },
	{ "{'additionalProperties':{'type':'null'}}", "{'a\\u202eb':'\\u0000\\n'}",
	  "'a\\u202eb': expected null, got '\\u0000\\u000a'" },
	{ "{'enum':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]}", "0",
	  "expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
	  "... (22 in all), got 0" },
	{ "{'anyOf':[{'type':'null'},{'const':1},{'const':2},{'const':3},{'const':4},{'const':5}]}",
	  "0", "expected null or 1 or 2 or 3 or 4 or ..., got 0" },
};

TEST(every_problem_is_one_line)
{
	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		expect(words[i].schema, words[i].value, words[i].lines);
}

/* The same words as field tables have (test_field_check.c), for the whole value's members too. */
TEST(members_of_the_whole_value_have_their_own_name)
{
	expect_of("{'properties':{'city':{'properties':{'id':{}},'additionalProperties':false}},"
		  "'additionalProperties':false}",
		  NULL, "{'cty':1,'city':{'x':1}}", "argument", CLEAT_EINVAL,
		  "unknown argument 'cty' (did you mean 'city'?)\ncity: unknown member 'x'");
}

/* ---- how many ----------------------------------------------------------------------------- */

#define EIGHT                                                                                      \
	"[0]: expected null, got 0\n[1]: expected null, got 1\n[2]: expected null, got 2\n"        \
	"[3]: expected null, got 3\n[4]: expected null, got 4\n[5]: expected null, got 5\n"        \
	"[6]: expected null, got 6\n[7]: expected null, got 7\n"
#define TEN EIGHT "[8]: expected null, got 8\n[9]: expected null, got 9"

TEST(ten_lines_are_enough)
{
	expect("{'items':{'type':'null'}}", "[0,1,2,3,4,5,6,7,8,9]", TEN);
	expect("{'items':{'type':'null'}}", "[0,1,2,3,4,5,6,7,8,9,10]", TEN "\n... and 1 more");
	expect("{'items':{'type':'null'}}", "[0,1,2,3,4,5,6,7,8,9,10,11,null,12]",
	       TEN "\n... and 3 more");
}

/* A buf that is full keeps what is complete. */
TEST(a_small_buffer_has_whole_lines)
{
	cleat_schema *s = schema_of("{'items':{'type':'null'}}", NULL);
	cleat_doc *doc = value_of("[0,1,2,3,4,5,6,7,8,9,10,11]");
	struct buf b;

	buf_init(&b, NULL, 60);
	assert_int_equal(schema_check(s, cleat_doc_root(doc), NULL, &b), CLEAT_EINVAL);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_truncate(&b, buf_size(&b));
	assert_true(str_eqz(buf_str(&b), "[0]: expected null, got 0\n[1]: expected null, got 1"));
	buf_done(&b);
	cleat_doc_free(doc);
	cleat_schema_free(s);
}

TEST(a_limit_is_told_as_a_line)
{
	expect_of("{'items':{'type':'integer'}}", &(cleat_schema_options){ .max_steps = 5 },
		  "[0,1,2,3,4,5,6,7,8,9]", NULL, CLEAT_ELIMIT,
		  "the value could not be checked within the limits: over max_steps");
}

/* A verdict that took all steps but the last still has its words. */
TEST(few_steps_are_enough_for_words)
{
	expect_of("{'items':{'type':'integer'}}", &(cleat_schema_options){ .max_steps = 4 },
		  "[0,1,null,3]", NULL, CLEAT_EINVAL, "[2]: expected integer, got null");
}

/* ---- the public functions ----------------------------------------------------------------- */

static const struct {
	const char *schema, *value, *path, *schema_path, *found; /* found NULL: nothing is there */
} places[] = {
	{ "{'properties':{'a/b~c':{'items':{'type':'null'}}}}", "{'a/b~c':[null,1]}", "/a~1b~0c/1",
	  "#/properties/a~1b~0c/items/type", "1" },
	/* the fragment of a URI is escaped (RFC 6901 section 6), the path is not a URI */
	{ "{'$id':'https://example.com/s','$defs':{'x %é':{'type':'null'}},'items':{'$ref':"
	  "'#/$defs/x%20%25%C3%A9'}}",
	  "[1]", "/0", "https://example.com/s#/$defs/x%20%25%C3%A9/type", "1" },
	{ "{'$id':'https://example.com/s','items':{'$id':'t','$anchor':'x','items':{'type':'null'}}}",
	  "[[1]]", "/0/0", "https://example.com/t#/items/type", "1" },
	{ "{'required':['x']}", "{}", "/x", "#/required", NULL },
	{ "{'allOf':[{},{'required':['x y']}]}", "{}", "/x y", "#/allOf/1/required", NULL },
	{ "{'dependentRequired':{'a':['b']}}", "{'a':1}", "/b", "#/dependentRequired", NULL },
	{ "{'dependencies':{'a':['b']}}", "{'a':1}", "/b", "#/dependencies", NULL },
	{ "{'additionalProperties':false}", "{'a':1}", "/a", "#/additionalProperties", "1" },
	{ "{'unevaluatedProperties':false}", "{'a':1}", "/a", "#/unevaluatedProperties", "1" },
	{ "{'propertyNames':false}", "{'a':1}", "/a", "#/propertyNames", "1" },
	{ "false", "1", "", "#", "1" },
	{ "{'properties':{'a':false}}", "{'a':1}", "/a", "#/properties/a", "1" },
	{ "{'anyOf':[{'type':'null'},{'minimum':3}]}", "1", "", "#/anyOf", "1" },
	{ "{'oneOf':[{},{}]}", "1", "", "#/oneOf", "1" },
	{ "{'not':{}}", "1", "", "#/not", "1" },
	{ "{'contains':{'type':'null'}}", "[1]", "", "#/contains", "[1]" },
	{ "{'contains':{},'minContains':2}", "[1]", "", "#/minContains", "[1]" },
	{ "{'contains':{},'maxContains':0}", "[1]", "", "#/maxContains", "[1]" },
	{ "{'uniqueItems':true}", "[1,1]", "", "#/uniqueItems", "[1,1]" },
	{ "{'const':1}", "2", "", "#/const", "2" },
	{ "{'if':{},'then':{'enum':[1]}}", "2", "", "#/then/enum", "2" },
	{ "{'items':{'$ref':'#/x/0'},'x':[{'type':'null'}]}", "[1]", "/0", "#/x/0/type", "1" },
};

struct heard {
	size_t n;
	char line[512], path[200], schema_path[200];
	char *value;
};

static void hear(void *ctx, const cleat_schema_problem *p)
{
	struct heard *h = ctx;

	if (h->n++)
		return;
	snprintf(h->line, sizeof h->line, "%s", p->line);
	snprintf(h->path, sizeof h->path, "%s", p->path);
	snprintf(h->schema_path, sizeof h->schema_path, "%s", p->schema_path);
	h->value = cleat_json_print(p->value, NULL);
}

static int explain(const char *schema, const cleat_schema_options *opts, const char *value,
		   void (*tell)(void *ctx, const cleat_schema_problem *p), void *ctx,
		   cleat_error *err)
{
	cleat_schema *s = schema_of(schema, opts);
	cleat_doc *doc = value_of(value);
	int rc = cleat_schema_explain(s, cleat_doc_root(doc), tell, ctx, err);

	cleat_doc_free(doc);
	cleat_schema_free(s);
	return rc;
}

TEST(problems_say_where_they_are)
{
	for (size_t i = 0; i < CLEAT_COUNT(places); i++) {
		struct heard h = { .n = 0 };
		cleat_error err;

		assert_int_equal(explain(places[i].schema, NULL, places[i].value, hear, &h, &err),
				 CLEAT_EINVAL);
		assert_string_equal(h.path, places[i].path);
		assert_string_equal(h.schema_path, places[i].schema_path);
		if (places[i].found)
			assert_string_equal(h.value, places[i].found);
		else
			assert_null(h.value);
		/* the error has the first line */
		assert_int_equal(err.status, CLEAT_EINVAL);
		assert_string_equal(err.message, h.line);
		free(h.value);
	}
}

TEST(a_value_that_fits_has_no_problems)
{
	struct heard h = { .n = 0 };

	assert_int_equal(explain("{'type':'integer'}", NULL, "1", hear, &h, NULL), CLEAT_OK);
	assert_int_equal(h.n, 0);
}

TEST(at_most_ten_are_told)
{
	struct heard h = { .n = 0 };

	assert_int_equal(
		explain("{'items':false}", NULL, "[0,0,0,0,0,0,0,0,0,0,0,0,0]", hear, &h, NULL),
		CLEAT_EINVAL);
	assert_int_equal(h.n, 10);
	free(h.value);
}

/* ---- what is long ------------------------------------------------------------------------- */

struct long_line {
	size_t n, line, path;
	char last[64];
	bool valid;
};

static void measure(void *ctx, const cleat_schema_problem *p)
{
	struct long_line *l = ctx;
	size_t n = strlen(p->line), from = n > 60 ? n - 60 : 0;
	struct str line = { p->line, n };

	l->n++;
	l->line = n;
	l->path = strlen(p->path);
	l->valid = utf8_valid_prefix(line) == n && !memchr(p->line, '\n', n);
	snprintf(l->last, sizeof l->last, "%s", p->line + from);
}

/* The line stays a line however long names are; the path is exact. */
TEST(long_names_are_cut_in_the_line_only)
{
	struct long_line l = { 0 };
	struct text t = { 0 };

	add(&t, "{'");
	add_many(&t, "x", 100000);
	add(&t, "':1}");
	assert_int_equal(
		explain("{'additionalProperties':{'type':'null'}}", NULL, t.p, measure, &l, NULL),
		CLEAT_EINVAL);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.path, 100001);
	assert_true(l.line < 200);
	assert_true(l.valid);
	free(t.p);
}

TEST(a_deep_place_shows_its_end)
{
	static const char end[] = ": expected array, got 1";
	struct long_line l = { 0 };
	struct text t = { 0 };

	add_many(&t, "[", 200);
	add(&t, "1");
	add_many(&t, "]", 200);
	assert_int_equal(explain("{'items':{'$ref':'#'},'type':'array'}",
				 &(cleat_schema_options){ .max_depth = 256 }, t.p, measure, &l,
				 NULL),
			 CLEAT_EINVAL);
	assert_int_equal(l.path, 400);
	assert_int_equal(l.line, strlen("…") + 20 * strlen("[0]") + strlen(end));
	assert_string_equal(l.last + strlen(l.last) - strlen(end), end);
	free(t.p);
}

/* Five forms of twenty values of sixty characters of four bytes are too much for one line. */
TEST(a_line_over_its_limit_is_cut)
{
	struct long_line l = { 0 };
	struct text t = { 0 };

	add(&t, "{'anyOf':[");
	for (int i = 0; i < 5; i++) {
		add(&t, "%s{'enum':[", i ? "," : "");
		for (int k = 0; k < 20; k++) {
			add(&t, "%s'", k ? "," : "");
			add_many(&t, "\xF0\x9F\x98\x80", 60);
			add(&t, "'");
		}
		add(&t, "]}");
	}
	add(&t, "]}");
	assert_int_equal(explain(t.p, NULL, "1", measure, &l, NULL), CLEAT_EINVAL);
	assert_true(l.line > 8000 && l.line <= 8192);
	assert_true(l.valid);
	assert_string_equal(l.last + strlen(l.last) - strlen("…"), "…");
	free(t.p);
}
