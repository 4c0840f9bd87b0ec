/* test_link_http_stream.c - streams of events over HTTP: resuming an answer that broke off, and the
 * stream for what the server says unasked (2025-11-25 basic/transports).
 */
#include "test.h"
#include "unit/link/link_http_rig.h"

/* Sends a request and gives it a stream that has begun like this and then ends. */
static void broken_answer(struct rig_link *r, const char *events)
{
	struct asked *q;

	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, events);
	say_end(r, q);
}

/* ---- resuming --------------------------------------------------------------------------------- */

/* "The client MUST respect the retry field" (and waits no longer, when nothing was wrong). */
LINK_TEST(a_stream_is_resumed_after_the_time_that_the_server_says)
{
	struct asked *q;
	uint64_t began;

	rig_session(r, "s");
	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, "id: event-1\nretry: 500\ndata: \n\n");
	began = loop_now();
	say_end(r, q);
	q = next_asked(r);
	assert_true(loop_now() - began >= 499);
	assert_int_equal(r->drawn, 0); /* no jitter */
	expect_line(q, "GET /mcp HTTP/1.1\r\n");
	expect_field(q, "Last-Event-ID", "event-1");
	expect_field(q, "Accept", "text/event-stream");
	expect_field(q, "Mcp-Session-Id", "s");
	expect_field(q, "MCP-Protocol-Version", "2025-11-25");
	expect_field(q, "Content-Type", NULL);
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, "id: event-2\ndata: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
	say_end(r, q);
	assert_true(nobody_asks(r));
	expect_nothing_told(r);
}

LINK_TEST(without_retry_a_second_passes)
{
	uint64_t began;

	broken_answer(r, "id: 1\n\n"); /* an id without data is a position, too */
	began = loop_now();
	expect_field(next_asked(r), "Last-Event-ID", "1");
	assert_true(loop_now() - began >= 990);
	assert_int_equal(r->drawn, 0);
}

/* Two attempts in vain are the end; an event makes them count anew. */
static const char *const vain[] = {
	"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Content-Length: 0\r\n\r\n",
	"HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Content-Length: 9\r\n\r\n:ping\n",
	"",
};

LINK_TEST_EACH(attempts_in_vain_are_bounded, CLEAT_COUNT(vain))
{
	struct asked *q;
	struct told *t;

	broken_answer(r, "retry: 0\nid: 1\ndata: " N(a) "\n\n");
	for (int k = 0; k < 4; k++) {
		q = next_asked(r);
		expect_field(q, "Last-Event-ID", k < 2 ? "1" : "2");
		if (k == 1)
			say(r, q, EVENTS_OPEN "id: 2\ndata: " N(b) "\n\n");
		else
			say(r, q, vain[i]);
		hang_up_on(q);
	}
	expect_message(r, TAG(1), 0, N(a));
	expect_message(r, TAG(1), 0, N(b));
	t = expect_failed(r, TAG(1), CLEAT_STEP_EXCHANGE);
	assert_false(t->why.unsent);
	assert_true(nobody_asks(r));
}

/* Full jitter: between 100 ms and what 1.5 times as much every time comes to, never before `retry`. */
static const struct {
	uint32_t random;
	const char *first;
	uint64_t least;
} waits[] = {
	{ 0, "retry: 0\nid: 1\n\n", 99 },
	{ 600, "retry: 0\nid: 1\n\n", 699 },
	{ 0, "retry: 300\nid: 1\n\n", 299 },
};

LINK_TEST_EACH(later_attempts_wait_longer, CLEAT_COUNT(waits))
{
	uint64_t began;

	r->random = waits[i].random;
	broken_answer(r, waits[i].first);
	reply(r, next_asked(r), "503 Busy", "", "");
	began = loop_now();
	next_asked(r);
	assert_true(loop_now() - began >= waits[i].least);
	assert_int_equal(r->drawn, 1);
}

static const struct {
	const char *events;
	bool modern;
} lost[] = {
	{ "id: 1\nretry: 0\ndata: " N(a) "\n\n", true }, /* 2026-07-28: "not supported" */
	{ "retry: 0\ndata: " N(a) "\n\n", false },
	{ "id: 1\nretry: 0\ndata: " N(a) "\n\nid\n\n", false }, /* taken back */
	{ "id: a\x01z\nretry: 0\ndata: " N(a) "\n\n", false },
	{ "id:  a\nretry: 0\ndata: " N(a) "\n\n", false },
	{ "id: a \nretry: 0\ndata: " N(a) "\n\n", false },
};

LINK_TEST_EACH(what_cannot_be_resumed_fails_at_once, 2 * CLEAT_COUNT(lost))
{
	struct asked *q;

	q = rig_ask(r, lost[i / 2].modern ? MODERN_REQUEST(1, "x") : LEGACY_REQUEST(1));
	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, lost[i / 2].events);
	expect_message(r, TAG(1), 0, N(a));
	if (i % 2) /* in order */
		say_end(r, q);
	else
		hang_up_on(q);
	expect_failed(r, TAG(1), CLEAT_STEP_EXCHANGE);
	assert_true(nobody_asks(r));
}

/* WHATWG HTML 9.2.3: the id goes back as it came. */
LINK_TEST_EACH(odd_ids_go_back_as_they_came, 5)
{
	static char longest[1025];
	const char *ids[] = { "a b,c;\"d\"=?", "\xC3\xA9\xE4\xB8\x96", "0", ":", longest };
	char events[1200];

	memset(longest, 'i', sizeof longest - 1);
	snprintf(events, sizeof events, "retry: 0\nid: %s\n\n", ids[i]);
	broken_answer(r, events);
	expect_field(next_asked(r), "Last-Event-ID", ids[i]);
}

static const struct {
	const char *answer;
	enum cleat_step step;
	int status;
} refusals[] = {
	{ "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", CLEAT_STEP_EXCHANGE, 404 },
	{ "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", CLEAT_STEP_EXCHANGE, 405 },
	{ "HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n", CLEAT_STEP_AUTH, 401 },
	{ "HTTP/1.1 200 OK\r\n" JSON_TYPE "Content-Length: 2\r\n\r\n{}", CLEAT_STEP_EXCHANGE, 200 },
};

LINK_TEST_EACH(a_refusal_to_resume_is_the_end, CLEAT_COUNT(refusals))
{
	struct told *t;

	rig_session(r, "s");
	broken_answer(r, "retry: 0\nid: 1\n\n");
	say(r, next_asked(r), refusals[i].answer);
	t = expect_failed(r, TAG(1), refusals[i].step);
	assert_int_equal(t->status, refusals[i].status);
	assert_false(t->why.session_lost);
}

/* A server with a store of events: the connection breaks after every single one. `from_start`: it sends
 * all of them again, whatever it is asked. */
LINK_TEST_EACH(a_stream_cut_after_every_event_is_told_once, 2)
{
	enum { EVENTS = 25 };
	bool from_start = i;
	struct asked *q;
	char text[256];

	assert_int_equal(rig_send(r, LEGACY_REQUEST(1), Q(1)), CLEAT_OK);
	for (int sent = 0; sent < EVENTS; sent++) {
		q = next_asked(r);
		snprintf(text, sizeof text, "%d", sent - 1);
		expect_field(q, "Last-Event-ID", sent ? text : NULL);
		say(r, q, EVENTS_OPEN "retry: 0\n");
		for (int k = from_start ? 0 : sent; k <= sent; k++) {
			if (k == EVENTS - 1)
				snprintf(text, sizeof text, "id: %d\ndata: " A(1) "\n\n", k);
			else
				snprintf(text, sizeof text, "id: %d\ndata: {\"n\":%d}\n\n", k, k);
			say(r, q, text);
		}
		say(r, q, "id: 9999\ndata: {\"half\":"); /* never happened */
		hang_up_on(q);
	}
	for (int k = 0; k < EVENTS - 1; k++) {
		snprintf(text, sizeof text, "{\"n\":%d}", k);
		expect_message(r, TAG(1), 0, text);
	}
	expect_message(r, TAG(1), 0, A(1));
	assert_true(nobody_asks(r));
	expect_nothing_told(r);
}

/* Only the first of these has an id of its own. */
LINK_TEST(events_without_an_id_are_no_repetition)
{
	broken_answer(r, "retry: 0\nid: 1\ndata: " N(a) "\n\ndata: " N(b) "\n\n");
	say(r, next_asked(r),
	    EVENTS_OPEN
	    "data: " N(c) "\n\nid: 1\ndata: " N(a) "\n\ndata: " N(d) "\n\ndata: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, N(a));
	expect_message(r, TAG(1), 0, N(b));
	expect_message(r, TAG(1), 0, N(c));
	expect_message(r, TAG(1), 0, N(d));
	expect_message(r, TAG(1), 0, A(1));
}

/* The ids of a long stream are remembered as far as a server could sensibly go back. */
LINK_TEST(the_last_thousand_ids_are_remembered)
{
	static char events[1100 * 32];
	struct asked *q;
	int n = 0;

	for (int i = 0; i < 1100; i++)
		n += snprintf(events + n, sizeof events - (size_t)n, "id: %d\ndata: {\"n\":%d}\n\n",
			      i, i);
	broken_answer(r, "retry: 0\n");
	expect_failed(r, TAG(1), CLEAT_STEP_EXCHANGE);
	broken_answer(r, events);
	RIG_WAIT(r, r->n_told - r->taken == 1100);
	r->taken = r->n_told;
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", "1099");
	say(r, q, EVENTS_OPEN);
	say(r, q, strstr(events, "id: 100\n"));
	say(r, q, "id: x\ndata: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
}

LINK_TEST(a_resumption_can_be_forgotten)
{
	struct asked *q;

	broken_answer(r, "retry: 20\nid: 1\n\ndata: " N(a) "\n\n"); /* while it waits */
	expect_message(r, TAG(1), 0, N(a));
	rig_step(r);
	r->link->ops->forget(r->link, TAG(1));
	for (int i = 0; i < 10; i++)
		assert_true(nobody_asks(r));
	broken_answer(r, "retry: 0\nid: 1\n\n"); /* while it runs */
	q = next_asked(r);
	say(r, q, EVENTS_OPEN);
	r->link->ops->forget(r->link, TAG(1));
	expect_hung_up(r, q);
	expect_nothing_told(r);
}

LINK_TEST_EACH(a_resumption_ends_with_its_session, 2)
{
	bool running = i;

	rig_session(r, "s");
	broken_answer(r, running ? "retry: 0\nid: 1\ndata: " N(a) "\n\n"
				 : "retry: 9999\nid: 1\ndata: " N(a) "\n\n");
	expect_message(r, TAG(1), 0, N(a));
	if (running)
		say(r, next_asked(r), EVENTS_HEAD);
	for (int k = 0; k < 5; k++)
		rig_step(r);
	r->link->ops->reset(r->link);
	assert_int_equal(r->taken, r->n_told);
	expect_failed(r, TAG(1), CLEAT_STEP_EXCHANGE);
}

/* ---- the GET stream --------------------------------------------------------------------------- */

static struct asked *listening(struct rig_link *r)
{
	struct asked *q;

	rig_session(r, "s");
	r->link->ops->listen(r->link);
	r->link->ops->listen(r->link); /* once is enough */
	q = next_asked(r);
	expect_line(q, "GET /mcp HTTP/1.1\r\n");
	expect_field(q, "Accept", "text/event-stream");
	expect_field(q, "Mcp-Session-Id", "s");
	expect_field(q, "Last-Event-ID", NULL);
	return q;
}

LINK_TEST(what_the_server_says_unasked_is_heard)
{
	struct asked *q = listening(r);

	say(r, q, EVENTS_HEAD);
	say_chunk(r, q, "data: " N(a) "\n\ndata: " Q(7) "\n\n");
	expect_message(r, NULL, 0, N(a));
	expect_message(r, NULL, 0, Q(7));
	assert_true(nobody_asks(r));
	r->link->ops->reset(r->link); /* the stream belongs to the session */
	expect_hung_up(r, q);
	expect_nothing_told(r);
}

/* "or else return HTTP 405 Method Not Allowed" */
LINK_TEST_EACH(a_server_without_such_a_stream_is_left_alone, 5)
{
	static const char *const answers[] = { "405 No", "404 Not Found", "400 Bad", "501 No",
					       "204 None" };

	reply(r, listening(r), answers[i], "", "");
	assert_true(nobody_asks(r));
	expect_nothing_told(r);
}

LINK_TEST_PLAIN(the_stream_is_not_opened_when_nobody_wants_it)
{
	rig_start_with(r, (struct link_http_options){ .no_stream = true });
	r->link->ops->listen(r->link);
	assert_true(nobody_asks(r));
}

LINK_TEST(the_stream_is_resumed_where_it_broke)
{
	/* The old connection is still there, or the server is busy. */
	static const char *const later[] = { "409 Conflict", "503 Busy", "429 Slow" };
	struct asked *q = listening(r);

	say(r, q, EVENTS_OPEN "retry: 0\nid: x1\ndata: " N(a) "\n\n");
	hang_up_on(q);
	expect_message(r, NULL, 0, N(a));
	for (size_t i = 0; i < CLEAT_COUNT(later); i++) {
		q = next_asked(r);
		expect_field(q, "Last-Event-ID", "x1");
		reply(r, q, later[i], "", "");
	}
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", "x1");
	say(r, q, EVENTS_OPEN "id: x1\ndata: " N(a) "\n\nid: x2\ndata: " N(b) "\n\n");
	expect_message(r, NULL, 0, N(b)); /* no gap, and nothing twice */
}

/* The first connection broke before we saw its head, but the server had opened it: another is refused until
 * that is noticed, and what was said meanwhile is lost. */
LINK_TEST(a_stream_that_is_taken_by_ourselves_is_tried_again)
{
	struct asked *q = listening(r);

	hang_up_on(q);
	reply(r, next_asked(r), "409 Conflict", "", "");
	q = next_asked(r);
	expect_nothing_told(r);
	say(r, q, EVENTS_OPEN);
	expect_told(r, TOLD_GAP);
}

LINK_TEST(a_gap_is_told_when_the_stream_is_back)
{
	struct asked *q = listening(r);

	say(r, q, EVENTS_OPEN "retry: 0\ndata: " N(a) "\n\n");
	hang_up_on(q);
	expect_message(r, NULL, 0, N(a));
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", NULL);
	expect_nothing_told(r);
	say(r, q, EVENTS_OPEN);
	expect_told(r, TOLD_GAP);
	/* Ids, but the server does not keep the events. */
	say(r, q, "id: 1\ndata: " N(b) "\n\n");
	expect_message(r, NULL, 0, N(b));
	hang_up_on(q);
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", "1");
	reply(r, q, "404 Not Found", "", "");
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", NULL);
	say(r, q, EVENTS_OPEN "data: " N(c) "\n\n");
	expect_told(r, TOLD_GAP);
	expect_message(r, NULL, 0, N(c));
}

/* The stream was there, and now its session is not: the role has to find out, so it is told. */
LINK_TEST(the_end_of_the_session_is_noticed_on_the_stream)
{
	struct asked *q = listening(r);

	say(r, q, EVENTS_OPEN "retry: 0\nid: 1\n\n");
	hang_up_on(q);
	reply(r, next_asked(r), "404 Not Found", "", "");
	reply(r, next_asked(r), "404 Not Found", "", "");
	expect_text(expect_told(r, TOLD_NOTE), "404");
	expect_told(r, TOLD_GAP);
	assert_true(nobody_asks(r));
	reply(r, rig_ask(r, LEGACY_REQUEST(1)), "404 Not Found", "", "");
	assert_true(expect_failed(r, TAG(1), CLEAT_STEP_HTTP)->why.session_lost);
}

LINK_TEST(a_stream_that_never_opens_is_given_up)
{
	struct asked *q = listening(r);

	for (int i = 0; i < 5; i++) {
		reply(r, q, "500 Oops", "", "");
		if (i < 4)
			q = next_asked(r);
	}
	expect_text(expect_told(r, TOLD_NOTE), "cannot be opened");
	assert_true(nobody_asks(r));
}

LINK_TEST(an_event_over_the_limit_is_thrown_away)
{
	static char large[(1 << 20) + 100];
	struct asked *q = listening(r);

	memset(large, 'x', sizeof large - 1);
	say(r, q, EVENTS_OPEN "retry: 0\nid: 1\ndata: " N(a) "\n\nid: 2\ndata: ");
	say(r, q, large);
	say(r, q, "\n\n");
	expect_message(r, NULL, 0, N(a));
	assert_int_equal(expect_told(r, TOLD_OVERSIZE)->size, 1 << 20);
	/* From there on, since it would come again and again. */
	hang_up_on(q);
	q = next_asked(r);
	expect_field(q, "Last-Event-ID", NULL);
	say(r, q, EVENTS_OPEN);
	expect_told(r, TOLD_GAP);
}

LINK_TEST(close_ends_the_stream_too)
{
	struct asked *q = listening(r), *del;

	say(r, q, EVENTS_HEAD);
	rig_step(r);
	r->link->ops->close(r->link);
	expect_hung_up(r, q);
	del = next_asked(r);
	expect_line(del, "DELETE /mcp");
	reply(r, del, "200 OK", "", "");
	expect_told(r, TOLD_CLOSED);
}

/* A comment carries nothing and costs nothing. */
LINK_TEST(fifty_thousand_comments_do_no_harm)
{
	struct asked *q;
	size_t before = 0;

	q = rig_ask(r, LEGACY_REQUEST(1));
	say(r, q, EVENTS_OPEN);
	for (int i = 0; i < 50000; i++) {
		say(r, q, ": keep-alive\n\n");
		if (i % 100 == 0)
			rig_step(r);
		if (i == 1000)
			before = r->fa.bytes;
	}
	assert_true(r->fa.bytes <= before + 4096);
	say(r, q, "data: " A(1) "\n\n");
	expect_message(r, TAG(1), 0, A(1));
}
