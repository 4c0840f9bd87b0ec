/* test_listen.c - addresses as people write them, listening sockets, and systemd. */
#include "net/listen.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/cleat-listen-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

/* ---- addresses ---------------------------------------------------------------------------- */

TEST(addresses)
{
	static const struct {
		const char *text, *host;
		unsigned port;
		const char *path, *file;
		int fd;
		bool tls, loopback;
	} cases[] = {
		{ "8080", "127.0.0.1", 8080, "", "", -1, false, true },
		{ ":8080", "127.0.0.1", 8080, "", "", -1, false, true },
		{ "0", "127.0.0.1", 0, "", "", -1, false, true },
		{ "127.0.0.1:8080", "127.0.0.1", 8080, "", "", -1, false, true },
		{ "127.9.9.9:1", "127.9.9.9", 1, "", "", -1, false, true },
		{ "0.0.0.0:80", "0.0.0.0", 80, "", "", -1, false, false },
		{ "[::1]:8080", "::1", 8080, "", "", -1, false, true },
		{ "[::]:65535", "::", 65535, "", "", -1, false, false },
		{ "localhost:8080", "localhost", 8080, "", "", -1, false, false },
		{ "host.example:8080", "host.example", 8080, "", "", -1, false, false },
		{ "host.example:8080/mcp", "host.example", 8080, "/mcp", "", -1, false, false },
		{ "http://127.0.0.1:8080/mcp", "127.0.0.1", 8080, "/mcp", "", -1, false, true },
		{ "http://127.0.0.1", "127.0.0.1", 80, "", "", -1, false, true },
		{ "https://host.example/a/b", "host.example", 443, "/a/b", "", -1, true, false },
		{ "https://[::1]:8443/", "::1", 8443, "/", "", -1, true, true },
		{ "unix:/run/cleat.sock", "", 0, "", "/run/cleat.sock", -1, false, true },
		{ "unix:here", "", 0, "", "here", -1, false, true },
		{ "fd:3", "", 0, "", "", 3, false, false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };
		struct address a;

		if (address_parse(cases[i].text, &a, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_string_equal(a.host, cases[i].host);
		assert_int_equal(a.port, cases[i].port);
		assert_string_equal(a.path, cases[i].path);
		assert_string_equal(a.file, cases[i].file);
		assert_int_equal(a.fd, cases[i].fd);
		assert_int_equal(a.tls, cases[i].tls);
		if (a.loopback != cases[i].loopback)
			fail_msg("%s: loopback is wrong", cases[i].text);
	}
}

/* Each of these is refused, with these words. */
static void refuse(const char *words, const char *const *texts)
{
	for (; *texts; texts++) {
		cleat_error err = { 0 };
		struct address a;

		assert_int_equal(address_parse(*texts, &a, &err), CLEAT_EINVAL);
		if (!strstr(err.message, words))
			fail_msg("%s: %s", *texts, err.message);
	}
}

TEST(what_is_no_address_is_explained)
{
	static char long_host[400], long_file[200] = "unix:/", long_path[900] = "h:1/";
	cleat_error err = { 0 };
	struct address a;

	memset(long_host, 'h', 300);
	strcpy(long_host + 300, ":80");
	memset(long_file + 6, 'f', 150);
	memset(long_path + 4, 'p', 700);
	assert_int_equal(address_parse(NULL, &a, &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "not an address"));
	refuse("not an address", TEXTS("", "::1", "[::1:8080", "h:80a", "h:-1", "a b:80", "h%41:80",
				       "ftp://h:80/", long_host, long_path));
	refuse("write localhost:8080", TEXTS("localhost"));
	refuse("write 127.0.0.1:8080", TEXTS("127.0.0.1"));
	refuse("[::1]:8080", TEXTS("::1:8080"));
	refuse("up to 65535", TEXTS("h:65536", "65536", "99999999999999999999"));
	refuse("user", TEXTS("u@h:80"));
	refuse("query", TEXTS("http://h:80/?q"));
	refuse("fragment", TEXTS("http://h:80/#f"));
	refuse("unix:/run/cleat.sock", TEXTS("unix:"));
	refuse("fd:3", TEXTS("fd:", "fd:-1", "fd:3x"));
	refuse("at most 107", TEXTS(long_file));
}

/* ---- TCP ---------------------------------------------------------------------------------- */

static int open_at(const char *text, const struct listen_options *o, struct listener *l,
		   cleat_error *err)
{
	struct address a;

	assert_int_equal(address_parse(text, &a, NULL), CLEAT_OK);
	return listener_open(&a, o, l, err);
}

/* Does somebody who connects to it get in? */
static void assert_reachable(const struct listener *l)
{
	struct sockaddr_storage to;
	socklen_t n = sizeof to;
	int mine, theirs;

	assert_int_equal(getsockname(l->fd, (struct sockaddr *)&to, &n), 0);
	mine = socket(to.ss_family, SOCK_STREAM, 0);
	assert_int_equal(connect(mine, (struct sockaddr *)&to, n), 0);
	theirs = accept(l->fd, NULL, NULL);
	assert_true(theirs >= 0);
	close(theirs);
	close(mine);
	assert_int_equal(accept(l->fd, NULL, NULL), -1); /* does not wait */
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(l->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(a_port_is_chosen_and_told)
{
	static const struct {
		const char *text, *begin;
		bool loopback;
	} cases[] = {
		{ ":0", "http://127.0.0.1:", true },
		{ "https://127.0.0.1:0/mcp", "https://127.0.0.1:", true },
		{ "localhost:0", "http://localhost:", true }, /* known only now */
		{ "0.0.0.0:0", "http://0.0.0.0:", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };
		struct listener l;

		if (open_at(cases[i].text, NULL, &l, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_true(l.address.port > 0);
		assert_memory_equal(l.text, cases[i].begin, strlen(cases[i].begin));
		assert_int_equal(atoi(l.text + strlen(cases[i].begin)), l.address.port);
		assert_int_equal(l.address.loopback, cases[i].loopback);
		assert_reachable(&l);
		listener_close(&l);
		assert_int_equal(l.fd, -1);
		listener_close(&l); /* does nothing */
	}
}

TEST(ipv6_has_brackets)
{
	struct listener l;

	if (open_at("[::1]:0", NULL, &l, NULL)) {
		print_message("no IPv6 here\n");
		skip();
	}
	assert_memory_equal(l.text, "http://[::1]:", 13);
	assert_true(l.address.loopback);
	assert_reachable(&l);
	listener_close(&l);
}

TEST(what_cannot_be_had_is_explained)
{
	struct listener first, second;
	cleat_error err = { 0 };
	char text[32];

	assert_int_equal(open_at(":0", NULL, &first, NULL), CLEAT_OK);
	snprintf(text, sizeof text, ":%u", first.address.port);
	assert_int_equal(open_at(text, NULL, &second, &err), CLEAT_EIO);
	assert_int_equal(err.os_errno, EADDRINUSE);
	assert_non_null(strstr(err.message, "another program listens on port"));
	assert_int_equal(second.fd, -1);
	listener_close(&first);
	assert_int_equal(open_at("192.0.2.1:0", NULL, &second, &err), CLEAT_EIO);
	assert_int_equal(err.os_errno, EADDRNOTAVAIL);
	assert_non_null(strstr(err.message, "does not have the address 192.0.2.1"));
	assert_int_equal(open_at("not_a_name..:0", NULL, &second, &err), CLEAT_EIO);
	assert_non_null(strstr(err.message, "is not known here"));
}

/* One after the other without waiting (SO_REUSEADDR). */
TEST(an_address_can_be_used_again)
{
	struct listener first;
	char text[32];

	assert_int_equal(open_at(":0", NULL, &first, NULL), CLEAT_OK);
	snprintf(text, sizeof text, ":%u", first.address.port);
	assert_reachable(&first);
	listener_close(&first);
	assert_int_equal(open_at(text, NULL, &first, NULL), CLEAT_OK);
	listener_close(&first);
}

/* ---- unix sockets ------------------------------------------------------------------------- */

static const char *in_dir(const char *name)
{
	static char text[128];

	snprintf(text, sizeof text, "unix:%s/%s", dir, name);
	return text;
}

static bool is_same_socket(const struct listener *a, const struct listener *b)
{
	struct stat x, y;

	assert_int_equal(fstat(a->fd, &x) | fstat(b->fd, &y), 0);
	return x.st_ino == y.st_ino;
}

/* Several loops on one address: each has a queue of its own where the system can do that, and shares
 * one where it cannot. A second program gets nothing in either case. */
TEST(an_address_can_have_several_sockets)
{
	static const struct {
		const char *where;
		bool reuse_port, shared;
	} cases[] = {
		{ "127.0.0.1:0", true, false }, { "[::1]:0", true, false },
		{ "localhost:0", true, false }, { "127.0.0.1:0", false, true },
		{ "unix", true, true },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct listen_options o = { .reuse_port = cases[i].reuse_port, .backlog = 7 };
		bool is_unix = strcmp(cases[i].where, "unix") == 0;
		struct listener first, second, third, other;
		char text[320];

		assert_int_equal(
			open_at(is_unix ? in_dir("again") : cases[i].where, &o, &first, NULL),
			CLEAT_OK);
		assert_int_equal(listener_again(&first, &second, NULL), CLEAT_OK);
		assert_int_equal(listener_again(&first, &third, NULL), CLEAT_OK);
		assert_int_equal(is_same_socket(&first, &second), cases[i].shared);
		assert_int_equal(is_same_socket(&second, &third), cases[i].shared);
		assert_string_equal(second.text, first.text);
		assert_int_equal(fcntl(third.fd, F_GETFD), FD_CLOEXEC);
		assert_true(fcntl(third.fd, F_GETFL) & O_NONBLOCK);
		snprintf(text, sizeof text, "%s", first.text);
		assert_true(open_at(text, &o, &other, NULL) < 0);
		if (is_unix) /* the other one has looked whether somebody is there */
			close(accept(first.fd, NULL, NULL));
		listener_close(&second); /* leaves a file as it is */
		listener_close(&third);
		assert_reachable(&first);
		listener_close(&first);
	}
}

static mode_t mode_of(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_mode & 07777;
}

TEST(a_unix_socket_has_the_mode_that_was_asked_for)
{
	static const unsigned modes[] = { 0, 0660, 0666 };
	mode_t mask = umask(077); /* must not matter */

	for (size_t i = 0; i < CLEAT_COUNT(modes); i++) {
		struct listen_options o = { .mode = modes[i] };
		struct listener l;

		assert_int_equal(open_at(in_dir("s"), &o, &l, NULL), CLEAT_OK);
		assert_int_equal(mode_of(l.address.file), modes[i] ? modes[i] : 0600);
		assert_string_equal(l.text, in_dir("s"));
		assert_true(l.address.loopback);
		assert_reachable(&l);
		listener_close(&l);
		assert_int_equal(access(in_dir("s") + 5, F_OK), -1);
	}
	umask(mask);
}

/* A file is left over when its server was killed: nobody answers, so it is replaced. */
TEST(a_dead_socket_is_replaced_and_a_live_one_is_not)
{
	cleat_error err = { 0 };
	struct listener dead, l, second;

	assert_int_equal(open_at(in_dir("s"), NULL, &dead, NULL), CLEAT_OK);
	close(dead.fd);
	assert_int_equal(access(in_dir("s") + 5, F_OK), 0);
	assert_int_equal(open_at(in_dir("s"), NULL, &l, NULL), CLEAT_OK);
	assert_reachable(&l);
	assert_int_equal(open_at(in_dir("s"), NULL, &second, &err), CLEAT_EEXIST);
	assert_non_null(strstr(err.message, "listens on"));
	close(accept(l.fd, NULL, NULL)); /* the question whether it lives */
	assert_reachable(&l);
	listener_close(&l);
}

/* Also one that has more callers than it can take is alive. */
TEST(a_busy_socket_is_not_replaced)
{
	struct listen_options o = { .backlog = 1 };
	struct listener l, second;
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fds[8];

	assert_int_equal(open_at(in_dir("s"), &o, &l, NULL), CLEAT_OK);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", l.address.file);
	for (size_t i = 0; i < CLEAT_COUNT(fds); i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
		connect(fds[i], (struct sockaddr *)&un, sizeof un);
	}
	assert_int_equal(open_at(in_dir("s"), NULL, &second, NULL), CLEAT_EEXIST);
	for (size_t i = 0; i < CLEAT_COUNT(fds); i++)
		close(fds[i]);
	listener_close(&l);
}

TEST(other_files_are_left_alone)
{
	cleat_error err = { 0 };
	struct listener l, newer;
	char file[128];
	int fd;

	snprintf(file, sizeof file, "%s/s", dir);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(open_at(in_dir("s"), NULL, &l, &err), CLEAT_EIO);
	assert_non_null(strstr(err.message, "is not a socket"));
	unlink(file);
	/* Somebody has put another socket there: closing the first must not remove it. */
	assert_int_equal(open_at(in_dir("s"), NULL, &l, NULL), CLEAT_OK);
	unlink(file);
	assert_int_equal(open_at(in_dir("s"), NULL, &newer, NULL), CLEAT_OK);
	listener_close(&l);
	assert_int_equal(access(file, F_OK), 0);
	listener_close(&newer);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(open_at(in_dir("no/such/dir"), NULL, &l, &err), CLEAT_EIO);
	assert_int_equal(err.os_errno, ENOENT);
}

/* ---- sockets that were handed over -------------------------------------------------------- */

TEST(a_socket_can_be_handed_over)
{
	cleat_error err = { 0 };
	struct listener given, l;
	int plain[2];
	char text[32];

	assert_int_equal(open_at("127.0.0.1:0", NULL, &given, NULL), CLEAT_OK);
	snprintf(text, sizeof text, "fd:%d", given.fd);
	fcntl(given.fd, F_SETFL, 0); /* as systemd leaves it */
	fcntl(given.fd, F_SETFD, 0);
	assert_int_equal(open_at(text, NULL, &l, NULL), CLEAT_OK);
	assert_int_equal(l.fd, given.fd);
	assert_string_equal(l.text, given.text);
	assert_int_equal(l.address.port, given.address.port);
	assert_true(l.address.loopback);
	assert_reachable(&l);
	listener_close(&l);
	/* A unix socket; its file stays, whoever made it removes it. */
	assert_int_equal(open_at(in_dir("s"), NULL, &given, NULL), CLEAT_OK);
	snprintf(text, sizeof text, "fd:%d", given.fd);
	assert_int_equal(open_at(text, NULL, &l, NULL), CLEAT_OK);
	assert_string_equal(l.text, given.text);
	listener_close(&l);
	assert_int_equal(access(given.address.file, F_OK), 0);
	unlink(given.address.file);
	/* No listening socket. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, plain), 0);
	snprintf(text, sizeof text, "fd:%d", plain[0]);
	assert_int_equal(open_at(text, NULL, &l, &err), CLEAT_EINVAL);
	assert_non_null(strstr(err.message, "not a listening socket"));
	close(plain[0]);
	close(plain[1]);
	assert_int_equal(open_at(text, NULL, &l, &err), CLEAT_EINVAL);
}

/* ---- notifications ------------------------------------------------------------------------ */

static int hear(struct sockaddr_un *un, socklen_t n)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)un, n), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void expect_word(int fd, const char *text)
{
	char got[256] = "";

	assert_true(recv(fd, got, sizeof got - 1, 0) > 0);
	assert_memory_equal(got, text, strlen(text) + (text[strlen(text) - 1] != '='));
	assert_int_equal(recv(fd, got, sizeof got, 0), -1);
}

/* sd_notify(3): a path, or '@' and a name without a file. */
TEST(the_service_manager_is_told)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char name[100];
	int n, fd;

	unsetenv("NOTIFY_SOCKET");
	listen_notify("READY=1"); /* nobody to tell */
	n = snprintf(un.sun_path, sizeof un.sun_path, "%s/notify", dir);
	setenv("NOTIFY_SOCKET", un.sun_path, 1);
	fd = hear(&un, sizeof un);
	listen_notify("READY=1");
	expect_word(fd, "READY=1");
	listen_notify("RELOADING=1");
	expect_word(fd, "RELOADING=1\nMONOTONIC_USEC=");
	close(fd);
	unlink(un.sun_path);
	listen_notify("STOPPING=1"); /* it has gone */
	n = snprintf(name, sizeof name, "@cleat-test-%ld", (long)getpid());
	memset(un.sun_path, 0, sizeof un.sun_path);
	memcpy(un.sun_path + 1, name + 1, (size_t)n - 1);
	setenv("NOTIFY_SOCKET", name, 1);
	fd = hear(&un, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n));
	listen_notify("STOPPING=1");
	expect_word(fd, "STOPPING=1");
	close(fd);
	setenv("NOTIFY_SOCKET", "relative", 1);
	listen_notify("READY=1"); /* not understood */
	unsetenv("NOTIFY_SOCKET");
}

TEST_GROUP(make_dir, remove_dir)
