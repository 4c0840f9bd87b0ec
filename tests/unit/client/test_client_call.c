/* test_client_call.c - calls of the client role that a transcript (tests/wire/transcripts/client) cannot tell: callbacks that
 * call, freeing, tracing.
 */
#include "test.h"
#include "unit/client/client_rig.h"

/* ---- time -------------------------------------------------------------------------------------- */

MODERN_TEST(marked_calls_are_cancelled)
{
	cleat_call *a, *b;

	a = rig_call(rig, "tools/call", ADD);
	b = rig_call(rig, "tools/call", ADD);
	assert_true(a && b);
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

/* ---- what the server says by itself ------------------------------------------------------------- */

MODERN_TEST(everything_is_traced)
{
	rig_call(rig, "tools/call", ADD);
	rig_answer(rig, TOOL_TEXT);
	assert_int_equal(rig->traced_out, 2);
	assert_int_equal(rig->traced_in, 2);
}

static bool called_back;

static void call_back(cleat_client *c, bool out, const char *text, size_t n, void *userdata)
{
	(void)c;
	(void)text;
	(void)n;
	if (!out || called_back)
		return;
	called_back = true;
	rig_call(userdata, "prompts/get", "{\"name\":\"inner\"}");
}

/* Who hears of a message may send another one: the first is not disturbed. */
RIG_TEST(tracing_may_call)
{
	called_back = true;
	rig_modern(rig, &(cleat_client_options){ .on_message = call_back }, false);
	called_back = false;
	rig_call(rig, "tools/call", ADD);
	assert_has(rig->sent[1].text, "\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2.50}");
	assert_has(rig->sent[2].text, "\"name\":\"inner\"");
	rig_reply(rig, &rig->sent[1], 0, TOOL_TEXT);
	rig_reply(rig, &rig->sent[2], 0, "\"result\":{\"messages\":[]}");
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
	assert_null(cleat_client_instructions(NULL));
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
