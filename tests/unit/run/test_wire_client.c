/* test_wire_client.c - a client and a server over two wires, back to back: no loop, no descriptor, and the
 * bytes move as the test says.
 */
#include "test.h"
#include "unit/run/test_run.h"

/* ---- two ends ------------------------------------------------------------------------------ */

struct ends {
	cleat_server *s;
	cleat_wire *server, *client;
	cleat_client *c;
	size_t slice;        /* bytes at a time; 0: all that there are */
	int status, ended;   /* of the last call */
	char text[256];      /* or the reason */
	cleat_request *held; /* a question that on_form has deferred */
	atomic_int wakes;
};

static uint64_t fake_now;

static uint64_t get_fake_now(void *userdata)
{
	(void)userdata;
	return fake_now;
}

static void on_wake(void *userdata)
{
	atomic_fetch_add(&((struct ends *)userdata)->wakes, 1);
}

static void on_done(cleat_call *call, cleat_result *r)
{
	struct ends *e = cleat_client_userdata(cleat_call_client(call));

	e->ended++;
	e->status = cleat_result_status(r);
	snprintf(e->text, sizeof e->text, "%s",
		 e->status ? cleat_result_error(r)->message : cleat_result_text(r));
	cleat_result_free(r);
}

static const cleat_call_options call_options = { .on_done = on_done };

struct name {
	const char *name;
};

static int ask_name(cleat_request *req)
{
	static const cleat_field form[] = { CLEAT_FIELD(struct name, name, "Yours"),
					    CLEAT_FIELD_END };
	struct name answer;
	int rc = cleat_ask_form(req, "name", "Who?", form, &answer);

	return rc ? rc : cleat_reply_textf(req, "you are %s", answer.name);
}

static int on_form(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{name: %s}", "Ada");
}

static int on_form_later(cleat_request *req)
{
	((struct ends *)cleat_request_userdata(req))->held = req;
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

static void begin_with(struct ends *e, cleat_client_options o)
{
	const cleat_wire_options wo = { .now = get_fake_now, .wake = on_wake, .userdata = e };

	fake_now = 1000;
	*e = (struct ends){ .s = new_server(NULL), .status = 1 };
	cleat_server_add_tool(e->s, &(cleat_tool){ .signature = "ask()", .call = ask_name });
	e->server = cleat_wire_server(e->s, &(cleat_wire_options){ .now = get_fake_now });
	o.userdata = e;
	e->client = cleat_wire_client(&o, &wo);
	e->c = cleat_wire_get_client(e->client);
	assert_non_null(e->server);
	assert_non_null(e->c);
}

static void end(struct ends *e)
{
	cleat_wire_free(e->client);
	cleat_wire_free(e->server);
	cleat_server_free(e->s);
}

static bool carry(cleat_wire *from, cleat_wire *to, size_t slice)
{
	const void *p;
	size_t n = cleat_wire_peek(from, &p);
	char *copy;

	if (n == 0)
		return false;
	n = slice && slice < n ? slice : n;
	copy = malloc(n); /* of its own, so that reading beyond it is seen */
	assert_non_null(copy);
	memcpy(copy, p, n);
	assert_int_equal(cleat_wire_feed(to, copy, n), CLEAT_OK);
	cleat_wire_consume(from, n);
	free(copy);
	return true;
}

/* Until nothing moves any more. */
static void move(struct ends *e)
{
	bool more = true;

	while (more) {
		cleat_wire_poll(e->client);
		cleat_wire_poll(e->server);
		more = carry(e->client, e->server, e->slice);
		more |= carry(e->server, e->client, e->slice);
	}
}

static void expect(struct ends *e, int status, const char *part)
{
	if (e->status != status || !strstr(e->text, part))
		fail_msg("%d: %s", e->status, e->text);
	assert_int_equal(cleat_wire_inflight(e->client), 0);
}

/* A case on two ends, whose client has these options. */
#define ENDS_TEST(name, ...)                                                                       \
	TEST_ON(name, struct ends, e, begin_with(e, (cleat_client_options){ __VA_ARGS__ }), end)

/* ---- calls --------------------------------------------------------------------------------- */

TEST(calls_in_every_revision_and_any_slices)
{
	static const char *const protocols[] = { "2024-11-05", "2025-03-26", "2025-06-18",
						 "2025-11-25", "2026-07-28", NULL };
	static const size_t slices[] = { 0, 1, 7, 100 };

	for (size_t i = 0; i < CLEAT_COUNT(protocols) * CLEAT_COUNT(slices); i++) {
		const char *protocol = protocols[i % CLEAT_COUNT(protocols)];
		bool form = !protocol || strcmp(protocol, "2025-06-18") >= 0;
		struct ends e;

		begin_with(&e, (cleat_client_options){ .protocol = protocol, .on_form = on_form });
		e.slice = slices[i / CLEAT_COUNT(protocols)];
		assert_non_null(
			cleat_client_startf(e.c, &call_options, "hello", "{name: %s}", "you"));
		assert_true(atomic_load(&e.wakes) > 0);
		assert_int_equal(cleat_wire_inflight(e.client), 1);
		move(&e);
		expect(&e, CLEAT_OK, "hello you");
		assert_string_equal(cleat_client_revision(e.c), protocol ? protocol : "2026-07-28");
		cleat_client_startf(e.c, &call_options, "ask", NULL);
		move(&e);
		expect(&e, form ? CLEAT_OK : CLEAT_EREMOTE, form ? "you are Ada" : "");
		assert_int_equal(e.ended, 2);
		end(&e);
	}
}

static void *answer_later(void *arg)
{
	cleat_request *req = arg;

	cleat_request_finish(req, cleat_reply_jsonf(req, "{name: %s}", "Bob"));
	return NULL;
}

/* From another thread, which wakes the wire. */
TEST(a_question_may_be_answered_later)
{
	for (int era = CLEAT_ERA_LEGACY; era <= CLEAT_ERA_MODERN; era++) {
		pthread_t thread;
		struct ends e;

		begin_with(&e, (cleat_client_options){ .era = (enum cleat_era)era,
						       .on_form = on_form_later });
		cleat_client_startf(e.c, &call_options, "ask", NULL);
		move(&e);
		assert_non_null(e.held);
		assert_int_equal(e.ended, 0);
		atomic_store(&e.wakes, 0);
		assert_int_equal(pthread_create(&thread, NULL, answer_later, e.held), 0);
		pthread_join(thread, NULL);
		assert_true(atomic_load(&e.wakes) > 0);
		move(&e);
		expect(&e, CLEAT_OK, "you are Bob");
		end(&e);
	}
}

static void *cancel(void *arg)
{
	cleat_call_cancel(arg);
	return NULL;
}

TEST(a_call_is_given_up_from_any_thread)
{
	for (int other = 0; other < 2; other++) {
		struct ends e;
		pthread_t thread;
		cleat_call *call;

		begin_with(&e, (cleat_client_options){ 0 });
		call = cleat_client_startf(e.c, &call_options, "later", NULL);
		move(&e);
		assert_int_equal(cleat_wire_inflight(e.server), 1);
		atomic_store(&e.wakes, 0);
		if (other) {
			assert_int_equal(pthread_create(&thread, NULL, cancel, call), 0);
			pthread_join(thread, NULL);
		} else {
			cancel(call);
		}
		assert_int_equal(e.ended, 0); /* callbacks come from the wire's functions */
		assert_true(atomic_load(&e.wakes) > 0);
		move(&e);
		expect(&e, CLEAT_ECANCELLED, "");
		assert_true(cleat_request_cancelled(deferred[0]));
		cleat_request_finish(deferred[0], CLEAT_OK);
		end(&e);
	}
}

/* ---- time ---------------------------------------------------------------------------------- */

ENDS_TEST(time_is_what_the_wire_says, .timeout_ms = 700)
{
	int ms;

	cleat_client_startf(e->c, &call_options, "later", NULL);
	move(e);
	ms = cleat_wire_poll(e->client);
	assert_true(ms > 0 && ms <= 700);
	fake_now += (uint64_t)ms - 1;
	assert_int_equal(cleat_wire_poll(e->client), 1);
	assert_int_equal(e->ended, 0);
	fake_now++;
	cleat_wire_poll(e->client);
	expect(e, CLEAT_ETIMEOUT, "within 0.7 s");
	assert_int_equal(cleat_wire_poll(e->client), -1);
	move(e); /* the server learns of it */
	assert_true(cleat_request_cancelled(deferred[0]));
	cleat_request_finish(deferred[0], CLEAT_OK);
}

/* Nobody at the other end: the probe, then initialize, then the end of patience. */
ENDS_TEST(a_server_that_says_nothing, .probe_timeout_ms = 500, .connect_timeout_ms = 2000)
{
	cleat_client_startf(e->c, &call_options, "hello", NULL);
	for (int ms = 0; !e->ended && ms >= 0;) {
		fake_now += (uint64_t)ms;
		ms = cleat_wire_poll(e->client);
	}
	assert_int_equal(fake_now, 3000);
	expect(e, CLEAT_ETIMEOUT, "");
}

/* ---- ends ---------------------------------------------------------------------------------- */

ENDS_TEST(a_server_that_goes_away, .restart = true)
{
	cleat_client_startf(e->c, &call_options, "later", NULL);
	move(e);
	cleat_wire_eof(e->client);
	expect(e, CLEAT_ECLOSED, "the other side closed the connection");
	assert_int_equal(cleat_wire_feed(e->client, "{}\n", 3), CLEAT_ECLOSED);
	cleat_client_startf(e->c, &call_options, "hello", NULL);
	assert_int_equal(cleat_wire_poll(e->client), -1);
	expect(e, CLEAT_ECLOSED, "cannot be opened again");
	cleat_wire_eof(e->client);
	cleat_request_finish(deferred[0], CLEAT_OK);
}

ENDS_TEST(an_end_before_the_beginning, 0)
{
	cleat_wire_eof(e->client);
	cleat_client_startf(e->c, &call_options, "hello", NULL);
	cleat_wire_poll(e->client);
	expect(e, CLEAT_ECLOSED, "");
}

ENDS_TEST(free_ends_what_is_under_way, 0)
{
	cleat_client_startf(e->c, &call_options, "later", NULL);
	move(e);
	cleat_wire_free(e->client);
	assert_int_equal(e->status, CLEAT_ECLOSED);
	e->client = NULL;
	cleat_request_finish(deferred[0], CLEAT_OK);
}

/* What comes before the client has said anything, and what is not a message, is skipped. */
ENDS_TEST(noise_is_skipped_and_too_much_of_it_is_an_end, 0)
{
	assert_int_equal(cleat_wire_feed(e->client, "Welc", 4), CLEAT_OK);
	assert_int_equal(cleat_wire_feed(e->client, "ome\n", 4), CLEAT_OK);
	move(e);
	assert_true(cleat_client_ready(e->c));
	for (int i = 0; i < 99; i++)
		assert_int_equal(cleat_wire_feed(e->client, "x\n", 2), CLEAT_OK);
	cleat_wire_feed(e->client, "x\n", 2);
	assert_int_equal(cleat_wire_feed(e->client, "x\n", 2), CLEAT_ECLOSED);
	assert_int_equal(cleat_client_error(e->c)->status, CLEAT_EPROTO);
}

/* ---- misuse -------------------------------------------------------------------------------- */

static void feed_inside(cleat_client *c, const cleat_error *state, void *userdata)
{
	struct ends *e = userdata;

	(void)c;
	(void)state;
	assert_int_equal(cleat_wire_feed(e->client, "\n", 1), CLEAT_EMISUSE);
	assert_int_equal(cleat_wire_poll(e->client), -1);
	cleat_wire_free(e->client);
	e->ended++;
}

ENDS_TEST(nothing_waits_and_nothing_is_called_twice, .on_state = feed_inside)
{
	cleat_result *r;

	assert_int_equal(cleat_client_open(e->c), CLEAT_EMISUSE);
	r = cleat_client_callf(e->c, "hello", "{name: %s}", "x");
	assert_int_equal(cleat_result_status(r), CLEAT_EMISUSE);
	assert_non_null(strstr(cleat_result_error(r)->message, "wire"));
	cleat_result_free(r);
	r = cleat_client_ping(e->c);
	assert_int_equal(cleat_result_status(r), CLEAT_EMISUSE);
	cleat_result_free(r);
	assert_null(cleat_client_loop(e->c));
	cleat_client_free(e->c); /* its wire does that */
	assert_null(cleat_wire_get_client(e->server));
	assert_null(cleat_wire_get_client(NULL));
	assert_int_equal(cleat_client_start(e->c), CLEAT_OK);
	move(e);
	assert_int_equal(e->ended, 1);
}

ENDS_TEST(options_that_cannot_work_are_the_calls_result, .protocol = "1999")
{
	cleat_client_startf(e->c, &call_options, "hello", NULL);
	cleat_wire_poll(e->client);
	expect(e, CLEAT_EINVAL, "1999");
}

TEST(every_allocation_may_fail)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct ends e = { .s = new_server(NULL), .status = 1 };
		const cleat_client_options o = { .on_form = on_form,
						 .userdata = &e,
						 .allocator = &fa.hook };

		cleat_server_add_tool(e.s, &(cleat_tool){ .signature = "ask()", .call = ask_name });
		e.server = cleat_wire_server(e.s, &(cleat_wire_options){ .now = get_fake_now });
		e.client = cleat_wire_client(&o, &(cleat_wire_options){ .now = get_fake_now });
		e.c = cleat_wire_get_client(e.client);
		if (cleat_client_startf(e.c, &call_options, "ask", NULL))
			for (int i = 0; i < 100 && !e.ended; i++) {
				move(&e);
				fake_now += 1000;
			}
		assert_true(e.status == CLEAT_OK || fail_alloc_hit(&fa));
		end(&e);
	}
}
