/* client.c - start a server and call one of its tools.
 *
 *	build/release/examples/client build/release/examples/hello
 */
#include <cleat/cleat.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./hello", NULL };
	cleat_client *c = cleat_client_spawn(server, NULL);
	cleat_result *r = cleat_client_callf(c, "add", "{a: %d, b: %g}", 2, 0.5);
	int rc = cleat_result_status(r);

	if (rc == CLEAT_OK)
		puts(cleat_result_text(r));
	else
		fprintf(stderr, "add: %s\n", cleat_result_error(r)->message);
	cleat_result_free(r);
	cleat_client_free(c);
	return rc != CLEAT_OK;
}
