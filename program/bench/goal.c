/* program/bench/goal.c - see goal.h. */
#define _GNU_SOURCE /* SOCK_NONBLOCK */

#include "bench/goal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool no(const char **ret_why, const char *why)
{
	*ret_why = why;
	return false;
}

static bool set_unix(struct goal *t, const char *path, size_t n, const char **ret_why)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&t->addr;

	if (!n || n >= sizeof un->sun_path)
		return no(ret_why, "the path of the socket is empty or too long");
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n);
	un->sun_path[n] = '\0';
	t->addr_n = sizeof *un;
	return true;
}

/* "host:port", "[::1]:port" or "host". */
static bool split_host(const char *p, size_t n, char *host, size_t room, char *port,
		       size_t port_room)
{
	const char *colon = NULL;
	size_t host_n = n, from = 0;

	if (n && p[0] == '[') {
		const char *close = memchr(p, ']', n);

		if (!close)
			return false;
		from = 1;
		host_n = (size_t)(close - p) - 1;
		colon = close + 1 < p + n ? close + 1 : NULL;
	} else {
		colon = memchr(p, ':', n);
		host_n = colon ? (size_t)(colon - p) : n;
	}
	if (!host_n || host_n >= room || (colon && *colon != ':'))
		return false;
	memcpy(host, p + from, host_n);
	host[host_n] = '\0';
	if (colon && p + n - colon - 1 > 0) {
		size_t port_n = (size_t)(p + n - colon) - 1;

		if (port_n >= port_room)
			return false;
		memcpy(port, colon + 1, port_n);
		port[port_n] = '\0';
	}
	return true;
}

static bool takes_connections(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good = fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Who listens may do so on one family only (localhost): the first address that takes a connection, or
 * the last. */
static bool goal_resolve(struct goal *t, const char *host, const char *port, const char **ret_why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL, *a;
	int rc = getaddrinfo(host, port, &hints, &found);

	if (rc || !found)
		return no(ret_why, rc ? gai_strerror(rc) : "the host has no address");
	for (a = found; a->ai_next && !takes_connections(a);)
		a = a->ai_next;
	memcpy(&t->addr, a->ai_addr, a->ai_addrlen);
	t->addr_n = a->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool parse_http(struct goal *t, const char *rest, const char *unix_socket,
		       const char **ret_why)
{
	size_t n = strcspn(rest, "/?#"), path_n = strcspn(rest + n, "#");
	char host[256], port[16] = "80";

	if (memchr(rest, '@', n))
		return no(ret_why, "a URL with a user's name in it is not supported");
	if (n >= sizeof t->host || path_n + 2 > sizeof t->path ||
	    !split_host(rest, n, host, sizeof host, port, sizeof port))
		return no(ret_why, "the URL has no host, or is too long");
	memcpy(t->host, rest, n);
	snprintf(t->path, sizeof t->path, "%s%.*s", rest[n] == '/' ? "" : "/", (int)path_n,
		 rest + n);
	if (unix_socket)
		return set_unix(t, unix_socket, strlen(unix_socket), ret_why);
	return goal_resolve(t, host, port, ret_why);
}

static bool parse_tcp(struct goal *t, const char *rest, const char **ret_why)
{
	size_t n = strcspn(rest, "/?#");
	char host[256], port[16] = "";

	if (!split_host(rest, n, host, sizeof host, port, sizeof port) || !port[0])
		return no(ret_why, "tcp: needs a host and a port");
	return goal_resolve(t, host, port, ret_why);
}

bool goal_parse(struct goal *t, const char *url, const char *unix_socket, const char **ret_why)
{
	memset(t, 0, sizeof *t);
	t->kind = GOAL_HTTP;
	if (starts(url, "http://"))
		return parse_http(t, url + 7, unix_socket, ret_why);
	if (starts(url, "unix:")) {
		size_t n = strcspn(url + 5, "#");

		snprintf(t->host, sizeof t->host, "localhost");
		snprintf(t->path, sizeof t->path, "%s", url[5 + n] ? url + 6 + n : "/mcp");
		return set_unix(t, url + 5, n, ret_why);
	}
	t->kind = GOAL_LINES;
	if (starts(url, "tcp://"))
		return parse_tcp(t, url + 6, ret_why);
	if (starts(url, "unix-stream:"))
		return set_unix(t, url + 12, strlen(url + 12), ret_why);
	t->kind = GOAL_LIBRARY;
	return true;
}

int goal_connect(const struct goal *t, bool *ret_waiting)
{
	int fd = socket(t->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

	*ret_waiting = false;
	if (fd < 0)
		return -1;
	if (t->addr.ss_family != AF_UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	if (connect(fd, (const struct sockaddr *)&t->addr, t->addr_n) == 0)
		return fd;
	if (errno == EINPROGRESS) {
		*ret_waiting = true;
		return fd;
	}
	yes = errno;
	close(fd);
	errno = yes;
	return -1;
}

unsigned goal_port(const struct goal *t)
{
	if (t->addr.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)&t->addr)->sin_port);
	if (t->addr.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)&t->addr)->sin6_port);
	return 0;
}

const char *goal_socket(const struct goal *t)
{
	return t->addr.ss_family == AF_UNIX ? ((const struct sockaddr_un *)&t->addr)->sun_path
					    : NULL;
}

bool goal_is_local(const struct goal *t)
{
	if (t->addr.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&t->addr;

		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	}
	if (t->addr.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&t->addr)->sin6_addr);
	return t->addr.ss_family == AF_UNIX;
}
