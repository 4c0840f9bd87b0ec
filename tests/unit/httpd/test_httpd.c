/* test_httpd.c - requests: keep-alive, pipelines, slices, bodies, and what is answered early.
 * (Answers and the end of connections: test_httpd_answers.c.)
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

/* ---- requests ----------------------------------------------------------------------------- */

TEST(a_request_is_answered_and_the_connection_stays)
{
	struct answer *a = &last_answer;
	struct client *c;
	struct rig r;

	c = rig_begin(&r);
	for (int i = 0; i < 3; i++) {
		put(c, GET("/a?q"));
		assert_true(read_answer(c, a, false));
		assert_int_equal(a->status, 200);
		assert_string_equal(a->body, "GET /a");
		assert_string_equal(header(a, "Content-Type"), "text/plain");
		assert_int_equal(strlen(header(a, "Date")),
				 strlen("Sun, 06 Nov 1994 08:49:37 GMT"));
		assert_null(header(a, "Connection"));
		assert_string_equal(r.line, "GET /a");
		assert_int_equal(r.status, 200);
		assert_int_equal(r.bytes, 6);
	}
	assert_int_equal(r.logged, 3);
	assert_int_equal(rig_stats(&r).accepted, 1);
	assert_int_equal(rig_stats(&r).exchanges, 0);
	rig_end(&r, c);
	assert_int_equal(r.gone, 0);
}

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
	hang_up(c);
}

/* The outcome does not depend on how the bytes come: every slice of one byte, then of two ... */
TEST(slices_of_any_size_make_no_difference)
{
	static const char text[] =
		"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
		"POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
		"POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
		"GET /4 HTTP/1.1\r\nHost: h\r\n\r\n";

	for (size_t slice = 1; slice < 60; slice = slice * 2 + 1) {
		struct client *c;
		struct rig r;

		c = rig_begin(&r);
		for (size_t at = 0; at < sizeof text - 1; at += slice) {
			size_t left = sizeof text - 1 - at;

			put_bytes(c, text + at, left < slice ? left : slice);
			cleat_loop_step(r.l, 1);
		}
		expect(c, 200, "GET /1");
		expect(c, 200, "hello");
		expect(c, 200, "abcdefg");
		expect(c, 200, "GET /4");
		rig_end(&r, c);
	}
}

/* Requests behind one that is not answered wait, and are served when it is. */
RIG_TEST(a_pipeline_waits_for_a_late_answer)
{
	struct client *c = dial(r);

	put(c, GET("/defer") GET("/after") GET("/defer"));
	WAIT_FOR(r, r->n_held == 1);
	rig_turn(r);
	assert_int_equal(r->requests, 1);
	assert_int_equal(rig_stats(r).exchanges, 1);
	reply_text(r->held[0], 201, STR_LIT("late"));
	r->n_held = 0;
	expect(c, 201, "late");
	expect(c, 200, "GET /after");
	WAIT_FOR(r, r->n_held == 1);
	reply_text(r->held[0], 202, STR_LIT("later"));
	expect(c, 202, "later");
	hang_up(c);
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
	rig_end(&r, c);
}

/* ---- bodies ------------------------------------------------------------------------------- */

/* RFC 9110 section 10.1.1. */
RIG_TEST(whoever_waits_is_told_to_send_the_body)
{
	static const char head[] = "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
				   "Expect: 100-continue\r\n\r\n";
	struct answer *a = &last_answer;
	struct client *c = dial(r);

	put(c, head);
	assert_true(read_answer(c, a, false));
	assert_int_equal(a->status, 100);
	put(c, "bo");
	rig_turn(r);
	put(c, "dy");
	expect(c, 200, "body");
	/* The body is already there: nobody waits. */
	put(c, "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
	       "Expect: 100-continue\r\n\r\nbody");
	expect(c, 200, "body");
	/* A refusal comes instead, and the connection ends: the body may come or not. */
	put(c, "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n"
	       "Expect: 100-continue\r\n\r\n");
	assert_true(read_answer(c, a, false));
	assert_int_equal(a->status, 403);
	assert_string_equal(header(a, "Connection"), "close");
	expect_end(c);
	hang_up(c);
}

struct refusal {
	const char *label, *request, *rest;
	int status;
	bool stays;
};

/* Refused by the service in head(): the connection stays where what is left of the request is small
 * and certain to come. */
TEST(early_answers)
{
	static const struct refusal cases[] = {
		{ "no body", "GET /refuse HTTP/1.1\r\nHost: h\r\n\r\n", "", 403, true },
		{ "empty", "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "", 403,
		  true },
		{ "small", "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n", "GET /",
		  403, true },
		{ "large", "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n",
		  "some of it", 403, false },
		{ "huge", "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\n",
		  "some", 403, false },
		{ "chunks",
		  "POST /refuse HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
		  "3\r\nabc\r\n", 403, false },
		{ "stream", "GET /early-all HTTP/1.1\r\nHost: h\r\n\r\n", "", 200, true },
		{ "stream, body",
		  "POST /early-all HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n", "hello", 200,
		  false },
	};
	struct answer *a = &last_answer;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct refusal *t = &cases[i];
		struct client *c;
		struct rig r;

		c = rig_begin(&r);
		put(c, t->request);
		assert_true(read_answer(c, a, false)); /* before the rest */
		assert_int_equal(a->status, t->status);
		if ((header(a, "Connection") == NULL) != t->stays)
			fail_msg("%s: Connection: %s", t->label, header(a, "Connection"));
		put(c, t->rest);
		if (t->stays) {
			put(c, GET("/next"));
			expect(c, 200, "GET /next");
		} else {
			expect_end(c);
		}
		assert_int_equal(r.requests, t->stays);
		assert_int_equal(r.gone, 0);
		rig_end(&r, c);
	}
}

/* A stream that begins in head(): the body has no reader and must not be taken for a request. */
RIG_TEST(a_body_behind_an_early_stream_is_thrown_away)
{
	struct client *c = dial(r);

	put(c, "POST /early-stream HTTP/1.1\r\nHost: h\r\nContent-Length: 28\r\n\r\n");
	WAIT_FOR(r, r->n_held == 1);
	put(c, GET("/smuggled"));
	rig_turn(r);
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT("x"), false), CLEAT_OK);
	http_exchange_end(r->held[0]);
	expect(c, 200, "x");
	expect_end(c);
	assert_int_equal(r->requests, 0);
	hang_up(c);
	/* Without a body the connection stays. */
	c = dial(r);
	r->n_held = 0;
	put(c, GET("/early-stream") GET("/next"));
	WAIT_FOR(r, r->n_held == 1);
	http_exchange_end(r->held[0]);
	expect(c, 200, "");
	expect(c, 200, "GET /next");
	hang_up(c);
}

/* Answered from outside while the body is coming: what is left of it is never taken for a request,
 * also when it comes with the same turn of the loop. */
TEST(answers_while_the_body_is_coming)
{
	enum { REPLY, ABORT, STREAM, WAYS };

	for (int i = 0; i < 2 * WAYS; i++) {
		struct client *c;
		struct rig r;
		int way = i / 2;

		c = rig_begin(&r);
		put(c, "POST /late HTTP/1.1\r\nHost: h\r\nContent-Length: 47\r\n\r\n12");
		WAIT_FOR(&r, r.n_held == 1);
		rig_turn(&r);
		if (i % 2) /* the rest is there when the loop looks */
			put(c, "3456789012" GET("/smuggled"));
		if (way == REPLY)
			reply_text(r.held[0], 403, STR_LIT("late"));
		else if (way == ABORT)
			http_exchange_abort(r.held[0]);
		else
			http_exchange_begin(r.held[0], 200, STR_LIT("a/b"), NULL, 0);
		if (i % 2 == 0) {
			rig_turn(&r);
			put(c, "3456789012" GET("/smuggled"));
		}
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
		rig_end(&r, c);
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
		rig_end(&r, c);
	}
}

TEST(what_the_parser_refuses_is_answered)
{
	static const struct refusal cases[] = {
		{ "no HTTP", "hello\r\n\r\n", "", 501, false },
		{ "no host", "GET / HTTP/1.1\r\n\r\n", "", 400, false },
		{ "version", "GET / HTTP/3.0\r\nHost: h\r\n\r\n", "", 505, false },
		{ "smuggling",
		  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "GET /evil HTTP/1.1\r\nHost: h\r\n\r\n", 400, false },
		{ "chunk", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz",
		  "", 400, false },
		{ "too large", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4194305\r\n\r\n", "",
		  413, false },
		{ "limit of the endpoint",
		  "POST /limit HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", "12345678901",
		  413, false },
		{ "limit of the endpoint, chunks",
		  "POST /limit HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "b\r\n12345678901\r\n",
		  "", 413, false },
	};
	struct answer *a = &last_answer;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct refusal *t = &cases[i];
		struct client *c;
		struct rig r;

		c = rig_begin(&r);
		put(c, t->request);
		put(c, t->rest);
		assert_true(read_answer(c, a, false));
		if (a->status != t->status)
			fail_msg("%s: %d %s", t->label, a->status, a->body);
		assert_string_equal(header(a, "Connection"), "close");
		assert_true(a->n > 1 && a->body[a->n - 1] == '\n');
		expect_end(c);
		assert_int_equal(r.requests, 0);
		assert_int_equal(r.gone, r.heads); /* who saw it learns that it ends */
		assert_int_equal(r.logged, 1);
		assert_int_equal(r.status, t->status);
		hang_up(c);
		expect_alive(&r);
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
