/* tests/unit/test_rpc_request.c - the asking side of <cleat/rpc.h>: responses, deadlines,
 * cancellation, closing.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

RIG_TEST(requests_and_notifications_are_written)
{
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "subtract", "[%d, %d]", 42, 23), 1);
	rig_expect(rig,
		   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subtract\",\"params\":[42,23]}");
	assert_int_equal(cleat_rpc_request(rig->rpc,
					   &(cleat_rpc_request_options){ .timeout_ms = 1,
									 .on_response = NULL },
					   "a\"b", "{name: %s}", "x\ny"),
			 2);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"a\\\"b\",\"params\":{\"name\":"
			"\"x\\ny\"}}");
	assert_int_equal(cleat_rpc_notify(rig->rpc, "n", NULL), CLEAT_OK);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
	assert_int_equal(cleat_rpc_notify(rig->rpc, "n", "[%hhd]", (signed char)1), CLEAT_OK);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":[true]}");
	/* JSON-RPC 2.0, 4.2: params is structured */
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "x", "%d", 1), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_notify(rig->rpc, "x", "'text'"), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, "x", "[broken"), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_request(rig->rpc, NULL, NULL, NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_request(NULL, NULL, "x", NULL), CLEAT_EINVAL);
	assert_int_equal(cleat_rpc_notify(NULL, "x", NULL), CLEAT_EINVAL);
	rig_expect_nothing(rig);
	/* nobody asked to be told, but the answer is awaited: no notice */
	rig_in(rig, "{" V "\"id\":1,\"result\":19}");
	assert_int_equal(rig->n_notices, 0);
}

RIG_TEST(responses_may_come_in_any_order)
{
	for (int64_t id = 1; id <= 3; id++)
		assert_int_equal(rig_request(rig, 0), id);
	rig_in(rig, "{" V "\"id\":3,\"result\":{\"n\":1.50}}");
	assert_int_equal(rig->last_id, 3);
	assert_int_equal(rig->last.status, CLEAT_OK);
	assert_string_equal(rig->last_result, "{\"n\":1.50}");
	rig_in(rig, "{" V "\"id\":1,\"error\":{\"code\":-5,\"message\":\"no\",\"data\":1}}");
	assert_int_equal(rig->last_id, 1);
	assert_int_equal(rig->last.status, CLEAT_EREMOTE);
	assert_int_equal(rig->last.rpc_code, -5);
	assert_string_equal(rig->last.message, "no");
	rig_in(rig, "{" V "\"id\":2,\"result\":null}");
	assert_int_equal(rig->last_id, 2);
	assert_string_equal(rig->last_result, "null");
	assert_int_equal(rig->responses, 3);
}

RIG_TEST(a_response_must_carry_the_very_id)
{
	static const char *const ids[] = { "1.0", "1e0", "\"1\"", "2", "null", "01e-1", "-1" };

	assert_int_equal(rig_request(rig, 0), 1);
	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		char text[100];

		snprintf(text, sizeof text, "{" V "\"id\":%s,\"result\":0}", ids[i]);
		rig_in(rig, text);
		assert_int_equal(rig->responses, 0);
	}
	rig_in(rig, "{" V "\"id\":1,\"result\":0}");
	assert_int_equal(rig->responses, 1);
}

RIG_TEST(stray_responses_are_noticed_never_answered)
{
	rig_request(rig, 0);
	rig_next(rig);
	assert_int_equal(rig_in(rig, "{" V "\"id\":7,\"result\":0}"), CLEAT_OK);
	assert_int_equal(rig->notices[0].status, CLEAT_ENOENT);
	rig_in(rig, "{" V "\"id\":1,\"result\":0}");
	assert_int_equal(rig_in(rig, "{" V "\"id\":1,\"result\":0}"), CLEAT_OK); /* a second one */
	assert_int_equal(rig->n_notices, 2);
	/* what the other side says about a message it could not read */
	rig_in(rig, "{" V "\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}");
	assert_int_equal(rig->n_notices, 3);
	assert_int_equal(rig->notices[2].status, CLEAT_EREMOTE);
	assert_int_equal(rig->notices[2].rpc_code, -32700);
	assert_non_null(strstr(rig->notices[2].message, "Parse error"));
	assert_int_equal(rig_in(rig, "{" V "\"result\":0}"), CLEAT_EPROTO);
	assert_int_equal(rig->n_notices, 4);
	assert_int_equal(rig->responses, 1);
	rig_expect_nothing(rig);
}

/* Better told at once than by the deadline. */
RIG_TEST(a_broken_response_ends_its_request)
{
	rig_request(rig, 0);
	rig_next(rig);
	assert_int_equal(rig_in(rig, "{" V "\"id\":1,\"result\":0,\"error\":{}}"), CLEAT_EPROTO);
	assert_int_equal(rig->responses, 1);
	assert_int_equal(rig->last.status, CLEAT_EPROTO);
	rig_expect_nothing(rig);
}

RIG_TEST_PLAIN(long_and_large_errors_are_cut_to_fit)
{
	char text[600], filler[400];

	memset(filler, 'e', sizeof filler - 1);
	filler[sizeof filler - 1] = '\0';
	rig_open(rig, NULL);
	rig_request(rig, 0);
	snprintf(text, sizeof text,
		 "{" V "\"id\":1,\"error\":{\"code\":-9999999999,\"message\":\"%s\"}}", filler);
	rig_in(rig, text);
	assert_int_equal(rig->last.rpc_code, INT32_MIN);
	assert_int_equal(strlen(rig->last.message), sizeof rig->last.message - 1);
}

RIG_TEST_PLAIN(pending_requests_are_bounded)
{
	cleat_rpc_options o = rig_options(rig);

	o.max_pending = 2;
	rig_open(rig, &o);
	assert_int_equal(rig_request(rig, 0), 1);
	assert_int_equal(rig_request(rig, 0), 2);
	assert_int_equal(rig_request(rig, 0), CLEAT_ELIMIT);
	assert_int_equal(rig->n_out, 2);
	rig_in(rig, "{" V "\"id\":1,\"result\":0}");
	assert_int_equal(rig_request(rig, 0), 3);
}

/* ---- time ---- */

RIG_TEST(deadlines_follow_the_clock_from_outside)
{
	assert_int_equal(cleat_rpc_tick(rig->rpc, 5), -1);
	assert_int_equal(rig_request(rig, 100), 1);
	/* the first tick after the request starts its time, however late that tick is */
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1000), 100);
	assert_int_equal(rig_request(rig, 50), 2);
	assert_int_equal(rig_request(rig, 0), 3);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1010), 50);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1059), 1);
	assert_int_equal(rig->responses, 0);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1060), 40);
	assert_int_equal(rig->responses, 1);
	assert_int_equal(rig->last_id, 2);
	assert_int_equal(rig->last.status, CLEAT_ETIMEOUT);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 900), 40); /* a clock that went back is ignored */
	assert_int_equal(cleat_rpc_tick(rig->rpc, 5000), -1);
	assert_int_equal(rig->last_id, 1);
	assert_int_equal(rig->responses, 2);
	rig_in(rig, "{" V "\"id\":1,\"result\":0}"); /* too late */
	assert_int_equal(rig->responses, 2);
	assert_int_equal(rig->n_notices, 1);
	rig_in(rig, "{" V "\"id\":3,\"result\":0}");
	assert_int_equal(rig->responses, 3);
	assert_int_equal(cleat_rpc_tick(NULL, 1), -1);
}

RIG_TEST(times_at_the_edges_do_not_wrap)
{
	rig_request(rig, UINT64_MAX);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 0), INT64_MAX);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1000), INT64_MAX);
	rig_request(rig, UINT64_MAX - 5);
	assert_int_equal(cleat_rpc_tick(rig->rpc, UINT64_MAX - 2), 2);
	assert_int_equal(rig->responses, 0);
}

/* ---- ends ---- */

RIG_TEST(cancelling_ends_a_request_here)
{
	rig_request(rig, 0);
	rig_request(rig, 10);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 1), 10);
	assert_int_equal(cleat_rpc_cancel(rig->rpc, 2), CLEAT_OK);
	assert_int_equal(rig->responses, 1);
	assert_int_equal(rig->last_id, 2);
	assert_int_equal(rig->last.status, CLEAT_ECANCELLED);
	assert_int_equal(cleat_rpc_tick(rig->rpc, 100), -1);
	assert_int_equal(cleat_rpc_cancel(rig->rpc, 2), CLEAT_ENOENT);
	assert_int_equal(cleat_rpc_cancel(rig->rpc, 99), CLEAT_ENOENT);
	assert_int_equal(cleat_rpc_cancel(NULL, 1), CLEAT_EINVAL);
	assert_int_equal(rig->n_out, 2); /* nothing was sent for it */
	rig_in(rig, "{" V "\"id\":2,\"result\":0}");
	assert_int_equal(rig->responses, 1);
	assert_int_equal(rig->n_notices, 1);
}

struct order {
	int64_t ids[8];
	int statuses[8];
	size_t n;
	cleat_rpc *rpc;
};

static void note_order(void *userdata, const cleat_rpc_response *r)
{
	struct order *o = userdata;

	assert_true(o->n < 8);
	o->ids[o->n] = r->id;
	o->statuses[o->n++] = r->error.status;
	/* the table is being emptied: nothing new gets in */
	if (r->error.status == CLEAT_ECLOSED)
		assert_int_equal(cleat_rpc_request(o->rpc, NULL, "again", NULL), CLEAT_ECLOSED);
}

TEST(closing_ends_all_requests_in_order)
{
	struct rig rig;
	struct order order = { 0 };
	cleat_rpc_request_options o = { 0, note_order, &order };

	rig_open(&rig, NULL);
	order.rpc = rig.rpc;
	for (int i = 0; i < 5; i++)
		assert_true(cleat_rpc_request(rig.rpc, &o, "x", NULL) > 0);
	rig_in(&rig, "{" V "\"id\":2,\"result\":0}");
	cleat_rpc_close(rig.rpc);
	assert_int_equal(order.n, 5);
	for (size_t i = 1; i < 5; i++)
		assert_int_equal(order.statuses[i], CLEAT_ECLOSED);
	assert_int_equal(order.ids[1], 1);
	assert_int_equal(order.ids[2], 3);
	assert_int_equal(order.ids[4], 5);
	rig_close(&rig);
	assert_int_equal(order.n, 5);
}

TEST(freeing_ends_all_requests_too)
{
	struct rig rig;

	rig_open(&rig, NULL);
	rig_request(&rig, 0);
	rig_close(&rig);
	assert_int_equal(rig.responses, 1);
	assert_int_equal(rig.last.status, CLEAT_ECLOSED);
}
