/* run/main.c - cleat_server_main(): a whole program around a server.
 *
 * The only place of the library that prints, and the only one that touches signals: SIGPIPE is
 * ignored; SIGTERM, SIGINT and SIGHUP end the server in an orderly way, a second one ends the
 * process at once. All of them are as they were before when it returns.
 */
#define _POSIX_C_SOURCE 200809L

#include <cleat/http.h>

#include "run/runner.h"
#include "transport/listen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- signals ------------------------------------------------------------------------------ */

static const int end_signals[] = { SIGTERM, SIGINT, SIGHUP };

struct signals {
	struct sigaction pipe, ends[CLEAT_COUNT(end_signals)];
};

/* What the handler stops; NULL: it is over, the next one ends the process. A process has one main.
 */
static _Atomic(cleat_server *) served;

static void on_signal(int number)
{
	cleat_server *s = atomic_exchange(&served, NULL);

	if (!s)
		_exit(128 + number);
	cleat_server_stop(s);
}

static void take_signals(struct signals *before)
{
	struct sigaction quiet = { .sa_handler = SIG_IGN }, end = { .sa_handler = on_signal };

	sigemptyset(&quiet.sa_mask);
	sigemptyset(&end.sa_mask);
	end.sa_flags = SA_RESTART;
	sigaction(SIGPIPE, &quiet, &before->pipe);
	for (size_t i = 0; i < CLEAT_COUNT(end_signals); i++) {
		sigaction(end_signals[i], NULL, &before->ends[i]);
		/* nohup and background jobs have them ignored on purpose. */
		if (before->ends[i].sa_handler != SIG_IGN)
			sigaction(end_signals[i], &end, NULL);
	}
}

static void give_back_signals(const struct signals *before)
{
	sigaction(SIGPIPE, &before->pipe, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(end_signals); i++)
		sigaction(end_signals[i], &before->ends[i], NULL);
}

/* ---- words -------------------------------------------------------------------------------- */

static void on_log(void *userdata, int level, const char *message)
{
	if (level >= CLEAT_LOG_WARNING)
		fprintf(stderr, "%s: %s: %s\n", (const char *)userdata, cleat_log_level_name(level),
			message);
}

/* A string of a JSON text. */
static void print_json_string(const char *text)
{
	putchar('"');
	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\\')
			printf("\\%c", *p);
		else if ((unsigned char)*p < 0x20)
			printf("\\u%04x", *p);
		else
			putchar(*p);
	}
	putchar('"');
}

/* A client starts the server from another directory. */
static void print_command(const char *program)
{
	char path[4096], directory[2048];
	int n = -1;

	if (program[0] != '/' && strchr(program, '/') && getcwd(directory, sizeof directory)) {
		if (strncmp(program, "./", 2) == 0)
			program += 2;
		n = snprintf(path, sizeof path, "%s/%s", directory, program);
	}
	print_json_string(n > 0 && (size_t)n < sizeof path ? path : program);
}

static void print_tools(const cleat_server *s)
{
	const char *name;

	for (size_t i = 0; (name = server_tool_name(s, i)) != NULL; i++)
		printf("%s%s%s", i == 0 ? "\nTools: " : ", ", name,
		       server_tool_name(s, i + 1) ? "" : "\n");
}

static void print_help(cleat_server *s, const char *program)
{
	const cleat_server_opts *o = server_opts(s);

	printf("%s %s%s%s\n", server_name(s), server_version(s), o->title ? " - " : "",
	       o->title ? o->title : "");
	if (o->description)
		printf("%s\n", o->description);
	printf("\nA server of the Model Context Protocol. It talks to a client (an AI application) on\n"
	       "standard input and output, one JSON message per line, and ends when its input ends;\n"
	       "or over HTTP, to any number of them.\n"
	       "\nUsage: %s [--stdio | --http ADDRESS [options]]\n\n"
	       "  --stdio              serve standard input and output (the default)\n"
	       "  --http ADDRESS       serve HTTP: 8080, 127.0.0.1:8080, [::1]:8080,\n"
	       "                       http://127.0.0.1:8080/mcp, unix:/path, fd:3; may be repeated\n"
	       "  --token-file FILE    clients need a bearer token: one \"NAME TOKEN\" a line\n"
	       "  --allow-remote       serve an address that others can reach without tokens\n"
	       "  --allow-host NAME    accept this name in Host; may be repeated\n"
	       "  --allow-origin URL   accept web pages of this origin; may be repeated\n"
	       "  --tls-cert FILE      certificate chain (PEM), with --tls-key FILE: serve https;\n"
	       "                       SIGHUP reads both, and the tokens, again\n"
	       "  --threads N          threads that serve connections (1)\n"
	       "  --metrics ADDRESS    serve counters for Prometheus at /metrics there\n"
	       "  --access-log         one JSON line for each request on standard error\n"
	       "  --no-old-sse         not the older transport of 2024-11-05 (/sse, /messages)\n"
	       "  --no-sessions        only clients of 2026-07-28\n"
	       "  --version            print name and version\n"
	       "  --help               print this\n",
	       program);
	print_tools(s);
	printf("\nIn a client's configuration:\n\n  {\"mcpServers\": {");
	print_json_string(server_name(s));
	printf(": {\"command\": ");
	print_command(program);
	printf("}}}\n");
}

/* ---- options ------------------------------------------------------------------------------ */

enum action { SERVE, HELP, VERSION, REFUSE };

enum { MOST_ADDRESSES = 16, MOST_NAMES = 64 };

struct options {
	const char *addresses[MOST_ADDRESSES + 1]; /* none: stdio */
	const char *hosts[MOST_NAMES + 1], *origins[MOST_NAMES + 1];
	size_t n_addresses, n_hosts, n_origins;
	cleat_http_opts http;
};

/* Options that take a value, and where it goes. */
static bool take_value(struct options *o, const char *option, const char *value)
{
	char *end = NULL;

	if (strcmp(option, "--http") == 0 && o->n_addresses < MOST_ADDRESSES)
		o->addresses[o->n_addresses++] = value;
	else if (strcmp(option, "--allow-host") == 0 && o->n_hosts < MOST_NAMES)
		o->hosts[o->n_hosts++] = value;
	else if (strcmp(option, "--allow-origin") == 0 && o->n_origins < MOST_NAMES)
		o->origins[o->n_origins++] = value;
	else if (strcmp(option, "--token-file") == 0)
		o->http.token_file = value;
	else if (strcmp(option, "--tls-cert") == 0)
		o->http.tls_cert = value;
	else if (strcmp(option, "--tls-key") == 0)
		o->http.tls_key = value;
	else if (strcmp(option, "--metrics") == 0)
		o->http.metrics = value;
	else if (strcmp(option, "--threads") == 0)
		o->http.threads = (unsigned)strtoul(value, &end, 10);
	else
		return false;
	return !end || (*value >= '1' && *value <= '9' && !*end && o->http.threads <= 256);
}

static bool take_flag(struct options *o, const char *option)
{
	if (strcmp(option, "--allow-remote") == 0)
		o->http.allow_remote = true;
	else if (strcmp(option, "--no-old-sse") == 0)
		o->http.no_old_sse = true;
	else if (strcmp(option, "--no-sessions") == 0)
		o->http.no_sessions = true;
	else if (strcmp(option, "--access-log") == 0)
		o->http.access_log = STDERR_FILENO;
	else
		return strcmp(option, "--stdio") == 0;
	return true;
}

static enum action refuse(const cleat_server *s, const char *what, const char *option)
{
	fprintf(stderr, "%s: %s %s; --help lists what there is\n", server_name(s), what, option);
	return REFUSE;
}

/* --option VALUE and --option=VALUE. */
static enum action read_options(const cleat_server *s, int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return HELP;
		if (strcmp(argv[i], "--version") == 0)
			return VERSION;
		if (take_flag(o, argv[i]))
			continue;
		if (argv[i][0] != '-')
			return refuse(s, "unknown argument", argv[i]);
		if (equals)
			*equals = '\0';
		else if (i + 1 >= argc)
			return refuse(s, "unknown option, or its value is missing:", argv[i]);
		if (!take_value(o, argv[i], equals ? equals + 1 : argv[i + 1]))
			return refuse(s, "unknown option", argv[i]);
		i += !equals;
	}
	if (o->n_hosts)
		o->http.allow_hosts = o->hosts;
	if (o->n_origins)
		o->http.allow_origins = o->origins;
	return SERVE;
}

static int finish_output(void)
{
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

/* ---- serving ------------------------------------------------------------------------------ */

static void greet_terminal(const char *name)
{
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
			"%s: speaks JSON-RPC and waits for an MCP client; try "
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}, end with Ctrl-D\n",
			name);
}

/* Where it can be reached, for a person to copy. */
static void print_addresses(const cleat_server *s)
{
	const char *url;

	for (size_t i = 0; (url = cleat_server_http_url(s, i)) != NULL; i++)
		fprintf(stderr, "%s: listening on %s\n", server_name(s), url);
}

static int serve_http(cleat_server *s, const struct options *o)
{
	int rc = CLEAT_OK;

	for (size_t i = 0; i < o->n_addresses && !rc; i++)
		rc = cleat_server_listen_http(s, o->addresses[i], &o->http);
	if (!rc) {
		print_addresses(s);
		listen_notify("READY=1");
		rc = cleat_server_run(s);
		listen_notify("STOPPING=1");
	}
	if (rc)
		fprintf(stderr, "%s: %s\n", server_name(s), cleat_server_error(s)->message);
	return rc;
}

static int serve(cleat_server *s, const struct options *o)
{
	struct signals before;
	struct runner *r;
	int rc;

	atomic_store(&served, s);
	take_signals(&before);
	r = runner_get(s);
	if (r)
		r->sigpipe_ignored = true;
	if (o->n_addresses) {
		rc = serve_http(s, o);
	} else {
		greet_terminal(server_name(s));
		rc = cleat_server_run_stdio(s);
	}
	atomic_store(&served, NULL); /* the next signal ends the process, however long this takes */
	r = server_runner(s);
	if (r && !runner_wait(r, RUNNER_EXIT_MS)) {
		fprintf(stderr, "%s: %zu calls did not end although they were cancelled\n",
			server_name(s), server_running(s));
		_exit(rc ? 1 : 0);
	}
	cleat_server_free(s);
	give_back_signals(&before);
	return rc ? 1 : 0;
}

int cleat_server_main(cleat_server *s, int argc, char **argv)
{
	const char *program = argc > 0 && argv[0] ? argv[0] : "server";
	struct options o = { .n_addresses = 0 };
	int status = 0;

	if (server_start_status(s)) {
		fprintf(stderr, "%s: %s\n", program, cleat_server_error(s)->message);
		cleat_server_free(s);
		return 1;
	}
	if (!server_opts(s)->log)
		server_set_log(s, on_log, (void *)server_name(s));
	switch (read_options(s, argc, argv, &o)) {
	case SERVE: return serve(s, &o);
	case HELP: print_help(s, program); break;
	case VERSION: printf("%s %s\n", server_name(s), server_version(s)); break;
	case REFUSE: status = 2; break;
	}
	cleat_server_free(s);
	return status ? status : finish_output();
}
