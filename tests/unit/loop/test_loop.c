/* test_loop.c - steps, calls between threads, timers, descriptors, and life inside a foreign loop.
 */
#include "loop/loop.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- helpers ------------------------------------------------------------------------------ */

/* Nothing here can be tested without one. */
static cleat_loop *new_loop(void)
{
	cleat_loop *l = cleat_loop_new(NULL);

	assert_non_null(l);
	return l;
}

/* A call that writes its letter down. */
static char trace[4096];
static size_t trace_n;

static void note(char c)
{
	assert_true(trace_n < sizeof trace - 1);
	trace[trace_n++] = c;
	trace[trace_n] = 0;
}

static int begin(void **state)
{
	(void)state;
	trace_n = 0;
	trace[0] = 0;
	return 0;
}

struct letter {
	struct loop_call call;
	char c;
	cleat_loop *l;
	struct letter *then; /* posted by this one */
	bool again;
};

static void on_letter(struct loop_call *call)
{
	struct letter *x = (struct letter *)(void *)call;

	note(x->c);
	if (x->then)
		loop_post(x->l, &x->then->call);
	if (x->again) {
		x->again = false;
		loop_post(x->l, call);
	}
}

#define LETTER(ch, loop) ((struct letter){ .call = { .fn = on_letter }, .c = (ch), .l = (loop) })

/* A case on a loop, with nothing written down yet. */
#define LOOP_TEST(name)                                                                            \
	static void name##_on(cleat_loop *l);                                                      \
	TEST_WITH(name, begin, NULL)                                                               \
	{                                                                                          \
		cleat_loop *l = new_loop();                                                        \
                                                                                                   \
		name##_on(l);                                                                      \
		cleat_loop_free(l);                                                                \
	}                                                                                          \
	static void name##_on(cleat_loop *l)

/* ---- steps -------------------------------------------------------------------------------- */

LOOP_TEST(step_with_nothing_attached_is_closed)
{
	struct letter a = LETTER('a', l);

	assert_int_equal(cleat_loop_timeout(l), -1);
	assert_int_equal(cleat_loop_step(l, -1), CLEAT_ECLOSED);
	loop_post(l, &a.call); /* what waits is done nevertheless */
	assert_int_equal(cleat_loop_step(l, -1), CLEAT_ECLOSED);
	assert_string_equal(trace, "a");
	assert_int_equal(cleat_loop_run(l), CLEAT_OK);
}

TEST_WITH(null_loops_are_harmless, begin, NULL)
{
	cleat_loop_free(NULL);
	assert_int_equal(cleat_loop_fd(NULL), -1);
	assert_int_equal(cleat_loop_timeout(NULL), -1);
	assert_int_equal(cleat_loop_step(NULL, 0), CLEAT_EINVAL);
	assert_int_equal(cleat_loop_run(NULL), CLEAT_EINVAL);
}

/* In a process with these descriptors closed, and this many allowed: 0 a loop, 1 none for want of descriptors; or
 * the signal that ended it. */
static int loop_in_process(int close_from, int close_to, unsigned allowed)
{
	struct rlimit limit = { allowed, allowed };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		cleat_loop *l;

		for (int fd = close_from; fd <= close_to; fd++)
			close(fd);
		if (allowed && setrlimit(RLIMIT_NOFILE, &limit))
			_exit(99);
		errno = 0;
		l = cleat_loop_new(NULL);
		if (!l)
			_exit(errno == EMFILE ? 1 : 98);
		for (int fd = close_from; fd <= close_to; fd++)
			if (fcntl(fd, F_GETFD) < 0)
				_exit(97);
		cleat_loop_free(l);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 100 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* `hello 2>&-` and `ulimit -n 5` ended in abort() of libuv. */
TEST(closed_standard_descriptors_and_few_others_are_no_accident)
{
	int last = 1;

	for (int from = 0; from <= 2; from++)
		for (int to = from; to <= 2; to++)
			assert_int_equal(loop_in_process(from, to, 0), 0);
	for (unsigned allowed = 3; allowed < 64; allowed++) {
		int now = loop_in_process(0, -1, allowed);

		assert_in_range(now, 0, last); /* once there are enough, there are */
		last = now;
	}
	assert_int_equal(last, 0);
}

LOOP_TEST(step_waits_no_longer_than_told)
{
	uint64_t before = loop_now();

	loop_attach(l);
	assert_int_equal(cleat_loop_timeout(l), -1);
	assert_int_equal(cleat_loop_step(l, 0), CLEAT_OK);
	assert_int_equal(cleat_loop_step(l, 20), CLEAT_OK);
	assert_true(loop_now() - before >= 19);
	assert_true(loop_now() - before < 5000);
	loop_detach(l);
}

LOOP_TEST(wake_ends_a_wait_even_if_it_comes_before)
{
	loop_attach(l);
	cleat_loop_wake(l);
	assert_int_equal(cleat_loop_step(l, -1), CLEAT_OK);
	loop_detach(l);
}

LOOP_TEST(stop_before_run_counts)
{
	loop_attach(l);
	cleat_loop_stop(l);
	assert_int_equal(cleat_loop_run(l), CLEAT_OK);
	loop_detach(l);
}

static void *stopper(void *arg)
{
	cleat_loop_stop(arg);
	return NULL;
}

LOOP_TEST(stop_from_another_thread)
{
	pthread_t t;

	loop_attach(l);
	assert_int_equal(pthread_create(&t, NULL, stopper, l), 0);
	assert_int_equal(cleat_loop_run(l), CLEAT_OK);
	pthread_join(t, NULL);
	loop_detach(l);
}

static cleat_loop *signalled;

static void on_signal(int n)
{
	(void)n;
	cleat_loop_stop(signalled);
}

TEST_WITH(stop_from_a_signal_handler, begin, NULL)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	signalled = new_loop();
	loop_attach(signalled);
	sigemptyset(&sa.sa_mask);
	sigaction(SIGUSR1, &sa, &old);
	raise(SIGUSR1);
	assert_int_equal(cleat_loop_run(signalled), CLEAT_OK);
	sigaction(SIGUSR1, &old, NULL);
	loop_detach(signalled);
	cleat_loop_free(signalled);
}

static void step_inside(struct loop_call *c)
{
	struct letter *x = (struct letter *)(void *)c;

	note(cleat_loop_step(x->l, 0) == CLEAT_EMISUSE ? 'm' : '?');
}

LOOP_TEST(step_inside_a_step_is_refused)
{
	struct letter x = { .call = { .fn = step_inside }, .l = l };

	loop_post(l, &x.call);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "m");
}

/* ---- calls -------------------------------------------------------------------------------- */

LOOP_TEST(posts_keep_their_order)
{
	struct letter a = LETTER('a', l), b = LETTER('b', l), c = LETTER('c', l);

	a.again = true;
	b.then = &c;
	loop_post(l, &a.call);
	loop_post(l, &b.call);
	loop_post(l, &a.call); /* waits already */
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "ab"); /* what they post is for the next turn */
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "abac");
}

LOOP_TEST(cancelled_calls_do_not_run)
{
	struct letter a = LETTER('a', l), b = LETTER('b', l), c = LETTER('c', l);

	loop_post(l, &a.call);
	loop_post(l, &b.call);
	loop_cancel(l, &b.call);
	loop_post(l, &c.call);
	loop_cancel(l, &c.call);
	loop_post(l, &c.call);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "ac");
	loop_defer(l, &a.call);
	loop_defer(l, &b.call);
	loop_cancel(l, &b.call);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "aca");
}

/* Deferred between steps: a foreign loop that waits for the descriptor must notice. */
LOOP_TEST(deferred_calls_make_the_descriptor_ready)
{
	struct letter a = LETTER('a', l);
	struct pollfd p = { .fd = cleat_loop_fd(l), .events = POLLIN };

	loop_attach(l);
	cleat_loop_step(l, 0);
	assert_int_equal(poll(&p, 1, 0), 0);
	loop_defer(l, &a.call);
	assert_int_equal(cleat_loop_timeout(l), 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "a");
	assert_int_equal(poll(&p, 1, 0), 0);
	loop_detach(l);
}

struct defer_in_call {
	struct loop_call post, defer;
	cleat_loop *l;
};

static void run_deferred(struct loop_call *c)
{
	(void)c;
	note('d');
}

static void post_that_defers(struct loop_call *c)
{
	struct defer_in_call *x = (struct defer_in_call *)(void *)c;

	note('p');
	loop_defer(x->l, &x->defer);
}

LOOP_TEST(deferred_calls_run_before_the_step_returns)
{
	struct defer_in_call x = { .post.fn = post_that_defers, .defer.fn = run_deferred, .l = l };

	loop_attach(l);
	loop_post(l, &x.post);
	cleat_loop_step(l, -1);
	assert_string_equal(trace, "pd");
	loop_detach(l);
}

struct turner {
	struct loop_turn turn;
	cleat_loop *l;
	struct turner *victim;
	char c;
};

static void on_turn(struct loop_turn *t)
{
	struct turner *x = (struct turner *)(void *)t;

	note(x->c);
	if (x->victim)
		loop_turn_remove(x->l, &x->victim->turn);
}

LOOP_TEST(turns_may_remove_each_other)
{
	struct turner a = { { .fn = on_turn }, l, NULL, 'a' };
	struct turner b = { { .fn = on_turn }, l, &a, 'b' };
	struct turner c = { { .fn = on_turn }, l, NULL, 'c' };

	c.victim = &c;
	loop_turn_add(l, &a.turn);
	loop_turn_add(l, &b.turn);
	loop_turn_add(l, &c.turn);
	loop_turn_add(l, &c.turn);
	cleat_loop_step(l, 0);
	assert_int_equal(trace[0], 'c');
	assert_int_equal(trace[1], 'b');
	assert_null(strchr(trace, 'a'));
	assert_null(strchr(trace + 1, 'c'));
	loop_turn_remove(l, &b.turn);
	loop_turn_remove(l, &b.turn);
}

/* ---- many threads ------------------------------------------------------------------------- */

enum { THREADS = 4, POSTS = 500 };

struct numbered {
	struct loop_call call;
	int thread, number;
	int *last; /* of each thread */
	int *total;
};

struct poster {
	cleat_loop *l;
	struct numbered items[POSTS];
};

static void on_numbered(struct loop_call *c)
{
	struct numbered *x = (struct numbered *)(void *)c;

	assert_int_equal(x->last[x->thread] + 1, x->number);
	x->last[x->thread] = x->number;
	++*x->total;
}

static void on_number(void *arg)
{
	on_numbered(arg);
}

/* The library's calls and the program's, which are one queue. */
static void *post_all(void *arg)
{
	struct poster *p = arg;

	for (int i = 0; i < POSTS; i++)
		if (i & 1)
			loop_post(p->l, &p->items[i].call);
		else
			assert_int_equal(cleat_loop_post(p->l, on_number, &p->items[i]), CLEAT_OK);
	return NULL;
}

LOOP_TEST(posts_from_many_threads_arrive_once_and_in_order)
{
	static struct poster posters[THREADS];
	int last[THREADS], total = 0;
	pthread_t threads[THREADS];

	loop_attach(l);
	for (int t = 0; t < THREADS; t++) {
		last[t] = -1;
		posters[t].l = l;
		for (int i = 0; i < POSTS; i++)
			posters[t].items[i] = (struct numbered){ .call = { .fn = on_numbered },
								 .thread = t,
								 .number = i,
								 .last = last,
								 .total = &total };
	}
	for (int t = 0; t < THREADS; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, post_all, &posters[t]), 0);
	while (total < THREADS * POSTS)
		assert_int_equal(cleat_loop_step(l, -1), CLEAT_OK);
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	loop_detach(l);
}

static cleat_loop *posting;

static void post_next(void *arg)
{
	const char *letters = arg;

	note(letters[0]);
	if (letters[1])
		assert_int_equal(cleat_loop_post(posting, post_next, (void *)(letters + 1)), 0);
}

TEST_WITH(a_program_posts_too, begin, NULL)
{
	struct fail_alloc fa;

	fail_alloc_init(&fa, 0, false);
	posting = cleat_loop_new(&fa.hook);
	assert_int_equal(cleat_loop_post(NULL, post_next, NULL), CLEAT_EMISUSE);
	assert_int_equal(cleat_loop_post(posting, NULL, NULL), CLEAT_EMISUSE);
	fa.countdown = 1;
	assert_int_equal(cleat_loop_post(posting, post_next, NULL), CLEAT_ENOMEM);
	assert_int_equal(cleat_loop_post(posting, post_next, (void *)"ac"), CLEAT_OK);
	assert_int_equal(cleat_loop_post(posting, post_next, (void *)"b"), CLEAT_OK);
	cleat_loop_step(posting, 0);
	assert_string_equal(trace, "ab"); /* what a call posts is for the next turn */
	assert_int_equal(cleat_loop_post(posting, post_next, (void *)"d"), CLEAT_OK);
	cleat_loop_step(posting, 0);
	assert_string_equal(trace, "abcd");
	assert_int_equal(cleat_loop_post(posting, post_next, (void *)"e"), CLEAT_OK);
	cleat_loop_free(posting);
	assert_string_equal(trace, "abcd"); /* dropped */
	assert_int_equal(fa.live, 0);
}

static void *who_owns(void *arg)
{
	cleat_loop *l = arg;

	if (loop_is_owner(l))
		return "owner too early";
	cleat_loop_step(l, 0);
	return loop_is_owner(l) ? NULL : "not the owner";
}

LOOP_TEST(owner_is_who_stepped_last)
{
	void *problem;
	pthread_t t;

	assert_true(loop_is_owner(l));
	assert_int_equal(pthread_create(&t, NULL, who_owns, l), 0);
	pthread_join(t, &problem);
	assert_null(problem);
	assert_false(loop_is_owner(l));
	cleat_loop_step(l, 0);
	assert_true(loop_is_owner(l));
}

/* ---- timers ------------------------------------------------------------------------------- */

struct alarm_ {
	struct loop_timer *t;
	char c;
	bool free_in_call;
};

static void on_alarm(void *ctx)
{
	struct alarm_ *a = ctx;

	note(a->c);
	if (a->free_in_call)
		loop_timer_free(a->t);
}

LOOP_TEST(timers_fire_once_and_in_order)
{
	struct alarm_ a = { .c = 'a' }, b = { .c = 'b', .free_in_call = true }, c = { .c = 'c' };

	loop_attach(l);
	a.t = loop_timer_new(l, on_alarm, &a);
	b.t = loop_timer_new(l, on_alarm, &b);
	c.t = loop_timer_new(l, on_alarm, &c);
	assert_true(a.t && b.t && c.t);
	loop_timer_start(c.t, 1);
	loop_timer_start(a.t, 12);
	loop_timer_start(b.t, 4);
	loop_timer_stop(c.t);
	assert_in_range(cleat_loop_timeout(l), 0, 4);
	while (trace_n < 2)
		assert_int_equal(cleat_loop_step(l, -1), CLEAT_OK);
	assert_string_equal(trace, "ba");
	loop_timer_start(a.t, 0);
	cleat_loop_step(l, -1);
	assert_string_equal(trace, "baa");
	loop_timer_free(a.t);
	loop_timer_free(c.t);
	loop_timer_free(NULL);
	loop_detach(l);
}

/* One that is overdue when the step begins is what the step was for: whoever waits for what it does
 * would wait in vain for something else. */
LOOP_TEST(a_step_that_ran_a_timer_does_not_wait)
{
	struct alarm_ a = { .c = 'a' };
	uint64_t due;

	loop_attach(l);
	a.t = loop_timer_new(l, on_alarm, &a);
	loop_timer_start(a.t, 3);
	due = loop_now() + 4;
	cleat_loop_step(l, 0); /* takes the wake-up that came with it */
	while (loop_now() <= due)
		;
	cleat_loop_step(l, 10000);
	assert_string_equal(trace, "a");
	assert_true(loop_now() - due < 5000);
	loop_timer_free(a.t);
	loop_detach(l);
}

/* ---- descriptors -------------------------------------------------------------------------- */

struct eye {
	struct loop_watch *w;
	int fd;
	unsigned events;
	bool failed;
	int calls;
	bool free_in_call;
};

static void on_event(void *ctx, unsigned events, bool failed)
{
	struct eye *e = ctx;
	char c;

	e->events = events;
	e->failed = failed;
	e->calls++;
	if (events & LOOP_READ && read(e->fd, &c, 1) == 1)
		note(c);
	if (e->free_in_call)
		loop_watch_free(e->w);
}

TEST_WITH(foreign_loop_sees_descriptors, begin, NULL)
{
	cleat_loop *l = new_loop();
	struct pollfd p = { .fd = cleat_loop_fd(l), .events = POLLIN };
	struct eye e = { 0 };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	loop_attach(l);
	e.fd = ends[0];
	assert_int_equal(loop_watch_new(l, ends[0], on_event, &e, &e.w), CLEAT_OK);
	assert_false(loop_watch_always(e.w));
	loop_watch_set(e.w, LOOP_READ);
	assert_int_equal(poll(&p, 1, cleat_loop_timeout(l)), 1); /* the change itself */
	cleat_loop_step(l, 0);
	assert_int_equal(cleat_loop_timeout(l), -1);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(poll(&p, 1, -1), 1);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "x");
	loop_watch_set(e.w, 0);
	assert_int_equal(write(ends[1], "y", 1), 1);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "x");
	loop_watch_free(e.w);
	loop_watch_free(NULL);
	loop_detach(l);
	cleat_loop_free(l);
	close(ends[0]);
	close(ends[1]);
}

TEST_WITH(closed_reader_is_reported_as_failure, begin, NULL)
{
	cleat_loop *l = new_loop();
	struct eye e = { .free_in_call = true };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	loop_attach(l);
	assert_int_equal(loop_watch_new(l, ends[1], on_event, &e, &e.w), CLEAT_OK);
	loop_watch_set(e.w, LOOP_WRITE);
	close(ends[0]);
	assert_int_equal(cleat_loop_step(l, -1), CLEAT_OK);
	assert_int_equal(e.calls, 1);
	assert_true(e.failed);
	assert_int_equal(e.events, LOOP_WRITE);
	loop_detach(l);
	cleat_loop_free(l);
	close(ends[1]);
}

/* Not bytes, only that no more will come: also while there are bytes that nobody has read. */
TEST_WITH(hang_up_alone_can_be_waited_for, begin, NULL)
{
	cleat_loop *l = new_loop();
	struct eye e = { 0 };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	e.fd = -1;
	loop_attach(l);
	assert_int_equal(loop_watch_new(l, ends[0], on_event, &e, &e.w), CLEAT_OK);
	loop_watch_set(e.w, LOOP_HANGUP);
	assert_int_equal(write(ends[1], "x", 1), 1);
	cleat_loop_step(l, 0);
	cleat_loop_step(l, 0);
	assert_int_equal(e.calls, 0);
	shutdown(ends[1], SHUT_WR);
	assert_int_equal(cleat_loop_step(l, -1), CLEAT_OK);
	assert_int_equal(e.calls, 1);
	assert_int_equal(e.events, LOOP_HANGUP);
	loop_watch_free(e.w);
	loop_detach(l);
	cleat_loop_free(l);
	close(ends[0]);
	close(ends[1]);
}

TEST_WITH(regular_files_are_always_ready, begin, NULL)
{
	cleat_loop *l = new_loop();
	FILE *f = tmpfile();
	struct eye e = { 0 };

	assert_non_null(f);
	assert_int_equal(write(fileno(f), "ab", 2), 2);
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	e.fd = fileno(f);
	loop_attach(l);
	assert_int_equal(loop_watch_new(l, e.fd, on_event, &e, &e.w), CLEAT_OK);
	assert_true(loop_watch_always(e.w));
	loop_watch_set(e.w, LOOP_READ);
	assert_int_equal(cleat_loop_timeout(l), 0);
	cleat_loop_step(l, -1);
	cleat_loop_step(l, 0);
	assert_string_equal(trace, "ab");
	loop_watch_set(e.w, 0);
	assert_int_equal(cleat_loop_timeout(l), -1);
	loop_watch_free(e.w);
	loop_detach(l);
	cleat_loop_free(l);
	fclose(f);
}

TEST_WITH(bad_descriptors_are_refused, begin, NULL)
{
	cleat_loop *l = new_loop();
	struct eye e = { 0 }, second = { 0 };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(loop_watch_new(l, -1, on_event, &e, &e.w), CLEAT_EINVAL);
	assert_null(e.w);
	close(ends[0]);
	assert_int_equal(loop_watch_new(l, ends[0], on_event, &e, &e.w), CLEAT_EINVAL);
	assert_int_equal(loop_watch_new(l, ends[1], on_event, &e, &e.w), CLEAT_OK);
	loop_watch_set(e.w, LOOP_WRITE);
	assert_int_equal(loop_watch_new(l, ends[1], on_event, &second, &second.w), CLEAT_EEXIST);
	loop_watch_free(e.w);
	cleat_loop_free(l);
	close(ends[1]);
}

/* ---- memory and descriptors --------------------------------------------------------------- */

TEST_WITH(memory_may_run_out, begin, NULL)
{
	struct eye e = { 0 };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	for (size_t n = 1; n < 5; n++) {
		struct fail_alloc fa;
		struct loop_timer *t;
		cleat_loop *l;

		fail_alloc_init(&fa, n, true);
		l = cleat_loop_new(&fa.hook);
		assert_int_equal(l != NULL, n > 1);
		if (!l)
			continue;
		t = loop_timer_new(l, on_alarm, NULL);
		assert_int_equal(t != NULL, n > 2);
		assert_int_equal(loop_watch_new(l, ends[0], on_event, &e, &e.w),
				 n > 3 ? CLEAT_OK : CLEAT_ENOMEM);
		loop_timer_free(t);
		loop_watch_free(e.w);
		cleat_loop_free(l);
		assert_int_equal(fa.live, 0);
	}
	close(ends[0]);
	close(ends[1]);
}

TEST_WITH(no_descriptor_is_left_behind, begin, NULL)
{
	size_t before;

	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two for the process */
	before = open_fds();
	for (int i = 0; i < 10; i++) {
		cleat_loop *l = new_loop();

		cleat_loop_step(l, 0);
		cleat_loop_free(l);
	}
	assert_int_equal(open_fds(), before);
}
