/* test_child_faults.c - nothing is left of a child when we are killed, when the guard is, when the
 * thread that started it ends, or when the program looks after its children in a way of its own.
 */
#include "child/child.h"
#include "test.h"
#include "unit/child/child_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void on_exit_(void *ctx, int status)
{
	*(int *)ctx = status;
}

/* Nothing here can be tested without one. */
static cleat_loop *new_loop(void)
{
	cleat_loop *l = cleat_loop_new(NULL);

	assert_non_null(l);
	return l;
}

/* NULL when there is no memory. */
static struct child *try_spawn(cleat_loop *l, const char *script, int *status)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct child_options o = { .loop = l, .argv = argv, .exited = on_exit_, .ctx = status };
	struct child *c;

	*status = -1;
	return l && child_spawn(&o, &c, NULL) == CLEAT_OK ? c : NULL;
}

static struct child *spawn(cleat_loop *l, const char *script, int *status)
{
	struct child *c = try_spawn(l, script, status);

	assert_non_null(c);
	return c;
}

/* Process ids that are written to this descriptor, one a line. */
static void read_pids(int fd, int *pids, size_t n)
{
	FILE *f = fdopen(dup(fd), "r");

	assert_non_null(f);
	fcntl(fd, F_SETFL, 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fscanf(f, "%d", &pids[i]), 1);
	fclose(f);
}

/* A child, a grandchild that ignores what can be ignored, and one of that which is stopped. */
#define FAMILY                                                                                     \
	"echo $$; (trap '' TERM HUP INT PIPE USR1; sh -c 'echo $$; kill -STOP $$' & "              \
	"sh -c 'echo $$; exec sleep 1000') & wait"
enum { FAMILY_SIZE = 3 };

/* ---- we are killed ------------------------------------------------------------------------ */

enum { PLAIN = 0, COPY = 1, THREADED = 2, EXITS = 3, ABORTS = 4, WAYS_TO_DIE };

static void *start_family(void *arg)
{
	int *status = arg;

	return try_spawn(cleat_loop_new(NULL), FAMILY, status);
}

/* The process that will die: tells the pids of its family and, for COPY, of a copy of itself that
 * never becomes another program and keeps all descriptors. */
static _Noreturn void live_and_die(int tell, int how)
{
	int status, pids[FAMILY_SIZE];
	pthread_t thread;
	struct child *c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (how == THREADED) {
		void *made;

		pthread_create(&thread, NULL, start_family, &status);
		pthread_join(thread, &made);
		c = made;
	} else {
		c = start_family(&status);
	}
	if (!c)
		_exit(1);
	read_pids(child_out(c), pids, FAMILY_SIZE);
	for (int i = 0; i < FAMILY_SIZE; i++)
		dprintf(tell, "%d\n", pids[i]);
	if (how == COPY) {
		pid_t copy = fork();

		if (copy == 0) {
			prctl(PR_SET_PDEATHSIG, 0);
			for (;;)
				pause();
		}
		dprintf(tell, "%d\n", (int)copy);
	}
	if (how == EXITS)
		_exit(0);
	if (how == ABORTS)
		kill(getpid(), SIGABRT);
	for (;;)
		pause();
}

/* How long it took until all were gone, in milliseconds. */
static uint64_t die(int how)
{
	int tell[2], pids[FAMILY_SIZE + 1] = { 0 };
	uint64_t begin, took;
	pid_t us;

	assert_int_equal(pipe(tell), 0);
	us = fork();
	assert_true(us >= 0);
	if (us == 0)
		live_and_die(tell[1], how);
	close(tell[1]);
	read_pids(tell[0], pids, how == COPY ? FAMILY_SIZE + 1 : FAMILY_SIZE);
	begin = loop_now();
	if (how < EXITS)
		kill(us, SIGKILL);
	assert_int_equal(waitpid(us, NULL, 0), us);
	for (int i = 0; i < FAMILY_SIZE; i++)
		UNTIL_TRUE(gone(pids[i]));
	took = loop_now() - begin;
	if (how == COPY)
		kill(pids[FAMILY_SIZE], SIGKILL);
	close(tell[0]);
	return took;
}

/* Within a second. A machine that has a lot else to do may need several attempts to show it. */
TEST(test_all_of_the_group_is_gone_when_we_die)
{
	for (int how = 0; how < WAYS_TO_DIE; how++) {
		int attempts = 10;

		while (die(how) >= 1000)
			assert_true(--attempts);
	}
	assert_true(no_children());
}

/* ---- the guard is killed ------------------------------------------------------------------ */

/* Without them (Linux before 5.3, valgrind) the number of a group that has lost its guard is not to be
 * trusted, and only the child itself is sure to die. */
static bool have_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

TEST(test_all_of_the_group_is_gone_when_the_guard_dies)
{
	cleat_loop *l = new_loop();
	int status, pids[FAMILY_SIZE];
	struct proc_look p;
	struct child *c;

	if (!have_pidfd()) {
		cleat_loop_free(l);
		skip();
	}
	c = spawn(l, FAMILY, &status);
	read_pids(child_out(c), pids, FAMILY_SIZE);
	assert_true(look_at_process(child_pid(c), &p));
	kill(p.parent, SIGKILL);
	UNTIL(l, status >= 0);
	assert_int_equal(status, SIGKILL);
	for (int i = 0; i < FAMILY_SIZE; i++)
		UNTIL_TRUE(gone(pids[i]));
	child_free(c);
	cleat_loop_free(l);
	assert_true(no_children());
}

/* Somebody has stopped it, and it cannot do what it is told. */
TEST(test_a_guard_that_does_not_answer)
{
	for (int how = 0; how < 2; how++) {
		cleat_loop *l = new_loop();
		const char *argv[] = { "/bin/sh", "-c", "exec sleep 1000", NULL };
		int status = -1, pid;
		struct child_options o = {
			.loop = l, .argv = argv, .grace_ms = 10, .exited = on_exit_, .ctx = &status
		};
		struct proc_look p;
		struct child *c;

		assert_int_equal(child_spawn(&o, &c, NULL), CLEAT_OK);
		pid = child_pid(c);
		assert_true(look_at_process(pid, &p));
		kill(p.parent, SIGSTOP);
		if (how == 0) {
			child_stop(c);
			UNTIL(l, status >= 0);
			assert_int_equal(status, SIGKILL);
		}
		child_free(c);
		UNTIL_TRUE(gone(pid));
		assert_true(no_children());
		cleat_loop_free(l);
	}
}

/* Signals that a shell or a terminal sends to everybody are nothing to it. */
TEST(test_the_guard_takes_no_notice_of_signals)
{
	static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				       SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGTSTP };
	cleat_loop *l = new_loop();
	struct proc_look p;
	struct child *c;
	char buf[8];
	int status;

	c = spawn(l, "read x; echo $x; exit 2", &status);
	assert_true(look_at_process(child_pid(c), &p));
	for (size_t i = 0; i < CLEAT_COUNT(signals); i++)
		kill(p.parent, signals[i]);
	assert_int_equal(write(child_in(c), "yes\n", 4), 4);
	UNTIL(l, status >= 0);
	assert_int_equal(WEXITSTATUS(status), 2);
	assert_int_equal(read(child_out(c), buf, sizeof buf), 4);
	child_free(c);
	cleat_loop_free(l);
}

/* ---- threads ------------------------------------------------------------------------------ */

struct start {
	cleat_loop *loop;
	struct child *child;
	int status;
};

static void *start_one(void *arg)
{
	struct start *s = arg;

	s->child = try_spawn(s->loop, "read x; exit 8", &s->status);
	return NULL;
}

/* A parent-death signal comes when the thread ends that has forked. */
TEST(test_a_child_outlives_the_thread_that_started_it)
{
	struct start s = { .loop = new_loop() };
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread, NULL, start_one, &s), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_non_null(s.child);
		/* the guard has seen that the thread is gone when it answers */
		assert_int_equal(cleat_loop_step(s.loop, 30), CLEAT_OK);
		assert_int_equal(s.status, -1);
		assert_true(child_alive(s.child));
		child_stop(s.child);
		UNTIL(s.loop, s.status >= 0);
		assert_int_equal(WEXITSTATUS(s.status), 8);
		child_free(s.child);
	}
	cleat_loop_free(s.loop);
	assert_true(no_children());
}

static atomic_bool busy_end;

static void *keep_allocating(void *arg)
{
	while (!atomic_load(&busy_end)) {
		void *p = malloc(100 + (size_t)(uintptr_t)arg % 7);
		FILE *f = fopen("/dev/null", "r");

		free(p);
		if (f)
			fclose(f);
	}
	return NULL;
}

/* Locks of the C library are held by others all the time: nobody waits for one after the fork. */
TEST(test_starting_beside_busy_threads)
{
	pthread_t threads[3];
	cleat_loop *l = new_loop();

	atomic_store(&busy_end, false);
	for (size_t i = 0; i < CLEAT_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, keep_allocating, (void *)i), 0);
	for (int i = 0; i < 40; i++) {
		int status;
		struct child *c = spawn(l, "exit 0", &status);

		UNTIL(l, status >= 0);
		assert_int_equal(status, 0);
		child_free(c);
	}
	atomic_store(&busy_end, true);
	for (size_t i = 0; i < CLEAT_COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	cleat_loop_free(l);
}

/* ---- a large program ---------------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* kB of memory that belongs to this process alone, or did before it was copied. */
static long anonymous(int pid)
{
	char path[64], line[128];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* The guard is a copy of us at first, and would keep every page that we change. */
TEST(test_the_guard_of_a_large_program_is_small)
{
	enum { HEAP = 64 << 20 };
	char *heap, *more;

	if (SANITIZED || getenv("CLEAT_VALGRIND"))
		skip(); /* they need theirs */
	heap = malloc(HEAP);
	more = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(heap && more != MAP_FAILED);
	memset(heap, 1, HEAP);
	memset(more, 1, HEAP);
	for (int i = 0; i < 2; i++) {
		struct start s = { .loop = new_loop() };
		struct proc_look p;
		pthread_t thread;

		if (i == 0) {
			start_one(&s);
		} else {
			assert_int_equal(pthread_create(&thread, NULL, start_one, &s), 0);
			assert_int_equal(pthread_join(thread, NULL), 0);
		}
		assert_non_null(s.child);
		assert_true(look_at_process(child_pid(s.child), &p));
		UNTIL_TRUE(anonymous(p.parent) >= 0 && anonymous(p.parent) < 2048);
		memset(heap, 2, HEAP);
		child_stop(s.child);
		UNTIL(s.loop, s.status >= 0);
		assert_int_equal(WEXITSTATUS(s.status), 8);
		child_free(s.child);
		cleat_loop_free(s.loop);
	}
	munmap(more, HEAP);
	free(heap);
	assert_true(no_children());
}

/* ---- a program with children of its own --------------------------------------------------- */

static atomic_int signals_seen, atfork_calls;

static void on_sigchld(int sig)
{
	(void)sig;
	atomic_fetch_add(&signals_seen, 1);
}

static void on_atfork(void)
{
	atomic_fetch_add(&atfork_calls, 1);
}

/* The program's handlers are not disturbed; its wait() does not take ours away. */
TEST(test_the_program_notices_nothing)
{
	struct sigaction handler = { .sa_handler = on_sigchld }, before;
	cleat_loop *l = new_loop();
	pid_t mine;
	int status, mine_status;

	pthread_atfork(on_atfork, NULL, NULL);
	sigaction(SIGCHLD, &handler, &before);
	atomic_store(&signals_seen, 0);
	atomic_store(&atfork_calls, 0);
	for (int i = 0; i < 10; i++) {
		struct child *c = spawn(l, "read x; exit 5", &status);

		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* as if there were none */
		assert_int_equal(errno, ECHILD);
		child_stop(c);
		UNTIL(l, status >= 0);
		assert_int_equal(WEXITSTATUS(status), 5);
		child_free(c);
	}
	assert_int_equal(atomic_load(&signals_seen), 0);
	assert_int_equal(atomic_load(&atfork_calls), 0);
	mine = fork();
	if (mine == 0)
		kill(getpid(), SIGKILL);
	UNTIL_TRUE(atomic_load(&signals_seen) == 1);
	for (int i = 0; i < 3; i++) { /* ours do not reap it */
		struct child *c = spawn(l, "exit 5", &status);

		UNTIL(l, status >= 0);
		child_free(c);
	}
	assert_int_equal(waitpid(mine, &mine_status, 0), mine);
	assert_int_equal(WTERMSIG(mine_status), SIGKILL);
	sigaction(SIGCHLD, &before, NULL);
	cleat_loop_free(l);
}

/* SIG_IGN makes the system reap ordinary children unasked; their status would be lost. */
TEST(test_a_program_that_ignores_sigchld)
{
	cleat_loop *l = new_loop();
	struct sigaction before;
	int status;

	sigaction(SIGCHLD, NULL, &before);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		struct child *c = spawn(l, "exit 5", &status);

		UNTIL(l, status >= 0);
		assert_int_equal(WEXITSTATUS(status), 5);
		child_free(c);
	}
	sigaction(SIGCHLD, &before, NULL);
	cleat_loop_free(l);
	assert_true(no_children());
}

TEST_GROUP(warm_up, NULL)
