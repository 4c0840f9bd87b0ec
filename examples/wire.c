/* wire.c - a transport of your own: a server on a Unix socket, one client after the other. The
 * library sees bytes in and bytes out; descriptors, threads and waiting are the program's.
 *
 *	./wire /tmp/wire.sock &
 *	echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' |
 *		curl -sNm 1 --unix-socket /tmp/wire.sock telnet://wire
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int say(cleat_request *req)
{
	return cleat_reply_textf(req, "(%s)", cleat_arg_str(req, "text"));
}

static void serve(cleat_server *s, int fd)
{
	cleat_wire *w = cleat_wire_server(s, NULL);
	char chunk[4096];
	const void *out;
	ssize_t n, sent = 0;

	while (sent >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0) {
		if (cleat_wire_feed(w, chunk, (size_t)n) != CLEAT_OK)
			break;
		for (size_t m; sent >= 0 && (m = cleat_wire_peek(w, &out)) > 0;) {
			sent = send(fd, out, m, MSG_NOSIGNAL);
			cleat_wire_consume(w, sent > 0 ? (size_t)sent : 0);
		}
	}
	cleat_wire_free(w);
	close(fd);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("wire", "1.0.0", NULL);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "say(text: string)", .call = say });
	snprintf(at.sun_path, sizeof at.sun_path, "%s", argc > 1 ? argv[1] : "/tmp/wire.sock");
	unlink(at.sun_path);
	if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 4) != 0) {
		perror(at.sun_path);
		return 1;
	}
	for (int client; (client = accept(fd, NULL, NULL)) >= 0;)
		serve(s, client);
	cleat_server_free(s);
	return 1;
}
