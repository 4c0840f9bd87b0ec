/* schema/unique.c - uniqueItems. A few elements are compared with each other; many go through a table
 * of hashes, so that the cost stays linear (the seed is the schema's own, so nobody can choose
 * elements that collide).
 */
#include "schema/run.h"

#include "base/mem.h"
#include "json/hash.h"
#include "json/node.h"

enum { FEW_ITEMS = 16 };

struct element {
	const yyjson_val *value;
	uint64_t hash;
	uint32_t next; /* with the same slot; NONE: the last */
};

#define NONE UINT32_MAX

static bool few_differ(const yyjson_val *v, uint32_t *ret_i, uint32_t *ret_j)
{
	const yyjson_val *values[FEW_ITEMS], *p = v + 1;

	for (uint32_t j = 0; j < node_len(v); j++, p = node_next(p)) {
		values[j] = p;
		for (uint32_t i = 0; i < j; i++)
			if (cleat_json_equal(node_json(values[i]), node_json(p))) {
				*ret_i = i;
				*ret_j = j;
				return false;
			}
	}
	return true;
}

/* The element before number j that equals it; NONE when there is none. Enters it. */
static uint32_t unique_enter(struct run *r, struct element *all, uint32_t j, uint32_t *head)
{
	uint32_t i = *head;

	/* objects in which a key appears twice have one hash and differ all the same */
	while (i != NONE &&
	       (all[i].hash != all[j].hash || !value_equal(r, all[i].value, all[j].value)))
		i = all[i].next;
	all[j].next = *head;
	*head = j;
	return i;
}

static bool many_differ(struct run *r, const yyjson_val *v, uint32_t *ret_i, uint32_t *ret_j)
{
	uint32_t n = (uint32_t)node_len(v), slots = 64;
	const yyjson_val *p = v + 1;
	struct element *all;
	uint32_t *heads;

	while (slots < n)
		slots *= 2;
	all = mem_alloc(&r->s->mem, n * sizeof *all + slots * sizeof *heads);
	if (!all)
		return !run_fail(r, CLEAT_ENOMEM);
	heads = (uint32_t *)(void *)(all + n);
	memset(heads, 0xFF, slots * sizeof *heads);
	*ret_i = NONE;
	for (*ret_j = 0; *ret_j < n; p = node_next(p), ++*ret_j) {
		struct element *e = &all[*ret_j];

		*e = (struct element){ .value = p, .hash = json_hash(node_json(p), r->s->seed) };
		*ret_i = unique_enter(r, all, *ret_j, &heads[e->hash & (slots - 1)]);
		if (*ret_i != NONE || r->status)
			break;
	}
	mem_free(&r->s->mem, all);
	return *ret_i == NONE;
}

bool unique_check(struct run *r, const yyjson_val *v, uint32_t *ret_i, uint32_t *ret_j)
{
	uint64_t cost = value_cost(v);

	if (node_len(v) <= FEW_ITEMS)
		return !run_pay(r, cost * (node_len(v) + 8) / 8) || few_differ(v, ret_i, ret_j);
	return !run_pay(r, cost) || many_differ(r, v, ret_i, ret_j);
}
