/* run/main.c - cleat_server_main(): a whole program around a server.
 *
 * The only place of the library that prints, and the only one that touches signals: SIGPIPE is
 * ignored; SIGTERM, SIGINT and SIGHUP end the server in an orderly way, a second one ends the
 * process at once. A server on HTTP reads its files again on SIGHUP instead. All of them are as they
 * were before when it returns. A program with files of its own (opts.on_reload) hears of SIGHUP on
 * standard input and output, too.
 */
#define _POSIX_C_SOURCE 200809L

#include <cleat/http.h>

#include "net/listen.h"
#include "run/http_metrics.h"
#include "run/runner.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- signals ------------------------------------------------------------------------------ */

static const int end_signals[] = { SIGHUP, SIGTERM, SIGINT };

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

/* The loop of a server whose files are to be read again on SIGHUP; NULL: there is none. */
static _Atomic(cleat_loop *) reloaded;
static atomic_bool reload_asked;

static void on_hangup(int number)
{
	cleat_loop *l = atomic_load(&reloaded);

	(void)number;
	atomic_store(&reload_asked, true);
	if (l)
		cleat_loop_wake(l);
}

static void take_signals(struct signals *before, bool reloads)
{
	struct sigaction quiet = { .sa_handler = SIG_IGN }, end = { .sa_handler = on_signal };
	struct sigaction hangup = { .sa_handler = on_hangup };

	sigemptyset(&quiet.sa_mask);
	sigemptyset(&end.sa_mask);
	sigemptyset(&hangup.sa_mask);
	hangup.sa_flags = end.sa_flags = SA_RESTART;
	sigaction(SIGPIPE, &quiet, &before->pipe);
	for (size_t i = 0; i < CLEAT_COUNT(end_signals); i++) {
		sigaction(end_signals[i], NULL, &before->ends[i]);
		/* nohup and background jobs have them ignored on purpose. */
		if (before->ends[i].sa_handler != SIG_IGN)
			sigaction(end_signals[i], &end, NULL);
	}
	atomic_store(&reload_asked, false);
	if (reloads)
		sigaction(SIGHUP, &hangup, NULL);
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

/* The program's own log, or ours. */
static void use_log(cleat_server *s)
{
	const cleat_server_options *o = server_options(s);

	if (o->log)
		server_set_log(s, o->log, o->userdata);
	else
		server_set_log(s, on_log, (void *)server_name(s));
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
	const cleat_server_options *o = server_options(s);

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
	       "  --any-port           where the port is taken, serve another and say so\n"
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

enum { MOST_ITEMS = 64, MOST_THREADS = 256 };

struct items {
	const char *at[MOST_ITEMS + 1]; /* NULL behind the last */
	size_t n;
};

struct options {
	struct items addresses, hosts, origins;
	bool stdio, access_log, any_port;
	cleat_http_options http;
	const char *of_http; /* an option that is of use with --http only */
};

enum kind { FLAG, TEXT, ITEM, NUMBER };

/* The type behind `at` is the kind's: bool, const char *, struct items, unsigned. */
static const struct option {
	const char *name;
	enum kind kind;
	bool general; /* of use without --http */
	size_t at;
} known[] = {
#define AT(member) offsetof(struct options, member)
	{ "--stdio", FLAG, true, AT(stdio) },
	{ "--http", ITEM, true, AT(addresses) },
	{ "--any-port", FLAG, false, AT(any_port) },
	{ "--token-file", TEXT, false, AT(http.token_file) },
	{ "--allow-remote", FLAG, false, AT(http.allow_remote) },
	{ "--allow-host", ITEM, false, AT(hosts) },
	{ "--allow-origin", ITEM, false, AT(origins) },
	{ "--tls-cert", TEXT, false, AT(http.tls_cert) },
	{ "--tls-key", TEXT, false, AT(http.tls_key) },
	{ "--threads", NUMBER, false, AT(http.threads) },
	{ "--metrics", TEXT, false, AT(http.metrics) },
	{ "--access-log", FLAG, false, AT(access_log) },
	{ "--no-old-sse", FLAG, false, AT(http.no_old_sse) },
	{ "--no-sessions", FLAG, false, AT(http.no_sessions) },
#undef AT
};

static enum action main_refuse(const cleat_server *s, const char *fmt, ...) CLEAT_PRINTF(2, 3);

static enum action main_refuse(const cleat_server *s, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", server_name(s));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; --help lists what there is\n");
	return REFUSE;
}

/* The option that an argument is, alone or with "=VALUE" behind it. */
static const struct option *find_option(const char *argument, const char **value)
{
	size_t n = strcspn(argument, "=");

	*value = argument[n] ? argument + n + 1 : NULL;
	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, argument, n) == 0)
			return &known[i];
	return NULL;
}

static bool take_number(unsigned *to, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*to = (unsigned)n;
	return *text >= '1' && *text <= '9' && !*end && n <= MOST_THREADS;
}

static enum action main_take(const cleat_server *s, struct options *o, const struct option *k,
			     const char *value)
{
	void *at = (char *)o + k->at;
	struct items *items = at;

	if (!k->general)
		o->of_http = k->name;
	switch (k->kind) {
	case FLAG: *(bool *)at = true; break;
	case TEXT: *(const char **)at = value; break;
	case NUMBER:
		if (!take_number(at, value))
			return main_refuse(s, "%s needs a number from 1 to %d, not %s", k->name,
					   MOST_THREADS, value);
		break;
	case ITEM:
		if (items->n == MOST_ITEMS)
			return main_refuse(s, "%s can be given %d times", k->name, MOST_ITEMS);
		items->at[items->n++] = value;
	}
	return SERVE;
}

static enum action check_options(const cleat_server *s, struct options *o)
{
	if (o->stdio && o->addresses.n)
		return main_refuse(s, "--stdio and --http: choose one of them");
	if (o->of_http && !o->addresses.n)
		return main_refuse(s, "%s is of no use without --http ADDRESS", o->of_http);
	if (o->hosts.n)
		o->http.allow_hosts = o->hosts.at;
	if (o->origins.n)
		o->http.allow_origins = o->origins.at;
	if (o->access_log)
		o->http.access_log = STDERR_FILENO;
	return SERVE;
}

/* --option VALUE and --option=VALUE. */
static enum action main_read_options(const cleat_server *s, int argc, char **argv,
				     struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct option *k = find_option(argv[i], &value);

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return HELP;
		if (strcmp(argv[i], "--version") == 0)
			return VERSION;
		if (!k)
			return main_refuse(s, "unknown %s %s",
					   argv[i][0] == '-' ? "option" : "argument", argv[i]);
		if (k->kind == FLAG && value)
			return main_refuse(s, "%s takes no value", k->name);
		if (k->kind != FLAG && !value && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0)
			value = argv[++i];
		if (k->kind != FLAG && !value)
			return main_refuse(s, "%s needs a value", k->name);
		if (main_take(s, o, k, value) != SERVE)
			return REFUSE;
	}
	return check_options(s, o);
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
	for (size_t i = 0; (url = http_metrics_url(server_runner(s), i)) != NULL; i++)
		fprintf(stderr, "%s: metrics are at %s\n", server_name(s), url);
}

/* What was asked for by signals, on the loop's thread; and what the service manager hears of it. */
struct desk {
	struct loop_turn turn; /* first */
	cleat_server *s;
	bool stopping;
};

static void on_turn(struct loop_turn *t)
{
	struct desk *d = (struct desk *)(void *)t;

	if (d->stopping)
		return;
	d->stopping = !atomic_load(&served);
	if (d->stopping) {
		listen_notify("STOPPING=1");
	} else if (atomic_load(&reload_asked) && atomic_exchange(&reload_asked, false)) {
		listen_notify("RELOADING=1");
		cleat_server_reload_http(d->s);
		if (server_options(d->s)->on_reload)
			server_options(d->s)->on_reload(d->s, server_options(d->s)->userdata);
		listen_notify("READY=1");
	}
}

/* Serves until it is over, and obeys signals meanwhile. */
static int run_with_desk(cleat_server *s, int (*run)(cleat_server *s))
{
	struct desk desk = { .turn = { .fn = on_turn }, .s = s };
	cleat_loop *l = cleat_server_loop(s);
	int rc;

	if (!l)
		return run(s); /* which finds out the same */
	loop_turn_add(l, &desk.turn);
	atomic_store(&reloaded, l);
	listen_notify("READY=1");
	rc = run(s);
	if (!desk.stopping)
		listen_notify("STOPPING=1");
	atomic_store(&reloaded, NULL);
	loop_turn_remove(l, &desk.turn);
	return rc;
}

/* The same address with another port; false when it has none, or does not fit. */
static bool with_port(const char *address, unsigned port, char *to, size_t size)
{
	const char *scheme = strstr(address, "://");
	const char *start = scheme ? scheme + 3 : address;
	size_t end = strcspn(start, "/"), digits = 0;
	int n;

	while (digits < end && start[end - digits - 1] >= '0' && start[end - digits - 1] <= '9')
		digits++;
	if (!digits)
		return false;
	n = snprintf(to, size, "%.*s%u%s", (int)(start + end - digits - address), address, port,
		     start + end);
	return n > 0 && (size_t)n < size;
}

static void be_silent(void *userdata, int level, const char *message)
{
	(void)userdata;
	(void)level;
	(void)message;
}

/* The port of a URL; 0: none. */
static unsigned port_of(const char *url)
{
	struct address a;

	return url && !address_parse(url, &a, NULL) ? a.port : 0;
}

/* --any-port: the next few, so that it is easy to find, then whichever is free. */
static int listen_nearby(cleat_server *s, const char *address, const cleat_http_options *opts)
{
	enum { NEARBY = 10 };
	char other[1024];
	struct address a;
	int rc = CLEAT_EIO;

	if (address_parse(address, &a, NULL) || !a.port)
		return rc;
	for (unsigned i = 1; i <= NEARBY + 1 && rc == CLEAT_EIO; i++) {
		unsigned port = i <= NEARBY ? a.port + i : 0;

		if (port > 65535 || !with_port(address, port, other, sizeof other))
			continue;
		rc = cleat_server_listen_http(s, other, opts);
	}
	return rc;
}

/* The address, or with --any-port one beside it; then says which, instead of why not the first. */
static int listen_on(cleat_server *s, const char *address, const struct options *o)
{
	size_t n = 0;
	int rc;

	if (!o->any_port)
		return cleat_server_listen_http(s, address, &o->http);
	while (cleat_server_http_url(s, n))
		n++;
	server_set_log(s, be_silent, NULL);
	rc = cleat_server_listen_http(s, address, &o->http);
	if (rc == CLEAT_EIO)
		rc = listen_nearby(s, address, &o->http);
	use_log(s);
	if (rc)
		return cleat_server_listen_http(s, address, &o->http); /* for what it says */
	if (port_of(address) && port_of(cleat_server_http_url(s, n)) != port_of(address))
		server_note(s, CLEAT_LOG_WARNING,
			    "port %u is taken by another program, so this is port %u",
			    port_of(address), port_of(cleat_server_http_url(s, n)));
	return CLEAT_OK;
}

static int serve_http(cleat_server *s, const struct options *o)
{
	int rc = CLEAT_OK;

	for (size_t i = 0; i < o->addresses.n && !rc; i++)
		rc = listen_on(s, o->addresses.at[i], o);
	if (rc)
		return rc; /* why it failed, the log has said */
	if (server_options(s)->on_ready)
		server_options(s)->on_ready(s, server_options(s)->userdata);
	else
		print_addresses(s);
	return run_with_desk(s, cleat_server_run);
}

static int serve_stdio(cleat_server *s)
{
	if (server_options(s)->on_ready)
		server_options(s)->on_ready(s, server_options(s)->userdata);
	else
		greet_terminal(server_name(s));
	/* Without need of a loop before standard input and output are taken there is none: see there. */
	return server_options(s)->on_reload ? run_with_desk(s, cleat_server_run_stdio)
					    : cleat_server_run_stdio(s);
}

/* Lets calls that were cancelled end: what they wait for may come through the loop. */
static bool main_settle(struct runner *r, unsigned ms)
{
	cleat_loop *l = atomic_load(&r->loop);
	uint64_t now = loop_now(), until = now + ms;
	int rc = CLEAT_OK;

	if (r->last_call)
		r->last_call(r->last_call_ctx);
	while (l && server_running(r->server) && now < until &&
	       (rc == CLEAT_OK || rc == CLEAT_ECLOSED)) {
		rc = cleat_loop_step(l, (int)(until - now));
		now = loop_now();
	}
	return runner_wait(r, now < until ? (unsigned)(until - now) : 1);
}

static int main_serve(cleat_server *s, const struct options *o)
{
	struct signals before;
	struct runner *r;
	int rc;

	atomic_store(&served, s);
	take_signals(&before, o->addresses.n > 0 || server_options(s)->on_reload);
	r = runner_get(s);
	if (r)
		r->sigpipe_ignored = true;
	rc = o->addresses.n ? serve_http(s, o) : serve_stdio(s);
	atomic_store(&served, NULL); /* the next signal ends the process, however long this takes */
	r = server_runner(s);
	if (r && !main_settle(r, RUNNER_EXIT_MS)) {
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
	struct options o = { .stdio = false };
	int status = 0;

	if (server_start_status(s)) {
		fprintf(stderr, "%s: %s\n", program, cleat_server_error(s)->message);
		cleat_server_free(s);
		return 1;
	}
	use_log(s);
	switch (main_read_options(s, argc, argv, &o)) {
	case SERVE: return main_serve(s, &o);
	case HELP: print_help(s, program); break;
	case VERSION: printf("%s %s\n", server_name(s), server_version(s)); break;
	case REFUSE: status = 2; break;
	}
	cleat_server_free(s);
	return status ? status : finish_output();
}
