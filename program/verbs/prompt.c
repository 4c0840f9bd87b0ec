/* program/verbs/prompt.c - `cleat prompt`: gets a prompt, filled in. */
#include "verbs/perform.h"

static const char *name_of(const cleat_json *argument)
{
	return cleat_json_str(cleat_json_get(argument, "name"), "");
}

/* The arguments of a prompt are names of texts; as a schema they are checked as those of a tool. */
static const cleat_json *schema_of(const cleat_json *prompt, cleat_doc **ret_doc)
{
	const cleat_json *arguments = cleat_json_get(prompt, "arguments");
	cleat_json_iter it = cleat_json_each(arguments);
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	cleat_build_str(b, "type", "object");
	cleat_build_bool(b, "additionalProperties", false);
	cleat_build_object(b, "properties");
	while (cleat_json_next(&it))
		cleat_build_valuef(b, name_of(it.value), "{type: 'string'}");
	cleat_build_end(b);
	cleat_build_array(b, "required");
	it = cleat_json_each(arguments);
	while (cleat_json_next(&it))
		if (cleat_json_bool(cleat_json_get(it.value, "required"), false))
			cleat_build_str(b, NULL, name_of(it.value));
	cleat_build_end(b);
	cleat_build_end(b);
	*ret_doc = cleat_build_finish(b, NULL);
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
