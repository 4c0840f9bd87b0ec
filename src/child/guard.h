/* child/guard.h - the process between us and a child: it starts, signals and reaps it.
 *
 * Why there is one. A parent-death signal reaches the child only, not what it has started; and it
 * comes when the thread that forked ends, not the process. A guard has one thread, watches us, and
 * kills the child's whole group when we are gone, however we went. It also is the only one that
 * signals the group and the only one that reaps the child, in this order, so that the number of a group is never used
 * after it could belong to somebody else.
 *
 * It is a child of ours without an exit signal: no SIGCHLD, and neither wait() nor an ignored SIGCHLD
 * of the program can take it away. Only guard_reap() waits for it.
 *
 * We speak over a socket: it sends guard_words, we send single bytes. Its end is our good-bye.
 */
#ifndef CHILD_GUARD_H
#define CHILD_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard_plan {
	const char *path; /* of the program; relative to cwd */
	char *const *argv;
	char *const *envp;
	const char *cwd;                 /* NULL: ours */
	int control;                     /* the guard's end of the socket */
	int exec_in, exec_out;           /* a pipe, for an exec that fails */
	int in, out, err;                /* become the child's 0, 1 and 2 */
					 /* all of these are close-on-exec and above 2 */
	int (*prepare)(const void *ctx); /* NULL: none; see child.h */
	const void *prepare_ctx;
	bool strays; /* kill what has left the group, too */
};

/* What it says: first STARTED or one of FAILED, then EXITED. */
enum guard_kind {
	GUARD_STARTED = 1, /* value: the child's process id */
	GUARD_FAILED_FORK, /* value: errno */
	GUARD_FAILED_CWD,
	GUARD_FAILED_PREPARE,
	GUARD_FAILED_EXEC,
	GUARD_EXITED /* value: as waitpid gives it; the guard ends, too */
};

struct guard_word {
	int kind, value;
};

/* What it is told. */
enum { GUARD_TERM = 'T', GUARD_KILL = 'K' };

/* The guard's process id, or -1 and errno. */
pid_t guard_start(const struct guard_plan *p);
/* In the guard, once the child runs: what it does not need of our memory is given back. */
void guard_shed(void);
/* Waits for a guard that has said its last word, or was killed. */
void guard_reap(pid_t guard);

#endif
