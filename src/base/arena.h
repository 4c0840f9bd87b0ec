/* base/arena.h - memory that lives and dies together.
 *
 * One arena belongs to one request, one document or one registration; nothing in it is freed on its
 * own. Allocation failure latches: arena_failed() stays true until the next reset, so builders
 * check once at the end. Not thread-safe. Chunks come from the allocator hook.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

#include <cleat/base.h>

struct arena_chunk;

struct arena {
	cleat_allocator mem;
	struct arena_chunk *chunk; /* the one being filled; older ones hang behind it */
	size_t used;               /* bytes taken of chunk */
	size_t total;              /* bytes in all chunks */
	size_t max;                /* limit for total */
	size_t first;              /* bytes of the first chunk; 0: the usual. For whoever knows */
	bool failed;
};

/* Makes an empty arena; allocates nothing. `max` 0 means 64 MiB. `a` NULL means the default. */
void arena_init(struct arena *ar, const cleat_allocator *a, size_t max);
/* Frees everything. Accepts a zeroed arena. The arena can be used again afterwards. */
void arena_done(struct arena *ar);
/* Forgets everything but keeps one ordinary chunk for the next user. */
void arena_reset(struct arena *ar);
bool arena_failed(const struct arena *ar);

/* Aligned for any type. NULL when out of memory or over the limit (latched). n 0 gives a valid,
 * unique pointer. arena_zalloc zeroes. */
void *arena_alloc(struct arena *ar, size_t n);
void *arena_zalloc(struct arena *ar, size_t n);
/* Grows a block; in place when it is the newest one, otherwise by copy. */
void *arena_realloc(struct arena *ar, void *p, size_t old_size, size_t n);
/* Terminated copies. NULL gives NULL. */
char *arena_strndup(struct arena *ar, const char *s, size_t n);
char *arena_strdup(struct arena *ar, const char *s);
/* The same for a list of strings that ends with NULL. */
const char *const *arena_strlist(struct arena *ar, const char *const *list);
char *arena_vprintf(struct arena *ar, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
char *arena_printf(struct arena *ar, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* A cleat_allocator whose memory is the arena (free does nothing). */
cleat_allocator arena_allocator(struct arena *ar);

#endif
