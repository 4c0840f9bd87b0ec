/* tests/unit/test_schema_limits.c - what ends a check: steps, depth, patterns. A limit is never taken for a
 * verdict, and whatever is long is paid for. (Verdicts within the limits: test_schema_check.c.)
 */
#include "unit/schema/schema_rig.h"

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

TEST(a_limit_is_never_a_verdict)
{
	const cleat_schema_options few = { .max_steps = 50 }, flat = { .max_depth = 12 };

	for (size_t i = 0; i < CLEAT_COUNT(wrappers); i++) {
		expect_limit(i, "{'items':{'items':{'minimum':0}}}", long_list, &few,
			     "over max_steps");
		expect_limit(i, "{'$id':'x','items':{'$ref':'#'}}", "[[[[[[[[[[[[[[0]]]]]]]]]]]]]]",
			     &flat, "over max_depth");
	}
}

TEST(depth_counts_levels_of_the_value)
{
	const cleat_schema_options opts = { .max_depth = 5 };
	cleat_schema *s = schema_of("{'type':['array','null'],'items':{'$ref':'#'}}", &opts);
	cleat_error err = { 0 };

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

TEST(fewer_steps_never_change_a_verdict)
{
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

TEST(what_is_long_is_paid_for)
{
	enum { PIECES = 64000 };

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
TEST(long_schemas_are_paid_for)
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
TEST(doubling_schemas_end)
{
	struct text t = { 0 };
	cleat_error err = { 0 };
	cleat_schema *s;

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

TEST(the_largest_number_of_steps_is_none)
{
	const cleat_schema_options opts = { .max_steps = UINT64_MAX };
	cleat_schema *s = schema_of("{'multipleOf':0.1,'items':{'pattern':'a'}}", &opts);

	assert_int_equal(verdict(s, "12345678901234567890.1", NULL), CLEAT_OK);
	assert_int_equal(verdict(s, "12345678901234567890.11", NULL), CLEAT_EINVAL);
	assert_int_equal(verdict(s, "['ba']", NULL), CLEAT_OK);
	cleat_schema_free(s);
}

/* ---- patterns ----------------------------------------------------------------------------- */

TEST(hostile_patterns_end)
{
	static const char *const hostile[] = { "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "(x+x+)+y",
					       "^(([a-z])+.)+[A-Z]([a-z])+$" };
	struct text value = { 0 };

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
TEST(patterns_share_the_steps_of_a_check)
{
	cleat_schema *s = schema_of("{'items':{'not':{'pattern':'^(x|x)*$'}}}", NULL);
	struct text t = { 0 };
	cleat_error err = { 0 };
	uint64_t one = cost(s, "['xxxxxxxxxxxxx!']");

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
