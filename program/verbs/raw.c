/* program/verbs/raw.c - `cleat raw`: any method with any parameters. */
#include "cli/arguments.h"
#include "reach/reach.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/output.h"

static int print_value(struct cli *cli, const cleat_json *v)
{
	FILE *to;
	int code;

	if (cli_print_json(cli, v, &code))
		return code;
	to = cli_out(cli);
	if (!to)
		return EXIT_OTHER;
	cli_pretty(cli, to, v);
	return EXIT_GOOD;
}

/* The last error that came; what the library says about it is meant for people. */
static cleat_doc *last_error;

static void raw_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	cleat_doc *doc = out ? NULL : cleat_doc_parse(text, n, NULL, NULL, NULL);

	(void)c;
	(void)userdata;
	if (!cleat_json_get(cleat_doc_root(doc), "error")) {
		cleat_doc_free(doc);
		return;
	}
	cleat_doc_free(last_error);
	last_error = doc;
}

/* The error of JSON-RPC is an answer, too; for a program it is an error besides. */
static int print_error(struct cli *cli, const cleat_result *r)
{
	int code = print_value(cli, cleat_json_get(cleat_doc_root(last_error), "error"));

	if (code != EXIT_GOOD)
		return code;
	return cli->json ? cli_result_error(cli, r) : EXIT_TOOL;
}

static int request(struct cli *cli, const char *method, const cleat_json *params)
{
	cleat_result *r = cli_await(cli, method, params);
	const cleat_json *raw = cleat_result_raw(r);
	int code;

	if (!raw && cleat_result_step(r) == CLEAT_STEP_ANSWER && last_error)
		code = print_error(cli, r);
	else if (!raw || cli_unanswered(cli))
		code = cli_result_error(cli, r);
	else
		code = print_value(cli, raw);
	if (code == EXIT_GOOD && cleat_result_is_tool_error(r))
		code = cli->json ? cli_error(cli, EXIT_TOOL, "the tool failed") : EXIT_TOOL;
	cleat_result_free(r);
	cleat_doc_free(last_error);
	last_error = NULL;
	return code;
}

static int notify(struct cli *cli, const char *method, const cleat_json *params)
{
	int code = cli_open(cli), rc;

	if (code != EXIT_GOOD)
		return code;
	rc = params ? cleat_client_notifyf(cli->client, method, "%p", (void *)params)
		    : cleat_client_notifyf(cli->client, method, NULL);
	return rc == CLEAT_OK
		       ? EXIT_GOOD
		       : cli_error(cli, EXIT_OTHER, "cannot send it: %s", cleat_strstatus(rc));
}

static int raw_run(struct cli *cli)
{
	cleat_doc *params;
	const cleat_json *root;
	int code;

	if (!cli->argc && (cli->server || cli->command))
		return cli_usage(cli, "which method? For instance: tools/list");
	if (!cli_client(cli, &(cleat_client_options){ .on_message = raw_on_message }, &code))
		return code;
	params = cli_arguments(cli, cli->argv[0], cli->argc - 1, cli->argv + 1, NULL, &code);
	if (!params)
		return code;
	root = cli->argc > 1 ? cleat_doc_root(params) : NULL;
	code = cli_flag(cli, "notify") ? notify(cli, cli->argv[0], root)
				       : request(cli, cli->argv[0], root);
	cleat_doc_free(params);
	return code;
}

static const char *const usage[] = { "raw [OPTION]... SERVER METHOD [PARAMETER]...",
				     "raw [OPTION]... -- COMMAND... -- METHOD [PARAMETER]...",
				     NULL };
static const struct cli_option own[] = {
	{ .name = "notify", .letter = 'n', .help = "send a notification: no answer is waited for" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat raw http://localhost:8080/mcp tools/call '{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 40}}'",
	  "parameters as JSON" },
	{ "echo '{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 40}}' | cleat raw http://localhost:8080/mcp tools/call -",
	  "from stdin" },
	{ "cleat raw --notify -- ./hello -- notifications/roots/list_changed", "a notification" },
	{ 0 },
};

const struct verb verb_raw = {
	.name = "raw",
	.summary = "send any method, print the answer as it came",
	.usage = usage,
	.about =
		"Parameters are a JSON object, - for one on stdin, or key=value (text) and key:=json. Nothing "
		"is checked; what the revision wants to be in _meta is added. The result, or the error object "
		"(exit code 5), is printed as JSON.",
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = raw_run,
};
