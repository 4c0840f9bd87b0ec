/* test_httpd_relay_life.c - the end of a relay in every state.
 */
#include "test.h"
#include "unit/httpd/httpd_relay_rig.h"

/* ---- the end ------------------------------------------------------------------------------ */

enum stage { IDLE, HEAD, WAITING, ON_ITS_WAY, SERVED, STREAMING, ANSWERED, SENT, STAGES };

/* Brings a connection there; the back has not moved since. `other` is in its way. */
static struct client *bring(struct pair *p, enum stage stage, struct client *other)
{
	struct client *c = dial(&p->rig);

	put(c, GET("/mark"));
	expect_both(p, c, 200, "GET /mark");
	switch (stage) {
	case IDLE: break;
	case HEAD: put(c, "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nbod"); break;
	case WAITING:
		put(other, GET("/defer"));
		front_turn(p);
		/* fall through */
	case ON_ITS_WAY: put(c, GET("/defer")); break;
	default:
		put(c, stage == STREAMING ? GET("/stream") : GET("/defer"));
		WAIT_BOTH(p, p->rig.n_held == 1);
		both_turn(p);
	}
	if (stage == STREAMING)
		http_exchange_write(p->rig.held[0], STR_LIT("piece"), false);
	if (stage >= ANSWERED)
		reply_text(p->rig.held[0], 200, STR_LIT("answer"));
	if (stage == SENT)
		back_turn(p);
	front_turn(p);
	return c;
}

/* gone() for what the service has seen and not completed, closed() for every connection, and nothing
 * is left, whatever was under way. */
TEST(freed_in_every_state)
{
	for (int stage = IDLE; stage < STAGES; stage++) {
		struct http_relay_options o = { .max_requests = 1 };
		struct client *c, *other;
		struct pair p;

		pair_open_with(&p, true, o);
		other = dial(&p.rig);
		c = bring(&p, (enum stage)stage, other);
		assert_int_equal(p.rig.closed, 0);
		assert_int_equal(p.relay->n_requests, stage == WAITING || stage == ON_ITS_WAY);
		assert_int_equal(ring_alone(&p.relay->waiting), stage != WAITING);
		http_relay_free(p.relay);
		p.relay = NULL;
		assert_int_equal(p.rig.gone, stage == SERVED || stage == STREAMING);
		assert_int_equal(p.rig.closed, 1);
		hang_up(c);
		pair_close(&p);
	}
}

/* Those that are under way may finish; then the end is told, once. */
TEST(drained_in_every_state)
{
	for (int stage = IDLE; stage < STAGES; stage++) {
		struct client *c;
		struct pair p;

		if (stage == WAITING)
			continue;
		pair_open(&p, true);
		c = bring(&p, (enum stage)stage, NULL);
		http_relay_drain(p.relay, on_done, &p.rig);
		assert_false(p.rig.done);
		both_turn(&p);
		if (stage == HEAD)
			put(c, "y body");
		while (!p.rig.done) {
			if (p.rig.n_held && p.rig.logged == 1 && stage < ANSWERED) {
				if (stage == STREAMING)
					http_exchange_end(p.rig.held[0]);
				else
					reply_text(p.rig.held[0], 200, STR_LIT("answer"));
				p.rig.n_held = 0;
			}
			cleat_loop_step(p.rig.l, 1);
			cleat_loop_step(p.back, 0);
		}
		look(c);
		assert_true(c->eof);
		if (stage == IDLE)
			assert_int_equal(c->n, 0);
		else
			assert_int_equal(strncmp(c->buf, "HTTP/1.1 200", 12), 0);
		assert_int_equal(p.rig.gone, 0);
		assert_int_equal(p.rig.closed, 1);
		assert_int_equal(cleat_loop_step(p.rig.l, 0), CLEAT_ECLOSED); /* its thread ends */
		pair_close(&p);
	}
}

/* ---- no memory ---------------------------------------------------------------------------- */

TEST(no_memory_for_a_relay)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct http_relay_options o = { 0 };
		struct http_relay *relay;
		int rc;

		fail_alloc_calm(&fa);
		o.http.loop = o.back = cleat_loop_new(&fa.hook);
		o.http.mem = &fa.hook;
		fail_alloc_arm(&fa);
		rc = http_relay_new(&o, &relay);
		assert_int_equal(rc, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		http_relay_free(relay);
		cleat_loop_free(o.back);
	}
}
