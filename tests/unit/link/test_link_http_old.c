/* test_link_http_old.c - HTTP+SSE (2024-11-05 basic/transports): one stream for all that the server says,
 * and an endpoint for messages that it names.
 */
#include "test.h"
#include "unit/link/link_http_rig.h"

#define STREAM EVENTS_OPEN

static const struct link_message initialize = {
	.kind = LINK_REQUEST, .tag = TAG(1), .rev = REV_NONE, .initialize = true
};

/* A test that waits for it has a short one: long enough for a slow machine. */
enum { LIMIT_MS = 20000, SHORT_MS = 1000 };

static void old_new(struct rig_link *r, unsigned connect_ms)
{
	struct link_base_options base;

	rig_base_open(r);
	base = rig_base(r);
	base.connect_ms = connect_ms;
	assert_true(rig_link_with(r, base, (struct link_http_options){ .old_sse = true }, NULL));
}

/* Opens it, and gives what the server is asked. */
static struct asked *old_open(struct rig_link *r)
{
	r->link->ops->open(r->link);
	return next_asked(r);
}

static struct asked *old_start(struct rig_link *r, const char *events)
{
	struct asked *q;

	old_new(r, LIMIT_MS);
	q = old_open(r);
	expect_line(q, "GET /mcp HTTP/1.1\r\n");
	expect_field(q, "Accept", "text/event-stream");
	say(r, q, STREAM);
	say(r, q, events);
	return q;
}

LINK_TEST_PLAIN(messages_go_to_the_endpoint_and_answers_come_as_events)
{
	static const char *const accepted[] = { "202 Accepted", "200 OK", "204 None" };
	struct asked *stream, *q;

	stream = old_start(r, ": hello\n\nevent: endpoint\ndata: /messages?sessionId=1\n\n");
	expect_up(r);
	for (size_t i = 0; i < CLEAT_COUNT(accepted); i++) {
		q = rig_ask(r, initialize);
		expect_line(q, "POST /messages?sessionId=1 HTTP/1.1\r\n");
		expect_field(q, "Content-Type", "application/json");
		assert_string_equal(q->body, Q(1));
		reply(r, q, accepted[i], JSON_TYPE, i == 1 ? A(1) : ""); /* that is ignored */
		say(r, stream, "event: message\ndata: " A(1) "\n\n");
		expect_message(r, NULL, 0, A(1));
	}
	assert_int_equal(rig_send(r, NOTICE(2), N(a)), CLEAT_OK);
	reply(r, next_asked(r), "202 Accepted", "", "Accepted");
	assert_ptr_equal(expect_told(r, TOLD_ACCEPTED)->tag, TAG(2));
	r->link->ops->listen(r->link); /* it is already there */
	say(r, stream, "event: endpoint\ndata: http://elsewhere/\n\ndata: " N(b) "\n\n");
	expect_message(r, NULL, 0, N(b));
	assert_int_equal(r->link->ops->fall_back(r->link), CLEAT_EUNSUPPORTED);
	r->link->ops->close(r->link);
	expect_told(r, TOLD_CLOSED);
	expect_hung_up(r, stream);
}

LINK_TEST_PLAIN(a_request_that_is_refused_fails)
{
	old_start(r, "event: endpoint\ndata: messages\n\n");
	expect_told(r, TOLD_UP);
	reply(r, rig_ask(r, initialize), "400 Bad", "", "why");
	expect_text(expect_failed(r, TAG(1), CLEAT_STEP_HTTP), "why");
	reply(r, rig_ask(r, initialize), "401 Who", "", "");
	expect_failed(r, TAG(1), CLEAT_STEP_AUTH);
}

/* An endpoint is resolved as RFC 3986 says, and has to be of the same origin. */
TEST(the_endpoint_is_of_the_same_origin)
{
	static const struct {
		const char *before, *after; /* the port, where there is something after it */
		const char *path;           /* NULL: refused */
	} cases[] = {
		{ "/m", NULL, "/m" },
		{ "m", NULL, "/m" },
		{ "?s=1", NULL, "/mcp?s=1" },
		{ "http://127.0.0.1:", "/m", "/m" },
		{ "HTTP://127.0.0.1:", "/a/../m#f", "/m" },
		{ "//127.0.0.1:", "/m", "/m" },
		{ " /m ", NULL, "/m" },
		{ "http://127.0.0.1:1/m", NULL, NULL },
		{ "http://127.0.0.1/m", NULL, NULL },
		{ "http://localhost:", "/m", NULL },
		{ "https://127.0.0.1:", "/m", NULL },
		{ "//evil.example/m", NULL, NULL },
		{ "http://u:p@127.0.0.1:", "/m", NULL },
		{ "file:///etc/passwd", NULL, NULL },
		{ "/m\\x y", NULL, NULL },
		{ "http://127.0.0.1:", "@evil/", NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig_link r;
		struct asked *q;
		struct told *t;
		char port[16], line[128];

		old_new(&r, LIMIT_MS);
		q = old_open(&r);
		say(&r, q, STREAM "event: endpoint\ndata: ");
		say(&r, q, cases[i].before);
		snprintf(port, sizeof port, "%u", r.o.port);
		say(&r, q, cases[i].after ? port : "");
		say(&r, q, cases[i].after ? cases[i].after : "");
		say(&r, q, "\n\n");
		t = expect_told(&r, TOLD_UP);
		if (cases[i].path) {
			assert_int_equal(t->why.error.status, CLEAT_OK);
			assert_int_equal(rig_send(&r, initialize, Q(1)), CLEAT_OK);
			snprintf(line, sizeof line, "POST %s HTTP/1.1\r\n", cases[i].path);
			expect_line(next_asked(&r), line);
		} else {
			assert_int_equal(t->why.step, CLEAT_STEP_PROTOCOL);
			assert_int_equal(t->why.error.status, CLEAT_EPROTO);
			assert_int_equal(rig_send(&r, initialize, Q(1)), CLEAT_ECLOSED);
			expect_hung_up(&r, q);
		}
		rig_done(&r);
	}
}

TEST(what_is_no_such_stream_is_not_up)
{
	static const struct {
		const char *answer;
		enum cleat_step step;
		int status;
	} cases[] = {
		{ "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", CLEAT_STEP_HTTP, 404 },
		{ "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", CLEAT_STEP_HTTP, 405 },
		{ "HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n", CLEAT_STEP_AUTH, 401 },
		{ "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
		  CLEAT_STEP_PROTOCOL, 200 },
		{ STREAM "data: " A(1) "\n\n", CLEAT_STEP_PROTOCOL, 200 },
		{ "HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Content-Length: 0\r\n\r\n",
		  CLEAT_STEP_EXCHANGE, 0 },
		{ STREAM ": nothing\n\n", CLEAT_STEP_TIMEOUT, 200 },
		{ "", CLEAT_STEP_TIMEOUT, 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig_link r;
		struct told *t;
		struct asked *q;

		old_new(&r, cases[i].step == CLEAT_STEP_TIMEOUT ? SHORT_MS : LIMIT_MS);
		q = old_open(&r);
		say(&r, q, cases[i].answer);
		t = expect_told(&r, TOLD_UP);
		assert_int_equal(t->why.step, cases[i].step);
		assert_int_equal(t->status, cases[i].status);
		/* And it can be tried again. */
		q = old_open(&r);
		say(&r, q, STREAM "event: endpoint\ndata: /m\n\n");
		expect_up(&r);
		rig_done(&r);
	}
}

/* Everything that was under way has ended with the stream; a new one is a new session. */
TEST(the_end_of_the_stream_is_the_end_of_the_session)
{
	struct rig_link r;
	struct asked *stream, *q;

	for (int refused = 0; refused < 2; refused++) {
		stream = old_start(&r, "event: endpoint\ndata: /m?1\n\n");
		expect_told(&r, TOLD_UP);
		q = rig_ask(&r, initialize);
		if (refused) /* the endpoint does not know this session any more */
			reply(&r, q, "404 Not Found", "", "");
		else
			hang_up_on(stream);
		expect_told(&r, TOLD_DOWN);
		expect_nothing_told(&r);
		assert_int_equal(rig_send(&r, initialize, Q(1)), CLEAT_ECLOSED);
		say(&r, old_open(&r), STREAM "event: endpoint\ndata: /m?2\n\n");
		expect_up(&r);
		expect_line(rig_ask(&r, initialize), "POST /m?2 ");
		rig_done(&r);
	}
}

/* The connection is the session: another session needs another one. */
LINK_TEST_PLAIN(a_session_that_has_begun_is_given_up_with_its_stream)
{
	struct asked *stream;

	stream = old_start(r, "event: endpoint\ndata: /m?1\n\n");
	expect_told(r, TOLD_UP);
	r->link->ops->reset(r->link); /* nothing has begun yet */
	assert_int_equal(rig_send(r, initialize, Q(1)), CLEAT_OK);
	r->link->ops->reset(r->link);
	r->link->ops->reset(r->link);
	assert_int_equal(rig_send(r, initialize, Q(1)), CLEAT_ECLOSED);
	expect_told(r, TOLD_DOWN);
	expect_hung_up(r, stream);
	expect_nothing_told(r);
	say(r, old_open(r), STREAM "event: endpoint\ndata: /m?2\n\n");
	expect_up(r);
}

LINK_TEST_PLAIN(an_event_over_the_limit_ends_the_stream)
{
	static char large[(1 << 20) + 4096];
	struct asked *stream;

	memset(large, 'x', sizeof large - 1);
	stream = old_start(r, "event: endpoint\ndata: /m\n\ndata: ");
	expect_told(r, TOLD_UP);
	say(r, stream, large);
	assert_null(expect_told(r, TOLD_OVERSIZE)->tag);
	assert_int_equal(expect_told(r, TOLD_DOWN)->why.error.status, CLEAT_ELIMIT);
}

/* 2025-11-25 Backwards Compatibility: POST first, then this. */
LINK_TEST(a_link_falls_back_to_it)
{
	struct asked *q;

	rig_session(r, "s");
	reply(r, rig_ask(r, LEGACY_REQUEST(1)), "405 No", "", "");
	expect_failed(r, TAG(1), CLEAT_STEP_HTTP);
	assert_int_equal(r->link->ops->fall_back(r->link), CLEAT_OK);
	q = next_asked(r);
	expect_line(q, "GET /mcp ");
	expect_field(q, "Mcp-Session-Id", NULL);
	expect_field(q, "MCP-Protocol-Version", NULL);
	say(r, q, STREAM "event: endpoint\ndata: /m\n\n");
	expect_up(r);
	q = rig_ask(r, initialize);
	expect_line(q, "POST /m ");
	reply(r, q, "202 Accepted", "", "");
}
