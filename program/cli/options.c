/* program/cli/options.c - reads a command line by the tables of the verbs.
 *
 *	cleat VERB [OPTION]... SERVER [WORD]...
 *	cleat VERB [OPTION]... -- COMMAND [ARGUMENT]... [-- [WORD | OPTION]...]
 *
 * Options may appear anywhere outside of the command. "--" begins a command as long as there is no
 * SERVER, and the next one ends it; where there is one already, "--" says that only words follow.
 */
#include "cli/run.h"
#include "text/nearest.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 128, LARGEST = 1 << 30 };

const struct cli_option cli_top_options[] = {
	{ .name = "version", .letter = 'V', .help = "print the version and what it can do" },
	{ 0 },
};

const struct cli_option cli_general_options[] = {
	{ .name = "verbose",
	  .letter = 'v',
	  .repeat = true,
	  .help = "show messages sent (>) and received (<), and what happens (*); -vv: HTTP headers, too" },
	{ .name = "quiet", .letter = 'q', .help = "no remarks, and no stderr of the server" },
	{ .name = "color",
	  .arg = "WHEN",
	  .choices = "auto|always|never",
	  .help = "colour: auto (on a terminal, without NO_COLOR), always, never" },
	{ .name = "help", .letter = 'h', .help = "print this help" },
	{ 0 },
};

static const struct cli_option output_options[] = {
	/* The first is for verbs with CLI_CONTENT only. */
	{ .name = "save",
	  .arg = "DIR",
	  .help = "write images, audio and binary data to DIR: image-1.png, ..." },
	{ .name = "json", .help = "print the protocol's own JSON; errors are a line of JSON, too" },
	{ .name = "jq", .arg = "EXPR", .help = "print what this jq expression makes of the JSON" },
	{ .name = "output",
	  .letter = 'o',
	  .arg = "FILE",
	  .help = "write the result to FILE, which is replaced when it is complete" },
	{ 0 },
};

bool cli_lists(const struct verb *verb, size_t i, struct cli_list *ret)
{
	unsigned groups = verb ? verb->groups : 0;
	const struct cli_list all[] = {
		{ "Options", verb ? verb->options : cli_top_options },
		{ "Output", !(groups & CLI_OUTPUT) ? NULL
			    : groups & CLI_CONTENT ? output_options
						   : output_options + 1 },
		{ "Answering the server", groups & CLI_ASKED ? cli_asked_options : NULL },
		{ "Reaching the server",
		  groups & (CLI_SERVER | CLI_REACH) ? cli_reach_options : NULL },
		{ "Speaking with the server",
		  groups & (CLI_SERVER | CLI_SPEAK) ? cli_speak_options : NULL },
		{ "General", cli_general_options },
	};

	for (size_t k = 0; k < CLEAT_COUNT(all); k++) {
		if (!all[k].options || !all[k].options->name || i--)
			continue;
		*ret = all[k];
		return true;
	}
	return false;
}

const struct verb *cli_verb_find(const char *name)
{
	for (size_t i = 0; cli_verbs[i]; i++)
		if (strcmp(cli_verbs[i]->name, name) == 0)
			return cli_verbs[i];
	return NULL;
}

/* ---- values -------------------------------------------------------------------------------------- */

struct cli_values {
	size_t n;
	struct {
		const struct cli_option *option;
		const char *value;
	} at[];
};

const char *cli_option_at(const struct cli *cli, const char *name, size_t i)
{
	for (size_t k = 0; cli->values_ && k < cli->values_->n; k++)
		if (strcmp(cli->values_->at[k].option->name, name) == 0 && !i--)
			return cli->values_->at[k].value;
	return NULL;
}

const char *cli_option(const struct cli *cli, const char *name)
{
	const char *last = NULL, *next;

	for (size_t i = 0; (next = cli_option_at(cli, name, i)) != NULL; i++)
		last = next;
	return last;
}

bool cli_flag(const struct cli *cli, const char *name)
{
	return cli_option(cli, name) != NULL;
}

/* Digits with at most one point among them, in thousandths. */
static bool thousandths(const char *text, size_t n, uint64_t *ret)
{
	uint64_t value = 0;
	int decimals = -1;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '.' && decimals < 0 && i) {
			decimals = 0;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || value > 1000000000)
			return false;
		if (decimals >= 3)
			continue;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (decimals >= 0)
			decimals++;
	}
	for (int k = decimals < 0 ? 0 : decimals; k < 3; k++)
		value *= 10;
	*ret = value;
	return n && text[n - 1] != '.';
}

bool cli_duration(const char *text, uint64_t *ret_ms)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	size_t n = strspn(text, "0123456789.");
	uint64_t value;

	for (size_t i = 0; i < CLEAT_COUNT(units); i++) {
		if (strcmp(text + n, units[i].unit) != 0)
			continue;
		if (!thousandths(text, n, &value) || value > UINT64_MAX / 3600000)
			return false;
		*ret_ms = value * units[i].ms / 1000;
		return *ret_ms <= 1000000000; /* eleven days */
	}
	return false;
}

bool cli_size(const char *text, size_t *ret_bytes)
{
	static const char units[] = "kmg";
	size_t n = strspn(text, "0123456789");
	const char *unit = text[n] ? strchr(units, text[n] | 0x20) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t value;

	if (!thousandths(text, n, &value) || (text[n] && (!unit || text[n + 1])))
		return false;
	value /= 1000;
	*ret_bytes = (size_t)(value << shift);
	return value && value <= (uint64_t)LARGEST >> shift;
}

/* ---- finding options ----------------------------------------------------------------------------- */

const struct cli_option *cli_option_find(const struct verb *verb, const char *name, size_t n,
					 char letter)
{
	struct cli_list list;

	for (size_t i = 0; cli_lists(verb, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name; o++)
			if (letter ? o->letter == letter
				   : strlen(o->name) == n && memcmp(o->name, name, n) == 0)
				return o;
	return NULL;
}

static bool some_verb_has(const char *name, size_t n)
{
	size_t i = 0;

	while (cli_verbs[i] && !cli_option_find(cli_verbs[i], name, n, 0))
		i++;
	return cli_verbs[i] != NULL;
}

static int options_unknown(const struct cli *cli, const char *name, size_t n)
{
	const char *names[MOST_NAMES], *near;
	char *word = keepf("%.*s", (int)n, name);
	struct cli_list list;
	size_t count = 0;

	for (size_t i = 0; cli_lists(cli->verb, i, &list); i++)
		for (const struct cli_option *o = list.options; o->name && count < MOST_NAMES; o++)
			names[count++] = o->name;
	if (!cli->verb && some_verb_has(name, n))
		return cli_usage(cli, "--%s stands behind the verb: cleat VERB --%s", word, word);
	near = nearest(word, names, count);
	if (near)
		return cli_usage(cli, "there is no option --%s, did you mean --%s?", word, near);
	return cli_usage(cli, "there is no option --%s", word);
}

static bool is_choice(const char *choices, const char *value)
{
	size_t n = strlen(value);

	while (n) {
		size_t length = strcspn(choices, "|");

		if (length == n && memcmp(choices, value, n) == 0)
			return true;
		if (!choices[length])
			return false;
		choices += length + 1;
	}
	return false;
}

static int options_take(struct cli *cli, const struct cli_option *o, const char *value)
{
	if (o->choices && !is_choice(o->choices, value))
		return cli_usage(cli, "--%s is one of %s, not \"%s\"", o->name, o->choices, value);
	if (o->arg && !o->repeat && cli_option(cli, o->name))
		return cli_usage(cli, "--%s stands twice", o->name);
	cli->values_->at[cli->values_->n].option = o;
	cli->values_->at[cli->values_->n++].value = value;
	if (strcmp(o->name, "verbose") == 0)
		cli->verbose++;
	else if (strcmp(o->name, "quiet") == 0)
		cli->quiet = true;
	else if (strcmp(o->name, "json") == 0)
		cli->json = true;
	return EXIT_GOOD;
}

/* ---- the line ------------------------------------------------------------------------------------ */

struct line {
	struct cli *cli;
	int argc, i; /* i: the next word */
	char **argv;
	bool words_only;
};

/* A forgotten value must not make "--" one: it begins a command. */
static bool has_value(const struct line *l)
{
	return l->i < l->argc && strcmp(l->argv[l->i], "--") != 0;
}

static int long_option(struct line *l, const char *text)
{
	size_t n = strcspn(text, "=");
	const struct cli_option *o = cli_option_find(l->cli->verb, text, n, 0);

	if (!o)
		return options_unknown(l->cli, text, n);
	if (!o->arg && text[n])
		return cli_usage(l->cli, "--%s takes no value", o->name);
	if (!o->arg)
		return options_take(l->cli, o, "");
	if (text[n])
		return options_take(l->cli, o, text + n + 1);
	if (!has_value(l))
		return cli_usage(l->cli, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
	return options_take(l->cli, o, l->argv[l->i++]);
}

static int letters(struct line *l, const char *text)
{
	for (; *text; text++) {
		const struct cli_option *o = cli_option_find(l->cli->verb, "", 0, *text);
		int code;

		if (!o)
			return cli_usage(l->cli, "there is no option -%c", *text);
		if (!o->arg) {
			code = options_take(l->cli, o, "");
			if (code)
				return code;
			continue;
		}
		if (text[1])
			return options_take(l->cli, o, text + 1 + (text[1] == '='));
		if (!has_value(l))
			return cli_usage(l->cli, "-%c needs a value: -%c %s", *text, *text, o->arg);
		return options_take(l->cli, o, l->argv[l->i++]);
	}
	return EXIT_GOOD;
}

static int unknown_verb(struct cli *cli, const char *word)
{
	const char *names[MOST_NAMES], *near;
	size_t n = 0;

	for (; n < MOST_NAMES && cli_verbs[n]; n++)
		names[n] = cli_verbs[n]->name;
	near = nearest(word, names, n);
	if (strstr(word, "://") || strncmp(word, "unix:", 5) == 0)
		return cli_usage(cli, "what to do with it? For instance: cleat ls %s", word);
	if (near)
		return cli_usage(cli, "there is no verb \"%s\", did you mean %s?", word, near);
	return cli_usage(cli, "there is no verb \"%s\"", word);
}

static int word(struct line *l, const char *text)
{
	struct cli *cli = l->cli;

	if (!cli->verb) {
		cli->verb = cli_verb_find(text);
		return cli->verb ? EXIT_GOOD : unknown_verb(cli, text);
	}
	if (cli->verb->groups & CLI_SERVER && !cli->server && !cli->command)
		cli->server = text;
	else
		cli->argv[cli->argc++] = text;
	return EXIT_GOOD;
}

/* "--": the beginning of a command, or the end of the options. */
static int dashes(struct line *l)
{
	const struct cli *cli = l->cli;
	struct words command = { 0 };
	bool ends = cli->verb && cli->verb->groups & CLI_SERVER;

	if (!cli->verb || cli->server || cli->command ||
	    !(cli->verb->groups & (CLI_SERVER | CLI_COMMAND))) {
		l->words_only = true;
		return EXIT_GOOD;
	}
	while (l->i < l->argc && !(ends && strcmp(l->argv[l->i], "--") == 0))
		words_add(&command, l->argv[l->i++]);
	l->i++;
	if (!command.n)
		return cli_usage(cli, "there is no command after --");
	l->cli->command = command.at;
	return EXIT_GOOD;
}

/* --json decides how errors look, also those of words before it. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

static bool wants_color(const struct cli *cli, int fd)
{
	const char *when = cli_option(cli, "color"), *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (when && strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool cli_color(const struct cli *cli, FILE *to)
{
	return to == stderr ? cli->color_err : cli->color;
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
	struct line l = { .cli = cli, .argc = argc, .argv = argv, .i = 1 };
	size_t most = (size_t)(argc > 0 ? argc : 1), letters_most = 0;
	int code = EXIT_GOOD;

	for (int i = 1; i < argc; i++)
		letters_most += strlen(argv[i]); /* -vvvv: each letter is a value */
	cli->argv = keep_alloc((most + 1) * sizeof *cli->argv);
	cli->values_ = keep_alloc(sizeof *cli->values_ +
				  (most + letters_most) * sizeof cli->values_->at[0]);
	cli->json = wants_json(argc, argv);
	while (!code && l.i < argc) {
		const char *text = argv[l.i++];

		if (l.words_only || text[0] != '-' || !text[1])
			code = word(&l, text);
		else if (strcmp(text, "--") == 0)
			code = dashes(&l);
		else
			code = text[1] == '-' ? long_option(&l, text + 2) : letters(&l, text + 1);
	}
	cli->color = wants_color(cli, STDOUT_FILENO) &&
		     (!cli_option(cli, "output") || cli_option(cli, "color"));
	cli->color_err = wants_color(cli, STDERR_FILENO);
	return code;
}
