/* tests/unit/test_rpc_memory.c - <cleat/rpc.h> when memory runs out: the n-th allocation fails, once
 * or from then on, for every n. No crash, no leak; every callback comes exactly once; afterwards,
 * when there is memory again, the peer works as if nothing had been.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

/* What stands on the wire is JSON-RPC in any case. */
static void check_output(const struct rig *rig)
{
	for (size_t i = 0; i < rig->n_out; i++)
		cleat_doc_free(rig_parse(rig->out[i]));
}

/* Needs more than the first chunk of its arena. */
static void receive_large_batch(struct rig *rig)
{
	char text[90 * 40] = "[";

	for (size_t i = 0; i < 90; i++)
		strcat(text, i ? ",{" V "\"method\":\"mute\"}" : "{" V "\"method\":\"mute\"}");
	strcat(text, "]");
	rig_in(rig, text);
}

static void work(struct rig *rig)
{
	cleat_rpc_request_options o = { 100, rig_response, rig };
	static const char *const texts[] = {
		"{" V "\"method\":\"sum\",\"params\":[1,2],\"id\":1}",
		"{" V "\"method\":\"sun\",\"id\":\"2\"}",
		"{" V "\"method\":\"later\",\"id\":3}",
		"{" V "\"method\":\"fail\",\"id\":3.5}",
		"[{" V "\"method\":\"later\",\"id\":4},7,{" V "\"method\":\"echo\",\"id\":5,"
		"\"params\":{\"k\":[1,2,3]}},{" V "\"method\":\"later\",\"id\":6}]",
		"not json",
		"{" V "\"method\":\"mute\"}",
	};
	int asked = 0, in_time = 0;

	asked += cleat_rpc_request(rig->rpc, &o, "a", "{x: %s}", "text") > 0;
	asked += cleat_rpc_request(rig->rpc, &o, "b", NULL) > 0;
	for (size_t i = 0; i < CLEAT_COUNT(texts); i++)
		rig_in(rig, texts[i]);
	receive_large_batch(rig);
	cleat_rpc_notify(rig->rpc, "n", "[1]");
	rig_in(rig, "{" V "\"id\":1,\"result\":[]}");
	for (size_t i = 0; i < rig->n_deferred; i++) {
		cleat_rpc_call_id(rig->deferred[i]);
		if (i % 2)
			cleat_rpc_reject(rig->deferred[i], 5, "%s", "no");
		else
			cleat_rpc_replyf(rig->deferred[i], "{a: [%d]}", 1);
	}
	rig->n_deferred = 0;
	in_time = rig->responses;
	assert_true(in_time <= 1);
	cleat_rpc_tick(rig->rpc, 1);
	cleat_rpc_tick(rig->rpc, 1000);
	assert_int_equal(rig->responses, asked);
}

/* A normal day, after the bad one. */
static void work_again(struct rig *rig)
{
	int before = rig->responses;
	int64_t id;

	rig_forget_output(rig);
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"sum\",\"params\":[1,2],\"id\":1}"),
			 CLEAT_OK);
	rig_expect(rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":3}");
	assert_int_equal(rig_in(rig, "[{" V "\"method\":\"later\",\"id\":3},{" V
				     "\"method\":\"later\",\"id\":4}]"),
			 CLEAT_OK);
	assert_int_equal(rig->n_deferred, 2);
	cleat_rpc_replyf(rig->deferred[0], "1");
	cleat_rpc_replyf(rig->deferred[1], "2");
	rig_expect(rig, "[{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":1},"
			"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":2}]");
	id = cleat_rpc_request(rig->rpc, &(cleat_rpc_request_options){ 5, rig_response, rig }, "x",
			       NULL);
	assert_true(id > 0);
	assert_int_equal(cleat_rpc_cancel(rig->rpc, id), CLEAT_OK);
	assert_int_equal(rig->responses, before + 1);
	rig_next(rig);
	rig_expect_nothing(rig);
}

TEST(any_allocation_may_fail_once_or_for_good)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig rig = { 0 };
		cleat_rpc_options o = rig_options(&rig);

		o.allocator = &fa.hook;
		rig.rpc = cleat_rpc_new(&o);
		if (rig.rpc && rig_methods(&rig) == CLEAT_OK) {
			work(&rig);
			check_output(&rig);
			fail_alloc_calm(&fa);
			work_again(&rig);
		}
		rig_close(&rig);
		assert_true(fail_alloc_hit(&fa) || fa.round > 10);
	}
}

/* The buffer for short answers is there from the start: with nothing left, a request that can be
 * read at all is answered. */
MEMORY_TEST(a_short_request_is_answered_without_memory)
{
	struct rig rig;
	cleat_rpc_options o = rig_options(&rig);

	o.allocator = &fa->hook;
	rig_open(&rig, &o);
	rig_in(&rig, "{" V "\"method\":\"sum\",\"params\":[1],\"id\":1}");
	rig_next(&rig);
	fa->countdown = 1;
	fa->forever = true;
	assert_int_equal(rig_in(&rig, "{" V "\"method\":\"sum\",\"params\":[2],\"id\":2}"),
			 CLEAT_OK);
	rig_expect(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}");
	rig_in(&rig, "{" V "\"method\":\"nothing\",\"id\":2}");
	rig_expect_error(&rig, -32601, "2");
	rig_in(&rig, "[{" V "\"method\":\"sum\",\"id\":2},7]");
	assert_true(rig_next(&rig)[0] == '[');
	assert_int_equal(fa->failures > 0, true);
	rig_close(&rig);
}

/* The answers of a batch are kept until the last one; one that cannot be kept is still an answer. */
MEMORY_TEST(an_answer_that_cannot_be_kept_becomes_an_error)
{
	static char large[20000];
	struct rig rig;
	cleat_rpc_options o = rig_options(&rig);

	memset(large, 'x', sizeof large - 1);
	o.allocator = &fa->hook;
	rig_open(&rig, &o);
	rig_in(&rig, "{" V "\"method\":\"later\",\"id\":1}");
	assert_int_equal(cleat_rpc_replyf(rig.deferred[0], "%s", large), CLEAT_OK);
	rig_next(&rig);
	rig_in(&rig, "[{" V "\"method\":\"later\",\"id\":1},{" V "\"method\":\"later\",\"id\":2}]");
	fa->countdown = 1;
	fa->forever = true;
	assert_int_equal(cleat_rpc_replyf(rig.deferred[1], "%s", large), CLEAT_ENOMEM);
	assert_int_equal(cleat_rpc_replyf(rig.deferred[2], "2"), CLEAT_OK);
	rig_expect(&rig, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":"
			 "\"Internal error\"}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}]");
	rig_close(&rig);
}

/* In the steady state a request costs no allocation at all. */
MEMORY_TEST(requests_reuse_what_is_there)
{
	struct rig rig;
	cleat_rpc_options o = rig_options(&rig);
	size_t before;

	o.allocator = &fa->hook;
	rig_open(&rig, &o);
	rig_in(&rig, "{" V "\"method\":\"sum\",\"params\":[1],\"id\":1}");
	before = fa->requests;
	for (int i = 0; i < 10; i++)
		rig_in(&rig, "{" V "\"method\":\"sum\",\"params\":[1],\"id\":1}");
	assert_int_equal(fa->requests, before);
	rig_close(&rig);
}
