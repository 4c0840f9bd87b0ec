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

/* Reads remarks <from>, <from+1>, ... up to the answer; gives the number after the last one. `last`:
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
	bench_close(&b);
}

/* ---- what listens ------------------------------------------------------------------------- */

#define EVERYTHING                                                                                 \
	"\"toolsListChanged\":true,\"resourcesListChanged\":true,\"promptsListChanged\":true,"     \
	"\"resourceSubscriptions\":[\"test://one\"]"

/* A client that does not read: what it takes has no gap, and the end says that something is missing.
 * Others do not notice. */
TEST(a_slow_listener_ends_with_an_error)
{
	struct bench b;
	struct client *slow, *quick;
	struct stream st, other;
	struct event e;
	static char uri[5000], body[6000];
	size_t n = 0, before;

	snprintf(uri, sizeof uri, "test://%0*d", (int)sizeof uri - 10, 0);
	bench_open_with(&b, &(struct bench_options){ .http = { .max_stream_queue = 20000 } });
	slow = join(&b);
	quick = join(&b);
	snprintf(body, sizeof body, LISTEN("7", "\"resourceSubscriptions\":[\"%s\"]"), uri);
	listen_on(slow, &st, body);
	listen_on(quick, &other, body);
	/* more than any socket takes; the quick one reads */
	while (!strstr(b.notes, "could not be sent") && n < 100000) {
		cleat_server_resource_changed(b.s, uri);
		expect_event(&other, "resources/updated");
		n++;
	}
	assert_true(n < 100000);
	turn(&b);
	before = n;
	n = 0;
	while (stream_next(&st, &e) && strstr(e.data, "resources/updated")) {
		n++;
		event_done(&e);
		e.data = "the end";
	}
	assert_int_equal(n, before - 1); /* all but the one that was lost */
	assert_has(e.data, "\"id\":7,\"error\"");
	event_done(&e);
	expect_stream_end(&st);
	/* it may begin again, on the same connection */
	listen_on(slow, &st, LISTEN("9", EVERYTHING));
	cleat_server_resource_changed(b.s, "test://one");
	expect_event(&st, "\"io.modelcontextprotocol/subscriptionId\":9");
	expect_silence(&b, &other);
	stream_done(&st);
	stream_done(&other);
	hang_up(slow);
	bench_close(&b);
}

/* ---- HTTP+SSE ------------------------------------------------------------------------------ */

struct link {
	struct client *c;
	struct stream st;
	char target[96];
};

static int link_post(struct bench *b, struct link *k, const char *body)
{
	struct client *c = join(b);
	const struct answer *a;
	int status;

	send_request(c, "POST", k->target, "", body);
	a = answer_of(c);
	status = a ? a->status : 0;
	hang_up(c);
	return status;
}

static void link_open(struct bench *b, struct link *k)
{
	struct event e;

	memset(k, 0, sizeof *k);
	k->c = join(b);
	send_request(k->c, "GET", "/sse", "", NULL);
	stream_expect(k->c, &k->st);
	assert_true(stream_next(&k->st, &e));
	snprintf(k->target, sizeof k->target, "%.90s", e.data);
	event_done(&e);
	assert_int_equal(link_post(b, k, INITIALIZE("2024-11-05", "{}")), 202);
	expect_event(&k->st, "2024-11-05");
	assert_int_equal(link_post(b, k, NOTE("notifications/initialized", "")), 202);
}

static void link_close(struct link *k)
{
	stream_done(&k->st);
	hang_up(k->c);
}

/* There is nothing to come back for here, so who does not read has to begin again. */
BENCH_TEST(who_does_not_read_is_cut_off)
{
	struct link slow, quick;
	struct event e;
	size_t n = 0;

	link_open(b, &slow);
	link_open(b, &quick);
	while (n < 100 && link_post(b, &slow, CALL("1", "big", "{\"n\":1000000}")) == 202)
		n++;
	assert_in_range(n, 2, 99);
	assert_has(b->notes, "too slowly");
	/* what it gets is whole messages, and no end */
	while (stream_next(&slow.st, &e)) {
		assert_has(e.data, "\"id\":1,\"result\"");
		event_done(&e);
	}
	assert_false(slow.st.ended);
	pass(b, 1000);
	assert_int_equal(link_post(b, &quick, PING("1")), 202);
	expect_event(&quick.st, "\"id\":1");
	link_close(&slow);
	link_close(&quick);
}
