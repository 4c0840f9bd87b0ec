/* link/socket.c - a link over a connection: "tcp://host:port" or "unix-stream:/path"; see
 * links.h.
 *
 * A name may stand for several addresses. They are tried in turn, in the system's order; each has an
 * equal share of the time that is left, so that one that does not answer does not use it all up.
 * Not here: TLS. One message per line is for this machine and for networks that are trusted.
 */
#define _GNU_SOURCE /* SOCK_NONBLOCK, SOCK_CLOEXEC */

#include "base/error.h"
#include "base/mem.h"
#include "link/line.h"
#include "net/resolve.h"
#include "uri/reference.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FAREWELL_MS = 500 /* for the other side to end what we have ended */ };

struct link_socket {
	struct line_link line;
	char host[256], port[8];  /* tcp */
	struct sockaddr_un local; /* unix-stream, when sun_path is not empty */
	char name[300];           /* for people */
	int fd;
	struct loop_watch *watch; /* while it connects, and while it says farewell */
	struct loop_timer *timer;
	struct resolve *resolve;
	struct addrinfo *list, *next; /* addresses, and those not tried yet */
	unsigned tried;
	int error; /* of the last that was tried */
	uint64_t deadline;
};

static struct link_socket *of(struct line_link *l)
{
	return (struct link_socket *)(void *)l;
}

static bool is_local(const struct link_socket *k)
{
	return k->local.sun_path[0] != 0;
}

static void drop_connection(struct link_socket *k)
{
	line_detach(&k->line);
	loop_watch_free(k->watch);
	k->watch = NULL;
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/* Nothing is under way any more. */
static void drop_all(struct link_socket *k)
{
	drop_connection(k);
	if (k->timer)
		loop_timer_stop(k->timer);
	resolve_cancel(k->resolve);
	k->resolve = NULL;
	if (k->list)
		freeaddrinfo(k->list);
	k->list = k->next = NULL;
}

/* ---- connecting --------------------------------------------------------------------------- */

static void try_next(struct link_socket *k);

static void socket_fail(struct link_socket *k, enum cleat_step step, int status, const char *fmt,
			...) CLEAT_PRINTF(4, 5);

static void socket_fail(struct link_socket *k, enum cleat_step step, int status, const char *fmt,
			...)
{
	cleat_error err;
	va_list ap;

	va_start(ap, fmt);
	error_vset(&err, status, 0, fmt, ap);
	va_end(ap);
	err.os_errno = k->error;
	drop_all(k);
	line_up_failed(&k->line, &err, step);
}

static void fail_connect(struct link_socket *k)
{
	bool late = k->error == ETIMEDOUT;
	char more[48] = "";

	if (k->tried > 1)
		snprintf(more, sizeof more, " (%u addresses tried)", k->tried);
	socket_fail(k, CLEAT_STEP_CONNECT, late ? CLEAT_ETIMEOUT : CLEAT_EIO,
		    "cannot connect to %s: %s%s", k->name, strerror(k->error), more);
}

static void set_options(const struct link_socket *k)
{
	const int on = 1;

	if (is_local(k))
		return;
	/* A request must not wait for the answer to the one before it (Nagle). */
	setsockopt(k->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(k->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static void connected(struct link_socket *k)
{
	cleat_error err;

	loop_watch_free(k->watch);
	k->watch = NULL;
	loop_timer_stop(k->timer);
	if (k->list)
		freeaddrinfo(k->list);
	k->list = k->next = NULL;
	set_options(k);
	if (line_attach(&k->line, k->fd, k->fd, &err))
		socket_fail(k, CLEAT_STEP_CONNECT, err.status, "cannot connect to %s: %s", k->name,
			    err.message);
	else
		line_up(&k->line);
}

static void not_connected(struct link_socket *k, int error)
{
	drop_connection(k);
	k->error = error;
	try_next(k);
}

static void on_connect(void *ctx, unsigned events, bool failed)
{
	struct link_socket *k = ctx;
	int error = 0;
	socklen_t n = sizeof error;

	(void)events;
	line_enter(&k->line);
	if (getsockopt(k->fd, SOL_SOCKET, SO_ERROR, &error, &n))
		error = errno;
	if (failed && error == 0)
		error = ECONNREFUSED;
	if (error)
		not_connected(k, error);
	else
		connected(k);
	line_leave(&k->line);
}

/* An equal share of the time for each address that is left. */
static void start_timer(struct link_socket *k, unsigned left)
{
	uint64_t now = loop_now(), ms = k->deadline > now ? k->deadline - now : 1;

	loop_timer_start(k->timer, ms / left + 1);
}

static unsigned socket_count(const struct addrinfo *a)
{
	unsigned n = 0;

	for (; a; a = a->ai_next)
		n++;
	return n;
}

/* CLEAT_OK when it has connected or is at it; otherwise k->error tells. */
static int try_one(struct link_socket *k, int family, const struct sockaddr *a, socklen_t n)
{
	int rc;

	k->tried++;
	k->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (k->fd < 0) {
		k->error = errno;
		return CLEAT_EIO;
	}
	rc = connect(k->fd, a, n);
	if (rc == 0) {
		connected(k);
		return CLEAT_OK;
	}
	k->error = errno;
	if (k->error == EINPROGRESS || k->error == EINTR) {
		rc = loop_watch_new(k->line.o.loop, k->fd, on_connect, k, &k->watch);
		if (rc == CLEAT_OK) {
			loop_watch_set(k->watch, LOOP_WRITE);
			return CLEAT_OK;
		}
		k->error = rc == CLEAT_ENOMEM ? ENOMEM : EIO;
	}
	drop_connection(k);
	return CLEAT_EIO;
}

static void try_next(struct link_socket *k)
{
	while (k->next && loop_now() < k->deadline) {
		const struct addrinfo *a = k->next;

		start_timer(k, socket_count(a));
		k->next = a->ai_next;
		if (try_one(k, a->ai_family, a->ai_addr, a->ai_addrlen) == CLEAT_OK)
			return;
	}
	fail_connect(k);
}

static void on_resolved(void *ctx, struct addrinfo *list, const char *why)
{
	struct link_socket *k = ctx;

	line_enter(&k->line);
	k->resolve = NULL;
	k->list = k->next = list;
	if (list)
		try_next(k);
	else
		socket_fail(k, CLEAT_STEP_DNS, CLEAT_EIO, "cannot find the host of %s: %s", k->name,
			    why);
	line_leave(&k->line);
}

static void socket_on_timer(void *ctx)
{
	struct link_socket *k = ctx;

	line_enter(&k->line);
	k->error = ETIMEDOUT;
	if (k->line.state == LINE_CLOSING) {
		drop_all(k);
		line_closed(&k->line);
	} else if (k->resolve) {
		socket_fail(k, CLEAT_STEP_DNS, CLEAT_ETIMEOUT, "cannot find the host of %s: %s",
			    k->name, strerror(ETIMEDOUT));
	} else {
		not_connected(k, ETIMEDOUT);
	}
	line_leave(&k->line);
}

/* ---- the way ------------------------------------------------------------------------------ */

static void way_open(struct line_link *l)
{
	struct link_socket *k = of(l);
	int rc;

	drop_connection(k); /* of before a reset() */
	k->tried = 0;
	k->error = 0;
	k->deadline = loop_now() + l->o.connect_ms;
	start_timer(k, 1);
	if (is_local(k)) {
		const struct sockaddr *a = (const struct sockaddr *)(const void *)&k->local;

		/* A Unix socket whose queue is full says EAGAIN and cannot be waited for. */
		if (try_one(k, AF_UNIX, a, sizeof k->local))
			fail_connect(k);
		return;
	}
	rc = resolve_start(l->o.loop, k->host, k->port, on_resolved, k, &k->resolve);
	if (rc)
		socket_fail(k, CLEAT_STEP_DNS, rc, "cannot find the host of %s: %s", k->name,
			    cleat_strstatus(rc));
}

static void way_ended(struct line_link *l)
{
	struct link_socket *k = of(l);
	cleat_error why;

	error_set(&why, l->why.status, "%s: %s", k->name, l->why.message);
	why.os_errno = l->why.os_errno;
	drop_connection(k);
	line_down(l, &why);
}

/* Reads until the other side has closed as well: closing with something unread would take back from
 * it what we have just sent. */
static void on_farewell(void *ctx, unsigned events, bool failed)
{
	struct link_socket *k = ctx;
	char rest[4096];
	ssize_t n = read(k->fd, rest, sizeof rest);

	(void)events;
	if (n > 0 || (n < 0 && !failed && (errno == EAGAIN || errno == EINTR)))
		return;
	line_enter(&k->line);
	drop_all(k);
	line_closed(&k->line);
	line_leave(&k->line);
}

static bool way_close(struct line_link *l)
{
	struct link_socket *k = of(l);

	if (k->fd < 0 || k->watch || shutdown(k->fd, SHUT_WR) ||
	    loop_watch_new(l->o.loop, k->fd, on_farewell, k, &k->watch)) {
		drop_all(k);
		return true;
	}
	loop_watch_set(k->watch, LOOP_READ);
	loop_timer_start(k->timer, FAREWELL_MS);
	return false;
}

static void way_free(struct line_link *l)
{
	struct link_socket *k = of(l);

	drop_all(k);
	loop_timer_free(k->timer);
	k->timer = NULL;
}

/* ---- addresses ---------------------------------------------------------------------------- */

static int wrong(cleat_error *err, const char *address, const char *what)
{
	return error_set(err, CLEAT_EINVAL, "%.120s: %s", address, what);
}

static int parse_unix(struct link_socket *k, const char *address, const char *path,
		      cleat_error *err)
{
	size_t n = strlen(path);

	if (n == 0)
		return wrong(err, address, "write unix-stream:/path/of/the.sock");
	if (n >= sizeof k->local.sun_path)
		return error_set(err, CLEAT_EINVAL,
				 "the path of this socket has %zu bytes, at most %zu are possible: "
				 "%.100s",
				 n, sizeof k->local.sun_path - 1, path);
	k->local.sun_family = AF_UNIX;
	memcpy(k->local.sun_path, path, n + 1);
	snprintf(k->name, sizeof k->name, "%s", address);
	return CLEAT_OK;
}

static bool socket_copy(char *to, size_t room, struct str s)
{
	if (s.n == 0 || s.n >= room)
		return false;
	memcpy(to, s.p, s.n);
	to[s.n] = 0;
	return true;
}

static int parse_tcp(struct link_socket *k, const char *address, cleat_error *err)
{
	struct uri u;
	unsigned port = 0;

	if (!uri_split(str_of(address), 0, &u) || !str_eqz(u.scheme, "tcp") || !u.host.p ||
	    u.userinfo.p || u.query.p || u.fragment.p || !(u.path.n == 0 || str_eqz(u.path, "/")))
		return wrong(err, address, "write tcp://host:port");
	if (u.host.n > 2 && u.host.p[0] == '[') {
		u.host.p++;
		u.host.n -= 2;
	}
	for (size_t i = 0; i < u.port.n && port < 65536; i++)
		port = port * 10 + (unsigned)(u.port.p[i] - '0');
	if (port == 0 || port > 65535)
		return wrong(err, address, "the port (1 to 65535) is missing or wrong");
	snprintf(k->port, sizeof k->port, "%u", port);
	if (!socket_copy(k->host, sizeof k->host, u.host))
		return wrong(err, address, "the host is missing or too long");
	snprintf(k->name, sizeof k->name, "%.*s:%s", STR_ARGS(u.host), k->port);
	return CLEAT_OK;
}

static int parse(struct link_socket *k, const char *address, cleat_error *err)
{
	static const char prefix[] = "unix-stream:";

	if (strncmp(address, prefix, sizeof prefix - 1) == 0)
		return parse_unix(k, address, address + sizeof prefix - 1, err);
	return parse_tcp(k, address, err);
}

struct link *link_socket_new(const struct link_base_options *o, const char *address,
			     cleat_error *err)
{
	static const struct line_way way = { way_open, way_ended, way_close, way_free, NULL };
	struct link_socket *k;

	if (!address) {
		error_set(err, CLEAT_EINVAL, "no address");
		return NULL;
	}
	k = line_new(o, &way, sizeof *k, err);
	if (!k)
		return NULL;
	k->fd = -1;
	k->line.link.renews = true;
	k->timer = loop_timer_new(o->loop, socket_on_timer, k);
	if (!k->timer)
		error_set(err, CLEAT_ENOMEM, "out of memory");
	if (!k->timer || parse(k, address, err)) {
		k->line.link.ops->free(&k->line.link);
		return NULL;
	}
	return &k->line.link;
}
