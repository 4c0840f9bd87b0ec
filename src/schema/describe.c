/* schema/describe.c - see describe.h. References are followed a few steps, because a schema that is
 * only a reference says nothing by itself. Nothing here looks at a value.
 */
#include "schema/describe.h"

#include "wording/show.h"
#include "wording/wording.h"
#include "json/node.h"
#include "json/parse.h"

enum { MOST_HOPS = 8, MOST_VALUES = 20, MOST_FORMS = 5, MOST_NAMES = 5 };

static bool says_nothing_itself(const struct node *n)
{
	return n->types == TYPE_ANY && !n->number && !n->string && !n->array && !n->object &&
	       !n->value && !n->constant;
}

/* Behind references that stand alone. */
static const struct node *follow(const cleat_schema *s, node_id id)
{
	for (int hops = 0; hops < MOST_HOPS; hops++) {
		const struct node *n = &s->nodes[id];

		if (!says_nothing_itself(n) || !n->combine || !n->combine->ref)
			break;
		id = n->combine->ref;
	}
	return &s->nodes[id];
}

static const struct value_rules *values_of(const struct node *n)
{
	return n->constant ? n->constant : n->value;
}

/* ---- values ----------------------------------------------------------------------------------- */

static void values(struct buf *b, const struct value_rules *r)
{
	if (r->n != 1)
		buf_appendz(b, r->n ? "one of " : "nothing (the list of values is empty)");
	for (uint32_t i = 0; i < r->n && i < MOST_VALUES; i++) {
		buf_appendz(b, i ? ", " : "");
		show_value(b, r->values[i]);
	}
	if (r->n > MOST_VALUES)
		buf_printf(b, ", ... (%u in all)", r->n);
}

/* ---- types ------------------------------------------------------------------------------------ */

/* The types that rules are about. */
static unsigned ruled(const struct node *n)
{
	return (n->number ? TYPE_NUMBER : 0u) | (n->string ? TYPE_STRING : 0u) |
	       (n->array ? TYPE_ARRAY : 0u) | (n->object ? TYPE_OBJECT : 0u);
}

static void bound(struct buf *b, const char *words, const cleat_json *number)
{
	buf_appendz(b, words);
	show_value(b, number);
}

static void number_bounds(struct buf *b, const struct number_rules *r)
{
	const cleat_json *low = r->bound[BOUND_MIN], *high = r->bound[BOUND_MAX];
	const cleat_json *above = r->bound[BOUND_ABOVE], *below = r->bound[BOUND_BELOW];

	if (low)
		bound(b, high ? " between " : " of at least ", low);
	if (high)
		bound(b, low ? " and " : " of at most ", high);
	if (above)
		bound(b, low || high ? " and greater than " : " greater than ", above);
	if (below)
		bound(b, low || high || above ? " and less than " : " less than ", below);
	if (r->multiple_of)
		bound(b, " that is a multiple of ", r->multiple_of);
}

static void string_bounds(struct buf *b, const struct string_rules *r)
{
	wording_size(b, r->min, r->max, "character");
	if (r->pattern_text.p) {
		buf_appendz(b, " matching ");
		show_quoted(b, r->pattern_text, SHOW_CHARS);
	}
	if (r->format)
		buf_printf(b, " that is %s", format_what(r->format));
}

/* Only names of which some are required: {"required": ["a", "b"]} is in many forms. */
static bool is_names(const struct object_rules *r)
{
	if (!r->n_required || r->n_required > MOST_NAMES || r->n_required < r->n || r->n_patterns ||
	    r->rest || r->names || r->n_dependencies)
		return false;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->properties[i].node)
			return false;
	return true;
}

static void object_bounds(struct buf *b, const struct object_rules *r)
{
	wording_size(b, r->min, r->max, "member");
	for (uint32_t i = 0; is_names(r) && i < r->n; i++) {
		buf_appendz(b, i ? " and " : " with ");
		show_quoted(b, node_text(r->properties[i].key), SHOW_CHARS);
	}
}

static void one_type(struct buf *b, const struct node *n, unsigned type)
{
	static const struct {
		unsigned type;
		const char *name;
	} names[] = { { TYPE_NULL, "null" },       { TYPE_BOOL, "boolean" },
		      { TYPE_INTEGER, "integer" }, { TYPE_FRACTION, "number" },
		      { TYPE_STRING, "string" },   { TYPE_ARRAY, "array" },
		      { TYPE_OBJECT, "object" } };

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (names[i].type == type)
			buf_appendz(b, names[i].name);
	if ((type & TYPE_NUMBER) && n->number)
		number_bounds(b, n->number);
	if (type == TYPE_STRING && n->string)
		string_bounds(b, n->string);
	if (type == TYPE_ARRAY && n->array)
		wording_size(b, n->array->min, n->array->max, "element");
	if (type == TYPE_OBJECT && n->object)
		object_bounds(b, n->object);
}

static void types(struct buf *b, const struct node *n, unsigned which)
{
	static const uint8_t order[] = { TYPE_BOOL,  TYPE_INTEGER, TYPE_FRACTION, TYPE_STRING,
					 TYPE_ARRAY, TYPE_OBJECT,  TYPE_NULL };
	const char *between = "";

	if (which & TYPE_FRACTION) /* a number, whole or not */
		which &= ~(unsigned)TYPE_INTEGER;
	for (size_t i = 0; i < CLEAT_COUNT(order); i++) {
		if (!(which & order[i]))
			continue;
		buf_appendz(b, between);
		one_type(b, n, order[i]);
		between = " or ";
	}
}

void describe_types(struct buf *b, unsigned which)
{
	static const struct node nothing_else;

	types(b, &nothing_else, which);
}

/* ---- schemas ---------------------------------------------------------------------------------- */

static void one_of_all(struct buf *b, const cleat_schema *s, const struct node_list *list)
{
	buf_appendz(b, list->n > 1 ? "one of " : "");
	for (uint32_t i = 0; i < list->n && i < MOST_VALUES; i++) {
		buf_appendz(b, i ? ", " : "");
		values(b, values_of(follow(s, list->at[i])));
	}
	if (list->n > MOST_VALUES)
		buf_printf(b, ", ... (%u in all)", list->n);
}

static bool are_single_values(const cleat_schema *s, const struct node_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct value_rules *r = values_of(follow(s, list->at[i]));

		if (!r || r->n != 1)
			return false;
	}
	return true;
}

/* False when nothing can be said. Forms inside forms are not listed again. */
static bool itself(struct buf *b, const struct node *n, unsigned type)
{
	unsigned open = n->types == TYPE_ANY ? ruled(n) : n->types;

	if (n->types == TYPE_ANY && (open & type))
		open &= type;
	if (!n->types)
		buf_appendz(b, "nothing");
	else if (values_of(n))
		values(b, values_of(n));
	else if (open)
		types(b, n, open);
	else
		return false;
	return true;
}

void describe_forms(struct buf *b, const cleat_schema *s, const struct node_list *list)
{
	if (are_single_values(s, list)) {
		one_of_all(b, s, list);
		return;
	}
	for (uint32_t i = 0; i < list->n && i < MOST_FORMS; i++) {
		buf_appendz(b, i ? " or " : "");
		if (!itself(b, follow(s, list->at[i]), 0))
			buf_appendz(b, "something else");
	}
	if (list->n > MOST_FORMS)
		buf_appendz(b, " or ...");
}

static bool describe(struct buf *b, const cleat_schema *s, node_id id, unsigned type)
{
	const struct node *n = follow(s, id);

	if (itself(b, n, type))
		return true;
	if (!n->combine || !(n->combine->any.n || n->combine->one.n))
		return false;
	describe_forms(b, s, n->combine->any.n ? &n->combine->any : &n->combine->one);
	return true;
}

void describe_for_type(struct buf *b, const cleat_schema *s, node_id id, unsigned type)
{
	if (!describe(b, s, id, type))
		buf_appendz(b, "any value");
}

void describe_node(struct buf *b, const cleat_schema *s, node_id id)
{
	describe_for_type(b, s, id, 0);
}

unsigned describe_types_of(const cleat_schema *s, node_id id)
{
	return follow(s, id)->types;
}

bool describe_is_complete(const cleat_schema *s, node_id id)
{
	const struct node *n = follow(s, id);
	const struct array_rules *a = n->array;

	return n->types && !n->combine && !n->unevaluated_items && !n->unevaluated_properties &&
	       (!n->object || is_names(n->object)) &&
	       (!a || (!a->prefix.n && !a->rest && !a->contains && !a->unique));
}

/* ---- the schema's own words ------------------------------------------------------------------- */

struct str describe_title(const cleat_schema *s, node_id id)
{
	return json_str(json_member(s->nodes[id].json, "title"));
}

static struct str doc_of(const cleat_schema *s, node_id id)
{
	const cleat_json *json = s->nodes[id].json;
	struct str doc = json_str(json_member(json, "description"));

	if (!doc.n)
		doc = describe_title(s, id);
	if (!doc.n && follow(s, id)->json != json)
		doc = json_str(json_member(follow(s, id)->json, "description"));
	return doc;
}

/* "array of string" says more about what is missing than how many there may be. */
static bool array_of(struct buf *b, const cleat_schema *s, const struct node *n)
{
	if (n->types != TYPE_ARRAY || values_of(n) || !n->array || !n->array->rest ||
	    n->array->prefix.n)
		return false;
	buf_appendz(b, "array of ");
	describe_node(b, s, n->array->rest);
	return true;
}

void describe_wanted(struct buf *b, const cleat_schema *s, node_id id)
{
	const struct node *n = follow(s, id);
	const struct value_rules *choices = values_of(n);
	struct str doc = doc_of(s, id);
	size_t before = buf_size(b);

	if (choices && choices->n > 1 && doc.n) { /* string "Scale", one of "a", "b" */
		buf_appendz(b, choices->strings ? "string " : "");
		show_quoted(b, doc, SHOW_CHARS);
		buf_appendz(b, ", ");
		values(b, choices);
		return;
	}
	if (!array_of(b, s, n))
		describe(b, s, id, 0);
	if (doc.n) {
		buf_appendz(b, buf_size(b) > before ? " " : "");
		show_quoted(b, doc, SHOW_CHARS);
	}
}
