/* load_http.c - a client that is many clients, for scripts/load and scripts/bench:
 *
 *	load_http call PORT modern|legacy     one tools/call of add(2, 40) must work; prints the session
 *	                                      that it was made in, or -
 *	load_http streams PORT PID N          N idle event streams, half of each era; then a list changes
 *	load_http rejects PORT PID N          N requests that are refused, for four reasons in turns
 *	load_http slow PORT PID N             N connections that never finish a header, beside a client
 *	                                      that means it
 *
 * The server is at 127.0.0.1 and is process PID. Prints figures, one "NAME VALUE" a line; what they
 * may be is the script's business. An answer other than the expected one ends it with status 2.
 */
#define _GNU_SOURCE
#define LOAD_NAME "load_http"
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	IN = 4096,         /* bytes of an answer that are looked at */
	OPENING = 128,     /* connections that are being made at once */
	REJECTING = 64,    /* connections that are refused */
	OVERSIZE = 17000,  /* bytes of a header that is too large */
	SLOW_SECONDS = 20, /* for which the slow ones go on */
	BYTE_MS = 2000,    /* between two bytes of a slow one */
	TICK_MS = 10,
	SAMPLES = 100000,
	PATIENCE_MS = 60000
};

static struct sockaddr_in server;
static long server_pid;

/* Kilobytes of the server's memory. */
static long rss_kb(void)
{
	char path[64];
	long size = 0, resident = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/statm", server_pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2)
		fail("the server has gone");
	fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- requests ------------------------------------------------------------------------------ */

#define TAKES                                                                                      \
	"Content-Type: application/json\r\n"                                                       \
	"Accept: application/json, text/event-stream\r\n"
#define LEGACY "MCP-Protocol-Version: 2025-11-25\r\n"
#define META                                                                                       \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"                                  \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{},"                        \
	"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"load\",\"version\":\"1\"}}"

static const char initialize[] =
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
	"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"load\",\"version\":\"1\"}}}";
static const char initialized[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
static const char listen_to[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"
	"\"notifications\":{\"toolsListChanged\":true}," META "}}";

struct text {
	size_t n;
	char p[20000];
};

/* `headers`: besides Host and what every POST has; `body` NULL: a GET. */
static void make_request(struct text *t, const char *host, const char *headers, const char *body)
{
	int n = body ? snprintf(t->p, sizeof t->p,
				"POST /mcp HTTP/1.1\r\nHost: %s\r\n" TAKES
				"%sContent-Length: %zu\r\n\r\n%s",
				host, headers, strlen(body), body)
		     : snprintf(t->p, sizeof t->p,
				"GET /mcp HTTP/1.1\r\nHost: %s\r\n" TAKES "%s\r\n", host, headers);

	t->n = (size_t)n;
}

static void make_legacy(struct text *t, const char *session, const char *body)
{
	char headers[128];

	snprintf(headers, sizeof headers, LEGACY "Mcp-Session-Id: %s\r\n", session);
	make_request(t, "127.0.0.1", headers, body);
}

static void make_modern(struct text *t, const char *method, const char *name, const char *body)
{
	char headers[256];

	snprintf(headers, sizeof headers,
		 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s", method,
		 name ? "Mcp-Name: " : "", name ? name : "", name ? "\r\n" : "");
	make_request(t, "127.0.0.1", headers, body);
}

static void make_call(struct text *t, const char *tool, const char *arguments)
{
	char body[512];

	snprintf(body, sizeof body,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"%s\",\"arguments\":%s," META "}}",
		 tool, arguments);
	make_modern(t, "tools/call", tool, body);
}

/* ---- one client ---------------------------------------------------------------------------- */

struct client {
	int fd; /* -1: not connected */
	unsigned step;
	bool legacy, noted;
	size_t have;
	char session[64];
	char in[IN + 1];
};

static void client_connect(struct client *c)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	int on = 1;

	c->have = 0;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&server, sizeof server))
		fail("connect: %s", strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	/* Ports are used again at once: there will be more connections than ports. */
	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

static void client_close(struct client *c)
{
	close(c->fd);
	c->fd = -1;
}

static void client_send(struct client *c, const struct text *t)
{
	if (send(c->fd, t->p, t->n, MSG_NOSIGNAL) != (ssize_t)t->n)
		fail("send: %s", strerror(errno));
}

/* What is there; false at the end. */
static bool client_read(struct client *c)
{
	ssize_t n = recv(c->fd, c->in + c->have, IN - c->have, 0);

	if (n > 0)
		c->have += (size_t)n;
	c->in[c->have] = '\0';
	return n > 0;
}

/* Of a field in the header; "" when it is not there. Ours are written the way we look for them. */
static const char *field(const struct client *c, const char *name)
{
	const char *end = strstr(c->in, "\r\n\r\n"), *at = strstr(c->in, name);

	return at && end && at < end ? at + strlen(name) : "";
}

/* The status of an answer that is complete (of a stream: whose header is), and takes it away; 0: not
 * yet. `body` may be NULL. */
static int client_answer(struct client *c, char body[IN])
{
	char *end = strstr(c->in, "\r\n\r\n");
	size_t head, length;
	int status;

	if (!end)
		return 0;
	head = (size_t)(end - c->in) + 4;
	length = strtoul(field(c, "\r\nContent-Length: "), NULL, 10);
	if (c->have < head + length)
		return 0;
	status = atoi(c->in + 9);
	if (body)
		snprintf(body, IN, "%.*s", (int)length, c->in + head);
	c->have -= head + length;
	memmove(c->in, c->in + head + length, c->have + 1);
	return status;
}

/* Sends, and waits for the answer. */
static int client_ask(struct client *c, const struct text *t, char body[IN])
{
	int status = 0;

	client_send(c, t);
	while (!status && client_read(c))
		status = client_answer(c, body);
	return status;
}

static void take_session(struct client *c)
{
	snprintf(c->session, sizeof c->session, "%.32s", field(c, "\r\nMcp-Session-Id: "));
	if (strlen(c->session) != 32)
		fail("initialize gave no session: %s", c->in);
}

/* ---- call ---------------------------------------------------------------------------------- */

static int mode_call(const char *era)
{
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"add\",\"arguments\":{\"a\":2,\"b\":40}}}";
	static struct client c;
	static struct text t;
	char body[IN] = "", *session = c.session;
	int status;

	client_connect(&c);
	if (strcmp(era, "legacy") == 0) {
		make_request(&t, "127.0.0.1", "", initialize);
		client_send(&c, &t);
		while (!strstr(c.in, "\r\n\r\n") && client_read(&c))
			;
		take_session(&c);
		while (!client_answer(&c, NULL) && client_read(&c))
			;
		make_legacy(&t, c.session, call);
	} else {
		strcpy(session, "-");
		make_call(&t, "add", "{\"a\":2,\"b\":40}");
	}
	status = client_ask(&c, &t, body);
	if (status != 200 || !strstr(body, "\"text\":\"42\""))
		fail("the call failed with status %d: %s", status, body);
	puts(session);
	return 0;
}

/* ---- streams ------------------------------------------------------------------------------- */

enum step { GREETING, GREETED, OPENS, LISTENS }; /* what is awaited */

static void stream_begin(struct client *c)
{
	static struct text t;

	client_connect(c);
	if (c->legacy) {
		make_request(&t, "127.0.0.1", "", initialize);
		c->step = GREETING;
	} else {
		make_modern(&t, "subscriptions/listen", NULL, listen_to);
		c->step = OPENS;
	}
	client_send(c, &t);
}

/* An answer has come: the next step. */
static void stream_go_on(struct client *c, int status)
{
	static struct text t;

	if (status != (c->step == GREETED ? 202 : 200))
		fail("a stream got status %d in step %u", status, c->step);
	switch (c->step++) {
	case GREETING: make_legacy(&t, c->session, initialized); break;
	case GREETED: make_legacy(&t, c->session, NULL); break;
	default: return;
	}
	client_send(c, &t);
}

/* Bytes of a stream: has it told of the change? */
static void stream_look(struct client *c, size_t *noted)
{
	enum { TAIL = 32 };

	if (!c->noted && strstr(c->in, "tools/list_changed")) {
		c->noted = true;
		++*noted;
	}
	if (c->have > TAIL) {
		memmove(c->in, c->in + c->have - TAIL, TAIL + 1);
		c->have = TAIL;
	}
}

struct streams {
	struct client *all;
	size_t n, begun, open, noted;
	int epoll;
};

static void streams_begin_some(struct streams *s)
{
	while (s->begun < s->n && s->begun - s->open < OPENING) {
		struct client *c = &s->all[s->begun];
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

		c->legacy = s->begun++ % 2;
		stream_begin(c);
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->fd, &e);
	}
}

static void stream_ready(struct streams *s, struct client *c)
{
	int status;

	if (!client_read(c))
		fail("a stream ended: %s", strerror(errno));
	while (c->step < LISTENS) {
		if (c->step == GREETING && strstr(c->in, "\r\n\r\n"))
			take_session(c);
		status = client_answer(c, NULL);
		if (!status)
			return;
		stream_go_on(c, status);
		s->open += c->step == LISTENS;
	}
	stream_look(c, &s->noted);
}

/* Until *what is n. */
static void streams_run(struct streams *s, const size_t *what)
{
	struct epoll_event events[256];
	double limit = now_ms() + PATIENCE_MS;

	while (*what < s->n) {
		int n;

		streams_begin_some(s);
		n = epoll_wait(s->epoll, events, 256, 1000);
		for (int i = 0; i < n; i++)
			stream_ready(s, events[i].data.ptr);
		if (now_ms() > limit)
			fail("only %zu of %zu streams after a minute", *what, s->n);
	}
}

static int mode_streams(size_t n)
{
	struct streams s = { .all = calloc(n, sizeof *s.all), .n = n, .epoll = epoll_create1(0) };
	static struct client other;
	static struct text t;
	char body[IN];
	long before, after;
	double start;

	client_connect(&other);
	make_call(&t, "test_trigger_tool_change", "{}");
	if (!s.all || client_ask(&other, &t, body) != 200)
		fail("there is no tool test_trigger_tool_change");
	before = rss_kb();
	start = now_ms();
	streams_run(&s, &s.open);
	printf("streams %zu\nopened_ms %.0f\n", s.open, now_ms() - start);
	after = rss_kb();
	printf("kib_per_stream %.2f\n", (double)(after - before) / (double)n);
	start = now_ms();
	if (client_ask(&other, &t, body) != 200)
		fail("the change was refused: %s", body);
	streams_run(&s, &s.noted);
	printf("notified_ms %.0f\n", now_ms() - start);
	printf("kib_per_stream_notified %.2f\n", (double)(rss_kb() - before) / (double)n);
	free(s.all);
	return 0;
}

/* ---- rejects ------------------------------------------------------------------------------- */

static const struct {
	const char *what;
	int status;
} reasons[] = { { "wrong Host", 403 },
		{ "wrong session", 404 },
		{ "oversize header", 431 },
		{ "bad JSON", 400 } };

enum { REASONS = sizeof reasons / sizeof *reasons };

static struct text refused[REASONS];

static void make_refused(void)
{
	static char large[OVERSIZE + 16];

	memset(large, 'a', OVERSIZE);
	memcpy(large, "X-Large: ", 9);
	memcpy(large + OVERSIZE, "\r\n", 3);
	make_request(&refused[0], "evil.example", LEGACY, initialize);
	make_legacy(&refused[1], "00000000000000000000000000000000", initialized);
	make_request(&refused[2], "127.0.0.1", large, initialize);
	make_modern(&refused[3], "tools/call", "add", "{\"jsonrpc\":\"2.0\",");
}

static void reject_next(struct client *c, int epoll)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	if (c->fd < 0) {
		client_connect(c);
		epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e);
	}
	c->step = (c->step + 1) % REASONS;
	client_send(c, &refused[c->step]);
}

/* True when an answer was complete. */
static bool reject_ready(struct client *c)
{
	bool open = client_read(c);
	int status = client_answer(c, NULL);

	if (status && status != reasons[c->step].status)
		fail("%s was answered with %d, not %d", reasons[c->step].what, status,
		     reasons[c->step].status);
	if (!open && !status && c->have)
		fail("%s: the connection was closed in the middle", reasons[c->step].what);
	/* Who sends too much is hung up on. */
	if (!open || status == 431)
		client_close(c);
	return status != 0;
}

static void reject(struct client *all, int epoll, size_t n)
{
	struct epoll_event events[REJECTING];
	size_t sent = 0, answered = 0;

	for (; sent < REJECTING && sent < n; sent++)
		reject_next(&all[sent], epoll);
	while (answered < n) {
		int ready = epoll_wait(epoll, events, REJECTING, PATIENCE_MS);

		if (ready <= 0)
			fail("%zu requests have no answer", sent - answered);
		for (int i = 0; i < ready; i++) {
			struct client *c = events[i].data.ptr;

			if (!reject_ready(c))
				continue;
			answered++;
			if (sent < n) {
				sent++;
				reject_next(c, epoll);
			}
		}
	}
}

static int mode_rejects(size_t n)
{
	static struct client all[REJECTING];
	int epoll = epoll_create1(0);
	double start;
	long before;

	make_refused();
	for (unsigned i = 0; i < REJECTING; i++) {
		all[i].fd = -1;
		all[i].step = i;
	}
	reject(all, epoll, n / 100 + REJECTING); /* buffers have their sizes after that */
	before = rss_kb();
	start = now_ms();
	reject(all, epoll, n);
	printf("rejected %zu\nrejected_ms %.0f\n", n, now_ms() - start);
	printf("rejected_growth_kb %ld\n", rss_kb() - before);
	return 0;
}

/* ---- slow ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The client that means it: calls on a connection that it keeps, and now and then on a new one. */
static void measure_latency(double until)
{
	static double samples[SAMPLES];
	static struct client c;
	static struct text t;
	char body[IN];
	size_t n = 0;

	make_call(&t, "test_simple_text", "{}");
	client_connect(&c);
	while (now_ms() < until && n < SAMPLES) {
		double start = now_ms();

		if (n % 10 == 9) {
			client_close(&c);
			client_connect(&c);
		}
		if (client_ask(&c, &t, body) != 200)
			fail("a call failed beside slow clients: %s", body);
		samples[n++] = now_ms() - start;
		usleep(1000);
	}
	qsort(samples, n, sizeof *samples, by_size);
	printf("calls %zu\np50_ms %.2f\np99_ms %.2f\nmax_ms %.2f\n", n, samples[n / 2],
	       samples[n * 99 / 100], samples[n - 1]);
	fflush(stdout);
}

static void slow_begin(struct client *c, int epoll)
{
	static const char beginning[] = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = c };

	client_connect(c);
	epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &e);
	send(c->fd, beginning, sizeof beginning - 1, MSG_NOSIGNAL);
}

static void slow_run(struct client *all, size_t n, int epoll, double until)
{
	struct epoll_event events[256];
	size_t turn = 0, per_tick = n * TICK_MS / BYTE_MS + 1, lost = 0;

	while (now_ms() < until) {
		int ready = epoll_wait(epoll, events, 256, TICK_MS);

		for (int i = 0; i < ready; i++) { /* 408, and the end */
			client_close(events[i].data.ptr);
			lost++;
		}
		for (size_t i = 0; i < per_tick; i++, turn++) {
			struct client *c = &all[turn % n];

			if (c->fd < 0)
				slow_begin(c, epoll);
			else
				send(c->fd, "a", 1, MSG_NOSIGNAL);
		}
	}
	printf("slow %zu\nslow_hung_up %zu\n", n, lost);
}

/* A process of its own, which begins when it is told to: what the slow ones need must not disturb it. */
static pid_t fork_measurer(int *ret_start)
{
	int start[2];
	pid_t child;
	char go;

	if (pipe(start))
		fail("pipe: %s", strerror(errno));
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0) {
		close(start[1]);
		if (read(start[0], &go, 1) == 1)
			measure_latency(now_ms() + SLOW_SECONDS * 1000);
		_exit(0);
	}
	close(start[0]);
	*ret_start = start[1];
	return child;
}

static int mode_slow(size_t n)
{
	struct client *all = calloc(n, sizeof *all);
	int epoll = epoll_create1(0), start, status;
	pid_t child = fork_measurer(&start);

	if (!all)
		fail("out of memory");
	for (size_t i = 0; i < n; i++)
		slow_begin(&all[i], epoll);
	if (write(start, "", 1) != 1)
		fail("write: %s", strerror(errno));
	slow_run(all, n, epoll, now_ms() + SLOW_SECONDS * 1000);
	if (waitpid(child, &status, 0) != child || status != 0)
		fail("the client beside the slow ones failed");
	free(all);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 3 ? argv[1] : "";
	size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;

	server = (struct sockaddr_in){ .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (argc > 3) {
		server.sin_port = htons((uint16_t)atoi(argv[2]));
		server_pid = atol(argv[3]);
	}
	if (strcmp(mode, "call") == 0)
		return mode_call(argv[3]);
	if (strcmp(mode, "streams") == 0 && n > 0)
		return mode_streams(n);
	if (strcmp(mode, "rejects") == 0 && n > 0)
		return mode_rejects(n);
	if (strcmp(mode, "slow") == 0 && n > 0)
		return mode_slow(n);
	fprintf(stderr, "usage: load_http call|streams|rejects|slow PORT ...\n");
	return 2;
}
