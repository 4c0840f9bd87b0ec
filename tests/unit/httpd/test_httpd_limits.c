/* test_httpd_limits.c - time and room: many at once, connections, descriptors. (Deadlines are transcripts:
 * tests/wire/transcripts/httpd/ends.txt.)
 */
#include "test.h"
#include "unit/httpd/httpd_rig.h"

#include <ifaddrs.h>
#include <sys/resource.h>

/* ---- deadlines ---------------------------------------------------------------------------- */

/* Hanging up on thousands takes a while: the others have their turns meanwhile. */
RIG_TEST(those_that_are_late_together_go_a_few_at_a_time)
{
	enum { MANY = 300 };
	int fds[MANY];

	for (size_t i = 0; i < MANY; i++) {
		fds[i] = dial_fd(r);
		WAIT_FOR(r, rig_stats(r).connections == i + 1);
	}
	rig_pass(r, 75000);
	assert_in_range(rig_stats(r).connections, MANY / 2, MANY - 1);
	WAIT_FOR(r, rig_stats(r).connections == 0);
	for (size_t i = 0; i < MANY; i++)
		close(fds[i]);
}

/* The timer runs by itself, with the real clock too. */
TEST(deadlines_come_without_being_asked)
{
	struct httpd_options o = { .idle_timeout_ms = 20 };
	struct client *c;
	struct rig r;

	rig_open_with(&r, ":0", o);
	http_deadlines_init(r.h); /* the clock as it was */
	c = dial(&r);
	put(c, GET("/x"));
	expect(c, 200, "GET /x");
	expect_end(c);
	rig_close(&r);
}

/* Whoever is refused and goes on sending is listened to for some MiB, no longer. */
RIG_TEST_PLAIN(lingering_is_bounded)
{
	static char junk[1 << 16];
	size_t sent = 0;
	struct client *c;

	c = rig_begin(r);
	put(c, "nonsense\r\n\r\n");
	expect(c, 501, NULL);
	while (rig_stats(r).connections == 1) {
		ssize_t n = send(c->fd, junk, sizeof junk, MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		cleat_loop_step(r->l, 1);
	}
	assert_true(sent >= HTTP_LINGER);
	hang_up(c);
	expect_alive(r);
}

/* ---- connections -------------------------------------------------------------------------- */

/* An address of this machine that is not loopback; false when there is none. */
static bool outer_address(char *text, size_t n)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next) {
		struct sockaddr_in *in = (void *)i->ifa_addr;

		if (!in || in->sin_family != AF_INET || ntohl(in->sin_addr.s_addr) >> 24 == 127)
			continue;
		found = inet_ntop(AF_INET, &in->sin_addr, text, (socklen_t)n) != NULL;
	}
	freeifaddrs(all);
	return found;
}

RIG_TEST_PLAIN(other_addresses_are)
{
	struct httpd_options o = { .max_per_address = 1 };
	char where[64] = "";
	struct client *c[2];

	if (!outer_address(where, sizeof where)) {
		print_message("this machine has no address but its own\n");
		skip();
	}
	strcat(where, ":0");
	rig_open_with(r, where, o);
	c[0] = dial(r);
	put(c[0], GET("/x"));
	expect(c[0], 200, "GET /x");
	c[1] = dial(r);
	put(c[1], GET("/x"));
	expect(c[1], 429, "");
	expect_end(c[1]);
	hang_up(c[1]);
	assert_int_equal(rig_stats(r).refused, 1);
	hang_up(c[0]);
	WAIT_FOR(r, rig_stats(r).connections == 0);
	expect_alive(r);
}

static struct http_peer *add_peer(struct http_peers *p, struct fail_alloc *fa, const char *address,
				  int expected)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct http_peer *peer;
	int rc;

	if (inet_pton(AF_INET, address, &in.sin_addr) == 1) {
		rc = http_peers_add(p, &fa->hook, (struct sockaddr *)&in, 2, &peer);
	} else {
		assert_int_equal(inet_pton(AF_INET6, address, &in6.sin6_addr), 1);
		rc = http_peers_add(p, &fa->hook, (struct sockaddr *)&in6, 2, &peer);
	}
	assert_int_equal(rc, expected);
	return peer;
}

TEST(connections_are_counted_by_address)
{
	static struct http_peers p;
	struct http_peer *a, *b, *c, *d;
	struct fail_alloc fa;

	fail_alloc_init(&fa, 0, false);
	a = add_peer(&p, &fa, "192.0.2.1", CLEAT_OK);
	b = add_peer(&p, &fa, "::ffff:192.0.2.1", CLEAT_OK); /* the same */
	assert_ptr_equal(a, b);
	assert_null(add_peer(&p, &fa, "192.0.2.1", CLEAT_ELIMIT));
	c = add_peer(&p, &fa, "2001:db8::1", CLEAT_OK);
	d = add_peer(&p, &fa, "2001:db8::ffff:2", CLEAT_OK); /* the same /64 */
	assert_ptr_equal(c, d);
	assert_null(add_peer(&p, &fa, "2001:db8::3", CLEAT_ELIMIT));
	http_peers_remove(&p, &fa.hook, add_peer(&p, &fa, "2001:db8:0:1::1", CLEAT_OK));
	assert_null(add_peer(&p, &fa, "127.9.9.9", CLEAT_OK)); /* not counted */
	assert_null(add_peer(&p, &fa, "::1", CLEAT_OK));
	http_peers_remove(&p, &fa.hook, a);
	http_peers_remove(&p, &fa.hook, add_peer(&p, &fa, "192.0.2.1", CLEAT_OK));
	http_peers_remove(&p, &fa.hook, b);
	http_peers_remove(&p, &fa.hook, c);
	http_peers_remove(&p, &fa.hook, d);
	http_peers_remove(&p, &fa.hook, NULL);
	assert_int_equal(fa.live, 0);
	fail_alloc_init(&fa, 1, false);
	assert_null(add_peer(&p, &fa, "192.0.2.1", CLEAT_ENOMEM));
}

/* The loop is not kept by callers: so many in a turn. */
RIG_TEST(callers_are_let_in_a_few_at_a_time)
{
	enum { N = 80 };
	int fds[N];

	for (int i = 0; i < N; i++)
		fds[i] = dial_fd(r);
	cleat_loop_step(r->l, -1);
	assert_true(rig_stats(r).connections > 0 && rig_stats(r).connections < N);
	WAIT_FOR(r, rig_stats(r).connections == N);
	for (int i = 0; i < N; i++)
		close(fds[i]);
	WAIT_FOR(r, rig_stats(r).connections == 0);
}

/* ---- descriptors -------------------------------------------------------------------------- */

/* Without descriptors a caller is closed rather than left waiting, the loop does not spin, people are
 * told once, and all is well when there are some again. */
RIG_TEST_PLAIN(no_descriptors_left)
{
	struct rlimit limit, low;
	struct client *shed, *later;
	int fd;

	if (getenv("CLEAT_VALGRIND")) {
		print_message("valgrind takes the connection itself before it says EMFILE\n");
		skip();
	}
	rig_open(r);
	shed = dial(r);
	later = dial(r);
	put(later, GET("/later"));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	fd = dup(0); /* the lowest that is free: no more than those below it */
	close(fd);
	low.rlim_cur = (rlim_t)fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	WAIT_FOR(r, rig_stats(r).refused == 1);
	assert_int_equal(r->remarks, 1);
	assert_non_null(strstr(r->remark, strerror(EMFILE)));
	while (!shed->eof)
		wait_more(shed);
	assert_int_equal(shed->n, 0);
	assert_int_equal(rig_stats(r).refused, 1); /* nobody else was looked at meanwhile */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect(later, 200, "GET /later");
	assert_int_equal(r->remarks, 1);
}
