/* test_server_memory.c - every allocation fails once, or once and all that follow: while a server is
 * built, and where answers wait for memory. Nothing crashes, nothing leaks, no answer is lost. (While
 * it serves requests of each kind: wire_runner --torture.)
 */
#include "test.h"
#include "unit/server/server_rig.h"

struct place {
	const char *city;
	int days;
	const cleat_json *extra;
};

static const cleat_field place_fields[] = {
	CLEAT_FIELD(struct place, city, "City", .choices = "Oslo|Odessa|Rome"),
	CLEAT_FIELD(struct place, days, "Days", CLEAT_RANGE(1, 14), .fallback = "3"),
	CLEAT_FIELD(struct place, extra, "Anything", .optional = true),
	CLEAT_FIELD_END,
};

static int idle(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static cleat_request *held;

static int defer(cleat_request *req)
{
	cleat_request_defer(req);
	held = req;
	return CLEAT_PENDING;
}

static int destroyed;

static void count_destroy(void *userdata)
{
	(void)userdata;
	destroyed++;
}

enum { ENTRIES = 9 };

/* Registers all there is; false when a call failed. */
static bool fill(cleat_server *s)
{
	static const cleat_icon icons[] = { { .src = "https://i", .sizes = "any" },
					    { .src = NULL } };
	const cleat_tool tools[] = {
		{ .name = "echo", .call = idle, .meta = "{\"k\": 1}", .icons = icons },
		{ .name = "record", .call = idle, .input = place_fields, .output = place_fields },
		{ .signature = "ask(a?: integer = 1)", .call = idle },
		{ .name = "defer", .call = defer, .input_schema = "{\"type\":\"object\"}" },
		{ .name = "reject", .call = idle },
	};
	const cleat_resource resources[] = {
		{ .uri = "note:1",
		  .text = "fixed",
		  .annotations = &(cleat_annotations){ .user = true } },
		{ .uri = "city://{name}", .read = idle, .complete = idle },
	};
	const cleat_prompt prompts[] = {
		{ .name = "p", .get = idle, .input = place_fields },
		{ .signature = "q(n: integer, unit?: cm|in)", .get = idle },
	};
	cleat_tool t[5];
	cleat_resource r[2];
	cleat_prompt p[2];
	int rc = 0;

	memcpy(t, tools, sizeof t);
	memcpy(r, resources, sizeof r);
	memcpy(p, prompts, sizeof p);
	for (size_t i = 0; i < 5; i++)
		t[i].destroy = count_destroy;
	for (size_t i = 0; i < 2; i++)
		r[i].destroy = p[i].destroy = count_destroy;
	rc |= cleat_server_add_tools(s, t, 5);
	rc |= cleat_server_add_resources(s, r, 2);
	rc |= cleat_server_add_prompts(s, p, 2);
	return rc == 0;
}

static cleat_server *make(struct fail_alloc *fa, struct rig *r)
{
	cleat_server_options o = rig_options(r);

	o.title = "Title";
	o.instructions = "Read the manual.";
	o.allocator = &fa->hook;
	return cleat_server_new("rig", "1", &o);
}

/* With all of it and a wire. */
static void start(struct rig *r, struct fail_alloc *fa)
{
	r->s = make(fa, r);
	assert_true(fill(r->s));
	rig_wire(r);
}

/* ---- building -------------------------------------------------------------------------------- */

TEST(building_survives_failures)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };
		bool filled;

		destroyed = 0;
		r.s = make(&fa, &r);
		filled = fill(r.s);
		if (fail_alloc_hit(&fa)) {
			if (cleat_server_error(r.s)->status != CLEAT_ENOMEM)
				print_error("allocation %zu: %s\n", fa.round,
					    cleat_server_error(r.s)->message);
			assert_int_equal(cleat_server_error(r.s)->status, CLEAT_ENOMEM);
			assert_null(cleat_wire_server(r.s, NULL));
		} else {
			assert_true(filled);
			assert_int_equal(destroyed, 0);
		}
		cleat_server_free(r.s);
		assert_int_equal(destroyed, ENTRIES);
	}
}

/* A wire that cannot be made leaves a server that can be asked again. */
TEST(wire_can_be_made_later)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };

		fail_alloc_calm(&fa);
		r.s = make(&fa, &r);
		assert_true(fill(r.s));
		fail_alloc_arm(&fa);
		r.w = cleat_wire_server(r.s, NULL);
		fail_alloc_calm(&fa);
		if (fail_alloc_hit(&fa)) {
			assert_null(r.w);
			r.w = cleat_wire_server(r.s, NULL);
		}
		assert_non_null(r.w);
		rig_open(&r, "2025-11-25");
		rig_stop(&r);
	}
}

/* ---- serving ---------------------------------------------------------------------------------- */

/* The batch's answers are ready, and memory is too short to send them: they are sent later. */
TEST(finished_batch_is_not_lost)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct rig r = { 0 };

		fail_alloc_calm(&fa);
		start(&r, &fa);
		rig_open(&r, "2025-03-26");
		rig_ask(&r, "[" CALL("3", "defer", "{}") "," REQUEST("4", "ping", "") "]");
		cleat_reply_textf(held, "%070000d", 1);
		cleat_request_finish(held, CLEAT_OK);
		fail_alloc_arm(&fa); /* first batch.out, then the outbox cannot grow */
		cleat_wire_poll(r.w);
		fail_alloc_calm(&fa);
		rig_poll(&r);
		assert_int_equal(count_of(r.out, "\"id\":3,"), 1);
		assert_int_equal(count_of(r.out, "\"id\":4,"), 1);
		rig_stop(&r);
	}
}

/* While an answer waits for memory, poll() says when to come again; it neither spins nor forgets. */
MEMORY_TEST(unsent_answer_has_a_time_to_try_again)
{
	struct rig r = { 0 };
	int ms;

	start(&r, fa);
	rig_open(&r, "2025-11-25");
	rig_ask(&r, CALL("9", "defer", "{}"));
	cleat_reply_textf(held, "%070000d", 1);
	cleat_request_finish(held, CLEAT_OK);
	/* outbox: full to its capacity, so that even an error needs memory */
	for (int i = 0; i < 3000; i++)
		rig_say(&r, REQUEST("1", "ping", ""));
	fa->forever = true;
	do { /* fill what capacity is left */
		fa->countdown = 1;
		fa->failures = 0;
		rig_say(&r, REQUEST("2", "ping", ""));
	} while (fa->failures == 0);
	ms = cleat_wire_poll(r.w);
	assert_true(ms > 0);
	assert_true(cleat_wire_inflight(r.w) > 0);
	fa->countdown = 0;
	fa->forever = false;
	rig_poll(&r);
	assert_int_equal(count_of(r.out, "\"id\":9,"), 1);
	assert_int_equal(cleat_wire_inflight(r.w), 0);
	assert_int_equal(cleat_wire_poll(r.w), -1);
	rig_stop(&r);
}

/* The connection goes while answers wait for memory: nothing is sent, nothing is left. */
TEST(unsent_answers_go_with_their_connection)
{
	for (int way = 0; way < 2; way++) {
		struct fail_alloc fa;
		struct rig r = { 0 };

		fail_alloc_init(&fa, 0, false);
		start(&r, &fa);
		rig_open(&r, "2025-03-26");
		rig_ask(&r, "[" CALL("8", "defer", "{}") "," REQUEST("7", "ping", "") "]");
		cleat_reply_textf(held, "%070000d", 1);
		cleat_request_finish(held, CLEAT_OK);
		fa.forever = true;
		do { /* fill what capacity is left in the outbox */
			fa.countdown = 1;
			fa.failures = 0;
			rig_say(&r, REQUEST("2", "ping", ""));
		} while (fa.failures == 0);
		cleat_wire_poll(r.w);
		assert_true(cleat_wire_inflight(r.w) > 1);
		if (way == 0)
			cleat_wire_eof(r.w);
		fa.countdown = 0;
		fa.forever = false;
		rig_stop(&r);
		assert_int_equal(fa.live, 0);
	}
}
