/* program/reach/result.c - calls and connections that failed: in words for people, and as exit codes. */
#include "reach/reach.h"
#include "reach/target.h"

#include "terminal/ask.h"
#include "terminal/await.h"
#include "text/text.h"

#include <string.h>

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
		{ "opts.log_level", "--log" },
		{ " (opts.max_rounds)", "" },
		{ " (opts.max_calls)", "" },
		{ "than opts.max_pages allows", "than cleat reads" },
		{ "than opts.json.max_nodes allows", "than cleat reads" },
		{ "(connect_timeout_ms)", "(--timeout)" },
		{ "(hard_timeout_ms)", "(--timeout)" },
		{ "(timeout_ms)", "(--timeout)" },
		{ "ca_file names an authority of your own",
		  "--ca FILE names an authority of your own, -k accepts any" },
		{ "ca_file ", "--ca " },
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

static int result_say(const struct cli *cli, enum cleat_step step, int http_status,
		      const cleat_error *e, const char *message, const cleat_json *data)
{
	const cleat_client_options *opts;

	if (step == CLEAT_STEP_NEGOTIATE && !data)
		data = cli_refusal(cli);
	if (step == CLEAT_STEP_SPAWN || step == CLEAT_STEP_EXCHANGE)
		message = without_stderr(cli, message);
	if (step >= CLEAT_STEP_SPAWN && step <= CLEAT_STEP_NEGOTIATE)
		message = without_methods(message);
	if (step == CLEAT_STEP_AUTH && cli_target(cli, &opts)->no_bearer)
		message = keepf("%s (%s)", message, cli_target(cli, &opts)->no_bearer);
	return cli_fail(cli, &(struct cli_failure){
				     .code = step_code(step, e),
				     .step = step == CLEAT_STEP_NONE ? NULL : cleat_step_name(step),
				     .http_status = http_status,
				     .rpc_code = e->rpc_code,
				     .message = message,
				     .data = data });
}

/* Is it the beginning of what the server said? Its newlines have become spaces. */
static bool is_beginning(const char *part, const char *whole)
{
	while (*part && (*part == *whole || (*part == ' ' && *whole && *whole < ' ')))
		part++, whole++;
	return !*part;
}

/* "tools/call add: no", with all of what the server said, for which the library's words have no room. */
const char *cli_result_words(const cleat_result *r)
{
	const cleat_error *e = cleat_result_error(r);
	const char *said =
		cleat_json_str(cleat_json_get(cleat_result_error_json(r), "message"), NULL);
	const char *at = e->message, *colon;

	if (cleat_result_step(r) != CLEAT_STEP_ANSWER)
		return cli_in_options(e->message);

	while (said && !is_beginning(at, said)) {
		colon = strstr(at, ": ");
		said = colon ? said : NULL;
		at = colon ? colon + 2 : at;
	}
	return said ? keepf("%.*s%s", (int)(at - e->message), e->message, said) : e->message;
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
	return result_say(cli, step, cleat_result_http_status(r), e, cli_result_words(r),
			  cleat_result_error_data(r));
}

int cli_client_error(const struct cli *cli)
{
	const cleat_error *e = cleat_client_error(cli->client);
	enum cleat_step step = cleat_client_error_step(cli->client);

	if (cli_interrupted())
		return cli_say_interrupted(cli);
	return result_say(cli, step, cleat_client_error_http_status(cli->client), e,
			  cli_in_options(e->message), NULL);
}
