/* json/keys.c - keys that appear twice, found without allocating and without trusting the peer.
 *
 * Up to 16 keys are compared with each other. More go through a table of 16-bit fingerprints on
 * the stack: a hit is only a suspicion and is confirmed by comparing bytes. An object that is too
 * large for the table is walked several times, each time for another share of the hashes: n keys
 * cost n * (n / 24576 + 1) steps, which is linear for anything but an attack, and a fraction of a
 * second for a million keys. Hashes are seeded with addresses, so the peer cannot choose keys that
 * collide.
 */
#include "base/error.h"
#include "json/node.h"
#include "json/parse.h"

enum { FEW = 16, MEDIUM_SLOTS = 2048, LARGE_SLOTS = 32768 };

static uint64_t keys_load(const char *p, size_t n)
{
	uint64_t wide;
	uint32_t half;

	if (n == 8) {
		memcpy(&wide, p, 8);
		return wide;
	}
	memcpy(&half, p, 4);
	return half;
}

/* All bytes of a short key; the loads overlap, so no key needs a loop over bytes. */
static uint64_t load_short(const char *p, size_t n)
{
	if (n >= 4)
		return keys_load(p, 4) | keys_load(p + n - 4, 4) << 32;
	if (n == 0)
		return 0;
	return (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
	       (uint64_t)(unsigned char)p[n - 1] << 16;
}

/* Both halves of the product: unlike the lower one alone, they depend on what was multiplied with in a
 * way that nobody can foresee who does not know it. */
static uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
	const uint64_t middle = (al * bl >> 32) + (uint32_t)(ah * bl) + al * bh;

	return a * b ^ (ah * bh + (ah * bl >> 32) + (middle >> 32));
#endif
}

/* Two blocks at a time are multiplied, each under something secret. (A step that mixes one block at a
 * time with public constants has differences that cancel for any seed.) */
uint64_t keys_hash(const yyjson_val *key, uint64_t seed)
{
	const struct str s = node_text(key);
	const uint64_t secret = keys_mix(seed);
	uint64_t h = secret ^ s.n;

	if (s.n < 8)
		return keys_mix(
			fold(load_short(s.p, s.n) ^ secret, h ^ UINT64_C(0x9e3779b97f4a7c15)));
	for (size_t i = 0; i + 16 < s.n; i += 16)
		h = fold(keys_load(s.p + i, 8) ^ secret, keys_load(s.p + i + 8, 8) ^ h);
	if (s.n >= 16)
		h = fold(keys_load(s.p + s.n - 16, 8) ^ secret, keys_load(s.p + s.n - 8, 8) ^ h);
	else
		h = fold(keys_load(s.p, 8) ^ secret, keys_load(s.p + s.n - 8, 8) ^ h);
	return keys_mix(h);
}

uint64_t keys_seed(const void *p)
{
	volatile char here;

	return keys_mix((uint64_t)(uintptr_t)p) + keys_mix((uint64_t)(uintptr_t)&here);
}

static bool stands_before(const yyjson_val *obj, const yyjson_val *key)
{
	for (const yyjson_val *k = obj + 1; k < key; k = node_next(k + 1))
		if (node_same_text(k, key))
			return true;
	return false;
}

struct table {
	uint16_t *slots;
	size_t mask;
	size_t room;
};

/* Was this hash (or one that looks the same) seen before? Remembers it. A full table suspects
 * everything. */
static bool suspect(struct table *t, uint64_t hash)
{
	uint16_t print = (uint16_t)((hash >> 16) & 0xFFFF);
	size_t i = hash & t->mask;

	print = print ? print : 1;
	for (; t->slots[i]; i = (i + 1) & t->mask)
		if (t->slots[i] == print)
			return true;
	if (t->room == 0)
		return true;
	t->slots[i] = print;
	t->room--;
	return false;
}

/* The first key of this share that comes before, looking no further than `end`. */
static yyjson_val *duplicate_in_part(const yyjson_val *obj, struct table *t, const yyjson_val *end,
				     uint64_t seed, uint32_t part, uint32_t parts)
{
	for (yyjson_val *k = (yyjson_val *)obj + 1; k < end; k = node_next(k + 1)) {
		uint64_t hash = keys_hash(k, seed);

		if (keys_part(hash, parts) == part && suspect(t, hash) && stands_before(obj, k))
			return k;
	}
	return NULL;
}

static yyjson_val *duplicate_of_few(const yyjson_val *obj)
{
	yyjson_val *keys[FEW], *k = (yyjson_val *)obj + 1;
	size_t n = node_len(obj);

	for (size_t i = 0; i < n; i++, k = node_next(k + 1)) {
		keys[i] = k;
		for (size_t j = 0; j < i; j++)
			if (node_same_text(keys[j], k))
				return k;
	}
	return NULL;
}

/* Share by share: a duplicate that was found cuts short the walks for the shares to come. */
static yyjson_val *duplicate_in_all(const yyjson_val *obj, uint16_t *slots, size_t nslots)
{
	const uint32_t parts = (uint32_t)(node_len(obj) / (nslots / 4 * 3) + 1);
	const uint64_t seed = keys_seed(obj);
	const yyjson_val *end = node_next(obj);
	yyjson_val *found = NULL;

	for (uint32_t part = 0; part < parts; part++) {
		struct table t = { slots, nslots - 1, nslots - nslots / 8 };
		yyjson_val *k;

		memset(slots, 0, nslots * sizeof *slots);
		k = duplicate_in_part(obj, &t, end, seed, part, parts);
		if (k)
			end = found = k;
	}
	return found;
}

yyjson_val *keys_duplicate(const yyjson_val *obj, uint16_t *slots, size_t nslots)
{
	if (node_len(obj) <= FEW)
		return duplicate_of_few(obj);
	while (nslots > 64 && nslots / 4 >= node_len(obj)) /* less to clear */
		nslots /= 2;
	return duplicate_in_all(obj, slots, nslots);
}

static yyjson_val *duplicate_of_some(const yyjson_val *obj)
{
	uint16_t slots[MEDIUM_SLOTS];

	return keys_duplicate(obj, slots, MEDIUM_SLOTS);
}

static yyjson_val *duplicate_of_many(const yyjson_val *obj)
{
	uint16_t slots[LARGE_SLOTS];

	return keys_duplicate(obj, slots, LARGE_SLOTS);
}

static yyjson_val *find_duplicate(const yyjson_val *obj)
{
	return node_len(obj) <= MEDIUM_SLOTS / 2 ? duplicate_of_some(obj) : duplicate_of_many(obj);
}

const cleat_json *cleat_json_duplicate(const cleat_json *v)
{
	return json_is_object(v) ? node_json(find_duplicate(node_of(v))) : NULL;
}

/* NUL can only have come from an escape sequence. */
static bool some_key_has_nul(const yyjson_val *obj)
{
	const yyjson_val *k = obj + 1;

	for (size_t n = node_len(obj); n > 0; n--, k = node_next(k + 1))
		if (!node_is_plain(k) && str_has_nul(node_text(k)))
			return true;
	return false;
}

/* The key in a form that keeps a message on one line and short. */
static const char *printable(char out[64], struct str s)
{
	size_t n = s.n < 60 ? s.n : 60;

	while (n && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7F ? '?' : s.p[i];
	memcpy(out + n, "...", 4);
	if (n == s.n)
		out[n] = '\0';
	return out;
}

int json_check_keys(const cleat_json *obj, cleat_error *err)
{
	const yyjson_val *twice;
	char name[64];

	if (!json_is_object(obj))
		return CLEAT_OK;
	if (some_key_has_nul(node_of(obj)))
		return error_set(err, CLEAT_EPROTO, "a key contains a NUL character");
	twice = find_duplicate(node_of(obj));
	if (twice)
		return error_set(err, CLEAT_EPROTO, "the key \"%s\" appears twice",
				 printable(name, node_text(twice)));
	return CLEAT_OK;
}

int json_check_all_keys(const cleat_json *v, cleat_error *err)
{
	const yyjson_val *p = node_of(v), *end = p ? node_next(p) : NULL;

	for (; p < end; p++)
		if (node_is(p, YYJSON_TYPE_OBJ) && json_check_keys(node_json(p), err))
			return CLEAT_EPROTO;
	return CLEAT_OK;
}
