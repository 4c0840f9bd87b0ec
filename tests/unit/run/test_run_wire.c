/* test_run_wire.c - a server as bytes in, bytes out: full output, other threads, clocks. (Slices and the end of input:
 * every transcript of tests/wire.) */
#include "test.h"
#include "unit/run/test_run.h"

#include "net/outbox.h"

/* ---- wires -------------------------------------------------------------------------------- */

static atomic_int wakes;

static void on_wake(void *userdata)
{
	(void)userdata;
	atomic_fetch_add(&wakes, 1);
}

static uint64_t fake_now = 1000;

static uint64_t get_fake_now(void *userdata)
{
	(void)userdata;
	return fake_now;
}

static int feed(cleat_wire *w, const char *text)
{
	return cleat_wire_feed(w, text, strlen(text));
}

/* Takes all output and checks that it contains `part` (NULL: that there is none). */
static void expect_output(cleat_wire *w, const char *part)
{
	const void *p;
	size_t n = cleat_wire_peek(w, &p);
	char *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, p, n);
	copy[n] = 0;
	if (part && !strstr(copy, part))
		fail_msg("no %s in %s", part, copy);
	if (!part)
		assert_string_equal(copy, "");
	cleat_wire_consume(w, n);
	free(copy);
}

TEST(wire_of_nothing_is_harmless)
{
	cleat_server *bad = cleat_server_new(NULL, NULL, NULL);
	const void *p;

	assert_null(cleat_wire_server(NULL, NULL));
	assert_null(cleat_wire_server(bad, NULL));
	assert_int_equal(cleat_wire_feed(NULL, "x", 1), CLEAT_EINVAL);
	assert_int_equal(cleat_wire_peek(NULL, &p), 0);
	assert_int_equal(cleat_wire_poll(NULL), -1);
	assert_int_equal(cleat_wire_inflight(NULL), 0);
	cleat_wire_consume(NULL, 1);
	cleat_wire_eof(NULL);
	cleat_wire_free(NULL);
	cleat_server_free(bad);
}

/* Input waits while answers are not taken; nothing is lost, nothing grows without end. */
WIRE_TEST(wire_holds_input_back)
{
	enum { CALLS = 100, SIZE = 100000 };
	static char text[CALLS * 200];
	size_t n = 0, lines = 0, most = 0;
	const void *out;

	for (int i = 1; i <= CALLS; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s",
				      call(i, "big", "{\"n\":100000}"));
	assert_int_equal(cleat_wire_feed(w, text, n), CLEAT_OK);
	assert_int_equal(feed(w, call(200, "hello", "{\"name\":\"x\"}")), CLEAT_ELIMIT);
	while ((n = cleat_wire_peek(w, &out)) > 0) {
		const char *p = out;

		most = n > most ? n : most;
		n = n < 50000 ? n : 50000;
		for (size_t i = 0; i < n; i++)
			lines += p[i] == '\n';
		cleat_wire_consume(w, n);
	}
	assert_int_equal(lines, CALLS);
	assert_true(most < OUTBOX_HIGH + 2 * SIZE);
	assert_int_equal(feed(w, call(200, "hello", "{\"name\":\"x\"}")), CLEAT_OK);
	expect_output(w, "hello x");
}

static void *finish_first(void *arg)
{
	(void)arg;
	cleat_request_finish(deferred[0], cleat_reply_text(deferred[0], "from afar"));
	return NULL;
}

WIRE_TEST_WITH(wire_is_woken_by_other_threads, .wake = on_wake)
{
	pthread_t t;

	feed(w, call(1, "later", "{}"));
	atomic_store(&wakes, 0);
	assert_int_equal(pthread_create(&t, NULL, finish_first, NULL), 0);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&wakes), 1);
	expect_output(w, NULL); /* not before the wire's own thread looks */
	cleat_wire_poll(w);
	expect_output(w, "from afar");
}

static cleat_wire *polled_in_wake;
static int polled;

static void poll_in_wake(void *userdata)
{
	(void)userdata;
	polled = cleat_wire_poll(polled_in_wake);
}

/* What wake() should not do must at least do no harm. */
WIRE_TEST_WITH(poll_inside_wake_is_put_off, .wake = poll_in_wake)
{
	polled_in_wake = w;
	polled = 77;
	feed(w, call(1, "later", "{}"));
	feed(w, call(2, "finish_later", "{}"));
	assert_int_equal(polled, -1);
	expect_output(w, "finished");
	cleat_wire_poll(w);
	expect_output(w, "by another");
}

/* Answers that come on their own go over every mark: the other side counts as gone. */
TEST(wire_gives_up_on_a_reader_that_never_reads)
{
	enum { SIZE = 1000000 };
	struct served v;
	cleat_wire *w;
	char *z = calloc(1, SIZE + 1);
	size_t n;

	assert_non_null(z);
	memset(z, 'z', SIZE);
	serve_wire(&v, &(cleat_server_options){ .max_reply = 1 << 20 }, NULL);
	w = v.w;
	for (int i = 1; i <= 20; i++)
		feed(w, call(i, "later", "{}"));
	for (int i = 0; i < 20; i++) {
		assert_non_null(deferred[i]);
		cleat_request_finish(deferred[i], cleat_reply_text(deferred[i], z));
	}
	cleat_wire_poll(w);
	n = cleat_wire_peek(w, NULL);
	assert_true(n > OUTBOX_SLACK && n < OUTBOX_SLACK + 2 * SIZE);
	assert_int_equal(cleat_wire_inflight(w), 0);
	cleat_wire_consume(w, n);
	assert_int_equal(feed(w, "\n"), CLEAT_ECLOSED);
	free(z);
	served_end(&v);
}

WIRE_TEST(wires_of_one_server_share_events)
{
	cleat_wire *other = cleat_wire_server(s, NULL);

	feed(w, call(1, "later", "{}"));
	finish_first(NULL);
	cleat_wire_poll(other);
	expect_output(w, "from afar");
	cleat_wire_free(other);
	feed(w, call(2, "hello", "{\"name\":\"still here\"}"));
	expect_output(w, "still here");
}

TEST(wire_brings_its_own_clock)
{
	struct served v;
	cleat_wire *w;

	serve_wire(&v, &(cleat_server_options){ .request_timeout_ms = 5000 },
		   &(cleat_wire_options){ .wake = on_wake, .now = get_fake_now });
	w = v.w;
	atomic_store(&wakes, 0);
	feed(w, call(1, "later", "{}"));
	assert_true(atomic_load(&wakes) > 0); /* there is a deadline now */
	assert_int_equal(cleat_wire_poll(w), 5000);
	fake_now += 4000;
	assert_int_equal(cleat_wire_poll(w), 1000);
	expect_output(w, NULL);
	fake_now += 1000;
	cleat_wire_poll(w);
	expect_output(w, "took too long");
	assert_true(cleat_request_cancelled(deferred[0]));
	cleat_request_finish(deferred[0], CLEAT_OK);
	served_end(&v);
}

WIRE_TEST(wire_runs_blocking_handlers_inline)
{
	feed(w, call(1, "where", "{}"));
	expect_output(w, "inline");
	assert_int_equal(atomic_load(&worker_calls), 0);
	cleat_wire_eof(w);
	cleat_wire_eof(w);
	assert_int_equal(feed(w, "\n"), CLEAT_ECLOSED);
}

WIRE_TEST(wire_with_a_loop_uses_workers)
{
	cleat_loop *l = cleat_server_loop(s);
	struct pollfd p = { .fd = cleat_loop_fd(l), .events = POLLIN };

	feed(w, call(1, "where", "{}"));
	while (cleat_wire_inflight(w) > 0) {
		assert_int_equal(poll(&p, 1, -1), 1);
		cleat_loop_step(l, 0);
	}
	expect_output(w, "worker");
}

WIRE_TEST(wire_fed_from_inside_a_handler_refuses)
{
	fed_wire = w;
	feed(w, call(1, "misuse", "{}"));
	expect_output(w, "feed -14"); /* CLEAT_EMISUSE */
	fed_wire = NULL;
}

/* Where there is no memory to hold input back, it is answered at once: every line gets something. */
TEST(memory_may_run_out_while_input_is_held)
{
	enum { CALLS = 15 };
	static char text[CALLS * 200];
	size_t n = 0;

	for (int i = 1; i <= CALLS; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s",
				      call(i, "big", "{\"n\":100000}"));
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa) && !fa.lasting;) {
		struct served v;
		const void *out;
		size_t lines = 0, k;

		fail_alloc_calm(&fa);
		serve_wire(&v, &(cleat_server_options){ .allocator = &fa.hook }, NULL);
		fail_alloc_arm(&fa);
		assert_int_equal(cleat_wire_feed(v.w, text, n), CLEAT_OK);
		while ((k = cleat_wire_peek(v.w, &out)) > 0) {
			for (size_t i = 0; i < k; i++)
				lines += ((const char *)out)[i] == '\n';
			cleat_wire_consume(v.w, k);
		}
		assert_int_equal(lines + cleat_wire_inflight(v.w), CALLS);
		served_end(&v);
	}
}

TEST(memory_may_run_out_on_a_wire)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		cleat_server *s = new_server(&(cleat_server_options){ .allocator = &fa.hook });
		cleat_wire *w = cleat_wire_server(s, NULL);

		if (w) {
			feed(w, INITIALIZE);
			feed(w, "{\"jsonrpc\":\"2.0\",\"id\":7,\"met");
			feed(w, "hod\":\"ping\"}\n");
			feed(w, call(1, "hello", "{\"name\":\"Oslo\"}"));
			cleat_wire_poll(w);
			cleat_wire_eof(w);
		}
		cleat_wire_free(w);
		cleat_server_free(s);
	}
}

TEST_GROUP(warm_up, NULL)
