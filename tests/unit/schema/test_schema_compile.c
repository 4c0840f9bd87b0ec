/* tests/unit/test_schema_compile.c - which schemas are compiled, which are refused, and with what
 * words. What a compiled schema says about values: test_schema_check.c, test_schema_suite.c; where
 * references lead: test_schema_references.c.
 */
#include "unit/schema/schema_rig.h"

/* ---- values of keywords ------------------------------------------------------------------- */

/* One value of each sort, with a letter. */
static const struct {
	char letter;
	const char *json;
} samples[] = {
	{ 'n', "null" },     { 't', "true" },        { '5', "5" },        { '-', "-1" },
	{ '.', "1.5" },      { 's', "'x'" },         { 'e', "[]" },       { '1', "[1]" },
	{ 'a', "['a']" },    { 'l', "[{}]" },        { '0', "{}" },       { 'x', "{'a':1}" },
	{ 'y', "{'a':[]}" }, { 'z', "{'a':['b']}" }, { 'm', "{'a':{}}" },
};

/* The sorts that several keywords have in common. */
#define SCHEMA "t0xyzm"
#define COUNT  "5"
#define BOUND  "5-."
#define LIST   "l"
#define MAP    "0m"

enum { BOTH, ONLY_2020, ONLY_07 };

static const struct {
	const char *keyword;
	const char *accepts; /* letters of samples */
	const char *expected;
	int dialect;
} keywords_tried[] = {
	{ "type", "", "null, boolean, integer, number, string, array or object", BOTH },
	{ "enum", "e1al", "an array of values", BOTH },
	{ "const", "nt5-.se1al0xyzm", "", BOTH },
	{ "minimum", BOUND, "a number", BOTH },
	{ "maximum", BOUND, "a number", BOTH },
	{ "exclusiveMinimum", BOUND, "a number", BOTH },
	{ "exclusiveMaximum", BOUND, "a number", BOTH },
	{ "multipleOf", "5.", "a number greater than 0", BOTH },
	{ "minLength", COUNT, "a whole number of at least 0", BOTH },
	{ "maxLength", COUNT, "a whole number of at least 0", BOTH },
	{ "minItems", COUNT, "a whole number of at least 0", BOTH },
	{ "maxItems", COUNT, "a whole number of at least 0", BOTH },
	{ "minProperties", COUNT, "a whole number of at least 0", BOTH },
	{ "maxProperties", COUNT, "a whole number of at least 0", BOTH },
	{ "minContains", COUNT, "a whole number of at least 0", ONLY_2020 },
	{ "maxContains", COUNT, "a whole number of at least 0", ONLY_2020 },
	{ "pattern", "s", "a regular expression", BOTH },
	{ "format", "s", "the name of a format", BOTH },
	{ "uniqueItems", "t", "true or false", BOTH },
	{ "required", "ea", "an array of names", BOTH },
	{ "properties", MAP, "an object", BOTH },
	{ "patternProperties", MAP, "an object", BOTH },
	{ "additionalProperties", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "propertyNames", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "dependentRequired", "0yz", "array", ONLY_2020 },
	{ "dependentSchemas", MAP, "an object", ONLY_2020 },
	{ "dependencies", "0yzm", "an object", BOTH },
	{ "items", SCHEMA, "a schema (an object or a boolean)", ONLY_2020 },
	{ "items", SCHEMA "el", "a schema (an object or a boolean)", ONLY_07 },
	{ "additionalItems", SCHEMA, "a schema (an object or a boolean)", ONLY_07 },
	{ "prefixItems", LIST, "an array of one or more schemas", ONLY_2020 },
	{ "contains", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "unevaluatedItems", SCHEMA, "a schema (an object or a boolean)", ONLY_2020 },
	{ "unevaluatedProperties", SCHEMA, "a schema (an object or a boolean)", ONLY_2020 },
	{ "allOf", LIST, "an array of one or more schemas", BOTH },
	{ "anyOf", LIST, "an array of one or more schemas", BOTH },
	{ "oneOf", LIST, "an array of one or more schemas", BOTH },
	{ "not", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "if", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "then", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "else", SCHEMA, "a schema (an object or a boolean)", BOTH },
	{ "$defs", MAP, "an object", ONLY_2020 },
	{ "definitions", MAP, "an object", BOTH },
	{ "$id", "s", "a URI reference", BOTH },
	{ "$anchor", "s", "a name (a letter, then letters, digits, _ - .)", ONLY_2020 },
	{ "$dynamicAnchor", "s", "a name (a letter, then letters, digits, _ - .)", ONLY_2020 },
};

/* The message has the place, and says what was expected or what is wrong below it. */
static void check_words(const char *text, const char *keyword, const char *expected,
			const cleat_error *err)
{
	char place[80];

	snprintf(place, sizeof place, "/properties/a~1b~0/%s", keyword);
	if (strncmp(err->message, place, strlen(place)) != 0 ||
	    (!strstr(err->message, expected) && !strstr(err->message, "expected ") &&
	     !strstr(err->message, "draft-07")))
		fail_msg("%s: %s", text, err->message);
	assert_int_equal(err->status, CLEAT_EINVAL);
}

static void try_keyword(size_t k, const cleat_schema_options *opts)
{
	for (size_t i = 0; i < CLEAT_COUNT(samples); i++) {
		bool want = strchr(keywords_tried[k].accepts, samples[i].letter) != NULL;
		cleat_error err = { 0 };
		cleat_schema *s;
		char text[256], *json;

		snprintf(text, sizeof text, "{'properties':{'a/b~':{'%s':%s}}}",
			 keywords_tried[k].keyword, samples[i].json);
		json = support_json(text);
		s = cleat_schema_parse(json, strlen(json), opts, &err);
		free(json);
		if (want != (s != NULL))
			fail_msg("%s: %s", text, s ? "accepted" : err.message);
		if (!s)
			check_words(text, keywords_tried[k].keyword, keywords_tried[k].expected,
				    &err);
		cleat_schema_free(s);
	}
}

TEST(every_keyword_refuses_values_it_cannot_have)
{
	for (size_t k = 0; k < CLEAT_COUNT(keywords_tried); k++) {
		if (keywords_tried[k].dialect != ONLY_07)
			try_keyword(k, NULL);
		if (keywords_tried[k].dialect != ONLY_2020)
			try_keyword(k, &draft_07);
	}
}

/* A keyword of another dialect, or of nobody's, is a remark: whatever is in it. */
TEST(foreign_keywords_are_not_looked_at)
{
	static const char *const only_2020[] = { "prefixItems",      "dependentRequired",
						 "dependentSchemas", "unevaluatedItems",
						 "minContains",      "unevaluatedProperties",
						 "maxContains",      "$anchor",
						 "$dynamicAnchor",   "$defs" };
	char text[100];

	for (size_t i = 0; i < CLEAT_COUNT(only_2020); i++) {
		snprintf(text, sizeof text, "{'%s':17}", only_2020[i]);
		accept(text, &draft_07);
	}
	accept("{'additionalItems':17}", NULL);
	accept("{'title':17,'examples':{},'x-mine':null,'$comment':[],'$vocabulary':1}", NULL);
}

static const struct {
	const char *schema, *message;
} wrong_values[] = {
	{ "{'type':'int'}", "/type: expected null, boolean, integer, number, string, array or "
			    "object, or an array of these, got 'int'" },
	{ "{'type':['string',5]}", "/type: *" },
	{ "{'multipleOf':0}", "/multipleOf: expected a number greater than 0, got 0" },
	{ "{'multipleOf':-0.0}", "/multipleOf: expected a number greater than 0, got -0.0" },
	{ "{'required':['a',1]}", "/required: expected an array of names, got ['a',1]" },
	{ "{'dependentRequired':{'a':[1]}}",
	  "/dependentRequired: expected an array of names, got [1]" },
	{ "{'exclusiveMinimum':true}",
	  "/exclusiveMinimum: expected a number (a boolean here is draft-04), got true" },
	{ "{'items':[{}]}", "/items: an array here is draft-07: use prefixItems, or name "
			    "draft-07 in $schema" },
	{ "{'allOf':[{},1]}", "/allOf/1: expected a schema (an object or a boolean), got 1" },
	{ "{'pattern':'a(b'}", "/pattern: 'a(b' is not a regular expression: column *" },
	{ "{'patternProperties':{'[':{}}}",
	  "/patternProperties: '[' is not a regular expression: column *" },
	/* a name that appears twice means one thing to one reader and another to the next */
	{ "{'type':'string','type':'number'}", "'type' stands twice" },
	{ "{'properties':{'a':{},'a':false}}", "/properties: 'a' stands twice" },
	{ "{'$defs':{'a':{},'a':false}}", "/$defs: 'a' stands twice" },
	{ "{'patternProperties':{'a':{},'a':false}}", "/patternProperties: 'a' stands twice" },
	{ "{'dependentRequired':{'a':[],'a':['b']}}", "/dependentRequired: 'a' stands twice" },
	{ "{'dependentSchemas':{'a':{},'a':{}}}", "/dependentSchemas: 'a' stands twice" },
	/* what is shown is harmless, and the place of a deep one still leaves room for the words */
	{ "{'$defs':{'\\u202e\\n':{'minLength':'\\u202e'}}}",
	  "/$defs/\\u202e\\u000a/minLength: expected a whole number of at least 0, got '\\u202e'" },
	{ "17", "expected a schema (an object or a boolean), got 17" },
	{ "'string'", "expected a schema (an object or a boolean), got 'string'" },
	{ "[]", "expected a schema (an object or a boolean), got []" },
	{ "null", "expected a schema (an object or a boolean), got null" },
};

TEST(wrong_values_are_told_in_words)
{
	for (size_t i = 0; i < CLEAT_COUNT(wrong_values); i++)
		refuse(wrong_values[i].schema, NULL, CLEAT_EINVAL, wrong_values[i].message);
}

TEST(numbers_count_as_counts_by_their_value)
{
	judge("{'minLength':2.0,'maxLength':3e0}", NULL, "+'ab'", "-'a'", "-'abcd'");
	accept("{'minLength':-0}", NULL);
	accept("{'minLength':-0.0}", NULL);
	accept("{'maxLength':1e100000}", NULL);
	judge("{'minItems':18446744073709551616}", NULL, "-[1]");
}

TEST(a_long_place_leaves_room_for_the_words)
{
	static const char end[] = "/minimum: expected a number, got null";
	struct text t = { 0 };
	cleat_error err;

	add_many(&t, "{\"properties\":{\"a rather long name\":", 30);
	add(&t, "{\"minimum\":null}");
	add_many(&t, "}}", 30);
	assert_null(cleat_schema_parse(t.p, t.n, NULL, &err));
	assert_int_equal(strncmp(err.message, "…/", strlen("…/")), 0);
	assert_string_equal(err.message + strlen(err.message) - strlen(end), end);
	free(t.p);
}

/* ---- the schema itself -------------------------------------------------------------------- */

TEST(boolean_schemas_accept_all_or_nothing)
{
	cleat_schema *yes = schema_of("true", NULL), *no = schema_of("false", NULL);

	for (size_t i = 0; i < CLEAT_COUNT(samples); i++) {
		assert_int_equal(verdict(yes, samples[i].json, NULL), CLEAT_OK);
		assert_int_equal(verdict(no, samples[i].json, NULL), CLEAT_EINVAL);
	}
	cleat_schema_free(yes);
	cleat_schema_free(no);
}

TEST(missing_arguments_are_errors)
{
	cleat_error err;
	cleat_schema *s;

	assert_null(cleat_schema_new(NULL, NULL, &err));
	assert_int_equal(err.status, CLEAT_EINVAL);
	assert_null(cleat_schema_new(NULL, NULL, NULL));
	assert_null(cleat_schema_parse(NULL, 0, NULL, &err));
	assert_int_equal(err.status, CLEAT_EPROTO);
	assert_null(cleat_schema_parse("", 0, NULL, NULL));
	refuse("{'a':", NULL, CLEAT_EPROTO, "line 1, column 6: *");
	s = schema_of("true", NULL);
	assert_int_equal(cleat_schema_check(s, NULL, &err), CLEAT_EINVAL);
	assert_int_equal(cleat_schema_check(NULL, NULL, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_schema_explain(s, NULL, NULL, NULL, &err), CLEAT_EINVAL);
	cleat_schema_free(s);
	cleat_schema_free(NULL);
	cleat_schema_set_free(NULL);
}

/* The schema is copied: its document may be gone when values are checked. */
TEST(a_schema_outlives_its_document)
{
	cleat_doc *doc = value_of("{'properties':{'a':{'enum':['x',12.50]}}}");
	cleat_schema *s = cleat_schema_new(cleat_doc_root(doc), NULL, NULL);

	cleat_doc_free(doc);
	assert_non_null(s);
	assert_int_equal(verdict(s, "{'a':'x'}", NULL), CLEAT_OK);
	assert_int_equal(verdict(s, "{'a':12.5}", NULL), CLEAT_OK);
	assert_int_equal(verdict(s, "{'a':'y'}", NULL), CLEAT_EINVAL);
	cleat_schema_free(s);
}

TEST(options_are_checked)
{
	refuse("{}", &(cleat_schema_options){ .dialect = 2 }, CLEAT_EINVAL,
	       "options.dialect: there is no dialect 2");
	refuse("{}", &(cleat_schema_options){ .dialect = -1 }, CLEAT_EINVAL,
	       "options.dialect: there is no dialect -1");
	refuse("{}", &(cleat_schema_options){ .base_uri = "a b" }, CLEAT_EINVAL,
	       "base_uri: a b is not a URI");
}

/* ---- dialects ----------------------------------------------------------------------------- */

/* {"items": [false]} is a tuple in draft-07 and an error in 2020-12. */
static const char *const draft_07_names[] = {
	DRAFT_07,
	DRAFT_07 "#",
	"https://json-schema.org/draft-07/schema",
	"https://json-schema.org/draft-07/schema#",
};

TEST(dialects_are_chosen_by_name)
{
	char text[200];

	for (size_t i = 0; i < CLEAT_COUNT(draft_07_names); i++) {
		snprintf(text, sizeof text, "{'$schema':'%s','items':[false]}", draft_07_names[i]);
		accept(text, NULL);
		accept(text, &draft_07);
	}
	accept("{'$schema':'" D2020_12 "','prefixItems':[{}]}", &draft_07);
	accept("{'$schema':'" D2020_12 "#'}", NULL);
	refuse("{'$schema':'" D2020_12 "','items':[false]}", &draft_07, CLEAT_EINVAL,
	       "/items: an array here is draft-07*");
	accept("{'items':[false]}", &draft_07);
}

static const char *const unknown_dialects[] = {
	"https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-06/schema#",
	"http://json-schema.org/draft-04/schema#",
	"http://json-schema.org/schema#",
	"https://example.com/mine",
	"",
};

TEST(other_dialects_are_not_supported)
{
	char text[200], message[244];

	for (size_t i = 0; i < CLEAT_COUNT(unknown_dialects); i++) {
		snprintf(text, sizeof text, "{'$schema':'%s'}", unknown_dialects[i]);
		snprintf(message, sizeof message,
			 "/$schema: %s is not a known dialect; known are " D2020_12 " and " DRAFT_07
			 "#",
			 unknown_dialects[i]);
		refuse(text, NULL, CLEAT_EUNSUPPORTED, message);
	}
	refuse("{'$schema':5}", NULL, CLEAT_EINVAL, "/$schema: expected a URI, got 5");
}

/* 2020-12 core 8.1.2.1: a vocabulary that is required and not known MUST be refused. */
TEST(vocabularies_decide_what_a_dialect_has)
{
	cleat_schema_set *set = cleat_schema_set_new(NULL);
	cleat_schema_options opts = { .known = set };

	add_known(set, "https://example.com/null", "{'$vocabulary':null}", CLEAT_OK, NULL);
	add_known(set, "https://example.com/strange",
		  "{'$vocabulary':{'https://example.com/x':true}}", CLEAT_OK, NULL);
	add_known(set, "https://example.com/little",
		  "{'$vocabulary':{'" VOCABULARY "core':true,'" VOCABULARY "applicator':true,"
		  "'https://example.com/x':false}}",
		  CLEAT_OK, NULL);
	/* without the vocabulary of validation, "minLength" is a remark */
	judge("{'$schema':'https://example.com/little',"
	      "'properties':{'a':{'minLength':'whatever'},'b':false}}",
	      &opts, "+{'a':''}", "-{'b':1}");
	refuse("{'$schema':'https://example.com/strange'}", &opts, CLEAT_EUNSUPPORTED,
	       "/$schema: requires the vocabulary https://example.com/x, which is not known here");
	refuse("{'$schema':'https://example.com/null'}", &opts, CLEAT_EUNSUPPORTED,
	       "/$schema: https://example.com/null is not a known dialect*");
	cleat_schema_set_free(set);
}

/* ---- limits ------------------------------------------------------------------------------- */

/* n schemas, one inside the other, each opened and closed like this. */
static char *nested(size_t n, const char *open, const char *close)
{
	struct text t = { 0 };

	add_many(&t, open, n - 1);
	add(&t, "{}");
	add_many(&t, close, n - 1);
	return t.p;
}

static void check_depth(size_t max, size_t allowed)
{
	cleat_schema_options opts = { .max_depth = max };
	char *fits = nested(allowed + 1, "{'not':", "}"), message[100];
	char *too_deep = nested(allowed + 2, "{'not':", "}");

	snprintf(message, sizeof message, "schemas nested deeper than %zu (max_depth)", allowed);
	accept(fits, &opts);
	refuse(too_deep, &opts, CLEAT_ELIMIT, message);
	free(fits);
	free(too_deep);
}

TEST(depth_is_limited_exactly)
{
	check_depth(1, 1);
	check_depth(7, 7);
	check_depth(0, 64);
	check_depth(DEPTH_MOST, DEPTH_MOST);
	check_depth(SIZE_MAX, DEPTH_MOST);
}

/* A schema may be as deep as max_depth says, also where each one takes two levels of JSON. */
TEST(json_is_read_as_deep_as_schemas_may_be)
{
	size_t depths[] = { 64, DEPTH_MOST };

	for (size_t k = 0; k < CLEAT_COUNT(depths); k++) {
		cleat_schema_options opts = { .max_depth = depths[k] };
		char *text = nested(depths[k] + 1, "{'properties':{'a':", "}}");

		accept(text, &opts);
		free(text);
	}
}

TEST(subschemas_are_limited_exactly)
{
	cleat_schema_options opts = { .max_subschemas = 4 };

	accept("{'allOf':[{},{},true]}", &opts);
	refuse("{'allOf':[{},{},true,{}]}", &opts, CLEAT_ELIMIT,
	       "more than 4 subschemas (max_subschemas)");
	/* with all that it refers to */
	refuse("{'$ref':'" DRAFT_07 "#'}", &opts, CLEAT_ELIMIT,
	       "more than 4 subschemas (max_subschemas)");
	/* places that only a reference makes a schema count too */
	refuse("{'allOf':[{'$ref':'#/x'},{'$ref':'#/y'}],'x':{},'y':{}}", &opts, CLEAT_ELIMIT,
	       "more than 4 subschemas (max_subschemas)");
	opts.max_subschemas = 1;
	accept("{}", &opts);
	refuse("{'not':{}}", &opts, CLEAT_ELIMIT, "more than 1 subschemas (max_subschemas)");
}

TEST(ten_thousand_subschemas_are_the_default)
{
	struct text t = { 0 };

	add(&t, "{'allOf':[{}");
	add_many(&t, ",{}", 9998);
	add(&t, "]}");
	accept(t.p, NULL);
	t.n -= strlen("]}");
	add(&t, ",{}]}");
	refuse(t.p, NULL, CLEAT_ELIMIT, "more than 10000 subschemas (max_subschemas)");
	free(t.p);
}

/* Some patterns take a thousand times their length when they are compiled. */
TEST(memory_of_patterns_is_limited)
{
	struct text t = { 0 };

	add(&t, "{'allOf':[{}");
	add_many(&t, ",{'pattern':'(?:(?:[a-z]{1,100}){1,50}){1,12}'}", 9000);
	add(&t, "]}");
	refuse(t.p, NULL, CLEAT_ELIMIT, "the patterns need more than 16 MiB");
	free(t.p);
}

TEST(uris_are_limited)
{
	struct text uri = { 0 }, schema = { 0 };

	add_many(&uri, "a", 70000);
	add(&schema, "{'$ref':'");
	add_many(&schema, "a", 70000);
	add(&schema, "'}");
	refuse(schema.p, NULL, CLEAT_ELIMIT, "$ref: a URI of more than 65536 bytes");
	refuse("{}", &(cleat_schema_options){ .base_uri = uri.p }, CLEAT_ELIMIT,
	       "base_uri: a URI of more than 65536 bytes");
	free(schema.p);
	free(uri.p);
}
