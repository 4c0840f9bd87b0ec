/* test_endpoint_slow.c - streams of a session whose client reads slowly: what the connection does not take is
 * kept and comes later; nothing is lost, nothing comes twice, and what could not be kept is said.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static const char *const revisions[] = { "2025-06-18", "2025-11-25" };

static void resume(struct talk *t, struct client **c, const char *last)
{
	*c = join(t->b);
	talk_get(t, *c, last);
}

enum { REMARKS = 3000 };

/* Reads remarks <from>, <from+1>, ... up to the answer; gives the number behind the last one. `last`:
 * the id of the last event. Stops early at `until`, or where the connection broke off. */
static int count_remarks(struct stream *st, int from, int until, char last[80])
{
	struct event e;

	while (from < until && stream_next(st, &e)) {
		const char *at = e.data ? strchr(e.data, '<') : NULL;

		if (e.id[0])
			memcpy(last, e.id, 80);
		if (at) {
			assert_int_equal(atoi(at + 1), from);
			from++;
		} else if (e.data && e.data[0]) {
			assert_has(e.data, "\"id\":1,\"result\"");
			until = 0;
		}
		event_done(&e);
	}
	return from;
}

/* A client that does not read while a call says more than the queue may hold: the rest is kept, and
 * comes as it reads; nothing is lost, nothing comes twice. */
TEST(a_slow_client_catches_up)
{
	struct bench b;
	struct talk t;
	struct client *c;
	struct stream st;
	char last[80];

	bench_open_with(&b, &(struct bench_options){ .http = { .max_stream_queue = 20000 },
						     .store = { .max_event_bytes = 64 << 20,
								.max_session_bytes = 32 << 20 } });
	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		talk_open(&b, &t, revisions[i]);
		c = join(&b);
		talk_post(&t, c, CALL("1", "chat", "{\"n\":3000,\"size\":3000}"));
		for (int k = 0; k < 100; k++) /* until the socket is full */
			cleat_loop_step(b.h.l, 1);
		assert_true(rig_stats(&b.h).queued_bytes < 30000);
		stream_expect(c, &st);
		assert_int_equal(count_remarks(&st, 1, INT32_MAX, last), REMARKS + 1);
		expect_stream_end(&st);
		/* the connection is good for more */
		talk_post(&t, c, PING("2"));
		expect_answer(c, 200);
		hang_up(c);
	}
	bench_close(&b);
}

/* The same, with a connection that is lost again and again. */
TEST(a_slow_client_that_comes_back_misses_nothing)
{
	struct bench b;
	struct talk t;
	struct client *c;
	struct stream st;
	char last[80];
	int next = 1;

	bench_open_with(&b, &(struct bench_options){ .http = { .max_stream_queue = 20000 },
						     .store = { .max_event_bytes = 64 << 20,
								.max_session_bytes = 32 << 20 } });
	talk_open(&b, &t, "2025-11-25");
	c = join(&b);
	talk_post(&t, c, CALL("1", "chat", "{\"n\":3000,\"size\":3000}"));
	for (;;) {
		stream_expect(c, &st);
		next = count_remarks(&st, next, next + 700, last);
		if (next > REMARKS)
			break;
		stream_done(&st);
		slam(c);
		resume(&t, &c, last);
	}
	if (!st.ended) {
		assert_int_equal(count_remarks(&st, next, INT32_MAX, last), REMARKS + 1);
		expect_stream_end(&st);
	}
	stream_done(&st);
	hang_up(c);
	bench_close(&b);
}

/* The store does not hold what a slow client has not taken: the connection breaks off, and whoever
 * comes back is told; nothing is skipped. */
TEST(a_slow_client_is_told_what_it_missed)
{
	struct bench b;
	struct talk t;
	struct client *c;
	struct stream st;
	char last[80];
	int next;

	bench_open_with(&b, &(struct bench_options){ .http = { .max_stream_queue = 20000 },
						     .store = { .max_session_bytes = 100000 } });
	talk_open(&b, &t, "2025-11-25");
	c = join(&b);
	talk_post(&t, c, CALL("1", "chat", "{\"n\":3000,\"size\":3000}"));
	stream_expect(c, &st);
	next = count_remarks(&st, 1, INT32_MAX, last);
	assert_true(next > 1 && next <= REMARKS);
	assert_false(st.ended);
	assert_true(c->eof);
	stream_done(&st);
	hang_up(c);
	resume(&t, &c, last);
	expect_answer(c, 404);
	hang_up(c);
	assert_int_equal(talk_status(&t, "POST", PING("2")), 200);
	bench_close(&b);
}

/* The answer is too large for the store, and the client is behind: it gets an answer that says so. */
TEST(a_slow_client_is_not_kept_waiting_for_ever)
{
	struct bench b;
	struct talk t;
	struct client *c;
	struct stream st;
	char text[30000];
	size_t n = 0;
	struct event e;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	bench_open_with(&b, &(struct bench_options){ .http = { .max_stream_queue = 5000 },
						     .store = { .max_session_bytes = 25000 } });
	talk_open(&b, &t, "2025-06-18");
	c = park_call(&t);
	/* until neither the socket nor the queue takes more */
	while (rig_stats(&b.h).queued_bytes <= 5000) {
		cleat_request_log(parked[0], CLEAT_LOG_ERROR, "<%zu>%9000s", ++n, "");
		cleat_loop_step(b.h.l, 0);
	}
	cleat_request_log(parked[0], CLEAT_LOG_ERROR, "<%zu>", ++n);
	unpark(text);
	turn(&b);
	stream_expect(c, &st);
	for (size_t i = 1; i <= n; i++) {
		assert_true(stream_next(&st, &e));
		assert_int_equal(atol(strchr(e.data, '<') + 1), i);
		event_done(&e);
	}
	expect_event(&st, "\"id\":1,\"error\"");
	expect_stream_end(&st);
	hang_up(c);
	bench_close(&b);
}
