/* store/buckets.c - see buckets.h. Chains, and as many of them as there are nodes, or up to twice as
 * many.
 */
#include "store/buckets.h"

#include "base/mem.h"

enum { FIRST_SIZE = 16 };

int buckets_init(struct buckets *b, const cleat_allocator *mem)
{
	*b = (struct buckets){ .mem = *mem, .size = FIRST_SIZE };
	b->heads = mem_zalloc(mem, FIRST_SIZE * sizeof *b->heads);
	return b->heads ? CLEAT_OK : CLEAT_ENOMEM;
}

void buckets_done(struct buckets *b)
{
	if (b->heads)
		mem_free(&b->mem, b->heads);
	*b = (struct buckets){ 0 };
}

static void chain_in(struct buckets *b, struct bucket_node *n)
{
	struct bucket_node **head = &b->heads[n->hash & (b->size - 1)];

	n->chain = *head;
	*head = n;
}

static void buckets_grow(struct buckets *b)
{
	struct bucket_node **old = b->heads, **heads = NULL, *next;
	size_t old_size = b->size;

	if (old_size <= SIZE_MAX / 2 / sizeof *heads)
		heads = mem_zalloc(&b->mem, 2 * old_size * sizeof *heads);
	if (!heads)
		return;
	b->heads = heads;
	b->size = 2 * old_size;
	for (size_t i = 0; i < old_size; i++)
		for (struct bucket_node *n = old[i]; n; n = next) {
			next = n->chain;
			chain_in(b, n);
		}
	mem_free(&b->mem, old);
}

void buckets_put(struct buckets *b, struct bucket_node *n, uint32_t hash)
{
	if (b->count >= b->size)
		buckets_grow(b);
	n->hash = hash;
	chain_in(b, n);
	b->count++;
}

void buckets_remove(struct buckets *b, struct bucket_node *n)
{
	struct bucket_node **at = &b->heads[n->hash & (b->size - 1)];

	while (*at != n)
		at = &(*at)->chain;
	*at = n->chain;
	b->count--;
}

static struct bucket_node *with_hash(struct bucket_node *n, uint32_t hash)
{
	while (n && n->hash != hash)
		n = n->chain;
	return n;
}

struct bucket_node *buckets_first(const struct buckets *b, uint32_t hash)
{
	return with_hash(b->heads[hash & (b->size - 1)], hash);
}

struct bucket_node *buckets_next(const struct bucket_node *n)
{
	return with_hash(n->chain, n->hash);
}
