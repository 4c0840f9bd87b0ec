/* program/verbs/prompt.c - `cleat prompt`: gets a prompt, filled in. */
#include "verbs/perform.h"

#include <string.h>

/* The arguments of a prompt are names of texts; as a schema they are checked as those of a tool. */
static const cleat_json *schema_of(const cleat_json *prompt, cleat_doc **ret_doc)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(prompt, "arguments"));
	struct text all = { 0 }, required = { 0 }, whole = { 0 };

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
	*ret_doc = cleat_doc_parse(text_str(&whole), whole.n, NULL, NULL, NULL);
	text_free(&whole);
	text_free(&all);
	text_free(&required);
	return cleat_doc_root(*ret_doc);
}

static int prompt_run(struct cli *cli)
{
	return perform(cli, &(struct performance){ .kind = catalog_kind(CLEAT_LIST_PROMPTS),
						   .method = "prompts/get",
						   .schema = schema_of });
}

static const char *const usage[] = { "prompt [OPTION]... SERVER NAME [KEY=VALUE]...",
				     "prompt [OPTION]... -- COMMAND... -- NAME [KEY=VALUE]...",
				     NULL };
static const struct cli_example examples[] = {
	{ "cleat prompt -- ./prompts -- describe what=photo", "its messages, with who says them" },
	{ "cleat prompt --json -- ./prompts -- describe what=photo", "the protocol's own JSON" },
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
	.groups = CLI_SERVER | CLI_ASKED | CLI_OUTPUT | CLI_CONTENT,
	.options = perform_options,
	.examples = examples,
	.run = prompt_run,
};
