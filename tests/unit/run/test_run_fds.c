/* test_run_fds.c - a server on descriptors and a loop that somebody else drives: threads, deadlines,
 * stopping, freeing.
 */
#include "test.h"
#include "unit/run/test_run.h"

/* ---- descriptors -------------------------------------------------------------------------- */

FDS_TEST(serves_descriptors_in_a_foreign_loop)
{
	int rc = CLEAT_OK;
	char got[4096] = "";
	ssize_t n = 0;

	put(fds[1], call(1, "hello", "{\"name\":\"Oslo\"}"));
	shutdown(fds[1], SHUT_WR);
	while (rc == CLEAT_OK) {
		struct pollfd p[] = { { .fd = cleat_loop_fd(l), .events = POLLIN },
				      { .fd = fds[1], .events = POLLIN } };

		poll(p, 2, cleat_loop_timeout(l));
		rc = cleat_loop_step(l, 0);
		if (p[1].revents & POLLIN) {
			ssize_t k = read(fds[1], got + n, sizeof got - 1 - (size_t)n);

			n += k > 0 ? k : 0;
		}
	}
	assert_int_equal(rc, CLEAT_ECLOSED);
	assert_non_null(strstr(got, "hello Oslo"));
	assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
}

FDS_TEST_WITH(blocking_handlers_run_on_workers, .workers = 3)
{
	enum { CALLS = 64 };
	static char got[CALLS * 256];

	for (int i = 1; i <= CALLS; i++)
		put(fds[1], call(i, "where", "{}"));
	collect(l, fds[1], CALLS + 1, got, sizeof got);
	assert_int_equal(atomic_load(&worker_calls), CALLS);
	assert_int_equal(atomic_load(&inline_calls), 0);
}

FDS_TEST_WITH(deadlines_are_kept_by_the_loop, .request_timeout_ms = 20)
{
	char got[4096];

	put(fds[1], call(1, "later", "{}"));
	collect(l, fds[1], 2, got, sizeof got);
	assert_non_null(strstr(got, "took too long"));
	cleat_request_finish(deferred[0], CLEAT_OK);
}

/* Blocking ones that are cancelled, too. The first opens what is kept. */
FDS_TEST(requests_leave_no_descriptors)
{
	static char got[65536];
	size_t before = 0;

	for (int i = 0; i < 31; i++) {
		put(fds[1], call(100 + i, "until_cancelled", "{}"));
		snprintf(got, sizeof got, CANCEL("%d") "\n", 100 + i);
		put(fds[1], got);
		put(fds[1], call(i + 1, "hello", "{\"name\":\"x\"}"));
		collect(l, fds[1], i ? 1 : 2, got, sizeof got);
		before = i ? before : open_fds();
	}
	while (open_fds() > before) /* those that end a moment later */
		cleat_loop_step(l, 10);
}

/* What the program does between two steps makes the loop's descriptor ready. */
FDS_TEST(changes_between_steps_are_told)
{
	struct pollfd p = { .fd = cleat_loop_fd(l), .events = POLLIN };
	char got[4096];

	put(fds[1], "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
	collect(l, fds[1], 1, got, sizeof got);
	while (poll(&p, 1, 0) == 1)
		cleat_loop_step(l, 0);
	cleat_server_add_tool(s, &(cleat_tool){ .name = "new", .call = hello });
	assert_int_equal(poll(&p, 1, 0), 1);
	collect(l, fds[1], 1, got, sizeof got);
	assert_non_null(strstr(got, "notifications/tools/list_changed"));
}

FDS_TEST(bad_descriptors_leave_the_server_usable)
{
	char got[4096];

	assert_int_equal(cleat_server_attach_fds(s, -1, -1), CLEAT_EINVAL);
	assert_string_equal(cleat_server_error(s)->message, "descriptor -1: Bad file descriptor");
	assert_int_equal(cleat_server_attach_fds(NULL, 0, 1), CLEAT_ENOMEM);
	assert_null(cleat_server_loop(NULL));
	assert_int_equal(cleat_server_attach_fds(s, fds[0], fds[0]), CLEAT_EEXIST);
	collect(l, fds[1], 1, got, sizeof got);
}

static void *stop_it(void *arg)
{
	cleat_server_stop(arg);
	return NULL;
}

/* The one who stops may come before, during and after the first step. */
TEST(stop_closes_every_connection)
{
	for (int i = 0; i < 20; i++) {
		cleat_server *s = new_server(NULL);
		int a[2], b[2];
		pthread_t t;
		char c;

		attach(s, a);
		attach(s, b);
		put(a[1], INITIALIZE);
		put(a[1], call(1, "until_cancelled", "{}"));
		assert_int_equal(pthread_create(&t, NULL, stop_it, s), 0);
		while (cleat_loop_step(cleat_server_loop(s), -1) == CLEAT_OK)
			;
		pthread_join(t, NULL);
		cleat_server_free(s);
		close(a[0]);
		close(b[0]);
		assert_int_equal(read(b[1], &c, 1), 0);
		close(a[1]);
		close(b[1]);
	}
}

static void *finish_when_cancelled(void *arg)
{
	while (atomic_load(&n_deferred) == 0 || !cleat_request_cancelled(deferred[0]))
		sched_yield();
	cleat_request_finish(deferred[0], CLEAT_OK);
	return arg;
}

/* A deferred request belongs to whoever will finish it; free must not pull it away. */
FDS_TEST(free_waits_for_deferred_requests)
{
	pthread_t t;

	put(fds[1], call(1, "later", "{}"));
	while (atomic_load(&n_deferred) == 0)
		cleat_loop_step(l, -1);
	assert_int_equal(pthread_create(&t, NULL, finish_when_cancelled, NULL), 0);
	cleat_server_free(s);
	pthread_join(t, NULL);
	v->s = NULL;
}

TEST(user_loop_outlives_the_server)
{
	cleat_loop *l = cleat_loop_new(NULL);
	cleat_server *s = new_server(&(cleat_server_options){ .loop = l });
	char got[4096];
	int fds[2];

	assert_ptr_equal(cleat_server_loop(s), l);
	attach(s, fds);
	put(fds[1], INITIALIZE);
	collect(l, fds[1], 1, got, sizeof got);
	cleat_server_free(s);
	assert_int_equal(cleat_loop_step(l, 0), CLEAT_ECLOSED);
	cleat_loop_free(l);
	close(fds[0]);
	close(fds[1]);
}

static void posted(cleat_server *s, void *arg)
{
	(void)s;
	assert_true(pthread_equal(pthread_self(), loop_thread_id));
	++*(int *)arg;
}

static void *post_some(void *arg)
{
	void **both = arg;

	for (int i = 0; i < 100; i++) {
		if (cleat_server_post(both[0], posted, both[1]))
			return "post failed";
	}
	return NULL;
}

FDS_TEST(posts_run_on_the_loop_thread)
{
	int calls = 0;
	void *both[] = { s, &calls }, *problem;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, post_some, both), 0);
	while (calls < 100)
		cleat_loop_step(l, -1);
	pthread_join(t, &problem);
	assert_null(problem);
}

TEST(memory_may_run_out_on_attach)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_server *s;
		int rc;

		fail_alloc_calm(&fa);
		s = new_server(&(cleat_server_options){ .allocator = &fa.hook });
		fail_alloc_arm(&fa);
		rc = cleat_server_attach_fds(s, ends[0], ends[0]);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		fail_alloc_calm(&fa);
		if (rc) /* the second time works */
			assert_int_equal(cleat_server_attach_fds(s, ends[0], ends[0]), CLEAT_OK);
		cleat_server_free(s);
		assert_int_equal(fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
	}
	close(ends[0]);
	close(ends[1]);
}

TEST_GROUP(warm_up, NULL)
