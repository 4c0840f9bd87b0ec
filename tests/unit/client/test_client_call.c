/* Calls of the client role: what is sent, what comes back, when they end. */
#include "test.h"
#include "unit/client/client_rig.h"

/* 2026-07-28 basic/index, per-request protocol fields; patterns/progress. */
RIG_TEST(modern_request_carries_its_metadata)
{
	rig_modern(rig, &(cleat_client_options){ .name = "me", .log_level = "info" }, false);
	rig_call(rig, "tools/call", ADD);
	assert_string_equal(
		rig_last(rig)->text,
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"add\","
		"\"arguments\":{\"a\":1,\"b\":2.50},\"_meta\":{\"progressToken\":2,"
		"\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"me\",\"version\":\"" CLEAT_VERSION
		"\"},\"io.modelcontextprotocol/clientCapabilities\":{},"
		"\"io.modelcontextprotocol/logLevel\":\"info\"}}}");
	assert_string_equal(rig_last(rig)->method, "tools/call");
	assert_string_equal(rig_last(rig)->name, "add");
	assert_int_equal(rig_last(rig)->rev, REV_2026_07_28);
	assert_true(rig_last(rig)->modern);
	assert_int_equal(rig->n_done, 0);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(rig->n_done, 1);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
	assert_string_equal(cleat_result_text(rig_result(rig)), "3.5");
}

RIG_TEST(legacy_request_carries_a_progress_token)
{
	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	rig_call(rig, "resources/read", "{\"uri\":\"file:///a\"}");
	assert_has(rig_last(rig)->text, "\"params\":{\"uri\":\"file:///a\","
					"\"_meta\":{\"progressToken\":");
	assert_lacks(rig_last(rig)->text, "io.modelcontextprotocol");
	assert_string_equal(rig_last(rig)->name, "file:///a");
	rig_answer(rig, "\"result\":{\"contents\":[{\"uri\":\"file:///a\",\"text\":\"x\"}]}");
	assert_string_equal(cleat_result_text(rig_result(rig)), "x");
}

/* The program's own _meta is kept, except where the protocol's own keys stand. */
MODERN_TEST(own_meta_is_merged)
{
	cleat_doc *meta = rig_json("{\"traceparent\":\"00-1\",\"x/y\":[1, 2]}");

	rig_call_with(rig,
		      &(cleat_call_options){ .meta = cleat_doc_root(meta), .log_level = "debug" },
		      "tools/list",
		      "{\"_meta\":{\"x/y\":3,\"z/z\":{},\"progressToken\":\"mine\","
		      "\"io.modelcontextprotocol/protocolVersion\":\"1\"}}");
	cleat_doc_free(meta); /* it was copied */
	assert_has(rig_last(rig)->text, "\"traceparent\":\"00-1\",\"x/y\":[1,2],\"z/z\":{}}}");
	assert_has(rig_last(rig)->text, "logLevel\":\"debug\"");
	assert_lacks(rig_last(rig)->text, "mine");
	assert_int_equal(count_of(rig_last(rig)->text, "protocolVersion"), 1);
}

TEST(wrong_params_are_the_result)
{
	static const struct {
		const char *params, *meta, *level, *part;
	} cases[] = {
		{ "[1]", NULL, NULL, "tools/call: the params: an array instead of an object" },
		{ "{\"a\":1,\"a\":2}", NULL, NULL, "the params" },
		{ "{}", "[]", NULL, "the meta" },
		{ "{}", "{\"a\":1,\"a\":2}", NULL, "the meta" },
		{ "{}", NULL, "loud", "log_level \"loud\"" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_doc *meta = cases[i].meta ? rig_json(cases[i].meta) : NULL;
		struct rig rig;

		rig_modern(&rig, NULL, false);
		rig_call_with(&rig,
			      &(cleat_call_options){ .meta = cleat_doc_root(meta),
						     .log_level = cases[i].level },
			      "tools/call", cases[i].params);
		cleat_doc_free(meta);
		assert_int_equal(rig.n_sent, 1);
		assert_int_equal(rig.n_done, 0);
		assert_true(rig.wakes > 0);
		rig_pump(&rig);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, CLEAT_EINVAL, CLEAT_STEP_ARGUMENTS, cases[i].part);
		rig_done(&rig);
	}
}

MODERN_TEST(calls_end_by_id_in_any_order)
{
	cleat_call *a, *b, *c;

	a = rig_call(rig, "prompts/get", "{\"name\":\"a\"}");
	b = rig_call(rig, "prompts/get", "{\"name\":\"b\"}");
	c = rig_call(rig, "prompts/get", "{\"name\":\"c\"}");
	rig_reply(rig, &rig->sent[3], 0, "\"result\":{\"messages\":[]}");
	rig_reply(rig, &rig->sent[1], 0, "\"result\":{\"messages\":[]}");
	rig_reply(rig, &rig->sent[2], 0, "\"result\":{\"messages\":[]}");
	assert_int_equal(rig->n_done, 3);
	assert_ptr_equal(rig->done_call[0], c);
	assert_ptr_equal(rig->done_call[1], a);
	assert_ptr_equal(rig->done_call[2], b);
}

MODERN_TEST(errors_say_what_failed_and_what_the_server_said)
{
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, "\"error\":{\"code\":-32602,\"message\":\"no such tool\","
			"\"data\":{\"x\":1}}");
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "tools/call add: no such tool");
	assert_int_equal(cleat_result_error(rig_result(rig))->rpc_code, -32602);
	assert_non_null(cleat_json_get(cleat_result_error_data(rig_result(rig)), "x"));
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, "\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\","
			"\"text\":\"overflow\"}]}");
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "overflow");
	assert_true(cleat_result_is_tool_error(rig_result(rig)));
}

/* ---- time -------------------------------------------------------------------------------------- */

/* 2026-07-28 patterns/cancellation, Timeouts: on a stream the server is told. */
MODERN_TEST(silence_ends_a_call_and_the_server_is_told)
{
	rig_call(rig, "tools/call", ADD);
	assert_int_equal(rig_pump(rig), 60000);
	rig_pass(rig, 59999);
	assert_int_equal(rig->n_done, 0);
	rig_pass(rig, 1);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT,
		   "tools/call add: the server did not answer within 60 s");
	assert_string_equal(rig_last(rig)->text,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			    "\"params\":{\"requestId\":2,\"reason\":\"timed out\"}}");
	assert_int_equal(rig_last(rig)->kind, LINK_NOTICE);
	/* "The client SHOULD ignore any response to the cancelled request that arrives afterward" */
	rig_say(rig, "{\"jsonrpc\":\"2.0\",\"id\":2," TOOL_TEXT "}");
	assert_int_equal(rig->n_done, 1);
	assert_lacks(rig->notes, "4 "); /* no warning for it, either */
	assert_int_equal(rig_pump(rig), -1);
}

/* The same clause: progress may set the clock back, but a maximum always counts. */
MODERN_TEST(progress_sets_the_clock_back_up_to_the_hard_timeout)
{
	rig_call_with(rig,
		      &(cleat_call_options){ .timeout_ms = 1000,
					     .hard_timeout_ms = 2500,
					     .on_progress = rig_on_progress },
		      "tools/call", ADD);
	rig_pass(rig, 900);
	rig_say(rig, NOTE("notifications/progress",
			  "\"progressToken\":2,\"progress\":1,\"total\":4,\"message\":\"m\""));
	rig_pass(rig, 900);
	rig_say(rig, NOTE("notifications/progress", "\"progressToken\":2,\"progress\":0.5"));
	rig_say(rig, NOTE("notifications/progress", "\"progressToken\":2,\"progress\":2"));
	rig_say(rig, NOTE("notifications/progress", "\"progressToken\":\"2\",\"progress\":3"));
	rig_say(rig, NOTE("notifications/progress", "\"progressToken\":77,\"progress\":3"));
	rig_say(rig, NOTE("notifications/progress", "\"progressToken\":2,\"progress\":\"x\""));
	assert_string_equal(rig->progress, "1/4 m\n2/0 \n");
	rig_pass(rig, 699);
	assert_int_equal(rig->n_done, 0);
	rig_pass(rig, 1);
	rig_expect(rig, CLEAT_ETIMEOUT, CLEAT_STEP_TIMEOUT, "within 2.5 s (hard_timeout_ms)");
}

/* 2026-07-28 patterns/cancellation, Transport-Specific Cancellation. */
TEST(cancelling_fits_the_transport)
{
	static const struct {
		bool modern, http;
		const char *notice;
		size_t forgotten;
	} cases[] = { { true, false, "notifications/cancelled", 0 },
		      { true, true, NULL, 1 },
		      { false, false, "notifications/cancelled", 0 },
		      { false, true, "notifications/cancelled", 1 } };

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;
		cleat_call *call;
		size_t before;

		if (cases[i].modern)
			rig_modern(&rig, NULL, cases[i].http);
		else
			rig_legacy(&rig, NULL, cases[i].http,
				   RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		call = rig_call(&rig, "tools/call", ADD);
		before = rig.n_sent;
		rig.inside = true;
		client_call_cancel(call);
		client_call_cancel(call);
		rig.inside = false;
		assert_int_equal(rig.n_forgotten, cases[i].forgotten);
		if (cases[i].forgotten)
			assert_ptr_equal(rig.forgotten[0], rig.sent[before - 1].tag);
		assert_int_equal(rig.n_sent, before + (cases[i].notice != NULL));
		if (cases[i].notice)
			assert_string_equal(rig_last(&rig)->method, cases[i].notice);
		rig_pump(&rig);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, CLEAT_ECANCELLED, CLEAT_STEP_CANCELLED, "tools/call add");
		rig_done(&rig);
	}
}

MODERN_TEST(marked_calls_are_cancelled)
{
	cleat_call *a, *b;

	a = rig_call(rig, "tools/call", ADD);
	b = rig_call(rig, "tools/call", ADD);
	client_call_mark(b);
	client_cancel_marked(rig->c);
	assert_int_equal(rig->n_done, 1);
	assert_ptr_equal(rig->done_call[0], b);
	rig_reply(rig, &rig->sent[1], 0, TOOL_TEXT);
	assert_ptr_equal(rig->done_call[1], a);
}

/* ---- many ---------------------------------------------------------------------------------------- */

static void start_another(struct rig *rig, cleat_call *call)
{
	(void)call;
	if (rig->n_done < 50)
		rig_call(rig, "tools/call", ADD);
}

MODERN_TEST(callbacks_may_start_calls)
{
	rig->during_done = start_another;
	rig_call(rig, "tools/call", ADD);
	for (int i = 0; i < 50; i++)
		rig_answer(rig, TOOL_TEXT);
	assert_int_equal(rig->n_done, 50);
}

RIG_TEST(too_many_calls_are_refused)
{
	rig_modern(rig, &(cleat_client_options){ .max_calls = 2 }, false);
	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "tools/call", ADD);
	assert_int_equal(rig->n_sent, 3);
	rig_pump(rig);
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_ARGUMENTS, "max_calls");
	rig_answer(rig, TOOL_TEXT);
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(rig->n_done, 3);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

RIG_TEST(calls_wait_while_the_server_is_reached)
{
	assert_true(rig_init(rig, NULL));
	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "prompts/list", NULL);
	assert_int_equal(rig->opens, 1);
	assert_int_equal(rig->n_sent, 0);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(rig->n_sent, 3);
	assert_string_equal(rig->sent[1].method, "tools/call");
	assert_string_equal(rig->sent[2].method, "prompts/list");
}

/* A call that waits ends like any other. */
RIG_TEST(waiting_calls_can_be_cancelled)
{
	cleat_call *call;

	assert_true(rig_init(rig, NULL));
	call = rig_call(rig, "tools/call", ADD);
	client_call_cancel(call);
	rig_pump(rig);
	rig_expect(rig, CLEAT_ECANCELLED, CLEAT_STEP_CANCELLED, "");
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_int_equal(rig->n_sent, 1);
}

MODERN_TEST(a_link_that_does_not_take_the_message_fails_the_call)
{
	rig->send_status = CLEAT_ELIMIT;
	rig_call(rig, "tools/call", ADD);
	rig_pump(rig);
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_EXCHANGE, "does not read");
	rig->send_status = CLEAT_OK;
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

MODERN_TEST(closing_ends_all_calls)
{
	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "tools/call", ADD);
	client_close(rig->c);
	assert_int_equal(rig->n_done, 2);
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_CANCELLED, "closed");
	assert_int_equal(rig->closes, 1);
	assert_false(client_closed(rig->c));
	rig->ev.closed(rig->ev.ctx);
	assert_true(client_closed(rig->c));
	rig_call(rig, "tools/call", ADD);
	rig_pump(rig);
	rig_expect(rig, CLEAT_ECLOSED, CLEAT_STEP_CANCELLED, "closed");
}

/* ---- what the server says by itself ------------------------------------------------------------- */

/* 2026-07-28 server/utilities/logging: messages are request-scoped. */
RIG_TEST(log_messages_go_to_the_call_or_the_client)
{
	void *tag;

	rig_modern(rig, NULL, true);
	rig_call_with(rig, &(cleat_call_options){ .on_log = rig_call_log, .log_level = "info" },
		      "tools/call", ADD);
	tag = rig_request(rig)->tag;
	rig_message(rig, NOTE("notifications/message", "\"level\":\"warning\",\"data\":\"hot\""),
		    tag, 0);
	rig_call(rig, "tools/call", ADD);
	rig_message(rig,
		    NOTE("notifications/message",
			 "\"level\":\"error\",\"logger\":\"db\",\"data\":\"gone\""),
		    rig_request(rig)->tag, 0);
	assert_string_equal(rig->logs, "call 3 hot\n4 db gone\n");
}

MODERN_TEST(everything_is_traced)
{
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(rig->traced_out, 2);
	assert_int_equal(rig->traced_in, 2);
}

static void call_back(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	struct rig *rig = client_runner(c);
	bool *once = userdata;

	(void)text;
	(void)n;
	if (!out || *once)
		return;
	*once = true;
	rig_call(rig, "prompts/get", "{\"name\":\"inner\"}");
}

/* Who hears of a message may send another one: the first is not disturbed. */
RIG_TEST(tracing_may_call)
{
	static bool once = true;
	struct client_hooks hooks = { rig_now, rig_wake, rig_random, rig_asked, rig };
	cleat_client *c;

	rig_modern(rig, NULL, false);
	client_close(rig->c);
	client_free(rig->c);
	c = client_new(&(cleat_client_options){ .on_message = call_back, .userdata = &once },
		       &hooks);
	rig->c = c;
	rig->frees = 0;
	client_set_runner(c, rig);
	client_set_link(c, &rig->link);
	rig->ev = client_link_events(c);
	client_start(c);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	once = false;
	rig_call(rig, "tools/call", ADD);
	assert_has(rig->sent[2].text, "\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2.50}");
	assert_has(rig->sent[3].text, "\"name\":\"inner\"");
	rig_reply(rig, &rig->sent[2], 0, TOOL_TEXT);
	rig_reply(rig, &rig->sent[3], 0, "\"result\":{\"messages\":[]}");
	assert_int_equal(rig->n_done, 2);
}

/* Freed at once, without being closed: nothing is left, nobody is called. */
TEST(freeing_needs_no_closing)
{
	struct rig rig;
	cleat_watch *w;

	assert_true(rig_init(&rig, NULL));
	rig_call(&rig, "tools/call", ADD);
	rig_call(&rig, "tools/call", "[]");
	rig_notify(&rig, "notifications/x", "{}");
	w = cleat_client_watch(rig.c, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS });
	assert_non_null(w);
	client_free(rig.c);
	assert_int_equal(rig.n_done, 0);
	assert_int_equal(rig.frees, 1);
	rig.c = NULL;
	rig_done(&rig);
	client_free(NULL);
}

RIG_TEST(notices_have_a_limit)
{
	int rc = CLEAT_OK;

	assert_true(rig_init(rig, NULL));
	for (int i = 0; i < 1000 && rc == CLEAT_OK; i++)
		rc = rig_notify(rig, "notifications/x", NULL);
	assert_int_equal(rc, CLEAT_ELIMIT);
	client_close(rig->c);
	assert_int_equal(client_start(rig->c), CLEAT_ECLOSED);
	assert_int_equal(rig_notify(rig, "notifications/x", NULL), CLEAT_ECLOSED);
}

MODERN_TEST(long_names_are_cut_in_messages)
{
	char params[400];

	snprintf(params, sizeof params, "{\"name\":\"%0300d\"}", 7);
	rig_call(rig, "tools/call", params);
	rig_answer(rig, "\"error\":{\"code\":1,\"message\":\"what the server says\"}");
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "00000: what the server says");
}

RIG_TEST(notifications_of_ours_wait_for_the_server)
{
	assert_true(rig_init(rig, NULL));
	assert_int_equal(rig_notify(rig, "notifications/x", "{\"a\":1}"), CLEAT_OK);
	assert_int_equal(rig_notify(rig, "notifications/y", NULL), CLEAT_OK);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER("{}"));
	assert_int_equal(rig->n_sent, 3);
	assert_string_equal(rig->sent[1].text,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\","
			    "\"params\":{\"a\":1}}");
	assert_string_equal(rig->sent[2].text,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/y\"}");
	assert_int_equal(rig_notify(rig, "notifications/z", NULL), CLEAT_OK);
	assert_int_equal(rig->n_sent, 4);
}

TEST(getters_tell_of_the_server)
{
	struct rig rig;

	assert_true(rig_init(&rig, NULL));
	assert_int_equal(cleat_client_era(rig.c), CLEAT_ERA_AUTO);
	assert_null(cleat_client_revision(rig.c));
	assert_null(cleat_client_server(rig.c));
	assert_string_equal(cleat_client_server_name(rig.c), "");
	assert_false(cleat_client_server_can(rig.c, "tools"));
	rig_done(&rig);
	rig_modern(&rig, NULL, false);
	assert_int_equal(cleat_client_era(rig.c), CLEAT_ERA_MODERN);
	assert_string_equal(cleat_client_revision(rig.c), "2026-07-28");
	assert_string_equal(cleat_client_server_name(rig.c), "srv");
	assert_string_equal(cleat_client_server_version(rig.c), "1.2");
	assert_string_equal(cleat_client_instructions(rig.c), "be kind");
	assert_true(cleat_client_server_can(rig.c, "resources.subscribe"));
	assert_false(cleat_client_server_can(rig.c, "resources.x"));
	assert_false(cleat_client_server_can(rig.c, ""));
	assert_int_equal(cleat_client_error(rig.c)->status, CLEAT_OK);
	assert_ptr_equal(cleat_client_userdata(rig.c), &rig);
	rig_done(&rig);
	assert_int_equal(cleat_client_era(NULL), CLEAT_ERA_AUTO);
	assert_null(cleat_client_revision(NULL));
	assert_string_equal(cleat_client_server_name(NULL), "");
	assert_null(cleat_client_instructions(NULL));
	assert_int_equal(cleat_client_error(NULL)->status, CLEAT_ENOMEM);
	assert_null(cleat_client_userdata(NULL));
	assert_null(cleat_call_userdata(NULL));
	assert_null(cleat_call_client(NULL));
}

TEST(a_given_failure_is_a_result)
{
	struct rig rig;
	cleat_error why = { .status = CLEAT_EINVAL, .message = "the template is wrong" };

	rig_modern(&rig, NULL, false);
	client_call_failed(rig.c, &(cleat_call_options){ .on_done = rig_on_done },
			   CLEAT_STEP_ARGUMENTS, &why);
	assert_int_equal(rig.n_done, 0);
	rig_pump(&rig);
	rig_expect(&rig, CLEAT_EINVAL, CLEAT_STEP_ARGUMENTS, "the template is wrong");
	rig_done(&rig);
	assert_true(rig_init(&rig, NULL));
	client_fail(rig.c, CLEAT_STEP_ARGUMENTS, &why);
	rig_call(&rig, "tools/call", ADD);
	rig_pump(&rig);
	rig_expect(&rig, CLEAT_EINVAL, CLEAT_STEP_ARGUMENTS, "the template is wrong");
	assert_int_equal(client_start(rig.c), CLEAT_EINVAL);
	assert_int_equal(rig.opens, 0);
	rig_done(&rig);
}
