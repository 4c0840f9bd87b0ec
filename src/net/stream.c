/* net/stream.c - see stream.h.
 *
 * Every path from the loop ends in stream_settle(), which looks at what happened and does what follows
 * from it; it may free the stream, so nothing comes after it. The functions that a peer can reach
 * (the sink) only note what happened and leave the rest to a deferred call.
 */
#include "net/stream.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/fd.h"
#include "net/framing.h"
#include "net/outbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

enum state { OPEN, DRAINING, FLUSHING, CLOSED };

struct stream {
	struct stream_options o;
	cleat_allocator mem;
	enum state state;
	struct fd_end in, out;
	struct loop_watch *in_watch, *out_watch; /* one and the same for one descriptor */
	struct loop_timer *timer;
	struct loop_call flush_call;
	struct loop_turn turn;
	struct peer *peer;
	struct framing framing;
	struct outbox box;
	bool reading;  /* started and not at the end of input */
	bool paused;   /* until the outbox is half empty */
	bool writing;  /* waits for room */
	bool handling; /* stream_settle() follows anyway */
	bool patient;  /* flushing goes on as long as somebody reads */
	bool broken;   /* `status` says why */
	int status;
	size_t at, have; /* what of the chunk was not looked at yet */
	char chunk[STREAM_CHUNK];
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
	if (s->broken)
		return;
	s->broken = true;
	s->box.shut = true;
	s->status = status;
	if (!s->handling)
		loop_defer(s->o.loop, &s->flush_call);
}

/* ---- output ------------------------------------------------------------------------------- */

static void write_failed(struct stream *s, int error)
{
	if (error == EPIPE || error == ECONNRESET) {
		stream_say(s, CLEAT_LOG_INFO, "the other side reads no more");
		break_off(s, CLEAT_OK);
		return;
	}
	stream_say(s, CLEAT_LOG_ERROR, "cannot write: %s", strerror(error));
	break_off(s, CLEAT_EIO);
}

/* Writes what is ready, once; or, where one cannot wait for room, until it is written. */
static void flush(struct stream *s)
{
	bool always = loop_watch_always(s->out_watch);

	while (!s->broken && !s->writing && s->box.ready > 0) {
		struct str ready = outbox_ready(&s->box);
		ptrdiff_t n = fd_write(&s->out, ready.p, ready.n);

		if (n > 0) {
			outbox_sent(&s->box, (size_t)n);
			if (s->state == FLUSHING && s->patient)
				loop_timer_start(s->timer, STREAM_FLUSH_MS);
			if ((size_t)n == ready.n || always || s->out.terminal)
				continue;
		} else if (n < 0 && (always || !fd_would_block(n))) {
			write_failed(s, (int)-n);
			return;
		}
		s->writing = true;
	}
}

static struct buf *stream_sink_begin(void *ctx, void *tag)
{
	struct stream *s = ctx;

	(void)tag;
	return outbox_begin(&s->box);
}

static int stream_sink_end(void *ctx, void *tag, int kind)
{
	struct stream *s = ctx;
	bool ok = kind != PEER_TAKE_BACK;
	int rc = outbox_end(&s->box, ok);

	(void)tag;
	if (rc == CLEAT_ELIMIT && outbox_overrun(&s->box)) {
		stream_say(s, CLEAT_LOG_ERROR,
			   "the other side does not read: %zu bytes wait for it", s->box.ready);
		break_off(s, CLEAT_ELIMIT);
	}
	if (rc || !ok)
		return rc;
	if (s->box.ready >= OUTBOX_HIGH)
		flush(s);
	if (!s->handling)
		loop_defer(s->o.loop, &s->flush_call);
	return CLEAT_OK;
}

static bool stream_sink_congested(void *ctx)
{
	struct stream *s = ctx;

	return s->box.shut || s->box.ready >= OUTBOX_CONGESTED;
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
	s->reading = false;
	if (p)
		p->ops->close(p);
	s->box.shut = true;
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
	if (s->out_watch != s->in_watch)
		loop_watch_free(s->out_watch);
	loop_watch_free(s->in_watch);
	fd_restore(&s->out);
	fd_restore(&s->in);
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
	loop_timer_start(s->timer, STREAM_FLUSH_MS);
	flush(s);
}

static void update_watches(struct stream *s)
{
	unsigned in = s->reading && !s->paused ? LOOP_READ : 0, out = s->writing ? LOOP_WRITE : 0;

	if (s->in_watch == s->out_watch) {
		loop_watch_set(s->in_watch, in | out);
		return;
	}
	loop_watch_set(s->in_watch, in);
	loop_watch_set(s->out_watch, out);
}

static void stream_settle(struct stream *s)
{
	s->handling = true;
	if (!s->broken && s->state == DRAINING && s->peer->ops->inflight(s->peer) == 0)
		start_flushing(s, true);
	if (s->broken)
		close_peer(s);
	s->handling = false;
	if (s->broken || (s->state == FLUSHING && s->box.ready == 0))
		closed(s);
	else
		update_watches(s);
}

static void stream_on_timer(void *ctx)
{
	struct stream *s = ctx;

	s->handling = true;
	if (s->state == DRAINING) {
		start_flushing(s, true);
	} else if (s->state == FLUSHING) {
		stream_say(s, CLEAT_LOG_WARNING, "the other side did not take the last %zu bytes",
			   s->box.ready);
		break_off(s, CLEAT_OK);
	}
	stream_settle(s);
}

/* ---- input -------------------------------------------------------------------------------- */

static bool stream_on_line(void *ctx, struct str line)
{
	struct stream *s = ctx;

	s->peer->ops->receive(s->peer, line, NULL, NULL);
	return !s->broken && s->box.ready < OUTBOX_HIGH;
}

static void on_oversize(void *ctx, size_t limit)
{
	struct stream *s = ctx;

	s->peer->ops->oversize(s->peer, limit);
}

static struct framing_sink lines(struct stream *s)
{
	return (struct framing_sink){ .line = stream_on_line, .oversize = on_oversize, .ctx = s };
}

/* Hands on the lines of the chunk, as far as there is room for answers. */
static void process(struct stream *s)
{
	struct framing_sink sink = lines(s);

	s->paused = false;
	while (s->at < s->have && !s->paused) {
		s->at += framing_feed(&s->framing, s->chunk + s->at, s->have - s->at, &sink);
		flush(s);
		s->paused = s->broken || s->box.ready >= OUTBOX_HIGH;
	}
}

static void end_of_input(struct stream *s)
{
	struct framing_sink sink = lines(s);

	s->reading = false;
	framing_end(&s->framing, &sink);
	flush(s);
	s->state = DRAINING;
	loop_timer_start(s->timer, STREAM_GRACE_MS);
	loop_turn_add(s->o.loop, &s->turn);
}

static void read_some(struct stream *s, bool failed)
{
	ptrdiff_t n = fd_read(&s->in, s->chunk, sizeof s->chunk);

	if (n > 0) {
		s->at = 0;
		s->have = (size_t)n;
		process(s);
	} else if (n == 0) {
		end_of_input(s);
	} else if (!fd_would_block(n) || failed) {
		/* A terminal that hung up, a connection that was reset: the other side is gone. */
		bool gone = n == -EIO || n == -ECONNRESET;

		stream_say(s, gone ? CLEAT_LOG_INFO : CLEAT_LOG_ERROR, "cannot read: %s",
			   strerror((int)-n));
		break_off(s, gone ? CLEAT_OK : CLEAT_EIO);
	}
}

static void stream_on_ready(void *ctx, unsigned events, bool failed)
{
	struct stream *s = ctx;

	s->handling = true;
	if (events & LOOP_WRITE) {
		s->writing = false;
		flush(s);
		if (failed && s->writing)
			write_failed(s, EPIPE);
	}
	if (s->paused && s->box.ready < OUTBOX_LOW)
		process(s);
	if ((events & LOOP_READ) && s->reading && !s->paused && !s->broken)
		read_some(s, failed);
	stream_settle(s);
}

static void on_flush(struct loop_call *c)
{
	struct stream *s = CONTAINER(c, struct stream, flush_call);

	s->handling = true;
	flush(s);
	stream_settle(s);
}

static void on_turn(struct loop_turn *t)
{
	stream_settle(CONTAINER(t, struct stream, turn));
}

/* ---- the beginning ------------------------------------------------------------------------ */

static int stream_watch(struct stream *s, struct fd_end *e, struct loop_watch **ret,
			cleat_error *err)
{
	int rc = loop_watch_new(s->o.loop, e->fd, stream_on_ready, s, ret);

	if (rc)
		return error_set(err, rc, "descriptor %d cannot be served: %s", e->fd,
				 cleat_strstatus(rc));
	/* The shell has the same terminal and would find it non-blocking if we were killed. */
	if (e->terminal)
		fd_restore(e);
	return CLEAT_OK;
}

static int attach(struct stream *s, cleat_error *err)
{
	int rc = fd_look(&s->in, s->o.in, false, err);

	if (rc == CLEAT_OK)
		rc = fd_look(&s->out, s->o.out, true, err);
	if (rc)
		return rc;
	s->out.masked = s->o.sigpipe_ignored;
	s->timer = loop_timer_new(s->o.loop, stream_on_timer, s);
	if (!s->timer)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	rc = stream_watch(s, &s->in, &s->in_watch, err);
	if (rc)
		return rc;
	if (s->o.in != s->o.out)
		return stream_watch(s, &s->out, &s->out_watch, err);
	s->out_watch = s->in_watch;
	return CLEAT_OK;
}

int stream_open(const struct stream_options *o, struct stream **ret, cleat_error *err)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct stream *s = mem_alloc(&mem, sizeof *s);
	int rc;

	*ret = NULL;
	if (!s)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	memset(s, 0, offsetof(struct stream, chunk));
	s->o = *o;
	s->mem = mem;
	s->in.flags = s->out.flags = -1;
	s->flush_call.fn = on_flush;
	s->turn.fn = on_turn;
	framing_init(&s->framing, &mem, o->max_message);
	outbox_init(&s->box, &mem, o->max_reply);
	loop_attach(o->loop);
	rc = attach(s, err);
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
	s->reading = true;
	update_watches(s);
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
	if (s->state != CLOSED && s->out_watch)
		flush(s);
	detach(s);
	framing_done(&s->framing);
	outbox_done(&s->box);
	mem_free(&mem, s);
}
