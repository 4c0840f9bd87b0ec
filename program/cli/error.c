/* program/cli/error.c - what is said on stderr, and the exit codes that go with it. */
#include "cli/cli.h"
#include "terminal/print.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_MOST = 1000 }; /* of a line of an error's data */

static const struct {
	int code;
	const char *word;
} words[] = {
	{ EXIT_OTHER, "other" },
	{ EXIT_USAGE, "usage" },
	{ EXIT_AUTH, "auth_required" },
	{ EXIT_UNREACHABLE, "unreachable" },
	{ EXIT_TOOL, "failed" },
	{ EXIT_PROTOCOL, "protocol" },
	{ EXIT_CHECK, "check" },
	{ EXIT_TIMEOUT, "timeout" },
	{ EXIT_INTERRUPTED, "interrupted" },
};

static const char *word_of(int code)
{
	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		if (words[i].code == code)
			return words[i].word;
	return code > 128 ? "interrupted" : "other"; /* 143: by SIGTERM */
}

struct failure {
	int code;
	const char *step; /* NULL: none */
	int http_status, rpc_code;
	const char *message;
	const cleat_json *data; /* of JSON-RPC; NULL: none */
};

static void print_json(const struct failure *f)
{
	struct text t = { 0 };
	char *data = f->data ? cleat_json_print(f->data, NULL) : NULL;

	text_printf(&t, "{\"error\":{\"code\":\"%s\",\"message\":", word_of(f->code));
	print_utf8(&t, f->message);
	if (f->step && *f->step) {
		text_puts(&t, ",\"step\":");
		text_json(&t, f->step, strlen(f->step));
	}
	if (f->http_status)
		text_printf(&t, ",\"status\":%d", f->http_status);
	if (f->rpc_code)
		text_printf(&t, ",\"rpc\":%d", f->rpc_code);
	if (data)
		text_printf(&t, ",\"data\":%s", data);
	text_puts(&t, "}}\n");
	print_json_text(stderr, text_str(&t), t.n);
	text_free(&t);
	free(data);
}

/* What the server adds to its error: a text, {"details": a text}, or whatever it is. */
static void print_data(const cleat_json *data)
{
	const char *text =
		cleat_json_str(data, cleat_json_str(cleat_json_get(data, "details"), NULL));
	char *printed = text ? NULL : cleat_json_print(data, NULL);
	size_t n;

	text = text ? text : printed ? printed : "";
	n = strlen(text);
	while (n && text[n - 1] == '\n')
		n--;
	for (size_t at = 0, line; at < n; at += line + 1) {
		line = strcspn(text + at, "\n");
		line = line < n - at ? line : n - at;
		fputs("  ", stderr);
		cli_print_text(stderr, text + at, line < DATA_MOST ? line : DATA_MOST);
		fputs(line > DATA_MOST ? "...\n" : "\n", stderr);
	}
	free(printed);
}

static int print_failure(const struct cli *cli, const struct failure *f)
{
	if (cli && cli->json) {
		print_json(f);
		return f->code;
	}
	fputs("cleat: ", stderr);
	cli_print_text(stderr, f->message, strlen(f->message));
	fputc('\n', stderr);
	if (f->data)
		print_data(f->data);
	return f->code;
}

int cli_error_at(const struct cli *cli, int code, const char *step, int http_status, int rpc_code,
		 const char *message)
{
	return print_failure(cli, &(struct failure){ .code = code,
						     .step = step,
						     .http_status = http_status,
						     .rpc_code = rpc_code,
						     .message = message });
}

static char *format(const char *fmt, va_list ap) CLEAT_PRINTF(1, 0);
static char *format(const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	p = keep_alloc(n < 0 ? 1 : (size_t)n + 1);
	if (n > 0)
		vsnprintf(p, (size_t)n + 1, fmt, ap);
	return p;
}

int cli_error(const struct cli *cli, int code, const char *fmt, ...)
{
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = format(fmt, ap);
	va_end(ap);
	return cli_error_at(cli, code, NULL, 0, 0, message);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	const char *verb = cli->verb ? cli->verb->name : NULL;
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = format(fmt, ap);
	va_end(ap);
	if (cli->json)
		return cli_error_at(cli, EXIT_USAGE, NULL, 0, 0, message);
	fprintf(stderr, "cleat%s%s: ", verb ? " " : "", verb ? verb : "");
	cli_print_text(stderr, message, strlen(message));
	fprintf(stderr, "\ntry: cleat help%s%s\n", verb ? " " : "", verb ? verb : "");
	return EXIT_USAGE;
}

bool cli_remarks(const struct cli *cli)
{
	return !cli->quiet && (!cli->json || cli->verbose);
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;
	char *message;

	if (!cli_remarks(cli))
		return;
	va_start(ap, fmt);
	message = format(fmt, ap);
	va_end(ap);
	fputs("cleat: ", stderr);
	cli_print_text(stderr, message, strlen(message));
	fputc('\n', stderr);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* Not found is what the caller named wrongly; codes of JSON-RPC say so in more than one way. */
static int answer_code(const cleat_error *e)
{
	switch (e->rpc_code) {
	case CLEAT_RPC_UNSUPPORTED_VERSION: return EXIT_PROTOCOL;
	default: return EXIT_TOOL;
	}
}

static int step_code(enum cleat_step step, const cleat_error *e)
{
	if (e->status == CLEAT_ETIMEOUT || step == CLEAT_STEP_TIMEOUT)
		return EXIT_TIMEOUT;
	if (e->status == CLEAT_ENOMEM)
		return EXIT_OTHER;
	switch (step) {
	case CLEAT_STEP_ARGUMENTS: return EXIT_USAGE;
	case CLEAT_STEP_SPAWN:
	case CLEAT_STEP_DNS:
	case CLEAT_STEP_CONNECT:
	case CLEAT_STEP_TLS:
	case CLEAT_STEP_HTTP:
	case CLEAT_STEP_EXCHANGE: return EXIT_UNREACHABLE;
	case CLEAT_STEP_AUTH: return EXIT_AUTH;
	case CLEAT_STEP_NEGOTIATE:
	case CLEAT_STEP_PROTOCOL: return EXIT_PROTOCOL;
	case CLEAT_STEP_ANSWER: return answer_code(e);
	case CLEAT_STEP_CANCELLED: return EXIT_INTERRUPTED;
	case CLEAT_STEP_TIMEOUT:
	case CLEAT_STEP_ASKED:
	case CLEAT_STEP_NONE: break;
	}
	return EXIT_OTHER;
}

int cli_result_code(const struct cli *cli, const cleat_result *r)
{
	if (cleat_result_status(r) == CLEAT_OK)
		return EXIT_GOOD;
	if (cleat_result_is_tool_error(r))
		return EXIT_TOOL;
	return cli_result_error(cli, r);
}

/* The library names what a program has set; a person has typed options. */
const char *cli_in_options(const char *message)
{
	static const char *const names[][2] = {
		{ "opts.protocol", "--protocol" },
		{ "opts.era", "--era" },
		{ "opts.headers", "--header" },
		{ "opts.bearer", "--bearer" },
		{ "opts.ca_file", "--ca" },
		{ "opts.proxy", "--proxy" },
		{ "opts.env", "--env" },
		{ "opts.cwd", "--cwd" },
		{ "opts.max_message", "--max-size" },
		{ "(connect_timeout_ms)", "(--timeout)" },
		{ "(hard_timeout_ms)", "(--timeout)" },
		{ "(timeout_ms)", "(--timeout)" },
		{ "ca_file names an authority of your own",
		  "--ca FILE names an authority of your own, -k accepts any" },
		{ "give a bearer token", "--bearer TOKEN says it" },
	};
	struct text t = { 0 };

	while (*message) {
		size_t i = 0;

		while (i < CLEAT_COUNT(names) &&
		       strncmp(message, names[i][0], strlen(names[i][0])) != 0)
			i++;
		if (i < CLEAT_COUNT(names))
			text_puts(&t, names[i][1]);
		else
			text_add(&t, message, 1);
		message += i < CLEAT_COUNT(names) ? strlen(names[i][0]) : 1;
	}
	return keep(text_take(&t));
}

/* Before anybody was reached it does not matter which method it was for: "tools/list: server/discover: ". */
static const char *without_methods(const char *message)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz/";

	for (;;) {
		size_t n = strspn(message, letters);
		bool method = memchr(message, '/', n) || strncmp(message, "initialize:", 11) == 0;

		if (!n || !method || strncmp(message + n, ": ", 2) != 0)
			return message;
		message += n + 2;
	}
}

/* What the program has written is on the screen already. */
static const char *without_stderr(const struct cli *cli, const char *message)
{
	const char *said = cli_remarks(cli) ? strstr(message, "; it said: ") : NULL;

	return said ? keepf("%.*s", (int)(said - message), message) : message;
}

static int error_say(const struct cli *cli, enum cleat_step step, int http_status,
		     const cleat_error *e, const cleat_json *data)
{
	const char *message = cli_in_options(e->message);

	if (step == CLEAT_STEP_SPAWN || step == CLEAT_STEP_EXCHANGE)
		message = without_stderr(cli, message);
	if (step >= CLEAT_STEP_SPAWN && step <= CLEAT_STEP_NEGOTIATE)
		message = without_methods(message);
	return print_failure(
		cli,
		&(struct failure){ .code = step_code(step, e),
				   .step = step == CLEAT_STEP_NONE ? NULL : cleat_step_name(step),
				   .http_status = http_status,
				   .rpc_code = e->rpc_code,
				   .message = message,
				   .data = data });
}

int cli_say_interrupted(const struct cli *cli)
{
	return cli_error_at(cli, cli_interrupted_code(), NULL, 0, 0, "interrupted");
}

int cli_result_error(const struct cli *cli, const cleat_result *r)
{
	const cleat_error *e = cleat_result_error(r);
	enum cleat_step step = cleat_result_step(r);
	int asked = cli_unanswered(cli);

	if (asked)
		return asked; /* said when it was asked */
	if (cli_interrupted())
		return cli_say_interrupted(cli);
	return error_say(cli, step, cleat_result_http_status(r), e, cleat_result_error_data(r));
}

int cli_client_error(const struct cli *cli)
{
	const cleat_error *e = cleat_client_error(cli->client);
	enum cleat_step step = cleat_client_error_step(cli->client);

	if (cli_interrupted())
		return cli_say_interrupted(cli);
	return error_say(cli, step, cleat_client_error_http_status(cli->client), e, NULL);
}
