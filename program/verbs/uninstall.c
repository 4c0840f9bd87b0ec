/* program/verbs/uninstall.c - `cleat uninstall`: takes a server out of another program's configuration. */
#include "clients/clientfile.h"
#include "text/jsonedit.h"
#include "text/nearest.h"

static int missing(struct cli *cli, const struct clientfile *f, const char *name)
{
	cleat_json_iter it = cleat_json_each(f->servers);
	struct words names = { 0 };
	const char *near;

	while (cleat_json_next(&it))
		words_add(&names, cleat_json_str(it.key, ""));
	near = names.n ? nearest(name, names.at, names.n) : NULL;
	if (near)
		return cli_error(cli, EXIT_TOOL, "%s has no server \"%s\", did you mean \"%s\"?",
				 f->place.shown, name, near);
	return cli_error(cli, EXIT_TOOL, "%s has no server \"%s\"", f->place.shown, name);
}

static int uninstall(struct cli *cli, struct clientfile *f, const char *name)
{
	const char *const path[] = { f->place.top, name };
	struct text after = { 0 };
	int code;

	if (jsonedit_remove(&after, text_str(&f->text), f->text.n, path, 2))
		code = clientfile_write(cli, f, &after);
	else
		code = missing(cli, f, name);
	text_free(&after);
	return code;
}

static int uninstall_run(struct cli *cli)
{
	const char *name = cli_option(cli, "name");
	struct clientfile f;
	int code;

	if (cli->argc == 2 && !name)
		name = cli->argv[1];
	else if (cli->argc != 1)
		return cli_usage(cli, "from which program? claude-code, claude-desktop, cursor, "
				      "vscode, or a file");
	if (!name)
		return cli_usage(cli, "which server? --name NAME (cleat config lists them)");
	code = clientfile_open(cli, &f, cli->argv[0]);
	if (code == EXIT_GOOD)
		code = uninstall(cli, &f, name);
	clientfile_close(&f);
	return code;
}

static const char *const usage[] = {
	"uninstall [OPTION]... claude-code|claude-desktop|cursor|vscode|FILE --name NAME", NULL
};
static const struct cli_option own[] = {
	{ .name = "name", .arg = "NAME", .help = "what the server is called in that program" },
	CLIENTFILE_OPTIONS,
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat uninstall ./mcp.json --name hello --yes",
	  "takes it out; the old file is kept beside it" },
	{ "cleat uninstall ./mcp.json --name hello --dry-run", "only shows what would change" },
	{ 0 },
};

const struct verb verb_uninstall = {
	.name = "uninstall",
	.summary = "take a server out of the configuration of Claude, Cursor, ...",
	.usage = usage,
	.about =
		"Removes a server from the configuration file of a program that uses MCP servers. The "
		"difference is shown first; on a terminal you are asked whether to write it. What was "
		"there before is kept beside the file (FILE.DATE.bak).",
	.groups = CLI_NO_OPTIONS,
	.options = own,
	.examples = examples,
	.run = uninstall_run,
};
