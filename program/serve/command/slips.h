/* program/serve/command/slips.h - what a command may say, but hardly means: shell syntax where there is no shell, {name} where
 * there is one, arguments that nothing uses.
 *
 * Each is a remark to whoever wrote the configuration, never a problem: a program may well want the word "|",
 * and a script may leave an argument to what it starts. Not here: what would be dangerous (danger.h).
 */
#ifndef PROGRAM_SERVE_COMMAND_SLIPS_H
#define PROGRAM_SERVE_COMMAND_SLIPS_H

#include "serve/kit/draft.h"

/* `text` lives until the call returns; `at` is the value it is about. */
typedef void slips_tell(void *ctx, const cleat_json *at, const char *text);

/* Looks at "cmd" or "sh", "stdin" and "env" of `node`; `names`: an object whose "properties" are the arguments.
 * `typed`: on the command line, where another shell may have replaced $name already. */
void slips_find(const cleat_json *node, const cleat_json *names, bool typed, slips_tell *tell,
		void *ctx);
/* Each as a warning with its place. */
void slips_warn(struct draft *b, const cleat_json *node, const cleat_json *names);

#endif
