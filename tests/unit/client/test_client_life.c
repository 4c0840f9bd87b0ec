/* test_client_life.c - clients of a server in the same process: calls that are given up, clients that are
 * freed at every moment, what the server asks, and memory that ends anywhere.
 */
#include "test.h"
#include "unit/client/test_client.h"

#include "loop/loop.h"

#include <poll.h>
#include <pthread.h>

/* ---- giving up ---------------------------------------------------------------------------- */

static void cancel_now(cleat_call *call, double done, double total, const char *message)
{
	(void)done;
	(void)total;
	(void)message;
	cleat_call_cancel(call);
	cleat_call_cancel(call); /* the second time does nothing */
}

TEST(a_call_is_given_up_in_its_progress)
{
	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		cleat_client_options o = { .protocol = revisions[i] };
		struct ending e = { 0 };
		cleat_call_options call = { .on_progress = cancel_now, .userdata = &e };
		struct rig g;

		rig_begin(&g, &o);
		assert_fails(cleat_client_request_withf(g.c, &call, "tools/call", "{name: 'hang'}"),
			     CLEAT_ECANCELLED);
		assert_text(cleat_client_callf(g.c, "echo", "{text: 'ok'}"), "ok");
		assert_int_equal(atomic_load(&g.cancelled), 1); /* the server was told */
		rig_end(&g);
	}
}

static void *cancel_thread(void *call)
{
	cleat_call_cancel(call);
	return NULL;
}

RIG_TEST(a_call_is_given_up_by_another_thread)
{
	enum { CALLS = 8 };
	struct ending e[CALLS] = { { 0 } };
	pthread_t threads[CALLS];

	for (int i = 0; i < CALLS; i++) {
		cleat_call_options o = ending_options(&e[i]);

		e[i].call = cleat_client_startf(g->c, &o, "hang", NULL);
	}
	while (e[CALLS - 1].progress == 0)
		cleat_loop_step(cleat_client_loop(g->c), 1000);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, cancel_thread, e[i].call), 0);
	for (int i = 0; i < CALLS; i++) {
		pthread_join(threads[i], NULL);
		wait_ending(g->c, &e[i]);
		assert_int_equal(e[i].status, CLEAT_ECANCELLED);
	}
	while (atomic_load(&g->cancelled) < CALLS)
		cleat_loop_step(cleat_client_loop(g->c), 1000);
}

/* Calls that end while another thread gives them up. The program's own lock sees to it that nobody
 * cancels what is gone. */
static struct race {
	pthread_mutex_t lock;
	cleat_call *under_way[16];
	bool over;
	int ended, cancelled;
} race;

static void *cancel_at_random(void *arg)
{
	unsigned n = 1;

	(void)arg;
	for (bool over = false; !over;) {
		cleat_call *call;

		n = n * 1103515245u + 12345u;
		pthread_mutex_lock(&race.lock);
		call = race.under_way[n >> 16 & 15];
		if (call)
			cleat_call_cancel(call);
		over = race.over;
		pthread_mutex_unlock(&race.lock);
	}
	return NULL;
}

static void race_done(cleat_call *call, cleat_result *r)
{
	cleat_call **slot = cleat_call_userdata(call);

	pthread_mutex_lock(&race.lock);
	*slot = NULL;
	pthread_mutex_unlock(&race.lock);
	race.ended++;
	race.cancelled += cleat_result_status(r) == CLEAT_ECANCELLED;
	cleat_result_free(r);
}

RIG_TEST(ending_and_giving_up_at_the_same_time)
{
	enum { CALLS = 2000 };
	pthread_t thread;
	int begun = 0;

	race = (struct race){ .lock = PTHREAD_MUTEX_INITIALIZER };
	assert_int_equal(cleat_client_open(g->c), CLEAT_OK);
	assert_int_equal(pthread_create(&thread, NULL, cancel_at_random, NULL), 0);
	while (race.ended < CALLS) {
		pthread_mutex_lock(&race.lock);
		for (size_t i = 0; i < CLEAT_COUNT(race.under_way); i++) {
			cleat_call_options o = { .on_done = race_done,
						 .userdata = &race.under_way[i] };

			if (!race.under_way[i] && begun++ < CALLS)
				race.under_way[i] = cleat_client_startf(
					g->c, &o, i % 4 ? "echo" : "hang", "{text: 'x'}");
		}
		pthread_mutex_unlock(&race.lock);
		cleat_loop_step(cleat_client_loop(g->c), 1000);
	}
	pthread_mutex_lock(&race.lock);
	race.over = true;
	pthread_mutex_unlock(&race.lock);
	pthread_join(thread, NULL);
	assert_int_equal(race.ended, CALLS);
	assert_true(race.cancelled > 0); /* those that hang, at the least */
	assert_text(cleat_client_callf(g->c, "echo", "{text: 'ok'}"), "ok");
}

RIG_TEST(a_call_is_given_up_before_the_server_is_ready)
{
	struct ending e = { 0 };
	cleat_call_options o = ending_options(&e);

	cleat_call_cancel(cleat_client_startf(g->c, &o, "echo", "{text: 'x'}"));
	assert_int_equal(e.count, 0);
	wait_ending(g->c, &e);
	assert_int_equal(e.status, CLEAT_ECANCELLED);
	assert_text(cleat_client_callf(g->c, "echo", "{text: 'ok'}"), "ok");
	assert_int_equal(e.count, 1);
}

/* ---- ending ------------------------------------------------------------------------------- */

TEST(freeing_ends_calls_that_are_under_way)
{
	enum { CALLS = 5 };
	struct ending e[CALLS] = { { 0 } };
	struct rig g;

	for (int steps = 0; steps < 4; steps++) { /* at several moments */
		memset(e, 0, sizeof e);
		rig_begin(&g, NULL);
		for (int i = 0; i < CALLS; i++)
			assert_non_null(cleat_client_startf(g.c, ENDING(&e[i]), "hang", NULL));
		for (int i = 0; i < steps; i++)
			cleat_loop_step(cleat_client_loop(g.c), 0);
		cleat_client_free(g.c);
		for (int i = 0; i < CALLS; i++) {
			assert_int_equal(e[i].count, 1);
			assert_int_equal(e[i].status, CLEAT_ECLOSED);
		}
		cleat_server_free(g.s);
	}
}

static void call_while_freeing(cleat_call *call, cleat_result *r)
{
	struct ending *e = cleat_call_userdata(call);
	cleat_client *c = cleat_call_client(call);

	cleat_result_free(r);
	r = cleat_client_callf(c, "echo", "{text: 'x'}");
	e->status = cleat_result_status(r);
	cleat_result_free(r);
	e->progress = cleat_client_open(c);
	cleat_client_free(c); /* has begun: does nothing */
	e->count++;
}

RIG_TEST(calls_inside_the_end_are_refused)
{
	struct ending e = { 0 };
	cleat_call_options o = { .on_done = call_while_freeing, .userdata = &e };

	cleat_client_startf(g->c, &o, "hang", NULL);
	cleat_client_free(g->c);
	g->c = NULL;
	assert_int_equal(e.count, 1);
	assert_int_equal(e.status, CLEAT_ECLOSED);
	assert_int_equal(e.progress, CLEAT_ECLOSED);
}

static void start_while_freeing(cleat_call *call, cleat_result *r)
{
	struct ending *e = cleat_call_userdata(call);
	cleat_call_options o = ending_options(e);

	cleat_result_free(r);
	o.userdata = e + 1;
	e->call = cleat_client_startf(cleat_call_client(call), &o, "echo", NULL);
	e->count++;
}

RIG_TEST(a_call_begun_inside_the_end_ends_too)
{
	struct ending e[2] = { { 0 } };
	cleat_call_options o = { .on_done = start_while_freeing, .userdata = &e };

	cleat_client_startf(g->c, &o, "hang", NULL);
	cleat_client_free(g->c);
	g->c = NULL;
	assert_int_equal(e[0].count, 1);
	assert_int_equal(e[1].count, e[0].call ? 1 : 0); /* if it was begun at all */
	if (e[0].call)
		assert_int_equal(e[1].status, CLEAT_ECLOSED);
}

static void free_now(void *ctx)
{
	cleat_client **c = ctx;

	cleat_client_free(*c);
	*c = NULL;
}

/* Somebody else's callback on the same loop: nothing can be stepped, so all ends at once. */
TEST(freeing_inside_a_callback_of_the_loop)
{
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_server *s = cleat_server_new("shared", "1", &(cleat_server_options){ .loop = loop });
	cleat_client *c = cleat_client_inproc(s, NULL);
	struct loop_timer *t = loop ? loop_timer_new(loop, free_now, &c) : NULL;
	struct ending e = { 0 };

	assert_non_null(t);
	add_all(s, NULL);
	assert_int_equal(cleat_client_open(c), CLEAT_OK);
	cleat_client_startf(c, ENDING(&e), "hang", NULL);
	loop_timer_start(t, 1);
	while (c)
		cleat_loop_step(loop, 1000);
	assert_int_equal(e.count, 1);
	assert_int_equal(e.status, CLEAT_ECLOSED);
	loop_timer_free(t);
	cleat_loop_step(loop, 0);
	cleat_server_free(s);
	cleat_loop_free(loop);
}

/* The server says good-bye to everybody; what is under way, and what comes after, ends. */
TEST(the_server_stops_under_its_client)
{
	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		struct ending e = { 0 };
		cleat_result *r;
		struct rig g;

		rig_begin(&g, &(cleat_client_options){ .protocol = revisions[i] });
		cleat_client_startf(g.c, ENDING(&e), "hang", NULL);
		while (!e.progress)
			cleat_loop_step(cleat_client_loop(g.c), 1000);
		cleat_server_stop(g.s);
		wait_ending(g.c, &e);
		assert_int_not_equal(e.status, CLEAT_OK);
		r = cleat_client_callf(g.c, "echo", "{text: 'x'}");
		assert_int_not_equal(cleat_result_status(r), CLEAT_ETIMEOUT);
		cleat_result_free(r);
		rig_end(&g);
	}
}

RIG_TEST(a_client_that_was_never_used_is_freed)
{
	assert_false(cleat_client_ready(g->c));
}

/* ---- questions ---------------------------------------------------------------------------- */

static int form_size(cleat_request *req)
{
	/* Perhaps on a worker thread, where nothing can be asserted. */
	if (strcmp(cleat_arg_str(req, "message"), "Which size?") != 0 || !cleat_request_client(req))
		return CLEAT_EMISUSE;
	return cleat_reply_jsonf(req, "{size: %d}", *(int *)cleat_request_userdata(req));
}

static int form_nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static int form_decline(cleat_request *req)
{
	(void)req;
	return CLEAT_EDECLINED;
}

TEST(questions_are_answered_by_handlers)
{
	static const struct {
		cleat_handler *on_form;
		const char *said;
	} cases[] = {
		{ form_size, "size 42" },
		{ form_nothing, "size 7" }, /* the default of the form */
		{ form_decline, "no: the user declined" },
		{ NULL, "no: the other side does not support this" },
	};
	int size = 42;

	for (size_t k = 3; k < CLEAT_COUNT(revisions); k++) /* defaults: since 2025-11-25 */
		for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
			for (int blocking = 0; blocking < 2; blocking++) {
				struct rig g;

				rig_begin(&g,
					  &(cleat_client_options){ .protocol = revisions[k],
								   .on_form = cases[i].on_form,
								   .blocking_handlers = blocking,
								   .userdata = &size });
				assert_text(cleat_client_callf(g.c, "ask", NULL), cases[i].said);
				assert_text(cleat_client_callf(g.c, "ask", NULL), cases[i].said);
				rig_end(&g);
			}
}

/* Wants a page to be visited first, where that can be said. */
static int tool_locked(cleat_request *req)
{
	const int *visits = cleat_request_userdata(req);

	if (*visits > 0)
		return cleat_reply_text(req, "open");
	return cleat_reply_reject_data(req, CLEAT_RPC_URL_ELICITATION,
				       "{\"elicitations\":[{\"mode\":\"url\",\"elicitationId\":"
				       "\"7\",\"url\":\"https://example.com/connect\","
				       "\"message\":\"Please connect\"}]}",
				       "not connected");
}

static int visit(cleat_request *req)
{
	int *visits = cleat_request_userdata(req);

	assert_string_equal(cleat_arg_str(req, "url"), "https://example.com/connect");
	assert_string_equal(cleat_arg_str(req, "message"), "Please connect");
	++*visits;
	return CLEAT_OK;
}

/* 2025-11-25 client/elicitation, URL Elicitation Required Error. */
TEST(a_page_that_has_to_be_visited_first_is)
{
	for (int agrees = 0; agrees < 2; agrees++)
		for (int blocking = 0; blocking < 2; blocking++) {
			int visits = 0;
			struct rig g;
			cleat_result *r;

			rig_begin(&g,
				  &(cleat_client_options){ .protocol = "2025-11-25",
							   .on_url = agrees ? visit : form_decline,
							   .blocking_handlers = blocking,
							   .userdata = &visits });
			cleat_server_add_tool(g.s, &(cleat_tool){ .name = "locked",
								  .call = tool_locked,
								  .userdata = &visits });
			r = cleat_client_callf(g.c, "locked", NULL);
			assert_int_equal(cleat_result_error(r)->rpc_code,
					 agrees ? 0 : CLEAT_RPC_URL_ELICITATION);
			assert_string_equal(cleat_result_text(r), agrees ? "open" : "");
			assert_int_equal(visits, agrees);
			cleat_result_free(r);
			rig_end(&g);
		}
}

static int form_wrong(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{size: %s}", "large");
}

static void count_note(cleat_client *c, int level, const char *text, void *userdata)
{
	(void)c;
	*(int *)userdata += level >= CLEAT_LOG_WARNING && strstr(text, "size") != NULL;
}

/* An answer that is not what was asked for never leaves; the program is told. */
TEST(a_wrong_answer_is_noted)
{
	for (size_t i = 3; i < CLEAT_COUNT(revisions); i++) {
		int notes = 0;
		struct rig g;

		rig_begin(&g, &(cleat_client_options){ .protocol = revisions[i],
						       .on_form = form_wrong,
						       .on_note = count_note,
						       .userdata = &notes });
		cleat_result_free(cleat_client_callf(g.c, "ask", NULL));
		assert_true(notes > 0);
		rig_end(&g);
	}
}

TEST(wrong_roots_are_the_result_of_calls)
{
	static const cleat_root wrong[] = { { .name = "no uri" }, { .uri = "not absolute" } };

	for (size_t i = 0; i < CLEAT_COUNT(wrong); i++) {
		cleat_result *r;
		struct rig g;

		rig_begin(&g, &(cleat_client_options){ .roots = &wrong[i], .n_roots = 1 });
		r = cleat_client_callf(g.c, "roots", NULL);
		assert_int_equal(cleat_result_step(r), CLEAT_STEP_ARGUMENTS);
		assert_has(cleat_result_error(r)->message, "root");
		assert_fails(r, CLEAT_EINVAL);
		rig_end(&g);
	}
}

TEST(roots_are_told)
{
	const cleat_root one[] = { { .uri = "file:///a", .name = "A" } };
	const cleat_root two[] = { { .uri = "file:///b" }, { .uri = "file:///c" } };
	const cleat_root bad[] = { { .name = "no uri" } };

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		struct rig g;

		rig_begin(&g, &(cleat_client_options){
				      .protocol = revisions[i], .roots = one, .n_roots = 1 });
		assert_text(cleat_client_callf(g.c, "roots", NULL), "1 roots, first file:///a");
		assert_int_equal(cleat_client_set_roots(g.c, two, 2), CLEAT_OK);
		assert_text(cleat_client_callf(g.c, "roots", NULL), "2 roots, first file:///b");
		assert_int_equal(cleat_client_set_roots(g.c, bad, 1), CLEAT_EINVAL);
		assert_int_equal(cleat_client_set_roots(g.c, NULL, 0), CLEAT_OK);
		assert_text(cleat_client_callf(g.c, "roots", NULL), "0 roots, first none");
		rig_end(&g);
		rig_begin(&g,
			  &(cleat_client_options){ .protocol = revisions[i], .offer_roots = true });
		assert_text(cleat_client_callf(g.c, "roots", NULL), "0 roots, first none");
		rig_end(&g);
		rig_begin(&g, &(cleat_client_options){ .protocol = revisions[i] });
		assert_int_equal(cleat_client_set_roots(g.c, one, 1), CLEAT_OK);
		assert_text(cleat_client_callf(g.c, "roots", NULL), "1 roots, first file:///a");
		rig_end(&g);
		rig_begin(&g, &(cleat_client_options){ .protocol = revisions[i] });
		assert_text(cleat_client_callf(g.c, "roots", NULL), "no roots");
		rig_end(&g);
	}
}

/* A handler that waits for a thing that never comes, until it is cancelled. */
static int form_wait(cleat_request *req)
{
	struct pollfd p = { .fd = cleat_request_cancel_fd(req), .events = POLLIN };

	atomic_store((atomic_int *)cleat_request_userdata(req), 1);
	poll(&p, 1, 20000);
	return CLEAT_ECANCELLED;
}

TEST(freeing_waits_for_a_blocking_handler)
{
	for (size_t i = 3; i < CLEAT_COUNT(revisions); i++) {
		struct ending e = { 0 };
		atomic_int begun;
		struct rig g;

		atomic_init(&begun, 0);
		rig_begin(&g, &(cleat_client_options){ .protocol = revisions[i],
						       .on_form = form_wait,
						       .blocking_handlers = true,
						       .userdata = &begun });
		cleat_client_startf(g.c, ENDING(&e), "ask", NULL);
		while (!atomic_load(&begun))
			cleat_loop_step(cleat_client_loop(g.c), 1);
		cleat_client_free(g.c);
		assert_int_equal(e.count, 1);
		assert_int_equal(e.status, CLEAT_ECLOSED);
		cleat_server_free(g.s);
	}
}

/* ---- memory ------------------------------------------------------------------------------- */

static int form_small(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{size: 1}");
}

/* A whole life; whatever fails, it ends in order. A message that there is no memory for is lost, so there
 * are limits to waiting. */
static void live(const cleat_allocator *mem, const char *revision)
{
	cleat_server *s = new_server(NULL);
	const cleat_root root = { .uri = "file:///a" };
	cleat_client *c =
		cleat_client_inproc(s, &(cleat_client_options){ .allocator = mem,
								.protocol = revision,
								.on_form = form_small,
								.roots = &root,
								.n_roots = 1,
								.timeout_ms = 30,
								.hard_timeout_ms = 200,
								.probe_timeout_ms = 30,
								.connect_timeout_ms = 200 });
	struct ending e = { 0 };
	cleat_call_options o = ending_options(&e);
	cleat_call *call;

	cleat_result_free(cleat_client_callf(c, "echo", "{text: %s}", "x"));
	cleat_result_free(cleat_client_list(c, CLEAT_LIST_TOOLS));
	cleat_result_free(cleat_client_callf(c, "ask", NULL));
	cleat_result_free(cleat_client_callf(c, "roots", NULL));
	cleat_client_set_roots(c, &root, 1);
	cleat_result_free(cleat_client_promptf(c, "greet", "{name: %s}", "Ann"));
	cleat_result_free(cleat_client_complete(c, "greet", "name", "", NULL));
	cleat_result_free(cleat_client_read(c, "text://motto"));
	call = cleat_client_startf(c, &o, "hang", NULL);
	if (call)
		cleat_call_cancel(call);
	while (call && !e.count)
		cleat_loop_step(cleat_client_loop(c), 1000);
	cleat_client_free(c);
	cleat_server_free(s);
}

TEST(memory_may_end_anywhere)
{
	for (size_t i = 3; i < 5; i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);)
			live(&fa.hook, revisions[i]);
}

/* Whichever way leads to the server: it is not there, or there is no memory to find that out. */
TEST(memory_may_end_on_the_way)
{
	static const char *const places[] = { "/nonexistent/server", "", "tcp://127.0.0.1:1",
					      "unix:/nonexistent/mcp.sock",
					      "unix-stream:/nonexistent/mcp.sock" };

	for (size_t i = 0; i < CLEAT_COUNT(places); i++)
		for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
			const cleat_client_options o = { .allocator = &fa.hook };
			const char *const argv[] = { places[i], NULL };
			cleat_client *c = i == 0   ? cleat_client_spawn(argv, &o)
					  : i == 1 ? cleat_client_attach(0, 1, &o)
						   : cleat_client_connect(places[i], &o);

			if (i != 1)
				assert_int_not_equal(cleat_client_open(c), CLEAT_OK);
			cleat_client_free(c);
		}
}
