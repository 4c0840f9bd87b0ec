/* program/verbs/config.c - `cleat config`: which servers are configured, where, and what shadows what. */
#include "clients/config.h"
#include "reach/target.h"
#include "terminal/output.h"
#include "text/nearest.h"
#include "text/print.h"

#include <string.h>

static void print_server(FILE *to, const struct config_server *s, size_t column)
{
	const char *kind = config_kind(s);

	fputs("  ", to);
	print_line(to, s->name);
	fprintf(to, "%*s%-6s ", (int)(column - print_width(s->name)) + 2, "", kind ? kind : "?");
	print_line(to, kind ? config_line(s) : "has neither \"command\" nor \"url\"");
	if (s->shadowed_by) {
		fputs("  (hidden by ", to);
		print_line(to, s->shadowed_by->file->path);
		fputs(")", to);
	}
	fputc('\n', to);
}

static const char *scope(const struct config_server *s)
{
	return s->n_keys == 4 ? ", for this directory" : "";
}

static void print_all(FILE *to, const struct config *c)
{
	const char *last = "";
	size_t column = 0;

	for (size_t i = 0; i < c->n; i++)
		if (print_width(c->servers[i].name) > column)
			column = print_width(c->servers[i].name);
	for (size_t i = 0; i < c->n; i++) {
		const struct config_server *s = &c->servers[i];
		char *title = keepf("%s (%s%s)", s->file->path, s->file->program, scope(s));

		if (strcmp(title, last) != 0)
			fprintf(to, "%s%s\n", *last ? "\n" : "", title);
		last = title;
		print_server(to, s, column);
	}
}

static void print_places(struct cli *cli, const struct config *c)
{
	struct text t = { 0 };

	for (size_t i = 0; i < c->n_files; i++)
		text_printf(&t, "%s%s", i ? ", " : "", c->files[i].path);
	cli_note(cli, "no servers are configured in %s", text_str(&t));
	text_free(&t);
}

/* [{"name", "file", "program", "hidden", "entry"}] */
static cleat_doc *to_json(const struct config *c, const char *name)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_array(b, NULL);
	for (size_t i = 0; i < c->n; i++) {
		const struct config_server *s = &c->servers[i];

		if (!name || strcmp(s->name, name) == 0)
			cleat_build_valuef(
				b, NULL,
				"{name: %s, file: %s, program: %s, hidden: %hhd, entry: %p}",
				s->name, s->file->path, s->file->program,
				(signed char)(s->shadowed_by != NULL), (const void *)s->entry);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, NULL);
}

static int show_one(struct cli *cli, const struct config *c, const char *name)
{
	const struct config_server *s = config_find(c, name);
	struct words names = { 0 };
	const char *near;
	FILE *to = cli_out(cli);

	for (size_t i = 0; i < c->n; i++)
		words_add(&names, c->servers[i].name);
	near = s || !names.n ? NULL : nearest(name, names.at, names.n);
	if (near)
		return cli_error(cli, EXIT_TOOL, "there is no server \"%s\", did you mean \"%s\"?",
				 name, near);
	if (!s)
		return cli_error(cli, EXIT_TOOL, "there is no server \"%s\"", name);
	if (!to)
		return EXIT_OTHER;
	fprintf(to, "%s (%s%s)\n", s->file->path, s->file->program, scope(s));
	cli_pretty(cli, to, s->entry);
	for (size_t i = 0; i < c->n; i++)
		if (c->servers[i].shadowed_by == s)
			fprintf(to, "hides the one of %s\n", c->servers[i].file->path);
	return EXIT_GOOD;
}

static int config_run(struct cli *cli)
{
	const struct config *c = config_load(cli);
	const char *name = cli->argc ? cli->argv[0] : NULL;
	FILE *to;
	int code;

	if (!c)
		return EXIT_USAGE;
	if (cli->argc > 1)
		return cli_usage(cli, "one NAME only");
	if (cli->json || cli_option(cli, "jq")) {
		cli_print_doc(cli, to_json(c, name), &code);
		return code;
	}
	if (name)
		return show_one(cli, c, name);
	to = cli_out(cli);
	if (!to)
		return EXIT_OTHER;
	if (!c->n)
		print_places(cli, c);
	else
		print_all(to, c);
	return EXIT_GOOD;
}

static const char *const usage[] = { "config [OPTION]... [NAME]", NULL };
static const struct cli_option own[] = {
	{ .name = "config", .arg = "FILE", .help = "this file only" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat config", "all servers, and where they are from" },
	{ "cleat config --jq '.[].name'", "their names" },
	{ 0 },
};

const struct verb verb_config = {
	.name = "config",
	.summary = "list the servers of existing configuration files",
	.usage = usage,
	.about =
		"The files of Claude Code, Claude Desktop, VS Code and Cursor are read, and never written; "
		"\"cleat help files\" says which, and in which order. Entries are shown as they are "
		"written, with their variables; values of \"env\" and \"headers\" are shown only when "
		"one server is named, and with --json.",
	.groups = CLI_OUTPUT,
	.options = own,
	.examples = examples,
	.run = config_run,
};
