/* httpd/accept.c - the listening sockets of an HTTP server: who gets in, and what happens
 * when there is no room.
 *
 * Options of TCP are set on the listening socket; connections inherit them (tcp(7)), which costs
 * nothing for each. When the process has no descriptor left, a reserved one is given up to take the
 * connection and close it, so that the client learns it; then nobody is let in for a moment, because
 * a listening socket with callers is ready all the time and the loop would spin.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* accept4 */
#else
#define _POSIX_C_SOURCE 200809L
#endif

#include "httpd/conn.h"

#include "base/error.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	AT_ONCE = 64, /* connections in one turn of the loop */
	PAUSE_MS = 100,
	NOTE_EVERY_S = 60,
	MAX_CONNECTIONS = 65536,
	MAX_PER_ADDRESS = 1024,
	RESERVED_FDS = 64
};

struct http_ear {
	struct http_ear *next;
	struct httpd *server;
	struct loop_watch *watch;
	struct listener listener;
};

union client {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage room;
};

void http_accept_init(struct httpd *h)
{
	struct rlimit fds;
	rlim_t most = MAX_CONNECTIONS;

	if (h->o.max_per_address == 0)
		h->o.max_per_address = MAX_PER_ADDRESS;
	if (h->o.max_connections)
		return;
	if (getrlimit(RLIMIT_NOFILE, &fds) == 0 && fds.rlim_cur != RLIM_INFINITY) {
		rlim_t n = fds.rlim_cur;

		n -= n > 4 * RESERVED_FDS ? RESERVED_FDS : n / 4;
		most = n < most ? n : most;
	}
	h->o.max_connections = (unsigned)most;
}

static void reserve(struct httpd *h)
{
	if (h->reserve < 0)
		h->reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* ---- a connection ------------------------------------------------------------------------- */

static int take_connection(int fd, union client *from)
{
	socklen_t n = sizeof *from;
#if defined(__linux__)
	return accept4(fd, &from->any, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	int got = accept(fd, &from->any, &n);

	if (got >= 0) {
		fcntl(got, F_SETFL, O_NONBLOCK);
		fcntl(got, F_SETFD, FD_CLOEXEC);
	}
	return got;
#endif
}

static void write_address(const union client *from, char *text, socklen_t n)
{
	const struct in6_addr *six = &from->in6.sin6_addr;

	if (from->any.sa_family == AF_INET)
		inet_ntop(AF_INET, &from->in.sin_addr, text, n);
	else if (from->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(six))
		inet_ntop(AF_INET, six->s6_addr + 12, text, n);
	else if (from->any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, six, text, n);
	else
		memcpy(text, "unix", sizeof "unix");
}

/* Tells the client why, as far as that costs nothing. What it has sent is read, because closing a
 * socket with unread bytes resets the connection and may take the answer with it. */
static void turn_away(struct httpd *h, int fd, const char *answer)
{
	struct fd_end end = { .fd = fd, .flags = -1, .socket = true };

	h->stats.refused++;
	if (answer && !h->o.tls && fd_write(&end, answer, strlen(answer)) > 0) {
		shutdown(fd, SHUT_WR);
		fd_read(&end, h->chunk, sizeof h->chunk);
	}
	close(fd);
}

static void let_in(struct httpd *h, int fd, const union client *from)
{
	static const char full[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
				   "Content-Length: 0\r\nConnection: close\r\n\r\n";
	static const char too_many[] = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n"
				       "Content-Length: 0\r\nConnection: close\r\n\r\n";
	char text[INET6_ADDRSTRLEN] = "";
	struct http_peer *peer;
	int rc;

	if (!http_peers_enter(h->peers, h->o.max_connections)) {
		turn_away(h, fd, full);
		return;
	}
	rc = http_peers_add(h->peers, &h->mem, &from->any, h->o.max_per_address, &peer);
	if (rc) {
		http_peers_leave(h->peers);
		turn_away(h, fd, rc == CLEAT_ELIMIT ? too_many : NULL);
		return;
	}
	write_address(from, text, sizeof text);
	if (http_conn_open(h, fd, text, peer))
		h->stats.refused++;
	else
		h->stats.accepted++;
}

/* ---- no descriptors ----------------------------------------------------------------------- */

static void pause_all(struct httpd *h)
{
	for (struct http_ear *e = h->ears; e; e = e->next)
		loop_watch_set(e->watch, 0);
	loop_timer_start(h->pause, PAUSE_MS);
}

void http_accept_resume(void *server)
{
	struct httpd *h = server;

	reserve(h);
	for (struct http_ear *e = h->ears; e; e = e->next)
		loop_watch_set(e->watch, LOOP_READ);
}

static void shed(struct httpd *h, int listening)
{
	union client from;
	int fd;

	if (h->reserve < 0)
		return;
	close(h->reserve);
	h->reserve = -1;
	fd = take_connection(listening, &from);
	if (fd >= 0) {
		h->stats.refused++;
		close(fd);
	}
	reserve(h);
}

static void no_room(struct httpd *h, int listening, int error)
{
	if (error == EMFILE || error == ENFILE)
		shed(h, listening);
	if (!h->noted_us || h->now_us - h->noted_us > NOTE_EVERY_S * UINT64_C(1000000)) {
		h->noted_us = h->now_us;
		httpd_note(h, CLEAT_LOG_ERROR, "cannot take connections: %s (%zu are open)",
			   strerror(error), h->stats.connections);
	}
	pause_all(h);
}

/* accept(2): these belong to the connection that was to be taken, not to the socket. */
static bool is_passing(int error)
{
	switch (error) {
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
	case EPERM:
	case ENETDOWN:
	case ENOPROTOOPT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EOPNOTSUPP: return true;
	default: return false;
	}
}

static void on_callers(void *ctx, unsigned events, bool failed)
{
	struct http_ear *e = ctx;
	struct httpd *h = e->server;

	(void)events;
	httpd_enter(h);
	if (failed)
		no_room(h, e->listener.fd, EIO);
	for (int i = 0; i < AT_ONCE && !failed; i++) {
		union client from = { 0 };
		int fd = take_connection(e->listener.fd, &from), error = errno;

		if (fd >= 0) {
			let_in(h, fd, &from);
		} else if (error == EAGAIN || error == EWOULDBLOCK) {
			break;
		} else if (!is_passing(error)) {
			no_room(h, e->listener.fd, error);
			break;
		}
	}
	httpd_leave(h);
}

/* ---- listening sockets -------------------------------------------------------------------- */

/* A client that has vanished without a word is noticed within a minute: 30 s and three questions 10 s
 * apart, or 30 s with something to send. Sockets that are not TCP refuse, which does no harm. */
static void set_options(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#if defined(TCP_KEEPIDLE)
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){ 30 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){ 10 }, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){ 3 }, sizeof(int));
#endif
#if defined(TCP_USER_TIMEOUT)
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){ 30000 }, sizeof(unsigned));
#endif
}

int httpd_add(struct httpd *h, struct listener *l, cleat_error *err)
{
	struct http_ear *e;
	int rc;

	if (h->draining || h->dying)
		return error_set(err, CLEAT_ECLOSED, "the server is closing");
	e = mem_zalloc(&h->mem, sizeof *e);
	if (!e)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	rc = loop_watch_new(h->o.loop, l->fd, on_callers, e, &e->watch);
	if (rc) {
		mem_free(&h->mem, e);
		return error_set(err, rc, "cannot listen on %s: %s", l->text, cleat_strstatus(rc));
	}
	set_options(l->fd);
	reserve(h);
	e->server = h;
	e->listener = *l;
	e->next = h->ears;
	h->ears = e;
	l->fd = -1;
	l->unlink = false;
	loop_watch_set(e->watch, LOOP_READ);
	return CLEAT_OK;
}

void http_accept_close(struct httpd *h)
{
	while (h->ears) {
		struct http_ear *e = h->ears;

		h->ears = e->next;
		loop_watch_free(e->watch);
		listener_close(&e->listener);
		mem_free(&h->mem, e);
	}
	loop_timer_stop(h->pause);
	if (h->reserve >= 0)
		close(h->reserve);
	h->reserve = -1;
}
