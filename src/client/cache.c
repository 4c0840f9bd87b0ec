/* client/cache.c - see cache.h. Entries hang in a hash table of fixed size and in a list from the one
 * used last to the one that goes first.
 *
 * Each entry is one block: method, params and text behind the struct. What is not fresh any more goes
 * when it is asked for, or when its turn comes.
 */
#include "client/cache.h"

#include "base/mem.h"
#include "json/canonical.h"
#include "json/parse.h"

enum { BUCKETS = 512, DAY_MS = 24 * 60 * 60 * 1000 };

struct entry {
	struct entry *chain;
	struct entry *newer, *older;
	uint64_t until_ms;
	uint32_t hash;
	struct str method, params, result;
	char bytes[];
};

struct cache {
	cleat_allocator mem;
	size_t max, used;
	uint32_t seed;
	struct entry *newest, *oldest;
	struct entry *buckets[BUCKETS];
};

struct cache *cache_new(const cleat_allocator *mem, size_t max)
{
	cleat_allocator a = mem_resolve(mem);
	struct cache *k = mem_zalloc(&a, sizeof *k);

	if (!k)
		return NULL;
	k->mem = a;
	k->max = max;
	k->seed = (uint32_t)((uintptr_t)k >> 4); /* a server cannot choose colliding cursors */
	return k;
}

static size_t cost(const struct entry *e)
{
	return sizeof *e + e->method.n + e->params.n + e->result.n + 1;
}

static uint32_t hash(const struct cache *k, struct str method, struct str params)
{
	return str_hash(params, str_hash(method, k->seed));
}

/* ---- the list and the table ------------------------------------------------------------------- */

static void put_first(struct cache *k, struct entry *e)
{
	e->newer = NULL;
	e->older = k->newest;
	if (e->older)
		e->older->newer = e;
	else
		k->oldest = e;
	k->newest = e;
}

static void take_out(struct cache *k, struct entry *e)
{
	if (e->newer)
		e->newer->older = e->older;
	else
		k->newest = e->older;
	if (e->older)
		e->older->newer = e->newer;
	else
		k->oldest = e->newer;
}

static void discard(struct cache *k, struct entry *e)
{
	struct entry **at = &k->buckets[e->hash % BUCKETS];

	while (*at != e)
		at = &(*at)->chain;
	*at = e->chain;
	take_out(k, e);
	k->used -= cost(e);
	mem_free(&k->mem, e);
}

static struct entry *cache_find(struct cache *k, struct str method, struct str params)
{
	uint32_t h = hash(k, method, params);
	struct entry *e = k->buckets[h % BUCKETS];

	while (e && !(e->hash == h && str_eq(e->method, method) && str_eq(e->params, params)))
		e = e->chain;
	return e;
}

/* ---- the interface ---------------------------------------------------------------------------- */

void cache_free(struct cache *k)
{
	cleat_allocator mem;

	if (!k)
		return;
	cache_clear(k);
	mem = k->mem;
	mem_free(&mem, k);
}

void cache_clear(struct cache *k)
{
	while (k->oldest)
		discard(k, k->oldest);
}

size_t cache_bytes(const struct cache *k)
{
	return k->used;
}

static struct str append(char **at, struct str s)
{
	struct str copy = { *at, s.n };

	if (s.n)
		memcpy(*at, s.p, s.n);
	*at += s.n;
	return copy;
}

static struct entry *new_entry(struct cache *k, struct str method, struct str params,
			       struct str result)
{
	struct entry *e = mem_alloc(&k->mem, sizeof *e + method.n + params.n + result.n + 1);
	char *at;

	if (!e)
		return NULL;
	at = e->bytes;
	e->method = append(&at, method);
	e->params = append(&at, params);
	e->result = append(&at, result);
	*at = '\0';
	e->hash = hash(k, method, params);
	return e;
}

static bool fits(const struct cache *k, struct str method, struct str params, struct str result)
{
	size_t left = k->max;
	const size_t parts[] = { sizeof(struct entry) + 1, method.n, params.n, result.n };

	for (size_t i = 0; i < CLEAT_COUNT(parts); i++) {
		if (parts[i] > left)
			return false;
		left -= parts[i];
	}
	return true;
}

void cache_put(struct cache *k, struct str method, struct str params, struct str result,
	       uint64_t until_ms)
{
	struct entry *e = NULL, *old = cache_find(k, method, params), **bucket;

	if (fits(k, method, params, result))
		e = new_entry(k, method, params,
			      result); /* before `old` goes: it may be the source */
	if (old)
		discard(k, old);
	if (!e)
		return;
	while (k->used > k->max - cost(e))
		discard(k, k->oldest);
	e->until_ms = until_ms;
	bucket = &k->buckets[e->hash % BUCKETS];
	e->chain = *bucket;
	*bucket = e;
	put_first(k, e);
	k->used += cost(e);
}

struct str cache_get(struct cache *k, struct str method, struct str params, uint64_t now_ms)
{
	struct entry *e = cache_find(k, method, params);

	if (!e)
		return (struct str){ 0 };
	if (now_ms >= e->until_ms) { /* fresh while now < t_received + ttlMs */
		discard(k, e);
		return (struct str){ 0 };
	}
	take_out(k, e);
	put_first(k, e);
	return e->result;
}

void cache_drop(struct cache *k, struct str method, struct str params)
{
	struct entry *e = params.p ? cache_find(k, method, params) : NULL;

	if (e)
		discard(k, e);
	if (params.p)
		return;
	for (struct entry *older = k->newest; older;) {
		e = older;
		older = e->older;
		if (str_eq(e->method, method))
			discard(k, e);
	}
}

int cache_params(struct buf *out, const cleat_json *params, const cleat_allocator *mem)
{
	static const char *const skip[] = { "_meta" };

	return json_write_canonical_without(out, params ? params : json_empty_object(), skip,
					    CLEAT_COUNT(skip), mem);
}

/* ---- what the server says --------------------------------------------------------------------- */

/* Absent, or one of these. */
static bool is_one_of(const cleat_json *v, const char *a, const char *b)
{
	return !v || (json_is_string(v) && (str_eqz(json_str(v), a) || str_eqz(json_str(v), b)));
}

uint64_t cache_ttl(const cleat_json *result)
{
	const cleat_json *ttl = json_member(result, "ttlMs");
	uint64_t ms;

	/* "Interim results ... are not cacheable"; without resultType it is complete (basic). */
	if (!is_one_of(json_member(result, "resultType"), "complete", "complete") ||
	    !is_one_of(json_member(result, "cacheScope"), "public", "private"))
		return 0;
	if (!cleat_json_is_integer(ttl) || json_number(ttl).p[0] == '-')
		return 0;
	ms = cleat_json_uint(ttl, DAY_MS); /* one that fits nothing is too long in any case */
	return ms < DAY_MS ? ms : DAY_MS;
}
