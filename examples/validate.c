/* validate.c - does a JSON text fit a JSON Schema, and if not, why.
 *
 *	$ echo '{"days":"tomorrow"}' | ./validate schema.json
 *	days: expected integer between 1 and 14, got "tomorrow"
 */
#include <cleat/cleat.h>

#include <stdio.h>
#include <stdlib.h>

/* A whole stream; NULL when it cannot be read. */
static char *read_all(FILE *in, size_t *n)
{
	enum { MOST = 16 << 20 };
	char *text = malloc(MOST);

	*n = in && text ? fread(text, 1, MOST, in) : 0;
	if (*n && !ferror(in) && feof(in))
		return text;
	free(text);
	return NULL;
}

static void tell(void *ctx, const cleat_schema_problem *problem)
{
	(void)ctx;
	puts(problem->line);
}

int main(int argc, char **argv)
{
	cleat_schema_options opts = { .assert_formats = true };
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	size_t schema_n, value_n;
	char *schema_text = read_all(file, &schema_n), *value_text = read_all(stdin, &value_n);
	cleat_error err = { .message = "a file or the input cannot be read" };
	cleat_schema *schema = NULL;
	cleat_doc *value = NULL;
	int rc = CLEAT_EINVAL, status = 2;

	if (schema_text && value_text)
		schema = cleat_schema_parse(schema_text, schema_n, &opts, &err);
	if (schema)
		value = cleat_doc_parse(value_text, value_n, NULL, NULL, &err);
	if (value) {
		rc = cleat_schema_explain(schema, cleat_doc_root(value), tell, NULL, &err);
		status = rc == CLEAT_OK ? 0 : rc == CLEAT_EINVAL ? 1 : 2;
	}
	if (status == 2)
		fprintf(stderr, "validate: %s\n", err.message);
	cleat_doc_free(value);
	cleat_schema_free(schema);
	if (file)
		fclose(file);
	free(schema_text);
	free(value_text);
	return status;
}
