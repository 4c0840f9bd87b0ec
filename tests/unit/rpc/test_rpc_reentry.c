/* tests/unit/test_rpc_reentry.c - <cleat/rpc.h> called from inside its own callbacks: answers inside
 * `send`, peers wired together, closing and freeing from a handler or a response.
 */
#include "test.h"
#include "unit/rpc/test_rpc.h"

static void answer_inside_send(struct rig *rig)
{
	rig->during_send = NULL;
	rig_in(rig, "[{" V "\"id\":1,\"result\":[\"quick\"]},{" V "\"method\":\"sum\",\"id\":1}]");
	rig_in(rig, "{" V "\"id\":1,\"result\":[\"second\"]}");
}

/* The answer is there before cleat_rpc_request() returns its id. */
TEST(an_answer_inside_send_waits_for_the_next_tick)
{
	struct rig rig;

	rig_open(&rig, NULL);
	rig.during_send = answer_inside_send;
	assert_int_equal(rig_request(&rig, 10), 1);
	assert_int_equal(rig.responses, 0);
	rig_next(&rig);
	/* the rest of that batch did not wait */
	rig_expect(&rig, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":0}]");
	assert_int_equal(rig.n_notices, 1); /* the second response */
	assert_int_equal(cleat_rpc_tick(rig.rpc, 1000000), -1);
	assert_int_equal(rig.responses, 1);
	assert_int_equal(rig.last.status, CLEAT_OK);
	assert_string_equal(rig.last_result, "[\"quick\"]");
	rig_close(&rig);

	rig_open(&rig, NULL); /* or for the next message */
	rig.during_send = answer_inside_send;
	assert_int_equal(rig_request(&rig, 10), 1);
	rig_in(&rig, "{" V "\"method\":\"mute\"}");
	assert_int_equal(rig.responses, 1);
	rig_close(&rig);

	rig_open(&rig, NULL); /* or for the end */
	rig.during_send = answer_inside_send;
	assert_int_equal(rig_request(&rig, 10), 1);
	rig_close(&rig);
	assert_int_equal(rig.responses, 1);
	assert_int_equal(rig.last.status, CLEAT_OK);

	rig_open(&rig, NULL); /* and can be cancelled meanwhile */
	rig.during_send = answer_inside_send;
	assert_int_equal(rig_request(&rig, 10), 1);
	assert_int_equal(cleat_rpc_cancel(rig.rpc, 1), CLEAT_OK);
	assert_int_equal(rig.responses, 1);
	assert_int_equal(rig.last.status, CLEAT_ECANCELLED);
	assert_int_equal(cleat_rpc_tick(rig.rpc, 1), -1);
	rig_close(&rig);
	assert_int_equal(rig.responses, 1);
}

static void answer_then_fail(struct rig *rig)
{
	answer_inside_send(rig);
	rig->send_status = CLEAT_EIO;
}

static void close_inside_send(struct rig *rig)
{
	cleat_rpc_close(rig->rpc);
}

static void cancel_inside_send(struct rig *rig)
{
	assert_int_equal(cleat_rpc_cancel(rig->rpc, 1), CLEAT_OK);
}

static void free_inside_send(struct rig *rig)
{
	cleat_rpc_free(rig->rpc);
	cleat_rpc_free(rig->rpc); /* it is dying already */
}

/* The request fails, so there is no callback. */
TEST(a_request_that_ends_while_sending_only_returns)
{
	static const struct {
		void (*during_send)(struct rig *rig);
		int status;
	} cases[] = {
		{ answer_then_fail, CLEAT_EIO },
		{ close_inside_send, CLEAT_ECLOSED },
		{ cancel_inside_send, CLEAT_ECANCELLED },
	};
	struct rig rig;

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		rig_open(&rig, NULL);
		rig.during_send = cases[i].during_send;
		assert_int_equal(rig_request(&rig, 0), cases[i].status);
		assert_int_equal(cleat_rpc_tick(rig.rpc, 10), -1);
		rig_close(&rig);
		assert_int_equal(rig.responses, 0);
	}
	rig_open(&rig, NULL);
	rig.during_send = free_inside_send;
	assert_int_equal(rig_request(&rig, 0), CLEAT_ECLOSED);
	assert_int_equal(rig.responses, 0);
	rig_forget_output(&rig);
}

/* Two peers in one process, wired to each other directly. */
static struct rig left, right;

static struct rig *other_side(struct rig *rig)
{
	return rig == &left ? &right : &left;
}

static void hand_over(struct rig *rig)
{
	rig_in(other_side(rig), rig->out[rig->n_out - 1]);
}

static int ask_back(cleat_rpc_call *call)
{
	struct rig *rig = cleat_rpc_userdata(call);
	cleat_rpc_request_options o = { 0, rig_response, rig };

	assert_true(cleat_rpc_request(rig->rpc, &o, "sum", "[1, 2]") > 0);
	return cleat_rpc_replyf(call, "'asked'");
}

TEST(two_peers_can_be_wired_together)
{
	rig_open(&left, NULL);
	rig_open(&right, NULL);
	left.during_send = right.during_send = hand_over;
	cleat_rpc_on(right.rpc, "x", ask_back, &right);
	assert_int_equal(rig_request(&left, 0), 1);
	assert_int_equal(right.responses,
			 1); /* its request was made inside receive, which is over */
	assert_string_equal(right.last_result, "3");
	assert_int_equal(left.responses, 0);
	cleat_rpc_tick(left.rpc, 1);
	assert_string_equal(left.last_result, "\"asked\"");
	left.during_send = right.during_send = NULL;
	rig_close(&left);
	rig_close(&right);
}

static int free_in_handler(cleat_rpc_call *call)
{
	struct rig *rig = cleat_rpc_userdata(call);

	rig_request(rig, 0);
	cleat_rpc_free(rig->rpc);
	assert_int_equal(rig->responses, 1); /* closed at once */
	assert_string_equal(cleat_rpc_call_method(call), "free");
	return cleat_rpc_replyf(call, "1") == CLEAT_ECLOSED ? CLEAT_OK : CLEAT_EPROTO;
}

TEST(freeing_inside_a_handler_waits_for_the_end)
{
	static const char *const texts[] = {
		"{" V "\"method\":\"free\",\"id\":1}",
		"{" V "\"method\":\"free\"}",
		"[{" V "\"method\":\"later\",\"id\":1},{" V "\"method\":\"free\",\"id\":2},"
		"{" V "\"method\":\"later\",\"id\":3}]",
	};
	struct fail_alloc fa;

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		struct rig rig;
		cleat_rpc_options o = rig_options(&rig);

		fail_alloc_init(&fa, 0, false);
		o.allocator = &fa.hook;
		rig_open(&rig, &o);
		cleat_rpc_on(rig.rpc, "free", free_in_handler, &rig);
		rig_in(&rig, texts[i]);
		assert_int_equal(fa.live, 0);
		assert_int_equal(rig.n_out, 1); /* the request, never an answer */
		rig_forget_output(&rig);
	}
}

static int close_and_fail(cleat_rpc_call *call)
{
	cleat_rpc_close(cleat_rpc_call_peer(call));
	return CLEAT_EIO;
}

/* A program without on_notice is left in peace. */
RIG_TEST_PLAIN(closing_inside_a_handler_sends_nothing_more)
{
	cleat_rpc_options o = rig_options(rig);

	o.on_notice = NULL;
	rig_open(rig, &o);
	cleat_rpc_on(rig->rpc, "close", close_and_fail, NULL);
	rig_in(rig, "{" V "\"result\":1,\"id\":1}");
	assert_int_equal(rig_in(rig, "{" V "\"method\":\"close\",\"id\":1}"), CLEAT_ECLOSED);
	rig_expect_nothing(rig);
}

static void free_on_response(void *userdata, const cleat_rpc_response *r)
{
	struct rig *rig = userdata;

	rig->responses++;
	rig->last = r->error;
	cleat_rpc_free(rig->rpc);
}

TEST(freeing_inside_a_response_waits_for_the_end)
{
	struct rig rig;
	cleat_rpc_options opts = rig_options(&rig);
	cleat_rpc_request_options o = { 5, free_on_response, &rig };
	struct fail_alloc fa;

	for (int how = 0; how < 4; how++) {
		fail_alloc_init(&fa, 0, false);
		opts.allocator = &fa.hook;
		rig_open(&rig, &opts);
		cleat_rpc_request(rig.rpc, &o, "x", NULL);
		cleat_rpc_request(rig.rpc, &o, "x", NULL);
		if (how == 0)
			rig_in(&rig, "[{" V "\"id\":1,\"result\":0},{" V "\"id\":2,\"result\":0}]");
		else if (how == 1)
			cleat_rpc_cancel(rig.rpc, 2);
		else if (how == 2)
			cleat_rpc_close(rig.rpc);
		else if (cleat_rpc_tick(rig.rpc, 0) == 5)
			cleat_rpc_tick(rig.rpc, 5);
		assert_int_equal(rig.responses, 2);
		assert_int_equal(fa.live, 0);
		rig_forget_output(&rig);
	}
}

static void ask_again(void *userdata, const cleat_rpc_response *r)
{
	struct rig *rig = userdata;
	cleat_rpc_request_options o = { 10, ask_again, rig };

	(void)r;
	rig->responses++;
	if (rig->responses < 20)
		assert_true(cleat_rpc_request(rig->rpc, &o, "x", NULL) > 0);
}

/* A callback that always asks again does not keep a tick busy for ever. */
TEST(requests_made_by_callbacks_wait_their_turn)
{
	struct rig rig;
	cleat_rpc_request_options o = { 10, ask_again, &rig };

	rig_open(&rig, NULL);
	cleat_rpc_request(rig.rpc, &o, "x", NULL);
	assert_int_equal(cleat_rpc_tick(rig.rpc, 0), 10);
	assert_int_equal(cleat_rpc_tick(rig.rpc, 10), 10);
	assert_int_equal(rig.responses, 1);
	assert_int_equal(cleat_rpc_tick(rig.rpc, 1000), 10);
	assert_int_equal(rig.responses, 2);
	rig.responses = 100;
	rig_close(&rig);

	rig_open(&left, NULL);
	rig_open(&right, NULL);
	left.during_send = right.during_send = hand_over;
	cleat_rpc_on(right.rpc, "x", rig_get_data, NULL);
	o.userdata = &left;
	cleat_rpc_request(left.rpc, &o, "x", NULL);
	assert_int_equal(cleat_rpc_tick(left.rpc, 0), 0); /* at once, please */
	assert_int_equal(left.responses, 1);
	while (cleat_rpc_tick(left.rpc, 0) == 0)
		;
	assert_int_equal(left.responses, 20);
	left.during_send = right.during_send = NULL;
	rig_close(&left);
	rig_close(&right);
}
