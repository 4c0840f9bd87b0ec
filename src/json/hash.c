/* json/hash.c - see hash.h.
 *
 * What equal.c takes for equal is hashed alike: a number by what it is worth (an integer below 2^64
 * as such, anything else as digits and exponent), an array in order, an object as the sum of its
 * members. The walk keeps a frame for each open container, at most as many as json_parse() lets
 * through. Not here: whether two values are equal; a hash is only a suspicion.
 */
#include "json/hash.h"

#include "json/decimal.h"
#include "json/number.h"

enum { CHUNK = 16 }; /* digits that are hashed at once */

struct frame {
	const yyjson_val *next; /* child (its key, in objects) */
	const yyjson_val *end;
	uint64_t hash;
	uint64_t key; /* hash of the key whose value is open; unused in arrays */
	bool object;
};

struct walk {
	struct frame stack[NODE_MAX_DEPTH];
	size_t depth;
	uint64_t seed;
};

static uint64_t fold(uint64_t h, uint64_t x)
{
	return keys_mix(h ^ x);
}

/* A start of its own for each kind of value: "1", 1, [1] and true have nothing in common. */
static uint64_t hash_start(uint64_t seed, const yyjson_val *v)
{
	return keys_mix(seed + (v->tag & YYJSON_TYPE_MASK) * UINT64_C(0x9e3779b97f4a7c15));
}

/* The exponent modulo a number that the peer does not know: exponents have any length, and modulo
 * 2^64 everybody could find as many that collide as he likes. */
static uint64_t exponent_residue(const struct decimal *d, uint64_t seed)
{
	const int64_t modulus = (int64_t)((keys_mix(seed) >> 5) | UINT64_C(0x400000000000001));
	int64_t r = 0;

	if (!d->vast)
		return (uint64_t)((d->exponent % modulus + modulus) % modulus);
	for (size_t i = 0; i < d->power.n; i++)
		r = (r * 10 + (d->power.p[i] - '0')) % modulus;
	r = (d->power_negative ? -r : r) + d->shift % modulus;
	return (uint64_t)((r % modulus + modulus) % modulus);
}

static uint64_t decimal_hash(const struct decimal *d, uint64_t h, uint64_t seed)
{
	struct decimal_cursor c = decimal_start(d);

	h = fold(h, exponent_residue(d, seed));
	h = fold(h, d->digits * 2 + d->negative);
	while (c.left)
		h = fold(h, decimal_chunk(&c, CHUNK));
	return h;
}

static uint64_t number_hash(const yyjson_val *v, uint64_t seed)
{
	uint64_t h = hash_start(seed, v), n;
	struct decimal d;
	int64_t small;

	if (json_small_int(node_json(v), &small))
		return fold(fold(h, small < 0), (uint64_t)(small < 0 ? -small : small));
	d = decimal_read(v);
	if (decimal_magnitude(&d, &n))
		return fold(fold(h, d.negative && n != 0), n);
	return decimal_hash(&d, h, seed);
}

static uint64_t scalar_hash(const yyjson_val *v, uint64_t seed)
{
	if (node_is(v, YYJSON_TYPE_RAW))
		return keys_mix(number_hash(v, seed));
	if (node_is(v, YYJSON_TYPE_STR))
		return keys_hash(v, hash_start(seed, v));
	return keys_mix(hash_start(seed, v) + yyjson_is_true((yyjson_val *)v));
}

static void push(struct walk *w, const yyjson_val *v)
{
	w->stack[w->depth++] = (struct frame){
		.next = v + 1,
		.end = node_next(v),
		.hash = hash_start(w->seed, v),
		.object = node_is(v, YYJSON_TYPE_OBJ),
	};
}

/* Members are added up, so that their order does not matter; elements are chained. */
static void hash_add(struct frame *f, uint64_t hash)
{
	if (f->object)
		f->hash += keys_mix(fold(f->key, hash));
	else
		f->hash = fold(f->hash, hash);
}

static uint64_t container_hash(const yyjson_val *v, uint64_t seed)
{
	struct walk w;
	uint64_t hash;

	w.depth = 0;
	w.seed = seed;
	push(&w, v);
	for (;;) {
		struct frame *f = &w.stack[w.depth - 1];
		const yyjson_val *child = f->next;

		if (child == f->end) {
			hash = keys_mix(keys_mix(f->hash));
			if (--w.depth == 0)
				return hash;
			hash_add(f - 1, hash);
			continue;
		}
		if (f->object)
			f->key = keys_hash(child++, seed);
		f->next = node_next(child);
		if (!node_is_container(child))
			hash_add(f, scalar_hash(child, seed));
		else if (w.depth < NODE_MAX_DEPTH)
			push(&w, child);
	}
}

uint64_t json_hash(const cleat_json *v, uint64_t seed)
{
	if (!v)
		return keys_mix(seed);
	return node_is_container(node_of(v)) ? container_hash(node_of(v), seed)
					     : scalar_hash(node_of(v), seed);
}
