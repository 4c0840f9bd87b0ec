/* cli/http_front.c - see http_front.h.
 *
 * A connection has one request at a time; what comes meanwhile waits in its buffer. Everything that is
 * buffered has a limit, over which the connection is closed.
 */
#include "http_front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CONNECTIONS = FRONT_FDS - 2,
	HEAD_MOST = 64 << 10,
	BODY_MOST = 64 << 20,
	OUT_MOST = 128 << 20, /* that a client does not take */
	LINGER_MOST = 1 << 20 /* that a client still sends after the last answer */
};

struct connection {
	struct front_exchange x; /* the first member: the exchange is the connection */
	struct front *front;
	int fd;                    /* -1: this place is free */
	struct text in, out, head; /* head: of the request, cut into its fields */
	size_t sent, used;         /* used: bytes of `in` that are the request's */
	bool busy, begun, chunked, last, dead, told; /* told: "100 Continue" */
	bool lingers; /* answered for the last time; what comes is thrown away, `used` counts it */
};

struct front {
	struct front_user user;
	int fd;
	const char *origin, *path;
	struct connection all[CONNECTIONS];
};

/* ---- listening ----------------------------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

/* Cuts "[scheme://][host:]port[/path]"; what is cut out is kept. */
static void cut(const char *address, const char **host, const char **port, const char **path)
{
	const char *at = strstr(address, "://"), *colon, *end;

	at = at ? at + 3 : address;
	end = at + strcspn(at, "/");
	*path = keepf("%s", end);
	colon = end;
	while (colon > at && colon[-1] != ':')
		colon--;
	*port = keepf("%.*s", (int)(end - colon), colon);
	*host = colon > at ? keepf("%.*s", (int)(colon - 1 - at), at) : "127.0.0.1";
	if (**host == '[' && strchr(*host, ']'))
		*host = keepf("%.*s", (int)strcspn(*host + 1, "]"), *host + 1);
}

static const char *origin_of(int fd)
{
	struct sockaddr_storage a;
	socklen_t size = sizeof a;
	char host[64] = "", port[16] = "";

	if (getsockname(fd, (struct sockaddr *)&a, &size) != 0 ||
	    getnameinfo((struct sockaddr *)&a, size, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return NULL;
	return keepf(strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

static int listen_at(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM, 0), on = 1;

	if (fd < 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 128) == 0)
		return fd;
	on = errno;
	close(fd);
	errno = on;
	return -1;
}

struct front *front_new(const struct cli *cli, const char *address, const struct front_user *user,
			int *ret_code)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *all = NULL;
	struct front *f = keep_alloc(sizeof *f);
	const char *host, *port;
	bool local;

	cut(address, &host, &port, &f->path);
	if (!*port || port[strspn(port, "0123456789")] ||
	    getaddrinfo(host, port, &hints, &all) != 0) {
		*ret_code = cli_error(
			cli, EXIT_USAGE,
			"--http is an address like 8080 or 127.0.0.1:8080, not \"%s\"", address);
		return NULL;
	}
	local = is_loopback(all->ai_addr);
	f->fd = local ? listen_at(all) : -1;
	if (!local)
		*ret_code = cli_error(
			cli, EXIT_USAGE,
			"%s is an address that others can reach; this is for 127.0.0.1 and [::1]",
			host);
	else if (f->fd < 0)
		*ret_code = cli_error(cli, EXIT_OTHER, "cannot listen on %s: %s", address,
				      strerror(errno));
	freeaddrinfo(all);
	if (f->fd < 0)
		return NULL;
	signal(SIGPIPE, SIG_IGN);
	f->user = *user;
	f->origin = origin_of(f->fd);
	for (size_t i = 0; i < CONNECTIONS; i++)
		f->all[i].fd = -1;
	return f;
}

const char *front_origin(const struct front *f)
{
	return f->origin ? f->origin : "http://127.0.0.1";
}

const char *front_path(const struct front *f)
{
	return f->path;
}

/* ---- connections --------------------------------------------------------------------------------- */

static struct connection *connection_of(struct front_exchange *x)
{
	return (struct connection *)(void *)x;
}

static void close_connection(struct connection *c)
{
	bool busy = c->busy;

	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	c->busy = false;
	if (busy)
		c->front->user.gone(c->front->user.ctx, &c->x);
	text_free(&c->in);
	text_free(&c->out);
	text_free(&c->head);
}

void front_free(struct front *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < CONNECTIONS; i++)
		close_connection(&f->all[i]);
	close(f->fd);
}

static void accept_all(struct front *f)
{
	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &f->all[i];

		if (c->fd >= 0)
			continue;
		*c = (struct connection){ .front = f, .fd = accept(f->fd, NULL, NULL) };
		if (c->fd < 0)
			return;
		fcntl(c->fd, F_SETFD, FD_CLOEXEC);
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
	}
}

/* ---- answers ------------------------------------------------------------------------------------- */

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} known[] = { { 200, "OK" },          { 202, "Accepted" },   { 204, "No Content" },
		      { 400, "Bad Request" }, { 403, "Forbidden" },  { 404, "Not Found" },
		      { 405, "Not Allowed" }, { 502, "Bad Gateway" } };

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (known[i].status == status)
			return known[i].text;
	return "Other";
}

static void put_head(struct connection *c, int status, const char *type, const char *fields)
{
	text_printf(&c->out, "HTTP/1.1 %d %s\r\n", status, reason(status));
	if (type)
		text_printf(&c->out, "Content-Type: %s\r\n", type);
	text_puts(&c->out, fields ? fields : "");
	if (c->last)
		text_puts(&c->out, "Connection: close\r\n");
	c->begun = true;
}

static void end_request(struct connection *c)
{
	c->busy = c->begun = c->chunked = c->told = false;
	memmove(c->in.p, c->in.p + c->used, c->in.n - c->used);
	c->in.n -= c->used;
	c->in.p[c->in.n] = 0;
	c->used = 0;
	text_free(&c->head);
	c->dead = c->last;
}

void front_answer(struct front_exchange *x, int status, const char *type, const char *fields,
		  const char *body, size_t n)
{
	struct connection *c = connection_of(x);

	put_head(c, status, type, fields);
	if (status != 204)
		text_printf(&c->out, "Content-Length: %zu\r\n", n);
	text_puts(&c->out, "\r\n");
	if (n)
		text_add(&c->out, body, n);
	end_request(c);
}

void front_begin(struct front_exchange *x, int status, const char *type, const char *fields)
{
	struct connection *c = connection_of(x);

	put_head(c, status, type, fields);
	c->chunked = true;
	text_puts(&c->out, "Transfer-Encoding: chunked\r\n\r\n");
}

void front_write(struct front_exchange *x, const char *p, size_t n)
{
	struct connection *c = connection_of(x);

	if (!n || c->out.n - c->sent > OUT_MOST) { /* front_serve() closes it */
		c->dead = c->dead || n;
		return;
	}
	text_printf(&c->out, "%zx\r\n", n);
	text_add(&c->out, p, n);
	text_puts(&c->out, "\r\n");
}

void front_end(struct front_exchange *x)
{
	struct connection *c = connection_of(x);

	text_puts(&c->out, "0\r\n\r\n");
	end_request(c);
}

void front_break(struct front_exchange *x)
{
	struct connection *c = connection_of(x);

	c->busy = false;
	c->dead = true;
}

/* ---- requests ------------------------------------------------------------------------------------ */

const char *front_header(const struct front_exchange *x, const char *name)
{
	for (const struct front_field *f = x->fields; f->name; f++)
		if (strcasecmp(f->name, name) == 0)
			return f->value;
	return NULL;
}

/* "localhost:8080", "127.0.0.1", "[::1]:80". */
static bool names_loopback(const char *host)
{
	size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	return (n == 9 && strncasecmp(host, "localhost", 9) == 0) ||
	       (n == 5 && strncmp(host, "[::1]", 5) == 0) ||
	       (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n);
}

/* A name that somebody else lets point here (DNS rebinding), or a page of another site. */
static bool is_lured(const struct front_exchange *x)
{
	const char *host = front_header(x, "host"), *origin = front_header(x, "origin"), *at;

	if (!host || !names_loopback(host))
		return true;
	at = origin ? strstr(origin, "://") : NULL;
	return origin && !(at && names_loopback(at + 3));
}

/* The head, terminated, into its fields. False: it is none. */
static bool cut_head(struct connection *c, char *at)
{
	char *end = strstr(at, "\r\n"), *space;
	size_t n = 0;

	*end = 0;
	c->x.method = at;
	space = strchr(at, ' ');
	if (!space || space == at)
		return false;
	*space = 0;
	c->x.target = space + 1;
	space = strchr(space + 1, ' ');
	if (!space || strncmp(space + 1, "HTTP/1.", 7) != 0 || *c->x.target != '/')
		return false;
	c->last = strcmp(space + 1, "HTTP/1.0") == 0;
	*space = 0;
	for (at = end + 2; *at; at = end + 2) {
		char *colon = strchr(at, ':');

		end = strstr(at, "\r\n");
		*end = 0;
		if (!colon || colon > end || colon == at || n == FRONT_FIELDS ||
		    strcspn(at, " \t") < (size_t)(colon - at))
			return false;
		*colon = 0;
		for (space = end; space > colon + 1 && strchr(" \t", space[-1]);)
			*--space = 0;
		c->x.fields[n].name = at;
		c->x.fields[n++].value = colon + 1 + strspn(colon + 1, " \t");
	}
	c->x.fields[n].name = NULL;
	return true;
}

static void refuse(struct connection *c, int status, const char *why)
{
	c->last = true;
	c->used = c->in.n;
	front_answer(&c->x, status, "text/plain", NULL, why, strlen(why));
}

/* How long the body is; false: nobody can tell, or it is too long. */
static bool body_size(struct connection *c, size_t *ret)
{
	const char *length = front_header(&c->x, "content-length");

	*ret = 0;
	if (front_header(&c->x, "transfer-encoding"))
		return false;
	if (!length)
		return true;
	if (!*length || length[strspn(length, "0123456789")] || strlen(length) > 9)
		return false;
	*ret = strtoul(length, NULL, 10);
	return *ret <= BODY_MOST;
}

/* Takes the next request of the buffer, if it is there. */
static bool next_request(struct connection *c)
{
	const char *end, *connection;
	size_t head, body;

	if (c->busy || c->dead || !c->in.n)
		return false;
	end = strstr(text_str(&c->in), "\r\n\r\n");
	head = end ? (size_t)(end - c->in.p) + 4 : 0;
	if (!end && c->in.n < HEAD_MOST && strlen(c->in.p) == c->in.n)
		return false;
	text_free(&c->head);
	if (head)
		text_add(&c->head, c->in.p, head - 2);
	if (!head || head > HEAD_MOST || !cut_head(c, (text_str(&c->head), c->head.p)) ||
	    !body_size(c, &body)) {
		refuse(c, 400, "this is no request that is understood here\n");
		return false;
	}
	if (c->in.n - head < body) {
		if (!c->told && front_header(&c->x, "expect"))
			text_puts(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
		c->told = true;
		return false;
	}
	connection = front_header(&c->x, "connection");
	c->last = c->last || (connection && strcasecmp(connection, "close") == 0);
	c->x.body = c->in.p + head;
	c->x.n = body;
	c->used = head + body;
	c->x.user = NULL;
	if (is_lured(&c->x)) {
		refuse(c, 403, "this is for programs on this machine\n");
		return false;
	}
	c->busy = true;
	return true;
}

static void take(struct connection *c)
{
	char buf[65536];
	ssize_t n = read(c->fd, buf, sizeof buf);
	size_t body;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0 || c->in.n + (size_t)n > HEAD_MOST + BODY_MOST + sizeof buf) {
		close_connection(c);
		return;
	}
	if (c->lingers) {
		c->used += (size_t)n;
		if (c->used > LINGER_MOST)
			close_connection(c);
		return;
	}
	body = c->busy ? (size_t)(c->x.body - c->in.p) : 0;
	text_add(&c->in, buf, (size_t)n);
	if (c->busy) /* of the request that is being answered; the buffer may have moved */
		c->x.body = c->in.p + body;
}

static void give(struct connection *c)
{
	size_t left = c->out.n - c->sent;
	ssize_t n = left ? write(c->fd, c->out.p + c->sent, left) : 0;

	if (n < 0 && errno != EINTR && errno != EAGAIN) {
		close_connection(c);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent == c->out.n)
		c->out.n = c->sent = 0;
}

/* Closing a socket that has something to read breaks it off, and the answer may be lost on its way. So the
 * client is told that there is nothing more, and its own end is waited for. */
static void linger(struct connection *c)
{
	if (c->lingers)
		return;
	c->lingers = shutdown(c->fd, SHUT_WR) == 0;
	if (!c->lingers)
		close_connection(c);
}

size_t front_poll(const struct front *f, struct pollfd *to)
{
	size_t n = 0;

	to[n++] = (struct pollfd){ .fd = f->fd, .events = POLLIN };
	for (size_t i = 0; i < CONNECTIONS; i++)
		to[n++] = (struct pollfd){
			.fd = f->all[i].fd,
			.events = (short)(POLLIN | (f->all[i].out.n ? POLLOUT : 0)),
		};
	return n;
}

void front_serve(struct front *f, const struct pollfd *polled, size_t n)
{
	for (size_t i = 0; i + 1 < n && i < CONNECTIONS; i++) {
		struct connection *c = &f->all[i];

		if (c->fd >= 0 && c->fd == polled[i + 1].fd &&
		    polled[i + 1].revents & (POLLIN | POLLHUP | POLLERR))
			take(c);
	}
	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &f->all[i];

		while (c->fd >= 0 && next_request(c))
			f->user.request(f->user.ctx, &c->x);
		if (c->fd >= 0 && c->out.n)
			give(c);
		if (c->fd >= 0 && c->dead && !c->out.n && c->last)
			linger(c);
		else if (c->fd >= 0 && c->dead && (c->busy || !c->out.n))
			close_connection(c);
	}
	if (n && polled[0].revents)
		accept_all(f);
}
