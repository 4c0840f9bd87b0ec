/* tests/unit/test_rpc_peer.c - the answering side of <cleat/rpc.h>: envelopes, ids, handlers,
 * later answers.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

/* ---- envelopes ---- */

/* JSON-RPC 2.0, 5: the id is null where it could not be found out. */
TEST(every_malformed_envelope_has_its_answer)
{
	static const struct {
		const char *text;
		int code; /* 0: nothing is answered */
		const char *id;
	} cases[] = {
		{ "", -32700, "null" },
		{ " ", -32700, "null" },
		{ "{", -32700, "null" },
		{ "nul", -32700, "null" },
		{ "{}{}", -32700, "null" },
		{ "\"\xff\"", -32700, "null" },
		{ "{'jsonrpc':'2.0'}", -32700, "null" },
		{ "{" V "\"method\":\"echo\",\"id\":01}", -32700, "null" },
		{ "{" V "\"method\":\"echo\",\"id\":NaN}", -32700, "null" },
		{ "1", -32600, "null" },
		{ "null", -32600, "null" },
		{ "\"echo\"", -32600, "null" },
		{ "{}", -32600, "null" },
		{ "{\"method\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{\"jsonrpc\":\"1.0\",\"method\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{\"jsonrpc\":2,\"method\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{\"jsonrpc\":null,\"method\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{" V "\"id\":7}", -32600, "7" },
		{ "{" V "\"method\":1,\"id\":7}", -32600, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":{}}", -32600, "null" },
		{ "{" V "\"method\":\"echo\",\"id\":[7]}", -32600, "null" },
		{ "{" V "\"method\":\"echo\",\"id\":true}", -32600, "null" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"params\":\"x\"}", -32600, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"params\":1}", -32600, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"params\":null}", -32600, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"id\":7}", -32600, "null" },
		{ "{" V "\"method\":\"echo\",\"method\":\"sum\",\"id\":7}", -32600, "7" },
		{ "{" V "\"method\\u0000\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{" V "\"Method\":\"echo\",\"id\":7}", -32600, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"params\":{\"a\":1,\"a\":2}}", -32602, "7" },
		{ "{" V "\"method\":\"echo\",\"id\":7,\"params\":{\"a\\u0000\":1}}", -32602, "7" },
		/* never answered: notifications that are wrong in what they ask, and responses */
		{ "{" V "\"method\":\"echo\",\"params\":{\"a\":1,\"a\":2}}", 0, NULL },
		{ "{" V "\"result\":1}", 0, NULL },
		{ "{" V "\"result\":1,\"error\":{\"code\":1,\"message\":\"\"},\"id\":7}", 0, NULL },
		{ "{" V "\"error\":\"no\",\"id\":7}", 0, NULL },
		{ "{\"result\":1,\"id\":7}", 0, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_open(&rig, NULL);
		assert_int_equal(rig_in(&rig, cases[i].text), CLEAT_EPROTO);
		if (cases[i].code)
			assert_true(rig_expect_error(&rig, cases[i].code, cases[i].id)[0] != '\0');
		else
			assert_int_equal(rig.n_notices, 1);
		rig_expect_nothing(&rig);
		/* and the peer goes on */
		assert_int_equal(
			rig_in(&rig, "{" V "\"method\":\"sum\",\"params\":[1,2],\"id\":1}"),
			CLEAT_OK);
		rig_expect(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}");
		rig_close(&rig);
	}
}

RIG_TEST(lookalike_keys_are_ignored)
{
	rig_in(rig, "{" V "\"method\":\"echo\",\"id\":1,\"Params\":[1],\"param\\u017f\":[2]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}");
}

RIG_TEST(ids_come_back_byte_for_byte)
{
	static const char *const ids[] = {
		"0",
		"-0",
		"1.0",
		"1e0",
		"1E+2",
		"-1",
		"0.10",
		"\"1\"",
		"\"\"",
		"null",
		"\"\xc3\xa4\"",
		"123456789012345678901234567890",
		"-9223372036854775808",
		"1e400",
		"\"a\\\"b\\\\\"",
	};

	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		char in[200], out[200];

		snprintf(in, sizeof in, "{" V "\"method\":\"sum\",\"id\":%s}", ids[i]);
		snprintf(out, sizeof out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":0}", ids[i]);
		assert_int_equal(rig_in(rig, in), CLEAT_OK);
		rig_expect(rig, out);
	}
}

RIG_TEST_PLAIN(strict_ids_are_strings_or_integers)
{
	static const char *const bad[] = { "null", "1.5", "1e-3", "{}" };
	cleat_rpc_options o = rig_options(rig);

	o.strict_ids = true;
	rig_open(rig, &o);
	for (size_t i = 0; i < CLEAT_COUNT(bad); i++) {
		char in[200];

		snprintf(in, sizeof in, "{" V "\"method\":\"sum\",\"id\":%s}", bad[i]);
		assert_int_equal(rig_in(rig, in), CLEAT_EPROTO);
		rig_expect_error(rig, -32600, NULL);
	}
	rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1.0}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":0}");
}

/* ---- methods and handlers ---- */

RIG_TEST(names_that_cannot_be_registered)
{
	assert_int_equal(cleat_rpc_on(rig->rpc, "rpc.discover", rig_echo, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(rig->rpc, "", rig_echo, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(rig->rpc, NULL, rig_echo, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(rig->rpc, "\xff", rig_echo, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(rig->rpc, "x", NULL, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(NULL, "x", rig_echo, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_on(rig->rpc, "sum", rig_echo, NULL), CLEAT_EEXIST);
	assert_int_equal(cleat_rpc_on(rig->rpc, "rpc", rig_echo, NULL), CLEAT_OK);
	rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1,\"params\":[1]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}");
}

RIG_TEST(many_methods_are_all_found)
{
	char text[100];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof text, "m%d", i * 7919 % 500);
		assert_int_equal(cleat_rpc_on(rig->rpc, text, rig_get_data, NULL), CLEAT_OK);
	}
	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof text, "{" V "\"method\":\"m%d\",\"id\":1}", i);
		rig_in(rig, text);
		rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"hello\",5]}");
		rig_forget_output(rig);
	}
}

RIG_TEST(an_unknown_method_gets_a_suggestion)
{
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"substract\",\"id\":1}"), CLEAT_OK);
	assert_string_equal(rig_expect_error(rig, -32601, "1"),
			    "there is no method \"substract\"; did you mean \"subtract\"?");
	rig_in(rig, "{" V "\"method\":\"completely/else\",\"id\":1}");
	assert_string_equal(rig_expect_error(rig, -32601, "1"),
			    "there is no method \"completely/else\"");
	rig_in(rig, "{" V "\"method\":\"rpc.x\",\"id\":1}");
	rig_expect_error(rig, -32601, "1");
	/* a long name is cut between characters: 63 bytes, then one of two bytes */
	rig_in(rig,
	       "{" V "\"method\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	       "\xc3\xa4yyyy\",\"id\":1}");
	assert_string_equal(rig_expect_error(rig, -32601, "1"),
			    "there is no method "
			    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"");
	assert_int_equal(rig->n_notices, 0);
	rig_in(rig, "{" V "\"method\":\"substract\"}");
	rig_expect_nothing(rig);
	assert_int_equal(rig->n_notices, 1);
	assert_int_equal(rig->notices[0].status, CLEAT_ENOENT);
}

static int take_anything(cleat_rpc_call *call)
{
	return cleat_rpc_replyf(call, "%s", cleat_rpc_call_method(call));
}

RIG_TEST_PLAIN(the_fallback_sees_what_nobody_registered)
{
	cleat_rpc_options o = rig_options(rig);

	o.fallback = take_anything;
	rig_open(rig, &o);
	rig_in(rig, "{" V "\"method\":\"rpc.discover\",\"id\":1}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"rpc.discover\"}");
	rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0}");
}

RIG_TEST(handlers_that_do_not_answer_are_answered_for)
{
	rig_in(rig, "{" V "\"method\":\"mute\",\"id\":1}");
	assert_string_equal(rig_expect_error(rig, -32603, "1"), "mute returned without an answer");
	assert_int_equal(rig->n_notices, 1);
	assert_int_equal(rig->notices[0].status, CLEAT_EMISUSE);
	rig_in(rig, "{" V "\"method\":\"fail\",\"id\":2}");
	assert_string_equal(rig_expect_error(rig, -32603, "2"),
			    "fail failed: input or output failed");
	assert_int_equal(rig->n_notices, 1);
	/* a notification has nobody to tell but the program */
	rig_in(rig, "{" V "\"method\":\"fail\"}");
	rig_in(rig, "{" V "\"method\":\"mute\"}");
	rig_expect_nothing(rig);
	assert_int_equal(rig->n_notices, 2);
	assert_int_equal(rig->notices[1].status, CLEAT_EIO);
}

static int look_around(cleat_rpc_call *call)
{
	struct rig *rig = cleat_rpc_userdata(call);
	const char *id = cleat_rpc_call_id(call);

	assert_ptr_equal(cleat_rpc_call_peer(call), rig->rpc);
	assert_ptr_equal(cleat_rpc_call_id(call), id);
	return cleat_rpc_replyf(call, "[%s, %hhd, %s, %p, %p]", cleat_rpc_call_method(call),
				cleat_rpc_is_notification(call), id,
				(const void *)cleat_rpc_param(call, 1, "b"),
				(const void *)cleat_rpc_param(call, 9, NULL));
}

RIG_TEST(a_handler_can_ask_about_its_call)
{
	assert_int_equal(cleat_rpc_on(rig->rpc, "look", look_around, rig), CLEAT_OK);
	rig_in(rig, "{" V "\"method\":\"look\",\"id\":\"x\\u0000\",\"params\":[1,2.50]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":\"x\\u0000\",\"result\":[\"look\",false,"
			"\"\\\"x\\\\u0000\\\"\",2.50,null]}");
	rig_in(rig, "{" V "\"method\":\"look\",\"id\":null,\"params\":{\"b\":true}}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":[\"look\",false,\"null\",true,"
			"null]}");
	rig_in(rig, "{" V "\"method\":\"look\",\"params\":{\"b\":true}}");
	rig_expect_nothing(rig);
	assert_null(cleat_rpc_call_peer(NULL));
	assert_null(cleat_rpc_call_method(NULL));
	assert_null(cleat_rpc_call_params(NULL));
	assert_null(cleat_rpc_param(NULL, 0, "a"));
	assert_null(cleat_rpc_call_id(NULL));
	assert_null(cleat_rpc_userdata(NULL));
	assert_false(cleat_rpc_is_notification(NULL));
}

static int reject_it(cleat_rpc_call *call)
{
	int64_t how = cleat_json_int(cleat_rpc_param(call, 0, NULL), 0);

	switch (how) {
	case 0: return cleat_rpc_reject(call, 17, "no %s: %d%%", "cheese", 100);
	case 1: return cleat_rpc_reject(call, CLEAT_RPC_INVALID_PARAMS, NULL);
	case 2: return cleat_rpc_reject_data(call, 18, "why", cleat_rpc_call_params(call));
	case 3: return cleat_rpc_reject_data(call, 19, NULL, NULL);
	case 4: return cleat_rpc_replyf(call, "{broken: ");
	case 5: return cleat_rpc_replyf(call, NULL);
	default: return cleat_rpc_reply(call, NULL);
	}
}

RIG_TEST(errors_are_written_as_asked)
{
	cleat_rpc_on(rig->rpc, "no", reject_it, NULL);
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[0]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":17,\"message\":"
			"\"no cheese: 100%\"}}");
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[1]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":"
			"\"Invalid params\"}}");
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[2]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":18,\"message\":\"why\","
			"\"data\":[2]}}");
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[3]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":19,\"message\":"
			"\"Server error\"}}");
	/* a slip in the template does not leave the other side waiting */
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[4]}");
	assert_string_equal(rig_expect_error(rig, -32603, "1"),
			    "the answer could not be made: invalid argument");
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[5]}");
	rig_expect_error(rig, -32603, "1");
	assert_int_equal(rig->n_notices, 2);
	rig_in(rig, "{" V "\"method\":\"no\",\"id\":1,\"params\":[6]}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}");
}

static int answer_twice(cleat_rpc_call *call)
{
	struct rig *rig = cleat_rpc_userdata(call);

	assert_int_equal(cleat_rpc_replyf(call, "1"), CLEAT_OK);
	rig->send_status = cleat_rpc_replyf(call, "2");
	assert_int_equal(cleat_rpc_reject(call, 1, "x"), CLEAT_EMISUSE);
	assert_string_equal(cleat_rpc_call_method(call), "twice"); /* still there */
	return CLEAT_OK;
}

RIG_TEST(a_second_answer_is_misuse)
{
	cleat_rpc_on(rig->rpc, "twice", answer_twice, rig);
	rig_in(rig, "{" V "\"method\":\"twice\",\"id\":1}");
	assert_int_equal(rig->send_status, CLEAT_EMISUSE);
	assert_int_equal(rig->n_out, 1);
	assert_int_equal(cleat_rpc_reply(NULL, NULL), CLEAT_EINVAL);
}

/* ---- later answers ---- */

RIG_TEST(calls_can_be_answered_later_and_in_any_order)
{
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":\"1\"}");
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1.0}");
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":null}");
	rig_in(rig, "{" V "\"method\":\"later\"}");
	rig_in(rig, "{" V "\"method\":\"later\"}");
	rig_in(rig, "{" V "\"method\":\"sum\",\"id\":2}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":0}");
	rig_expect_nothing(rig);
	rig_reply(rig, 4, "of a notification: goes nowhere");
	assert_int_equal(cleat_rpc_reject_data(rig->deferred[5], 1, "nor does this", NULL),
			 CLEAT_OK);
	rig_reply(rig, 3, "d");
	rig_reply(rig, 0, "a");
	rig_reply(rig, 2, "c");
	rig_reply(rig, 1, "b");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":\"d\"}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"a\"}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":\"c\"}");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":\"b\"}");
	rig_expect_nothing(rig);
}

RIG_TEST(an_id_in_flight_is_refused_and_the_first_goes_on)
{
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}"), CLEAT_EPROTO);
	rig_expect_error(rig, -32600, "null");
	assert_int_equal(rig->n_deferred, 1);
	rig_reply(rig, 0, "first");
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"first\"}");
	/* answered: the id is free */
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1}"), CLEAT_OK);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0}");
}

RIG_TEST_PLAIN(calls_in_flight_are_bounded)
{
	cleat_rpc_options o = rig_options(rig);

	o.max_inflight = 3;
	rig_open(rig, &o);
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":2}");
	rig_in(rig, "{" V "\"method\":\"later\"}"); /* a notification that waits counts too */
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":3}"), CLEAT_ELIMIT);
	rig_expect_error(rig, -32603, "3");
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\"}"), CLEAT_ELIMIT);
	assert_int_equal(rig->n_notices, 1);
	rig_reply(rig, 2, "");
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":3}"), CLEAT_OK);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":0}");
}

RIG_TEST(a_closed_peer_takes_no_answers)
{
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	rig_in(rig, "[{" V "\"method\":\"later\",\"id\":2}]");
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":3}"); /* freed with the peer */
	cleat_rpc_close(rig->rpc);
	cleat_rpc_close(rig->rpc);
	assert_int_equal(cleat_rpc_replyf(rig->deferred[0], "1"), CLEAT_ECLOSED);
	assert_int_equal(cleat_rpc_reject(rig->deferred[1], 1, "x"), CLEAT_ECLOSED);
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1}"), CLEAT_ECLOSED);
	assert_int_equal(cleat_rpc_notify(rig->rpc, "x", NULL), CLEAT_ECLOSED);
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "x", NULL), CLEAT_ECLOSED);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 5), -1);
	rig_expect_nothing(rig);
}
