/* test_endpoint_modern.c - 2026-07-28 over HTTP: one POST, one answer (basic/transports/streamable-http). */
#include "unit/endpoint/endpoint_rig.h"

#include "test.h"

#define JSON_ONLY   "Accept: application/json\r\n"
#define EVENTS_ONLY "Accept: text/event-stream\r\n"

/* ---- answers ------------------------------------------------------------------------------ */

struct row {
	const char *fields, *body;
	int status;
	const char *part; /* of the answer's body; NULL: it is empty */
};

#define CALLS  MODERN_VERSION "Mcp-Method: tools/call\r\n"
#define ECHOES CALLS "Mcp-Name: echo\r\n"
#define ECHO   MODERN_CALL("1", "echo", "{\"text\":\"a\"}")

static const struct row rows[] = {
	{ ECHOES, ECHO, 200, "echo a" },
	/* Case Sensitivity: of names none, of values */
	{ "mcp-PROTOCOL-version: 2026-07-28\r\nMCP-METHOD: tools/call\r\nmcp-name: echo\r\n", ECHO,
	  200, "echo a" },
	{ MODERN_VERSION "Mcp-Method: Tools/Call\r\nMcp-Name: echo\r\n", ECHO, 400, "-32020" },
	/* Value Encoding, of Mcp-Name */
	{ CALLS "Mcp-Name: =?base64?ZWNobw==?=\r\n", ECHO, 200, "echo a" },
	{ CALLS "Mcp-Name: =?base64?ZWNobw?=\r\n", ECHO, 400, "-32020" },
	{ CALLS "Mcp-Name: =?base64?YmlnCg==?=\r\n", ECHO, 400, "-32020" },
	/* Server Validation: missing, different, more than once */
	{ CALLS, ECHO, 400, "-32020" },
	{ CALLS "Mcp-Name: big\r\n", ECHO, 400, "-32020" },
	{ ECHOES "Mcp-Name: echo\r\n", ECHO, 400, "-32020" },
	{ ECHOES "Mcp-Method: tools/call\r\n", ECHO, 400, "-32020" },
	{ ECHOES MODERN_VERSION, ECHO, 400, "-32020" },
	{ MODERN_VERSION "Mcp-Name: echo\r\n", ECHO, 400, "-32020" },
	{ MODERN_VERSION "Mcp-Method: tools/list\r\nMcp-Name: echo\r\n", ECHO, 400, "-32020" },
	{ "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", ECHO, 400, "-32020" },
	{ VERSION("2025-11-25") "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", ECHO, 400, "-32" },
	{ VERSION("2027-01-01") "Mcp-Method: tools/call\r\nMcp-Name: echo\r\n", ECHO, 400,
	  "-32020" },
	/* Protocol Version Header: agreed on by both, and unknown */
	{ VERSION("2027-01-01") "Mcp-Method: tools/list\r\n",
	  REQUEST("1", "tools/list",
		  "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2027-01-01\","
		  "\"io.modelcontextprotocol/clientCapabilities\":{}}"),
	  400, "\"supported\":[\"2026-07-28\"]" },
	{ MODERN_VERSION "Mcp-Method: tools/list\r\n", REQUEST("1", "tools/list", ""), 400,
	  "-32602" },
	/* "404 Not Found and a JSON-RPC error with code -32601" */
	{ MODERN_VERSION "Mcp-Method: no/such\r\n", REQUEST("1", "no/such", MODERN), 404,
	  "-32601" },
	{ MODERN_VERSION "Mcp-Method: initialize\r\n", REQUEST("1", "initialize", MODERN), 404,
	  "-32601" },
	/* what a handler, or its arguments, come to is an answer like any other */
	{ CALLS "Mcp-Name: none\r\n", MODERN_CALL("1", "none", "{}"), 200, "-32602" },
	{ ECHOES, MODERN_CALL("1", "echo", "{\"text\":5}"), 200, "\"id\":1" },
	{ CALLS "Mcp-Name: ask\r\n", MODERN_CALL("1", "ask", "{}"), 400, "-32021" },
	/* Sending Messages */
	{ ECHOES, "{", 400, "-32700" },
	{ ECHOES, "", 400, "-32700" },
	{ ECHOES, "[" ECHO "]", 400, "-32600" },
	{ ECHOES, "7", 400, "-32600" },
	{ ECHOES, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", 400, "-32600" },
	{ MODERN_VERSION, NOTE("notifications/cancelled", "\"requestId\":1"), 202, NULL },
	/* the body MUST be a request or a notification */
	{ MODERN_VERSION, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, "-32600" },
	/* Earlier Streamable HTTP Revisions: ignored */
	{ ECHOES "Mcp-Session-Id: x\r\nLast-Event-ID: y\r\n", ECHO, 200, "echo a" },
	/* what the client can take */
	{ ECHOES JSON_ONLY, ECHO, 200, "echo a" },
	{ ECHOES "Accept: text/html\r\n", ECHO, 406, "Accept" },
	{ ECHOES "Content-Type: text/plain\r\n", ECHO, 415, "Content-Type" },
	{ ECHOES "Content-Type: application/json; charset=latin1\r\n", ECHO, 415, "Content-Type" },
	{ ECHOES "Content-Type: application/json; charset=utf-8\r\n", ECHO, 200, "echo a" },
};

BENCH_TEST(answers_say_what_is_wrong)
{
	struct talk t;

	talk_open(b, &t, "2025-11-25");
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		struct client *c = join(b);
		const struct answer *a;

		/* what older clients do meanwhile does not matter */
		assert_int_equal(talk_status(&t, "POST", PING("1")), 200);
		send_request(c, "POST", "/mcp", rows[i].fields, rows[i].body);
		a = answer_of(c);
		if (!a || a->status != rows[i].status)
			print_error("row %zu: %s%s\n", i, rows[i].fields, rows[i].body);
		assert_non_null(a);
		assert_int_equal(a->status, rows[i].status);
		if (rows[i].part)
			assert_has(a->body, rows[i].part);
		else
			assert_int_equal(a->n, 0);
		assert_null(header(a, "Mcp-Session-Id"));
		if (rows[i].status == 200)
			assert_string_equal(header(a, "Content-Type"), "application/json");
		/* ... and the connection is as good as new */
		modern_call(c, "echo", ECHO);
		assert_has(expect_answer(c, 200), "echo a");
		hang_up(c);
	}
}

/* The bytes of an answer, up to the end of the connection, without the date. From malloc. */
static char *converse(struct bench *b, const char *bytes, size_t step)
{
	struct client *c = join(b);
	size_t n = strlen(bytes);
	char *text, *date;

	for (size_t at = 0; at < n; at += step) {
		put_bytes(c, bytes + at, n - at < step ? n - at : step);
		cleat_loop_step(b->h.l, 1);
	}
	while (!c->eof)
		wait_more(c);
	text = strdup(c->n ? c->buf : "");
	while ((date = strstr(text, "Date: ")) != NULL)
		memmove(date, strchr(date, '\n') + 1, strlen(strchr(date, '\n') + 1) + 1);
	hang_up(c);
	return text;
}

/* The same answers whatever pieces a request comes in. */
BENCH_TEST(slices_do_not_matter)
{
	static const size_t steps[] = { 1, 2, 3, 7, 100 };
	static const struct {
		const char *method, *name, *body;
	} all[] = {
		{ "tools/call", "echo", ECHO },
		{ "tools/call", "steps",
		  REQUEST("1", "tools/call",
			  LOGGING ",\"name\":\"steps\",\"arguments\":{\"n\":3}") },
		{ "tools/call", "none", MODERN_CALL("1", "none", "{}") },
		{ "no/such", NULL, REQUEST("1", "no/such", MODERN) },
		{ "tools/call", "echo", "{" },
		{ "notifications/x", NULL, NOTE("notifications/x", "") },
	};

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		char *request = strdup(request_text(
			"POST", "/mcp",
			modern_fields(all[i].method, all[i].name, "Connection: close\r\n"),
			all[i].body));
		char *whole = converse(b, request, SIZE_MAX);

		assert_has(whole, "HTTP/1.1 ");
		for (size_t k = 0; k < CLEAT_COUNT(steps); k++) {
			char *got = converse(b, request, steps[k]);

			assert_string_equal(got, whole);
			free(got);
		}
		free(whole);
		free(request);
	}
}

BENCH_TEST(pipelined_requests_are_answered_in_order)
{
	struct client *c;

	c = join(b);
	for (int i = 0; i < 3; i++)
		modern_call(c, "echo", ECHO);
	modern_call(c, "park", MODERN_CALL("2", "park", "{}"));
	modern_call(c, "echo", MODERN_CALL("3", "echo", "{\"text\":\"last\"}"));
	for (int i = 0; i < 3; i++)
		assert_has(expect_answer(c, 200), "\"id\":1");
	WAIT_FOR(&b->h, n_parked == 1);
	unpark("parked");
	assert_has(expect_answer(c, 200), "parked");
	assert_has(expect_answer(c, 200), "echo last");
	hang_up(c);
}

/* ---- JSON or events ----------------------------------------------------------------------- */

#define STEPS(id) REQUEST(id, "tools/call", LOGGING ",\"name\":\"steps\",\"arguments\":{\"n\":2}")

/* Events as soon as there is something to say before the answer; nothing that a proxy may hold back. */
BENCH_TEST(progress_makes_it_a_stream)
{
	struct client *c;
	struct stream st;

	c = join(b);
	modern_call(c, "steps", STEPS("9"));
	stream_expect(c, &st);
	assert_has(st.head, "X-Accel-Buffering: no\r\n");
	assert_has(st.head, "Cache-Control: no-cache\r\n");
	assert_string_equal(expect_event(&st, "\"progress\":1"), ""); /* not resumable: no id */
	expect_event(&st, "\"progress\":2");
	assert_string_equal(expect_event(&st, "\"id\":9,\"result\""), "");
	expect_stream_end(&st);
	/* the connection goes on */
	modern_call(c, "echo", ECHO);
	assert_has(expect_answer(c, 200), "echo a");
	hang_up(c);
}

BENCH_TEST(a_client_that_takes_no_events_gets_none)
{
	struct client *c;

	c = join(b);
	send_request(c, "POST", "/mcp", modern_fields("tools/call", "steps", JSON_ONLY),
		     STEPS("9"));
	assert_has(expect_answer(c, 200), "walked");
	/* and cannot listen: it would never hear anything */
	send_request(c, "POST", "/mcp", modern_fields("subscriptions/listen", NULL, JSON_ONLY),
		     LISTEN("1", "\"toolsListChanged\":true"));
	assert_has(expect_answer(c, 200), "\"error\"");
	hang_up(c);
}

BENCH_TEST(a_client_may_prefer_events)
{
	static const char *const accepts[] = {
		EVENTS_ONLY, "Accept: text/event-stream, application/json\r\n",
		"Accept: application/json;q=0.5, text/event-stream\r\n"
	};
	struct stream st;

	for (size_t i = 0; i < CLEAT_COUNT(accepts); i++) {
		struct client *c = join(b);

		send_request(c, "POST", "/mcp", modern_fields("tools/call", "echo", accepts[i]),
			     ECHO);
		stream_expect(c, &st);
		expect_event(&st, "echo a");
		expect_stream_end(&st);
		hang_up(c);
	}
}

/* The bound of a stream's queue is none for the size of one message. */
BENCH_TEST_WITH(large_answers_come_whole, .http = { .max_stream_queue = 1000 })
{
	static const char *const accepts[] = { "", EVENTS_ONLY };

	for (size_t i = 0; i < CLEAT_COUNT(accepts); i++) {
		struct client *c = join(b);
		const struct answer *a;

		send_request(c, "POST", "/mcp", modern_fields("tools/call", "big", accepts[i]),
			     MODERN_CALL("1", "big", "{\"n\":200000}"));
		a = answer_of(c);
		assert_non_null(a);
		assert_true(a->n > 200000);
		assert_has(a->body, "\"id\":1");
		hang_up(c);
	}
}

/* ---- cancelling --------------------------------------------------------------------------- */

/* "Closing the SSE response stream MUST be treated by the server as cancellation of that request." */
BENCH_TEST(closing_the_connection_cancels)
{
	struct client *c, *other;

	other = join(b);
	modern_call(other, "park", MODERN_CALL("1", "park", "{}"));
	for (int i = 0; i < 2; i++) { /* while it would be JSON, and while it is a stream */
		c = join(b);
		modern_call(
			c, "park",
			REQUEST("1", "tools/call", LOGGING ",\"name\":\"park\",\"arguments\":{}"));
		WAIT_FOR(&b->h, n_parked == 2);
		if (i)
			cleat_request_progress(parked[1], 1, 0, "x");
		turn(b);
		hang_up(c);
		WAIT_FOR(&b->h, n_cancelled == (size_t)i + 1);
		assert_false(cleat_request_cancelled(parked[0]));
		assert_true(cleat_request_cancelled(parked[1]));
		cleat_request_finish(parked[--n_parked], CLEAT_ECANCELLED);
		turn(b);
	}
	unpark("still here");
	assert_has(expect_answer(other, 200), "still here");
	hang_up(other);
}

/* A request that took too long is answered while its handler runs on. The connection is free for the
 * next one, which has nothing to do with it. */
TEST(a_late_handler_does_not_disturb_the_next_request)
{
	static const char *const accepts[] = { "", EVENTS_ONLY };
	struct bench b;
	struct client *c;

	for (size_t i = 0; i < CLEAT_COUNT(accepts); i++) {
		bench_open_with(&b,
				&(struct bench_options){ .server = { .request_timeout_ms = 1 } });
		c = join(&b);
		send_request(c, "POST", "/mcp", modern_fields("tools/call", "park", accepts[i]),
			     MODERN_CALL("1", "park", "{}"));
		assert_has(expect_answer(c, 200), "took too long"); /* and the stream has ended */
		assert_int_equal(n_cancelled, 1);
		modern_call(c, "park", MODERN_CALL("2", "park", "{}"));
		WAIT_FOR(&b.h, n_parked == 2);
		unpark("first");
		assert_has(expect_answer(c, 200), "\"id\":2");
		modern_call(c, "echo", ECHO);
		assert_has(expect_answer(c, 200), "echo a");
		hang_up(c);
		bench_close(&b);
	}
}

/* ---- asking ------------------------------------------------------------------------------- */

#define ASK(id, more)                                                                              \
	REQUEST(id, "tools/call",                                                                  \
		MODERN_CAPS("{\"elicitation\":{}}") ",\"name\":\"ask\",\"arguments\":{}" more)
#define YES ",\"inputResponses\":{\"sure\":{\"action\":\"accept\",\"content\":{\"confirm\":true}}}"

/* Message Flow: a question is a result, its answer comes with the next request, on any connection. */
BENCH_TEST(questions_are_results)
{
	struct client *c;
	const char *body;

	c = join(b);
	modern_call(c, "ask", ASK("1", ""));
	body = expect_answer(c, 200);
	assert_has(body, "\"resultType\":\"input_required\"");
	assert_has(body, "\"inputRequests\":{\"sure\":{\"method\":\"elicitation/create\"");
	hang_up(c);
	c = join(b);
	modern_call(c, "ask", ASK("2", YES));
	assert_has(expect_answer(c, 200), "\"id\":2,\"result\"");
	hang_up(c);
}

/* ---- who ---------------------------------------------------------------------------------- */

BENCH_TEST_WITH(whoever_sends_the_request_is_its_principal, .tokens = true)
{
	static const char *const names[] = { "ann", "ann", "bob", "ann", "annabel" };
	struct client *c;

	c = join(b);
	for (size_t i = 0; i < CLEAT_COUNT(names); i++) { /* on one connection */
		char fields[128], wanted[64];

		snprintf(fields, sizeof fields, "Authorization: Bearer %s\r\n", names[i]);
		snprintf(wanted, sizeof wanted, "you are %s\"", names[i]);
		send_request(c, "POST", "/mcp", modern_fields("tools/call", "who", fields),
			     MODERN_CALL("1", "who", "{}"));
		assert_has(expect_answer(c, 200), wanted);
		assert_int_equal(b->asked, i + 1); /* once for each */
	}
	/* nobody, and nobody in particular */
	modern_call(c, "who", MODERN_CALL("1", "who", "{}"));
	assert_has(expect_answer(c, 401), "token");
	hang_up(c);
	c = join(b);
	send_request(c, "POST", "/mcp",
		     modern_fields("tools/call", "who",
				   "Authorization: Bearer ann\r\nAuthorization: Bearer bob\r\n"),
		     MODERN_CALL("1", "who", "{}"));
	expect_answer(c, 401);
	hang_up(c);
}

/* Who it is was found when the header came; what is asked about others until the body is there does not
 * change it. */
TEST(principal_stays_with_its_request)
{
	const char *text, *body;
	struct client *ann, *bob;
	struct bench b;

	bench_open_with(&b, &(struct bench_options){ .tokens = true });
	ann = join(&b);
	bob = join(&b);
	text = request_text("POST", "/mcp",
			    modern_fields("tools/call", "who", "Authorization: Bearer ann\r\n"),
			    MODERN_CALL("1", "who", "{}"));
	body = strstr(text, "\r\n\r\n") + 4;
	put_bytes(ann, text, (size_t)(body - text));
	while (b.asked == 0)
		turn(&b);
	send_request(bob, "POST", "/mcp",
		     modern_fields("tools/call", "who", "Authorization: Bearer bob\r\n"),
		     MODERN_CALL("2", "who", "{}"));
	assert_has(expect_answer(bob, 200), "you are bob\"");
	put(ann, MODERN_CALL("1", "who", "{}"));
	assert_has(expect_answer(ann, 200), "you are ann\"");
	assert_int_equal(b.asked, 2);
	hang_up(ann);
	hang_up(bob);
	bench_close(&b);
}

/* ---- other methods ------------------------------------------------------------------------ */

/* "HTTP GET or DELETE to the MCP endpoint: respond with 405 Method Not Allowed." */
TEST(only_post_is_modern)
{
	static const struct {
		const char *method, *target, *fields;
		bool only_modern;
		int status;
		const char *allow;
	} all[] = {
		{ "GET", "/mcp", MODERN_VERSION, false, 405, "POST" },
		{ "DELETE", "/mcp", MODERN_VERSION, false, 405, "POST" },
		{ "PUT", "/mcp", MODERN_VERSION, false, 405, "POST, GET, DELETE" },
		{ "GET", "/mcp", "", true, 405, "POST" },
		{ "DELETE", "/mcp", "Mcp-Session-Id: x\r\n", true, 405, "POST" },
		{ "POST", "/sse", "", false, 405, "GET" },
		{ "GET", "/messages", "", false, 405, "POST" },
		{ "GET", "/sse", "", true, 404, NULL },
		{ "GET", "/", "", false, 404, NULL },
		{ "GET", "/mcp/", "", false, 404, NULL },
		{ "GET", "/healthz", "", false, 200, NULL },
		{ "POST", "/healthz", "", false, 405, "GET, HEAD" },
		{ "OPTIONS", "/mcp", "", false, 204, "POST, GET, DELETE" },
	};
	struct bench b;

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		struct client *c;
		const struct answer *a;

		bench_open_with(
			&b, &(struct bench_options){ .mcp = { .no_sessions = all[i].only_modern,
							      .no_old_sse = all[i].only_modern } });
		c = join(&b);
		send_request(c, all[i].method, all[i].target, all[i].fields, NULL);
		a = answer_of(c);
		assert_non_null(a);
		assert_int_equal(a->status, all[i].status);
		if (all[i].allow)
			assert_string_equal(header(a, "Allow"), all[i].allow);
		hang_up(c);
		bench_close(&b);
	}
}

/* A server that speaks no other revision takes even initialize for a modern request. */
BENCH_TEST_WITH(without_sessions_nothing_is_legacy, .mcp = { .no_sessions = true })
{
	struct client *c;

	c = join(b);
	assert_lacks(ask(c, 400, "POST", "", INITIALIZE("2025-11-25", "{}")), "result");
	assert_lacks(ask(c, 400, "POST", "Mcp-Session-Id: 0123\r\n", PING("1")), "result");
	modern_call(c, "echo", ECHO);
	expect_answer(c, 200);
	assert_int_equal(stats_of(b).sessions, 0);
	hang_up(c);
}
