/* run/wire_server.c - a connection of a server without descriptors; see wire.h.
 *
 * Input that comes faster than its answers are taken is held: a feed is taken whole or not at all,
 * so at most one feed's worth waits, and the next one is refused until there is room. The clock and
 * the queue of events are the server's (see runner.h); the first wire of a server may bring a clock.
 */
#include "run/wire.h"

#include "base/mem.h"
#include "base/sized.h"
#include "net/linestream.h"
#include "run/runner.h"

struct server_wire {
	cleat_wire wire;
	struct runner *r;
	cleat_allocator mem;
	struct runner_ear ear;
	struct linestream io;
	struct peer *peer; /* NULL: closed */
	bool overrun;
};

/* ---- the peer's side ---------------------------------------------------------------------- */

static struct buf *wire_sink_begin(void *ctx, void *tag)
{
	struct server_wire *w = ctx;

	(void)tag;
	return outbox_begin(&w->io.box);
}

static int wire_sink_end(void *ctx, void *tag, int kind)
{
	struct server_wire *w = ctx;
	bool ok = kind != PEER_TAKE_BACK;
	int rc = outbox_end(&w->io.box, ok);

	(void)tag;
	if (rc == CLEAT_ELIMIT && outbox_overrun(&w->io.box))
		w->overrun = w->io.box.shut = true;
	/* Caused by a call on another connection, or by the program. */
	if (!rc && ok)
		wire_tell(&w->wire);
	return rc;
}

static bool wire_sink_congested(void *ctx)
{
	struct server_wire *w = ctx;

	return w->io.box.shut || w->io.box.ready >= OUTBOX_CONGESTED;
}

static bool wire_on_line(void *ctx, struct str line)
{
	struct server_wire *w = ctx;

	w->peer->ops->receive(w->peer, line, NULL, NULL);
	return w->io.box.ready < OUTBOX_HIGH;
}

static void on_oversize(void *ctx, size_t limit)
{
	struct server_wire *w = ctx;

	w->peer->ops->oversize(w->peer, limit);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void close_peer(struct server_wire *w)
{
	struct peer *p = w->peer;

	w->peer = NULL;
	if (p)
		p->ops->close(p);
	w->io.box.shut = true;
	linestream_deafen(&w->io);
}

static void on_ended(void *ctx, bool out, int error)
{
	struct server_wire *w = ctx;

	(void)out;
	(void)error;
	runner_drain(w->r); /* what has finished already may still be answered */
	close_peer(w);
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
			    "the other side does not read: %zu bytes wait for it", w->io.box.ready);
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

static int feed(cleat_wire *wire, const void *p, size_t n)
{
	struct server_wire *w = wire_enter(wire);

	if (!w->peer || w->io.paused || w->io.box.ready >= OUTBOX_HIGH) {
		leave(w);
		return w->peer ? CLEAT_ELIMIT : CLEAT_ECLOSED;
	}
	linestream_feed(&w->io, p, n);
	leave_and_pump(w);
	return CLEAT_OK;
}

static void eof(cleat_wire *wire)
{
	struct server_wire *w = wire_enter(wire);

	linestream_end(&w->io);
	leave(w);
}

static struct str ready(const cleat_wire *wire)
{
	return outbox_ready(&((const struct server_wire *)(const void *)wire)->io.box);
}

static void sent(cleat_wire *wire, size_t n)
{
	struct server_wire *w = wire_enter(wire);

	linestream_sent(&w->io, n);
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
	linestream_done(&w->io);
	mem_free(&mem, w);
}

static struct server_wire *new_wire(struct runner *r, const cleat_wire_options *o)
{
	static const struct linestream_user user = { wire_on_line, on_oversize, on_ended, NULL };
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
	linestream_init(&w->io, &w->mem, &user, w, server_max_message(r->server),
			server_max_reply(r->server));
	w->io.pauses = w->io.reading = true;
	w->peer = server_accept(
		r->server, &sink,
		&(struct peer_facts){ .transport = CLEAT_TRANSPORT_WIRE, .userdata = o->userdata });
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
