/* test_run_child.h - cleat_server_main() in a process of its own, and pipes in the place of standard
 * input and output.
 */
#ifndef TEST_RUN_CHILD_H
#define TEST_RUN_CHILD_H

#include "unit/run/test_run.h"

#include <sys/prctl.h>

/* ---- standard input and output ------------------------------------------------------------ */

/* Puts pipes in the place of 0, 1 and 2, and the old ones back. */
struct stage {
	int saved[3];
	int in[2], out[2], err[2];
};

static inline void begin_stage(struct stage *g)
{
	fflush(stdout);
	fflush(stderr);
	assert_int_equal(pipe(g->in), 0);
	assert_int_equal(pipe(g->out), 0);
	assert_int_equal(pipe(g->err), 0);
	for (int i = 0; i < 3; i++)
		g->saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
	dup2(g->in[0], 0);
	dup2(g->out[1], 1);
	dup2(g->err[1], 2);
	close(g->in[0]);
	close(g->out[1]);
	close(g->err[1]);
}

static inline void end_stage(struct stage *g)
{
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		dup2(g->saved[i], i);
		close(g->saved[i]);
	}
}

/* All that was written, after the writers are gone. */
static inline void slurp(int fd, char *to, size_t room)
{
	size_t n = 0;

	for (ssize_t k; (k = read(fd, to + n, room - 1 - n)) > 0;)
		n += (size_t)k;
	to[n] = 0;
	close(fd);
}

/* ---- the whole program -------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int in, out, err; /* our ends */
	int ready;        /* a byte when a handler that waits has begun */
	/* what it has said in the end */
	char text[8192], errors[16384];
};

enum { MOST_ARGUMENTS = 16 };

/* A process that runs this, whose value is its status. */
static inline void start_running(struct child *c, int (*run)(void *arg), void *arg)
{
	int ready[2];
	struct stage g;

	assert_int_equal(pipe(ready), 0);
	begin_stage(&g);
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left of a test that failed */
		ready_fd = ready[1];
		close(g.in[1]);
		close(g.out[0]);
		close(g.err[0]);
		exit(run(arg));
	}
	end_stage(&g);
	close(ready[1]);
	*c = (struct child){ c->pid, g.in[1], g.out[0], g.err[0], ready[0], "", "" };
	assert_true(c->pid > 0);
}

struct start {
	cleat_server *(*make)(const cleat_server_options *);
	const char *const *options;
	void (*prepare)(void);
};

static inline int run_start(void *arg)
{
	char program[] = "./bin/test-server", *argv[MOST_ARGUMENTS + 2] = { program };
	const struct start *s = arg;
	int argc = 1;

	for (const char *const *o = s->options; o && *o && argc <= MOST_ARGUMENTS; o++)
		argv[argc++] = (char *)*o; /* main()'s are writable, and nobody writes */
	if (s->prepare)
		s->prepare();
	return cleat_server_main(s->make(NULL), argc, argv);
}

/* Runs cleat_server_main() with these options, up to NULL; `prepare` is called first in the process. */
static inline void start_with(struct child *c, cleat_server *(*make)(const cleat_server_options *),
			      const char *const *options, void (*prepare)(void))
{
	start_running(c, run_start, &(struct start){ make, options, prepare });
}

static inline void start(struct child *c, cleat_server *(*make)(const cleat_server_options *),
			 const char *option)
{
	start_with(c, make, (const char *const[]){ option, NULL }, NULL);
}

static inline void wait_ready(struct child *c)
{
	char byte;

	assert_int_equal(read(c->ready, &byte, 1), 1);
}

/* One that serves a session, and runs this tool. */
static inline void start_call(struct child *c, const char *tool)
{
	start(c, new_server, NULL);
	put(c->in, INITIALIZE);
	put(c->in, call(1, tool, "{}"));
	wait_ready(c);
}

static inline int finish(struct child *c)
{
	int status;

	close(c->ready);
	close(c->in);
	slurp(c->out, c->text, sizeof c->text);
	slurp(c->err, c->errors, sizeof c->errors);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif
