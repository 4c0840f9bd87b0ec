/* program/terminal/ask.h - answers what a server asks: by --answer, or by whoever sits at the terminal. */
#ifndef PROGRAM_TERMINAL_ASK_H
#define PROGRAM_TERMINAL_ASK_H

#include "cli/run.h"

/* Sets the handlers of a client that are not set yet. EXIT_GOOD, or EXIT_USAGE after a message about
 * --answer or --answers. */
int ask_prepare(struct cli *cli, cleat_client_options *o);
/* A command of a shell, with answers of its own before those of the shell; until ask_return(). EXIT_GOOD, or
 * EXIT_USAGE after a message. */
int ask_begin(struct cli *command);
void ask_return(void);
void ask_end(void);
/* How often a verb with CLI_DECLINES was asked something. */
unsigned ask_declined(void);
/* Did the server ask something that nobody could answer? The exit code then, otherwise 0. */
int cli_unanswered(const struct cli *cli);

#endif
