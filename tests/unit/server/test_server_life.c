/* test_server_life.c - the life of a request on one thread: inline, deferred, misused, failed,
 * cancelled in every phase, timed out, left behind by its connection.
 */
#include "test.h"
#include "unit/server/server_rig.h"

#include <poll.h>

static cleat_request *held;
static int cancel_calls;

static int hold(cleat_request *req)
{
	cleat_request_defer(req);
	held = req;
	return CLEAT_PENDING;
}

static void finish_text(cleat_request *req, const char *text)
{
	cleat_reply_text(req, text);
	cleat_request_finish(req, CLEAT_OK);
}

static const cleat_tool hold_tool = { .name = "hold", .call = hold };

/* ---- deferring ------------------------------------------------------------------------------ */

RIG_TEST(second_finish_is_noticed_and_not_obeyed)
{
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	finish_text(held, "once");
	cleat_request_finish(held, CLEAT_EIO); /* before the first was handled */
	assert_one_message(rig_poll(r));
	assert_has(r->out, "once");
	assert_has(r->notes, "error: cleat_request_finish was called twice");
	r->notes[0] = '\0';
	cleat_request_finish(held,
			     CLEAT_EIO); /* and after it was answered: not obeyed, and told once */
	rig_clear(r);
	assert_string_equal(rig_poll(r), "");
	assert_string_equal(r->notes, "");
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
}

/* What nobody heard of: each is told once, and the server lives on. */
static int reads_another_name(cleat_request *req)
{
	held = req;
	return cleat_reply_textf(req, "[%s]", cleat_arg_str(req, "nmae"));
}

static int defers_and_returns(cleat_request *req)
{
	hold(req);
	return CLEAT_OK;
}

RIG_TEST(misuse_is_told_once)
{
	static const cleat_tool tools[] = {
		{ .signature = "greet(name: string)", .call = reads_another_name },
		{ .name = "defers", .call = defers_and_returns },
	};

	rig_start(r, tools, 2);
	for (int i = 0; i < 2; i++) {
		assert_has(rig_ask(r, CALL("1", "greet", "{\"name\":\"x\"}")), "[]");
		assert_int_equal(cleat_reply_text(held, "late"), CLEAT_EMISUSE);
		rig_ask(r, CALL("2", "defers", "{}"));
		finish_text(held, "now");
		assert_int_equal(cleat_reply_text(held, "later"), CLEAT_EMISUSE);
		assert_has(rig_poll(r), "now");
	}
	assert_string_equal(
		r->notes,
		"error: greet has no argument \"nmae\"; did you mean \"name\"?\n"
		"error: a handler replied to a request that had been answered already\n"
		"error: the handler of tools/call deferred its request and returned \"success\" instead "
		"of CLEAT_PENDING: only cleat_request_finish() answers it\n");
}

/* ---- statuses ------------------------------------------------------------------------------- */

/* ---- cancelling ------------------------------------------------------------------------------ */

static void on_cancel(cleat_request *req)
{
	assert_true(cleat_request_cancelled(req));
	cancel_calls++;
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

/* 2025-11-25 utilities/cancellation: no response after notifications/cancelled; the id is free. */
RIG_TEST(cancel_reaches_flag_callback_and_descriptor)
{
	cleat_request *first;
	int fd;

	cancel_calls = 0;
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	first = held;
	fd = cleat_request_cancel_fd(held);
	assert_true(fd >= 0);
	assert_int_equal(cleat_request_cancel_fd(held), fd);
	cleat_request_on_cancel(held, on_cancel);
	assert_false(cleat_request_cancelled(held));
	assert_false(readable(fd));
	rig_ask(r, CANCEL("\"1\"")); /* another id */
	assert_false(cleat_request_cancelled(held));
	assert_string_equal(rig_ask(r, CANCEL("1")), "");
	assert_true(cleat_request_cancelled(held));
	assert_true(readable(fd));
	assert_int_equal(cancel_calls, 1);
	rig_ask(r, CANCEL("1"));
	assert_int_equal(cancel_calls, 1);
	assert_int_equal(cleat_wire_inflight(r->w), 1); /* it has not ended yet */
	/* the same id again, while the first still runs */
	assert_string_equal(rig_ask(r, CALL("1", "hold", "{}")), "");
	assert_ptr_not_equal(held, first);
	finish_text(first, "too late");
	assert_string_equal(rig_poll(r), "");
	finish_text(held, "second");
	assert_has(rig_poll(r), "second");
	assert_one_message(r->out);
	assert_string_equal(r->notes, "");
}

RIG_TEST(callback_set_after_the_cancel_runs_at_once)
{
	cancel_calls = 0;
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	cleat_request_on_cancel(held, on_cancel);
	cleat_request_on_cancel(held, NULL); /* takes it away */
	rig_ask(r, CANCEL("1"));
	assert_int_equal(cancel_calls, 0);
	cleat_request_on_cancel(held, on_cancel);
	assert_int_equal(cancel_calls, 1);
	assert_true(readable(cleat_request_cancel_fd(held)));
	cleat_request_finish(held, CLEAT_ECANCELLED);
	assert_string_equal(rig_poll(r), "");
	assert_string_equal(r->notes, "");
}

/* ---- time ------------------------------------------------------------------------------------ */

/* ---- closing ---------------------------------------------------------------------------------- */

RIG_TEST(eof_cancels_what_runs)
{
	int fd;

	cancel_calls = 0;
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	fd = cleat_request_cancel_fd(held);
	cleat_request_on_cancel(held, on_cancel);
	cleat_wire_eof(r->w);
	assert_true(cleat_request_cancelled(held));
	assert_true(readable(fd));
	assert_int_equal(cancel_calls, 1);
	assert_int_equal(cleat_wire_feed(r->w, "x\n", 2), CLEAT_ECLOSED);
	cleat_wire_eof(r->w);
	finish_text(held, "nobody hears");
	assert_string_equal(rig_poll(r), "");
}

/* A request that finished before the end of input is still answered. */
RIG_TEST(finished_before_eof_is_answered)
{
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	finish_text(held, "in time");
	cleat_wire_eof(r->w);
	assert_has(rig_take(r), "in time");
}

/* The wire goes first, the request ends later, the server last. */
TEST(request_outlives_its_wire)
{
	struct rig r;

	rig_start(&r, &hold_tool, 1);
	rig_ask(&r, CALL("1", "hold", "{}"));
	cleat_wire_free(r.w);
	assert_true(cleat_request_cancelled(held));
	assert_string_equal(cleat_request_name(held), "hold");
	assert_int_equal(cleat_reply_text(held, "x"), CLEAT_OK);
	cleat_request_progress(held, 1, 2, "x");
	cleat_request_log(held, CLEAT_LOG_ERROR, "x");
	cleat_request_finish(held, CLEAT_OK);
	r.w = NULL;
	rig_stop(&r); /* handles the finish, frees all */
}

/* ---- progress and log --------------------------------------------------------------------------- */

/* ---- answers that cannot be sent ------------------------------------------------------------------ */

static int big(cleat_request *req)
{
	char text[701];

	memset(text, 'b', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	return cleat_reply_text(req, text);
}

/* An answer that is over the limit becomes an error; if that is over it too (here by its id), the
 * request must still end: a client cannot make the server try forever. */
RIG_TEST(answers_over_the_limit_end_the_request)
{
	cleat_server_options opts;
	char line[1600], id[901];

	memset(id, 'i', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	rig_server(r, NULL);
	cleat_server_free(r->s);
	opts = rig_options(r);
	opts.max_reply = 800;
	rig_server(r, &opts);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "big", .call = big });
	rig_wire(r);
	rig_open(r, "2025-11-25");
	assert_has(rig_ask(r, CALL("1", "big", "{}")), "bbbb");
	snprintf(line, sizeof line, CALL("\"%.100s\"", "big", "{}"), id);
	assert_has(rig_ask(r, line), "\"code\":-32801");
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	snprintf(line, sizeof line, CALL("\"%s\"", "big", "{}"), id);
	rig_ask(r, line);
	rig_poll(r);
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	assert_true(r->n_out > 0 || r->notes[0]); /* said somewhere */
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
}
