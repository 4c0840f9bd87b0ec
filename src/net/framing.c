/* net/framing.c - see framing.h. */
#include "net/framing.h"

#include <string.h>

/* Memory for the beginning of a line that is kept from line to line. */
enum { TAIL_KEEP = 64 * 1024 };

void framing_init(struct framing *f, const cleat_allocator *a, size_t limit)
{
	if (limit > SIZE_MAX / 4)
		limit = SIZE_MAX / 4;
	f->limit = limit;
	f->skipping = false;
	buf_init(&f->tail, a, limit + 1); /* and its CR */
}

void framing_done(struct framing *f)
{
	buf_done(&f->tail);
}

/* A line of white space is no more a message than an empty one. */
static bool is_blank(struct str line)
{
	size_t i = 0;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t' || line.p[i] == '\r'))
		i++;
	return i == line.n;
}

static bool hand_on(struct framing *f, struct str line, const struct framing_sink *sink)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (is_blank(line))
		return true;
	if (line.n <= f->limit)
		return sink->line(sink->ctx, line);
	sink->oversize(sink->ctx, f->limit);
	return true;
}

/* Adds to the line in `tail`. False when that made it too long: it is dropped and reported. */
static bool framing_keep(struct framing *f, struct str piece, const struct framing_sink *sink)
{
	size_t limit;

	buf_append(&f->tail, piece.p, piece.n);
	limit = buf_status(&f->tail) == CLEAT_ENOMEM ? 0 : f->limit;
	if (buf_status(&f->tail) == CLEAT_OK)
		return true;
	buf_reset(&f->tail, TAIL_KEEP);
	sink->oversize(sink->ctx, limit);
	return false;
}

static bool end_line(struct framing *f, struct str piece, const struct framing_sink *sink)
{
	bool more = true;

	if (f->skipping) {
		f->skipping = false;
		return true;
	}
	if (buf_size(&f->tail) == 0)
		return hand_on(f, piece, sink);
	if (framing_keep(f, piece, sink))
		more = hand_on(f, buf_str(&f->tail), sink);
	buf_reset(&f->tail, TAIL_KEEP);
	return more;
}

size_t framing_feed(struct framing *f, const char *p, size_t n, const struct framing_sink *sink)
{
	size_t at = 0;

	while (at < n) {
		const char *nl = memchr(p + at, '\n', n - at);
		struct str piece = { p + at, nl ? (size_t)(nl - (p + at)) : n - at };

		if (!nl) {
			if (!f->skipping && !framing_keep(f, piece, sink))
				f->skipping = true;
			return n;
		}
		at += piece.n + 1;
		if (!end_line(f, piece, sink))
			return at;
	}
	return n;
}

void framing_end(struct framing *f, const struct framing_sink *sink)
{
	end_line(f, (struct str){ "", 0 }, sink);
}
