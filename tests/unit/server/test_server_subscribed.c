/* test_server_subscribed.c - those that watch resources are told what clients subscribe to (server/core.h). */
#include "test.h"
#include "unit/server/server_rig.h"

#include "server/core.h"

struct ear {
	struct subscription_hook hook; /* first */
	char heard[200];
};

static void on_subscribed(struct subscription_hook *h, struct str uri)
{
	struct ear *e = (struct ear *)(void *)h;
	size_t n = strlen(e->heard);

	snprintf(e->heard + n, sizeof e->heard - n, "%.*s ", STR_ARGS(uri));
}

static void expect(struct ear *e, const char *words)
{
	assert_string_equal(e->heard, words);
	e->heard[0] = '\0';
}

static void begin(struct rig *r)
{
	rig_server(r, NULL);
	for (int i = 1; i <= 3; i++) {
		char uri[16];

		snprintf(uri, sizeof uri, "r:%d", i);
		assert_int_equal(cleat_server_add_resource(
					 r->s, &(cleat_resource){ .uri = uri, .text = "x" }),
				 CLEAT_OK);
	}
	rig_wire(r);
}

/* resources/subscribe, up to 2025-11-25. */
RIG_TEST(legacy_subscriptions_are_told_once)
{
	struct ear a = { .hook = { .fn = on_subscribed } }, b = a;

	begin(r);
	server_hook_subscriptions(r->s, &a.hook);
	rig_open(r, "2025-11-25");
	expect(&a, "");
	rig_ask(r, REQUEST("1", "resources/subscribe", "\"uri\":\"r:1\""));
	rig_ask(r, REQUEST("2", "resources/subscribe", "\"uri\":\"r:1\""));
	rig_ask(r, REQUEST("3", "resources/subscribe", "\"uri\":\"r:none\""));
	rig_ask(r, REQUEST("4", "resources/subscribe", "\"uri\":\"r:2\""));
	expect(&a, "r:1 r:2 ");
	assert_true(server_is_subscribed(r->s, STR_LIT("r:1")));
	assert_false(server_is_subscribed(r->s, STR_LIT("r:3")));
	assert_false(server_is_subscribed(r->s, STR_LIT("r:none")));
	/* who comes later hears of those that are there */
	server_hook_subscriptions(r->s, &b.hook);
	expect(&b, "r:2 r:1 ");
	rig_ask(r, REQUEST("5", "resources/unsubscribe", "\"uri\":\"r:1\""));
	assert_false(server_is_subscribed(r->s, STR_LIT("r:1")));
	server_unhook_subscriptions(r->s, &a.hook);
	server_unhook_subscriptions(r->s, &a.hook);
	rig_ask(r, REQUEST("6", "resources/subscribe", "\"uri\":\"r:3\""));
	expect(&a, "");
	expect(&b, "r:3 ");
	server_unhook_subscriptions(r->s, &b.hook);
}

/* subscriptions/listen, 2026-07-28. */
RIG_TEST(modern_subscriptions_are_told_each)
{
	struct ear a = { .hook = { .fn = on_subscribed } }, b = a;

	begin(r);
	server_hook_subscriptions(r->s, &a.hook);
	rig_ask(r,
		REQUEST("1", "subscriptions/listen",
			MODERN ",\"notifications\":{\"resourceSubscriptions\":[\"r:1\",\"r:9\"]}"));
	expect(&a, "r:1 r:9 ");
	rig_ask(r, REQUEST("2", "subscriptions/listen",
			   MODERN ",\"notifications\":{\"toolsListChanged\":true}"));
	expect(&a, "");
	assert_true(server_is_subscribed(r->s, STR_LIT("r:1")));
	assert_false(server_is_subscribed(r->s, STR_LIT("r:2")));
	server_hook_subscriptions(r->s, &b.hook);
	expect(&b, "r:1 r:9 ");
	server_unhook_subscriptions(r->s, &a.hook);
	server_unhook_subscriptions(r->s, &b.hook);
}
