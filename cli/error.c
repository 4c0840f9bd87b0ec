/* cli/error.c - what is said on stderr, and the exit codes that go with it. */
#include "cli.h"
#include "print.h"
#include "text.h"

#include <string.h>

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

static void print_json(int code, const char *step, int http_status, int rpc_code,
		       const char *message)
{
	struct text t = { 0 };

	text_printf(&t, "{\"error\":{\"code\":\"%s\",\"message\":", word_of(code));
	print_utf8(&t, message);
	if (step && *step) {
		text_puts(&t, ",\"step\":");
		text_json(&t, step, strlen(step));
	}
	if (http_status)
		text_printf(&t, ",\"status\":%d", http_status);
	if (rpc_code)
		text_printf(&t, ",\"rpc\":%d", rpc_code);
	text_puts(&t, "}}\n");
	print_json_text(stderr, text_str(&t), t.n);
	text_free(&t);
}

int cli_error_at(const struct cli *cli, int code, const char *step, int http_status, int rpc_code,
		 const char *message)
{
	if (cli && cli->json) {
		print_json(code, step, http_status, rpc_code, message);
		return code;
	}
	fputs("cleat: ", stderr);
	cli_print_text(stderr, message, strlen(message));
	fputc('\n', stderr);
	return code;
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
static const char *in_options(const char *message)
{
	static const char *const names[][2] = {
		{ "opts.protocol", "--protocol" }, { "opts.era", "--era" },
		{ "opts.headers", "--header" },    { "opts.bearer", "--bearer" },
		{ "opts.ca_file", "--ca" },        { "opts.proxy", "--proxy" },
		{ "opts.env", "--env" },           { "opts.cwd", "--cwd" },
	};
	struct text t = { 0 };
	const char *at;

	while ((at = strstr(message, "opts.")) != NULL) {
		size_t i = 0;

		while (i < CLEAT_COUNT(names) && strncmp(at, names[i][0], strlen(names[i][0])) != 0)
			i++;
		text_add(&t, message, (size_t)(at - message));
		text_puts(&t, i < CLEAT_COUNT(names) ? names[i][1] : "opts.");
		message = at + (i < CLEAT_COUNT(names) ? strlen(names[i][0]) : 5);
	}
	text_puts(&t, message);
	return keep(text_take(&t));
}

static int say(const struct cli *cli, int code, enum cleat_step step, int http_status,
	       const cleat_error *e)
{
	return cli_error_at(cli, code, step == CLEAT_STEP_NONE ? NULL : cleat_step_name(step),
			    http_status, e->rpc_code, in_options(e->message));
}

int cli_say_interrupted(const struct cli *cli)
{
	return cli_error_at(cli, cli_interrupted_code(), NULL, 0, 0, "interrupted");
}

int cli_result_error(const struct cli *cli, const cleat_result *r)
{
	const cleat_error *e = cleat_result_error(r);
	enum cleat_step step = cleat_result_step(r);
	int code = step_code(step, e), asked = cli_unanswered(cli);

	if (asked)
		return asked; /* said when it was asked */
	if (cli_interrupted())
		return cli_say_interrupted(cli);
	return say(cli, code, step, cleat_result_http_status(r), e);
}

int cli_client_error(const struct cli *cli)
{
	const cleat_error *e = cleat_client_error(cli->client);
	enum cleat_step step = cleat_client_error_step(cli->client);

	if (cli_interrupted())
		return cli_say_interrupted(cli);
	return say(cli, step_code(step, e), step, cleat_client_error_http_status(cli->client), e);
}
