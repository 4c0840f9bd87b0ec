/* program/reach/reach.h - the server that a run speaks to: from the options to a client, and from its failures to
 * words and exit codes.
 */
#ifndef PROGRAM_REACH_REACH_H
#define PROGRAM_REACH_REACH_H

#include "cli/run.h"

/* The client for cli->server or cli->command, with all options applied; made on the first call. NULL:
 * the reason was printed, *ret_code is what to return. The client is freed at the end of the run.
 * `want`: handlers and callbacks on top of what the options say (on_form, ... are set by --answer and the
 * terminal, see ask.c); may be NULL. */
cleat_client *cli_client(struct cli *cli, const cleat_client_options *want, int *ret_code);
/* Waits until the server is ready. EXIT_GOOD, or the reason was printed. */
int cli_open(struct cli *cli);
/* Milliseconds since the client was made. */
double cli_ms_since_start(void);
/* Ends the client, and completes what --record writes. False: it could not (printed). */
bool cli_client_end(struct cli *cli);

/* Prints why a result is none, if it is none, and gives the exit code (EXIT_GOOD: all is well). A tool
 * that failed is not printed (its content is). */
int cli_result_code(const struct cli *cli, const cleat_result *r);
int cli_result_error(const struct cli *cli, const cleat_result *r);
int cli_client_error(const struct cli *cli); /* the same for a server that could not be reached */
/* Why it is none, all of it: the server's words as they are, the library's with our names for its options. Kept. */
const char *cli_result_words(const cleat_result *r);
/* The library's words with our names for its options: (--timeout). Kept until the end. */
const char *cli_in_options(const char *message);

#endif
