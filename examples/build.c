/* build.c - a value made step by step: the words of a command line become the arguments of a tool.
 *
 *	build/release/examples/build build/release/examples/hello add a=2 b=0.5
 */
#include <cleat/cleat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* key=value, ...: what reads as a number is one. Nothing is checked here: the end says what was wrong. */
static cleat_doc *arguments(int n, char **words, cleat_error *err)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	for (int i = 0; i < n; i++) {
		char *end = NULL, *key = words[i], *value = strchr(key, '=');
		double number;

		if (value)
			*value++ = '\0';
		number = value ? strtod(value, &end) : 0;
		if (end && end != value && !*end)
			cleat_build_num(b, key, number);
		else
			cleat_build_str(b, key, value);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, err);
}

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./hello", NULL };
	cleat_error err;
	cleat_doc *args = arguments(argc > 3 ? argc - 3 : 0, argc > 3 ? argv + 3 : argv, &err);
	cleat_client *c = cleat_client_spawn(server, NULL);
	cleat_result *r = NULL;
	int rc = 1;

	if (!args) {
		fprintf(stderr, "build: %s\n", err.message);
	} else {
		r = cleat_client_call(c, argc > 2 ? argv[2] : "add", cleat_doc_root(args));
		rc = cleat_result_status(r) != CLEAT_OK;
		fprintf(rc ? stderr : stdout, "%s\n",
			rc ? cleat_result_error(r)->message : cleat_result_text(r));
	}
	cleat_result_free(r);
	cleat_client_free(c);
	cleat_doc_free(args);
	return rc;
}
