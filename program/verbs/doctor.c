/* program/verbs/doctor.c - `cleat doctor`: what is wrong with this server, step by step? */
#include "check/doctor.h"
#include "check/protocol.h"
#include "protocol/revision.h"
#include "reach/catalog.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

enum {
	PINGS = 5,
	MOST_FINDINGS = 10,
	SLOW_MS = 1000,
	ENDS_MS = 2000 /* then the library ends it */
};

static struct {
	struct doctor d;
	struct protocol *protocol;
	struct probe probe;
	struct words notes, findings;
	struct words by_probe; /* findings in what was answered to the probe */
	size_t n_findings, n_messages;
} run_state;

struct heard {
	struct protocol_message m;
	const char *text;
	size_t n;
};

/* ---- steps --------------------------------------------------------------------------------------- */

/* Lines after the first are set in, so that no text looks like a step. */
static void print_lines(FILE *to, const char *text)
{
	for (;;) {
		size_t n = strcspn(text, "\n");

		print_safe(to, text, n);
		fputc('\n', to);
		if (!text[n])
			return;
		text += n + 1;
		fprintf(to, "%24s", "");
	}
}

static void print_step(struct doctor *d, enum doctor_status status, const char *step,
		       const char *fix, const char *text)
{
	static const char *const words[] = { "ok", "warning", "failed" };
	static const char *const colors[] = { COLOR_STRING, COLOR_NUMBER, COLOR_BAD };

	fprintf(d->to, "%s%-8s%s %-14s ", d->cli->color ? colors[status] : "", words[status],
		d->cli->color ? COLOR_OFF : "", step);
	print_lines(d->to, text);
	if (fix) {
		fprintf(d->to, "%-8s %-14s ", "", "-> do this:");
		print_lines(d->to, fix);
	}
	fflush(d->to);
}

void doctor_step(struct doctor *d, enum doctor_status status, int code, const char *step,
		 const char *fix, const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warning", "failed" };
	double now = cli_ms_since_start();
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = keep(must_vprintf(fmt, ap));
	va_end(ap);
	if (status == DOCTOR_FAILED && d->code == EXIT_GOOD)
		d->code = code;
	cleat_build_object(d->steps, NULL);
	cleat_build_str(d->steps, "step", step);
	cleat_build_str(d->steps, "status", words[status]);
	cleat_build_str(d->steps, "text", text);
	if (fix)
		cleat_build_str(d->steps, "fix", fix);
	cleat_build_int(d->steps, "us", (int64_t)((now - d->since) * 1e3));
	cleat_build_end(d->steps);
	d->since = now;
	if (!d->cli->json && !cli_option(d->cli, "jq"))
		print_step(d, status, step, fix, text);
}

/* ---- what happens meanwhile ---------------------------------------------------------------------- */

static void doctor_on_note(cleat_client *c, int level, const char *text, void *userdata)
{
	(void)c;
	(void)userdata;
	if (level < CLEAT_LOG_WARNING || run_state.notes.n >= MOST_FINDINGS)
		return;
	/* What came instead of an answer to the probe; what is no message at all has nothing to do with it. */
	if (run_state.probe.sent && !strstr(text, "not JSON"))
		words_add(&run_state.by_probe, keepf("%s", text));
	else
		words_add(&run_state.notes, keepf("%s", cli_in_options(text)));
}

static void on_finding(void *ctx, const struct protocol_finding *f)
{
	const struct heard *h = ctx;
	char *text;

	if (f->warning || strcmp(f->rule, "null-id") == 0)
		return;
	text = keepf("%s: %s%s%s", protocol_which(&h->m, run_state.n_messages, h->text, h->n),
		     f->pointer, *f->pointer ? ": " : "", f->text);
	if (probe_reply(&run_state.probe, &h->m))
		words_add(&run_state.by_probe, text);
	else if (run_state.n_findings++ < MOST_FINDINGS)
		words_add(&run_state.findings, text);
}

/* What we send is looked at for its ids only: its faults are ours, not the server's. */
static void doctor_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	struct heard h = { .text = text, .n = n };

	(void)c;
	(void)userdata;
	if (out) {
		protocol_check_text(run_state.protocol, PROTOCOL_CLIENT, text, n, NULL, NULL, &h.m);
		probe_sent(&run_state.probe, &h.m);
		if (run_state.probe.legacy && run_state.d.heard.initialize_at <= 0)
			run_state.d.heard.initialize_at = cli_ms_since_start();
		return;
	}
	run_state.n_messages++;
	protocol_check_text(run_state.protocol, PROTOCOL_SERVER, text, n, on_finding, &h, &h.m);
	if (h.m.method && probe_reply(&run_state.probe, &h.m))
		run_state.d.heard.answered_probe = true;
}

/* A server that has been found to be a modern one has to answer server/discover as the protocol says. */
static void judge_probe(void)
{
	struct words *from = &run_state.by_probe;

	for (size_t i = 0; !run_state.probe.legacy && i < from->n; i++)
		if (run_state.n_findings++ < MOST_FINDINGS)
			words_add(&run_state.findings, from->at[i]);
	from->n = 0;
}

/* ---- configuration ------------------------------------------------------------------------------- */

/* A name of a file whose variables cannot be expanded, or that says nothing to reach. False: so it is. What is
 * no name of a file at all is the command line's mistake. */
static bool step_expansion(struct doctor *d)
{
	const char *name = d->cli->server;
	const struct config *config =
		name && !d->cli->command && !strpbrk(name, ":/") ? config_load(d->cli) : NULL;
	const struct config_server *s = config ? config_find(config, name) : NULL;
	struct target t;
	const char *problem = s ? config_resolve(s, &t) : NULL;

	if (problem)
		doctor_step(d, DOCTOR_FAILED, EXIT_USAGE, "configuration",
			    strstr(problem, "not set")
				    ? "set the variable, or give it a default: ${NAME:-default}"
				    : "correct the file",
			    "%s", problem);
	return !problem;
}

static void step_configuration(struct doctor *d, const struct target *t)
{
	const struct config *config;
	const struct config_server *s;
	struct text line = { 0 };

	for (size_t i = 0; t->argv && t->argv[i]; i++)
		text_printf(&line, "%s%s", i ? " " : "", t->argv[i]);
	if (t->url)
		text_printf(&line, "%.*s", (int)strcspn(t->url, "?"), t->url);
	config = !d->cli->command && strcmp(text_str(&line), d->cli->server) != 0
			 ? config_load(d->cli)
			 : NULL;
	s = config ? config_find(config, d->cli->server) : NULL;
	if (!s)
		doctor_step(d, DOCTOR_OK, 0, "configuration", NULL, "%s", text_str(&line));
	else
		doctor_step(d, DOCTOR_OK, 0, "configuration", NULL, "%s of %s (%s): %s", s->name,
			    s->file->path, s->file->program, text_str(&line));
	for (size_t i = 0; s && i < config->n; i++)
		if (config->servers[i].shadowed_by == s)
			doctor_step(d, DOCTOR_WARNING, 0, "configuration",
				    "give one of them another name, or choose the file by --config",
				    "%s has a %s, too, which is not used",
				    config->servers[i].file->path, s->name);
	text_free(&line);
}

static void step_revision(struct doctor *d)
{
	cleat_client *c = d->cli->client;
	const char *revision = cleat_client_revision(c);
	bool modern = cleat_client_era(c) == CLEAT_ERA_MODERN;
	enum revision rev = revision_find(str_of(revision));
	/* from before 2025-06-18 */
	bool old = rev != REV_NONE && !(revision_features(rev) & FEAT_STRUCTURED) &&
		   !cli_option(d->cli, "protocol");

	doctor_step(d, old ? DOCTOR_WARNING : DOCTOR_OK, 0, "revision",
		    old ? "update the server's SDK: newer clients may drop this revision" : NULL,
		    "%s (%s): %.100s %.40s", revision, modern ? "modern" : "legacy",
		    cleat_client_server_name(c), cleat_client_server_version(c));
}

/* ---- what it has --------------------------------------------------------------------------------- */

static void step_capabilities(struct doctor *d)
{
	const cleat_json *can = cleat_json_get(cleat_client_server(d->cli->client), "capabilities");
	cleat_json_iter it = cleat_json_each(can);
	struct text t = { 0 };

	while (cleat_json_next(&it))
		text_printf(&t, "%s%s", it.index ? ", " : "", cleat_json_str(it.key, "?"));
	if (t.n)
		doctor_step(d, DOCTOR_OK, 0, "capabilities", NULL, "%s", text_str(&t));
	else
		doctor_step(d, DOCTOR_WARNING, 0, "capabilities",
			    "the server has to declare tools, resources or prompts to offer any",
			    "none: there is nothing that a client could use");
	text_free(&t);
}

/* A list that fails today is there: what is behind it may be down. */
static const char *fix_list(enum cleat_step step, int rpc_code)
{
	if (step == CLEAT_STEP_ANSWER && rpc_code == CLEAT_RPC_METHOD_NOT_FOUND)
		return "do not declare the capability, or answer its list";
	if (step == CLEAT_STEP_ANSWER)
		return "the server says what is wrong with it now; look into its log";
	return step == CLEAT_STEP_TIMEOUT ? "look into the server's log; --timeout waits longer"
					  : "-v shows what was said";
}

static int list_code(enum cleat_step step, int rpc_code)
{
	switch (step) {
	case CLEAT_STEP_AUTH: return EXIT_AUTH;
	case CLEAT_STEP_TIMEOUT: return EXIT_TIMEOUT;
	case CLEAT_STEP_EXCHANGE: return EXIT_UNREACHABLE;
	case CLEAT_STEP_ANSWER:
		return rpc_code == CLEAT_RPC_METHOD_NOT_FOUND ? EXIT_PROTOCOL : EXIT_TOOL;
	default: return EXIT_PROTOCOL;
	}
}

static bool step_list(struct doctor *d, const struct catalog_kind *kind)
{
	cleat_result *r = cli_await_list(d->cli, kind->list);
	const cleat_error *e = cleat_result_error(r);
	enum cleat_step step = cleat_result_step(r);
	bool good = cleat_result_status(r) == CLEAT_OK, answered = step == CLEAT_STEP_ANSWER;

	if (good)
		doctor_step(d, DOCTOR_OK, 0, kind->option, NULL, "%zu",
			    cleat_json_size(cleat_result_items(r)));
	else if (answered && kind->list == CLEAT_LIST_TEMPLATES &&
		 e->rpc_code == CLEAT_RPC_METHOD_NOT_FOUND)
		doctor_step(d, DOCTOR_OK, 0, kind->option, NULL, "none (there is no such method)");
	else
		doctor_step(d, DOCTOR_FAILED, list_code(step, e->rpc_code), kind->option,
			    fix_list(step, e->rpc_code), "%s%s", cli_result_words(r),
			    step == CLEAT_STEP_EXCHANGE ? doctor_last_words(d) : "");
	cleat_result_free(r);
	return good || answered || step == CLEAT_STEP_PROTOCOL;
}

static bool step_lists(struct doctor *d)
{
	static const char *const capability[] = { "tools", "resources", "resources", "prompts" };

	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++)
		if (cleat_client_server_can(d->cli->client, capability[i]) &&
		    (!step_list(d, &catalog_kinds[i]) || cli_interrupted()))
			return false;
	return true;
}

/* ---- how well ------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static bool step_latency(struct doctor *d)
{
	bool modern = cleat_client_era(d->cli->client) == CLEAT_ERA_MODERN;
	double ms[PINGS];

	for (size_t i = 0; i < PINGS; i++) {
		double start = cli_ms_since_start();
		cleat_result *r = cli_await(d->cli, modern ? "server/discover" : "ping", NULL);
		bool good = cleat_result_status(r) == CLEAT_OK;

		ms[i] = cli_ms_since_start() - start;
		if (!good)
			doctor_step(d, DOCTOR_FAILED, EXIT_PROTOCOL, "latency",
				    "every server has to answer this", "%s: %s",
				    modern ? "server/discover" : "ping", cli_result_words(r));
		cleat_result_free(r);
		if (!good || cli_interrupted())
			return false;
	}
	qsort(ms, PINGS, sizeof ms[0], by_size);
	doctor_step(d, ms[PINGS / 2] > SLOW_MS ? DOCTOR_WARNING : DOCTOR_OK, 0, "latency",
		    ms[PINGS / 2] > SLOW_MS ? "look at the network and at the server's load" : NULL,
		    "%.2f ms (least %.2f, most %.2f)", ms[PINGS / 2], ms[0], ms[PINGS - 1]);
	return true;
}

static void tell_messages(struct doctor *d)
{
	judge_probe();
	for (size_t i = 0; i < run_state.notes.n; i++)
		doctor_step(d, DOCTOR_WARNING, 0, "messages",
			    strstr(run_state.notes.at[i], "not JSON")
				    ? "write everything else to stderr: stdout is for messages only"
				    : NULL,
			    "%s", run_state.notes.at[i]);
	for (size_t i = 0; i < run_state.findings.n; i++)
		doctor_step(
			d, DOCTOR_FAILED, EXIT_CHECK, "messages",
			i + 1 < run_state.findings.n
				? NULL
				: "tell whoever made the server; cleat validate checks messages by themselves",
			"%s", run_state.findings.at[i]);
	if (run_state.n_findings > run_state.findings.n)
		doctor_step(d, DOCTOR_FAILED, EXIT_CHECK, "messages", NULL, "and %zu more",
			    run_state.n_findings - run_state.findings.n);
}

static void step_messages(struct doctor *d)
{
	tell_messages(d);
	if (!run_state.n_findings && run_state.n_messages)
		doctor_step(d, DOCTOR_OK, 0, "messages", NULL,
			    "%zu from the server, all as the protocol says", run_state.n_messages);
}

/* A program that does not end when its input does has to be killed by every client. */
static void step_end(struct doctor *d, const struct target *t)
{
	double ms;

	d->since = cli_ms_since_start();
	cleat_client_free(d->cli->client);
	d->cli->client = NULL;
	ms = cli_ms_since_start() - d->since;
	if (!t->argv)
		return;
	if (ms >= ENDS_MS)
		doctor_step(d, DOCTOR_WARNING, 0, "end", "let it exit at the end of its input",
			    "the program does not end when its input is closed; it was killed");
	else
		doctor_step(d, DOCTOR_OK, 0, "end", NULL, "ended by itself after %.1f ms", ms);
}

static void examine(struct doctor *d)
{
	const cleat_client_options *o;
	const struct target *t = cli_target(d->cli, &o);
	bool alive;

	step_configuration(d, t);
	if (!doctor_reach(d, t, o))
		return;
	if (!doctor_start(d, t)) {
		/* What was said until then often is why: a program that logs to stdout, say. */
		if (!cli_interrupted())
			tell_messages(d);
		return;
	}
	step_revision(d);
	step_capabilities(d);
	alive = step_lists(d) && step_latency(d);
	step_messages(d);
	if (alive && !cli_interrupted())
		step_end(d, t);
}

static int doctor_finish(struct doctor *d)
{
	cleat_doc *steps;
	int code = d->code;

	if (cli_interrupted())
		code = cli_interrupted_code();
	if (d->cli->json || cli_option(d->cli, "jq")) {
		int printed = EXIT_OTHER;

		cleat_build_end(d->steps);
		steps = cleat_build_finish(d->steps, NULL);
		d->steps = NULL; /* what comes now comes too late */
		cli_print_doc(d->cli,
			      cleat_doc_newf(NULL, "{ok: %hhd, exit: %d, steps: %p}",
					     (signed char)!code, code,
					     (const void *)cleat_doc_root(steps)),
			      &printed);
		cleat_doc_free(steps);
		code = printed ? printed : code;
	}
	cleat_build_free(d->steps);
	d->steps = NULL;
	return code;
}

static int doctor_run(struct cli *cli)
{
	cleat_client_options want = { .on_message = doctor_on_message,
				      .on_note = doctor_on_note,
				      .timeout_ms = CHECK_TIMEOUT_MS,
				      .hard_timeout_ms = CHECK_TIMEOUT_MS,
				      .no_cache = true };
	struct doctor *d = &run_state.d;
	int code;

	if (cli->argc)
		return cli_usage(cli, "\"%s\" is one word too many: doctor takes a SERVER only",
				 cli->argv[0]);
	d->cli = cli;
	d->to = cli_out(cli);
	if (!d->to)
		return EXIT_OTHER;
	cleat_build_array(d->steps = cleat_build_new(NULL), NULL);
	if (!step_expansion(d))
		return doctor_finish(d);
	doctor_listen(d, &want);
	if (!cli_client(cli, &want, &code)) {
		cleat_build_free(d->steps);
		return code;
	}
	run_state.protocol = protocol_new(NULL);
	examine(d);
	code = doctor_finish(d);
	/* Messages may still come while the client ends. */
	cleat_client_free(cli->client);
	cli->client = NULL;
	protocol_free(run_state.protocol);
	return code;
}

static const char *const usage[] = { "doctor [OPTION]... SERVER",
				     "doctor [OPTION]... -- COMMAND...", NULL };
static const struct cli_example examples[] = {
	{ "cleat doctor http://localhost:8080/mcp",
	  "name, address, revision, lists, messages, latency" },
	{ "cleat doctor --json -- ./hello", "the same for programs, as one object" },
	{ 0 },
};

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "find out why a server cannot be used, step by step",
	.usage = usage,
	.about =
		"Looks at the configuration, the program or the address, starts a conversation, lists what "
		"there is, and checks every message of the server against the protocol. Each step is one "
		"line; one that failed says what to do, and later steps that depend on it are left out. No tool is called. "
		"Each answer is waited for 10 s, or --timeout. What a server answers to the question whether it speaks "
		"2026-07-28 is not held against one that does not.\n\n"
		"The exit code is that of the first step that failed: 4 not reachable, 3 authorization, 5 a "
		"list that fails, 6 not the protocol, 7 messages that are not valid. Warnings do not change it.",
	.groups = CLI_SERVER | CLI_OUTPUT | CLI_DECLINES,
	.examples = examples,
	.run = doctor_run,
};
