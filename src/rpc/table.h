/* rpc/table.h - the requests of one connection, by id, by deadline and in order of arrival.
 *
 * One structure for both directions: requests that came in and are not answered yet, keyed by the
 * id they came with (type and token, see rpc_id_equal), and requests that went out, keyed by the
 * integer we chose. The nodes are part of the caller's objects; the table allocates only its
 * buckets, and only in rpc_table_put*, so nothing else can fail. Bounded. Not here: callbacks, what
 * a node belongs to, a clock.
 */
#ifndef RPC_TABLE_H
#define RPC_TABLE_H

#include "base/ring.h"
#include <cleat/base.h>
#include <cleat/json.h>

/* Embedded in a request; zeroed before the first put. All members belong to the table; reading id
 * and number is fine. */
struct rpc_node {
	const cleat_json *id; /* the key, or NULL when it is `number` */
	int64_t number;
	uint64_t deadline; /* ms; 0: none */
	uint64_t order;    /* serial number of the put; breaks ties between deadlines */
	struct rpc_node *chain;
	struct rpc_node *older, *newer;
	size_t heap_slot; /* index in the heap plus one; 0: not in it */
	uint32_t hash;
	bool in_table;
};

struct rpc_table {
	cleat_allocator mem;
	struct rpc_node **buckets; /* size is 0 or a power of two */
	struct rpc_node **heap;    /* the nodes with a deadline; as large as buckets, same block */
	size_t size, count, in_heap, max;
	struct rpc_node *first, *last; /* in order of insertion */
	uint64_t serial;
	uint32_t seed;
};

/* Allocates nothing. `a` NULL means the default. At most `max` nodes; `seed` makes the hash
 * unguessable from outside. */
void rpc_table_init(struct rpc_table *t, const cleat_allocator *a, size_t max, uint32_t seed);
/* Frees the buckets; the nodes are the caller's. Accepts a zeroed table. */
void rpc_table_done(struct rpc_table *t);

/* Enters a node. CLEAT_OK; CLEAT_EEXIST when the id is already there (the one that is there stays);
 * CLEAT_ELIMIT when full; CLEAT_ENOMEM; CLEAT_EINVAL for a NULL id; CLEAT_EMISUSE when the node is in
 * a table. After a failure nothing has changed. The id value must live as long as the node is in. */
int rpc_table_put(struct rpc_table *t, struct rpc_node *node, const cleat_json *id);
int rpc_table_put_int(struct rpc_table *t, struct rpc_node *node, int64_t number);

/* Makes sure that the next put fails neither for lack of memory nor for lack of room. CLEAT_OK,
 * CLEAT_ELIMIT or CLEAT_ENOMEM. */
int rpc_table_reserve(struct rpc_table *t);

/* NULL when there is none (also for a NULL id). An integer key n is found by the JSON number whose
 * text is exactly the shortest decimal form of n: 5, not 5.0, not 5e0, not "5". */
struct rpc_node *rpc_table_find(const struct rpc_table *t, const cleat_json *id);
struct rpc_node *rpc_table_find_int(const struct rpc_table *t, int64_t number);
/* In a table whose ids are whole numbers of our own: the same, and also by a number or a string that says n in another
 * way ("5", 5.0), for it can only mean that one. *loose (may be NULL): it was such a one. */
struct rpc_node *rpc_table_find_own(const struct rpc_table *t, const cleat_json *id, bool *loose);

/* Takes a node out; does nothing when it is not in. */
void rpc_table_remove(struct rpc_table *t, struct rpc_node *node);

/* In order of insertion. While walking, the node at hand may be removed once its successor was
 * read; where callbacks may change the table, take rpc_table_first() again and again instead. */
struct rpc_node *rpc_table_first(const struct rpc_table *t);
struct rpc_node *rpc_table_next(const struct rpc_node *node);
struct rpc_node *rpc_table_last(const struct rpc_table *t);
struct rpc_node *rpc_table_prev(const struct rpc_node *node);
size_t rpc_table_count(const struct rpc_table *t);

/* Sets or changes the deadline of a node that is in the table; 0 takes it away. Cannot fail. */
void rpc_table_set_deadline(struct rpc_table *t, struct rpc_node *node, uint64_t deadline_ms);
/* The earliest deadline; 0 when no node has one. */
uint64_t rpc_table_next_deadline(const struct rpc_table *t);
/* The node with the earliest deadline, if that is at or before now_ms; of equal ones the one that
 * was put first. NULL otherwise. It stays in: remove it (or move its deadline) and ask again. */
struct rpc_node *rpc_table_expired(const struct rpc_table *t, uint64_t now_ms);

#endif
