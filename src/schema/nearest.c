/* schema/nearest.c - anyOf and oneOf in words: of several forms that a value might have, the one it is
 * nearest to is the one to talk about. For that the value is tried again, form by form, with a report
 * that keeps the first line and counts the rest; it is paid for in steps like any other trying.
 */
#include "schema/explain.h"

#include "schema/describe.h"
#include "wording/show.h"
#include "json/node.h"

enum { WORDS_MAX_BYTES = 4096, MOST_ELEMENTS = 10 };

static void take_line(void *ctx, const cleat_schema_problem *problem)
{
	buf_appendz(ctx, problem->line);
}

size_t explain_first(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
		     const struct at *within, struct buf *line)
{
	struct report *outer = r->report;
	struct report inner = { .fn = take_line,
				.ctx = line,
				.member = outer->member,
				.most = 1,
				.within = within,
				.bare = true };
	bool fits;

	r->report = &inner;
	fits = run_apply(r, id, v, at);
	r->report = outer;
	return fits ? 0 : inner.weight;
}

/* The nearest so far. */
struct nearest {
	size_t distance; /* SIZE_MAX: there is none */
	uint32_t which;
	struct buf words;
};

/* Tries one more, number `which`. */
static void offer(struct run *r, struct nearest *best, uint32_t which, node_id id,
		  const yyjson_val *v, const struct at *at, const struct at *within)
{
	struct buf words;
	size_t distance;

	buf_init(&words, &r->s->mem, WORDS_MAX_BYTES);
	distance = explain_first(r, id, v, at, within, &words);
	if (distance && distance < best->distance && buf_size(&words)) {
		struct buf old = best->words;

		best->words = words;
		words = old;
		best->distance = distance;
		best->which = which;
	}
	buf_done(&words);
}

static void write_words(struct buf *b, struct nearest *best)
{
	struct str words = buf_str(&best->words);

	buf_append(b, words.p, words.n);
}

/* form 2 ("Circle") */
static void write_form(struct buf *b, const cleat_schema *s, node_id form, uint32_t which)
{
	struct str title = describe_title(s, form);

	buf_printf(b, "form %u", which + 1);
	if (!title.n)
		return;
	buf_appendz(b, " (");
	show_quoted(b, title, SHOW_CHARS);
	buf_putc(b, ')');
}

/* ---- forms ------------------------------------------------------------------------------------ */

static bool all_complete(const cleat_schema *s, const struct node_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (!describe_is_complete(s, list->at[i]))
			return false;
	return true;
}

static unsigned all_types(const cleat_schema *s, const struct node_list *list)
{
	unsigned types = 0;

	for (uint32_t i = 0; i < list->n; i++)
		types |= describe_types_of(s, list->at[i]);
	return types;
}

static void write_nearest(struct run *r, const struct node_list *list, const yyjson_val *v,
			  const struct at *at, struct buf *b)
{
	struct nearest best = { .distance = SIZE_MAX };

	buf_init(&best.words, &r->s->mem, WORDS_MAX_BYTES);
	for (uint32_t i = 0; i < list->n && !r->status; i++)
		offer(r, &best, i, list->at[i], v, at, at);
	if (best.distance < SIZE_MAX && list->n > 1) {
		buf_printf(b, "fits none of the %u allowed forms; nearest is ", list->n);
		write_form(b, r->s, list->at[best.which], best.which);
		buf_appendz(b, ": ");
	}
	if (best.distance < SIZE_MAX)
		write_words(b, &best);
	else
		buf_printf(b, "fits none of the %u allowed forms", list->n);
	buf_done(&best.words);
}

void explain_none(struct run *r, node_id id, const char *keyword, const struct node_list *list,
		  const yyjson_val *v, const struct at *at)
{
	unsigned types = all_types(r->s, list);
	bool complete = all_complete(r->s, list);
	struct problem p;

	if (!problem_begin(&p, r, id, keyword, v, at))
		return;
	if (!complete && (types & run_type(v))) {
		write_nearest(r, list, v, at, &p.line);
		problem_end(&p);
		return;
	}
	buf_appendz(&p.line, "expected ");
	if (complete || !types)
		describe_forms(&p.line, r->s, list);
	else
		describe_types(&p.line, types);
	buf_appendz(&p.line, ", got ");
	show_value(&p.line, node_json(v));
	problem_end(&p);
}

/* A form that can be described in words is. */
static void write_known_form(struct buf *b, const cleat_schema *s, node_id form, uint32_t which)
{
	write_form(b, s, form, which);
	if (describe_title(s, form).n || !describe_is_complete(s, form))
		return;
	buf_appendz(b, " (");
	describe_node(b, s, form);
	buf_putc(b, ')');
}

void explain_several(struct run *r, node_id id, uint32_t first, uint32_t second,
		     const yyjson_val *v, const struct at *at)
{
	const struct node_list *list = &r->s->nodes[id].combine->one;
	struct problem p;

	if (!problem_begin(&p, r, id, "oneOf", v, at))
		return;
	buf_printf(&p.line, "must fit exactly one of the %u allowed forms, but fits ", list->n);
	write_known_form(&p.line, r->s, list->at[first], first);
	buf_appendz(&p.line, " and ");
	write_known_form(&p.line, r->s, list->at[second], second);
	problem_end(&p);
}

/* ---- elements --------------------------------------------------------------------------------- */

void explain_nearest_element(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
			     struct buf *line)
{
	struct at here = { .up = at, .depth = at ? at->depth + 1 : 1 };
	struct nearest best = { .distance = SIZE_MAX };
	const yyjson_val *p = v + 1;

	buf_init(&best.words, &r->s->mem, WORDS_MAX_BYTES);
	for (; here.index < node_len(v) && here.index < MOST_ELEMENTS && !r->status;
	     here.index++, p = node_next(p))
		if (describe_types_of(r->s, id) & run_type(p))
			offer(r, &best, here.index, id, p, &here, at);
	if (best.distance < SIZE_MAX) {
		buf_appendz(line, "; nearest is ");
		write_words(line, &best);
	}
	buf_done(&best.words);
}
