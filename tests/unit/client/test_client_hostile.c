/* test_client_hostile.c - servers and programs that do what nobody should: no call is left without an end,
 * and nobody else has to wait.
 */
#include "test.h"
#include "unit/client/client_rig.h"

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

/* One tool whose schema is too deep is no reason to have none; what is not a list has to be whole. */
MODERN_TEST(of_a_list_only_what_is_too_deep_is_left_out)
{
	static const struct {
		size_t levels, n;
	} rows[] = { { 124, 3 }, { 125, 2 }, { 5000, 2 } };
	static char text[20000];

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		size_t n;

		rig_list(rig, NULL, CLEAT_LIST_TOOLS);
		n = (size_t)snprintf(
			text, sizeof text,
			"\"result\":{\"x\":[],\"tools\":[ {\"name\":\"]\\\"a\"} , {\"name\":\"deep\",\"inputSchema\":");
		memset(text + n, '[', rows[i].levels);
		memset(text + n + rows[i].levels, ']', rows[i].levels);
		strcpy(text + n + 2 * rows[i].levels, "} , {\"name\":\"z\"} ],\"ttlMs\":0}");
		rig_answer(rig, text);
		assert_int_equal(cleat_json_size(cleat_result_items(rig_result(rig))), rows[i].n);
		assert_int_equal(
			strstr(rig->notes,
			       "\"deep\" of a list was left out: it nests deeper than 125") != NULL,
			i > 0);
	}
}

/* The limit of values follows that of bytes. */
RIG_TEST(a_larger_message_may_have_more_values)
{
	enum { VALUES = 1200000 };
	static const size_t sizes[] = { 0, 4 << 20, 64 << 20 };
	char *text = malloc(2 * VALUES + 100);

	for (size_t i = 0; i < CLEAT_COUNT(sizes); i++) {
		size_t n;

		rig_modern(rig, &(cleat_client_options){ .max_message = sizes[i] }, false);
		rig_call(rig, "tools/call", ADD);
		n = (size_t)sprintf(
			text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[],\"x\":[0");
		for (size_t k = 0; k < VALUES; k++)
			memcpy(text + n + 2 * k, ",1", 2);
		strcpy(text + n + 2 * VALUES, "]}}");
		rig_message(rig, text, NULL, 0);
		if (i == 1)
			rig_expect(
				rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL,
				"1048576 values and keys (a larger opts.max_message allows more)");
		else
			assert_int_equal(cleat_result_status(rig_result(rig)), CLEAT_OK);
		if (i + 1 < CLEAT_COUNT(sizes))
			rig_done(rig);
	}
	free(text);
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

/* In one result, and at a time. */
TEST(questions_have_limits)
{
	struct rig rig;
	static char text[8192];
	size_t n;

	/* in one result */
	rig_modern(&rig, NULL, false);
	n = (size_t)snprintf(text, sizeof text,
			     "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{");
	for (int i = 0; i < 65; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "%s\"%d\":{\"method\":\"roots/list\"}", i ? "," : "", i);
	snprintf(text + n, sizeof text - n, "}}");
	rig_call(&rig, "tools/call", ADD);
	rig_answer(&rig, text);
	rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "more than 64");
	rig_done(&rig);
	/* at a time: the fake peer takes 256 */
	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	for (int i = 0; i < RIG_MAX; i++)
		rig_say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}", i);
	assert_int_equal(rig.n_sent, 2);
	rig_say(&rig, REQUEST("\"last\"", "roots/list", ""));
	assert_has(rig_last(&rig)->text, "\"id\":\"last\",\"error\":{\"code\":-32603");
	rig_done(&rig);
}
