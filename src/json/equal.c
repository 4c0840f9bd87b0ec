/* json/equal.c - equality of values, without recursion and without allocating.
 *
 * Arrays, and objects whose members stand in the same order, are walked side by side. At the first
 * key that differs an object falls "out of step" and its remaining members are looked up by key: in
 * small objects by a scan, in larger ones through one table on the stack, filled with a share of
 * the other object's keys at a time (as in keys.c): n members cost n * (n / 5120 + 1) steps. The
 * one table is filled again when a large object inside a large one took it meanwhile.
 *
 * An object in which a key appears twice has no meaning of its own: it equals another one only
 * member by member in the same order.
 */
#include "json/node.h"
#include "json/parse.h"

enum { SCAN_MAX = 32, SLOTS = 8192, SHARE = SLOTS / 8 * 5, ROOM = SLOTS / 8 * 7 };

struct frame {
	const yyjson_val *left, *right; /* the two containers */
	const yyjson_val *a;            /* next child of left (its key, in objects) */
	const yyjson_val *b;            /* in step: the same of right; else where `a` fell out */
	uint32_t part;                  /* out of step: the share of keys being looked up */
	bool out_of_step;
};

struct walk {
	struct frame stack[NODE_MAX_DEPTH];
	size_t depth;
	struct frame *owner; /* whose share the table holds; NULL: nobody's */
	uint64_t seed;
	bool overfull; /* the share did not fit: scan */
	union {
		uint32_t offset[SLOTS]; /* of a key from its object, in values; 0 is free */
		uint16_t prints[SLOTS * 2];
	} table;
};

static bool scalar_equal(const yyjson_val *a, const yyjson_val *b)
{
	if ((a->tag & YYJSON_TYPE_MASK) != (b->tag & YYJSON_TYPE_MASK))
		return false;
	switch (a->tag & YYJSON_TYPE_MASK) {
	case YYJSON_TYPE_NULL: return true;
	case YYJSON_TYPE_BOOL: return a->tag == b->tag;
	case YYJSON_TYPE_RAW: return number_equal(a, b);
	case YYJSON_TYPE_STR: return node_same_text(a, b);
	default: return false;
	}
}

static bool push(struct walk *w, const yyjson_val *a, const yyjson_val *b)
{
	if ((a->tag & YYJSON_TYPE_MASK) != (b->tag & YYJSON_TYPE_MASK) ||
	    node_len(a) != node_len(b) || w->depth == NODE_MAX_DEPTH)
		return false;
	w->stack[w->depth++] = (struct frame){ .left = a, .right = b, .a = a + 1, .b = b + 1 };
	return true;
}

static uint32_t parts_of(const struct frame *f)
{
	return (uint32_t)(node_len(f->right) / SHARE + 1);
}

static void fill_table(struct walk *w, struct frame *f)
{
	const yyjson_val *end = node_next(f->right);
	size_t room = ROOM;

	w->owner = f;
	w->overfull = (size_t)(end - f->right) > UINT32_MAX;
	memset(&w->table, 0, sizeof w->table);
	for (const yyjson_val *k = f->right + 1; k < end && !w->overfull; k = node_next(k + 1)) {
		uint64_t hash = keys_hash(k, w->seed);
		size_t i = hash % SLOTS;

		if (keys_part(hash, parts_of(f)) != f->part)
			continue;
		while (w->table.offset[i])
			i = (i + 1) % SLOTS;
		w->table.offset[i] = (uint32_t)(k - f->right);
		w->overfull = --room == 0;
	}
}

static const yyjson_val *scan(const struct frame *f, const yyjson_val *key)
{
	return yyjson_obj_getn((yyjson_val *)f->right, key->uni.str, node_len(key));
}

/* The member of the other object with this key. *later: its turn has not come, or is over. */
static const yyjson_val *look_up(struct walk *w, struct frame *f, const yyjson_val *key,
				 bool *later)
{
	uint64_t hash;

	*later = false;
	if (node_len(f->right) <= SCAN_MAX)
		return scan(f, key);
	hash = keys_hash(key, w->seed);
	*later = keys_part(hash, parts_of(f)) != f->part;
	if (*later)
		return NULL;
	if (w->owner != f)
		fill_table(w, f);
	if (w->overfull)
		return scan(f, key);
	for (size_t i = hash % SLOTS; w->table.offset[i]; i = (i + 1) % SLOTS)
		if (node_same_text(f->right + w->table.offset[i], key))
			return f->right + w->table.offset[i] + 1;
	return NULL;
}

/* From now on by key. False when that cannot end well: with a key that appears twice. (One that
 * appears twice in the other object only leaves a key of this one without a partner.) */
static bool leave_step(struct walk *w, struct frame *f)
{
	f->out_of_step = true;
	f->b = f->a;
	w->owner = NULL; /* the table is scratch now, and its owner perhaps gone from this place */
	return !keys_duplicate(f->left, w->table.prints, SLOTS * 2);
}

static bool equal_compare(struct walk *w, const yyjson_val *a, const yyjson_val *b)
{
	return node_is_container(a) ? push(w, a, b) : scalar_equal(a, b);
}

/* Compares the next member of an object, or puts it off to the next share. */
static bool step_member(struct walk *w, struct frame *f)
{
	const yyjson_val *key = f->a, *value;
	bool later;

	if (!f->out_of_step) {
		if (node_same_text(key, f->b)) {
			value = f->b + 1;
			f->a = node_next(key + 1);
			f->b = node_next(value);
			return equal_compare(w, key + 1, value);
		}
		if (!leave_step(w, f))
			return false;
	}
	value = look_up(w, f, key, &later);
	f->a = node_next(key + 1);
	return later || (value && equal_compare(w, key + 1, value));
}

static bool step_element(struct walk *w, struct frame *f)
{
	const yyjson_val *a = f->a, *b = f->b;

	f->a = node_next(a);
	f->b = node_next(b);
	return equal_compare(w, a, b);
}

/* At the end of a container: the next share of its keys, or back to what it stands in. */
static void equal_finish(struct walk *w, struct frame *f)
{
	if (f->out_of_step && node_len(f->right) > SCAN_MAX && f->part + 1 < parts_of(f)) {
		f->part++;
		f->a = f->b;
		w->owner = NULL;
	} else {
		w->depth--;
	}
}

static bool container_equal(const yyjson_val *a, const yyjson_val *b)
{
	struct walk w;

	w.depth = 0;
	w.owner = NULL;
	w.seed = keys_seed(a);
	w.overfull = false;
	if (!push(&w, a, b))
		return false;
	while (w.depth) {
		struct frame *f = &w.stack[w.depth - 1];
		bool same = true;

		if (f->a == node_next(f->left))
			equal_finish(&w, f);
		else if (node_is(f->left, YYJSON_TYPE_OBJ))
			same = step_member(&w, f);
		else
			same = step_element(&w, f);
		if (!same)
			return false;
	}
	return true;
}

bool cleat_json_equal(const cleat_json *a, const cleat_json *b)
{
	if (a == b || !a || !b)
		return a == b;
	if (node_is_container(node_of(a)))
		return container_equal(node_of(a), node_of(b));
	return scalar_equal(node_of(a), node_of(b));
}
