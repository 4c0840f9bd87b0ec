/* program/serve/command/job.h - a program that runs for a request: its turn, its start, its cancellation, its end.
 *
 * What a handler does is job_start(); the rest comes from the loop. The userdata of whatever uses jobs begins
 * with a struct jobs, because that is how a request that is cancelled finds its job. Loop thread only.
 */
#ifndef PROGRAM_SERVE_COMMAND_JOB_H
#define PROGRAM_SERVE_COMMAND_JOB_H

#include "base/buf.h"
#include "serve/command/program.h"

struct job;

/* The first member of an entry's userdata; all-zero. */
struct jobs {
	struct job *first;
};

struct job_hooks {
	/* A line of its output as it comes; see process.h. NULL: none. */
	void (*line)(cleat_request *req, void *ctx, bool is_err, struct str line);
	/* Its end, unless it was cancelled: reply. What it returns is the request's status. */
	int (*done)(cleat_request *req, void *ctx, const struct process_result *r);
	/* It cannot be started, or a value cannot be given to it. NULL: that is the error to reply with. What it
	 * returns is the request's status. */
	int (*refused)(cleat_request *req, void *ctx, const char *why);
};

/* To be returned by the handler. What cannot be started has been answered. `args` may be NULL; they and `ctx`
 * live as long as the request. */
int job_start(struct jobs *jobs, const struct program *p, cleat_request *req,
	      const cleat_json *args, const struct job_hooks *hooks, void *ctx);

/* The server ends: whatever runs is told so, and killed before the server is gone. */
void jobs_hurry(struct runtime *rt);

/* How it ended, in one sentence for the model, with the last of what it wrote to stderr:
 * "du exited with status 1: du: cannot access 'x': No such file or directory". */
void job_write_ending(struct buf *out, const struct program *p, const struct process_result *r,
		      bool with_stderr);

#endif
