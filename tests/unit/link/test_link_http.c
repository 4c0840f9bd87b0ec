/* test_link_http.c - POST and what comes back for it: messages, acceptances, refusals; headers. */
#include "test.h"
#include "unit/link/link_http_rig.h"

/* ---- sending ---------------------------------------------------------------------------------- */

/* 2026-07-28 streamable-http, Sending Messages and Request Metadata. */
LINK_TEST(a_modern_request_has_its_headers)
{
	const struct http_field fields[] = {
		{ STR_LIT("Mcp-Param-Region"), STR_LIT("us-west1") },
		{ STR_LIT("Mcp-Param-Empty"), STR_LIT("") },
		{ STR_LIT("Mcp-Param-Greeting"), STR_LIT("Hello, \xE4\xB8\x96\xE7\x95\x8C") },
		{ STR_LIT("Mcp-Param-Lines"), STR_LIT("line1\nline2") },
	};
	struct link_message m = MODERN_REQUEST(1, "tools/call");
	struct asked *q;

	m.name = STR_LIT(" padded ");
	m.fields = fields;
	m.n_fields = CLEAT_COUNT(fields);
	q = rig_ask(r, m);
	expect_line(q, "POST /mcp HTTP/1.1\r\n");
	assert_string_equal(q->body, Q(1));
	expect_field(q, "Content-Type", "application/json");
	expect_field(q, "Accept", "application/json, text/event-stream");
	expect_field(q, "MCP-Protocol-Version", "2026-07-28");
	expect_field(q, "Mcp-Method", "tools/call");
	expect_field(q, "Mcp-Name", "=?base64?IHBhZGRlZCA=?=");
	expect_field(q, "Mcp-Param-Region", "us-west1");
	expect_field(q, "Mcp-Param-Empty", "");
	expect_field(q, "Mcp-Param-Greeting", "=?base64?SGVsbG8sIOS4lueVjA==?=");
	expect_field(q, "Mcp-Param-Lines", "=?base64?bGluZTEKbGluZTI=?=");
	expect_field(q, "Mcp-Session-Id", NULL);
	reply_json(r, q, A(1));
	expect_message(r, TAG(1), 200, A(1));
}

LINK_TEST(what_cannot_be_in_a_header_is_not_sent)
{
	const struct http_field field = { STR_LIT("Mcp-Param-\r\nX"), STR_LIT("v") };
	struct link_message m = MODERN_REQUEST(1, "tools/call"), odd = MODERN_REQUEST(2, "a\r\nb");

	m.fields = &field;
	m.n_fields = 1;
	assert_int_equal(rig_send(r, m, Q(1)), CLEAT_EINVAL);
	assert_int_equal(rig_send(r, odd, Q(1)), CLEAT_EINVAL);
	assert_true(nobody_asks(r));
	expect_nothing_told(r);
}

/* 2025-11-25 basic/transports, Session Management and Protocol Version Header. */
LINK_TEST(a_session_is_named_from_initialize_on)
{
	struct asked *q;

	rig_session(r, "abc~!1");
	q = rig_ask(r, LEGACY_REQUEST(1));
	expect_field(q, "Mcp-Session-Id", "abc~!1");
	expect_field(q, "MCP-Protocol-Version", "2025-11-25");
	expect_field(q, "Mcp-Method", NULL);
	reply_json(r, q, A(1));
	expect_message(r, TAG(1), 200, A(1));
	/* A modern request has no session, whatever there is. */
	q = rig_ask(r, MODERN_REQUEST(2, "ping"));
	expect_field(q, "Mcp-Session-Id", NULL);
	reply_json(r, q, A(2));
	expect_message(r, TAG(2), 200, A(2));
	/* A new initialize is "without a session ID attached", and brings another. */
	rig_session(r, "def");
	q = rig_ask(r, LEGACY_REQUEST(1));
	expect_field(q, "Mcp-Session-Id", "def");
	reply_json(r, q, A(1));
	expect_message(r, TAG(1), 200, A(1));
	r->link->ops->reset(r->link);
	expect_field(rig_ask(r, LEGACY_REQUEST(1)), "Mcp-Session-Id", NULL);
}

LINK_TEST_EACH(a_session_id_that_is_none_is_refused, 3)
{
	static char longest[1026];
	const char *bad[] = { "a b", "\xC3\xA9", longest };
	const struct link_message m = {
		.kind = LINK_REQUEST, .tag = TAG(1), .initialize = true, .rev = REV_NONE
	};
	char fields[1200];

	memset(longest, 'x', sizeof longest - 1);
	snprintf(fields, sizeof fields, JSON_TYPE "Mcp-Session-Id: %s\r\n", bad[i]);
	reply(r, rig_ask(r, m), "200 OK", fields, A(1));
	expect_failed(r, TAG(1), CLEAT_STEP_PROTOCOL);
	expect_field(rig_ask(r, LEGACY_REQUEST(1)), "Mcp-Session-Id", NULL);
}

LINK_TEST_PLAIN(configured_headers_and_the_token_are_sent)
{
	const char *const headers[] = { "X-One: 1", "X-Two:two words ", "Cookie: a=b", NULL };
	struct asked *q;

	rig_start_with(r, (struct link_http_options){ .headers = headers, .bearer = "s3cr3t" });
	rig_session(r, "s");
	r->link->ops->listen(r->link);
	q = next_asked(r);
	expect_line(q, "GET /mcp HTTP/1.1\r\n");
	for (int i = 0; i < 2; i++) {
		expect_field(q, "Authorization", "Bearer s3cr3t");
		expect_field(q, "X-One", "1");
		expect_field(q, "X-Two", "two words");
		expect_field(q, "Cookie", "a=b");
		q = rig_ask(r, LEGACY_REQUEST(1));
	}
}

LINK_TEST_PLAIN(an_authorization_of_another_kind_may_be_configured)
{
	const char *const headers[] = { "authorization: Basic dTpw", NULL };

	rig_start_with(r, (struct link_http_options){ .headers = headers });
	expect_field(rig_ask(r, LEGACY_REQUEST(1)), "authorization", "Basic dTpw");
}

LINK_TEST_PLAIN(options_that_cannot_work_are_refused)
{
	static const struct {
		const char *url, *header, *bearer, *reason;
	} cases[] = {
		{ NULL, "Content-Length: 3", NULL, "Content-Length" },
		{ NULL, "host: x", NULL, "host" },
		{ NULL, "Mcp-Session-ID: x", NULL, "Mcp-Session-ID" },
		{ NULL, "MCP-Protocol-Version: 2025-11-25", NULL, "MCP-Protocol-Version" },
		{ NULL, "Mcp-Param-Region: x", NULL, "Mcp-Param-Region" },
		{ NULL, "Accept: */*", NULL, "Accept" },
		{ NULL, "Transfer-Encoding: chunked", NULL, "Transfer-Encoding" },
		{ NULL, "Last-Event-ID: 1", NULL, "Last-Event-ID" },
		{ NULL, "X-A: b\r\nX-C: d", NULL, "X-A" },
		{ NULL, "no colon", NULL, "Name: value" },
		{ NULL, "X A: b", NULL, "Name: value" },
		{ NULL, ": b", NULL, "Name: value" },
		{ NULL, "Authorization: Basic x", "token", "Authorization" },
		{ NULL, NULL, "two words", "token" },
		{ NULL, NULL, "line\n", "token" },
		{ NULL, NULL, "", "token" },
		{ "ftp://h/", NULL, NULL, "http" },
		{ "http:///mcp", NULL, NULL, "http" },
		{ "localhost:80", NULL, NULL, "http" },
		{ "http://h/ x", NULL, NULL, "http" },
		{ "", NULL, NULL, "http" },
		{ "http://user:pw@h/", NULL, NULL, "password" },
	};

	rig_base_open(r);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *headers[] = { cases[i].header, NULL };
		struct link_http_options o = { .url = cases[i].url,
					       .headers = headers,
					       .bearer = cases[i].bearer };
		cleat_error err = { 0 };

		assert_false(rig_link_with(r, rig_base(r), o, &err));
		assert_int_equal(err.status, CLEAT_EINVAL);
		if (!strstr(err.message, cases[i].reason)) {
			print_error("%zu: %s\n", i, err.message);
			fail();
		}
		assert_null(strstr(err.message, "pw@"));
	}
}

/* ---- answers ---------------------------------------------------------------------------------- */

LINK_TEST(events_of_an_answer_are_messages_until_the_response)
{
	struct asked *q;

	q = rig_ask(r, MODERN_REQUEST(1, "x"));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, ": comment\n\nid: 1\ndata:\n\ndata: " N(a) "\n\nevent: message\ndata: ");
	say_chunk(r, q, N(b) "\n\nevent: other\ndata: x\n\nevent: endpoint\ndata: /x\n\n");
	expect_message(r, TAG(1), 0, N(a));
	expect_message(r, TAG(1), 0, N(b));
	say_chunk(r, q, "data: " A(1) "\n\ndata: " N(late) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
	say_chunk(r, q, "data: " N(later) "\n\n");
	say_end(r, q);
	expect_nothing_told(r);
	/* The connection is used again, since its stream ended in order. */
	assert_ptr_equal(rig_ask(r, MODERN_REQUEST(2, "x"))->c, q->c);
}

/* A server that keeps a stream open after the answer is left alone after a while. */
LINK_TEST(a_stream_that_goes_on_after_the_answer_is_cut)
{
	struct asked *q;

	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, "id: 7\ndata: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
	expect_hung_up(r, q);
	assert_true(nobody_asks(r)); /* and nothing is resumed */
	expect_nothing_told(r);
}

/* What follows an answer is not read for ever, nor are there many such streams at a time. */
LINK_TEST_PLAIN(what_follows_answers_is_bounded)
{
	static char more[70000];
	struct asked *q;
	size_t open = 0;

	memset(more, ':', sizeof more - 1);
	rig_start(r);
	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, EVENTS_OPEN "data: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
	say(r, q, more);
	expect_hung_up(r, q);
	for (int i = 0; i < 70; i++) {
		q = rig_ask(r, LEGACY_REQUEST(1));
		say(r, q, EVENTS_OPEN "data: " A(1) "\n\n");
		expect_message(r, TAG(1), 0, A(1));
		for (size_t k = open = 0; k < ORIGIN_LINES; k++)
			open += r->o.lines[k] && !r->o.lines[k]->eof;
		assert_true(open <= 65);
	}
}

static const struct {
	const char *text;
	bool ends;
} responses[] = {
	{ "{\"id\":1,\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"method\"}}", true },
	{ "{\"result\":{\"method\":1}}", true },
	{ "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},{\"id\":1,\"result\":{}}]", true },
	{ "{\"id\":\"1\",\"result\":{}}", true },
	{ "{\"id\":2,\"result\":{}}", false }, /* another request's */
	{ "{\"id\":\"x\",\"error\":{}}", false },
	{ "[{\"id\":2,\"result\":{}}]", false },
	{ "{\"method\":\"x\",\"params\":{\"result\":1}}", false },
	{ "{\"a\":\"\\\"result\\\":\"}", false },
	{ "{\"a\":[\"result\",{\"error\":1}],\"b\":\"result\"}", false },
	{ "{\"result\" : 1", false },
	{ "garbage", false },
	{ "[]", false },
	{ "\"result\"", false },
	{ "{\"a\":\"\\", false },
};

LINK_TEST_EACH(a_response_is_told_from_other_messages, CLEAT_COUNT(responses))
{
	struct asked *q;
	char event[256];

	q = rig_ask(r, MODERN_REQUEST(1, "x"));
	say(r, q, EVENTS_HEAD);
	snprintf(event, sizeof event, "data: %s\n\n", responses[i].text);
	say_chunk(r, q, event);
	expect_message(r, TAG(1), 0, responses[i].text);
	say_end(r, q);
	if (responses[i].ends)
		expect_nothing_told(r);
	else
		expect_failed(r, TAG(1), CLEAT_STEP_EXCHANGE);
}

static const struct {
	const char *status, *fields, *body;
	enum cleat_step step; /* NONE: a message */
	int error;
	const char *part;
} statuses[] = {
	{ "400 Bad Request", JSON_TYPE,
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,\"message\":\"m\"}}",
	  CLEAT_STEP_NONE, 0, NULL },
	{ "404 Not Found", JSON_TYPE,
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"m\"}}",
	  CLEAT_STEP_NONE, 0, NULL },
	{ "500 Oops", "Content-Type: text/plain\r\n",
	  " {\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}", CLEAT_STEP_NONE, 0,
	  NULL },
	{ "400 Bad Request", JSON_TYPE, "{\"error\":\"bad\"}", CLEAT_STEP_HTTP, CLEAT_EREMOTE,
	  "{\"error\":\"bad\"}" },
	{ "400 Bad Request", JSON_TYPE, "{\"error\":{\"message\":\"what is this?\"}}",
	  CLEAT_STEP_HTTP, CLEAT_EREMOTE, "400: \"what is this?\"" },
	{ "400 Bad Request", "", "", CLEAT_STEP_HTTP, CLEAT_EREMOTE, "answered 400" },
	{ "404 Not Found", "Content-Type: text/html\r\n", "<h1>\x01\n\n  gone\xFF</h1>\n",
	  CLEAT_STEP_HTTP, CLEAT_EREMOTE, "404: \"<h1> gone </h1>\"; is this" },
	{ "405 No", "", "", CLEAT_STEP_HTTP, CLEAT_EREMOTE, "endpoint" },
	{ "503 Busy", "Retry-After: 17\r\n", "", CLEAT_STEP_HTTP, CLEAT_EREMOTE, "17 s" },
	{ "429 Slow", "Retry-After: 3\r\n", "", CLEAT_STEP_HTTP, CLEAT_EREMOTE, "3 s" },
	{ "401 Who", "", "", CLEAT_STEP_AUTH, CLEAT_EREMOTE, "bearer token" },
	{ "401 Who",
	  "WWW-Authenticate: Bearer resource_metadata=\"http://x/y\", "
	  "error_description=\"Expired, \\\"really\\\"\", scope=\"a b\"\r\n",
	  "", CLEAT_STEP_AUTH, CLEAT_EREMOTE, "Expired, \\\"really\\\"; scope: a b" },
	{ "401 Who", "WWW-Authenticate: Bearer x=\"scope=\", error=\"invalid_token\"\r\n", "",
	  CLEAT_STEP_AUTH, CLEAT_EREMOTE, ": invalid_token" },
	{ "403 No", JSON_TYPE, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}",
	  CLEAT_STEP_AUTH, CLEAT_EREMOTE, "not allowed" },
	{ "202 Accepted", "", "", CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, "does not answer" },
	{ "200 OK", JSON_TYPE, "", CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, "without a message" },
	{ "200 OK", "Content-Type: text/html\r\n", "<p>hi", CLEAT_STEP_PROTOCOL, CLEAT_EPROTO,
	  "text/html" },
	{ "200 OK", "", "{}", CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, "no type" },
};

LINK_TEST_EACH(statuses_are_what_they_say, CLEAT_COUNT(statuses))
{
	struct told *t;

	reply(r, rig_ask(r, MODERN_REQUEST(1, "x")), statuses[i].status, statuses[i].fields,
	      statuses[i].body);
	if (statuses[i].step == CLEAT_STEP_NONE) {
		expect_message(r, TAG(1), atoi(statuses[i].status), statuses[i].body);
	} else {
		t = expect_failed(r, TAG(1), statuses[i].step);
		assert_int_equal(t->why.error.status, statuses[i].error);
		assert_int_equal(t->status, atoi(statuses[i].status));
		assert_false(t->why.session_lost);
		expect_text(t, statuses[i].part);
	}
	expect_nothing_told(r);
}

/* JSON and events are UTF-8, whatever the server calls it; that is remarked once. */
LINK_TEST(an_answer_is_utf8_whatever_its_charset)
{
	static const char *const charsets[] = { "utf8", "us-ascii", "ISO-8859-1", "utf-16" };
	char fields[100];
	struct asked *q;

	for (size_t k = 0; k < CLEAT_COUNT(charsets); k++) {
		snprintf(fields, sizeof fields, "Content-Type: application/json; charset=%s\r\n",
			 charsets[k]);
		reply(r, rig_ask(r, MODERN_REQUEST(1, "x")), "200 OK", fields, A(1));
		if (k == 0)
			expect_text(expect_told(r, TOLD_NOTE),
				    "charset=utf8\"; it is read as UTF-8");
		expect_message(r, TAG(1), 200, A(1));
	}
	q = rig_ask(r, MODERN_REQUEST(1, "x"));
	say(r, q,
	    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream;charset=latin1\r\n\r\ndata: " A(
		    1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
}

/* 2025-11-25 Session Management 4, whatever else the answer says. */
LINK_TEST(status_404_for_a_session_says_that_it_is_lost)
{
	struct told *t;

	rig_session(r, "s");
	reply(r, rig_ask(r, LEGACY_REQUEST(1)), "404 Not Found", JSON_TYPE,
	      "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"m\"}}");
	t = expect_failed(r, TAG(1), CLEAT_STEP_HTTP);
	assert_true(t->why.session_lost);
	assert_int_equal(t->status, 404);
	assert_int_equal(rig_send(r, NOTICE(2), N(a)), CLEAT_OK);
	reply(r, next_asked(r), "404 Not Found", "", "");
	t = expect_failed(r, TAG(2), CLEAT_STEP_HTTP);
	assert_true(t->why.session_lost);
}

LINK_TEST(notices_and_answers_are_accepted_or_not)
{
	const struct link_message silent = { .kind = LINK_NOTICE, .rev = REV_2025_11_25 };
	const struct link_message answer = { .kind = LINK_ANSWER,
					     .tag = TAG(9),
					     .rev = REV_2025_11_25 };

	assert_int_equal(rig_send(r, NOTICE(1), N(a)), CLEAT_OK);
	reply(r, next_asked(r), "202 Accepted", "", "");
	assert_ptr_equal(expect_told(r, TOLD_ACCEPTED)->tag, TAG(1));
	assert_int_equal(rig_send(r, NOTICE(1), N(a)), CLEAT_OK);
	reply_json(r, next_asked(r), "{\"result\":{}}");
	assert_ptr_equal(expect_told(r, TOLD_ACCEPTED)->tag, TAG(1));
	assert_int_equal(rig_send(r, NOTICE(1), N(a)), CLEAT_OK);
	reply(r, next_asked(r), "400 Bad", "", "why not");
	expect_text(expect_failed(r, TAG(1), CLEAT_STEP_HTTP), "why not");
	assert_int_equal(rig_send(r, silent, N(a)), CLEAT_OK);
	reply(r, next_asked(r), "202 Accepted", "", "");
	expect_nothing_told(r);
	assert_int_equal(rig_send(r, silent, N(a)), CLEAT_OK);
	reply(r, next_asked(r), "400 Bad", "", "");
	expect_text(expect_told(r, TOLD_NOTE), "notification");
	assert_int_equal(rig_send(r, answer, A(1)), CLEAT_OK);
	reply(r, next_asked(r), "202 Accepted", "", "");
	expect_nothing_told(r);
	assert_int_equal(rig_send(r, answer, A(1)), CLEAT_OK);
	hang_up_on(next_asked(r));
	expect_text(expect_told(r, TOLD_NOTE), "answer");
}

/* ---- giving up -------------------------------------------------------------------------------- */

/* 2026-07-28 streamable-http, Cancellation: closing is how the server learns it. */
LINK_TEST(what_is_forgotten_is_closed_and_never_told)
{
	struct asked *q, *other;

	q = rig_ask(r, MODERN_REQUEST(1, "x"));
	other = rig_ask(r, MODERN_REQUEST(2, "x"));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, "data: " N(a) "\n\n");
	expect_message(r, TAG(1), 0, N(a));
	r->link->ops->forget(r->link, TAG(1));
	r->link->ops->forget(r->link, TAG(1));
	r->link->ops->forget(r->link, NULL);
	expect_hung_up(r, q);
	reply_json(r, other, A(2));
	expect_message(r, TAG(2), 200, A(2));
	expect_nothing_told(r);
}

LINK_TEST(close_deletes_the_session)
{
	struct asked *q, *del;

	rig_session(r, "s1");
	q = rig_ask(r, LEGACY_REQUEST(1));
	assert_int_equal(rig_send(r, NOTICE(2), N(cancelled)), CLEAT_OK);
	r->link->ops->close(r->link);
	assert_int_equal(rig_send(r, NOTICE(2), N(a)), CLEAT_ECLOSED);
	expect_hung_up(r, q);
	q = next_asked(r); /* what was sent before still leaves */
	assert_string_equal(q->body, N(cancelled));
	reply(r, q, "202 Accepted", "", "");
	del = next_asked(r);
	expect_line(del, "DELETE /mcp HTTP/1.1\r\n");
	expect_field(del, "Mcp-Session-Id", "s1");
	expect_field(del, "MCP-Protocol-Version", "2025-11-25");
	reply(r, del, "405 No", "", "");
	expect_told(r, TOLD_CLOSED);
	expect_nothing_told(r);
}

/* Without a session there is nothing to wait for. */
LINK_TEST_EACH(close_ends_in_bounded_time, 2)
{
	uint64_t began = loop_now();

	if (i) {
		rig_session(r, "s1");
		assert_int_equal(rig_send(r, NOTICE(2), N(cancelled)), CLEAT_OK);
	} else {
		assert_int_equal(rig_send(r, LEGACY_REQUEST(1), Q(1)), CLEAT_OK);
	}
	r->link->ops->close(r->link);
	expect_told(r, TOLD_CLOSED);
	assert_true(loop_now() - began >= (i ? 1900 : 0));
}

LINK_TEST(there_are_at_most_1024_exchanges)
{
	close(r->o.ear);
	r->o.ear = -1;
	for (int i = 0; i < 1024; i++)
		assert_int_equal(rig_send(r, MODERN_REQUEST(1, "x"), Q(1)), CLEAT_OK);
	assert_int_equal(rig_send(r, MODERN_REQUEST(2, "x"), Q(1)), CLEAT_ELIMIT);
	r->link->ops->forget(r->link, TAG(1));
	assert_int_equal(rig_send(r, MODERN_REQUEST(2, "x"), Q(1)), CLEAT_OK);
	rig_close_link(r);
}

/* ---- reentry ---------------------------------------------------------------------------------- */

static void free_at(struct rig_link *r, struct told *t)
{
	(void)t;
	rig_close_link(r);
}

static void forget_at(struct rig_link *r, struct told *t)
{
	r->link->ops->forget(r->link, t->tag);
}

static void send_at(struct rig_link *r, struct told *t)
{
	struct link_message m = MODERN_REQUEST(1, "x");

	r->on_told = NULL;
	m.tag = t->tag;
	m.text = STR_LIT(Q(2));
	assert_int_equal(r->link->ops->send(r->link, &m), CLEAT_OK);
}

static void (*const calls[])(struct rig_link *, struct told *) = { free_at, forget_at, send_at };
static const char *const answers[] = {
	EVENTS_OPEN "data: " N(a) "\n\ndata: " A(1) "\n\n",
	EVENTS_OPEN "data: " A(1) "\n\ndata: " N(a) "\n\n",
	"HTTP/1.1 200 OK\r\n" JSON_TYPE "\r\n" A(1),
	"HTTP/1.1 500 Oops\r\n\r\n" A(1),
	"HTTP/1.1 500 Oops\r\n\r\ntext",
	"HTTP/1.1 202 Accepted\r\n\r\n",
	"HTTP/1.1 200 OK\r\n" JSON_TYPE "Content-Length: 100\r\n\r\n" A(1),
	"nonsense",
};

LINK_TEST_EACH(everything_may_be_called_from_events, CLEAT_COUNT(answers) * CLEAT_COUNT(calls))
{
	struct asked *q = rig_ask(r, MODERN_REQUEST(1, "x"));

	r->on_told = calls[i % CLEAT_COUNT(calls)];
	say(r, q, answers[i / CLEAT_COUNT(calls)]);
	hang_up_on(q);
	RIG_WAIT(r, r->n_told > r->taken);
	r->on_told = NULL;
	if (r->link && calls[i % CLEAT_COUNT(calls)] == send_at)
		assert_string_equal(next_asked(r)->body, Q(2));
}
