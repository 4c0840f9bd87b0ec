/* test_serve_gate.c - so many at once, the others in their order; through a server and a client in one
 * process. */
#include "serve/kit/gate.h"
#include "test.h"

#include "support.h"

#include <cleat/client.h>
#include <cleat/loop.h>
#include <cleat/server.h>

#include <stdlib.h>
#include <string.h>

enum { CALLS_MAX = 2 * GATE_WAITING_MAX };

static struct rig {
	cleat_server *server;
	cleat_client *client;
	struct gate *gate;
	cleat_request *inside[CALLS_MAX];
	size_t n_inside, most_inside;
	int64_t order[CALLS_MAX]; /* in which they ran */
	size_t ran;
	bool at_once; /* a call leaves from inside its own turn */
	size_t done, busy, cancelled;
} rig;

static void leave(size_t i)
{
	cleat_request *req = rig.inside[i];

	rig.inside[i] = rig.inside[--rig.n_inside];
	cleat_request_on_cancel(req, NULL);
	cleat_reply_text(req, "done");
	gate_leave(rig.gate);
	cleat_request_finish(req, CLEAT_OK);
}

static void run_call(cleat_request *req, void *ctx)
{
	(void)ctx;
	rig.order[rig.ran++] = cleat_arg_int(req, "n");
	rig.inside[rig.n_inside++] = req;
	if (rig.n_inside > rig.most_inside)
		rig.most_inside = rig.n_inside;
	if (rig.at_once)
		leave(rig.n_inside - 1);
}

static void on_cancel(cleat_request *req)
{
	if (gate_cancel(rig.gate, req))
		return;
	for (size_t i = 0; i < rig.n_inside; i++)
		if (rig.inside[i] == req)
			leave(i);
}

static int handler(cleat_request *req)
{
	cleat_request_on_cancel(req, on_cancel);
	return gate_enter(rig.gate, req, run_call, NULL);
}

static void on_done(cleat_call *call, cleat_result *r)
{
	const char *text = cleat_result_text(r);

	(void)call;
	rig.done++;
	rig.busy += text && strncmp(text, "busy: ", 6) == 0;
	rig.cancelled += cleat_result_status(r) == CLEAT_ECANCELLED;
	cleat_result_free(r);
}

static void begin(unsigned width)
{
	const cleat_server_options o = { .max_inflight = CALLS_MAX, .max_queued = CALLS_MAX };
	const cleat_client_options c = { .max_calls = CALLS_MAX };
	const cleat_tool tool = { .signature = "go(n: integer)", .call = handler };

	memset(&rig, 0, sizeof rig);
	rig.gate = gate_new(NULL, width);
	rig.server = cleat_server_new("gate", "1", &o);
	assert_true(rig.gate && rig.server);
	assert_int_equal(cleat_server_add_tool(rig.server, &tool), CLEAT_OK);
	rig.client = cleat_client_inproc(rig.server, &c);
	assert_int_equal(cleat_client_open(rig.client), CLEAT_OK);
}

static void end(void)
{
	cleat_client_free(rig.client);
	cleat_server_free(rig.server);
	gate_free(rig.gate);
}

static cleat_call *start(int n)
{
	const cleat_call_options o = { .on_done = on_done };

	return cleat_client_startf(rig.client, &o, "go", "{n: %d}", n);
}

static void step_until(const size_t *count, size_t wanted)
{
	for (int i = 0; *count < wanted && i < 100000; i++)
		cleat_loop_step(cleat_client_loop(rig.client), 100);
	assert_int_equal(*count, wanted);
}

TEST(no_more_run_than_there_is_room_for_and_in_order)
{
	begin(3);
	for (int i = 0; i < 20; i++)
		assert_non_null(start(i));
	step_until(&rig.ran, 3);
	for (size_t i = 0; i < 20; i++) {
		leave(0);
		step_until(&rig.done, i + 1);
	}
	assert_int_equal(rig.most_inside, 3);
	for (int i = 0; i < 20; i++)
		assert_int_equal(rig.order[i], i);
	end();
}

TEST(width_zero_is_one)
{
	begin(0);
	start(0);
	start(1);
	step_until(&rig.ran, 1);
	leave(0);
	step_until(&rig.done, 1);
	assert_int_equal(rig.most_inside, 1);
	leave(0);
	step_until(&rig.done, 2);
	end();
}

TEST(too_many_who_wait_are_told_so)
{
	begin(1);
	for (int i = 0; i < GATE_WAITING_MAX + 11; i++)
		assert_non_null(start(i));
	step_until(&rig.busy, 10);
	rig.at_once = true;
	leave(0);
	step_until(&rig.done, GATE_WAITING_MAX + 11);
	assert_int_equal(rig.ran, GATE_WAITING_MAX + 1);
	assert_int_equal(rig.most_inside, 1);
	end();
}

TEST(who_is_cancelled_while_waiting_never_runs)
{
	cleat_call *calls[5];

	begin(1);
	for (int i = 0; i < 5; i++)
		calls[i] = start(i);
	step_until(&rig.ran, 1);
	/* the first of the queue, one in the middle, and the last */
	cleat_call_cancel(calls[1]);
	cleat_call_cancel(calls[4]);
	step_until(&rig.cancelled, 2);
	/* The server hears of it a moment later. */
	for (int i = 0; i < 20; i++)
		cleat_loop_step(cleat_client_loop(rig.client), 0);
	start(5);
	for (int i = 0; i < 20; i++)
		cleat_loop_step(cleat_client_loop(rig.client), 0);
	for (size_t i = 0; i < 4; i++) {
		leave(0);
		step_until(&rig.done, 2 + i + 1);
	}
	assert_int_equal(rig.ran, 4);
	assert_int_equal(rig.order[1], 2);
	assert_int_equal(rig.order[2], 3);
	assert_int_equal(rig.order[3], 5);
	end();
}

TEST(who_is_cancelled_inside_makes_room)
{
	cleat_call *first;

	begin(1);
	first = start(0);
	start(1);
	step_until(&rig.ran, 1);
	cleat_call_cancel(first);
	step_until(&rig.ran, 2);
	leave(0);
	step_until(&rig.done, 2);
	end();
}

/* Nothing runs any more when the server goes: everybody who waits is finished. */
TEST(the_end_of_the_server_empties_the_queue)
{
	begin(1);
	for (int i = 0; i < 10; i++)
		start(i);
	step_until(&rig.ran, 1);
	end();
	assert_int_equal(rig.n_inside, 0);
}

TEST(no_memory_is_no_gate)
{
	struct fail_alloc fa;

	fail_alloc_init(&fa, 1, true);
	assert_null(gate_new(&fa.hook, 1));
	gate_free(NULL);
}
