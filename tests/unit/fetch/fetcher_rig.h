/* fetcher_rig.h - an HTTP client and a server that sends whatever it is told to, byte for byte, on
 * one loop in one thread.
 */
#ifndef HTTP_CLIENT_RIG_H
#define HTTP_CLIENT_RIG_H

#include "fetch/fetcher.h"
#include "support.h"
#include "support_files.h"
#include "test.h"
#include "unit/http/field_lines.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* An answer. */
#define CHUNKED                                                                                    \
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n"

/* ---- the server -------------------------------------------------------------------------------- */

enum { CONNS = 64, REQUEST_MAX = 8 << 20 };

/* What the server does when the answer has been sent. */
enum after { KEEP, CLOSE, RESET };

struct rig;

struct conn {
	struct rig *r;
	int fd;
	struct loop_watch *watch;
	char *in; /* the request that is being read */
	size_t n;
	const char *out; /* what is left of the answer */
	size_t out_n;
	bool eof; /* the client has closed */
};

struct rig {
	cleat_loop *l;
	struct fail_alloc fa;
	struct fetcher *h;
	struct fetcher_options opts; /* for those who open another */
	size_t fds;
	int ear;
	unsigned port;
	char file[64]; /* of a unix socket; "" for TCP */
	struct loop_watch *ear_watch;
	struct conn *conns[CONNS];
	size_t accepted, requests;
	char request[16384]; /* the beginning of the last one */
	size_t request_n;    /* all of it */
	/* The answer; `script` may choose another for each request. */
	struct str answer;
	size_t slice;    /* bytes at once; 0: all */
	size_t cut;      /* only this many of them; 0: all */
	struct str pump; /* then this, for ever */
	enum after after;
	struct loop_timer *slow; /* reads only when this fires */
	bool silent;             /* accepts and reads, says nothing */
	bool at_once;            /* answers as soon as there is a connection */
	void (*script)(struct rig *r, struct conn *c);
};

static inline void conn_close(struct conn *c, bool reset)
{
	struct linger at_once = { 1, 0 };

	for (size_t i = 0; i < CONNS; i++)
		if (c->r->conns[i] == c)
			c->r->conns[i] = NULL;
	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	loop_watch_free(c->watch);
	close(c->fd);
	free(c->in);
	free(c);
}

static inline void conn_answer(struct conn *c, struct str answer)
{
	c->out = answer.p;
	c->out_n = c->r->cut && c->r->cut < answer.n ? c->r->cut : answer.n;
	loop_watch_set(c->watch, LOOP_READ | LOOP_WRITE);
}

/* False when the connection has ended. */
static inline bool conn_write(struct conn *c)
{
	size_t n = c->r->slice && c->r->slice < c->out_n ? c->r->slice : c->out_n;
	ssize_t done = n ? send(c->fd, c->out, n, MSG_NOSIGNAL) : 0;

	if (done < 0 && errno != EAGAIN) {
		conn_close(c, false);
		return false;
	}
	if (done > 0) {
		c->out += done;
		c->out_n -= (size_t)done;
	}
	if (c->out_n)
		return true;
	if (c->r->pump.n) {
		c->out = c->r->pump.p;
		c->out_n = c->r->pump.n;
		return true;
	}
	if (c->r->after != KEEP) {
		conn_close(c, c->r->after == RESET);
		return false;
	}
	loop_watch_set(c->watch, LOOP_READ);
	return true;
}

/* The length of the request when it is complete, else 0. */
static inline size_t request_length(const struct conn *c)
{
	const char *end = strstr(c->in, "\r\n\r\n"), *length = strstr(c->in, "Content-Length: ");
	size_t n;

	if (!end)
		return 0;
	n = (size_t)(end - c->in) + 4;
	if (length && length < end)
		n += (size_t)strtoul(length + 16, NULL, 10);
	return c->n >= n ? n : 0;
}

static inline void conn_take(struct conn *c)
{
	struct rig *r = c->r;
	size_t n = request_length(c);

	if (!n)
		return;
	r->requests++;
	r->request_n = n;
	snprintf(r->request, sizeof r->request, "%.*s", (int)(n < 16000 ? n : 16000), c->in);
	memmove(c->in, c->in + n, c->n - n + 1);
	c->n -= n;
	if (r->script)
		r->script(r, c);
	else if (!r->silent)
		conn_answer(c, r->answer);
}

static inline void conn_ready(void *ctx, unsigned events, bool failed)
{
	struct conn *c = ctx;
	ssize_t n;

	if ((events & LOOP_WRITE) && c->out && !conn_write(c))
		return;
	if (!(events & LOOP_READ) && !failed)
		return;
	n = recv(c->fd, c->in + c->n, REQUEST_MAX - c->n, 0);
	if (c->r->slow && n > 0) {
		loop_watch_set(c->watch, 0);
		loop_timer_start(c->r->slow, 20);
	}
	if (n > 0) {
		c->n += (size_t)n;
		c->in[c->n] = '\0';
		conn_take(c);
	} else if (n == 0 || errno != EAGAIN) {
		conn_close(c, false);
	}
}

static inline void ear_ready(void *ctx, unsigned events, bool failed)
{
	struct rig *r = ctx;
	struct conn *c;
	size_t i = 0;
	int fd = accept(r->ear, NULL, NULL), one = 1;

	(void)events, (void)failed;
	if (fd < 0)
		return;
	r->accepted++;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (i < CONNS && r->conns[i])
		i++;
	assert_true(i < CONNS);
	c = calloc(1, sizeof *c);
	assert_non_null(c);
	*c = (struct conn){ .r = r, .fd = fd, .in = calloc(1, REQUEST_MAX + 1) };
	/* Where allocations fail on purpose, this one may. */
	if (loop_watch_new(r->l, fd, conn_ready, c, &c->watch) != CLEAT_OK) {
		close(fd);
		free(c->in);
		free(c);
		return;
	}
	r->conns[i] = c;
	loop_watch_set(c->watch, LOOP_READ);
	if (r->at_once)
		conn_answer(c, r->answer);
}

static inline void rig_listen(struct rig *r)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t n = sizeof in;

	r->ear = socket(r->file[0] ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_true(r->ear >= 0);
	if (r->file[0]) {
		snprintf(un.sun_path, sizeof un.sun_path, "%s", r->file);
		unlink(r->file);
		assert_int_equal(bind(r->ear, (struct sockaddr *)&un, sizeof un), 0);
	} else {
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		assert_int_equal(bind(r->ear, (struct sockaddr *)&in, sizeof in), 0);
		assert_int_equal(getsockname(r->ear, (struct sockaddr *)&in, &n), 0);
		r->port = ntohs(in.sin_port);
	}
	assert_int_equal(listen(r->ear, 64), 0);
	assert_int_equal(loop_watch_new(r->l, r->ear, ear_ready, r, &r->ear_watch), CLEAT_OK);
	loop_watch_set(r->ear_watch, LOOP_READ);
}

static inline size_t rig_connections(const struct rig *r)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNS; i++)
		n += r->conns[i] != NULL;
	return n;
}

/* ---- the client -------------------------------------------------------------------------------- */

static inline void rig_open_with(struct rig *r, struct fetcher_options o)
{
	cleat_error e = { 0 };

	memset(r, 0, sizeof *r);
	alarm(120); /* a test that waits for what never comes ends here */
	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two descriptors of the first */
	r->fds = open_fds();
	fail_alloc_init(&r->fa, 0, false);
	r->l = cleat_loop_new(&r->fa.hook);
	assert_non_null(r->l);
	if (o.unix_socket)
		snprintf(r->file, sizeof r->file, "%s", o.unix_socket);
	rig_listen(r);
	r->opts = o;
	r->opts.loop = r->l;
	r->opts.mem = &r->fa.hook;
	r->h = fetcher_new(&r->opts, &e);
	if (!r->h)
		fail_msg("%s", e.message);
}

static inline void rig_open(struct rig *r)
{
	rig_open_with(r, (struct fetcher_options){ 0 });
}

static inline void rig_close(struct rig *r)
{
	fetcher_free(r->h);
	loop_watch_free(r->ear_watch);
	close(r->ear);
	if (r->file[0])
		unlink(r->file);
	for (size_t i = 0; i < CONNS; i++)
		if (r->conns[i])
			conn_close(r->conns[i], false);
	cleat_loop_free(r->l);
	assert_int_equal(r->fa.live, 0);
	/* A server, or a resolver, in another thread closes its end when it notices; the alarm ends
	 * this. */
	while (open_fds() > r->fds)
		sched_yield();
	assert_int_equal(open_fds(), r->fds);
	alarm(0);
}

#define WAIT_FOR(r, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			cleat_loop_step((r)->l, 10);                                               \
	} while (0)

/* Everything that can be done without waiting for anybody. */
static inline void rig_turn(struct rig *r)
{
	for (int i = 0; i < 6; i++)
		cleat_loop_step(r->l, 1);
}

/* What became of a fetch. */
struct got {
	struct rig *r;
	struct fetch *f; /* NULL when it has ended */
	size_t heads, bodies, ends;
	int status;
	char body[1 << 16]; /* its beginning */
	uint64_t n;         /* all of it */
	bool ok;
	struct link_failure why;
	char type[64]; /* Content-Type */
	/* what to do in an event */
	bool stop_in_head, stop_in_body;
	struct fetch **cancel_in_head, **cancel_in_body, **cancel_in_end;
	bool free_in_head, free_in_body, free_in_end, pause_in_body;
};

static inline void got_free_client(struct rig *r)
{
	struct fetcher *h = r->h;

	r->h = NULL;
	fetcher_free(h);
}

static inline void got_cancel(struct fetch **f)
{
	if (f && *f) {
		fetch_cancel(*f);
		*f = NULL;
	}
}

static inline bool got_head(void *ctx, struct fetch *f, int status)
{
	struct got *g = ctx;
	struct str type = fetch_field(f, "content-type");

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->heads++, 0);
	assert_int_equal(g->bodies, 0);
	assert_int_equal(fetch_status(f), status);
	g->status = status;
	snprintf(g->type, sizeof g->type, "%.*s", STR_ARGS(type));
	got_cancel(g->cancel_in_head);
	if (g->free_in_head)
		got_free_client(g->r);
	return !g->stop_in_head && g->f && !g->free_in_head;
}

static inline bool got_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct got *g = ctx;

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->heads, 1);
	assert_int_equal(g->ends, 0);
	g->bodies++;
	for (size_t i = 0; i < bytes.n && g->n + i < sizeof g->body - 1; i++)
		g->body[g->n + i] = bytes.p[i];
	g->n += bytes.n;
	if (g->pause_in_body)
		fetch_pause(f, true);
	got_cancel(g->cancel_in_body);
	if (g->free_in_body)
		got_free_client(g->r);
	return !g->stop_in_body && g->f && !g->free_in_body;
}

static inline void got_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct got *g = ctx;

	assert_ptr_equal(f, g->f);
	assert_int_equal(g->ends++, 0);
	g->ok = !why;
	if (why) {
		g->why = *why;
		assert_true(why->error.status < 0);
		assert_true(why->error.message[0] != '\0');
		assert_int_not_equal(why->step, CLEAT_STEP_NONE);
	}
	g->f = NULL;
	fetch_cancel(f); /* harmless */
	got_cancel(g->cancel_in_end);
	if (g->free_in_end)
		got_free_client(g->r);
}

static inline const char *rig_url(const struct rig *r, const char *path)
{
	static char url[8][512];
	static size_t next;

	next = (next + 1) % 8;
	if (r->port)
		snprintf(url[next], sizeof url[0], "http://127.0.0.1:%u%s", r->port, path);
	else
		snprintf(url[next], sizeof url[0], "http://localhost%s", path);
	return url[next];
}

static inline struct fetch_options got_options(struct rig *r, struct got *g, const char *path)
{
	return (struct fetch_options){ .method = "GET",
				       .url = rig_url(r, path),
				       .on_head = got_head,
				       .on_body = got_body,
				       .on_end = got_end,
				       .ctx = g };
}

static inline struct got *got_new(struct rig *r)
{
	struct got *g = calloc(1, sizeof *g);

	assert_non_null(g);
	g->r = r;
	return g;
}

static inline void got_start(struct got *g, const struct fetch_options *o)
{
	cleat_error e = { 0 };

	g->f = fetch_start(g->r->h, o, &e);
	if (!g->f)
		fail_msg("%s", e.message);
}

static inline struct got *start_get(struct rig *r, const char *path)
{
	struct got *g = got_new(r);
	struct fetch_options o = got_options(r, g, path);

	got_start(g, &o);
	assert_int_equal(g->heads + g->bodies + g->ends, 0); /* never from in there */
	return g;
}

/* Good until the next call. */
static inline void set_fields(struct fetch_options *o, const char *const *lines)
{
	static struct http_field fields[300];

	o->fields = fields;
	o->n_fields = field_lines(fields, CLEAT_COUNT(fields), lines);
}

static inline struct got *start_post(struct rig *r, const char *path, struct str body)
{
	struct got *g = got_new(r);
	struct fetch_options o = got_options(r, g, path);
	const struct http_field type = { STR_LIT("Content-Type"), STR_LIT("application/json") };

	o.method = "POST";
	o.body = body;
	o.fields = &type;
	o.n_fields = 1;
	got_start(g, &o);
	return g;
}

static inline struct got *wait_end(struct got *g)
{
	WAIT_FOR(g->r, g->ends);
	return g;
}

static inline struct got *do_get(struct rig *r, const char *path)
{
	return wait_end(start_get(r, path));
}

static inline struct got *do_post(struct rig *r, const char *path, struct str body)
{
	return wait_end(start_post(r, path, body));
}

/* Ends with free(g). */
static inline void expect_ok(struct got *g, int status, const char *body)
{
	if (!g->ok)
		fail_msg("%s", g->why.error.message);
	assert_int_equal(g->ends, 1);
	assert_int_equal(g->status, status);
	assert_string_equal(g->body, body);
	free(g);
}

static inline void expect_failure(struct got *g, enum cleat_step step, int status,
				  const char *words)
{
	assert_int_equal(g->ends, 1);
	assert_false(g->ok);
	if (!strstr(g->why.error.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, g->why.error.message);
	assert_int_equal(g->why.step, step);
	assert_int_equal(g->why.error.status, status);
	free(g);
}

/* Nothing happened and nothing will. */
static inline void expect_silence(struct got *g, size_t heads)
{
	rig_turn(g->r);
	assert_int_equal(g->ends, 0);
	assert_int_equal(g->heads, heads);
	free(g);
}

#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

/* The client works as if nothing had happened. */
static inline void expect_alive(struct rig *r)
{
	r->script = NULL;
	r->answer = STR_LIT(OK_HELLO);
	r->slice = r->cut = 0;
	r->pump = (struct str){ 0 };
	r->after = KEEP;
	r->silent = r->at_once = false;
	expect_ok(do_get(r, "/alive"), 200, "hello");
}

/* A case on a fetcher; RIG_TEST_WITH: with these members of struct fetcher_options. */
#define RIG_TEST(name) TEST_ON(name, struct rig, r, rig_open(r), rig_close)
#define RIG_TEST_WITH(name, ...)                                                                   \
	TEST_ON(name, struct rig, r, rig_open_with(r, (struct fetcher_options){ __VA_ARGS__ }),    \
		rig_close)

#define RIG_TEST_PLAIN(name) TEST_ON(name, struct rig, r, (void)0, rig_close) /* it opens itself */

#endif
