/* store/buckets.h - a hash table of nodes that live in what they find.
 *
 * It knows hashes only: keys are compared by whoever walks the nodes of a hash. Putting something in
 * cannot fail: a table that finds no memory to grow has longer chains, and tries again with the next
 * one. Not here: a seed; it belongs into the hash.
 */
#ifndef STORE_BUCKETS_H
#define STORE_BUCKETS_H

#include <cleat/base.h>

struct bucket_node {
	struct bucket_node *chain;
	uint32_t hash;
};

struct buckets {
	cleat_allocator mem;
	struct bucket_node **heads;
	size_t size; /* a power of two */
	size_t count;
};

/* CLEAT_OK or CLEAT_ENOMEM. `mem` must be complete. */
int buckets_init(struct buckets *b, const cleat_allocator *mem);
/* The nodes are not touched. Accepts a zeroed one. */
void buckets_done(struct buckets *b);
void buckets_put(struct buckets *b, struct bucket_node *n, uint32_t hash);
/* n is in it. */
void buckets_remove(struct buckets *b, struct bucket_node *n);
/* The nodes with this hash, one after the other; NULL when there is none (left). */
struct bucket_node *buckets_first(const struct buckets *b, uint32_t hash);
struct bucket_node *buckets_next(const struct bucket_node *n);

#endif
