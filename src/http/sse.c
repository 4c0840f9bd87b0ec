/* http/sse.c - see sse.h: writing. Reading is in http/sse_reader.c. */
#include "http/sse.h"

static bool has(struct str s, char c)
{
	return s.n && memchr(s.p, c, s.n);
}

/* Blocks, so that a text with many CR and no LF does not cost a search to its end for every line. */
size_t sse_line_length(struct str s)
{
	enum { BLOCK = 512 };

	for (size_t at = 0; at < s.n; at += BLOCK) {
		size_t n = s.n - at < BLOCK ? s.n - at : BLOCK;
		const char *lf = memchr(s.p + at, '\n', n);
		const char *cr = memchr(s.p + at, '\r', lf ? (size_t)(lf - (s.p + at)) : n);

		if (cr || lf)
			return (size_t)((cr ? cr : lf) - s.p);
	}
	return s.n;
}

/* Takes a line and its end off the front; false when it was the last and had no end. */
static bool next_line(struct str *rest, struct str *line)
{
	size_t n = sse_line_length(*rest), end = n + 1;

	*line = (struct str){ rest->p, n };
	if (n == rest->n)
		return false;
	if (rest->p[n] == '\r' && end < rest->n && rest->p[end] == '\n')
		end++;
	*rest = (struct str){ rest->p + end, rest->n - end };
	return true;
}

static void sse_put_line(struct buf *b, struct str prefix, struct str line)
{
	char *to = buf_reserve(b, prefix.n + line.n + 1);

	if (!to)
		return;
	memcpy(to, prefix.p, prefix.n);
	if (line.n)
		memcpy(to + prefix.n, line.p, line.n);
	to[prefix.n + line.n] = '\n';
	buf_commit(b, prefix.n + line.n + 1);
}

static void put_lines(struct buf *b, struct str prefix, struct str text)
{
	struct str line;

	while (next_line(&text, &line))
		sse_put_line(b, prefix, line);
	sse_put_line(b, prefix, line);
}

void sse_write(struct buf *b, const struct sse_event *e)
{
	if (e->id.p && !has(e->id, '\n') && !has(e->id, '\r') && !has(e->id, 0))
		sse_put_line(b, STR_LIT("id: "), e->id);
	if (e->event.p && !has(e->event, '\n') && !has(e->event, '\r'))
		sse_put_line(b, STR_LIT("event: "), e->event);
	if (e->retry >= 0)
		buf_printf(b, "retry: %llu\n", (unsigned long long)e->retry);
	if (e->data.p)
		put_lines(b, STR_LIT("data: "), e->data);
	buf_putc(b, '\n');
}

void sse_write_comment(struct buf *b, const char *text)
{
	put_lines(b, STR_LIT(": "), str_of(text));
	buf_putc(b, '\n');
}
