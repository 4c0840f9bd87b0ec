/* cli/ask.h - answers what a server asks: by --answer, or by whoever sits at the terminal. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli.h"

/* Sets the handlers of a client that are not set yet. EXIT_GOOD, or EXIT_USAGE after a message about
 * --answer or --answers. */
int ask_prepare(struct cli *cli, cleat_client_opts *o);
/* The next command is a new one: cli_unanswered() is 0 again. */
void ask_forgive(void);
void ask_end(void);

#endif
