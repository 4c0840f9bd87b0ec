/* test_endpoint_resume.c - streams of a session whose client comes back (2025-11-25 basic/transports:
 * Resumability and Redelivery): what there is of it for every event. Single cases are
 * transcripts: tests/wire/transcripts/http/resume.txt. Clients that are only slow are in test_endpoint_slow.c.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static const char *const revisions[] = { "2025-03-26", "2025-06-18", "2025-11-25" };

enum { EVENTS = 5 }; /* of a call with four remarks */
#define FOUR CALL("1", "chat", "{\"n\":4}")

struct seen {
	char id[80];
	char data[200];
};

/* All events of a stream up to its end; gives how many. */
static size_t read_all(struct client *c, struct seen *all, size_t most)
{
	struct stream st;
	struct event e;
	size_t n = 0;

	stream_expect(c, &st);
	while (stream_next(&st, &e)) {
		assert_true(n < most);
		snprintf(all[n].id, sizeof all[n].id, "%s", e.id);
		snprintf(all[n].data, sizeof all[n].data, "%.150s", e.data ? e.data : "");
		n++;
		event_done(&e);
	}
	assert_true(st.ended);
	stream_done(&st);
	return n;
}

static struct client *resume(struct talk *t, const char *last)
{
	struct client *c = join(t->b);

	talk_get(t, c, last);
	return c;
}

/* There is nothing to come back to. */
static void expect_missing(struct talk *t, const char *last)
{
	struct client *c = resume(t, last);

	expect_answer(c, 404);
}

/* ---- coming back -------------------------------------------------------------------------- */

/* After every event of a stream that is over: exactly the rest, with the same ids, as often as wanted.
 * Behind the last one there is nothing to come back for. */
BENCH_TEST(after_every_event_the_rest)
{
	struct seen all[8], again[8];
	struct talk t;
	struct client *c;
	size_t n;

	for (size_t i = 0; i < CLEAT_COUNT(revisions); i++) {
		bool primed = i == 2;

		talk_open(b, &t, revisions[i]);
		c = join(b);
		talk_post(&t, c, FOUR);
		n = read_all(c, all, CLEAT_COUNT(all));
		hang_up(c);
		assert_int_equal(n, EVENTS + primed);
		if (primed) /* "an event ID and an empty data field in order to prime the client" */
			assert_string_equal(all[0].data, "");
		for (size_t k = 0; k < n; k++) {
			assert_true(all[k].id[0]);
			for (size_t j = 0; j < k; j++)
				assert_string_not_equal(all[j].id, all[k].id);
		}
		for (size_t k = 0; k < 2 * n; k++) {
			c = resume(&t, all[k % n].id);
			if (k % n == n - 1) {
				expect_answer(c, 204);
				hang_up(c);
				continue;
			}
			assert_int_equal(read_all(c, again, CLEAT_COUNT(again)), n - 1 - k % n);
			for (size_t j = 0; k % n + 1 + j < n; j++) {
				assert_string_equal(again[j].id, all[k % n + 1 + j].id);
				assert_string_equal(again[j].data, all[k % n + 1 + j].data);
			}
			hang_up(c);
		}
	}
}

/* An event id that names nothing, or something of another session, is 404, also with Last-Event-ID of
 * events that were not sent yet. */
BENCH_TEST_WITH(only_own_events_are_resumed, .tokens = true)
{
	struct seen all[8];
	struct talk t, other;
	struct client *c;
	char ids[12][80];
	size_t n, mark;

	talk_open_with(b, &t, "2025-11-25", "{}", "Authorization: Bearer ann\r\n");
	talk_open_with(b, &other, "2025-11-25", "{}", "Authorization: Bearer ann\r\n");
	c = join(b);
	talk_post(&t, c, FOUR);
	n = read_all(c, all, CLEAT_COUNT(all));
	hang_up(c);
	expect_missing(&other, all[0].id);
	mark = strcspn(all[0].id, ".");
	memset(ids, 0, sizeof ids);
	snprintf(ids[0], 80, "%.*s", (int)mark, all[0].id);
	snprintf(ids[1], 80, "%.*s.", (int)mark, all[0].id);
	snprintf(ids[2], 80, "%.*s.99.0", (int)mark, all[0].id);
	snprintf(ids[3], 80, "%.*s.2.99", (int)mark, all[0].id);
	snprintf(ids[4], 80, "%.*s.2", (int)mark, all[0].id);
	snprintf(ids[5], 80, "%.*s.2.", (int)mark, all[0].id);
	snprintf(ids[6], 80, "%.*s..1", (int)mark, all[0].id);
	snprintf(ids[7], 80, "%.*s.2.1x", (int)mark, all[0].id);
	snprintf(ids[8], 80, "%.*s.2.-1", (int)mark, all[0].id);
	snprintf(ids[9], 80, "%.*s.2.18446744073709551617", (int)mark, all[0].id);
	snprintf(ids[10], 80, "00000000.%.60s", all[0].id + mark + 1);
	snprintf(ids[11], 80, "%s", "x");
	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		expect_missing(&t, ids[i]);
	}
	/* another principal does not even learn that there is a session */
	snprintf(other.fields, sizeof other.fields,
		 "Mcp-Session-Id: %s\r\nAuthorization: Bearer bob\r\n", t.id);
	expect_missing(&other, all[0].id);
	c = resume(&t, all[0].id);
	assert_int_equal(read_all(c, all, CLEAT_COUNT(all)), n - 1);
}

/* Streams that are over are kept for a while, not for ever. */
BENCH_TEST(old_streams_are_forgotten)
{
	enum { CALLS = 80 };
	static struct seen first[CALLS][8];
	struct talk t;
	struct client *c;
	struct store_stats kept;
	size_t known = 0;

	talk_open(b, &t, "2025-06-18");
	for (int i = 0; i < CALLS; i++) {
		c = join(b);
		talk_post(&t, c, FOUR);
		read_all(c, first[i], CLEAT_COUNT(first[i]));
		hang_up(c);
	}
	for (int i = 0; i < CALLS; i++) {
		const struct answer *a;

		c = resume(&t, first[i][0].id);
		a = answer_of(c);
		assert_non_null(a);
		assert_true(a->status == 200 || (a->status == 404 && known == 0));
		known += a->status == 200;
		hang_up(c);
	}
	assert_true(known >= 32 && known < CALLS);
	store_memory_stats(b->store, &kept);
	assert_int_equal(kept.streams, known);
}

/* ---- what is not there any more ----------------------------------------------------------- */

/* "replay of a purged range is an error, never partial" */
BENCH_TEST_WITH(a_purged_range_is_an_error, .store = { .max_session_bytes = 5000 })
{
	struct seen all[32];
	struct talk t;
	struct client *c;
	size_t n, whole = 0;

	talk_open(b, &t, "2025-06-18");
	c = join(b);
	talk_post(&t, c, CALL("1", "chat", "{\"n\":20,\"size\":500}"));
	n = read_all(c, all, CLEAT_COUNT(all));
	hang_up(c);
	assert_int_equal(n, 21);
	for (size_t k = 0; k < n - 1; k++) {
		struct seen rest[32];

		c = resume(&t, all[k].id);
		while (!strstr(c->buf, "\r\n\r\n"))
			wait_more(c);
		if (strncmp(c->buf, "HTTP/1.1 404", 12) == 0) {
			expect_answer(c, 404);
			assert_int_equal(whole, 0); /* what is older is not there either */
		} else {
			assert_int_equal(read_all(c, rest, CLEAT_COUNT(rest)), n - 1 - k);
			assert_string_equal(rest[0].id, all[k + 1].id);
			whole++;
		}
		hang_up(c);
	}
	assert_true(whole > 2 && whole < n - 2);
}
