/* test_endpoint_many.c - many sessions and many streams at once. What one of them does is told in
 * tests/wire/transcripts/http.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

/* Ids are ours: 128 random bits, no two the same. */
BENCH_TEST(ids_are_random)
{
	static char ids[300][64]; /* more than the table begins with */
	struct talk t;

	for (size_t i = 0; i < CLEAT_COUNT(ids); i++) {
		talk_open(b, &t, "2025-11-25");
		assert_int_equal(strlen(t.id), 32);
		assert_int_equal(strspn(t.id, "0123456789abcdef"), 32);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[k], t.id);
		memcpy(ids[i], t.id, sizeof t.id);
	}
	assert_int_equal(stats_of(b).sessions, CLEAT_COUNT(ids));
}

/* Many streams, all told, none twice. */
BENCH_TEST(two_hundred_listeners)
{
	enum { N = 200 };
	static struct client *c[N];
	static struct stream st[N];

	for (int i = 0; i < N; i++) {
		c[i] = join(b);
		listen_on(c[i], &st[i], LISTEN("1", "\"toolsListChanged\":true"));
	}
	cleat_server_remove_tool(b->s, "who");
	for (int i = 0; i < N; i++)
		expect_event(&st[i], "notifications/tools/list_changed");
	for (int i = 0; i < N; i++)
		expect_silence(b, &st[i]);
	for (int i = 0; i < N; i++) {
		stream_done(&st[i]);
		hang_up(c[i]);
	}
	WAIT_FOR(&b->h, stats_of(b).streams == 0);
}
