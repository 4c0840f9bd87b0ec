/* test_store_memory.c - the store in memory (store/memory.c, store/events.c): single calls, limits, lack of
 * memory, and how long it takes. Callbacks that call back are in test_store_reentry.c, what must hold
 * for any sequence of calls is in test_store_model.c.
 */
#include "store/events.h"
#include "store/store.h"
#include "support.h"
#include "test.h"
#include "unit/store/test_store.h"

#include <stdio.h>
#include <time.h>

/* ---- sessions ----------------------------------------------------------------------------- */

STORE_TEST(a_session_is_found_as_it_was_put_until_it_is_dropped, 0, 0, 0)
{
	struct store_session s = { STR_LIT("id-1"), STR_LIT("alice"), { "a\0b", 3 } };

	assert_int_equal(get(st, "id-1"), CLEAT_ENOENT);
	assert_int_equal(put_session(st, &s), CLEAT_OK);
	assert_int_equal(get(st, "id-1"), CLEAT_OK);
	assert_string_equal(got.id, "id-1");
	assert_string_equal(got.principal, "alice");
	assert_int_equal(got.data_n, 3);
	assert_memory_equal(got.data, "a\0b", 3);
	s.data = STR_LIT("two"); /* again: it is changed */
	assert_int_equal(put_session(st, &s), CLEAT_OK);
	assert_int_equal(get(st, "id-1"), CLEAT_OK);
	assert_string_equal(got.data, "two");
	assert_int_equal(get(st, "id-"), CLEAT_ENOENT);
	assert_int_equal(get(st, "id-11"), CLEAT_ENOENT);
	assert_int_equal(drop(st, "id-1"), CLEAT_OK);
	assert_int_equal(drop(st, "id-1"), CLEAT_ENOENT);
	assert_int_equal(get(st, "id-1"), CLEAT_ENOENT);
}

STORE_TEST(limits_of_sessions_are_kept, 2, 0, 0)
{
	static char large[65536];
	struct store_session s = { STR_LIT("a"), STR_LIT("p"), { large, sizeof large - 2 } };

	assert_int_equal(put(st, ""), CLEAT_EINVAL);
	assert_int_equal(put_session(st, &s), CLEAT_OK);
	s.data.n++;
	assert_int_equal(put_session(st, &s), CLEAT_ELIMIT);
	s.principal.n = SIZE_MAX; /* nor does the sum overflow */
	assert_int_equal(put_session(st, &s), CLEAT_ELIMIT);
	assert_int_equal(put(st, "b"), CLEAT_OK);
	assert_int_equal(put(st, "c"), CLEAT_ELIMIT);
	assert_int_equal(get(st, "a"), CLEAT_OK); /* nobody was dropped for it */
	assert_int_equal(got.data_n, sizeof large - 2);
	assert_int_equal(drop(st, "b"), CLEAT_OK);
	assert_int_equal(put(st, "c"), CLEAT_OK);
	assert_int_equal(stats(st).sessions, 2);
}

/* Each of these is a use of the session; stream_drop is not. */
STORE_TEST(what_was_not_used_expires_the_oldest_first, 0, 0, 0)
{
	char name[2] = "a";

	for (now_ms = 1; now_ms <= 7; now_ms++, name[0]++)
		assert_int_equal(put(st, name), CLEAT_OK); /* a at 1 ... g at 7 */
	now_ms = 10;
	assert_int_equal(get(st, "b"), CLEAT_OK);
	now_ms = 11;
	assert_int_equal(append(st, "c", 1, 1, "x"), CLEAT_OK);
	now_ms = 12;
	assert_int_equal(replay(st, "d", 1, 0), CLEAT_OK);
	now_ms = 13;
	assert_int_equal(put(st, "e"), CLEAT_OK);
	now_ms = 14;
	assert_int_equal(append(st, "g", 1, 0, "x"), CLEAT_EINVAL);
	now_ms = 20;
	st->ops->stream_drop(st, STR_LIT("f"), 1);
	assert_string_equal(expire(st, 1), "");
	assert_string_equal(expire(st, 10), "a f ");
	assert_string_equal(expire(st, 10), "");
	assert_string_equal(expire(st, 14), "b c d e ");
	assert_int_equal(stats(st).events, 0); /* went with c */
	assert_string_equal(expire(st, UINT64_MAX), "g ");
	assert_int_equal(stats(st).sessions, 0);
}

TEST(without_a_clock_the_loops_is_used)
{
	struct store *st = store_memory_new(NULL, NULL, NULL, NULL);

	assert_non_null(st);
	assert_int_equal(put(st, "a"), CLEAT_OK);
	assert_string_equal(expire(st, 1), "");
	assert_string_equal(expire(st, UINT64_MAX), "a ");
	st->ops->free(st);
}

/* ---- events ------------------------------------------------------------------------------- */

/* A stream of three events, in a session "s"; what comes of an append, then of a replay. */
TEST(append_and_replay_do_what_the_table_says)
{
	static const struct {
		const char *session;
		uint64_t stream, number; /* 0: no append */
		int append;
		uint64_t after;
		int replay;
		const char *events;
	} cases[] = {
		{ "s", 1, 0, 0, 0, CLEAT_OK, "1=a 2=b 3=c " },
		{ "s", 1, 0, 0, 1, CLEAT_OK, "2=b 3=c " },
		{ "s", 1, 0, 0, 2, CLEAT_OK, "3=c " },
		{ "s", 1, 0, 0, 3, CLEAT_OK, "" }, /* all are read */
		{ "s", 1, 0, 0, 4, CLEAT_OK, "" }, /* of the future */
		{ "s", 1, 0, 0, UINT64_MAX, CLEAT_OK, "" },
		{ "s", 2, 0, 0, 0, CLEAT_OK, "" }, /* no such stream yet */
		{ "s", 2, 0, 0, 1, CLEAT_ENOENT, "" },
		{ "x", 1, 0, 0, 0, CLEAT_ENOENT, "" }, /* no such session */
		{ "x", 1, 4, CLEAT_ENOENT, 0, CLEAT_ENOENT, "" },
		{ "s", 1, 4, CLEAT_OK, 2, CLEAT_OK, "3=c 4=n " },
		{ "s", 1, 3, CLEAT_EINVAL, 0, CLEAT_OK, "1=a 2=b 3=c " },
		{ "s", 1, 1, CLEAT_EINVAL, 0, CLEAT_OK, "1=a 2=b 3=c " },
		{ "s", 2, 1, CLEAT_OK, 0, CLEAT_OK, "1=n " },
		{ "s", 0, 1, CLEAT_OK, 0, CLEAT_OK, "1=n " },
		{ "s", UINT64_MAX, 1, CLEAT_OK, 0, CLEAT_OK, "1=n " },
		/* One that was left out is missed. */
		{ "s", 1, 5, CLEAT_OK, 3, CLEAT_ENOENT, "" },
		{ "s", 1, 5, CLEAT_OK, 0, CLEAT_ENOENT, "" },
		{ "s", 1, 5, CLEAT_OK, 4, CLEAT_OK, "5=n " },
		{ "s", 2, 2, CLEAT_OK, 0, CLEAT_ENOENT, "" },
		{ "s", 2, 2, CLEAT_OK, 1, CLEAT_OK, "2=n " },
		{ "s", 1, UINT64_MAX, CLEAT_OK, UINT64_MAX - 1, CLEAT_OK,
		  "18446744073709551615=n " },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct store *st = new_store(NULL, 0, 0, 0);

		assert_int_equal(put(st, "s"), CLEAT_OK);
		assert_int_equal(append(st, "s", 1, 1, "a"), CLEAT_OK);
		assert_int_equal(append(st, "s", 1, 2, "b"), CLEAT_OK);
		assert_int_equal(append(st, "s", 1, 3, "c"), CLEAT_OK);
		if (cases[i].number)
			assert_int_equal(
				append(st, cases[i].session, cases[i].stream, cases[i].number, "n"),
				cases[i].append);
		assert_int_equal(replay(st, cases[i].session, cases[i].stream, cases[i].after),
				 cases[i].replay);
		assert_string_equal(events, cases[i].events);
		st->ops->free(st);
	}
}

STORE_TEST(events_are_any_bytes_also_none, 0, 0, 0)
{
	assert_int_equal(put(st, "s"), CLEAT_OK);
	assert_int_equal(append_bytes(st, "s", 1, 1, (struct str){ NULL, 0 }), CLEAT_OK);
	assert_int_equal(append_bytes(st, "s", 1, 2, (struct str){ "\n\0\xFF", 3 }), CLEAT_OK);
	assert_int_equal(replay(st, "s", 1, 0), CLEAT_OK);
	assert_memory_equal(events, "1= 2=\n\0\xFF ", 10);
}

/* ---- limits of events --------------------------------------------------------------------- */

TEST(an_event_that_can_never_fit_is_refused_and_costs_nobody_anything)
{
	static char large[4096];
	size_t cost = event_cost();
	static const bool per_session[] = { true, false };

	for (size_t i = 0; i < CLEAT_COUNT(per_session); i++) {
		size_t most = cost + 1000;
		struct store *st =
			new_store(NULL, 0, per_session[i] ? 0 : most, per_session[i] ? most : 0);

		assert_int_equal(put(st, "a"), CLEAT_OK);
		assert_int_equal(append(st, "a", 1, 1, "x"), CLEAT_OK);
		assert_int_equal(append_bytes(st, "a", 1, 2, (struct str){ large, 1001 }),
				 CLEAT_ELIMIT);
		assert_int_equal(append_bytes(st, "a", 1, 2, (struct str){ large, SIZE_MAX }),
				 CLEAT_ELIMIT);
		assert_int_equal(replay(st, "a", 1, 0), CLEAT_OK);
		assert_string_equal(events, "1=x ");
		assert_int_equal(append_bytes(st, "a", 1, 2, (struct str){ large, 1000 }),
				 CLEAT_OK); /* alone */
		assert_int_equal(stats(st).events, 1);
		assert_int_equal(stats(st).bytes, most);
		st->ops->free(st);
		st = new_store(NULL, 0, per_session[i] ? 0 : 1, per_session[i] ? 1 : 0);
		assert_int_equal(put(st, "a"), CLEAT_OK);
		assert_int_equal(append(st, "a", 1, 1, ""), CLEAT_ELIMIT);
		assert_int_equal(stats(st).streams, 0);
		st->ops->free(st);
	}
}

/* Streams that have lost everything are remembered, but not without end. One that was forgotten is
 * missed, also by whoever asks from its beginning. */
STORE_TEST(empty_streams_are_forgotten_at_last, 0, event_cost(), 0)
{
	uint64_t most = EVENTS_QUIET_MAX + 1; /* the last one has an event */

	assert_int_equal(put(st, "s"), CLEAT_OK);
	assert_int_equal(put(st, "t"), CLEAT_OK);
	for (uint64_t i = 1; i <= most; i++)
		assert_int_equal(append(st, "s", i, 1, ""), CLEAT_OK);
	assert_int_equal(stats(st).streams, most);
	assert_int_equal(replay(st, "s", 1, 1), CLEAT_OK);
	assert_int_equal(append(st, "s", most + 1, 1, ""), CLEAT_OK);
	assert_int_equal(append(st, "s", most + 2, 1, ""), CLEAT_OK);
	assert_int_equal(stats(st).streams, most); /* the first two are forgotten */
	assert_int_equal(replay(st, "s", 1, 1), CLEAT_ENOENT);
	assert_int_equal(replay(st, "s", 1, 0), CLEAT_ENOENT);
	assert_int_equal(replay(st, "s", 2, 0), CLEAT_ENOENT);
	assert_int_equal(replay(st, "s", 3, 1), CLEAT_OK);
	assert_int_equal(replay(st, "s", most + 3, 0), CLEAT_OK); /* never was */
	assert_int_equal(replay(st, "t", 1, 0), CLEAT_OK);        /* another session's */
	assert_int_equal(append(st, "s", 1, 2, ""), CLEAT_OK);    /* goes on */
	assert_int_equal(replay(st, "s", 1, 0), CLEAT_ENOENT);
	assert_int_equal(replay(st, "s", 1, 1), CLEAT_OK);
	assert_string_equal(events, "2= ");
}

/* The limit is one of memory, also for the smallest events and one in each stream. */
MEMORY_TEST(memory_stays_within_the_limit)
{
	enum { LIMIT = 64 * 1024 };
	struct store *st;
	size_t before;

	st = new_store(fa, 0, LIMIT, 0);
	assert_int_equal(put(st, "s"), CLEAT_OK);
	for (uint64_t i = 1; i <= 1000; i++) {
		assert_int_equal(append(st, "s", i, 1, "12345678"), CLEAT_OK);
		if (i > 1)
			st->ops->stream_drop(st, STR_LIT("s"), i - 1); /* no empty ones */
	}
	before = fa->bytes; /* with the table as large as it gets below */
	st->ops->stream_drop(st, STR_LIT("s"), 1000);
	for (uint64_t i = 1; i <= 300; i++)
		assert_int_equal(append(st, "s", i, 1, "12345678"), CLEAT_OK);
	assert_in_range(stats(st).bytes, LIMIT / 2, LIMIT);
	assert_in_range(fa->bytes, LIMIT / 2, before + LIMIT + 512 * sizeof(void *));
	st->ops->free(st);
}

/* ---- lack of memory ----------------------------------------------------------------------- */

/* Until it works, or twice: memory that fails for good does not come back. */
static int patiently_put(struct store *st, const char *id)
{
	int rc = put(st, id);

	return rc == CLEAT_ENOMEM ? put(st, id) : rc;
}

static int patiently_append(struct store *st, const char *id, uint64_t stream, uint64_t number)
{
	struct store_stats before = stats(st), after;
	char text[24];
	int rc;

	snprintf(text, sizeof text, "%u", (unsigned)number);
	rc = append(st, id, stream, number, text);
	if (rc != CLEAT_ENOMEM)
		return rc;
	after = stats(st);
	assert_memory_equal(&before, &after, sizeof before);
	return append(st, id, stream, number, text);
}

/* The last three of what was appended are there, each once. */
static void check_tail(struct store *st, const char *id, uint64_t stream, uint64_t last)
{
	char want[100];
	uint64_t from = last > 3 ? last - 3 : 0;
	int n = 0;

	want[0] = '\0';
	for (uint64_t i = from + 1; i <= last; i++)
		n += snprintf(want + n, sizeof want - (size_t)n, "%u=%u ", (unsigned)i,
			      (unsigned)i);
	assert_int_equal(replay(st, id, stream, from), CLEAT_OK);
	assert_string_equal(events, want);
}

static void a_run_with_failures(struct fail_alloc *fa)
{
	struct store *st = new_store(fa, 0, 12 * (event_cost() + 2), 8 * (event_cost() + 2));
	uint64_t last[2][2] = { { 0 } };
	char id[8];

	if (!st)
		return;
	for (unsigned round = 1; round <= 20; round++) {
		snprintf(id, sizeof id, "s%u", round);
		if (patiently_put(st, id) == CLEAT_OK)
			assert_int_equal(get(st, id), CLEAT_OK);
		for (unsigned k = 0; k < 4; k++) {
			uint64_t *at = &last[k / 2][k % 2];
			int rc = patiently_append(st, k / 2 ? "s2" : "s1", k % 2, *at + 1);

			assert_true(rc == CLEAT_OK || rc == CLEAT_ENOMEM || rc == CLEAT_ENOENT);
			if (rc == CLEAT_OK)
				check_tail(st, k / 2 ? "s2" : "s1", k % 2, ++*at);
		}
	}
	st->ops->free(st);
}

TEST(lack_of_memory_loses_nothing_and_doubles_nothing)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		a_run_with_failures(&fa);
		assert_true(fa.round < 1000);
	}
}

/* ---- the hash table ----------------------------------------------------------------------- */

/* Equal hashes, and different ones in one chain; with a table that grows, or cannot. */
TEST(nodes_are_found_by_their_hash_among_others_of_the_same_chain)
{
	struct bucket_node nodes[100] = { { 0 } };
	struct fail_alloc fa;
	struct buckets b;
	size_t found;

	for (size_t fail = 0; fail <= 2; fail += 2) {
		fail_alloc_init(&fa, fail, true);
		assert_int_equal(buckets_init(&b, &fa.hook), CLEAT_OK);
		for (uint32_t i = 0; i < 100; i++)
			buckets_put(&b, &nodes[i], (i % 5) << 16);
		assert_int_equal(b.size, fail ? 16 : 128);
		for (uint32_t i = 0; i < 100; i += 2)
			buckets_remove(&b, &nodes[i]);
		assert_int_equal(b.count, 50);
		for (uint32_t hash = 0; hash < 5; hash++) {
			struct bucket_node *n = buckets_first(&b, hash << 16);

			for (found = 0; n; n = buckets_next(n), found++)
				assert_true((n - nodes) % 2 == 1 &&
					    (uint32_t)(n - nodes) % 5 == hash);
			assert_int_equal(found, 10);
		}
		assert_null(buckets_first(&b, 5 << 16));
		buckets_done(&b);
		assert_int_equal(fa.live, 0);
	}
	fail_alloc_init(&fa, 1, false);
	assert_int_equal(buckets_init(&b, &fa.hook), CLEAT_ENOMEM);
	buckets_done(&b);
}

/* ---- time --------------------------------------------------------------------------------- */

/* Anything that is not done in constant time makes this take minutes. */
TEST(ten_thousand_sessions_with_ten_events_take_no_time)
{
	enum { SESSIONS = 10000, EACH = 10 };
	struct store *st = new_store(NULL, SESSIONS, 64 << 20, 0);
	clock_t begin = clock();
	char id[40];

	for (unsigned n = 1; n <= EACH; n++) {
		for (unsigned i = 0; i < SESSIONS; i++) {
			snprintf(id, sizeof id, "0123456789abcdef-%u", i);
			now_ms = i;
			assert_true(n > 1 || put(st, id) == CLEAT_OK);
			assert_int_equal(append(st, id, i % 3, n, "an event"), CLEAT_OK);
		}
	}
	assert_int_equal(stats(st).events, SESSIONS * EACH);
	for (unsigned i = 0; i < SESSIONS; i += 2) {
		snprintf(id, sizeof id, "0123456789abcdef-%u", i);
		assert_int_equal(replay(st, id, i % 3, EACH - 1), CLEAT_OK);
		assert_int_equal(drop(st, id), CLEAT_OK);
	}
	for (unsigned i = 1; i <= SESSIONS; i++)
		expire(st, i); /* one each other time */
	assert_int_equal(stats(st).sessions, 0);
	assert_int_equal(stats(st).events, 0);
	assert_int_equal(stats(st).bytes, 0);
	st->ops->free(st);
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 20);
}

/* A session with very many streams, purging all the time. */
TEST(many_streams_of_one_session_take_no_time_either)
{
	struct store *st = new_store(NULL, 0, 1 << 20, 0);
	clock_t begin = clock();

	assert_int_equal(put(st, "s"), CLEAT_OK);
	for (uint64_t i = 1; i <= 100000; i++)
		assert_int_equal(append(st, "s", i, 1, "x"), CLEAT_OK);
	assert_true(stats(st).bytes <= 1 << 20);
	st->ops->free(st);
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 20);
}
