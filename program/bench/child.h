/* program/bench/child.h - programs that are servers, one for each connection, spoken to over pipes.
 *
 * Each is in a process group of its own. None outlives us: a guard, a small process of ours, kills them when
 * we are gone, however that came about.
 */
#ifndef PROGRAM_BENCH_CHILD_H
#define PROGRAM_BENCH_CHILD_H

#include "bench/load.h"

struct brood {
	pid_t guard;
	int tell; /* the guard */
	pid_t *pids;
	struct load_pipe *pipes;
	size_t n;
};

struct brood_options {
	const char *const *command;
	char *const *env; /* NULL: ours */
	const char *cwd;  /* NULL: ours */
	bool show_stderr;
};

/* The variables of a program: all of ours, or the usual ones, and those of the list ("NAME=value", or "NAME"
 * for ours; may be NULL), as the library gives them to its children. NULL: out of memory. */
char **brood_env(const char *const *more, bool all);
void brood_env_free(char *const *env);
/* Starts n programs; false: errno says why not, and nothing was started. */
bool brood_start(struct brood *b, const struct brood_options *o, size_t n);
/* End of input, then SIGTERM, then SIGKILL, to all at once; waits for them. */
void brood_end(struct brood *b);

#endif
