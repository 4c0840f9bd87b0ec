/* test_httpd.c - requests of which the kernel carries much at once, or in the same turn of the loop. All others are
 * transcripts: tests/wire/transcripts/httpd. (Answers and the end of connections: test_httpd_answers.c.)
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

/* ---- requests ----------------------------------------------------------------------------- */

/* RFC 9112 section 9.3.2: answers in the order of the requests; and they leave in one piece. */
RIG_TEST(pipelined_requests_are_answered_in_order)
{
	struct client *c = dial(r);
	char text[2048] = "", path[32];

	rig_turn(r);
	for (int i = 0; i < 10; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "GET /%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
	put(c, text);
	WAIT_FOR(r, r->requests == 10);
	look(c); /* what one send() carried */
	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof path, "GET /%d", i);
		assert_true(c->n > 0);
		expect(c, 200, path);
	}
	assert_int_equal(r->logged, 10);
}

/* A client that pipelines without end is not read any more, and nothing is lost. */
TEST(input_ahead_of_an_answer_is_bounded)
{
	static char one[12000];
	size_t sent = 0, n, size;
	struct client *c;
	struct rig r;

	size = (size_t)snprintf(one, sizeof one,
				"GET /x HTTP/1.1\r\nHost: h\r\nPad: %010000d\r\n\r\n", 0);
	c = rig_begin(&r);
	put(c, GET("/defer"));
	WAIT_FOR(&r, r.n_held == 1);
	for (int idle = 0; idle < 20;) { /* until the kernel's buffers are full too */
		ssize_t k = send(c->fd, one + sent % size, size - sent % size, MSG_NOSIGNAL);

		if (k > 0)
			sent += (size_t)k;
		else
			idle++;
		cleat_loop_step(r.l, k > 0 ? 0 : 1);
	}
	assert_true(r.fa.bytes < sizeof *r.h + 4 * HTTP_AHEAD);
	reply_text(r.held[0], 200, STR_LIT("done"));
	r.n_held = 0;
	expect(c, 200, "done");
	n = sent / size;
	for (size_t i = 0; i < n; i++)
		expect(c, 200, "GET /x");
	assert_int_equal(r.requests, 1 + n);
	rig_close(&r);
}

/* ---- bodies ------------------------------------------------------------------------------- */

/* RFC 9110 section 10.1.1: the body is already there, so nobody waits for a word. */
RIG_TEST(whoever_has_sent_the_body_is_not_told_to)
{
	struct client *c = dial(r);

	put(c, "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
	       "Expect: 100-continue\r\n\r\nbody");
	expect(c, 200, "body");
}

/* Answered from outside while the body is coming: what is left of it is never taken for a request,
 * also when it is there as the loop looks. */
TEST(answers_while_the_body_is_coming)
{
	enum { REPLY, ABORT, STREAM, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct client *c;
		struct rig r;

		c = rig_begin(&r);
		put(c, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 47\r\n\r\n12");
		WAIT_FOR(&r, r.n_held == 1);
		rig_turn(&r);
		put(c, "3456789012" GET("/smuggled"));
		if (way == REPLY)
			reply_text(r.held[0], 403, STR_LIT("late"));
		else if (way == ABORT)
			http_exchange_abort(r.held[0]);
		else
			http_exchange_begin(r.held[0], 200, STR_LIT("a/b"), NULL, 0);
		rig_turn(&r);
		if (way == STREAM)
			http_exchange_end(r.held[0]);
		if (way == REPLY) {
			expect(c, 403, "late");
			put(c, GET("/next"));
			expect(c, 200, "GET /next");
		} else if (way == STREAM) {
			expect(c, 200, "");
		}
		if (way != REPLY)
			expect_end(c);
		assert_int_equal(r.requests, way == REPLY);
		assert_int_equal(r.gone, 0);
		rig_close(&r);
	}
}

/* The same from inside a callback for another client, in the same turn of the loop: the rest of the
 * body is looked at before the server had a chance to look at the answer. */
TEST(an_answer_and_the_rest_of_the_body_in_one_turn)
{
	for (int stream = 0; stream < 2; stream++) {
		struct client *c, *other;
		struct rig r;

		rig_open(&r);
		other = dial(&r);
		c = dial(&r);
		put(c, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 37\r\n\r\n12");
		put(other, GET("/x"));
		expect(other, 200, "GET /x");
		WAIT_FOR(&r, r.n_held == 1);
		rig_turn(&r);
		put(other, stream ? GET("/begin-other") : GET("/answer-other"));
		put(c, GET("/smuggled"));
		expect(other, 200, NULL);
		rig_turn(&r);
		if (stream)
			http_exchange_end(r.held[0]);
		expect(c, stream ? 200 : 403, NULL);
		assert_int_equal(r.requests, 2);
		hang_up(other);
		rig_close(&r);
	}
}

/* The client is still sending when it is refused: it must be able to read why (RFC 9112 section
 * 9.6), though it sends more than fits into the kernel's buffers. */
TEST(a_refusal_reaches_a_client_that_goes_on_sending)
{
	char *junk = malloc(1 << 16);
	struct client *c;
	struct rig r;

	memset(junk, 'j', 1 << 16);
	c = rig_begin(&r);
	put(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n");
	for (int i = 0; i < 32; i++) /* 2 MiB */
		put_bytes(c, junk, 1 << 16);
	expect(c, 413, NULL);
	hang_up(c);
	expect_alive(&r);
	rig_close(&r);
	free(junk);
}
