/* child/guard.c - see guard.h.
 *
 * How it is made. The guard is a copy of our process (clone without sharing) and stays one: there is
 * no program that could be relied on to be there to become. Sharing our memory would be cheaper, but
 * the kernel's out-of-memory killer ends all processes that share memory with its victim, and a core
 * dump did so too for long: the guard would die exactly when it is needed. The child borrows the
 * guard's memory until it is another program, so that the page tables of a large program are copied
 * once, not twice. (By clone() and not by vfork(): sanitizers make an ordinary fork() of that, which waits
 * for locks that nobody will ever release.)
 *
 * What the guard then does not need of the copy it gives back (shed.c).
 *
 * A program with threads may have held any lock at the moment of the copy, so that everything in this
 * file behind guard_start() calls only what is async-signal-safe, and allocates nothing, for as
 * long as the guard lives.
 *
 * The guard adopts what the child leaves behind (PR_SET_CHILD_SUBREAPER), so that those it kills are
 * reaped here also where we are process 1 of a container.
 */
#define _GNU_SOURCE /* clone */

#include "child/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CONTROL = 0,   /* where the guard has its socket */
	EXEC_WORD = 1, /* where it learns of a failed exec */
	MOST_SIGNALS = 64,
	LINGER_MS = 200, /* for the dead of the group to be reaped */
	STRAYS_MS = 700, /* for those that are not in the group any more */
	BLIND_MS = 50,   /* between two looks, where there is no signalfd */
	CHILD_STACK = 32 * 1024
};

struct guard {
	const struct guard_plan *plan;
	pid_t self, child, parent; /* parent: us, as the guard sees us */
	long signals;              /* a signalfd */
	bool strays;               /* as in the plan, which is gone with the memory */
};

/* ---- between fork and exec ---------------------------------------------------------------- */

/* By the system call: libc hides two signals of its own (32 and 33), which who started us may have
 * had ignored for us (posix_spawn does that, and make uses it). Zeros are SIG_DFL, no flags and an empty
 * mask in every architecture's layout. */
static void default_signals(void)
{
	static const unsigned char dfl[64];

	for (int sig = 1; sig <= MOST_SIGNALS; sig++)
		syscall(SYS_rt_sigaction, sig, dfl, NULL, (size_t)MOST_SIGNALS / 8);
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

static void guard_say(int fd, int kind, int value)
{
	struct guard_word w = { kind, value };

	while (write(fd, &w, sizeof w) < 0 && errno == EINTR)
		;
}

/* The child, until it is another program. The memory is the guard's, who waits meanwhile: nothing of
 * it may be changed. */
static int become(void *arg)
{
	const struct guard *g = arg;
	const struct guard_plan *p = g->plan;
	int report = 3, error;
	sigset_t none;

	/* The guard has one thread, so that this really means its end. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0ul, 0ul, 0ul);
	if (getppid() != g->self)
		_exit(127);
	setsid();
	if (dup2(p->in, 0) < 0 || dup2(p->out, 1) < 0 || dup2(p->err, 2) < 0 ||
	    (p->exec_out != report && dup2(p->exec_out, report) < 0) ||
	    fcntl(report, F_SETFD, FD_CLOEXEC)) {
		guard_say(p->exec_out, GUARD_FAILED_FORK, errno);
		_exit(127);
	}
	if (p->cwd && chdir(p->cwd)) {
		guard_say(report, GUARD_FAILED_CWD, errno);
		_exit(127);
	}
	default_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	error = p->prepare ? p->prepare(p->prepare_ctx) : 0;
	if (error) {
		guard_say(report, GUARD_FAILED_PREPARE, error);
		_exit(127);
	}
	close_from(report + 1);
	execve(p->path, p->argv, p->envp);
	guard_say(report, GUARD_FAILED_EXEC, errno);
	_exit(127);
}

/* ---- the guard ---------------------------------------------------------------------------- */

static void settle_in(struct guard *g)
{
	default_signals();
	g->parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGUSR1, 0ul, 0ul, 0ul);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0ul, 0ul, 0ul);
	prctl(PR_SET_NAME, "cleat-guard", 0ul, 0ul, 0ul);
	setsid();
}

/* Every signal is blocked for good. Two are looked at: a child has ended, and the thread that made the
 * guard has. Not with handlers: sanitizers put their own in front of them. */
static void listen_for_signals(struct guard *g)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	g->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Starts the child and keeps no descriptor but the socket, and one for signals. False when there is none to guard. */
static bool launch(struct guard *g)
{
	_Alignas(64) char stack[CHILD_STACK];
	const struct guard_plan *p = g->plan;
	struct guard_word w = { GUARD_STARTED, 0 };
	ssize_t n;
	int error;

	g->self = getpid();
	g->child = clone(become, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, g);
	error = errno;
	dup2(p->control, CONTROL);
	dup2(p->exec_in, EXEC_WORD);
	close_from(EXEC_WORD + 1);
	if (g->child < 0) {
		guard_say(CONTROL, GUARD_FAILED_FORK, error);
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
	listen_for_signals(g);
	guard_say(CONTROL, w.kind, w.value);
	return w.kind == GUARD_STARTED;
}

/* From here on the guard has little memory and calls nothing but the kernel; see shed.c. */

static long now_ms(void)
{
	long ts[2];

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, ts);
	return ts[0] * 1000 + ts[1] / 1000000;
}

/* Waits for the socket (-1: not for it), for a signal, or as long as is said (-1: for ever). True for the
 * first. */
static bool wait_for(const struct guard *g, int socket, long ms)
{
	struct pollfd p[2] = { { .fd = socket, .events = POLLIN },
			       { .fd = (int)g->signals, .events = POLLIN } };
	struct signalfd_siginfo seen;
	long ts[2];

	if (g->signals < 0 && (ms < 0 || ms > BLIND_MS))
		ms = BLIND_MS;
	ts[0] = ms / 1000;
	ts[1] = ms % 1000 * 1000000;
	syscall(SYS_ppoll, p, 2ul, ms < 0 ? NULL : ts, NULL, 0ul);
	while (g->signals >= 0 && syscall(SYS_read, g->signals, &seen, sizeof seen) > 0)
		;
	return p[0].revents != 0;
}

static long reap(pid_t pid, int *status, int flags)
{
	long rc;

	do {
		rc = syscall(SYS_wait4, pid, status, flags, NULL);
	} while (rc < 0 && errno == EINTR);
	return rc;
}

/* Reaps the rest of the group, which was killed. Not for long: there may be one that may not be
 * killed by us (setuid). */
static void reap_group(const struct guard *g)
{
	long end = now_ms() + LINGER_MS, left, pid;

	for (;;) {
		do {
			pid = reap(-g->child, NULL, WNOHANG);
		} while (pid > 0);
		left = end - now_ms();
		if (pid < 0 || left <= 0)
			return;
		wait_for(g, -1, left);
	}
}

/* Kills those that are the guard's children now. Their numbers are their own until they are reaped, which
 * nobody does but the guard. (Kernels without CONFIG_PROC_CHILDREN have no such file: what has left the
 * group stays alive there.) */
static void kill_adopted(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char buf[1024];
	long n, pid = 0;

	while (fd >= 0 && (n = syscall(SYS_read, fd, buf, sizeof buf)) > 0)
		for (long i = 0; i < n; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				pid = pid * 10 + (buf[i] - '0');
				continue;
			}
			if (pid > 1)
				syscall(SYS_kill, pid, SIGKILL);
			pid = 0;
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
}

/* Everything that the child has started and that outlived its parent is a child of the guard by now, or a
 * descendant of one, which becomes that when its parent is killed. */
static void kill_strays(const struct guard *g)
{
	long end = now_ms() + STRAYS_MS, pid;

	for (;;) {
		do {
			pid = reap(-1, NULL, WNOHANG | __WALL);
		} while (pid > 0);
		if (pid < 0 || now_ms() >= end)
			return;
		kill_adopted();
		wait_for(g, -1, 1);
	}
}

/* The child is not reaped yet, so that the group's number is still its own. */
static void guard_finish(const struct guard *g)
{
	struct guard_word w = { GUARD_EXITED, 0 };

	syscall(SYS_kill, -g->child, SIGKILL);
	reap(g->child, &w.value, 0);
	reap_group(g);
	if (g->strays)
		kill_strays(g);
	syscall(SYS_write, CONTROL, &w, sizeof w);
}

/* Reaps what was adopted; looks whether the child is among those that have ended. */
static bool child_ended(const struct guard *g)
{
	for (;;) {
		siginfo_t who;

		who.si_pid = 0;
		if (syscall(SYS_waitid, P_ALL, 0, &who, WEXITED | WNOHANG | WNOWAIT, NULL) ||
		    who.si_pid == 0)
			return false;
		if (who.si_pid == g->child)
			return true;
		reap(who.si_pid, NULL, WNOHANG);
	}
}

/* What we say, or that we are gone. False: end it. */
static bool listen_to_parent(const struct guard *g)
{
	char c;
	long n = syscall(SYS_read, CONTROL, &c, 1ul);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0 || c == GUARD_KILL)
		return false;
	syscall(SYS_kill, -g->child, SIGTERM);
	syscall(SYS_kill, -g->child, SIGCONT); /* one that is stopped could not follow it */
	return true;
}

static _Noreturn void watch_over(const struct guard_plan *p)
{
	struct guard g = { .plan = p, .strays = p->strays };

	settle_in(&g);
	if (!launch(&g))
		_exit(0);
	guard_shed();
	/* A copy of us that never became another program may hold our end of the socket open;
	 * therefore the second look at who our parent is. */
	while (!child_ended(&g) && syscall(SYS_getppid) == g.parent)
		if (wait_for(&g, CONTROL, -1) && !listen_to_parent(&g))
			break;
	guard_finish(&g);
	for (;;)
		syscall(SYS_exit_group, 0);
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

void guard_reap(pid_t guard)
{
	while (waitpid(guard, NULL, __WALL) < 0 && errno == EINTR)
		;
}
