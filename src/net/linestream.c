/* net/linestream.c - see linestream.h. */
#include "net/linestream.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

void linestream_init(struct linestream *s, const cleat_allocator *mem,
		     const struct linestream_user *user, void *ctx, size_t max_in, size_t max_out)
{
	*s = (struct linestream){
		.user = user, .ctx = ctx, .mem = *mem, .in.flags = -1, .out.flags = -1
	};
	framing_init(&s->framing, mem, max_in);
	outbox_init(&s->box, mem, max_out);
}

void linestream_done(struct linestream *s)
{
	linestream_detach(s);
	framing_done(&s->framing);
	outbox_done(&s->box);
	mem_free(&s->mem, s->chunk);
	s->chunk = NULL;
}

/* ---- output ------------------------------------------------------------------------------- */

static void write_failed(struct linestream *s, int error)
{
	linestream_break(s);
	s->user->ended(s->ctx, true, error);
}

void linestream_flush(struct linestream *s)
{
	bool always = s->out_watch && loop_watch_always(s->out_watch);

	while (s->out_watch && !s->broken && !s->writing && s->box.ready > 0) {
		struct str ready = outbox_ready(&s->box);
		ptrdiff_t n = fd_write(&s->out, ready.p, ready.n);

		if (n > 0) {
			outbox_sent(&s->box, (size_t)n);
			s->writing = (size_t)n < ready.n && !always && !s->out.terminal;
		} else if (n < 0 && (always || !fd_would_block(n))) {
			write_failed(s, (int)-n);
		} else {
			s->writing = true;
		}
	}
}

void linestream_break(struct linestream *s)
{
	s->broken = s->box.shut = true;
	s->writing = false;
}

/* ---- input -------------------------------------------------------------------------------- */

static struct framing_sink sink_of(struct linestream *s)
{
	return (struct framing_sink){ s->user->line, s->user->oversize, s->ctx };
}

/* Hands on the lines of the chunk, as far as there is room for answers. */
static void process(struct linestream *s)
{
	struct framing_sink sink = sink_of(s);

	s->paused = false;
	while (s->at < s->have && !s->paused) {
		s->at += framing_feed(&s->framing, s->chunk + s->at, s->have - s->at, &sink);
		if (!s->pauses) {
			s->at = s->have; /* who takes no more of it wants none of it */
			return;
		}
		linestream_flush(s);
		s->paused = s->box.ready >= OUTBOX_HIGH;
	}
}

/* Keeps what there is no room for answers for. Without memory it is handed on nevertheless. */
static void hold(struct linestream *s, const char *p, size_t n)
{
	struct framing_sink sink = sink_of(s);

	mem_free(&s->mem, s->chunk);
	s->chunk = mem_alloc(&s->mem, n);
	s->paused = s->chunk != NULL;
	if (s->paused) {
		memcpy(s->chunk, p, n);
		s->at = 0;
		s->have = n;
		return;
	}
	for (size_t used = 0; used < n && s->reading;)
		used += framing_feed(&s->framing, p + used, n - used, &sink);
}

void linestream_feed(struct linestream *s, const void *p, size_t n)
{
	struct framing_sink sink = sink_of(s);
	size_t used = s->reading ? framing_feed(&s->framing, p, n, &sink) : n;

	if (used < n && s->pauses && s->reading)
		hold(s, (const char *)p + used, n - used);
}

void linestream_sent(struct linestream *s, size_t n)
{
	outbox_sent(&s->box, n < s->box.ready ? n : s->box.ready);
	if (s->paused && s->box.ready < OUTBOX_LOW)
		process(s);
}

static void end_of_input(struct linestream *s, int error)
{
	struct framing_sink sink = sink_of(s);

	while (s->at < s->have) /* with or without room */
		s->at += framing_feed(&s->framing, s->chunk + s->at, s->have - s->at, &sink);
	s->reading = s->paused = false;
	if (!error)
		framing_end(&s->framing, &sink);
	s->user->ended(s->ctx, false, error);
}

void linestream_end(struct linestream *s)
{
	if (s->reading)
		end_of_input(s, 0);
}

size_t linestream_read(struct linestream *s, bool failed)
{
	ptrdiff_t n = fd_read(&s->in, s->chunk, LINESTREAM_CHUNK);

	if (n > 0) {
		s->at = 0;
		s->have = (size_t)n;
		process(s);
		return (size_t)n;
	}
	if (n == 0 || failed || !fd_would_block(n))
		end_of_input(s, (int)-n);
	return 0;
}

void linestream_deafen(struct linestream *s)
{
	s->reading = false;
	s->at = s->have;
}

/* ---- descriptors -------------------------------------------------------------------------- */

void linestream_ready(struct linestream *s, unsigned events, bool failed)
{
	if (events & LOOP_WRITE) {
		s->writing = false;
		linestream_flush(s);
		if (failed && s->writing)
			write_failed(s, EPIPE);
	}
	if (s->paused && s->box.ready < OUTBOX_LOW)
		process(s);
	if ((events & LOOP_READ) && s->reading && !s->paused)
		linestream_read(s, failed);
}

void linestream_watch(struct linestream *s)
{
	unsigned in = s->reading && !s->paused ? LOOP_READ : 0, out = s->writing ? LOOP_WRITE : 0;

	if (s->in_watch)
		loop_watch_set(s->in_watch, s->in_watch == s->out_watch ? in | out : in);
	if (s->in_watch != s->out_watch)
		loop_watch_set(s->out_watch, out);
}

static int watch_one(struct linestream *s, cleat_loop *loop, struct fd_end *e,
		     struct loop_watch **ret, cleat_error *err)
{
	int rc = loop_watch_new(loop, e->fd, s->user->ready, s->ctx, ret);

	if (rc)
		return error_set(err, rc, "descriptor %d cannot be served: %s", e->fd,
				 cleat_strstatus(rc));
	/* The shell has the same terminal and would find it non-blocking if we were killed. */
	if (e->terminal)
		fd_restore(e);
	return CLEAT_OK;
}

int linestream_attach(struct linestream *s, cleat_loop *loop, int in, int out, cleat_error *err)
{
	int rc = fd_look(&s->in, in, false, err);

	if (!rc)
		rc = fd_look(&s->out, out, true, err);
	if (!rc && !s->chunk && !(s->chunk = mem_alloc(&s->mem, LINESTREAM_CHUNK)))
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	if (!rc)
		rc = watch_one(s, loop, &s->in, &s->in_watch, err);
	if (!rc && in != out)
		rc = watch_one(s, loop, &s->out, &s->out_watch, err);
	else if (!rc)
		s->out_watch = s->in_watch;
	if (rc)
		linestream_detach(s);
	return rc;
}

void linestream_detach(struct linestream *s)
{
	if (s->out_watch != s->in_watch)
		loop_watch_free(s->out_watch);
	loop_watch_free(s->in_watch);
	s->in_watch = s->out_watch = NULL;
	fd_restore(&s->out);
	fd_restore(&s->in);
	s->in.flags = s->out.flags = -1;
	linestream_deafen(s);
	s->writing = s->paused = false;
}
