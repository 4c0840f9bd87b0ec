/* httpd/conn.c - one connection of an HTTP server: bytes in, requests, bytes out, its end.
 *
 * Bytes are read into the server's chunk and go through the parser from there; only what comes while
 * an answer is not complete is kept (c->in). While answers wait for room in the socket no further
 * request is looked at, so a connection is in exactly one phase and has exactly one deadline.
 *
 * The end of input. A client that has closed its connection and one that has only shut down its
 * sending half look the same from here. The first is every day's, the second is a shell's
 * (`printf ... | nc`), and MCP 2026-07-28 lets clients cancel a request by closing its stream: so the end
 * of input before the end of an answer means that nobody waits for it any more, and gone() is called at
 * once, whatever the request said about the connection and whatever has come behind it (where that is
 * more than is read ahead, the loop says that the other side has hung up). What was answered by then, as
 * every request is that needs no waiting, is still written: a shell gets it.
 *
 * Invariant: c->dead is acted upon in http_conn_settle() alone.
 */
#define _POSIX_C_SOURCE 200809L

#include "httpd/conn.h"

#include "base/cold.h"
#include "base/mem.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- output ------------------------------------------------------------------------------- */

size_t http_conn_queued(const struct http_conn *c)
{
	return buf_size(&c->out) + buf_size(&c->wire);
}

/* As much as makes sense to have ready. */
static void encrypt(struct http_conn *c)
{
	while (!c->dead && buf_size(&c->out) > 0 && buf_size(&c->wire) < HTTP_OUT_HIGH) {
		struct str piece = buf_str(&c->out);

		if (piece.n > HTTP_OUT_KEEP)
			piece.n = HTTP_OUT_KEEP;
		httpd_lend(c->server, &c->wire);
		if (tls_session_send(c->tls, piece, &c->wire))
			c->dead = true;
		buf_consume(&c->out, piece.n);
	}
}

static void flush(struct http_conn *c)
{
	struct buf *b = c->tls ? &c->wire : &c->out;

	while (!c->dead && !c->writing && http_conn_queued(c) > 0) {
		struct str s;
		ptrdiff_t n;

		if (c->tls)
			encrypt(c);
		s = buf_str(b);
		n = fd_write(&c->end, s.p, s.n);
		if (n > 0) {
			buf_consume(b, (size_t)n);
			c->progress = true;
		}
		if (n < 0 && !fd_would_block(n))
			c->dead = true;
		else
			c->writing = n < 0 || (size_t)n < s.n;
	}
	httpd_take_back(c->server, &c->out);
	httpd_take_back(c->server, &c->wire);
}

/* ---- the end of an exchange --------------------------------------------------------------- */

static void log_exchange(struct http_conn *c, int status)
{
	struct httpd *h = c->server;
	struct http_exchange *ex = &c->ex;

	if (h->o.service.logged)
		h->o.service.logged(h->o.service.ctx, ex, status, ex->bytes,
				    httpd_now_us(h) - ex->begun_us);
}

static void end_exchange(struct http_conn *c, int status)
{
	log_exchange(c, status);
	mem_free(&c->server->mem, c->ex.line);
	mem_free(&c->server->mem, c->ex.kept);
	c->ex.line = NULL;
	c->ex.kept = NULL;
	c->ex.open = false;
	c->server->stats.exchanges--;
}

/* The exchange is over without an answer of the service's. */
static void lose_exchange(struct http_conn *c, int status)
{
	struct httpd *h = c->server;
	bool ours = c->ex.seen && !c->ex.over;

	if (!c->ex.open)
		return;
	c->ex.over = true;
	if (ours)
		h->o.service.gone(h->o.service.ctx, &c->ex);
	c->ex.data = NULL;
	if (c->ex.open) /* the service may have freed the server */
		end_exchange(c, status);
}

/* Ready for the next request. */
static void next_request(struct http_conn *c)
{
	httpd_keep_parser(c->server, c->parser);
	c->parser = NULL;
	c->feed = c->body_came = false;
	c->progress = true;
	c->phase = c->last || c->server->draining ? CONN_CLOSING : CONN_IDLE;
}

/* The service is done with the exchange. */
static void finish_exchange(struct http_conn *c)
{
	bool early = c->phase == CONN_BODY;

	end_exchange(c, c->ex.status);
	c->owes = false;
	if (early && !c->last)
		return; /* the rest of the request is read first */
	if (early || c->skip)
		c->linger = true;
	next_request(c);
}

/* The service may have answered since we looked last. */
static void catch_up(struct http_conn *c)
{
	if (c->ex.open && c->ex.over)
		finish_exchange(c);
}

/* A request that cannot be served: tells why, and closes. */
static COLD void conn_refuse(struct http_conn *c, int status, const char *why)
{
	struct httpd *h = c->server;
	struct http_response_head head = { .status = status,
					   .content_type = STR_LIT("text/plain"),
					   .length = strlen(why) + 1,
					   .close = true };
	bool answered = c->phase == CONN_BODY && !c->ex.open;
	size_t before = buf_size(&c->out);

	if (c->ex.open) {
		lose_exchange(c, status);
	} else if (!answered) {
		c->ex = (struct http_exchange){ .begun_us = c->ex.begun_us };
		log_exchange(c, status);
	}
	if (!answered) {
		httpd_lend(h, &c->out);
		http_write_head(&c->out, &head, httpd_date(h));
		buf_appendz(&c->out, why);
		buf_putc(&c->out, '\n');
		if (buf_status(&c->out))
			buf_truncate(&c->out, before);
	}
	c->last = c->linger = true;
	next_request(c);
}

/* ---- requests ----------------------------------------------------------------------------- */

/* Bytes of the body, as far as the header tells; SIZE_MAX when it does not. */
static size_t announced(const struct http_request *r)
{
	struct str length = http_request_field(r, "content-length");
	size_t n = 0;

	if (http_request_field(r, "transfer-encoding").p)
		return SIZE_MAX;
	for (size_t i = 0; i < length.n; i++) { /* the parser has seen that these are digits */
		if (n > HTTP_DISCARD)
			return SIZE_MAX;
		n = n * 10 + (size_t)(length.p[i] - '0');
	}
	return n;
}

bool http_conn_body_unwelcome(const struct http_conn *c, size_t most)
{
	const struct http_request *r = http_parser_request(c->parser);

	return r->expect_continue || announced(r) > most;
}

static void begin_exchange(struct http_conn *c)
{
	const struct http_request *r = http_parser_request(c->parser);
	struct http_exchange *ex = &c->ex;

	*ex = (struct http_exchange){ .begun_us = ex->begun_us,
				      .method = r->method,
				      .keep_alive = r->keep_alive,
				      .http_1_0 = r->http_1_0,
				      .open = true };
	c->server->stats.exchanges++;
	c->phase = CONN_BODY;
	c->body_us = c->server->now_us;
	c->feed = true;
}

static void conn_on_head(struct http_conn *c)
{
	struct httpd *h = c->server;
	struct http_exchange *ex = &c->ex;

	begin_exchange(c);
	if (!h->o.service.head)
		return;
	ex->seen = ex->early = true;
	h->o.service.head(h->o.service.ctx, ex);
	ex->early = false;
	catch_up(c);
}

static void conn_on_request(struct http_conn *c)
{
	struct httpd *h = c->server;
	struct http_exchange *ex = &c->ex;

	if (!ex->open) { /* answered long ago */
		next_request(c);
		return;
	}
	c->phase = CONN_SERVING;
	ex->seen = true;
	h->o.service.request(h->o.service.ctx, ex);
	catch_up(c);
}

/* The parser wants more. RFC 9110 section 10.1.1: whoever waits is told to go on, unless it has
 * begun to send the body anyway. */
static void on_more(struct http_conn *c)
{
	if (c->phase == CONN_IDLE && !http_parser_is_idle(c->parser))
		c->phase = CONN_HEAD;
	if (c->phase != CONN_BODY || c->body_came || !c->ex.open ||
	    !http_parser_request(c->parser)->expect_continue)
		return;
	c->body_came = true;
	httpd_lend(c->server, &c->out);
	buf_appendz(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	if (buf_status(&c->out))
		c->dead = true;
}

static COLD void on_failure(struct http_conn *c)
{
	const char *why = NULL;
	int status = http_parser_error(c->parser, &why);

	conn_refuse(c, status, why ? why : "bad request");
}

static bool takes_input(const struct http_conn *c)
{
	return c->phase <= CONN_BODY && !c->dead && !c->writing &&
	       http_conn_queued(c) < HTTP_OUT_HIGH;
}

/* One step of the parser, which takes some of the n bytes. */
static size_t conn_step(struct http_conn *c, const char *p, size_t n)
{
	enum http_progress progress;
	size_t used = 0;

	if (!c->parser) {
		c->parser = httpd_parser(c->server);
		if (!c->parser) {
			c->dead = true;
			return n;
		}
	}
	if (c->phase == CONN_IDLE)
		c->ex.begun_us = c->server->now_us;
	c->feed = false;
	progress = http_parser_feed(c->parser, p, n, &used);
	if (c->phase == CONN_BODY && used > 0)
		c->body_came = true;
	switch (progress) {
	case HTTP_MORE: on_more(c); break;
	case HTTP_HEAD_DONE: conn_on_head(c); break;
	case HTTP_DONE: conn_on_request(c); break;
	case HTTP_FAILED: on_failure(c); break;
	}
	return used;
}

/* Serves what the bytes ask for, as far as that is possible now; gives how many were taken. */
static size_t conn_take(struct http_conn *c, const char *p, size_t n)
{
	size_t at = 0;

	while ((at < n || c->feed) && takes_input(c))
		at += conn_step(c, p + at, n - at);
	return at;
}

static bool has_input(const struct http_conn *c)
{
	return (buf_size(&c->in) > 0 || c->feed) && takes_input(c);
}

static void take_kept(struct http_conn *c)
{
	struct str s = buf_str(&c->in);

	buf_consume(&c->in, conn_take(c, s.p, s.n));
	if (buf_size(&c->in) == 0)
		buf_reset(&c->in, 0);
}

/* ---- input -------------------------------------------------------------------------------- */

static bool throws_away(const struct http_conn *c)
{
	return c->skip || c->phase >= CONN_CLOSING;
}

/* Bytes of the application that have just come. */
static void accept_bytes(struct http_conn *c, const char *p, size_t n)
{
	size_t used = 0;

	if (c->phase == CONN_BODY)
		c->progress = true;
	if (buf_size(&c->in) == 0)
		used = conn_take(c, p, n);
	if (throws_away(c)) {
		c->thrown_away += n - used;
		if (c->phase == CONN_LINGERING && c->thrown_away > HTTP_LINGER)
			c->dead = true;
		buf_reset(&c->in, 0);
		return;
	}
	buf_append(&c->in, p + used, n - used);
	if (buf_status(&c->in))
		c->dead = true;
}

static void decrypt(struct http_conn *c, const char *p, size_t n)
{
	struct httpd *h = c->server;
	cleat_error err = { 0 };
	struct str plain;
	int rc;

	buf_reset(&h->plain, HTTP_CHUNK);
	httpd_lend(h, &c->wire);
	rc = tls_session_receive(c->tls, (struct str){ p, n }, &h->plain, &c->wire, &err);
	plain = buf_str(&h->plain);
	if (plain.n && !buf_status(&h->plain))
		accept_bytes(c, plain.p, plain.n);
	if (rc == CLEAT_ECLOSED) {
		c->eof = true;
	} else if (rc) {
		if (rc == CLEAT_EPROTO)
			httpd_note(h, CLEAT_LOG_INFO, "%s: %s", c->address, err.message);
		flush(c); /* the alert */
		c->dead = true;
	}
}

/* How much may be read now. */
static size_t appetite(const struct http_conn *c)
{
	size_t kept = buf_size(&c->in);

	if (c->eof || (throws_away(c) && c->thrown_away > HTTP_LINGER))
		return 0;
	if (takes_input(c) || throws_away(c))
		return HTTP_CHUNK;
	return kept < HTTP_AHEAD ? HTTP_AHEAD - kept : 0;
}

static void receive(struct http_conn *c)
{
	struct httpd *h = c->server;
	size_t room = appetite(c);
	ptrdiff_t n;

	if (room == 0)
		return;
	n = fd_read(&c->end, h->chunk, room);
	if (n == 0)
		c->eof = true;
	else if (n < 0)
		c->dead = c->dead || !fd_would_block(n);
	else if (c->tls)
		decrypt(c, h->chunk, (size_t)n);
	else
		accept_bytes(c, h->chunk, (size_t)n);
	if (c->phase == CONN_BODY && !c->dead && h->now_us - c->body_us > h->body_us)
		http_conn_expired(c);
}

static void conn_on_ready(void *ctx, unsigned events, bool failed)
{
	struct http_conn *c = ctx;
	struct httpd *h = c->server;

	httpd_enter(h);
	c->handling = true;
	if (events & LOOP_WRITE)
		c->writing = false;
	if (failed || (events & LOOP_HANGUP))
		c->dead = true;
	else
		catch_up(c);
	if ((events & LOOP_READ) && !c->dead)
		receive(c);
	http_conn_settle(c);
	httpd_leave(h);
}

/* ---- what follows ------------------------------------------------------------------------- */

/* A streamed answer needs of its request only what goes into the log: the parser can go. */
static void forget_request(struct http_conn *c)
{
	const struct http_request *r = http_parser_request(c->parser);
	size_t method = r->method_name.n < 32 ? r->method_name.n : 32;
	size_t path = r->path.n < 224 ? r->path.n : 224;
	char *line = mem_alloc(&c->server->mem, method + path + 1);

	if (line) {
		memcpy(line, r->method_name.p, method);
		memcpy(line + method, r->path.p, path);
		line[method + path] = '\0';
	}
	c->ex.line = line;
	c->ex.method_size = method;
	httpd_keep_parser(c->server, c->parser);
	c->parser = NULL;
}

/* See above. */
static void end_of_input(struct http_conn *c)
{
	if (c->phase <= CONN_BODY && (buf_size(&c->in) > 0 || c->feed))
		return; /* as soon as there is room for the answers */
	switch (c->phase) {
	case CONN_IDLE: c->phase = CONN_CLOSING; break;
	case CONN_BODY:
		if (!c->ex.open) { /* answered, but perhaps not all of it is written */
			c->last = true;
			next_request(c);
			break;
		}
		/* fall through */
	case CONN_HEAD:
	case CONN_SERVING:
	case CONN_LINGERING: c->dead = true; break;
	case CONN_CLOSING: break;
	}
}

/* Everything is written and nothing will follow. */
static void close_down(struct http_conn *c)
{
	if (c->tls && !c->finished && !c->reset) {
		c->finished = true;
		httpd_lend(c->server, &c->wire);
		tls_session_finish(c->tls, &c->wire);
		flush(c);
		if (c->writing || c->dead)
			return;
	}
	/* Who has sent more than was asked for may be sending still. */
	if (c->thrown_away || buf_size(&c->in))
		c->linger = true;
	if (c->linger && !c->eof && !c->reset && c->thrown_away <= HTTP_LINGER) {
		shutdown(c->end.fd, SHUT_WR);
		c->phase = CONN_LINGERING;
	} else {
		c->dead = true;
	}
}

/* One round; true when there may be more to do. `rest`: no further call of drained(). */
static bool settle_once(struct http_conn *c, bool rest)
{
	struct httpd *h = c->server;

	catch_up(c);
	if (has_input(c))
		take_kept(c);
	if (h->draining && c->phase == CONN_IDLE && buf_size(&c->in) == 0)
		c->phase = CONN_CLOSING;
	if (c->ex.open && c->ex.streaming && c->parser)
		forget_request(c);
	flush(c);
	if (c->eof && !c->dead)
		end_of_input(c);
	if (c->dead || c->writing)
		return false;
	if (c->owes && c->ex.open && !c->ex.over) {
		if (rest) {
			c->writing = true; /* come back after the others had their turn */
			return false;
		}
		c->owes = false;
		h->o.service.drained(h->o.service.ctx, &c->ex);
		return true;
	}
	if (c->phase == CONN_CLOSING)
		close_down(c);
	return has_input(c);
}

static void update_watch(struct http_conn *c)
{
	unsigned events = (appetite(c) ? LOOP_READ : 0) | (c->writing ? LOOP_WRITE : 0);

	loop_watch_set(c->watch, events ? events : LOOP_HANGUP);
}

static void destroy(struct http_conn *c)
{
	static const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };
	struct httpd *h = c->server;

	http_conn_tell(c);
	ring_remove(&c->all);
	ring_remove(&c->dirty);
	ring_remove(&c->waiting);
	loop_watch_free(c->watch);
	if (c->reset)
		setsockopt(c->end.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(c->end.fd);
	httpd_keep_parser(h, c->parser);
	tls_session_free(c->tls);
	buf_done(&c->in);
	buf_done(&c->out);
	buf_done(&c->wire);
	http_peers_remove(h->peers, &h->mem, c->peer);
	http_peers_leave(h->peers);
	h->stats.connections--;
	mem_free(&h->mem, c);
}

void http_conn_settle(struct http_conn *c)
{
	c->handling = true;
	for (unsigned round = 0; !c->dead && settle_once(c, round >= HTTP_ROUNDS); round++)
		;
	if (c->dead) {
		destroy(c);
		return;
	}
	c->handling = false;
	update_watch(c);
	http_conn_arm(c);
}

void http_conn_mark(struct http_conn *c)
{
	struct httpd *h = c->server;

	if (c->handling || !ring_alone(&c->dirty))
		return;
	ring_add(&h->dirty, &c->dirty);
	loop_defer(h->o.loop, &h->flush_call);
}

void http_conn_tell(struct http_conn *c)
{
	void (*closed)(void *data) = c->closed;

	if (c->ex.open && c->ex.over) /* complete, but nobody had looked yet */
		end_exchange(c, c->ex.status);
	lose_exchange(c, c->ex.status);
	c->closed = NULL;
	if (closed)
		closed(c->data);
}

void http_conn_expired(struct http_conn *c)
{
	struct httpd *h = c->server;
	bool begun = c->phase == CONN_HEAD || c->phase == CONN_BODY;

	if (c->deadline != HTTP_UNTIL_REQUEST && c->deadline != HTTP_UNTIL_FORGOTTEN)
		h->stats.timeouts++;
	if (begun && !c->writing)
		conn_refuse(c, 408, "the request took too long");
	else
		c->dead = true;
}

/* ---- the beginning ------------------------------------------------------------------------ */

int http_conn_open(struct httpd *h, int fd, const char *from, struct http_peer *peer)
{
	struct http_conn *c = mem_zalloc(&h->mem, sizeof *c);
	int rc = CLEAT_ENOMEM;

	if (!c)
		goto no_conn;
	if (h->o.tls) {
		c->tls = tls_session_new(h->o.tls);
		if (!c->tls)
			goto no_watch;
	}
	rc = loop_watch_new(h->o.loop, fd, conn_on_ready, c, &c->watch);
	if (rc)
		goto no_watch;
	c->server = h;
	c->end = (struct fd_end){ .fd = fd, .flags = -1, .socket = true };
	c->peer = peer;
	c->progress = true;
	memcpy(c->address, from, strlen(from) + 1);
	c->in = BUF_INIT(&h->mem, SIZE_MAX / 2);
	c->out = c->wire = c->in;
	ring_init(&c->dirty);
	ring_init(&c->waiting);
	ring_add(&h->conns, &c->all);
	h->stats.connections++;
	update_watch(c);
	http_conn_arm(c);
	return CLEAT_OK;
no_watch:
	if (c->tls)
		tls_session_free(c->tls);
	mem_free(&h->mem, c);
no_conn:
	http_peers_remove(h->peers, &h->mem, peer);
	http_peers_leave(h->peers);
	close(fd);
	return rc;
}
