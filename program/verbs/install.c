/* program/verbs/install.c - `cleat install`: writes a server into the configuration of another program.
 *
 * A program like that starts its servers in a directory of its own choosing and with little environment. So
 * the entry has the absolute path of cleat itself, and relative paths among the words are made
 * absolute. A configuration that does not work is not installed: `cleat serve --check` has to like it first.
 */
#include "clients/clientfile.h"
#include "clients/config.h"
#include "text/jsonedit.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- words --------------------------------------------------------------------------------------- */

/* This very program. */
static const char *own_path(void)
{
	char *path = realpath("/proc/self/exe", NULL);

	return path ? keep(path) : "cleat";
}

/* "https://...", but not "api.json=https://..." */
static bool has_scheme(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");

	return n && strncmp(word + n, "://", 3) == 0;
}

static const char *absolute(const char *path)
{
	if (*path == '/' || has_scheme(path))
		return path;
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (!*path || strcmp(path, ".") == 0)
		return keepf("%s", config_workspace());
	return keepf("%s/%s", config_workspace(), path);
}

/* The words of any other command: what is a path here is none where the client starts it. A word is taken for a path
 * that says so (./x, ../x), or that looks like one and is there (server.js, but not the module of python -m). */
static const char *argument(const char *word)
{
	const char *value = *word == '-' ? strchr(word, '=') : NULL,
		   *path = value ? value + 1 : word;
	bool said = strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0;
	char *real;

	if ((*word == '-' && !value) || *path == '/' || !(said || strpbrk(path, "./")))
		return word;
	real = realpath(path, NULL);
	if (!real && !said)
		return word;
	path = real ? keep(real) : absolute(path);
	return value ? keepf("%.*s%s", (int)(value + 1 - word), word, path) : path;
}

/* Can it be run? By its path, or by its name along $PATH. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_on_path(const char *name)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (n && is_program(keepf("%.*s/%s", (int)n, at, name)))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

static int other_words(struct cli *cli, struct words *to, const char *const *from)
{
	const char *program = strcmp(from[0], "cleat") == 0 ? own_path()
			      : strchr(from[0], '/')        ? absolute(argument(from[0]))
							    : from[0];

	if (*program == '/' ? !is_program(program) : !is_on_path(program))
		return cli_error(cli, EXIT_USAGE, "there is no program %s%s; nothing was changed",
				 program, *program == '/' ? "" : " on the PATH");
	words_add(to, program);
	while (*++from)
		words_add(to, argument(*from));
	return EXIT_GOOD;
}

/* Does this option take a path? Its help says so: PATH[:rw], FILE, DIR. */
static bool takes_path(const struct cli_option *o)
{
	static const char *const words[] = { "PATH", "FILE", "DIR" };

	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		if (o && o->arg && strncmp(o->arg, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* The words of `serve`, with absolute paths. */
static void serve_words(struct words *to, const char *const *from)
{
	const struct verb *serve = cli_verb_find("serve");

	for (; *from; from++) {
		const char *word = *from, *equals = strchr(word, '=');
		const struct cli_option *o;

		if (strncmp(word, "--", 2) != 0 || !word[2]) {
			words_add(to, *word == '-' ? word : absolute(word));
			continue;
		}
		o = cli_option_find(serve, word + 2,
				    equals ? (size_t)(equals - word) - 2 : strlen(word + 2), 0);
		if (equals && takes_path(o)) {
			words_add(to, keepf("%.*s=%s", (int)(equals - word), word,
					    absolute(equals + 1)));
			continue;
		}
		words_add(to, word);
		if (o && o->arg && !equals && from[1]) {
			from++;
			words_add(to, takes_path(o) ? absolute(*from) : *from);
		}
	}
}

/* ---- the entry ----------------------------------------------------------------------------------- */

static void put_pairs(cleat_build *b, const struct cli *cli, const char *option, char between,
		      const char *member)
{
	const char *pair;

	for (size_t i = 0; (pair = cli_option_at(cli, option, i)); i++) {
		const char *split = strchr(pair, between);
		size_t n = split ? (size_t)(split - pair) : strlen(pair);
		const char *value = split ? split + 1 : "";

		if (!i)
			cleat_build_object(b, member);
		value += strspn(value, between == ':' ? " " : "");
		cleat_build_str(b, keepf("%.*s", (int)n, pair), value);
	}
	if (cli_option(cli, option))
		cleat_build_end(b);
}

static void put_type(cleat_build *b, const struct clientfile *f, const char *type)
{
	/* Claude Desktop and Cursor know a command by its "command". */
	bool wants = strcmp(f->place.top, "servers") == 0 ||
		     strcmp(f->place.client, "claude-code") == 0 || strcmp(type, "stdio") != 0;

	if (wants)
		cleat_build_str(b, "type", type);
}

static bool is_url(const char *word)
{
	return strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0;
}

static cleat_doc *entry(struct cli *cli, const struct clientfile *f, const struct words *w,
			cleat_error *err)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	if (w->n == 1 && is_url(w->at[0])) {
		put_type(b, f, "http");
		cleat_build_str(b, "url", w->at[0]);
		put_pairs(b, cli, "header", ':', "headers");
	} else {
		put_type(b, f, "stdio");
		cleat_build_str(b, "command", w->at[0]);
		cleat_build_array(b, "args");
		for (size_t i = 1; i < w->n; i++)
			cleat_build_str(b, NULL, w->at[i]);
		cleat_build_end(b);
		put_pairs(b, cli, "env", '=', "env");
	}
	cleat_build_end(b);
	return cleat_build_finish(b, err);
}

/* ---- the verb ------------------------------------------------------------------------------------ */

/* Variables that a program which starts servers hands on at least (those of the official SDKs, and what says
 * where and in which language one is). */
static bool is_usual(const char *variable)
{
	static const char *const usual[] = { "HOME=", "LANG=",  "LC_",   "LOGNAME=",
					     "PATH=", "SHELL=", "TERM=", "TMPDIR=",
					     "TZ=",   "USER=",  "XDG_" };

	for (size_t i = 0; i < CLEAT_COUNT(usual); i++)
		if (strncmp(variable, usual[i], strlen(usual[i])) == 0)
			return true;
	return false;
}

/* What --env says goes before what is there. `all`: everything that this shell has, not just the usual few. */
static void environment(const struct cli *cli, bool all, struct words *to)
{
	extern char **environ;
	const char *pair;

	for (size_t i = 0; (pair = cli_option_at(cli, "env", i)); i++)
		words_add(to, pair);
	for (size_t k = 0; environ[k]; k++) {
		size_t n = strcspn(environ[k], "=") + 1;
		bool given = false;

		for (size_t i = 0; (pair = cli_option_at(cli, "env", i)); i++)
			given = given || strncmp(environ[k], pair, n) == 0;
		if (!given && (all || is_usual(environ[k])))
			words_add(to, environ[k]);
	}
}

enum loud { ALL_OF_IT, ONLY_PROBLEMS, SILENT };

/* `cleat serve --check`: its status, or -1 when it could not be started (said). */
static int install_check(struct cli *cli, const struct words *w, bool all, enum loud loud)
{
	struct words argv = { 0 }, env = { 0 };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int status, rc;

	for (size_t i = 0; i < w->n; i++)
		words_add(&argv, w->at[i]);
	words_add(&argv, "--check");
	words_add(&argv, "--quiet");
	environment(cli, all, &env);
	if (posix_spawn_file_actions_init(&files) != 0) {
		cli_error(cli, EXIT_OTHER, "out of memory");
		return -1;
	}
	if (loud == ALL_OF_IT)
		posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	else
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (loud == SILENT)
		posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	rc = posix_spawn(&pid, w->at[0], &files, NULL, (char *const *)(void *)argv.at,
			 (char *const *)(void *)env.at);
	posix_spawn_file_actions_destroy(&files);
	if (rc != 0) {
		cli_error(cli, EXIT_OTHER, "%s: %s", w->at[0], strerror(rc));
		return -1;
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OTHER;
}

/* Would it start? Its own words say why not. A secret that only this shell has would be missed later, when
 * nobody looks. */
static int try_serve(struct cli *cli, const struct words *w)
{
	int status = install_check(cli, w, true, ALL_OF_IT);

	if (status < 0)
		return EXIT_OTHER;
	if (status > 0)
		return cli_error(cli, EXIT_CHECK,
				 "nothing was changed, because this server would not start");
	if (cli_remarks(cli) && install_check(cli, w, false, SILENT) > 0) {
		cli_note(cli, "it needs variables of this shell, which other programs may not have "
			      "(--env NAME=VALUE puts one into the file); without them:");
		install_check(cli, w, false, ONLY_PROBLEMS);
	}
	return EXIT_GOOD;
}

static int take_url(struct cli *cli, const struct clientfile *f, struct words *w)
{
	if (cli_option(cli, "env"))
		return cli_usage(cli, "--env is for a command, not for a URL");
	if (f->place.no_url)
		return cli_error(cli, EXIT_USAGE,
				 "%s is for commands only: a URL is added in the program's own "
				 "settings (Connectors); nothing was changed",
				 f->place.shown);
	words_add(w, cli->command[0]);
	return EXIT_GOOD;
}

/* "serve ..." and "cleat serve ..." are ours. */
static int command_words(struct cli *cli, const struct clientfile *f, struct words *w)
{
	const char *const *from = cli->command;
	bool ours = strcmp(from[0], "serve") == 0 ||
		    (strcmp(from[0], "cleat") == 0 && from[1] && strcmp(from[1], "serve") == 0);

	if (is_url(from[0]) && !from[1])
		return take_url(cli, f, w);
	if (cli_option(cli, "header"))
		return cli_usage(cli, "--header is for a URL, not for a command");
	if (!ours)
		return other_words(cli, w, from);
	words_add(w, own_path());
	words_add(w, "serve");
	serve_words(w, from + (strcmp(from[0], "serve") == 0 ? 1 : 2));
	return try_serve(cli, w);
}

static int install(struct cli *cli, struct clientfile *f, const char *name, const struct words *w)
{
	const char *const path[] = { f->place.top, name };
	const cleat_json *there = cleat_json_get(f->servers, name);
	cleat_error err = { 0 };
	cleat_doc *doc = entry(cli, f, w, &err);
	struct text after = { 0 };
	int code;

	if (!doc)
		return cli_error(cli, EXIT_USAGE, "%s", err.message);
	if (there && cleat_json_equal(there, cleat_doc_root(doc))) {
		cli_note(cli, "%s already has %s, exactly like this", f->place.shown, name);
		code = EXIT_GOOD;
	} else if (there && !cli_flag(cli, "force")) {
		code = cli_error(
			cli, EXIT_OTHER,
			"%s already has a server \"%s\": use another --name, or --force to replace it",
			f->place.shown, name);
	} else {
		jsonedit_set(&after, text_str(&f->text), f->text.n, path, 2, cleat_doc_root(doc));
		code = clientfile_write(cli, f, &after);
		text_free(&after);
	}
	cleat_doc_free(doc);
	return code;
}

static int install_run(struct cli *cli)
{
	const char *name = cli_option(cli, "name");
	struct words w = { 0 };
	struct clientfile f;
	int code;

	if (cli->argc > 1 && !cli->command)
		return cli_usage(cli, "what is to be started goes after two dashes: -- %s ...",
				 cli->argv[1]);
	if (cli->argc != 1)
		return cli_usage(cli, "into which program? claude-code, claude-desktop, cursor, "
				      "vscode, or a file");
	if (!cli->command)
		return cli_usage(cli, "which server? -- serve --dir ~/notes");
	if (!name || !*name)
		return cli_usage(cli, "--name NAME is missing: what the server is called there");
	code = clientfile_open(cli, &f, cli->argv[0]);
	if (code == EXIT_GOOD)
		code = command_words(cli, &f, &w);
	if (code == EXIT_GOOD)
		code = install(cli, &f, name, &w);
	clientfile_close(&f);
	return code;
}

static const char *const usage[] = {
	"install [OPTION]... claude-code|claude-desktop|cursor|vscode|FILE --name NAME -- serve ...",
	"install [OPTION]... PROGRAM --name NAME -- COMMAND [ARGUMENT]...",
	"install [OPTION]... PROGRAM --name NAME -- URL", NULL
};
static const struct cli_option own[] = {
	{ .name = "name", .arg = "NAME", .help = "what the server is called in that program" },
	{ .name = "env",
	  .letter = 'e',
	  .arg = "NAME=VALUE",
	  .repeat = true,
	  .help = "a variable for the server" },
	{ .name = "header",
	  .letter = 'H',
	  .arg = "'NAME: VALUE'",
	  .repeat = true,
	  .help = "a header, for a URL" },
	{ .name = "force", .letter = 'f', .help = "replace a server of that name" },
	CLIENTFILE_OPTIONS,
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat install ./mcp.json --name notes --dry-run -- serve --dir .",
	  "what a configuration file would look like with this folder as a server" },
	{ "cleat install ./mcp.json --name adder --yes -- ./hello",
	  "any other program, without being asked" },
	{ 0 },
};

const struct verb verb_install = {
	.name = "install",
	.summary = "write a server into the configuration of Claude, Cursor, ...",
	.usage = usage,
	.about =
		"Adds a server to the configuration file of a program that uses MCP servers. The "
		"difference is shown first; on a terminal you are asked whether to write it, without one --yes says so. What was "
		"there before is kept beside the file (FILE.DATE.bak). Comments and the order of the "
		"file stay as they are.\n\n"
		"After \"--\" comes `serve` with its options (which are checked), any other command, or a URL. A program has to be there. Relative paths are "
		"made absolute, because programs start their servers in a directory of their own choosing.",
	.groups = CLI_COMMAND,
	.options = own,
	.examples = examples,
	.run = install_run,
};
