/* base/mem.c - see mem.h. The default allocator is the C library's; nothing else in the library
 * calls malloc.
 */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void *std_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return malloc(size);
}

static void *std_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
	(void)ctx;
	(void)old_size;
	return realloc(ptr, size);
}

static void std_free(void *ctx, void *ptr)
{
	(void)ctx;
	free(ptr);
}

const cleat_allocator mem_default = {
	.malloc = std_malloc, .realloc = std_realloc, .free = std_free, .ctx = NULL
};

cleat_allocator mem_resolve(const cleat_allocator *a)
{
	return a && a->malloc && a->realloc && a->free ? *a : mem_default;
}

void *mem_alloc(const cleat_allocator *a, size_t n)
{
	return n ? a->malloc(a->ctx, n) : NULL;
}

void *mem_zalloc(const cleat_allocator *a, size_t n)
{
	void *p = mem_alloc(a, n);

	if (p)
		memset(p, 0, n);
	return p;
}

void *mem_realloc(const cleat_allocator *a, void *p, size_t old_size, size_t n)
{
	if (!p)
		return mem_alloc(a, n);
	return n ? a->realloc(a->ctx, p, old_size, n) : NULL;
}

void mem_free(const cleat_allocator *a, void *p)
{
	if (p)
		a->free(a->ctx, p);
}

char *mem_strndup(const cleat_allocator *a, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? mem_alloc(a, n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *mem_strdup(const cleat_allocator *a, const char *s)
{
	return s ? mem_strndup(a, s, strlen(s)) : NULL;
}

int mem_grow(const cleat_allocator *a, void **array, size_t *cap, size_t used, size_t elem_size,
	     size_t max)
{
	size_t want;
	void *p;

	if (used < *cap)
		return CLEAT_OK;
	if (used >= max)
		return CLEAT_ELIMIT;
	want = *cap ? *cap * 2 : 8;
	if (want > max)
		want = max;
	if (want > SIZE_MAX / elem_size)
		return CLEAT_ENOMEM;
	p = mem_realloc(a, *array, *cap * elem_size, want * elem_size);
	if (!p)
		return CLEAT_ENOMEM;
	*array = p;
	*cap = want;
	return CLEAT_OK;
}
