/* embed.c - a server inside a program that has a poll() loop of its own: no thread, no second loop.
 * The program counts seconds; the client asks how many.
 *
 *	examples/try embed uptime
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static int ticks;

static int uptime(cleat_request *req)
{
	return cleat_reply_textf(req, "%d ticks", ticks);
}

/* The sooner of two timeouts, where -1 means never. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

int main(void)
{
	cleat_server *s = cleat_server_new("embed", "1.0.0", NULL);
	cleat_loop *loop = cleat_server_loop(s);
	int rc;

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "uptime()", .call = uptime });
	rc = cleat_server_attach_fds(s, STDIN_FILENO, STDOUT_FILENO);
	while (rc == CLEAT_OK) {
		struct pollfd fds[] = {
			{ .fd = cleat_loop_fd(loop), .events = POLLIN },
			/* ... and the program's own descriptors */
		};
		int ready = poll(fds, CLEAT_COUNT(fds), sooner(cleat_loop_timeout(loop), 1000));

		if (ready < 0 && errno != EINTR)
			break;
		if (ready == 0)
			ticks++;               /* the program's own work */
		rc = cleat_loop_step(loop, 0); /* CLEAT_ECLOSED: the client has gone */
	}
	if (rc != CLEAT_ECLOSED)
		fprintf(stderr, "embed: %s\n", cleat_strstatus(rc));
	cleat_server_free(s);
	return rc == CLEAT_ECLOSED ? 0 : 1;
}
