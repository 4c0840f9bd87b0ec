/* child/child.c - see child.h. Our side of it; the process that holds the child is in
 * guard.c, what it is started with in plan.c, the lines of stderr in lines.c.
 *
 * The child is not ours but the guard's: we learn of its end and have it signalled over `control`. That
 * ends when the guard has said how the child exited, which is after all of the group is dead and
 * reaped. A guard that ends without a word was killed itself; the kernel has then killed the child,
 * and the group is killed from here.
 */
#define _GNU_SOURCE /* pipe2 */

#include "child/child.h"

#include "base/error.h"
#include "base/mem.h"
#include "child/guard.h"
#include "child/lines.h"
#include "child/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	READ_SIZE = 16 * 1024,
	READ_LAST = 1024 * 1024, /* most bytes of stderr after the end: what a pipe can hold */
	KILL_MS = 1500,          /* for a killed group to be gone */
	FREE_MS = 1000           /* the same, while everybody waits */
};

struct child {
	struct child_options o;
	cleat_allocator mem;
	pid_t pid, guard;
	int pid_fd; /* -1: this kernel has none */
	int control, in, out, err;
	struct loop_watch *control_watch, *err_watch, *out_watch;
	struct loop_timer *grace, *tell;
	bool alive, stopping;
	bool speaking; /* inside err_line, perhaps: memory stays until it is over */
	bool freed;
	int steps; /* of letting it go */
	struct child_lines lines;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void drop_watch(struct loop_watch **w)
{
	loop_watch_free(*w);
	*w = NULL;
}

/* ---- the end ------------------------------------------------------------------------------ */

static void read_err(struct child *c, size_t most)
{
	char buf[READ_SIZE];
	ssize_t n = 1;

	for (size_t sum = 0; c->err >= 0 && sum < most && n != 0; sum += (size_t)n) {
		n = read(c->err, buf, sizeof buf);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			return;
		else
			child_lines_feed(&c->lines, buf, (size_t)n, loop_now());
	}
	if (n == 0) {
		drop_watch(&c->err_watch);
		close_fd(&c->err);
	}
}

/* Everything but stdout (and a stderr that is not read here), which somebody may want to read to its
 * end. */
static void let_go(struct child *c)
{
	drop_watch(&c->control_watch);
	drop_watch(&c->err_watch);
	loop_timer_free(c->grace);
	loop_timer_free(c->tell);
	c->grace = c->tell = NULL;
	close_fd(&c->control);
	if (!c->o.own_err)
		close_fd(&c->err);
	close_fd(&c->in);
	close_fd(&c->pid_fd);
	if (c->alive)
		loop_detach(c->o.loop);
	c->alive = false;
}

/* For a guard that was killed. The kernel kills the child then, but only that. Where there is no pid_fd
 * nobody can tell whose the group's number is by now, and the rest is left alone. */
static void kill_group(const struct child *c)
{
#ifdef SYS_pidfd_send_signal
	enum { PROCESS_GROUP = 4 }; /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */

	if (c->pid_fd < 0)
		return;
	if (syscall(SYS_pidfd_send_signal, c->pid_fd, SIGKILL, NULL, PROCESS_GROUP) == 0)
		return;
	/* Not reaped yet: the number of the group is still its own. */
	if (syscall(SYS_pidfd_send_signal, c->pid_fd, 0, NULL, 0) == 0)
		kill(-c->pid, SIGKILL);
#else
	(void)c;
#endif
}

/* It does not answer: somebody has stopped it, or the child hangs in the kernel. */
static void kill_guard(const struct child *c)
{
	kill_group(c);
	kill(c->guard, SIGKILL);
}

/* True when it was freed by what it said. */
static bool spoken(struct child *c)
{
	cleat_allocator mem = c->mem;

	c->speaking = false;
	if (!c->freed)
		return false;
	mem_free(&mem, c);
	return true;
}

static void ended(struct child *c, int status)
{
	guard_reap(c->guard);
	c->guard = 0;
	c->speaking = true;
	if (!c->o.own_err)
		read_err(c, READ_LAST);
	child_lines_end(&c->lines, loop_now());
	if (spoken(c))
		return;
	let_go(c);
	if (c->o.exited)
		c->o.exited(c->o.ctx, status);
}

/* What the guard says. True when the child has ended. */
static bool hear(struct child *c, int *status)
{
	struct guard_word w;
	ssize_t n;

	do {
		n = read(c->control, &w, sizeof w);
		/* ECONNRESET: it ended before it had read what we told it; its last word comes next. */
	} while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n == sizeof w && w.kind == GUARD_EXITED) {
		*status = w.value;
		return true;
	}
	kill_group(c);
	*status = SIGKILL;
	return true;
}

static void on_control(void *ctx, unsigned events, bool failed)
{
	struct child *c = ctx;
	int status;

	(void)events;
	(void)failed;
	if (hear(c, &status))
		ended(c, status);
}

static void on_err(void *ctx, unsigned events, bool failed)
{
	struct child *c = ctx;
	unsigned ms;

	(void)events;
	(void)failed;
	c->speaking = true;
	read_err(c, 1);
	ms = child_lines_tell(&c->lines, loop_now(), false);
	if (!spoken(c) && ms)
		loop_timer_start(c->tell, ms);
}

static void on_tell(void *ctx)
{
	struct child *c = ctx;
	unsigned ms;

	c->speaking = true;
	ms = child_lines_tell(&c->lines, loop_now(), false);
	if (!spoken(c) && ms)
		loop_timer_start(c->tell, ms);
}

static void on_out(void *ctx, unsigned events, bool failed)
{
	struct child *c = ctx;
	char buf[READ_SIZE];
	ssize_t n = read(c->out, buf, sizeof buf);

	(void)events;
	if (n == 0 || (n < 0 && (failed || (errno != EAGAIN && errno != EINTR))))
		drop_watch(&c->out_watch);
}

/* ---- letting it go ------------------------------------------------------------------------ */

static void tell_guard(const struct child *c, char what)
{
	/* A guard that is gone is noticed elsewhere. */
	(void)send(c->control, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_grace(void *ctx)
{
	struct child *c = ctx;

	switch (c->steps++) {
	case 0:
		tell_guard(c, GUARD_TERM);
		loop_timer_start(c->grace, c->o.grace_ms);
		return;
	case 1:
		tell_guard(c, GUARD_KILL);
		loop_timer_start(c->grace, KILL_MS);
		return;
	default: kill_guard(c); ended(c, SIGKILL);
	}
}

void child_end_input(struct child *c)
{
	close_fd(&c->in);
}

void child_stop(struct child *c)
{
	child_end_input(c);
	if (!c->alive || c->stopping)
		return;
	c->stopping = true;
	loop_timer_start(c->grace, c->o.grace_ms);
}

void child_terminate(struct child *c)
{
	child_end_input(c);
	if (!c->alive || c->steps > 0)
		return;
	c->stopping = true;
	on_grace(c);
}

void child_terminate_in(struct child *c, unsigned ms)
{
	if (ms)
		child_terminate(c);
	child_end_input(c);
	if (!c->alive || c->steps > 1)
		return;
	c->stopping = true;
	c->steps = 1;
	if (ms)
		loop_timer_start(c->grace, ms);
	else
		on_grace(c);
}

void child_drain(struct child *c)
{
	if (c->out < 0 || c->out_watch ||
	    loop_watch_new(c->o.loop, c->out, on_out, c, &c->out_watch))
		return; /* without memory it is not drained, and killed in the end */
	loop_watch_set(c->out_watch, LOOP_READ);
}

/* Waits until the guard has done it. */
static void kill_now(struct child *c)
{
	struct pollfd p = { .fd = c->control, .events = POLLIN };
	uint64_t end = loop_now() + FREE_MS, now;
	int status;
	bool gone = false;

	tell_guard(c, GUARD_KILL);
	while (!gone && (now = loop_now()) < end)
		if (poll(&p, 1, (int)(end - now)) > 0)
			gone = hear(c, &status);
	if (!gone)
		kill_guard(c);
	guard_reap(c->guard);
}

void child_free(struct child *c)
{
	cleat_allocator mem;

	if (!c)
		return;
	mem = c->mem;
	if (c->alive && c->guard)
		kill_now(c);
	let_go(c);
	drop_watch(&c->out_watch);
	close_fd(&c->out);
	close_fd(&c->err);
	c->lines.line = NULL;
	c->freed = true;
	if (!c->speaking)
		mem_free(&mem, c);
}

/* ---- the beginning ------------------------------------------------------------------------ */

/* What the child and its guard get; ours are in struct child. */
struct ends {
	int control, exec_in, exec_out, in, out, err;
};

/* 0, 1 and 2 may be closed in our process, but these must not get their numbers. */
static bool lift(int *fd)
{
	int low = *fd;

	if (low > 2)
		return true;
	*fd = fcntl(low, F_DUPFD_CLOEXEC, 3);
	close(low);
	return *fd >= 0;
}

static bool make_pipe(int *from, int *to, bool socket)
{
	int fds[2];

	if (socket ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)
		   : pipe2(fds, O_CLOEXEC))
		return false;
	*from = fds[0];
	*to = fds[1];
	return lift(from) && lift(to);
}

static void close_ends(struct ends *e)
{
	close_fd(&e->control);
	close_fd(&e->exec_in);
	close_fd(&e->exec_out);
	close_fd(&e->in);
	close_fd(&e->out);
	close_fd(&e->err);
}

static int system_error(cleat_error *err, const char *program, const char *what, int error)
{
	error_set(err, CLEAT_EIO, "cannot start %s: %s%s", program, what, strerror(error));
	if (err)
		err->os_errno = error;
	return CLEAT_EIO;
}

static int start_failed(const struct child_options *o, const struct child_plan *p,
			struct guard_word w, cleat_error *err)
{
	char in[160];

	if (w.kind == GUARD_FAILED_CWD) {
		snprintf(in, sizeof in, "directory %s: ", o->cwd);
		return system_error(err, o->argv[0], in, w.value);
	}
	if (w.kind == GUARD_FAILED_PREPARE) {
		snprintf(in, sizeof in, "%s: ", o->prepare_what);
		return system_error(err, o->argv[0], in, w.value);
	}
	if (w.kind != GUARD_FAILED_EXEC)
		return system_error(err, o->argv[0], "", w.value);
	if (w.value == ENOEXEC)
		return system_error(err, o->argv[0],
				    "neither a program nor a script with a #! line:  ", w.value);
	/* A script whose interpreter is missing says the same as a file that is missing. */
	if (w.value == ENOENT && (!p->cwd || p->path[0] == '/') && access(p->path, F_OK) == 0)
		return system_error(err, o->argv[0],
				    "what it needs to run (see its #! line) is missing: ", w.value);
	return system_error(err, o->argv[0], "", w.value);
}

/* Waits until the program runs, or could not be started. */
static int await_start(struct child *c, const struct child_plan *p, cleat_error *err)
{
	struct guard_word w;
	ssize_t n;
	int rc;

	do {
		n = read(c->control, &w, sizeof w);
	} while (n < 0 && errno == EINTR);
	if (n == sizeof w && w.kind == GUARD_STARTED) {
		c->pid = w.value;
		return CLEAT_OK;
	}
	if (n != sizeof w)
		w = (struct guard_word){ GUARD_FAILED_FORK, n < 0 ? errno : ECHILD };
	rc = start_failed(&c->o, p, w, err);
	guard_reap(c->guard);
	return rc;
}

static int launch(struct child *c, const struct child_plan *p, cleat_error *err)
{
	struct ends e = { -1, -1, -1, -1, -1, -1 };
	int rc;

	if (!make_pipe(&c->control, &e.control, true) ||
	    !make_pipe(&e.exec_in, &e.exec_out, false) || !make_pipe(&e.in, &c->in, false) ||
	    !make_pipe(&c->out, &e.out, false) || !make_pipe(&c->err, &e.err, false)) {
		rc = system_error(err, c->o.argv[0], "", errno);
		close_ends(&e);
		return rc;
	}
	c->guard = guard_start(&(struct guard_plan){ .path = p->path,
						     .argv = p->argv,
						     .envp = p->envp,
						     .cwd = p->cwd,
						     .control = e.control,
						     .exec_in = e.exec_in,
						     .exec_out = e.exec_out,
						     .in = e.in,
						     .out = e.out,
						     .err = c->o.merge_err ? e.out : e.err,
						     .prepare = c->o.prepare,
						     .prepare_ctx = c->o.prepare_ctx,
						     .strays = c->o.strays });
	rc = c->guard < 0 ? system_error(err, c->o.argv[0], "", errno) : CLEAT_OK;
	close_ends(&e);
	return rc ? rc : await_start(c, p, err);
}

/* What can fail of our side comes first: nothing has to be killed then. */
static int child_prepare(struct child *c, cleat_error *err)
{
	c->grace = loop_timer_new(c->o.loop, on_grace, c);
	c->tell = loop_timer_new(c->o.loop, on_tell, c);
	if (!c->grace || !c->tell)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	return CLEAT_OK;
}

static int child_watch(struct child *c, cleat_error *err)
{
	int rc = loop_watch_new(c->o.loop, c->control, on_control, c, &c->control_watch);

	if (rc == CLEAT_OK && !c->o.own_err)
		rc = loop_watch_new(c->o.loop, c->err, on_err, c, &c->err_watch);
	if (rc)
		return error_set(err, rc, "cannot start %s: %s", c->o.argv[0], cleat_strstatus(rc));
	loop_watch_set(c->control_watch, LOOP_READ);
	if (c->err_watch)
		loop_watch_set(c->err_watch, LOOP_READ);
	fcntl(c->in, F_SETFL, O_NONBLOCK);
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
#ifdef SYS_pidfd_open
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pid_fd >= 0)
		lift(&c->pid_fd);
#endif
	return CLEAT_OK;
}

static struct child *new_child(const struct child_options *o)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct child *c = mem_zalloc(&mem, sizeof *c);

	if (!c)
		return NULL;
	c->o = *o;
	c->o.grace_ms = o->grace_ms ? o->grace_ms : CHILD_GRACE_MS;
	c->mem = mem;
	c->pid_fd = c->control = c->in = c->out = c->err = -1;
	child_lines_init(&c->lines, o->err_line, o->ctx);
	return c;
}

int child_spawn(const struct child_options *o, struct child **ret, cleat_error *err)
{
	struct child *c = new_child(o);
	struct child_plan plan;
	struct arena ar;
	int rc;

	*ret = NULL;
	if (!c)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	arena_init(&ar, &c->mem, 0);
	rc = child_plan_make(&plan, o, &ar, err);
	if (rc == CLEAT_OK)
		rc = child_prepare(c, err);
	if (rc == CLEAT_OK)
		rc = launch(c, &plan, err);
	arena_done(&ar);
	if (rc == CLEAT_OK) {
		c->alive = true;
		loop_attach(c->o.loop);
		rc = child_watch(c, err);
	}
	if (rc) {
		child_free(c);
		return rc;
	}
	*ret = c;
	return CLEAT_OK;
}

/* ---- looking at it ------------------------------------------------------------------------ */

int child_pid(const struct child *c)
{
	return c->pid;
}

int child_root(const struct child *c)
{
	return c->guard;
}

int child_in(const struct child *c)
{
	return c->in;
}

int child_out(const struct child *c)
{
	return c->out;
}

int child_err(const struct child *c)
{
	return c->err;
}

bool child_alive(const struct child *c)
{
	return c->alive;
}

const char *child_last_words(const struct child *c)
{
	return c->lines.words;
}

void child_ending(int status, char *buf, size_t n)
{
	if (WIFSIGNALED(status))
		snprintf(buf, n, "was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(buf, n, "exited with status %d", WEXITSTATUS(status));
}
