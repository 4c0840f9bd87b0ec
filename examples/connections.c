/* connections.c - clients come and go on a Unix socket; something is kept for each of them meanwhile.
 *
 *	./connections /tmp/seats.sock &
 *	echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' |
 *		curl -sNm 1 --unix-socket /tmp/seats.sock telnet://seats
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static void opened(cleat_connection *c, void *userdata)
{
	(void)userdata;
	cleat_connection_set_userdata(c, calloc(1, sizeof(int)), free); /* a count */
}

static void closed(cleat_connection *c, void *userdata)
{
	int *orders = cleat_connection_userdata(c);

	(void)userdata;
	fprintf(stderr, "a client has left after %d orders\n", *orders);
}

static int order(cleat_request *req)
{
	int *orders = cleat_connection_userdata(cleat_request_connection(req));

	return cleat_reply_textf(req, "%s, your order %d", cleat_arg_str(req, "dish"), ++*orders);
}

int main(int argc, char **argv)
{
	const cleat_server_options o = { .on_open = opened, .on_close = closed };
	const cleat_attach_options handed_over = { .own_fds = true };
	cleat_server *s = cleat_server_new("connections", "1.0.0", &o);
	cleat_loop *loop = cleat_server_loop(s);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int ear = socket(AF_UNIX, SOCK_STREAM, 0);
	struct pollfd fds[] = { { cleat_loop_fd(loop), POLLIN, 0 }, { ear, POLLIN, 0 } };

	cleat_server_add_tool(s,
			      &(cleat_tool){ .signature = "order(dish: string)", .call = order });
	snprintf(at.sun_path, sizeof at.sun_path, "%s", argc > 1 ? argv[1] : "/tmp/seats.sock");
	if (bind(ear, (struct sockaddr *)&at, sizeof at) != 0 || listen(ear, 16) != 0)
		return perror(at.sun_path), 1;
	while (poll(fds, CLEAT_COUNT(fds), cleat_loop_timeout(loop)) >= 0) {
		int client = fds[1].revents ? accept(ear, NULL, NULL) : -1;

		if (client >= 0)
			cleat_server_attach(s, client, client, &handed_over);
		cleat_loop_step(loop, 0); /* CLEAT_ECLOSED: nobody is here at the moment */
	}
}
