/* Watches: one way to hear of changes, whatever the server speaks (2026-07-28 patterns/subscriptions;
 * 2025-11-25 server/resources, Subscriptions). */
#include "test.h"
#include "unit/client/client_rig.h"

#define ALL (CLEAT_CHANGE_TOOLS | CLEAT_CHANGE_PROMPTS | CLEAT_CHANGE_RESOURCES)

static cleat_watch *watch(struct rig *rig, const char *name, unsigned lists, const char *uri)
{
	const char *uris[] = { uri, NULL };
	cleat_watch *w =
		cleat_client_watch(rig->c, &(cleat_watch_options){ .lists = lists,
								   .uris = uris,
								   .on_change = rig_on_change,
								   .on_end = rig_on_end,
								   .userdata = (void *)name });

	return w;
}

/* The id of the newest request, as a number. */
static int id(struct rig *rig)
{
	return (int)(uintptr_t)rig_request(rig)->tag;
}

static void acknowledge(struct rig *rig, int subscription, const char *filter)
{
	rig_say(rig,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
		"\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%d},"
		"\"notifications\":{%s}}}",
		subscription, filter);
}

static void notify(struct rig *rig, int subscription, const char *what, const char *more)
{
	rig_say(rig,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{\"_meta\":"
		"{\"io.modelcontextprotocol/subscriptionId\":%d}%s}}",
		what, subscription, more);
}

/* ---- modern ------------------------------------------------------------------------------------ */

MODERN_TEST(one_request_listens_for_all)
{
	cleat_watch *a, *b;

	a = watch(rig, "a", CLEAT_CHANGE_TOOLS, "file:///x");
	b = watch(rig, "b", CLEAT_CHANGE_PROMPTS | CLEAT_CHANGE_TOOLS, "file:///x");
	assert_int_equal(rig->n_sent, 1);
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 2);
	assert_has(
		rig_last(rig)->text,
		"\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":"
		"{\"toolsListChanged\":true,\"promptsListChanged\":true,"
		"\"resourceSubscriptions\":[\"file:///x\"]},\"_meta\":{\"io.modelcontextprotocol/");
	/* nothing counts before the acknowledgment, and nothing of another subscription */
	notify(rig, id(rig), "tools/list_changed", "");
	acknowledge(rig, id(rig) + 1, "\"toolsListChanged\":true");
	acknowledge(rig, id(rig),
		    "\"toolsListChanged\":true,\"promptsListChanged\":true,"
		    "\"resourceSubscriptions\":[\"file:///x\"]");
	notify(rig, id(rig) + 1, "tools/list_changed", "");
	rig_say(rig, NOTE("notifications/tools/list_changed", ""));
	assert_string_equal(rig->changes, "");
	notify(rig, id(rig), "prompts/list_changed", "");
	notify(rig, id(rig), "tools/list_changed", "");
	notify(rig, id(rig), "resources/list_changed", "");
	notify(rig, id(rig), "resources/updated", ",\"uri\":\"file:///x\"");
	notify(rig, id(rig), "resources/updated", ",\"uri\":\"file:///xy\"");
	notify(rig, id(rig), "resources/updated", ",\"uri\":7");
	assert_string_equal(rig->changes, "b2\nb1\na1\nb8 file:///x\na8 file:///x\n");
	assert_int_equal(rig_pump(rig), -1); /* it may stay quiet for as long as it likes */
	cleat_watch_free(a);
	cleat_watch_free(b);
}

/* The new one is acknowledged before the old one is dropped. */
MODERN_TEST(changes_of_the_set_leave_no_gap)
{
	cleat_watch *a, *b;
	int first, second;

	a = watch(rig, "a", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(rig);
	first = id(rig);
	acknowledge(rig, first, "\"toolsListChanged\":true");
	b = watch(rig, "b", CLEAT_CHANGE_PROMPTS, NULL);
	rig_pump(rig);
	second = id(rig);
	assert_int_not_equal(first, second);
	notify(rig, first, "tools/list_changed", "");
	assert_string_equal(rig->changes, "a1\n");
	acknowledge(rig, second, "\"toolsListChanged\":true,\"promptsListChanged\":true");
	assert_string_equal(rig_last(rig)->method, "notifications/cancelled");
	notify(rig, first, "tools/list_changed", ""); /* late */
	notify(rig, second, "prompts/list_changed", "");
	assert_string_equal(rig->changes, "a1\nb2\n");
	/* the last one ends it */
	cleat_watch_free(a);
	cleat_watch_free(b);
	rig_pump(rig);
	assert_string_equal(rig_last(rig)->method, "notifications/cancelled");
	assert_int_equal(rig_pump(rig), -1);
}

/* On HTTP the exchange itself is the subscription. */
RIG_TEST(closing_the_exchange_ends_it_on_http)
{
	cleat_watch *w;
	void *tag;

	rig_modern(rig, NULL, true);
	w = watch(rig, "", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(rig);
	tag = rig_request(rig)->tag;
	rig_message(rig,
		    NOTE("notifications/subscriptions/acknowledged",
			 "\"notifications\":{\"toolsListChanged\":true}"),
		    tag, 0);
	rig_message(rig, NOTE("notifications/tools/list_changed", ""), tag, 0);
	assert_string_equal(rig->changes, "1\n");
	cleat_watch_free(w);
	rig_pump(rig);
	assert_int_equal(rig->n_forgotten, 1);
	assert_ptr_equal(rig->forgotten[0], tag);
}

/* Graceful Closure, and the ungraceful ones: made anew after a random while, and what may have been missed
 * is told. */
TEST(a_lost_subscription_is_made_anew)
{
	struct rig rig;
	cleat_watch *w;

	for (int how = 0; how < 4; how++) {
		rig_modern(&rig, NULL, how == 3);
		rig.random = 1000;
		w = watch(&rig, "", CLEAT_CHANGE_TOOLS, NULL);
		rig_pump(&rig);
		acknowledge(&rig, id(&rig), "\"toolsListChanged\":true");
		if (how == 0)
			rig_answer(&rig, "\"result\":{\"resultType\":\"complete\",\"_meta\":{}}");
		else if (how == 1)
			rig_say(&rig,
				"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				"\"params\":{\"requestId\":%d}}",
				id(&rig));
		else if (how == 2)
			rig_answer(&rig, "\"error\":{\"code\":-32603,\"message\":\"x\"}");
		else
			rig_failed(&rig, rig_request(&rig)->tag, 0, CLEAT_STEP_EXCHANGE, "reset");
		assert_int_equal(rig.n_sent, 2);
		assert_int_equal(rig_pump(&rig), 1000);
		rig_pass(&rig, 999);
		assert_int_equal(rig.n_sent, 2);
		rig_pass(&rig, 1);
		assert_int_equal(rig.n_sent, 3);
		assert_string_equal(rig.changes, "");
		acknowledge(&rig, id(&rig), "\"toolsListChanged\":true");
		assert_string_equal(rig.changes, "16\n");
		/* the next time it takes longer */
		rig.random = 1500;
		rig_failed(&rig, rig_request(&rig)->tag, 0, CLEAT_STEP_EXCHANGE, "reset");
		assert_int_equal(rig_pump(&rig), 1500);
		cleat_watch_free(w);
		rig_done(&rig);
	}
}

/* One that lasted is no reason to wait long. */
RIG_TEST(a_subscription_that_lasted_is_made_anew_soon)
{
	cleat_watch *w;

	rig_modern(rig, NULL, true);
	w = watch(rig, "", 0, "file:///x");
	rig_pump(rig);
	for (int i = 0; i < 3; i++) {
		acknowledge(rig, id(rig), "\"resourceSubscriptions\":[\"file:///x\"]");
		rig_pass(rig, 61000);
		rig->random = 1000;
		rig_failed(rig, rig_request(rig)->tag, 0, CLEAT_STEP_EXCHANGE, "reset");
		assert_int_equal(rig_pump(rig), 1000);
		rig_pass(rig, 1000);
	}
	assert_string_equal(rig->changes, "16\n16\n");
	cleat_watch_free(w);
}

/* "On stdio, if the connection is terminated and then re-established, the client MUST re-send
 * subscriptions/listen". */
RIG_TEST(watches_survive_a_restart)
{
	cleat_watch *w;

	rig_modern(rig, &(cleat_client_options){ .restart = true }, false);
	w = watch(rig, "", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(rig);
	acknowledge(rig, id(rig), "\"toolsListChanged\":true");
	rig_down(rig, "gone");
	rig_pass(rig, 100);
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER(RIG_CAPS));
	assert_string_equal(rig_request(rig)->method, "subscriptions/listen");
	acknowledge(rig, id(rig), "\"toolsListChanged\":true");
	assert_string_equal(rig->changes, "16\n");
	cleat_watch_free(w);
}

RIG_TEST(what_a_server_does_not_offer_ends_the_watch)
{
	cleat_watch *w[3];

	assert_true(rig_init(rig, NULL));
	w[0] = watch(rig, "a", CLEAT_CHANGE_PROMPTS, NULL);
	w[1] = watch(rig, "b", ALL, "file:///x");
	w[2] = watch(rig, "c", 0, "file:///x");
	assert_int_equal(rig->opens, 1); /* a watch reaches the server like a call */
	rig_up(rig);
	rig_answer(rig, RIG_DISCOVER("{\"tools\":{\"listChanged\":true},\"resources\":{}}"));
	assert_has(rig_last(rig)->text, "\"notifications\":{\"toolsListChanged\":true}");
	assert_int_equal(count_of(rig->changes, "end -13"), 2);
	assert_has(rig->changes, "aend");
	assert_has(rig->changes, "cend");
	/* acknowledged is less than was asked for */
	acknowledge(rig, id(rig), "");
	assert_has(rig->changes, "bend -13");
	for (int i = 0; i < 3; i++)
		cleat_watch_free(w[i]);
}

TEST(a_refusal_ends_the_watch)
{
	struct rig rig;
	cleat_watch *a, *b;

	rig_modern(&rig, NULL, false);
	a = watch(&rig, "a", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(&rig);
	acknowledge(&rig, id(&rig), "\"toolsListChanged\":true");
	b = watch(&rig, "b", 0, "file:///secret");
	rig_pump(&rig);
	rig_answer(&rig, "\"error\":{\"code\":-32602,\"message\":\"not for you\"}");
	rig_pump(&rig);
	assert_string_equal(rig.changes, "bend -9 subscriptions/listen: not for you\n");
	notify(&rig, (int)(uintptr_t)rig.sent[1].tag, "tools/list_changed", "");
	assert_has(rig.changes, "a1\n");
	cleat_watch_free(a);
	cleat_watch_free(b);
	rig_done(&rig);
	rig_modern(&rig, NULL, false);
	a = watch(&rig, "a", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(&rig);
	rig_answer(&rig, "\"error\":{\"code\":-32601,\"message\":\"unknown\"}");
	assert_string_equal(rig.changes, "aend -13 subscriptions/listen: unknown\n");
	cleat_watch_free(a);
	rig_done(&rig);
}

/* Nothing comes of a request that nobody acknowledges. */
RIG_TEST(silence_is_tried_again)
{
	cleat_watch *w;

	rig_modern(rig, &(cleat_client_options){ .timeout_ms = 2000 }, false);
	rig->random = 500;
	w = watch(rig, "a", CLEAT_CHANGE_TOOLS, NULL);
	rig_pump(rig);
	rig_pass(rig, 2000);
	assert_string_equal(rig_last(rig)->method, "notifications/cancelled");
	rig_pass(rig, 500);
	assert_string_equal(rig_last(rig)->method, "subscriptions/listen");
	assert_string_equal(rig->changes, "");
	cleat_watch_free(w);
}

static cleat_watch *victims[3];

static void free_all(cleat_watch *w, enum cleat_change_kind what, const char *uri)
{
	(void)what;
	(void)uri;
	rig_on_change(w, what, uri);
	for (size_t i = 0; i < CLEAT_COUNT(victims); i++)
		cleat_watch_free(victims[i]);
}

static void free_at_end(cleat_watch *w, const cleat_error *why)
{
	rig_on_end(w, why);
	cleat_watch_free(w);
}

MODERN_TEST(watches_may_be_freed_in_their_callbacks)
{
	for (size_t i = 0; i < CLEAT_COUNT(victims); i++)
		victims[i] = cleat_client_watch(rig->c,
						&(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS,
									.on_change = free_all });
	rig_pump(rig);
	acknowledge(rig, id(rig), "\"toolsListChanged\":true");
	notify(rig, id(rig), "tools/list_changed", "");
	assert_string_equal(rig->changes, "1\n"); /* the others were gone before they could hear */
	assert_string_equal(rig_last(rig)->method, "notifications/cancelled");
	cleat_client_watch(rig->c, &(cleat_watch_options){ .on_end = free_at_end });
	rig_pump(rig);
	assert_has(rig->changes, "end -13");
}

static unsigned watched_again;

static void watch_again(cleat_watch *w, const cleat_error *why)
{
	cleat_client *c = cleat_watch_client(w);

	(void)why;
	cleat_watch_free(w);
	if (++watched_again < 100000)
		cleat_client_watch(c, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS,
							      .on_end = watch_again });
}

/* A program that does not take no for an answer: the loop goes on, and closing has an end. */
RIG_TEST(watching_again_at_once_does_not_keep_the_loop)
{
	cleat_error why = { .status = CLEAT_EINVAL, .message = "wrong" };

	watched_again = 0;
	assert_true(rig_init(rig, &(cleat_client_options){ .max_calls = 10 }));
	client_fail(rig->c, CLEAT_STEP_ARGUMENTS, &why);
	cleat_client_watch(rig->c, &(cleat_watch_options){ .lists = CLEAT_CHANGE_TOOLS,
							   .on_end = watch_again });
	client_pump(rig->c);
	client_close(rig->c);
	assert_true(watched_again > 0);
	assert_true(watched_again < 1000);
}

/* caching: on HTTP a notification may overtake the answer to what was asked before it. */
MODERN_TEST(an_answer_that_a_change_overtook_is_not_kept)
{
	cleat_watch *w;
	struct rig_sent *list;
	int listen;
	size_t sent;

	w = watch(rig, "", ALL, NULL);
	rig_pump(rig);
	listen = id(rig);
	acknowledge(rig, listen, "\"toolsListChanged\":true");
	rig_call(rig, "tools/list", "{}");
	list = rig_request(rig);
	notify(rig, listen, "tools/list_changed", "");
	rig_reply(rig, list, 0,
		  "\"result\":{\"tools\":[],\"ttlMs\":9999,\"cacheScope\":\"public\"}");
	assert_int_equal(rig->n_done, 1);
	sent = rig->n_sent;
	rig_call(rig, "tools/list", "{}");
	assert_int_equal(rig->n_sent, sent + 1);
	cleat_watch_free(w);
}

/* caching, Interaction with Notifications. */
TEST(a_change_makes_what_is_kept_stale)
{
	static const struct {
		const char *method, *params, *answer, *notice, *more;
	} cases[] = {
		{ "tools/list", "{}", "\"tools\":[]", "tools/list_changed", "" },
		{ "prompts/list", "{}", "\"prompts\":[]", "prompts/list_changed", "" },
		{ "resources/list", "{}", "\"resources\":[]", "resources/list_changed", "" },
		{ "resources/templates/list", "{}", "\"resourceTemplates\":[]",
		  "resources/list_changed", "" },
		{ "resources/read", "{\"uri\":\"a:b\"}", "\"contents\":[]", "resources/updated",
		  ",\"uri\":\"a:b\"" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;
		cleat_watch *w;
		char rest[128];
		int listen;
		size_t sent;

		rig_modern(&rig, NULL, false);
		w = watch(&rig, "", ALL, "a:b");
		rig_pump(&rig);
		listen = id(&rig);
		acknowledge(&rig, listen, "\"toolsListChanged\":true");
		rig_call(&rig, cases[i].method, cases[i].params);
		snprintf(rest, sizeof rest,
			 "\"result\":{%s,\"ttlMs\":9999,\"cacheScope\":\"public\"}",
			 cases[i].answer);
		rig_answer(&rig, rest);
		sent = rig.n_sent;
		rig_call(&rig, cases[i].method, cases[i].params);
		assert_int_equal(rig.n_sent, sent);
		notify(&rig, listen, cases[i].notice, cases[i].more);
		rig_call(&rig, cases[i].method, cases[i].params);
		assert_int_equal(rig.n_sent, sent + 1);
		cleat_watch_free(w);
		rig_done(&rig);
	}
}

/* ---- legacy ------------------------------------------------------------------------------------ */

RIG_TEST(legacy_lists_need_no_request)
{
	cleat_watch *w;

	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
	w = watch(rig, "", ALL, NULL);
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 2);
	rig_say(rig, NOTE("notifications/tools/list_changed", ""));
	rig_say(rig, NOTE("notifications/prompts/list_changed", ""));
	rig_say(rig, NOTE("notifications/resources/list_changed", ""));
	assert_string_equal(rig->changes, "1\n2\n4\n");
	cleat_watch_free(w);
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 2);
}

RIG_TEST(legacy_resources_are_subscribed_once)
{
	cleat_watch *a, *b;

	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	a = watch(rig, "a", 0, "file:///x");
	b = watch(rig, "b", 0, "file:///x");
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 3);
	assert_has(rig_last(rig)->text,
		   "\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"file:///x\"}");
	rig_answer(rig, "\"result\":{}");
	/* the resource, or a part of it */
	rig_say(rig, NOTE("notifications/resources/updated", "\"uri\":\"file:///x/y\""));
	rig_say(rig, NOTE("notifications/resources/updated", "\"uri\":\"file:///xy\""));
	rig_say(rig, NOTE("notifications/resources/updated", "\"uri\":\"a\\u0000b\""));
	assert_string_equal(rig->changes, "b8 file:///x/y\na8 file:///x/y\n");
	cleat_watch_free(a);
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 3);
	cleat_watch_free(b);
	rig_pump(rig);
	assert_has(rig_last(rig)->text,
		   "\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"file:///x\"}");
	/* wanted again before that is answered */
	a = watch(rig, "a", 0, "file:///x");
	rig_pump(rig);
	assert_int_equal(rig->n_sent, 4);
	rig_answer(rig, "\"result\":{}");
	assert_has(rig_last(rig)->text, "resources/subscribe");
	cleat_watch_free(a);
}

TEST(legacy_refusals_end_the_watch)
{
	struct rig rig;
	cleat_watch *a, *b;

	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	a = watch(&rig, "a", 0, "file:///x");
	rig_pump(&rig);
	rig_answer(&rig, "\"error\":{\"code\":-32002,\"message\":\"no such thing\"}");
	assert_string_equal(rig.changes, "aend -9 resources/subscribe file:///x: no such thing\n");
	cleat_watch_free(a);
	rig_done(&rig);
	rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-06-18", "{\"resources\":{}}"));
	a = watch(&rig, "a", 0, "file:///x");
	b = watch(&rig, "b", ALL, NULL);
	rig_pump(&rig);
	assert_int_equal(rig.n_sent, 2);
	assert_int_equal(count_of(rig.changes, "end -13"), 2);
	cleat_watch_free(a);
	cleat_watch_free(b);
	rig_done(&rig);
}

/* What says nothing about the resource is no reason to give it up: it is tried again after a while, the
 * others first, and at once when the server is reached anew. */
TEST(legacy_subscriptions_are_tried_again_after_trouble)
{
	static const struct {
		enum cleat_step step; /* CLEAT_STEP_TIMEOUT: silence */
		int http_status;
		bool again;
	} cases[] = {
		{ CLEAT_STEP_TIMEOUT, 0, true },   { CLEAT_STEP_EXCHANGE, 0, true },
		{ CLEAT_STEP_CONNECT, 0, true },   { CLEAT_STEP_DNS, 0, true },
		{ CLEAT_STEP_HTTP, 503, true },    { CLEAT_STEP_HTTP, 429, true },
		{ CLEAT_STEP_HTTP, 400, false },   { CLEAT_STEP_AUTH, 403, false },
		{ CLEAT_STEP_PROTOCOL, 0, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;
		cleat_watch *a, *b;
		size_t sent;

		rig_legacy(&rig, &(cleat_client_options){ .timeout_ms = 2000 }, true,
			   RIG_INITIALIZE("2025-06-18", RIG_CAPS));
		rig.random = 500;
		b = watch(&rig, "b", 0, "file:///b");
		a = watch(&rig, "a", 0, "file:///a");
		rig_pump(&rig);
		assert_has(rig_request(&rig)->text, "file:///b");
		if (cases[i].step == CLEAT_STEP_TIMEOUT)
			rig_pass(&rig, 2000);
		else
			rig_failed(&rig, rig_request(&rig)->tag, cases[i].http_status,
				   cases[i].step, "trouble");
		assert_int_equal(count_of(rig.changes, "bend"), cases[i].again ? 0 : 1);
		if (cases[i].again) {
			sent = rig.n_sent;
			assert_int_equal(rig_pump(&rig), 500);
			rig_pass(&rig, 499);
			assert_int_equal(rig.n_sent, sent);
			rig_pass(&rig, 1);
		}
		assert_has(rig_request(&rig)->text, "file:///a");
		rig_answer(&rig, "\"result\":{}");
		if (cases[i].again) {
			assert_has(rig_request(&rig)->text, "file:///b");
			rig_answer(&rig, "\"result\":{}");
			assert_string_equal(rig.changes, "");
		}
		cleat_watch_free(a);
		cleat_watch_free(b);
		rig_done(&rig);
	}
}

RIG_TEST(legacy_subscriptions_are_tried_again_with_the_connection)
{
	cleat_watch *w;

	rig_legacy(rig, &(cleat_client_options){ .restart = true }, false,
		   RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig->random = 60000;
	w = watch(rig, "", 0, "file:///x");
	rig->send_status = CLEAT_ECLOSED; /* the stream has ended, `down` comes soon */
	rig_pump(rig);
	rig->send_status = CLEAT_OK;
	rig_down(rig, "gone");
	rig_pass(rig, 1000);
	rig_up(rig);
	rig_answer(rig, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	assert_has(rig_request(rig)->text, "resources/subscribe");
	rig_answer(rig, "\"result\":{}");
	rig_say(rig, NOTE("notifications/resources/updated", "\"uri\":\"file:///x\""));
	assert_string_equal(rig->changes, "8 file:///x\n");
	/* who is not watched any more is not waited for */
	rig_down(rig, "gone");
	rig_pass(rig, 2000);
	rig_up(rig);
	rig_answer(rig, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	rig_pass(rig, 60000); /* no answer */
	assert_true(rig_pump(rig) > 0);
	cleat_watch_free(w);
	assert_int_equal(rig_pump(rig), -1);
}

RIG_TEST(legacy_watches_survive_a_restart_and_a_gap)
{
	cleat_watch *w;

	rig_legacy(rig, NULL, false, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	w = watch(rig, "", CLEAT_CHANGE_TOOLS, "file:///x");
	rig_pump(rig);
	rig_answer(rig, "\"result\":{}");
	rig_down(rig, "gone");
	client_start(rig->c);
	rig_up(rig);
	rig_answer(rig, RIG_INITIALIZE("2025-06-18", RIG_CAPS));
	assert_has(rig_last(rig)->text, "resources/subscribe");
	rig_answer(rig, "\"result\":{}");
	assert_string_equal(rig->changes, "16\n");
	rig->ev.gap(rig->ev.ctx);
	assert_string_equal(rig->changes, "16\n16\n");
	cleat_watch_free(w);
}

RIG_TEST(watches_on_hopeless_clients_end)
{
	cleat_watch *w;

	assert_null(cleat_client_watch(NULL, NULL));
	assert_null(cleat_watch_client(NULL));
	assert_null(cleat_watch_userdata(NULL));
	cleat_watch_free(NULL);
	assert_true(rig_init(rig, &(cleat_client_options){ .protocol = "never" }));
	w = watch(rig, "", ALL, NULL);
	assert_string_equal(rig->changes, "");
	rig_pump(rig);
	assert_has(rig->changes, "end -2 opts.protocol");
	cleat_watch_free(w);
}
