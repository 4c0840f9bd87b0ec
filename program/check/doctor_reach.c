/* program/check/doctor_reach.c - is the program there, does the name resolve, does the address accept connections?
 *
 * Looks only: nothing is started, and nothing is written to a connection.
 */
#include "check/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECT_MS = 5000, SHOWN = 4 };

/* ---- a program ----------------------------------------------------------------------------------- */

static bool runnable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Where PATH has it; NULL: nowhere. Kept. */
static const char *in_path(const char *name, const char *path)
{
	while (path && *path) {
		size_t n = strcspn(path, ":");
		const char *full = n ? keepf("%.*s/%s", (int)n, path, name) : keepf("./%s", name);

		if (runnable(full))
			return full;
		path += n + (path[n] == ':');
	}
	return NULL;
}

static const char *path_of(const struct target *t)
{
	for (size_t i = 0; i < t->env.n; i++)
		if (strncmp(t->env.at[i], "PATH=", 5) == 0)
			return t->env.at[i] + 5;
	return getenv("PATH");
}

static bool reach_program(struct doctor *d, const struct target *t, const cleat_client_options *o)
{
	const char *name = t->argv[0], *found;
	struct stat st;

	if (o->cwd && (stat(o->cwd, &st) != 0 || !S_ISDIR(st.st_mode))) {
		doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "program",
			    "make it, or correct \"cwd\" (--cwd)",
			    "the directory %s, where it should run, is not there", o->cwd);
		return false;
	}
	if (strchr(name, '/')) {
		found = o->cwd && *name != '/' ? keepf("%s/%s", o->cwd, name) : name;
		found = runnable(found) || !runnable(name) ? found : name;
		if (stat(found, &st) == 0 && !runnable(found)) {
			doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "program",
				    S_ISDIR(st.st_mode) ? "name a program in it"
							: "chmod +x makes it one",
				    "%s exists, but you may not run it", found);
			return false;
		}
		found = runnable(found) ? found : NULL;
	} else {
		found = in_path(name, path_of(t));
	}
	if (!found) {
		doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "program",
			    strpbrk(name, " \t") ? "put the words after the program into \"args\""
			    : strchr(name, '/')  ? "correct the path"
						 : "install it, or give its whole path",
			    "%s is %s", name, strchr(name, '/') ? "not there" : "not in PATH");
		return false;
	}
	doctor_step(d, DOCTOR_OK, 0, "program", NULL, "%s", found);
	return true;
}

/* ---- an address ---------------------------------------------------------------------------------- */

/* Waits for a connection that was begun. 0, or errno. */
static int doctor_reach_finish(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof error;
	int n = poll(&poll_fd, 1, timeout_ms);

	if (n == 0)
		return ETIMEDOUT;
	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		return errno;
	return error;
}

static int try_connect(int family, const struct sockaddr *address, socklen_t size, int timeout_ms)
{
	int fd = socket(family, SOCK_STREAM, 0), error = 0;

	if (fd < 0)
		return errno;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect(fd, address, size) != 0)
		error = errno == EINPROGRESS ? doctor_reach_finish(fd, timeout_ms) : errno;
	close(fd);
	return error;
}

static bool reach_socket(struct doctor *d, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *name = keepf("%.*s", (int)strcspn(path, "#"), path);
	int error = ENAMETOOLONG;

	if (strlen(name) < sizeof address.sun_path) {
		memcpy(address.sun_path, name, strlen(name) + 1);
		error = try_connect(AF_UNIX, (struct sockaddr *)&address, sizeof address,
				    CONNECT_MS);
	}
	if (error) {
		doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "socket",
			    error == ENOENT         ? "start the server, or correct the path"
			    : error == ECONNREFUSED ? "nobody listens there: start the server"
			    : error == EACCES       ? "its owner has to let you"
						    : "correct the path",
			    "%s: %s", name, strerror(error));
		return false;
	}
	doctor_step(d, DOCTOR_OK, 0, "socket", NULL, "%s accepts connections", name);
	return true;
}

static const char *address_text(const struct addrinfo *a)
{
	char host[128] = "?";

	getnameinfo(a->ai_addr, a->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
	return keepf("%s", host);
}

static void tell_addresses(struct doctor *d, const char *host, const struct addrinfo *all)
{
	struct text t = { 0 };
	unsigned n = 0;

	for (const struct addrinfo *a = all; a; a = a->ai_next, n++)
		if (n < SHOWN)
			text_printf(&t, "%s%s", n ? ", " : "", address_text(a));
	if (n > SHOWN)
		text_printf(&t, " and %u more", n - SHOWN);
	doctor_step(d, DOCTOR_OK, 0, "DNS", NULL, "%s is %s", host, text_str(&t));
	text_free(&t);
}

/* The first that answers; NULL: none does. What is wrong with those before it is added to *bad. */
static const struct addrinfo *first_open(const struct addrinfo *all, int timeout_ms,
					 struct text *bad, int *ret_error)
{
	const struct addrinfo *a;

	for (a = all; a; a = a->ai_next) {
		*ret_error = try_connect(a->ai_family, a->ai_addr, a->ai_addrlen, timeout_ms);
		if (!*ret_error)
			break;
		text_printf(bad, "%s%s: %s", bad->n ? "; " : "", address_text(a),
			    strerror(*ret_error));
	}
	return a;
}

/* One address that answers is enough; those before it that do not are worth a warning. */
static bool reach_addresses(struct doctor *d, const struct addrinfo *all, const char *port,
			    int timeout_ms)
{
	struct text bad = { 0 };
	int error = 0;
	const struct addrinfo *a = first_open(all, timeout_ms, &bad, &error);

	if (!a)
		doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "TCP",
			    error == ECONNREFUSED ? "start the server, or correct the port"
						  : "look for a firewall or a wrong address",
			    "nobody answers on port %s (%s)", port, text_str(&bad));
	else if (bad.n)
		doctor_step(d, DOCTOR_WARNING, 0, "TCP",
			    "take the addresses that do not answer out of DNS",
			    "%s answers on port %s, others do not (%s)", address_text(a), port,
			    text_str(&bad));
	else
		doctor_step(d, DOCTOR_OK, 0, "TCP", NULL, "%s answers on port %s", address_text(a),
			    port);
	text_free(&bad);
	return a != NULL;
}

static bool reach_host(struct doctor *d, const char *host, const char *port, int timeout_ms)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
	int rc = getaddrinfo(host, port, &hints, &all);
	bool good;

	if (rc != 0) {
		doctor_step(d, DOCTOR_FAILED, EXIT_UNREACHABLE, "DNS",
			    rc == EAI_AGAIN ? "look at the network: the name server does not answer"
					    : "correct the name in the URL",
			    "%s: %s", host, gai_strerror(rc));
		return false;
	}
	tell_addresses(d, host, all);
	good = reach_addresses(d, all, port, timeout_ms);
	freeaddrinfo(all);
	return good;
}

/* scheme://[user@]host[:port]/..., where no port is given `port`; both are kept. False: it is not that. */
static bool split(const char *url, const char *port, const char **ret_host, const char **ret_port)
{
	const char *at = strstr(url, "://"), *end, *user, *host, *close;
	size_t n;

	if (!at)
		return false;
	at += 3;
	end = at + strcspn(at, "/?#");
	for (user = at; user < end; user++)
		if (*user == '@')
			at = user + 1;
	host = at;
	close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
	n = close ? (size_t)(close - at - 1) : strcspn(at, ":/?#");
	at = close ? close + 1 : at + n;
	host += close != NULL;
	*ret_host = keepf("%.*s", (int)n, host);
	*ret_port = *at == ':' && at + 1 < end ? keepf("%.*s", (int)(end - at - 1), at + 1) : port;
	return n > 0;
}

/* Through a proxy neither name nor address of the server are our business, but those of the proxy are. */
static bool reach_proxy(struct doctor *d, const char *proxy, const char *from, const char *server,
			int timeout_ms)
{
	static const char fix[] =
		"start the proxy, or correct its address; --proxy \"\" goes without, so does "
		"the server's name in $no_proxy";
	const char *url = strstr(proxy, "://") ? proxy : keepf("http://%s", proxy), *host, *port;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
	struct text bad = { 0 };
	int rc, error = 0;
	bool good;

	/* libcurl's port where none is given, CURLOPT_PROXY(3). */
	if (!split(url, strncasecmp(url, "https", 5) == 0 ? "443" : "1080", &host, &port)) {
		doctor_step(d, DOCTOR_FAILED, EXIT_USAGE, "proxy", "http://host:port",
			    "%s is not set to a proxy's address", from);
		return false;
	}
	rc = getaddrinfo(host, port, &hints, &all);
	good = rc == 0 && first_open(all, timeout_ms, &bad, &error);
	if (rc != 0)
		text_puts(&bad, gai_strerror(rc));
	if (good)
		doctor_step(
			d, DOCTOR_OK, 0, "proxy", NULL,
			"%s says that requests go through %s port %s, which answers; the proxy looks up %s",
			from, host, port, server);
	else
		doctor_step(
			d, DOCTOR_FAILED, EXIT_UNREACHABLE, "proxy", fix,
			"%s says that requests go through %s port %s, where nobody answers (%s)",
			from, host, port, text_str(&bad));
	if (all)
		freeaddrinfo(all);
	text_free(&bad);
	return good;
}

bool doctor_reach(struct doctor *d, const struct target *t, const cleat_client_options *o)
{
	bool https = t->url && strncasecmp(t->url, "https", 5) == 0;
	int timeout = o->connect_timeout_ms && o->connect_timeout_ms < CONNECT_MS
			      ? (int)o->connect_timeout_ms
			      : CONNECT_MS;
	const char *host, *port, *proxy, *from;

	if (t->argv)
		return reach_program(d, t, o);
	if (strncasecmp(t->url, "unix:", 5) == 0 || strncasecmp(t->url, "unix-stream:", 12) == 0)
		return reach_socket(d, strchr(t->url, ':') + 1);
	if (!split(t->url, https ? "443" : "80", &host, &port)) {
		doctor_step(d, DOCTOR_FAILED, EXIT_USAGE, "configuration", "http://host:port/path",
			    "%s is no address", t->url);
		return false;
	}
	proxy = strncasecmp(t->url, "tcp:", 4) == 0 ? NULL
						    : doctor_proxy(o->proxy, host, https, &from);
	return proxy ? reach_proxy(d, proxy, from, host, timeout)
		     : reach_host(d, host, port, timeout);
}
