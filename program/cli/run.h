/* program/cli/run.h - one run of `cleat`: its command line, and what it says on stderr. */
#ifndef PROGRAM_CLI_RUN_H
#define PROGRAM_CLI_RUN_H

#include "cli/verb.h"

#include <cleat/cleat.h>

#include <stdio.h>

struct cli {
	const struct verb *verb;
	int argc; /* what is left after options and SERVER */
	const char **argv;
	/* SERVER: a word (URL, unix:, a name of a configuration), or a command. */
	const char *server;
	const char *const *command; /* between the dashes; NULL: none */
	unsigned verbose;
	bool quiet, json, color, color_err; /* color: of stdout and of stderr */
	bool in_shell;                      /* something else is printed after it */
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
/* The value of an option (the last one), NULL when it was not given; a flag that was given is "". */
const char *cli_option(const struct cli *cli, const char *name);
bool cli_flag(const struct cli *cli, const char *name);
/* The i-th value of one that may appear several times; NULL after the last. */
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
/* The same in one struct; `data` is that of a JSON-RPC error (NULL: none). */
struct cli_failure {
	int code;
	const char *step; /* NULL: none */
	int http_status, rpc_code;
	const char *message;
	const cleat_json *data;
};
int cli_fail(const struct cli *cli, const struct cli_failure *f);
/* A file that was not there, for writing; `replace` (--force): or one in the place of that which was. No link is
 * followed; devices are written to as they are. -1: said why. */
int cli_create(const struct cli *cli, const char *path, unsigned mode, bool replace);
/* Something to know on stderr, unless -q or --json: then there is nothing but errors there (-v: there is). */
void cli_note(const struct cli *cli, const char *fmt, ...) CLEAT_PRINTF(2, 3);

#endif
