/* request/registry.c - shelves of entries: adding, finding, taking away. See registry.h. How an
 * entry is made from a public struct is in entry.c.
 */
#include "request/registry.h"

#include "base/error.h"
#include "base/mem.h"
#include "field/field.h"

#include <string.h>

void registry_init(struct registry *r, const cleat_allocator *mem)
{
	*r = (struct registry){ .mem = *mem };
}

void registry_done(struct registry *r)
{
	for (int k = 0; k < SHELF_COUNT; k++) {
		struct shelf *s = &r->shelves[k];

		while (s->count)
			entry_unref(s->list[--s->count]);
		mem_free(&r->mem, s->list);
		mem_free(&r->mem, s->buckets);
		*s = (struct shelf){ 0 };
	}
}

static struct entry **bucket(const struct shelf *s, struct str key)
{
	return &s->buckets[str_hash(key, 0) & (s->n_buckets - 1)];
}

static void rehash(struct shelf *s, struct entry **buckets, size_t n)
{
	memset(buckets, 0, n * sizeof *buckets);
	s->buckets = buckets;
	s->n_buckets = n;
	for (size_t i = 0; i < s->count; i++) {
		struct entry **b = bucket(s, s->list[i]->key);

		s->list[i]->chain = *b;
		*b = s->list[i];
	}
}

/* Enough buckets for so many entries. */
static int grow_buckets(struct registry *r, struct shelf *s, size_t count)
{
	size_t n = s->n_buckets ? s->n_buckets : 16;
	struct entry **buckets;

	if (count <= s->n_buckets)
		return CLEAT_OK;
	while (n < count)
		n *= 2;
	buckets = mem_alloc(&r->mem, n * sizeof *buckets);
	if (!buckets)
		return CLEAT_ENOMEM;
	mem_free(&r->mem, s->buckets);
	rehash(s, buckets, n);
	return CLEAT_OK;
}

static const char *noun(enum shelf_kind kind)
{
	static const char *const nouns[SHELF_COUNT] = { "tool", "resource", "resource template",
							"prompt", "method" };

	return nouns[kind];
}

static bool can_complete(const struct entry *e)
{
	if (e->kind == SHELF_TEMPLATES)
		return e->resource.complete != NULL;
	if (e->kind != SHELF_PROMPTS)
		return false;
	for (const cleat_field *f = e->input; f && f->type != CLEAT_T_END; f++)
		if (field_has_choices(f))
			return true;
	return e->prompt.complete != NULL;
}

int registry_reserve(struct registry *r, enum shelf_kind kind, size_t more)
{
	struct shelf *s = &r->shelves[kind];
	int rc = more > REGISTRY_MAX ? CLEAT_ELIMIT : CLEAT_OK;

	while (!rc && s->cap < s->count + more)
		rc = mem_grow(&r->mem, (void **)&s->list, &s->cap, s->cap, sizeof *s->list,
			      REGISTRY_MAX);
	return rc || !more ? rc : grow_buckets(r, s, s->count + more);
}

int registry_add(struct registry *r, struct entry *e, cleat_error *err)
{
	struct shelf *s = &r->shelves[e->kind];
	struct entry **b;
	size_t i;
	int rc;

	if (registry_find(r, e->kind, e->key))
		return error_set(err, CLEAT_EEXIST, "%s \"%s\" is registered already",
				 noun(e->kind), e->key.p);
	rc = mem_grow(&r->mem, (void **)&s->list, &s->cap, s->count, sizeof *s->list, REGISTRY_MAX);
	if (!rc)
		rc = grow_buckets(r, s, s->count + 1);
	if (rc)
		return error_set(err, rc, "%s \"%s\": %s", noun(e->kind), e->key.p,
				 cleat_strstatus(rc));
	i = e->serial ? registry_page_start(s, e->serial) : s->count;
	memmove(s->list + i + 1, s->list + i, (s->count++ - i) * sizeof *s->list);
	s->list[i] = e;
	if (!e->serial)
		e->serial = ++r->serial;
	s->ever = true;
	b = bucket(s, e->key);
	e->chain = *b;
	*b = e;
	r->completes = r->completes || can_complete(e);
	return CLEAT_OK;
}

struct entry *registry_take(struct registry *r, enum shelf_kind kind, struct str key)
{
	struct shelf *s = &r->shelves[kind];
	struct entry *e = registry_find(r, kind, key), **b;
	size_t i;

	if (!e)
		return NULL;
	for (b = bucket(s, key); *b != e; b = &(*b)->chain)
		;
	*b = e->chain;
	i = registry_page_start(s, e->serial - 1);
	memmove(s->list + i, s->list + i + 1, (s->count - i - 1) * sizeof *s->list);
	s->count--;
	return e;
}

struct entry *registry_find(const struct registry *r, enum shelf_kind kind, struct str key)
{
	const struct shelf *s = &r->shelves[kind];
	struct entry *e;

	if (!s->n_buckets)
		return NULL;
	for (e = *bucket(s, key); e; e = e->chain)
		if (str_eq(e->key, key))
			return e;
	return NULL;
}

struct entry *registry_match(const struct registry *r, struct str uri, struct arena *ar,
			     struct uri_vars *vars)
{
	const struct shelf *s = &r->shelves[SHELF_TEMPLATES];
	struct entry *best = NULL;

	for (size_t i = 0; i < s->count; i++) {
		struct entry *e = s->list[i];
		struct uri_vars found;

		if (best && uri_template_compare(best->pattern, e->pattern) <= 0)
			continue;
		if (!uri_template_match(e->pattern, uri, ar, &found))
			continue;
		best = e;
		*vars = found;
	}
	return best;
}

size_t registry_page_start(const struct shelf *s, uint64_t after)
{
	size_t lo = 0, hi = s->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->list[mid]->serial > after)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct str registry_nearest(const struct registry *r, enum shelf_kind kind, struct str key)
{
	enum { ENOUGH = 1000 }; /* names looked at: a hint must not become work */
	const struct shelf *s = &r->shelves[kind];
	struct str_nearest n = { .wanted = key };

	for (size_t i = 0; i < s->count && i < ENOUGH; i++)
		str_nearest_offer(&n, s->list[i]->key);
	return n.best;
}
