/* test_endpoint_batch.c - arrays of messages over HTTP, which 2025-03-26 has and no later revision
 * (basic/transports: Sending Messages to the Server).
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static const char *const later[] = { "2025-06-18", "2025-11-25" };

#define ECHO CALL("1", "echo", "{\"text\":\"a\"}")
#define MANY_PINGS                                                                                 \
	PING("1")                                                                                  \
	"," PING("2") "," PING("3") "," PING("4") "," PING("5") "," PING("6") "," PING(            \
		"7") "," PING("8")
#define CHANGED NOTE("notifications/roots/list_changed", "")

/* 2025-03-26 basic/transports: "If the input consists solely of JSON-RPC responses or notifications:
 * 202 Accepted with no body"; otherwise one answer for all requests. */
BENCH_TEST(batches_have_one_answer)
{
	static const struct {
		const char *body;
		int status;
		size_t answers;
		const char *part;
	} rows[] = {
		{ "[" ECHO "]", 200, 1, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\"" },
		{ "[" ECHO "," PING("2") "]", 200, 2, "echo a" },
		{ "[" MANY_PINGS "]", 200, 8, "\"id\":8" },
		{ "[" CHANGED "," ECHO "," CHANGED "]", 200, 1, "echo a" },
		{ "[" CHANGED "]", 202, 0, NULL },
		{ "[" CHANGED "," CHANGED ",{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}]", 202, 0,
		  NULL },
		{ "[" ECHO "," REQUEST("2", "no/such", "") "]", 200, 2, "-32601" },
		{ "[5," ECHO ",{}]", 200, 3, "-32600" },
		{ "[" ECHO "," ECHO "]", 200, 2, "echo a" },
		{ "[" INITIALIZE("2025-03-26", "{}") "," PING("2") "]", 200, 2, "-32600" },
		{ "[]", 400, 0, "-32600" },
		{ "[[" ECHO "]]", 200, 1, "-32600" },
		{ "[" CALL("1", "chat", "{\"n\":2}") "," PING("2") "]", 200, 4, "<2>" },
	};
	struct talk t;
	struct client *c;

	talk_open(b, &t, "2025-03-26");
	c = join(b);
	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		const struct answer *a;

		talk_post(&t, c, rows[i].body);
		a = answer_of(c);
		if (!a || a->status != rows[i].status)
			print_error("row %zu: %s\n", i, rows[i].body);
		assert_non_null(a);
		assert_int_equal(a->status, rows[i].status);
		if (!rows[i].part) {
			assert_int_equal(a->n, 0);
			continue;
		}
		assert_has(a->body, rows[i].part);
		if (rows[i].answers)
			assert_int_equal(count_of(a->body, "\"jsonrpc\""), rows[i].answers);
	}
	hang_up(c);
}

/* The array waits for its last member, but not for one that was cancelled. */
BENCH_TEST(a_batch_waits_for_its_members)
{
	struct talk t;
	struct client *c;
	const char *body;

	talk_open(b, &t, "2025-03-26");
	c = join(b);
	talk_post(&t, c, "[" CALL("1", "park", "{}") "," PING("2") "," CALL("3", "park", "{}") "]");
	WAIT_FOR(&b->h, n_parked == 2);
	turn(b);
	look(c);
	assert_int_equal(c->n, 0);
	unpark("first");
	turn(b);
	look(c);
	assert_int_equal(c->n, 0);
	assert_int_equal(talk_status(&t, "POST", "[" CANCEL("3") "]"), 202);
	body = expect_answer(c, 200);
	assert_has(body, "first");
	assert_int_equal(count_of(body, "\"jsonrpc\""), 2);
	/* all cancelled: nothing to say */
	talk_post(&t, c, "[" CALL("5", "park", "{}") "]");
	WAIT_FOR(&b->h, n_parked == 2);
	assert_int_equal(talk_status(&t, "POST", CANCEL("5")), 202);
	assert_string_equal(expect_answer(c, 200), "");
	hang_up(c);
}

/* 2025-06-18 changelog: "Remove support for JSON-RPC batching". */
BENCH_TEST(later_revisions_have_no_batches)
{
	struct talk t;
	struct client *c;

	for (size_t i = 0; i < CLEAT_COUNT(later); i++) {
		talk_open(b, &t, later[i]);
		c = join(b);
		talk_post(&t, c, "[" ECHO "]");
		assert_has(expect_answer(c, 400), "-32600");
		hang_up(c);
	}
}
