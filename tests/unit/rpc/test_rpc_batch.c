/* tests/unit/test_rpc_batch.c - batches and limits of <cleat/rpc.h>: mixed, late and broken members,
 * sizes in both directions, a transport that fails.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

/* ---- batches ---- */

RIG_TEST(a_batch_waits_for_its_last_answer)
{
	rig_in(rig, "[{" V "\"method\":\"later\",\"id\":1},{" V "\"method\":\"sum\",\"id\":2},"
		    "{" V "\"method\":\"later\"},7,{" V "\"method\":\"later\",\"id\":3}]");
	rig_expect_nothing(rig);
	rig_reply(rig, 2, "three");
	rig_expect_nothing(rig);
	rig_reply(rig, 0, "one");
	rig_expect_nothing(rig);
	rig_reply(rig, 1, "");
	rig_expect(
		rig,
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"one\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":0},"
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
		"\"Invalid Request\",\"data\":{\"details\":\"the message is a number; it must be "
		"an object\"}}},"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"three\"}]");
}

RIG_TEST_PLAIN(a_batch_may_hold_everything)
{
	cleat_rpc_request_options ro = { .on_response = rig_response, .userdata = rig };

	rig_open(rig, NULL);
	assert_int_equal(cleat_rpc_request(rig->rpc, &ro, "x", NULL), 1);
	rig_next(rig);
	rig_in(rig, "[{" V "\"method\":\"sum\",\"id\":2},{" V "\"id\":1,\"result\":[7]},"
		    "{" V "\"method\":\"sum\",\"id\":2},{" V "\"id\":1,\"result\":8}]");
	assert_int_equal(rig->responses, 1);
	assert_string_equal(rig->last_result, "[7]");
	assert_int_equal(rig->n_notices, 1); /* the second answer */
	rig_expect(rig, "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":0},"
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":0}]");
	/* responses alone are not answered */
	rig_in(rig, "[{" V "\"id\":1,\"result\":8},{\"result\":8,\"id\":9}]");
	rig_expect_nothing(rig);
	/* arrays do not nest */
	rig_in(rig, "[[{" V "\"method\":\"sum\",\"id\":2}]]");
	assert_non_null(strstr(rig_next(rig), "-32600"));
}

RIG_TEST(an_id_twice_in_a_batch_is_refused_once)
{
	cleat_doc *doc;

	assert_int_equal(rig_in(rig, "[{" V "\"method\":\"later\",\"id\":1},"
				     "{" V "\"method\":\"later\",\"id\":1}]"),
			 CLEAT_EPROTO);
	rig_reply(rig, 0, "yes");
	doc = rig_parse(rig_next(rig));
	assert_int_equal(cleat_json_size(cleat_doc_root(doc)), 2);
	assert_string_equal(
		cleat_json_str(cleat_json_get(cleat_json_at(cleat_doc_root(doc), 0), "result"), ""),
		"yes");
	assert_non_null(cleat_json_get(cleat_json_at(cleat_doc_root(doc), 1), "error"));
	cleat_doc_free(doc);
}

TEST(batches_are_bounded_and_can_be_off)
{
	static const char two[] = "[{" V "\"method\":\"mute\"},{" V "\"method\":\"mute\"}]";
	struct rig rig;
	cleat_rpc_options o = rig_options(&rig);
	char big[102 * 2 + 2] = "[1";

	o.max_batch = 1;
	rig_open(&rig, &o);
	assert_int_equal(rig_in(&rig, two), CLEAT_ELIMIT);
	rig_expect_error(&rig, -32600, "null");
	rig_expect_nothing(&rig);
	rig_close(&rig);
	o.no_batch = true;
	rig_open(&rig, &o);
	assert_int_equal(rig_in(&rig, "[]"), CLEAT_EPROTO);
	assert_string_equal(rig_expect_error(&rig, -32600, "null"),
			    "batches are not accepted here");
	rig_close(&rig);
	rig_open(&rig, NULL); /* the default is 100 */
	for (size_t i = 0; i < 99; i++)
		memcpy(big + 2 + 2 * i, ",1", 2);
	big[200] = ']';
	assert_int_equal(rig_in(&rig, big), CLEAT_EPROTO);
	assert_true(rig_next(&rig)[0] == '[');
	memcpy(big + 200, ",1]", 3);
	assert_int_equal(rig_in(&rig, big), CLEAT_ELIMIT);
	rig_expect_error(&rig, -32600, "null");
	rig_close(&rig);
}

static int close_peer(cleat_rpc_call *call)
{
	cleat_rpc_close(cleat_rpc_call_peer(call));
	return cleat_rpc_replyf(call, "1");
}

RIG_TEST(closing_inside_a_batch_stops_it)
{
	cleat_rpc_on(rig->rpc, "close", close_peer, NULL);
	rig_in(rig, "[{" V "\"method\":\"sum\",\"id\":1},{" V "\"method\":\"close\",\"id\":2},"
		    "{" V "\"method\":\"later\",\"id\":3}]");
	assert_int_equal(rig->n_deferred, 0);
	rig_expect_nothing(rig);
}

/* ---- limits ---- */

RIG_TEST_PLAIN(messages_are_bounded_in_both_directions)
{
	cleat_rpc_options o = rig_options(rig);
	char big[400];

	o.max_message = 200;
	o.limits.max_depth = 4;
	rig_open(rig, &o);
	memset(big, ' ', sizeof big);
	assert_int_equal(cleat_rpc_receive(rig->rpc, big, 201), CLEAT_ELIMIT);
	rig_expect_error(rig, -32600, "null");
	assert_int_equal(cleat_rpc_receive(rig->rpc, big, 200), CLEAT_EPROTO);
	rig_expect_error(rig, -32700, "null");
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"echo\",\"id\":1,\"params\":[[[[1]]]]}"),
			 CLEAT_ELIMIT);
	rig_expect_error(rig, -32600, "null");
	/* an answer over the limit */
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	assert_int_equal(cleat_rpc_replyf(rig->deferred[0], "%.*s", 300, big), CLEAT_ELIMIT);
	assert_string_equal(rig_expect_error(rig, -32603, "1"),
			    "the answer could not be made: over a limit");
	/* a batch whose answers are together over the limit */
	rig_in(rig, "[{" V "\"method\":\"later\",\"id\":1},{" V "\"method\":\"later\",\"id\":2}]");
	assert_int_equal(cleat_rpc_replyf(rig->deferred[1], "%.*s", 100, big), CLEAT_OK);
	assert_int_equal(cleat_rpc_replyf(rig->deferred[2], "%.*s", 100, big), CLEAT_ELIMIT);
	assert_non_null(strstr(rig_next(rig), "},{\"jsonrpc\":\"2.0\",\"id\":2,\"error\""));
	/* requests of our own */
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "x", "[%.*s]", 300, big), CLEAT_ELIMIT);
	assert_int_equal(cleat_rpc_notify(rig->rpc, "x", "[%.*s]", 300, big), CLEAT_ELIMIT);
	rig_expect_nothing(rig);
}

/* An error echoes the id, however long: it came in, so it may go out. */
RIG_TEST_PLAIN(a_long_id_is_echoed_in_errors)
{
	cleat_rpc_options o = rig_options(rig);
	char text[1001], id[960];

	o.max_message = 1000;
	rig_open(rig, &o);
	memset(id, 'i', sizeof id - 1);
	id[sizeof id - 1] = '\0';
	snprintf(text, sizeof text, "{" V "\"method\":1,\"id\":\"%.940s\"}", id);
	assert_int_equal(rig_in(rig, text), CLEAT_EPROTO);
	assert_non_null(strstr(rig_next(rig), "iiii"));
	snprintf(text, sizeof text, "[{" V "\"method\":\"\",\"id\":\"%.900s\"},1,2,3,4,5,6,7]", id);
	assert_int_equal(rig_in(rig, text), CLEAT_EPROTO);
	assert_true(rig_next(rig)[0] == '[');
}

RIG_TEST(a_failing_send_is_reported)
{
	rig->send_status = CLEAT_EIO;
	assert_int_equal(rig_in(rig, "x"), CLEAT_EIO);
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1}"), CLEAT_OK);
	assert_int_equal(rig->n_notices, 1); /* the handler was told, and the program */
	assert_int_equal(rig_in(rig, "[{" V "\"method\":\"sum\",\"id\":1}]"), CLEAT_EIO);
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"nope\",\"id\":1}"), CLEAT_EIO);
	rig_in(rig, "{" V "\"method\":\"later\",\"id\":1}");
	assert_int_equal(cleat_rpc_replyf(rig->deferred[0], "1"), CLEAT_EIO);
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "x", NULL), CLEAT_EIO);
	assert_int_equal(cleat_rpc_notify(rig->rpc, "x", NULL), CLEAT_EIO);
	rig->send_status = CLEAT_OK;
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"id\":1}"), CLEAT_OK);
}

TEST(wrong_arguments_are_refused)
{
	struct rig rig;

	assert_null(cleat_rpc_new(NULL));
	assert_null(cleat_rpc_new(&(cleat_rpc_options){ .max_batch = 1 }));
	rig_open(&rig, NULL);
	assert_int_equal(cleat_rpc_receive(rig.rpc, NULL, 0), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_receive(NULL, "", 0), CLEAT_EINVAL);
	rig_close(&rig);
	cleat_rpc_free(NULL);
	cleat_rpc_close(NULL);
}

/* A program that was compiled against an older, shorter struct. */
TEST(a_shorter_options_struct_is_enough)
{
	struct rig rig = { 0 };
	cleat_rpc_options o = rig_options(&rig);

	o.no_batch = true;
	rig.rpc = cleat_rpc_new_(&o, offsetof(cleat_rpc_options, no_batch));
	assert_non_null(rig.rpc);
	assert_int_equal(rig_in(&rig, "[1]"), CLEAT_EPROTO);
	assert_true(rig_next(&rig)[0] == '['); /* no_batch was beyond the end */
	rig_close(&rig);
}
