/* program/cli/cli.h - what the verbs of `cleat` share: options, the server they speak to, output, endings.
 *
 * A verb is a file of its own (program/verbs/call.c) with one `struct verb`: its help is data, from which come
 * `cleat help`, the man pages and the completions of shells. It uses the library's public headers only,
 * prints its result to stdout and everything else to stderr, and returns an exit code.
 */
#ifndef PROGRAM_CLI_CLI_H
#define PROGRAM_CLI_CLI_H

#include <cleat/cleat.h>

#include <stdio.h>

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

/* ---- verbs ------------------------------------------------------------------------------- */

struct cli;

struct cli_option {
	const char *name;    /* without its dashes; NULL ends a list */
	char letter;         /* 0: none */
	const char *arg;     /* "FILE"; NULL: it takes none */
	const char *help;    /* one line */
	bool repeat;         /* may stand several times */
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
	CLI_COMMAND = 8,  /* takes a command behind "--", up to the end, but no SERVER */
	CLI_UNASKED = 16, /* its client says that it cannot be asked anything */
	CLI_REACH = 32,   /* the options for reaching a server, which is not the first word */
	CLI_SPEAK = 128   /* and those for speaking with it */
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

/* All verbs, in the order of the help; ends with NULL. */
extern const struct verb *const cli_verbs[];
extern const struct cli_option cli_reach_options[], cli_speak_options[], cli_asked_options[],
	cli_general_options[], /* -v, -q, -h, --color */
	cli_top_options[];     /* before any verb: --version */
const struct verb *cli_verb_find(const char *name);
/* The option lists of a verb, in the order of its help, each with a title; false behind the last. With
 * verb NULL: those that may stand before a verb. */
struct cli_list {
	const char *title;
	const struct cli_option *options;
};
bool cli_lists(const struct verb *verb, size_t i, struct cli_list *ret);
/* An option of a verb by its letter or, where that is 0, by its name of n bytes; NULL: it has none such. */
const struct cli_option *cli_option_find(const struct verb *verb, const char *name, size_t n,
					 char letter);

/* ---- one run ------------------------------------------------------------------------------- */

struct cli {
	const struct verb *verb;
	int argc; /* what is left after options and SERVER */
	const char **argv;
	/* SERVER: a word (URL, unix:, a name of a configuration), or a command. */
	const char *server;
	const char *const *command; /* between the dashes; NULL: none */
	unsigned verbose;
	bool quiet, json, color, color_err; /* color: of stdout and of stderr */
	bool in_shell;                      /* something else is printed behind it */
	struct cli_values *values_;         /* options, by name */
	cleat_client *client;               /* cli_client() */
	cleat_loop *loop;                   /* that it is on; Ctrl-C is watched there */
	struct cli_server_state *server_;
	FILE *out_; /* cli_out() */
	/* -o: the file that is written, and the one that it becomes, unless it is dropped. */
	const char *beside_, *target_;
	bool dropped_;
};

/* Reads a command line. EXIT_GOOD, or what to exit with after a message. */
int cli_parse(struct cli *cli, int argc, char **argv);
/* Ends a run: the client, the output and all memory. Gives `code`, or EXIT_OTHER when output was lost. */
int cli_end(struct cli *cli, int code);

/* The value of an option (the last one), NULL when it was not given; a flag that was given is "". */
const char *cli_option(const struct cli *cli, const char *name);
bool cli_flag(const struct cli *cli, const char *name);
/* The i-th value of one that may stand several times; NULL behind the last. */
const char *cli_option_at(const struct cli *cli, const char *name, size_t i);
/* "1.5s", "250ms", "2m", "30" (seconds). False: no duration. */
bool cli_duration(const char *text, uint64_t *ret_ms);

/* "64M", "100k", "1G", "4096" (bytes). False: no size, or none at all. */
bool cli_size(const char *text, size_t *ret_bytes);

/* Says what is wrong with the command line and how it is right ("cleat call: ..."; "try: cleat help
 * call"). Gives EXIT_USAGE. */
int cli_usage(const struct cli *cli, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* Are remarks wanted on stderr, and what a server writes to its own? */
bool cli_remarks(const struct cli *cli);
/* May something that is written to the result, or to stderr, have colour? */
bool cli_color(const struct cli *cli, FILE *to);
/* An error on stderr: "cleat: ...", or with --json one line {"error":{...}}. Gives `code`. */
int cli_error(const struct cli *cli, int code, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* The same, with what is known about the step (NULL: nothing), the HTTP status and the JSON-RPC code (0:
 * none). `message` may be a server's: it is made safe. */
int cli_error_at(const struct cli *cli, int code, const char *step, int http_status, int rpc_code,
		 const char *message);
/* Something to know on stderr, unless -q or --json: then there is nothing but errors there (-v: there is). */
void cli_note(const struct cli *cli, const char *fmt, ...) CLEAT_PRINTF(2, 3);

/* ---- the server ---------------------------------------------------------------------------- */

/* The client for cli->server or cli->command, with all options applied; made on the first call. NULL:
 * the reason was printed, *ret_code is what to return. The client is freed at the end of the run.
 * `want`: handlers and callbacks on top of what the options say (on_form, ... are set by --answer and the
 * terminal, see ask.c); may be NULL. */
cleat_client *cli_client(struct cli *cli, const cleat_client_options *want, int *ret_code);
/* Waits for a call that was started with cli_call_options(): shows progress on a terminal, cancels it on
 * Ctrl-C. NULL when out of memory. */
cleat_result *cli_await(struct cli *cli, const char *method, const cleat_json *params);
cleat_result *cli_await_list(struct cli *cli, enum cleat_list what);
/* Prints why a result is none, if it is none, and gives the exit code (EXIT_GOOD: all is well). A tool
 * that failed is not printed (its content is). */
int cli_result_code(const struct cli *cli, const cleat_result *r);
/* The library's words with our names for its options: (--timeout). Kept until the end. */
const char *cli_in_options(const char *message);
int cli_result_error(const struct cli *cli, const cleat_result *r);
int cli_client_error(const struct cli *cli); /* the same for a server that could not be reached */
/* Did the server ask something that nobody could answer? The exit code then, otherwise 0. */
int cli_unanswered(const struct cli *cli);
/* Waits until the server is ready. EXIT_GOOD, or the reason was printed. */
int cli_open(struct cli *cli);
/* Milliseconds since the client was made. */
double cli_ms_since_start(void);
/* Runs the client's loop until *done, or timeout_ms have passed (-1: never), or Ctrl-C. */
void cli_wait(struct cli *cli, const bool *done, int timeout_ms);
/* Was Ctrl-C pressed? */
bool cli_interrupted(void);
int cli_interrupted_code(void);                 /* 130, or 143 after SIGTERM */
int cli_say_interrupted(const struct cli *cli); /* says so, and gives that code */
/* Becomes readable on Ctrl-C; borrowed. */
int cli_interrupt_fd(void);

/* ---- output -------------------------------------------------------------------------------- */

/* Where the result goes: stdout or -o. NULL: it could not be opened (printed). Closed at the end of the
 * run; a failed write is EXIT_OTHER. A file has its new content only then. */
FILE *cli_out(struct cli *cli);
/* It will not be complete: a file keeps its old content. */
void cli_out_drop(struct cli *cli);
/* As cli_out(), for what is looked at while it grows. */
FILE *cli_out_live(struct cli *cli);
/* Ends the output of one command; cli_end() does this, too. Gives `code`, or EXIT_OTHER when it was lost. */
int cli_close_output(struct cli *cli, int code);
/* With --json or --jq: prints the value that way and gives true. */
bool cli_print_json(struct cli *cli, const cleat_json *v, int *ret_code);
/* For people: JSON, indented, with colour where the terminal has it. */
void cli_pretty(struct cli *cli, FILE *to, const cleat_json *v);
/* The content of a result: text as it is, structured content, images (--save, inline), links. */
int cli_print_content(struct cli *cli, cleat_result *r);
/* Untrusted text for a terminal: control characters made visible, except newline and tab. */
void cli_print_text(FILE *to, const char *text, size_t n);

/* ---- arguments ----------------------------------------------------------------------------- */

/* key=value, key:=json, key=@file, key:=@file, "-" (an object from stdin), by the schema (NULL: strings
 * stay strings). An object, to be freed with cleat_doc_free(), or NULL after a message; checks required
 * members, types and unknown names ("did you mean"). */
cleat_doc *cli_arguments(struct cli *cli, const char *what, int argc, const char **argv,
			 const cleat_json *schema, int *ret_code);
/* The nearest of some names, NULL: none is near. */
const char *cli_nearest(const char *name, const char *const *names, size_t n);

#endif
