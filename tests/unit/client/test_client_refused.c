/* test_client_refused.c - the system refuses: no descriptors left, no processes, calls that this kernel or
 * container does not have. A client says so and is none the worse for it, or does without.
 *
 * A filter (seccomp) cannot be taken off again, so each case is a process of its own, which begins with
 * everything that is none of its business (libraries, a server) in place.
 */
#include "test.h"
#include "unit/child/child_support.h"
#include "unit/client/test_client.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static char url[200], stream[200]; /* of the server */

/* ---- the server --------------------------------------------------------------------------- */

static pid_t server;

static int start_server(void **state)
{
	int tell[2];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(tell), 0);
	server = fork();
	if (server == 0) {
		cleat_server *s = new_server(NULL);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cleat_server_listen_http(s, "127.0.0.1:0", NULL) == CLEAT_OK)
			dprintf(tell[1], "%s", cleat_server_http_url(s, 0));
		close(tell[0]);
		close(tell[1]);
		cleat_server_run(s);
		_exit(0);
	}
	close(tell[1]);
	n = read(tell[0], url, sizeof url - 1);
	close(tell[0]);
	assert_true(n > 0);
	snprintf(stream, sizeof stream, "tcp%.*s", (int)strcspn(url + 7, "/") + 3, url + 4);
	return 0;
}

static int stop_server(void **state)
{
	(void)state;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}

/* ---- clients ------------------------------------------------------------------------------ */

static cleat_client *reach_child(const cleat_client_options *o)
{
	const char *const argv[] = { myself(), "--serve", NULL };

	return cleat_client_spawn(argv, o);
}

static cleat_client *reach_http(const cleat_client_options *o)
{
	return cleat_client_connect(url, o);
}

/* An HTTP server, which does not understand; but it is there. */
static cleat_client *reach_tcp(const cleat_client_options *o)
{
	return cleat_client_connect(stream, o);
}

typedef cleat_client *reach_fn(const cleat_client_options *o);

static const struct {
	const char *name;
	reach_fn *reach;
} ways[] = { { "child", reach_child }, { "http", reach_http }, { "tcp", reach_tcp } };

/* What came of it, as the status of a process: a step, or one of these. */
enum { WORKS = 100, NO_CLIENT = 99, WRONG = 98 };

static int outcome(cleat_client *c, int os_errno)
{
	cleat_result *r = cleat_client_callf(c, "echo", "{text: %s}", "x");
	int step = cleat_result_status(r) ? (int)cleat_result_step(r) : WORKS;
	const cleat_error *e = cleat_result_error(r);

	if (step != WORKS && (e->message[0] == 0 || (os_errno && e->os_errno != os_errno))) {
		fprintf(stderr, "errno %d: %s\n", e->os_errno, e->message);
		step = WRONG;
	}
	cleat_result_free(r);
	return step;
}

static int try_to_reach(reach_fn *reach, cleat_loop *loop, int os_errno)
{
	cleat_client_options o = { .loop = loop, .connect_timeout_ms = 5000, .proxy = "" };
	cleat_client *c = reach(&o);
	int end = c ? outcome(c, os_errno) : NO_CLIENT;

	cleat_client_free(c);
	return end;
}

/* ---- descriptors -------------------------------------------------------------------------- */

TEST(with_any_number_of_descriptors_left)
{
	struct rlimit before, low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	for (size_t i = 0; i < CLEAT_COUNT(ways); i++) {
		size_t fds;
		int top, end, left = 0, full, loop_fds;
		cleat_loop *first;

		full = try_to_reach(ways[i].reach, NULL, 0); /* opens what stays open */
		fds = open_fds();
		first = cleat_loop_new(NULL);
		loop_fds = (int)(open_fds() - fds);
		cleat_loop_free(first);
		top = dup(0);
		close(top);
		do {
			/* libuv does not close all of a loop that it could not make */
			cleat_loop *loop = cleat_loop_new(NULL);

			low.rlim_cur = (rlim_t)(top + loop_fds + left);
			assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
			end = try_to_reach(ways[i].reach, loop, 0);
			setrlimit(RLIMIT_NOFILE, &before);
			cleat_loop_free(loop);
			assert_int_not_equal(end, WRONG);
			if (open_fds() != fds)
				fail_msg("%s, %d descriptors left: %zu are open instead of %zu",
					 ways[i].name, left, open_fds(), fds);
			assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), 0); /* the server */
		} while (end != full && ++left < 40);
		assert_true(left >= 1 && left < 40);
	}
}

/* ---- calls that are refused --------------------------------------------------------------- */

struct refusal {
	unsigned number; /* of the call */
	int error;
	unsigned set, clear; /* only with these bits of the first argument, and without those */
};

static void refuse(const struct refusal *r)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->number, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r->set | r->clear),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->set, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)r->error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { CLEAT_COUNT(filter), (struct sock_filter *)(void *)filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(0);
}

/* 0: filters is not available here. */
static int reach_refused(reach_fn *reach, const struct refusal *r, bool tell_errno)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		cleat_loop *loop;
		size_t fds;
		int end;

		alarm(120);
		try_to_reach(reach, NULL, 0); /* opens libraries */
		fds = open_fds();
		loop = r->number == SYS_epoll_create1 ? NULL : cleat_loop_new(NULL);
		refuse(r);
		end = try_to_reach(reach, loop, tell_errno ? r->error : 0);
		cleat_loop_free(loop);
		if (open_fds() != fds)
			fprintf(stderr, "descriptors: %zu instead of %zu\n", open_fds(), fds);
		if (open_fds() != fds || !no_children())
			end = WRONG;
		_exit(end);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

TEST(a_call_that_is_refused)
{
	static const struct {
		const char *name;
		struct refusal refusal;
		reach_fn *reach;
		int end; /* a step, or WORKS */
	} cases[] = {
		{ "socketpair", { SYS_socketpair, EMFILE, 0, 0 }, reach_child, CLEAT_STEP_SPAWN },
		{ "pipe2", { SYS_pipe2, ENFILE, 0, 0 }, reach_child, CLEAT_STEP_SPAWN },
		{ "clone: the guard",
		  { SYS_clone, EAGAIN, 0, CLONE_VM | CLONE_VFORK | SIGCHLD },
		  reach_child,
		  CLEAT_STEP_SPAWN },
		{ "clone: the child",
		  { SYS_clone, ENOMEM, CLONE_VFORK, 0 },
		  reach_child,
		  CLEAT_STEP_SPAWN },
		{ "execve", { SYS_execve, ENOMEM, 0, 0 }, reach_child, CLEAT_STEP_SPAWN },
		{ "pidfd_open", { SYS_pidfd_open, ENOSYS, 0, 0 }, reach_child, WORKS },
		{ "pidfd_send_signal",
		  { SYS_pidfd_send_signal, ENOSYS, 0, 0 },
		  reach_child,
		  WORKS },
		{ "close_range", { SYS_close_range, ENOSYS, 0, 0 }, reach_child, WORKS },
		{ "signalfd4", { SYS_signalfd4, ENOSYS, 0, 0 }, reach_child, WORKS },
		{ "prctl", { SYS_prctl, EPERM, 0, 0 }, reach_child, WORKS },
		{ "chdir", { SYS_chdir, EACCES, 0, 0 }, reach_child, WORKS },
		{ "pwritev2", { SYS_pwritev2, ENOSYS, 0, 0 }, reach_child, WORKS },
		{ "epoll_create1", { SYS_epoll_create1, EMFILE, 0, 0 }, reach_child, -1 },
		{ "epoll_ctl", { SYS_epoll_ctl, ENOSPC, 0, 0 }, reach_child, -1 },
		{ "socket", { SYS_socket, EMFILE, 0, 0 }, reach_http, CLEAT_STEP_CONNECT },
		{ "connect", { SYS_connect, EACCES, 0, 0 }, reach_http, CLEAT_STEP_CONNECT },
		{ "epoll_create1", { SYS_epoll_create1, EMFILE, 0, 0 }, reach_http, -1 },
		{ "setsockopt", { SYS_setsockopt, EPERM, 0, 0 }, reach_http, WORKS },
		{ "socket", { SYS_socket, EMFILE, 0, 0 }, reach_tcp, CLEAT_STEP_CONNECT },
		{ "connect", { SYS_connect, ENETUNREACH, 0, 0 }, reach_tcp, CLEAT_STEP_CONNECT },
	};

	if (getenv("CLEAT_VALGRIND"))
		skip(); /* the filter would be valgrind's own */
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		bool tell_errno = cases[i].end == CLEAT_STEP_SPAWN;
		int end = reach_refused(cases[i].reach, &cases[i].refusal, tell_errno);

		if (end == 0)
			skip();
		if (cases[i].end == -1 ? end == WORKS || end == WRONG : end != cases[i].end)
			fail_msg("%s, %s: ended with %d, not %d", cases[i].name,
				 strerror(cases[i].refusal.error), end, cases[i].end);
	}
}

TEST_GROUP(start_server, stop_server)

TEST_START(argc, argv)
{
	if (argc > 1)
		return cleat_server_main(new_server(NULL), 1, argv);
	return TEST_GO_ON;
}
