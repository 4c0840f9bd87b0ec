/* test_link_local.c - a link to a peer in the same process. */
#include "test.h"
#include "unit/link/link_support.h"

/* ---- a peer that answers ------------------------------------------------------------------ */

struct fake {
	struct peer peer;
	struct link_rig *rig;
	struct peer_sink sink;
	bool open, refuse, lose, silent, inside;
	bool unsaid; /* there was no memory for something that it had to say */
	unsigned accepted, received, closed;
	int last_end;  /* what the sink said */
	size_t answer; /* bytes; 0: what was received */
};

static struct fake *of(struct peer *p)
{
	return (struct fake *)(void *)p;
}

static int speak(struct fake *f, const char *p, size_t n, int kind)
{
	struct buf *b = f->sink.begin(f->sink.ctx, NULL);

	if (!b)
		return CLEAT_ECLOSED;
	buf_append(b, p, n);
	f->last_end = f->sink.end(f->sink.ctx, NULL, kind);
	f->unsaid |= f->last_end == CLEAT_ENOMEM;
	return f->last_end;
}

static size_t fake_receive(struct peer *p, struct str text, void *tag,
			   const struct peer_headers *headers)
{
	struct fake *f = of(p);

	assert_true(f->open && !f->inside && !f->rig->inside);
	assert_null(tag);
	assert_null(headers);
	f->received++;
	if (f->lose)
		return PEER_LOST;
	f->inside = true;
	if (f->answer) {
		char *big = malloc(f->answer);

		assert_non_null(big);
		memset(big, 'x', f->answer);
		speak(f, big, f->answer, PEER_ANSWER);
		free(big);
	} else if (!f->silent) {
		speak(f, text.p, text.n, PEER_ANSWER);
	}
	f->inside = false;
	return 1;
}

static void fake_close(struct peer *p)
{
	struct fake *f = of(p);

	assert_true(f->open);
	f->open = false;
	f->closed++;
}

static struct peer *fake_accept(void *ctx, const struct peer_sink *sink,
				const struct peer_facts *facts)
{
	static const struct peer_ops ops = { .receive = fake_receive, .close = fake_close };
	struct fake *f = ctx;

	assert_int_equal(facts->mode, PEER_ANY);
	assert_true(facts->transport != CLEAT_TRANSPORT_HTTP);
	assert_null(facts->principal.p);
	if (f->refuse)
		return NULL;
	f->peer.ops = &ops;
	f->sink = *sink;
	f->open = true;
	f->accepted++;
	return &f->peer;
}

static void make(struct link_rig *r, struct fake *f, const cleat_allocator *mem)
{
	rig_init(r);
	memset(f, 0, sizeof *f);
	f->rig = r;
	r->o.mem = mem;
	r->link = link_local_new(
		&r->o, &(struct link_local_options){ .accept = fake_accept, .ctx = f }, &r->err);
}

static void start(struct link_rig *r, struct fake *f)
{
	make(r, f, NULL);
	assert_non_null(r->link);
	assert_true(r->link->local);
	rig_up_now(r);
}

/* Have so many messages come? A server says again later what there was no memory for; this one does not,
 * so that nobody need wait. */
static bool heard(const struct link_rig *r, const struct fake *f, unsigned n)
{
	assert_false(f->unsaid);
	return r->messages == n;
}

#define LOCAL_TEST(name)                                                                           \
	static void name##_on(struct link_rig *r, struct fake *f);                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct link_rig r;                                                                 \
		struct fake f;                                                                     \
                                                                                                   \
		start(&r, &f);                                                                     \
		name##_on(&r, &f);                                                                 \
		rig_done(&r);                                                                      \
		assert_int_equal(f.closed, 1);                                                     \
	}                                                                                          \
	static void name##_on(struct link_rig *r, struct fake *f)

/* ---- tests -------------------------------------------------------------------------------- */

LOCAL_TEST(test_messages_go_both_ways_from_the_loop)
{
	rig_say(r, "{\"a\":\n1}"); /* nothing is framed: it stays as it is */
	rig_send(r, "[\0]", 3);
	assert_int_equal(f->received, 0);
	UNTIL(r->loop, heard(r, f, 2));
	assert_memory_equal(r->got, "{\"a\":\n1}|[\0]|", 13);
	r->inside = true; /* the server speaks unasked */
	assert_int_equal(speak(f, "{}", 2, PEER_NOTICE), CLEAT_OK);
	assert_int_equal(speak(f, "taken back", 10, PEER_TAKE_BACK), CLEAT_OK);
	r->inside = false;
	UNTIL(r->loop, heard(r, f, 3));
	cleat_loop_step(r->loop, 0);
	assert_int_equal(r->messages, 3);
	rig_close_now(r);
	assert_int_equal(f->closed, 1);
	assert_null(f->sink.begin(f->sink.ctx, NULL));
	assert_int_equal(rig_send(r, "{}", 2), CLEAT_ECLOSED);
}

TEST(test_a_peer_that_is_refused_and_then_not)
{
	struct link_rig r;
	struct fake f;

	make(&r, &f, NULL);
	f.refuse = true;
	rig_open(&r);
	UNTIL(r.loop, r.ups == 1);
	assert_true(r.up_failed && r.why.unsent);
	f.refuse = false;
	rig_up_now(&r);
	rig_done(&r);
	assert_int_equal(f.closed, 1);
}

/* It closed its peer: what it said before is handed on, then the link is down, and can be opened again. */
LOCAL_TEST(test_a_server_that_ends)
{
	f->silent = true;
	rig_say(r, "{}");
	UNTIL(r->loop, f->received == 1);
	speak(f, "[1]", 3, PEER_ANSWER);
	speak(f, "[2]", 3, PEER_ANSWER);
	f->open = false;
	r->inside = true;
	link_local_lost(r->link);
	r->inside = false;
	assert_int_equal(rig_send(r, "{}", 2), CLEAT_ECLOSED);
	UNTIL(r->loop, r->downs == 1);
	assert_string_equal(r->got, "[1]|[2]|");
	assert_int_equal(f->closed, 0);
	f->silent = false;
	rig_up_now(r);
	rig_say(r, "{}");
	UNTIL(r->loop, heard(r, f, 3));
}

LOCAL_TEST(test_a_request_that_the_server_had_no_memory_for_fails)
{
	f->lose = true;
	rig_say(r, "{}");
	UNTIL(r->loop, r->failures == 1);
	assert_ptr_equal(r->failed_tag, r);
	assert_int_equal(r->why.error.status, CLEAT_ENOMEM);
	assert_true(r->why.unsent);
	rig_say(r, "{}");
	r->link->ops->forget(r->link, r); /* then nobody wants to know */
	UNTIL(r->loop, f->received == 2);
	cleat_loop_step(r->loop, 0);
	assert_int_equal(r->failures, 1);
}

LOCAL_TEST(test_both_queues_are_bounded)
{
	enum { SIZE = 64 * 1024 };
	static char text[SIZE];
	size_t sent = 0;
	int rc;

	f->silent = true;
	while ((rc = rig_send(r, text, SIZE)) == CLEAT_OK)
		sent += SIZE;
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_true(sent > 3 << 20 && sent <= 4 << 20);
	UNTIL(r->loop, f->received == sent / SIZE);
	assert_int_equal(rig_send(r, text, SIZE), CLEAT_OK);
	assert_false(f->sink.congested(f->sink.ctx));
	for (sent = 0; (rc = speak(f, text, SIZE, PEER_NOTICE)) == CLEAT_OK; sent += SIZE)
		assert_true(sent < 20 << 20);
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_true(f->sink.congested(f->sink.ctx));
	UNTIL(r->loop, r->messages == sent / SIZE);
	assert_int_equal(r->bytes, sent);
}

LOCAL_TEST(test_an_answer_over_the_limit_is_refused_to_the_server)
{
	f->answer = (1 << 20) + 1;
	rig_say(r, "{}");
	UNTIL(r->loop, f->received == 1);
	assert_int_equal(f->last_end, CLEAT_ELIMIT);
	f->answer--;
	rig_say(r, "{}");
	UNTIL(r->loop, heard(r, f, 1));
}

TEST(test_close_and_free_in_any_state_and_event)
{
	static const char *const events[] = { "up", "message", "failed", "down", "none" };
	static const char *const acts[] = { "free", "close", "open" };

	for (size_t i = 0; i < CLEAT_COUNT(events) * CLEAT_COUNT(acts); i++) {
		struct link_rig r;
		struct fake f;

		make(&r, &f, NULL);
		r.on = events[i / CLEAT_COUNT(acts)];
		r.act = acts[i % CLEAT_COUNT(acts)];
		rig_open(&r);
		UNTIL(r.loop, r.ups == 1);
		f.lose = strcmp(events[i / CLEAT_COUNT(acts)], "failed") == 0;
		if (r.link && rig_send(&r, "{}", 2) == CLEAT_OK)
			rig_send(&r, "[]", 2);
		for (int k = 0; k < 4; k++)
			cleat_loop_step(r.loop, 0);
		if (r.link && r.on && f.open) {
			f.open = false;
			link_local_lost(r.link);
			UNTIL(r.loop, r.downs == 1);
		}
		if (r.link && strcmp(r.act, "close") == 0 && !r.on)
			UNTIL(r.loop, r.closes == 1);
		rig_done(&r);
		assert_false(f.open);
	}
}

/* Two that never stop must not keep the loop from the rest. */
static void on_time(void *ctx)
{
	*(bool *)ctx = true;
}

LOCAL_TEST(test_an_endless_talk_leaves_time_for_others)
{
	bool rang = false;
	struct loop_timer *t = loop_timer_new(r->loop, on_time, &rang);

	r->echoes = true;
	loop_timer_start(t, 10);
	rig_say(r, "{}");
	UNTIL(r->loop, rang);
	assert_true(r->messages > 64 && f->received > 64);
	loop_timer_free(t);
}

TEST(test_a_reset_link_has_another_peer_next_time)
{
	for (int inside = 0; inside < 2; inside++) {
		struct link_rig r;
		struct fake f;

		make(&r, &f, NULL);
		r.link->ops->reset(r.link); /* nothing to do */
		rig_up_now(&r);
		if (inside) {
			r.on = "message";
			r.act = "renew";
			rig_say(&r, "{}");
			UNTIL(r.loop, f.accepted == 2 || heard(&r, &f, 2));
		} else {
			r.link->ops->reset(r.link);
			assert_int_equal(f.closed, 1);
			assert_int_equal(rig_send(&r, "{}", 2), CLEAT_ECLOSED);
			rig_open(&r);
		}
		UNTIL(r.loop, r.ups == 2);
		assert_int_equal(f.closed, 1);
		assert_int_equal(r.downs, 0);
		rig_say(&r, "{}");
		UNTIL(r.loop, heard(&r, &f, (unsigned)inside + 1));
		rig_close_now(&r);
		rig_done(&r);
	}
}

TEST(test_every_allocation_may_fail)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct link_rig r;
		struct fake f;

		make(&r, &f, &fa.hook);
		if (r.link) {
			int sent;

			rig_up_now(&r);
			sent = rig_send(&r, "{}", 2);
			assert_true(sent == CLEAT_OK || sent == CLEAT_ENOMEM);
			if (sent == CLEAT_OK)
				UNTIL(r.loop, f.received == 1);
			if (sent == CLEAT_OK && f.last_end == CLEAT_OK)
				UNTIL(r.loop, r.messages == 1);
			rig_close_now(&r);
		} else {
			assert_int_equal(r.err.status, CLEAT_ENOMEM);
		}
		rig_done(&r);
	}
}

TEST_GROUP(warm_up, NULL)
