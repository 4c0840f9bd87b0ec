/* client/cache.h - results that the server lets us keep (2026-07-28 server/utilities/caching).
 *
 * Keyed by method and params (as canonical JSON without _meta); a page of a list is an entry of its own.
 * Bounded by bytes: what was used least recently goes first. One cache belongs to one client, and so to
 * one authorization context: cacheScope "private" may be kept here, and nothing is ever shared with
 * another client. Not here: which methods are cacheable (call.c asks), the clock.
 */
#ifndef CLIENT_CACHE_H
#define CLIENT_CACHE_H

#include "base/buf.h"

#include <cleat/json.h>

struct cache;

/* Appends what the functions here want as `params`: canonical JSON without _meta, so that
 * equal requests have equal keys. No params (NULL) are {}. CLEAT_OK, CLEAT_ENOMEM or CLEAT_ELIMIT. */
int cache_params(struct buf *out, const cleat_json *params, const cleat_allocator *mem);

/* `max`: bytes of all keys and texts, with overhead. NULL when out of memory. */
struct cache *cache_new(const cleat_allocator *mem, size_t max);
void cache_free(struct cache *k); /* accepts NULL */
/* Keeps the text of a result that may be kept until `until_ms`; replaces what was there. What is too
 * large, or there is no memory for, is not kept. */
void cache_put(struct cache *k, struct str method, struct str params, struct str result,
	       uint64_t until_ms);
/* The text, if it is fresh at `now_ms`; borrowed until the next call. Absent otherwise. */
struct str cache_get(struct cache *k, struct str method, struct str params, uint64_t now_ms);
/* Forgets all results of a method; with `params` (not absent), that one only. */
void cache_drop(struct cache *k, struct str method, struct str params);
void cache_clear(struct cache *k);
size_t cache_bytes(const struct cache *k);

/* What a result says: how many milliseconds from when it came it may be kept, at most a day. 0: not at
 * all: no ttlMs, or a negative one, or not an integer; a resultType that is not "complete"; a cacheScope
 * that is neither "public" nor "private". Where there is none it is taken as "private". */
uint64_t cache_ttl(const cleat_json *result);

#endif
