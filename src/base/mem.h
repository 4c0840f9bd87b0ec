/* base/mem.h - allocation through the hook.
 *
 * Every allocation of the library goes through a cleat_allocator, so that a program can bring its
 * own memory and so that tests can make the n-th allocation fail. Not here: arenas (base/arena.h)
 * and growing buffers (base/buf.h), which are built on this.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <cleat/base.h>

/* malloc, realloc, free. */
extern const cleat_allocator mem_default;

/* `a`, or the default where it is NULL or incomplete. Returned by value: hooks are copied. */
cleat_allocator mem_resolve(const cleat_allocator *a);

/* NULL when out of memory or when `n` is 0. mem_zalloc gives zeroed memory. */
void *mem_alloc(const cleat_allocator *a, size_t n);
void *mem_zalloc(const cleat_allocator *a, size_t n);
/* On failure the old block stays as it was. */
void *mem_realloc(const cleat_allocator *a, void *p, size_t old_size, size_t n);
/* Accepts NULL. */
void mem_free(const cleat_allocator *a, void *p);
/* A terminated copy; mem_strdup(NULL) is NULL. */
char *mem_strndup(const cleat_allocator *a, const char *s, size_t n);
char *mem_strdup(const cleat_allocator *a, const char *s);
/* Makes room for one more element in a dynamic array: doubles `*cap` (from 8) up to `max`.
 * CLEAT_OK, CLEAT_ENOMEM or CLEAT_ELIMIT; on failure array and cap are unchanged. */
int mem_grow(const cleat_allocator *a, void **array, size_t *cap, size_t used, size_t elem_size,
	     size_t max);

#endif
