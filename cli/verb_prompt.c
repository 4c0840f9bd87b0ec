/* cli/verb_prompt.c - `cleat prompt`: gets a prompt, filled in. */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>

static const struct catalog_kind *prompts(void)
{
	size_t i = 0;

	while (catalog_kinds[i].list != CLEAT_LIST_PROMPTS)
		i++;
	return &catalog_kinds[i];
}

/* The arguments of a prompt are names of texts; as a schema they are checked as those of a tool. */
static cleat_doc *schema_of(const cleat_json *prompt)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(prompt, "arguments"));
	struct text all = { 0 }, required = { 0 }, whole = { 0 };
	cleat_doc *doc;

	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(cleat_json_get(it.value, "name"), "");

		text_puts(&all, all.n ? "," : "");
		text_json(&all, name, strlen(name));
		text_puts(&all, ":{\"type\":\"string\"}");
		if (!cleat_json_bool(cleat_json_get(it.value, "required"), false))
			continue;
		text_puts(&required, required.n ? "," : "");
		text_json(&required, name, strlen(name));
	}
	text_printf(&whole,
		    "{\"type\":\"object\",\"additionalProperties\":false,"
		    "\"properties\":{%s},\"required\":[%s]}",
		    text_str(&all), text_str(&required));
	doc = cleat_doc_parse(text_str(&whole), whole.n, NULL, NULL, NULL);
	text_free(&whole);
	text_free(&all);
	text_free(&required);
	return doc;
}

static int no_such_prompt(struct cli *cli, const cleat_json *items, const char *name)
{
	struct words names = { 0 };
	const char *near;

	catalog_names(prompts(), items, &names);
	near = names.n ? cli_nearest(name, names.at, names.n) : NULL;
	if (near)
		return cli_error(cli, EXIT_TOOL, "there is no prompt \"%s\", did you mean \"%s\"?",
				 name, near);
	return cli_error(cli, EXIT_TOOL,
			 "there is no prompt \"%s\" (cleat ls --prompts lists them)", name);
}

/* As JSON text, from malloc; NULL after a message. */
static char *arguments(struct cli *cli, const char *name, int *ret_code)
{
	cleat_result *list = cli_await_list(cli, CLEAT_LIST_PROMPTS);
	const cleat_json *entry;
	cleat_doc *schema;
	char *text = NULL;

	*ret_code = cli_result_code(cli, list);
	if (*ret_code == EXIT_GOOD) {
		entry = catalog_find(prompts(), cleat_result_items(list), name);
		schema = entry ? schema_of(entry) : NULL;
		if (entry)
			text = cli_arguments(cli, name, cli->argc - 1, cli->argv + 1,
					     cleat_doc_root(schema), ret_code);
		else
			*ret_code = no_such_prompt(cli, cleat_result_items(list), name);
		cleat_doc_free(schema);
	}
	cleat_result_free(list);
	return text;
}

static int run(struct cli *cli)
{
	char *args;
	int code;

	if (!cli->argc && (cli->server || cli->command))
		return cli_usage(cli, "which prompt? cleat ls --prompts lists them");
	if (!cli_client(cli, NULL, &code))
		return code;
	args = arguments(cli, cli->argv[0], &code);
	if (!args)
		return code;
	code = cli_perform(cli, "prompts/get", cli->argv[0], args);
	free(args);
	return code;
}

static const char *const usage[] = { "prompt [OPTION]... SERVER NAME [KEY=VALUE]...",
				     "prompt [OPTION]... -- COMMAND... -- NAME [KEY=VALUE]...",
				     NULL };
static const struct cli_example examples[] = {
	{ "cleat prompt -- $PROMPTS -- describe what=photo", "its messages, with who says them" },
	{ "cleat prompt --json -- $PROMPTS -- describe what=photo", "the protocol's own JSON" },
	{ 0 },
};

const struct verb verb_prompt = {
	.name = "prompt",
	.summary = "get a prompt, filled in with arguments",
	.usage = usage,
	.about =
		"The arguments of prompts are text: key=value, key=@file, a JSON object of texts, or - for "
		"one on stdin. Names that the prompt does not have, and those that are missing, are said "
		"before anything is sent. \"cleat complete\" asks the server for values.",
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT,
	.examples = examples,
	.run = run,
};
