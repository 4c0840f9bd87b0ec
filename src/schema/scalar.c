/* schema/scalar.c - numbers, strings, and lists of values. See run.h for how a check runs; what is long
 * or slow is paid for in steps here.
 */
#include "schema/run.h"

#include "json/hash.h"
#include "json/node.h"
#include "json/number.h"

/* What a step is worth in the units of those who count for themselves. */
enum { DIGITS_PER_STEP = 16, REGEX_PER_STEP = 32, SHORT_NUMBER = 64 };

/* ---- what it costs ------------------------------------------------------------------------------ */

static uint64_t text_cost(const yyjson_val *v)
{
	return node_is(v, YYJSON_TYPE_STR) || node_is(v, YYJSON_TYPE_RAW) ? 1 + node_len(v) / 64
									  : 1;
}

uint64_t value_cost(const yyjson_val *v)
{
	uint64_t cost = 0;

	if (!node_is_container(v))
		return text_cost(v);
	for (const yyjson_val *p = v, *end = node_next(v); p < end; p++)
		cost += text_cost(p);
	return cost;
}

bool value_equal(struct run *r, const yyjson_val *a, const yyjson_val *b)
{
	if ((a->tag & YYJSON_TYPE_MASK) != (b->tag & YYJSON_TYPE_MASK) ||
	    (node_is_container(a) && node_len(a) != node_len(b)))
		return false;
	return run_pay(r, value_cost(a) + value_cost(b)) &&
	       cleat_json_equal(node_json(a), node_json(b));
}

/* All steps that are left in another unit, and back. */
static uint64_t budget_of(const struct run *r, unsigned per_step)
{
	return r->steps < UINT64_MAX / per_step ? r->steps * per_step : UINT64_MAX;
}

static void take_back(struct run *r, uint64_t used, unsigned per_step)
{
	uint64_t steps = used / per_step + (used % per_step != 0);

	r->steps -= steps < r->steps ? steps : r->steps;
}

/* ---- numbers and strings ------------------------------------------------------------------------ */

static bool holds(enum bound which, int order)
{
	switch (which) {
	case BOUND_MIN: return order >= 0;
	case BOUND_MAX: return order <= 0;
	case BOUND_ABOVE: return order > 0;
	default: return order < 0;
	}
}

/* The bound that does not hold; NULL when all do. */
static const char *broken_bound(const struct number_rules *n, const yyjson_val *v)
{
	static const char *const names[BOUNDS] = { "minimum", "maximum", "exclusiveMinimum",
						   "exclusiveMaximum" };

	for (int i = 0; i < BOUNDS; i++)
		if (n->bound[i] &&
		    !holds((enum bound)i, json_number_compare(node_json(v), n->bound[i])))
			return names[i];
	return NULL;
}

/* Of a number whose floor is i; `above`: it is more than that. All bounds are small integers. */
static bool small_bounds_hold(const struct number_rules *n, int64_t i, bool above)
{
	return !((n->small_set & 1u << BOUND_MIN) && i < n->small[BOUND_MIN]) &&
	       !((n->small_set & 1u << BOUND_MAX) && i + above > n->small[BOUND_MAX]) &&
	       !((n->small_set & 1u << BOUND_ABOVE) && i + above <= n->small[BOUND_ABOVE]) &&
	       !((n->small_set & 1u << BOUND_BELOW) && i >= n->small[BOUND_BELOW]);
}

static bool is_multiple(struct run *r, const struct number_rules *n, const yyjson_val *v)
{
	uint64_t budget = budget_of(r, DIGITS_PER_STEP), left = budget;
	int rc = json_number_multiple_of(node_json(v), n->multiple_of, &left);

	take_back(r, budget - left, DIGITS_PER_STEP);
	if (rc == CLEAT_ELIMIT)
		return run_over(r, "max_steps (multipleOf)");
	return rc == 1;
}

static bool check_number(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at)
{
	const struct number_rules *rules = n->number;
	const char *broken = NULL;
	int64_t i;
	bool above,
		small = node_len(v) < SHORT_NUMBER && json_small_floor(node_json(v), &i, &above);
	bool whole = small && !above;

	if (!small) { /* what is long is paid for */
		if (!run_pay(r, node_len(v) / DIGITS_PER_STEP))
			return false;
		whole = cleat_json_is_integer(node_json(v));
	}
	if ((n->types & TYPE_NUMBER) == TYPE_INTEGER && !whole)
		broken = "type";
	if (!broken && rules &&
	    !(small && rules->all_small && small_bounds_hold(rules, i, above))) {
		if (!run_pay(r, rules->digits / DIGITS_PER_STEP))
			return false;
		broken = broken_bound(rules, v);
		if (!broken && rules->multiple_of && !is_multiple(r, rules, v))
			broken = "multipleOf";
	}
	if (!broken || r->status)
		return !r->status;
	if (r->report)
		explain_value(r, run_id(r, n), broken, v, at);
	return false;
}

bool scalar_matches(struct run *r, const struct regex *re, const yyjson_val *v)
{
	uint64_t budget, left;
	int rc;

	if (!run_pay(r, 2 + node_len(v) / 32))
		return false;
	budget = left = budget_of(r, REGEX_PER_STEP);
	rc = regex_match_within(re, node_text(v), &left);
	take_back(r, budget - left, REGEX_PER_STEP);
	if (rc == CLEAT_ELIMIT)
		return run_over(r, left < budget / 16 ? "max_steps (pattern)"
						      : "the effort that a pattern may cost");
	return rc < 0 ? run_fail(r, rc) : rc == 1;
}

static const char *broken_string_rule(struct run *r, const struct string_rules *rules,
				      const yyjson_val *v)
{
	size_t n = node_len(v);

	/* bytes are at least as many as characters, and at most four times */
	if (n > rules->max || n / 4 < rules->min) {
		size_t chars;

		if (!run_pay(r, n / 64))
			return NULL;
		chars = utf8_length(node_text(v));
		if (chars < rules->min)
			return "minLength";
		if (chars > rules->max)
			return "maxLength";
	}
	if (rules->pattern && !scalar_matches(r, rules->pattern, v))
		return "pattern";
	if (rules->format && (!run_pay(r, n / 16) || !format_check(rules->format, node_text(v))))
		return "format";
	return NULL;
}

static bool check_string(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at)
{
	const char *broken = broken_string_rule(r, n->string, v);

	if (!broken || r->status)
		return !r->status;
	if (r->report)
		explain_value(r, run_id(r, n), broken, v, at);
	return false;
}

static bool is_one_of(struct run *r, const struct value_rules *rules, const yyjson_val *v)
{
	uint64_t hash = 0;

	if (rules->strings && !node_is(v, YYJSON_TYPE_STR))
		return false;
	if (rules->strings && !rules->hashes) {
		bool found = false;

		for (uint32_t i = 0; i < rules->n && !found; i++)
			found = node_same_text(node_of(rules->values[i]), v);
		return run_pay(r, node_len(v) / 16) && found;
	}
	if (rules->hashes) {
		if (!run_pay(r, value_cost(v) + rules->n / 64))
			return false;
		hash = json_hash(node_json(v), r->s->seed);
	}
	for (uint32_t i = 0; i < rules->n; i++)
		if ((!rules->hashes || rules->hashes[i] == hash) &&
		    value_equal(r, node_of(rules->values[i]), v))
			return true;
	return false;
}

/* ---- any value of a type --------------------------------------------------------------------- */

bool scalar_check(struct run *r, const struct node *n, unsigned bits, const yyjson_val *v,
		  const struct at *at)
{
	if (bits == TYPE_STRING)
		return !n->string || check_string(r, n, v, at);
	if (bits == TYPE_NUMBER)
		return (!n->number && (n->types & TYPE_FRACTION)) || check_number(r, n, v, at);
	return true;
}

bool scalar_check_values(struct run *r, const struct node *n, const yyjson_val *v,
			 const struct at *at)
{
	const char *broken = NULL;

	if (n->value && !is_one_of(r, n->value, v))
		broken = "enum";
	else if (n->constant && !is_one_of(r, n->constant, v))
		broken = "const";
	if (broken && r->report && !r->status)
		explain_value(r, run_id(r, n), broken, v, at);
	return !broken && !r->status;
}
