/* httpd/relay_front.c - the service of connections whose requests are answered on another
 * thread; see relay_impl.h.
 *
 * Everything here runs on the connections' thread. An exchange that the connection has lost, or whose
 * answer is complete, has no `real` any more: commands for it are thrown away. What is left is the
 * record for the log, with which the front lets go of it.
 */
#include "httpd/relay_impl.h"

#include "base/mem.h"

#include <stdio.h>

enum { MAX_NOTES = 32 };

/* ---- making ------------------------------------------------------------------------------- */

static void deliver_closed(struct relay_mail *m, unsigned what)
{
	struct relay_conn *c = CONTAINER_OF(m, struct relay_conn, closed_mail);

	(void)what;
	if (c->closed)
		c->closed(c->data);
	relay_conn_drop(c);
}

/* The client has closed the connection, or we have. */
static void on_closed(void *data)
{
	struct relay_conn *c = data;

	relay_send(c->relay, &c->closed_mail, MAIL_OTHER, 0); /* with the front's hold */
}

static struct relay_conn *conn_new(struct http_relay *r, const struct http_exchange *real)
{
	struct relay_conn *c = mem_zalloc(&r->mem, sizeof *c);

	if (!c)
		return NULL;
	c->relay = r;
	atomic_init(&c->holds, 1);
	c->closed_mail.deliver = deliver_closed;
	c->tls = http_exchange_is_tls(real);
	snprintf(c->address, sizeof c->address, "%s", http_exchange_address(real));
	return c;
}

/* Held once. */
static struct relay_exchange *exchange_new(struct relay_conn *c)
{
	struct relay_exchange *x = mem_zalloc(&c->relay->mem, sizeof *x);

	if (!x)
		return NULL;
	relay_conn_hold(c);
	x->ex.ops = &relay_back_ops;
	x->relay = c->relay;
	x->conn = c;
	atomic_init(&x->holds, 1);
	atomic_init(&x->written, 0);
	x->mail.deliver = relay_back_deliver;
	ring_init(&x->waiting);
	return x;
}

/* The request as it is, its body only if it is wanted; gives the size of the copy, 0 when out of
 * memory. */
static size_t copy_request(struct relay_exchange *x, const struct http_request *q, bool whole)
{
	struct str body = whole ? q->body : STR_LIT("");
	size_t size = relay_fields_size(q->fields, q->n_fields) + q->method_name.n + q->path.n +
		      q->query.n + body.n + 1;
	struct http_field *fields = mem_alloc(&x->relay->mem, size);
	char *at;

	if (!fields)
		return 0;
	at = (char *)(fields + q->n_fields);
	x->copy = fields;
	x->request = *q;
	x->request.fields = fields;
	relay_put_fields(&at, fields, q->fields, q->n_fields);
	x->request.method_name = relay_put(&at, q->method_name);
	x->request.path = relay_put(&at, q->path);
	x->request.query = relay_put(&at, q->query);
	x->request.body = relay_put(&at, body);
	x->ex.method = q->method;
	x->ex.keep_alive = q->keep_alive;
	x->ex.http_1_0 = q->http_1_0;
	return size;
}

/* ---- requests ----------------------------------------------------------------------------- */

static void relay_front_tell(struct relay_exchange *x, unsigned what, size_t weight)
{
	relay_exchange_hold(x);
	if (!relay_send(x->relay, &x->mail, what, weight))
		relay_exchange_drop(x);
}

static void reply_busy(struct http_exchange *real)
{
	static const struct http_field later = { { "Retry-After", 11 }, { "1", 1 } };

	http_exchange_reply(real, 503, STR_LIT("text/plain"), &later, 1,
			    STR_LIT("out of memory; try again later\n"));
}

static void send_request(struct relay_exchange *x)
{
	struct http_exchange *real = x->real;
	size_t size = copy_request(x, http_exchange_request(real), true);

	if (size == 0) {
		x->real = NULL;
		reply_busy(real);
		return;
	}
	x->sent = true;
	relay_exchange_hold(x); /* for the back */
	relay_front_tell(x, MAIL_REQUEST, size);
}

static void relay_front_on_head(void *ctx, struct http_exchange *real)
{
	struct http_relay *r = ctx;

	r->o.screen(r->o.screen_ctx, real);
}

static struct relay_conn *conn_of(struct http_relay *r, struct http_exchange *real)
{
	struct relay_conn *c = http_exchange_connection_data(real);

	if (!c) {
		c = conn_new(r, real);
		http_exchange_set_connection_data(real, c, c ? on_closed : NULL);
	}
	return c;
}

static void relay_front_on_request(void *ctx, struct http_exchange *real)
{
	struct http_relay *r = ctx;
	struct relay_conn *c = conn_of(r, real);
	struct relay_exchange *x = c ? exchange_new(c) : NULL;

	if (!x) {
		reply_busy(real);
		return;
	}
	c->current = x;
	x->real = real;
	http_exchange_set_data(real, x);
	if (ring_alone(&r->waiting) && relay_has_room(r))
		send_request(x);
	else
		ring_add(&r->waiting, &x->waiting);
}

void relay_front_resume(struct http_relay *r)
{
	while (!ring_alone(&r->waiting) && relay_has_room(r)) {
		struct relay_exchange *x =
			CONTAINER_OF(r->waiting.next, struct relay_exchange, waiting);

		ring_remove(&x->waiting);
		send_request(x);
	}
}

static void relay_front_on_gone(void *ctx, struct http_exchange *real)
{
	struct relay_exchange *x = http_exchange_data(real);

	(void)ctx;
	if (!x) /* only its header was seen */
		return;
	x->real = NULL;
	ring_remove(&x->waiting);
	if (x->sent)
		relay_front_tell(x, MAIL_GONE, 0);
}

static void relay_front_on_drained(void *ctx, struct http_exchange *real)
{
	struct relay_exchange *x = http_exchange_data(real);

	(void)ctx;
	atomic_store_explicit(&x->written, x->given, memory_order_release);
	relay_front_tell(x, MAIL_DRAINED, 0);
}

/* ---- records ------------------------------------------------------------------------------ */

/* The record of an exchange that the back does not know. Whoever sends more of these than the log can
 * take is counted. */
static void log_alone(struct http_relay *r, struct relay_exchange *x,
		      const struct http_exchange *real)
{
	bool many;
	size_t size = 0;

	pthread_mutex_lock(&r->lock);
	many = r->weight > 2 * r->o.max_bytes;
	pthread_mutex_unlock(&r->lock);
	if (!many && x)
		size = copy_request(x, http_exchange_request(real), false);
	if (size > 0)
		relay_front_tell(x, MAIL_LOGGED, size + sizeof *x);
	else
		atomic_fetch_add_explicit(&r->stats.unlogged, 1, memory_order_relaxed);
}

/* One that never came as far as relay_front_on_request(). */
static struct relay_exchange *unknown_exchange(struct http_relay *r, struct relay_conn *c,
					       const struct http_exchange *real)
{
	struct relay_conn *own = c ? c : conn_new(r, real);
	struct relay_exchange *x = own ? exchange_new(own) : NULL;

	if (own && !c)
		relay_conn_drop(own);
	return x;
}

/* Called for every exchange, last. */
static void on_logged(void *ctx, const struct http_exchange *real, int status, uint64_t bytes,
		      uint64_t micros)
{
	struct http_relay *r = ctx;
	struct relay_conn *c = http_exchange_connection_data(real);
	struct relay_exchange *x = c ? c->current : NULL;

	if (c)
		c->current = NULL;
	if (!x && r->service.logged)
		x = unknown_exchange(r, c, real);
	if (x) {
		x->real = NULL;
		x->status = status;
		x->bytes = bytes;
		x->micros = micros;
	}
	if (r->service.logged && x && x->sent)
		relay_front_tell(x, MAIL_LOGGED, 0);
	else if (r->service.logged)
		log_alone(r, x, real);
	if (x)
		relay_exchange_drop(x);
}

struct relay_note {
	struct relay_mail mail;
	struct http_relay *relay;
	int level;
	char text[256];
};

static void deliver_note(struct relay_mail *m, unsigned what)
{
	struct relay_note *n = CONTAINER_OF(m, struct relay_note, mail);
	struct http_relay *r = n->relay;

	(void)what;
	pthread_mutex_lock(&r->lock);
	r->n_notes--;
	pthread_mutex_unlock(&r->lock);
	r->o.http.note(r->o.http.note_ctx, n->level, n->text);
	mem_free(&r->mem, n);
}

/* What cannot be said is left unsaid. */
void relay_front_note(void *relay, int level, const char *text)
{
	struct http_relay *r = relay;
	struct relay_note *n;
	bool many;

	pthread_mutex_lock(&r->lock);
	many = r->n_notes == MAX_NOTES;
	r->n_notes += !many;
	pthread_mutex_unlock(&r->lock);
	if (many)
		return;
	n = mem_zalloc(&r->mem, sizeof *n);
	if (!n) {
		pthread_mutex_lock(&r->lock);
		r->n_notes--;
		pthread_mutex_unlock(&r->lock);
		return;
	}
	n->mail.deliver = deliver_note;
	n->relay = r;
	n->level = level;
	snprintf(n->text, sizeof n->text, "%s", text);
	relay_send(r, &n->mail, MAIL_OTHER, sizeof *n);
}

/* ---- commands ----------------------------------------------------------------------------- */

/* Only the front knows that this answer cannot be sent on: for the back the client has gone. */
static void break_off(struct relay_exchange *x)
{
	struct http_exchange *real = x->real;

	x->real = NULL;
	http_exchange_abort(real);
	relay_front_tell(x, MAIL_GONE, 0);
}

static void relay_front_begin(struct relay_command *c)
{
	int rc;

	if (c->close)
		http_exchange_close_after(c->x->real);
	rc = http_exchange_begin(c->x->real, c->status, c->type, c->fields, c->n_fields);
	if (rc && rc != CLEAT_ECLOSED) /* else it is gone already, and will be heard of */
		break_off(c->x);
}

/* What is in the connection's buffer counts as not written, with the chunks around it. */
static void write_bytes(struct relay_exchange *x, struct str bytes)
{
	int rc = http_exchange_write(x->real, bytes, true);
	size_t queued;

	if (rc && rc != CLEAT_ECLOSED) {
		break_off(x);
		return;
	}
	x->given += bytes.n;
	queued = http_exchange_queued(x->real);
	if (x->given > queued &&
	    x->given - queued > atomic_load_explicit(&x->written, memory_order_relaxed))
		atomic_store_explicit(&x->written, x->given - queued, memory_order_release);
}

void relay_front_run(struct relay_command *c)
{
	struct relay_exchange *x = c->x;
	struct http_exchange *real = x->real;

	if (!real)
		return;
	if (c->verb != DO_BEGIN && c->verb != DO_WRITE)
		x->real = NULL;
	switch (c->verb) {
	case DO_BEGIN: relay_front_begin(c); break;
	case DO_WRITE: write_bytes(x, c->body); break;
	case DO_END: http_exchange_end(real); break;
	case DO_ABORT: http_exchange_abort(real); break;
	case DO_REPLY:
		if (c->close)
			http_exchange_close_after(real);
		http_exchange_reply(real, c->status, c->type, c->fields, c->n_fields, c->body);
		break;
	}
}

struct http_service relay_front_service(struct http_relay *r)
{
	return (struct http_service){ .head = r->o.screen ? relay_front_on_head : NULL,
				      .request = relay_front_on_request,
				      .gone = relay_front_on_gone,
				      .drained = relay_front_on_drained,
				      .logged = on_logged,
				      .ctx = r };
}
