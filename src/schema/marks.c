/* schema/marks.c - bits of one check, as a stack (schema/run.h). The first few need no memory; the
 * stack grows with what is checked and is paid for in steps.
 */
#include "schema/run.h"

#include "base/mem.h"

static bool marks_grow(struct run *r, size_t words)
{
	size_t cap = (r->n_words + words) * 2;
	uint64_t *grown = mem_alloc(&r->s->mem, cap * sizeof *grown);

	if (!grown)
		return run_fail(r, CLEAT_ENOMEM);
	memcpy(grown, r->words, r->n_words * sizeof *grown);
	if (r->words != r->few_words)
		mem_free(&r->s->mem, r->words);
	r->words = grown;
	r->cap_words = cap;
	return true;
}

bool marks_push(struct run *r, size_t n, struct marks *ret)
{
	size_t words = (n + 63) / 64;

	*ret = (struct marks){ r->n_words, words };
	if (!run_pay(r, words / 8) || (r->n_words + words > r->cap_words && !marks_grow(r, words)))
		return false;
	for (size_t i = 0; i < words; i++)
		r->words[r->n_words + i] = 0;
	r->n_words += words;
	return true;
}

void marks_pop(struct run *r, const struct marks *m)
{
	r->n_words = m->at;
}

void marks_add(struct run *r, const struct marks *to, const struct marks *from)
{
	for (size_t i = 0; i < to->n; i++)
		r->words[to->at + i] |= r->words[from->at + i];
}

void marks_fill(struct run *r, const struct marks *m)
{
	for (size_t i = 0; i < m->n; i++)
		r->words[m->at + i] = UINT64_MAX;
}
