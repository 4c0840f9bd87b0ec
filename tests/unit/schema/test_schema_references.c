/* tests/unit/test_schema_references.c - names and references within schemas and between them: where they
 * lead, which are refused, and that none goes round in a circle. (Keywords: test_schema_compile.c.)
 */
#include "unit/schema/schema_rig.h"

/* ---- names -------------------------------------------------------------------------------- */

static const struct {
	const cleat_schema_options *opts;
	const char *schema, *message; /* NULL: accepted */
} names[] = {
	/* $id: 2020-12 core 8.2.1 */
	{ NULL, "{'$id':'https://example.com/a#'}", NULL },
	{ NULL, "{'$id':'https://example.com/a#b'}", "/$id: must have no fragment; use $anchor" },
	{ NULL, "{'$id':'a b'}", "/$id: expected a URI reference, got 'a b'" },
	{ NULL, "{'$defs':{'x':{'$id':'a'},'y':{'$id':'a'}}}",
	  "/$defs/y/$id: 'a' is the URI of another schema already" },
	{ NULL, "{'$id':'https://example.com/a/b','$defs':{'x':{'$id':'../a/b'}}}",
	  "/$defs/x/$id: '../a/b' is the URI of another schema already" },
	{ NULL, "{'$id':'https://example.com/a','items':{'$ref':'https://example.com/a'}}", NULL },
	/* what is wrong inside a schema with an $id of its own is found from there */
	{ NULL, "{'$defs':{'x':{'$id':'https://example.com/x','items':{'minimum':[]}}}}",
	  "https://example.com/x#/items/minimum: expected a number, got []" },
	/* draft-07 8.2.3: "#name" names a schema in place */
	{ &draft_07, "{'items':{'$ref':'#x'},'definitions':{'a':{'$id':'#x'}}}", NULL },
	{ &draft_07, "{'definitions':{'a':{'$id':'#x'},'b':{'$id':'#x'}}}",
	  "/definitions/b/$id: 'x' is the name of another schema already" },
	/* and beside $ref nothing counts, not even what is wrong */
	{ &draft_07, "{'definitions':{'a':{}},'items':{'$ref':'#/definitions/a','type':1,'$id':2}}",
	  NULL },
	/* $anchor, $dynamicAnchor: 8.2.2 */
	{ NULL, "{'$anchor':'a-b_c.1'}", NULL },
	{ NULL, "{'$anchor':'1a'}", "/$anchor: expected a name*" },
	{ NULL, "{'$anchor':''}", "/$anchor: expected a name*" },
	{ NULL, "{'$anchor':'a/b'}", "/$anchor: expected a name*" },
	{ NULL, "{'$dynamicAnchor':'a b'}", "/$dynamicAnchor: expected a name*" },
	{ NULL, "{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x'}}}",
	  "/$defs/b/$anchor: 'x' is the name of another schema already" },
	{ NULL, "{'$defs':{'a':{'$anchor':'x'},'b':{'$dynamicAnchor':'x'}}}",
	  "/$defs/b/$dynamicAnchor: 'x' is the name of another schema already" },
	{ NULL, "{'$anchor':'x','$dynamicAnchor':'x'}", NULL },
	/* an anchor belongs to its resource */
	{ NULL, "{'$defs':{'a':{'$anchor':'x'},'b':{'$id':'b','$anchor':'x'}}}", NULL },
	{ NULL, "{'$ref':'#x','$defs':{'b':{'$id':'b','$anchor':'x'}}}",
	  "/$ref: '#x' leads nowhere" },
	{ NULL, "{'$ref':'b#x','$defs':{'b':{'$id':'b','$anchor':'x'}}}", NULL },
	/* what looks like a schema in an enum or an unknown keyword is none: 9.4.2 */
	{ NULL, "{'enum':[{'$anchor':'x'}],'x':{'$anchor':'x'},'$anchor':'x'}", NULL },
	{ NULL, "{'const':{'$id':17,'minimum':'a'}}", NULL },
};

static void compile_as(const char *schema, const cleat_schema_options *opts, const char *message)
{
	if (message)
		refuse(schema, opts, CLEAT_EINVAL, message);
	else
		accept(schema, opts);
}

TEST(names_follow_the_rules)
{
	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		compile_as(names[i].schema, names[i].opts, names[i].message);
}

/* ---- references --------------------------------------------------------------------------- */

static const struct {
	const char *schema, *message;
} references[] = {
	{ "{'$ref':'#/$defs/a'}", "/$ref: '#/$defs/a' leads nowhere" },
	{ "{'properties':{'x':{'$ref':'#/$defs/a'}}}",
	  "/properties/x/$ref: '#/$defs/a' leads nowhere" },
	{ "{'$ref':'#a'}", "/$ref: '#a' leads nowhere" },
	{ "{'$ref':'#/$defs/a/01','$defs':{'a':{'enum':[1,2]}}}", "/$ref: *" },
	{ "{'$ref':'#/allOf/1','allOf':[{}]}", "/$ref: '#/allOf/1' leads nowhere" },
	{ "{'$ref':'#/allOf/00','allOf':[{}]}", "/$ref: '#/allOf/00' leads nowhere" },
	{ "{'$ref':'#/allOf/-','allOf':[{}]}", "/$ref: '#/allOf/-' leads nowhere" },
	{ "{'$ref':'other.json'}",
	  "/$ref: refers to other.json, which is not known (nothing is fetched)" },
	{ "{'$id':'https://example.com/a/b','$ref':'c#/d'}",
	  "/$ref: refers to https://example.com/a/c, which is not known (nothing is fetched)" },
	{ "{'$dynamicRef':'#a'}", "/$dynamicRef: '#a' leads nowhere" },
	{ "{'$ref':17}", "/$ref: expected a URI reference, got 17" },
	{ "{'$ref':'a b'}", "/$ref: expected a URI reference, got 'a b'" },
	{ "{'$dynamicRef':null}", "/$dynamicRef: expected a URI reference, got null" },
	/* a place that a reference makes a schema must be one */
	{ "{'$ref':'#/x','x':17}", "/x: expected a schema (an object or a boolean), got 17" },
	{ "{'$ref':'#/x/y','x':{'y':{'minimum':'a'}}}",
	  "/x/y/minimum: expected a number, got 'a'" },
	{ "{'$ref':'#/enum/0','enum':[{'type':17}]}", "/enum/0/type: *" },
};

TEST(references_that_lead_nowhere_are_refused)
{
	for (size_t i = 0; i < CLEAT_COUNT(references); i++)
		refuse(references[i].schema, NULL, CLEAT_EINVAL, references[i].message);
}

TEST(references_lead_into_unknown_keywords)
{
	judge("{'items':{'$ref':'#/x~1y/a%20b/0'},"
	      "'x/y':{'a b':[{'$ref':'#/more'}]},"
	      "'more':{'properties':{'n':{'$ref':'#/x~1y/a%20b/0'}},"
	      "'type':'object'}}",
	      NULL, "+[{'n':{'n':{}}}]", "-[{'n':{'n':17}}]");
	/* generators write names that no URI can have; what they mean is plain */
	accept("{'$ref':'#/$defs/List<Foo Bar>','$defs':{'List<Foo Bar>':{}}}", NULL);
}

TEST(meta_schemas_are_known)
{
	judge("{'$ref':'" D2020_12 "'}", NULL, "+{'minimum':1,'items':{'type':['string']}}",
	      "-{'minimum':'1'}", "-{'items':{'type':['strin']}}");
	judge("{'$ref':'" DRAFT_07 "#'}", &draft_07, "+{'items':[{},{'minItems':1}]}",
	      "-{'items':[{},{'minItems':-1}]}");
}

/* ---- loops -------------------------------------------------------------------------------- */

#define LOOP                                                                                       \
	"leads back to itself without going deeper into the value, so checking it would never end"

static const struct {
	const char *schema, *message; /* NULL: accepted */
} loops[] = {
	{ "{'$ref':'#'}", LOOP },
	{ "{'$defs':{'a':{'$ref':'#/$defs/a'}}}", "/$defs/a: " LOOP },
	{ "{'allOf':[{'$ref':'#'}]}", "/allOf/0: " LOOP },
	{ "{'anyOf':[true,{'$ref':'#'}]}", "/anyOf/1: " LOOP },
	{ "{'oneOf':[{'$ref':'#'}]}", "/oneOf/0: " LOOP },
	{ "{'not':{'$ref':'#'}}", "/not: " LOOP },
	{ "{'if':{'$ref':'#'}}", "/if: " LOOP },
	{ "{'if':true,'then':{'$ref':'#'}}", "/then: " LOOP },
	{ "{'if':true,'else':{'$ref':'#'}}", "/else: " LOOP },
	{ "{'dependentSchemas':{'a':{'$ref':'#'}}}", "/dependentSchemas/a: " LOOP },
	{ "{'dependentRequired':{'x':['y']},'dependentSchemas':{'a':true,'b':"
	  "{'$ref':'#'}}}",
	  "/dependentSchemas/b: " LOOP },
	{ "{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'allOf':[{'$ref':'#/$defs/a'}]}}}",
	  "/$defs/b/allOf/0: " LOOP },
	{ "{'$dynamicAnchor':'a','$dynamicRef':'#a'}", LOOP },
	{ "{'$anchor':'a','$dynamicRef':'#a'}", LOOP },
	/* recursion that goes deeper into the value is what references are for */
	{ "{'properties':{'a':{'$ref':'#'}}}", NULL },
	{ "{'additionalProperties':{'$ref':'#'}}", NULL },
	{ "{'items':{'$ref':'#'}}", NULL },
	{ "{'contains':{'$ref':'#'}}", NULL },
	{ "{'propertyNames':{'$ref':'#'}}", NULL },
	{ "{'unevaluatedProperties':{'$ref':'#'}}", NULL },
	{ "{'allOf':[{'items':{'anyOf':[{'$ref':'#'}]}}]}", NULL },
	/* twice the same without a way back is no loop */
	{ "{'allOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/a'}],'$defs':{'a':{}}}", NULL },
};

TEST(schemas_that_would_never_end_are_refused)
{
	for (size_t i = 0; i < CLEAT_COUNT(loops); i++)
		compile_as(loops[i].schema, NULL, loops[i].message);
}

/* Where a dynamic reference leads may depend on the check: then the limits end it. */
TEST(a_dynamic_loop_ends_by_the_limits)
{
	cleat_schema *s = schema_of("{'$dynamicAnchor':'a','$ref':'b','$defs':{'b':"
				    "{'$id':'b','$dynamicRef':'#a','$defs':{'c':"
				    "{'$dynamicAnchor':'a'}}}}}",
				    NULL);
	cleat_error err;

	assert_int_equal(verdict(s, "1", &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "max_depth"));
	cleat_schema_free(s);
}

/* ---- known schemas ------------------------------------------------------------------------ */

TEST(a_set_wants_absolute_uris_and_schemas)
{
	static const char wants[] = "a known schema needs an absolute URI without a fragment, such "
				    "as https://example.com/address.json, not '%s'";
	static const char *const bad[] = { "address.json", "/a", "//example.com/a", "", "#", "a b",
					   "urn:x#frag",   "1:2" };
	cleat_schema_set *set = cleat_schema_set_new(NULL);
	char message[244];

	for (size_t i = 0; i < CLEAT_COUNT(bad); i++) {
		snprintf(message, sizeof message, wants, bad[i]);
		add_known(set, bad[i], "{}", CLEAT_EINVAL, message);
	}
	add_known(set, "urn:a", "17", CLEAT_EINVAL,
		  "a schema is an object or a boolean, not a number");
	add_known(set, "urn:a", "[]", CLEAT_EINVAL, NULL);
	add_known(set, "urn:a", "true", CLEAT_OK, NULL);
	add_known(set, "urn:a", "true", CLEAT_EEXIST, "urn:a is known already");
	add_known(set, "urn:a#", "{}", CLEAT_EEXIST, NULL);
	add_known(set, "https://example.com/a/../b", "{}", CLEAT_OK, NULL);
	add_known(set, "HTTPS://EXAMPLE.com/b", "{}", CLEAT_EEXIST,
		  "https://example.com/b is known already");
	assert_int_equal(cleat_schema_set_add(set, "urn:c", NULL, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_schema_set_add(set, NULL, NULL, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_schema_set_add(NULL, "urn:c", NULL, NULL), CLEAT_EINVAL);
	cleat_schema_set_free(set);
}

/* Documents are looked at when something refers to them, and a schema does not need the set any
 * more once it is compiled. */
TEST(known_schemas_are_found_and_only_those)
{
	cleat_schema_set *set = cleat_schema_set_new(NULL);
	cleat_schema_options opts = { .known = set, .base_uri = "https://example.com/main" };
	cleat_schema *s;

	add_known(set, "https://example.com/a.json",
		  "{'$defs':{'b':{'$ref':'b.json#n'},'bad':{'minimum':[]}}}", CLEAT_OK, NULL);
	add_known(set, "https://example.com/b.json", "{'items':{'$anchor':'n','type':'number'}}",
		  CLEAT_OK, NULL);
	add_known(set, "https://example.com/bad.json", "{'$ref':'nope.json'}", CLEAT_OK, NULL);
	add_known(set, "https://example.com/old.json",
		  "{'$schema':'http://json-schema.org/draft-04/schema#'}", CLEAT_OK, NULL);
	add_known(set, "https://example.com/other.json", "{'$id':'https://example.com/main'}",
		  CLEAT_OK, NULL);
	s = schema_of("{'$ref':'a.json#/$defs/b'}", &opts);
	refuse("{'$ref':'bad.json'}", &opts, CLEAT_EINVAL,
	       "https://example.com/bad.json#/$ref: refers to https://example.com/nope.json, which "
	       "is not known (nothing is fetched)");
	refuse("{'$ref':'a.json#/$defs/bad'}", &opts, CLEAT_EINVAL,
	       "https://example.com/a.json#/$defs/bad/minimum: expected a number, got []");
	refuse("{'$ref':'old.json'}", &opts, CLEAT_EUNSUPPORTED,
	       "https://example.com/old.json#/$schema: http://json-schema.org/draft-04/schema# is "
	       "not a known dialect*");
	refuse("{'$ref':'other.json'}", &opts, CLEAT_EINVAL,
	       "https://example.com/other.json#/$id: 'https://example.com/main' is the URI of "
	       "another schema already");
	refuse("{'$ref':'c.json'}", &opts, CLEAT_EINVAL,
	       "/$ref: refers to https://example.com/c.json, which is not known (nothing is "
	       "fetched)");
	cleat_schema_set_free(set);
	assert_int_equal(verdict(s, "17", NULL), CLEAT_OK);
	assert_int_equal(verdict(s, "'17'", NULL), CLEAT_EINVAL);
	cleat_schema_free(s);
}

/* A known document speaks the dialect that it names, else that of whoever refers to it. */
TEST(known_schemas_keep_their_dialect)
{
	cleat_schema_set *set = cleat_schema_set_new(NULL);
	cleat_schema_options opts = { .known = set };

	add_known(set, "urn:tuple", "{'$schema':'" DRAFT_07 "#','items':[{'type':'null'}]}",
		  CLEAT_OK, NULL);
	add_known(set, "urn:silent", "{'items':[{'type':'null'}]}", CLEAT_OK, NULL);
	judge("{'$ref':'urn:tuple'}", &opts, "+[null,1]", "-[1]");
	refuse("{'$ref':'urn:silent'}", &opts, CLEAT_EINVAL, "urn:silent#/items: an array here*");
	accept("{'$schema':'" DRAFT_07 "','$ref':'urn:silent'}", &opts);
	cleat_schema_set_free(set);
}
