/* program/verbs/ls.c - `cleat ls`: what a server has; without one, which servers there are. */
#include "clients/config.h"
#include "reach/catalog.h"
#include "reach/reach.h"
#include "reach/target.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool wanted(const struct cli *cli, size_t i)
{
	bool any = false;

	for (size_t k = 0; k < CLEAT_COUNT(catalog_kinds); k++)
		any = any || cli_flag(cli, catalog_kinds[k].option);
	return cli_flag(cli, "all") || cli_flag(cli, catalog_kinds[i].option) || (!any && i == 0);
}

struct lists {
	cleat_result *at[CLEAT_COUNT(catalog_kinds)]; /* NULL: not asked for */
	cleat_doc *some[CLEAT_COUNT(catalog_kinds)];  /* those with all words; NULL: no words */
	size_t n;
};

static const cleat_json *items_of(const struct lists *lists, size_t i)
{
	return lists->some[i] ? cleat_doc_root(lists->some[i]) : cleat_result_items(lists->at[i]);
}

static int fetch(struct cli *cli, struct lists *lists)
{
	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		int code;

		if (!wanted(cli, i))
			continue;
		lists->n++;
		lists->at[i] = cli_await_list(cli, catalog_kinds[i].list);
		code = cli_result_code(cli, lists->at[i]);
		if (code)
			return code;
	}
	return EXIT_GOOD;
}

/* ---- words ---------------------------------------------------------------------------------------- */

static bool contains(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (*text && strncasecmp(text, word, n) != 0)
		text++;
	return *text || !n;
}

/* Every word is in its name, its title or its description. */
static bool matches(const struct cli *cli, const struct catalog_kind *kind, const cleat_json *entry)
{
	const char *const members[] = { kind->key, "name", "title", "description" };

	for (int w = 0; w < cli->argc; w++) {
		bool found = false;

		for (size_t i = 0; !found && i < CLEAT_COUNT(members); i++)
			found = contains(cleat_json_str(cleat_json_get(entry, members[i]), ""),
					 cli->argv[w]);
		if (!found)
			return false;
	}
	return true;
}

/* EXIT_TOOL: nothing has these words. */
static int choose(struct cli *cli, struct lists *lists)
{
	size_t found = 0;

	for (size_t i = 0; cli->argc && i < CLEAT_COUNT(catalog_kinds); i++) {
		cleat_json_iter it = cleat_json_each(cleat_result_items(lists->at[i]));
		cleat_build *b;

		if (!lists->at[i])
			continue;
		b = cleat_build_new(NULL);
		cleat_build_array(b, NULL);
		while (cleat_json_next(&it))
			if (matches(cli, &catalog_kinds[i], it.value)) {
				cleat_build_value(b, NULL, it.value);
				found++;
			}
		cleat_build_end(b);
		lists->some[i] = cleat_build_finish(b, NULL);
	}
	if (found || !cli->argc)
		return EXIT_GOOD;
	return cli_error(cli, EXIT_TOOL, "nothing has \"%s\"%s in its name or description",
			 cli->argv[0], cli->argc > 1 ? " and the other words" : "");
}

/* ---- output ---------------------------------------------------------------------------------------- */

/* One whole list is the protocol's own result, anything else one object of lists. */
static int print_json(struct cli *cli, const struct lists *lists)
{
	cleat_build *b = cleat_build_new(NULL);
	int code = EXIT_OTHER;

	cleat_build_object(b, NULL);
	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		if (!lists->at[i])
			continue;
		if (lists->n == 1 && !cli->argc) {
			cleat_build_free(b);
			cli_print_json(cli, cleat_result_raw(lists->at[i]), &code);
			return code;
		}
		if (items_of(lists, i))
			cleat_build_value(b, catalog_kinds[i].member, items_of(lists, i));
		else
			cleat_build_valuef(b, catalog_kinds[i].member, "[]");
	}
	cleat_build_end(b);
	cli_print_doc(cli, cleat_build_finish(b, NULL), &code);
	return code;
}

static void print_names(FILE *to, const struct catalog_kind *kind, const cleat_json *items)
{
	cleat_json_iter it = cleat_json_each(items);

	while (cleat_json_next(&it)) {
		print_line(to, catalog_name(kind, it.value));
		fputc('\n', to);
	}
}

static int print_lists(struct cli *cli, const struct lists *lists)
{
	FILE *to = cli_out(cli);
	bool first = true;

	for (size_t i = 0; to && i < CLEAT_COUNT(catalog_kinds); i++) {
		const struct catalog_kind *kind = &catalog_kinds[i];
		const cleat_json *items = items_of(lists, i);

		if (!lists->at[i])
			continue;
		if (cli_flag(cli, "names")) {
			print_names(to, kind, items);
			continue;
		}
		if (!cleat_json_size(items)) {
			if (lists->n == 1)
				cli_note(cli, "the server has no %s", kind->option);
			continue;
		}
		if (lists->n > 1)
			fprintf(to, "%s%s:\n", first ? "" : "\n", kind->title);
		first = false;
		catalog_print(cli, to, kind, items);
	}
	return to ? EXIT_GOOD : EXIT_OTHER;
}

static int list_servers(struct cli *cli)
{
	const struct config *config = config_load(cli);
	FILE *to = cli_out(cli);
	size_t column = 0;

	if (!config || !to)
		return config ? EXIT_OTHER : EXIT_USAGE;
	if (cli->json || cli_option(cli, "jq"))
		return cli_usage(cli,
				 "without a SERVER there is no result; see cleat config --json");
	for (size_t i = 0; i < config->n; i++) {
		size_t width = print_width(config->servers[i].name);

		if (!config->servers[i].shadowed_by && width > column)
			column = width;
	}
	for (size_t i = 0; i < config->n; i++) {
		const struct config_server *s = &config->servers[i];

		if (s->shadowed_by)
			continue;
		print_line(to, s->name);
		if (!cli_flag(cli, "names")) {
			fprintf(to, "%*s", (int)(column - print_width(s->name)) + 2, "");
			print_line(to, config_line(s));
		}
		fputc('\n', to);
	}
	if (!config->n)
		cli_note(
			cli,
			"no servers are configured here; name one: cleat ls URL, cleat ls -- COMMAND");
	return EXIT_GOOD;
}

static int ls_run(struct cli *cli)
{
	struct lists lists = { 0 };
	int code;

	if (!cli->server && !cli->command)
		return list_servers(cli);
	if (!cli_client(cli, NULL, &code))
		return code;
	code = fetch(cli, &lists);
	if (code == EXIT_GOOD)
		code = choose(cli, &lists);
	if (code == EXIT_GOOD)
		code = cli->json || cli_option(cli, "jq") ? print_json(cli, &lists)
							  : print_lists(cli, &lists);
	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds); i++) {
		cleat_result_free(lists.at[i]);
		cleat_doc_free(lists.some[i]);
	}
	return code;
}

static const char *const usage[] = { "ls [OPTION]... SERVER [WORD]...",
				     "ls [OPTION]... -- COMMAND... [-- WORD...]", "ls", NULL };
static const struct cli_option own[] = {
	{ .name = "tools", .letter = 't', .help = "tools (the default)" },
	{ .name = "resources", .letter = 'r', .help = "resources" },
	{ .name = "templates", .help = "resource templates" },
	{ .name = "prompts", .letter = 'p', .help = "prompts" },
	{ .name = "all", .letter = 'a', .help = "everything" },
	{ .name = "names", .help = "names only, one per line" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat ls http://localhost:8080/mcp", "the tools of a server" },
	{ "cleat ls --all -- ./hello", "all that a program has" },
	{ "cleat ls http://localhost:8080/mcp number", "everything about numbers" },
	{ "cleat ls --json -- ./hello", "the protocol's own JSON" },
	{ "cleat ls --jq '.tools[].name' -- ./hello", "the names, by jq" },
	{ "cleat ls", "the servers of existing configuration files" },
	{ 0 },
};

const struct verb verb_ls = {
	.name = "ls",
	.summary = "list what a server has: tools, resources, prompts",
	.usage = usage,
	.about =
		"Tools are printed as signatures: name(argument: type, optional?: type = default), with what "
		"they say about themselves in brackets, and the first line of their description. "
		"\"cleat show\" tells the rest.\n\n"
		"With WORDs, only what has all of them in its name, title or description, ignoring case.\n\n"
		"Without a SERVER, the servers of the configuration files are listed; nothing is started "
		"then.\n\n"
		"With --json, one list is the protocol's own result; several, or those with WORDs, are one "
		"object of lists.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = ls_run,
};
