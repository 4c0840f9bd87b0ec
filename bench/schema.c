/* schema.c - what it costs to check a tool's arguments: CPU time for parsing a text and checking it
 * against a compiled schema, and for checking alone.
 *
 *	schema FILE
 *
 * The file has the schema and the texts (bench/schema.json). Prints a line for each text: its name,
 * its bytes, ns for both, ns for the check. One sample each; scripts/bench takes the smallest of
 * several, in turns with bench/schema.mjs, which does the same with Ajv. Public headers only.
 */
#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double SAMPLE_S = 0.2; /* CPU time that a sample takes at least */

static void die(const char *what, const char *why)
{
	fprintf(stderr, "schema: %s: %s\n", what, why);
	exit(2);
}

static cleat_doc *read_json(const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(text, 1, sizeof text, f) : 0;
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, &err);

	if (!doc)
		die(path, err.message);
	fclose(f);
	return doc;
}

struct subject {
	const cleat_schema *schema;
	const char *text;
	size_t n;
	const cleat_json *value; /* the text, parsed */
};

static bool parse_and_check(const struct subject *s)
{
	cleat_doc *doc = cleat_doc_parse(s->text, s->n, NULL, NULL, NULL);
	int status = cleat_schema_check(s->schema, cleat_doc_root(doc), NULL);

	cleat_doc_free(doc);
	return status == CLEAT_OK;
}

static bool check(const struct subject *s)
{
	return cleat_schema_check(s->schema, s->value, NULL) == CLEAT_OK;
}

/* ns of CPU time for one call */
static double measure(bool (*call)(const struct subject *), const struct subject *s)
{
	clock_t start = clock(), spent;
	double calls = 0;

	do {
		for (int i = 0; i < 1000; i++)
			if (!call(s))
				die(s->text, "does not fit the schema");
		calls += 1000;
		spent = clock() - start;
	} while ((double)spent < SAMPLE_S * CLOCKS_PER_SEC);
	return (double)spent / CLOCKS_PER_SEC * 1e9 / calls;
}

static void report(const char *name, const cleat_schema *schema, const cleat_json *value)
{
	struct subject s = { .schema = schema, .value = value };
	char *text = cleat_json_print(value, &s.n);

	if (!text)
		die(name, "out of memory");
	s.text = text;
	printf("%s %zu %.0f %.0f\n", name, s.n, measure(parse_and_check, &s), measure(check, &s));
	free(text);
}

int main(int argc, char **argv)
{
	cleat_error err = { 0 };
	cleat_doc *doc = read_json(argc > 1 ? argv[1] : "bench/schema.json");
	const cleat_json *root = cleat_doc_root(doc);
	cleat_schema *schema = cleat_schema_new(cleat_json_get(root, "schema"), NULL, &err);
	cleat_json_iter it = cleat_json_each(cleat_json_get(root, "texts"));

	if (!schema)
		die("the schema", err.message);
	while (cleat_json_next(&it))
		report(cleat_json_str(it.key, "?"), schema, it.value);
	cleat_schema_free(schema);
	cleat_doc_free(doc);
	return 0;
}
