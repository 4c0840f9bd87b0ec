/* transport/http_server.c - the life of an HTTP server; see http_server.h, and http_conn.h for how
 * the parts fit together.
 *
 * Calls of a service may come at any time and may free the server; so whoever is on the stack counts
 * (enter, leave), and the last one to leave does what was asked for meanwhile.
 */
#define _POSIX_C_SOURCE 200809L

#include "transport/http_conn.h"

#include "base/mem.h"

#include <stdio.h>

enum { MAX_STREAM_QUEUE = 256 * 1024 };

void http_server_note(struct http_server *h, int level, const char *fmt, ...)
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

struct http_parser *http_server_parser(struct http_server *h)
{
	if (h->n_parsers)
		return h->parsers[--h->n_parsers];
	return http_parser_new(&h->mem, &h->o.limits);
}

void http_server_keep_parser(struct http_server *h, struct http_parser *p)
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

void http_server_lend(struct http_server *h, struct buf *b)
{
	if (!b->data && h->n_outs)
		*b = h->outs[--h->n_outs];
}

void http_server_take_back(struct http_server *h, struct buf *b)
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

static void detach(struct http_server *h)
{
	if (!h->detached)
		loop_detach(h->o.loop);
	h->detached = true;
}

static void release(struct http_server *h)
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

void http_server_enter(struct http_server *h)
{
	h->busy++;
	h->now_us = http_server_now_us(h);
}

void http_server_leave(struct http_server *h)
{
	void (*done)(void *ctx) = h->done;

	if (--h->busy > 0)
		return;
	if (h->dying) {
		release(h);
	} else if (h->draining && h->stats.connections == 0) {
		detach(h);
		h->done = NULL;
		if (done)
			done(h->done_ctx);
	}
}

/* Those that something was done to, before the loop waits. */
static void settle_dirty(struct http_server *h)
{
	while (!http_link_alone(&h->dirty)) {
		struct http_conn *c = HTTP_CONTAINER(h->dirty.next, struct http_conn, dirty);

		http_link_remove(&c->dirty);
		http_conn_settle(c);
	}
}

static void on_flush(struct loop_call *call)
{
	struct http_server *h = HTTP_CONTAINER(call, struct http_server, flush_call);

	http_server_enter(h);
	settle_dirty(h);
	http_server_leave(h);
}

void http_server_drain(struct http_server *h, void (*done)(void *ctx), void *ctx)
{
	http_server_enter(h);
	h->draining = true;
	http_deadlines_drain(h);
	h->done = done;
	h->done_ctx = ctx;
	http_accept_close(h);
	for (struct http_link *l = h->conns.next; l != &h->conns; l = l->next)
		http_conn_mark(HTTP_CONTAINER(l, struct http_conn, all));
	/* From inside a callback somebody may stand on one of them. */
	if (h->busy == 1)
		settle_dirty(h);
	http_server_leave(h);
}

/* Whoever is being handled goes when control is back with it. */
static void end_connection(struct http_conn *c)
{
	http_link_remove(&c->all);
	c->dead = true;
	http_conn_tell(c);
	if (!c->handling)
		http_conn_settle(c);
}

void http_server_free(struct http_server *h)
{
	if (!h || h->dying)
		return;
	h->busy++;
	h->dying = true;
	http_accept_close(h);
	while (!http_link_alone(&h->conns))
		end_connection(HTTP_CONTAINER(h->conns.next, struct http_conn, all));
	http_server_leave(h);
}

/* ---- the beginning ------------------------------------------------------------------------ */

static void on_tick(void *ctx)
{
	http_server_tick(ctx);
}

int http_server_new(const struct http_server_opts *o, struct http_server **ret)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct http_server *h = mem_alloc(&mem, sizeof *h);

	*ret = NULL;
	if (!h)
		return CLEAT_ENOMEM;
	memset(h, 0, offsetof(struct http_server, chunk));
	h->o = *o;
	h->mem = mem;
	h->peers = o->peers ? o->peers : &h->own_peers;
	h->reserve = -1;
	if (h->o.max_stream_queue == 0)
		h->o.max_stream_queue = MAX_STREAM_QUEUE;
	h->flush_call.fn = on_flush;
	http_link_init(&h->conns);
	http_link_init(&h->dirty);
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

void http_server_set_tls(struct http_server *h, struct tls_context *tls)
{
	struct tls_context *before = h->o.tls;

	h->o.tls = tls ? tls_context_hold(tls) : NULL;
	tls_context_drop(before);
}

void http_server_stats(const struct http_server *h, struct http_server_stats *ret)
{
	*ret = h->stats;
	ret->queued_bytes = 0;
	for (const struct http_link *l = h->conns.next; l != &h->conns; l = l->next)
		ret->queued_bytes += http_conn_queued(HTTP_CONTAINER(l, struct http_conn, all));
}
