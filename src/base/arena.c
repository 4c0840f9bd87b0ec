/* base/arena.c - see arena.h. Chunks double from 4 KiB to 64 KiB; a larger request gets a chunk of
 * its own after the current one, so that a big blob does not waste the rest of a small chunk.
 */
#include "base/arena.h"
#include "base/cold.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CHUNK = 4096 - 64, LARGEST_CHUNK = 65536 - 64, DEFAULT_MAX = 64 << 20 };

struct arena_chunk {
	struct arena_chunk *older;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

static size_t align_up(size_t n)
{
	const size_t a = alignof(max_align_t);

	return (n + a - 1) & ~(a - 1);
}

void arena_init(struct arena *ar, const cleat_allocator *a, size_t max)
{
	*ar = (struct arena){ .mem = mem_resolve(a), .max = max ? max : DEFAULT_MAX };
}

static void free_chunks(struct arena *ar, struct arena_chunk *c)
{
	while (c) {
		struct arena_chunk *older = c->older;

		ar->total -= c->size;
		mem_free(&ar->mem, c);
		c = older;
	}
}

void arena_done(struct arena *ar)
{
	free_chunks(ar, ar->chunk);
	ar->chunk = NULL;
	ar->used = 0;
	ar->failed = false;
}

void arena_reset(struct arena *ar)
{
	struct arena_chunk *keep = ar->chunk;

	if (keep && keep->size > LARGEST_CHUNK) {
		arena_done(ar);
		return;
	}
	if (keep) {
		free_chunks(ar, keep->older);
		keep->older = NULL;
	}
	ar->used = 0;
	ar->failed = false;
}

bool arena_failed(const struct arena *ar)
{
	return ar->failed;
}

static struct arena_chunk *new_chunk(struct arena *ar, size_t size)
{
	struct arena_chunk *c = mem_alloc(&ar->mem, sizeof *c + size);

	if (!c)
		return NULL;
	c->size = size;
	ar->total += size;
	return c;
}

static void *arena_fail(struct arena *ar)
{
	ar->failed = true;
	return NULL;
}

static COLD void *alloc_slow(struct arena *ar, size_t n)
{
	size_t size = ar->chunk ? ar->chunk->size : 0;
	bool first = !ar->chunk && ar->first;
	size_t left = ar->max > ar->total ? ar->max - ar->total : 0;
	bool alone = n > LARGEST_CHUNK / 4;
	struct arena_chunk *c;

	if (n > left)
		return arena_fail(ar);
	size = first                      ? ar->first
	       : size < FIRST_CHUNK / 2   ? FIRST_CHUNK
	       : size < LARGEST_CHUNK / 2 ? size * 2
					  : LARGEST_CHUNK;
	if (size > left) /* the limit is for the user's bytes, not for our steps */
		size = left;
	c = new_chunk(ar, alone || n > size ? n : size);
	if (!c)
		return arena_fail(ar);
	if (alone && ar->chunk) {
		c->older = ar->chunk->older;
		ar->chunk->older = c;
		return c->data;
	}
	c->older = ar->chunk;
	ar->chunk = c;
	ar->used = n;
	return c->data;
}

void *arena_alloc(struct arena *ar, size_t n)
{
	void *p;

	if (n > SIZE_MAX / 2)
		return arena_fail(ar);
	n = align_up(n ? n : 1);
	if (!ar->chunk || ar->chunk->size - ar->used < n)
		return alloc_slow(ar, n);
	p = ar->chunk->data + ar->used;
	ar->used += n;
	return p;
}

void *arena_zalloc(struct arena *ar, size_t n)
{
	void *p = arena_alloc(ar, n);

	if (p)
		memset(p, 0, n);
	return p;
}

void *arena_realloc(struct arena *ar, void *p, size_t old_size, size_t n)
{
	size_t old_room = align_up(old_size ? old_size : 1);
	void *q;

	if (!p)
		return arena_alloc(ar, n);
	if (n <= SIZE_MAX / 2 && ar->chunk && ar->used >= old_room &&
	    (unsigned char *)p == ar->chunk->data + ar->used - old_room) {
		size_t room = align_up(n ? n : 1);
		size_t start = ar->used - old_room;

		if (room <= ar->chunk->size - start) {
			ar->used = start + room;
			return p;
		}
	}
	if (n <= old_size)
		return p;
	q = arena_alloc(ar, n);
	if (q)
		memcpy(q, p, old_size);
	return q;
}

char *arena_strndup(struct arena *ar, const char *s, size_t n)
{
	char *copy = NULL;

	if (s)
		copy = n < SIZE_MAX ? arena_alloc(ar, n + 1) : arena_fail(ar);
	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *arena_strdup(struct arena *ar, const char *s)
{
	return s ? arena_strndup(ar, s, strlen(s)) : NULL;
}

const char *const *arena_strlist(struct arena *ar, const char *const *list)
{
	const char **copy;
	size_t n = 0;

	if (!list)
		return NULL;
	while (list[n])
		n++;
	copy = arena_zalloc(ar, (n + 1) * sizeof *copy);
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = arena_strdup(ar, list[i]);
	return copy;
}

char *arena_vprintf(struct arena *ar, const char *fmt, va_list ap)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	s = n >= 0 ? arena_alloc(ar, (size_t)n + 1) : arena_fail(ar);
	if (s)
		vsnprintf(s, (size_t)n + 1, fmt, ap);
	return s;
}

char *arena_printf(struct arena *ar, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = arena_vprintf(ar, fmt, ap);
	va_end(ap);
	return s;
}

static void *hook_malloc(void *ctx, size_t size)
{
	return arena_alloc(ctx, size);
}

static void *hook_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	return arena_realloc(ctx, ptr, old_size, size);
}

static void hook_free(void *ctx, void *ptr)
{
	(void)ctx;
	(void)ptr;
}

cleat_allocator arena_allocator(struct arena *ar)
{
	return (cleat_allocator){
		.malloc = hook_malloc, .realloc = hook_realloc, .free = hook_free, .ctx = ar
	};
}
