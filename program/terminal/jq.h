/* program/terminal/jq.h - jq expressions through libjq, which is opened when it is first needed. */
#ifndef PROGRAM_TERMINAL_JQ_H
#define PROGRAM_TERMINAL_JQ_H

#include "cli/run.h"

/* Is the expression of --jq one? EXIT_GOOD also when there is none; otherwise the reason was printed. */
int jq_check(struct cli *cli);
/* Applies it and prints what comes out, strings as they are, anything else as a line of JSON. */
int jq_print(struct cli *cli, const char *expression, const cleat_json *v);
/* Is libjq there? */
bool jq_present(void);

#endif
