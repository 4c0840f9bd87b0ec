/* test_httpd_stream.c - answers in pieces: when they are written, how much may wait, and what
 * an idle one costs.
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

static const char zeros[4096];

/* A client with a stream that has begun. */
static struct client *open_stream(struct rig *r, const char *request)
{
	struct client *c = dial(r);
	size_t had = r->n_held;

	put(c, request);
	WAIT_FOR(r, r->n_held == had + 1);
	return c;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* What is written in one turn leaves in one piece, each write as a chunk (RFC 9112 section 7.1). */
RIG_TEST(writes_of_one_turn_leave_together)
{
	struct client *c;

	c = open_stream(r, GET("/stream") GET("/next"));
	WAIT_FOR(r, (look(c), strstr(c->buf, "\r\n\r\n") != NULL));
	assert_non_null(strstr(c->buf, "Transfer-Encoding: chunked\r\n"));
	take_front(c, c->n);
	for (int i = 0; i < 3; i++)
		assert_int_equal(http_exchange_write(r->held[0], STR_LIT("tick"), false), CLEAT_OK);
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT(""), false), CLEAT_OK);
	assert_int_equal(http_exchange_queued(r->held[0]), 3 * 9);
	look(c);
	assert_int_equal(c->n, 0); /* not before the loop turns */
	cleat_loop_step(r->l, 0);
	look(c);
	assert_string_equal(c->buf, "4\r\ntick\r\n4\r\ntick\r\n4\r\ntick\r\n");
	take_front(c, c->n);
	assert_int_equal(r->drained, 1);
	http_exchange_end(r->held[0]);
	need(c, 5);
	assert_memory_equal(c->buf, "0\r\n\r\n", 5);
	take_front(c, 5);
	expect(c, 200, "GET /next");
	assert_int_equal(r->bytes, strlen("GET /next"));
}

/* What the request was is known as long as the log needs it, though its memory is gone. */
RIG_TEST(a_stream_keeps_the_request_line_for_the_log)
{
	const struct http_request *q;
	struct client *c;

	c = open_stream(r, "GET /stream?secret HTTP/1.1\r\nHost: h\r\n\r\n");
	rig_turn(r);
	q = http_exchange_request(r->held[0]);
	assert_int_equal(q->method, HTTP_METHOD_GET);
	assert_true(str_eqz(q->path, "/stream"));
	assert_null(q->query.p);
	assert_int_equal(q->n_fields, 0);
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT("12345"), false), CLEAT_OK);
	r->now_us += 1234;
	http_exchange_end(r->held[0]);
	expect(c, 200, "12345");
	assert_string_equal(r->line, "GET /stream");
	assert_int_equal(r->bytes, 5);
	assert_int_equal(r->micros, 1234);
}

RIG_TEST(calls_at_the_wrong_time)
{
	struct client *c;

	/* Before the beginning, and a second beginning. */
	c = dial(r);
	put(c, GET("/defer"));
	WAIT_FOR(r, r->n_held == 1);
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT("x"), false), CLEAT_EMISUSE);
	assert_int_equal(http_exchange_begin(r->held[0], 200, STR_LIT("a/b"), NULL, 0), CLEAT_OK);
	assert_int_equal(http_exchange_begin(r->held[0], 200, STR_LIT("a/b"), NULL, 0),
			 CLEAT_EMISUSE);
	/* A whole answer in the middle of another: the client can see that it is broken. */
	reply_text(r->held[0], 200, STR_LIT("x"));
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT("x"), false), CLEAT_ECLOSED);
	while (!c->eof)
		wait_more(c);
	assert_null(strstr(c->buf, "\r\n0\r\n"));
	hang_up(c);
	/* The end without a beginning. */
	r->n_held = 0;
	c = dial(r);
	put(c, GET("/defer"));
	WAIT_FOR(r, r->n_held == 1);
	http_exchange_end(r->held[0]);
	http_exchange_end(r->held[0]); /* twice: nothing */
	expect_end(c);
	hang_up(c);
	assert_int_equal(r->gone, 0);
}

/* ---- a slow reader ------------------------------------------------------------------------ */

/* Writes until nothing more may wait; gives how many bytes were taken. */
static size_t fill(struct rig *r, size_t piece)
{
	static char text[4096];
	size_t taken = 0;
	int rc;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)('A' + i % 26);
	while ((rc = http_exchange_write(r->held[0], (struct str){ text, piece }, false)) == 0) {
		taken += piece;
		cleat_loop_step(r->l, 0);
	}
	assert_int_equal(rc, CLEAT_ELIMIT);
	return taken;
}

TEST(what_waits_for_a_slow_reader_is_bounded)
{
	struct httpd_options o = { .max_stream_queue = 64 * 1024 };
	size_t taken, got = 0, before, drained;
	struct client *c;
	struct rig r;

	rig_open_with(&r, ":0", o);
	c = open_stream(&r, GET("/stream"));
	taken = fill(&r, 1000);
	before = http_exchange_queued(r.held[0]);
	assert_true(before <= o.max_stream_queue);
	assert_int_equal(rig_stats(&r).queued_bytes, before);
	assert_true(r.fa.bytes < sizeof *r.h + 4 * o.max_stream_queue);
	/* Something that must not be dropped may go over the bound, once. */
	assert_int_equal(http_exchange_write(r.held[0], (struct str){ zeros, 3000 }, true),
			 CLEAT_OK);
	assert_true(http_exchange_queued(r.held[0]) > o.max_stream_queue);
	assert_int_equal(http_exchange_write(r.held[0], STR_LIT("x"), true), CLEAT_ELIMIT);
	drained = r.drained;
	/* The client reads: all that was taken comes, and the service hears of it. */
	while (r.drained == drained) {
		c->n = 0;
		wait_more(c);
		got += c->n;
	}
	c->n = 0;
	look(c);
	got += c->n;
	assert_int_equal(http_exchange_queued(r.held[0]), 0);
	assert_true(got > taken + 3000);
	assert_int_equal(http_exchange_write(r.held[0], STR_LIT("again"), false), CLEAT_OK);
	assert_int_equal(r.gone, 0);
	rig_close(&r);
}

/* While one client does not read, others are served; when it takes nothing at all for write_timeout,
 * it is given up. */
RIG_TEST(a_reader_that_takes_nothing_is_given_up)
{
	struct client *c, *other;

	c = open_stream(r, GET("/stream"));
	fill(r, 4096);
	other = dial(r);
	put(other, GET("/x"));
	expect(other, 200, "GET /x");
	rig_pass(r, 29999);
	assert_int_equal(r->gone, 0);
	/* A byte of progress, and it counts anew. */
	while (rig_stats(r).queued_bytes > 200 * 1024) {
		c->n = 0;
		look(c);
		cleat_loop_step(r->l, 10);
	}
	fill(r, 4096);
	rig_pass(r, 29999);
	assert_int_equal(r->gone, 0);
	rig_pass(r, 1);
	assert_int_equal(r->gone, 1);
	assert_int_equal(r->status, 200);
	assert_int_equal(rig_stats(r).timeouts, 1);
	assert_int_equal(rig_stats(r).connections, 1);
	put(other, GET("/y"));
	expect(other, 200, "GET /y");
}

/* A service that writes whenever there is room keeps nobody else waiting. */
RIG_TEST(a_pump_takes_turns_with_other_clients)
{
	struct client *c, *other;
	size_t total = 0;

	c = open_stream(r, GET("/stream"));
	r->pump = 500000;
	assert_int_equal(http_exchange_write(r->held[0], STR_LIT("go"), false), CLEAT_OK);
	other = dial(r);
	put(other, GET("/x"));
	for (;;) {
		look(other);
		if (strstr(other->buf, "GET /x"))
			break;
		cleat_loop_step(r->l, 1);
	}
	assert_true(r->pump > 0); /* it was served before the pump was empty */
	while (total < 500000) {
		c->n = 0;
		wait_more(c);
		assert_false(c->eof);
		total += c->n;
	}
	WAIT_FOR(r, r->drained == 501);
}

/* ---- the client goes ---------------------------------------------------------------------- */

/* A client that has sent too much ahead is not read any more; a reset is noticed all the same. */
RIG_TEST_PLAIN(a_reset_is_noticed_when_no_more_is_read)
{
	static char junk[HTTP_AHEAD];
	struct http_conn *conn;
	struct client *c;

	memset(junk, 'G', sizeof junk);
	rig_open(r);
	c = open_stream(r, GET("/stream"));
	conn = CONTAINER_OF(r->held[0], struct http_conn, ex);
	put_bytes(c, junk, sizeof junk);
	WAIT_FOR(r, buf_size(&conn->in) == HTTP_AHEAD);
	put(c, "more");
	rig_turn(r);
	assert_int_equal(buf_size(&conn->in), HTTP_AHEAD);
	assert_int_equal(r->gone, 0);
	slam(c);
	WAIT_FOR(r, r->gone == 1);
}

/* Writing to somebody who has gone is not an error of the writer: it learns it from gone(), later. */
RIG_TEST(a_write_to_a_client_that_has_gone)
{
	struct client *c;

	c = open_stream(r, "GET /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	shutdown(c->fd, SHUT_WR); /* tolerated: see httpd/conn.c */
	rig_turn(r);
	hang_up(c);
	while (r->gone == 0) {
		http_exchange_write(r->held[0], STR_LIT("anybody?"), false);
		assert_int_equal(r->gone, 0);
		cleat_loop_step(r->l, 10);
	}
}

/* ---- what it costs ------------------------------------------------------------------------ */

/* Heap of a connection between requests, and of a stream that has nothing to say: all of it, with
 * what the loop takes. The requirement for the whole is 16 KiB with kernel and OpenSSL aside. */
TEST(an_idle_connection_is_small)
{
	enum { N = 40, MOST = 1500 };

	for (int stream = 0; stream < 2; stream++) {
		struct client *clients[N];
		size_t before;
		struct rig r;

		rig_open(&r);
		clients[0] = dial(&r);
		put(clients[0], stream ? GET("/stream") : GET("/x"));
		WAIT_FOR(&r, r.requests == 1);
		rig_turn(&r);
		before = r.fa.bytes;
		for (size_t i = 1; i < N; i++) {
			clients[i] = dial(&r);
			put(clients[i], stream ? GET("/stream") : GET("/x"));
			WAIT_FOR(&r, r.requests == i + 1);
			rig_turn(&r);
		}
		print_message("%s: %zu bytes\n", stream ? "idle stream" : "idle connection",
			      (r.fa.bytes - before) / (N - 1));
		assert_true((r.fa.bytes - before) / (N - 1) < MOST);
		for (size_t i = 0; i < N; i++)
			hang_up(clients[i]);
		WAIT_FOR(&r, rig_stats(&r).connections == 0);
		assert_int_equal(r.gone, stream ? N : 0);
		rig_close(&r);
	}
}

/* A request on a connection that is used already allocates nothing. */
RIG_TEST(a_request_allocates_nothing)
{
	struct client *c = dial(r);
	size_t before = 0;

	for (int i = 0; i < 10; i++) {
		if (i == 2)
			before = r->fa.requests;
		put(c,
		    "POST /x HTTP/1.1\r\nHost: localhost:8080\r\nContent-Length: 300\r\n"
		    "Content-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\n\r\n");
		put_bytes(c, zeros, 300);
		expect(c, 200, NULL);
	}
	assert_int_equal(r->fa.requests, before);
}
