/* schema/rules.c - one subschema's keywords made into the rules of its node.
 *
 * Every value that a keyword cannot have is an error with its place, as the meta-schemas would have
 * it, so that nothing is silently not checked. Subschemas were found before (locate.c) and have a
 * node already. Nodes move in memory while references are followed: they are named by id here.
 */
#include "schema/compiler.h"

#include "base/mem.h"
#include "format/pattern.h"

#include "json/hash.h"
#include "json/node.h"
#include "json/number.h"
#include "json/parse.h"
#include <stdio.h>

enum { FEW_PROPERTIES = 8, FEW_VALUES = 8, MOST_REGEXES = 1 << 20, MOST_REGEX_BYTES = 16 << 20 };

/* What is being collected for one node. */
struct draft {
	struct compiler *c;
	node_id id;
	const struct keyword *kw; /* the one at hand */
	struct number_rules *number;
	struct string_rules *string;
	struct array_rules *array;
	struct object_rules *object;
	struct combine_rules *combine;
	/* what can only be put together when all keywords are known */
	const cleat_json *properties, *required, *dependent_required, *dependent_schemas,
		*dependencies, *items, *additional_items, *min_contains, *max_contains;
};

static int expected(const struct draft *d, const char *what, const cleat_json *got)
{
	return compile_expected(d->c, d->id, d->kw->name.p, what, got);
}

/* The rules of one kind, made when they are first needed. */
#define RULES(kind)                                                                                \
	static struct kind##_rules *kind##_of(struct draft *d)                                     \
	{                                                                                          \
		if (!d->kind)                                                                      \
			d->kind = compile_alloc(d->c, sizeof *d->kind);                            \
		return d->kind;                                                                    \
	}
RULES(number)
RULES(combine)
#undef RULES

static struct string_rules *string_of(struct draft *d)
{
	if (!d->string && (d->string = compile_alloc(d->c, sizeof *d->string)))
		d->string->max = UINT64_MAX;
	return d->string;
}

static struct array_rules *array_of(struct draft *d)
{
	if (!d->array && (d->array = compile_alloc(d->c, sizeof *d->array))) {
		d->array->max = UINT64_MAX;
		d->array->min_contains = 1;
		d->array->max_contains = UINT64_MAX;
	}
	return d->array;
}

static struct object_rules *object_of(struct draft *d)
{
	if (!d->object && (d->object = compile_alloc(d->c, sizeof *d->object)))
		d->object->max = UINT64_MAX;
	return d->object;
}

/* ---- values of keywords ---------------------------------------------------------------------- */

/* The subschema at this place of the document. */
static node_id child(struct draft *d, const cleat_json *v)
{
	return compile_reach(d->c, locate_node(d->c, v));
}

static int take_children(struct draft *d, const cleat_json *v, struct node_list *ret)
{
	cleat_json_iter it = cleat_json_each(v);
	node_id *list;

	if (!json_is_array(v) || cleat_json_size(v) == 0)
		return expected(d, "an array of one or more schemas", v);
	list = compile_alloc(d->c, cleat_json_size(v) * sizeof *list);
	if (!list)
		return d->c->status;
	*ret = (struct node_list){ list, (uint32_t)cleat_json_size(v) };
	while (cleat_json_next(&it))
		list[it.index] = child(d, it.value);
	return d->c->status;
}

/* A map in which a name appears twice has no meaning that everybody would agree on. */
static int take_map(struct draft *d, const cleat_json *v, const cleat_json **ret)
{
	const cleat_json *twice = cleat_json_duplicate(v);

	if (!json_is_object(v))
		return expected(d, "an object", v);
	if (twice)
		return compile_bad_text(d->c, d->id, d->kw->name.p, json_str(twice),
					"stands twice");
	*ret = v;
	return CLEAT_OK;
}

static bool is_negative(const cleat_json *v)
{
	return *cleat_json_number_text(v) == '-';
}

static bool is_zero(const cleat_json *v)
{
	const char *p = cleat_json_number_text(v);

	for (; *p && *p != 'e' && *p != 'E'; p++)
		if (*p >= '1' && *p <= '9')
			return false;
	return true;
}

/* A count: 0, 1, 2.0, ... What is beyond uint64_t is as good as its largest value. */
static int take_count(struct draft *d, const cleat_json *v, uint64_t *ret)
{
	if (!cleat_json_is_integer(v) || (is_negative(v) && !is_zero(v)))
		return expected(d, "a whole number of at least 0", v);
	*ret = cleat_json_uint(v, UINT64_MAX);
	return CLEAT_OK;
}

static int take_bound(struct draft *d, const cleat_json *v, enum bound which)
{
	struct number_rules *r = number_of(d);

	if (cleat_json_type(v) == CLEAT_JSON_BOOL && which >= BOUND_ABOVE)
		return expected(d, "a number (a boolean here is draft-04)", v);
	if (cleat_json_type(v) != CLEAT_JSON_NUMBER)
		return expected(d, "a number", v);
	if (!r)
		return d->c->status;
	r->bound[which] = v;
	if (json_small_int(v, &r->small[which]))
		r->small_set |= (uint8_t)(1u << which);
	return CLEAT_OK;
}

static int take_multiple(struct draft *d, const cleat_json *v)
{
	if (cleat_json_type(v) != CLEAT_JSON_NUMBER || is_negative(v) || is_zero(v))
		return expected(d, "a number greater than 0", v);
	if (number_of(d))
		d->number->multiple_of = v;
	return d->c->status;
}

static int bad_regex(struct draft *d, struct str source, const char *why)
{
	char text[sizeof((cleat_error *)0)->message + 32];

	snprintf(text, sizeof text, "is not a regular expression: %s", why);
	return compile_bad_text(d->c, d->id, d->kw->name.p, source, text);
}

static int take_regex(struct draft *d, struct str source, const struct regex **ret)
{
	struct compiler *c = d->c;
	void *array = c->regexes;
	struct regex *re;
	cleat_error err;
	int rc;

	rc = mem_grow(&c->s->mem, &array, &c->cap_regexes, c->n_regexes, sizeof re, MOST_REGEXES);
	if (rc)
		return compile_no_memory(c);
	c->regexes = array;
	rc = pattern_compile(&c->s->mem, source, &re, &err);
	if (rc == CLEAT_EINVAL)
		return bad_regex(d, source, err.message);
	if (rc)
		return compile_fail_at(c, rc, d->id, d->kw->name.p, "%s", err.message);
	c->regexes[c->n_regexes++] = re;
	*ret = re;
	c->regex_bytes += regex_size(re);
	if (c->regex_bytes > MOST_REGEX_BYTES)
		return compile_fail(c, CLEAT_ELIMIT, "the patterns need more than %d MiB",
				    MOST_REGEX_BYTES >> 20);
	return CLEAT_OK;
}

static int take_pattern(struct draft *d, const cleat_json *v)
{
	struct string_rules *r = string_of(d);

	if (!json_is_string(v))
		return expected(d, "a regular expression", v);
	if (!r)
		return d->c->status;
	r->pattern_text = json_str(v);
	return take_regex(d, r->pattern_text, &r->pattern);
}

static int take_format(struct draft *d, const cleat_json *v, unsigned speaks)
{
	enum format f;

	if (!json_is_string(v))
		return expected(d, "the name of a format", v);
	f = format_find(json_str(v));
	if (f == FORMAT_UNKNOWN || !(d->c->opts.assert_formats || (speaks & SPEAKS_FORMAT)))
		return CLEAT_OK;
	if (string_of(d))
		d->string->format = f;
	return d->c->status;
}

static unsigned type_bit(struct str name)
{
	static const struct {
		const char *name;
		unsigned bit;
	} types[] = { { "null", TYPE_NULL },       { "boolean", TYPE_BOOL },
		      { "integer", TYPE_INTEGER }, { "number", TYPE_NUMBER },
		      { "string", TYPE_STRING },   { "array", TYPE_ARRAY },
		      { "object", TYPE_OBJECT } };

	for (size_t i = 0; i < CLEAT_COUNT(types); i++)
		if (str_eqz(name, types[i].name))
			return types[i].bit;
	return 0;
}

static int take_type(struct draft *d, const cleat_json *v)
{
	static const char what[] = "null, boolean, integer, number, string, array or object, or an "
				   "array of these";
	cleat_json_iter it = cleat_json_each(v);
	unsigned types = json_is_string(v) ? type_bit(json_str(v)) : 0;

	if ((!json_is_array(v) && !types) || (json_is_array(v) && !cleat_json_size(v)))
		return expected(d, what, v);
	while (json_is_array(v) && cleat_json_next(&it)) {
		unsigned bit = json_is_string(it.value) ? type_bit(json_str(it.value)) : 0;

		if (!bit)
			return expected(d, what, it.value);
		types |= bit;
	}
	d->c->nodes[d->id].types = (uint8_t)types;
	return CLEAT_OK;
}

/* enum (a list) and const (one value). */
static int take_values(struct draft *d, const cleat_json *const *values, uint32_t n, bool is_const)
{
	struct value_rules *r = compile_alloc(d->c, sizeof *r);
	uint64_t *hashes = NULL;

	if (n > FEW_VALUES)
		hashes = compile_alloc(d->c, n * sizeof *hashes);
	if (d->c->status)
		return d->c->status;
	*r = (struct value_rules){
		.values = values, .n = n, .strings = true, .is_const = is_const
	};
	for (uint32_t i = 0; i < n; i++) {
		r->strings = r->strings && json_is_string(values[i]);
		if (hashes)
			hashes[i] = json_hash(values[i], d->c->s->seed);
	}
	r->hashes = hashes;
	if (is_const)
		d->c->nodes[d->id].constant = r;
	else
		d->c->nodes[d->id].value = r;
	return CLEAT_OK;
}

static int take_enum(struct draft *d, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	const cleat_json **values;

	if (!json_is_array(v))
		return expected(d, "an array of values", v);
	values = compile_alloc(d->c, (cleat_json_size(v) + 1) * sizeof *values);
	if (!values)
		return d->c->status;
	while (cleat_json_next(&it))
		values[it.index] = it.value;
	return take_values(d, values, (uint32_t)cleat_json_size(v), false);
}

static int take_const(struct draft *d, const cleat_json *v)
{
	const cleat_json **value = compile_alloc(d->c, sizeof *value);

	if (!value)
		return d->c->status;
	*value = v;
	return take_values(d, value, 1, true);
}

static int take_pattern_properties(struct draft *d, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	struct pattern_property *list;

	if (take_map(d, v, &v))
		return d->c->status;
	list = compile_alloc(d->c, (cleat_json_size(v) + 1) * sizeof *list);
	if (!list || !object_of(d))
		return d->c->status;
	while (cleat_json_next(&it)) {
		struct pattern_property *p = &list[it.index];

		p->text = json_str(it.key);
		p->node = child(d, it.value);
		if (take_regex(d, p->text, &p->pattern))
			return d->c->status;
	}
	d->object->patterns = list;
	d->object->n_patterns = (uint32_t)cleat_json_size(v);
	return d->c->status;
}

/* ---- references ------------------------------------------------------------------------------- */

static int take_ref(struct draft *d, const cleat_json *v)
{
	struct combine_rules *r = combine_of(d);
	node_id to;

	if (!json_is_string(v))
		return expected(d, "a URI reference", v);
	if (!r || locate_reference(d->c, d->id, d->kw, json_str(v), &to, NULL))
		return d->c->status;
	r->ref = compile_reach(d->c, to);
	return d->c->status;
}

static const struct dynamic_name *dynamic_name(struct draft *d, struct str name)
{
	struct dynamic_name *entry = d->c->dynamic;

	while (entry && !str_eq(entry->name, name))
		entry = entry->next;
	if (entry)
		return entry;
	entry = compile_alloc(d->c, sizeof *entry);
	if (!entry)
		return NULL;
	*entry = (struct dynamic_name){ .name = name, .next = d->c->dynamic };
	d->c->dynamic = entry;
	return entry;
}

/* Leads to the anchor of that name in the outermost schema of the check that has one, if by its text
 * it leads to a dynamic anchor at all (2020-12 core 8.2.3.2); else it is a plain $ref. */
static int take_dynamic_ref(struct draft *d, const cleat_json *v)
{
	struct combine_rules *r = combine_of(d);
	struct dynamic_ref *ref = compile_alloc(d->c, sizeof *ref);
	struct str name;
	node_id to;

	if (!json_is_string(v))
		return expected(d, "a URI reference", v);
	if (!r || !ref || locate_reference(d->c, d->id, d->kw, json_str(v), &to, &name))
		return d->c->status;
	ref->fallback = compile_reach(d->c, to);
	if (name.p)
		ref->name = dynamic_name(d, name);
	r->dynamic = ref;
	return d->c->status;
}

/* ---- keywords --------------------------------------------------------------------------------- */

static int take_object_keyword(struct draft *d, const cleat_json *v)
{
	struct object_rules *r = object_of(d);

	if (!r)
		return d->c->status;
	switch (d->kw->id) {
	case KW_PROPERTIES: return take_map(d, v, &d->properties);
	case KW_PATTERN_PROPERTIES: return take_pattern_properties(d, v);
	case KW_ADDITIONAL_PROPERTIES: r->rest = child(d, v); break;
	case KW_PROPERTY_NAMES: r->names = child(d, v); break;
	case KW_MIN_PROPERTIES: return take_count(d, v, &r->min);
	case KW_MAX_PROPERTIES: return take_count(d, v, &r->max);
	case KW_DEPENDENT_REQUIRED: return take_map(d, v, &d->dependent_required);
	case KW_DEPENDENT_SCHEMAS: return take_map(d, v, &d->dependent_schemas);
	case KW_DEPENDENCIES: return take_map(d, v, &d->dependencies);
	case KW_REQUIRED:
		if (!json_is_array(v))
			return expected(d, "an array of names", v);
		d->required = v;
		break;
	default: break;
	}
	return d->c->status;
}

static int take_array_keyword(struct draft *d, const cleat_json *v)
{
	struct array_rules *r = array_of(d);

	if (!r)
		return d->c->status;
	switch (d->kw->id) {
	case KW_PREFIX_ITEMS: return take_children(d, v, &r->prefix);
	case KW_ITEMS: d->items = v; break;
	case KW_ADDITIONAL_ITEMS: d->additional_items = v; break;
	case KW_CONTAINS: r->contains = child(d, v); break;
	case KW_MIN_CONTAINS: return take_count(d, v, &r->min_contains);
	case KW_MAX_CONTAINS: return take_count(d, v, &r->max_contains);
	case KW_MIN_ITEMS: return take_count(d, v, &r->min);
	case KW_MAX_ITEMS: return take_count(d, v, &r->max);
	case KW_UNIQUE_ITEMS:
		if (cleat_json_type(v) != CLEAT_JSON_BOOL)
			return expected(d, "true or false", v);
		r->unique = cleat_json_bool(v, false);
		break;
	default: break;
	}
	return d->c->status;
}

static int take_combine_keyword(struct draft *d, const cleat_json *v)
{
	struct combine_rules *r = combine_of(d);

	if (!r)
		return d->c->status;
	switch (d->kw->id) {
	case KW_ALL_OF: return take_children(d, v, &r->all);
	case KW_ANY_OF: return take_children(d, v, &r->any);
	case KW_ONE_OF: return take_children(d, v, &r->one);
	case KW_NOT: r->not = child(d, v); break;
	case KW_IF: r->when = child(d, v); break;
	case KW_THEN: r->then = child(d, v); break;
	case KW_ELSE: r->otherwise = child(d, v); break;
	default: break;
	}
	return d->c->status;
}

static int take_keyword(struct draft *d, const cleat_json *v, unsigned speaks)
{
	switch (d->kw->id) {
	case KW_REF: return take_ref(d, v);
	case KW_DYNAMIC_REF: return take_dynamic_ref(d, v);
	case KW_TYPE: return take_type(d, v);
	case KW_ENUM: return take_enum(d, v);
	case KW_CONST: return take_const(d, v);
	case KW_MINIMUM: return take_bound(d, v, BOUND_MIN);
	case KW_MAXIMUM: return take_bound(d, v, BOUND_MAX);
	case KW_EXCLUSIVE_MINIMUM: return take_bound(d, v, BOUND_ABOVE);
	case KW_EXCLUSIVE_MAXIMUM: return take_bound(d, v, BOUND_BELOW);
	case KW_MULTIPLE_OF: return take_multiple(d, v);
	case KW_PATTERN: return take_pattern(d, v);
	case KW_FORMAT: return take_format(d, v, speaks);
	case KW_MIN_LENGTH: return string_of(d) ? take_count(d, v, &d->string->min) : d->c->status;
	case KW_MAX_LENGTH: return string_of(d) ? take_count(d, v, &d->string->max) : d->c->status;
	case KW_UNEVALUATED_ITEMS: d->c->nodes[d->id].unevaluated_items = child(d, v); break;
	case KW_UNEVALUATED_PROPERTIES:
		d->c->nodes[d->id].unevaluated_properties = child(d, v);
		break;
	case KW_DEFS:
	case KW_DEFINITIONS: return take_map(d, v, &v);
	case KW_ID:
	case KW_ANCHOR:
	case KW_DYNAMIC_ANCHOR: break; /* locate.c */
	case KW_ALL_OF:
	case KW_ANY_OF:
	case KW_ONE_OF:
	case KW_NOT:
	case KW_IF:
	case KW_THEN:
	case KW_ELSE: return take_combine_keyword(d, v);
	case KW_PREFIX_ITEMS:
	case KW_ITEMS:
	case KW_ADDITIONAL_ITEMS:
	case KW_CONTAINS:
	case KW_MIN_CONTAINS:
	case KW_MAX_CONTAINS:
	case KW_MIN_ITEMS:
	case KW_MAX_ITEMS:
	case KW_UNIQUE_ITEMS: return take_array_keyword(d, v);
	default: return take_object_keyword(d, v);
	}
	return d->c->status;
}

/* ---- what needs several keywords -------------------------------------------------------------- */

static int put_items(struct draft *d, unsigned speaks)
{
	struct array_rules *r = d->array;

	if (!d->items)
		return CLEAT_OK;
	d->kw = &keywords[KW_ITEMS];
	if (!json_is_array(d->items)) {
		r->rest = child(d, d->items);
		return d->c->status;
	}
	if (!(speaks & SPEAKS_DRAFT_07))
		return compile_bad(
			d->c, d->id, "items",
			"an array here is draft-07: use prefixItems, or name draft-07 in "
			"$schema");
	if (cleat_json_size(d->items) && take_children(d, d->items, &r->prefix))
		return d->c->status;
	if (d->additional_items)
		r->rest = child(d, d->additional_items);
	return d->c->status;
}

static size_t names_in(const cleat_json *map)
{
	cleat_json_iter it = cleat_json_each(map);
	size_t n = 0;

	while (cleat_json_next(&it))
		n += 1 + cleat_json_size(it.value);
	return n;
}

/* The place of a name in the table, which has room for it. */
static uint32_t property(struct draft *d, uint32_t *slots, const cleat_json *name)
{
	struct object_rules *r = d->object;
	const yyjson_val *key = node_of(name);
	uint64_t hash = keys_hash(key, d->c->s->seed);
	size_t i = hash & r->mask;

	for (; slots[i]; i = (i + 1) & r->mask)
		if (node_same_text(r->properties[slots[i] - 1].key, key))
			return slots[i] - 1;
	slots[i] = ++r->n;
	r->properties[r->n - 1].key = key;
	return r->n - 1;
}

static int put_names(struct draft *d, uint32_t *slots, const cleat_json *list, uint32_t *ret)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it)) {
		if (!json_is_string(it.value))
			return expected(d, "an array of names", list);
		ret[it.index] = property(d, slots, it.value);
	}
	return CLEAT_OK;
}

static int put_dependencies(struct draft *d, uint32_t *slots, enum keyword_id id,
			    const cleat_json *map, struct dependency *list)
{
	cleat_json_iter it = cleat_json_each(map);

	d->kw = &keywords[id];
	while (cleat_json_next(&it)) {
		struct dependency *dep = &list[d->object->n_dependencies];
		bool names = json_is_array(it.value) && id != KW_DEPENDENT_SCHEMAS;
		uint32_t *needs;

		dep->property = property(d, slots, it.key);
		d->object->n_dependencies++;
		if (!names && id == KW_DEPENDENT_REQUIRED)
			return expected(d, "arrays of names", it.value);
		if (!names) {
			dep->node = child(d, it.value);
			continue;
		}
		needs = compile_alloc(d->c, (cleat_json_size(it.value) + 1) * sizeof *needs);
		if (!needs || put_names(d, slots, it.value, needs))
			return d->c->status;
		dep->needs = needs;
		dep->n_needs = (uint32_t)cleat_json_size(it.value);
	}
	return d->c->status;
}

static int put_required(struct draft *d, uint32_t *slots)
{
	cleat_json_iter it = cleat_json_each(d->required);

	d->kw = &keywords[KW_REQUIRED];
	while (cleat_json_next(&it)) {
		struct property *p;

		if (!json_is_string(it.value))
			return expected(d, "an array of names", d->required);
		p = &d->object->properties[property(d, slots, it.value)];
		d->object->n_required += !p->required;
		p->required = true;
	}
	return CLEAT_OK;
}

static void put_masks(struct object_rules *r, const uint32_t *slots)
{
	if (r->n > FEW_PROPERTIES)
		r->slots = slots;
	else
		r->mask = 0;
	for (uint32_t i = 0; i < r->n && r->n <= 64; i++)
		r->required |= (uint64_t)r->properties[i].required << i;
}

/* One table of all names that the schema mentions. */
static int put_properties(struct draft *d)
{
	size_t deps = cleat_json_size(d->dependent_required) +
		      cleat_json_size(d->dependent_schemas) + cleat_json_size(d->dependencies);
	size_t most = cleat_json_size(d->properties) + cleat_json_size(d->required) +
		      names_in(d->dependent_required) + cleat_json_size(d->dependent_schemas) +
		      names_in(d->dependencies);
	cleat_json_iter it = cleat_json_each(d->properties);
	struct dependency *list;
	uint32_t *slots;
	size_t size = 4;

	if (!most)
		return CLEAT_OK;
	while (size < most * 2)
		size *= 2;
	slots = compile_alloc(d->c, size * sizeof *slots);
	list = compile_alloc(d->c, (deps + 1) * sizeof *list);
	d->object->properties = compile_alloc(d->c, most * sizeof *d->object->properties);
	d->object->dependencies = list;
	d->object->mask = (uint32_t)size - 1;
	if (d->c->status)
		return d->c->status;
	while (cleat_json_next(&it)) {
		uint32_t i = property(d, slots, it.key);

		d->object->properties[i].node = child(d, it.value);
	}
	if (put_required(d, slots) ||
	    put_dependencies(d, slots, KW_DEPENDENT_REQUIRED, d->dependent_required, list) ||
	    put_dependencies(d, slots, KW_DEPENDENT_SCHEMAS, d->dependent_schemas, list) ||
	    put_dependencies(d, slots, KW_DEPENDENCIES, d->dependencies, list))
		return d->c->status;
	put_masks(d->object, slots);
	return d->c->status;
}

/* Rules that say nothing are dropped, so that checking does not look at them. */
static void put_numbers(struct number_rules *r)
{
	bool small = r && !r->multiple_of;

	for (int i = 0; r && i < BOUNDS; i++) {
		if (r->bound[i] && !(r->small_set & (1u << i)))
			small = false;
		if (r->bound[i])
			r->digits += node_len(node_of(r->bound[i]));
	}
	if (r && r->multiple_of)
		r->digits += node_len(node_of(r->multiple_of));
	if (r)
		r->all_small = small;
}

static void store(struct draft *d)
{
	struct node *n = &d->c->nodes[d->id];

	put_numbers(d->number);
	if (d->object)
		d->object->names_only = !d->object->n_patterns && !d->object->names;
	n->number = d->number;
	n->string = d->string;
	n->array = d->array;
	n->object = d->object;
	n->combine = d->combine;
	n->plain = !n->value && !n->constant && !n->combine && !n->unevaluated_items &&
		   !n->unevaluated_properties;
}

int rules_compile(struct compiler *c, node_id id)
{
	const cleat_json *json = c->nodes[id].json;
	unsigned speaks = c->resources[c->nodes[id].resource].speaks;
	bool only_ref = (speaks & SPEAKS_DRAFT_07) && json_member(json, "$ref");
	struct draft d = { .c = c, .id = id };
	cleat_json_iter it = cleat_json_each(json);

	c->nodes[id].types = cleat_json_bool(json, true) ? TYPE_ANY : 0;
	while (cleat_json_next(&it)) {
		d.kw = keyword_find(json_str(it.key), speaks);
		if (!d.kw || (only_ref && d.kw->id != KW_REF))
			continue;
		if (take_keyword(&d, it.value, speaks))
			return c->status;
	}
	if (put_items(&d, speaks) || put_properties(&d))
		return c->status;
	store(&d);
	return CLEAT_OK;
}
