/* program/verbs/call.c - `cleat call`: calls a tool. */
#include "verbs/perform.h"

static const cleat_json *schema_of(const cleat_json *tool, cleat_doc **ret_doc)
{
	(void)ret_doc;
	return cleat_json_get(tool, "inputSchema");
}

static int verbs_call_run(struct cli *cli)
{
	return perform(cli, &(struct performance){ .kind = catalog_kind(CLEAT_LIST_TOOLS),
						   .method = "tools/call",
						   .schema = schema_of });
}

static const char *const usage[] = { "call [OPTION]... SERVER TOOL [ARGUMENT]...",
				     "call [OPTION]... -- COMMAND... -- TOOL [ARGUMENT]...", NULL };
static const struct cli_example examples[] = {
	{ "cleat call http://localhost:8080/mcp add a=2 b=40",
	  "arguments are typed and checked by the tool's schema" },
	{ "cleat call -- ./hello -- add a=2 b=40", "the server is a program" },
	{ "cleat call -- ./hello -- add --json a=2 b=40", "the result as it came" },
	{ "echo '{\"a\": 2, \"b\": 40}' | cleat call http://localhost:8080/mcp add -",
	  "arguments from stdin" },
	{ "cleat call -v http://localhost:8080/mcp add a=2 b=40", "with the exchange on stderr" },
	{ "cleat call --dry-run -- ./hello -- add a=2 b=40",
	  "do the arguments fit? What is sent?" },
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
		"Text is printed as it is, images where the terminal can show them. Structured content is "
		"printed where there is no other, and where a text is the same JSON; --json has all of it. A single image that goes to a file or a pipe is written as it is. What a failed tool "
		"says goes to stderr, and the exit code is 5.\n\n"
		"When the server asks something back, you are asked at the terminal; --answer, --accept and "
		"--decline answer without one.",
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT | CLI_CONTENT,
	.options = perform_options,
	.examples = examples,
	.run = verbs_call_run,
};
