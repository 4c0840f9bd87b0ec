/* program/verbs/check.c - `cleat check`: is this a good server? */
#include "check/check.h"
#include "check/protocol.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"

#include <string.h>

enum { MOST_SEEN = 64 };

static struct {
	struct check *check;
	struct protocol *protocol;
	struct probe probe;
	char *seen[MOST_SEEN]; /* findings of the protocol, each once */
	size_t n_seen, n_messages;
	struct late *
		late; /* what was answered to the probe, while it is not known whether that counts */
} state;

struct heard {
	struct protocol_message m;
	const char *text;
	size_t n;
};

struct late {
	struct late *next;
	enum check_severity severity;
	const char *where, *text;
};

/* ---- messages ------------------------------------------------------------------------------------ */

/* The same mistake in every element of a list is one finding: "/tools/3/name" is "/tools/#/name". */
static char *general(const char *text)
{
	char *copy = keepf("%s", text), *to = copy;

	for (const char *at = copy; *at;) {
		size_t digits = *at == '/' ? strspn(at + 1, "0123456789") : 0;

		*to++ = *at++;
		if (digits)
			*to++ = '#';
		at += digits;
	}
	*to = 0;
	return copy;
}

static bool seen_before(const char *text)
{
	for (size_t i = 0; i < state.n_seen; i++)
		if (strcmp(state.seen[i], text) == 0)
			return true;
	return state.n_seen == MOST_SEEN;
}

static void on_finding(void *ctx, const struct protocol_finding *f)
{
	const struct heard *h = ctx;
	const struct protocol_message *m = &h->m;
	struct late *late = keep_alloc(sizeof *late);
	char *text = general(keepf("%s %s%s", m->method ? m->method : "", f->pointer,
				   *f->pointer ? "" : f->text));

	/* What is only overlooked the client remarks. */
	if (seen_before(text) || (f->warning && strcmp(f->rule, "json") == 0))
		return;
	state.seen[state.n_seen++] = text;
	*late = (struct late){
		.next = state.late,
		.severity =
			f->warning || strcmp(f->rule, "null-id") == 0 ? CHECK_WARNING : CHECK_ERROR,
		.where = protocol_which(m, state.n_messages, h->text, h->n),
		.text = keepf("%s%s%s", f->pointer, *f->pointer ? ": " : "", f->text)
	};
	if (probe_reply(&state.probe, m))
		state.late = late;
	else
		check_report(state.check, late->severity, "protocol", late->where, "%s",
			     late->text);
}

static void judge_probe(void)
{
	for (; state.late && !state.probe.legacy; state.late = state.late->next)
		check_report(state.check, state.late->severity, "protocol", state.late->where, "%s",
			     state.late->text);
	state.late = NULL;
}

static void check_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	struct heard h = { .text = text, .n = n };

	(void)c;
	(void)userdata;
	state.n_messages += !out;
	protocol_check_text(state.protocol, out ? PROTOCOL_CLIENT : PROTOCOL_SERVER, text, n,
			    out ? NULL : on_finding, &h, &h.m);
	if (out)
		probe_sent(&state.probe, &h.m);
}

static void check_on_note(cleat_client *c, int level, const char *text, void *userdata)
{
	(void)c;
	(void)userdata;
	if (level >= CLEAT_LOG_WARNING && (!state.probe.sent || strstr(text, "not JSON")))
		check_report(state.check, CHECK_WARNING, "protocol", "client", "%s",
			     cli_in_options(text));
}

/* ---- lists --------------------------------------------------------------------------------------- */

static int fetch(struct check *c)
{
	static const char *const capability[] = { "tools", "resources", "resources", "prompts" };

	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		const struct catalog_kind *kind = &catalog_kinds[i];
		cleat_result *r;

		if (!cleat_client_server_can(c->cli->client, capability[i]))
			continue;
		r = cli_await_list(c->cli, kind->list);
		if (cleat_result_status(r) == CLEAT_OK) {
			c->lists[i] = r;
			continue;
		}
		if (cleat_result_step(r) != CLEAT_STEP_ANSWER &&
		    cleat_result_step(r) != CLEAT_STEP_PROTOCOL) {
			int code = cli_result_error(c->cli, r);

			cleat_result_free(r);
			return code;
		}
		if (kind->list != CLEAT_LIST_TEMPLATES ||
		    cleat_result_error(r)->rpc_code != CLEAT_RPC_METHOD_NOT_FOUND)
			check_report(c, CHECK_ERROR, "list", keepf("list of %s", kind->option),
				     "%s", cli_result_words(r));
		cleat_result_free(r);
	}
	return EXIT_GOOD;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int print_rules(struct cli *cli)
{
	FILE *to = cli_out(cli);

	if (!to)
		return EXIT_OTHER;
	for (const struct check_rule *r = check_rules; r->id; r++)
		fprintf(to, "%-21s %s\n", r->id, r->what);
	return EXIT_GOOD;
}

static void print_summary(struct check *c)
{
	if (!c->found[CHECK_ERROR] && !c->found[CHECK_WARNING])
		fputs("nothing found\n", c->to);
	else
		fprintf(c->to, "%zu error%s, %zu warning%s\n", c->found[CHECK_ERROR],
			c->found[CHECK_ERROR] == 1 ? "" : "s", c->found[CHECK_WARNING],
			c->found[CHECK_WARNING] == 1 ? "" : "s");
}

static int check_finish(struct check *c, int code)
{
	if (code == EXIT_GOOD && cli_interrupted())
		code = cli_interrupted_code();
	if (code == EXIT_GOOD &&
	    (c->found[CHECK_ERROR] || (cli_flag(c->cli, "strict") && c->found[CHECK_WARNING])))
		code = EXIT_CHECK;
	if (code != EXIT_GOOD && code != EXIT_CHECK)
		return code;
	if (c->cli->json || cli_option(c->cli, "jq")) {
		cleat_doc *findings;
		int printed = EXIT_OTHER;

		cleat_build_end(c->findings);
		findings = cleat_build_finish(c->findings, NULL);
		c->findings = NULL; /* what comes now comes too late */
		cli_print_doc(c->cli,
			      cleat_doc_newf(
				      NULL,
				      "{errors: %zu, warnings: %zu, notes: %zu, findings: %p}",
				      c->found[CHECK_ERROR], c->found[CHECK_WARNING],
				      c->found[CHECK_NOTE], (const void *)cleat_doc_root(findings)),
			      &printed);
		cleat_doc_free(findings);
		return printed ? printed : code;
	}
	print_summary(c);
	return code;
}

static int examine(struct check *c)
{
	int code = cli_open(c->cli);

	judge_probe();
	if (code == EXIT_GOOD)
		code = fetch(c);
	if (code == EXIT_GOOD) {
		check_entries(c);
		check_behaviour(c);
	}
	return code;
}

static int check_run(struct cli *cli)
{
	static struct check c; /* callbacks use it until the client is gone */
	cleat_client_options want = { .on_message = check_on_message,
				      .on_note = check_on_note,
				      .timeout_ms = CHECK_TIMEOUT_MS,
				      .hard_timeout_ms = CHECK_TIMEOUT_MS,
				      .no_cache = true };
	int code = check_choose(cli);

	c.cli = cli;
	if (code != EXIT_GOOD)
		return code;
	if (cli_flag(cli, "rules"))
		return print_rules(cli);
	if (cli->argc)
		return cli_usage(cli, "\"%s\" is one word too many: check takes a SERVER only",
				 cli->argv[0]);
	c.to = cli_out(cli);
	if (!c.to)
		return EXIT_OTHER;
	state.check = &c;
	cleat_build_array(c.findings = cleat_build_new(NULL), NULL);
	if (!cli_client(cli, &want, &code)) {
		cleat_build_free(c.findings);
		return code;
	}
	state.protocol = protocol_new(NULL);
	code = check_finish(&c, examine(&c));
	for (size_t i = 0; i < CLEAT_COUNT(c.lists); i++)
		cleat_result_free(c.lists[i]);
	/* Messages may still come while the client ends. */
	cleat_client_free(cli->client);
	cli->client = NULL;
	protocol_free(state.protocol);
	cleat_build_free(c.findings);
	return code;
}

static const char *const usage[] = { "check [OPTION]... SERVER", "check [OPTION]... -- COMMAND...",
				     "check --rules", NULL };
static const struct cli_option own[] = {
	{ .name = "rule",
	  .arg = "RULE",
	  .repeat = true,
	  .help = "this rule only; several are possible" },
	{ .name = "skip",
	  .arg = "RULE",
	  .repeat = true,
	  .help = "not this rule; several are possible" },
	{ .name = "strict", .help = "warnings make the exit code 7, too" },
	{ .name = "rules", .help = "print the rules" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat check http://localhost:8080/mcp", "all rules" },
	{ "cleat check --skip argument-description --strict -- ./hello",
	  "for continuous integration" },
	{ "cleat check --rules", "which rules there are" },
	{ 0 },
};

const struct verb verb_check = {
	.name = "check",
	.summary = "look for mistakes in a server: texts, schemas, behaviour",
	.usage = usage,
	.about =
		"Looks at all that a server lists, checks every message against the protocol, and tries how the server answers requests for what does not exist. Each finding names its rule, the place, and what to "
		"do. Findings are errors, warnings, or (with -v or --json) notes.\n\n"
		"Nothing is called that could change something: tools only when they say by readOnlyHint that "
		"they change nothing; up to 20 resources are read, and prompts are requested.\n\n"
		"The exit code is 7 when there are errors; with --strict for warnings, too.",
	.groups = CLI_SERVER | CLI_OUTPUT | CLI_DECLINES,
	.options = own,
	.examples = examples,
	.run = check_run,
};
