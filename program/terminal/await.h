/* program/terminal/await.h - what runs while a call is under way. */
#ifndef PROGRAM_TERMINAL_AWAIT_H
#define PROGRAM_TERMINAL_AWAIT_H

#include "cli/cli.h"

/* From now on Ctrl-C and SIGTERM are noticed: the first is seen by cli_interrupted(), the second ends the
 * program. */
void await_signals(cleat_loop *loop);
/* A Ctrl-C has been dealt with: the next one is the first again. */
void await_forgive(void);
/* Gives up the call that cli_await() waits for. On the loop's thread only. */
void await_give_up(void);
/* Takes the progress bar away, before something else is written to the terminal. */
void await_clear(void);

#endif
