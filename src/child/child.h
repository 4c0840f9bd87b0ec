/* child/child.h - a child process that cannot be left behind.
 *
 * It gets a session and a process group of its own, no descriptor but the three pipes, default signal
 * dispositions and an empty mask, and only the usual environment. When we die, however we die, all of the
 * group is killed. It is let go in steps: end of input, CHILD_GRACE_MS, SIGTERM to the group,
 * CHILD_GRACE_MS, SIGKILL to the group, reaped; its output is drained meanwhile, so that a child that is
 * blocked writing can end. What is left of the group when the child itself has exited is killed, too;
 * on demand also what has left the group (`strays`).
 *
 * Safe in programs with threads: between fork and exec only async-signal-safe calls are made. Nothing
 * of the process is changed: no SIGCHLD handler; other children are never waited for.
 */
#ifndef CHILD_CHILD_H
#define CHILD_CHILD_H

#include "base/str.h"
#include "loop/loop.h"

enum { CHILD_GRACE_MS = 2000, CHILD_LINE_MAX = 8192 };

struct child;

struct child_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	const char *const *argv; /* argv[0] is looked for in our PATH when it has no slash */
	const char *cwd;         /* NULL: ours */
	const char *const *env;  /* "NAME=value": set; "NAME": as ours, if set; NULL: none */
	bool inherit_env;        /* all of ours, with `env` on top */
	unsigned grace_ms;       /* 0: CHILD_GRACE_MS (tests) */
	/* When it ends, everything that it has started is killed, in whichever session it is now. Not for
	 * programs that are meant to leave something behind (a browser, an agent). */
	bool strays;
	bool merge_err; /* stderr is the same pipe as stdout: child_err() is empty */
	bool own_err;   /* nobody reads stderr but who asks for child_err() */
	/* Called in the child between fork and exec, with all but async-signal-safe calls forbidden: the
	 * memory is shared with the guard and must not be changed. Descriptors above 15 that were there
	 * are still open. 0, or an errno: then it is not started, and the message is "cannot start NAME:
	 * PREPARE_WHAT: ...". */
	int (*prepare)(const void *ctx);
	const void *prepare_ctx;
	const char *prepare_what;
	/* A line of stderr without its end, at most CHILD_LINE_MAX bytes, invalid UTF-8 and control characters
	 * made harmless; at most 200 a second (then one line says how many were dropped). stderr is read
	 * whatever happens, so that the child never waits. NULL: thrown away. */
	void (*err_line)(void *ctx, const char *line);
	/* It has exited, and all of its group is dead and reaped: `status` as waitpid gives it. From the
	 * loop. */
	void (*exited)(void *ctx, int status);
	void *ctx;
};

/* CLEAT_OK, or CLEAT_EIO / CLEAT_EINVAL / CLEAT_ENOMEM with errno and a message for people in *err:
 * "cannot start ./adder: No such file or directory". An exec that fails is reported here, too. */
int child_spawn(const struct child_options *o, struct child **ret, cleat_error *err);
int child_pid(const struct child *c);
/* The ends of its stdin and stdout that are ours; non-blocking, close-on-exec, still the child's. */
int child_in(const struct child *c);  /* write here */
int child_out(const struct child *c); /* read here */
int child_err(const struct child *c); /* only with own_err; open until child_free(), as stdout */
/* Closes its stdin, and nothing else; child_in() is -1 then. May be called again. */
void child_end_input(struct child *c);
/* Begins to let it go: closes its stdin. `exited` follows within two graces and 1.5 s. May be called again: does nothing. Nobody may
 * use child_in() any more; whoever reads child_out() goes on until the end, or calls
 * child_drain(). */
void child_stop(struct child *c);
/* The same without waiting for the end of input to be noticed: SIGTERM to the group at once, after a grace
 * SIGKILL. Also after child_stop(). */
void child_terminate(struct child *c);
/* The same with a grace of its own; also when another one is running. 0: SIGKILL at once. */
void child_terminate_in(struct child *c, unsigned ms);
/* The process of which all that it has started, and it itself, are descendants, whatever became of those in
 * between. */
int child_root(const struct child *c);
/* Reads and throws away its stdout from now on. */
void child_drain(struct child *c);
bool child_alive(const struct child *c);
/* The line of its stderr that says most about why it failed: the last with "error:" in it, or the last;
 * "" when it said nothing. Also after its end. */
const char *child_last_words(const struct child *c);
/* How it ended, in words: "exited with status 3", "was killed by signal 9 (Killed)". */
void child_ending(int status, char *buf, size_t n);
/* At once: SIGKILL to the group if it is still there, reaped. Accepts NULL. Also from inside err_line and
 * exited. */
void child_free(struct child *c);

#endif
