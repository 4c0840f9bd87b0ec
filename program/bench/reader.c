/* program/bench/reader.c - see reader.h. */
#include "bench/reader.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST 2048u
#define ROOM_FIRST 16384u
#define CHUNK_LINE 4096u /* of a chunk's size with its extensions, or of a trailer's field */

bool reader_init(struct reader *r, bool lines, size_t max)
{
	memset(r, 0, sizeof *r);
	r->phase = lines ? READER_LINES : READER_STATUS;
	r->max = max;
	r->cap = max < ROOM_FIRST ? max : ROOM_FIRST;
	r->buf = malloc(r->cap);
	return r->buf != NULL;
}

void reader_done(struct reader *r)
{
	free(r->buf);
	memset(r, 0, sizeof *r);
}

/* The next answer: its bytes may be in the buffer already. */
void reader_next(struct reader *r)
{
	if (r->at < r->n)
		memmove(r->buf, r->buf + r->at, r->n - r->at);
	r->n -= r->at;
	r->at = r->seen = 0;
	r->decoded = r->line = r->looked = r->data = 0;
	r->left = 0;
	r->has_data = r->after_cr = r->has_length = false;
	r->status = 0;
	r->close = r->chunked = r->stream = false;
	r->session[0] = '\0';
	r->body = NULL;
	r->body_n = 0;
	if (r->phase != READER_LINES)
		r->phase = READER_STATUS;
}

void reader_reset(struct reader *r)
{
	r->at = r->n = 0;
	r->eof = false;
	r->why = NULL;
	reader_next(r);
}

bool reader_started(const struct reader *r)
{
	return r->n > 0 || r->phase > READER_STATUS;
}

/* What was looked at is in nobody's way any more, except for what was decoded. */
static void compact(struct reader *r)
{
	size_t gap = r->at - r->decoded;

	if (!gap || r->phase == READER_STATUS || r->phase == READER_FIELDS ||
	    (r->phase == READER_SIZED && !r->stream))
		return;
	memmove(r->buf + r->decoded, r->buf + r->at, r->n - r->at);
	r->n -= gap;
	r->at -= gap;
	r->seen = r->seen > gap ? r->seen - gap : 0;
}

char *reader_room(struct reader *r, size_t *ret_n)
{
	if (r->cap - r->n < ROOM_LEAST)
		compact(r);
	if (r->cap - r->n < ROOM_LEAST) {
		size_t cap = r->cap > r->max / 2 ? r->max : r->cap * 2;
		char *p = cap - r->n < ROOM_LEAST ? NULL : realloc(r->buf, cap);

		if (!p) {
			r->why = "the answer is too large";
			return NULL;
		}
		r->buf = p;
		r->cap = cap;
	}
	*ret_n = r->cap - r->n;
	return r->buf + r->n;
}

void reader_received(struct reader *r, size_t n)
{
	r->n += n;
}

void reader_ended(struct reader *r)
{
	r->eof = true;
}

static enum reader_step bad(struct reader *r, const char *why)
{
	r->why = why;
	return READER_BAD;
}

/* A whole line, without its end; NULL: it is not there yet. */
static char *take_line(struct reader *r, size_t *ret_n)
{
	size_t from = r->seen > r->at ? r->seen : r->at;
	char *start = r->buf + r->at, *nl = memchr(r->buf + from, '\n', r->n - from);

	if (!nl) {
		r->seen = r->n;
		return NULL;
	}
	r->at = r->seen = (size_t)(nl - r->buf) + 1;
	*ret_n = (size_t)(nl - start);
	if (*ret_n && start[*ret_n - 1] == '\r')
		--*ret_n;
	return start;
}

/* ---- the head --------------------------------------------------------------------------------- */

static char reader_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool same(const char *p, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (!word[i] || reader_lower(p[i]) != word[i])
			return false;
	return word[n] == '\0';
}

/* Is the word in this list, "keep-alive, close"? */
static bool lists(const char *p, size_t n, const char *word)
{
	size_t start = 0;

	for (size_t i = 0; i <= n; i++) {
		size_t a = start, b = i;

		if (i < n && p[i] != ',')
			continue;
		while (a < b && (p[a] == ' ' || p[a] == '\t'))
			a++;
		while (b > a && (p[b - 1] == ' ' || p[b - 1] == '\t'))
			b--;
		if (same(p + a, b - a, word))
			return true;
		start = i + 1;
	}
	return false;
}

static enum reader_step status_line(struct reader *r, const char *p, size_t n)
{
	if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || p[8] != ' ')
		return bad(r, "the answer is not HTTP/1.1");
	for (size_t i = 9; i < 12; i++) {
		if (p[i] < '0' || p[i] > '9')
			return bad(r, "the status is not a number");
		r->status = r->status * 10 + (p[i] - '0');
	}
	r->close = p[7] == '0';
	r->phase = READER_FIELDS;
	return READER_MORE;
}

static enum reader_step content_length(struct reader *r, const char *p, size_t n)
{
	uint64_t v = 0;

	if (!n || n > 15)
		return bad(r, "Content-Length is not a length");
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return bad(r, "Content-Length is not a length");
		v = v * 10 + (uint64_t)(p[i] - '0');
	}
	if (r->has_length && r->left != v)
		return bad(r, "there are two different Content-Length headers");
	r->has_length = true;
	r->left = v;
	return READER_MORE;
}

static enum reader_step field_value(struct reader *r, const char *name, size_t name_n,
				    const char *p, size_t n)
{
	if (same(name, name_n, "content-length"))
		return content_length(r, p, n);
	if (same(name, name_n, "transfer-encoding")) {
		if (!same(p, n, "chunked"))
			return bad(r, "Transfer-Encoding is not \"chunked\"");
		r->chunked = true;
	} else if (same(name, name_n, "content-encoding")) {
		if (!same(p, n, "identity"))
			return bad(r, "the answer is compressed, which was not asked for");
	} else if (same(name, name_n, "content-type")) {
		r->stream = n >= 17 && same(p, 17, "text/event-stream");
	} else if (same(name, name_n, "connection")) {
		r->close = (r->close && !lists(p, n, "keep-alive")) || lists(p, n, "close");
	} else if (same(name, name_n, "mcp-session-id") && n < sizeof r->session) {
		memcpy(r->session, p, n);
		r->session[n] = '\0';
	}
	return READER_MORE;
}

static enum reader_step field(struct reader *r, const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n), *end = p + n, *value;

	if (!colon || colon == p || *p == ' ' || *p == '\t')
		return bad(r, "a header line has no name");
	value = colon + 1;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return field_value(r, p, (size_t)(colon - p), value, (size_t)(end - value));
}

static enum reader_step whole(struct reader *r, const char *body, size_t n)
{
	r->body = body;
	r->body_n = n;
	r->phase = READER_ENDED;
	return READER_DONE;
}

/* RFC 9112, 6.3: how the body is framed. */
static enum reader_step head_ended(struct reader *r)
{
	if (r->status < 200) { /* 100 (Continue), 103: the answer follows */
		r->status = 0;
		r->has_length = r->chunked = r->stream = false;
		r->phase = READER_STATUS;
		return READER_MORE;
	}
	if (r->status == 204 || r->status == 304)
		return whole(r, r->buf, 0);
	if (r->chunked)
		r->phase = READER_CHUNK_SIZE;
	else
		r->phase = r->has_length ? READER_SIZED : READER_UNSIZED;
	if (r->phase == READER_UNSIZED)
		r->close = true;
	if (r->phase == READER_SIZED && !r->stream && r->left > r->max)
		return bad(r, "the answer is too large");
	return READER_MORE;
}

static enum reader_step head(struct reader *r)
{
	while (r->phase <= READER_FIELDS) {
		size_t n = 0;
		char *p = take_line(r, &n);
		enum reader_step step;

		if (r->at > READER_HEAD_MAX || (!p && r->n - r->at > READER_HEAD_MAX))
			return bad(r, "the header is too large");
		if (!p)
			return r->eof ? bad(r, "the connection ended before the answer")
				      : READER_MORE;
		if (r->phase == READER_STATUS)
			step = status_line(r, p, n);
		else
			step = n ? field(r, p, n) : head_ended(r);
		if (step != READER_MORE)
			return step;
	}
	return READER_MORE;
}

/* ---- event streams ------------------------------------------------------------------------------ */

/* WHATWG HTML 9.2.6, as far as data goes: the data of an event moves to the buffer's start. */
static void stream_line(struct reader *r, const char *p, size_t n)
{
	if (n < 4 || memcmp(p, "data", 4) != 0 || (n > 4 && p[4] != ':'))
		return;
	p += n > 4 ? 5 : 4;
	n -= n > 4 ? 5 : 4;
	if (n && *p == ' ') {
		p++;
		n--;
	}
	if (r->has_data)
		r->buf[r->data++] = '\n';
	memmove(r->buf + r->data, p, n);
	r->data += n;
	r->has_data = true;
}

/* The lines that are there; true: an event is complete. A line ends with LF, CR or both. */
static bool events(struct reader *r)
{
	if (r->body) { /* the last event was taken */
		r->body = NULL;
		r->data = 0;
		r->has_data = false;
	}
	while (r->line < r->decoded) {
		char *p = r->buf + r->line, *end, *cr;
		size_t n = r->decoded - r->line;

		if (r->after_cr && *p == '\n') {
			r->after_cr = false;
			r->line++;
			continue;
		}
		end = memchr(p + r->looked, '\n', n - r->looked);
		cr = memchr(p + r->looked, '\r', (end ? (size_t)(end - p) : n) - r->looked);
		end = cr ? cr : end;
		r->looked = end ? 0 : n;
		if (!end)
			break;
		r->after_cr = cr != NULL;
		r->line += (size_t)(end - p) + 1;
		if (end > p) {
			stream_line(r, p, (size_t)(end - p));
		} else if (r->has_data) {
			r->body = r->buf;
			r->body_n = r->data;
			return true;
		}
	}
	/* What is left is a line that has begun: it moves up to the data. */
	memmove(r->buf + r->data, r->buf + r->line, r->decoded - r->line);
	r->decoded -= r->line - r->data;
	r->line = r->data;
	return false;
}

/* ---- the body --------------------------------------------------------------------------------- */

/* Bytes of the body to the buffer's start. */
static void reader_decode(struct reader *r)
{
	size_t k = r->n - r->at;

	if (r->phase != READER_UNSIZED && k > r->left)
		k = (size_t)r->left;
	memmove(r->buf + r->decoded, r->buf + r->at, k);
	r->decoded += k;
	r->at += k;
	r->left -= r->phase == READER_UNSIZED ? 0 : k;
}

static enum reader_step more(struct reader *r)
{
	return r->eof ? bad(r, "the connection ended inside the answer") : READER_MORE;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum reader_step chunk_size(struct reader *r)
{
	size_t n = 0, i = 0;
	char *p = take_line(r, &n);

	if (!p)
		return r->n - r->at > CHUNK_LINE ? bad(r, "a chunk has no size") : more(r);
	for (r->left = 0; i < n && hex(p[i]) >= 0; i++) {
		if (i == 8)
			return bad(r, "a chunk is too large");
		r->left = r->left * 16 + (uint64_t)hex(p[i]);
	}
	if (!i || (i < n && p[i] != ';' && p[i] != ' ' && p[i] != '\t'))
		return bad(r, "a chunk has no size");
	r->phase = r->left ? READER_CHUNK : READER_TRAILER;
	return READER_DONE; /* of this */
}

static enum reader_step chunk_end(struct reader *r)
{
	size_t n = 0;
	char *p = take_line(r, &n);

	if (!p)
		return r->n - r->at > 2 ? bad(r, "a chunk does not end where it says") : more(r);
	if (n)
		return bad(r, "a chunk does not end where it says");
	r->phase = READER_CHUNK_SIZE;
	return READER_DONE;
}

static enum reader_step trailer(struct reader *r)
{
	size_t n = 0;
	char *p = take_line(r, &n);

	if (!p)
		return r->n - r->at > CHUNK_LINE ? bad(r, "a trailer is too large") : more(r);
	if (!n)
		r->phase = READER_ENDED;
	return READER_DONE;
}

static enum reader_step chunk(struct reader *r)
{
	reader_decode(r);
	if (r->left)
		return more(r);
	r->phase = READER_CHUNK_END;
	return READER_DONE;
}

static enum reader_step until_end(struct reader *r)
{
	reader_decode(r);
	if (!r->eof)
		return READER_MORE;
	r->phase = READER_ENDED;
	return READER_DONE;
}

/* One step through the framing: READER_DONE when the phase has changed. */
static enum reader_step framing(struct reader *r)
{
	switch (r->phase) {
	case READER_CHUNK_SIZE: return chunk_size(r);
	case READER_CHUNK: return chunk(r);
	case READER_CHUNK_END: return chunk_end(r);
	case READER_TRAILER: return trailer(r);
	case READER_UNSIZED: return until_end(r);
	default: break;
	}
	reader_decode(r); /* an event stream with a length */
	if (r->left)
		return more(r);
	r->phase = READER_ENDED;
	return READER_DONE;
}

static enum reader_step body(struct reader *r)
{
	enum reader_step step = READER_DONE;

	if (r->phase == READER_SIZED && !r->stream) {
		if (r->n - r->at < r->left)
			return more(r);
		r->at += (size_t)r->left;
		return whole(r, r->buf + r->at - r->left, (size_t)r->left);
	}
	while (!r->why && step == READER_DONE && r->phase != READER_ENDED)
		step = framing(r);
	if (r->stream && events(r)) /* also what came before the stream broke */
		return READER_EVENT;
	if (r->why)
		return READER_BAD;
	if (r->phase == READER_ENDED)
		return r->stream ? READER_DONE : whole(r, r->buf, r->decoded);
	return step;
}

static enum reader_step one_line(struct reader *r)
{
	size_t n = 0;
	char *p;

	do {
		p = take_line(r, &n);
	} while (p && !n);
	if (!p) {
		if (r->at == r->n)
			r->at = r->n = r->seen = 0;
		return more(r);
	}
	r->body = p;
	r->body_n = n;
	return READER_EVENT;
}

enum reader_step reader_step(struct reader *r)
{
	enum reader_step step;

	if (r->phase == READER_LINES)
		return one_line(r);
	step = head(r);
	return step == READER_MORE && r->phase > READER_FIELDS ? body(r) : step;
}
