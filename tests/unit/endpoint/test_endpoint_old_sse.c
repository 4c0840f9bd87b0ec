/* test_endpoint_old_sse.c - HTTP+SSE of 2024-11-05 (basic/transports: HTTP with SSE): GET /sse is the
 * connection, POST /messages what is said on it.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

struct link {
	struct bench *b;
	struct client *c;
	struct stream st;
	char target[96];
	char fields[128];
};

/* "the server MUST send an endpoint event containing a URI for the client to use for sending
 * messages" */
static void link_open_as(struct bench *b, struct link *k, const char *fields)
{
	struct event e;

	memset(k, 0, sizeof *k);
	k->b = b;
	k->c = join(b);
	snprintf(k->fields, sizeof k->fields, "%s", fields);
	send_request(k->c, "GET", "/sse", fields, NULL);
	stream_expect(k->c, &k->st);
	assert_has(k->st.head, "X-Accel-Buffering: no\r\n");
	assert_true(stream_next(&k->st, &e));
	assert_string_equal(e.name, "endpoint");
	assert_int_equal(strncmp(e.data, "/messages?sessionId=", 20), 0);
	snprintf(k->target, sizeof k->target, "%.90s", e.data);
	event_done(&e);
}

static int link_post(struct link *k, const char *body)
{
	struct client *c = join(k->b);
	const struct answer *a;
	int status;

	send_request(c, "POST", k->target, k->fields, body);
	a = answer_of(c);
	status = a ? a->status : 0;
	hang_up(c);
	return status;
}

static void link_open(struct bench *b, struct link *k)
{
	link_open_as(b, k, "");
	assert_int_equal(link_post(k, INITIALIZE("2024-11-05", "{\"elicitation\":{}}")), 202);
	expect_event(&k->st, "\"protocolVersion\":\"2024-11-05\"");
	assert_int_equal(link_post(k, NOTE("notifications/initialized", "")), 202);
}

static void link_close(struct link *k)
{
	stream_done(&k->st);
	hang_up(k->c);
}

/* ---- messages ----------------------------------------------------------------------------- */

BENCH_TEST(answers_come_as_events)
{
	struct link k;

	link_open(b, &k);
	assert_int_equal(link_post(&k, CALL("1", "echo", "{\"text\":\"a\"}")), 202);
	expect_event(&k.st, "echo a");
	assert_int_equal(link_post(&k, CALL("2", "chat", "{\"n\":2}")), 202);
	expect_event(&k.st, "<1>");
	expect_event(&k.st, "<2>");
	expect_event(&k.st, "\"id\":2,\"result\"");
	assert_int_equal(link_post(&k, "{"),
			 202); /* what is wrong with it comes as an event, too */
	expect_event(&k.st, "-32700");
	cleat_server_remove_tool(b->s, "who");
	expect_event(&k.st, "notifications/tools/list_changed");
	assert_int_equal(link_post(&k, CALL("3", "park", "{}")), 202);
	assert_int_equal(link_post(&k, CANCEL("3")), 202);
	assert_int_equal(n_cancelled, 1);
	expect_silence(b, &k.st);
	link_close(&k);
}

/* Clients of later revisions may come this way; their sessions are as they are elsewhere. */
BENCH_TEST(later_revisions_are_served)
{
	struct link k;
	struct event e;
	char answer[256];

	link_open_as(b, &k, "");
	assert_int_equal(link_post(&k, INITIALIZE("2025-06-18", "{\"elicitation\":{}}")), 202);
	expect_event(&k.st, "2025-06-18");
	assert_int_equal(link_post(&k, NOTE("notifications/initialized", "")), 202);
	assert_int_equal(link_post(&k, CALL("1", "ask", "{}")), 202);
	assert_true(stream_next(&k.st, &e));
	assert_has(e.data, "elicitation/create");
	snprintf(
		answer, sizeof answer,
		"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"action\":\"accept\",\"content\":{}}}",
		strtol(strstr(e.data, "\"id\":") + 5, NULL, 10));
	event_done(&e);
	assert_int_equal(link_post(&k, answer), 202);
	expect_event(&k.st, "confirmed");
	link_close(&k);
}

BENCH_TEST(links_are_apart)
{
	struct link k[2];

	for (int i = 0; i < 2; i++)
		link_open(b, &k[i]);
	assert_string_not_equal(k[0].target, k[1].target);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(link_post(&k[i], PING("1")), 202);
		expect_event(&k[i].st, "\"id\":1,\"result\"");
		expect_silence(b, &k[!i].st);
	}
	link_close(&k[0]);
	WAIT_FOR(&b->h, stats_of(b).streams == 1);
	assert_int_equal(link_post(&k[0], PING("2")), 404);
	assert_int_equal(link_post(&k[1], PING("2")), 202);
	expect_event(&k[1].st, "\"id\":2,\"result\"");
	link_close(&k[1]);
}

/* The connection is the session: what runs in it ends with it. */
BENCH_TEST(the_end_of_the_connection_cancels)
{
	struct link k;

	link_open(b, &k);
	assert_int_equal(link_post(&k, CALL("1", "park", "{}")), 202);
	assert_int_equal(n_parked, 1);
	link_close(&k);
	WAIT_FOR(&b->h, n_cancelled == 1);
	assert_int_equal(stats_of(b).streams, 0);
}

/* ---- who may ------------------------------------------------------------------------------ */

BENCH_TEST_WITH(strangers_are_refused, .tokens = true)
{
	struct link k, other;
	struct client *c;

	link_open_as(b, &k, "Authorization: Bearer ann\r\n");
	other = k;
	snprintf(other.fields, sizeof other.fields, "Authorization: Bearer bob\r\n");
	assert_int_equal(link_post(&other, PING("1")), 404);
	snprintf(other.fields, sizeof other.fields, "X: y\r\n");
	assert_int_equal(link_post(&other, PING("1")), 401);
	other = k;
	snprintf(other.target, sizeof other.target, "/messages?sessionId=%032d", 1);
	assert_int_equal(link_post(&other, PING("1")), 404);
	snprintf(other.target, sizeof other.target, "/messages");
	assert_int_equal(link_post(&other, PING("1")), 404);
	snprintf(other.target, sizeof other.target, "/messages?sessionId=");
	assert_int_equal(link_post(&other, PING("1")), 404);
	snprintf(other.target, sizeof other.target, "/messages?x=1&%.70s", k.target + 10);
	assert_int_equal(link_post(&other, PING("1")), 202);
	expect_event(&k.st, "\"id\":1");
	other = k;
	snprintf(other.fields, sizeof other.fields,
		 "Authorization: Bearer ann\r\nContent-Type: text/plain\r\n");
	assert_int_equal(link_post(&other, PING("1")), 415);
	c = join(b);
	send_request(c, "GET", "/sse", "Authorization: Bearer ann\r\nAccept: application/json\r\n",
		     NULL);
	expect_answer(c, 406);
	hang_up(c);
	expect_silence(b, &k.st);
	link_close(&k);
}

BENCH_TEST_WITH(it_can_be_switched_off, .mcp = { .no_old_sse = true })
{
	struct client *c;

	c = join(b);
	send_request(c, "GET", "/sse", "", NULL);
	expect_answer(c, 404);
	send_request(c, "POST", "/messages?sessionId=1", "", PING("1"));
	expect_answer(c, 404);
	hang_up(c);
}

/* ---- slow clients ------------------------------------------------------------------------- */

/* Answers to several requests come on one stream: that they are large is nobody's fault. */
BENCH_TEST_WITH(large_answers_come_together, .http = { .max_stream_queue = 1000 })
{
	struct link k;
	struct event e;

	link_open(b, &k);
	for (int i = 0; i < 5; i++) {
		char body[200];

		snprintf(body, sizeof body, CALL("%d", "park", "{}"), i);
		assert_int_equal(link_post(&k, body), 202);
	}
	for (int i = 0; i < 5; i++) {
		char *z = malloc(150001);

		assert_non_null(z);
		memset(z, 'a' + i, 150000);
		z[150000] = '\0';
		unpark(z);
		free(z);
	}
	for (int i = 0; i < 5; i++) {
		const char wanted[] = { '"', (char)('a' + i), (char)('a' + i), '\0' };

		assert_true(stream_next(&k.st, &e));
		assert_has(e.data, wanted);
		assert_true(strlen(e.data) > 150000);
		event_done(&e);
	}
	assert_int_equal(link_post(&k, PING("9")), 202);
	expect_event(&k.st, "\"id\":9");
	link_close(&k);
}

/* There is nothing to come back for here, so who does not read has to begin again. */
BENCH_TEST(who_does_not_read_is_cut_off)
{
	struct link slow, quick;
	struct event e;
	size_t n = 0;

	link_open(b, &slow);
	link_open(b, &quick);
	while (n < 100 && link_post(&slow, CALL("1", "big", "{\"n\":1000000}")) == 202)
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
	assert_int_equal(link_post(&quick, PING("1")), 202);
	expect_event(&quick.st, "\"id\":1");
	link_close(&slow);
	link_close(&quick);
}

BENCH_TEST_WITH(silent_links_are_kept_alive, .mcp = { .keep_alive_ms = 1000 })
{
	struct link k;

	link_open(b, &k);
	pass(b, 1000);
	expect_silence(b, &k.st);
	assert_int_equal(k.st.comments, 1);
	link_close(&k);
}
