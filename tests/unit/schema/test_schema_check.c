/* tests/unit/test_schema_check.c - verdicts, and what they cost: what the JSON-Schema-Test-Suite does
 * not ask (test_schema_suite.c). Exact numbers, characters, large values, threads. (What runs into a
 * limit: test_schema_limits.c.)
 */
#include "unit/schema/schema_rig.h"

#include <pthread.h>

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

TEST(numbers_are_exact)
{
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

TEST(strings_are_characters)
{
	check_all(strings, CLEAT_COUNT(strings));
}

/* ---- members ------------------------------------------------------------------------------ */

static const struct verdict members[] = {
	/* what appears twice is refused where the schema speaks of members */
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

TEST(members_and_elements)
{
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

TEST(objects_of_any_size)
{
	const cleat_schema_options many = { .max_subschemas = 20000 };

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
TEST(unevaluated_of_many_members)
{
	cleat_schema *s = schema_of(
		"{'allOf':[{'anyOf':[{'patternProperties':{'^p':{'unevaluatedProperties':false,"
		"'anyOf':[{'properties':{'x':true}},{'properties':{'y':true}}]}}},"
		"{'required':['nope']}]}],'oneOf':[{'properties':{'q':true}}],"
		"'unevaluatedProperties':false}",
		NULL);
	struct text t = { 0 };
	size_t end;

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

TEST(unevaluated_of_many_elements)
{
	cleat_schema *s =
		schema_of("{'contains':{'type':'integer'},'anyOf':[{'prefixItems':[{'type':"
			  "'string'}]},{'contains':{'type':'null'}}],"
			  "'unevaluatedItems':false}",
			  NULL);
	struct text t = { 0 };
	size_t end;

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

TEST(enums_of_a_thousand_values)
{
	struct text strings_only = { 0 }, mixed = { 0 };
	cleat_schema *a, *b;

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

TEST(unique_items_cost_one_look_each)
{
	cleat_schema *s = schema_of("{'uniqueItems':true}", NULL);
	struct text t = { 0 };
	cleat_error err = { 0 };
	size_t end;

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

/* Objects in which a key appears twice are equal only member by member, but have one hash in any order:
 * thousands of them may not cost their number squared. */
TEST(elements_that_look_alike_are_paid_for)
{
	const cleat_schema_options opts = { .max_steps = 100000 };
	cleat_schema *s = schema_of("{'uniqueItems':true}", &opts);
	struct text t = { 0 };
	cleat_error err = { 0 };

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

TEST(an_ordinary_check_allocates_nothing)
{
	struct fail_alloc fa;
	cleat_schema_options opts = { .allocator = &fa.hook, .assert_formats = true };

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
TEST(patterns_allocate_once)
{
	struct fail_alloc fa;
	cleat_schema_options opts = { .allocator = &fa.hook };
	cleat_schema *s;
	size_t before;

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

TEST(threads_share_a_schema)
{
	cleat_schema *s = schema_of("{'properties':{'name':{'pattern':'^[a-z]+$'},'list':{"
				    "'uniqueItems':true}},'unevaluatedProperties':false}",
				    NULL);
	struct worker w[2] = { { .s = s }, { .s = s } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(w[i].wrong, 0);
	}
	cleat_schema_free(s);
}
