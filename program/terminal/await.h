/* program/terminal/await.h - waiting: for a call, for anything else, and for Ctrl-C. */
#ifndef PROGRAM_TERMINAL_AWAIT_H
#define PROGRAM_TERMINAL_AWAIT_H

#include "cli/run.h"

/* Waits for a call: shows progress on a terminal, cancels it on Ctrl-C. NULL when out of memory. */
cleat_result *cli_await(struct cli *cli, const char *method, const cleat_json *params);
cleat_result *cli_await_list(struct cli *cli, enum cleat_list what);
/* Runs the client's loop until *done, or timeout_ms have passed (-1: never), or Ctrl-C. */
void cli_wait(struct cli *cli, const bool *done, int timeout_ms);
/* Was Ctrl-C pressed? */
bool cli_interrupted(void);
int cli_interrupted_code(void);                 /* 130, or 143 after SIGTERM */
int cli_say_interrupted(const struct cli *cli); /* says so, and gives that code */
/* Becomes readable on Ctrl-C; borrowed. */
int cli_interrupt_fd(void);

/* From now on Ctrl-C and SIGTERM are noticed: the first is seen by cli_interrupted(), the second ends the
 * program. */
void await_signals(cleat_loop *loop);
/* A Ctrl-C has been dealt with: the next one is the first again. */
void await_forgive(void);
/* Gives up the call that cli_await() waits for. On the loop's thread only. */
void await_give_up(void);
/* Takes the progress bar, or a prompt, away before something else is written to the terminal; and puts it back. */
void await_clear(void);
void await_restore(void);
/* Whoever shows a prompt says how it is taken away and put back; NULL: nobody does. */
void await_prompt(void (*hide)(void), void (*show)(void));

#endif
