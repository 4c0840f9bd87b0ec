/* test_store_reentry.c - the store in memory (store/memory.c) when its callbacks call back: they drop,
 * purge or replace what they are being told about, or free the store, and then look at what they were
 * given.
 */
#include "test.h"
#include "unit/store/test_store.h"

static struct {
	struct store *st;
	void (*act)(void);
	size_t acts; /* how often it is still called */
	size_t done;
	int status;
} re;

static void react(void)
{
	if (re.acts > 0) {
		re.acts--;
		re.act();
	}
}

static void re_done(void *ctx, int status)
{
	(void)ctx;
	re.done++;
	re.status = status;
	react();
}

/* Looks at what it was given after the act: it must still be there. */
static void re_each(void *ctx, uint64_t number, struct str data)
{
	react();
	note_event(ctx, number, data);
}

static void re_got(void *ctx, int status, const struct store_session *s)
{
	react();
	note_session(ctx, status, s);
}

static void re_gone(void *ctx, struct str id)
{
	react();
	note_id(ctx, id);
}

static void act_drop(void)
{
	drop(re.st, "s");
}

static void act_stream_drop(void)
{
	re.st->ops->stream_drop(re.st, STR_LIT("s"), 1);
}

/* Purges what is being read, and adds to it. */
static void act_append(void)
{
	static const char fill[] =
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

	assert_int_equal(append(re.st, "s", 1, 4, "new"), CLEAT_OK);
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(append(re.st, "s", 2, i, fill), CLEAT_OK);
}

static void act_put(void)
{
	assert_int_equal(put(re.st, "s"), CLEAT_OK);
}

static void act_drop_and_put(void)
{
	act_drop();
	act_put();
	assert_int_equal(append(re.st, "s", 1, 1, "again"), CLEAT_OK);
}

static void ignore_id(void *ctx, struct str id)
{
	(void)ctx;
	assert_true(id.n > 0);
}

static void act_expire(void)
{
	re.st->ops->expire(re.st, UINT64_MAX, ignore_id, NULL);
}

static void act_free(void)
{
	re.st->ops->free(re.st);
	re.st = NULL;
}

static void act_nested_replay(void)
{
	char before[sizeof events];
	size_t before_n = events_n;

	memcpy(before, events, sizeof events);
	assert_int_equal(replay(re.st, "s", 1, 0), CLEAT_OK);
	assert_string_equal(events, "1=a 2=b 3=c ");
	memcpy(events, before, sizeof events);
	events_n = before_n;
}

static void (*const acts[])(void) = { act_drop,         act_stream_drop, act_append, act_put,
				      act_drop_and_put, act_expire,      act_free };

static void re_start(void (*act)(void), size_t n)
{
	re.st = new_store(NULL, 0, 20 * event_cost(), 0);
	re.act = act;
	re.acts = n;
	re.done = 0;
	now_ms = 1;
	assert_int_equal(put(re.st, "s"), CLEAT_OK);
	assert_int_equal(append(re.st, "s", 1, 1, "a"), CLEAT_OK);
	assert_int_equal(append(re.st, "s", 1, 2, "b"), CLEAT_OK);
	assert_int_equal(append(re.st, "s", 1, 3, "c"), CLEAT_OK);
	events_n = 0;
	events[0] = '\0';
}

static void re_end(void)
{
	if (re.st)
		re.st->ops->free(re.st);
	re.st = NULL;
}

TEST(a_replay_is_complete_whatever_its_callback_does)
{
	for (size_t i = 0; i < CLEAT_COUNT(acts); i++) {
		re_start(acts[i], 1);
		re.st->ops->replay(re.st, STR_LIT("s"), 1, 0, re_each, re_done, NULL);
		assert_string_equal(events, "1=a 2=b 3=c ");
		assert_int_equal(re.done, 1);
		assert_int_equal(re.status, CLEAT_OK);
		re_end();
	}
	re_start(act_nested_replay, 3);
	re.st->ops->replay(re.st, STR_LIT("s"), 1, 0, re_each, re_done, NULL);
	assert_string_equal(events, "1=a 2=b 3=c ");
	re_end();
	/* The last event's callback, where what follows it is another thing each time. */
	for (size_t i = 0; i < CLEAT_COUNT(acts); i++) {
		re_start(acts[i], 1);
		re.st->ops->replay(re.st, STR_LIT("s"), 1, 2, re_each, re_done, NULL);
		assert_string_equal(events, "3=c ");
		assert_int_equal(re.done, 1);
		re_end();
	}
}

TEST(every_other_callback_may_do_the_same)
{
	const struct store_session other = { STR_LIT("o"), STR_LIT(""), STR_LIT("") };

	for (size_t i = 0; i < CLEAT_COUNT(acts); i++) {
		re_start(acts[i], 1);
		re.st->ops->session_get(re.st, STR_LIT("s"), re_got, NULL);
		assert_int_equal(got.status, CLEAT_OK);
		assert_string_equal(got.id, "s");
		assert_string_equal(got.data, "data of s");
		re_end();
		re_start(acts[i], 1);
		re.st->ops->session_put(re.st, &other, re_done, NULL);
		assert_int_equal(re.status, CLEAT_OK);
		re_end();
		re_start(acts[i], 1);
		re.st->ops->append(re.st, STR_LIT("s"), 9, 1, STR_LIT("x"), re_done, NULL);
		assert_int_equal(re.status, CLEAT_OK);
		re_end();
		re_start(acts[i], 1);
		re.st->ops->replay(re.st, STR_LIT("s"), 9, 0, re_each, re_done, NULL);
		assert_int_equal(re.done, 1);
		re_end();
		if (acts[i] == act_append) /* has nothing left to append to */
			continue;
		re_start(acts[i], 1);
		re.st->ops->session_drop(re.st, STR_LIT("s"), re_done, NULL);
		assert_int_equal(re.done, 1);
		re_end();
		/* The first of three that expire. */
		re_start(acts[i], 1);
		assert_int_equal(put(re.st, "t"), CLEAT_OK);
		assert_int_equal(put(re.st, "u"), CLEAT_OK);
		events_n = 0;
		re.st->ops->expire(re.st, UINT64_MAX, re_gone, NULL);
		assert_string_equal(events, "s t u ");
		re_end();
	}
}

/* What a callback is given may be given to the store again. */
static void give_back_event(void *ctx, uint64_t number, struct str data)
{
	struct store *st = ctx;

	assert_int_equal(drop(st, "s"), CLEAT_OK);
	assert_int_equal(put(st, "s"), CLEAT_OK);
	assert_int_equal(append_bytes(st, "s", 5, number, data), CLEAT_OK);
}

static void give_back_session(void *ctx, int status, const struct store_session *s)
{
	struct store *st = ctx;

	assert_int_equal(status, CLEAT_OK);
	assert_int_equal(put_session(st, s), CLEAT_OK);
	st->ops->session_drop(st, s->id, note_status, NULL);
	assert_int_equal(put_session(st, s), CLEAT_OK);
}

TEST(what_a_callback_gets_can_be_put_in_again)
{
	re_start(NULL, 0);
	re.st->ops->replay(re.st, STR_LIT("s"), 1, 2, give_back_event, re_done, re.st);
	assert_int_equal(replay(re.st, "s", 5, 2), CLEAT_OK);
	assert_string_equal(events, "3=c ");
	re.st->ops->session_get(re.st, STR_LIT("s"), give_back_session, re.st);
	assert_int_equal(get(re.st, "s"), CLEAT_OK);
	assert_string_equal(got.data, "data of s");
	re_end();
}
