/* test_client_hostile.c - servers and programs that do what nobody should: no call is left without an end,
 * and nobody else has to wait.
 */
#include "client_rig.h"

#define ADD "{\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2.50}}"

/* streamable-http: the answer to a POST is in its own exchange. In another one's it ends neither that call
 * with somebody else's result, nor leaves the one that was posted without an end. */
static void an_answer_in_another_exchange_is_not_believed(void **state)
{
	static const char *const more[] = { "", ",\"error\":{\"code\":1,\"message\":\"m\"}" };

	(void)state;
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
static void calls_that_end_at_once_do_not_keep_the_loop(void **state)
{
	struct rig rig;
	cleat_error why = { .status = CLEAT_EINVAL, .message = "wrong" };

	(void)state;
	assert_true(rig_init(&rig, NULL));
	client_fail(rig.c, CLEAT_STEP_ARGUMENTS, &why);
	rig.during_done = call_again;
	rig_call(&rig, "tools/call", ADD);
	client_pump(rig.c);
	assert_true(rig.n_done >= 1);
	assert_true(rig.n_done < RIG_MAX - 10);
	rig.during_done = NULL;
	rig_pump(&rig);
	rig_done(&rig);
}

/* ... and closing the client has an end. */
static void closing_ends_although_calls_are_begun_for_ever(void **state)
{
	struct rig rig;

	(void)state;
	rig_modern(&rig, &(cleat_client_opts){ .max_calls = 8 }, false);
	rig.during_done = call_again;
	rig_call(&rig, "tools/call", ADD);
	client_close(rig.c);
	assert_true(rig.n_done < 20);
	rig_done(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_in_another_exchange_is_not_believed),
		cmocka_unit_test(calls_that_end_at_once_do_not_keep_the_loop),
		cmocka_unit_test(closing_ends_although_calls_are_begun_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
