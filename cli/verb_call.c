/* cli/verb_call.c - `cleat call`: calls a tool. */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>

static int no_such_tool(struct cli *cli, const cleat_json *tools, const char *name)
{
	struct words names = { 0 };
	const char *near;

	catalog_names(&catalog_kinds[0], tools, &names);
	near = names.n ? cli_nearest(name, names.at, names.n) : NULL;
	if (near)
		return cli_error(cli, EXIT_TOOL, "there is no tool \"%s\", did you mean \"%s\"?",
				 name, near);
	return cli_error(cli, EXIT_TOOL, "there is no tool \"%s\" (cleat ls lists them)", name);
}

/* The arguments as JSON text, from malloc. With *ret_list the schema's owner. */
static char *arguments(struct cli *cli, const char *tool, int *ret_code)
{
	cleat_result *list;
	const cleat_json *entry;
	char *text = NULL;

	if (cli_flag(cli, "no-check"))
		return cli_arguments(cli, tool, cli->argc - 1, cli->argv + 1, NULL, ret_code);
	list = cli_await_list(cli, CLEAT_LIST_TOOLS);
	*ret_code = cli_result_code(cli, list);
	if (*ret_code == EXIT_GOOD) {
		entry = catalog_find(&catalog_kinds[0], cleat_result_items(list), tool);
		if (entry)
			text = cli_arguments(cli, tool, cli->argc - 1, cli->argv + 1,
					     cleat_json_get(entry, "inputSchema"), ret_code);
		else
			*ret_code = no_such_tool(cli, cleat_result_items(list), tool);
	}
	cleat_result_free(list);
	return text;
}

static int run(struct cli *cli)
{
	char *args;
	int code;

	if (!cli->argc && (cli->server || cli->command))
		return cli_usage(cli, "which tool? cleat ls lists them");
	if (!cli_client(cli, NULL, &code))
		return code;
	args = arguments(cli, cli->argv[0], &code);
	if (!args)
		return code;
	code = cli_perform(cli, "tools/call", cli->argv[0], args);
	free(args);
	return code;
}

static const char *const usage[] = { "call [OPTION]... SERVER TOOL [ARGUMENT]...",
				     "call [OPTION]... -- COMMAND... -- TOOL [ARGUMENT]...", NULL };
static const struct cli_option own[] = {
	{ .name = "no-check",
	  .help = "do not ask for the tool's schema: values are text, := is JSON, nothing is checked" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat call $URL add a=2 b=40", "arguments are typed and checked by the tool's schema" },
	{ "cleat call -- $HELLO -- add a=2 b=40", "the server is a program" },
	{ "cleat call -- $HELLO -- add --json a=2 b=40", "the result as it came" },
	{ "echo '{\"a\": 2, \"b\": 40}' | cleat call $URL add -", "arguments from stdin" },
	{ "cleat call -v $URL add a=2 b=40", "with the exchange on stderr" },
	{ 0 },
};

const struct verb verb_call = {
	.name = "call",
	.summary = "call a tool and print its result",
	.usage = usage,
	.about =
		"Arguments are key=value, by the types of the tool's schema; key:=json; key=@file; an array "
		"where a key stands several times; a JSON object; or - for one on stdin (see \"cleat help "
		"arguments\"). What does not fit is said before anything is sent.\n\n"
		"Text is printed as it is, structured content as JSON, images where the terminal can show "
		"them. A single image that goes to a file or a pipe is written as it is. What a failed tool "
		"says goes to stderr, and the exit code is 5.\n\n"
		"When the server asks something back, you are asked at the terminal; --answer, --accept and "
		"--decline answer without one.",
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = run,
};
