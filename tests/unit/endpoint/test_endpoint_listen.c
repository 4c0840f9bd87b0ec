/* test_endpoint_listen.c - subscriptions/listen over HTTP: streams that stay open (2026-07-28
 * basic/patterns/subscriptions, basic/transports/streamable-http).
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

#define EVERYTHING                                                                                 \
	"\"toolsListChanged\":true,\"resourcesListChanged\":true,\"promptsListChanged\":true,"     \
	"\"resourceSubscriptions\":[\"test://one\"]"

static void listen_on(struct client *c, struct stream *st, const char *body)
{
	modern_listen(c, body);
	stream_expect(c, st);
	expect_event(st, "notifications/subscriptions/acknowledged");
}

/* "The server MUST send notifications/subscriptions/acknowledged as the first message"; it shows the
 * subset that is honoured, and everything carries the subscription's id. */
BENCH_TEST(the_acknowledgement_comes_first)
{
	struct client *c;
	struct stream st;
	struct event e;

	cleat_server_resource_changed(b->s, "test://one"); /* before: nobody hears */
	c = join(b);
	modern_listen(c, LISTEN("\"s\"", EVERYTHING));
	stream_expect(c, &st);
	assert_has(st.head, "X-Accel-Buffering: no\r\n");
	assert_true(stream_next(&st, &e));
	assert_has(e.data, "notifications/subscriptions/acknowledged");
	assert_has(e.data, "\"io.modelcontextprotocol/subscriptionId\":\"s\"");
	assert_has(e.data, "\"toolsListChanged\":true");
	assert_has(e.data, "[\"test://one\"]");
	assert_lacks(e.data, "promptsListChanged"); /* there are none */
	assert_string_equal(e.id, "");
	event_done(&e);
	expect_silence(b, &st);
	cleat_server_resource_changed(b->s, "test://two"); /* not asked for */
	cleat_server_resource_changed(b->s, "test://one");
	assert_true(stream_next(&st, &e));
	assert_has(e.data, "notifications/resources/updated");
	assert_has(e.data, "\"io.modelcontextprotocol/subscriptionId\":\"s\"");
	assert_has(e.data, "\"uri\":\"test://one\"");
	event_done(&e);
	cleat_server_remove_tool(b->s, "who");
	expect_event(&st, "notifications/tools/list_changed");
	expect_silence(b, &st);
	stream_done(&st);
	hang_up(c);
}

/* Each on a stream of its own, and each only what it asked for. */
BENCH_TEST(subscriptions_are_apart)
{
	static const char *const uris[] = { "test://one", "test://two" };
	struct client *c[2];
	struct stream st[2];

	for (int i = 0; i < 2; i++) {
		c[i] = join(b);
		listen_on(c[i], &st[i],
			  i ? LISTEN("1", "\"resourceSubscriptions\":[\"test://two\"]")
			    : LISTEN("1", "\"resourceSubscriptions\":[\"test://one\"]"));
	}
	assert_int_equal(stats_of(b).streams, 2);
	for (int i = 0; i < 2; i++) {
		cleat_server_resource_changed(b->s, uris[i]);
		expect_event(&st[i], uris[i]);
		expect_silence(b, &st[!i]);
	}
	hang_up(c[0]); /* "The client cancels it - close the SSE stream" */
	WAIT_FOR(&b->h, stats_of(b).streams == 1);
	cleat_server_resource_changed(b->s, "test://one");
	cleat_server_resource_changed(b->s, "test://two");
	expect_event(&st[1], "test://two");
	expect_silence(b, &st[1]);
	hang_up(c[1]);
	for (int i = 0; i < 2; i++)
		stream_done(&st[i]);
}

/* "servers are encouraged to periodically emit an SSE comment line as a keep-alive": only when there
 * was nothing else to say. */
BENCH_TEST_WITH(silent_streams_are_kept_alive, .mcp = { .keep_alive_ms = 1000 })
{
	struct client *c;
	struct stream st;

	c = join(b);
	listen_on(c, &st, LISTEN("1", EVERYTHING));
	pass(b, 999);
	expect_silence(b, &st);
	assert_int_equal(st.comments, 0);
	pass(b, 1);
	expect_silence(b, &st);
	assert_int_equal(st.comments, 1);
	pass(b, 600);
	cleat_server_resource_changed(b->s, "test://one");
	expect_event(&st, "test://one");
	pass(b, 600); /* less than a second after it */
	expect_silence(b, &st);
	assert_int_equal(st.comments, 1);
	pass(b, 400);
	expect_silence(b, &st);
	assert_int_equal(st.comments, 2);
	stream_done(&st);
	hang_up(c);
}

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
	hang_up(quick);
	bench_close(&b);
}

/* "it SHOULD send a successful subscriptions/listen response to signal a graceful end, then close the
 * stream"; over HTTP nothing else. */
BENCH_TEST(shutdown_ends_subscriptions_gracefully)
{
	struct client *c;
	struct stream st;

	c = join(b);
	listen_on(c, &st, LISTEN("5", EVERYTHING));
	bench_stop(b);
	expect_event(&st, "\"id\":5,\"result\":{\"resultType\":\"complete\"");
	expect_stream_end(&st);
	expect_end(c);
	WAIT_FOR(&b->h, b->h.done);
	hang_up(c);
}

BENCH_TEST(a_wrong_filter_is_answered_at_once)
{
	static const char *const bodies[] = {
		REQUEST("1", "subscriptions/listen", MODERN),
		LISTEN("1", "\"toolsListChanged\":1"),
		LISTEN("1", "\"resourceSubscriptions\":\"test://one\""),
		LISTEN("1", "\"resourceSubscriptions\":[1]"),
	};
	struct client *c;

	c = join(b);
	for (size_t i = 0; i < CLEAT_COUNT(bodies); i++) {
		modern_listen(c, bodies[i]);
		assert_has(expect_answer(c, 200), "-32602");
	}
	hang_up(c);
}

/* Many streams, all told, none twice. */
BENCH_TEST(two_hundred_listeners)
{
	enum { N = 200 };
	static struct client *c[N];
	static struct stream st[N];

	for (int i = 0; i < N; i++) {
		c[i] = join(b);
		listen_on(c[i], &st[i], LISTEN("1", "\"toolsListChanged\":true"));
	}
	cleat_server_remove_tool(b->s, "who");
	for (int i = 0; i < N; i++)
		expect_event(&st[i], "notifications/tools/list_changed");
	for (int i = 0; i < N; i++)
		expect_silence(b, &st[i]);
	for (int i = 0; i < N; i++) {
		stream_done(&st[i]);
		hang_up(c[i]);
	}
	WAIT_FOR(&b->h, stats_of(b).streams == 0);
}
