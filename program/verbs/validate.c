/* program/verbs/validate.c - `cleat validate`: are these messages what the protocol says? */
#include "check/protocol.h"
#include "terminal/output.h"
#include "text/print.h"
#include "text/text.h"

#include <errno.h>
#include <string.h>

enum { FILE_MOST = 256 << 20 };

struct validation {
	struct cli *cli;
	struct protocol *protocol;
	enum protocol_side from; /* as the options say */
	FILE *to;
	size_t number, line; /* of the message that is looked at, from 1; line 0: there are none */
	size_t invalid;
	int code;
	/* its findings */
	struct text shown;
	cleat_build *findings; /* NULL: none */
};

static void on_finding(void *ctx, const struct protocol_finding *f)
{
	struct validation *r = ctx;

	if (!r->findings)
		cleat_build_array(r->findings = cleat_build_new(NULL), NULL);
	cleat_build_valuef(r->findings, NULL, "{severity: %s, rule: %s, pointer: %s, text: %s}",
			   f->warning ? "warning" : "error", f->rule, f->pointer, f->text);
	text_printf(&r->shown, "  %s%s%s%s\n", f->warning ? "warning: " : "", f->pointer,
		    *f->pointer ? ": " : "", f->text);
}

static void print_findings(struct validation *r, const struct protocol_message *m)
{
	const char *color = r->cli->color ? COLOR_BOLD : "", *off = r->cli->color ? COLOR_OFF : "";
	struct text head = { 0 };

	if (!r->shown.n)
		return;
	text_printf(&head, "%s %zu", r->line ? "line" : "message", r->line ? r->line : r->number);
	text_printf(&head, ": %s%s%s", m->kind, m->method ? " " : "", m->method ? m->method : "");
	if (strcmp(m->kind, "result") == 0 && !m->matched)
		text_puts(&head, " (of a request that is not here)");
	fputs(color, r->to);
	print_line(r->to, text_str(&head));
	fprintf(r->to, "%s\n", off);
	print_safe(r->to, text_str(&r->shown), r->shown.n);
	text_free(&head);
}

static void print_message(struct validation *r, const struct protocol_message *m, bool valid)
{
	cleat_doc *findings;
	cleat_build *b;

	if (!r->cli->json && !cli_option(r->cli, "jq")) {
		print_findings(r, m);
		return;
	}
	if (!r->findings)
		cleat_build_array(r->findings = cleat_build_new(NULL), NULL);
	cleat_build_end(r->findings);
	findings = cleat_build_finish(r->findings, NULL);
	r->findings = NULL;
	b = cleat_build_new(NULL);
	cleat_build_object(b, NULL);
	cleat_build_uint(b, "message", r->number);
	if (r->line)
		cleat_build_uint(b, "line", r->line);
	cleat_build_str(b, "kind", m->kind);
	cleat_build_str(b, "method", m->method);
	cleat_build_str(b, "revision", m->revision);
	cleat_build_bool(b, "valid", valid);
	cleat_build_value(b, "findings", cleat_doc_root(findings));
	cleat_build_end(b);
	cli_print_doc(r->cli, cleat_build_finish(b, NULL), &r->code);
	cleat_doc_free(findings);
}

static void end_message(struct validation *r, const struct protocol_message *m, size_t errors)
{
	r->invalid += errors > 0;
	print_message(r, m, !errors);
	text_free(&r->shown);
	cleat_build_free(r->findings);
	r->findings = NULL;
}

/* "> " and "< " are what -v puts before messages; its other lines are none. */
static bool strip(const char **at, size_t *n, enum protocol_side *from)
{
	static const char server[] = "[server] ";

	while (*n && strchr(" \t\r", (*at)[*n - 1]))
		--*n;
	if (!*n || (*n > 1 && (*at)[0] == '*' && (*at)[1] == ' ') ||
	    (*n >= sizeof server - 1 && memcmp(*at, server, sizeof server - 1) == 0))
		return false;
	if (*n > 2 && ((*at)[0] == '>' || (*at)[0] == '<') && (*at)[1] == ' ') {
		*from = (*at)[0] == '>' ? PROTOCOL_CLIENT : PROTOCOL_SERVER;
		*at += 2;
		*n -= 2;
	}
	return true;
}

/* A line of a transcript has the message inside: {"t": 1.5, "dir": ">", "msg": {...}}. */
static void check_value(struct validation *r, const cleat_json *v, enum protocol_side from)
{
	const char *dir = cleat_json_str(cleat_json_get(v, "dir"), "");
	struct protocol_message m;

	if (*dir && !cleat_json_get(v, "jsonrpc")) {
		from = *dir == '>' ? PROTOCOL_CLIENT : PROTOCOL_SERVER;
		v = cleat_json_get(v, cleat_json_get(v, "msg") ? "msg" : "text");
	}
	r->number++;
	end_message(r, &m, protocol_check(r->protocol, from, v, on_finding, r, &m));
}

static void check_array(struct validation *r, const cleat_json *all)
{
	cleat_json_iter it = cleat_json_each(all);

	while (cleat_json_next(&it))
		check_value(r, it.value, r->from);
}

static void check_line(struct validation *r, const char *at, size_t n)
{
	enum protocol_side from = r->from;
	struct protocol_message m;
	cleat_doc *doc;

	if (!strip(&at, &n, &from))
		return;
	doc = cleat_doc_parse(at, n, NULL, NULL, NULL);
	if (doc) {
		check_value(r, cleat_doc_root(doc), from);
	} else {
		r->number++;
		end_message(r, &m,
			    protocol_check_text(r->protocol, from, at, n, on_finding, r, &m));
	}
	cleat_doc_free(doc);
}

static void check_lines(struct validation *r, const char *text, size_t n)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		size_t length = end ? (size_t)(end - text) : n, used = end ? length + 1 : n;

		r->line++;
		check_line(r, text, length);
		text += used;
		n -= used;
	}
}

static int validate_check(struct validation *r, const char *text, size_t n)
{
	cleat_json_limits limits = { .max_nodes = SIZE_MAX / 64 };
	size_t first = strspn(text, " \t\r\n");
	cleat_doc *doc = text[first] == '[' || text[first] == '{'
				 ? cleat_doc_parse(text, n, &limits, NULL, NULL)
				 : NULL;

	if (cleat_json_type(cleat_doc_root(doc)) == CLEAT_JSON_ARRAY) {
		check_array(r, cleat_doc_root(doc));
	} else if (doc) {
		check_value(r, cleat_doc_root(doc), r->from);
	} else {
		check_lines(r, text, n);
	}
	cleat_doc_free(doc);
	if (r->code != EXIT_GOOD)
		return r->code;
	if (!r->number)
		return cli_error(r->cli, EXIT_CHECK, "there are no messages");
	if (!r->cli->json && !cli_option(r->cli, "jq")) {
		if (r->invalid)
			fprintf(r->to, "%zu of %zu messages %s not valid\n", r->invalid, r->number,
				r->invalid == 1 ? "is" : "are");
		else
			fprintf(r->to, "%zu message%s, all valid\n", r->number,
				r->number == 1 ? "" : "s");
	}
	return r->invalid ? EXIT_CHECK : EXIT_GOOD;
}

static int validate_run(struct cli *cli)
{
	const char *revision = cli_option(cli, "protocol"), *from = cli_option(cli, "from");
	const char *path = cli->argc ? cli->argv[0] : "-";
	struct validation r = { .cli = cli, .code = EXIT_GOOD };
	struct text text = { 0 };
	int code;

	if (cli->argc > 1)
		return cli_usage(cli, "one FILE only");
	r.from = !from ? PROTOCOL_ANYBODY : *from == 'c' ? PROTOCOL_CLIENT : PROTOCOL_SERVER;
	r.protocol = protocol_new(revision);
	if (!r.protocol)
		return cli_usage(cli, "--protocol is one of %s, not \"%s\"",
				 protocol_revision_list(), revision);
	r.to = cli_out(cli);
	if (!r.to)
		code = EXIT_OTHER;
	else if (!text_read(&text, path, FILE_MOST))
		code = cli_error(cli, EXIT_USAGE, "cannot read %s: %s",
				 strcmp(path, "-") == 0 ? "stdin" : path, strerror(errno));
	else
		code = validate_check(&r, text_str(&text), text.n);
	text_free(&text);
	protocol_free(r.protocol);
	return code;
}

static const char *const usage[] = { "validate [OPTION]... [FILE]", NULL };
static const struct cli_option own[] = {
	{ .name = "protocol",
	  .arg = "REV",
	  .help = "by this revision: 2025-11-25; default: the one that the messages say",
	  .choices = "2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28" },
	{ .name = "from",
	  .arg = "SIDE",
	  .choices = "client|server",
	  .help = "who sent all of it; default: either" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "echo '{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}' | cleat validate",
	  "one message" },
	{ "cleat call -v http://localhost:8080/mcp add a=2 b=40 2>&1 >/dev/null | cleat validate",
	  "a whole exchange: both directions, each result by its request" },
	{ 0 },
};

const struct verb verb_validate = {
	.name = "validate",
	.summary = "check messages against the protocol",
	.usage = usage,
	.about =
		"Messages are read from FILE or stdin: one on each line, or a JSON array of them. Each must "
		"be JSON-RPC 2.0, and a message of the protocol's revision: a known method, sent by the side that may send it, with its required members. A result is checked by the request "
		"with the same id, when that is there, too. Members that the protocol does not know are "
		"allowed.\n\n"
		"Lines that begin with \"> \" are the client's and with \"< \" the server's, as -v prints "
		"them.\n\n"
		"With --json there is one line for each message. The exit code is 7 when one is not valid.",
	.groups = CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = validate_run,
};
