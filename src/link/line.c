/* link/line.c - see line.h. */
#include "link/line.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/plain.h"

#include <stdio.h>

#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

void line_note(struct line_link *l, int level, const char *fmt, ...)
{
	cleat_error text; /* for its rules: one line, no half of a character at its end */
	va_list ap;

	if (!l->o.events.note || l->freed)
		return;
	va_start(ap, fmt);
	error_vset(&text, CLEAT_OK, 0, fmt, ap);
	va_end(ap);
	l->o.events.note(l->o.events.ctx, level, text.message);
}

/* The stream is of no use any more; way->ended() follows in line_leave(). The first reason counts. */
static void break_off(struct line_link *l, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);

static void break_off(struct line_link *l, int status, const char *fmt, ...)
{
	va_list ap;

	l->box.shut = true;
	if (l->state != LINE_UP)
		return;
	l->state = LINE_ENDING;
	va_start(ap, fmt);
	error_vset(&l->why, status, 0, fmt, ap);
	va_end(ap);
}

/* ---- output ------------------------------------------------------------------------------- */

/* Writes what is ready, once; or, where one cannot wait for room, until it is written. */
static void flush(struct line_link *l)
{
	bool always = l->out_watch && loop_watch_always(l->out_watch);

	while (l->out_watch && !l->box.shut && !l->writing && l->box.ready > 0) {
		struct str ready = outbox_ready(&l->box);
		ptrdiff_t n = fd_write(&l->out, ready.p, ready.n);

		if (n > 0) {
			outbox_sent(&l->box, (size_t)n);
			l->writing = (size_t)n < ready.n && !always;
		} else if (n < 0 && (always || !fd_would_block(n))) {
			break_off(l, CLEAT_EIO, "cannot write: %s", strerror((int)-n));
			l->why.os_errno = (int)-n;
		} else {
			l->writing = true;
		}
	}
}

static void update_watches(struct line_link *l)
{
	unsigned in = l->reading ? LOOP_READ : 0, out = l->writing && !l->box.shut ? LOOP_WRITE : 0;

	if (!l->in_watch)
		return;
	if (l->in_watch == l->out_watch) {
		loop_watch_set(l->in_watch, in | out);
		return;
	}
	loop_watch_set(l->in_watch, in);
	loop_watch_set(l->out_watch, out);
}

/* A line break inside a JSON text can only be white space. */
static void append_line(struct buf *b, struct str text)
{
	while (text.n > 0) {
		const char *nl = memchr(text.p, '\n', text.n);
		size_t n = nl ? (size_t)(nl - text.p) : text.n;

		buf_append(b, text.p, n);
		if (nl)
			buf_putc(b, ' ');
		n += nl != NULL;
		text.p += n;
		text.n -= n;
	}
}

static int op_send(struct link *link, const struct link_message *m)
{
	struct line_link *l = (struct line_link *)(void *)link;
	struct buf *b = l->state == LINE_UP ? outbox_begin(&l->box) : NULL;
	int rc;

	if (!b)
		return CLEAT_ECLOSED;
	if (l->box.ready > 0 && m->text.n > LINE_WAITING - l->box.ready)
		return CLEAT_ELIMIT;
	append_line(b, m->text);
	rc = outbox_end(&l->box, true);
	if (rc || l->entered)
		return rc;
	/* The first message of a turn leaves at once, the others together. */
	if (!l->wrote) {
		l->wrote = true;
		flush(l);
		update_watches(l);
	}
	if ((l->box.ready > 0 && !l->writing) || l->box.shut)
		loop_defer(l->o.loop, &l->call);
	return CLEAT_OK;
}

static void on_turn(struct loop_turn *t)
{
	CONTAINER(t, struct line_link, turn)->wrote = false;
}

/* ---- input -------------------------------------------------------------------------------- */

static bool is_message(struct str line)
{
	size_t i = 0;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t' || line.p[i] == '\r'))
		i++;
	return i < line.n && (line.p[i] == '{' || line.p[i] == '[');
}

static void skip_garbage(struct line_link *l, struct str line)
{
	int n = line.n > LINE_SHOWN ? LINE_SHOWN : (int)line.n;
	char shown[LINE_SHOWN];

	memcpy(shown, line.p, (size_t)n);
	plain(shown, (size_t)n);
	if (++l->garbage >= LINE_GARBAGE) {
		break_off(l, CLEAT_EPROTO,
			  "%d lines in a row that are no JSON; the last begins: %.*s", LINE_GARBAGE,
			  n > 80 ? 80 : n, shown);
		return;
	}
	l->notes++;
	if (l->notes < LINE_NOTES)
		line_note(l, CLEAT_LOG_WARNING, "skipped a line that is no JSON: %.*s", n, shown);
	else if (l->notes == LINE_NOTES)
		line_note(l, CLEAT_LOG_WARNING, "more lines are no JSON; they are skipped");
}

static bool line_on_line(void *ctx, struct str line)
{
	struct line_link *l = ctx;
	bool up = l->state == LINE_UP || l->state == LINE_ENDING;

	if (!up || l->freed)
		return false;
	if (!is_message(line)) {
		skip_garbage(l, line);
		return l->why.status != CLEAT_EPROTO;
	}
	l->garbage = 0;
	l->o.events.message(l->o.events.ctx, line, NULL, 0);
	return !l->freed && (l->state == LINE_UP || l->state == LINE_ENDING);
}

static void on_oversize(void *ctx, size_t limit)
{
	struct line_link *l = ctx;

	if (!l->freed && (l->state == LINE_UP || l->state == LINE_ENDING))
		l->o.events.oversize(l->o.events.ctx, NULL, limit);
}

static void end_of_input(struct line_link *l, ptrdiff_t n)
{
	l->reading = false;
	if (n == 0) {
		framing_end(&l->framing, &(struct framing_sink){ line_on_line, on_oversize, l });
		break_off(l, CLEAT_ECLOSED, "the other side closed the connection");
		return;
	}
	break_off(l, CLEAT_EIO, "cannot read: %s", strerror((int)-n));
	l->why.os_errno = (int)-n;
}

/* One chunk and all lines in it. Gives the bytes; 0 when there was nothing. */
static size_t read_some(struct line_link *l, bool failed)
{
	struct framing_sink sink = { line_on_line, on_oversize, l };
	ptrdiff_t n = fd_read(&l->in, l->chunk, sizeof l->chunk);

	if (n > 0) {
		/* Unused bytes are of no interest: the link was closed in between. */
		framing_feed(&l->framing, l->chunk, (size_t)n, &sink);
		return (size_t)n;
	}
	if (n == 0 || failed || !fd_would_block(n))
		end_of_input(l, n);
	return 0;
}

void line_read_rest(struct line_link *l)
{
	size_t sum = 0, n = 1;

	while (n > 0 && sum < LINE_REST && l->reading && l->in_watch && !l->freed) {
		n = read_some(l, false);
		sum += n;
	}
}

static void line_on_ready(void *ctx, unsigned events, bool failed)
{
	struct line_link *l = ctx;

	line_enter(l);
	if (events & LOOP_WRITE) {
		l->writing = false;
		flush(l);
		if (failed && l->writing)
			break_off(l, CLEAT_EIO, "the other side reads no more");
	}
	if ((events & LOOP_READ) && l->reading)
		read_some(l, failed);
	line_leave(l);
}

/* ---- states ------------------------------------------------------------------------------- */

static void hold_loop(struct line_link *l, bool hold)
{
	if (hold && !l->attached)
		loop_attach(l->o.loop);
	else if (!hold && l->attached)
		loop_detach(l->o.loop);
	l->attached = hold;
}

void line_detach(struct line_link *l)
{
	loop_turn_remove(l->o.loop, &l->turn);
	if (l->out_watch != l->in_watch)
		loop_watch_free(l->out_watch);
	loop_watch_free(l->in_watch);
	l->in_watch = l->out_watch = NULL;
	l->reading = l->writing = false;
	l->box.shut = true;
}

static int line_watch(struct line_link *l, int in, int out, cleat_error *err)
{
	int rc = fd_look(&l->in, in, false, err);

	if (rc == CLEAT_OK)
		rc = fd_look(&l->out, out, true, err);
	if (rc)
		return rc;
	rc = loop_watch_new(l->o.loop, in, line_on_ready, l, &l->in_watch);
	if (rc == CLEAT_OK && in == out)
		l->out_watch = l->in_watch;
	else if (rc == CLEAT_OK)
		rc = loop_watch_new(l->o.loop, out, line_on_ready, l, &l->out_watch);
	if (rc)
		return error_set(err, rc, "descriptors %d and %d cannot be served: %s", in, out,
				 cleat_strstatus(rc));
	return CLEAT_OK;
}

int line_attach(struct line_link *l, int in, int out, cleat_error *err)
{
	int rc;

	framing_done(&l->framing);
	framing_init(&l->framing, &l->mem, l->o.max_message);
	outbox_done(&l->box);
	outbox_init(&l->box, &l->mem, SIZE_MAX);
	rc = line_watch(l, in, out, err);
	if (rc)
		line_detach(l);
	return rc;
}

void line_up(struct line_link *l)
{
	error_clear(&l->why);
	l->garbage = l->notes = 0;
	l->told = l->wrote = false;
	l->reading = true;
	l->state = LINE_UP;
	loop_turn_add(l->o.loop, &l->turn);
	l->o.events.up(l->o.events.ctx, NULL);
}

void line_up_failed(struct line_link *l, const cleat_error *why, enum cleat_step step)
{
	struct link_failure f = { .error = *why, .step = step, .unsent = true };

	l->state = LINE_IDLE;
	hold_loop(l, false);
	l->o.events.up(l->o.events.ctx, &f);
}

void line_down(struct line_link *l, const cleat_error *why)
{
	struct link_failure f = { .error = *why, .step = CLEAT_STEP_EXCHANGE };

	line_detach(l);
	if (why->status == CLEAT_EPROTO)
		f.step = CLEAT_STEP_PROTOCOL;
	l->state = LINE_IDLE;
	hold_loop(l, false);
	l->o.events.down(l->o.events.ctx, &f);
}

void line_closed(struct line_link *l)
{
	if (l->state == LINE_CLOSED)
		return;
	line_detach(l);
	l->state = LINE_CLOSED;
	hold_loop(l, false);
	l->o.events.closed(l->o.events.ctx);
}

void line_enter(struct line_link *l)
{
	l->entered++;
}

static void line_release(struct line_link *l)
{
	cleat_allocator mem = l->mem;

	framing_done(&l->framing);
	outbox_done(&l->box);
	mem_free(&mem, l);
}

void line_leave(struct line_link *l)
{
	if (l->entered == 1 && !l->freed) {
		flush(l);
		update_watches(l);
		if (l->state == LINE_ENDING && !l->told) {
			l->told = true;
			l->way->ended(l);
		}
	}
	if (--l->entered == 0 && l->freed)
		line_release(l);
}

static void on_call(struct loop_call *c)
{
	struct line_link *l = CONTAINER(c, struct line_link, call);

	line_enter(l);
	if (l->state == LINE_OPENING)
		l->way->open(l);
	else if (l->want_closed)
		line_closed(l);
	line_leave(l);
}

/* ---- ops ---------------------------------------------------------------------------------- */

static void op_open(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->state != LINE_IDLE)
		return;
	l->state = LINE_OPENING;
	hold_loop(l, true);
	loop_defer(l->o.loop, &l->call);
}

static void op_forget(struct link *link, void *tag)
{
	(void)link;
	(void)tag; /* nobody here knows tags */
}

void line_no_stream(struct link *link)
{
	(void)link;
}

/* What the way has of it is let go when it opens again. */
static void op_reset(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->state != LINE_UP || !link->renews)
		return;
	line_detach(l);
	l->state = LINE_IDLE;
	hold_loop(l, false);
}

int line_no_fall_back(struct link *link)
{
	(void)link;
	return CLEAT_EUNSUPPORTED;
}

static void op_close(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->state == LINE_CLOSING || l->state == LINE_CLOSED)
		return;
	if (l->state == LINE_UP)
		flush(l);
	hold_loop(l, true);
	line_detach(l);
	loop_cancel(l->o.loop, &l->call);
	l->state = LINE_CLOSING;
	l->want_closed = l->way->close(l);
	if (l->want_closed)
		loop_defer(l->o.loop, &l->call);
}

static void op_free(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->freed)
		return;
	if (l->state == LINE_UP)
		flush(l);
	line_detach(l);
	loop_cancel(l->o.loop, &l->call);
	l->state = LINE_CLOSED;
	l->way->free(l);
	hold_loop(l, false);
	l->freed = true;
	if (l->entered == 0)
		line_release(l);
}

void *line_new(const struct link_base_options *o, const struct line_way *way, size_t size,
	       cleat_error *err)
{
	static const struct link_ops ops = {
		.open = op_open,
		.send = op_send,
		.forget = op_forget,
		.listen = line_no_stream,
		.reset = op_reset,
		.fall_back = line_no_fall_back,
		.close = op_close,
		.free = op_free,
	};
	cleat_allocator mem = mem_resolve(o->mem);
	struct line_link *l = mem_zalloc(&mem, size);

	if (!l) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	l->link.ops = &ops;
	l->o = *o;
	l->o.max_message = o->max_message ? o->max_message : LINE_MESSAGE;
	l->o.connect_ms = o->connect_ms ? o->connect_ms : LINE_CONNECT_MS;
	l->mem = mem;
	l->way = way;
	l->call.fn = on_call;
	l->turn.fn = on_turn;
	framing_init(&l->framing, &mem, l->o.max_message);
	outbox_init(&l->box, &mem, SIZE_MAX);
	l->box.shut = true;
	return l;
}
