/* transport/child_guard.c - see child_guard.h.
 *
 * How it is made. The guard is a copy of our process (clone without sharing) and stays one: there is
 * no program that could be relied on to be there to become. Sharing our memory would be cheaper, but
 * the kernel's out-of-memory killer ends all processes that share memory with its victim, and a core
 * dump did so too for long: the guard would die exactly when it is needed. The child is made by the
 * guard with vfork, so that the page tables of a large program are copied once, not twice.
 *
 * A program with threads may have held any lock at the moment of the copy, so that everything in this
 * file behind guard_start() calls only what is async-signal-safe, and allocates nothing, for as
 * long as the guard lives.
 *
 * The guard adopts what the child leaves behind (PR_SET_CHILD_SUBREAPER), so that those it kills are
 * reaped here also where we are process 1 of a container.
 */
#define _GNU_SOURCE /* vfork, ppoll */

#include "transport/child_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CONTROL = 0,   /* where the guard has its socket */
	EXEC_WORD = 1, /* where it learns of a failed exec */
	SIGNALS = 64,
	LINGER_MS = 200 /* for the dead of the group to be reaped */
};

/* ---- between fork and exec ---------------------------------------------------------------- */

static void default_signals(void)
{
	struct sigaction dfl;

	memset(&dfl, 0, sizeof dfl);
	dfl.sa_handler = SIG_DFL;
	for (int sig = 1; sig <= SIGNALS; sig++)
		sigaction(sig, &dfl, NULL);
}

/* Closes `first` and everything above. */
static void close_from(int first)
{
	struct rlimit limit;
	int last = 65536;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
		return;
#endif
	/* Linux before 5.9, and containers that forbid it. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT_MAX)
		last = (int)limit.rlim_cur;
	for (int fd = first; fd < last; fd++)
		close(fd);
}

static void say(int fd, int kind, int value)
{
	struct guard_word w = { kind, value };

	while (write(fd, &w, sizeof w) < 0 && errno == EINTR)
		;
}

/* The child, until it is another program. */
static _Noreturn void become(const struct guard_plan *p, pid_t guard)
{
	int report = 3;
	sigset_t none;

	/* The guard has one thread, so that this really means its end. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(127);
	setsid();
	if (dup2(p->in, 0) < 0 || dup2(p->out, 1) < 0 || dup2(p->err, 2) < 0 ||
	    (p->exec_out != report && dup2(p->exec_out, report) < 0) ||
	    fcntl(report, F_SETFD, FD_CLOEXEC)) {
		say(p->exec_out, GUARD_FAILED_FORK, errno);
		_exit(127);
	}
	close_from(report + 1);
	if (p->cwd && chdir(p->cwd)) {
		say(report, GUARD_FAILED_CWD, errno);
		_exit(127);
	}
	default_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(p->path, p->argv, p->envp);
	say(report, GUARD_FAILED_EXEC, errno);
	_exit(127);
}

/* ---- the guard ---------------------------------------------------------------------------- */

struct guard {
	pid_t child, parent; /* parent: us, as the guard sees us */
	sigset_t waiting;    /* the mask while it waits */
};

static void wake_up(int sig)
{
	(void)sig; /* that it interrupts ppoll() is enough */
}

/* Every signal is blocked, but two while the guard waits: a child has ended, and the thread that made the guard has. */
static void settle_in(struct guard *g)
{
	struct sigaction wake;

	default_signals();
	memset(&wake, 0, sizeof wake);
	wake.sa_handler = wake_up;
	sigaction(SIGCHLD, &wake, NULL);
	sigaction(SIGUSR1, &wake, NULL);
	sigfillset(&g->waiting);
	sigdelset(&g->waiting, SIGCHLD);
	sigdelset(&g->waiting, SIGUSR1);
	g->parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "cleat-guard");
	setsid();
}

/* Starts the child and keeps no descriptor but the socket. False when there is none to guard. */
static bool launch(struct guard *g, const struct guard_plan *p)
{
	struct guard_word w = { GUARD_STARTED, 0 };
	pid_t self = getpid();
	ssize_t n;
	int error;

	g->child = vfork();
	if (g->child == 0)
		become(p, self);
	error = errno;
	dup2(p->control, CONTROL);
	dup2(p->exec_in, EXEC_WORD);
	close_from(EXEC_WORD + 1);
	if (g->child < 0) {
		say(CONTROL, GUARD_FAILED_FORK, error);
		return false;
	}
	do {
		n = read(EXEC_WORD, &w, sizeof w);
	} while (n < 0 && errno == EINTR);
	close(EXEC_WORD);
	if (n != sizeof w)
		w = (struct guard_word){ GUARD_STARTED, g->child };
	else
		while (waitpid(g->child, NULL, 0) < 0 && errno == EINTR)
			;
	if (chdir("/"))
		errno = 0; /* then it stays where it is */
	say(CONTROL, w.kind, w.value);
	return w.kind == GUARD_STARTED;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (long)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Reaps the rest of the group, which was killed. Not for long: there may be one that may not be
 * killed by us (setuid). */
static void reap_group(const struct guard *g)
{
	long end = now_ms() + LINGER_MS, left;
	pid_t pid;

	for (;;) {
		do {
			pid = waitpid(-g->child, NULL, WNOHANG);
		} while (pid > 0 || (pid < 0 && errno == EINTR));
		left = end - now_ms();
		if (pid < 0 || left <= 0)
			return;
		ppoll(NULL, 0, &(struct timespec){ .tv_nsec = left * 1000000 }, &g->waiting);
	}
}

/* The child is not reaped yet, so that the group's number is still its own. */
static _Noreturn void finish(const struct guard *g)
{
	int status = 0;

	kill(-g->child, SIGKILL);
	while (waitpid(g->child, &status, 0) < 0 && errno == EINTR)
		;
	reap_group(g);
	say(CONTROL, GUARD_EXITED, status);
	_exit(0);
}

/* Reaps what was adopted; looks whether the child is among those that have ended. */
static bool child_ended(const struct guard *g)
{
	for (;;) {
		siginfo_t who;

		who.si_pid = 0;
		if (waitid(P_ALL, 0, &who, WEXITED | WNOHANG | WNOWAIT) || who.si_pid == 0)
			return false;
		if (who.si_pid == g->child)
			return true;
		waitpid(who.si_pid, NULL, WNOHANG);
	}
}

/* What we say, or that we are gone. False: end it. */
static bool listen_to_parent(const struct guard *g)
{
	char c;
	ssize_t n = read(CONTROL, &c, 1);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0 || c == GUARD_KILL)
		return false;
	kill(-g->child, SIGTERM);
	kill(-g->child, SIGCONT); /* one that is stopped could not follow it */
	return true;
}

static _Noreturn void watch_over(const struct guard_plan *p)
{
	struct pollfd control = { .fd = CONTROL, .events = POLLIN };
	struct guard g;

	settle_in(&g);
	if (!launch(&g, p))
		_exit(0);
	/* A copy of us that never became another program may hold our end of the socket open;
	 * therefore the second look at who our parent is. */
	while (!child_ended(&g) && getppid() == g.parent) {
		control.revents = 0;
		if (ppoll(&control, 1, NULL, &g.waiting) > 0 && !listen_to_parent(&g))
			break;
	}
	finish(&g);
}

/* ---- us ----------------------------------------------------------------------------------- */

pid_t guard_start(const struct guard_plan *p)
{
	sigset_t all, before;
	pid_t pid;
	int error;

	/* No handler of the program may run in the copy. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	/* fork() would run the program's atfork handlers, and tell it when the guard ends. */
	pid = (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
	if (pid == 0)
		watch_over(p);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

bool guard_reap(pid_t guard, bool wait)
{
	pid_t pid;

	do {
		pid = waitpid(guard, NULL, __WALL | (wait ? 0 : WNOHANG));
	} while (pid < 0 && errno == EINTR);
	return pid != 0;
}
