/* fuzz_sse.c - event streams: raw bytes, which must be read the same in all slicings; and events that
 * are written, which must be read as what was written.
 *
 * The first byte chooses: odd, raw, with the second byte as the limit; even, the rest is cut at 0xFF
 * into id, event and data.
 */
#include "http/sse.h"
#include "require.h"

#include <stdlib.h>

/* ---- raw bytes -------------------------------------------------------------------------------- */

struct seen {
	uint32_t hash;
	unsigned events;
	size_t limit;
	int rc;
	int64_t retry;
};

static void on_event(void *ctx, const struct sse_event *e)
{
	struct seen *s = ctx;

	require(e->data.p && e->data.n <= s->limit && e->event.n > 0);
	require(sse_line_length(e->event) == e->event.n && sse_line_length(e->id) == e->id.n);
	require(e->id.n == 0 || !memchr(e->id.p, 0, e->id.n));
	require(e->data.n == 0 || !memchr(e->data.p, '\r', e->data.n));
	s->hash = str_hash(e->data, str_hash(e->event, str_hash(e->id, s->hash)));
	s->hash += (uint32_t)e->retry;
	s->events++;
}

/* Slices of `step` bytes; 0: pseudo-random ones. */
static struct seen run(const char *p, size_t n, size_t limit, size_t step)
{
	struct sse_reader *r = sse_reader_new(NULL, limit);
	struct seen s = { .limit = limit };
	uint32_t seed = (uint32_t)n;

	require(r);
	for (size_t at = 0; at < n;) {
		size_t k = step;

		seed = seed * 1664525u + 1013904223u;
		k = k ? k : 1 + (seed >> 24) % 17;
		k = k < n - at ? k : n - at;
		s.rc = sse_reader_feed(r, (struct str){ p + at, k }, on_event, &s);
		at += k;
	}
	require(s.rc == CLEAT_OK || s.rc == CLEAT_ELIMIT);
	s.hash = str_hash(sse_reader_last_id(r), s.hash);
	s.retry = sse_reader_retry(r);
	sse_reader_free(r);
	return s;
}

static void check_raw(const char *p, size_t n, size_t limit)
{
	struct seen whole = run(p, n, limit, SIZE_MAX), other;

	for (size_t step = 0; step < 2; step++) {
		other = run(p, n, limit, step);
		require(whole.hash == other.hash && whole.events == other.events);
		require(whole.rc == other.rc && whole.retry == other.retry);
	}
}

/* ---- written events --------------------------------------------------------------------------- */

/* The text with every line end as LF, which is what a reader gives. */
static void put_normal(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n' && i > 0 && s.p[i - 1] == '\r')
			continue;
		buf_putc(b, s.p[i] == '\r' ? '\n' : s.p[i]);
	}
}

struct expected {
	struct sse_event e;
	struct str data;
	unsigned events;
};

static void on_written(void *ctx, const struct sse_event *e)
{
	struct expected *x = ctx;
	bool has_id = sse_line_length(x->e.id) == x->e.id.n && !str_has_nul(x->e.id);
	bool has_event = sse_line_length(x->e.event) == x->e.event.n && x->e.event.n;

	require(str_eq(e->data, x->data) && e->retry == x->e.retry);
	require(str_eq(e->id, has_id ? x->e.id : STR_LIT("")));
	require(str_eq(e->event, has_event ? x->e.event : STR_LIT("message")));
	x->events++;
}

static struct str part(const char **p, const char *end)
{
	const char *cut = *p < end ? memchr(*p, 0xFF, (size_t)(end - *p)) : NULL;
	struct str s = { *p, (size_t)((cut ? cut : end) - *p) };

	*p = cut ? cut + 1 : end;
	return s;
}

static void check_written(const char *p, size_t n)
{
	struct sse_reader *r = sse_reader_new(NULL, SIZE_MAX / 2);
	struct expected x = { .e = { .retry = (int64_t)n - 8 } };
	const char *end = p + n;
	struct buf text, normal;

	require(r);
	x.e.retry = x.e.retry < 0 ? -1 : x.e.retry;
	x.e.id = part(&p, end);
	x.e.event = part(&p, end);
	x.e.data = part(&p, end);
	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_init(&normal, NULL, SIZE_MAX / 2);
	put_normal(&normal, x.e.data);
	x.data = buf_str(&normal);
	sse_write_comment(&text, "x");
	sse_write(&text, &x.e);
	sse_write(&text, &x.e);
	for (size_t at = 0; at < buf_size(&text); at += 7) {
		size_t k = buf_size(&text) - at < 7 ? buf_size(&text) - at : 7;

		require(sse_reader_feed(r, (struct str){ buf_str(&text).p + at, k }, on_written,
					&x) == CLEAT_OK);
	}
	require(x.events == 2);
	buf_done(&text);
	buf_done(&normal);
	sse_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;

	if (size < 2)
		return 0;
	if (data[0] % 2)
		check_raw(p + 2, size - 2, data[1] * 4u);
	else
		check_written(p + 1, size - 1);
	return 0;
}
