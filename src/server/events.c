/* server/events.c - what reaches the owner's thread from others: progress and log of handlers, their ends,
 * and calls that the program posts.
 */
#include "base/mem.h"
#include "request/life.h"
#include "server/core.h"
#include "server/notify.h"

#include <stdio.h>

int cleat_server_post(cleat_server *s, void (*fn)(cleat_server *s, void *arg), void *arg)
{
	struct text_event *ev;

	if (!s || !s->has_hooks)
		return s ? CLEAT_EMISUSE : CLEAT_ENOMEM;
	ev = mem_zalloc(&s->mem, sizeof *ev);
	if (!ev)
		return CLEAT_ENOMEM;
	ev->e = (struct event){ .kind = EVENT_CALL, .fn = fn, .arg = arg };
	s->hooks.post(s->hooks.ctx, &ev->e.base);
	return CLEAT_OK;
}

void server_deliver(cleat_server *s, struct server_event *base)
{
	struct event *e = (struct event *)(void *)base;
	struct text_event *t = (struct text_event *)(void *)base;
	struct str text = { NULL, 0 };

	if (e->kind == EVENT_DONE) {
		request_complete(e->req);
		return;
	}
	if (t->has_text)
		text = (struct str){ t->text, t->len };
	switch (e->kind) {
	case EVENT_PROGRESS:
		notify_progress(e->req, e->done, e->total, text);
		atomic_fetch_sub(&e->req->posted, 1);
		break;
	case EVENT_LOG:
		notify_log(e->req, e->level, text);
		atomic_fetch_sub(&e->req->posted, 1);
		break;
	case EVENT_RELEASE:
		notify_release(e->req, e->retry_ms);
		atomic_fetch_sub(&e->req->posted, 1);
		break;
	case EVENT_NOTE: server_note(s, e->level, "%s", t->text); break;
	case EVENT_CALL: e->fn(s, e->arg); break;
	case EVENT_DONE: break;
	}
	mem_free(&s->mem, t);
}

/* ---- progress and log, from any thread ----------------------------------------------------- */

enum { NOTE_TEXT_MAX = 16384 };

/* An event with a formatted text (fmt NULL: none); NULL when out of memory: such notes are lost. */
static struct text_event *CLEAT_PRINTF(2, 0)
	format_event(cleat_request *req, const char *fmt, va_list ap)
{
	const cleat_allocator *mem = &req->server->mem;
	struct text_event *ev;
	va_list again;
	int n = 0;

	if (fmt) {
		va_copy(again, ap);
		n = vsnprintf(NULL, 0, fmt, again);
		va_end(again);
		n = n < 0 ? 0 : n > NOTE_TEXT_MAX ? NOTE_TEXT_MAX : n;
	}
	ev = mem_zalloc(mem, sizeof *ev + (size_t)n + 1);
	if (!ev)
		return NULL;
	if (fmt)
		vsnprintf(ev->text, (size_t)n + 1, fmt, ap);
	ev->has_text = fmt != NULL;
	ev->len = (size_t)n;
	ev->e.req = req;
	return ev;
}

/* On the owner's thread at once, from others by way of its queue. */
static void hand_over(cleat_request *req, struct text_event *ev)
{
	const struct server_hooks *h = &req->server->hooks;

	if (!ev)
		return;
	atomic_fetch_add(&req->posted, 1);
	if (h->is_owner(h->ctx))
		server_deliver(req->server, &ev->e.base);
	else
		h->post(h->ctx, &ev->e.base);
}

void cleat_request_progress(cleat_request *req, double done, double total, const char *fmt, ...)
{
	struct text_event *ev;
	va_list ap;

	if (!req || !req->ctx.progress_token || cleat_request_cancelled(req))
		return;
	va_start(ap, fmt);
	ev = format_event(req, fmt, ap);
	va_end(ap);
	if (ev) {
		ev->e.kind = EVENT_PROGRESS;
		ev->e.done = done;
		ev->e.total = total;
	}
	hand_over(req, ev);
}

void cleat_request_release(cleat_request *req, uint64_t retry_ms)
{
	struct text_event *ev = req ? mem_zalloc(&req->server->mem, sizeof *ev) : NULL;

	if (!req)
		return;
	if (ev)
		ev->e = (struct event){ .kind = EVENT_RELEASE, .req = req, .retry_ms = retry_ms };
	hand_over(req, ev);
}

void cleat_request_log(cleat_request *req, int level, const char *fmt, ...)
{
	struct text_event *ev;
	va_list ap;

	if (!req || req->ctx.log_level < 0 || !cleat_log_level_name(level) ||
	    req->server->opts.no_logging)
		return;
	va_start(ap, fmt);
	ev = format_event(req, fmt, ap);
	va_end(ap);
	if (ev) {
		ev->e.kind = EVENT_LOG;
		ev->e.level = level;
	}
	hand_over(req, ev);
}
