/* client.c - calls a tool of a server over a pipe, one call after the other: what bench/roundtrip.c measures.
 *
 *	bench_client CALLS SERVER
 */
#include <cleat/client.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const char *server[] = { argc == 3 ? argv[2] : "", NULL };
	int calls = argc == 3 ? atoi(argv[1]) : 0, rc = 0;
	cleat_client *c = cleat_client_spawn(server, NULL);

	for (int i = 0; i < calls && !rc; i++) {
		cleat_result *r = cleat_client_callf(c, "add", "{a: %d, b: %d}", i % 1000, 40);

		rc = cleat_result_status(r);
		if (!rc && atoi(cleat_result_text(r)) != i % 1000 + 40)
			rc = CLEAT_EPROTO;
		if (rc)
			fprintf(stderr, "call %d: %s\n", i, cleat_result_error(r)->message);
		cleat_result_free(r);
	}
	cleat_client_free(c);
	return rc ? 1 : 0;
}
