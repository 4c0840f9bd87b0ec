/* program/serve/command/process.h - a command that is run to its end: input given, output taken, limits kept.
 *
 * It stands on child/child.h: a session and group of its own, nothing inherited, everything of it dead
 * when it is over, also when we die. Time and output are bounded; what is over the limit ends it. stdout and
 * stderr are read at the same time, so it never waits for us (unless `line` is slow).
 *
 * Loop thread only.
 */
#ifndef PROGRAM_SERVE_COMMAND_PROCESS_H
#define PROGRAM_SERVE_COMMAND_PROCESS_H

#include "base/str.h"
#include "serve/command/limits.h"
#include "serve/sandbox/sandbox.h"

#include "loop/loop.h"

struct process;

enum process_ending {
	PROCESS_EXITED,    /* status is the exit code */
	PROCESS_KILLED,    /* status is the signal (not by us) */
	PROCESS_TIMED_OUT, /* by us: over timeout_ms */
	PROCESS_TOO_MUCH,  /* by us: over output_max */
	PROCESS_CANCELLED, /* by us: process_cancel() */
	PROCESS_NO_MEMORY, /* by us: none for its output */
	PROCESS_TOO_LARGE, /* by us: over limits.memory, with all that it has started */
	PROCESS_TOO_MANY   /* by us: over limits.processes */
};

enum { PROCESS_ERR_KEEP = 8 * 1024 };

struct process_result {
	enum process_ending ending;
	int status;
	struct str out; /* stdout, at most output_max bytes; any bytes; valid during `done` */
	struct str
		err; /* the last PROCESS_ERR_KEEP bytes of stderr, made valid UTF-8 without NUL */
};

struct process_spec {
	cleat_loop *loop;
	const cleat_allocator *mem;
	const char *const *argv; /* argv[0] is looked for in PATH when it has no slash */
	const char *const
		*env;        /* "NAME=value", on top of the usual few (PATH, HOME, LANG, ...); ends
				  * with NULL; NULL: none */
	const char *cwd;     /* NULL: ours */
	struct str input;    /* its stdin; absent: /dev/null-like, an end at once. Copied. */
	uint64_t timeout_ms; /* 0: none */
	size_t output_max;   /* of stdout, also with no_collect; SIZE_MAX: no limit */
	bool merge_err;      /* stderr goes where stdout goes: one stream, in the right order */
	const struct sandbox *sandbox; /* NULL: none */
	struct limits limits;
	/* Each line of stdout as it comes (without its end, at most 64 KiB, valid UTF-8 not promised), and of
	 * stderr. NULL: nobody wants them. stdout is still collected unless no_collect. */
	void (*line)(void *ctx, bool is_err, struct str line);
	bool no_collect;
	/* The end; exactly once, from the loop, also after process_cancel(); the process is gone when this
	 * returns. */
	void (*done)(void *ctx, const struct process_result *r);
	void *ctx;
};

/* NULL: could not be started, *err says why for people ("cannot start du: No such file or directory"). */
struct process *process_start(const struct process_spec *spec, cleat_error *err);
/* Ends it: SIGTERM to its group, after two seconds SIGKILL. `done` follows. May be called again; also from
 * inside `line`, not from inside `done`. */
void process_cancel(struct process *p);
/* The same, with SIGKILL after less than half a second: the server ends. */
void process_hurry(struct process *p);
/* SIGKILL at once; `done` is not called. For the end of the program; not from inside its own callbacks.
 * Accepts NULL. */
void process_free(struct process *p);

#endif
