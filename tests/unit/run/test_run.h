/* test_run.h - a server with a few tools, for the tests of what runs it: wires, descriptors, standard
 * input and output, the whole program.
 */
#ifndef TEST_RUN_H
#define TEST_RUN_H

#include "messages.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <cleat/cleat.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
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
	printf("printf in a tool\n");
	puts("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"forged\"}");
	fflush(stdout);
	if (write(STDOUT_FILENO, "write in a tool\n", 16) != 16)
		return CLEAT_EIO;
	if (system("echo child of a tool; cat") != 0) /* would eat the protocol's input */
		return CLEAT_EIO;
	printf("not flushed yet\n");
	return cleat_reply_text(req, "noise made");
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

/* ---- HTTP, as a client sends it ----------------------------------------------------------- */

static inline int dial(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons((unsigned short)port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	return fd;
}

/* `headers`: each with its end. `connection`: what becomes of it when the client sends no more: "close",
 * then it may still wait for the answer, or "keep-alive". */
static inline void send_post_on(int fd, const char *connection, const char *target,
				const char *headers, const char *body)
{
	char text[2048];

	snprintf(text, sizeof text,
		 "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		 "Accept: application/json, text/event-stream\r\nConnection: %s\r\n%s"
		 "Content-Length: %zu\r\n\r\n%s",
		 target, connection, headers, strlen(body), body);
	put(fd, text);
}

static inline void send_post(int fd, const char *target, const char *headers, const char *body)
{
	send_post_on(fd, "close", target, headers, body);
}

/* 2026-07-28. */
static inline void send_call(int fd, const char *tool, const char *arguments, const char *headers)
{
	char all[512], body[1024];

	snprintf(all, sizeof all,
		 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n%s",
		 tool, headers);
	snprintf(body, sizeof body,
		 REQUEST("1", "tools/call", MODERN ",\"name\":\"%s\",\"arguments\":%s"), tool,
		 arguments);
	send_post(fd, "/mcp", all, body);
}

/* ---- a server that is served -------------------------------------------------------------- */

/* A server, and the client's end of a connection that is initialized: a wire, or descriptors. */
struct served {
	cleat_server *s;
	cleat_wire *w;
	int fds[2];
};

static inline void serve_wire(struct served *v, const cleat_server_options *so,
			      const cleat_wire_options *wo)
{
	*v = (struct served){ .s = new_server(so), .fds = { -1, -1 } };
	v->w = cleat_wire_server(v->s, wo);
	assert_int_equal(cleat_wire_feed(v->w, INITIALIZE, strlen(INITIALIZE)), CLEAT_OK);
	cleat_wire_consume(v->w, cleat_wire_peek(v->w, NULL));
}

static inline void serve_fds(struct served *v, const cleat_server_options *so)
{
	*v = (struct served){ .s = new_server(so) };
	attach(v->s, v->fds);
	put(v->fds[1], INITIALIZE);
}

static inline void served_end(struct served *v)
{
	cleat_wire_free(v->w);
	cleat_server_free(v->s);
	for (int i = 0; i < 2 && v->fds[i] >= 0; i++)
		close(v->fds[i]);
}

/* Cases on one; WITH: with members of cleat_wire_options, of cleat_server_options. */
#define WIRE_TEST(name) WIRE_TEST_WITH(name, 0)
#define FDS_TEST(name)  FDS_TEST_WITH(name, 0)
#define WIRE_TEST_WITH(name, ...)                                                                  \
	static void name##_on(cleat_server *s, cleat_wire *w);                                     \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct served v;                                                                   \
                                                                                                   \
		serve_wire(&v, NULL, &(cleat_wire_options){ __VA_ARGS__ });                        \
		name##_on(v.s, v.w);                                                               \
		served_end(&v);                                                                    \
	}                                                                                          \
	static void name##_on(__attribute__((unused)) cleat_server *s,                             \
			      __attribute__((unused)) cleat_wire *w)
#define FDS_TEST_WITH(name, ...)                                                                   \
	static void name##_on(struct served *v, cleat_server *s, cleat_loop *l, int *fds);         \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct served v;                                                                   \
                                                                                                   \
		serve_fds(&v, &(cleat_server_options){ __VA_ARGS__ });                             \
		name##_on(&v, v.s, cleat_server_loop(v.s), v.fds);                                 \
		served_end(&v);                                                                    \
	}                                                                                          \
	static void name##_on(                                                                     \
		__attribute__((unused)) struct served *v, __attribute__((unused)) cleat_server *s, \
		__attribute__((unused)) cleat_loop *l, __attribute__((unused)) int *fds)

static inline int warm_up(void **state)
{
	(void)state;
	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two descriptors for the process */
	return 0;
}

#endif
