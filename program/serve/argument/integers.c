/* program/serve/argument/integers.c - integers as their digits (integers.h).
 *
 * The schema is walked along with the value. It has checked the value already; here it only has to say where
 * integers are, so every branch of a choice counts, and a keyword that is not known hides an integer at
 * worst: its number is given on as it was written.
 */
#include "serve/argument/integers.h"

#include "json/parse.h"

#include <string.h>

enum { SCHEMAS_MAX = 16 };

/* The schemas that hold for one value. */
struct place {
	const cleat_json *list[SCHEMAS_MAX];
	size_t n;
};

/* One walk, for the argument `name`. */
struct walk {
	const struct integers *how;
	struct build *to;
	struct str name;
};

static const cleat_json *definition(const cleat_json *root, struct str ref)
{
	static const struct {
		const char *prefix, *member;
	} table[] = { { "#/$defs/", "$defs" }, { "#/definitions/", "definitions" } };

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		size_t n = strlen(table[i].prefix);

		if (ref.n > n && memcmp(ref.p, table[i].prefix, n) == 0)
			return json_get(json_member(root, table[i].member),
					(struct str){ ref.p + n, ref.n - n });
	}
	return NULL;
}

static void add_schema(struct place *p, const cleat_json *root, const cleat_json *schema)
{
	static const char *const lists[] = { "allOf", "anyOf", "oneOf" };

	if (!json_is_object(schema) || p->n == SCHEMAS_MAX)
		return;
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i] == schema) /* a definition that leads back to itself */
			return;
	p->list[p->n++] = schema;
	add_schema(p, root, definition(root, json_str(json_member(schema, "$ref"))));
	add_schema(p, root, json_member(schema, "then"));
	add_schema(p, root, json_member(schema, "else"));
	for (size_t i = 0; i < CLEAT_COUNT(lists); i++) {
		cleat_json_iter it = cleat_json_each(json_member(schema, lists[i]));

		while (cleat_json_next(&it))
			add_schema(p, root, it.value);
	}
}

static struct place member_place(const struct walk *w, const struct place *of, struct str key)
{
	struct place p = { .n = 0 };

	for (size_t i = 0; i < of->n; i++) {
		const cleat_json *own = json_get(json_member(of->list[i], "properties"), key);

		add_schema(&p, w->how->schema,
			   own ? own : json_member(of->list[i], "additionalProperties"));
	}
	return p;
}

static struct place element_place(const struct walk *w, const struct place *of, size_t at)
{
	struct place p = { .n = 0 };

	for (size_t i = 0; i < of->n; i++) {
		const cleat_json *items = json_member(of->list[i], "items");
		const cleat_json *own = cleat_json_at(json_member(of->list[i], "prefixItems"), at);

		add_schema(&p, w->how->schema,
			   own                    ? own
			   : json_is_array(items) ? cleat_json_at(items, at)
						  : items);
	}
	return p;
}

static bool says_integer(const struct place *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const cleat_json *type = json_member(p->list[i], "type");
		cleat_json_iter it = cleat_json_each(type);

		if (str_eqz(json_str(type), "integer"))
			return true;
		while (json_is_array(type) && cleat_json_next(&it))
			if (str_eqz(json_str(it.value), "integer"))
				return true;
	}
	return false;
}

/* "12" or "-12", not "-0". */
static bool is_digits(struct str s)
{
	size_t i = s.n && s.p[0] == '-';

	if (i && s.n == 2 && s.p[1] == '0')
		return false;
	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i == s.n;
}

static void put_integer(struct walk *w, const cleat_json *v)
{
	const char *written = cleat_json_number_text(v);

	if (cleat_json_int(v, 0) == cleat_json_int(v, 1))
		build_int(w->to, cleat_json_int(v, 0));
	else if (w->how->int64)
		build_fail(w->to, CLEAT_EINVAL,
			   "%.*s: expected an integer between -9223372036854775808 and "
			   "9223372036854775807, got %.40s",
			   STR_ARGS(w->name), written);
	else if (is_digits(str_of(written)))
		build_value(w->to, v);
	else if (cleat_json_uint(v, 0) == cleat_json_uint(v, 1))
		build_uint(w->to, cleat_json_uint(v, 0));
	else
		build_fail(
			w->to, CLEAT_EINVAL,
			"%.*s: expected an integer in digits, or one of at most 64 bits, got %.40s",
			STR_ARGS(w->name), written);
}

static void put_value(struct walk *w, const struct place *p, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	bool array = json_is_array(v);

	if (p->n && cleat_json_is_integer(v) && says_integer(p)) {
		put_integer(w, v);
		return;
	}
	if (!p->n || (!array && !json_is_object(v))) {
		build_value(w->to, v);
		return;
	}
	if (array)
		build_arr(w->to);
	else
		build_obj(w->to);
	while (cleat_json_next(&it)) {
		struct place inner = array ? element_place(w, p, it.index)
					   : member_place(w, p, json_str(it.key));

		if (!array)
			build_key(w->to, json_str(it.key));
		put_value(w, &inner, it.value);
	}
	build_end(w->to);
}

void integers_put(const struct integers *n, struct build *to, struct str key,
		  const cleat_json *value)
{
	struct walk w = { n, to, key };
	struct place all = { .n = 0 }, own;

	add_schema(&all, n->schema, n->schema);
	own = member_place(&w, &all, key);
	build_key(to, key);
	put_value(&w, &own, value);
}
