/* tests/unit/link_httpd_rig.h - an HTTP link, what it tells, and a server that is the test itself: it takes
 * requests one by one and answers them with whatever bytes it likes. One loop, one thread.
 */
#ifndef TESTS_LINK_HTTP_RIG_H
#define TESTS_LINK_HTTP_RIG_H

#include "link/links.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what the link tells ------------------------------------------------------------------- */

enum told_kind {
	TOLD_MESSAGE,
	TOLD_ACCEPTED,
	TOLD_FAILED,
	TOLD_DOWN,
	TOLD_UP,
	TOLD_GAP,
	TOLD_OVERSIZE,
	TOLD_NOTE,
	TOLD_CLOSED
};

struct told {
	enum told_kind kind;
	void *tag;
	int status;  /* HTTP, or the level of a note */
	char *text;  /* of a message (terminated), a failure, a note */
	size_t size; /* of a message, or the limit */
	struct link_failure why;
};

enum { TOLD_MAX = 4096, LINE_MAX_CONNS = 128 };

/* A connection as the server sees it. */
struct line {
	int fd;
	char *in;
	size_t n, cap;
	bool eof;
};

struct rig_link {
	cleat_loop *l;
	struct fail_alloc fa;
	struct link *link;
	struct told told[TOLD_MAX];
	size_t n_told, taken;
	int ear;
	unsigned port;
	size_t fds;
	struct line *lines[LINE_MAX_CONNS];
	size_t turn;
	uint32_t random; /* what the link gets, and how often it has asked */
	size_t drawn;
	void (*on_told)(struct rig_link *r, struct told *t);
	char url[128];
};

static inline struct told *tell(struct rig_link *r, enum told_kind kind, void *tag, int status,
				struct str text)
{
	struct told *t = &r->told[r->n_told++];

	assert_true(r->n_told <= TOLD_MAX);
	*t = (struct told){ .kind = kind, .tag = tag, .status = status, .size = text.n };
	t->text = malloc(text.n + 1);
	assert_non_null(t->text);
	if (text.n)
		memcpy(t->text, text.p, text.n);
	t->text[text.n] = '\0';
	return t;
}

static inline void told_done(struct rig_link *r, struct told *t)
{
	if (r->on_told)
		r->on_told(r, t);
}

static inline void on_message(void *ctx, struct str text, void *tag, int status)
{
	told_done(ctx, tell(ctx, TOLD_MESSAGE, tag, status, text));
}

static inline void on_accepted(void *ctx, void *tag)
{
	told_done(ctx, tell(ctx, TOLD_ACCEPTED, tag, 0, (struct str){ 0 }));
}

static inline void tell_why(struct rig_link *r, enum told_kind kind, void *tag,
			    const struct link_failure *why)
{
	struct told *t = tell(r, kind, tag, why ? why->http_status : 0,
			      why ? str_of(why->error.message) : (struct str){ 0 });

	if (why) {
		t->why = *why;
		assert_int_not_equal(why->error.status, CLEAT_OK);
		assert_true(why->error.message[0] != '\0');
	}
	told_done(r, t);
}

static inline void on_failed(void *ctx, void *tag, const struct link_failure *why)
{
	assert_non_null(tag);
	tell_why(ctx, TOLD_FAILED, tag, why);
}

static inline void on_down(void *ctx, const struct link_failure *why)
{
	tell_why(ctx, TOLD_DOWN, NULL, why);
}

static inline void on_up(void *ctx, const struct link_failure *why)
{
	tell_why(ctx, TOLD_UP, NULL, why);
}

static inline void on_gap(void *ctx)
{
	told_done(ctx, tell(ctx, TOLD_GAP, NULL, 0, (struct str){ 0 }));
}

static inline void on_oversize(void *ctx, void *tag, size_t limit)
{
	struct told *t = tell(ctx, TOLD_OVERSIZE, tag, 0, (struct str){ 0 });

	t->size = limit;
	told_done(ctx, t);
}

static inline void on_link_note(void *ctx, int level, const char *text)
{
	told_done(ctx, tell(ctx, TOLD_NOTE, NULL, level, str_of(text)));
}

static inline void on_err_line(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
	fail();
}

static inline void on_closed(void *ctx)
{
	told_done(ctx, tell(ctx, TOLD_CLOSED, NULL, 0, (struct str){ 0 }));
}

static inline uint32_t rig_random(void *ctx)
{
	struct rig_link *r = ctx;

	r->drawn++;
	return r->random;
}

static inline struct link_base_options rig_base(struct rig_link *r)
{
	return (struct link_base_options){ .loop = r->l,
					   .mem = &r->fa.hook,
					   .max_message = 1 << 20,
					   .random = rig_random,
					   .random_ctx = r,
					   .events = { .message = on_message,
						       .accepted = on_accepted,
						       .failed = on_failed,
						       .down = on_down,
						       .up = on_up,
						       .gap = on_gap,
						       .oversize = on_oversize,
						       .note = on_link_note,
						       .err_line = on_err_line,
						       .closed = on_closed,
						       .ctx = r } };
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* libcurl and what it loads keep descriptors and memory of their own from the first use on. */
static inline void rig_warm_up(void)
{
	static bool done;
	struct link_base_options base = { .max_message = 1 };
	cleat_loop *l;
	struct link *k;

	if (done)
		return;
	done = true;
	l = cleat_loop_new(NULL);
	assert_non_null(l);
	base.loop = l;
	k = link_http_new(&base, &(struct link_http_options){ .url = "http://localhost/" }, NULL);
	if (k)
		k->ops->free(k);
	cleat_loop_free(l);
}

static inline void rig_ear(struct rig_link *r)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof a;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	r->ear = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(r->ear >= 0);
	assert_int_equal(bind(r->ear, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(r->ear, 128), 0);
	assert_int_equal(getsockname(r->ear, (struct sockaddr *)&a, &n), 0);
	fcntl(r->ear, F_SETFL, O_NONBLOCK);
	r->port = ntohs(a.sin_port);
	snprintf(r->url, sizeof r->url, "http://127.0.0.1:%u/mcp", r->port);
}

/* A loop and a server; no link yet. */
static inline void rig_base_open(struct rig_link *r)
{
	memset(r, 0, sizeof *r);
	alarm(120); /* a test that waits for what never comes ends here */
	rig_warm_up();
	r->fds = open_fds();
	fail_alloc_init(&r->fa, 0, false);
	r->l = cleat_loop_new(&r->fa.hook);
	assert_non_null(r->l);
	rig_ear(r);
}

static inline bool rig_link_with(struct rig_link *r, struct link_base_options base,
				 struct link_http_options o, cleat_error *err)
{
	if (!o.url)
		o.url = r->url;
	r->link = link_http_new(&base, &o, err);
	return r->link != NULL;
}

/* And a link, not opened yet. */
static inline void rig_new(struct rig_link *r)
{
	rig_base_open(r);
	assert_true(rig_link_with(r, rig_base(r), (struct link_http_options){ 0 }, NULL));
}

static inline void rig_drop_told(struct rig_link *r)
{
	for (size_t i = 0; i < r->n_told; i++)
		free(r->told[i].text);
	r->n_told = r->taken = 0;
}

static inline void line_close(struct rig_link *r, struct line *c, bool reset)
{
	struct linger at_once = { 1, 0 };

	for (size_t i = 0; i < LINE_MAX_CONNS; i++)
		if (r->lines[i] == c)
			r->lines[i] = NULL;
	if (reset)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(c->fd);
	free(c->in);
	free(c);
}

static inline void rig_close_link(struct rig_link *r)
{
	if (r->link)
		r->link->ops->free(r->link);
	r->link = NULL;
}

static inline void rig_done(struct rig_link *r)
{
	rig_close_link(r);
	rig_drop_told(r);
	for (size_t i = 0; i < LINE_MAX_CONNS; i++)
		if (r->lines[i])
			line_close(r, r->lines[i], false);
	if (r->ear >= 0)
		close(r->ear);
	cleat_loop_free(r->l);
	assert_int_equal(r->fa.live, 0);
	assert_int_equal(open_fds(), r->fds);
	alarm(0);
}

/* ---- the server's side ------------------------------------------------------------------------ */

static inline void rig_step(struct rig_link *r)
{
	cleat_loop_step(r->l, 1);
}

#define RIG_WAIT(r, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			rig_step(r);                                                               \
	} while (0)

static inline void take_connections(struct rig_link *r)
{
	int fd, one = 1;

	while (r->ear >= 0 && (fd = accept(r->ear, NULL, NULL)) >= 0) {
		size_t i = 0;

		while (i < LINE_MAX_CONNS && r->lines[i])
			i++;
		assert_true(i < LINE_MAX_CONNS);
		r->lines[i] = calloc(1, sizeof **r->lines);
		assert_non_null(r->lines[i]);
		r->lines[i]->fd = fd;
		fcntl(fd, F_SETFL, O_NONBLOCK);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	}
}

static inline void line_read(struct line *c)
{
	ssize_t n;

	do {
		if (c->cap - c->n < 4096) {
			c->cap = c->cap * 2 + 8192;
			c->in = realloc(c->in, c->cap);
			assert_non_null(c->in);
		}
		n = recv(c->fd, c->in + c->n, c->cap - c->n - 1, 0);
		if (n > 0)
			c->n += (size_t)n;
		c->in[c->n] = '\0';
	} while (n > 0);
	if (n == 0 || errno != EAGAIN)
		c->eof = true;
}

static inline size_t line_complete(const struct line *c)
{
	const char *end = c->in ? strstr(c->in, "\r\n\r\n") : NULL;
	const char *length = c->in ? strstr(c->in, "Content-Length: ") : NULL;
	size_t n;

	if (!end)
		return 0;
	n = (size_t)(end - c->in) + 4;
	if (length && length < end)
		n += (size_t)strtoul(length + 16, NULL, 10);
	return c->n >= n ? n : 0;
}

/* One request: its head and its body, and where to answer. */
struct asked {
	struct line *c;
	char head[8192];
	char body[65536];
};

static inline struct line *line_with_request(struct rig_link *r)
{
	struct line *c;

	take_connections(r);
	for (size_t i = 0; i < LINE_MAX_CONNS; i++) {
		c = r->lines[r->turn++ % LINE_MAX_CONNS]; /* nobody is left waiting for ever */
		if (c && !c->eof)
			line_read(c);
		if (c && !c->eof && line_complete(c))
			return c;
	}
	return NULL;
}

static inline void take_request(struct line *c, struct asked *q)
{
	size_t n = line_complete(c), head = (size_t)(strstr(c->in, "\r\n\r\n") - c->in) + 4;

	assert_true(head < sizeof q->head);
	q->c = c;
	snprintf(q->head, sizeof q->head, "%.*s", (int)head, c->in);
	snprintf(q->body, sizeof q->body, "%.*s", (int)(n - head), c->in + head);
	memmove(c->in, c->in + n, c->n - n + 1);
	c->n -= n;
}

/* The next request, in memory that stays until the call after the next four. */
static inline struct asked *next_asked(struct rig_link *r)
{
	static struct asked ring[5];
	static unsigned at;
	struct asked *q = &ring[at++ % 5];
	struct line *c;

	while (!(c = line_with_request(r)))
		rig_step(r);
	take_request(c, q);
	return q;
}

/* Is there one, without waiting for it any longer than a few turns? */
static inline bool nobody_asks(struct rig_link *r)
{
	for (int i = 0; i < 10; i++) {
		if (line_with_request(r))
			return false;
		rig_step(r);
	}
	return true;
}

static inline void say_bytes(struct rig_link *r, struct line *c, const char *p, size_t n)
{
	while (n) {
		ssize_t done = send(c->fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EAGAIN) {
			rig_step(r);
			continue;
		}
		if (done < 0)
			return; /* the client has gone */
		p += done;
		n -= (size_t)done;
	}
}

static inline void say(struct rig_link *r, const struct asked *q, const char *text)
{
	say_bytes(r, q->c, text, strlen(text));
}

/* An answer with a length. `fields`: lines with CRLF. */
static inline void reply(struct rig_link *r, const struct asked *q, const char *status,
			 const char *fields, const char *body)
{
	char head[4096];

	snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, fields,
		 strlen(body));
	say(r, q, head);
	say(r, q, body);
}

#define JSON_TYPE   "Content-Type: application/json\r\n"
#define EVENTS_TYPE "Content-Type: text/event-stream\r\n"
#define EVENTS_HEAD "HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Transfer-Encoding: chunked\r\n\r\n"

static inline void reply_json(struct rig_link *r, const struct asked *q, const char *body)
{
	reply(r, q, "200 OK", JSON_TYPE, body);
}

/* Some bytes of an event stream that began with EVENTS_HEAD. */
static inline void say_chunk(struct rig_link *r, const struct asked *q, const char *text)
{
	char size[32];

	snprintf(size, sizeof size, "%zx\r\n", strlen(text));
	say(r, q, size);
	say(r, q, text);
	say(r, q, "\r\n");
}

static inline void say_end(struct rig_link *r, const struct asked *q)
{
	say(r, q, "0\r\n\r\n");
}

static inline void hang_up_on(struct rig_link *r, const struct asked *q)
{
	line_close(r, q->c, false);
}

/* The client has closed this connection. */
static inline void expect_hung_up(struct rig_link *r, const struct asked *q)
{
	while (!q->c->eof) {
		line_read(q->c);
		rig_step(r);
	}
	line_close(r, q->c, false);
}

/* The value of a header field of a request; NULL when it has none. Names are compared as curl sends
 * them. In memory that the next call uses again. */
static inline const char *field_of(const struct asked *q, const char *name)
{
	static char value[2048];
	char pattern[80];
	const char *at;

	snprintf(pattern, sizeof pattern, "\r\n%s:", name);
	at = strstr(q->head, pattern);
	if (!at)
		return NULL;
	at += strlen(pattern);
	at += *at == ' ';
	snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
	return value;
}

static inline void expect_field(const struct asked *q, const char *name, const char *value)
{
	const char *got = field_of(q, name);

	if (!value != !got || (value && strcmp(value, got) != 0)) {
		print_error("%s: wanted %s, got %s, in\n%s", name, value ? value : "none",
			    got ? got : "none", q->head);
		fail();
	}
}

static inline void expect_line(const struct asked *q, const char *start)
{
	if (strncmp(q->head, start, strlen(start)) != 0) {
		print_error("wanted %s, got %.100s\n", start, q->head);
		fail();
	}
}

/* ---- the role's side -------------------------------------------------------------------------- */

/* Tags are the addresses of these. */
static char tags[64];
#define TAG(i) ((void *)&tags[i])

/* The next thing that the link told. */
#define expect_told(r, kind) expect_told_(r, kind, __FILE__, __LINE__)
static inline struct told *expect_told_(struct rig_link *r, enum told_kind kind, const char *file,
					int line)
{
	struct told *t;

	while (r->taken == r->n_told) {
		take_connections(r);
		rig_step(r);
	}
	t = &r->told[r->taken++];
	if (t->kind != kind) {
		print_error("wanted %d, got %d: %s\n", (int)kind, (int)t->kind, t->text);
		_fail(file, line);
	}
	return t;
}

#define expect_message(r, tag, status, text)                                                       \
	expect_message_(r, tag, status, text, __FILE__, __LINE__)
static inline void expect_message_(struct rig_link *r, void *tag, int status, const char *text,
				   const char *file, int line)
{
	struct told *t = expect_told_(r, TOLD_MESSAGE, file, line);

	if (t->tag != tag || t->status != status || strcmp(t->text, text) != 0) {
		print_error("wanted %d %s, got %d %.500s\n", status, text, t->status, t->text);
		_fail(file, line);
	}
}

#define expect_failed(r, tag, step) expect_failed_(r, tag, step, __FILE__, __LINE__)
static inline struct told *expect_failed_(struct rig_link *r, void *tag, enum cleat_step step,
					  const char *file, int line)
{
	struct told *t = expect_told_(r, TOLD_FAILED, file, line);

	if (t->tag != tag || t->why.step != step) {
		print_error("wanted a failure in step %d, got %d: %s\n", (int)step,
			    (int)t->why.step, t->text);
		_fail(file, line);
	}
	return t;
}

static inline void expect_nothing_told(struct rig_link *r)
{
	for (int i = 0; i < 10; i++)
		rig_step(r);
	if (r->taken != r->n_told)
		print_error("told: %d %s\n", (int)r->told[r->taken].kind, r->told[r->taken].text);
	assert_int_equal(r->taken, r->n_told);
}

static inline void expect_text(const struct told *t, const char *part)
{
	if (!strstr(t->text, part)) {
		print_error("wanted \"%s\" in: %s\n", part, t->text);
		fail();
	}
}

static inline void rig_open_link(struct rig_link *r)
{
	r->link->ops->open(r->link);
	assert_int_equal(r->n_told, r->taken); /* never from inside a call */
	assert_int_equal(expect_told(r, TOLD_UP)->why.error.status, CLEAT_OK);
}

static inline void rig_start(struct rig_link *r)
{
	rig_new(r);
	rig_open_link(r);
}

static inline int rig_send(struct rig_link *r, struct link_message m, const char *text)
{
	size_t n = r->n_told;
	int rc;

	m.text = str_of(text);
	rc = r->link->ops->send(r->link, &m);
	assert_int_equal(r->n_told, n);
	return rc;
}

#define LEGACY_REQUEST(i)                                                                          \
	((struct link_message){ .kind = LINK_REQUEST, .tag = TAG(i), .rev = REV_2025_11_25 })
#define MODERN_REQUEST(i, what)                                                                    \
	((struct link_message){ .kind = LINK_REQUEST,                                              \
				.tag = TAG(i),                                                     \
				.rev = REV_2026_07_28,                                             \
				.modern = true,                                                    \
				.method = STR_LIT(what) })
#define NOTICE(i)                                                                                  \
	((struct link_message){ .kind = LINK_NOTICE, .tag = TAG(i), .rev = REV_2025_11_25 })

#define Q(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"ping\"}"
#define A(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":{}}"
#define N(n)  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" #n "\"}"

/* initialize and its answer with this session id. */
static inline void rig_session(struct rig_link *r, const char *id)
{
	struct link_message m = { .kind = LINK_REQUEST,
				  .tag = TAG(63),
				  .rev = REV_2025_11_25,
				  .initialize = true,
				  .method = STR_LIT("initialize") };
	char fields[1200];
	struct asked *q;

	assert_int_equal(rig_send(r, m, Q(0)), CLEAT_OK);
	q = next_asked(r);
	expect_field(q, "Mcp-Session-Id", NULL);
	expect_field(q, "MCP-Protocol-Version", NULL);
	snprintf(fields, sizeof fields, JSON_TYPE "Mcp-Session-Id: %s\r\n", id);
	reply(r, q, "200 OK", fields, A(0));
	expect_message(r, TAG(63), 200, A(0));
}

/* A case on a link that has begun; PLAIN: on a rig that it begins itself. */
#define LINK_TEST(name)       TEST_ON(name, struct rig_link, r, rig_start(r), rig_done)
#define LINK_TEST_PLAIN(name) TEST_ON(name, struct rig_link, r, (void)0, rig_done)

#endif
