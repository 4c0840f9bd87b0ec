/* http_embed.c - a server on the network inside a program that has a poll() loop of its own: no thread,
 * no second loop, and none of the program's signals, descriptors or memory is touched. The program
 * counts the lines of its input; clients ask how many there were.
 *
 *	tail -f /var/log/syslog | ./http_embed 127.0.0.1:8080
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static int lines;

static int count(cleat_request *req)
{
	return cleat_reply_textf(req, "%d lines", lines);
}

/* The program's own work. False: there is no more of it. */
static bool work(int fd)
{
	char chunk[4096];
	ssize_t n = read(fd, chunk, sizeof chunk);

	for (ssize_t i = 0; i < n; i++)
		lines += chunk[i] == '\n';
	return n > 0;
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("http-embed", "1.0.0", NULL);
	cleat_loop *loop = cleat_server_loop(s);
	struct pollfd fds[] = { { .fd = cleat_loop_fd(loop), .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };
	int rc;

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "count()", .call = count });
	rc = cleat_server_listen_http(s, argc > 1 ? argv[1] : "8080", NULL);
	if (rc == CLEAT_OK)
		fprintf(stderr, "listening on %s\n", cleat_server_http_url(s, 0));
	while (rc == CLEAT_OK && poll(fds, CLEAT_COUNT(fds), cleat_loop_timeout(loop)) >= 0) {
		if (fds[1].revents && !work(fds[1].fd)) {
			fds[1].fd = -1;       /* poll() leaves it out */
			cleat_server_stop(s); /* what runs may finish, then: CLEAT_ECLOSED */
		}
		rc = cleat_loop_step(loop, 0);
	}
	if (rc != CLEAT_ECLOSED)
		fprintf(stderr, "http_embed: %s\n", cleat_server_error(s)->message);
	cleat_server_free(s);
	return rc == CLEAT_ECLOSED ? 0 : 1;
}
