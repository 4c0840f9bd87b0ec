/* run/stdio.c - see stdio.h, and cleat_server_run_stdio(). */
#define _POSIX_C_SOURCE 200809L

#include "run/stdio.h"

#include "base/error.h"
#include "run/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Makes `fd` what `path` opens. */
static int redirect(int fd, const char *path, int mode)
{
	int other = open(path, mode | O_CLOEXEC);
	int rc = other < 0 ? -1 : dup2(other, fd);

	if (other >= 0 && other != fd)
		close(other);
	return rc < 0 ? -1 : 0;
}

static int stdio_refuse(struct stdio_claim *c, cleat_error *err, const char *what)
{
	int error = errno;
	int status = error == EBADF ? CLEAT_EINVAL : CLEAT_EIO;

	stdio_give_back(c);
	error_set(err, status, "%s: %s", what, strerror(error));
	if (err)
		err->os_errno = error;
	return status;
}

int stdio_take(struct stdio_claim *c, cleat_error *err)
{
	fflush(stdout);
	*c = (struct stdio_claim){ -1, -1 };
	c->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (c->in < 0)
		return stdio_refuse(c, err, "standard input");
	c->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (c->out < 0)
		return stdio_refuse(c, err, "standard output");
	if (redirect(STDIN_FILENO, "/dev/null", O_RDONLY))
		return stdio_refuse(c, err, "/dev/null");
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 &&
	    redirect(STDOUT_FILENO, "/dev/null", O_WRONLY))
		return stdio_refuse(c, err, "/dev/null");
	return CLEAT_OK;
}

void stdio_give_back(struct stdio_claim *c)
{
	fflush(stdout); /* to where it was printed */
	if (c->in >= 0) {
		dup2(c->in, STDIN_FILENO);
		close(c->in);
	}
	if (c->out >= 0) {
		dup2(c->out, STDOUT_FILENO);
		close(c->out);
	}
	*c = (struct stdio_claim){ -1, -1 };
}

static int stdio_serve(cleat_server *s, const struct stdio_claim *c, cleat_error *err)
{
	struct runner_end end = { .over = false };
	struct runner *r = runner_with_loop(s);
	int rc = r ? runner_attach(r,
				   &(struct runner_attachment){ .in = c->in,
								.out = c->out,
								.transport = CLEAT_TRANSPORT_STDIO,
								.end = &end },
				   err)
		   : runner_no_loop(err);

	if (rc)
		return rc;
	/* Other things on the same loop do not keep us, and we do not wait for them. */
	while (!end.over && (rc == CLEAT_OK || rc == CLEAT_ECLOSED))
		rc = cleat_loop_step(atomic_load(&r->loop), -1);
	if (!end.over) {
		runner_detach(r, &end);
		return error_set(err, rc, "the loop is in use: %s", cleat_strstatus(rc));
	}
	if (end.status)
		return error_set(err, end.status, "standard input and output: %s",
				 cleat_strstatus(end.status));
	return CLEAT_OK;
}

int cleat_server_run_stdio(cleat_server *s)
{
	struct stdio_claim claim;
	cleat_error err;
	int rc = server_start_status(s);

	if (rc)
		return rc;
	/* Before there is a loop: if 0 or 1 were closed, one of its descriptors would get that
	 * number and be taken for the wire. */
	rc = stdio_take(&claim, &err);
	if (rc == CLEAT_OK) {
		rc = stdio_serve(s, &claim, &err);
		stdio_give_back(&claim);
	}
	return rc ? server_fail(s, rc, "%s", err.message) : CLEAT_OK;
}
