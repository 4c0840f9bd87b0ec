/* net/listen.c - see listen.h.
 *
 * Addresses are split by uri/reference.h, so that what is not a host for a client is none here. Names
 * are looked up while the program starts, where waiting does no harm. Not here: accepting
 * (httpd/accept.c), and what systemd hands over (net/systemd.c).
 */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE /* SO_REUSEPORT */

#include "net/listen.h"

#include "base/error.h"
#include "uri/reference.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEFAULT_BACKLOG = 511, DEFAULT_MODE = 0600 };

union any_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage room;
};

/* ---- reading an address ------------------------------------------------------------------- */

static bool read_number(struct str text, unsigned max, unsigned *ret)
{
	unsigned value = 0;

	if (text.n == 0)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		value = value * 10 + (unsigned)(text.p[i] - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return true;
}

static bool listen_copy(char *to, size_t room, struct str text)
{
	if (text.n >= room)
		return false;
	memcpy(to, text.p, text.n);
	to[text.n] = '\0';
	return true;
}

static bool is_loopback_number(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int parse_unix(const char *file, struct address *a, cleat_error *err)
{
	if (!*file)
		return error_set(err, CLEAT_EINVAL,
				 "unix: has to be followed by a file name: "
				 "unix:/run/cleat.sock");
	if (!listen_copy(a->file, sizeof a->file, str_of(file)))
		return error_set(
			err, CLEAT_EINVAL,
			"the name of a unix socket has at most %zu bytes, this has %zu: %s",
			sizeof a->file - 1, strlen(file), file);
	a->loopback = true;
	return CLEAT_OK;
}

static int parse_fd(const char *digits, struct address *a, cleat_error *err)
{
	unsigned fd;

	if (!read_number(str_of(digits), 1u << 20, &fd))
		return error_set(err, CLEAT_EINVAL,
				 "fd: has to be followed by the number of a descriptor: fd:3");
	a->fd = (int)fd;
	return CLEAT_OK;
}

static int not_an_address(const char *text, cleat_error *err)
{
	return error_set(err, CLEAT_EINVAL,
			 "\"%.60s\" is not an address to listen on; use for example 8080, "
			 "127.0.0.1:8080, [::1]:8080, https://host:8443/mcp or unix:/path",
			 text);
}

/* Host, port and path; a port is needed where no scheme brings one. */
static int take_parts(const char *text, const struct uri *u, struct address *a, cleat_error *err)
{
	struct str host = u->host;

	if (u->userinfo.p || u->query.p || u->fragment.p)
		return error_set(err, CLEAT_EINVAL,
				 "\"%s\" has a user, a query or a fragment, which an address to "
				 "listen on cannot have",
				 text);
	if (host.n >= 2 && host.p[0] == '[')
		host = (struct str){ host.p + 1, host.n - 2 };
	if (host.n == 0)
		host = STR_LIT("127.0.0.1");
	if (memchr(host.p, '%', host.n) || !listen_copy(a->host, sizeof a->host, host) ||
	    !listen_copy(a->path, sizeof a->path, u->path))
		return not_an_address(text, err);
	if (u->port.n && !read_number(u->port, 65535, &a->port))
		return error_set(err, CLEAT_EINVAL, "\"%s\": a port is a number up to 65535", text);
	if (!u->port.n && text[strspn(text, "0123456789")] == '\0')
		return error_set(err, CLEAT_EINVAL, "\"%.60s\": a port is a number up to 65535",
				 text);
	if (!u->port.n && !u->scheme.p)
		return error_set(err, CLEAT_EINVAL, "\"%s\" has no port: write %s:8080", text,
				 text);
	if (!u->port.n)
		a->port = a->tls ? 443 : 80;
	a->loopback = is_loopback_number(a->host);
	return CLEAT_OK;
}

int address_parse(const char *text, struct address *ret, cleat_error *err)
{
	char full[sizeof ret->host + sizeof ret->path + 32];
	struct str t = str_of(text);
	unsigned number;
	struct uri u;
	bool url;

	*ret = (struct address){ .fd = -1 };
	if (!text || t.n == 0)
		return not_an_address("", err);
	if (str_starts(t, "unix:"))
		return parse_unix(text + 5, ret, err);
	if (str_starts(t, "fd:"))
		return parse_fd(text + 3, ret, err);
	ret->tls = str_starts(t, "https://");
	url = ret->tls || str_starts(t, "http://");
	/* What is not a URL is the authority of one. */
	if (t.n >= sizeof full - 4 || (!url && strstr(text, "://")))
		return not_an_address(text, err);
	snprintf(full, sizeof full, "%s%s%s", url ? "" : "//",
		 read_number(t, 65535, &number) ? ":" : "", text);
	if (!uri_split(str_of(full), 0, &u) || !u.authority.p)
		return not_an_address(text, err);
	return take_parts(text, &u, ret, err);
}

/* ---- sockets ------------------------------------------------------------------------------ */

static bool listen_prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static int new_socket(int family)
{
	int fd = socket(family, SOCK_STREAM, 0);

	if (fd >= 0 && !listen_prepare(fd)) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* What the system said, in words that help. */
static int refused(cleat_error *err, const struct address *a, int error)
{
	const char *text = strerror(error);

	if (error == EADDRINUSE && a->host[0])
		error_set(err, CLEAT_EIO,
			  "address already in use: another program listens on port %u", a->port);
	else if (error == EACCES && a->host[0] && a->port < 1024)
		error_set(err, CLEAT_EIO,
			  "permission denied: port %u needs CAP_NET_BIND_SERVICE, ports from 1024 "
			  "on do not",
			  a->port);
	else if (error == EADDRNOTAVAIL)
		error_set(err, CLEAT_EIO, "this machine does not have the address %s", a->host);
	else
		error_set(err, CLEAT_EIO, "cannot listen on %s: %s", a->file[0] ? a->file : a->host,
			  text);
	if (err)
		err->os_errno = error;
	return CLEAT_EIO;
}

static bool is_loopback(const union any_address *s)
{
	const unsigned char *six = s->in6.sin6_addr.s6_addr;

	switch (s->any.sa_family) {
	case AF_UNIX: return true;
	case AF_INET: return ntohl(s->in.sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		return IN6_IS_ADDR_LOOPBACK(&s->in6.sin6_addr) ||
		       (IN6_IS_ADDR_V4MAPPED(&s->in6.sin6_addr) && six[12] == 127);
	default: return false;
	}
}

/* Port, reach and text from the socket itself. */
static int describe(struct listener *l)
{
	struct address *a = &l->address;
	char host[INET6_ADDRSTRLEN] = "";
	union any_address s = { 0 };
	socklen_t n = sizeof s;

	if (getsockname(l->fd, &s.any, &n))
		return errno;
	a->loopback = is_loopback(&s);
	if (s.any.sa_family == AF_UNIX) {
		if (!a->file[0])
			snprintf(a->file, sizeof a->file, "%.*s", (int)sizeof a->file - 1,
				 s.un.sun_path);
		snprintf(l->text, sizeof l->text, "unix:%s", a->file);
		return 0;
	}
	if (s.any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &s.in6.sin6_addr, host, sizeof host);
	else
		inet_ntop(AF_INET, &s.in.sin_addr, host, sizeof host);
	a->port = ntohs(s.any.sa_family == AF_INET6 ? s.in6.sin6_port : s.in.sin_port);
	if (!a->host[0])
		snprintf(a->host, sizeof a->host, "%s", host);
	snprintf(l->text, sizeof l->text, strchr(a->host, ':') ? "%s://[%s]:%u" : "%s://%s:%u",
		 a->tls ? "https" : "http", a->host, a->port);
	return 0;
}

static int listen_start(struct listener *l, int fd, const struct listen_options *o)
{
	if (listen(fd, o->backlog > 0 ? o->backlog : DEFAULT_BACKLOG))
		return errno;
	l->fd = fd;
	return describe(l);
}

/* ---- TCP ---------------------------------------------------------------------------------- */

/* Where the system does not know it, nothing is lost: see listener_again(). */
static void reuse_port(int fd)
{
#if defined(SO_REUSEPORT)
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &(int){ 1 }, sizeof(int));
#else
	(void)fd;
#endif
}

static bool reuses_port(int fd)
{
	int on = 0;
#if defined(SO_REUSEPORT)
	socklen_t n = sizeof on;

	if (getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, &n))
		return false;
#else
	(void)fd;
#endif
	return on != 0;
}

/* The first socket is bound before it may share the port (`join` false): so a second program learns
 * that the port is taken, and does not get half of the connections. */
static int open_one(struct listener *l, const struct sockaddr *to, socklen_t n, bool join,
		    const struct listen_options *o)
{
	int fd = new_socket(to->sa_family), on = 1, error = 0;

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (join)
		reuse_port(fd);
	if (bind(fd, to, n))
		error = errno;
	if (o->reuse_port)
		reuse_port(fd);
	if (!error)
		error = listen_start(l, fd, o);
	if (error) {
		close(fd);
		l->fd = -1;
	}
	return error;
}

static int open_tcp(struct listener *l, const struct listen_options *o, cleat_error *err)
{
	struct addrinfo wanted = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM },
			*found = NULL;
	int rc, error = EADDRNOTAVAIL;
	char port[16];

	wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
	snprintf(port, sizeof port, "%u", l->address.port);
	rc = getaddrinfo(l->address.host, port, &wanted, &found);
	if (rc) {
		error_set(err, CLEAT_EIO, "the name %s is not known here: %s", l->address.host,
			  rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
		return CLEAT_EIO;
	}
	for (struct addrinfo *ai = found; ai && error; ai = ai->ai_next)
		error = open_one(l, ai->ai_addr, ai->ai_addrlen, false, o);
	freeaddrinfo(found);
	return error ? refused(err, &l->address, error) : CLEAT_OK;
}

/* ---- unix sockets ------------------------------------------------------------------------- */

/* What is after the file: 0 nothing (left over), EEXIST a server, or why it cannot be told. */
static int probe(const struct sockaddr_un *un)
{
	struct stat st;
	int fd, error;

	if (lstat(un->sun_path, &st))
		return errno == ENOENT ? 0 : errno;
	if (!S_ISSOCK(st.st_mode))
		return ENOTSOCK;
	fd = new_socket(AF_UNIX);
	if (fd < 0)
		return errno;
	error = connect(fd, (const struct sockaddr *)un, sizeof *un) ? errno : 0;
	close(fd);
	if (error == ECONNREFUSED || error == ENOENT)
		return 0;
	/* EAGAIN: it has more callers than it can take. */
	return error == 0 || error == EAGAIN || error == EINPROGRESS ? EEXIST : error;
}

static int bind_file(int fd, const struct sockaddr_un *un)
{
	int error;

	if (bind(fd, (const struct sockaddr *)un, sizeof *un) == 0)
		return 0;
	if (errno != EADDRINUSE)
		return errno;
	error = probe(un);
	if (error)
		return error;
	if (unlink(un->sun_path) && errno != ENOENT)
		return errno;
	return bind(fd, (const struct sockaddr *)un, sizeof *un) ? errno : 0;
}

/* The mode is set before the file exists (Linux takes it over from the socket) and once more after,
 * for what the umask took away: there is no moment in which others can connect. */
static int open_file(struct listener *l, int fd, const struct sockaddr_un *un,
		     const struct listen_options *o)
{
	mode_t mode = (mode_t)(o->mode ? o->mode : DEFAULT_MODE);
	struct stat st;
	int error;

	if (fchmod(fd, mode))
		return errno;
	error = bind_file(fd, un);
	if (error)
		return error;
	l->unlink = true;
	if (chmod(un->sun_path, mode) || lstat(un->sun_path, &st))
		return errno;
	l->dev = (uint64_t)st.st_dev;
	l->ino = (uint64_t)st.st_ino;
	return listen_start(l, fd, o);
}

static int open_unix(struct listener *l, const struct listen_options *o, cleat_error *err)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *file = l->address.file;
	int fd, error;

	if (!listen_copy(un.sun_path, sizeof un.sun_path, str_of(file)))
		return error_set(err, CLEAT_EINVAL, "the file name is too long: %s", file);
	fd = new_socket(AF_UNIX);
	error = fd < 0 ? errno : open_file(l, fd, &un, o);
	if (!error)
		return CLEAT_OK;
	if (l->unlink)
		unlink(un.sun_path);
	if (fd >= 0)
		close(fd);
	l->fd = -1;
	l->unlink = false;
	if (error == EEXIST)
		return error_set(err, CLEAT_EEXIST, "another server already listens on %s", file);
	if (error == ENOTSOCK)
		return error_set(err, CLEAT_EIO, "%s exists and is not a socket", file);
	return refused(err, &l->address, error);
}

/* ---- sockets that were handed over -------------------------------------------------------- */

static int open_fd(struct listener *l, cleat_error *err)
{
	int fd = l->address.fd, listening = 0, type = 0, error;
	socklen_t n = sizeof listening, m = sizeof type;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &n) || !listening ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &m) || type != SOCK_STREAM)
		return error_set(err, CLEAT_EINVAL, "descriptor %d is not a listening socket", fd);
	l->fd = fd;
	error = listen_prepare(fd) ? describe(l) : errno;
	if (error) {
		l->fd = -1;
		return refused(err, &l->address, error);
	}
	return CLEAT_OK;
}

int listener_open(const struct address *a, const struct listen_options *o, struct listener *ret,
		  cleat_error *err)
{
	static const struct listen_options defaults = { 0 };

	*ret = (struct listener){ .fd = -1, .address = *a };
	if (!o)
		o = &defaults;
	if (a->fd >= 0)
		return open_fd(ret, err);
	if (a->file[0])
		return open_unix(ret, o, err);
	return open_tcp(ret, o, err);
}

int listener_again(const struct listener *first, struct listener *ret, cleat_error *err)
{
	static const struct listen_options how = { .reuse_port = true };
	union any_address s = { 0 };
	socklen_t n = sizeof s;

	*ret = *first;
	ret->fd = -1;
	ret->unlink = false;
	if (reuses_port(first->fd) && getsockname(first->fd, &s.any, &n) == 0 &&
	    open_one(ret, &s.any, n, true, &how) == 0)
		return CLEAT_OK;
	ret->fd = fcntl(first->fd, F_DUPFD_CLOEXEC, 0);
	return ret->fd < 0 ? refused(err, &ret->address, errno) : CLEAT_OK;
}

/* A file that somebody else has put there meanwhile is not ours. */
static bool is_ours(const struct listener *l)
{
	struct stat st;

	return lstat(l->address.file, &st) == 0 && (uint64_t)st.st_dev == l->dev &&
	       (uint64_t)st.st_ino == l->ino;
}

void listener_close(struct listener *l)
{
	if (l->fd < 0)
		return;
	if (l->unlink && is_ours(l))
		unlink(l->address.file);
	close(l->fd);
	l->fd = -1;
	l->unlink = false;
}
