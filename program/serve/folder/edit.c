/* program/serve/folder/edit.c - see edit.h.
 *
 * The diff is made from the places that were replaced, not by comparing: a hunk is one or several occurrences
 * that share lines, the lines they stand in as '-', and what became of those as '+'.
 */
#define _GNU_SOURCE /* memmem */
#include "serve/folder/edit.h"

#include "base/error.h"

#include <stdio.h>

enum { LINES_NAMED = 5, COUNTED = 1000 };

/* The next occurrence from `at` on; SIZE_MAX: none. */
static size_t next(const struct edit *e, size_t at)
{
	const char *p = at <= e->text.n && e->text.n
				? memmem(e->text.p + at, e->text.n - at, e->old.p, e->old.n)
				: NULL;

	return p ? (size_t)(p - e->text.p) : SIZE_MAX;
}

static size_t count_lines(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static size_t line_begin(struct str s, size_t at)
{
	while (at > 0 && s.p[at - 1] != '\n')
		at--;
	return at;
}

/* Behind the end of the line that `at` is in. */
static size_t line_end(struct str s, size_t at)
{
	const char *nl = at < s.n ? memchr(s.p + at, '\n', s.n - at) : NULL;

	return nl ? (size_t)(nl - s.p) + 1 : s.n;
}

static bool ends_line(struct str s)
{
	return s.n && s.p[s.n - 1] == '\n';
}

/* ---- the diff --------------------------------------------------------------------------------- */

static void edit_put_line(struct buf *diff, char mark, struct str line)
{
	bool ended = ends_line(line);

	line.n -= ended;
	buf_putc(diff, mark);
	if (line.n > EDIT_LINE_MAX) {
		size_t n = EDIT_LINE_MAX;

		while (n > 0 && ((unsigned char)line.p[n] & 0xC0) == 0x80)
			n--;
		buf_append(diff, line.p, n);
		buf_appendz(diff, "\xE2\x80\xA6");
	} else {
		buf_append(diff, line.p, line.n);
	}
	buf_putc(diff, '\n');
}

static void put_lines(struct buf *diff, char mark, struct str s)
{
	for (size_t at = 0; at < s.n && buf_size(diff) < EDIT_DIFF_MAX;) {
		size_t end = line_end(s, at);

		edit_put_line(diff, mark, (struct str){ s.p + at, end - at });
		at = end;
	}
}

/* Lines of a text, counting one that has no end. */
static size_t lines_in(struct str s)
{
	return count_lines(s) + (s.n && !ends_line(s));
}

/* Up to EDIT_CONTEXT lines before `at`, not before `floor`. */
static size_t context_before(struct str s, size_t at, size_t floor)
{
	for (int i = 0; i < EDIT_CONTEXT && at > floor; i++)
		at = line_begin(s, at - 1);
	return at > floor ? at : floor;
}

static size_t context_after(struct str s, size_t at)
{
	for (int i = 0; i < EDIT_CONTEXT && at < s.n; i++)
		at = line_end(s, at);
	return at;
}

struct hunk {
	size_t from, to; /* in the old text */
	struct str fresh;
};

struct diff {
	struct buf *out;
	struct str text;
	size_t done;  /* of the old text: replaced and copied */
	size_t shown; /* of it, by the hunk before */
	size_t left_out;
	size_t line; /* lines before `counted` */
	size_t counted;
	int64_t shift; /* new line numbers less old ones */
};

static void put_hunk(struct diff *d, const struct hunk *h, size_t next_from)
{
	size_t begin = context_before(d->text, h->from, d->shown);
	size_t end = context_after(d->text, h->to);
	struct str old = { d->text.p + h->from, h->to - h->from };
	struct str before = { d->text.p + begin, h->from - begin }, after;
	size_t around;

	if (end > next_from)
		end = next_from > h->to ? next_from : h->to;
	after = (struct str){ d->text.p + h->to, end - h->to };
	around = lines_in(before) + lines_in(after);
	d->line += count_lines((struct str){ d->text.p + d->counted, begin - d->counted });
	d->counted = begin;
	buf_printf(d->out, "@@ -%zu,%zu +%lld,%zu @@\n", d->line + 1, around + lines_in(old),
		   (long long)d->line + 1 + d->shift, around + lines_in(h->fresh));
	put_lines(d->out, ' ', before);
	put_lines(d->out, '-', old);
	put_lines(d->out, '+', h->fresh);
	put_lines(d->out, ' ', after);
	d->shift += (int64_t)lines_in(h->fresh) - (int64_t)lines_in(old);
	d->shown = end;
}

/* ---- replacing -------------------------------------------------------------------------------- */

/* Where the lines end that an occurrence at `at` changes. When whole lines give way to whole lines, the
 * one behind is not touched. */
static size_t touched(const struct edit *e, size_t at)
{
	size_t end = at + e->old.n;
	bool whole = at == 0 || e->text.p[at - 1] == '\n';
	bool clean = ends_line(e->old) && (ends_line(e->fresh) || (!e->fresh.n && whole));

	return clean ? end : line_end(e->text, end);
}

/* One hunk: the occurrence at `at` and those that share lines with it. Gives the next one. */
static size_t do_hunk(const struct edit *e, size_t at, struct buf *out, struct diff *d,
		      size_t *count)
{
	struct hunk h = { .from = line_begin(e->text, at) };
	size_t done = h.from, start = buf_size(out);

	do {
		buf_append(out, e->text.p + done, at - done);
		buf_append(out, e->fresh.p, e->fresh.n);
		done = at + e->old.n;
		if (done >= h.to) /* otherwise `to` is the end of a line after it already */
			h.to = touched(e, at);
		(*count)++;
		at = e->all ? next(e, done) : SIZE_MAX;
	} while (at < h.to);
	buf_append(out, e->text.p + done, h.to - done);
	if (buf_status(out) == CLEAT_OK && buf_size(d->out) < EDIT_DIFF_MAX) {
		h.fresh = (struct str){ buf_str(out).p + start, buf_size(out) - start };
		put_hunk(d, &h, at == SIZE_MAX ? e->text.n : line_begin(e->text, at));
	} else {
		d->left_out++;
	}
	d->done = h.to;
	return at;
}

/* Occurrences that overlap count: each of them could be meant. */
static int ambiguous(const struct edit *e, size_t at, cleat_error *err)
{
	char places[120] = "";
	size_t n = 0, used = 0, line = 1, counted = 0;

	for (; at != SIZE_MAX && n < COUNTED; at = next(e, at + 1), n++) {
		line += count_lines((struct str){ e->text.p + counted, at - counted });
		counted = at;
		if (n < LINES_NAMED)
			used += (size_t)snprintf(places + used, sizeof places - used, "%s%zu",
						 n ? ", " : "", line);
	}
	return error_set(err, CLEAT_EEXIST,
			 "the old text occurs %s%zu times (lines %s%s): give more of what is "
			 "around it, or all=true",
			 n == COUNTED ? "at least " : "", n, places,
			 n > LINES_NAMED ? ", ..." : "");
}

static int not_found(const struct edit *e, cleat_error *err)
{
	bool crlf = e->text.n && memmem(e->text.p, e->text.n, "\r\n", 2) &&
		    memchr(e->old.p, '\n', e->old.n) && !memchr(e->old.p, '\r', e->old.n);

	return error_set(err, CLEAT_ENOENT, "the old text does not occur in the file%s",
			 crlf ? " (its lines end with CR LF)"
			      : "; it must be exactly the same, also white space");
}

int edit_apply(const struct edit *e, struct buf *out, struct buf *diff, size_t *ret_count,
	       cleat_error *err)
{
	struct diff d = { .out = diff, .text = e->text };
	size_t at;

	*ret_count = 0;
	if (!e->old.n)
		return error_set(err, CLEAT_EINVAL, "the old text is empty");
	if (str_eq(e->old, e->fresh))
		return error_set(err, CLEAT_EINVAL, "the old and the new text are the same");
	at = next(e, 0);
	if (at == SIZE_MAX)
		return not_found(e, err);
	if (!e->all && next(e, at + 1) != SIZE_MAX)
		return ambiguous(e, at, err);
	while (at != SIZE_MAX && buf_status(out) == CLEAT_OK) {
		buf_append(out, e->text.p + d.done, line_begin(e->text, at) - d.done);
		at = do_hunk(e, at, out, &d, ret_count);
	}
	buf_append(out, e->text.p + d.done, e->text.n - d.done);
	if (d.left_out)
		buf_printf(diff, "(and %zu more places)\n", d.left_out);
	else if (buf_size(diff) >= EDIT_DIFF_MAX)
		buf_appendz(diff, "(the rest is not shown)\n");
	if (buf_status(out) || buf_status(diff))
		return error_set(err, buf_status(out) ? buf_status(out) : buf_status(diff),
				 buf_status(out) == CLEAT_ELIMIT ? "the file would be too large"
								 : "out of memory");
	return CLEAT_OK;
}
