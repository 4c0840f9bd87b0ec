/* test_server_lists.c - lists of what is registered: in order, in pages, while things come and go; userdata
 * that outlives its tool's calls; many. (What is taken and what is refused: test_server_register.c.)
 */
#include "test.h"
#include "unit/server/server_register_rig.h"

/* ---- lists ---------------------------------------------------------------------------------- */

static void add_named(cleat_server *s, const char *name)
{
	assert_int_equal(cleat_server_add_tool(s, &(cleat_tool){ .name = name, .call = ok }), 0);
}

RIG_TEST(lists_keep_the_order_of_registration)
{
	const char *out, *z, *m, *a;

	rig_server(r, NULL);
	add_named(r->s, "z");
	add_named(r->s, "gone");
	add_named(r->s, "m");
	add_named(r->s, "a");
	assert_int_equal(cleat_server_remove_tool(r->s, "gone"), CLEAT_OK);
	assert_int_equal(cleat_server_remove_tool(r->s, "gone"), CLEAT_ENOENT);
	assert_int_equal(cleat_server_remove_tool(r->s, NULL), CLEAT_ENOENT);
	rig_wire(r);
	rig_open(r, "2025-11-25");
	out = rig_ask(r, REQUEST("1", "tools/list", ""));
	z = strstr(out, "\"name\":\"z\"");
	m = strstr(out, "\"name\":\"m\"");
	a = strstr(out, "\"name\":\"a\"");
	assert_true(z && m && a && z < m && m < a);
	assert_lacks(out, "gone");
}

/* The cursor of the last page; "" when there is none. */
static void cursor_of(const char *out, char *to, size_t n)
{
	const char *p = strstr(out, "\"nextCursor\":\"");

	to[0] = '\0';
	if (p)
		snprintf(to, n, "%.*s", (int)strcspn(p + 14, "\""), p + 14);
}

static const char *ask_page(struct rig *r, const char *cursor)
{
	char line[256];

	snprintf(line, sizeof line,
		 cursor[0] ? REQUEST("1", "tools/list", "\"cursor\":\"%s\"")
			   : REQUEST("1", "tools/list", ""),
		 cursor);
	return rig_ask(r, line);
}

/* Registered before there was anybody to tell: the first client is not told of a change. */
RIG_TEST(registration_before_the_connection_is_no_change)
{
	rig_server(r, NULL);
	add_named(r->s, "t1");
	rig_wire(r);
	rig_open(r, "2025-11-25");
	assert_string_equal(rig_poll(r), "");
	add_named(r->s, "t2");
	assert_int_equal(atomic_load(&r->wakes) > 0, 1);
	assert_has(rig_poll(r), "notifications/tools/list_changed");
}

/* A failed call has changed nothing, so there is nothing to tell and nothing to announce. */
RIG_TEST(failed_add_tells_nobody)
{
	cleat_prompt two[] = { { .name = "p", .get = ok }, { .name = "p", .get = ok } };

	rig_server(r, NULL);
	add_named(r->s, "t1");
	rig_wire(r);
	rig_open(r, "2025-11-25");
	assert_int_equal(cleat_server_add_prompts(r->s, two, 2), CLEAT_EEXIST);
	assert_string_equal(rig_poll(r), "");
	assert_has(rig_ask(r, REQUEST("1", "prompts/list", "")), "-32601");
}

/* One tool, which counts when it is destroyed. */
static void start_counted(struct rig *r, const char *name, cleat_handler *call, int *destroyed)
{
	const cleat_tool t = {
		.name = name, .call = call, .userdata = destroyed, .destroy = count_destroy
	};

	rig_start(r, &t, 1);
}

static int remove_self(cleat_request *req)
{
	assert_int_equal(cleat_server_remove_tool(cleat_request_server(req), "self"), CLEAT_OK);
	/* the call goes on with what it started with */
	assert_string_equal(cleat_request_name(req), "self");
	assert_int_equal(*(int *)cleat_request_userdata(req), 0);
	return cleat_reply_text(req, "bye");
}

TEST(tool_may_remove_itself)
{
	int destroyed = 0;
	struct rig r;

	start_counted(&r, "self", remove_self, &destroyed);
	assert_has(rig_ask(&r, CALL("1", "self", "{}")), "bye");
	assert_int_equal(destroyed, 1);
	assert_has(rig_ask(&r, CALL("2", "self", "{}")), "-32602");
	rig_stop(&r);
	assert_int_equal(destroyed, 1);
}

static cleat_request *held;

static int hold(cleat_request *req)
{
	cleat_request_defer(req);
	held = req;
	return CLEAT_PENDING;
}

/* "Called exactly once when the tool is gone and no call uses it." */
TEST(userdata_outlives_the_deferred_call)
{
	int destroyed = 0;
	struct rig r;

	start_counted(&r, "slow", hold, &destroyed);
	rig_ask(&r, CALL("1", "slow", "{}"));
	assert_int_equal(cleat_server_remove_tool(r.s, "slow"), CLEAT_OK);
	add_named(r.s, "slow"); /* the name is free at once */
	rig_poll(&r);
	assert_int_equal(destroyed, 0);
	assert_string_equal(cleat_request_name(held), "slow");
	cleat_reply_text(held, "late");
	cleat_request_finish(held, CLEAT_OK);
	assert_has(rig_poll(&r), "late");
	assert_int_equal(destroyed, 1);
	rig_stop(&r);
	assert_int_equal(destroyed, 1);
}

/* ---- many ------------------------------------------------------------------------------------ */

/* Counted in allocations and bytes, not in seconds: registering must not copy what is there. */
MEMORY_TEST(ten_thousand_tools)
{
	enum { N = 10000 };
	struct rig r;
	size_t before, seen = 0;
	char name[32], cursor[64] = "";

	rig_server(&r, &(cleat_server_options){ .allocator = &fa->hook });
	before = fa->requests;
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof name, "tool-%05d", i);
		add_named(r.s, name);
	}
	assert_true(fa->requests - before < 6 * (size_t)N);
	assert_true(fa->bytes < (size_t)N * 8192);
	rig_wire(&r);
	rig_open(&r, "2025-11-25");
	before = fa->requests;
	assert_has(rig_ask(&r, CALL("1", "tool-09999", "{}")), "ok");
	assert_true(fa->requests - before < 20);
	do {
		const char *out = ask_page(&r, cursor);

		seen += count_of(out, "\"inputSchema\"");
		cursor_of(out, cursor, sizeof cursor);
	} while (cursor[0]);
	assert_int_equal(seen, N);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof name, "tool-%05d", (i * 7919) % N);
		assert_int_equal(cleat_server_remove_tool(r.s, name), CLEAT_OK);
	}
	rig_poll(&r);
	assert_has(rig_ask(&r, REQUEST("2", "tools/list", "")), "\"tools\":[]");
	rig_stop(&r);
}
