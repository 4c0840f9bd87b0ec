/* tests/unit/test_schema_check.c - verdicts, and what they cost: what the JSON-Schema-Test-Suite does
 * not ask (test_schema_suite.c). Exact numbers, characters, large values, limits, threads.
 *
 * In the tables ' stands for ", to keep them readable. Costs are counted in steps, never in time.
 */
#include "schema/run.h"
#include "support.h"
#include "json/node.h"

#include <cleat/schema.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

/* ---- texts -------------------------------------------------------------------------------- */

/* A text that grows; freed by whoever asked for it. */
struct text {
	char *p;
	size_t n, cap;
};

static void add(struct text *t, const char *fmt, ...) CLEAT_PRINTF(2, 3);
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->cap - t->n < 4096) {
		t->cap = t->cap * 2 + 8192;
		t->p = realloc(t->p, t->cap);
		assert_non_null(t->p);
	}
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
	va_end(ap);
}

static void add_many(struct text *t, const char *piece, size_t times)
{
	while (times-- > 0)
		add(t, "%s", piece);
}

static void unquote(char *p)
{
	for (; *p; p++)
		if (*p == '\'')
			*p = '"';
}

static cleat_schema *schema_of(const char *text, const cleat_schema_options *opts)
{
	struct text t = { 0 };
	cleat_error err = { 0 };
	cleat_schema *s;

	t.p = malloc(strlen(text) + 1);
	assert_non_null(t.p);
	strcpy(t.p, text);
	unquote(t.p);
	s = cleat_schema_parse(t.p, strlen(t.p), opts, &err);
	if (!s)
		print_error("%.200s: %s\n", t.p, err.message);
	assert_non_null(s);
	free(t.p);
	return s;
}

static cleat_doc *value_of(const char *text)
{
	const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	char *copy = malloc(strlen(text) + 1);
	cleat_doc *doc;

	assert_non_null(copy);
	strcpy(copy, text);
	unquote(copy);
	doc = cleat_doc_parse(copy, strlen(copy), &all, NULL, NULL);
	if (!doc)
		print_error("no JSON: %.200s\n", copy);
	assert_non_null(doc);
	free(copy);
	return doc;
}

static int verdict(const cleat_schema *s, const char *value, cleat_error *err)
{
	cleat_doc *doc = value_of(value);
	int rc = cleat_schema_check(s, cleat_doc_root(doc), err);

	cleat_doc_free(doc);
	return rc;
}

/* Steps that a verdict takes. */
static uint64_t cost(const cleat_schema *s, const char *value)
{
	cleat_doc *doc = value_of(value);
	struct run r;
	uint64_t steps;

	run_init(&r, s);
	steps = r.steps;
	run_apply(&r, s->root, node_of(cleat_doc_root(doc)), NULL);
	assert_int_equal(r.status, CLEAT_OK);
	steps -= r.steps;
	run_done(&r);
	cleat_doc_free(doc);
	return steps;
}

struct verdict {
	const char *schema, *value;
	bool fits;
};

static void check_all(const struct verdict *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cleat_schema *s = schema_of(table[i].schema, NULL);
		cleat_error err = { 0 };
		int rc = verdict(s, table[i].value, &err);

		if (rc != (table[i].fits ? CLEAT_OK : CLEAT_EINVAL))
			fail_msg("%s\n%s\n%d %s", table[i].schema, table[i].value, rc, err.message);
		cleat_schema_free(s);
	}
}

/* ---- numbers ------------------------------------------------------------------------------ */

static const struct verdict numbers[] = {
	/* beyond the precision of a double */
	{ "{'maximum':9007199254740992}", "9007199254740993", false },
	{ "{'maximum':9007199254740993}", "9007199254740993", true },
	{ "{'minimum':123456789012345678901234567890}", "123456789012345678901234567889", false },
	{ "{'minimum':123456789012345678901234567890}", "123456789012345678901234567890.0", true },
	{ "{'exclusiveMaximum':0.1}", "0.1000000000000000000000000000000000000001", false },
	{ "{'exclusiveMaximum':0.1}", "0.0999999999999999999999999999999999999999", true },
	{ "{'maximum':-9007199254740993}", "-9007199254740992", false },
	/* beyond its range */
	{ "{'maximum':1e400}", "1e401", false },
	{ "{'maximum':1e400}", "1e399", true },
	{ "{'minimum':1e-400}", "1e-401", false },
	{ "{'minimum':0}", "-1e-1000000", false },
	{ "{'type':'integer'}", "1e1000000", true },
	{ "{'type':'integer'}", "10e-1", true },
	{ "{'type':'integer'}", "1e-1", false },
	{ "{'type':'integer'}", "-0.0", true },
	{ "{'type':'integer'}",
	  "1.00000000000000000000000000000000000000000000000000000000000000001", false },
	{ "{'type':'integer'}",
	  "1.00000000000000000000000000000000000000000000000000000000000000000", true },
	/* small bounds, fractions on either side of them */
	{ "{'minimum':3}", "2.999", false },
	{ "{'minimum':3}", "3.0", true },
	{ "{'minimum':-3}", "-3.001", false },
	{ "{'minimum':-3}", "-2.999", true },
	{ "{'maximum':3}", "3.001", false },
	{ "{'maximum':-3}", "-3.001", true },
	{ "{'maximum':-3}", "-2.999", false },
	{ "{'exclusiveMinimum':3}", "3", false },
	{ "{'exclusiveMinimum':3}", "3.001", true },
	{ "{'exclusiveMinimum':-3}", "-3.0", false },
	{ "{'exclusiveMaximum':3}", "2.999", true },
	{ "{'exclusiveMaximum':3}", "3.0", false },
	{ "{'exclusiveMaximum':-3}", "-3.001", true },
	{ "{'minimum':0}", "-0", true },
	{ "{'maximum':0}", "-0.0", true },
	/* multiples, in decimal */
	{ "{'multipleOf':0.01}", "19.99", true },
	{ "{'multipleOf':0.01}", "19.995", false },
	{ "{'multipleOf':0.1}", "1.1", true },
	{ "{'multipleOf':1e-400}", "3e-399", true },
	{ "{'multipleOf':1e-400}", "3e-401", false },
	{ "{'multipleOf':7}", "1000000000000000000000000000000000000000000000000000006", true },
	{ "{'multipleOf':7}", "1000000000000000000000000000000000000000000000000000000", false },
	{ "{'multipleOf':3}", "-9", true },
	{ "{'multipleOf':123456789.123456789}", "0", true },
	/* equality */
	{ "{'const':1}", "1.0", true },
	{ "{'const':1}", "1e0", true },
	{ "{'const':0}", "-0.0", true },
	{ "{'const':100000000000000000001}", "100000000000000000000", false },
	{ "{'enum':[1,2,3,4,5,6,7,8,9,10,1e30]}", "1000000000000000000000000000000", true },
	{ "{'enum':[1,2,3,4,5,6,7,8,9,10,1e30]}", "1000000000000000000000000000001", false },
	{ "{'const':1}", "true", false },
	{ "{'const':'1'}", "1", false },
	{ "{'const':{'a':1,'b':[2.0]}}", "{'b':[2],'a':1.00}", true },
	{ "{'uniqueItems':true}", "[1,1.0]", false },
	{ "{'uniqueItems':true}", "[1,true,'1',[1],{'1':1},null]", true },
};

static void numbers_are_exact(void **state)
{
	(void)state;
	check_all(numbers, CLEAT_COUNT(numbers));
}

/* ---- strings ------------------------------------------------------------------------------ */

static const struct verdict strings[] = {
	/* characters are code points (RFC 8259 section 8), not bytes, not UTF-16 units */
	{ "{'maxLength':1}", "'é'", true },
	{ "{'maxLength':1}", "'\\u20ac'", true },
	{ "{'maxLength':1}", "'\\ud83d\\ude00'", true },
	{ "{'minLength':2}", "'\\ud83d\\ude00'", false },
	{ "{'minLength':2}", "'e\\u0301'", true },
	{ "{'maxLength':4}", "'\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00'", true },
	{ "{'maxLength':3}", "'\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00\\ud83d\\ude00'", false },
	{ "{'minLength':4,'maxLength':4}", "'a\\u0000b\\n'", true },
	/* U+0000 is a character like others */
	{ "{'const':'a\\u0000b'}", "'a\\u0000c'", false },
	{ "{'const':'a'}", "'a\\u0000'", false },
	{ "{'properties':{'a':false}}", "{'a\\u0000':1}", true },
	{ "{'properties':{'a\\u0000':false}}", "{'a':1}", true },
	{ "{'properties':{'a\\u0000':false}}", "{'a\\u0000':1}", false },
	{ "{'required':['a\\u0000b']}", "{'a\\u0000b':1}", true },
	{ "{'required':['a\\u0000b']}", "{'a\\u0000c':1}", false },
	{ "{'pattern':'^a.b$'}", "'a\\u0000b'", true },
	/* names are compared as they are: no normal forms, no case */
	{ "{'required':['\\u00e9']}", "{'e\\u0301':1}", false },
	{ "{'required':['\\u00e9']}", "{'é':1}", true },
	{ "{'required':['a']}", "{'A':1}", false },
	{ "{'required':['']}", "{'':1}", true },
	{ "{'propertyNames':{'maxLength':1}}", "{'\\ud83d\\ude00':1}", true },
};

static void strings_are_characters(void **state)
{
	(void)state;
	check_all(strings, CLEAT_COUNT(strings));
}

/* ---- members ------------------------------------------------------------------------------ */

static const struct verdict members[] = {
	/* what stands twice is refused where the schema speaks of members */
	{ "{'properties':{'a':{}}}", "{'a':1,'a':1}", false },
	{ "{'properties':{'b':{}}}", "{'a':1,'a':1}", false },
	{ "{'required':['a']}", "{'a':1,'b':2,'a':1}", false },
	{ "{'items':{'maxProperties':9}}", "[{'a':1,'a':1}]", false },
	{ "{'properties':{'a':{}}}", "{'a':{'b':1,'b':2}}", true },
	/* ... and no schema around it turns that around */
	{ "{'not':{'properties':{'a':{'const':1}}}}", "{'a':1,'a':2}", false },
	{ "{'not':{'properties':{'a':{'const':1}}}}", "{'a':2,'a':1}", false },
	{ "{'if':{'properties':{'a':{}}},'else':true}", "{'a':1,'a':2}", false },
	/* dependent*: together, and in a circle */
	{ "{'dependentRequired':{'a':['b'],'b':['c']}}", "{'a':1,'b':1}", false },
	{ "{'dependentRequired':{'a':['b'],'b':['c']}}", "{'a':1,'b':1,'c':1}", true },
	{ "{'dependentRequired':{'a':['b'],'b':['a']}}", "{}", true },
	{ "{'dependentRequired':{'a':['a']}}", "{'a':1}", true },
	{ "{'dependentRequired':{'a':[]}}", "{'a':1}", true },
	{ "{'dependentRequired':{'a':['b']},'dependentSchemas':{'a':{'maxProperties':1}}}",
	  "{'a':1,'b':1}", false },
	{ "{'dependentSchemas':{'a':{'properties':{'b':{'type':'null'}}}}}", "{'a':1,'b':1}",
	  false },
	{ "{'dependentSchemas':{'a':{'properties':{'b':{'type':'null'}}}}}", "{'b':1}", true },
	{ "{'dependentSchemas':{'a':false}}", "{'b':1}", true },
	{ "{'dependentSchemas':{'a':false}}", "{'a':1}", false },
	{ "{'dependentSchemas':{'a':{'properties':{'b':true}}},'properties':{'a':true},"
	  "'unevaluatedProperties':false}",
	  "{'a':1,'b':1}", true },
	{ "{'dependentSchemas':{'a':{'properties':{'b':true}}},'unevaluatedProperties':false}",
	  "{'b':1}", false },
	{ "{'dependencies':{'a':['b'],'c':{'maxProperties':1}}}", "{'a':1}", false },
	{ "{'dependencies':{'a':['b'],'c':{'maxProperties':1}}}", "{'c':1,'d':1}", false },
	/* a name may be a property, required, and depended on; or only one of these */
	{ "{'properties':{'a':{'type':'null'}},'required':['b'],'dependentRequired':{'c':['a']}}",
	  "{'b':0,'c':0}", false },
	{ "{'properties':{'a':{'type':'null'}},'required':['b'],'dependentRequired':{'c':['a']},"
	  "'additionalProperties':false}",
	  "{'a':null,'b':0}", false },
	{ "{'minContains':0,'contains':{'type':'null'}}", "[1]", true },
	{ "{'minContains':0,'maxContains':1,'contains':{'type':'null'}}", "[null,null]", false },
	{ "{'minContains':2}", "[]", true },
};

static void members_and_elements(void **state)
{
	(void)state;
	check_all(members, CLEAT_COUNT(members));
}

/* {"p0": {"type": "integer"}, ...}, all required if asked for. */
static void add_properties(struct text *t, size_t n, bool required)
{
	add(t, "{'type':'object','additionalProperties':false,'properties':{");
	for (size_t i = 0; i < n; i++)
		add(t, "%s'p%zu':{'type':'integer'}", i ? "," : "", i);
	add(t, "}");
	if (required) {
		add(t, ",'required':[");
		for (size_t i = 0; i < n; i++)
			add(t, "%s'p%zu'", i ? "," : "", i);
		add(t, "]");
	}
	add(t, "}");
}

/* Members in an order that is not the schema's, without number `but`. */
static void add_members(struct text *t, size_t n, size_t but)
{
	add(t, "{");
	for (size_t i = 0, first = 1; i < n; i++) {
		size_t k = (i * 7919 + 13) % n;

		if (k != but)
			add(t, "%s'p%zu':%zu", first ? "" : ",", k, k);
		if (k != but)
			first = 0;
	}
	add(t, "}");
}

/* 7,919 is a prime and no divisor of any of these. */
static const size_t sizes[] = { 1, 8, 9, 63, 64, 65, 100, 128, 129, 10000 };

static void objects_of_any_size(void **state)
{
	const cleat_schema_options many = { .max_subschemas = 20000 };

	(void)state;
	for (size_t k = 0; k < CLEAT_COUNT(sizes); k++) {
		size_t n = sizes[k];
		struct text schema = { 0 }, all = { 0 }, less = { 0 };
		cleat_error err = { 0 };
		char want[64];
		cleat_schema *s;

		add_properties(&schema, n, true);
		add_members(&all, n, SIZE_MAX);
		add_members(&less, n, n - 1);
		s = schema_of(schema.p, &many);
		assert_int_equal(verdict(s, all.p, &err), CLEAT_OK);
		assert_int_equal(verdict(s, less.p, &err), CLEAT_EINVAL);
		snprintf(want, sizeof want, "p%zu: required, but missing (integer)", n - 1);
		assert_string_equal(err.message, want);
		/* a step for the member, one for its value, and a little for the table */
		assert_true(cost(s, all.p) <= 2 * n + n / 64 + 2);
		all.n--;
		add(&all, ",'p%zu':1}", n);
		assert_int_equal(verdict(s, all.p, &err), CLEAT_EINVAL);
		snprintf(want, sizeof want, "unknown member \"p%zu\"", n);
		assert_int_equal(strncmp(err.message, want, strlen(want)), 0);
		cleat_schema_free(s);
		free(schema.p);
		free(all.p);
		free(less.p);
	}
}

/* Bits for 5,000 members, several deep: the stack of marks moves while others point into it. */
static void unevaluated_of_many_members(void **state)
{
	cleat_schema *s = schema_of(
		"{'allOf':[{'anyOf':[{'patternProperties':{'^p':{'unevaluatedProperties':false,"
		"'anyOf':[{'properties':{'x':true}},{'properties':{'y':true}}]}}},"
		"{'required':['nope']}]}],'oneOf':[{'properties':{'q':true}}],"
		"'unevaluatedProperties':false}",
		NULL);
	struct text t = { 0 };
	size_t end;

	(void)state;
	add(&t, "{");
	for (int i = 0; i < 5000; i++)
		add(&t, "'p%d':{'x':1,'y':2},", i);
	end = t.n;
	add(&t, "'q':1}");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_OK);
	t.n = end;
	add(&t, "'q':1,'r':2}");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_EINVAL);
	t.n = end;
	add(&t, "'pz':{'x':1,'z':2}}");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_EINVAL);
	free(t.p);
	cleat_schema_free(s);
}

static void unevaluated_of_many_elements(void **state)
{
	cleat_schema *s =
		schema_of("{'contains':{'type':'integer'},'anyOf':[{'prefixItems':[{'type':"
			  "'string'}]},{'contains':{'type':'null'}}],"
			  "'unevaluatedItems':false}",
			  NULL);
	struct text t = { 0 };
	size_t end;

	(void)state;
	add(&t, "['x'");
	for (int i = 0; i < 3000; i++)
		add(&t, ",%d,null", i);
	end = t.n;
	add(&t, "]");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_OK);
	t.n = end;
	add(&t, ",'y']");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_EINVAL);
	free(t.p);
	cleat_schema_free(s);
}

/* ---- many values -------------------------------------------------------------------------- */

static void enums_of_a_thousand_values(void **state)
{
	struct text strings_only = { 0 }, mixed = { 0 };
	cleat_schema *a, *b;

	(void)state;
	add(&strings_only, "{'enum':['a'");
	add(&mixed, "{'enum':[null");
	for (int i = 0; i < 1000; i++) {
		add(&strings_only, ",'v%d'", i);
		add(&mixed, i % 3 ? ",%d" : ",{'n':[%d]}", i);
	}
	add(&strings_only, "]}");
	add(&mixed, "]}");
	a = schema_of(strings_only.p, NULL);
	b = schema_of(mixed.p, NULL);
	assert_int_equal(verdict(a, "'v999'", NULL), CLEAT_OK);
	assert_int_equal(verdict(a, "'v1000'", NULL), CLEAT_EINVAL);
	assert_int_equal(verdict(a, "17", NULL), CLEAT_EINVAL);
	assert_int_equal(verdict(b, "998.0", NULL), CLEAT_OK);
	assert_int_equal(verdict(b, "{'n':[999]}", NULL), CLEAT_OK);
	assert_int_equal(verdict(b, "{'n':[998]}", NULL), CLEAT_EINVAL);
	assert_int_equal(verdict(b, "999", NULL), CLEAT_EINVAL);
	assert_true(cost(a, "'v999'") < 30);
	assert_true(cost(b, "{'n':[999]}") < 40);
	cleat_schema_free(a);
	cleat_schema_free(b);
	free(strings_only.p);
	free(mixed.p);
}

static void unique_items_cost_one_look_each(void **state)
{
	cleat_schema *s = schema_of("{'uniqueItems':true}", NULL);
	struct text t = { 0 };
	cleat_error err = { 0 };
	size_t end;

	(void)state;
	add(&t, "[0");
	for (int i = 1; i < 100000; i++)
		add(&t, ",%d", i);
	end = t.n;
	add(&t, "]");
	assert_int_equal(verdict(s, t.p, NULL), CLEAT_OK);
	assert_true(cost(s, t.p) < 101000);
	t.n = end;
	add(&t, ",5e0]");
	assert_int_equal(verdict(s, t.p, &err), CLEAT_EINVAL);
	assert_string_equal(err.message, "elements must differ, but [5] and [100000] are equal: 5");
	free(t.p);
	cleat_schema_free(s);
}

/* Objects in which a key stands twice are equal only member by member, but have one hash in any order:
 * thousands of them may not cost their number squared. */
static void elements_that_look_alike_are_paid_for(void **state)
{
	const cleat_schema_options opts = { .max_steps = 100000 };
	cleat_schema *s = schema_of("{'uniqueItems':true}", &opts);
	struct text t = { 0 };
	cleat_error err = { 0 };

	(void)state;
	add(&t, "[1");
	for (int i = 0; i < 4000; i++) { /* the permutations of seven digits, most of them */
		char digit[] = "1234567";
		int k = i;

		add(&t, ",{");
		for (int n = 7; n > 0; n--) {
			int pick = k % n;

			add(&t, "%s'a':%c", n == 7 ? "" : ",", digit[pick]);
			memmove(digit + pick, digit + pick + 1, strlen(digit + pick));
			k /= n;
		}
		add(&t, "}");
	}
	add(&t, "]");
	assert_int_equal(verdict(s, t.p, &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "max_steps"));
	free(t.p);
	cleat_schema_free(s);
}

/* ---- limits ------------------------------------------------------------------------------- */

/* A hundred elements, each a number below ten. */
static const char long_list[] =
	"[[0,1,2,3,4,5,6,7,8,9],[0,1,2,3,4,5,6,7,8,9],[0,1,2,3,4,5,6,7,8,9],"
	"[0,1,2,3,4,5,6,7,8,9],[0,1,2,3,4,5,6,7,8,9]]";

/* Wherever a part of a schema can turn "does not fit" into something else: X stands for one that runs
 * into a limit on this value. */
static const struct {
	const char *before, *after, *value_before, *value_after;
} wrappers[] = {
	{ "", "", "", "" },
	{ "{'not':", "}", "", "" },
	{ "{'not':{'not':", "}}", "", "" },
	{ "{'anyOf':[", ",true]}", "", "" },
	{ "{'anyOf':[false,", "]}", "", "" },
	{ "{'oneOf':[", ",true]}", "", "" },
	{ "{'oneOf':[", ",false]}", "", "" },
	{ "{'allOf':[true,", "]}", "", "" },
	{ "{'if':", ",'then':true,'else':true}", "", "" },
	{ "{'if':", ",'then':false,'else':false}", "", "" },
	{ "{'if':true,'then':", "}", "", "" },
	{ "{'contains':", "}", "[", ",1]" },
	{ "{'contains':", ",'minContains':0}", "[", ",1]" },
	{ "{'contains':", ",'maxContains':1}", "[", ",1]" },
	{ "{'properties':{'a':", "}}", "{'a':", "}" },
	{ "{'patternProperties':{'a':", "}}", "{'a':", "}" },
	{ "{'additionalProperties':", "}", "{'a':", "}" },
	{ "{'unevaluatedProperties':", "}", "{'a':", "}" },
	{ "{'unevaluatedItems':", "}", "[", "]" },
	{ "{'prefixItems':[", "]}", "[", "]" },
	{ "{'items':", "}", "[", "]" },
	{ "{'dependentSchemas':{'a':{'properties':{'a':", "}}}}", "{'a':", "}" },
	{ "{'unevaluatedItems':false,'anyOf':[", ",true]}", "", "" },
	{ "{'unevaluatedItems':true,'oneOf':[", ",true]}", "", "" },
	{ "{'$ref':'#/$defs/x','$defs':{'x':", "}}", "", "" },
	{ "{'not':{'contains':{'not':{'anyOf':[", "]}}}}", "[", "]" },
};

static void expect_limit(size_t i, const char *x, const char *value,
			 const cleat_schema_options *opts, const char *limit)
{
	struct text schema = { 0 }, whole = { 0 };
	cleat_error err = { 0 };
	cleat_schema *s;
	int rc;

	add(&schema, "%s%s%s", wrappers[i].before, x, wrappers[i].after);
	add(&whole, "%s%s%s", wrappers[i].value_before, value, wrappers[i].value_after);
	s = schema_of(schema.p, opts);
	rc = verdict(s, whole.p, &err);
	if (rc != CLEAT_ELIMIT || !strstr(err.message, limit))
		fail_msg("%s: %d %s", schema.p, rc, err.message);
	cleat_schema_free(s);
	free(schema.p);
	free(whole.p);
}

static void a_limit_is_never_a_verdict(void **state)
{
	const cleat_schema_options few = { .max_steps = 50 }, flat = { .max_depth = 12 };

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(wrappers); i++) {
		expect_limit(i, "{'items':{'items':{'minimum':0}}}", long_list, &few,
			     "over max_steps");
		expect_limit(i, "{'$id':'x','items':{'$ref':'#'}}", "[[[[[[[[[[[[[[0]]]]]]]]]]]]]]",
			     &flat, "over max_depth");
	}
}

static void depth_counts_levels_of_the_value(void **state)
{
	const cleat_schema_options opts = { .max_depth = 5 };
	cleat_schema *s = schema_of("{'type':['array','null'],'items':{'$ref':'#'}}", &opts);
	cleat_error err = { 0 };

	(void)state;
	assert_int_equal(verdict(s, "[[[[[null]]]]]", &err), CLEAT_OK);
	assert_int_equal(verdict(s, "[[[[[[]]]]]]", &err), CLEAT_OK);
	assert_int_equal(verdict(s, "[[[[[[null]]]]]]", &err), CLEAT_ELIMIT);
	assert_string_equal(err.message,
			    "the value could not be checked within the limits: over max_depth");
	cleat_schema_free(s);
	/* what the schema does not look into may be as deep as it likes */
	s = schema_of("{'items':true}", &opts);
	assert_int_equal(verdict(s, "[[[[[[[[[[null]]]]]]]]]]", &err), CLEAT_OK);
	cleat_schema_free(s);
}

/* Whatever the number of steps: the true verdict, or none; and more steps never take it away. */
static const struct {
	const char *schema, *value;
} stepped[] = {
	{ "{'not':{'not':{'items':{'type':'integer'}}}}", "[1,2,3,4,5]" },
	{ "{'not':{'items':{'type':'integer'}}}", "[1,2,3,4,5]" },
	{ "{'anyOf':[{'items':{'type':'string'}},{'items':{'type':'integer'}}]}", "[1,2,3,4,5]" },
	{ "{'oneOf':[{'items':{'minimum':0}},{'items':{'minimum':3}},{'maxItems':1}]}",
	  "[1,2,3,4]" },
	{ "{'oneOf':[{'items':{'minimum':0}},{'items':{'minimum':1}}]}", "[1,2,3,4]" },
	{ "{'if':{'contains':{'const':3}},'then':{'minItems':4},'else':false}", "[1,2,3,4]" },
	{ "{'if':{'contains':{'const':9}},'then':false,'else':{'maxItems':3}}", "[1,2,3,4]" },
	{ "{'contains':{'type':'null'},'minContains':2,'maxContains':2}", "[null,1,null,2]" },
	{ "{'contains':{'type':'null'},'maxContains':1}", "[null,1,null,2]" },
	{ "{'properties':{'a':{'minLength':3}},'required':['a','b']}", "{'a':'xyz','b':1,'c':2}" },
	{ "{'properties':{'a':{'minLength':3}},'required':['a','b']}", "{'a':'xyz','c':2}" },
	{ "{'patternProperties':{'^a':{'pattern':'x$'}},'additionalProperties':{'type':'null'}}",
	  "{'ab':'yx','b':null}" },
	{ "{'patternProperties':{'^a':{'pattern':'x$'}},'additionalProperties':{'type':'null'}}",
	  "{'ab':'yx','b':1}" },
	{ "{'propertyNames':{'pattern':'^[a-z]+$','maxLength':3}}", "{'ab':1,'abcd':2}" },
	{ "{'unevaluatedProperties':false,'anyOf':[{'properties':{'a':true}},{'properties':{'b':true}}]}",
	  "{'a':1,'b':2}" },
	{ "{'unevaluatedProperties':false,'anyOf':[{'properties':{'a':true}},{'properties':{'b':true}}]}",
	  "{'a':1,'b':2,'c':3}" },
	{ "{'unevaluatedItems':{'type':'null'},'prefixItems':[true]}", "[1,null,null]" },
	{ "{'uniqueItems':true}", "[1,[2],{'a':3},'4',[2.0]]" },
	{ "{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]" },
	{ "{'uniqueItems':true}", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,1]" },
	{ "{'enum':[[1,2],[3,4],{'a':5}]}", "{'a':5.0}" },
	{ "{'enum':[[1,2],[3,4],{'a':5}]}", "[3,5]" },
	{ "{'enum':[1,2,3,4,5,6,7,8,9,'a','b',[1]]}", "[1.0]" },
	{ "{'multipleOf':1.0000000000000000000001}", "3.0000000000000000000003" },
	{ "{'multipleOf':1.0000000000000000000001}", "3.0000000000000000000004" },
	{ "{'dependentSchemas':{'a':{'required':['b']},'b':{'minProperties':2}}}",
	  "{'a':1,'b':2}" },
	{ "{'dependentRequired':{'a':['b']},'dependentSchemas':{'a':{'minProperties':3}}}",
	  "{'a':1,'b':2}" },
	{ "{'$dynamicRef':'#t','$defs':{'t':{'$dynamicAnchor':'t','items':{'$dynamicRef':'#t'}}}}",
	  "[[],[[]]]" },
	{ "{'allOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/a'}],'$defs':{'a':{'maxLength':2}}}",
	  "'\\u00e9\\u00e9\\u00e9'" },
};

static void count(void *ctx, const cleat_schema_problem *p)
{
	assert_true(strlen(p->line) > 0);
	++*(size_t *)ctx;
}

static void fewer_steps_never_change_a_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(stepped); i++) {
		cleat_schema *s = schema_of(stepped[i].schema, NULL);
		int truth = verdict(s, stepped[i].value, NULL), found = CLEAT_ELIMIT;

		for (uint64_t steps = 1; found == CLEAT_ELIMIT || steps < 200; steps++) {
			cleat_doc *doc = value_of(stepped[i].value);
			size_t told = 0;
			int rc;

			assert_true(steps < 5000);
			s->max_steps = steps; /* as if compiled with it */
			rc = cleat_schema_explain(s, cleat_doc_root(doc), count, &told, NULL);
			if (rc != CLEAT_ELIMIT)
				assert_int_equal(rc, truth);
			assert_true(rc == found || found == CLEAT_ELIMIT);
			assert_true(rc == CLEAT_EINVAL ? told > 0 : told == 0);
			found = rc;
			cleat_doc_free(doc);
		}
		cleat_schema_free(s);
	}
}

/* What is long costs steps, wherever it stands: a schema can look at it any number of times. */
static const struct {
	const char *schema, *before, *piece, *after;
} heavy[] = {
	{ "{'type':'integer'}", "1", "0", "" },
	{ "{'type':'integer'}", "1.", "0", "" },
	{ "{'type':'integer'}", "1e", "1", "" },
	{ "{'minimum':3}", "1", "0", "" },
	{ "{'multipleOf':3}", "1", "0", "1" },
	{ "{'maxLength':3}", "'", "x", "'" },
	{ "{'minLength':9999999999}", "'", "é", "'" },
	{ "{'pattern':'y'}", "'", "x", "'" },
	{ "{'enum':['a','b']}", "'", "x", "'" },
	{ "{'enum':['a',2]}", "'", "x", "'" },
	{ "{'enum':[0,1,2,3,4,5,6,7,8,9]}", "'", "x", "'" },
	{ "{'enum':[0,1,2,3,4,5,6,7,8,9]}", "[0", ",0", "]" },
	{ "{'const':['a']}", "['", "x", "']" },
	{ "{'const':[1]}", "[1", "0", "]" },
	{ "{'const':1}", "1", "0", "" },
	{ "{'properties':{'a':{}}}", "{'", "x", "':1}" },
	{ "{'propertyNames':{'maxLength':1}}", "{'", "x", "':1}" },
	{ "{'additionalProperties':true}", "{'", "x", "':1}" },
	{ "{'uniqueItems':true}", "['", "x", "']" },
	{ "{'uniqueItems':true}", "['a','", "x", "']" },
	{ "{'uniqueItems':true}", "[[1", ",1", "],2]" },
	{ "{'contains':{'type':'null'}}", "[1", ",1", "]" },
	{ "{'contains':{'type':'integer'},'unevaluatedItems':true}", "[1", ",1", "]" },
	{ "{'minProperties':1}", "{'a':1", ",'a':1", "}" },
};

static void what_is_long_is_paid_for(void **state)
{
	enum { PIECES = 64000 };

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(heavy); i++) {
		cleat_schema *s = schema_of(heavy[i].schema, NULL);
		struct text t = { 0 };

		add(&t, "%s", heavy[i].before);
		add_many(&t, heavy[i].piece, PIECES);
		add(&t, "%s", heavy[i].after);
		if (cost(s, t.p) < PIECES / 64)
			fail_msg("%s: %lu steps", heavy[i].schema, (unsigned long)cost(s, t.p));
		cleat_schema_free(s);
		free(t.p);
	}
}

/* The same for what is long in the schema. */
static void long_schemas_are_paid_for(void **state)
{
	enum { PIECES = 64000 };
	static const struct {
		const char *before, *piece, *after, *value;
	} schemas[] = {
		{ "{'minimum':1", "0", "}", "5.5" },
		{ "{'multipleOf':1", "0", "}", "5.5" },
		{ "{'const':1", "0", "}", "5" },
		{ "{'enum':[0,1,2,3,4,5,6,7,8,9", ",10", "]}", "5.5" },
	};

	(void)state;
	for (size_t i = 0; i < CLEAT_COUNT(schemas); i++) {
		struct text t = { 0 };
		cleat_schema *s;

		add(&t, "%s", schemas[i].before);
		add_many(&t, schemas[i].piece, PIECES);
		add(&t, "%s", schemas[i].after);
		s = schema_of(t.p, NULL);
		if (cost(s, schemas[i].value) < PIECES / 64)
			fail_msg("%s: %lu steps", schemas[i].before,
				 (unsigned long)cost(s, schemas[i].value));
		cleat_schema_free(s);
		free(t.p);
	}
}

/* A schema that doubles with every level runs into its limit, whatever it does at the end. */
static void doubling_schemas_end(void **state)
{
	struct text t = { 0 };
	cleat_error err = { 0 };
	cleat_schema *s;

	(void)state;
	add(&t, "{'$ref':'#/$defs/d0','$defs':{");
	for (int i = 0; i < 40; i++)
		add(&t, "'d%d':{'allOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]},", i,
		    i + 1, i + 1);
	add(&t, "'d40':{}}}");
	s = schema_of(t.p, NULL);
	assert_int_equal(verdict(s, "1", &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "over max_steps"));
	cleat_schema_free(s);
	free(t.p);
}

static void the_largest_number_of_steps_is_none(void **state)
{
	const cleat_schema_options opts = { .max_steps = UINT64_MAX };
	cleat_schema *s = schema_of("{'multipleOf':0.1,'items':{'pattern':'a'}}", &opts);

	(void)state;
	assert_int_equal(verdict(s, "12345678901234567890.1", NULL), CLEAT_OK);
	assert_int_equal(verdict(s, "12345678901234567890.11", NULL), CLEAT_EINVAL);
	assert_int_equal(verdict(s, "['ba']", NULL), CLEAT_OK);
	cleat_schema_free(s);
}

/* ---- patterns ----------------------------------------------------------------------------- */

static void hostile_patterns_end(void **state)
{
	static const char *const hostile[] = { "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "(x+x+)+y",
					       "^(([a-z])+.)+[A-Z]([a-z])+$" };
	struct text value = { 0 };

	(void)state;
	add(&value, "'");
	add_many(&value, "a", 2000);
	add_many(&value, "x", 2000);
	add(&value, "!'");
	for (size_t i = 0; i < CLEAT_COUNT(hostile); i++) {
		struct text t = { 0 };
		cleat_error err = { 0 };
		cleat_schema *s;
		int rc;

		add(&t, "{'not':{'pattern':'%s'}}", hostile[i]);
		s = schema_of(t.p, NULL);
		rc = verdict(s, value.p, &err);
		/* some are seen through; the others end, and not as a verdict */
		assert_true(rc == CLEAT_OK ||
			    (rc == CLEAT_ELIMIT && (strstr(err.message, "pattern") != NULL)));
		if (i == 0)
			assert_int_equal(rc, CLEAT_ELIMIT);
		cleat_schema_free(s);
		free(t.p);
	}
	free(value.p);
}

/* A pattern that stays below its own limit may not be used up to it any number of times. */
static void patterns_share_the_steps_of_a_check(void **state)
{
	cleat_schema *s = schema_of("{'items':{'not':{'pattern':'^(x|x)*$'}}}", NULL);
	struct text t = { 0 };
	cleat_error err = { 0 };
	uint64_t one = cost(s, "['xxxxxxxxxxxxx!']");

	(void)state;
	add(&t, "['!'");
	for (uint64_t i = 0; i <= 1000000 / one; i++)
		add(&t, ",'xxxxxxxxxxxxx!'");
	add(&t, "]");
	assert_true(one > 500);
	assert_int_equal(verdict(s, t.p, &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "max_steps"));
	cleat_schema_free(s);
	free(t.p);
}

/* ---- memory and threads ------------------------------------------------------------------- */

static const struct {
	const char *schema, *value;
} ordinary[] = {
	{ "{'type':'object','properties':{'city':{'type':'string','minLength':1},'days':{'type':"
	  "'integer','minimum':1,'maximum':14},'unit':{'enum':['c','f']},'tags':{'type':'array',"
	  "'items':{'type':'string'},'uniqueItems':true,'maxItems':10}},'required':['city'],"
	  "'additionalProperties':false}",
	  "{'city':'Oslo','days':3,'unit':'c','tags':['a','b']}" },
	{ "{'anyOf':[{'type':'null'},{'oneOf':[{'const':1},{'const':2}]}]}", "2" },
	{ "{'unevaluatedProperties':false,'allOf':[{'properties':{'a':{'$ref':'#'}}}]}",
	  "{'a':{'a':{'a':{}}}}" },
	{ "{'enum':[1,2,3,4,5,6,7,8,9,{'a':[1]}]}", "{'a':[1]}" },
	{ "{'multipleOf':0.01,'if':{'minimum':1},'then':{'maximum':99}}", "12.34" },
	{ "{'format':'date-time'}", "'2026-07-28T10:00:00Z'" },
};

static void an_ordinary_check_allocates_nothing(void **state)
{
	struct fail_alloc fa;
	cleat_schema_options opts = { .mem = &fa.hook, .assert_formats = true };

	(void)state;
	fail_alloc_init(&fa, 0, false);
	for (size_t i = 0; i < CLEAT_COUNT(ordinary); i++) {
		cleat_schema *s = schema_of(ordinary[i].schema, &opts);
		size_t before = fa.requests;

		assert_int_equal(verdict(s, ordinary[i].value, NULL), CLEAT_OK);
		assert_int_equal(fa.requests, before);
		cleat_schema_free(s);
	}
	assert_int_equal(fa.live, 0);
}

/* The first match makes what the others use. */
static void patterns_allocate_once(void **state)
{
	struct fail_alloc fa;
	cleat_schema_options opts = { .mem = &fa.hook };
	cleat_schema *s;
	size_t before;

	(void)state;
	fail_alloc_init(&fa, 0, false);
	s = schema_of("{'additionalProperties':{'pattern':'^[a-z]+$'},'patternProperties':{'^x':"
		      "{'pattern':'y$'}}}",
		      &opts);
	assert_int_equal(verdict(s, "{'a':'b','xa':'xy'}", NULL), CLEAT_OK);
	before = fa.requests;
	for (int i = 0; i < 10; i++)
		assert_int_equal(verdict(s, "{'a':'b','xa':'xy'}", NULL), CLEAT_OK);
	assert_int_equal(fa.requests, before);
	cleat_schema_free(s);
	assert_int_equal(fa.live, 0);
}

struct worker {
	const cleat_schema *s;
	size_t wrong;
};

static void *work(void *arg)
{
	static const struct {
		const char *value;
		int rc;
	} cases[] = {
		{ "{\"name\":\"abc\",\"list\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}",
		  CLEAT_OK },
		{ "{\"name\":\"ABC\",\"list\":[]}", CLEAT_EINVAL },
		{ "{\"name\":\"abc\",\"list\":[1,1]}", CLEAT_EINVAL },
		{ "{\"name\":\"abc\",\"x\":1}", CLEAT_EINVAL },
	};
	struct worker *w = arg;

	for (int i = 0; i < 2000; i++) {
		const char *value = cases[i % 4].value;
		cleat_doc *doc = cleat_doc_parse(value, strlen(value), NULL, NULL, NULL);
		cleat_error err;

		w->wrong += cleat_schema_check(w->s, cleat_doc_root(doc), &err) != cases[i % 4].rc;
		cleat_doc_free(doc);
	}
	return NULL;
}

static void threads_share_a_schema(void **state)
{
	cleat_schema *s = schema_of("{'properties':{'name':{'pattern':'^[a-z]+$'},'list':{"
				    "'uniqueItems':true}},'unevaluatedProperties':false}",
				    NULL);
	struct worker w[2] = { { .s = s }, { .s = s } };
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(w[i].wrong, 0);
	}
	cleat_schema_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(strings_are_characters),
		cmocka_unit_test(members_and_elements),
		cmocka_unit_test(objects_of_any_size),
		cmocka_unit_test(unevaluated_of_many_members),
		cmocka_unit_test(unevaluated_of_many_elements),
		cmocka_unit_test(enums_of_a_thousand_values),
		cmocka_unit_test(unique_items_cost_one_look_each),
		cmocka_unit_test(elements_that_look_alike_are_paid_for),
		cmocka_unit_test(a_limit_is_never_a_verdict),
		cmocka_unit_test(depth_counts_levels_of_the_value),
		cmocka_unit_test(fewer_steps_never_change_a_verdict),
		cmocka_unit_test(what_is_long_is_paid_for),
		cmocka_unit_test(long_schemas_are_paid_for),
		cmocka_unit_test(doubling_schemas_end),
		cmocka_unit_test(the_largest_number_of_steps_is_none),
		cmocka_unit_test(hostile_patterns_end),
		cmocka_unit_test(patterns_share_the_steps_of_a_check),
		cmocka_unit_test(an_ordinary_check_allocates_nothing),
		cmocka_unit_test(patterns_allocate_once),
		cmocka_unit_test(threads_share_a_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
