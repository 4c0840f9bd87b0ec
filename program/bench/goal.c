/* program/bench/goal.c - see goal.h. */
#define _GNU_SOURCE /* SOCK_NONBLOCK */

#include "bench/goal.h"

#include "uri/reference.h"

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
static bool goal_resolve(struct goal *t, const struct uri *u, const char **ret_why)
{
	bool literal = u->host.p[0] == '['; /* whose brackets are the URL's */
	char host[sizeof t->host], port[8];
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL, *a;
	int rc;

	snprintf(host, sizeof host, "%.*s", (int)u->host.n - 2 * literal, u->host.p + literal);
	snprintf(port, sizeof port, "%u", uri_port(u));
	rc = getaddrinfo(host, port, &hints, &found);
	if (rc || !found)
		return no(ret_why, rc ? gai_strerror(rc) : "the host has no address");
	for (a = found; a->ai_next && !takes_connections(a);)
		a = a->ai_next;
	memcpy(&t->addr, a->ai_addr, a->ai_addrlen);
	t->addr_n = a->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool parse_http(struct goal *t, const char *url, const char *unix_socket,
		       const char **ret_why)
{
	struct str bare = uri_without_fragment(str_of(url));
	struct uri u;
	int n;

	if (!uri_split(bare, 0, &u) || !u.host.n || u.authority.n >= sizeof t->host ||
	    !uri_port(&u))
		return no(ret_why, "the URL has no host or a wrong port, or is too long");
	if (u.userinfo.p)
		return no(ret_why, "a URL with a user's name in it is not supported");
	snprintf(t->host, sizeof t->host, "%.*s", STR_ARGS(u.authority));
	n = snprintf(t->path, sizeof t->path, "%s%.*s", u.path.n ? "" : "/",
		     (int)(bare.p + bare.n - u.path.p), u.path.p);
	if (n < 0 || (size_t)n >= sizeof t->path)
		return no(ret_why, "the URL is too long");
	if (unix_socket)
		return set_unix(t, unix_socket, strlen(unix_socket), ret_why);
	return goal_resolve(t, &u, ret_why);
}

static bool parse_tcp(struct goal *t, const char *url, const char **ret_why)
{
	struct uri u;

	if (!uri_split(str_of(url), 0, &u) || !u.host.n || u.host.n >= sizeof t->host ||
	    !uri_port(&u))
		return no(ret_why, "tcp: needs a host and a port");
	return goal_resolve(t, &u, ret_why);
}

bool goal_parse(struct goal *t, const char *url, const char *unix_socket, const char **ret_why)
{
	memset(t, 0, sizeof *t);
	t->kind = GOAL_HTTP;
	if (starts(url, "http://"))
		return parse_http(t, url, unix_socket, ret_why);
	if (starts(url, "unix:")) {
		size_t n = strcspn(url + 5, "#");

		snprintf(t->host, sizeof t->host, "localhost");
		snprintf(t->path, sizeof t->path, "%s", url[5 + n] ? url + 6 + n : "/mcp");
		return set_unix(t, url + 5, n, ret_why);
	}
	t->kind = GOAL_LINES;
	if (starts(url, "tcp://"))
		return parse_tcp(t, url, ret_why);
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
