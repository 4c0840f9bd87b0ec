/* httpd/relay.c - the life of a relay, and what crosses between its two sides; see
 * relay.h and relay_impl.h.
 *
 * One lock, held for a few instructions and never while somebody is called. Each direction is a list:
 * the loop of the other side is woken when something is put into an empty one, and takes all that is
 * there. Commands are collected until the back's loop has done everything else, so that the answers of
 * one turn cross together.
 */
#define _POSIX_C_SOURCE 200809L

#include "httpd/relay_impl.h"

#include "base/mem.h"

enum { MAX_REQUESTS = 256, MAX_BYTES = 8 << 20, MAX_STREAM_QUEUE = 256 * 1024 };

/* ---- holds -------------------------------------------------------------------------------- */

static void hold(atomic_uint *holds)
{
	atomic_fetch_add_explicit(holds, 1, memory_order_relaxed);
}

/* True when that was the last one. */
static bool relay_drop(atomic_uint *holds)
{
	return atomic_fetch_sub_explicit(holds, 1, memory_order_acq_rel) == 1;
}

void relay_conn_hold(struct relay_conn *c)
{
	hold(&c->holds);
}

void relay_conn_drop(struct relay_conn *c)
{
	if (relay_drop(&c->holds))
		mem_free(&c->relay->mem, c);
}

void relay_exchange_hold(struct relay_exchange *x)
{
	hold(&x->holds);
}

void relay_exchange_drop(struct relay_exchange *x)
{
	struct http_relay *r = x->relay;

	if (!relay_drop(&x->holds))
		return;
	relay_conn_drop(x->conn);
	mem_free(&r->mem, x->copy);
	mem_free(&r->mem, x->ex.kept);
	mem_free(&r->mem, x);
}

/* ---- copies ------------------------------------------------------------------------------- */

struct str relay_put(char **at, struct str s)
{
	struct str copy = { s.p ? *at : NULL, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}

size_t relay_fields_size(const struct http_field *fields, size_t n)
{
	size_t size = n * sizeof *fields;

	for (size_t i = 0; i < n; i++)
		size += fields[i].name.n + fields[i].value.n;
	return size;
}

void relay_put_fields(char **at, struct http_field *to, const struct http_field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i].name = relay_put(at, fields[i].name);
		to[i].value = relay_put(at, fields[i].value);
	}
}

/* ---- from front to back ------------------------------------------------------------------- */

bool relay_send(struct http_relay *r, struct relay_mail *m, unsigned what, size_t weight)
{
	bool fresh, first;

	pthread_mutex_lock(&r->lock);
	fresh = m->what == 0;
	first = !r->mail;
	if (fresh) {
		m->next = NULL;
		*r->mail_end = m;
		r->mail_end = &m->next;
		r->n_mail++;
	}
	m->what |= what;
	m->weight += weight;
	r->weight += weight;
	r->n_requests += (what & MAIL_REQUEST) != 0;
	pthread_mutex_unlock(&r->lock);
	if (first)
		loop_post(r->o.back, &r->back_call);
	return fresh;
}

bool relay_has_room(struct http_relay *r)
{
	bool room;

	pthread_mutex_lock(&r->lock);
	room = r->n_mail == 0 || (r->n_requests < r->o.max_requests && r->weight < r->o.max_bytes);
	r->starving = r->starving || !room;
	pthread_mutex_unlock(&r->lock);
	return room;
}

/* The oldest; false when there is none. */
static bool deliver_one(struct http_relay *r)
{
	struct relay_mail *m;
	unsigned what = 0;

	pthread_mutex_lock(&r->lock);
	m = r->mail;
	if (m) {
		r->mail = m->next;
		if (!r->mail)
			r->mail_end = &r->mail;
		what = m->what;
		r->n_mail--;
		r->weight -= m->weight;
		r->n_requests -= (what & MAIL_REQUEST) != 0;
		m->what = 0;
		m->weight = 0;
	}
	pthread_mutex_unlock(&r->lock);
	if (m)
		m->deliver(m, what); /* may free it */
	return m != NULL;
}

/* As much as there was at the beginning: what comes meanwhile waits for the loop's next turn. */
static void on_back(struct loop_call *call)
{
	struct http_relay *r = CONTAINER_OF(call, struct http_relay, back_call);
	bool more, starving;
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->n_mail;
	pthread_mutex_unlock(&r->lock);
	while (n-- > 0 && deliver_one(r))
		;
	pthread_mutex_lock(&r->lock);
	more = r->mail != NULL;
	starving = r->starving;
	r->starving = false;
	pthread_mutex_unlock(&r->lock);
	if (more)
		loop_post(r->o.back, &r->back_call);
	if (starving)
		loop_post(r->o.http.loop, &r->front_call);
}

/* ---- from back to front ------------------------------------------------------------------- */

static void commands_init(struct relay_commands *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void commands_add(struct relay_commands *q, struct relay_command *c)
{
	c->next = NULL;
	*q->end = c;
	q->end = &c->next;
}

/* Moves all of `from` behind what is in `to`; true when `to` was empty and is not any more. */
static bool commands_move(struct relay_commands *to, struct relay_commands *from)
{
	bool first = !to->first && from->first;

	if (!from->first)
		return false;
	*to->end = from->first;
	to->end = from->end;
	commands_init(from);
	return first;
}

static void commands_done(struct relay_commands *q)
{
	struct relay_command *c, *next;

	for (c = q->first; c; c = next) {
		next = c->next;
		relay_command_free(c);
	}
	commands_init(q);
}

void relay_command(struct relay_command *c)
{
	struct http_relay *r = c->x->relay;

	relay_exchange_hold(c->x);
	commands_add(&r->staged, c);
	loop_defer(r->o.back, &r->send_call);
}

void relay_command_free(struct relay_command *c)
{
	struct relay_exchange *x = c->x;

	if (c != &x->last)
		mem_free(&x->relay->mem, c);
	relay_exchange_drop(x);
}

static void on_send(struct loop_call *call)
{
	struct http_relay *r = CONTAINER_OF(call, struct http_relay, send_call);
	bool first;

	for (struct relay_command *c = r->staged.first; c; c = c->next)
		relay_back_staged(c);
	pthread_mutex_lock(&r->lock);
	first = commands_move(&r->commands, &r->staged);
	pthread_mutex_unlock(&r->lock);
	if (first)
		loop_post(r->o.http.loop, &r->front_call);
}

static void relay_on_drained(void *ctx)
{
	struct http_relay *r = ctx;

	relay_send(r, &r->drained_mail, MAIL_OTHER, 0);
}

/* Everything that the back wants. */
static void on_front(struct loop_call *call)
{
	struct http_relay *r = CONTAINER_OF(call, struct http_relay, front_call);
	struct relay_commands commands;
	struct relay_command *c, *next;
	struct tls_context *tls;
	bool drain, set_tls;

	commands_init(&commands);
	pthread_mutex_lock(&r->lock);
	commands_move(&commands, &r->commands);
	drain = r->drain;
	set_tls = r->set_tls;
	tls = r->tls;
	r->drain = r->set_tls = false;
	r->tls = NULL;
	pthread_mutex_unlock(&r->lock);
	for (c = commands.first; c; c = next) {
		next = c->next;
		relay_front_run(c);
		relay_command_free(c);
	}
	relay_front_resume(r);
	if (set_tls)
		httpd_set_tls(r->http, tls);
	tls_context_drop(tls);
	if (drain)
		httpd_drain(r->http, relay_on_drained, r);
}

void http_relay_set_tls(struct http_relay *r, struct tls_context *tls)
{
	struct tls_context *before;

	pthread_mutex_lock(&r->lock);
	before = r->tls;
	r->tls = tls ? tls_context_hold(tls) : NULL;
	r->set_tls = true;
	pthread_mutex_unlock(&r->lock);
	tls_context_drop(before);
	loop_post(r->o.http.loop, &r->front_call);
}

static void deliver_drained(struct relay_mail *m, unsigned what)
{
	struct http_relay *r = CONTAINER_OF(m, struct http_relay, drained_mail);

	(void)what;
	if (!r->closing)
		r->done(r->done_ctx);
}

void http_relay_drain(struct http_relay *r, void (*done)(void *ctx), void *ctx)
{
	r->done = done;
	r->done_ctx = ctx;
	pthread_mutex_lock(&r->lock);
	r->drain = true;
	pthread_mutex_unlock(&r->lock);
	loop_post(r->o.http.loop, &r->front_call);
}

/* ---- numbers ------------------------------------------------------------------------------ */

#define STORE(number, value) atomic_store_explicit(&(number), (value), memory_order_relaxed)
#define LOAD(number)         atomic_load_explicit(&(number), memory_order_relaxed)

static void on_publish(struct loop_call *call)
{
	struct http_relay *r = CONTAINER_OF(call, struct http_relay, publish_call);
	const struct httpd_stats *s = &r->http->stats;
	struct httpd_stats full;

	STORE(r->stats.connections, s->connections);
	STORE(r->stats.exchanges, s->exchanges);
	STORE(r->stats.accepted, s->accepted);
	STORE(r->stats.refused, s->refused);
	STORE(r->stats.timeouts, s->timeouts);
	if (LOAD(r->stats.wanted)) {
		STORE(r->stats.wanted, false);
		httpd_stats(r->http, &full); /* looks at every connection */
		STORE(r->stats.queued_bytes, full.queued_bytes);
	}
}

/* Last in the turn, when connections have been settled. */
static void on_turn(struct loop_turn *turn)
{
	struct http_relay *r = CONTAINER_OF(turn, struct http_relay, turn);

	loop_defer(r->o.http.loop, &r->publish_call);
}

void http_relay_stats(struct http_relay *r, struct httpd_stats *ret)
{
	*ret = (struct httpd_stats){ .connections = LOAD(r->stats.connections),
				     .exchanges = LOAD(r->stats.exchanges),
				     .queued_bytes = LOAD(r->stats.queued_bytes),
				     .accepted = LOAD(r->stats.accepted),
				     .refused = LOAD(r->stats.refused),
				     .timeouts = LOAD(r->stats.timeouts) };
	STORE(r->stats.wanted, true);
	cleat_loop_wake(r->o.http.loop);
}

uint64_t http_relay_unlogged(struct http_relay *r)
{
	return LOAD(r->stats.unlogged);
}

/* ---- life --------------------------------------------------------------------------------- */

static void take_options(struct http_relay *r, const struct http_relay_options *o)
{
	r->o = *o;
	r->service = o->http.service;
	if (r->o.max_requests == 0)
		r->o.max_requests = MAX_REQUESTS;
	if (r->o.max_bytes == 0)
		r->o.max_bytes = MAX_BYTES;
	if (r->o.http.max_stream_queue == 0)
		r->o.http.max_stream_queue = MAX_STREAM_QUEUE;
}

/* The bound on streams is kept in the back, which knows everything that is on its way. */
static int open_front(struct http_relay *r)
{
	struct httpd_options o = r->o.http;

	o.service = relay_front_service(r);
	o.max_stream_queue = SIZE_MAX;
	o.note = o.note ? relay_front_note : NULL;
	o.note_ctx = r;
	return httpd_new(&o, &r->http);
}

int http_relay_new(const struct http_relay_options *o, struct http_relay **ret)
{
	cleat_allocator mem = mem_resolve(o->http.mem);
	struct http_relay *r = mem_zalloc(&mem, sizeof *r);

	*ret = NULL;
	if (!r)
		return CLEAT_ENOMEM;
	r->mem = mem;
	take_options(r, o);
	r->mail_end = &r->mail;
	commands_init(&r->commands);
	commands_init(&r->staged);
	ring_init(&r->waiting);
	r->front_call.fn = on_front;
	r->publish_call.fn = on_publish;
	r->back_call.fn = on_back;
	r->send_call.fn = on_send;
	r->turn.fn = on_turn;
	r->drained_mail.deliver = deliver_drained;
	if (open_front(r)) {
		mem_free(&mem, r);
		return CLEAT_ENOMEM;
	}
	pthread_mutex_init(&r->lock, NULL); /* cannot fail with default attributes */
	loop_turn_add(o->http.loop, &r->turn);
	*ret = r;
	return CLEAT_OK;
}

int http_relay_add(struct http_relay *r, struct listener *l, cleat_error *err)
{
	return httpd_add(r->http, l, err);
}

void http_relay_free(struct http_relay *r)
{
	cleat_loop *front;
	cleat_allocator mem;

	if (!r)
		return;
	mem = r->mem;
	front = r->o.http.loop;
	r->closing = true;
	httpd_free(r->http);
	while (deliver_one(r))
		;
	commands_done(&r->staged);
	commands_done(&r->commands);
	loop_cancel(r->o.back, &r->back_call);
	loop_cancel(r->o.back, &r->send_call);
	loop_turn_remove(front, &r->turn);
	loop_cancel(front, &r->front_call);
	loop_cancel(front, &r->publish_call);
	tls_context_drop(r->tls);
	pthread_mutex_destroy(&r->lock);
	mem_free(&mem, r);
}
