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
	int in, out, err;
};

enum { MOST_ARGUMENTS = 16 };

/* Runs cleat_server_main() with these options, up to NULL. `ready`, where not NULL, is a pipe that the
 * handlers write to when they have begun; `prepare` is called first in the process. */
static inline void start_with(struct child *c, cleat_server *(*make)(const cleat_server_options *),
			      int *ready, const char *const *options, void (*prepare)(void))
{
	char program[] = "./bin/test-server", *argv[MOST_ARGUMENTS + 2] = { program };
	int pipe_fds[2] = { -1, -1 }, argc = 1;
	struct stage g;

	for (; options && *options; options++) {
		assert_true(argc <= MOST_ARGUMENTS);
		argv[argc++] = (char *)*options; /* main()'s are writable, and nobody writes */
	}
	if (ready)
		assert_int_equal(pipe(pipe_fds), 0);
	begin_stage(&g);
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left of a test that failed */
		ready_fd = pipe_fds[1];
		close(g.in[1]);
		close(g.out[0]);
		close(g.err[0]);
		if (prepare)
			prepare();
		exit(cleat_server_main(make(NULL), argc, argv));
	}
	end_stage(&g);
	*c = (struct child){ c->pid, g.in[1], g.out[0], g.err[0] };
	assert_true(c->pid > 0);
	if (ready) {
		*ready = pipe_fds[0];
		close(pipe_fds[1]);
	}
}

static inline void start(struct child *c, cleat_server *(*make)(const cleat_server_options *),
			 int *ready, const char *option)
{
	const char *const options[] = { option, NULL };

	start_with(c, make, ready, options, NULL);
}

static inline int finish(struct child *c, char *out, size_t out_room, char *err, size_t err_room)
{
	int status;

	if (c->in >= 0)
		close(c->in);
	slurp(c->out, out, out_room);
	slurp(c->err, err, err_room);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#endif
