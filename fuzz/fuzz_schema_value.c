/* fuzz/fuzz_schema_value.c - a schema and a value, both from anybody: the first line is the schema, the
 * rest the value.
 *
 * Beyond what always holds (schema_oracle.h): fewer steps never change a verdict, they only take it
 * away; `not` turns it around; and "allOf" with the schema twice is the schema.
 */
#include "schema_oracle.h"

#include "schema/program.h"

static const cleat_schema_options limits = { .max_subschemas = 500, .max_steps = 20000 };

/* Verdicts with fewer and fewer steps. */
static void run_short(cleat_schema *s, const cleat_json *value)
{
	int truth = cleat_schema_check(s, value, NULL);

	for (uint64_t steps = limits.max_steps; steps > 0; steps /= 3) {
		int rc;

		s->max_steps = steps;
		rc = cleat_schema_check(s, value, NULL);
		MUST(rc == CLEAT_ELIMIT || rc == truth);
	}
	s->max_steps = limits.max_steps;
}

/* The schema inside another one: before, the text, between, the text again if `twice`, after. */
static int wrapped(struct str schema, const cleat_json *value, const char *before,
		   const char *between, const char *after, bool twice)
{
	const cleat_schema_options opts = { .max_subschemas = 2000,
					    .max_steps = 10 * limits.max_steps,
					    .max_depth = 128 };
	struct buf b;
	cleat_schema *s;
	int rc = CLEAT_ELIMIT;

	buf_init(&b, NULL, 1 << 20);
	buf_appendz(&b, before);
	buf_append(&b, schema.p, schema.n);
	buf_appendz(&b, between);
	if (twice)
		buf_append(&b, schema.p, schema.n);
	buf_appendz(&b, after);
	s = cleat_schema_parse(buf_str(&b).p, buf_size(&b), &opts, NULL);
	if (s) /* references and names may have lost their meaning in there */
		rc = cleat_schema_check(s, value, NULL);
	cleat_schema_free(s);
	buf_done(&b);
	return rc;
}

/* Names and references mean something else inside another schema. */
static bool stands_alone(struct str schema)
{
	return !schema.n || !memchr(schema.p, '$', schema.n);
}

static void compare(struct str schema, const cleat_json *value, int rc)
{
	int other = wrapped(schema, value, "{\"not\":", "", "}", false);

	if (json_check_all_keys(value, NULL)) /* what appears twice fits nothing */
		return;
	MUST(other == CLEAT_ELIMIT || other == (rc == CLEAT_OK ? CLEAT_EINVAL : CLEAT_OK));
	other = wrapped(schema, value, "{\"allOf\":[", ",", "]}", true);
	MUST(other == CLEAT_ELIMIT || other == rc);
	other = wrapped(schema, value, "{\"if\":", ",\"then\":true,\"else\":false", "}", false);
	MUST(other == CLEAT_ELIMIT || other == rc);
	other = wrapped(schema, value, "{\"anyOf\":[false,", "],\"unevaluatedItems\":true", "}",
			false);
	MUST(other == CLEAT_ELIMIT || other == rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
	struct str schema;
	cleat_schema *s;
	cleat_doc *doc;

	if (!line || size > 1 << 14)
		return 0;
	schema = (struct str){ (const char *)data, (size_t)(line - data) };
	doc = cleat_doc_parse((const char *)line + 1, size - schema.n - 1, NULL, NULL, NULL);
	s = doc ? cleat_schema_parse(schema.p, schema.n, &limits, NULL) : NULL;
	if (s) {
		int rc = cleat_schema_check(s, cleat_doc_root(doc), NULL);

		oracle_check(s, cleat_doc_root(doc));
		run_short(s, cleat_doc_root(doc));
		if (rc != CLEAT_ELIMIT && stands_alone(schema))
			compare(schema, cleat_doc_root(doc), rc);
	}
	cleat_schema_free(s);
	cleat_doc_free(doc);
	return 0;
}
