/* program/verbs/complete.c - `cleat complete`: what a server suggests for an argument. */
#include "cli/arguments.h"
#include "reach/catalog.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"

#include <string.h>

static int print_suggestions(struct cli *cli, const cleat_result *r)
{
	const cleat_json *raw = cleat_result_raw(r), *all = cleat_json_get(raw, "completion");
	cleat_json_iter it = cleat_json_each(cleat_result_items(r));
	FILE *to;
	int code;

	if (cli_print_json(cli, raw, &code))
		return code;
	to = cli_out(cli);
	if (!to)
		return EXIT_OTHER;
	while (cleat_json_next(&it)) {
		print_line(to, cleat_json_str(it.value, ""));
		fputc('\n', to);
	}
	if (cleat_json_bool(cleat_json_get(all, "hasMore"), false))
		cli_note(cli, "there are more; type more to see them");
	else if (!cleat_json_size(cleat_result_items(r)))
		cli_note(cli, "the server suggests nothing");
	return EXIT_GOOD;
}

/* As the library does, a name is a prompt's and what looks like a URI is a template's. */
static cleat_doc *params_of(const char *ref, const char *argument, const cleat_json *known)
{
	size_t n = strcspn(argument, "=");

	return catalog_completion(strchr(ref, '{') || strstr(ref, "://"), ref,
				  keepf("%.*s", (int)n, argument),
				  argument[n] ? argument + n + 1 : "", known);
}

static int complete_run(struct cli *cli)
{
	cleat_doc *known, *params;
	cleat_result *r;
	int code;

	if (cli->argc < 2 && (cli->server || cli->command))
		return cli_usage(cli, cli->argc ? "which argument of it?"
						: "of which prompt or template? cleat ls --prompts "
						  "--templates lists them");
	if (!cli_client(cli, NULL, &code))
		return code;
	known = cli_arguments(cli, cli->argv[0], cli->argc - 2, cli->argv + 2, NULL, &code);
	if (!known)
		return code;
	params = params_of(cli->argv[0], cli->argv[1], cleat_doc_root(known));
	cleat_doc_free(known);
	if (!params)
		return cli_error(cli, EXIT_OTHER, "out of memory");
	r = cli_await(cli, "completion/complete", cleat_doc_root(params));
	code = cli_result_code(cli, r);
	if (code == EXIT_GOOD)
		code = print_suggestions(cli, r);
	cleat_result_free(r);
	cleat_doc_free(params);
	return code;
}

static const char *const usage[] = {
	"complete [OPTION]... SERVER PROMPT|TEMPLATE ARGUMENT[=TYPED] [KEY=VALUE]...",
	"complete [OPTION]... -- COMMAND... -- PROMPT|TEMPLATE ARGUMENT[=TYPED] [KEY=VALUE]...",
	NULL
};
static const struct cli_example examples[] = {
	{ "cleat complete -- ./prompts -- describe what=p", "values of a prompt's argument" },
	{ "cleat complete -- ./resources -- 'city://{name}' name=o",
	  "values of a variable of a template" },
	{ 0 },
};

const struct verb verb_complete = {
	.name = "complete",
	.summary = "ask a server for values of an argument",
	.usage = usage,
	.about =
		"The suggestions are printed one per line. ARGUMENT=TYPED is the argument with what is typed "
		"so far; further KEY=VALUE are arguments that are known already, which a server may take into "
		"account. A URI template is recognised by its {} or ://; anything else is a prompt.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.examples = examples,
	.run = complete_run,
};
