/* program/record/tap/body.c - the messages in the body of an answer; see tap.h. Server-sent events are read by http/sse.h. */
#include "record/tap/tap.h"

#include "base/buf.h"
#include "base/mem.h"
#include "http/sse.h"

enum { MESSAGE_MAX = 64 << 20, EVENT_SLACK = 2048 /* for its id and its name */ };

struct body {
	cleat_allocator mem;
	void (*message)(void *ctx, const char *p, size_t n);
	void *ctx;
	bool json;                 /* one text */
	struct sse_reader *events; /* NULL: it is not a stream */
	struct buf text;
};

struct body *body_new(const cleat_allocator *mem, struct str type,
		      void (*message)(void *ctx, const char *p, size_t n), void *ctx)
{
	cleat_allocator a = mem_resolve(mem);
	struct body *b = mem_zalloc(&a, sizeof *b);

	if (!b)
		return NULL;
	b->mem = a;
	b->message = message;
	b->ctx = ctx;
	for (size_t i = 0; i < type.n; i++) /* whatever its charset */
		if (memchr("; \t", type.p[i], 3))
			type.n = i;
	b->json = str_samez(type, "application/json");
	buf_init(&b->text, &a, MESSAGE_MAX);
	if (str_samez(type, "text/event-stream")) {
		b->events = sse_reader_new(&a, MESSAGE_MAX + EVENT_SLACK);
		if (!b->events) {
			body_free(b);
			return NULL;
		}
	}
	return b;
}

void body_free(struct body *b)
{
	if (!b)
		return;
	sse_reader_free(b->events);
	buf_done(&b->text);
	mem_free(&b->mem, b);
}

static void body_on_event(void *ctx, const struct sse_event *e)
{
	const struct body *b = ctx;

	if (e->data.n && str_eqz(e->event, "message"))
		b->message(b->ctx, e->data.p, e->data.n);
}

int body_feed(struct body *b, const char *p, size_t n)
{
	if (b->events)
		return sse_reader_feed(b->events, (struct str){ p, n }, body_on_event, b);
	if (b->json)
		buf_append(&b->text, p, n);
	return buf_status(&b->text);
}

void body_end(struct body *b)
{
	struct str text = buf_str(&b->text);

	if (text.n && buf_status(&b->text) == CLEAT_OK)
		b->message(b->ctx, text.p, text.n);
	buf_reset(&b->text, 0);
}

void body_last_id(const struct body *b, char *to, size_t room)
{
	struct str id = b->events ? sse_reader_last_id(b->events) : (struct str){ "", 0 };

	for (size_t i = 0; i < id.n; i++)
		if ((unsigned char)id.p[i] < 0x20 || id.p[i] == 0x7F)
			id.n = 0;
	if (id.n >= room)
		id.n = 0;
	if (id.n)
		memcpy(to, id.p, id.n);
	to[id.n] = '\0';
}
