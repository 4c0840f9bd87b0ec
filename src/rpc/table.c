/* rpc/table.c - see table.h. A chained hash table with a list in order of insertion and a binary heap
 * of the deadlines. Buckets and heap are one block that doubles, so that a node that is in the table
 * always finds room in the heap.
 */
#include "rpc/table.h"

#include "base/mem.h"
#include "rpc/message.h"
#include "json/parse.h"
#include "json/skim.h"

enum { FIRST_SIZE = 16, NUMBER_TEXT = 24 };

/* A key on its way into the table or a lookup. */
struct key {
	const cleat_json *id; /* NULL: the number */
	int64_t number;
	uint32_t hash;
};

void rpc_table_init(struct rpc_table *t, const cleat_allocator *a, size_t max, uint32_t seed)
{
	*t = (struct rpc_table){ .mem = mem_resolve(a), .max = max, .seed = seed };
}

void rpc_table_done(struct rpc_table *t)
{
	if (t->buckets)
		mem_free(&t->mem, t->buckets);
	t->buckets = t->heap = NULL;
	t->size = t->count = t->in_heap = 0;
	t->first = t->last = NULL;
}

/* ---- keys --------------------------------------------------------------------------------- */

static struct str number_text(int64_t number, char text[NUMBER_TEXT])
{
	char *end = text + NUMBER_TEXT, *p = end;
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	do
		*--p = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		*--p = '-';
	return (struct str){ p, (size_t)(end - p) };
}

static struct key json_key(const struct rpc_table *t, const cleat_json *id)
{
	return (struct key){ .id = id, .hash = rpc_id_hash(id, t->seed) };
}

/* Hashes as the JSON number that an answer will carry. */
static struct key int_key(const struct rpc_table *t, int64_t number)
{
	char text[NUMBER_TEXT];
	uint32_t seed = t->seed + (uint32_t)CLEAT_JSON_NUMBER;

	return (struct key){ .number = number, .hash = str_hash(number_text(number, text), seed) };
}

static bool number_is(const cleat_json *id, int64_t number)
{
	char text[NUMBER_TEXT];
	const char *have = cleat_json_number_text(id);

	return have && str_eq(str_of(have), number_text(number, text));
}

static bool matches(const struct rpc_node *n, const struct key *k)
{
	if (n->hash != k->hash)
		return false;
	if (n->id && k->id)
		return rpc_id_equal(n->id, k->id);
	if (n->id)
		return number_is(n->id, k->number);
	return k->id ? number_is(k->id, n->number) : n->number == k->number;
}

static struct rpc_node *table_find(const struct rpc_table *t, const struct key *k)
{
	struct rpc_node *n;

	if (!t->size)
		return NULL;
	for (n = t->buckets[k->hash & (t->size - 1)]; n; n = n->chain)
		if (matches(n, k))
			return n;
	return NULL;
}

struct rpc_node *rpc_table_find(const struct rpc_table *t, const cleat_json *id)
{
	struct key k;

	if (!id || !t->count)
		return NULL;
	k = json_key(t, id);
	return table_find(t, &k);
}

struct rpc_node *rpc_table_find_int(const struct rpc_table *t, int64_t number)
{
	struct key k = int_key(t, number);

	return table_find(t, &k);
}

/* What an id says that is not written as we wrote it; 0: no number of ours. */
static int64_t loosely(const cleat_json *id)
{
	struct str text = json_str(id);
	int64_t n = 0;

	if (!text.p)
		return cleat_json_is_integer(id) ? cleat_json_int(id, 0) : 0;
	return skim_whole(text, &n) && text.p[0] != '0' ? n : 0;
}

struct rpc_node *rpc_table_find_own(const struct rpc_table *t, const cleat_json *id, bool *loose)
{
	struct rpc_node *node = rpc_table_find(t, id);
	int64_t n = node || !id ? 0 : loosely(id);

	if (n > 0)
		node = rpc_table_find_int(t, n);
	if (loose)
		*loose = n > 0 && node;
	return node;
}

/* ---- in and out --------------------------------------------------------------------------- */

static void chain_in(struct rpc_table *t, struct rpc_node *n)
{
	struct rpc_node **slot = &t->buckets[n->hash & (t->size - 1)];

	n->chain = *slot;
	*slot = n;
}

static int table_grow(struct rpc_table *t)
{
	size_t size = t->size ? t->size * 2 : FIRST_SIZE;
	struct rpc_node **block;

	if (size > SIZE_MAX / 2 / sizeof *block)
		return CLEAT_ENOMEM;
	block = mem_zalloc(&t->mem, 2 * size * sizeof *block);
	if (!block)
		return CLEAT_ENOMEM;
	for (size_t i = 0; i < t->in_heap; i++)
		block[size + i] = t->heap[i];
	if (t->buckets)
		mem_free(&t->mem, t->buckets);
	t->buckets = block;
	t->heap = block + size;
	t->size = size;
	for (struct rpc_node *n = t->first; n; n = n->newer)
		chain_in(t, n);
	return CLEAT_OK;
}

int rpc_table_reserve(struct rpc_table *t)
{
	if (t->count >= t->max)
		return CLEAT_ELIMIT;
	return t->count == t->size ? table_grow(t) : CLEAT_OK;
}

static int table_put(struct rpc_table *t, struct rpc_node *n, const struct key *k)
{
	int rc;

	if (n->in_table)
		return CLEAT_EMISUSE;
	if (table_find(t, k))
		return CLEAT_EEXIST;
	rc = rpc_table_reserve(t);
	if (rc != CLEAT_OK)
		return rc;
	*n = (struct rpc_node){ .id = k->id,
				.number = k->number,
				.hash = k->hash,
				.order = t->serial++,
				.older = t->last,
				.in_table = true };
	if (t->last)
		t->last->newer = n;
	else
		t->first = n;
	t->last = n;
	chain_in(t, n);
	t->count++;
	return CLEAT_OK;
}

int rpc_table_put(struct rpc_table *t, struct rpc_node *node, const cleat_json *id)
{
	struct key k;

	if (!id)
		return CLEAT_EINVAL;
	k = json_key(t, id);
	return table_put(t, node, &k);
}

int rpc_table_put_int(struct rpc_table *t, struct rpc_node *node, int64_t number)
{
	struct key k = int_key(t, number);

	return table_put(t, node, &k);
}

void rpc_table_remove(struct rpc_table *t, struct rpc_node *node)
{
	struct rpc_node **slot;

	if (!node->in_table)
		return;
	rpc_table_set_deadline(t, node, 0);
	slot = &t->buckets[node->hash & (t->size - 1)];
	while (*slot != node)
		slot = &(*slot)->chain;
	*slot = node->chain;
	*(node->older ? &node->older->newer : &t->first) = node->newer;
	*(node->newer ? &node->newer->older : &t->last) = node->older;
	node->chain = node->older = node->newer = NULL;
	node->in_table = false;
	t->count--;
}

struct rpc_node *rpc_table_first(const struct rpc_table *t)
{
	return t->first;
}

struct rpc_node *rpc_table_next(const struct rpc_node *node)
{
	return node->newer;
}

struct rpc_node *rpc_table_last(const struct rpc_table *t)
{
	return t->last;
}

struct rpc_node *rpc_table_prev(const struct rpc_node *node)
{
	return node->older;
}

size_t rpc_table_count(const struct rpc_table *t)
{
	return t->count;
}

/* ---- deadlines ---------------------------------------------------------------------------- */

static bool sooner(const struct rpc_node *a, const struct rpc_node *b)
{
	return a->deadline != b->deadline ? a->deadline < b->deadline : a->order < b->order;
}

static void place(struct rpc_table *t, size_t i, struct rpc_node *n)
{
	t->heap[i] = n;
	n->heap_slot = i + 1;
}

static void sift_up(struct rpc_table *t, size_t i, struct rpc_node *n)
{
	while (i > 0 && sooner(n, t->heap[(i - 1) / 2])) {
		place(t, i, t->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	place(t, i, n);
}

static void sift_down(struct rpc_table *t, size_t i, struct rpc_node *n)
{
	size_t child;

	while ((child = 2 * i + 1) < t->in_heap) {
		if (child + 1 < t->in_heap && sooner(t->heap[child + 1], t->heap[child]))
			child++;
		if (!sooner(t->heap[child], n))
			break;
		place(t, i, t->heap[child]);
		i = child;
	}
	place(t, i, n);
}

static void heap_remove(struct rpc_table *t, struct rpc_node *n)
{
	size_t i = n->heap_slot - 1;
	struct rpc_node *moved = t->heap[--t->in_heap];

	n->heap_slot = 0;
	if (moved == n)
		return;
	if (i > 0 && sooner(moved, t->heap[(i - 1) / 2]))
		sift_up(t, i, moved);
	else
		sift_down(t, i, moved);
}

void rpc_table_set_deadline(struct rpc_table *t, struct rpc_node *node, uint64_t deadline_ms)
{
	if (!node->in_table)
		return;
	if (node->heap_slot)
		heap_remove(t, node);
	node->deadline = deadline_ms;
	if (deadline_ms)
		sift_up(t, t->in_heap++, node);
}

uint64_t rpc_table_next_deadline(const struct rpc_table *t)
{
	return t->in_heap ? t->heap[0]->deadline : 0;
}

struct rpc_node *rpc_table_expired(const struct rpc_table *t, uint64_t now_ms)
{
	return t->in_heap && t->heap[0]->deadline <= now_ms ? t->heap[0] : NULL;
}
