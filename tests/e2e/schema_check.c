/* tests/e2e/schema_check.c - checks values against schemas, for scripts that compare validators.
 *
 * Reads lines {"d": "2020-12" or "draft-07", "f": are formats asserted?, "s": schema, "v": [values]}
 * and answers each with a line: a character for each value, 1 when it fits, 0 when it does not, ? when
 * that could not be found out; or "E " and why the schema is refused. Public headers only.
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char verdict(const cleat_schema *schema, const cleat_json *value)
{
	cleat_error err = { 0 };

	switch (cleat_schema_check(schema, value, &err)) {
	case CLEAT_OK: return '1';
	case CLEAT_EINVAL: return '0';
	default: fprintf(stderr, "schema_check: %s\n", err.message); return '?';
	}
}

static void answer(const cleat_json *line)
{
	const char *dialect = cleat_json_str(cleat_json_get(line, "d"), "");
	const cleat_schema_options opts = {
		.dialect = strcmp(dialect, "draft-07") == 0 ? CLEAT_SCHEMA_DRAFT_07
							    : CLEAT_SCHEMA_2020_12,
		.assert_formats = cleat_json_bool(cleat_json_get(line, "f"), false),
	};
	cleat_json_iter it = cleat_json_each(cleat_json_get(line, "v"));
	cleat_error err = { 0 };
	cleat_schema *schema = cleat_schema_new(cleat_json_get(line, "s"), &opts, &err);

	if (!schema) {
		printf("E %s\n", err.message);
		return;
	}
	while (cleat_json_next(&it))
		putchar(verdict(schema, it.value));
	putchar('\n');
	cleat_schema_free(schema);
}

int main(void)
{
	const cleat_json_limits limits = { .max_depth = 1024 };
	cleat_error err = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, stdin)) > 0) {
		cleat_doc *doc = cleat_doc_parse(line, (size_t)n, &limits, NULL, &err);

		if (!doc) {
			fprintf(stderr, "schema_check: %s\n", err.message);
			free(line);
			return 1;
		}
		answer(cleat_doc_root(doc));
		cleat_doc_free(doc);
	}
	free(line);
	return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
