/* base/buf.c - see buf.h. */
#include "base/buf.h"
#include "base/cold.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_CAP = 512 };

void buf_init(struct buf *b, const cleat_allocator *a, size_t max)
{
	*b = (struct buf){ .mem = mem_resolve(a), .max = max < SIZE_MAX / 2 ? max : SIZE_MAX / 2 };
}

void buf_done(struct buf *b)
{
	mem_free(&b->mem, b->data);
	b->data = NULL;
	b->head = b->len = b->cap = 0;
	b->status = CLEAT_OK;
}

void buf_reset(struct buf *b, size_t keep)
{
	if (b->cap > keep)
		buf_done(b);
	b->head = b->len = 0;
	b->status = CLEAT_OK;
}

int buf_status(const struct buf *b)
{
	return b->status;
}

size_t buf_size(const struct buf *b)
{
	return b->len - b->head;
}

struct str buf_str(const struct buf *b)
{
	return (struct str){ b->data ? b->data + b->head : "", b->len - b->head };
}

static COLD char *buf_fail(struct buf *b, int status)
{
	b->status = status;
	return NULL;
}

static COLD char *buf_grow(struct buf *b, size_t n)
{
	size_t live = b->len - b->head, cap = b->cap ? b->cap : FIRST_CAP;
	char *p;

	if (b->head >= live && b->cap - live >= n) { /* the front is free and moving is cheap */
		if (live)
			memmove(b->data, b->data + b->head, live);
		b->head = 0;
		b->len = live;
		return b->data + b->len;
	}
	while (cap - b->len < n) {
		if (cap > SIZE_MAX / 2)
			return buf_fail(b, CLEAT_ENOMEM);
		cap *= 2;
	}
	p = mem_realloc(&b->mem, b->data, b->cap, cap);
	if (!p)
		return buf_fail(b, CLEAT_ENOMEM);
	b->data = p;
	b->cap = cap;
	return b->data + b->len;
}

/* Room for n bytes that count and for `spare` more that will not stay. */
static char *reserve(struct buf *b, size_t n, size_t spare)
{
	if (b->status)
		return NULL;
	if (n > b->max || b->len - b->head > b->max - n)
		return buf_fail(b, CLEAT_ELIMIT);
	n += spare;
	if (b->data && b->cap - b->len >= n)
		return b->data + b->len;
	return buf_grow(b, n ? n : 1);
}

char *buf_reserve(struct buf *b, size_t n)
{
	return reserve(b, n, 0);
}

void buf_commit(struct buf *b, size_t n)
{
	b->len += n;
}

void buf_append(struct buf *b, const void *p, size_t n)
{
	char *to;

	if (n == 0)
		return;
	to = buf_reserve(b, n);
	if (!to)
		return;
	memcpy(to, p, n);
	b->len += n;
}

void buf_appendz(struct buf *b, const char *z)
{
	buf_append(b, z, strlen(z));
}

void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *to;
	int n;

	if (b->status)
		return;
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		b->status = CLEAT_EINVAL;
		return;
	}
	to = reserve(b, (size_t)n, 1); /* the NUL is not part of the text */
	if (!to)
		return;
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_consume(struct buf *b, size_t n)
{
	b->head += n;
	if (b->head == b->len)
		b->head = b->len = 0;
}

void buf_truncate(struct buf *b, size_t n)
{
	b->len = b->head + n;
	b->status = CLEAT_OK;
}
