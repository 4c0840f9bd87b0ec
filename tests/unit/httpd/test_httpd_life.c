/* test_httpd_life.c - the end of a server in every state of its connections, from inside and
 * outside of its callbacks; and lack of memory in the calls of a service. (Elsewhere: tests/wire/transcripts/httpd.)
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

/* ---- states ------------------------------------------------------------------------------- */

struct situation {
	const char *label, *sent;
	const char *rest; /* what the client sends later; NULL: it does not read before */
	size_t requests;  /* that reach the service */
	size_t under_way; /* exchanges that it waits for an end of */
	bool idle;        /* drained at once */
};

static const struct situation situations[] = {
	{ "connected", "", "", 0, 0, true },
	{ "after a request", GET("/x"), "", 1, 0, true },
	{ "in a header", "GET / HT", "TP/1.1\r\nHost: h\r\n\r\n", 0, 0, false },
	{ "in a body", "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n12", "34", 0, 1,
	  false },
	{ "in chunks", "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n1",
	  "23\r\n0\r\n\r\n", 0, 1, false },
	{ "in the body of a refused request",
	  "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n12", "34", 0, 0, false },
	{ "waiting", GET("/defer"), "", 1, 1, false },
	{ "waiting, with more behind", GET("/x") GET("/defer") GET("/y"), "", 2, 1, false },
	{ "streaming", GET("/stream"), "", 1, 1, false },
	{ "streaming before the body",
	  "POST /early-stream HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n12", "", 0, 1,
	  false },
	{ "streaming to nobody who reads", GET("/stream"), NULL, 1, 1, false },
	{ "with an answer that is not taken", GET("/big?20000000"), NULL, 1, 0, false },
	{ "lingering", "nonsense\r\n\r\n", "", 0, 0, false },
};

static struct client *enter(struct rig *r, const struct situation *s)
{
	struct client *c = dial(r);

	put(c, s->sent);
	WAIT_FOR(r, rig_stats(r).connections == 1 && r->requests == s->requests &&
			    rig_stats(r).exchanges == s->under_way);
	rig_turn(r);
	if (!s->rest && s->under_way) {
		static const char text[4096] = "";

		while (http_exchange_write(r->held[0], (struct str){ text, sizeof text }, false) ==
		       CLEAT_OK)
			cleat_loop_step(r->l, 0);
	}
	return c;
}

TEST(freed_at_once_in_every_state)
{
	for (size_t i = 0; i < CLEAT_COUNT(situations); i++) {
		const struct situation *s = &situations[i];
		struct client *c;
		struct rig r;

		rig_open(&r);
		c = enter(&r, s);
		rig_free_server(&r);
		if (r.gone != s->under_way)
			fail_msg("%s: gone() was called %zu times", s->label, r.gone);
		cleat_loop_step(r.l, 0);
		while (!c->eof) {
			c->n = 0;
			wait_more(c);
		}
		rig_close(&r);
	}
}

/* Exchanges may finish, everything else ends; and `done` comes once. */
TEST(drained_in_every_state)
{
	for (size_t i = 0; i < CLEAT_COUNT(situations); i++) {
		const struct situation *s = &situations[i];
		cleat_error err;
		struct client *c;
		struct rig r;

		rig_open(&r);
		c = enter(&r, s);
		httpd_drain(r.h, on_done, &r);
		if (r.done != s->idle)
			fail_msg("%s: %s", s->label, r.done ? "done too early" : "not done");
		assert_int_equal(httpd_add(r.h, &r.ear, &err), CLEAT_ECLOSED);
		if (r.n_held && strstr(s->sent, "stream"))
			http_exchange_end(r.held[0]);
		else if (r.n_held)
			reply_text(r.held[0], 200, STR_LIT("last"));
		put(c, s->rest ? s->rest : "");
		while (!r.done) {
			c->n = 0;
			look(c);
			if (c->eof) { /* it lingers as long as we do */
				close(c->fd);
				c->fd = dup(0);
			}
			cleat_loop_step(r.l, 10);
		}
		assert_int_equal(r.gone, 0);
		assert_int_equal(rig_stats(&r).connections, 0);
		assert_int_equal(cleat_loop_step(r.l, -1), CLEAT_ECLOSED); /* nothing to wait for */
		rig_close(&r);
	}
}

/* ---- from inside -------------------------------------------------------------------------- */

static void free_in_done(void *ctx)
{
	rig_free_server(ctx);
}

/* The server is freed while one of its callbacks runs: for one connection of three. */
TEST(freed_from_inside)
{
	enum { REQUEST, GONE, LOGGED, DRAINED, DONE, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct client *c[3];
		struct rig r;

		rig_open(&r);
		for (int i = 0; i < 3; i++) {
			c[i] = dial(&r);
			put(c[i], i == 1 ? GET("/stream") : GET("/mark"));
		}
		WAIT_FOR(&r, r.requests == 3);
		rig_turn(&r);
		r.free_in_request = way == REQUEST;
		r.free_in_gone = way == GONE;
		r.free_in_logged = way == LOGGED;
		r.free_in_drained = way == DRAINED;
		if (way == GONE)
			shutdown(c[1]->fd, SHUT_RDWR);
		else if (way == DRAINED)
			http_exchange_write(r.held[0], STR_LIT("x"), false);
		else if (way != DONE)
			put(c[0], GET("/x") GET("/y"));
		if (way == DONE) {
			httpd_drain(r.h, free_in_done, &r);
			http_exchange_end(r.held[0]);
			r.n_held = 0;
		}
		while (r.freed == 0)
			cleat_loop_step(r.l, 10);
		cleat_loop_step(r.l, 0);
		assert_int_equal(r.freed, 1);
		assert_int_equal(r.closed, 2);
		if (way == REQUEST)
			assert_int_equal(r.gone, 2); /* the one that asked, and the stream */
		for (int i = 0; i < 3; i++)
			hang_up(c[i]);
		rig_close(&r);
	}
}

/* ---- memory ------------------------------------------------------------------------------- */

/* A large answer is sent without a copy, but what the socket does not take has to be kept. Without
 * memory for that it is cut short, and everybody can see that. */
RIG_TEST_PLAIN(no_memory_for_the_rest_of_an_answer)
{
	struct client *c;
	size_t got = 0;

	c = rig_begin(r);
	put(c, GET("/x"));
	expect(c, 200, "GET /x");
	r->fa.countdown = 1;
	r->fa.forever = true;
	put(c, "GET /big?20000000 HTTP/1.1\r\nHost: h\r\n\r\n");
	while (!c->eof) {
		got += c->n;
		c->n = 0;
		wait_more(c);
	}
	assert_true(got < 20000000); /* how much depends on what the socket takes at once */
	assert_true(fail_alloc_hit(&r->fa));
	r->fa.countdown = 0;
	r->fa.forever = false;
	hang_up(c);
	expect_alive(r);
}

/* Every call says what it could not do, takes nothing then, and works when there is memory again. */
RIG_TEST_PLAIN(no_memory_in_the_calls_of_a_service)
{
	static const char text[40000] = "";
	struct http_exchange *ex;
	struct client *c;

	c = rig_begin(r);
	put(c, GET("/defer"));
	WAIT_FOR(r, r->n_held == 1);
	ex = r->held[0];
	r->fa.countdown = 1;
	r->fa.forever = true;
	assert_int_equal(http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0), CLEAT_ENOMEM);
	r->fa.forever = false;
	assert_int_equal(http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0), CLEAT_OK);
	rig_turn(r);
	r->fa.countdown = 1;
	r->fa.forever = true;
	assert_int_equal(http_exchange_write(ex, (struct str){ text, sizeof text }, false),
			 CLEAT_ENOMEM);
	assert_int_equal(http_exchange_queued(ex), 0);
	r->fa.forever = false;
	assert_int_equal(http_exchange_write(ex, STR_LIT("some"), false), CLEAT_OK);
	rig_turn(r);
	/* Not even for the end: then it must not look like one. */
	while (r->h->n_outs)
		buf_done(&r->h->outs[--r->h->n_outs]);
	r->fa.countdown = 1;
	r->fa.forever = true;
	http_exchange_end(ex);
	r->fa.forever = false;
	while (!c->eof)
		wait_more(c);
	assert_string_equal(c->buf + c->n - 9, "4\r\nsome\r\n");
	hang_up(c);
	expect_alive(r);
}

TEST(no_memory_for_a_server)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct httpd_options o = { 0 };
		struct httpd *h;
		struct address a;
		struct listener l;
		int rc;

		fail_alloc_calm(&fa);
		o.loop = cleat_loop_new(&fa.hook);
		o.mem = &fa.hook;
		assert_int_equal(address_parse(":0", &a, NULL), CLEAT_OK);
		assert_int_equal(listener_open(&a, NULL, &l, NULL), CLEAT_OK);
		fail_alloc_arm(&fa);
		rc = httpd_new(&o, &h);
		if (rc == CLEAT_OK)
			rc = httpd_add(h, &l, NULL);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		assert_true((rc == CLEAT_OK) == (l.fd == -1));
		listener_close(&l); /* ours when it failed */
		httpd_free(h);
		cleat_loop_free(o.loop);
	}
}
