/* server/events.c - what reaches the core from other threads and from the clock. */
#include "base/mem.h"
#include "server/ask.h"
#include "server/conn.h"
#include "server/core.h"
#include "server/life.h"
#include "server/notify.h"
#include "server/state.h"

enum { RETRY_MS = 20 }; /* for answers that memory was too short for */

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

void server_shutdown(cleat_server *s)
{
	struct conn *c, *next;

	s->stopping = true;
	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_shutdown(c);
	}
}

void server_abort(cleat_server *s)
{
	struct conn *c, *next;

	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_abort(c);
	}
}

static void sooner(uint64_t *next, uint64_t deadline)
{
	if (deadline && (!*next || deadline < *next))
		*next = deadline;
}

int server_pump(cleat_server *s)
{
	uint64_t now = s->hooks.now_ms(s->hooks.ctx), deadline = 0;
	struct conn *c, *next;

	s->pumping = true;
	s->unsent = false;
	notify_flush(s);
	for (c = s->conns; c; c = next) {
		next = c->next;
		c->busy++;
		notify_end_behind(c);
		conn_retry_unsent(c);
		conn_expire(c, now);
		ask_expire(c, now);
		sooner(&deadline, rpc_table_next_deadline(&c->inflight));
		sooner(&deadline, rpc_table_next_deadline(&c->pending));
		c->busy--;
		conn_maybe_free(c);
	}
	s->pumping = false;
	if (s->unsent)
		sooner(&deadline, now + RETRY_MS);
	if (!deadline)
		return -1;
	return deadline <= now ? 0 : deadline - now > 60000 ? 60000 : (int)(deadline - now);
}
