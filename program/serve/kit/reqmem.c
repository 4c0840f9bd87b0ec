/* program/serve/kit/reqmem.c - cleat_request_alloc() behind the hooks of an allocator (reqmem.h). */
#include "serve/kit/reqmem.h"

#include <string.h>

static void *reqmem_take(void *ctx, size_t n)
{
	return cleat_request_alloc(ctx, n);
}

static void *reqmem_grow(void *ctx, void *p, size_t old_size, size_t n)
{
	void *q = cleat_request_alloc(ctx, n);

	if (q && p)
		memcpy(q, p, old_size < n ? old_size : n);
	return q;
}

static void reqmem_keep(void *ctx, void *p)
{
	(void)ctx;
	(void)p;
}

cleat_allocator reqmem(cleat_request *req)
{
	return (cleat_allocator){ reqmem_take, reqmem_grow, reqmem_keep, req };
}
