/* run/wire_server.c - a connection of a server without descriptors; see wire.h.
 *
 * Input that comes faster than its answers are taken is held: a feed is taken whole or not at all,
 * so at most one feed's worth waits, and the next one is refused until there is room. The clock and
 * the queue of events are the server's (see runner.h); the first wire of a server may bring a clock.
 */
#include "run/wire.h"

#include "base/mem.h"
#include "base/sized.h"
#include "net/framing.h"
#include "net/outbox.h"
#include "run/runner.h"

struct server_wire {
	cleat_wire wire;
	struct runner *r;
	cleat_allocator mem;
	struct runner_ear ear;
	struct framing framing;
	struct outbox box;
	struct buf held;   /* input that was fed but not looked at */
	struct peer *peer; /* NULL: closed */
	bool unheld;       /* no memory, or no time, to hold input: answers may go over the mark */
	bool overrun;
};

/* ---- the peer's side ---------------------------------------------------------------------- */

static struct buf *wire_sink_begin(void *ctx, void *tag)
{
	struct server_wire *w = ctx;

	(void)tag;
	return outbox_begin(&w->box);
}

static int wire_sink_end(void *ctx, void *tag, int kind)
{
	struct server_wire *w = ctx;
	bool ok = kind != PEER_TAKE_BACK;
	int rc = outbox_end(&w->box, ok);

	(void)tag;
	if (rc == CLEAT_ELIMIT && outbox_overrun(&w->box))
		w->overrun = w->box.shut = true;
	/* Caused by a call on another connection, or by the program. */
	if (!rc && ok)
		wire_tell(&w->wire);
	return rc;
}

static bool wire_sink_congested(void *ctx)
{
	struct server_wire *w = ctx;

	return w->box.shut || w->box.ready >= OUTBOX_CONGESTED;
}

static bool wire_on_line(void *ctx, struct str line)
{
	struct server_wire *w = ctx;

	w->peer->ops->receive(w->peer, line, NULL, NULL);
	return w->unheld || w->box.ready < OUTBOX_HIGH;
}

static void on_oversize(void *ctx, size_t limit)
{
	struct server_wire *w = ctx;

	w->peer->ops->oversize(w->peer, limit);
}

static struct framing_sink lines(struct server_wire *w)
{
	return (struct framing_sink){ .line = wire_on_line, .oversize = on_oversize, .ctx = w };
}

/* ---- calls -------------------------------------------------------------------------------- */

static void close_peer(struct server_wire *w)
{
	struct peer *p = w->peer;

	w->peer = NULL;
	if (p)
		p->ops->close(p);
	w->box.shut = true;
	buf_reset(&w->held, 0);
}

static struct server_wire *wire_enter(cleat_wire *wire)
{
	struct server_wire *w = (struct server_wire *)(void *)wire;

	w->r->in_wire++;
	atomic_store_explicit(&w->r->owner, loop_thread(), memory_order_relaxed);
	return w;
}

static void leave(struct server_wire *w)
{
	if (w->overrun && w->peer) {
		server_note(w->r->server, CLEAT_LOG_ERROR,
			    "the other side does not read: %zu bytes wait for it", w->box.ready);
		close_peer(w);
	}
	w->r->in_wire--;
}

/* Does what the core asked for meanwhile. Deadlines are learnt by calling cleat_wire_poll(). */
static void leave_and_pump(struct server_wire *w)
{
	bool deadline = w->r->pump_wanted && runner_pump(w->r) >= 0;

	leave(w);
	if (deadline && w->wire.opts.wake)
		w->wire.opts.wake(w->wire.opts.userdata);
}

/* Looks at input; gives how much of it. */
static size_t wire_take(struct server_wire *w, const char *p, size_t n)
{
	struct framing_sink sink = lines(w);

	return framing_feed(&w->framing, p, n, &sink);
}

static void take_held(struct server_wire *w)
{
	struct str rest = buf_str(&w->held);

	if (rest.n == 0)
		return;
	buf_consume(&w->held, wire_take(w, rest.p, rest.n));
	if (buf_size(&w->held) == 0)
		buf_reset(&w->held, 0);
}

static int feed(cleat_wire *wire, const void *p, size_t n)
{
	struct server_wire *w = wire_enter(wire);
	size_t used;

	if (!w->peer || buf_size(&w->held) || w->box.ready >= OUTBOX_HIGH) {
		leave(w);
		return w->peer ? CLEAT_ELIMIT : CLEAT_ECLOSED;
	}
	used = wire_take(w, p, n);
	if (used < n) {
		buf_append(&w->held, (const char *)p + used, n - used);
		w->unheld = buf_status(&w->held) != CLEAT_OK;
	}
	if (w->unheld) {
		wire_take(w, (const char *)p + used, n - used);
		w->unheld = false;
		buf_reset(&w->held, 0);
	}
	leave_and_pump(w);
	return CLEAT_OK;
}

static void eof(cleat_wire *wire)
{
	struct server_wire *w = wire_enter(wire);
	struct framing_sink sink;

	if (w->peer) {
		sink = lines(w);
		w->unheld = true;
		take_held(w);
		framing_end(&w->framing, &sink);
		w->unheld = false;
		runner_drain(w->r); /* what has finished already may still be answered */
		close_peer(w);
	}
	leave(w);
}

static struct str ready(const cleat_wire *wire)
{
	return outbox_ready(&((const struct server_wire *)(const void *)wire)->box);
}

static void sent(cleat_wire *wire, size_t n)
{
	struct server_wire *w = wire_enter(wire);

	outbox_sent(&w->box, n < w->box.ready ? n : w->box.ready);
	if (w->peer && w->box.ready < OUTBOX_LOW)
		take_held(w);
	leave_and_pump(w);
}

static int poll(cleat_wire *wire)
{
	struct server_wire *w = wire_enter(wire);
	int ms;

	runner_drain(w->r);
	ms = runner_pump(w->r);
	leave(w);
	return ms;
}

static size_t inflight(const cleat_wire *wire)
{
	const struct server_wire *w = (const struct server_wire *)(const void *)wire;

	return w->peer ? w->peer->ops->inflight(w->peer) : 0;
}

/* ---- beginning and end -------------------------------------------------------------------- */

static void wire_on_event(void *ctx)
{
	struct server_wire *w = ctx;

	w->wire.opts.wake(w->wire.opts.userdata);
}

static void adopt_clock(struct runner *r, const cleat_wire_options *o)
{
	if (!o->now || r->connected)
		return;
	r->now = o->now;
	r->now_ctx = o->userdata;
}

static void free_wire(cleat_wire *wire)
{
	struct server_wire *w = wire_enter(wire);
	cleat_allocator mem = w->mem;

	runner_unlisten(w->r, &w->ear);
	close_peer(w);
	leave(w);
	framing_done(&w->framing);
	outbox_done(&w->box);
	buf_done(&w->held);
	mem_free(&mem, w);
}

static struct server_wire *new_wire(struct runner *r, const cleat_wire_options *o)
{
	static const struct wire_role role = { feed, eof, ready, sent, poll, inflight, free_wire };
	struct server_wire *w = mem_zalloc(&r->mem, sizeof *w);
	struct peer_sink sink = { .begin = wire_sink_begin,
				  .end = wire_sink_end,
				  .congested = wire_sink_congested,
				  .ctx = w };

	if (!w)
		return NULL;
	w->wire = (cleat_wire){ .role = &role, .opts = *o };
	w->r = r;
	w->mem = r->mem;
	framing_init(&w->framing, &w->mem, server_max_message(r->server));
	outbox_init(&w->box, &w->mem, server_max_reply(r->server));
	buf_init(&w->held, &w->mem, SIZE_MAX / 2);
	w->peer = server_accept(r->server, &sink, NULL);
	if (!w->peer) {
		mem_free(&r->mem, w);
		return NULL;
	}
	return w;
}

cleat_wire *cleat_wire_server_(struct cleat_server *s, const cleat_wire_options *opts, size_t size)
{
	cleat_wire_options o;
	cleat_error err;
	struct runner *r;
	struct server_wire *w;

	if (server_start_status(s))
		return NULL;
	if (SIZED_TAKE(&o, opts, size, cleat_wire_options, &err)) {
		server_refuse(s, err.status, "%s", err.message);
		return NULL;
	}
	r = runner_get(s);
	if (!r)
		return NULL;
	adopt_clock(r, &o);
	w = new_wire(r, &o);
	if (!w)
		return NULL;
	r->connected = true;
	if (o.wake) {
		w->ear = (struct runner_ear){ .wake = wire_on_event, .ctx = w };
		runner_listen(r, &w->ear);
	}
	return &w->wire;
}
