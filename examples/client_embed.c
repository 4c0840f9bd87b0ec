/* client_embed.c - a client inside a program that has a poll() loop of its own. The program reads lines
 * of two numbers, and goes on reading while the server adds them.
 *
 *	echo 2 3 | build/release/examples/client_embed build/release/examples/hello
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static size_t under_way;

static void on_done(cleat_call *call, cleat_result *r)
{
	(void)call;
	puts(cleat_result_status(r) == CLEAT_OK ? cleat_result_text(r)
						: cleat_result_error(r)->message);
	fflush(stdout);
	cleat_result_free(r);
	under_way--;
}

/* The program's own work. False when there is no more. */
static bool read_line(cleat_client *c)
{
	cleat_call_options o = { .on_done = on_done };
	char line[100];
	double a, b;

	if (!fgets(line, sizeof line, stdin))
		return false;
	if (sscanf(line, "%lf %lf", &a, &b) == 2)
		under_way += cleat_client_startf(c, &o, "add", "{a: %g, b: %g}", a, b) != NULL;
	return true;
}

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./hello", NULL };
	cleat_client *c = cleat_client_spawn(server, NULL);
	cleat_loop *loop = cleat_client_loop(c);
	struct pollfd fds[] = { { .fd = cleat_loop_fd(loop), .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() knows nothing of what stdio has read ahead */
	while (under_way || fds[1].fd >= 0) {
		if (poll(fds, CLEAT_COUNT(fds), cleat_loop_timeout(loop)) < 0)
			break;
		if (fds[1].revents && !read_line(c))
			fds[1].fd = -1; /* poll() leaves it out */
		cleat_loop_step(loop, 0);
	}
	cleat_client_free(c);
	return 0;
}
