/* program/verbs/watch.c - `cleat watch`: what a server says by itself, a line each, as it comes.
 *
 * The connection is the library's business: it is made anew when it is lost, and this says so.
 */
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1000000000 };

struct watching {
	struct cli *cli;
	FILE *to;
	unsigned long count, left; /* 0: no limit */
	bool done, was_ready;
	int code;
};

static struct watching now;

/* ---- lines --------------------------------------------------------------------------------------- */

static void stamp(char *buf, size_t n, bool full)
{
	struct timespec t;
	struct tm tm;
	size_t used;

	clock_gettime(CLOCK_REALTIME, &t);
	if (full)
		gmtime_r(&t.tv_sec, &tm);
	else
		localtime_r(&t.tv_sec, &tm);
	used = strftime(buf, n, full ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &tm);
	snprintf(buf + used, n - used, ".%03ld%s", t.tv_nsec / 1000000, full ? "Z" : "");
}

/* One thing that happened: for a program {"time","event",...}, for a person a sentence. */
struct event {
	const char *name, *says;
	const char *uri, *level, *logger, *message;
	const cleat_json *data;
};

static void add_member(cleat_build *b, const char *name, const char *value)
{
	if (value)
		cleat_build_str(b, name, value);
}

static void print_program(const struct event *e)
{
	cleat_build *b = cleat_build_new(NULL);
	char time[48];
	cleat_doc *doc;

	stamp(time, sizeof time, true);
	cleat_build_object(b, NULL);
	cleat_build_str(b, "time", time);
	cleat_build_str(b, "event", e->name);
	add_member(b, "uri", e->uri);
	add_member(b, "level", e->level);
	add_member(b, "logger", e->logger);
	add_member(b, "message", e->message);
	if (e->data)
		cleat_build_value(b, "data", e->data);
	cleat_build_end(b);
	doc = cleat_build_finish(b, NULL);
	if (doc && cli_option(now.cli, "jq"))
		cli_print_json(now.cli, cleat_doc_root(doc), &now.code);
	else if (doc)
		print_json_line(now.to, cleat_doc_root(doc));
	cleat_doc_free(doc);
}

static void print_person(const struct event *e)
{
	const char *text = cleat_json_str(e->data, NULL);
	char *data = text ? NULL : cleat_json_print(e->data, NULL);
	char time[48];

	stamp(time, sizeof time, false);
	fprintf(now.to, "%s%s%s ", now.cli->color ? COLOR_DIM : "", time,
		now.cli->color ? COLOR_OFF : "");
	if (e->level) {
		fprintf(now.to, "[%s", e->level);
		if (e->logger && *e->logger) {
			fputc(' ', now.to);
			print_line(now.to, e->logger);
		}
		fputs("] ", now.to);
	}
	fputs(e->says, now.to);
	if (e->uri || e->message)
		print_line(now.to, e->uri ? e->uri : e->message);
	text = text ? text : data;
	for (const char *p = text; p && *p; p += strcspn(p, "\r\n") ? strcspn(p, "\r\n") : 1) {
		if (p != text && strcspn(p, "\r\n"))
			fputs(" | ", now.to);
		print_line(now.to, p);
	}
	fputc('\n', now.to);
	free(data);
}

static void print_event(const struct event *e)
{
	if (now.done)
		return;
	if (now.cli->json || cli_option(now.cli, "jq"))
		print_program(e);
	else
		print_person(e);
	if (fflush(now.to) != 0)
		now.done = true; /* nobody reads any more */
}

/* Something that the server said counts. */
static void print_counted(const struct event *e)
{
	print_event(e);
	if (now.count && !now.done && --now.left == 0)
		now.done = true;
}

/* ---- what happens -------------------------------------------------------------------------------- */

static void on_change(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	(void)w;
	switch (what) {
	case CLEAT_CHANGE_TOOLS:
		print_counted(&(struct event){ .name = "tools", .says = "the tools have changed" });
		break;
	case CLEAT_CHANGE_PROMPTS:
		print_counted(
			&(struct event){ .name = "prompts", .says = "the prompts have changed" });
		break;
	case CLEAT_CHANGE_RESOURCES:
		print_counted(&(struct event){ .name = "resources",
					       .says = "the list of resources has changed" });
		break;
	case CLEAT_CHANGE_RESOURCE:
		print_counted(
			&(struct event){ .name = "resource", .says = "changed: ", .uri = uri });
		break;
	case CLEAT_CHANGE_MISSED:
		print_event(&(struct event){
			.name = "missed",
			.says = "the connection was lost and is back: anything may have changed" });
		break;
	}
}

static void on_log(cleat_client *c, int level, const char *logger, const cleat_json *data,
		   void *userdata)
{
	const char *name = cleat_log_level_name(level);

	(void)c;
	(void)userdata;
	print_counted(&(struct event){ .name = "log",
				       .says = "",
				       .level = name ? name : "log",
				       .logger = logger,
				       .data = data });
}

static void on_state(cleat_client *c, const cleat_error *why, void *userdata)
{
	(void)c;
	(void)userdata;
	if (why->status != CLEAT_OK && now.was_ready)
		print_event(&(struct event){ .name = "lost",
					     .says = "the connection was lost: ",
					     .message = why->message });
	else if (why->status == CLEAT_OK && now.was_ready)
		print_event(&(struct event){ .name = "back", .says = "the server is back" });
	now.was_ready = now.was_ready || why->status == CLEAT_OK;
}

static void on_end(cleat_watch *w, const cleat_error *why)
{
	(void)w;
	/* There may be log messages all the same. */
	if (why->status == CLEAT_EUNSUPPORTED && cli_option(now.cli, "log") && !now.cli->argc)
		return;
	now.code = cli_error_at(now.cli,
				why->status == CLEAT_EREMOTE || why->status == CLEAT_EUNSUPPORTED
					? EXIT_TOOL
					: EXIT_UNREACHABLE,
				NULL, 0, why->rpc_code, why->message);
	now.done = true;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int watch_read_options(struct cli *cli, int *ret_ms)
{
	const char *c = cli_option(cli, "count"), *f = cli_option(cli, "for");
	char *end;
	uint64_t ms = 0;

	now = (struct watching){ .cli = cli };
	now.count = c ? strtoul(c, &end, 10) : 0;
	if (c && (!*c || *end || !now.count || now.count > MOST || *c == '-'))
		return cli_usage(cli, "--count is a number from 1 to %d, not \"%s\"", MOST, c);
	if (f && !cli_duration(f, &ms))
		return cli_usage(cli, "--for is a time like 30, 2.5s, 250ms or 5m, not \"%s\"", f);
	now.left = now.count;
	*ret_ms = f ? (int)ms : -1;
	return EXIT_GOOD;
}

static int watch_watch(struct cli *cli, int ms)
{
	struct words uris = { 0 };
	cleat_watch *w;

	if (cli->argc && !cleat_client_server_can(cli->client, "resources.subscribe"))
		return cli_error(cli, EXIT_TOOL,
				 "the server does not tell when a resource changes");
	for (int i = 0; i < cli->argc; i++)
		words_add(&uris, cli->argv[i]);
	w = cleat_client_watch(cli->client, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS |
									     CLEAT_CHANGE_PROMPTS |
									     CLEAT_CHANGE_RESOURCES,
								    .uris = uris.at,
								    .on_change = on_change,
								    .on_end = on_end });
	if (!w)
		return cli_error(cli, EXIT_OTHER, "out of memory");
	if (!cli->json && !cli_option(cli, "jq"))
		cli_note(cli, "watching; Ctrl-C ends it");
	cli_wait(cli, &now.done, ms);
	now.done = true;
	cleat_watch_free(w);
	if (!cli_interrupted())
		return now.code;
	/* A person has ended it as it is meant to be ended. */
	return cli->json ? cli_say_interrupted(cli) : cli_interrupted_code();
}

static int watch_run(struct cli *cli)
{
	/* A child that dies is started again, as a connection is made again. */
	static const cleat_client_options want = { .on_log = on_log,
						   .on_state = on_state,
						   .restart = true };
	int ms = -1, code = watch_read_options(cli, &ms);

	if (code != EXIT_GOOD || !cli_client(cli, &want, &code))
		return code;
	now.to = cli_out_live(cli);
	code = now.to ? cli_open(cli) : EXIT_OTHER;
	return code == EXIT_GOOD ? watch_watch(cli, ms) : code;
}

static const char *const usage[] = { "watch [OPTION]... SERVER [URI]...",
				     "watch [OPTION]... -- COMMAND... [-- URI...]", NULL };
static const struct cli_option own[] = {
	{ .name = "count", .letter = 'c', .arg = "N", .help = "end after this many events" },
	{ .name = "for", .arg = "TIME", .help = "end after this time: 30, 2.5s, 5m" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat watch --for 100ms --log info http://localhost:8080/mcp",
	  "changes of lists and log messages" },
	{ "cleat watch --for 100ms --json -- ./resources -- counter://clicks",
	  "changes of a resource, a line of JSON each" },
	{ 0 },
};

const struct verb verb_watch = {
	.name = "watch",
	.summary = "print what a server says by itself, as it comes",
	.usage = usage,
	.about =
		"Changes of the lists of tools, prompts and resources, changes of the resources that are named, "
		"and log messages (--log LEVEL asks for them) are printed, one line each, with the time.\n\n"
		"With --json each line is an object: time, event (tools, prompts, resources, resource, log; "
		"lost, back, missed), and uri, or level, logger and data. It ends with --count, --for or "
		"Ctrl-C; a lost connection is made again, and said.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = watch_run,
};
