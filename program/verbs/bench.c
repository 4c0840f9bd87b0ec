/* program/verbs/bench.c - cleat bench: load for any MCP server, and what came of it.
 *
 * The library reaches the server, finds out what it speaks and tries each request once; then the load
 * (program/bench/load.h) repeats the very messages over connections of its own. What the library alone can reach
 * (https, HTTP+SSE, proxies) is driven through it (program/bench/library.h).
 */
#define _GNU_SOURCE /* struct rusage, clocks */

#include "bench/child.h"
#include "bench/greet.h"
#include "bench/library.h"
#include "bench/plan.h"
#include "bench/report.h"
#include "bench/usage.h"
#include "reach/target.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "json/doc.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 100
#define LOOK_NS 500000000u /* between looks at the server's memory */

struct bench {
	struct cli *cli;
	struct plan plan;
	struct goal goal;
	struct load_options load;
	struct shot_options http;
	struct shot *shots;
	struct greeting greeting;
	struct brood brood;
	struct load_pipe *sockets; /* that speak lines */
	char **sessions;
	struct tally tally;
	struct usage usage;
	struct report report;
	const char *html;
	bool library, began;
	uint64_t own_cpu;       /* when the measured part began */
	uint64_t looked, shown; /* at the server's memory; progress, on the terminal */
	uint64_t shown_good;
};

/* ---- options ------------------------------------------------------------------------------------ */

static int number(const struct cli *cli, const char *name, uint64_t most, uint64_t *ret)
{
	const char *text = cli_option(cli, name);
	uint64_t v = 0;

	if (!text)
		return EXIT_GOOD;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9' || v > most)
			v = most + 1;
		else
			v = v * 10 + (uint64_t)(*p - '0');
	}
	if (!v || v > most)
		return cli_usage(cli, "--%s is a number from 1 to %llu, not \"%s\"", name,
				 (unsigned long long)most, text);
	*ret = v;
	return EXIT_GOOD;
}

static int duration(const struct cli *cli, const char *name, uint64_t *ret_ns)
{
	const char *text = cli_option(cli, name);
	uint64_t ms;

	if (!text)
		return EXIT_GOOD;
	if (!cli_duration(text, &ms))
		return cli_usage(cli, "--%s is a time like 10, 2.5s, 250ms or 5m, not \"%s\"", name,
				 text);
	*ret_ns = ms * 1000000u;
	return EXIT_GOOD;
}

static int bench_read_options(struct bench *b)
{
	struct load_options *o = &b->load;
	uint64_t connections = 0, threads = 1, rate = 0, sessions = 0;
	int code;

	o->duration_ns = cli_flag(b->cli, "requests") ? 0 : 10000000000u;
	o->warmup_ns = 1000000000u;
	o->timeout_ns = 10000000000u;
	if ((code = number(b->cli, "connections", 100000, &connections)) ||
	    (code = number(b->cli, "threads", 256, &threads)) ||
	    (code = number(b->cli, "rate", 10000000, &rate)) ||
	    (code = number(b->cli, "requests", 8000000000u, &o->requests)) ||
	    (code = number(b->cli, "sessions", 1000000, &sessions)) ||
	    (code = duration(b->cli, "duration", &o->duration_ns)) ||
	    (code = duration(b->cli, "warmup", &o->warmup_ns)) ||
	    (code = duration(b->cli, "timeout", &o->timeout_ns)))
		return code;
	if (!o->duration_ns && !o->requests)
		return cli_usage(b->cli, "--duration must not be 0");
	o->connections = (unsigned)connections;
	o->threads = (unsigned)threads;
	o->rate = (double)rate;
	o->n_sessions = (size_t)sessions;
	b->html = cli_option(b->cli, "html");
	return EXIT_GOOD;
}

/* ---- where to --------------------------------------------------------------------------------- */

/* What is known about the server, before its client goes away. */
static void describe(struct bench *b, const struct target *t)
{
	cleat_client *c = b->cli->client;
	struct text where = { 0 };

	b->report.server = keepf("%s", cleat_client_server_name(c));
	b->report.version = keepf("%s", cleat_client_server_version(c));
	b->report.revision = cleat_client_revision(c);
	for (size_t i = 0; t->argv && t->argv[i]; i++)
		text_printf(&where, "%s%s", i ? " " : "", t->argv[i]);
	b->report.where = t->argv ? keep(text_take(&where)) : t->url;
	b->report.transport = t->argv                             ? "stdio"
			      : b->goal.kind == GOAL_LINES        ? "a stream"
			      : strncmp(t->url, "https:", 6) == 0 ? "HTTPS"
								  : "HTTP";
}

/* Where to, and how. */
static int find_goal(struct bench *b)
{
	const cleat_client_options *opts;
	const struct target *t = cli_target(b->cli, &opts);
	const char *why = NULL;

	b->goal.kind = GOAL_CHILD;
	if (!t->argv && !goal_parse(&b->goal, t->url, NULL, &why))
		return cli_error(b->cli, EXIT_UNREACHABLE, "%s: %s", t->url, why);
	b->library = cli_flag(b->cli, "through-library") || b->goal.kind == GOAL_LIBRARY ||
		     t->old_sse || (opts->proxy && *opts->proxy);
	b->http = (struct shot_options){ .http = b->goal.kind == GOAL_HTTP,
					 .host = b->goal.host,
					 .path = b->goal.path,
					 .revision = cleat_client_revision(b->cli->client),
					 .modern = cleat_client_era(b->cli->client) ==
						   CLEAT_ERA_MODERN,
					 .headers = opts->headers,
					 .bearer = opts->bearer };
	b->greeting.timeout_ns = 30000000000u;
	if (!b->http.modern) {
		b->greeting.initialize = b->plan.initialize;
		b->greeting.initialize_n = b->plan.initialize_n;
		b->greeting.initialized = b->plan.initialized;
		b->greeting.initialized_n = b->plan.initialized_n;
	}
	describe(b, t);
	return EXIT_GOOD;
}

/* A process may have as many connections as the system lets it. */
static int check_limits(struct bench *b)
{
	struct load_options *o = &b->load;
	rlim_t need = (rlim_t)o->connections * (b->goal.kind == GOAL_CHILD ? 2 : 1) + 64;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need) {
		limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
		setrlimit(RLIMIT_NOFILE, &limit);
		if (limit.rlim_cur < need)
			return cli_error(
				b->cli, EXIT_OTHER,
				"%u connections need more descriptors than the %llu that a "
				"process may have here (ulimit -n)",
				o->connections, (unsigned long long)limit.rlim_cur);
	}
	if (o->threads > o->connections)
		o->threads = o->connections;
	return EXIT_GOOD;
}

static int make_shots(struct bench *b)
{
	const char **labels = keep_alloc(b->plan.n * sizeof *labels);
	unsigned *weights = keep_alloc(b->plan.n * sizeof *weights);

	b->shots = keep_alloc(b->plan.n * sizeof *b->shots);
	b->http.session = b->sessions != NULL;
	for (size_t i = 0; i < b->plan.n; i++) {
		const struct plan_item *item = &b->plan.items[i];

		labels[i] = item->label;
		weights[i] = b->shots[i].weight = item->weight;
		if (!b->library && !shot_make(&b->shots[i], &b->http, item->message,
					      item->message_n, item->schema))
			return cli_error(b->cli, EXIT_OTHER, "%s: cannot be repeated", item->label);
	}
	b->load.goal = &b->goal;
	b->load.shots = b->shots;
	b->load.n_shots = b->plan.n;
	b->load.sessions = (const char *const *)b->sessions;
	b->report.labels = labels;
	b->report.weights = weights;
	return EXIT_GOOD;
}

/* ---- getting ready ------------------------------------------------------------------------------ */

/* Sessions, where the era has them. What refuses initialize by POST speaks HTTP+SSE: the library does. */
static int open_sessions(struct bench *b)
{
	size_t n = b->load.n_sessions ? b->load.n_sessions : b->load.connections;
	int status = 0;

	if (b->load.n_sessions && (b->http.modern || !b->http.http))
		cli_note(b->cli, "--sessions: there are none here");
	b->load.n_sessions = 0;
	if (b->http.modern || !b->http.http)
		return EXIT_GOOD;
	if (greet_sessions(&b->greeting, &b->goal, &b->http, n, &b->sessions, &status)) {
		b->load.n_sessions = b->sessions ? n : 0;
		b->report.sessions = b->load.n_sessions;
		return EXIT_GOOD;
	}
	if (status < 400 || status > 405)
		return cli_error(b->cli, EXIT_UNREACHABLE, "%s", b->greeting.why);
	cli_note(b->cli, "%s: HTTP+SSE, it seems; going on through the library", b->greeting.why);
	b->library = true;
	return EXIT_GOOD;
}

static int start_children(struct bench *b)
{
	const cleat_client_options *opts;
	const struct target *t = cli_target(b->cli, &opts);
	struct brood_options o = { .command = t->argv,
				   .env = brood_env(opts->env, opts->inherit_env),
				   .cwd = opts->cwd,
				   .show_stderr = b->cli->verbose > 0 };
	bool good = brood_start(&b->brood, &o, b->load.connections);

	brood_env_free(o.env);
	if (!good)
		return cli_error(b->cli, EXIT_UNREACHABLE, "%s: %s", t->argv[0], strerror(errno));
	b->load.pipes = b->brood.pipes;
	return EXIT_GOOD;
}

static int open_lines(struct bench *b)
{
	b->sockets = keep_alloc(b->load.connections * sizeof *b->sockets);
	if (!greet_connect(&b->greeting, &b->goal, b->sockets, b->load.connections))
		return cli_error(b->cli, EXIT_UNREACHABLE, "%s", b->greeting.why);
	b->load.pipes = b->sockets;
	return EXIT_GOOD;
}

static int get_ready(struct bench *b)
{
	int code = EXIT_GOOD;

	if (!b->load.connections)
		b->load.connections = b->goal.kind == GOAL_CHILD ? 1 : 16;
	code = check_limits(b);
	if (!code && !b->library)
		code = open_sessions(b);
	if (!code)
		code = make_shots(b);
	if (code || b->library)
		return code;
	cleat_client_free(b->cli->client); /* its child or its session would only be in the way */
	b->cli->client = NULL;
	if (b->goal.kind == GOAL_CHILD)
		code = start_children(b);
	else if (b->goal.kind == GOAL_LINES)
		code = open_lines(b);
	if (!code && b->load.pipes &&
	    !greet_pipes(&b->greeting, b->load.pipes, b->load.connections, &b->shots[0]))
		code = cli_error(b->cli, EXIT_UNREACHABLE, "%s", b->greeting.why);
	return code;
}

/* ---- running ------------------------------------------------------------------------------------ */

static uint64_t own_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u;
}

static void show_progress(struct bench *b, const struct load_live *live, uint64_t now)
{
	char a[32], c[32], d[32];
	uint64_t since = now - (b->shown ? b->shown : live->begin);

	if (now < live->begin) {
		fputs("\r\033[K  warming up", stderr);
		return;
	}
	if (since < 500000000u)
		return;
	fprintf(stderr, "\r\033[K  %s  %s/s  failed %s", show_time(a, now - live->begin),
		show_number(c, report_rate(live->good - b->shown_good, since)),
		show_number(d, live->failed));
	fflush(stderr);
	b->shown = now;
	b->shown_good = live->good;
}

static void begin_measuring(struct bench *b, uint64_t now)
{
	b->began = true;
	b->own_cpu = own_cpu();
	usage_begin(&b->usage);
	b->looked = now;
}

/* Ten times a second; true: it is to end. */
static bool tick(void *ctx, const struct load_live *live)
{
	struct bench *b = ctx;
	uint64_t now = load_clock();

	if (!b->began && now >= live->begin) {
		begin_measuring(b, now);
	} else if (b->began && now - b->looked > LOOK_NS) {
		usage_look(&b->usage);
		b->looked = now;
	}
	if (isatty(STDERR_FILENO) && !b->cli->quiet && !b->cli->json)
		show_progress(b, live, now);
	return cli_interrupted();
}

/* Until the next tick, or Ctrl-C, or the end of the warm-up. */
static void pause_for(const struct bench *b, const struct load_live *live)
{
	struct pollfd p = { .fd = cli_interrupt_fd(), .events = POLLIN };
	uint64_t now = load_clock();
	int ms = TICK_MS;

	if (!b->began && live->begin > now && live->begin - now < TICK_MS * 1000000u)
		ms = (int)((live->begin - now) / 1000000u) + 1;
	poll(&p, 1, ms);
}

static int run_raw(struct bench *b)
{
	const char *why = NULL;
	struct load_live live;
	struct load *l = load_start(&b->load, &why);

	if (!l)
		return cli_error(b->cli, EXIT_OTHER, "%s", why);
	for (load_look(l, &live); !live.over; load_look(l, &live)) {
		if (tick(b, &live)) {
			b->report.interrupted = true;
			load_stop(l);
			break;
		}
		pause_for(b, &live);
	}
	load_finish(l, &b->tally);
	return EXIT_GOOD;
}

static void note_start(struct report *r)
{
	time_t now = time(NULL);
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static int run_load(struct bench *b)
{
	int code = EXIT_GOOD;

	if (b->brood.n)
		usage_of_groups(&b->usage, b->brood.pids, b->brood.n);
	else if (!b->library || b->goal.kind == GOAL_HTTP)
		usage_of_goal(&b->usage, &b->goal);
	note_start(&b->report);
	if (!b->load.warmup_ns) /* a short run may be over before the first look at it */
		begin_measuring(b, load_clock());
	if (!tally_init(&b->tally, b->plan.n))
		return cli_error(b->cli, EXIT_OTHER, "out of memory");
	if (!b->library)
		code = run_raw(b);
	else if (!library_run(b->cli, &b->plan, &b->load, &b->tally, tick, b))
		code = cli_error(b->cli, EXIT_OTHER, "out of memory");
	b->report.interrupted = cli_interrupted();
	b->report.own_cpu_ns = b->began ? own_cpu() - b->own_cpu : 0;
	if (!b->began)
		usage_begin(&b->usage); /* its memory at least */
	usage_look(&b->usage);
	if (isatty(STDERR_FILENO) && !b->cli->quiet && !b->cli->json)
		fputs("\r\033[K", stderr);
	return code;
}

/* ---- the report --------------------------------------------------------------------------------- */

static int report(struct bench *b)
{
	struct report *r = &b->report;
	cleat_build *made = cleat_build_new(NULL);
	struct jw w;
	FILE *out;
	int code = EXIT_GOOD;

	r->t = &b->tally;
	r->load = &b->load;
	r->usage = &b->usage;
	r->library = b->library;
	if (doc_writer(made, &w))
		report_json(&w, r);
	if (!cli_print_doc(b->cli, cleat_build_finish(made, NULL), &code)) {
		out = cli_out(b->cli);
		if (out)
			report_text(b->cli, out, r);
		code = out ? EXIT_GOOD : EXIT_OTHER;
	}
	if (b->html && !report_html(b->html, r))
		code = cli_error(b->cli, EXIT_OTHER, "cannot write %s: %s", b->html,
				 strerror(errno));
	if (!code && r->interrupted)
		code = cli_interrupted_code();
	return !code && !r->t->kinds[OUT_GOOD] ? EXIT_OTHER : code;
}

static void clean_up(struct bench *b)
{
	if (b->brood.pids)
		brood_end(&b->brood);
	for (unsigned i = 0; b->sockets && b->load.pipes && i < b->load.connections; i++)
		close(b->sockets[i].in);
	if (b->sessions)
		greet_goodbye(&b->goal, &b->http, b->sessions, b->load.n_sessions);
	for (size_t i = 0; b->shots && i < b->plan.n; i++)
		shot_done(&b->shots[i]);
	tally_done(&b->tally);
	plan_done(&b->plan);
}

static int run_bench(struct cli *cli)
{
	struct bench *b = keep_alloc(sizeof *b);
	int code;

	b->cli = cli;
	code = bench_read_options(b);
	if (!code)
		code = plan_read(cli, &b->plan);
	if (!code)
		code = plan_try(cli, &b->plan);
	if (!code)
		code = find_goal(b);
	if (!code)
		code = get_ready(b);
	if (!code)
		code = run_load(b);
	if (!code)
		code = report(b);
	clean_up(b);
	return code;
}

/* ---- the verb ----------------------------------------------------------------------------------- */

static const char *const usage[] = {
	"bench SERVER --call TOOL [ARGUMENT]... [-c N] [-d TIME] [--rate N]",
	"bench SERVER --mix FILE [-c N] [-d TIME] [--rate N]",
	NULL,
};

static const struct cli_option options[] = {
	{ .name = "call", .arg = "TOOL", .help = "call this tool with the ARGUMENTs" },
	{ .name = "list",
	  .arg = "WHAT",
	  .choices = "tools|resources|templates|prompts",
	  .help = "the first page of a list" },
	{ .name = "read", .arg = "URI", .help = "read this resource" },
	{ .name = "mix",
	  .arg = "FILE",
	  .help = "scenarios with weights: [{\"weight\":8,\"call\":\"add\",\"arguments\":{...}}, ...]" },
	{ .name = "connections",
	  .letter = 'c',
	  .arg = "N",
	  .help = "connections, with one request under way on each; for a command: processes "
		  "(default: 16; processes: 1)" },
	{ .name = "duration",
	  .letter = 'd',
	  .arg = "TIME",
	  .help = "for this long (default: 10s)" },
	{ .name = "requests",
	  .letter = 'n',
	  .arg = "N",
	  .help = "send this many requests, instead of for a time" },
	{ .name = "rate",
	  .letter = 'r',
	  .arg = "N",
	  .help = "this many requests a second, on a schedule, whether the server keeps up or not" },
	{ .name = "sessions",
	  .arg = "N",
	  .help = "sessions over HTTP, up to 2025-11-25 (default: one for each connection)" },
	{ .name = "warmup", .arg = "TIME", .help = "do not count the first part (default: 1s)" },
	{ .name = "threads", .arg = "N", .help = "threads of the load generator (default: 1)" },
	{ .name = "html", .arg = "FILE", .help = "write a page with plots" },
	{ .name = "through-library",
	  .help = "send with the library's client; https does so by itself" },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "cleat bench http://localhost:8080/mcp --call add a=1 b=2 -c 64 -d 1s",
	  "what the server can do at most" },
	{ "cleat bench http://localhost:8080/mcp --call add a=1 b=2 --rate 500 -d 1s",
	  "how long a call takes at 500 calls a second" },
	{ "cleat bench -n 1000 --call add -- ./hello -- a=1 b=2", "a program, over its pipes" },
	{ 0 },
};

const struct verb verb_bench = {
	.name = "bench",
	.summary = "put load on a server and measure it",
	.usage = usage,
	.about =
		"Sends the same requests over and over and says how many were answered, how long that "
		"took, what failed, and what it cost the server where that runs on this machine.\n"
		"\n"
		"Without --rate it is a closed loop: each connection sends its next request when the last "
		"one is answered, which shows the most that a server can do. With --rate requests are due "
		"by a schedule, and latency counts from the time that each was due: a server that stalls "
		"cannot hide it by keeping requests from being sent.\n"
		"\n"
		"Without --call, --list, --read or --mix it asks whether the server answers (ping, or "
		"server/discover in 2026-07-28).\n"
		"\n"
		"Only good answers have a latency. Ctrl-C ends it early and prints what there is.",
	.groups = CLI_SERVER | CLI_OUTPUT | CLI_UNASKED,
	.options = options,
	.examples = examples,
	.run = run_bench,
};
