/* program/verbs/shell.c - `cleat shell`: one connection, many commands.
 *
 * A command is a verb of the same name, run with the client that is there. Ctrl-C gives up what runs.
 */
#include "shell/shell.h"
#include "base/str.h"
#include "help/help.h"
#include "reach/reach.h"
#include "terminal/ask.h"
#include "terminal/await.h"
#include "terminal/output.h"
#include "text/nearest.h"
#include "text/print.h"

#include <string.h>

enum { PROMPT_MOST = 40 };

struct shell {
	struct cli *cli;
	struct shell_lists lists;
	struct shell_editor *editor;
	bool leave;
};

/* ---- commands ------------------------------------------------------------------------------------ */

static bool is_command(const char *word)
{
	size_t i = 0;

	while (shell_commands[i] && strcmp(shell_commands[i], word) != 0)
		i++;
	return shell_commands[i] != NULL;
}

bool shell_at_start(const struct cli_option *list, const struct cli_option *o)
{
	return list == cli_reach_options ||
	       (list == cli_speak_options && strcmp(o->name, "no-cache") != 0 &&
		strcmp(o->name, "force") != 0);
}

static int check_options(struct cli *sub)
{
	struct cli_list list;

	for (size_t i = 0; cli_lists(sub->verb, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++)
			if (cli_flag(sub, o->name) && shell_at_start(list.options, o))
				return cli_error(sub, EXIT_USAGE,
						 "--%s belongs to the start: cleat shell --%s ...",
						 o->name, o->name);
	return EXIT_GOOD;
}

static int run_verb(struct shell *s, struct words *line)
{
	/* SERVER is taken already, so all words are the verb's own. */
	struct cli sub = { .in_shell = true,
			   .server = s->cli->server ? s->cli->server : *s->cli->command };
	int code = cli_parse(&sub, (int)line->n, (char **)line->at);

	sub.client = s->cli->client;
	sub.loop = s->cli->loop;
	sub.server_ = s->cli->server_;
	sub.quiet = sub.quiet || s->cli->quiet;
	if (cli_option(s->cli, "color") && !cli_option(&sub, "color")) {
		sub.color = s->cli->color;
		sub.color_err = s->cli->color_err;
	}
	s->cli->verbose += sub.verbose;
	if (code == EXIT_GOOD)
		code = check_options(&sub);
	if (code == EXIT_GOOD && cli_flag(&sub, "help")) {
		code = help_verb(&sub, sub.verb);
	} else if (code == EXIT_GOOD) {
		code = ask_begin(&sub);
		if (code == EXIT_GOOD)
			code = sub.verb->run(&sub);
		ask_return();
	}
	s->cli->verbose -= sub.verbose;
	return cli_close_output(&sub, code);
}

static int print_help(void)
{
	printf("A tool's name and arguments call it. Commands:\n");
	for (size_t i = 0; shell_commands[i]; i++)
		printf("  %-10s %s\n", shell_commands[i],
		       cli_verb_find(shell_commands[i])->summary);
	printf("  %-10s %s\n  %-10s %s\n", "help", "this, or all about a command: help call",
	       "quit", "leave (Ctrl-D)");
	printf("Tab completes, Ctrl-C gives up what runs, arguments are as in \"cleat call\".\n");
	return EXIT_GOOD;
}

static int shell_unknown(struct shell *s, const char *word)
{
	struct words names = { 0 };
	const char *near;

	for (size_t i = 0; shell_commands[i]; i++)
		words_add(&names, shell_commands[i]);
	words_add(&names, "help");
	words_add(&names, "quit");
	catalog_names(&catalog_kinds[0], shell_list(&s->lists, CLEAT_LIST_TOOLS), &names);
	near = nearest(word, names.at, names.n);
	return near ? cli_error(s->cli, EXIT_USAGE,
				"there is no command or tool \"%s\", did you mean \"%s\"?", word,
				near)
		    : cli_error(s->cli, EXIT_USAGE,
				"there is no command or tool \"%s\" (try: help)", word);
}

static int run_words(struct shell *s, const struct words *words)
{
	const char *first = words->at[0];
	struct words line = { 0 };
	size_t from = 1;

	words_add(&line, "cleat");
	if (strcmp(first, "quit") == 0 || strcmp(first, "exit") == 0) {
		s->leave = true;
		return EXIT_GOOD;
	}
	if (strcmp(first, "help") == 0 && words->n > 1 && is_command(words->at[1]))
		return help_verb(s->cli, cli_verb_find(words->at[1]));
	if (strcmp(first, "help") == 0 || strcmp(first, "?") == 0)
		return print_help();
	if (is_command(first)) {
		words_add(&line, first);
	} else {
		if (!shell_entry(&s->lists, CLEAT_LIST_TOOLS, first))
			return shell_unknown(s, first);
		words_add(&line, "call");
		from = 0;
	}
	for (size_t i = from; i < words->n; i++)
		words_add(&line, words->at[i]);
	return run_verb(s, &line);
}

static int run_line(struct shell *s, const char *text)
{
	struct words words = { 0 };
	size_t mark = keep_mark();
	int code = EXIT_GOOD;

	if (!shell_split(text, strlen(text), &words))
		code = cli_error(s->cli, EXIT_USAGE, "a quote is not closed");
	else if (words.n)
		code = run_words(s, &words);
	fflush(stdout);
	/* What was given up may still end: then it needs its memory. */
	if (!cli_interrupted())
		keep_release(mark);
	return code;
}

/* Messages are looked at by server.c: a command may have -v. */
static void shell_on_message(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	(void)c;
	(void)out;
	(void)text;
	(void)n;
	(void)userdata;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static const char *prompt_of(struct cli *cli)
{
	const char *name = cleat_client_server_name(cli->client);
	struct text t = { 0 };

	struct str s = { name, print_fit(name, PROMPT_MOST) };

	for (size_t i = 0, at = 0; i < s.n; at = i)
		if (!utf8_unsafe(utf8_next(s, &i)))
			text_add(&t, s.p + at, i - at);
	text_puts(&t, s.p[s.n] ? "…> " : "> ");
	return keep(text_take(&t));
}

static int loop(struct shell *s)
{
	const char *prompt = prompt_of(s->cli), *line;
	bool terminal = shell_editor_is_terminal(s->editor);
	int first = EXIT_GOOD;

	while (!s->leave) {
		enum shell_input what = shell_editor_line(s->editor, prompt, &line);
		int code = what == SHELL_LINE ? run_line(s, line) : EXIT_GOOD;

		if (what == SHELL_END)
			break;
		if (cli_interrupted() && (!terminal || cli_interrupted_code() != EXIT_INTERRUPTED))
			return cli_interrupted_code();
		await_forgive();
		if (terminal || code == EXIT_GOOD)
			continue;
		first = first ? first : code;
		if (!cli_flag(s->cli, "keep-going"))
			break;
	}
	return first;
}

static int shell_run(struct cli *cli)
{
	struct shell s = { .cli = cli };
	int code;

	if (cli->argc)
		return cli_usage(
			cli, "\"%s\" is one word too many: commands are typed, or come on stdin",
			cli->argv[0]);
	/* A child that dies is started again with the next command. */
	if (!cli_client(cli,
			&(cleat_client_options){ .restart = true, .on_message = shell_on_message },
			&code) ||
	    (code = cli_open(cli)) != EXIT_GOOD)
		return code;
	shell_lists_begin(&s.lists, cli);
	s.editor = shell_editor_new(cli, &s.lists);
	if (shell_editor_is_terminal(s.editor))
		cli_note(cli, "%s %s, %s; help lists the commands, Ctrl-D leaves",
			 cleat_client_server_name(cli->client),
			 cleat_client_server_version(cli->client),
			 cleat_client_revision(cli->client));
	code = loop(&s);
	shell_editor_free(s.editor);
	shell_lists_end(&s.lists);
	return code;
}

static const char *const usage[] = { "shell [OPTION]... SERVER", "shell [OPTION]... -- COMMAND...",
				     NULL };
static const struct cli_option own[] = {
	{ .name = "keep-going",
	  .letter = 'K',
	  .help = "commands from stdin: carry on after one that failed" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "echo 'add a=2 b=40' | cleat shell http://localhost:8080/mcp",
	  "commands from stdin; at a terminal they are typed" },
	{ "printf 'ls\\ncall add a=2 b=40 --json\\n' | cleat shell -- ./hello",
	  "several, with one connection" },
	{ 0 },
};

const struct verb verb_shell = {
	.name = "shell",
	.summary = "type commands, with one connection, history and completion",
	.usage = usage,
	.about =
		"Commands are the verbs ls, show, call, read, prompt, complete, watch, raw, info and ping, "
		"without SERVER; the name of a tool alone calls it. Words are quoted as in a shell; # begins a "
		"comment.\n\n"
		"At a terminal Tab completes commands, names, arguments and, where the server has "
		"suggestions, their values; the history is in $XDG_STATE_HOME/cleat/history "
		"(~/.local/state); a line that begins with a space is not kept. Ctrl-C gives up the running "
		"command, Ctrl-D leaves.\n\n"
		"Otherwise stdin is a script: it ends with the first command that fails, and with its exit "
		"code; with --keep-going all are run, and the exit code is that of the first failure.",
	.groups = CLI_SERVER | CLI_ASKED,
	.options = own,
	.examples = examples,
	.run = shell_run,
};
