/* httpd_rig.c - see httpd_rig.h. */
#include "httpd_rig.h"

#include <errno.h>
#include <sys/un.h>

struct answer last_answer;

void rig_free_server(struct rig *r)
{
	struct httpd *h = r->h;

	r->h = NULL;
	r->freed += h != NULL;
	httpd_free(h);
}

void on_done(void *ctx)
{
	((struct rig *)ctx)->done = true;
}

bool path_is(const struct http_exchange *ex, const char *path)
{
	return str_eqz(http_exchange_request(ex)->path, path);
}

void reply_text(struct http_exchange *ex, int status, struct str text)
{
	http_exchange_reply(ex, status, STR_LIT("text/plain"), NULL, 0, text);
}

static void on_conn_closed(void *data)
{
	(*(size_t *)data)++;
}

static void svc_head(void *ctx, struct http_exchange *ex)
{
	struct rig *r = ctx;

	r->heads++;
	if (path_is(ex, "/refuse")) {
		reply_text(ex, 403, STR_LIT("no"));
	} else if (path_is(ex, "/early-abort")) {
		http_exchange_abort(ex);
	} else if (path_is(ex, "/early-stream")) {
		if (http_exchange_begin(ex, 200, STR_LIT("text/plain"), NULL, 0) == CLEAT_OK)
			r->held[r->n_held++] = ex;
		else
			http_exchange_abort(ex);
	} else if (path_is(ex, "/early-all")) {
		if (http_exchange_begin(ex, 200, STR_LIT("text/plain"), NULL, 0) == CLEAT_OK &&
		    http_exchange_write(ex, STR_LIT("all"), false) == CLEAT_OK)
			http_exchange_end(ex);
		else
			http_exchange_abort(ex);
	} else if (path_is(ex, "/late")) {
		r->held[r->n_held++] = ex;
	} else if (path_is(ex, "/limit")) {
		http_exchange_limit_body(ex, 10);
	}
}

static void reply_echo(struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	char text[600];

	if (r->body.n) {
		reply_text(ex, 200, r->body);
		return;
	}
	snprintf(text, sizeof text, "%.*s %.*s", STR_ARGS(r->method_name), STR_ARGS(r->path));
	reply_text(ex, 200, str_of(text));
}

static void reply_big(struct http_exchange *ex)
{
	struct str query = http_exchange_request(ex)->query;
	size_t n = 0;
	char *z;

	for (size_t i = 0; i < query.n; i++)
		n = n * 10 + (size_t)(query.p[i] - '0');
	z = malloc(n + 1);
	assert_non_null(z);
	for (size_t i = 0; i < n; i++)
		z[i] = (char)('a' + i % 23);
	reply_text(ex, 200, (struct str){ z, n });
	free(z);
}

static void svc_request(void *ctx, struct http_exchange *ex)
{
	struct rig *r = ctx;

	r->requests++;
	if (r->drain_in_request)
		httpd_drain(r->h, on_done, r);
	if (r->free_in_request) {
		rig_free_server(r);
		reply_text(ex, 200, STR_LIT("too late")); /* must do nothing */
	} else if (path_is(ex, "/defer") || path_is(ex, "/stream")) {
		if (path_is(ex, "/stream") &&
		    http_exchange_begin(ex, 200, STR_LIT("text/event-stream"), NULL, 0)) {
			http_exchange_abort(ex);
			return;
		}
		assert_true(r->n_held < HELD);
		r->held[r->n_held++] = ex;
	} else if (path_is(ex, "/answer-other")) {
		reply_text(r->held[0], 403, STR_LIT("no"));
		reply_echo(ex);
	} else if (path_is(ex, "/begin-other")) {
		http_exchange_begin(r->held[0], 200, STR_LIT("text/plain"), NULL, 0);
		reply_echo(ex);
	} else if (path_is(ex, "/big")) {
		reply_big(ex);
	} else if (path_is(ex, "/close")) {
		http_exchange_close_after(ex);
		reply_echo(ex);
	} else if (path_is(ex, "/abort")) {
		http_exchange_abort(ex);
	} else if (path_is(ex, "/mark")) {
		http_exchange_set_connection_data(ex, &r->closed, on_conn_closed);
		assert_ptr_equal(http_exchange_connection_data(ex), &r->closed);
		reply_echo(ex);
	} else if (path_is(ex, "/empty")) {
		http_exchange_reply(ex, 204, (struct str){ 0 }, NULL, 0, STR_LIT("never sent"));
	} else {
		reply_echo(ex);
	}
}

static void svc_gone(void *ctx, struct http_exchange *ex)
{
	struct rig *r = ctx;

	r->gone++;
	for (size_t i = 0; i < r->n_held; i++)
		if (r->held[i] == ex)
			r->held[i] = r->held[--r->n_held];
	if (r->free_in_gone)
		rig_free_server(r);
}

static void svc_drained(void *ctx, struct http_exchange *ex)
{
	static const char thousand[1000] = "";
	struct rig *r = ctx;

	r->drained++;
	assert_int_equal(http_exchange_queued(ex), 0);
	if (r->free_in_drained) {
		rig_free_server(r);
	} else if (r->pump) {
		r->pump -= sizeof thousand;
		assert_int_equal(
			http_exchange_write(ex, (struct str){ thousand, sizeof thousand }, false),
			CLEAT_OK);
	}
}

static void svc_logged(void *ctx, const struct http_exchange *ex, int status, uint64_t bytes,
		       uint64_t micros)
{
	const struct http_request *q = http_exchange_request(ex);
	struct rig *r = ctx;

	r->logged++;
	if (r->free_in_logged)
		rig_free_server(r);
	r->status = status;
	r->bytes = bytes;
	r->micros = micros;
	snprintf(r->line, sizeof r->line, "%.*s %.*s", STR_ARGS(q->method_name), STR_ARGS(q->path));
}

static void on_note(void *ctx, int level, const char *text)
{
	struct rig *r = ctx;

	(void)level;
	r->remarks++;
	snprintf(r->remark, sizeof r->remark, "%s", text);
}

uint64_t rig_clock(void *ctx)
{
	return ((struct rig *)ctx)->now_us;
}

void rig_ground(struct rig *r)
{
	memset(r, 0, sizeof *r);
	alarm(120); /* a test that waits for what never comes ends here */
	cleat_loop_free(cleat_loop_new(NULL)); /* libuv keeps two descriptors of the first */
	r->fds = open_fds();
	r->now_us = 1000000000;
	fail_alloc_init(&r->fa, 0, false);
	r->l = cleat_loop_new(&r->fa.hook);
	assert_non_null(r->l);
}

void rig_ground_done(struct rig *r)
{
	while (r->clients)
		hang_up(r->clients);
	cleat_loop_free(r->l);
	assert_int_equal(r->fa.live, 0);
	assert_int_equal(open_fds(), r->fds);
	alarm(0);
}

void rig_fill(struct rig *r, struct httpd_options *o)
{
	o->loop = r->l;
	o->mem = &r->fa.hook;
	o->note = on_note;
	o->note_ctx = r;
	o->service = (struct http_service){ .head = svc_head,
					    .request = svc_request,
					    .gone = svc_gone,
					    .drained = svc_drained,
					    .logged = svc_logged,
					    .ctx = r };
}

void rig_hear(struct rig *r, const char *where)
{
	struct address a;

	httpd_set_clock(r->h, rig_clock, r);
	assert_int_equal(address_parse(where, &a, NULL), CLEAT_OK);
	assert_int_equal(listener_open(&a, NULL, &r->ear, NULL), CLEAT_OK);
}

void rig_open_with(struct rig *r, const char *where, struct httpd_options o)
{
	rig_ground(r);
	rig_fill(r, &o);
	assert_int_equal(httpd_new(&o, &r->h), CLEAT_OK);
	rig_hear(r, where);
	assert_int_equal(httpd_add(r->h, &r->ear, NULL), CLEAT_OK);
}

const char *unix_address(void)
{
	static char text[64];

	snprintf(text, sizeof text, "unix:/tmp/cleat-http-%ld.sock", (long)getpid());
	return text;
}

void rig_open(struct rig *r)
{
	rig_open_with(r, ":0", (struct httpd_options){ 0 });
}

struct httpd_stats rig_stats(const struct rig *r)
{
	struct httpd_stats s;

	httpd_stats(r->h, &s);
	return s;
}

void rig_close(struct rig *r)
{
	httpd_free(r->h);
	rig_ground_done(r);
}

void rig_turn(struct rig *r)
{
	for (int i = 0; i < 4; i++)
		cleat_loop_step(r->l, 1);
}

void rig_pass(struct rig *r, uint64_t ms)
{
	r->now_us += ms * 1000;
	httpd_tick(r->h);
}

int dial_fd(struct rig *r)
{
	const struct address *a = &r->ear.address;
	int fd, rc;

	if (a->file[0]) {
		struct sockaddr_un un = { .sun_family = AF_UNIX };

		snprintf(un.sun_path, sizeof un.sun_path, "%s", a->file);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		rc = connect(fd, (struct sockaddr *)&un, sizeof un);
	} else {
		struct sockaddr_in in = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)a->port) };
		struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
					    .sin6_port = htons((uint16_t)a->port) };
		bool six = strcmp(a->host, "::1") == 0;

		in6.sin6_addr = in6addr_loopback;
		if (inet_pton(AF_INET, a->host, &in.sin_addr) != 1)
			in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
		rc = connect(fd, six ? (struct sockaddr *)&in6 : (struct sockaddr *)&in,
			     six ? sizeof in6 : sizeof in);
	}
	assert_true(fd >= 0 && rc == 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

struct client *dial(struct rig *r)
{
	struct client *c = calloc(1, sizeof *c);

	assert_non_null(c);
	c->r = r;
	c->fd = dial_fd(r);
	c->next = r->clients;
	r->clients = c;
	return c;
}

void hang_up(struct client *c)
{
	struct client **at = &c->r->clients;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->tls)
		c->bye(c);
	close(c->fd);
	free(c);
}

struct client *rig_begin(struct rig *r)
{
	rig_open(r);
	return dial(r);
}

void slam(struct client *c)
{
	struct linger at_once = { 1, 0 };

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	hang_up(c);
}

void put_bytes(struct client *c, const char *p, size_t n)
{
	while (n) {
		ssize_t done = c->tls ? c->send(c, p, n) : send(c->fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EAGAIN) {
			cleat_loop_step(c->r->l, 10);
			continue;
		}
		if (done < 0)
			return; /* it was closed; whoever reads will see */
		p += done;
		n -= (size_t)done;
	}
}

void put(struct client *c, const char *text)
{
	put_bytes(c, text, strlen(text));
}

void look(struct client *c)
{
	ssize_t n;

	while (!c->eof && c->n < sizeof c->buf - 1) {
		n = c->tls ? c->recv(c, c->buf + c->n, sizeof c->buf - 1 - c->n)
			   : recv(c->fd, c->buf + c->n, sizeof c->buf - 1 - c->n, 0);
		if (n > 0) {
			c->n += (size_t)n;
			c->buf[c->n] = '\0';
			continue;
		}
		if (n < 0 && errno == EAGAIN)
			return;
		c->eof = true;
		c->error = n < 0;
	}
}

void wait_more(struct client *c)
{
	size_t had = c->n;

	look(c);
	for (int idle = 0; c->n == had && !c->eof; idle++) {
		if (idle == 40) /* memory comes back, for which the answer may have waited */
			fail_alloc_calm(&c->r->fa);
		cleat_loop_step(c->r->l, c->r->fa.failures ? 1 : 10);
		look(c);
	}
}

void take_front(struct client *c, size_t n)
{
	memmove(c->buf, c->buf + n, c->n - n + 1);
	c->n -= n;
}

const char *header(const struct answer *a, const char *name)
{
	static char value[256];
	char pattern[64];
	const char *at;

	snprintf(pattern, sizeof pattern, "\r\n%s: ", name);
	at = strstr(a->head, pattern);
	if (!at)
		return NULL;
	at += strlen(pattern);
	snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
	return value;
}

bool need(struct client *c, size_t n)
{
	while (c->n < n && !c->eof)
		wait_more(c);
	return c->n >= n;
}

static bool read_chunks(struct client *c, struct answer *a)
{
	for (;;) {
		char *end;
		size_t size, line;

		while (!strstr(c->buf, "\r\n") && !c->eof)
			wait_more(c);
		if (!strstr(c->buf, "\r\n"))
			return false;
		size = (size_t)strtoul(c->buf, &end, 16);
		line = (size_t)(end - c->buf) + 2;
		if (!need(c, line + size + 2))
			return false;
		assert_memory_equal(c->buf + line + size, "\r\n", 2);
		assert_true(a->n + size < sizeof a->body);
		memcpy(a->body + a->n, c->buf + line, size);
		a->n += size;
		take_front(c, line + size + 2);
		if (size == 0)
			return true;
	}
}

bool read_answer(struct client *c, struct answer *a, bool head_only)
{
	size_t n;
	const char *length;
	char *end;

	memset(a, 0, sizeof *a);
	c->buf[c->n] = '\0';
	while (!strstr(c->buf, "\r\n\r\n") && !c->eof)
		wait_more(c);
	end = strstr(c->buf, "\r\n\r\n");
	if (!end)
		return false;
	n = (size_t)(end - c->buf) + 4;
	assert_true(n < sizeof a->head);
	memcpy(a->head, c->buf, n);
	take_front(c, n);
	assert_memory_equal(a->head, "HTTP/1.1 ", 9);
	a->status = atoi(a->head + 9);
	if (head_only || a->status < 200 || a->status == 204)
		return true;
	if (header(a, "Transfer-Encoding")) {
		bool ok = read_chunks(c, a);

		a->body[a->n] = '\0';
		return ok;
	}
	length = header(a, "Content-Length");
	if (!length) { /* up to the end */
		while (!c->eof)
			wait_more(c);
		n = c->n;
	} else {
		n = (size_t)atol(length);
	}
	if (!need(c, n))
		return false;
	assert_true(n < sizeof a->body);
	memcpy(a->body, c->buf, n);
	a->body[n] = '\0';
	a->n = n;
	take_front(c, n);
	return true;
}

void expect(struct client *c, int status, const char *body)
{
	assert_true(read_answer(c, &last_answer, false));
	assert_int_equal(last_answer.status, status);
	if (body)
		assert_string_equal(last_answer.body, body);
}

void expect_end(struct client *c)
{
	while (!c->eof)
		wait_more(c);
	assert_int_equal(c->n, 0);
	assert_false(c->error);
}

void expect_alive(struct rig *r)
{
	struct client *c = dial(r);

	put(c, "GET /alive HTTP/1.1\r\nHost: h\r\n\r\n");
	expect(c, 200, "GET /alive");
	hang_up(c);
	WAIT_FOR(r, rig_stats(r).connections == 0);
}
