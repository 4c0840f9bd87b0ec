/* http_threads.h - a server whose connections are served by several threads, on a thread of its own,
 * and clients that may run on any thread.
 *
 * A failed check on another thread cannot unwind the test, so must() ends the process.
 */
#ifndef TESTS_HTTP_THREADS_H
#define TESTS_HTTP_THREADS_H

#include "messages.h"

#include <cleat/cleat.h>
#include <cleat/http.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, PATIENCE_S = 60 };

#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Until it is so; alarm() ends a test in which it never is. */
#define await(condition)                                                                           \
	do {                                                                                       \
		while (!(condition))                                                               \
			nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);                  \
	} while (0)

/* ---- memory ------------------------------------------------------------------------------- */

/* For all threads. (fail_alloc of support.h is for one.) */
struct shared_alloc {
	cleat_allocator hook;
	atomic_long live, countdown; /* countdown: the one that fails; 0 and below: none */
	atomic_bool forever;
	atomic_long failures;
};

static inline bool fails(struct shared_alloc *p)
{
	bool hit = atomic_fetch_sub(&p->countdown, 1) == 1 || atomic_load(&p->forever);

	if (hit)
		atomic_fetch_add(&p->failures, 1);
	return hit;
}

static inline void *shared_malloc(void *ctx, size_t size)
{
	struct shared_alloc *p = ctx;
	void *got = fails(p) ? NULL : malloc(size);

	if (got)
		atomic_fetch_add(&p->live, 1);
	return got;
}

static inline void *shared_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	struct shared_alloc *p = ctx;

	return size > old_size && fails(p) ? NULL : realloc(ptr, size);
}

static inline void shared_free(void *ctx, void *ptr)
{
	atomic_fetch_sub(&((struct shared_alloc *)ctx)->live, 1);
	free(ptr);
}

static inline void shared_begin(struct shared_alloc *p)
{
	memset(p, 0, sizeof *p);
	p->hook = (cleat_allocator){
		.malloc = shared_malloc, .realloc = shared_realloc, .free = shared_free, .ctx = p
	};
}

/* ---- the server --------------------------------------------------------------------------- */

struct site {
	cleat_server *s;
	struct shared_alloc mem;
	pthread_t thread;
	int rc;
	int port;
	char file[108]; /* of a unix socket, or "" */
	size_t fds, tasks;
	/* what its tools saw */
	atomic_uintptr_t home; /* the thread that inline handlers run on */
	atomic_int strangers;  /* calls of them on another one */
	atomic_int begun, cancelled;
	atomic_int tickets;      /* of calls that hang */
	atomic_bool hangs[1024]; /* by ticket */
	int gate[2];             /* what `gated` waits for */
};

static inline size_t count_in(const char *directory)
{
	DIR *d = opendir(directory);
	size_t n = 0;

	must(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static inline struct site *site_of(cleat_request *req)
{
	return cleat_server_userdata(cleat_request_server(req));
}

static inline int add_call(cleat_request *req)
{
	static _Thread_local char here;
	struct site *v = site_of(req);
	uintptr_t none = 0, me = (uintptr_t)&here;

	if (!atomic_compare_exchange_strong(&v->home, &none, me) && none != me)
		atomic_fetch_add(&v->strangers, 1);
	return cleat_reply_textf(req, "sum=%lld",
				 (long long)(cleat_arg_int(req, "a") + cleat_arg_int(req, "b")));
}

static inline int steps_call(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n");

	for (int64_t i = 1; i <= n; i++)
		cleat_request_progress(req, (double)i, (double)n, NULL);
	return cleat_reply_textf(req, "steps=%lld", (long long)n);
}

static inline int hang_call(cleat_request *req)
{
	struct pollfd p = { .fd = cleat_request_cancel_fd(req), .events = POLLIN };
	struct site *v = site_of(req);

	atomic_store(&v->hangs[cleat_arg_int(req, "ticket")], true);
	while (!cleat_request_cancelled(req))
		poll(&p, p.fd >= 0, 10);
	atomic_fetch_add(&v->cancelled, 1);
	return cleat_reply_text(req, "cancelled");
}

static inline int gated_call(cleat_request *req)
{
	struct site *v = site_of(req);
	char c;

	atomic_fetch_add(&v->begun, 1);
	return cleat_reply_text(req, read(v->gate[0], &c, 1) == 1 ? "let through" : "?");
}

static inline int large_call(cleat_request *req)
{
	size_t n = (size_t)cleat_arg_int(req, "n");
	char *text = malloc(n + 1);

	must(text);
	memset(text, 'x', n);
	text[n] = '\0';
	cleat_reply_text(req, text);
	free(text);
	return CLEAT_OK;
}

static const cleat_tool site_tools[] = {
	{ .signature = "add(a: integer, b: integer)", .call = add_call },
	{ .signature = "steps(n: integer)", .call = steps_call, .blocking = true },
	{ .signature = "hang(ticket: integer)", .call = hang_call, .blocking = true },
	{ .signature = "gated()", .call = gated_call, .blocking = true },
	{ .signature = "large(n: integer)", .call = large_call },
};

static inline void *say_who(void *arg)
{
	must(readlink("/proc/thread-self", (char *)arg + 6, 100) > 0);
	return NULL;
}

/* What libraries and sanitizers open and start once, and keep. A thread that was joined is listed for
 * a moment longer. */
static inline void warm_up(void)
{
	char path[128] = "/proc/";
	pthread_t id;

	cleat_loop_free(cleat_loop_new(NULL));
	must(pthread_create(&id, NULL, say_who, path) == 0);
	pthread_join(id, NULL);
	await(access(path, F_OK) != 0);
}

/* Not running yet. `address` NULL: any port. */
static inline int site_try(struct site *v, const char *address, cleat_http_options o)
{
	cleat_server_options so = { .userdata = v, .allocator = &v->mem.hook, .workers = 64 };
	const char *url;
	int rc;

	memset(v, 0, sizeof *v);
	alarm(PATIENCE_S);
	shared_begin(&v->mem);
	warm_up();
	must(pipe(v->gate) == 0);
	v->fds = count_in("/proc/self/fd");
	v->tasks = count_in("/proc/self/task");
	v->s = cleat_server_new("threads", "1", &so);
	must(cleat_server_add_tools(v->s, site_tools, CLEAT_COUNT(site_tools)) == CLEAT_OK);
	rc = cleat_server_listen_http(v->s, address ? address : "127.0.0.1:0", &o);
	url = cleat_server_http_url(v->s, 0);
	if (!rc && strncmp(url, "unix:", 5) == 0)
		snprintf(v->file, sizeof v->file, "%s", url + 5);
	else if (!rc)
		v->port = atoi(strrchr(url, ':') + 1);
	return rc;
}

static inline void *site_run(void *arg)
{
	struct site *v = arg;

	v->rc = cleat_server_run(v->s);
	return NULL;
}

static inline void site_start(struct site *v)
{
	must(pthread_create(&v->thread, NULL, site_run, v) == 0);
}

static inline void site_open(struct site *v, const char *address, cleat_http_options o)
{
	if (o.threads == 0)
		o.threads = THREADS;
	must(site_try(v, address, o) == CLEAT_OK);
	site_start(v);
}

/* Nothing is left: no memory, no descriptor, no thread. */
static inline void site_free(struct site *v)
{
	cleat_server_free(v->s);
	must(atomic_load(&v->mem.live) == 0);
	must(count_in("/proc/self/fd") == v->fds);
	await(count_in("/proc/self/task") == v->tasks); /* see warm_up() */
	must(atomic_load(&v->strangers) == 0);
	close(v->gate[0]);
	close(v->gate[1]);
	alarm(0);
}

static inline void site_stop(struct site *v)
{
	cleat_server_stop(v->s);
	pthread_join(v->thread, NULL);
	must(v->rc == CLEAT_OK);
	site_free(v);
}

/* ---- clients ------------------------------------------------------------------------------ */

struct client {
	struct site *v;
	int fd;
	char in[1 << 17];
	size_t n;
	bool eof;
};

struct answer {
	int status; /* 0: the connection ended before there was one */
	bool whole;
	char session[64];
	char body[1 << 16];
	size_t n;
};

/* NULL when there is no server any more. */
static inline struct client *try_dial(struct site *v)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons((unsigned short)v->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = PATIENCE_S };
	bool local = v->file[0];
	struct client *c = calloc(1, sizeof *c);

	must(c);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", v->file);
	c->v = v;
	c->fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(c->fd >= 0);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (connect(c->fd, local ? (struct sockaddr *)&un : (struct sockaddr *)&in,
		    local ? sizeof un : sizeof in) == 0)
		return c;
	close(c->fd);
	free(c);
	return NULL;
}

static inline struct client *dial(struct site *v)
{
	struct client *c = try_dial(v);

	must(c);
	return c;
}

static inline void hang_up(struct client *c)
{
	close(c->fd);
	free(c);
}

static inline void put(struct client *c, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		ssize_t k = send(c->fd, text, n, MSG_NOSIGNAL);

		if (k <= 0)
			return; /* it was closed; whoever reads will see */
		text += k;
		n -= (size_t)k;
	}
}

static inline bool more(struct client *c)
{
	ssize_t k;

	must(c->n < sizeof c->in - 1);
	do /* a wait with a limit ends without a signal, too: when the thread has work of an io_uring */
		k = c->eof ? 0 : recv(c->fd, c->in + c->n, sizeof c->in - 1 - c->n, 0);
	while (k < 0 && errno == EINTR);
	must(k >= 0 || errno == ECONNRESET || errno == EPIPE);
	c->eof = k <= 0;
	c->n += k > 0 ? (size_t)k : 0;
	c->in[c->n] = '\0';
	return k > 0;
}

static inline void drop_front(struct client *c, size_t n)
{
	memmove(c->in, c->in + n, c->n - n + 1);
	c->n -= n;
}

/* Reads until it came, and forgets everything up to its end. */
static inline bool await_text(struct client *c, const char *part)
{
	char *at;

	while ((at = strstr(c->in, part)) == NULL)
		if (!more(c))
			return false;
	drop_front(c, (size_t)(at - c->in) + strlen(part));
	return true;
}

static inline bool have(struct client *c, size_t n)
{
	while (c->n < n)
		if (!more(c))
			return false;
	return true;
}

static inline bool read_chunks(struct client *c, struct answer *a)
{
	for (;;) {
		size_t size, line;

		while (!strstr(c->in, "\r\n"))
			if (!more(c))
				return false;
		size = strtoul(c->in, NULL, 16);
		line = (size_t)(strstr(c->in, "\r\n") - c->in) + 2;
		if (!have(c, line + size + 2))
			return false;
		must(a->n + size < sizeof a->body);
		memcpy(a->body + a->n, c->in + line, size);
		a->n += size;
		drop_front(c, line + size + 2);
		if (size == 0)
			return true;
	}
}

static inline void read_answer(struct client *c, struct answer *a)
{
	const char *at;
	size_t n;

	memset(a, 0, offsetof(struct answer, body));
	a->n = 0;
	while (!strstr(c->in, "\r\n\r\n"))
		if (!more(c))
			return;
	a->status = atoi(c->in + 9);
	at = strstr(c->in, "Mcp-Session-Id: ");
	if (at)
		sscanf(at, "Mcp-Session-Id: %63[^\r]", a->session);
	at = strstr(c->in, "Content-Length: ");
	n = at ? (size_t)atol(at + 16) : 0;
	if (strstr(c->in, "Transfer-Encoding: chunked")) {
		await_text(c, "\r\n\r\n");
		a->whole = read_chunks(c, a);
	} else {
		await_text(c, "\r\n\r\n");
		a->whole = have(c, n);
		a->n = n < c->n ? n : c->n;
		must(a->n < sizeof a->body);
		memcpy(a->body, c->in, a->n);
		drop_front(c, a->n);
	}
	a->body[a->n] = '\0';
}

/* `headers`: each with its end. */
static inline void post(struct client *c, const char *headers, const char *body)
{
	char head[1024];

	snprintf(head, sizeof head,
		 "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		 "Accept: application/json, text/event-stream\r\n%sContent-Length: %zu\r\n\r\n",
		 headers, strlen(body));
	put(c, head);
	put(c, body);
}

/* 2026-07-28. `params`: members; `meta`: further members of _meta, each with a comma in front. */
static inline void modern_send(struct client *c, const char *method, const char *name,
			       const char *params, const char *meta)
{
	char headers[256], body[1024];

	snprintf(headers, sizeof headers,
		 "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s", method,
		 name ? "Mcp-Name: " : "", name ? name : "", name ? "\r\n" : "");
	snprintf(body, sizeof body,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s,\"_meta\":{"
		 "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		 "\"io.modelcontextprotocol/clientCapabilities\":{}%s}}}",
		 method, params, meta);
	post(c, headers, body);
}

static inline void modern_call(struct client *c, const char *tool, const char *args,
			       const char *meta)
{
	char params[256];

	snprintf(params, sizeof params, "\"name\":\"%s\",\"arguments\":%s", tool, args);
	modern_send(c, "tools/call", tool, params, meta);
}

/* ---- sessions ----------------------------------------------------------------------------- */

/* Every message of a session comes on a connection of its own. */
static inline int session_say(struct site *v, const char *session, const char *message,
			      struct answer *a)
{
	struct client *c = dial(v);
	char headers[128] = "";

	if (session[0])
		snprintf(headers, sizeof headers,
			 "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n", session);
	post(c, headers, message);
	read_answer(c, a);
	hang_up(c);
	return a->status;
}

static inline void session_begin(struct site *v, char session[64], struct answer *a)
{
	must(session_say(v, "",
			 REQUEST("0", "initialize",
				 "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
				 "\"clientInfo\":{\"name\":\"t\",\"version\":\"0\"}"),
			 a) == 200);
	must(a->session[0]);
	memcpy(session, a->session, sizeof a->session);
	must(session_say(v, session, NOTE("notifications/initialized", ""), a) == 202);
}

static inline int session_end(struct site *v, const char *session, struct answer *a)
{
	struct client *c = dial(v);
	char text[256];

	snprintf(text, sizeof text,
		 "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %s\r\n"
		 "MCP-Protocol-Version: 2025-11-25\r\n\r\n",
		 session);
	put(c, text);
	read_answer(c, a);
	hang_up(c);
	return a->status;
}

#endif
