/* program/cli/verb.h - what a verb of `cleat` is: a name, options, help, and a function that gives an exit code.
 *
 * A verb is a file of its own (program/verbs/call.c) with one `struct verb`: its help is data, from which come
 * `cleat help`, the man pages and the completions of shells. It prints its result to stdout and everything
 * else to stderr.
 */
#ifndef PROGRAM_CLI_VERB_H
#define PROGRAM_CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_OTHER = 1,
	EXIT_USAGE = 2,
	EXIT_AUTH = 3,        /* authorization is needed */
	EXIT_UNREACHABLE = 4, /* could not be started or connected to */
	EXIT_TOOL = 5,        /* the tool failed, or there is no such thing */
	EXIT_PROTOCOL = 6,    /* the server broke the protocol */
	EXIT_CHECK = 7,       /* a check found something */
	EXIT_TIMEOUT = 124,
	EXIT_INTERRUPTED = 130
};

struct cli;

struct cli_option {
	const char *name;    /* without its dashes; NULL ends a list */
	char letter;         /* 0: none */
	const char *arg;     /* "FILE"; NULL: it takes none */
	const char *help;    /* one line */
	bool repeat;         /* may appear several times */
	const char *choices; /* "auto|legacy|modern", for completion and checking; NULL: anything */
};

struct cli_example {
	/* As it is typed. The tests run it, with their servers for http://localhost:8080/mcp and ./hello. */
	const char *command;
	const char *what; /* what it does */
};

enum cli_group {
	CLI_NO_OPTIONS = 0,
	CLI_SERVER = 1,   /* takes a SERVER, and the options for reaching it and speaking with it */
	CLI_ASKED = 2,    /* its server may ask something: --answer and the like */
	CLI_OUTPUT = 4,   /* prints a result: --json, --jq, -o */
	CLI_CONTENT = 64, /* with CLI_OUTPUT: there may be images in it, --save */
	CLI_COMMAND = 8,  /* takes a command after "--", up to the end, but no SERVER */
	CLI_UNASKED = 16, /* its client says that it cannot be asked anything */
	CLI_DECLINES = 256, /* its client can be asked, as that of other verbs, and declines */
	CLI_REACH = 32,     /* the options for reaching a server, which is not the first word */
	CLI_SPEAK = 128     /* and those for speaking with it */
};

struct verb {
	const char *name;
	const char *summary;                /* one line, in the list of verbs */
	const char *const *usage;           /* "call SERVER TOOL [ARGUMENT]..."; ends with NULL */
	const char *about;                  /* paragraphs for people, separated by empty lines */
	unsigned groups;                    /* CLI_* */
	const struct cli_option *options;   /* its own; NULL: none */
	const struct cli_example *examples; /* two at least; ends with command NULL */
	int (*run)(struct cli *cli);
	bool hidden;
};

/* All verbs, in the order of the help; ends with NULL. (verbs/verbs.c.) */
extern const struct verb *const cli_verbs[];
extern const struct cli_option cli_reach_options[], cli_speak_options[], cli_asked_options[],
	cli_general_options[], /* -v, -q, -h, --color */
	cli_top_options[];     /* before any verb: --version */
const struct verb *cli_verb_find(const char *name);
/* The option lists of a verb, in the order of its help, each with a title; false after the last. With
 * verb NULL: those that may appear before a verb. */
struct cli_list {
	const char *title;
	const struct cli_option *options;
};
bool cli_lists(const struct verb *verb, size_t i, struct cli_list *ret);
/* An option of a verb by its letter or, where that is 0, by its name of n bytes; NULL: it has none such. */
const struct cli_option *cli_option_find(const struct verb *verb, const char *name, size_t n,
					 char letter);

#endif
