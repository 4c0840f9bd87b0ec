/* link/line.c - see line.h. */
#include "link/line.h"
#include "base/ring.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/plain.h"
#include "json/skim.h"

#include <stdio.h>

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

	linestream_break(&l->io);
	if (l->state != LINE_UP)
		return;
	l->state = LINE_ENDING;
	va_start(ap, fmt);
	error_vset(&l->why, status, 0, fmt, ap);
	va_end(ap);
}

/* line_run() is due, from the loop or from whoever stands for it. */
static void later(struct line_link *l)
{
	if (l->o.loop)
		loop_defer(l->o.loop, &l->call);
	else
		l->way->later(l);
}

/* ---- output ------------------------------------------------------------------------------- */

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
	struct buf *b = l->state == LINE_UP ? outbox_begin(&l->io.box) : NULL;
	int rc;

	if (!b)
		return CLEAT_ECLOSED;
	if (l->io.box.ready > 0 && m->text.n > LINE_WAITING - l->io.box.ready)
		return CLEAT_ELIMIT;
	append_line(b, m->text);
	rc = outbox_end(&l->io.box, true);
	if (rc || l->entered)
		return rc;
	/* The first message of a turn leaves at once, the others together. */
	if (!l->wrote) {
		l->wrote = true;
		linestream_flush(&l->io);
		linestream_watch(&l->io);
	}
	if ((l->io.box.ready > 0 && !l->io.writing) || l->io.box.shut)
		later(l);
	return CLEAT_OK;
}

static void on_turn(struct loop_turn *t)
{
	CONTAINER_OF(t, struct line_link, turn)->wrote = false;
}

/* ---- input -------------------------------------------------------------------------------- */

static bool is_up(const struct line_link *l)
{
	return !l->freed && (l->state == LINE_UP || l->state == LINE_ENDING);
}

static bool is_message(struct str line)
{
	struct skim s = skim_text(line);

	return skim_enter(&s, '{') || skim_enter(&s, '[');
}

static void skip_garbage(struct line_link *l, struct str line)
{
	int n = line.n > LINE_SHOWN ? LINE_SHOWN : (int)line.n;
	char shown[LINE_SHOWN];

	memcpy(shown, line.p, (size_t)n);
	plain(shown, (size_t)n);
	if (++l->garbage >= LINE_GARBAGE) {
		break_off(l, CLEAT_EPROTO,
			  "%d lines in a row that are not JSON; the last begins: %.*s",
			  LINE_GARBAGE, n > 80 ? 80 : n, shown);
		return;
	}
	l->notes++;
	if (l->notes < LINE_NOTES)
		line_note(l, CLEAT_LOG_WARNING, "skipped a line that is not JSON: %.*s", n, shown);
	else if (l->notes == LINE_NOTES)
		line_note(l, CLEAT_LOG_WARNING, "more lines that are not JSON were skipped");
}

static bool line_on_line(void *ctx, struct str line)
{
	struct line_link *l = ctx;
	if (!is_up(l))
		return false;
	if (!is_message(line)) {
		skip_garbage(l, line);
		return l->why.status != CLEAT_EPROTO;
	}
	l->garbage = 0;
	l->o.events.message(l->o.events.ctx, line, NULL, 0);
	return is_up(l);
}

static void on_oversize(void *ctx, size_t limit)
{
	struct line_link *l = ctx;

	if (is_up(l))
		l->o.events.oversize(l->o.events.ctx, NULL, limit);
}

static void on_ended(void *ctx, bool out, int error)
{
	struct line_link *l = ctx;

	if (!out && !error) {
		break_off(l, CLEAT_ECLOSED, "the other side closed the connection");
		return;
	}
	break_off(l, CLEAT_EIO, "cannot %s: %s", out ? "write" : "read", strerror(error));
	l->why.os_errno = error;
}

void line_read_rest(struct line_link *l)
{
	size_t sum = 0, n = 1;

	while (n > 0 && sum < LINE_REST && l->io.reading && l->io.in_watch && !l->freed) {
		n = linestream_read(&l->io, false);
		sum += n;
	}
}

/* ---- states ------------------------------------------------------------------------------- */

void line_detach(struct line_link *l)
{
	if (l->o.loop)
		loop_turn_remove(l->o.loop, &l->turn);
	linestream_detach(&l->io);
	l->io.box.shut = true;
}

static void line_on_ready(void *ctx, unsigned events, bool failed)
{
	struct line_link *l = ctx;

	line_enter(l);
	linestream_ready(&l->io, events, failed);
	line_leave(l);
}

static void new_stream(struct line_link *l)
{
	static const struct linestream_user user = { line_on_line, on_oversize, on_ended,
						     line_on_ready };

	linestream_init(&l->io, &l->mem, &user, l, l->o.max_message, SIZE_MAX);
}

int line_attach(struct line_link *l, int in, int out, cleat_error *err)
{
	linestream_done(&l->io);
	new_stream(l);
	return l->o.loop ? linestream_attach(&l->io, l->o.loop, in, out, err) : CLEAT_OK;
}

void line_up(struct line_link *l)
{
	error_clear(&l->why);
	l->garbage = l->notes = 0;
	l->told = l->wrote = false;
	l->io.reading = true;
	l->state = LINE_UP;
	if (l->o.loop)
		loop_turn_add(l->o.loop, &l->turn);
	l->o.events.up(l->o.events.ctx, NULL);
}

void line_up_failed(struct line_link *l, const cleat_error *why, enum cleat_step step)
{
	struct link_failure f = { .error = *why, .step = step, .unsent = true };

	l->state = LINE_IDLE;
	loop_hold(l->o.loop, &l->attached, false);
	l->o.events.up(l->o.events.ctx, &f);
}

void line_down(struct line_link *l, const cleat_error *why)
{
	struct link_failure f = { .error = *why, .step = CLEAT_STEP_EXCHANGE };

	line_detach(l);
	if (why->status == CLEAT_EPROTO)
		f.step = CLEAT_STEP_PROTOCOL;
	l->state = LINE_IDLE;
	loop_hold(l->o.loop, &l->attached, false);
	l->o.events.down(l->o.events.ctx, &f);
}

void line_closed(struct line_link *l)
{
	if (l->state == LINE_CLOSED)
		return;
	line_detach(l);
	l->state = LINE_CLOSED;
	loop_hold(l->o.loop, &l->attached, false);
	l->o.events.closed(l->o.events.ctx);
}

void line_enter(struct line_link *l)
{
	l->entered++;
}

static void line_release(struct line_link *l)
{
	cleat_allocator mem = l->mem;

	linestream_done(&l->io);
	mem_free(&mem, l);
}

void line_leave(struct line_link *l)
{
	if (l->entered == 1 && !l->freed) {
		linestream_flush(&l->io);
		linestream_watch(&l->io);
		if (l->state == LINE_ENDING && !l->told) {
			l->told = true;
			l->way->ended(l);
		}
	}
	if (--l->entered == 0 && l->freed)
		line_release(l);
}

void line_run(struct line_link *l)
{
	line_enter(l);
	if (l->state == LINE_OPENING)
		l->way->open(l);
	else if (l->want_closed)
		line_closed(l);
	line_leave(l);
}

static void on_call(struct loop_call *c)
{
	line_run(CONTAINER_OF(c, struct line_link, call));
}

/* ---- ops ---------------------------------------------------------------------------------- */

static void op_open(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->state != LINE_IDLE)
		return;
	l->state = LINE_OPENING;
	loop_hold(l->o.loop, &l->attached, true);
	later(l);
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
	loop_hold(l->o.loop, &l->attached, false);
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
		linestream_flush(&l->io);
	loop_hold(l->o.loop, &l->attached, true);
	line_detach(l);
	if (l->o.loop)
		loop_cancel(l->o.loop, &l->call);
	l->state = LINE_CLOSING;
	l->want_closed = !l->way->close || l->way->close(l);
	if (l->want_closed)
		later(l);
}

static void op_free(struct link *link)
{
	struct line_link *l = (struct line_link *)(void *)link;

	if (l->freed)
		return;
	if (l->state == LINE_UP)
		linestream_flush(&l->io);
	line_detach(l);
	if (l->o.loop)
		loop_cancel(l->o.loop, &l->call);
	l->state = LINE_CLOSED;
	if (l->way->free)
		l->way->free(l);
	loop_hold(l->o.loop, &l->attached, false);
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
	new_stream(l);
	l->io.box.shut = true;
	return l;
}
