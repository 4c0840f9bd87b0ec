/* Losing a server and reaching it again (2026-07-28 stdio, Unexpected Termination; 2025-11-25 transports,
 * Session Management). */
#include "test.h"
#include "unit/client/client_rig.h"

#define CALL_T "tools/call", "{\"name\":\"t\"}"
#define OK     "\"result\":{\"content\":[]}"

static void revive(struct rig *rig)
{
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
}

MODERN_TEST(calls_under_way_fail_at_once)
{
	rig_call(rig, CALL_T);
	rig_call(rig, CALL_T);
	rig_down(rig, "killed by signal 9");
	assert_int_equal(rig->n_done, 2);
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE,
		   "tools/call t: lost before the answer: killed by signal 9");
	assert_int_equal(client_phase(rig->c), CLIENT_DEAD);
	assert_int_equal(rig->n_states, 2);
	assert_string_equal(rig->states[1].message, "killed by signal 9");
	assert_string_equal(cleat_client_error(rig->c)->message, "killed by signal 9");
	rig_pass(rig, 100000);
	assert_int_equal(rig->opens, 1);
}

/* Without opts.restart a client heals when it is used. */
MODERN_TEST(the_next_call_tries_again)
{
	rig_down(rig, "gone");
	rig_call(rig, CALL_T);
	assert_int_equal(rig->opens, 2);
	revive(rig);
	rig_answer(rig, OK);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	/* once for each call */
	rig_down(rig, "gone");
	rig_call(rig, CALL_T);
	rig->ev.up(rig->ev.ctx, &(struct link_failure){ .step = CLEAT_STEP_SPAWN,
							.error = { .status = CLEAT_EIO,
								   .message = "no such file" } });
	rig_expect(rig, CLEAT_EIO, CLEAT_STEP_SPAWN, "tools/call t: no such file");
	assert_int_equal(rig->opens, 3);
	rig_call(rig, CALL_T);
	assert_int_equal(rig->opens, 4);
}

/* 2025-11-25 lifecycle: a connection is initialized once. Whatever came of that, the next attempt is on
 * another one, where there can be another. */
TEST(a_greeting_that_failed_is_not_repeated)
{
	for (int renews = 0; renews < 2; renews++) {
		struct rig rig;

		assert_true(rig_init(&rig, &(cleat_client_options){ .era = CLEAT_ERA_LEGACY,
								    .connect_timeout_ms = 5000 }));
		rig.link.renews = renews;
		rig_call(&rig, CALL_T);
		rig_up(&rig);
		assert_string_equal(rig_last(&rig)->method, "initialize");
		rig_pass(&rig, 5000);
		assert_int_equal(rig.n_done, 1);
		rig_call(&rig, CALL_T);
		assert_int_equal(rig.resets, renews);
		assert_int_equal(rig.opens, 1 + renews);
		if (renews)
			rig_up(&rig);
		assert_int_equal(rig.n_sent, 2);
		assert_string_equal(rig_last(&rig)->method, "initialize");
		rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		assert_int_equal(client_phase(rig.c), CLIENT_READY);
		rig_answer(&rig, OK);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		assert_int_equal(rig.resets, renews);
		rig_done(&rig);
	}
}

/* A stream that is closed already takes nothing: the call waits for the next one, once. */
TEST(what_was_not_taken_waits)
{
	struct rig rig;

	for (int restart = 0; restart < 2; restart++) {
		rig_modern(&rig, &(cleat_client_options){ .restart = restart }, false);
		rig.random = 1000;
		rig.send_status = CLEAT_ECLOSED;
		rig_call(&rig, CALL_T);
		rig_pump(&rig);
		assert_int_equal(rig.n_done, 0);
		rig_down(&rig, "gone");
		assert_int_equal(rig.n_done, 0);
		rig.send_status = CLEAT_OK;
		if (restart)
			rig_pass(&rig, 1000);
		assert_int_equal(rig.opens, 2);
		revive(&rig);
		assert_string_equal(rig_last(&rig)->method, "tools/call");
		rig_answer(&rig, OK);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		rig_done(&rig);
	}
	rig_modern(&rig, NULL, false);
	rig.send_status = CLEAT_ECLOSED;
	rig_call(&rig, CALL_T);
	rig_down(&rig, "gone");
	rig.send_status = CLEAT_OK;
	rig_up(&rig);
	rig_answer(&rig, RIG_DISCOVER(RIG_CAPS));
	rig_down(&rig, "gone");
	rig_expect(&rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE, "gone");
	assert_int_equal(rig.opens, 2);
	rig_done(&rig);
}

/* 1 s x 1.5 .. 30 s, and of that a random part. */
RIG_TEST(restarting_backs_off)
{
	static const int delays[] = { 1000, 1500, 2250 };

	rig_modern(rig, &(cleat_client_options){ .restart = true }, false);
	for (size_t i = 0; i < CLEAT_COUNT(delays); i++) {
		rig->random = (uint32_t)delays[i]; /* all of it */
		rig_down(rig, "gone");
		assert_int_equal(client_phase(rig->c), CLIENT_WAITING);
		assert_int_equal(rig_pump(rig), delays[i]);
		rig_pass(rig, (uint64_t)delays[i] - 1);
		assert_int_equal(rig->opens, i + 1);
		rig_pass(rig, 1);
		assert_int_equal(rig->opens, i + 2);
		revive(rig);
	}
	rig->random = 0; /* none of it, but never at once */
	rig_down(rig, "gone");
	assert_int_equal(rig_pump(rig), 100);
}

RIG_TEST(calls_wait_for_the_restart)
{
	rig_modern(rig, &(cleat_client_options){ .restart = true }, false);
	rig->random = 1000;
	rig_down(rig, "gone");
	rig_call(rig, CALL_T);
	assert_int_equal(rig->opens, 1);
	rig_pass(rig, 1000);
	revive(rig);
	assert_string_equal(rig_last(rig)->method, "tools/call");
	/* but not longer than they may */
	rig_down(rig, "gone again");
	rig_call_with(rig, &(cleat_call_options){ .timeout_ms = 500 }, CALL_T);
	rig_pass(rig, 500);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT,
		   "not ready within 0.5 s; the last reason: gone again");
}

/* Five deaths within a minute: nothing for 30 s, then one try. */
RIG_TEST(the_breaker_opens_and_closes)
{
	unsigned opens;

	rig_modern(rig, &(cleat_client_options){ .restart = true }, false);
	for (int i = 0; i < 4; i++) {
		rig->random = 0;
		rig_down(rig, "gone");
		rig_pass(rig, 100);
		revive(rig);
	}
	rig_call(rig, CALL_T);
	rig_down(rig, "gone");
	opens = rig->opens;
	assert_int_equal(client_phase(rig->c), CLIENT_WAITING);
	rig_call(rig, CALL_T);
	rig_pump(rig);
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE,
		   "lost 5 times within a minute and is tried again in 30 s");
	rig_pass(rig, 29999);
	assert_int_equal(rig->opens, opens);
	rig_pass(rig, 1);
	assert_int_equal(rig->opens, opens + 1);
	/* half open: calls wait for this one try */
	rig_call(rig, CALL_T);
	rig_down(rig, "gone");
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE, "gone");
	rig_pass(rig, 29999);
	assert_int_equal(rig->opens, opens + 1);
	rig_pass(rig, 1);
	assert_int_equal(rig->opens, opens + 2);
	revive(rig);
	rig_call(rig, CALL_T);
	rig_answer(rig, OK);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	/* one that lived long is restarted as usual */
	rig_pass(rig, 61000);
	rig->random = 1000;
	rig_down(rig, "gone");
	assert_int_equal(rig_pump(rig), 1000);
}

/* A server that never was ready is no reason to try for ever. */
RIG_TEST(a_server_that_does_not_start_is_not_restarted)
{
	assert_true(
		rig_init(rig, &(cleat_client_options){ .restart = true, .era = CLEAT_ERA_LEGACY }));
	rig_call(rig, CALL_T);
	rig_up(rig);
	rig_down(rig, "exited with status 2");
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE, "exited with status 2");
	assert_int_equal(client_phase(rig->c), CLIENT_DEAD);
}

/* transports, Session Management: 404 for a session: initialize anew; what it refused is sent again. */
RIG_TEST(a_lost_session_is_begun_anew)
{
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");

	lost.session_lost = lost.unsent = true;
	rig_legacy(rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig_call(rig, CALL_T);
	rig_call(rig, CALL_T);
	rig->ev.failed(rig->ev.ctx, rig->sent[2].tag, &lost);
	assert_int_equal(rig->resets, 2);
	assert_string_equal(rig_request(rig)->method, "initialize");
	rig->ev.failed(rig->ev.ctx, rig->sent[3].tag, &lost);
	assert_int_equal(rig->n_done, 0);
	rig_answer(rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	assert_int_equal(rig->listens, 2);
	assert_int_equal(rig->n_sent, 8);
	assert_string_equal(rig->sent[6].method, "tools/call");
	assert_string_equal(rig->sent[7].method, "tools/call");
	/* once for each call */
	rig->ev.failed(rig->ev.ctx, rig->sent[6].tag, &lost);
	rig_expect(rig, CLEAT_EIO, CLEAT_STEP_HTTP, "no such session");
}

RIG_TEST(sessions_are_not_begun_for_ever)
{
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");
	size_t sent = 0;

	lost.session_lost = true;
	rig_legacy(rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	for (int i = 0; i < 6 && client_phase(rig->c) == CLIENT_READY; i++) {
		rig_call(rig, CALL_T);
		rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &lost);
		if (client_phase(rig->c) != CLIENT_OPENING)
			continue;
		rig_reply(rig, rig_request(rig), 200, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
		rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &lost);
		if (client_phase(rig->c) == CLIENT_OPENING) {
			rig_reply(rig, rig_request(rig), 200,
				  RIG_INITIALIZE("2025-11-25", RIG_CAPS));
			rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
		}
		sent = rig->n_sent;
	}
	assert_true(sent < 40);
	assert_true(rig->n_done >= 2);
}

/* A server that knows no session is given up, but not for ever: a later call begins another one. */
TEST(a_server_that_lost_its_sessions_may_recover)
{
	struct rig rig;
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");

	lost.session_lost = true;
	rig_legacy(&rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	for (int i = 0; i < 6; i++) {
		size_t done = rig.n_done;

		rig_call(&rig, CALL_T);
		for (int k = 0; rig.n_done == done && k < 10; k++) {
			struct rig_sent *s = rig_request(&rig);

			if (!s->initialize) {
				rig.ev.failed(rig.ev.ctx, s->tag, &lost);
				continue;
			}
			rig_reply(&rig, s, 200, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
			rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
		}
		assert_int_equal(rig.n_done, done + 1);
	}
	/* Now it keeps them. */
	for (int i = 0; i < 2; i++) {
		rig_call(&rig, CALL_T);
		if (rig_request(&rig)->initialize) {
			rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
			rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
			rig_answer(&rig, "\"result\":{\"content\":[]}");
			assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
			rig_done(&rig);
			return;
		}
		rig.ev.failed(rig.ev.ctx, rig_request(&rig)->tag, &lost);
		if (rig_request(&rig)->initialize) {
			rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
			rig.ev.accepted(rig.ev.ctx, rig_last(&rig)->tag);
		}
	}
	fail_msg("no session was begun any more");
}

/* 404 for a request that was sent in the session before this one says nothing about this one. */
RIG_TEST(a_late_404_of_an_old_session_does_not_end_the_new_one)
{
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");
	struct rig_sent *again;

	lost.session_lost = true;
	rig_legacy(rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig_call(rig, CALL_T);
	rig_call(rig, CALL_T);
	rig->ev.failed(rig->ev.ctx, rig->sent[2].tag, &lost);
	rig_answer(rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
	again = rig_request(rig);
	rig->ev.failed(rig->ev.ctx, rig->sent[3].tag, &lost);
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
	assert_int_equal(rig->n_done, 0);
	rig_answer(rig, "\"result\":{\"content\":[]}");
	rig_reply(rig, again, 200, "\"result\":{\"content\":[]}");
	assert_int_equal(rig->n_done, 2);
	assert_int_equal(cleat_result_status(rig->done[0]), CLEAT_OK);
	assert_int_equal(cleat_result_status(rig->done[1]), CLEAT_OK);
}

/* HTTP: the stream of a session broke; perhaps the session is gone. */
RIG_TEST(a_gap_asks_for_the_session)
{
	struct link_failure lost = rig_failure(CLEAT_EIO, CLEAT_STEP_HTTP, 404, "no such session");

	lost.session_lost = true;
	rig_legacy(rig, NULL, true, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig->ev.gap(rig->ev.ctx);
	assert_string_equal(rig_last(rig)->method, "ping");
	rig_answer(rig, "\"result\":{}");
	assert_int_equal(client_phase(rig->c), CLIENT_READY);
	rig->ev.gap(rig->ev.ctx);
	rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &lost);
	assert_string_equal(rig_request(rig)->method, "initialize");
}

/* HTTP+SSE has a link that goes down as a whole. */
RIG_TEST(old_sse_is_opened_again)
{
	rig_legacy(rig, &(cleat_client_options){ .old_sse = true }, true,
		   RIG_INITIALIZE("2024-11-05", "{}"));
	rig_call(rig, CALL_T);
	rig_down(rig, "stream ended");
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_EXCHANGE, "stream ended");
	rig_call(rig, CALL_T);
	assert_int_equal(rig->opens, 2);
	rig_up(rig);
	assert_string_equal(rig_request(rig)->method, "initialize");
}

/* What is kept of results does not outlive the server that gave it. */
MODERN_TEST(a_new_server_is_asked_anew)
{
	rig_call(rig, "resources/read", "{\"uri\":\"a\"}");
	rig_answer(rig, "\"result\":{\"contents\":[],\"ttlMs\":99999,\"cacheScope\":\"public\"}");
	rig_down(rig, "gone");
	client_start(rig->c);
	revive(rig);
	rig_call(rig, "resources/read", "{\"uri\":\"a\"}");
	assert_string_equal(rig_last(rig)->method, "resources/read");
}

MODERN_TEST(remarks_and_stderr_are_passed_on)
{
	rig->ev.note(rig->ev.ctx, CLEAT_LOG_WARNING, "100 bad lines");
	rig->ev.err_line(rig->ev.ctx, "for nobody");
	assert_has(rig->notes, "100 bad lines");
}
