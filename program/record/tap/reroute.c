/* program/record/tap/reroute.c - see tap.h: the first event of HTTP+SSE (2024-11-05 basic/transports) leads back to us.
 *
 * The beginning of the stream is held back up to its first empty line, where the first event is complete; a
 * client could do nothing with less. It is read byte by byte, to know where that is. What is longer than any
 * such event passes unread.
 */
#include "record/tap/impl.h"

#include "base/buf.h"
#include "base/mem.h"
#include "http/sse.h"
#include "http/token.h"
#include "uri/reference.h"

enum { HELD_MAX = 16 << 10 };

struct reroute {
	cleat_allocator mem;
	const struct back *back;
	void (*out)(void *ctx, const char *p, size_t n);
	void *ctx;
	struct sse_reader *reader; /* NULL: everything passes */
	struct buf held;
	bool event;    /* one is complete */
	bool line, cr; /* something stands in this line; the last byte was a CR */
};

struct reroute *reroute_new(const cleat_allocator *mem, const struct back *b,
			    void (*out)(void *ctx, const char *p, size_t n), void *ctx)
{
	cleat_allocator a = mem_resolve(mem);
	struct reroute *r = mem_zalloc(&a, sizeof *r);

	if (!r)
		return NULL;
	r->mem = a;
	r->back = b;
	r->out = out;
	r->ctx = ctx;
	buf_init(&r->held, &a, 2 * HELD_MAX);
	r->reader = sse_reader_new(&a, HELD_MAX);
	if (!r->reader) {
		reroute_free(r);
		return NULL;
	}
	return r;
}

void reroute_free(struct reroute *r)
{
	if (!r)
		return;
	sse_reader_free(r->reader);
	buf_done(&r->held);
	mem_free(&r->mem, r);
}

/* Nothing is held back any more. */
static void let_pass(struct reroute *r)
{
	struct str held = buf_str(&r->held);

	sse_reader_free(r->reader);
	r->reader = NULL;
	if (held.n)
		r->out(r->ctx, held.p, held.n);
	buf_done(&r->held);
}

/* The path of a URL of the server, in the place of what is held. */
static void replace(struct reroute *r, struct str url)
{
	struct buf path;
	struct uri u;

	url = uri_without_fragment(url);
	if (!uri_split(url, 0, &u))
		return;
	buf_init(&path, &r->mem, 2 * HELD_MAX);
	/* RFC 3986 section 4.2: "//" at the beginning would be a host, and nothing at all this stream. */
	if (u.path.n == 0)
		buf_putc(&path, '/');
	else if (str_starts(u.path, "//"))
		buf_appendz(&path, "/.");
	buf_append(&path, u.path.p, url.n - (size_t)(u.path.p - url.p));
	if (buf_status(&path) == CLEAT_OK) {
		buf_truncate(&r->held, 0);
		sse_write(&r->held, &(struct sse_event){ .event = STR_LIT("endpoint"),
							 .data = buf_str(&path),
							 .retry = -1 });
	}
	buf_done(&path);
}

static void reroute_on_event(void *ctx, const struct sse_event *e)
{
	struct reroute *r = ctx;
	struct str ref = http_trim(e->data), base = str_of(back_url(r->back));
	struct buf to;
	struct uri u;

	r->event = true;
	if (!str_eqz(e->event, "endpoint") || !uri_split(ref, 0, &u) || !u.authority.p)
		return; /* a relative reference leads back by itself */
	buf_init(&to, &r->mem, 2 * HELD_MAX + base.n);
	if (uri_resolve(&to, base, ref) && buf_status(&to) == CLEAT_OK &&
	    uri_same_origin(base, buf_str(&to)))
		replace(r, buf_str(&to));
	buf_done(&to);
}

/* Is this the end of an empty line? (The LF of its CR LF is the first that passes.) */
static bool ends_block(struct reroute *r, char c)
{
	bool second = c == '\n' && r->cr, end = c == '\n' || c == '\r';
	bool empty = end && !second && !r->line;

	r->cr = c == '\r';
	r->line = !end;
	return empty;
}

void reroute_feed(struct reroute *r, const char *p, size_t n)
{
	while (n && r->reader) {
		char c = *p;
		bool failed;

		buf_putc(&r->held, c);
		p++;
		n--;
		failed = sse_reader_feed(r->reader, (struct str){ &c, 1 }, reroute_on_event, r) ||
			 buf_status(&r->held) || buf_size(&r->held) >= HELD_MAX;
		if (r->event || failed || ends_block(r, c))
			let_pass(r);
	}
	if (n)
		r->out(r->ctx, p, n);
}

void reroute_end(struct reroute *r)
{
	if (r->reader)
		let_pass(r);
}
