/* test_httpd_relay.c - streams through a relay, whoever comes first, however much there is. Requests and answers are
 * transcripts, as those without one: tests/wire/transcripts/httpd. test_httpd_relay_life.c has its end; test_http_threads.c does it with
 * real threads.
 */
#include "test.h"
#include "unit/httpd/httpd_relay_rig.h"

/* ---- streams ------------------------------------------------------------------------------ */

PAIR_TEST(a_stream_goes_through_in_pieces)
{
	struct answer *a = &last_answer;
	struct http_exchange *ex;
	struct client *c;
	size_t small;

	pair_open(p, false);
	c = dial(&p->rig);
	put(c, "POST /stream HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nsome body");
	WAIT_FOR(&p->rig, p->rig.n_held == 1);
	ex = p->rig.held[0];
	assert_string_equal(http_exchange_address(ex), "127.0.0.1");
	assert_false(http_exchange_is_tls(ex));
	rig_turn(&p->rig);
	/* httpd/server.h: of the request method and path are left. */
	assert_int_equal(http_exchange_request(ex)->body.n, 0);
	assert_int_equal(http_exchange_request(ex)->n_fields, 0);
	assert_true(path_is(ex, "/stream"));
	small = p->rig.fa.bytes;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(http_exchange_write(ex, STR_LIT("one "), false), CLEAT_OK);
		assert_int_equal(http_exchange_write(ex, STR_LIT("two "), false), CLEAT_OK);
		assert_int_equal(http_exchange_queued(ex), 8);
		WAIT_FOR(&p->rig, p->rig.drained == (size_t)i + 1);
		assert_int_equal(http_exchange_queued(ex), 0);
	}
	assert_int_equal(p->rig.fa.bytes, small); /* nothing is left over */
	assert_int_equal(http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0), CLEAT_EMISUSE);
	http_exchange_end(ex);
	assert_true(read_answer(c, a, false));
	assert_string_equal(a->body, "one two one two one two ");
	WAIT_FOR(&p->rig, p->rig.logged == 1);
	assert_string_equal(p->rig.line, "POST /stream");
	assert_int_equal(p->rig.bytes, 24);
	put(c, GET("/again"));
	expect(c, 200, "GET /again");
}

/* httpd/server.h: at most so many bytes wait, wherever they are; `must` is over by one. */
PAIR_TEST(a_reader_who_does_not_read_is_a_limit)
{
	static const char block[10000] = "";
	const struct str bytes = { block, sizeof block };
	struct http_relay_options o = { .http = { .max_stream_queue = 100000 } };
	struct http_exchange *ex;
	size_t taken = 0, got = 0;
	struct client *c;
	int rc;

	pair_open_with(p, true, o);
	c = dial(&p->rig);
	put(c, GET("/stream"));
	WAIT_BOTH(p, p->rig.n_held == 1);
	ex = p->rig.held[0];
	/* Until the kernel has all it takes and the rest waits with us. */
	for (int full = 0; full < 20;) {
		rc = http_exchange_write(ex, bytes, false);
		full = rc == CLEAT_ELIMIT ? full + 1 : 0;
		taken += rc == CLEAT_OK ? sizeof block : 0;
		assert_true(rc == CLEAT_OK || rc == CLEAT_ELIMIT);
		assert_true(http_exchange_queued(ex) <= 100000);
		if (rc == CLEAT_ELIMIT)
			both_turn(p);
	}
	assert_true(http_exchange_queued(ex) > 80000);
	while (http_exchange_write(ex, bytes, true) == CLEAT_OK)
		taken += sizeof block;
	assert_true(http_exchange_queued(ex) > 100000 && http_exchange_queued(ex) <= 110000);
	assert_int_equal(http_exchange_write(ex, bytes, true), CLEAT_ELIMIT);
	assert_int_equal(p->rig.gone, 0);
	/* Now it reads. */
	p->rig.drained = 0;
	while (p->rig.drained == 0) {
		c->n = 0;
		look(c);
		got += c->n;
		cleat_loop_step(p->rig.l, 1);
		cleat_loop_step(p->back, 0);
	}
	assert_true(got > 0);
	assert_int_equal(http_exchange_queued(ex), 0);
	assert_int_equal(http_exchange_write(ex, bytes, false), CLEAT_OK);
	http_exchange_end(ex);
	WAIT_BOTH(p, p->rig.logged == 1);
	assert_int_equal(p->rig.bytes, taken + sizeof block);
}

PAIR_TEST(a_large_answer_goes_through_whole)
{
	struct client *c;
	size_t got = 0;

	pair_open(p, false);
	c = dial(&p->rig);
	put(c, "GET /big?30000000 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	while (!c->eof) {
		c->n = 0;
		wait_more(c);
		got += c->n;
	}
	assert_true(got > 30000000 && got < 30000500);
	WAIT_FOR(&p->rig, p->rig.logged == 1);
	assert_int_equal(p->rig.bytes, 30000000);
}

/* ---- who comes first ---------------------------------------------------------------------- */

enum back_does { REPLIES, BEGINS, WRITES, ENDS, ABORTS, NOTHING };

struct race_case {
	const char *path;
	enum back_does back;
	bool completes;
};

static const struct race_case race_cases[] = {
	{ "/defer", REPLIES, true },  { "/defer", BEGINS, false },  { "/defer", ABORTS, true },
	{ "/stream", WRITES, false }, { "/stream", ENDS, true },    { "/stream", ABORTS, true },
	{ "/stream", REPLIES, true }, { "/defer", NOTHING, false }, { "/stream", NOTHING, false },
};

static void act(struct http_exchange *ex, enum back_does what)
{
	switch (what) {
	case REPLIES: reply_text(ex, 200, STR_LIT("late")); break;
	case BEGINS: http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0); break;
	case WRITES: http_exchange_write(ex, STR_LIT("late"), false); break;
	case ENDS: http_exchange_end(ex); break;
	case ABORTS: http_exchange_abort(ex); break;
	case NOTHING: break;
	}
}

/* The client leaves while the service acts, and the two cross in every way that is possible: gone() is
 * called once, unless the service had completed the answer; the connection's end is told once; and
 * nothing that comes too late does any harm. */
TEST(a_client_leaves_while_the_service_acts)
{
	/* Who moves after the client left, before everybody does: front, back and the service itself. */
	static const char *const orders[] = { "sfb", "fsb", "fbs", "sbf" };

	for (size_t i = 0; i < CLEAT_COUNT(race_cases) * CLEAT_COUNT(orders); i++) {
		const struct race_case *k = &race_cases[i / CLEAT_COUNT(orders)];
		const char *order = orders[i % CLEAT_COUNT(orders)];
		bool acted_open = false;
		char request[128];
		struct client *c;
		struct pair p;

		pair_open(&p, true);
		c = dial(&p.rig);
		put(c, GET("/mark"));
		expect_both(&p, c, 200, "GET /mark");
		snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", k->path);
		put(c, request);
		WAIT_BOTH(&p, p.rig.n_held == 1);
		both_turn(&p);
		slam(c);
		for (const char *o = order; *o; o++) {
			if (*o == 'f')
				front_turn(&p);
			else if (*o == 'b')
				back_turn(&p);
			else if (p.rig.n_held) { /* it does not know yet */
				acted_open = true;
				act(p.rig.held[0], k->back);
			}
		}
		WAIT_BOTH(&p, p.rig.closed == 1);
		both_turn(&p);
		assert_int_equal(p.rig.gone, !(k->completes && acted_open));
		assert_int_equal(p.rig.closed, 1);
		assert_int_equal(p.rig.logged, 2);
		assert_int_equal(p.relay->n_mail, 0);
		pair_close(&p);
		assert_int_equal(p.rig.closed, 1);
	}
}

/* The front has no memory for what the back has said already: the connection breaks off, and the
 * service hears of it. */
TEST(what_the_front_cannot_send_is_broken_off)
{
	static const enum back_does acts[] = { BEGINS, WRITES };

	for (size_t i = 0; i < CLEAT_COUNT(acts); i++) {
		struct client *c;
		struct pair p;

		pair_open(&p, true);
		c = dial(&p.rig);
		put(c, acts[i] == BEGINS ? GET("/defer") : GET("/stream"));
		WAIT_BOTH(&p, p.rig.n_held == 1);
		both_turn(&p);
		act(p.rig.held[0], acts[i]);
		back_turn(&p); /* it is on its way */
		while (p.rig.h->n_outs)
			buf_done(&p.rig.h->outs[--p.rig.h->n_outs]);
		p.rig.fa.countdown = 1;
		p.rig.fa.forever = true;
		front_turn(&p);
		p.rig.fa.countdown = 0;
		p.rig.fa.forever = false;
		assert_int_equal(p.rig.gone, 0);
		WAIT_BOTH(&p, p.rig.gone == 1 && p.rig.logged == 1);
		WAIT_BOTH(&p, (look(c), c->eof));
		pair_close(&p);
		assert_int_equal(p.rig.gone, 1);
	}
}

/* ---- too much ----------------------------------------------------------------------------- */

/* At most so many requests, or bytes, are on their way; the others wait with their connections, in
 * order. One that leaves while it waits is only logged. */
TEST(requests_wait_while_the_back_is_busy)
{
	static const struct {
		unsigned requests;
		size_t bytes;
	} cases[] = { { 2, 0 }, { 0, 15000 } };
	enum { N = 8 };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct http_relay_options o = { .max_requests = cases[i].requests,
						.max_bytes = cases[i].bytes };
		static char body[10000];
		struct client *c[N];
		char head[128];
		struct pair p;

		pair_open_with(&p, true, o);
		for (int k = 0; k < N; k++) {
			c[k] = dial(&p.rig);
			snprintf(head, sizeof head,
				 "POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n", k,
				 sizeof body);
			memset(body, 'a' + k, sizeof body);
			put(c[k], head);
			put_bytes(c[k], body, sizeof body);
			WAIT_FOR(&p.rig, rig_stats(&p.rig).exchanges == (size_t)k + 1 &&
						 p.rig.h->conns.prev != &p.rig.h->conns);
			front_turn(&p);
		}
		assert_int_equal(p.relay->n_requests, 2);
		assert_int_equal(p.rig.requests, 0);
		slam(c[4]); /* waits */
		slam(c[0]); /* on its way */
		front_turn(&p);
		back_turn(&p);
		assert_true(p.rig.requests >= 2 && p.rig.requests < N);
		WAIT_BOTH(&p, p.rig.requests == N - 1);
		for (int k = 1; k < N; k++) {
			if (k == 4)
				continue;
			WAIT_BOTH(&p, (look(c[k]), c[k]->n > sizeof body));
			expect(c[k], 200, NULL);
			hang_up(c[k]);
		}
		WAIT_BOTH(&p, p.rig.logged == N);
		assert_int_equal(p.rig.gone, 0); /* the first was answered before it was known */
		pair_close(&p);
	}
}

/* Records of what was refused are not kept without end. */
PAIR_TEST(records_over_the_bound_are_counted)
{
	struct http_relay_options o = { .max_bytes = 5000 };
	enum { N = 200 };
	struct client *c;

	pair_open_with(p, true, o);
	c = dial(&p->rig);
	for (int i = 0; i < N; i++) {
		put(c, GET("/screened"));
		expect(c, 403, "not here");
	}
	assert_true(p->relay->weight < 3 * 5000);
	back_turn(p);
	assert_true(p->rig.logged > 10 && p->rig.logged < N);
	assert_int_equal(p->rig.logged + http_relay_unlogged(p->relay), N);
}

TEST(remarks_are_made_in_the_back)
{
	struct pair p;

	pair_open(&p, true);
	for (int i = 0; i < 100; i++)
		httpd_note(p.rig.h, CLEAT_LOG_INFO, "remark %d", i);
	assert_int_equal(p.rig.remarks, 0);
	back_turn(&p);
	assert_int_equal(p.rig.remarks, 32);
	assert_string_equal(p.rig.remark, "remark 31");
	httpd_note(p.rig.h, CLEAT_LOG_INFO, "%s", "another");
	back_turn(&p);
	assert_string_equal(p.rig.remark, "another");
	httpd_note(p.rig.h, CLEAT_LOG_INFO, "%s", "at the end");
	pair_close(&p);
	assert_string_equal(p.rig.remark, "at the end");
}

PAIR_TEST(numbers_are_those_of_the_front)
{
	static const char block[50000] = "";
	struct httpd_stats s;
	struct client *c, *d;

	pair_open(p, true);
	http_relay_stats(p->relay, &s);
	assert_int_equal(s.accepted + s.connections + s.exchanges, 0);
	c = dial(&p->rig);
	put(c, GET("/stream"));
	d = dial(&p->rig);
	put(d, GET("/x"));
	expect_both(p, d, 200, "GET /x");
	WAIT_BOTH(p, (http_relay_stats(p->relay, &s), s.accepted == 2 && s.exchanges == 1));
	assert_int_equal(s.connections, 2);
	/* Bytes for a client that does not read. */
	while (s.queued_bytes == 0) {
		http_exchange_write(p->rig.held[0], (struct str){ block, sizeof block }, false);
		cleat_loop_step(p->back, 0);
		cleat_loop_step(p->rig.l, 1);
		http_relay_stats(p->relay, &s);
	}
	hang_up(c);
	hang_up(d);
	WAIT_BOTH(p, (http_relay_stats(p->relay, &s), s.connections == 0 && s.queued_bytes == 0));
}
