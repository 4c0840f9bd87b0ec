/* program/verbs/record.c - `cleat record`: stands between a client and a server, and writes down what they say.
 *
 * The server is a program: bytes pass as they are, in both directions; the transcript is made beside that,
 * from whole lines. The program does not outlive us. Or it is at an address: record.h.
 */
#include "record/record.h"
#include "bench/child.h"
#include "reach/reach.h"
#include "reach/target.h"
#include "terminal/await.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CHUNK = 4096,        /* a pipe that can be written to takes as much without waiting */
	ROOM = 1 << 20,      /* waiting in one direction: then nothing more is read */
	LINE_MOST = 64 << 20 /* a longer line is passed on, not written down */
};

/* One direction. */
struct lane {
	int from, to; /* -1: closed */
	bool out;     /* from the client */
	struct text waiting, line;
	size_t sent;
	struct transcript *transcript;
};

static void note_line(struct lane *l)
{
	if (l->line.n && l->line.n <= LINE_MOST)
		transcript_add(l->transcript, l->out, l->line.p, l->line.n);
	l->line.n = 0;
}

static void record_take(struct lane *l)
{
	char buf[65536];
	ssize_t n = read(l->from, buf, sizeof buf);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		l->from = -1;
		note_line(l);
		return;
	}
	text_add(&l->waiting, buf, (size_t)n);
	for (ssize_t i = 0, start = 0; i <= n; i++) {
		if (i < n && buf[i] != '\n')
			continue;
		if (l->line.n <= LINE_MOST)
			text_add(&l->line, buf + start, (size_t)(i - start));
		start = i + 1;
		if (i < n)
			note_line(l);
	}
}

static void give(struct lane *l)
{
	size_t left = l->waiting.n - l->sent;
	ssize_t n = write(l->to, l->waiting.p + l->sent, left < CHUNK ? left : CHUNK);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) { /* nobody is there any more */
		l->to = l->from = -1;
		l->waiting.n = l->sent = 0;
		return;
	}
	l->sent += (size_t)n;
	text_drop_taken(&l->waiting, &l->sent);
}

static bool is_full(const struct lane *l)
{
	return l->waiting.n - l->sent >= ROOM;
}

/* Until the program has said its last, or the client does not listen any more. */
static void pass(struct lane *up, struct lane *down, int *child_in)
{
	while (!cli_interrupted() && (down->from >= 0 || down->waiting.n)) {
		struct pollfd p[5] = {
			{ .fd = is_full(up) ? -1 : up->from, .events = POLLIN },
			{ .fd = is_full(down) ? -1 : down->from, .events = POLLIN },
			{ .fd = up->waiting.n ? up->to : -1, .events = POLLOUT },
			{ .fd = down->waiting.n ? down->to : -1, .events = POLLOUT },
			{ .fd = cli_interrupt_fd(), .events = POLLIN },
		};

		if (poll(p, 5, -1) < 0 && errno != EINTR)
			return;
		if (p[0].fd >= 0 && p[0].revents)
			record_take(up);
		if (p[1].fd >= 0 && p[1].revents)
			record_take(down);
		if (p[2].fd >= 0 && p[2].revents)
			give(up);
		if (p[3].fd >= 0 && p[3].revents)
			give(down);
		if (down->to < 0)
			return;
		if (up->from < 0 && !up->waiting.n && *child_in >= 0) {
			close(*child_in); /* end of input, passed on */
			*child_in = up->to = -1;
		}
	}
}

static int proxy(struct cli *cli, struct transcript *to, const struct target *target)
{
	const char *cwd = cli_option(cli, "cwd");
	char **env = brood_env(target->env.at, target->inherit_env);
	struct brood_options o = { .command = target->argv,
				   .env = env,
				   .cwd = cwd ? cwd : target->cwd,
				   .show_stderr = !cli->quiet };
	struct lane up = { .from = STDIN_FILENO, .out = true, .transcript = to };
	struct lane down = { .to = STDOUT_FILENO, .transcript = to };
	struct brood b;
	int code = EXIT_GOOD;

	if (env && brood_start(&b, &o, 1)) {
		up.to = b.pipes[0].out;
		down.from = b.pipes[0].in;
		pass(&up, &down, &b.pipes[0].out);
		brood_end(&b);
		code = cli_interrupted() ? cli_interrupted_code() : EXIT_GOOD;
	} else {
		code = cli_error(cli, EXIT_UNREACHABLE, "cannot start %s: %s", target->argv[0],
				 strerror(env ? errno : ENOMEM));
	}
	text_free(&up.waiting);
	text_free(&up.line);
	text_free(&down.waiting);
	text_free(&down.line);
	brood_env_free(env);
	return code;
}

static int before_address(struct cli *cli, struct transcript *to, const struct target *target,
			  const cleat_client_options *opts)
{
	const char *address = cli_option(cli, "http");
	cleat_error err;
	/* What passes has the client's User-Agent, or none. */
	struct back *server =
		back_new(cli->loop, NULL, target->url, opts, address ? "" : NULL, &err);
	int code;

	if (!server && err.status == CLEAT_EINVAL)
		return cli_usage(cli, "%s: %s", target->url, err.message);
	if (!server)
		return cli_error(cli, EXIT_OTHER, "%s", err.message);
	code = address ? record_http(cli, to, server, address) : record_bridge(cli, to, server);
	back_free(server);
	return code;
}

static int record_run(struct cli *cli)
{
	const cleat_client_options *opts;
	const struct target *target;
	struct transcript *to;
	int code;

	if (!cli->argc)
		return cli_usage(cli, "where to? cleat record FILE SERVER");
	if (cli->argc > (cli->command ? 1 : 2))
		return cli_usage(cli, "\"%s\" is one word too many: a command goes after --",
				 cli->argv[cli->argc - 1]);
	cli->server = cli->argc > 1 ? cli->argv[1] : NULL;
	/* Finds out what is meant; nothing is started by it. */
	if (!cli_client(cli, NULL, &code))
		return code;
	target = cli_target(cli, &opts);
	if (target->argv && cli_option(cli, "http"))
		return cli_usage(cli,
				 "--http is for a server at an address: a program is spoken to "
				 "on stdin and stdout");
	if (target->old_sse && !cli_option(cli, "http"))
		return cli_usage(cli,
				 "HTTP+SSE (2024-11-05) needs a client that speaks it: use --http, "
				 "or --record FILE with any verb");
	/* A client that has us in its configuration starts us again and again. */
	to = transcript_new(cli, cli->argv[0],
			    cli_flag(cli, "force") || transcript_at(cli->argv[0]));
	if (!to)
		return EXIT_OTHER;
	code = target->argv ? proxy(cli, to, target) : before_address(cli, to, target, opts);
	return transcript_end(to) || code ? code : EXIT_OTHER;
}

static const char *const usage[] = { "record [OPTION]... FILE -- COMMAND...",
				     "record [OPTION]... FILE SERVER",
				     "record --http ADDRESS [OPTION]... FILE SERVER", NULL };
static const struct cli_option own[] = {
	{ .name = "http",
	  .arg = "ADDRESS",
	  .help = "be a server over HTTP for the client: 8080, 127.0.0.1:0 (any port)" },
	{ .name = "force",
	  .help = "replace FILE, whatever it is; otherwise only an older recording" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat call -- cleat record session.ndjson ./hello -- add a=2 b=40",
	  "a client (here cleat itself), the recorder, the server" },
	{ "cleat call -- cleat record session.ndjson http://localhost:8080/mcp -- add a=2 b=40",
	  "a client that starts programs, the recorder, a server at an address" },
	{ "echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}' | cleat record session.ndjson -- "
	  "./hello",
	  "messages by hand" },
	{ "cleat call --record session.ndjson http://localhost:8080/mcp add a=2 b=40",
	  "cleat's own calls, with any server: an option of every verb" },
	{ 0 },
};

const struct verb verb_record = {
	.name = "record",
	.summary = "stand between a client and a server, and write down what they say",
	.usage = usage,
	.about =
		"Put it in front of the command in the configuration of a client: it is a server on stdin and "
		"stdout that passes everything through, unchanged, and writes each message to FILE, a line of "
		"JSON each: {\"t\": milliseconds, \"dir\": \">\", \"msg\": {...}}, with \">\" for what the "
		"client says and \"<\" for what the server says.\n\n"
		"The server may be at an address, too: then each message of the client becomes an HTTP "
		"request. With --http the client speaks HTTP as well: it connects to ADDRESS instead of the "
		"server, and requests and answers pass as they are, until Ctrl-C. The client's own "
		"authorization is passed on; --bearer and --header replace it.\n\n"
		"The file may hold secrets; it is made for its owner only. An older recording of that name is replaced, "
		"as a client starts its servers again and again; any other file is only replaced with --force. \"cleat replay\" plays it back.",
	.groups = CLI_COMMAND | CLI_REACH,
	.options = own,
	.examples = examples,
	.run = record_run,
};
