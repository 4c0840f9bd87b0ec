/* test_link_socket.c - one message per line over TCP and over Unix sockets: addresses, connecting,
 * what can go wrong with it, and the end.
 */
#include "test.h"
#include "unit/link/link_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- a server that is only a socket ------------------------------------------------------- */

struct server {
	int fd;
	unsigned port;
	char address[160]; /* as the link wants it */
};

static void listen_tcp(struct server *s, int family, int backlog)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *a =
		family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
	socklen_t n = family == AF_INET6 ? sizeof six : sizeof four;

	s->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	s->port = 0;
	if (s->fd < 0 || bind(s->fd, a, n) || listen(s->fd, backlog) || getsockname(s->fd, a, &n))
		return;
	s->port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
	snprintf(s->address, sizeof s->address, "tcp://%s:%u",
		 family == AF_INET6 ? "[::1]" : "127.0.0.1", s->port);
}

static void listen_unix(struct server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	static int n;

	snprintf(a.sun_path, sizeof a.sun_path, "/tmp/cleat-test-%d-%d", (int)getpid(), n++);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(s->fd, 5), 0);
	snprintf(s->address, sizeof s->address, "unix-stream:%s", a.sun_path);
}

static void server_done(struct server *s)
{
	if (strncmp(s->address, "unix-stream:", 12) == 0)
		unlink(s->address + 12);
	close(s->fd);
}

static void make(struct link_rig *r, const char *address)
{
	rig_init(r);
	r->link = link_socket_new(&r->o, address, &r->err);
	assert_non_null(r->link);
}

/* A server at 127.0.0.1, and a link to it that is not open yet. */
static void make_both(struct link_rig *r, struct server *s)
{
	listen_tcp(s, AF_INET, 5);
	make(r, s->address);
}

#define TCP_TEST(name)                                                                             \
	static void name##_on(struct link_rig *r, struct server *s);                               \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct link_rig r;                                                                 \
		struct server s;                                                                   \
                                                                                                   \
		make_both(&r, &s);                                                                 \
		name##_on(&r, &s);                                                                 \
		rig_done(&r);                                                                      \
		server_done(&s);                                                                   \
	}                                                                                          \
	static void name##_on(struct link_rig *r, __attribute__((unused)) struct server *s)

static const char *reason(const struct link_rig *r)
{
	return r->why.error.message;
}

/* ---- tests -------------------------------------------------------------------------------- */

TEST(test_messages_go_both_ways)
{
	for (int i = 0; i < 3; i++) {
		struct link_rig r;
		struct server s;
		char buf[64];
		int peer;

		if (i == 2)
			listen_unix(&s);
		else
			listen_tcp(&s, i == 0 ? AF_INET : AF_INET6, 5);
		if (i == 1 && s.port == 0) { /* no IPv6 here */
			close(s.fd);
			continue;
		}
		make(&r, s.address);
		assert_false(r.link->process || r.link->http || r.link->local);
		rig_up_now(&r);
		peer = accept(s.fd, NULL, NULL);
		rig_say(&r, "{\"a\":1}");
		assert_int_equal(read(peer, buf, sizeof buf), 8);
		assert_int_equal(write(peer, "{}\r\n[1]\n[", 9), 9);
		UNTIL(r.loop, r.messages == 2);
		assert_int_equal(write(peer, "2]\n", 3), 3);
		UNTIL(r.loop, r.messages == 3);
		assert_string_equal(r.got, "{}|[1]|[2]|");
		rig_say(&r, "\"last\"");
		rig_close(&r);
		/* all of it arrives, then the end */
		assert_int_equal(read(peer, buf, sizeof buf), 7);
		assert_int_equal(read(peer, buf, sizeof buf), 0);
		close(peer);
		UNTIL(r.loop, r.closes == 1);
		assert_int_equal(r.downs, 0);
		rig_done(&r);
		server_done(&s);
	}
}

TCP_TEST(test_a_server_that_does_not_close_is_not_waited_for_long)
{
	uint64_t begin;

	rig_up_now(r);
	begin = loop_now();
	rig_close_now(r);
	assert_true(loop_now() - begin < 5000);
}

TEST(test_the_end_of_the_connection_is_told_with_its_name)
{
	for (int reset = 0; reset < 2; reset++) {
		struct linger hard = { .l_onoff = 1 };
		struct link_rig r;
		struct server s;
		char name[64];
		int peer;

		make_both(&r, &s);
		for (unsigned i = 1; i < 4; i++) { /* and it can be opened again */
			rig_up_now(&r);
			peer = accept(s.fd, NULL, NULL);
			assert_int_equal(write(peer, "[1]\n[2]", 7), 7);
			UNTIL(r.loop, r.messages > 0);
			if (reset)
				setsockopt(peer, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
			close(peer);
			UNTIL(r.loop, r.downs == i);
			snprintf(name, sizeof name, "127.0.0.1:%u: ", s.port);
			assert_memory_equal(reason(&r), name, strlen(name));
			assert_int_equal(r.why.step, CLEAT_STEP_EXCHANGE);
			if (reset)
				assert_int_equal(r.why.error.os_errno, ECONNRESET);
			else
				assert_non_null(strstr(reason(&r), "closed the connection"));
		}
		rig_done(&r);
		server_done(&s);
	}
}

RIG_TEST(test_addresses)
{
	static const struct {
		const char *address, *words;
	} cases[] = {
		{ "tcp://localhost", "port" },
		{ "tcp://localhost:0", "port" },
		{ "tcp://localhost:65536", "port" },
		{ "tcp://localhost:99999999999999999999", "port" },
		{ "tcp://:80", "host" },
		{ "tcp://me@host:80", "tcp://host:port" },
		{ "tcp://host:80/path", "tcp://host:port" },
		{ "tcp://host:80?x", "tcp://host:port" },
		{ "tcp:host:80", "tcp://host:port" },
		{ "http://host:80", "tcp://host:port" },
		{ "tcp://ho st:80", "tcp://host:port" },
		{ "", "tcp://host:port" },
		{ "unix-stream:", "unix-stream:/" },
		{ "unix-stream:/1234567890123456789012345678901234567890123456789012345678901234567890"
		  "12345678901234567890123456789012345678901234567890",
		  "at most 107" },
	};
	static const char *const good[] = { "tcp://localhost:1", "tcp://[::1]:65535",
					    "tcp://host.example:80/", "unix-stream:/x",
					    "unix-stream:relative" };

	rig_init(r);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		assert_null(link_socket_new(&r->o, cases[i].address, &r->err));
		assert_int_equal(r->err.status, CLEAT_EINVAL);
		assert_non_null(strstr(r->err.message, cases[i].words));
	}
	assert_null(link_socket_new(&r->o, NULL, &r->err));
	for (size_t i = 0; i < CLEAT_COUNT(good); i++) {
		r->link = link_socket_new(&r->o, good[i], &r->err);
		assert_non_null(r->link);
		r->link->ops->free(r->link);
	}
	r->link = NULL;
}

TEST(test_what_cannot_be_reached_says_why)
{
	static const char long_name[] =
		"tcp://"
		"0123456789012345678901234567890123456789012345678901234567890123.invalid:9";
	char refused[160];
	struct server s;
	const struct {
		const char *address;
		enum cleat_step step;
		int error;
		const char *words;
	} cases[] = {
		{ refused, CLEAT_STEP_CONNECT, ECONNREFUSED, "cannot connect to 127.0.0.1:" },
		{ "unix-stream:/no/such.sock", CLEAT_STEP_CONNECT, ENOENT,
		  "cannot connect to unix-stream:/no/such.sock: No such file or directory" },
		{ "unix-stream:/dev/null", CLEAT_STEP_CONNECT, ECONNREFUSED, "cannot connect" },
		/* RFC 6761: never resolves. A label of more than 63 bytes is not even asked for. */
		{ long_name, CLEAT_STEP_DNS, 0, "cannot find the host of 0123" },
	};

	listen_tcp(&s, AF_INET, 5); /* a port that nobody has, once it is closed */
	snprintf(refused, sizeof refused, "%s", s.address);
	server_done(&s);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct link_rig r;

		make(&r, cases[i].address);
		for (unsigned k = 1; k < 3; k++) {
			rig_open(&r);
			UNTIL(r.loop, r.ups == k);
			assert_true(r.up_failed && r.why.unsent);
			assert_int_equal(r.why.step, cases[i].step);
			assert_int_equal(r.why.error.os_errno, cases[i].error);
			assert_non_null(strstr(reason(&r), cases[i].words));
		}
		rig_close_now(&r);
		rig_done(&r);
	}
}

/* "localhost" is often ::1 first; a server that has only the other one is found all the same. */
TEST(test_all_addresses_of_a_name_are_tried)
{
	static const int families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < CLEAT_COUNT(families); i++) {
		struct link_rig r;
		struct server s;
		char address[64];

		listen_tcp(&s, families[i], 5);
		if (s.port == 0) {
			close(s.fd);
			continue;
		}
		snprintf(address, sizeof address, "tcp://localhost:%u", s.port);
		make(&r, address);
		rig_open(&r);
		UNTIL(r.loop, r.ups == 1);
		/* Some machines have no ::1 for localhost. */
		if (families[i] == AF_INET)
			assert_false(r.up_failed);
		rig_done(&r);
		server_done(&s);
	}
}

/* A listener whose queue is full drops what comes: connecting takes for ever. */
TEST(test_connecting_has_a_time_limit)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fillers[8];
	struct link_rig r;
	struct server s;

	listen_tcp(&s, AF_INET, 0);
	a.sin_port = htons((uint16_t)s.port);
	for (size_t i = 0; i < CLEAT_COUNT(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&a, sizeof a);
	}
	rig_init(&r);
	r.o.connect_ms = 100;
	r.link = link_socket_new(&r.o, s.address, &r.err);
	rig_open(&r);
	UNTIL(r.loop, r.ups == 1);
	assert_true(r.up_failed);
	assert_int_equal(r.why.error.status, CLEAT_ETIMEOUT);
	assert_int_equal(r.why.step, CLEAT_STEP_CONNECT);
	/* and it can be closed while it is at it */
	rig_open(&r);
	cleat_loop_step(r.loop, 0);
	cleat_loop_step(r.loop, 0);
	rig_close_now(&r);
	rig_done(&r);
	for (size_t i = 0; i < CLEAT_COUNT(fillers); i++)
		close(fillers[i]);
	server_done(&s);
}

/* A question that was given up is not waited for, and frees itself. */
TEST(test_free_while_a_name_is_looked_up)
{
	for (int i = 0; i < 30; i++) {
		struct link_rig r;

		make(&r, "tcp://localhost:9");
		rig_open(&r);
		for (int k = 0; k < i % 3; k++)
			cleat_loop_step(r.loop, 0);
		if (i % 2)
			rig_close_now(&r);
		rig_done(&r);
	}
}

TCP_TEST(test_the_socket_has_its_options)
{
	int on = 0, peer, fds[2] = { -1, -1 };
	socklen_t n = sizeof on;

	fds[0] = fcntl(0, F_DUPFD, 3); /* the number that the link's socket gets */
	close(fds[0]);
	rig_up_now(r);
	peer = accept(s->fd, NULL, NULL);
	assert_int_equal(getsockopt(fds[0], IPPROTO_TCP, TCP_NODELAY, &on, &n), 0);
	assert_int_equal(on, 1);
	assert_int_equal(getsockopt(fds[0], SOL_SOCKET, SO_KEEPALIVE, &on, &n), 0);
	assert_int_equal(on, 1);
	assert_int_equal(fcntl(fds[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(peer);
}

TEST(test_ops_inside_events)
{
	static const char *const events[] = { "up", "message", "down" };
	static const char *const acts[] = { "free", "close", "open" };

	for (size_t i = 0; i < CLEAT_COUNT(events) * CLEAT_COUNT(acts); i++) {
		struct link_rig r;
		struct server s;
		int peer;

		make_both(&r, &s);
		r.on = events[i / CLEAT_COUNT(acts)];
		r.act = acts[i % CLEAT_COUNT(acts)];
		rig_open(&r);
		UNTIL(r.loop, r.ups == 1);
		peer = accept(s.fd, NULL, NULL);
		(void)!write(peer, "{}\n{}\n", 6);
		close(peer);
		UNTIL(r.loop, !r.on);
		if (r.link && strcmp(r.act, "close") == 0)
			UNTIL(r.loop, r.closes == 1);
		rig_done(&r);
		server_done(&s);
	}
}

TCP_TEST(test_a_reset_link_connects_again)
{
	int first, second;
	char c;

	rig_up_now(r);
	first = accept(s->fd, NULL, NULL);
	r->link->ops->reset(r->link);
	rig_up_now(r);
	assert_int_equal(r->downs, 0);
	second = accept(s->fd, NULL, NULL);
	assert_int_equal(read(first, &c, 1), 0);
	assert_int_equal(write(second, "{}\n", 3), 3);
	UNTIL(r->loop, r->messages == 1);
	close(first);
	close(second);
}

TEST(test_every_allocation_may_fail)
{
	struct server s;

	listen_tcp(&s, AF_INET, 5);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct link_rig r;
		int peer = -1;

		rig_init(&r);
		r.o.mem = &fa.hook;
		r.link = link_socket_new(&r.o, s.address, &r.err);
		if (r.link) {
			rig_open(&r);
			UNTIL(r.loop, r.ups == 1);
			assert_true(!r.up_failed || fail_alloc_hit(&fa));
			peer = accept(s.fd, NULL, NULL);
			if (rig_send(&r, "{}", 2) == CLEAT_OK)
				assert_int_equal(write(peer, "{", 1), 1);
		} else {
			assert_int_equal(r.err.status, CLEAT_ENOMEM);
		}
		close(peer);
		rig_done(&r);
	}
	server_done(&s);
}

TEST_GROUP(warm_up, NULL)
