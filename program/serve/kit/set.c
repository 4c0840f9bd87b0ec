/* program/serve/kit/set.c - all that one configuration offers, and how it takes the place of the one before.
 *
 * Tools, resources and prompts are made as entries of a registry of its own (request/registry.h), where the
 * library checks all of them as it would when they are added to a server; so everything that can be wrong
 * is known before the live server is touched. Then those whose recipe is the same are dropped, and the
 * rest moves over in one go.
 *
 * Recipes may hold secrets: only a hash is kept.
 */
#include "serve/kit/set.h"

#include "base/error.h"
#include "base/mem.h"
#include "server/core.h"

#include <stdlib.h>
#include <string.h>

enum { THINGS_MAX = 100000 };

struct item {
	enum shelf_kind kind;
	struct str key; /* in the set's arena */
	uint64_t recipe;
	const cleat_json *at; /* while it is built */
};

struct kept_thing {
	void *thing;
	void (*destroy)(void *thing);
	void (*begin)(void *thing); /* NULL: it has begun, or need not */
	void (*go_on)(void *thing);
	uint64_t recipe; /* 0: none */
};

struct set {
	cleat_allocator mem;
	struct arena arena;
	struct registry staged;
	struct item *items;
	size_t n_items, cap_items;
	struct kept_thing *kept;
	size_t n_kept, cap_kept;
};

struct set *set_new(const cleat_allocator *mem)
{
	cleat_allocator a = mem_resolve(mem);
	struct set *s = mem_zalloc(&a, sizeof *s);

	if (!s)
		return NULL;
	s->mem = a;
	arena_init(&s->arena, &a, 0);
	registry_init(&s->staged, &a);
	return s;
}

static void let_go(struct set *s)
{
	while (s->n_kept) {
		struct kept_thing *k = &s->kept[--s->n_kept];

		k->destroy(k->thing);
	}
}

void set_free(struct set *s)
{
	cleat_allocator mem;

	if (!s)
		return;
	mem = s->mem;
	let_go(s);
	registry_done(&s->staged);
	arena_done(&s->arena);
	mem_free(&mem, s->kept);
	mem_free(&mem, s->items);
	mem_free(&mem, s);
}

size_t set_size(const struct set *s)
{
	return s->n_items;
}

static uint64_t hash(const char *recipe)
{
	struct str s = str_of(recipe);

	return (uint64_t)str_hash(s, 0x9e3779b9) << 32 | str_hash(s, (uint32_t)s.n);
}

bool set_keep(struct set *s, const struct set_thing *t)
{
	if (mem_grow(&s->mem, (void **)&s->kept, &s->cap_kept, s->n_kept, sizeof *s->kept,
		     THINGS_MAX)) {
		t->destroy(t->thing);
		return false;
	}
	s->kept[s->n_kept++] = (struct kept_thing){ .thing = t->thing,
						    .destroy = t->destroy,
						    .begin = t->begin,
						    .go_on = t->go_on,
						    .recipe = t->recipe ? hash(t->recipe) : 0 };
	return true;
}

/* ---- adding ---- */

static const cleat_json *place_of(const struct set *s, const struct entry *e)
{
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].kind == e->kind && str_eq(s->items[i].key, e->key))
			return s->items[i].at;
	return NULL;
}

int set_add(struct set *s, struct entry *e, const char *recipe, const cleat_json *at,
	    const cleat_json **ret_other, cleat_error *err)
{
	struct item item = { .kind = e->kind, .recipe = hash(recipe), .at = at };
	int rc;

	*ret_other = NULL;
	item.key.p = arena_strndup(&s->arena, e->key.p, e->key.n);
	item.key.n = e->key.n;
	rc = item.key.p ? mem_grow(&s->mem, (void **)&s->items, &s->cap_items, s->n_items,
				   sizeof *s->items, SHELF_COUNT * REGISTRY_MAX)
			: CLEAT_ENOMEM;
	if (rc)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	rc = registry_add(&s->staged, e, err);
	if (rc == CLEAT_EEXIST)
		*ret_other = place_of(s, e);
	if (!rc)
		s->items[s->n_items++] = item;
	return rc;
}

/* ---- taking over ---- */

static int by_key(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
	int order = a->kind == b->kind ? memcmp(a->key.p, b->key.p, n) : a->kind < b->kind ? -1 : 1;

	return order ? order : a->key.n < b->key.n ? -1 : a->key.n > b->key.n;
}

/* What is to happen, found by walking along both lists, which are sorted. */
struct set_plan {
	struct entry **gone; /* of the live server */
	size_t n_gone;
	const struct item **renewed;
	size_t n_renewed;
	struct set_change change;
};

static void plan_gone(struct set_plan *p, struct registry *live, const struct item *i)
{
	struct entry *e = registry_find(live, i->kind, i->key);

	if (e)
		p->gone[p->n_gone++] = e;
}

static void plan_pair(struct set_plan *p, struct set *next, struct registry *live,
		      const struct item *old, const struct item *new)
{
	if (old->recipe == new->recipe && registry_find(live, old->kind, old->key)) {
		entry_unref(registry_take(&next->staged, new->kind, new->key));
		p->change.kept++;
		return;
	}
	plan_gone(p, live, old);
	p->renewed[p->n_renewed++] = new;
	p->change.changed++;
}

static void make_plan(struct set_plan *p, struct set *next, const struct set *old,
		      struct registry *live)
{
	size_t i = 0, j = 0, n_old = old ? old->n_items : 0;

	while (i < n_old || j < next->n_items) {
		int order = i == n_old           ? 1
			    : j == next->n_items ? -1
						 : by_key(&old->items[i], &next->items[j]);

		if (order == 0) {
			plan_pair(p, next, live, &old->items[i++], &next->items[j++]);
		} else if (order < 0) {
			plan_gone(p, live, &old->items[i++]);
			p->change.removed++;
		} else {
			/* What a thing of the old one has put there itself makes room. */
			plan_gone(p, live, &next->items[j++]);
			p->change.added++;
		}
	}
}

struct change {
	struct set *next, *old;
};

/* Things that are the same in both go on; the others of the old one end. */
static void hand_over(void *ctx)
{
	const struct change *c = ctx;

	for (size_t i = 0; i < c->next->n_kept; i++) {
		struct kept_thing *new = &c->next->kept[i];

		for (size_t j = 0; new->recipe &&j < c->old->n_kept; j++) {
			struct kept_thing *old = &c->old->kept[j], other = *new;

			if (old->recipe != new->recipe)
				continue;
			*new = *old;
			*old = other;
			old->recipe = 0; /* it goes, and is nobody's any more */
			new->go_on(new->thing);
			break;
		}
	}
	let_go(c->old);
}

static void begin_all(struct set *s)
{
	for (size_t i = 0; i < s->n_kept; i++) {
		void (*begin)(void *thing) = s->kept[i].begin;

		s->kept[i].begin = NULL;
		if (begin)
			begin(s->kept[i].thing);
	}
}

int set_apply(struct set *next, struct set *old, cleat_server *server, struct set_change *ret)
{
	size_t n = (old ? old->n_items : 0) + next->n_items + 1;
	struct set_plan p = { .gone = mem_alloc(&next->mem, n * sizeof *p.gone),
			      .renewed = mem_alloc(&next->mem, n * sizeof *p.renewed) };
	struct change c = { next, old };
	int rc = CLEAT_ENOMEM;

	if (p.gone && p.renewed) {
		if (next->n_items)
			qsort(next->items, next->n_items, sizeof *next->items, by_key);
		make_plan(&p, next, old, server_registry(server));
		rc = server_exchange(server, p.gone, p.n_gone, &next->staged,
				     old ? hand_over : NULL, &c);
	}
	if (!rc)
		begin_all(next);
	for (size_t i = 0; i < p.n_renewed && !rc; i++)
		if (p.renewed[i]->kind == SHELF_RESOURCES)
			cleat_server_resource_changed(server, p.renewed[i]->key.p);
	*ret = p.change;
	mem_free(&next->mem, p.gone);
	mem_free(&next->mem, p.renewed);
	return rc;
}
