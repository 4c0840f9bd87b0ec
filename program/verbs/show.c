/* program/verbs/show.c - `cleat show`: all about one tool, prompt, resource or template. */
#include "cli/arguments.h"
#include "reach/catalog.h"
#include "reach/reach.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/nearest.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

struct found {
	const struct catalog_kind *kind;
	const cleat_json *entry;
	cleat_result *lists[CLEAT_COUNT(catalog_kinds)];
};

/* Looks through the lists, tools first. */
static int show_find(struct cli *cli, const char *name, struct found *f)
{
	struct words names = { 0 };
	const char *near;

	for (size_t i = 0; i < CLEAT_COUNT(catalog_kinds) && !f->entry; i++) {
		const struct catalog_kind *kind = &catalog_kinds[i];
		const cleat_json *items;
		int code;

		f->lists[i] = cli_await_list(cli, kind->list);
		if (cleat_result_error(f->lists[i])->rpc_code == CLEAT_RPC_METHOD_NOT_FOUND)
			continue; /* it has no such list */
		code = cli_result_code(cli, f->lists[i]);
		if (code)
			return code;
		items = cleat_result_items(f->lists[i]);
		catalog_names(kind, items, &names);
		f->kind = kind;
		f->entry = catalog_find(kind, items, name);
	}
	if (f->entry)
		return EXIT_GOOD;
	near = names.n ? nearest(name, names.at, names.n) : NULL;
	return near ? cli_error(cli, EXIT_TOOL,
				"there is nothing called \"%s\", did you mean \"%s\"?", name, near)
		    : cli_error(cli, EXIT_TOOL,
				"there is nothing called \"%s\" (cleat ls --all lists "
				"everything)",
				name);
}

static void heading(struct cli *cli, FILE *to, const char *text)
{
	fprintf(to, "\n%s%s:%s\n", cli->color ? COLOR_BOLD : "", text, cli->color ? COLOR_OFF : "");
}

static void print_argument(FILE *to, const char *name, const char *type, bool required,
			   const cleat_json *fallback, const char *about)
{
	char *printed = cleat_json_print(fallback, NULL);

	fputs("  ", to);
	print_line(to, name);
	if (type) {
		fputs(": ", to);
		print_line(to, type);
	}
	if (required)
		fputs(" (required)", to);
	if (printed) {
		fputs(" = ", to);
		print_line(to, printed);
	}
	fputc('\n', to);
	if (about && *about)
		print_wrapped(to, about, 6);
	free(printed);
}

static void print_schema(struct cli *cli, FILE *to, const char *title, const cleat_json *schema)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));

	if (!cleat_json_size(cleat_json_get(schema, "properties")))
		return;
	heading(cli, to, title);
	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(it.key, "");
		const cleat_json *p = argument_schema(schema, it.value);
		const char *about = cleat_json_str(cleat_json_get(it.value, "description"), NULL);

		print_argument(to, name, argument_type(p), argument_required(schema, name),
			       cleat_json_get(it.value, "default"),
			       about ? about
				     : cleat_json_str(cleat_json_get(p, "description"), NULL));
	}
}

static void print_prompt(struct cli *cli, FILE *to, const cleat_json *prompt)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(prompt, "arguments"));

	if (cleat_json_size(cleat_json_get(prompt, "arguments")))
		heading(cli, to, "Arguments");
	while (cleat_json_next(&it))
		print_argument(to, cleat_json_str(cleat_json_get(it.value, "name"), ""), NULL,
			       cleat_json_bool(cleat_json_get(it.value, "required"), false), NULL,
			       cleat_json_str(cleat_json_get(it.value, "description"), NULL));
}

static void print_members(FILE *to, const cleat_json *entry)
{
	static const char *const names[] = { "name", "title", "mimeType", "size" };

	for (size_t i = 0; i < CLEAT_COUNT(names); i++) {
		const cleat_json *v = cleat_json_get(entry, names[i]);
		const char *text = cleat_json_str(v, cleat_json_number_text(v));

		if (!text)
			continue;
		fprintf(to, "%s: ", names[i]);
		print_line(to, text);
		fputc('\n', to);
	}
}

static void print_entry(struct cli *cli, FILE *to, const struct found *f)
{
	const char *hints = catalog_hints(f->entry);
	const char *about = cleat_json_str(cleat_json_get(f->entry, "description"), NULL);
	const char *title = cleat_json_str(cleat_json_get(f->entry, "title"), NULL);
	bool uri = strcmp(f->kind->key, "name") != 0;

	fputs(cli->color ? COLOR_BOLD : "", to);
	print_line(to, catalog_head(f->kind, f->entry));
	fprintf(to, "%s\n", cli->color ? COLOR_OFF : "");
	if (uri)
		print_members(to, f->entry);
	else if (title) {
		print_line(to, title);
		fputc('\n', to);
	}
	if (*hints)
		fprintf(to, "[%s]\n", hints);
	if (about && *about) {
		fputc('\n', to);
		print_wrapped(to, about, 0);
	}
	if (f->kind->list == CLEAT_LIST_PROMPTS)
		print_prompt(cli, to, f->entry);
	print_schema(cli, to, "Arguments", cleat_json_get(f->entry, "inputSchema"));
	print_schema(cli, to, "Result", cleat_json_get(f->entry, "outputSchema"));
}

static int print_found(struct cli *cli, const struct found *f)
{
	const cleat_json *what = f->entry;
	bool schema = cli_flag(cli, "schema");
	FILE *to;
	int code;

	if (schema)
		what = cleat_json_get(f->entry, "inputSchema");
	if (!what)
		return cli_error(cli, EXIT_TOOL, "it has no schema: only tools do");
	if (cli_print_json(cli, what, &code))
		return code;
	to = cli_out(cli);
	if (!to)
		return EXIT_OTHER;
	if (schema)
		cli_pretty(cli, to, what);
	else
		print_entry(cli, to, f);
	return EXIT_GOOD;
}

static int show_run(struct cli *cli)
{
	struct found f = { 0 };
	int code;

	if (cli->argc != 1 && (cli->server || cli->command))
		return cli_usage(cli, cli->argc ? "one NAME only"
						: "which one? cleat ls --all lists them");
	if (!cli_client(cli, NULL, &code))
		return code;
	code = show_find(cli, cli->argv[0], &f);
	if (code == EXIT_GOOD)
		code = print_found(cli, &f);
	for (size_t i = 0; i < CLEAT_COUNT(f.lists); i++)
		cleat_result_free(f.lists[i]);
	return code;
}

static const char *const usage[] = { "show [OPTION]... SERVER NAME",
				     "show [OPTION]... -- COMMAND... -- NAME", NULL };
static const struct cli_option own[] = {
	{ .name = "schema", .letter = 's', .help = "the JSON Schema of a tool's arguments" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat show http://localhost:8080/mcp add",
	  "a tool: what it does, its arguments, its result" },
	{ "cleat show --schema -- ./hello -- add", "its schema" },
	{ 0 },
};

const struct verb verb_show = {
	.name = "show",
	.summary = "show all about a tool, prompt, resource or template",
	.usage = usage,
	.about =
		"NAME is what \"cleat ls --all\" calls it: the name of a tool or prompt, the URI of a resource "
		"or a template.",
	.groups = CLI_SERVER | CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = show_run,
};
