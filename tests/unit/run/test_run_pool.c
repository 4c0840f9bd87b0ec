/* test_run_pool.c - worker threads and cancellation descriptors. */
#include "run/cancelfd.h"
#include "run/pool.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pool --------------------------------------------------------------------------------- */

static atomic_int done_count;

static void count(void *item)
{
	atomic_fetch_add(&done_count, *(int *)item);
}

TEST(everything_queued_is_worked_off)
{
	static int ones[2000];
	struct pool p;

	atomic_store(&done_count, 0);
	assert_int_equal(pool_init(&p, NULL, 4, count), CLEAT_OK);
	for (size_t i = 0; i < CLEAT_COUNT(ones); i++) {
		ones[i] = 1;
		assert_int_equal(pool_submit(&p, &ones[i]), CLEAT_OK);
	}
	pool_done(&p);
	assert_int_equal(atomic_load(&done_count), CLEAT_COUNT(ones));
	pool_done(&p); /* twice is harmless */
}

TEST(threads_are_started_only_for_work)
{
	struct pool p;

	assert_int_equal(pool_init(&p, NULL, 8, count), CLEAT_OK);
	assert_int_equal(p.started, 0);
	pool_done(&p);
	pool_done(&(struct pool){ .ready = false });
}

/* A gate that `n` threads must reach together: proof that they run at once. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_cond = PTHREAD_COND_INITIALIZER;
static int gate_open, gate_waiting;

static void wait_at_gate(void *item)
{
	int n = *(int *)item;

	pthread_mutex_lock(&gate_lock);
	if (++gate_waiting == n)
		gate_open = 1;
	pthread_cond_broadcast(&gate_cond);
	while (!gate_open)
		pthread_cond_wait(&gate_cond, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

TEST(as_many_run_at_once_as_there_are_threads)
{
	int three = 3;
	struct pool p;

	gate_open = gate_waiting = 0;
	assert_int_equal(pool_init(&p, NULL, 3, wait_at_gate), CLEAT_OK);
	for (int i = 0; i < 5; i++)
		assert_int_equal(pool_submit(&p, &three), CLEAT_OK);
	pool_done(&p); /* would hang if fewer than three ran together */
	assert_int_equal(gate_waiting, 5);
}

static int order[100];
static size_t order_n;

static void write_down(void *item)
{
	order[order_n++] = *(int *)item; /* one thread only */
}

TEST(first_come_first_served)
{
	static int numbers[100];
	struct pool p;

	order_n = 0;
	assert_int_equal(pool_init(&p, NULL, 1, write_down), CLEAT_OK);
	for (int i = 0; i < 100; i++) {
		numbers[i] = i;
		assert_int_equal(pool_submit(&p, &numbers[i]), CLEAT_OK);
	}
	pool_done(&p);
	assert_int_equal(order_n, 100);
	for (int i = 0; i < 100; i++)
		assert_int_equal(order[i], i);
}

static void look_at_mask(void *item)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	*(int *)item = sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1);
}

TEST(workers_take_no_signals)
{
	sigset_t mask;
	struct pool p;
	int blocked = 0;

	assert_int_equal(pool_init(&p, NULL, 1, look_at_mask), CLEAT_OK);
	assert_int_equal(pool_submit(&p, &blocked), CLEAT_OK);
	pool_done(&p);
	assert_int_equal(blocked, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), 0); /* ours is as it was */
}

TEST(memory_may_run_out)
{
	int one = 1;

	for (size_t n = 1; n < 4; n++) {
		struct fail_alloc fa;
		struct pool p;

		atomic_store(&done_count, 0);
		fail_alloc_init(&fa, n, true);
		assert_int_equal(pool_init(&p, &fa.hook, 2, count),
				 n > 1 ? CLEAT_OK : CLEAT_ENOMEM);
		if (n > 1)
			assert_int_equal(pool_submit(&p, &one), n > 2 ? CLEAT_OK : CLEAT_ENOMEM);
		pool_done(&p);
		assert_int_equal(atomic_load(&done_count), n > 2);
		assert_int_equal(fa.live, 0);
	}
}

/* ---- cancellation descriptors ------------------------------------------------------------- */

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

TEST(cancellation_makes_descriptors_readable)
{
	for (int pipes = 0; pipes < 2; pipes++) {
		size_t before = open_fds();
		struct cancelfds c;
		int a, b;

		cancelfds_init(&c, NULL);
		c.pipes = c.pipes || pipes;
		a = cancelfd_open(&c);
		b = cancelfd_open(&c);
		assert_true(a >= 0 && b >= 0 && a != b);
		assert_false(readable(a));
		cancelfd_signal(&c, b);
		assert_false(readable(a));
		assert_true(readable(b));
		cancelfd_signal(&c, b); /* once more changes nothing */
		assert_true(readable(b));
		cancelfd_signal(&c, a);
		assert_true(readable(a));
		cancelfd_close(&c, a);
		cancelfd_close(&c, b);
		cancelfds_done(&c);
		assert_int_equal(open_fds(), before);
	}
}
