/* test_fetcher_owners.c - transport/http_client and who uses it: owners that change their minds at any
 * moment, inside any event, memory that runs out, options that cannot work. Every fetch ends exactly once,
 * or not at all when nobody wants to know (see fetcher_rig.h).
 */
#include "test.h"
#include "unit/fetch/fetcher_rig.h"

/* ---- owners who change their minds ------------------------------------------------------------- */

RIG_TEST(cancelled_fetch_says_nothing_more)
{
	struct got *g;

	fetch_cancel(NULL);
	/* before the loop has turned */
	g = start_get(r, "/");
	fetch_cancel(g->f);
	got_silence(g, 0);
	assert_int_equal(r->o.accepted, 0);
	/* while it connects */
	g = start_get(r, "/");
	cleat_loop_step(r->l, 0);
	fetch_cancel(g->f);
	got_silence(g, 0);
	/* after the request has left */
	r->o.silent = true;
	g = start_post(r, "/", STR_LIT("{}"));
	WAIT_FOR(r, r->o.requests);
	fetch_cancel(g->f);
	got_silence(g, 0);
	WAIT_FOR(r, origin_connections(&r->o) == 0);
	/* in the middle of the answer */
	r->o.silent = false;
	r->o.answer = STR_LIT(OK_HELLO);
	r->o.cut = r->o.answer.n - 1;
	g = start_post(r, "/", STR_LIT("{}"));
	WAIT_FOR(r, g->bodies);
	fetch_cancel(g->f);
	got_silence(g, 1);
	WAIT_FOR(r, origin_connections(&r->o) == 0);
	web_alive(r);
}

/* In whichever event, with and without saying so twice. */
RIG_TEST(fetch_can_be_stopped_from_inside_its_events)
{
	for (int i = 0; i < 6; i++) {
		struct got *g;

		r->o.answer = STR_LIT(CHUNKED);
		r->o.slice = (size_t)i % 2;
		g = start_get(r, "/");
		g->stop_in_head = i / 2 == 0;
		g->stop_in_body = i / 2 == 1;
		g->cancel_in_head = i == 4 ? &g->f : NULL;
		g->cancel_in_body = i == 5 ? &g->f : NULL;
		WAIT_FOR(r, i / 2 == 1 || i == 5 ? g->bodies : g->heads);
		assert_int_equal(g->bodies, i / 2 == 1 || i == 5);
		got_silence(g, 1);
	}
	web_alive(r);
}

RIG_TEST(fetch_can_be_stopped_from_inside_an_event_of_another)
{
	for (int i = 0; i < 3; i++) {
		struct got *a, *b, *c;

		r->o.answer = STR_LIT(CHUNKED);
		r->o.cut = r->o.answer.n - 5;
		a = start_get(r, "/a");
		c = start_get(r, "/c");
		WAIT_FOR(r, a->bodies && c->bodies);
		r->o.cut = 0;
		b = start_get(r, "/b");
		if (i == 0)
			b->cancel_in_head = &a->f;
		else if (i == 1)
			b->cancel_in_body = &a->f;
		else
			b->cancel_in_end = &a->f;
		got_ok(wait_end(b), 200, "helloabc");
		assert_null(a->f);
		got_silence(a, 1);
		/* One that has not even begun, from the end of another. */
		a = start_get(r, "/a");
		fetch_cancel(c->f);
		got_silence(c, 1);
		got_ok(wait_end(a), 200, "helloabc");
	}
	web_alive(r);
}

TEST(client_can_be_freed_from_inside_any_event)
{
	for (int i = 0; i < 6; i++) {
		struct rig r;
		struct got *a, *b, *c;

		(void)state;
		web_open(&r, (struct fetcher_options){ 0 });
		r.o.answer = STR_LIT(CHUNKED);
		r.o.cut = r.o.answer.n - 5;
		a = start_get(&r, "/a");
		WAIT_FOR(&r, a->bodies);
		r.o.cut = 0;
		r.o.slice = (size_t)i % 2;
		b = start_get(&r, "/b");
		c = start_get(&r, "/c");
		b->free_in_head = i / 2 == 0;
		b->free_in_body = i / 2 == 1;
		b->free_in_end = i / 2 == 2;
		WAIT_FOR(&r, !r.h);
		web_turn(&r);
		assert_int_equal(b->ends, i / 2 == 2);
		assert_int_equal(a->ends, 0);
		free(a);
		free(b);
		free(c);
		web_close(&r);
	}
}

RIG_TEST_PLAIN(client_can_be_freed_with_fetches_in_every_state)
{
	struct got *g[4];

	fetcher_free(NULL);
	web_open(r, (struct fetcher_options){ 0 });
	r->o.answer = STR_LIT(CHUNKED);
	r->o.cut = r->o.answer.n - 5;
	g[0] = start_get(r, "/body");
	WAIT_FOR(r, g[0]->bodies);
	r->o.silent = true;
	g[1] = start_get(r, "/sent");
	WAIT_FOR(r, r->o.requests == 2);
	g[2] = start_get(r, "/connecting");
	cleat_loop_step(r->l, 0);
	g[3] = start_get(r, "/waiting");
	got_free_client(r);
	web_turn(r);
	assert_int_equal(origin_connections(&r->o), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(g[i]->ends, 0);
		free(g[i]);
	}
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void redirect_once(struct origin *o, struct line *c)
{
	line_answer(c, strstr(o->request, " /there ")
			       ? STR_LIT(CHUNKED)
			       : STR_LIT("HTTP/1.1 307 There\r\nLocation: /there\r\n"
					 "Content-Length: 0\r\n\r\n"));
}

static void attempt(struct fail_alloc *fa, bool *worked)
{
	struct rig r = { .l = cleat_loop_new(NULL) };
	const char *headers[] = { "A: b", NULL };
	struct fetch_options o = { .method = "POST", .body = { "{}", 2 }, .idle_ms = 5000 };
	cleat_error e = { 0 };
	struct got *g;

	assert_non_null(r.l);
	origin_open(&r.o, NULL);
	r.o.script = redirect_once;
	r.h = fetcher_new(
		&(struct fetcher_options){
			.loop = r.l, .mem = &fa->hook, .ca_file = "/dev/null", .proxy = "" },
		&e);
	g = got_new(&r, &o, headers);
	g->f = r.h ? fetch_start(r.h, &o, &e) : NULL;
	if (g->f)
		e = wait_end(g)->why.error;
	*worked = g->ok;
	assert_int_equal(e.status, g->ok ? CLEAT_OK : CLEAT_ENOMEM);
	free(g);
	fetcher_free(r.h);
	origin_close(&r.o);
	cleat_loop_free(r.l);
}

TEST(lack_of_memory_is_reported_and_leaves_nothing_behind)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		bool worked;

		attempt(&fa, &worked);
		assert_int_equal(fa.live, 0);
		assert_int_equal(worked, !fail_alloc_hit(&fa));
	}
}

/* No memory for a watch: what is under way ends, what comes later works. */
RIG_TEST(lack_of_memory_for_a_watch_ends_what_is_under_way)
{
	struct got *g;
	cleat_error e;
	struct fetcher *h;
	struct fetcher_options o;
	struct fail_alloc fa;

	fail_alloc_init(&fa, 0, false);
	o = r->opts;
	o.mem = &fa.hook;
	h = r->h;
	r->h = fetcher_new(&o, &e);
	assert_non_null(r->h);
	r->o.answer = STR_LIT(OK_HELLO);
	g = start_get(r, "/");
	fa.countdown = 1;
	fa.forever = true;
	got_failure(wait_end(g), CLEAT_STEP_EXCHANGE, CLEAT_ENOMEM, "out of memory");
	fa.countdown = 0;
	fa.forever = false;
	web_alive(r);
	fetcher_free(r->h);
	assert_int_equal(fa.live, 0);
	r->h = h;
}

RIG_TEST(options_that_cannot_work_are_refused)
{
	static const struct fetcher_options cases[] = {
		{ .ca_file = "/nonexistent/ca.pem" },
		{ .client_cert = "/nonexistent/cert.pem" },
		{ .client_key = "/nonexistent/key.pem" },
		{ .user_agent = "a\r\nb: c" },
		{ .unix_socket =
			  "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct fetcher_options o = cases[i];
		cleat_error e = { 0 };

		o.loop = r->l;
		o.mem = &r->fa.hook;
		assert_null(fetcher_new(&o, &e));
		assert_int_equal(e.status, CLEAT_EINVAL);
		assert_int_equal(e.os_errno, i < 3 ? ENOENT : 0);
		assert_null(fetcher_new(&o, NULL));
	}
}
