/* program/serve/command/program.h - a program as a configuration names it: what to run, and how arguments reach it.
 *
 *	"cmd": ["du", "-sh", "--", "{path}"]   words (argtext.h); the program itself is fixed
 *	"sh": "du -sh -- \"$path\""            /bin/sh -c and this text, byte for byte; arguments are variables
 *	"stdin": "{text}", "env": {"LANG": "C"}, "cwd": ".", "sandbox": {...}, "limits": {...}, "timeout", "output_limit"
 *
 * An argument's value is never part of a script: a command that would make it one (sh -c with a place in its
 * text) is a problem, and so is an argument whose variable would change how programs run (PATH, LD_PRELOAD,
 * IFS, ...). An argument that "stdin" names is not a variable: it may be longer than one can be. Not here: what becomes of the output (command.c, resource.c), and running (job.h).
 */
#ifndef PROGRAM_SERVE_COMMAND_PROGRAM_H
#define PROGRAM_SERVE_COMMAND_PROGRAM_H

#include "serve/command/process.h"
#include "serve/kit/draft.h"
#include "serve/kit/tool.h"

struct program;
struct gate;

/* From the members of `node`. `outer`: what it belongs to, whose sandbox it is in (NULL: its own). `names`: an
 * object whose "properties" are the arguments. NULL: problems were added. Everything is copied. */
struct program *program_new(struct draft *b, const cleat_json *node, const cleat_json *outer,
			    const cleat_json *names);
/* Accepts NULL. Nothing of it runs any more. */
void program_free(struct program *p);
/* Does the node say what to run? */
bool program_is_named(const cleat_json *node);

struct runtime *program_runtime(const struct program *p);
/* What errors call it: "du", "the script". */
const char *program_name(const struct program *p);
struct tool_limits program_limits(const struct program *p);
/* What each of its processes may use. */
const struct limits *program_bounds(const struct program *p);
struct gate *program_gate(const struct program *p);
void program_set_limits(struct program *p, uint64_t timeout_ms, size_t output_max);
/* stderr goes where stdout goes. */
void program_merge_errors(struct program *p);

/* Fills argv, env, input and all else but line, done and ctx; what it points to is in the arena. CLEAT_OK; or
 * CLEAT_EINVAL, CLEAT_ELIMIT (words for the model in *err: which value cannot be given, and why), CLEAT_ENOMEM.
 * `args` may be NULL. */
int program_prepare(const struct program *p, const cleat_json *args, struct arena *ar,
		    struct process_spec *ret, cleat_error *err);

#endif
