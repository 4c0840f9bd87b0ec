/* tests/unit/test_server_loop.h - a server that runs its loop on a thread of its own, with the test as
 * its client over a socket; and waiting for conditions, with a deadline that only a broken library
 * reaches.
 */
#ifndef TESTS_TEST_SERVER_LOOP_H
#define TESTS_TEST_SERVER_LOOP_H

#include "unit/server/test_server.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 60000 };

/* Gives up the processor for a moment; false when the deadline is over. */
static inline bool patience(struct timespec *since)
{
	struct timespec now, nap = { .tv_nsec = 200000 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!since->tv_sec)
		*since = now;
	nanosleep(&nap, NULL);
	return (now.tv_sec - since->tv_sec) * 1000 < DEADLINE_MS;
}

#define wait_until(condition)                                                                      \
	do {                                                                                       \
		struct timespec since_ = { 0 };                                                    \
		while (!(condition))                                                               \
			if (!patience(&since_)) {                                                  \
				print_error("never: %s (line %d)\n", #condition, __LINE__);        \
				abort();                                                           \
			}                                                                          \
	} while (0)

/* ---- a server on a loop of its own thread ------------------------------------------------------------ */

struct served {
	struct rig rig; /* notes and server; no wire */
	int client, server;
	cleat_loop *loop;
	pthread_t thread;
	int rc;
	char in[1 << 20];
	size_t n_in;
};

static inline void *run_loop(void *arg)
{
	struct served *v = arg;

	v->rc = cleat_loop_run(v->loop);
	return NULL;
}

static inline void send_line(struct served *v, const char *line)
{
	size_t n = strlen(line);

	while (n) {
		ssize_t k = write(v->client, line, n);

		assert_true(k > 0);
		line += k;
		n -= (size_t)k;
	}
	assert_int_equal(write(v->client, "\n", 1), 1);
}

/* Reads until `part` came. */
static inline const char *expect(struct served *v, const char *part)
{
	while (!strstr(v->in, part)) {
		struct pollfd p = { .fd = v->client, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, DEADLINE_MS) != 1) {
			print_error("never came: %s; in: %s\n", part, v->in);
			abort();
		}
		n = read(v->client, v->in + v->n_in, sizeof v->in - 1 - v->n_in);
		assert_true(n > 0);
		v->n_in += (size_t)n;
		v->in[v->n_in] = '\0';
	}
	return v->in;
}

static inline struct served *serve(const cleat_tool *tools, size_t n,
				   const cleat_server_options *opts)
{
	struct served *v = calloc(1, sizeof *v);
	int ends[2];

	assert_non_null(v);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	v->client = ends[0];
	v->server = ends[1];
	rig_server(&v->rig, opts);
	assert_int_equal(cleat_server_add_tools(v->rig.s, tools, n), CLEAT_OK);
	assert_int_equal(cleat_server_attach_fds(v->rig.s, v->server, v->server), CLEAT_OK);
	v->loop = cleat_server_loop(v->rig.s);
	assert_int_equal(pthread_create(&v->thread, NULL, run_loop, v), 0);
	send_line(v, REQUEST("\"i\"", "initialize",
			     "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"));
	send_line(v, NOTE("notifications/initialized", ""));
	expect(v, "\"id\":\"i\"");
	return v;
}

/* The client goes; the loop ends by itself. */
static inline void leave(struct served *v)
{
	if (v->client >= 0)
		close(v->client);
	pthread_join(v->thread, NULL);
	cleat_server_free(v->rig.s);
	close(v->server);
	free(v);
}

#endif
