/* test_endpoint_connections.c - what a connection is over HTTP (<cleat/connection.h>): up to 2025-11-25 a
 * session, from 2026-07-28 on a TCP connection that one principal uses.
 */
#include "test.h"
#include "unit/endpoint/endpoint_rig.h"

static int opened, closed;
static char who[64];

static void on_open(cleat_connection *c, void *userdata)
{
	const char *name = cleat_connection_principal(c);

	(void)userdata;
	opened++;
	assert_int_equal(cleat_connection_transport(c), CLEAT_TRANSPORT_HTTP);
	assert_string_equal(cleat_connection_address(c), "127.0.0.1");
	snprintf(who, sizeof who, "%s", name ? name : "anybody");
}

static void on_close(cleat_connection *c, void *userdata)
{
	(void)c;
	(void)userdata;
	closed++;
}

static void open_watched(struct bench *b, bool tokens)
{
	opened = closed = 0;
	bench_open_with(
		b, &(struct bench_options){ .server = { .on_open = on_open, .on_close = on_close },
					    .tokens = tokens });
}

#define expect_counts(o, c)                                                                        \
	do {                                                                                       \
		assert_int_equal(opened, o);                                                       \
		assert_int_equal(closed, c);                                                       \
	} while (0)

TEST(a_session_is_a_connection)
{
	struct bench b;
	struct talk t;
	struct client *c;

	open_watched(&b, false);
	for (int i = 1; i <= 3; i++) {
		talk_open(&b, &t, "2025-11-25");
		expect_counts(i, i - 1);
		for (int k = 0; k < 2; k++) { /* however many TCP connections it takes */
			c = join(&b);
			talk_post(&t, c, CALL("1", "echo", "{\"text\":\"a\"}"));
			assert_has(expect_answer(c, 200), "echo a");
			hang_up(c);
			turn(&b);
		}
		expect_counts(i, i - 1);
		assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
		expect_counts(i, i);
	}
	talk_open(&b, &t, "2025-11-25");
	pass(&b, 31 * 60000); /* idle */
	expect_counts(4, 4);
	bench_close(&b);
	expect_counts(4, 4);
}

static void say_who(struct client *c, const char *name)
{
	char more[64];

	snprintf(more, sizeof more, "Authorization: Bearer %s\r\n", name);
	send_request(c, "POST", "/mcp", modern_fields("tools/call", "who", more),
		     MODERN_CALL("1", "who", "{}"));
	assert_has(expect_answer(c, 200), name);
	assert_string_equal(who, name);
}

TEST(a_tcp_connection_of_one_principal_is_a_connection)
{
	struct bench b;
	struct client *c;

	open_watched(&b, true);
	c = join(&b);
	say_who(c, "ann");
	say_who(c, "ann");
	expect_counts(1, 0);
	say_who(c, "bob");
	expect_counts(2, 1);
	hang_up(c);
	while (closed < 2)
		turn(&b);
	c = join(&b);
	say_who(c, "ann");
	expect_counts(3, 2);
	bench_close(&b);
	expect_counts(3, 3);
}
