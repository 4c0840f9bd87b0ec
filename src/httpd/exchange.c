/* httpd/exchange.c - what a service calls for one request; see server.h.
 *
 * Nothing here calls the service back or destroys anything: answers are put into the connection's
 * buffer, and the connection looks at the rest when control is back in the loop. Only a large answer
 * is sent from here, because it would have to be copied otherwise; that it failed is noticed later.
 *
 * An exchange with operations of its own (ex->ops) is not part of a connection: nothing here looks at
 * what is around it.
 */
#include "httpd/conn.h"

#include "base/mem.h"

/* A body of this size is worth a system call of its own rather than a copy. */
enum { SEND_AT_ONCE = 32 * 1024 };

/* NULL when it is none's. */
static struct http_conn *conn_of(const struct http_exchange *ex)
{
	return ex->ops ? NULL : CONTAINER_OF(ex, struct http_conn, ex);
}

/* ---- the request -------------------------------------------------------------------------- */

const struct http_request *http_exchange_request(const struct http_exchange *ex)
{
	struct http_conn *c = conn_of(ex);
	struct http_request *r;

	if (ex->ops)
		return ex->ops->request(ex);
	if (ex->open && c->parser)
		return http_parser_request(c->parser);
	r = &c->server->summary;
	*r = (struct http_request){ .method = ex->method,
				    .method_name = STR_LIT(""),
				    .path = STR_LIT(""),
				    .body = STR_LIT(""),
				    .keep_alive = ex->keep_alive,
				    .http_1_0 = ex->http_1_0 };
	if (ex->line) {
		r->method_name = (struct str){ ex->line, ex->method_size };
		r->path = str_of(ex->line + ex->method_size);
	}
	return r;
}

const char *http_exchange_address(const struct http_exchange *ex)
{
	return ex->ops ? ex->ops->address(ex) : conn_of(ex)->address;
}

bool http_exchange_is_tls(const struct http_exchange *ex)
{
	return ex->ops ? ex->ops->is_tls(ex) : conn_of(ex)->tls != NULL;
}

void http_exchange_set_data(struct http_exchange *ex, void *data)
{
	ex->data = data;
}

void *http_exchange_data(const struct http_exchange *ex)
{
	return ex->data;
}

void http_exchange_keep(struct http_exchange *ex, void *memory)
{
	if (ex->ops) {
		ex->ops->keep(ex, memory);
		return;
	}
	mem_free(&conn_of(ex)->server->mem, ex->kept);
	ex->kept = memory;
}

void *http_exchange_kept(const struct http_exchange *ex)
{
	return ex->kept;
}

void http_exchange_set_connection_data(struct http_exchange *ex, void *data,
				       void (*closed)(void *data))
{
	struct http_conn *c = conn_of(ex);

	if (ex->ops) {
		ex->ops->set_connection_data(ex, data, closed);
		return;
	}
	c->data = data;
	c->closed = closed;
}

void *http_exchange_connection_data(const struct http_exchange *ex)
{
	return ex->ops ? ex->ops->connection_data(ex) : conn_of(ex)->data;
}

void http_exchange_limit_body(struct http_exchange *ex, size_t max_body)
{
	struct http_conn *c = conn_of(ex);

	if (ex->ops)
		ex->ops->limit_body(ex, max_body);
	else if (ex->early && c->parser)
		http_parser_limit_body(c->parser, max_body);
}

/* ---- the answer --------------------------------------------------------------------------- */

static bool is_open(const struct http_exchange *ex)
{
	return ex->open && !ex->over && !conn_of(ex)->dead;
}

/* Nothing more will be said in this exchange. */
static void over(struct http_conn *c)
{
	c->ex.over = true;
	http_conn_mark(c);
}

static void give_up(struct http_conn *c)
{
	c->last = true;
	over(c);
}

bool http_exchange_has_body(const struct http_exchange *ex, int status)
{
	return ex->method != HTTP_METHOD_HEAD && status != 204 && status != 304;
}

/* Can the connection not be used again? */
static bool is_last(const struct http_conn *c, size_t most_body)
{
	const struct http_exchange *ex = &c->ex;

	return ex->close || !ex->keep_alive || c->eof || c->server->draining ||
	       (c->phase == CONN_BODY && http_conn_body_unwelcome(c, most_body));
}

/* False when there was no memory; nothing is written then. */
static bool write_head(struct http_conn *c, struct http_response_head *head)
{
	struct httpd *h = c->server;
	size_t before = buf_size(&c->out);

	head->is_1_0 = c->ex.http_1_0;
	httpd_lend(h, &c->out);
	http_write_head(&c->out, head, httpd_date(h));
	if (buf_status(&c->out) == CLEAT_OK)
		return true;
	buf_truncate(&c->out, before);
	return false;
}

/* Sends the body without copying it, behind what waits already; gives what is left of it. */
static struct str send_large(struct http_conn *c, struct str body)
{
	struct str waiting = buf_str(&c->out);
	ptrdiff_t n = fd_write_pair(&c->end, waiting, body);
	size_t sent = n < 0 ? 0 : (size_t)n;

	c->dead = n < 0 && !fd_would_block(n);
	c->writing = sent < waiting.n + body.n;
	c->progress = c->progress || sent > 0;
	if (sent < waiting.n) {
		buf_consume(&c->out, sent);
		return body;
	}
	buf_consume(&c->out, waiting.n);
	sent -= waiting.n;
	return (struct str){ body.p + sent, body.n - sent };
}

/* `before`: what waited before the header was written. */
static bool write_body(struct http_conn *c, struct str body, size_t before)
{
	size_t queued = buf_size(&c->out);

	if (body.n >= SEND_AT_ONCE && !c->tls && !c->writing)
		body = send_large(c, body);
	buf_append(&c->out, body.p, body.n);
	if (buf_status(&c->out) == CLEAT_OK)
		return true;
	/* The answers in front of it may still go out, if nothing has yet. */
	if (buf_size(&c->out) == queued)
		buf_truncate(&c->out, before);
	else
		c->dead = true;
	return false;
}

void http_exchange_reply(struct http_exchange *ex, int status, struct str content_type,
			 const struct http_field *fields, size_t n_fields, struct str body)
{
	struct http_response_head head = { .status = status,
					   .fields = fields,
					   .n_fields = n_fields,
					   .content_type = content_type,
					   .length = body.n };
	struct http_conn *c = conn_of(ex);
	size_t before;

	if (ex->ops) {
		ex->ops->reply(ex, status, content_type, fields, n_fields, body);
		return;
	}
	if (!is_open(ex))
		return;
	if (ex->streaming) { /* too late for that */
		http_exchange_abort(ex);
		return;
	}
	before = buf_size(&c->out);
	c->last = c->last || is_last(c, HTTP_DISCARD);
	head.close = c->last;
	ex->status = status;
	if (!http_exchange_has_body(ex, status))
		body.n = 0;
	if (write_head(c, &head) && write_body(c, body, before)) {
		ex->bytes = body.n;
		over(c);
	} else {
		give_up(c);
	}
}

int http_exchange_begin(struct http_exchange *ex, int status, struct str content_type,
			const struct http_field *fields, size_t n_fields)
{
	struct http_response_head head = { .status = status,
					   .fields = fields,
					   .n_fields = n_fields,
					   .content_type = content_type,
					   .chunked = true };
	struct http_conn *c = conn_of(ex);

	if (ex->ops)
		return ex->ops->begin(ex, status, content_type, fields, n_fields);
	if (!is_open(ex))
		return CLEAT_ECLOSED;
	if (ex->streaming)
		return CLEAT_EMISUSE;
	head.close = c->last || is_last(c, 0) || ex->http_1_0;
	if (!write_head(c, &head))
		return CLEAT_ENOMEM;
	c->last = head.close;
	ex->status = status;
	ex->streaming = true;
	if (c->phase == CONN_BODY) { /* which has no reader: the stream goes on without it */
		c->phase = CONN_SERVING;
		c->feed = false;
		c->skip = c->last;
	}
	http_conn_mark(c);
	return CLEAT_OK;
}

int http_exchange_write(struct http_exchange *ex, struct str bytes, bool must)
{
	struct http_conn *c = conn_of(ex);
	size_t queued, max, before;

	if (ex->ops)
		return ex->ops->write(ex, bytes, must);
	if (!is_open(ex))
		return CLEAT_ECLOSED;
	if (!ex->streaming)
		return CLEAT_EMISUSE;
	if (bytes.n == 0 || !http_exchange_has_body(ex, ex->status))
		return CLEAT_OK;
	queued = http_conn_queued(c);
	max = c->server->o.max_stream_queue;
	if (queued > max || (!must && bytes.n > max - queued))
		return CLEAT_ELIMIT;
	before = buf_size(&c->out);
	httpd_lend(c->server, &c->out);
	if (ex->http_1_0)
		buf_append(&c->out, bytes.p, bytes.n);
	else
		http_write_chunk(&c->out, bytes.p, bytes.n);
	if (buf_status(&c->out)) {
		buf_truncate(&c->out, before);
		return CLEAT_ENOMEM;
	}
	ex->bytes += bytes.n;
	c->owes = c->server->o.service.drained != NULL;
	http_conn_mark(c);
	return CLEAT_OK;
}

size_t http_exchange_queued(const struct http_exchange *ex)
{
	return ex->ops ? ex->ops->queued(ex) : http_conn_queued(conn_of(ex));
}

void http_exchange_end(struct http_exchange *ex)
{
	struct http_conn *c = conn_of(ex);
	size_t before;

	if (ex->ops) {
		ex->ops->end(ex);
		return;
	}
	if (!is_open(ex))
		return;
	if (!ex->streaming) { /* no answer at all */
		http_exchange_abort(ex);
		return;
	}
	before = buf_size(&c->out);
	if (!ex->http_1_0 && http_exchange_has_body(ex, ex->status)) {
		httpd_lend(c->server, &c->out);
		http_write_last_chunk(&c->out);
	}
	if (buf_status(&c->out)) {
		buf_truncate(&c->out, before);
		c->last = true; /* the last chunk is missing: everybody can see it */
	}
	over(c);
}

void http_exchange_abort(struct http_exchange *ex)
{
	struct http_conn *c = conn_of(ex);

	if (ex->ops) {
		ex->ops->abort(ex);
		return;
	}
	if (!is_open(ex))
		return;
	/* Without chunks the end of the connection is the end of the answer. */
	c->reset = ex->streaming && ex->http_1_0;
	give_up(c);
}

void http_exchange_close_after(struct http_exchange *ex)
{
	ex->close = true;
}
