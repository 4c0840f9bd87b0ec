/* wire_client.c - a client over a transport of your own: here a Unix socket, it could be a serial line or
 * a WebSocket. The library sees bytes in and bytes out; the program moves them and waits.
 *
 *	./wire /tmp/wire.sock &
 *	./wire_client /tmp/wire.sock hello
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

static void on_done(cleat_call *call, cleat_result *r)
{
	int *rc = cleat_call_userdata(call);

	*rc = cleat_result_status(r);
	puts(*rc == CLEAT_OK ? cleat_result_text(r) : cleat_result_error(r)->message);
	cleat_result_free(r);
}

static void step(cleat_wire *w, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int ms = cleat_wire_poll(w); /* what was begun, and timeouts */
	char chunk[4096];
	const void *out;
	ssize_t n = 1;

	for (size_t m; n > 0 && (m = cleat_wire_peek(w, &out)) > 0;) {
		n = send(fd, out, m, MSG_NOSIGNAL);
		cleat_wire_consume(w, n > 0 ? (size_t)n : 0);
	}
	if (n > 0 && poll(&p, 1, ms) > 0 && (n = recv(fd, chunk, sizeof chunk, 0)) > 0)
		cleat_wire_feed(w, chunk, (size_t)n);
	if (n <= 0)
		cleat_wire_eof(w); /* calls that wait end with this */
}

int main(int argc, char **argv)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), rc = CLEAT_ENOMEM;
	cleat_call_options o = { .on_done = on_done, .userdata = &rc };
	cleat_wire *w = cleat_wire_client(NULL, NULL);

	snprintf(at.sun_path, sizeof at.sun_path, "%s", argc > 1 ? argv[1] : "/tmp/wire.sock");
	if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
		perror(at.sun_path);
	else
		cleat_client_startf(cleat_wire_get_client(w), &o, "say", "{text: %s}",
				    argc > 2 ? argv[2] : "hello");
	while (cleat_wire_inflight(w) > 0)
		step(w, fd);
	cleat_wire_free(w);
	return rc != CLEAT_OK;
}
