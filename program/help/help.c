/* program/help/help.c - `cleat help`, for 80 columns, or as many as the terminal has. */
#include "help/help.h"

#include "terminal/jq.h"
#include "text/nearest.h"
#include "text/print.h"
#include "text/text.h"

#include <string.h>

enum { COLUMN = 24, NARROW = 60, NARROW_COLUMN = 10 };

static void heading(const struct cli *cli, const char *text)
{
	printf("\n%s%s:%s\n", cli->color ? COLOR_BOLD : "", text, cli->color ? COLOR_OFF : "");
}

/* "  word      text", the text wrapped in its column; a long word stands alone. */
static void row(const char *word, const char *text, size_t column)
{
	size_t n = print_width(word) + 2, width = print_prose(stdout);

	if (width < NARROW)
		column = NARROW_COLUMN;
	printf("  %s", word);
	if (n + 2 > column) {
		putchar('\n');
		n = 0;
	}
	while (*text) {
		size_t room = width - column, cut = strlen(text);

		if (cut > room)
			for (cut = room; cut && text[cut] != ' ';)
				cut--;
		if (!cut)
			cut = strcspn(text, " ");
		printf("%*s%.*s\n", (int)(column - n), "", (int)cut, text);
		n = 0;
		text += cut + strspn(text + cut, " ");
	}
}

static void print_options(const struct cli *cli, const struct verb *v)
{
	struct cli_list list;

	for (size_t i = 0; cli_lists(v, i, &list); i++) {
		heading(cli, list.title);
		for (const struct cli_option *o = list.options; o->name; o++) {
			char letter[] = { '-', o->letter, ',', ' ', '\0' };

			row(keepf("%s--%s%s%s", o->letter ? letter : "    ", o->name,
				  o->arg ? " " : "", o->arg ? o->arg : ""),
			    keepf("%s%s", o->help, o->repeat && o->arg ? " (may be repeated)" : ""),
			    COLUMN + 6);
		}
	}
}

int help_verb(struct cli *cli, const struct verb *v)
{
	print_wrapped(stdout, keepf("cleat %s - %s", v->name, v->summary), 0);
	heading(cli, "Usage");
	for (size_t i = 0; v->usage[i]; i++)
		printf("  cleat %s\n", v->usage[i]);
	if (v->about) {
		putchar('\n');
		print_wrapped(stdout, v->about, 0);
	}
	print_options(cli, v);
	if (v->examples)
		heading(cli, "Examples");
	for (size_t i = 0; v->examples && v->examples[i].command; i++) {
		printf("  %s\n", v->examples[i].command);
		print_wrapped(stdout, v->examples[i].what, 6);
	}
	if (v->groups & CLI_SERVER) {
		putchar('\n');
		print_wrapped(stdout, "See also: cleat help server, cleat help exit-codes", 0);
	}
	return EXIT_GOOD;
}

static void print_topic(const struct topic *t)
{
	for (size_t i = 0; t->lines[i]; i++) {
		const char *tab = strchr(t->lines[i], '\t');

		if (tab) {
			row(keepf("%.*s", (int)(tab - t->lines[i]), t->lines[i]), tab + 1, COLUMN);
			continue;
		}
		if (i)
			putchar('\n');
		print_wrapped(stdout, t->lines[i], 0);
		if (t->lines[i + 1] && strchr(t->lines[i + 1], '\t'))
			putchar('\n');
	}
}

int help_topic(struct cli *cli, const struct topic *t)
{
	printf("%s%s%s\n\n", cli->color ? COLOR_BOLD : "", t->title, cli->color ? COLOR_OFF : "");
	print_topic(t);
	return EXIT_GOOD;
}

const char help_summary[] = "speaks to servers of the Model Context Protocol, and is one";

/* Where parts of the list of verbs begin. */
static const struct {
	const char *first, *title;
} parts[] = {
	{ "ls", "Use a server" },
	{ "ping", "Look into one" },
	{ "serve", "Be one" },
	{ "config", "About this program" },
};

int help_all(struct cli *cli)
{
	print_wrapped(stdout, keepf("cleat - %s", help_summary), 0);
	heading(cli, "Usage");
	puts("  cleat VERB [OPTION]... [SERVER] [WORD]...");
	heading(cli, "For a start");
	row("cleat ls https://example.com/mcp", "what has this server?", COLUMN + 16);
	row("cleat ls -- node server.js", "and this program?", COLUMN + 16);
	row("cleat ls", "which do my editors have?", COLUMN + 16);
	row("cleat call SERVER add a=2 b=40", "call a tool", COLUMN + 16);
	for (size_t i = 0; cli_verbs[i]; i++) {
		for (size_t k = 0; k < CLEAT_COUNT(parts); k++)
			if (strcmp(parts[k].first, cli_verbs[i]->name) == 0)
				heading(cli, parts[k].title);
		if (!cli_verbs[i]->hidden)
			row(cli_verbs[i]->name, cli_verbs[i]->summary, 14);
	}
	heading(cli, "More help");
	row("cleat help VERB", "what a verb does, its options, and examples", COLUMN + 2);
	for (const struct topic *t = help_topics; t->name; t++)
		row(keepf("cleat help %s", t->name), t->summary, COLUMN + 2);
	print_options(cli, NULL);
	return EXIT_GOOD;
}

void help_short(void)
{
	fputs("usage: cleat VERB [OPTION]... [SERVER] [WORD]...\n"
	      "for instance: cleat ls https://example.com/mcp\n"
	      "              cleat ls -- node server.js\n"
	      "try: cleat help\n",
	      stderr);
}

int help_version(struct cli *cli)
{
	(void)cli;
	printf("cleat %s\n", CLEAT_VERSION);
	puts("Protocol: 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28");
	puts("Transports: stdio http https unix tcp unix-stream sse");
	puts("Features: elicitation sampling completion watch cache jsonc config colour");
	return EXIT_GOOD;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static int help_unknown(struct cli *cli, const char *word)
{
	struct words names = { 0 };
	const char *near;

	for (size_t i = 0; cli_verbs[i]; i++)
		words_add(&names, cli_verbs[i]->name);
	for (const struct topic *t = help_topics; t->name; t++)
		words_add(&names, t->name);
	near = nearest(word, names.at, names.n);
	cli->verb = NULL; /* all help is what to try */
	if (near)
		return cli_usage(cli, "there is no help about \"%s\", did you mean %s?", word,
				 near);
	return cli_usage(cli, "there is no help about \"%s\"", word);
}

static int help_run(struct cli *cli)
{
	const struct verb *v;

	if (!cli->argc)
		return help_all(cli);
	if (cli->argc > 1)
		return cli_usage(cli, "one word only");
	v = cli_verb_find(cli->argv[0]);
	if (v)
		return help_verb(cli, v);
	for (const struct topic *t = help_topics; t->name; t++)
		if (strcmp(t->name, cli->argv[0]) == 0)
			return help_topic(cli, t);
	return help_unknown(cli, cli->argv[0]);
}

static const char *const usage[] = { "help [VERB | TOPIC]", NULL };
static const struct cli_example examples[] = {
	{ "cleat help call", "all about calling tools" },
	{ "cleat help exit-codes", "what an exit code means" },
	{ 0 },
};

const struct verb verb_help = {
	.name = "help",
	.summary = "explain a verb, or a topic",
	.usage = usage,
	.about =
		"The topics are server, arguments, output, files, environment and exit-codes. The man pages say the same: man cleat, man cleat-call.",
	.examples = examples,
	.run = help_run,
};

static int run_version(struct cli *cli)
{
	help_version(cli);
	printf("Optional: jq (libjq.so.1) %s\n", jq_present() ? "found" : "not found");
	return EXIT_GOOD;
}

static const char *const version_usage[] = { "version", "--version", NULL };
static const struct cli_example version_examples[] = {
	{ "cleat version", "the version, and what it can do" },
	{ "cleat --version", "the same, without looking for libraries" },
	{ 0 },
};

const struct verb verb_version = {
	.name = "version",
	.summary = "print the version and what it can do",
	.usage = version_usage,
	.about = "Also says which optional libraries are installed.",
	.examples = version_examples,
	.run = run_version,
};
