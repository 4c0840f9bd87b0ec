/* program/help/man.c - `cleat man [VERB]`: the man pages, made of the same tables as the help. The build runs it. */
#include "help/help.h"

#include "text/text.h"

#include <ctype.h>
#include <string.h>

/* Text that roff takes for nothing else. */
static void man_put(const char *s)
{
	bool start = true;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			fputs("\\&", stdout);
		start = *s == '\n';
		switch (*s) {
		case '\\': fputs("\\e", stdout); break;
		case '-': fputs("\\-", stdout); break;
		case '^': fputs("\\(ha", stdout); break;
		case '~': fputs("\\(ti", stdout); break;
		default: putchar(*s);
		}
	}
}

static void macro(const char *name, const char *text)
{
	printf("%s \"", name);
	for (; *text; text++) {
		char one[] = { *text, '\0' };

		if (*text == '"')
			fputs("\\(dq", stdout);
		else
			man_put(one);
	}
	puts("\"");
}

static void paragraphs(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t n = end ? (size_t)(end - text) : strlen(text);

		puts(".PP");
		man_put(keepf("%.*s", (int)n, text));
		putchar('\n');
		text += n;
		text += strspn(text, "\n");
	}
}

static void entry(const char *word, const char *text)
{
	puts(".TP");
	macro(".B", word);
	man_put(text);
	putchar('\n');
}

static void options(const struct verb *v)
{
	struct cli_list list;

	for (size_t i = 0; cli_lists(v, i, &list); i++) {
		if (i == 0)
			puts(".SH OPTIONS");
		macro(".SS", list.title);
		for (const struct cli_option *o = list.options; o->name; o++) {
			char letter[] = { '-', o->letter, ',', ' ', '\0' };

			entry(keepf("%s--%s%s%s", o->letter ? letter : "", o->name,
				    o->arg ? " " : "", o->arg ? o->arg : ""),
			      keepf("%s%s", o->help,
				    o->repeat && o->arg ? " (may be repeated)" : ""));
		}
	}
}

static void title(const char *name, const char *summary)
{
	char *capital = keepf("%s", name);

	for (char *p = capital; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	printf(".TH %s 1 \"\" \"cleat %s\" \"Cleat\"\n.SH NAME\n%s \\- ", capital, CLEAT_VERSION,
	       name);
	man_put(summary);
	putchar('\n');
}

static void topics(void)
{
	for (const struct topic *t = help_topics; t->name; t++) {
		char *capital = keepf("%s", t->title);

		for (char *p = capital; *p; p++)
			*p = (char)toupper((unsigned char)*p);
		macro(".SH", capital);
		for (size_t i = 0; t->lines[i]; i++) {
			const char *tab = strchr(t->lines[i], '\t');

			if (tab)
				entry(keepf("%.*s", (int)(tab - t->lines[i]), t->lines[i]),
				      tab + 1);
			else
				paragraphs(t->lines[i]);
		}
	}
}

static int page_of_verb(const struct verb *v)
{
	title(keepf("cleat-%s", v->name), v->summary);
	puts(".SH SYNOPSIS");
	for (size_t i = 0; v->usage[i]; i++) {
		if (i)
			puts(".br");
		fputs(".B cleat\n", stdout);
		man_put(v->usage[i]);
		putchar('\n');
	}
	puts(".SH DESCRIPTION");
	if (v->about)
		paragraphs(v->about);
	options(v);
	puts(".SH EXAMPLES");
	for (size_t i = 0; v->examples && v->examples[i].command; i++)
		entry(v->examples[i].command, v->examples[i].what);
	puts(".SH SEE ALSO\n.BR cleat (1)");
	return EXIT_GOOD;
}

static int page_of_all(void)
{
	title("cleat", help_summary);
	puts(".SH SYNOPSIS\n.B cleat\n.I VERB\n[\\fIOPTION\\fR]... [\\fISERVER\\fR] [\\fIWORD\\fR]...");
	puts(".SH DESCRIPTION");
	paragraphs(
		"cleat speaks to servers of the Model Context Protocol: it lists and calls their tools, "
		"reads their resources, and shows what goes over the wire. \"cleat serve\" puts what you already have behind one. Results go to stdout, everything else to stderr.");
	puts(".SH VERBS");
	for (size_t i = 0; cli_verbs[i]; i++)
		if (!cli_verbs[i]->hidden)
			entry(cli_verbs[i]->name, cli_verbs[i]->summary);
	options(NULL);
	topics();
	puts(".SH SEE ALSO");
	for (size_t i = 0; cli_verbs[i]; i++)
		if (!cli_verbs[i]->hidden)
			printf(".BR cleat-%s (1)%s\n", cli_verbs[i]->name,
			       cli_verbs[i + 1] ? "," : "");
	return EXIT_GOOD;
}

/* For the build: the names of all pages. */
static int list(void)
{
	puts("cleat");
	for (size_t i = 0; cli_verbs[i]; i++)
		if (!cli_verbs[i]->hidden)
			printf("cleat-%s\n", cli_verbs[i]->name);
	return EXIT_GOOD;
}

static int man_run(struct cli *cli)
{
	const struct verb *v;

	if (cli_flag(cli, "list"))
		return list();
	if (!cli->argc)
		return page_of_all();
	v = cli_verb_find(cli->argv[0]);
	return v ? page_of_verb(v) : cli_usage(cli, "there is no verb \"%s\"", cli->argv[0]);
}

static const char *const usage[] = { "man [VERB]", "man --list", NULL };
static const struct cli_option own[] = {
	{ .name = "list", .help = "the names of all pages" },
	{ 0 },
};
static const struct cli_example examples[] = {
	{ "cleat man call", "the page cleat-call(1), in roff" },
	{ "cleat man --list", "the names of all pages" },
	{ 0 },
};

const struct verb verb_man = {
	.name = "man",
	.summary = "print a man page in roff",
	.usage = usage,
	.options = own,
	.examples = examples,
	.run = man_run,
	.hidden = true,
};
