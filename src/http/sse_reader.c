/* http/sse_reader.c - see sse.h: reading, by the rules of WHATWG HTML 9.2.5 and 9.2.6.
 *
 * A field goes byte by byte where it belongs (data straight into the data of the event), so a line is
 * never held twice and one that is not used is never held at all. Deliberately not here: the
 * replacement of broken UTF-8 by U+FFFD. The bytes are handed on, and whoever reads JSON refuses
 * them.
 */
#include "base/cold.h"
#include "base/mem.h"
#include "http/sse.h"

enum state {
	MARK,  /* at the very beginning, where a byte order mark is skipped */
	NAME,  /* at the beginning of a line or in the name of its field */
	SPACE, /* after the colon */
	VALUE
};

enum field { NONE, DATA, EVENT, ID, RETRY };

enum {
	LONGEST_NAME =
		6, /* one more than "event" and "retry" have, which tells that a name is longer */
	KEEP = 4 << 10 /* memory that stays between events */
};

struct sse_reader {
	cleat_allocator mem;
	size_t max_event;
	int status; /* why it is dead */
	enum state state;
	enum field field; /* of the line, when it is known */
	unsigned mark;    /* bytes of a byte order mark so far */
	bool after_cr;    /* an LF would belong to the line end before */
	bool id_given;    /* in this event */
	char name[LONGEST_NAME];
	size_t n_name;
	size_t size; /* bytes of the event so far */
	struct buf data, event;
	struct buf id_line, id; /* in this line; of this event ("last event ID buffer") */
	struct buf last_id;     /* when the last event was complete */
	bool id_has_nul;
	bool retry_good;
	int64_t retry_line, retry_event, retry;
};

static COLD int die(struct sse_reader *r, int status)
{
	r->status = status;
	return status;
}

/* ---- fields ----------------------------------------------------------------------------------- */

static void begin_field(struct sse_reader *r)
{
	struct str name = { r->name, r->n_name };

	r->field = str_eqz(name, "data")    ? DATA
		   : str_eqz(name, "event") ? EVENT
		   : str_eqz(name, "id")    ? ID
		   : str_eqz(name, "retry") ? RETRY
					    : NONE;
	if (r->field == EVENT)
		buf_truncate(&r->event, 0);
	buf_truncate(&r->id_line, 0);
	r->id_has_nul = false;
	r->retry_line = 0;
	r->retry_good = false;
}

static int sse_reader_keep(struct sse_reader *r, struct buf *b, const char *p, size_t n)
{
	if (n > r->max_event - r->size)
		return die(r, CLEAT_ELIMIT);
	r->size += n;
	buf_append(b, p, n);
	return buf_status(b) == CLEAT_OK ? CLEAT_OK : die(r, buf_status(b));
}

/* "If the field value consists of only ASCII digits": -1 from the first other character on. Saturates;
 * nobody waits that long. */
static void read_digits(struct sse_reader *r, const char *p, size_t n)
{
	r->retry_good = true;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			r->retry_line = -1;
		else if (r->retry_line > (INT64_MAX - 9) / 10)
			r->retry_line = INT64_MAX;
		else if (r->retry_line >= 0)
			r->retry_line = r->retry_line * 10 + (p[i] - '0');
	}
}

static int read_value(struct sse_reader *r, const char *p, size_t n)
{
	switch (r->field) {
	case DATA: return sse_reader_keep(r, &r->data, p, n);
	case EVENT: return sse_reader_keep(r, &r->event, p, n);
	case ID:
		if (memchr(p, 0, n))
			r->id_has_nul = true;
		return sse_reader_keep(r, &r->id_line, p, n);
	case RETRY: read_digits(r, p, n); return CLEAT_OK;
	case NONE: break;
	}
	return CLEAT_OK;
}

static void end_id(struct sse_reader *r)
{
	struct buf old = r->id;

	if (r->id_has_nul)
		return;
	r->id = r->id_line;
	r->id_line = old;
	r->id_given = true;
}

static int end_field(struct sse_reader *r)
{
	switch (r->field) {
	case DATA: return sse_reader_keep(r, &r->data, "\n", 1);
	case ID: end_id(r); break;
	case RETRY:
		if (r->retry_good && r->retry_line >= 0)
			r->retry = r->retry_event = r->retry_line;
		break;
	case EVENT:
	case NONE: break;
	}
	return CLEAT_OK;
}

/* ---- events ----------------------------------------------------------------------------------- */

static int remember_id(struct sse_reader *r)
{
	struct str id = buf_str(&r->id);

	if (!r->id_given)
		return CLEAT_OK;
	buf_truncate(&r->last_id, 0);
	buf_append(&r->last_id, id.p, id.n);
	r->id_given = false;
	return buf_status(&r->last_id) == CLEAT_OK ? CLEAT_OK : die(r, buf_status(&r->last_id));
}

/* An empty line. */
static int dispatch(struct sse_reader *r, void (*fn)(void *ctx, const struct sse_event *e),
		    void *ctx)
{
	struct sse_event e = { .retry = r->retry_event };

	if (remember_id(r))
		return r->status;
	if (buf_size(&r->data)) {
		e.data = buf_str(&r->data);
		e.data.n--; /* the LF after the last line */
		e.event = buf_size(&r->event) ? buf_str(&r->event) : STR_LIT("message");
		e.id = buf_str(&r->last_id);
		fn(ctx, &e);
	}
	buf_reset(&r->data, KEEP);
	buf_reset(&r->event, KEEP);
	r->retry_event = -1;
	r->size = 0;
	return CLEAT_OK;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static int end_line(struct sse_reader *r, void (*fn)(void *ctx, const struct sse_event *e),
		    void *ctx)
{
	int rc;

	if (r->state == NAME && r->n_name == 0) {
		rc = dispatch(r, fn, ctx);
	} else {
		if (r->state == NAME) /* a field without a colon has an empty value */
			begin_field(r);
		rc = end_field(r);
	}
	r->state = NAME;
	r->n_name = 0;
	return rc;
}

static void read_name(struct sse_reader *r, char c)
{
	if (c == ':') {
		begin_field(r); /* no name at all: a comment */
		r->state = SPACE;
	} else if (r->n_name < LONGEST_NAME) {
		r->name[r->n_name++] = c;
	}
}

/* Takes one byte, or of a value as many as there are in the line; gives how many. */
static size_t sse_reader_step(struct sse_reader *r, const char *p, size_t n,
			      void (*fn)(void *ctx, const struct sse_event *e), void *ctx)
{
	bool after_cr = r->after_cr;
	size_t k = 1;

	r->after_cr = *p == '\r';
	if (*p == '\n' && after_cr)
		return 1;
	if (*p == '\n' || *p == '\r') {
		end_line(r, fn, ctx);
	} else if (r->state == NAME) {
		read_name(r, *p);
	} else if (r->state == SPACE && *p == ' ') {
		r->state = VALUE;
	} else {
		r->state = VALUE;
		k = sse_line_length((struct str){ p, n });
		read_value(r, p, k);
	}
	return k;
}

/* The beginning of the stream: bytes of a mark are held back until it is known to be one. */
static size_t skip_mark(struct sse_reader *r, const char *p, size_t n,
			void (*fn)(void *ctx, const struct sse_event *e), void *ctx)
{
	static const char mark[] = "\xEF\xBB\xBF";
	size_t used = 0;

	while (used < n && r->mark < 3 && p[used] == mark[r->mark]) {
		used++;
		r->mark++;
	}
	if (used == n && r->mark < 3)
		return used;
	r->state = NAME;
	for (unsigned i = 0; r->mark < 3 && i < r->mark; i++) /* it was none */
		sse_reader_step(r, mark + i, 1, fn, ctx);
	return used;
}

int sse_reader_feed(struct sse_reader *r, struct str bytes,
		    void (*fn)(void *ctx, const struct sse_event *e), void *ctx)
{
	size_t used = 0;

	if (r->status == CLEAT_OK && r->state == MARK && bytes.n)
		used = skip_mark(r, bytes.p, bytes.n, fn, ctx);
	while (r->status == CLEAT_OK && used < bytes.n)
		used += sse_reader_step(r, bytes.p + used, bytes.n - used, fn, ctx);
	return r->status;
}

/* ---- the reader ------------------------------------------------------------------------------- */

struct sse_reader *sse_reader_new(const cleat_allocator *mem, size_t max_event)
{
	cleat_allocator a = mem_resolve(mem);
	struct sse_reader *r = mem_zalloc(&a, sizeof *r);

	if (!r)
		return NULL;
	r->mem = a;
	r->max_event = max_event;
	r->retry = r->retry_event = -1;
	buf_init(&r->data, &a, SIZE_MAX / 2);
	buf_init(&r->event, &a, SIZE_MAX / 2);
	buf_init(&r->id_line, &a, SIZE_MAX / 2);
	buf_init(&r->id, &a, SIZE_MAX / 2);
	buf_init(&r->last_id, &a, SIZE_MAX / 2);
	return r;
}

void sse_reader_free(struct sse_reader *r)
{
	if (!r)
		return;
	buf_done(&r->data);
	buf_done(&r->event);
	buf_done(&r->id_line);
	buf_done(&r->id);
	buf_done(&r->last_id);
	mem_free(&r->mem, r);
}

struct str sse_reader_last_id(const struct sse_reader *r)
{
	return buf_str(&r->last_id);
}

int64_t sse_reader_retry(const struct sse_reader *r)
{
	return r->retry;
}
