/* fuzz/memory.h - memory that runs out when the input says so, for targets that are about more than one
 * message: the n-th allocation fails, once or for good.
 */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "require.h"

#include <cleat/base.h>

#include <stdlib.h>

struct fuzz_memory {
	size_t countdown; /* allocations until one fails; 0: never */
	bool for_good;    /* and all that follow */
	bool failing;
};

static inline bool fuzz_refuse(struct fuzz_memory *m)
{
	if (m->failing)
		return true;
	if (!m->countdown || --m->countdown)
		return false;
	m->failing = m->for_good;
	return true;
}

static inline void *fuzz_malloc(void *ctx, size_t n)
{
	return fuzz_refuse(ctx) ? NULL : malloc(n);
}

static inline void *fuzz_realloc(void *ctx, void *p, size_t old_size, size_t n)
{
	(void)old_size;
	return fuzz_refuse(ctx) ? NULL : realloc(p, n);
}

static inline void fuzz_free(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static inline cleat_allocator fuzz_allocator(struct fuzz_memory *m)
{
	return (cleat_allocator){ fuzz_malloc, fuzz_realloc, fuzz_free, m };
}

#endif
