/* httpd/server.c - the life of an HTTP server; see server.h, and conn.h for how
 * the parts fit together.
 *
 * Calls of a service may come at any time and may free the server; so whoever is on the stack counts
 * (enter, leave), and the last one to leave does what was asked for meanwhile.
 */
#define _POSIX_C_SOURCE 200809L

#include "httpd/conn.h"

#include "base/mem.h"

#include <stdio.h>

enum { MAX_STREAM_QUEUE = 256 * 1024 };

void httpd_note(struct httpd *h, int level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!h->o.note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	h->o.note(h->o.note_ctx, level, text);
}

/* ---- stock -------------------------------------------------------------------------------- */

struct http_parser *httpd_parser(struct httpd *h)
{
	if (h->n_parsers)
		return h->parsers[--h->n_parsers];
	return http_parser_new(&h->mem, &h->o.limits);
}

void httpd_keep_parser(struct httpd *h, struct http_parser *p)
{
	if (!p)
		return;
	if (h->n_parsers == HTTP_SPARE || h->dying) {
		http_parser_free(p);
		return;
	}
	http_parser_next(p);
	h->parsers[h->n_parsers++] = p;
}

void httpd_lend(struct httpd *h, struct buf *b)
{
	if (!b->data && h->n_outs)
		*b = h->outs[--h->n_outs];
}

void httpd_take_back(struct httpd *h, struct buf *b)
{
	if (!b->data || buf_size(b) > 0)
		return;
	buf_reset(b, HTTP_OUT_KEEP);
	if (!b->data)
		return;
	if (h->n_outs == HTTP_SPARE || h->dying) {
		buf_done(b);
		return;
	}
	h->outs[h->n_outs++] = *b;
	*b = BUF_INIT(&h->mem, SIZE_MAX / 2);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void detach(struct httpd *h)
{
	if (!h->detached)
		loop_detach(h->o.loop);
	h->detached = true;
}

static void server_release(struct httpd *h)
{
	cleat_allocator mem = h->mem;

	detach(h);
	loop_cancel(h->o.loop, &h->flush_call);
	loop_timer_free(h->tick);
	loop_timer_free(h->pause);
	while (h->n_parsers)
		http_parser_free(h->parsers[--h->n_parsers]);
	while (h->n_outs)
		buf_done(&h->outs[--h->n_outs]);
	buf_done(&h->plain);
	tls_context_drop(h->o.tls);
	mem_free(&mem, h);
}

void httpd_enter(struct httpd *h)
{
	h->busy++;
	h->now_us = httpd_now_us(h);
}

void httpd_leave(struct httpd *h)
{
	void (*done)(void *ctx) = h->done;

	if (--h->busy > 0)
		return;
	if (h->dying) {
		server_release(h);
	} else if (h->draining && h->stats.connections == 0) {
		detach(h);
		h->done = NULL;
		if (done)
			done(h->done_ctx);
	}
}

/* Those that something was done to, before the loop waits. */
static void settle_dirty(struct httpd *h)
{
	while (!ring_alone(&h->dirty)) {
		struct http_conn *c = CONTAINER_OF(h->dirty.next, struct http_conn, dirty);

		ring_remove(&c->dirty);
		http_conn_settle(c);
	}
}

static void on_flush(struct loop_call *call)
{
	struct httpd *h = CONTAINER_OF(call, struct httpd, flush_call);

	httpd_enter(h);
	settle_dirty(h);
	httpd_leave(h);
}

void httpd_drain(struct httpd *h, void (*done)(void *ctx), void *ctx)
{
	httpd_enter(h);
	h->draining = true;
	http_deadlines_drain(h);
	h->done = done;
	h->done_ctx = ctx;
	http_accept_close(h);
	for (struct ring *l = h->conns.next; l != &h->conns; l = l->next)
		http_conn_mark(CONTAINER_OF(l, struct http_conn, all));
	/* From inside a callback somebody may appear on one of them. */
	if (h->busy == 1)
		settle_dirty(h);
	httpd_leave(h);
}

/* Whoever is being handled goes when control is back with it. */
static void end_connection(struct http_conn *c)
{
	ring_remove(&c->all);
	c->dead = true;
	http_conn_tell(c);
	if (!c->handling)
		http_conn_settle(c);
}

void httpd_free(struct httpd *h)
{
	if (!h || h->dying)
		return;
	h->busy++;
	h->dying = true;
	http_accept_close(h);
	while (!ring_alone(&h->conns))
		end_connection(CONTAINER_OF(h->conns.next, struct http_conn, all));
	httpd_leave(h);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static void on_tick(void *ctx)
{
	httpd_tick(ctx);
}

int httpd_new(const struct httpd_options *o, struct httpd **ret)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct httpd *h = mem_alloc(&mem, sizeof *h);

	*ret = NULL;
	if (!h)
		return CLEAT_ENOMEM;
	memset(h, 0, offsetof(struct httpd, chunk));
	h->o = *o;
	h->mem = mem;
	h->peers = o->peers ? o->peers : &h->own_peers;
	h->reserve = -1;
	if (h->o.max_stream_queue == 0)
		h->o.max_stream_queue = MAX_STREAM_QUEUE;
	h->flush_call.fn = on_flush;
	ring_init(&h->conns);
	ring_init(&h->dirty);
	http_deadlines_init(h);
	http_accept_init(h);
	h->plain = BUF_INIT(&h->mem, SIZE_MAX / 2);
	h->tick = loop_timer_new(o->loop, on_tick, h);
	h->pause = loop_timer_new(o->loop, http_accept_resume, h);
	if (!h->tick || !h->pause) {
		loop_timer_free(h->tick);
		loop_timer_free(h->pause);
		mem_free(&mem, h);
		return CLEAT_ENOMEM;
	}
	if (o->tls)
		tls_context_hold(o->tls);
	loop_attach(o->loop);
	*ret = h;
	return CLEAT_OK;
}

void httpd_set_tls(struct httpd *h, struct tls_context *tls)
{
	struct tls_context *before = h->o.tls;

	h->o.tls = tls ? tls_context_hold(tls) : NULL;
	tls_context_drop(before);
}

void httpd_stats(const struct httpd *h, struct httpd_stats *ret)
{
	*ret = h->stats;
	ret->queued_bytes = 0;
	for (const struct ring *l = h->conns.next; l != &h->conns; l = l->next)
		ret->queued_bytes += http_conn_queued(CONTAINER_OF(l, struct http_conn, all));
}
