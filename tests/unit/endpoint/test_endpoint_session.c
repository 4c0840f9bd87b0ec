/* test_endpoint_session.c - sessions of 2025-03-26 to 2025-11-25 over HTTP: how they begin and end, whose
 * they are, and what is answered in them (basic/transports: Streamable HTTP). Coming back to streams is
 * in test_endpoint_resume.c.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static const char *const revisions[] = { "2025-03-26", "2025-06-18", "2025-11-25" };

#define ECHO CALL("1", "echo", "{\"text\":\"a\"}")

/* ---- beginning and end -------------------------------------------------------------------- */

BENCH_TEST(a_session_lives_from_initialize_to_delete)
{
	struct talk t;
	struct client *c;

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		talk_open(b, &t, revisions[i]);
		assert_int_equal(stats_of(b).sessions, 1);
		c = join(b);
		talk_post(&t, c, ECHO);
		assert_has(expect_answer(c, 200), "echo a");
		talk_post(&t, c, PING("\"p\""));
		assert_has(expect_answer(c, 200),
			   "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
		talk_post(&t, c, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}");
		assert_string_equal(expect_answer(c, 202), "");
		send_request(c, "DELETE", "/mcp", t.fields, NULL);
		assert_string_equal(expect_answer(c, 204), "");
		assert_int_equal(stats_of(b).sessions, 0);
		/* "after which it MUST respond to requests containing that session ID with HTTP 404" */
		assert_int_equal(talk_status(&t, "POST", ECHO), 404);
		assert_int_equal(talk_status(&t, "GET", NULL), 404);
		assert_int_equal(talk_status(&t, "DELETE", NULL), 404);
		hang_up(c);
	}
}

/* Ids are ours: 128 random bits, no two the same, none taken from a client. */
BENCH_TEST(ids_are_random_and_never_adopted)
{
	static char ids[50][64];
	struct talk t;
	struct client *c;

	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		talk_open(b, &t, "2025-11-25");
		assert_int_equal(strlen(t.id), 32);
		assert_int_equal(strspn(t.id, "0123456789abcdef"), 32);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[k], t.id);
		memcpy(ids[i], t.id, sizeof t.id);
	}
	c = join(b);
	ask(c, 404, "POST", "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n",
	    INITIALIZE("2025-11-25", "{}"));
	assert_int_equal(stats_of(b).sessions, CLEAT_COUNT(ids));
	hang_up(c);
}

/* Puts the id where a '$' is. */
static void put_id(char *to, size_t size, const char *from, const char *id)
{
	size_t n = 0;

	for (; *from && n + strlen(id) < size; from++)
		n += (size_t)snprintf(to + n, size - n, "%.*s", *from == '$' ? 32 : 1,
				      *from == '$' ? id : from);
	to[n] = '\0';
}

/* What is wrong with a request is said before anything is done with it. */
BENCH_TEST(sessions_are_asked_for_in_order)
{
	struct talk t;
	char fields[512];
	static const struct {
		const char *method, *fields; /* $: the session's id */
		int status;
	} rows[] = {
		{ "POST", "", 400 }, /* "SHOULD respond to requests without an Mcp-Session-Id" */
		{ "POST", "MCP-Protocol-Version: 2025-11-25\r\n", 400 },
		{ "GET", "", 400 },
		{ "DELETE", "", 400 },
		{ "POST", "Mcp-Session-Id: $\r\nMcp-Session-Id: $\r\n", 400 },
		{ "POST", "Mcp-Session-Id: \r\n", 404 },
		{ "POST", "Mcp-Session-Id: $x\r\n", 404 },
		{ "GET", "Mcp-Session-Id: x$\r\n", 404 },
		/* "an invalid or unsupported MCP-Protocol-Version, it MUST respond with 400" */
		{ "POST", "Mcp-Session-Id: $\r\nMCP-Protocol-Version: 2025-01-01\r\n", 400 },
		{ "POST", "Mcp-Session-Id: $\r\nMCP-Protocol-Version: no\r\n", 400 },
		{ "GET", "Mcp-Session-Id: $\r\nMCP-Protocol-Version: no\r\n", 400 },
		{ "DELETE", "Mcp-Session-Id: $\r\nMCP-Protocol-Version: no\r\n", 400 },
		{ "POST",
		  "Mcp-Session-Id: $\r\nMCP-Protocol-Version: 2025-11-25\r\n"
		  "MCP-Protocol-Version: 2025-06-18\r\n",
		  400 },
		{ "POST", "Mcp-Session-Id: $\r\n",
		  200 }, /* nothing is assumed but what was agreed */
		{ "POST", "Mcp-Session-Id: $\r\nMCP-Protocol-Version: 2025-11-25\r\n", 200 },
		{ "GET", "Mcp-Session-Id: $\r\nAccept: application/json\r\n", 406 },
		{ "POST", "Mcp-Session-Id: $\r\nAccept: text/plain\r\n", 406 },
		{ "POST", "Mcp-Session-Id: $\r\nContent-Type: text/plain\r\n", 415 },
	};

	talk_open(b, &t, "2025-11-25");
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct client *c = join(b);
		const struct answer *a;

		put_id(fields, sizeof fields, rows[i].fields, t.id);
		send_request(c, rows[i].method, "/mcp", fields,
			     rows[i].method[0] == 'P' ? PING("1") : NULL);
		a = answer_of(c);
		if (!a || a->status != rows[i].status)
			print_error("row %zu: %s %s\n", i, rows[i].method, fields);
		assert_non_null(a);
		assert_int_equal(a->status, rows[i].status);
		hang_up(c);
	}
}

BENCH_TEST(a_failed_initialize_leaves_no_session)
{
	static const struct {
		const char *body;
		int status;
		const char *part;
	} rows[] = {
		{ REQUEST("1", "initialize", ""), 200, "-32602" },
		{ REQUEST("1", "initialize", "\"protocolVersion\":5"), 200, "-32602" },
		{ REQUEST("1", "initialize",
			  "\"protocolVersion\":\"2025-11-25\",\"capabilities\":1"),
		  200, "-32602" },
		{ NOTE("initialize", "\"protocolVersion\":\"2025-11-25\""), 400,
		  "must be a request" },
		{ "[" INITIALIZE("2025-03-26", "{}") "]", 400, "begin with initialize" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"initialize\"}", 400, "-32600" },
	};
	struct client *c;

	c = join(b);
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		const struct answer *a;

		send_request(c, "POST", "/mcp", "", rows[i].body);
		a = answer_of(c);
		assert_non_null(a);
		assert_int_equal(a->status, rows[i].status);
		assert_has(a->body, rows[i].part);
		assert_null(header(a, "Mcp-Session-Id"));
		assert_int_equal(stats_of(b).sessions, 0);
	}
	b->refuse = 1;
	ask(c, 503, "POST", "", INITIALIZE("2025-11-25", "{}"));
	ask(c, 200, "POST", "", INITIALIZE("2025-11-25", "{}"));
	hang_up(c);
}

BENCH_TEST(initialize_may_be_answered_with_events)
{
	struct client *c;
	struct stream st;

	c = join(b);
	send_request(c, "POST", "/mcp", "Accept: text/event-stream, application/json\r\n",
		     INITIALIZE("2025-06-18", "{}"));
	stream_expect(c, &st);
	assert_has(st.head, "\r\nMcp-Session-Id: ");
	expect_event(&st, "\"protocolVersion\":\"2025-06-18\"");
	expect_stream_end(&st);
	hang_up(c);
}

/* ---- whose -------------------------------------------------------------------------------- */

/* The same answer for "unknown" and "not yours". */
BENCH_TEST_WITH(a_session_is_its_principals, .tokens = true)
{
	static const char *const methods[] = { "POST", "GET", "DELETE" };
	struct talk ann, bob;
	char unknown[512];

	talk_open_with(b, &ann, "2025-11-25", "{}", "Authorization: Bearer ann\r\n");
	for (size_t i = 0; i < CLEAT_COUNT(methods); i++) {
		struct client *c = join(b);
		const char *body = i == 0 ? CALL("1", "who", "{}") : NULL;

		bob = ann;
		snprintf(bob.fields, sizeof bob.fields,
			 "Mcp-Session-Id: %s\r\nAuthorization: Bearer bob\r\n", ann.id);
		send_request(c, methods[i], "/mcp", bob.fields, body);
		snprintf(unknown, sizeof unknown, "%.500s", expect_answer(c, 404));
		snprintf(bob.fields, sizeof bob.fields,
			 "Mcp-Session-Id: %032d\r\nAuthorization: Bearer bob\r\n", 7);
		send_request(c, methods[i], "/mcp", bob.fields, body);
		assert_string_equal(expect_answer(c, 404), unknown);
		hang_up(c);
	}
	assert_int_equal(talk_status(&ann, "POST", CALL("1", "who", "{}")), 200);
}

/* ---- limits ------------------------------------------------------------------------------- */

BENCH_TEST_WITH(too_many_sessions_are_refused, .store = { .max_sessions = 3 })
{
	struct talk t[3];
	struct client *c;
	const struct answer *a;

	for (int i = 0; i < 3; i++)
		talk_open(b, &t[i], "2025-11-25");
	c = join(b);
	send_request(c, "POST", "/mcp", "", INITIALIZE("2025-11-25", "{}"));
	a = answer_of(c);
	assert_non_null(a);
	assert_int_equal(a->status, 503);
	assert_non_null(header(a, "Retry-After"));
	assert_null(header(a, "Mcp-Session-Id"));
	assert_int_equal(stats_of(b).sessions, 3);
	assert_int_equal(talk_status(&t[0], "POST", ECHO), 200); /* the others do not notice */
	assert_int_equal(talk_status(&t[1], "DELETE", NULL), 204);
	ask(c, 200, "POST", "", INITIALIZE("2025-11-25", "{}"));
	hang_up(c);
}

BENCH_TEST_WITH(a_thousand_sessions_expire, .mcp = { .session_idle_ms = 60000 })
{
	struct talk t, last;
	struct store_stats kept;

	for (int i = 0; i < 1000; i++)
		talk_open(b, &last, "2025-11-25");
	talk_open(b, &t, "2025-11-25");
	assert_int_equal(stats_of(b).sessions, 1001);
	pass(b, 59999);
	assert_int_equal(talk_status(&t, "POST", PING("1")), 200);
	assert_int_equal(stats_of(b).sessions, 1001);
	pass(b, 1);
	assert_int_equal(stats_of(b).sessions, 1); /* the one that was used */
	assert_int_equal(talk_status(&last, "POST", PING("1")), 404);
	assert_int_equal(talk_status(&t, "POST", PING("1")), 200);
	store_memory_stats(b->store, &kept);
	assert_int_equal(kept.sessions, 1);
	pass(b, 60000);
	assert_int_equal(stats_of(b).sessions, 0);
}

/* A session with an open stream, or a call that runs, is in use; the time counts from its end. */
BENCH_TEST_WITH(sessions_in_use_do_not_expire, .mcp = { .session_idle_ms = 1000 })
{
	struct talk listening, calling;
	struct client *c, *d;
	struct stream st;

	talk_open(b, &listening, "2025-11-25");
	talk_open(b, &calling, "2025-11-25");
	c = join(b);
	talk_get(&listening, c, NULL);
	stream_expect(c, &st);
	d = join(b);
	talk_post(&calling, d, CALL("1", "park", "{}"));
	WAIT_FOR(&b->h, n_parked == 1);
	hang_up(d); /* not a cancellation */
	turn(b);
	for (int i = 0; i < 5; i++)
		pass(b, 900);
	assert_int_equal(stats_of(b).sessions, 2);
	assert_int_equal(n_cancelled, 0);
	unpark("done");
	stream_done(&st);
	hang_up(c);
	turn(b);
	pass(b, 999);
	assert_int_equal(stats_of(b).sessions, 2);
	pass(b, 1000);
	assert_int_equal(stats_of(b).sessions, 0);
}

/* ---- streams of a session ----------------------------------------------------------------- */

/* "the server MUST send each of its JSON-RPC messages on only one of the connected streams": what
 * concerns a request on its own, the rest on the one that listens. */
BENCH_TEST(every_message_is_on_one_stream_only)
{
	struct talk t;
	struct client *c[3];
	struct stream standing, call[2];

	talk_open(b, &t, "2025-06-18");
	for (int i = 0; i < 3; i++)
		c[i] = join(b);
	talk_get(&t, c[2], NULL);
	stream_expect(c[2], &standing);
	for (int i = 0; i < 2; i++) {
		talk_post(&t, c[i], i ? CALL("2", "park", "{}") : CALL("1", "park", "{}"));
		WAIT_FOR(&b->h, n_parked == (size_t)i + 1);
	}
	for (int i = 0; i < 2; i++) {
		cleat_request_log(parked[i], CLEAT_LOG_ERROR, "call %d", i + 1);
		stream_expect(c[i], &call[i]);
	}
	expect_event(&call[0], "call 1");
	expect_event(&call[1], "call 2");
	cleat_server_log(b->s, CLEAT_LOG_ERROR, "all", "everybody");
	cleat_server_remove_tool(b->s, "who");
	expect_event(&standing, "everybody");
	expect_event(&standing, "notifications/tools/list_changed");
	expect_silence(b, &call[0]);
	expect_silence(b, &call[1]);
	unpark("one");
	expect_event(&call[0], "\"id\":1,\"result\"");
	expect_stream_end(&call[0]);
	expect_silence(b, &call[1]);
	unpark("two");
	expect_event(&call[1], "\"id\":2,\"result\"");
	expect_stream_end(&call[1]);
	expect_silence(b, &standing);
	stream_done(&standing);
	for (int i = 0; i < 3; i++)
		hang_up(c[i]);
}

BENCH_TEST(one_stream_listens)
{
	struct talk t;
	struct client *c, *d;
	struct stream st;

	talk_open(b, &t, "2025-06-18");
	cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "before it listened");
	c = join(b);
	talk_get(&t, c, NULL);
	stream_expect(c, &st);
	assert_has(st.head, "X-Accel-Buffering: no\r\n");
	expect_event(&st, "before it listened");
	d = join(b);
	talk_get(&t, d, NULL);
	expect_answer(d, 409);
	hang_up(d);
	stream_done(&st);
	hang_up(c);
	WAIT_FOR(&b->h, stats_of(b).streams == 0);
	cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "while it was away");
	c = join(b);
	talk_get(&t, c, NULL);
	stream_expect(c, &st);
	expect_event(&st, "while it was away"); /* and not what it has had */
	expect_silence(b, &st);
	/* the end of the session is the end of the stream */
	assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
	expect_stream_end(&st);
	hang_up(c);
}

/* The end of a session cancels what runs in it; who waits for the answer is not left hanging. */
BENCH_TEST(delete_cancels_calls)
{
	struct talk t;
	struct client *c;

	talk_open(b, &t, "2025-11-25");
	c = park_call(&t);
	assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
	assert_int_equal(n_cancelled, 1);
	answer_of(c); /* an end of some kind */
	unpark("too late");
	turn(b);
	hang_up(c);
}

/* ---- calls -------------------------------------------------------------------------------- */

/* JSON when there is nothing to say before the answer, events otherwise. */
BENCH_TEST(answers_are_json_or_events)
{
	static const struct {
		const char *accept, *body;
		bool events;
	} rows[] = {
		{ "", ECHO, false },
		{ "", CALL("1", "chat", "{\"n\":1}"), true },
		{ "Accept: application/json\r\n", CALL("1", "chat", "{\"n\":1}"), false },
		{ "Accept: text/event-stream\r\n", ECHO, true },
		{ "Accept: text/event-stream, application/json\r\n", ECHO, true },
		{ "Accept: */*\r\n", ECHO, false },
	};
	struct talk t;

	for (size_t k = 0; k < CLEAT_COUNT(revisions); k++) {
		talk_open(b, &t, revisions[k]);
		for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
			struct client *c = join(b);
			char fields[512];
			const struct answer *a;

			snprintf(fields, sizeof fields, "%s%s", t.fields, rows[i].accept);
			send_request(c, "POST", "/mcp", fields, rows[i].body);
			a = answer_of(c);
			assert_non_null(a);
			assert_int_equal(a->status, 200);
			assert_has(a->body, "\"id\":1,\"result\"");
			assert_string_equal(header(a, "Content-Type"),
					    rows[i].events ? "text/event-stream"
							   : "application/json");
			assert_int_equal(!header(a, "X-Accel-Buffering"), !rows[i].events);
			hang_up(c);
		}
	}
}

/* "Disconnection SHOULD NOT be interpreted as the client cancelling its request. To cancel, the client
 * SHOULD explicitly send an MCP CancelledNotification." */
BENCH_TEST(only_a_notification_cancels)
{
	struct talk t;
	struct client *c;
	struct stream st;

	talk_open(b, &t, "2025-06-18");
	for (int events = 0; events < 2; events++) {
		c = park_call(&t);
		if (events) {
			cleat_request_log(parked[0], CLEAT_LOG_ERROR, "begun");
			stream_expect(c, &st);
			expect_event(&st, "begun");
		}
		assert_int_equal(talk_status(&t, "POST", CANCEL("1")), 202);
		assert_int_equal(n_cancelled, (size_t)events + 1);
		/* the exchange is over at once, without an answer, whatever the handler does */
		if (!events)
			stream_expect(c, &st);
		expect_stream_end(&st);
		/* ... and the id may be used again */
		talk_post(&t, c, ECHO);
		assert_has(expect_answer(c, 200), "\"id\":1,\"result\"");
		unpark("too late");
		turn(b);
		hang_up(c);
	}
	c = join(b);
	talk_post(&t, c, CALL("2", "park", "{}"));
	WAIT_FOR(&b->h, n_parked == 1);
	slam(c);
	turn(b);
	assert_false(cleat_request_cancelled(parked[0]));
	unpark("nobody hears");
	turn(b);
	assert_int_equal(talk_status(&t, "POST", ECHO), 200);
}

/* Pending requests are those of a session: the same id in another one is another request. */
BENCH_TEST(ids_belong_to_their_session)
{
	struct talk t[2];
	struct client *c[2];

	for (int i = 0; i < 2; i++) {
		talk_open(b, &t[i], "2025-11-25");
		c[i] = join(b);
		talk_post(&t[i], c[i], CALL("1", "park", "{}"));
		WAIT_FOR(&b->h, n_parked == (size_t)i + 1);
	}
	/* a second one with this id in the same session is refused, without that id */
	for (int i = 0; i < 2; i++) {
		struct client *d = join(b);
		const struct answer *a;

		talk_post(&t[i], d, ECHO);
		a = answer_of(d);
		assert_non_null(a);
		assert_has(a->body, "-32600");
		assert_lacks(a->body, "\"id\":1");
		hang_up(d);
	}
	assert_int_equal(talk_status(&t[1], "POST", CANCEL("1")), 202);
	assert_int_equal(n_cancelled, 1);
	assert_false(cleat_request_cancelled(parked[0]));
	unpark("first");
	assert_has(expect_answer(c[0], 200), "first");
	assert_string_equal(expect_answer(c[1], 200), ""); /* a stream that ends */
	for (int i = 0; i < 2; i++)
		hang_up(c[i]);
}

/* ---- questions ---------------------------------------------------------------------------- */

/* The id of the request in an event. */
static long question_id(struct stream *st)
{
	struct event e;
	long id;

	assert_true(stream_next(st, &e));
	assert_has(e.data, "\"method\":\"elicitation/create\"");
	id = strtol(strstr(e.data, "\"id\":") + 5, NULL, 10);
	event_done(&e);
	return id;
}

static const char *yes(long id)
{
	static char text[256];

	snprintf(
		text, sizeof text,
		"{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"action\":\"accept\",\"content\":{}}}",
		id);
	return text;
}

/* On the stream of the request that asks; the answer comes with another POST. */
BENCH_TEST(questions_come_on_the_stream_of_their_request)
{
	static const char *const with_forms[] = { "2025-06-18", "2025-11-25" };
	struct talk t, other;
	struct client *c, *d;
	struct stream st, standing;
	long id;

	for (size_t i = 0; i < CLEAT_COUNT(with_forms); i++) {
		bool primed = i == 1;

		talk_open(b, &t, with_forms[i]);
		talk_open(b, &other, with_forms[i]);
		c = join(b);
		d = join(b);
		talk_get(&t, d, NULL);
		stream_expect(d, &standing);
		if (primed)
			expect_event(&standing, "");
		talk_post(&t, c, CALL("1", "ask", "{}"));
		stream_expect(c, &st);
		if (primed)
			expect_event(&st, "");
		id = question_id(&st);
		expect_silence(b, &standing);
		/* an answer of another session is none */
		assert_int_equal(talk_status(&other, "POST", yes(id)), 202);
		expect_silence(b, &st);
		assert_int_equal(talk_status(&t, "POST", yes(id + 1)), 202);
		expect_silence(b, &st);
		assert_int_equal(talk_status(&t, "POST", yes(id)), 202);
		expect_event(&st, "confirmed");
		expect_stream_end(&st);
		assert_int_equal(talk_status(&t, "POST", yes(id)), 202); /* once more: ignored */
		stream_done(&standing);
		hang_up(c);
		hang_up(d);
	}
}

/* Whoever cannot be asked is told so, now. */
BENCH_TEST(who_cannot_be_asked_is_not_waited_for)
{
	struct talk t;
	struct client *c;
	char fields[512];

	talk_open(b, &t, "2025-06-18");
	c = join(b);
	snprintf(fields, sizeof fields, "%sAccept: application/json\r\n", t.fields);
	assert_has(ask(c, 200, "POST", fields, CALL("1", "ask", "{}")), "\"isError\":true");
	hang_up(c);
}

/* A cancelled request takes its question back. */
BENCH_TEST(a_cancelled_request_takes_its_question_back)
{
	struct talk t;
	struct client *c;
	struct stream st;
	long id;

	talk_open(b, &t, "2025-06-18");
	c = join(b);
	talk_post(&t, c, CALL("1", "ask", "{}"));
	stream_expect(c, &st);
	id = question_id(&st);
	assert_int_equal(talk_status(&t, "POST", CANCEL("1")), 202);
	expect_event(&st, "notifications/cancelled");
	expect_stream_end(&st);
	assert_int_equal(talk_status(&t, "POST", yes(id)), 202);
	hang_up(c);
}

/* ---- time --------------------------------------------------------------------------------- */

/* A call that took too long is answered, and its stream ends, while the handler runs on. */
TEST(a_late_call_is_answered_once)
{
	static const char *const accepts[] = { "", "Accept: text/event-stream\r\n" };
	struct bench b;
	struct talk t;
	struct client *c;
	char fields[512];

	for (size_t i = 0; i < CLEAT_COUNT(accepts); i++) {
		bench_open_with(&b,
				&(struct bench_options){ .server = { .request_timeout_ms = 1 } });
		talk_open(&b, &t, "2025-11-25");
		c = join(&b);
		snprintf(fields, sizeof fields, "%s%s", t.fields, accepts[i]);
		assert_has(ask(c, 200, "POST", fields, CALL("1", "park", "{}")), "took too long");
		assert_int_equal(n_cancelled, 1);
		unpark("too late");
		turn(&b);
		talk_post(&t, c, ECHO);
		assert_has(expect_answer(c, 200), "echo a");
		hang_up(c);
		bench_close(&b);
	}
}
