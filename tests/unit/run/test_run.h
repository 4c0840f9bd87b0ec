/* test_run.h - a server with a few tools, for the tests of what runs it: wires, descriptors, standard
 * input and output, the whole program.
 */
#ifndef TEST_RUN_H
#define TEST_RUN_H

#include "support.h"
#include "support_files.h"
#include "test.h"

#include <cleat/cleat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a server to test with ---------------------------------------------------------------- */

static pthread_t loop_thread_id;
static atomic_int worker_calls, inline_calls;
static cleat_request *deferred[32];
static atomic_int n_deferred;
static int ready_fd = -1; /* a byte when a call has begun */

static inline int hello(cleat_request *req)
{
	return cleat_reply_textf(req, "hello %s", cleat_arg_str(req, "name"));
}

static inline int big(cleat_request *req)
{
	size_t n = (size_t)cleat_arg_int(req, "n");
	char *z = cleat_request_alloc(req, n + 1);

	if (z)
		memset(z, 'z', n);
	return cleat_reply_text(req, z);
}

static inline int where(cleat_request *req)
{
	bool here = pthread_equal(pthread_self(), loop_thread_id);

	atomic_fetch_add(here ? &inline_calls : &worker_calls, 1);
	return cleat_reply_text(req, here ? "inline" : "worker");
}

static inline void say_ready(void)
{
	if (ready_fd >= 0)
		assert_int_equal(write(ready_fd, "r", 1), 1);
}

static inline int until_cancelled(cleat_request *req)
{
	struct pollfd p = { .fd = cleat_request_cancel_fd(req), .events = POLLIN };

	say_ready();
	poll(&p, 1, -1);
	return cleat_reply_text(req, cleat_request_cancelled(req) ? "cancelled" : "?");
}

static inline int for_ever(cleat_request *req)
{
	say_ready();
	for (;;)
		poll(NULL, 0, -1);
	return cleat_reply_text(req, "");
}

static inline int later(cleat_request *req)
{
	cleat_request_defer(req);
	deferred[atomic_fetch_add(&n_deferred, 1)] = req;
	return CLEAT_PENDING;
}

static inline int finish_later(cleat_request *req)
{
	cleat_request_finish(deferred[0], cleat_reply_text(deferred[0], "by another"));
	return cleat_reply_text(req, "finished");
}

static cleat_wire *fed_wire;

static inline int misuse(cleat_request *req)
{
	int feed = fed_wire ? cleat_wire_feed(fed_wire, "\n", 1) : CLEAT_OK;
	int run = fed_wire ? CLEAT_OK : cleat_server_run_stdio(cleat_request_server(req));

	return cleat_reply_textf(req, "feed %d, run %d", feed, run);
}

static inline int print(cleat_request *req)
{
	struct stat in, null;

	printf("printed by a tool\n");
	fflush(stdout);
	if (fstat(0, &in) || stat("/dev/null", &null))
		return cleat_reply_error(req, "stat");
	return cleat_reply_text(req, in.st_rdev == null.st_rdev ? "no input" : "input");
}

static inline cleat_server *new_server(const cleat_server_options *o)
{
	cleat_server *s = cleat_server_new("test", "1.2.3", o);
	const cleat_tool tools[] = {
		{ .signature = "hello(name: string)", .call = hello },
		{ .signature = "big(n: integer)", .call = big },
		{ .name = "where", .call = where, .blocking = true },
		{ .name = "until_cancelled", .call = until_cancelled, .blocking = true },
		{ .name = "for_ever", .call = for_ever, .blocking = true },
		{ .name = "later", .call = later },
		{ .name = "finish_later", .call = finish_later },
		{ .name = "print", .call = print },
		{ .name = "misuse", .call = misuse },
	};

	loop_thread_id = pthread_self();
	atomic_store(&worker_calls, 0);
	atomic_store(&inline_calls, 0);
	atomic_store(&n_deferred, 0);
	memset(deferred, 0, sizeof deferred); /* those of the test before are gone */
	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	return s;
}

#define INITIALIZE                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                     \
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                  \
	"\"clientInfo\":{\"name\":\"t\",\"version\":\"0\"}}}\n"

static inline const char *call(int id, const char *tool, const char *arguments)
{
	static char text[512];

	snprintf(
		text, sizeof text,
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":%s}}\n",
		id, tool, arguments);
	return text;
}

/* ---- descriptors -------------------------------------------------------------------------- */

static inline void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static inline void attach(cleat_server *s, int *other)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(cleat_server_attach_fds(s, ends[0], ends[0]), CLEAT_OK);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	other[0] = ends[0];
	other[1] = ends[1];
}

/* Steps until `lines` lines have come. */
static inline void collect(cleat_loop *l, int fd, size_t lines, char *to, size_t room)
{
	size_t n = 0, seen = 0;

	while (seen < lines) {
		ssize_t k = read(fd, to + n, room - 1 - n);

		for (ssize_t i = 0; i < k; i++)
			seen += to[n + (size_t)i] == '\n';
		n += k > 0 ? (size_t)k : 0;
		if (k == 0)
			break;
		if (seen < lines)
			assert_int_equal(cleat_loop_step(l, 100), CLEAT_OK);
	}
	to[n] = 0;
	assert_int_equal(seen, lines);
}

static inline int warm_up(void **state)
{
	(void)state;
	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two descriptors for the process */
	return 0;
}

#endif
