/* net/stream.c - see stream.h.
 *
 * Every path from the loop ends in stream_settle(), which looks at what happened and does what follows
 * from it; it may free the stream, so nothing comes after it. The functions that a peer can reach
 * (the sink) only note what happened and leave the rest to a deferred call.
 */
#include "net/stream.h"
#include "base/ring.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/linestream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum state { OPEN, DRAINING, FLUSHING, CLOSED };

struct stream {
	struct linestream io;
	struct stream_options o;
	cleat_allocator mem;
	enum state state;
	struct loop_timer *timer;
	struct loop_call flush_call;
	struct loop_turn turn;
	struct peer *peer;
	bool handling; /* stream_settle() follows anyway */
	bool patient;  /* flushing goes on as long as somebody reads */
	size_t left;   /* what was left to flush when the timer was started */
	int status;    /* why it is broken */
};

static void stream_say(struct stream *s, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

static void stream_say(struct stream *s, int level, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (!s->o.note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	s->o.note(s->o.ctx, level, text);
}

/* Nothing can be sent any more. The peer learns it later, from the loop. */
static void break_off(struct stream *s, int status)
{
	s->status = status;
	linestream_break(&s->io);
	linestream_deafen(&s->io);
	if (!s->handling)
		loop_defer(s->o.loop, &s->flush_call);
}

/* ---- output ------------------------------------------------------------------------------- */

static struct buf *stream_sink_begin(void *ctx, void *tag)
{
	struct stream *s = ctx;

	(void)tag;
	return outbox_begin(&s->io.box);
}

static int stream_sink_end(void *ctx, void *tag, int kind)
{
	struct stream *s = ctx;
	bool ok = kind != PEER_TAKE_BACK;
	int rc = outbox_end(&s->io.box, ok);

	(void)tag;
	if (rc == CLEAT_ELIMIT && outbox_overrun(&s->io.box)) {
		stream_say(s, CLEAT_LOG_ERROR,
			   "the other side does not read: %zu bytes wait for it", s->io.box.ready);
		break_off(s, CLEAT_ELIMIT);
	}
	if (rc || !ok)
		return rc;
	if (s->io.box.ready >= OUTBOX_HIGH)
		linestream_flush(&s->io);
	if (!s->handling)
		loop_defer(s->o.loop, &s->flush_call);
	return CLEAT_OK;
}

static bool stream_sink_congested(void *ctx)
{
	struct stream *s = ctx;

	return s->io.box.shut || s->io.box.ready >= OUTBOX_CONGESTED;
}

struct peer_sink stream_sink(struct stream *s)
{
	return (struct peer_sink){ .begin = stream_sink_begin,
				   .end = stream_sink_end,
				   .congested = stream_sink_congested,
				   .ctx = s };
}

/* ---- the end ------------------------------------------------------------------------------ */

static void close_peer(struct stream *s)
{
	struct peer *p = s->peer;

	s->peer = NULL;
	linestream_deafen(&s->io);
	if (p)
		p->ops->close(p);
	s->io.box.shut = true;
}

/* Everything back as it was, except memory. */
static void detach(struct stream *s)
{
	if (s->state == CLOSED)
		return;
	s->state = CLOSED;
	loop_cancel(s->o.loop, &s->flush_call);
	loop_turn_remove(s->o.loop, &s->turn);
	loop_timer_free(s->timer);
	linestream_detach(&s->io);
	loop_detach(s->o.loop);
}

static void closed(struct stream *s)
{
	detach(s);
	s->o.closed(s->o.ctx, s, s->status);
}

static void start_flushing(struct stream *s, bool patient)
{
	loop_turn_remove(s->o.loop, &s->turn);
	close_peer(s);
	s->state = FLUSHING;
	s->patient = patient;
	s->left = s->io.box.ready;
	loop_timer_start(s->timer, STREAM_FLUSH_MS);
	linestream_flush(&s->io);
}

static void stream_settle(struct stream *s)
{
	s->handling = true;
	if (!s->io.broken && s->state == DRAINING && s->peer->ops->inflight(s->peer) == 0)
		start_flushing(s, true);
	if (s->io.broken)
		close_peer(s);
	s->handling = false;
	if (s->io.broken || (s->state == FLUSHING && s->io.box.ready == 0)) {
		closed(s);
		return;
	}
	if (s->state == FLUSHING && s->patient && s->io.box.ready < s->left) {
		s->left = s->io.box.ready;
		loop_timer_start(s->timer, STREAM_FLUSH_MS);
	}
	linestream_watch(&s->io);
}

static void stream_on_timer(void *ctx)
{
	struct stream *s = ctx;

	s->handling = true;
	if (s->state == DRAINING) {
		start_flushing(s, true);
	} else if (s->state == FLUSHING) {
		stream_say(s, CLEAT_LOG_WARNING, "the other side did not take the last %zu bytes",
			   s->io.box.ready);
		break_off(s, CLEAT_OK);
	}
	stream_settle(s);
}

/* ---- events ------------------------------------------------------------------------------- */

static bool stream_on_line(void *ctx, struct str line)
{
	struct stream *s = ctx;

	s->peer->ops->receive(s->peer, line, NULL, NULL);
	return !s->io.broken && s->io.box.ready < OUTBOX_HIGH;
}

static void on_oversize(void *ctx, size_t limit)
{
	struct stream *s = ctx;

	s->peer->ops->oversize(s->peer, limit);
}

static void on_ended(void *ctx, bool out, int error)
{
	struct stream *s = ctx;
	/* A pipe that nobody reads, a connection that was reset, a terminal that hung up. */
	bool gone = error == ECONNRESET || error == (out ? EPIPE : EIO);

	if (!out && !error) {
		linestream_flush(&s->io);
		s->state = DRAINING;
		loop_timer_start(s->timer, STREAM_GRACE_MS);
		loop_turn_add(s->o.loop, &s->turn);
		return;
	}
	if (out && gone)
		stream_say(s, CLEAT_LOG_INFO, "the other side has stopped reading");
	else
		stream_say(s, gone ? CLEAT_LOG_INFO : CLEAT_LOG_ERROR, "cannot %s: %s",
			   out ? "write" : "read", strerror(error));
	break_off(s, gone ? CLEAT_OK : CLEAT_EIO);
}

static void stream_on_ready(void *ctx, unsigned events, bool failed)
{
	struct stream *s = ctx;

	s->handling = true;
	linestream_ready(&s->io, events, failed);
	stream_settle(s);
}

static void on_flush(struct loop_call *c)
{
	struct stream *s = CONTAINER_OF(c, struct stream, flush_call);

	s->handling = true;
	linestream_flush(&s->io);
	stream_settle(s);
}

static void on_turn(struct loop_turn *t)
{
	stream_settle(CONTAINER_OF(t, struct stream, turn));
}

/* ---- the beginning ------------------------------------------------------------------------ */

int stream_open(const struct stream_options *o, struct stream **ret, cleat_error *err)
{
	static const struct linestream_user user = { stream_on_line, on_oversize, on_ended,
						     stream_on_ready };
	cleat_allocator mem = mem_resolve(o->mem);
	struct stream *s = mem_zalloc(&mem, sizeof *s);
	int rc;

	*ret = NULL;
	if (!s)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	s->o = *o;
	s->mem = mem;
	s->flush_call.fn = on_flush;
	s->turn.fn = on_turn;
	linestream_init(&s->io, &mem, &user, s, o->max_message, o->max_reply);
	s->io.pauses = true;
	loop_attach(o->loop);
	rc = linestream_attach(&s->io, o->loop, o->in, o->out, err);
	s->io.out.masked = o->sigpipe_ignored;
	s->timer = rc ? NULL : loop_timer_new(o->loop, stream_on_timer, s);
	if (!rc && !s->timer)
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	if (rc) {
		stream_free(s);
		return rc;
	}
	*ret = s;
	return CLEAT_OK;
}

void stream_start(struct stream *s, struct peer *p)
{
	s->peer = p;
	s->io.reading = true;
	linestream_watch(&s->io);
}

void stream_finish(struct stream *s)
{
	if (s->state == OPEN || s->state == DRAINING) {
		s->handling = true;
		start_flushing(s, false);
	}
	s->patient = false;
	if (s->state == FLUSHING)
		stream_settle(s);
}

void stream_forget(struct stream *s)
{
	s->peer = NULL;
}

void stream_free(struct stream *s)
{
	cleat_allocator mem;

	if (!s)
		return;
	mem = s->mem;
	s->handling = true;
	close_peer(s);
	linestream_flush(&s->io);
	detach(s);
	linestream_done(&s->io);
	mem_free(&mem, s);
}
