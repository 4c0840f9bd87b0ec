/* test_endpoint_resume.c - streams of a session whose client comes back (2025-11-25 basic/transports:
 * Resumability and Redelivery): what is kept, and what is not there any more. Single cases are
 * transcripts: tests/wire/transcripts/http/resume.txt. Clients that are only slow are in test_endpoint_slow.c.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

struct seen {
	char id[80];
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
		snprintf(all[n++].id, sizeof all->id, "%s", e.id);
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
		talk_post(&t, c, CALL("1", "chat", "{\"n\":4}"));
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
