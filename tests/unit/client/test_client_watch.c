/* test_client_watch.c - watches whose callbacks free and watch; see tests/wire/transcripts/client/watch.txt, too. */
#include "test.h"
#include "unit/client/client_rig.h"

#define SUBSCRIPTION "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":2}"

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
	rig_say(rig, NOTE("notifications/subscriptions/acknowledged",
			  SUBSCRIPTION ",\"notifications\":{\"toolsListChanged\":true}"));
	rig_say(rig, NOTE("notifications/tools/list_changed", SUBSCRIPTION));
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
