/* run/main.c - cleat_server_main(): a whole program around a server.
 *
 * The only place of the library that prints, and the only one that touches signals: SIGPIPE is
 * ignored; SIGTERM, SIGINT and SIGHUP end the server in an orderly way, a second one ends the
 * process at once. All of them are as they were before when it returns.
 */
#define _POSIX_C_SOURCE 200809L

#include "run/runner.h"

#include <signal.h>
#include <stdio.h>
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
	       "standard input and output, one JSON message per line, and ends when its input ends.\n"
	       "\nUsage: %s [--stdio]\n\n"
	       "  --stdio     serve standard input and output (the default)\n"
	       "  --version   print name and version\n"
	       "  --help      print this\n",
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

static enum action read_options(const cleat_server *s, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return HELP;
		if (strcmp(argv[i], "--version") == 0)
			return VERSION;
		if (strcmp(argv[i], "--stdio") != 0) {
			fprintf(stderr, "%s: unknown %s %s; --help lists what there is\n",
				server_name(s), argv[i][0] == '-' ? "option" : "argument", argv[i]);
			return REFUSE;
		}
	}
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

static int serve(cleat_server *s)
{
	struct signals before;
	struct runner *r;
	int rc;

	atomic_store(&served, s);
	take_signals(&before);
	r = runner_get(s);
	if (r)
		r->sigpipe_ignored = true;
	greet_terminal(server_name(s));
	rc = cleat_server_run_stdio(s);
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
	int status = 0;

	if (server_start_status(s)) {
		fprintf(stderr, "%s: %s\n", program, cleat_server_error(s)->message);
		cleat_server_free(s);
		return 1;
	}
	if (!server_opts(s)->log)
		server_set_log(s, on_log, (void *)server_name(s));
	switch (read_options(s, argc, argv)) {
	case SERVE: return serve(s);
	case HELP: print_help(s, program); break;
	case VERSION: printf("%s %s\n", server_name(s), server_version(s)); break;
	case REFUSE: status = 2; break;
	}
	cleat_server_free(s);
	return status ? status : finish_output();
}
