/* tests/unit/test_schema_memory.c - every allocation of compiling, checking, explaining and of sets of
 * known schemas fails, once and for good: no leak, no crash, and CLEAT_ENOMEM or the right answer.
 */
#include "base/buf.h"
#include "schema/check.h"
#include "unit/schema/schema_rig.h"

#include <string.h>

/* In the tables ' stands for ". */
static const struct {
	int dialect;
	const char *schema, *value;
	int verdict;
} cases[] = {
	{ CLEAT_SCHEMA_2020_12,
	  "{'$id':'https://example.com/s','properties':{'a':{'$ref':'#/$defs/a'},'b':{'$ref':'t#x'}},"
	  "'required':['a','c'],'$defs':{'a':{'type':'integer','minimum':1},'t':{'$id':'t','$anchor':"
	  "'x','enum':[1,2,3,4,5,6,7,8,9,'a']}}}",
	  "{'a':0,'b':'b'}", CLEAT_EINVAL },
	{ CLEAT_SCHEMA_2020_12,
	  "{'properties':{'a1':{},'a2':{},'a3':{},'a4':{},'a5':{},'a6':{},'a7':{},'a8':{},'a9':{}},"
	  "'dependentRequired':{'a1':['a2']},'dependentSchemas':{'a3':{'maxProperties':9}},"
	  "'patternProperties':{'^x+$':{'pattern':'y'}},'additionalProperties':false}",
	  "{'a1':1,'a2':2,'xx':'y'}", CLEAT_OK },
	{ CLEAT_SCHEMA_2020_12,
	  "{'anyOf':[{'title':'A','properties':{'a':{'type':'null'}},'required':['a']},"
	  "{'items':{'type':'null'},'type':'array'}],'oneOf':[true,{}],'not':{'required':['a']},"
	  "'propertyNames':{'maxLength':0},'unevaluatedProperties':false}",
	  "{'a':1,'b':2}", CLEAT_EINVAL },
	{ CLEAT_SCHEMA_2020_12,
	  "{'uniqueItems':true,'contains':{'required':['x']},'prefixItems':[{'$dynamicRef':'#m'}],"
	  "'unevaluatedItems':true,'$dynamicAnchor':'m'}",
	  "[[{'x':1}],2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,{'x':1},{'x':2}]", CLEAT_OK },
	{ CLEAT_SCHEMA_2020_12,
	  "{'uniqueItems':true,'contains':{'required':['x'],'properties':{'x':{'type':'null'}}}}",
	  "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,{'x':1},18]", CLEAT_EINVAL },
	{ CLEAT_SCHEMA_DRAFT_07,
	  "{'definitions':{'a':{'$id':'#a','type':'string'}},'items':[{'$ref':'#a'}],"
	  "'additionalItems':{'$ref':'known.json#/definitions/n'},'dependencies':{'a':['b']}}",
	  "['a',1,'b']", CLEAT_EINVAL },
	/* more marks than fit into a run */
	{ CLEAT_SCHEMA_2020_12, "{'unevaluatedProperties':{'$ref':'#'},'maxProperties':1}",
	  "{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':"
	  "{'a':{'b':1,'c':2}}}}}}}}}}}}}}}}}}}}",
	  CLEAT_EINVAL },
	{ CLEAT_SCHEMA_2020_12, "{'$ref':'https://json-schema.org/draft/2020-12/schema'}",
	  "{'properties':{'a':{'type':'integer'}}}", CLEAT_OK },
};

/* One known schema, with memory that does not fail. */
static cleat_schema_set *known_set(void)
{
	cleat_schema_set *set = cleat_schema_set_new(NULL);

	assert_non_null(set);
	add_known(set, "https://example.com/known.json", "{'definitions':{'n':{'type':'number'}}}",
		  CLEAT_OK, NULL);
	return set;
}

static cleat_schema *compile(size_t i, struct fail_alloc *fa, const cleat_schema_set *known,
			     cleat_error *err)
{
	const cleat_schema_options opts = { .dialect = cases[i].dialect,
					    .allocator = &fa->hook,
					    .known = known,
					    .base_uri = "https://example.com/base" };
	char *text = support_json(cases[i].schema);
	cleat_schema *s = cleat_schema_parse(text, strlen(text), &opts, err);

	free(text);
	return s;
}

/* What is compiled although memory was short is as good as any other. */
static void compile_short(size_t i, bool forever, const cleat_schema_set *known)
{
	cleat_doc *value = value_of(cases[i].value);
	struct fail_alloc fa;

	for (size_t n = 1;; n++) {
		cleat_error err = { 0 };
		cleat_schema *s;

		fail_alloc_init(&fa, n, forever);
		s = compile(i, &fa, known, &err);
		if (!s)
			assert_int_equal(err.status, CLEAT_ENOMEM);
		if (!fail_alloc_hit(&fa))
			assert_non_null(s);
		fa.countdown = 0;
		fa.forever = false;
		if (s)
			assert_int_equal(cleat_schema_check(s, cleat_doc_root(value), NULL),
					 cases[i].verdict);
		cleat_schema_free(s);
		assert_int_equal(fa.live, 0);
		if (!fail_alloc_hit(&fa))
			break;
	}
	cleat_doc_free(value);
}

TEST(compiling_without_memory)
{
	cleat_schema_set *known = known_set();

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		compile_short(i, false, known);
		compile_short(i, true, known);
	}
	cleat_schema_set_free(known);
}

/* The schema is copied from a value: another way in. */
TEST(copying_a_schema_without_memory)
{
	cleat_doc *doc = value_of(cases[0].schema);

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		const cleat_schema_options opts = { .allocator = &fa.hook };
		cleat_error err = { 0 };
		cleat_schema *s;

		s = cleat_schema_new(cleat_doc_root(doc), &opts, &err);
		assert_true(s || err.status == CLEAT_ENOMEM);
		cleat_schema_free(s);
	}
	cleat_doc_free(doc);
}

/* A schema that is refused stays refused, or there was no memory to say why. */
TEST(refusing_without_memory)
{
	static const char *const refused[] = {
		"{\"properties\":{\"a\":{\"minimum\":[1,2]}}}", "{\"$ref\":\"#/$defs/x\"}",
		"{\"pattern\":\"(\"}",
		"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
		"{\"$ref\":\"#\"}"
	};

	for (size_t i = 0; i < CLEAT_COUNT(refused); i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			const cleat_schema_options opts = { .allocator = &fa.hook };
			cleat_error err = { 0 };

			assert_null(
				cleat_schema_parse(refused[i], strlen(refused[i]), &opts, &err));
			assert_true(err.status == CLEAT_EINVAL || err.status == CLEAT_ENOMEM);
		}
}

/* ---- checking ----------------------------------------------------------------------------- */

static void count(void *ctx, const cleat_schema_problem *p)
{
	assert_non_null(p->line);
	assert_non_null(p->path);
	assert_non_null(p->schema_path);
	++*(size_t *)ctx;
}

static int ask(const cleat_schema *s, const cleat_json *value, int how, struct buf *b)
{
	size_t told = 0;
	cleat_error err = { 0 };
	int rc;

	switch (how) {
	case 0: return cleat_schema_check(s, value, NULL);
	case 1:
		rc = cleat_schema_check(s, value, &err);
		if (rc != CLEAT_OK)
			assert_int_equal(err.status, rc);
		return rc;
	case 2:
		rc = cleat_schema_explain(s, value, count, &told, &err);
		if (rc == CLEAT_EINVAL)
			assert_true(told > 0);
		return rc;
	default: return schema_check(s, value, NULL, b);
	}
}

/* Asks with the n-th allocation failing; afterwards the schema is as good as before. */
static void ask_short(const cleat_schema *s, struct fail_alloc *fa, const cleat_json *value,
		      int how, int verdict, bool forever)
{
	for (size_t n = 1;; n++) {
		size_t live = fa->live, failures = fa->failures;
		struct buf b;
		int rc;

		buf_init(&b, NULL, 1 << 16);
		fa->countdown = n;
		fa->forever = forever;
		rc = ask(s, value, how, &b);
		fa->countdown = 0;
		fa->forever = false;
		buf_done(&b);
		if (rc != CLEAT_ENOMEM)
			assert_int_equal(rc, verdict);
		/* patterns keep what they matched with */
		assert_true(fa->live <= live + 8);
		if (fa->failures == failures)
			break;
		assert_true(n < 1000);
	}
	assert_int_equal(ask(s, value, 0, NULL), verdict);
}

TEST(asking_without_memory)
{
	cleat_schema_set *known = known_set();

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		for (int how = 0; how < 4; how++)
			for (int forever = 0; forever < 2; forever++) {
				struct fail_alloc fa;
				cleat_doc *value = value_of(cases[i].value);
				cleat_schema *s;

				fail_alloc_init(&fa, 0, false);
				s = compile(i, &fa, known, NULL);
				assert_non_null(s);
				ask_short(s, &fa, cleat_doc_root(value), how, cases[i].verdict,
					  forever);
				cleat_schema_free(s);
				assert_int_equal(fa.live, 0);
				cleat_doc_free(value);
			}
	cleat_schema_set_free(known);
}

/* What the words are written into has no memory either. */
TEST(words_without_memory)
{
	cleat_doc *value = value_of("[1,2,3]");
	cleat_schema *s = schema_of("{'items':false}", NULL);
	struct fail_alloc fa;
	struct buf b;

	fail_alloc_init(&fa, 1, true);
	buf_init(&b, &fa.hook, 1 << 16);
	assert_int_equal(schema_check(s, cleat_doc_root(value), NULL, &b), CLEAT_ENOMEM);
	buf_done(&b);
	cleat_schema_free(s);
	cleat_doc_free(value);
}

/* ---- sets --------------------------------------------------------------------------------- */

TEST(sets_without_memory)
{
	cleat_doc *doc = value_of("{'definitions':{'n':{'type':'number'}}}");

	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		static const char *const uris[] = { "urn:a", "urn:b", "urn:c", "urn:d", "urn:e",
						    "urn:f", "urn:g", "urn:h", "urn:i" };
		cleat_schema_set *set;

		set = cleat_schema_set_new(&fa.hook);
		for (size_t i = 0; set && i < CLEAT_COUNT(uris); i++) {
			cleat_error err = { 0 };
			int rc = cleat_schema_set_add(set, uris[i], cleat_doc_root(doc), &err);

			assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM);
			assert_int_equal(err.status, rc);
			if (rc == CLEAT_OK || fa.lasting)
				continue;
			/* what failed once is not half there */
			assert_int_equal(
				cleat_schema_set_add(set, uris[i], cleat_doc_root(doc), NULL),
				CLEAT_OK);
		}
		cleat_schema_set_free(set);
	}
	cleat_doc_free(doc);
}
