/* test_client_hostile.c - servers and programs that do what nobody should: no call is left without an end,
 * and nobody else has to wait.
 */
#include "test.h"
#include "unit/client/client_rig.h"

/* streamable-http: the answer to a POST is in its own exchange. In another one's it ends neither that call
 * with somebody else's result, nor leaves the one that was posted without an end. */
TEST(an_answer_in_another_exchange_is_not_believed)
{
	static const char *const more[] = { "", ",\"error\":{\"code\":1,\"message\":\"m\"}" };

	for (size_t i = 0; i < CLEAT_COUNT(more); i++) {
		struct rig rig;
		struct rig_sent *first, *second;
		char text[256], id[64];

		rig_modern(&rig, NULL, true);
		rig_call(&rig, "tools/call", ADD);
		first = rig_request(&rig);
		rig_call(&rig, "tools/call", ADD);
		second = rig_request(&rig);
		rig_id_of(second->text, id, sizeof id);
		snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}%s}", id,
			 more[i]);
		rig_message(&rig, text, first->tag, 200);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "");
		rig_reply(&rig, second, 200, "\"result\":{\"content\":[]}");
		assert_int_equal(rig.n_done, 2);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		rig_done(&rig);
	}
}

static void call_again(struct rig *rig, cleat_call *call)
{
	(void)call;
	if (rig->n_done < RIG_MAX - 10)
		rig_call(rig, "tools/call", ADD);
}

/* A program that begins the next call whenever one has ended: others on the loop get their turn, ... */
RIG_TEST(calls_that_end_at_once_do_not_keep_the_loop)
{
	cleat_error why = { .status = CLEAT_EINVAL, .message = "wrong" };

	assert_true(rig_init(rig, NULL));
	client_fail(rig->c, CLEAT_STEP_ARGUMENTS, &why);
	rig->during_done = call_again;
	rig_call(rig, "tools/call", ADD);
	client_pump(rig->c);
	assert_true(rig->n_done >= 1);
	assert_true(rig->n_done < RIG_MAX - 10);
	rig->during_done = NULL;
	rig_pump(rig);
}

/* ... and closing the client has an end. */
RIG_TEST(closing_ends_although_calls_are_begun_for_ever)
{
	rig_modern(rig, &(cleat_client_options){ .max_calls = 8 }, false);
	rig->during_done = call_again;
	rig_call(rig, "tools/call", ADD);
	client_close(rig->c);
	assert_true(rig->n_done < 20);
}

/* ---- hostile servers ---------------------------------------------------------------------------- */

TEST(broken_answers_end_the_call_concerned)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":[]}", "instead of an object" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}", "instead of an object" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"error\":{}}", "not both" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":7}", "\"error\" is a number" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":\"x\",\"message\":\"\"}}",
		  "error.code" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":1,\"a\":2}}", "twice" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"result\":{}}", "no JSON-RPC" },
		{ "{\"id\":2,\"result\":{}}", "\"jsonrpc\" is missing" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"x\":tru}}", "cannot be read" },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{\"resultType\":\"maybe\"},\"id\":2}",
		  "resultType that is not known" },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{\"resultType\":1},\"id\":2}",
		  "resultType that is not known" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_modern(&rig, NULL, false);
		rig_call(&rig, "tools/call", ADD);
		rig_message(&rig, cases[i].text, NULL, 0);
		assert_int_equal(rig.n_done, 1);
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, cases[i].part);
		rig_done(&rig);
	}
}

TEST(what_belongs_to_nobody_is_noted)
{
	static const char *const lines[] = {
		"",
		"hello",
		"[]",
		"7",
		"{}",
		"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":2.0,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"?\"},\"id\":null}",
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"?\"}}",
		"[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]",
	};

	for (size_t i = 0; i < CLEAT_COUNT(lines); i++) {
		struct rig rig;

		rig_modern(&rig, NULL, false);
		rig_call(&rig, "tools/call", ADD);
		rig_message(&rig, lines[i], NULL, 0);
		assert_int_equal(rig.n_done, 0);
		assert_true(*rig.notes);
		rig_answer(&rig, TOOL_TEXT);
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		/* a second answer is none */
		rig_answer(&rig, TOOL_TEXT);
		assert_int_equal(rig.n_done, 1);
		rig_done(&rig);
	}
}

MODERN_TEST(unknown_notifications_are_ignored)
{
	rig_say(rig, NOTE("notifications/whatever", ""));
	rig_say(rig, NOTE("notifications/progress", ""));
	rig_say(rig, NOTE("notifications/cancelled", "\"requestId\":1"));
	rig_say(rig, NOTE("notifications/message", "\"level\":\"loud\",\"data\":1"));
	rig_say(rig, NOTE("notifications/message", "\"level\":\"info\""));
	rig_say(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}");
	assert_string_equal(rig->notes, "");
	assert_string_equal(rig->logs, "");
}

MODERN_TEST(too_large_an_answer_ends_the_only_call)
{
	rig_call(rig, "tools/call", ADD);
	rig->ev.oversize(rig->ev.ctx, NULL, 16777216);
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, "16777216");
	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "tools/call", ADD);
	rig->ev.oversize(rig->ev.ctx, NULL, 16777216);
	assert_int_equal(rig->n_done, 1);
	assert_has(rig->notes, "16777216");
}

/* Limits of opts.json: the id is found without parsing. */
MODERN_TEST(too_deep_an_answer_ends_its_call)
{
	static char text[3000];
	size_t n;

	rig_call(rig, "tools/call", ADD);
	rig_call(rig, "tools/call", ADD);
	n = (size_t)snprintf(
		text, sizeof text,
		"{\"x\":\"\\\"id\\\":3\",\"jsonrpc\":\"2.0\",\"result\":{\"id\":3,\"a\":");
	memset(text + n, '[', 1000);
	memset(text + n + 1000, ']', 1000);
	strcpy(text + n + 2000, "},\"id\": 2}");
	rig_message(rig, text, NULL, 0);
	assert_int_equal(rig->n_done, 1);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "cannot be read");
	assert_ptr_equal(rig->done_call[0], rig->done_call[0]);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
}

/* HTTP: the answer to a POST is for that POST, whatever id it has. */
RIG_TEST(an_answer_with_another_id_in_the_exchange_fails_the_call)
{
	rig_modern(rig, NULL, true);
	rig_call(rig, "tools/call", ADD);
	rig_message(rig, "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}", rig_request(rig)->tag,
		    200);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "another request's id");
	rig_call(rig, "tools/call", ADD);
	rig_message(rig, "{\"error\":\"nope\"}", rig_request(rig)->tag, 500);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "no JSON-RPC response");
	assert_int_equal(cleat_result_http_status(rig_result(rig)), 500);
	rig_call(rig, "tools/call", ADD);
	rig_message(rig,
		    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,"
		    "\"message\":\"busy\"}}",
		    rig_request(rig)->tag, 503);
	rig_expect(rig, CLEAT_EREMOTE, CLEAT_STEP_ANSWER, "tools/call add: busy");
}

RIG_TEST(a_failed_exchange_is_the_result)
{
	struct link_failure f = rig_failure(CLEAT_EIO, CLEAT_STEP_EXCHANGE, 0, "connection reset");
	size_t sent;

	rig_modern(rig, NULL, true);
	rig_call(rig, "tools/call", ADD);
	rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &f);
	rig_expect(rig, CLEAT_EIO, CLEAT_STEP_EXCHANGE, "tools/call add: connection reset");
	/* The server has certainly not seen it: sent again, once. */
	rig_call(rig, "tools/call", ADD);
	sent = rig->n_sent;
	f.unsent = true;
	rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &f);
	assert_int_equal(rig->n_sent, sent + 1);
	rig->ev.failed(rig->ev.ctx, rig_request(rig)->tag, &f);
	assert_int_equal(rig->n_done, 2);
	/* for nobody */
	rig->ev.failed(rig->ev.ctx, (void *)(uintptr_t)4711, &f);
}
