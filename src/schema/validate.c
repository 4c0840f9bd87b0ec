/* schema/validate.c - does a value fit a compiled schema.
 *
 * Recursion follows the schema and the value together and is bounded twice: levels of the value
 * (max_depth) and schemas inside schemas (NESTING_PER_LEVEL times that). Everything that costs time
 * is paid for in steps (max_steps). When a bound is hit the run has no verdict: r->status says so,
 * every function returns false, and whoever would turn a false into something else looks at it.
 *
 * unevaluated*: each value that somebody asks about has a set of bits, one for each member or
 * element, that schemas on the same value fill as they evaluate it (2020-12 core 11). What did not
 * fit leaves no marks.
 */
#include "schema/run.h"

#include "base/mem.h"
#include "json/node.h"

#define NO_PROPERTY UINT32_MAX

enum { LONG_NAME = 64 };

static bool apply(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
		  const struct marks *m);
static bool apply_slowly(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
			 const struct at *at, const struct marks *m);

/* ---- bounds ----------------------------------------------------------------------------------- */

bool run_over(struct run *r, const char *limit)
{
	if (!r->status) {
		r->status = CLEAT_ELIMIT;
		r->limit = limit;
	}
	r->steps = 0;
	return false;
}

bool run_fail(struct run *r, int status)
{
	if (!r->status)
		r->status = status;
	r->steps = 0;
	return false;
}

/* ---- children --------------------------------------------------------------------------------- */

/* As apply(), for children: most are scalars under a schema of their type alone, and are done here. */
static inline bool apply_child(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	const struct node *n = &r->s->nodes[id];
	unsigned bits = run_type(v);

	if (!run_pay(r, 1))
		return false;
	if (n->plain && bits < TYPE_ARRAY && (n->types & bits))
		return scalar_check(r, n, bits, v, at);
	return apply_slowly(r, n, bits, v, at, NULL);
}

/* ---- arrays ----------------------------------------------------------------------------------- */

static bool check_unique(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at)
{
	uint32_t i = 0, j = 0;
	bool ok = unique_check(r, v, &i, &j);

	if (!ok && r->report)
		explain_twins(r, run_id(r, n), i, j, v, at);
	return ok && !r->status;
}

static bool check_contains(struct run *r, const struct node *n, const yyjson_val *v,
			   const struct at *at, const struct marks *m)
{
	const struct array_rules *rules = n->array;
	const yyjson_val *p = v + 1;
	uint64_t found = 0;
	struct at here = { .up = at, .depth = at ? at->depth + 1 : 1 };

	for (; here.index < node_len(v) && !r->status; here.index++, p = node_next(p)) {
		if (!run_fits(r, rules->contains, p, &here))
			continue;
		found++;
		if (m)
			mark(r, m, here.index);
		else if (found >= rules->min_contains && rules->max_contains == UINT64_MAX)
			break;
	}
	if (r->status)
		return false;
	if (found >= rules->min_contains && found <= rules->max_contains)
		return true;
	if (r->report)
		explain_contains(r, run_id(r, n), found, v, at);
	return false;
}

static bool check_items(struct run *r, const struct array_rules *rules, const yyjson_val *v,
			const struct at *at, const struct marks *m)
{
	const yyjson_val *p = v + 1;
	struct at here = { .up = at, .depth = at ? at->depth + 1 : 1 };
	bool ok = true;
	uint32_t n = (uint32_t)node_len(v);

	if (!rules->rest && n > rules->prefix.n)
		n = rules->prefix.n;
	for (; here.index < n; here.index++, p = node_next(p)) {
		node_id id =
			here.index < rules->prefix.n ? rules->prefix.at[here.index] : rules->rest;

		if (m)
			mark(r, m, here.index);
		if (apply_child(r, id, p, &here))
			continue;
		ok = false;
		if (!r->report || r->status)
			return false;
	}
	return ok;
}

static bool check_array(struct run *r, const struct node *n, const yyjson_val *v,
			const struct at *at, const struct marks *m)
{
	const struct array_rules *rules = n->array;
	size_t size = node_len(v);
	bool ok = size >= rules->min && size <= rules->max;

	if (!ok && r->report)
		explain_value(r, run_id(r, n), size < rules->min ? "minItems" : "maxItems", v, at);
	if (ok || r->report)
		ok = check_items(r, rules, v, at, m) && ok;
	if (rules->unique && (ok || r->report))
		ok = check_unique(r, n, v, at) && ok;
	if (rules->contains && (ok || r->report))
		ok = check_contains(r, n, v, at, m) && ok;
	return ok && !r->status;
}

/* ---- objects ---------------------------------------------------------------------------------- */

/* Members come mostly in the order of the schema, so the one after the last is tried first. */
static uint32_t find_property(const struct object_rules *rules, uint64_t seed,
			      const yyjson_val *key, uint32_t guess)
{
	if (guess < rules->n && node_same_text(rules->properties[guess].key, key))
		return guess;
	if (!rules->slots) {
		for (uint32_t i = 0; i < rules->n; i++)
			if (node_same_text(rules->properties[i].key, key))
				return i;
		return NO_PROPERTY;
	}
	for (size_t i = keys_hash(key, seed) & rules->mask; rules->slots[i];
	     i = (i + 1) & rules->mask)
		if (node_same_text(rules->properties[rules->slots[i] - 1].key, key))
			return rules->slots[i] - 1;
	return NO_PROPERTY;
}

/* additionalProperties and unevaluatedProperties: the value that no other keyword looked at. */
static bool check_rest(struct run *r, const struct node *n, const char *keyword, node_id rest,
		       const yyjson_val *key, const struct at *at)
{
	if (r->report && !r->s->nodes[rest].types) {
		explain_unknown(r, run_id(r, n), keyword, key, at->up);
		return false;
	}
	return apply(r, rest, key + 1, at, NULL);
}

/* One member, which is property number i, or none (NO_PROPERTY). */
static bool check_member(struct run *r, const struct node *n, const yyjson_val *key, uint32_t i,
			 const struct at *at, const struct marks *m)
{
	const struct object_rules *rules = n->object;
	bool known = i != NO_PROPERTY && rules->properties[i].node;
	bool ok = !known || apply_child(r, rules->properties[i].node, key + 1, at);

	if (known && rules->names_only && !m)
		return ok;
	for (uint32_t k = 0; k < rules->n_patterns && (ok || r->report); k++) {
		if (!scalar_matches(r, rules->patterns[k].pattern, key))
			continue;
		known = true;
		ok = apply(r, rules->patterns[k].node, key + 1, at, NULL) && ok;
	}
	if (rules->rest && !known && !r->status) {
		known = true;
		ok = check_rest(r, n, "additionalProperties", rules->rest, key, at);
	}
	if (known && m)
		mark(r, m, at->index);
	if (rules->names && (ok || r->report) && !run_fits(r, rules->names, key, at)) {
		if (r->report && !r->status)
			explain_name(r, run_id(r, n), rules->names, key, at->up);
		ok = false;
	}
	return ok;
}

/* Which properties of the schema are there: in one word for all but very large schemas. */
struct seen {
	uint64_t few;
	struct marks many; /* .n is 0: not needed */
};

static void see(struct run *r, struct seen *seen, uint32_t i)
{
	if (seen->many.n)
		mark(r, &seen->many, i);
	else
		seen->few |= UINT64_C(1) << i;
}

static bool is_seen(const struct run *r, const struct seen *seen, uint32_t i)
{
	return seen->many.n ? is_marked(r, &seen->many, i) : seen->few >> i & 1;
}

static bool check_dependencies(struct run *r, const struct node *n, const yyjson_val *v,
			       const struct at *at, const struct marks *m, const struct seen *seen)
{
	const struct object_rules *rules = n->object;
	bool ok = true;

	for (uint32_t i = 0; i < rules->n_dependencies && (ok || r->report) && !r->status; i++) {
		const struct dependency *dep = &rules->dependencies[i];

		if (!is_seen(r, seen, dep->property))
			continue;
		if (dep->node)
			ok = apply(r, dep->node, v, at, m) && ok;
		for (uint32_t k = 0; k < dep->n_needs; k++) {
			if (is_seen(r, seen, dep->needs[k]))
				continue;
			ok = false;
			if (r->report)
				explain_dependency(r, run_id(r, n),
						   &rules->properties[dep->property],
						   &rules->properties[dep->needs[k]], at);
		}
	}
	return ok;
}

static bool check_required(struct run *r, const struct node *n, const struct at *at,
			   const struct seen *seen)
{
	const struct object_rules *rules = n->object;
	bool ok = true;

	if (!seen->many.n && (seen->few & rules->required) == rules->required)
		return true;
	for (uint32_t i = 0; i < rules->n && (ok || r->report); i++) {
		if (!rules->properties[i].required || is_seen(r, seen, i))
			continue;
		ok = false;
		if (r->report)
			explain_missing(r, run_id(r, n), &rules->properties[i], at);
	}
	return ok;
}

/* A member that appears twice is refused: it means one thing to one reader and something else to the
 * next. `twice`: a property does; of `unknown` members it has to be found out. */
static bool differ(struct run *r, const struct node *n, const yyjson_val *v, const struct at *at,
		   bool twice, uint32_t unknown)
{
	if (!twice && (unknown < 2 || !run_pay(r, unknown) || !cleat_json_duplicate(node_json(v))))
		return !r->status;
	r->twice = true;
	if (r->report)
		explain_duplicate(r, run_id(r, n), v, at);
	return false;
}

static bool check_members(struct run *r, const struct node *n, const yyjson_val *v,
			  const struct at *at, const struct marks *m, struct seen *seen)
{
	const struct object_rules *rules = n->object;
	const yyjson_val *key = v + 1;
	struct at here = { .up = at, .rules = rules, .depth = at ? at->depth + 1 : 1 };
	uint32_t size = (uint32_t)node_len(v), guess = 0, unknown = 0;
	bool ok = true, twice = false;

	for (; here.index < size; here.index++, key = node_next(key + 1)) {
		uint32_t i;

		if (node_len(key) >= LONG_NAME && !run_pay(r, node_len(key) / LONG_NAME))
			return false;
		i = find_property(rules, r->s->seed, key, guess);
		here.key = key;
		if (i == NO_PROPERTY) {
			unknown++;
		} else {
			twice |= is_seen(r, seen, i);
			see(r, seen, i);
			guess = i + 1;
		}
		if (!check_member(r, n, key, i, &here, m))
			ok = false;
		if (r->status || (!ok && !r->report))
			break;
	}
	if (here.index < size) /* not all of them were looked at */
		unknown = size;
	return differ(r, n, v, at, twice, unknown) && ok;
}

static bool check_object(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at, const struct marks *m)
{
	const struct object_rules *rules = n->object;
	size_t size = node_len(v);
	bool ok = size >= rules->min && size <= rules->max;
	struct seen seen = { .few = 0 };

	if (!ok && r->report)
		explain_value(r, run_id(r, n),
			      size < rules->min ? "minProperties" : "maxProperties", v, at);
	if ((!ok && !r->report) || !run_pay(r, size) ||
	    (rules->n > 64 && !marks_push(r, rules->n, &seen.many)))
		return false;
	ok = check_members(r, n, v, at, m, &seen) && ok;
	if (rules->n_required && !r->status && (ok || r->report))
		ok = check_required(r, n, at, &seen) && ok;
	if (rules->n_dependencies && !r->status && (ok || r->report))
		ok = check_dependencies(r, n, v, at, m, &seen) && ok;
	if (seen.many.n)
		marks_pop(r, &seen.many);
	return ok && !r->status;
}

/* ---- several schemas on one value ------------------------------------------------------------- */

bool run_apply(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	return apply(r, id, v, at, NULL);
}

bool run_fits(struct run *r, node_id id, const yyjson_val *v, const struct at *at)
{
	struct report *report = r->report;
	bool fits;

	r->report = NULL;
	fits = apply(r, id, v, at, NULL);
	r->report = report;
	return fits;
}

/* As run_fits, and what was evaluated counts if it does. */
static bool fits_marking(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
			 const struct marks *m)
{
	struct report *report = r->report;
	struct marks own;
	bool fits;

	if (!m)
		return run_fits(r, id, v, at);
	if (!marks_push(r, node_len(v), &own))
		return false;
	r->report = NULL;
	fits = apply(r, id, v, at, &own);
	r->report = report;
	if (fits)
		marks_add(r, m, &own);
	marks_pop(r, &own);
	return fits;
}

/* What the forms would have evaluated is not known then, and nobody shall complain about it. */
static COLD void no_form_fits(struct run *r, const struct node *n, const char *keyword,
			      const struct node_list *list, const yyjson_val *v,
			      const struct at *at, const struct marks *m)
{
	explain_none(r, run_id(r, n), keyword, list, v, at);
	if (m)
		marks_fill(r, m);
}

/* With marks to collect, all of the list has to be tried. */
static bool check_any(struct run *r, const struct node *n, const yyjson_val *v, const struct at *at,
		      const struct marks *m)
{
	const struct node_list *list = &n->combine->any;
	bool ok = false;

	for (uint32_t i = 0; i < list->n && (m || !ok) && !r->status; i++)
		ok = fits_marking(r, list->at[i], v, at, m) || ok;
	if (!ok && r->report && !r->status)
		no_form_fits(r, n, "anyOf", list, v, at, m);
	return ok && !r->status;
}

static bool check_one(struct run *r, const struct node *n, const yyjson_val *v, const struct at *at,
		      const struct marks *m)
{
	const struct node_list *list = &n->combine->one;
	uint32_t first = list->n, second = list->n;

	for (uint32_t i = 0; i < list->n && second == list->n && !r->status; i++) {
		if (!fits_marking(r, list->at[i], v, at, m))
			continue;
		if (first == list->n)
			first = i;
		else
			second = i;
	}
	if (r->status || (first < list->n && second == list->n))
		return !r->status;
	if (r->report && first == list->n)
		no_form_fits(r, n, "oneOf", list, v, at, m);
	else if (r->report)
		explain_several(r, run_id(r, n), first, second, v, at);
	return false;
}

static bool check_condition(struct run *r, const struct combine_rules *rules, const yyjson_val *v,
			    const struct at *at, const struct marks *m)
{
	bool fits = fits_marking(r, rules->when, v, at, m);
	node_id then = fits ? rules->then : rules->otherwise;

	return !r->status && (!then || apply(r, then, v, at, m));
}

/* The outermost schema that was entered and has such an anchor (2020-12 core 8.2.3.2). */
static node_id dynamic_target(struct run *r, const struct dynamic_ref *ref)
{
	node_id to = ref->fallback;

	for (const struct scope *s = r->scope; ref->name && s; s = s->up) {
		if (!run_pay(r, 1 + ref->name->n / 8))
			return to;
		for (uint32_t i = 0; i < ref->name->n; i++)
			if (ref->name->targets[i].resource == s->resource)
				to = ref->name->targets[i].node;
	}
	return to;
}

static bool check_combine(struct run *r, const struct node *n, const yyjson_val *v,
			  const struct at *at, const struct marks *m)
{
	const struct combine_rules *rules = n->combine;
	bool ok = true;

	if (rules->ref)
		ok = apply(r, rules->ref, v, at, m);
	if (rules->dynamic && (ok || r->report))
		ok = apply(r, dynamic_target(r, rules->dynamic), v, at, m) && ok;
	for (uint32_t i = 0; i < rules->all.n && (ok || r->report); i++)
		ok = apply(r, rules->all.at[i], v, at, m) && ok;
	if (rules->any.n && (ok || r->report))
		ok = check_any(r, n, v, at, m) && ok;
	if (rules->one.n && (ok || r->report))
		ok = check_one(r, n, v, at, m) && ok;
	if (rules->when && (ok || r->report))
		ok = check_condition(r, rules, v, at, m) && ok;
	if (rules->not &&(ok || r->report) && run_fits(r, rules->not, v, at)) {
		ok = false;
		if (r->report)
			explain_not(r, run_id(r, n), v, at);
	}
	return ok && !r->status;
}

/* ---- unevaluated ------------------------------------------------------------------------------ */

static bool check_left_items(struct run *r, const struct node *n, const yyjson_val *v,
			     const struct at *at, const struct marks *m)
{
	node_id rest = n->unevaluated_items;
	const yyjson_val *p = v + 1;
	struct at here = { .up = at, .depth = at ? at->depth + 1 : 1 };
	bool ok = true;

	for (; here.index < node_len(v) && (ok || r->report); here.index++, p = node_next(p)) {
		if (is_marked(r, m, here.index))
			continue;
		ok = apply(r, rest, p, &here, NULL) && ok;
		mark(r, m, here.index);
	}
	return ok && !r->status;
}

static bool check_left_members(struct run *r, const struct node *n, const yyjson_val *v,
			       const struct at *at, const struct marks *m)
{
	node_id rest = n->unevaluated_properties;
	const yyjson_val *key = v + 1;
	struct at here = { .up = at, .depth = at ? at->depth + 1 : 1 };
	bool ok = true;

	for (; here.index < node_len(v) && (ok || r->report);
	     here.index++, key = node_next(key + 1)) {
		if (is_marked(r, m, here.index))
			continue;
		here.key = key;
		ok = check_rest(r, n, "unevaluatedProperties", rest, key, &here) && ok;
		mark(r, m, here.index);
	}
	return ok && !r->status;
}

/* ---- one schema on one value ------------------------------------------------------------------ */

static bool check_type(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
		       const struct at *at, const struct marks *m)
{

	if (bits == TYPE_OBJECT)
		return !n->object || check_object(r, n, v, at, m);
	if (bits == TYPE_ARRAY)
		return !n->array || check_array(r, n, v, at, m);
	return scalar_check(r, n, bits, v, at);
}

/* What one schema says, in an order that is cheap first; a value of the wrong type, or one that is
 * not among those listed, is not looked at any further. */
static bool check_node(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
		       const struct at *at, const struct marks *m)
{
	bool ok;

	if ((n->value || n->constant) && !scalar_check_values(r, n, v, at))
		return false;
	ok = check_type(r, n, bits, v, at, m);
	if (n->combine && !r->status && (ok || r->report))
		ok = check_combine(r, n, v, at, m) && ok;
	return ok;
}

/* With unevaluated*: marks of its own, because what is beside this schema does not count. */
static bool check_unevaluated(struct run *r, const struct node *n, unsigned bits,
			      const yyjson_val *v, const struct at *at, const struct marks *m)
{
	struct marks own;
	bool ok;

	if (!marks_push(r, node_len(v), &own))
		return false;
	ok = check_node(r, n, bits, v, at, &own);
	if (!r->status && (ok || r->report)) {
		if (bits == TYPE_ARRAY && n->unevaluated_items)
			ok = check_left_items(r, n, v, at, &own) && ok;
		if (bits == TYPE_OBJECT && n->unevaluated_properties)
			ok = check_left_members(r, n, v, at, &own) && ok;
	}
	if (m && ok)
		marks_add(r, m, &own);
	marks_pop(r, &own);
	return ok;
}

static bool check_in_scope(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
			   const struct at *at, const struct marks *m)
{
	const struct scope here = { r->scope, n->resource };
	bool ok;

	if (!r->scope || r->scope->resource != n->resource)
		r->scope = &here;
	if ((n->unevaluated_items && bits == TYPE_ARRAY) ||
	    (n->unevaluated_properties && bits == TYPE_OBJECT))
		ok = check_unevaluated(r, n, bits, v, at, m);
	else
		ok = check_node(r, n, bits, v, at, m);
	if (r->scope == &here)
		r->scope = here.up;
	return ok;
}

/* Everything but the usual case. */
static bool apply_slowly(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
			 const struct at *at, const struct marks *m)
{
	bool ok;

	if (!(n->types & bits)) {
		if (r->report && !n->types)
			explain_never(r, run_id(r, n), v, at);
		else if (r->report)
			explain_value(r, run_id(r, n), "type", v, at);
		return false;
	}
	if (r->nesting == 0 || (at && at->depth > r->s->max_depth))
		return run_over(r, "max_depth");
	r->nesting--;
	ok = n->plain && r->scope && r->scope->resource == n->resource
		     ? check_type(r, n, bits, v, at, m)
		     : check_in_scope(r, n, bits, v, at, m);
	r->nesting++;
	return ok && !r->status;
}

static bool apply(struct run *r, node_id id, const yyjson_val *v, const struct at *at,
		  const struct marks *m)
{
	return run_pay(r, 1) && apply_slowly(r, &r->s->nodes[id], run_type(v), v, at, m);
}

void run_init(struct run *r, const cleat_schema *s)
{
	r->s = s;
	r->scope = NULL;
	r->report = NULL;
	r->steps = s->max_steps;
	r->nesting = s->max_depth * NESTING_PER_LEVEL;
	r->status = CLEAT_OK;
	r->twice = false;
	r->limit = NULL;
	r->words = r->few_words;
	r->n_words = 0;
	r->cap_words = MARK_WORDS;
}

void run_done(struct run *r)
{
	if (r->words != r->few_words)
		mem_free(&r->s->mem, r->words);
}
