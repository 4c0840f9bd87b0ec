/* test_serve_sandbox_network.c - processes in a sandbox try to reach the network and services of this machine.
 */
#include "test.h"
#include "unit/program/sandbox_rig.h"

#include <linux/netlink.h>

static int connect_to(int family, int type, const void *addr, size_t n)
{
	int fd = socket(family, type, 0);

	return fd < 0 ? errno : result(connect(fd, addr, (socklen_t)n));
}

static int connect_tcp4(void)
{
	return connect_to(AF_INET, SOCK_STREAM, &place.to4, sizeof place.to4);
}

static int connect_tcp6(void)
{
	return connect_to(AF_INET6, SOCK_STREAM, &place.to6, sizeof place.to6);
}

static int send_udp(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? errno
		      : result(sendto(fd, "x", 1, 0, (const struct sockaddr *)&place.to_udp,
				      sizeof place.to_udp));
}

static int connect_path(void)
{
	return connect_to(AF_UNIX, SOCK_STREAM, &place.to_path, sizeof place.to_path);
}

static int connect_abstract(void)
{
	return connect_to(AF_UNIX, SOCK_STREAM, &place.to_abstract, place.abstract_len);
}

static int listen_tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? errno : result(listen(fd, 1));
}

static int pair(void)
{
	int fds[2];

	return result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

static int pair_of_packets(void)
{
	int fds[2];

	return result(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds));
}

/* Half of a pair of datagrams can be led elsewhere. */
static int send_from_pair(int type)
{
	int fds[2];

	if (socketpair(AF_UNIX, type, 0, fds))
		return errno;
	if (connect(fds[0], (const struct sockaddr *)&place.to_path, sizeof place.to_path) == 0)
		return 0;
	return errno == EPROTOTYPE ? 0 : errno; /* it was found: it speaks another type */
}

static int pair_of_datagrams(void)
{
	return send_from_pair(SOCK_DGRAM);
}

static int pair_raw(void)
{
	return send_from_pair(SOCK_RAW);
}

/* Seccomp has not seen this one being made: Landlock sees it connected. */
static int connect_older_socket(void)
{
	return result(connect(place.made4, (const struct sockaddr *)&place.to4, sizeof place.to4));
}

static int ring(void)
{
	char params[120] = { 0 };

	return result(syscall(425 /* io_uring_setup */, 4, params));
}

TEST(test_no_network)
{
	static const struct attempt list[] = {
		{ "TCP", EACCES, false, .make = connect_tcp4 },
		{ "TCP over IPv6", EACCES, true, .make = connect_tcp6 },
		{ "TCP, listening", EACCES, false, .make = listen_tcp },
		{ "UDP", EACCES, false, .make = send_udp },
		{ "Unix socket with a path", EACCES, false, .make = connect_path },
		{ "abstract Unix socket", EACCES, false, .make = connect_abstract },
		{ "netlink", EACCES, false, CALL(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) },
		{ "netlink, other", EACCES, true,
		  CALL(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT) },
		{ "raw IP", EACCES, true, CALL(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP) },
		{ "packets", EACCES, true, CALL(SYS_socket, AF_PACKET, SOCK_RAW) },
		{ "vsock", EACCES, true, CALL(SYS_socket, AF_VSOCK, SOCK_STREAM) },
		{ "AF_ALG", EACCES, true, CALL(SYS_socket, AF_ALG, SOCK_SEQPACKET) },
		/* The kernel looks at the lower half of the register. */
		{ "TCP by a register's upper half", EACCES, false,
		  CALL(SYS_socket, 0x100000000l | AF_INET, SOCK_STREAM) },
		{ "a pair", SUCCESS, false, .make = pair },
		{ "a pair of packets", SUCCESS, false, .make = pair_of_packets },
		{ "a pair of datagrams, led elsewhere", EACCES, false, .make = pair_of_datagrams },
		{ "a raw pair, led elsewhere", EACCES, false, .make = pair_raw },
		{ "io_uring", EPERM, true, .make = ring },
	};

	skip_without_landlock();
	TRY_ON_KERNELS("1357", true, list);
}

TEST(test_the_second_line_of_defence_is_landlock)
{
	static const struct attempt list[] = {
		{ "a socket from before", EACCES, false, .make = connect_older_socket },
	};

	if (landlock_abi() < LANDLOCK_TCP)
		skip();
	TRY_USUAL(false, list);
}

TEST(test_with_network_there_are_tcp_and_udp_only)
{
	static const struct attempt list[] = {
		{ "TCP", SUCCESS, false, .make = connect_tcp4 },
		{ "TCP over IPv6", SUCCESS, true, .make = connect_tcp6 },
		{ "TCP, listening", SUCCESS, false, .make = listen_tcp },
		{ "UDP", SUCCESS, false, .make = send_udp },
		{ "netlink", SUCCESS, false,
		  CALL(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) },
		{ "netlink, other", EACCES, true,
		  CALL(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT) },
		{ "raw IP", EACCES, true, CALL(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_ICMP) },
		{ "packets", EACCES, true, CALL(SYS_socket, AF_PACKET, SOCK_RAW) },
		{ "Unix socket with a path", EACCES, false, .make = connect_path },
		{ "abstract Unix socket", EACCES, false, .make = connect_abstract },
		{ "a raw pair, led elsewhere", EACCES, false, .make = pair_raw },
	};

	skip_without_landlock();
	if (place.tcp6 < 0)
		print_message("# no IPv6 here\n");
	TRY_IN(sandbox_of((struct sandbox_spec){ .net = true }), list);
}

TEST(test_unix_sockets_where_they_are_wanted)
{
	const struct attempt list[] = {
		{ "Unix socket with a path", SUCCESS, false, .make = connect_path },
		{ "abstract Unix socket", landlock_abi() >= LANDLOCK_SCOPE ? EPERM : SUCCESS, false,
		  .make = connect_abstract },
		{ "TCP", EACCES, false, .make = connect_tcp4 },
	};

	skip_without_landlock();
	TRY_IN(sandbox_of((struct sandbox_spec){ .unix_sockets = true }), list);
}

TEST_GROUP(place_init, place_done)
