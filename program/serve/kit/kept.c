/* program/serve/kit/kept.c - a ring of texts with a time (kept.h). */
#include "serve/kit/kept.h"

#include "base/mem.h"
#include "loop/loop.h"

static void forget(struct kept_text *t, const cleat_allocator *mem)
{
	mem_free(mem, t->key);
	mem_free(mem, t->text);
	*t = (struct kept_text){ .key = NULL };
}

void kept_put(struct kept *k, const cleat_allocator *mem, const char *key, struct str text,
	      uint64_t ms)
{
	struct kept_text *t = &k->places[k->turn++ % KEPT_PLACES];

	forget(t, mem);
	if (text.n > KEPT_BYTES_MAX)
		return;
	t->key = mem_strdup(mem, key);
	t->text = mem_strndup(mem, text.p ? text.p : "", text.n);
	t->n = text.n;
	t->until = loop_now() + ms;
	if (!t->key || !t->text)
		forget(t, mem);
}

bool kept_find(const struct kept *k, const char *key, struct str *ret)
{
	uint64_t now = loop_now();

	for (size_t i = 0; i < KEPT_PLACES; i++) {
		const struct kept_text *t = &k->places[i];

		if (!t->key || t->until <= now || strcmp(t->key, key) != 0)
			continue;
		*ret = (struct str){ t->text, t->n };
		return true;
	}
	return false;
}

void kept_clear(struct kept *k, const cleat_allocator *mem)
{
	for (size_t i = 0; i < KEPT_PLACES; i++)
		forget(&k->places[i], mem);
}
