/* test_server_life.c - the life of a request on one thread: inline, deferred, misused, failed,
 * cancelled in every phase, timed out, left behind by its connection.
 */
#include "test.h"
#include "unit/server/test_server.h"

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

RIG_TEST(deferred_request_is_answered_by_finish)
{
	rig_start(r, &hold_tool, 1);
	assert_string_equal(rig_ask(r, CALL("1", "hold", "{}")), "");
	assert_int_equal(cleat_wire_inflight(r->w), 1);
	/* others are served meanwhile */
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
	atomic_store(&r->wakes, 0);
	finish_text(held, "done");
	assert_true(atomic_load(&r->wakes) > 0);
	rig_clear(r);
	assert_one_message(rig_poll(r));
	assert_has(r->out,
		   "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	assert_string_equal(r->notes, "");
}

static int defer_and_finish(cleat_request *req)
{
	cleat_request_defer(req);
	cleat_request_defer(req); /* a second time changes nothing */
	finish_text(req, "early");
	return CLEAT_PENDING;
}

static int defer_finish_and_fail(cleat_request *req)
{
	defer_and_finish(req);
	return CLEAT_EIO; /* "only cleat_request_finish() ends the request" */
}

RIG_TEST(finish_before_the_handler_returned)
{
	static const cleat_tool tools[] = { { .name = "early", .call = defer_and_finish },
					    { .name = "odd", .call = defer_finish_and_fail } };

	rig_start(r, tools, 2);
	assert_has(rig_ask(r, CALL("1", "early", "{}")), "\"text\":\"early\"");
	assert_has(rig_ask(r, CALL("2", "odd", "{}")), "\"text\":\"early\"");
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	rig_poll(r);
	assert_string_equal(r->notes, "");
}

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
	cleat_request_finish(held, CLEAT_EIO); /* and after it was answered */
	rig_clear(r);
	assert_string_equal(rig_poll(r), "");
	assert_has(r->notes, "cleat_request_finish was called twice");
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
}

static int finish_only(cleat_request *req)
{
	cleat_request_finish(req, CLEAT_EIO);
	return cleat_reply_text(req, "normal");
}

RIG_TEST(finish_without_defer_is_noticed_and_not_obeyed)
{
	rig_start(r, &(cleat_tool){ .name = "f", .call = finish_only }, 1);
	assert_has(rig_ask(r, CALL("1", "f", "{}")), "\"text\":\"normal\"");
	rig_poll(r);
	assert_has(r->notes, "without cleat_request_defer");
	assert_messages(r->out, 1);
}

static int pending_only(cleat_request *req)
{
	(void)req;
	return CLEAT_PENDING;
}

static int nothing_at_all(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

RIG_TEST(handlers_that_do_not_answer_are_noticed)
{
	static const cleat_tool tools[] = { { .name = "pending", .call = pending_only },
					    { .name = "silent", .call = nothing_at_all } };

	rig_start(r, tools, 2);
	assert_has(rig_ask(r, CALL("1", "pending", "{}")), "-32603");
	assert_has(r->notes, "returned CLEAT_PENDING without cleat_request_defer");
	r->notes[0] = '\0';
	assert_has(rig_ask(r, CALL("2", "silent", "{}")), "-32603");
	assert_has(r->notes, "silent returned without a reply");
}

/* ---- statuses ------------------------------------------------------------------------------- */

static int wanted_status;

static int give_status(cleat_request *req)
{
	(void)req;
	return wanted_status;
}

static int text_then_status(cleat_request *req)
{
	cleat_reply_text(req, "half");
	return wanted_status;
}

/* Every failure gives exactly one answer, and what was replied before does not leak into it. */
RIG_TEST(every_failure_gives_one_answer)
{
	static const int all[] = {
#define VALUE(name, value, text) value,
		CLEAT_STATUS_MAP(VALUE)
#undef VALUE
			- 99,
		99
	};
	static const cleat_tool tools[] = { { .name = "s", .call = give_status },
					    { .name = "t", .call = text_then_status } };

	rig_start(r, tools, 2);
	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		wanted_status = all[i];
		assert_one_message(rig_ask(r, CALL("1", "s", "{}")));
		assert_has(r->out, "\"id\":1");
		if (all[i] < 0)
			assert_true(strstr(r->out, "\"error\":") ||
				    strstr(r->out, "\"isError\":true"));
		assert_one_message(rig_ask(r, CALL("2", "t", "{}")));
		if (all[i])
			assert_lacks(r->out, "half");
	}
	assert_int_equal(cleat_wire_inflight(r->w), 0);
}

RIG_TEST(finish_with_a_failure_is_like_returning_it)
{
	rig_start(r, &hold_tool, 1);
	rig_ask(r, CALL("1", "hold", "{}"));
	cleat_request_finish(held, CLEAT_EIO);
	assert_has(rig_poll(r), "\"text\":\"input or output failed\"}],\"isError\":true");
	rig_ask(r, CALL("2", "hold", "{}"));
	cleat_request_finish(held, CLEAT_EDECLINED);
	assert_has(rig_poll(r), "user declined");
	rig_ask(r, CALL("3", "hold", "{}"));
	cleat_request_finish(held, CLEAT_PENDING); /* there is nobody left to wait for */
	assert_has(rig_poll(r), "\"id\":3,\"error\":{\"code\":-32603");
	assert_int_equal(cleat_wire_inflight(r->w), 0);
}

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

static void finish_from_cancel(cleat_request *req)
{
	cleat_request_finish(req, CLEAT_ECANCELLED);
}

/* The natural thing to do in the callback. */
TEST(callback_may_finish)
{
	struct rig r;

	rig_start(&r, &hold_tool, 1);
	rig_ask(&r, CALL("1", "hold", "{}"));
	cleat_request_on_cancel(held, finish_from_cancel);
	assert_string_equal(rig_ask(&r, CANCEL("1")), "");
	rig_poll(&r);
	assert_int_equal(cleat_wire_inflight(r.w), 0);
	rig_ask(&r, CALL("2", "hold", "{}"));
	cleat_request_on_cancel(held, finish_from_cancel);
	rig_stop(&r); /* closing cancels; the callback's finish must be enough for free() */
}

static int ran;

static int count_run(cleat_request *req)
{
	ran++;
	return cleat_reply_text(req, "ran");
}

/* Over max_inflight requests wait; one that is cancelled there never runs. */
RIG_TEST(cancel_in_the_queue)
{
	static const cleat_tool tools[] = { { .name = "hold", .call = hold },
					    { .name = "run", .call = count_run } };
	cleat_server_options opts = { .max_inflight = 1, .max_queued = 3 };

	ran = 0;
	rig_server(r, &opts);
	cleat_server_add_tools(r->s, tools, 2);
	rig_wire(r);
	rig_open(r, "2025-11-25");
	rig_ask(r, CALL("1", "hold", "{}"));
	assert_string_equal(rig_ask(r, CALL("2", "run", "{}")), "");
	assert_string_equal(rig_ask(r, CALL("3", "run", "{}")), "");
	assert_string_equal(rig_ask(r, CALL("4", "run", "{}")), "");
	assert_has(rig_ask(r, CALL("5", "run", "{}")), "\"id\":5,\"error\"");
	assert_has(rig_ask(r, CALL("3", "run", "{}")), "still being served");
	assert_string_equal(rig_ask(r, CANCEL("4")), ""); /* the last: its place is the tail */
	assert_string_equal(rig_ask(r, CANCEL("2")), ""); /* the first */
	assert_string_equal(rig_ask(r, CALL("6", "run", "{}")), "");
	finish_text(held, "1");
	assert_messages(rig_poll(r), 3);
	assert_has(r->out, "\"id\":1");
	assert_has(r->out, "\"id\":3");
	assert_has(r->out, "\"id\":6");
	assert_int_equal(ran, 2);
	assert_int_equal(cleat_wire_inflight(r->w), 0);
}

static int ask_roots(cleat_request *req)
{
	const cleat_json *roots;
	int rc;

	cleat_request_on_cancel(req, on_cancel);
	rc = cleat_ask_roots(req, "r", &roots);
	return rc ? rc : cleat_reply_textf(req, "%zu roots", cleat_json_size(roots));
}

/* A request that waits for its client's answer takes the question back. */
RIG_TEST(cancel_while_asking)
{
	cancel_calls = 0;
	rig_server(r, NULL);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "ask", .call = ask_roots });
	rig_wire(r);
	rig_open_caps(r, "2025-11-25", "{\"roots\":{}}");
	assert_has(rig_ask(r, CALL("7", "ask", "{}")), "\"method\":\"roots/list\"");
	assert_has(rig_ask(r, CANCEL("7")), "notifications/cancelled");
	assert_one_message(r->out);
	assert_int_equal(cancel_calls, 1);
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	/* the answer comes all the same */
	assert_string_equal(rig_ask(r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}"),
			    "");
	assert_has(r->notes, "a response to no question was ignored");
	/* and the next question works, with another id */
	assert_has(rig_ask(r, CALL("8", "ask", "{}")), "\"id\":2");
	assert_has(rig_ask(r, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"roots\":[]}}"),
		   "0 roots");
}

/* Asking and then the connection goes away, or the server. */
TEST(close_while_asking)
{
	struct rig r;

	for (int i = 0; i < 2; i++) {
		rig_server(&r, NULL);
		cleat_server_add_tool(r.s, &(cleat_tool){ .name = "ask", .call = ask_roots });
		rig_wire(&r);
		rig_open_caps(&r, "2025-11-25", "{\"roots\":{}}");
		assert_has(rig_ask(&r, CALL("7", "ask", "{}")), "roots/list");
		rig_clear(&r);
		if (i == 0)
			cleat_wire_eof(r.w);
		assert_string_equal(rig_take(&r), "");
		rig_stop(&r);
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t clock_ms;

static uint64_t fake_now(void *userdata)
{
	(void)userdata;
	return clock_ms;
}

RIG_TEST(deadline_answers_and_cancels)
{
	cleat_server_options opts = { .request_timeout_ms = 1000 };

	clock_ms = 5000;
	cancel_calls = 0;
	rig_server(r, &opts);
	cleat_server_add_tool(r->s, &hold_tool);
	r->w = cleat_wire_server(r->s, &(cleat_wire_options){ .now = fake_now, .userdata = r });
	rig_open(r, "2025-11-25");
	rig_ask(r, CALL("1", "hold", "{}"));
	cleat_request_on_cancel(held, on_cancel);
	assert_int_equal(cleat_wire_poll(r->w), 1000);
	clock_ms += 999;
	assert_int_equal(cleat_wire_poll(r->w), 1);
	assert_string_equal(rig_take(r), "");
	clock_ms += 1;
	assert_int_equal(cleat_wire_poll(r->w), -1);
	assert_has(rig_take(r),
		   "\"id\":1,\"error\":{\"code\":-32603,\"message\":\"the request took");
	assert_int_equal(cancel_calls, 1);
	finish_text(held, "late");
	rig_clear(r);
	assert_string_equal(rig_poll(r), ""); /* one answer is enough */
	assert_int_equal(cleat_wire_inflight(r->w), 0);
}

static cleat_request *several[4];
static size_t n_several;

static int hold_several(cleat_request *req)
{
	several[n_several++] = req;
	return hold(req);
}

/* A batch is answered when its last member has ended; cancelled members are left out of it, and do not
 * hold it up. */
RIG_TEST(batch_waits_for_its_members)
{
	static const cleat_tool tool = { .name = "hold", .call = hold_several };
	static const char batch[] = "[" CALL("1", "hold", "{}") "," REQUEST(
		"2", "ping", "") "," NOTE("notifications/x", "") "," CALL("3", "hold", "{}") "]";
	static const char two[] = "[" CALL("1", "hold", "{}") "," CALL("3", "hold", "{}") "]";

	n_several = 0;
	rig_server(r, NULL);
	cleat_server_add_tool(r->s, &tool);
	rig_wire(r);
	rig_open(r, "2025-03-26");
	assert_string_equal(rig_ask(r, batch), "");
	assert_int_equal(cleat_wire_inflight(r->w), 2);
	assert_string_equal(rig_ask(r, CANCEL("1")), "");
	assert_string_equal(rig_poll(r), "");
	finish_text(several[1], "three");
	assert_one_message(rig_poll(r));
	assert_has(r->out,
		   "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":3,");
	assert_lacks(r->out, "\"id\":1");
	rig_clear(r);
	finish_text(several[0], "one"); /* whenever it likes: nobody waits for it */
	assert_string_equal(rig_poll(r), "");
	/* all of them cancelled: there is nothing to say */
	n_several = 0;
	rig_ask(r, two);
	rig_ask(r, CANCEL("1"));
	rig_ask(r, CANCEL("3"));
	finish_text(several[0], "x");
	finish_text(several[1], "x");
	assert_string_equal(rig_poll(r), "");
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	/* the connection goes with half a batch */
	n_several = 0;
	rig_ask(r, batch);
	finish_text(several[0], "x");
	rig_poll(r);
	cleat_wire_eof(r->w);
	finish_text(several[1], "x");
}

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

RIG_TEST(close_with_queued_and_listening_requests)
{
	cleat_server_options opts = { .max_inflight = 1 };

	rig_server(r, &opts);
	cleat_server_add_tool(r->s, &hold_tool);
	rig_wire(r);
	rig_open(r, "2025-11-25");
	assert_has(rig_ask(r, REQUEST("\"l\"", "subscriptions/listen",
				      MODERN ",\"notifications\":{\"toolsListChanged\":true}")),
		   "acknowledged");
	rig_ask(r, CALL("1", "hold", "{}"));
	rig_ask(r, CALL("2", "hold", "{}"));
	rig_ask(r, CALL("3", "hold", "{}"));
	assert_int_equal(cleat_wire_inflight(r->w), 3);
	cleat_wire_eof(r->w);
	cleat_request_finish(held, CLEAT_OK);
}

/* ---- progress and log --------------------------------------------------------------------------- */

RIG_TEST(progress_and_log_stop_with_the_answer)
{
	rig_start(r, &hold_tool, 1);
	rig_ask(r, REQUEST("1", "tools/call",
			   "\"name\":\"hold\",\"_meta\":{\"progressToken\":\"p\"}"));
	cleat_request_progress(held, 1, 3, "step %d", 1);
	cleat_request_progress(held, 1, 3, "again");     /* does not increase */
	cleat_request_progress(held, 0.5, 3, "back");    /* neither */
	cleat_request_progress(held, 2, 0, NULL);        /* no total, no text */
	cleat_request_progress(held, 0.0 / 0.0, 3, "n"); /* no number */
	cleat_request_log(held, CLEAT_LOG_WARNING, "line\n%s", "two");
	cleat_request_log(held, CLEAT_LOG_DEBUG, "below the level");
	cleat_request_log(held, 99, "no level");
	cleat_request_log(held, -1, "no level");
	assert_messages(rig_take(r), 3);
	assert_has(r->out,
		   "\"progressToken\":\"p\",\"progress\":1,\"total\":3,\"message\":\"step 1\"");
	assert_has(r->out, "\"progress\":2}");
	assert_has(r->out, "\"level\":\"warning\",\"logger\":\"hold\",\"data\":\"line\\ntwo\"");
	rig_clear(r);
	rig_say(r, CANCEL("1"));
	cleat_request_progress(held, 3, 3, "after");
	cleat_request_log(held, CLEAT_LOG_ERROR, "after");
	assert_string_equal(rig_take(r), "");
	cleat_request_finish(held, CLEAT_OK);
	assert_string_equal(rig_poll(r), "");
}

/* Every run of a handler ends with its own reply: what a run before left is forgotten. */
static int ask_after_text(cleat_request *req)
{
	const cleat_json *roots;
	int rc;

	cleat_reply_text(req, "before");
	rc = cleat_ask_roots(req, "r", &roots);
	return rc ? rc : cleat_reply_text(req, "after");
}

RIG_TEST(second_run_starts_afresh)
{
	rig_server(r, NULL);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "ask", .call = ask_after_text });
	rig_wire(r);
	rig_open_caps(r, "2025-11-25", "{\"roots\":{}}");
	rig_ask(r, CALL("7", "ask", "{}"));
	rig_ask(r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}");
	assert_int_equal(count_of(r->out, "before"), 1);
	assert_int_equal(count_of(r->out, "after"), 1);
}

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

/* The same for a batch (2025-03-26), whose answers share one limit. */
RIG_TEST(batch_over_the_limit_is_answered)
{
	cleat_server_options opts = { .max_reply = 1600 };

	rig_server(r, &opts);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "big", .call = big });
	rig_wire(r);
	rig_open(r, "2025-03-26");
	rig_ask(r, "[" CALL("1", "big", "{}") "," CALL("2", "big", "{}") "," CALL("3", "big",
										  "{}") "]");
	rig_poll(r);
	assert_int_equal(cleat_wire_inflight(r->w), 0);
	assert_messages(r->out, 1);
	assert_has(rig_ask(r, REQUEST("4", "ping", "")), "\"id\":4");
}
