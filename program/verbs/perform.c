/* program/verbs/perform.c - calls what a server has by name: looks it up, checks the arguments by its schema, sends
 * them, prints the content. Nothing is sent that does not fit.
 */
#include "verbs/perform.h"
#include "cli/arguments.h"
#include "reach/reach.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/nearest.h"

const struct cli_option perform_options[] = {
	{ .name = "no-check",
	  .help = "do not ask for the schema: values are text, := is JSON, nothing is checked" },
	{ .name = "dry-run", .help = "check the arguments and print what would be sent" },
	{ 0 },
};

static int no_such(struct cli *cli, const struct catalog_kind *kind, const cleat_json *items,
		   const char *name)
{
	struct words names = { 0 };
	const char *near;

	catalog_names(kind, items, &names);
	near = names.n ? nearest(name, names.at, names.n) : NULL;
	if (near)
		return cli_error(cli, EXIT_TOOL, "there is no %s \"%s\", did you mean \"%s\"?",
				 kind->one, name, near);
	return cli_error(cli, EXIT_TOOL, "there is no %s \"%s\" (cleat ls --%s lists them)",
			 kind->one, name, kind->option);
}

/* The arguments, an object; NULL after a message. */
static cleat_doc *arguments(struct cli *cli, const struct performance *p, const char *name,
			    int *ret_code)
{
	const cleat_json *entry, *schema;
	cleat_result *list;
	cleat_doc *doc = NULL, *args = NULL;

	if (cli_flag(cli, "no-check"))
		return cli_arguments(cli, name, cli->argc - 1, cli->argv + 1, NULL, ret_code);
	list = cli_await_list(cli, p->kind->list);
	*ret_code = cli_result_code(cli, list);
	if (*ret_code == EXIT_GOOD) {
		entry = catalog_find(p->kind, cleat_result_items(list), name);
		schema = entry ? p->schema(entry, &doc) : NULL;
		if (entry)
			args = cli_arguments(cli, name, cli->argc - 1, cli->argv + 1, schema,
					     ret_code);
		else
			*ret_code = no_such(cli, p->kind, cleat_result_items(list), name);
		cleat_doc_free(doc);
	}
	cleat_result_free(list);
	return args;
}

static int send_it(struct cli *cli, const char *method, const cleat_json *params)
{
	cleat_result *r = cli_await(cli, method, params);
	int code = cli_result_code(cli, r);

	if (cli_unanswered(cli))
		code = cli_unanswered(cli);
	else if (code == EXIT_GOOD || cleat_result_is_tool_error(r))
		code = cli_print_content(cli, r);
	cleat_result_free(r);
	return code;
}

static int print_it(struct cli *cli, const cleat_json *params)
{
	FILE *to;
	int code;

	if (cli_print_json(cli, params, &code))
		return code;
	to = cli_out(cli);
	if (to)
		cli_pretty(cli, to, params);
	return to ? EXIT_GOOD : EXIT_OTHER;
}

int perform(struct cli *cli, const struct performance *p)
{
	cleat_doc *args, *params;
	cleat_error err;
	int code;

	if (!cli->argc && (cli->server || cli->command))
		return cli_usage(cli, "which %s? cleat ls --%s lists them", p->kind->one,
				 p->kind->option);
	if (!cli_client(cli, NULL, &code))
		return code;
	args = arguments(cli, p, cli->argv[0], &code);
	if (!args)
		return code;
	params = cleat_doc_newf(&err, "{name: %s, arguments: %p}", cli->argv[0],
				(const void *)cleat_doc_root(args));
	if (!params)
		code = cli_error(cli, EXIT_OTHER, "%s", err.message);
	else if (cli_flag(cli, "dry-run"))
		code = print_it(cli, cleat_doc_root(params));
	else
		code = send_it(cli, p->method, cleat_doc_root(params));
	cleat_doc_free(params);
	cleat_doc_free(args);
	return code;
}
