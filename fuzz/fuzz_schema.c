/* fuzz/fuzz_schema.c - any bytes as a schema, in both dialects, with a set of known schemas.
 *
 * What is refused has a reason in words; what is accepted from text is accepted as a value too, and
 * checks its own document and a few others without a contradiction (schema_oracle.h).
 */
#include "schema_oracle.h"

static const char *const values[] = {
	"null",
	"-0.5e3",
	"\"a\\u00e9\\ud83d\\ude00\\u0000\"",
	"[1,1.0,\"x\",[[]],{\"a\":null}]",
	"{\"a\":1,\"b\":{\"a\":[true,\"2026-07-28\"]},\"x\":{},\"\":0}",
	"{\"a\":1,\"a\":2}",
};

static cleat_doc *docs[CLEAT_COUNT(values)];
static cleat_schema_set *known;

static void prepare(void)
{
	static const char other[] =
		"{\"$id\":\"https://example.com/k\",\"$defs\":{\"a\":{\"$anchor\":\"a\","
		"\"$dynamicAnchor\":\"d\",\"items\":{\"$dynamicRef\":\"#d\"}}},"
		"\"properties\":{\"a\":{\"$ref\":\"#a\"}}}";
	cleat_doc *doc = cleat_doc_parse(other, strlen(other), NULL, NULL, NULL);

	known = cleat_schema_set_new(NULL);
	MUST(doc && known);
	MUST(cleat_schema_set_add(known, "urn:k", cleat_doc_root(doc), NULL) == CLEAT_OK);
	cleat_doc_free(doc);
	for (size_t i = 0; i < CLEAT_COUNT(values); i++) {
		docs[i] = cleat_doc_parse(values[i], strlen(values[i]), NULL, NULL, NULL);
		MUST(docs[i]);
	}
}

static void try_dialect(const char *text, size_t n, const cleat_json *own, int dialect)
{
	const cleat_schema_options opts = { .dialect = dialect,
					    .assert_formats = true,
					    .known = known,
					    .max_subschemas = 500,
					    .max_steps = 5000 };
	cleat_error err = { 0 };
	cleat_schema *s = cleat_schema_parse(text, n, &opts, &err);
	cleat_schema *same = cleat_schema_new(own, &opts, NULL);

	MUST(!s == !same || err.status == CLEAT_ELIMIT);
	cleat_schema_free(same);
	if (!s) {
		MUST(err.status == CLEAT_EINVAL || err.status == CLEAT_EUNSUPPORTED ||
		     err.status == CLEAT_ELIMIT);
		oracle_line(err.message, sizeof err.message - 1);
		return;
	}
	oracle_check(s, own);
	for (size_t i = 0; i < CLEAT_COUNT(values); i++)
		oracle_check(s, cleat_doc_root(docs[i]));
	cleat_schema_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	cleat_doc *doc;

	if (size > 1 << 14)
		return 0;
	if (!known)
		prepare();
	doc = cleat_doc_parse(text, size, NULL, NULL, NULL);
	if (!doc)
		return 0;
	try_dialect(text, size, cleat_doc_root(doc), CLEAT_SCHEMA_2020_12);
	try_dialect(text, size, cleat_doc_root(doc), CLEAT_SCHEMA_DRAFT_07);
	cleat_doc_free(doc);
	return 0;
}
