/* run/main.c - cleat_server_run_main(): a whole program around a server. Its command line is read in
 * main_parse.c.
 *
 * The only place of the library that prints, and the only one that touches signals: SIGPIPE is
 * ignored; SIGTERM, SIGINT and SIGHUP end the server in an orderly way, a second one ends the
 * process at once. A server on HTTP reads its files again on SIGHUP instead. All of them are as they
 * were before when it returns. A program with files of its own (opts.on_reload) hears of SIGHUP on
 * standard input and output, too.
 */
#define _POSIX_C_SOURCE 200809L

#include "run/main.h"
#include "net/listen.h"
#include "run/http_metrics.h"
#include "run/runner.h"
#include "json/writer.h"

#include <signal.h>
#include <stdio.h>
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
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, SIZE_MAX / 2);
	jw_init(&w, &b);
	jw_strz(&w, text);
	fwrite(buf_str(&b).p, 1, buf_size(&b), stdout);
	buf_done(&b);
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

static void print_help(cleat_server *s, const cleat_main_options *o)
{
	const cleat_server_options *about = server_options(s);

	printf("%s %s%s%s\n", server_name(s), server_version(s), about->title ? " - " : "",
	       about->title ? about->title : "");
	if (about->description)
		printf("%s\n", about->description);
	printf("\nA server of the Model Context Protocol. It talks to a client (an AI application) on\n"
	       "standard input and output, one JSON message per line, and ends when its input ends;\n"
	       "or over HTTP, to any number of them.\n"
	       "\nUsage: %s [--stdio | --http ADDRESS] [options]\n\n",
	       o->program);
	main_print_options(stdout, o->own);
	print_tools(s);
	printf("\nIn a client's configuration:\n\n  {\"mcpServers\": {");
	print_json_string(server_name(s));
	printf(": {\"command\": ");
	print_command(o->program);
	printf("}}}\n");
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
static int listen_on(cleat_server *s, const char *address, const cleat_main_options *o)
{
	size_t n = 0;
	int rc;

	if (!o->any_port)
		return cleat_server_listen_http(s, address, o->http);
	while (cleat_server_http_url(s, n))
		n++;
	server_set_log(s, be_silent, NULL);
	rc = cleat_server_listen_http(s, address, o->http);
	if (rc == CLEAT_EIO)
		rc = listen_nearby(s, address, o->http);
	use_log(s);
	if (rc)
		return cleat_server_listen_http(s, address, o->http); /* for what it says */
	if (port_of(address) && port_of(cleat_server_http_url(s, n)) != port_of(address))
		server_note(s, CLEAT_LOG_WARNING,
			    "port %u is taken by another program, so this is port %u",
			    port_of(address), port_of(cleat_server_http_url(s, n)));
	return CLEAT_OK;
}

static int serve_http(cleat_server *s, const cleat_main_options *o)
{
	int rc = CLEAT_OK;

	for (size_t i = 0; o->listen && o->listen[i] && !rc; i++)
		rc = listen_on(s, o->listen[i], o);
	if (rc)
		return rc; /* why it failed, the log has said */
	if (server_options(s)->on_ready)
		server_options(s)->on_ready(s, server_options(s)->userdata);
	else if (!o->quiet)
		print_addresses(s);
	return run_with_desk(s, cleat_server_run);
}

static int serve_stdio(cleat_server *s, const cleat_main_options *o)
{
	if (server_options(s)->on_ready)
		server_options(s)->on_ready(s, server_options(s)->userdata);
	else if (!o->quiet)
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

static int main_serve(cleat_server *s, const cleat_main_options *o)
{
	const bool http = (o->listen && o->listen[0]) || cleat_server_http_url(s, 0);
	struct signals before;
	struct runner *r;
	int rc;

	atomic_store(&served, s);
	take_signals(&before, http || server_options(s)->on_reload);
	r = runner_get(s);
	if (r)
		r->sigpipe_ignored = true;
	rc = http ? serve_http(s, o) : serve_stdio(s, o);
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

/* What was asked for instead of serving, or what was wrong. */
static int main_answer(cleat_server *s, const cleat_main_options *o)
{
	int status = 0;

	if (o->error.status) {
		status = o->error.status == CLEAT_EINVAL ? 2 : 1;
		fprintf(stderr, "%s: %s%s\n", server_name(s), o->error.message,
			status == 2 ? "; --help lists the options" : "");
	} else if (o->action == CLEAT_MAIN_HELP) {
		print_help(s, o);
	} else {
		printf("%s %s\n", server_name(s), server_version(s));
	}
	cleat_server_free(s);
	return status ? status : finish_output();
}

int cleat_server_run_main_(cleat_server *s, cleat_main_options *opts, size_t size, size_t http_size)
{
	cleat_main_options o;
	cleat_http_options http = { 0 };
	int status = 1;

	main_options_take(&o, &http, opts, size, http_size);
	o.http = &http;
	if (!o.program)
		o.program = s ? server_name(s) : "server";
	if (server_start_status(s)) {
		fprintf(stderr, "%s: %s\n", o.program, cleat_server_error(s)->message);
		cleat_server_free(s);
	} else {
		use_log(s);
		status = o.error.status || o.action != CLEAT_MAIN_SERVE ? main_answer(s, &o)
									: main_serve(s, &o);
	}
	cleat_main_done(opts);
	return status;
}

int cleat_server_main(cleat_server *s, int argc, char **argv)
{
	cleat_main_options o = { .own = NULL };

	(void)cleat_main_parse(&o, argc, argv);
	return cleat_server_run_main(s, &o);
}
