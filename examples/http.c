/* http.c - a server on the network that decides itself who may use it, instead of by a file of tokens.
 *	./http 8080 & TOKEN=correct-horse-battery-staple examples/try http://127.0.0.1:8080/mcp whoami
 */
#include <cleat/cleat.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static cleat_server *server;

static void on_signal(int number)
{
	(void)number;
	cleat_server_stop(server); /* NOLINT(bugprone-signal-handler): made for that */
}

static int whoami(cleat_request *req)
{
	return cleat_reply_textf(req, "You are %s.", cleat_request_principal(req));
}

/* In the same time for every guess, so that it cannot be found letter by letter. */
static bool same(const char *guess, const char *token)
{
	size_t n = strlen(guess);
	unsigned different = n != strlen(token);

	for (size_t i = 0; token[i]; i++)
		different |= (unsigned)(guess[i % (n + 1)] ^ token[i]);
	return !different;
}

/* Called for every request: it must not wait. `name` has room for 255 characters. */
static int verify(void *userdata, const char *token, char *name)
{
	if (!same(token, userdata))
		return CLEAT_ENOENT;
	memcpy(name, "ann", sizeof "ann");
	return CLEAT_OK;
}

int main(int argc, char **argv)
{
	static char token[] = "correct-horse-battery-staple";
	const cleat_http_options opts = { .verify = verify, .userdata = token };
	int rc;

	server = cleat_server_new("http", "1.0.0", NULL);
	cleat_server_add_tool(server, &(cleat_tool){ .signature = "whoami()", .call = whoami });
	signal(SIGTERM, on_signal);
	if (cleat_server_listen_http(server, argc > 1 ? argv[1] : "8080", &opts) == CLEAT_OK)
		fprintf(stderr, "listening on %s\n", cleat_server_http_url(server, 0));
	rc = cleat_server_run(server);
	if (rc)
		fprintf(stderr, "%s\n", cleat_server_error(server)->message);
	cleat_server_free(server);
	return rc ? 1 : 0;
}
