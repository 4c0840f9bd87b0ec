/* field/form.c - see form.h. The shapes are those of PrimitiveSchemaDefinition in the protocol's
 * schema.ts; nothing recurses, because a form does not.
 */
#include "field/form.h"

#include "base/error.h"
#include "schema/keyword.h"
#include "json/parse.h"

/* One property of the form, as the user sees it: something to fill in. */
struct input {
	struct str name;
	const cleat_json *schema;
	cleat_error *err;
};

static int bad(const struct input *p, const char *why)
{
	int n = (int)(p->name.n < 60 ? p->name.n : 60);

	return error_set(p->err, CLEAT_EINVAL, "property \"%.*s\": %s", n, p->name.p, why);
}

bool form_knows_format(struct str format)
{
	static const char *const known[] = { "email", "uri", "date", "date-time" };

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (str_eqz(format, known[i]))
			return true;
	return false;
}

static bool leads_elsewhere(const struct keyword *k, const cleat_json *value)
{
	if (k->id == KW_REF || k->id == KW_DYNAMIC_REF)
		return true;
	return k->holds != HOLDS_VALUE && cleat_json_type(value) != CLEAT_JSON_BOOL;
}

/* The first keyword that has a schema in it or refers to one, other than the one that has its place
 * here; absent when there is none. */
static struct str nesting(const cleat_json *schema, enum keyword_id but)
{
	cleat_json_iter it = cleat_json_each(schema);

	while (cleat_json_next(&it)) {
		const struct keyword *k =
			keyword_find(json_str(it.key), SPEAKS_2020_12 | SPEAKS_DRAFT_07);

		if (k && k->id != but && leads_elsewhere(k, it.value))
			return k->name;
	}
	return (struct str){ NULL, 0 };
}

static int check_flat(const struct input *p, const cleat_json *schema, enum keyword_id but)
{
	struct str keyword = nesting(schema, but);

	if (!keyword.p)
		return CLEAT_OK;
	return error_set(p->err, CLEAT_EINVAL,
			 "property \"%.*s\": a form is flat, so \"%s\" cannot be used here",
			 (int)(p->name.n < 60 ? p->name.n : 60), p->name.p, keyword.p);
}

static bool are_strings(const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		if (!json_is_string(it.value))
			return false;
	return json_is_array(list);
}

/* [{"const": "a", "title": "A"}, ...] */
static bool are_titled(const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		if (!json_is_string(json_member(it.value, "const")) ||
		    !json_is_string(json_member(it.value, "title")))
			return false;
	return json_is_array(list);
}

static int check_string(const struct input *p)
{
	const cleat_json *choices = json_member(p->schema, "enum");
	const cleat_json *titled = json_member(p->schema, "oneOf");
	const cleat_json *format = json_member(p->schema, "format");

	if (choices && !are_strings(choices))
		return bad(p, "\"enum\" must be a list of strings");
	if (titled && !are_titled(titled))
		return bad(p, "\"oneOf\" must be a list of {\"const\": ..., \"title\": ...}, "
			      "all strings");
	if (format && !(json_is_string(format) && form_knows_format(json_str(format))))
		return bad(p, "a form knows the formats email, uri, date and date-time");
	return check_flat(p, p->schema, KW_ONE_OF);
}

static int check_array(const struct input *p, enum field_schema_style style)
{
	const cleat_json *items = json_member(p->schema, "items");
	const cleat_json *titled = json_member(items, "anyOf");
	bool plain = str_eqz(json_str(json_member(items, "type")), "string") &&
		     are_strings(json_member(items, "enum"));

	if (style == FIELD_SCHEMA_FORM_2025_06_18)
		return bad(p, "revision 2025-06-18 has no arrays in forms");
	if (!plain && !are_titled(titled))
		return bad(p, "a form has no arrays except of choices: \"items\" needs \"type\": "
			      "\"string\" with \"enum\", or \"anyOf\" with titles");
	if (check_flat(p, items, plain ? KEYWORDS : KW_ANY_OF))
		return CLEAT_EINVAL;
	return check_flat(p, p->schema, KW_ITEMS);
}

static int check_property(const struct input *p, enum field_schema_style style)
{
	struct str type = json_str(json_member(p->schema, "type"));

	if (str_eqz(type, "string"))
		return check_string(p);
	if (str_eqz(type, "array"))
		return check_array(p, style);
	if (str_eqz(type, "number") || str_eqz(type, "integer") || str_eqz(type, "boolean"))
		return check_flat(p, p->schema, KEYWORDS);
	return bad(p, "a form has only strings, numbers, booleans and choices");
}

int form_check(const cleat_json *schema, enum field_schema_style style, cleat_error *err)
{
	const cleat_json *properties = json_member(schema, "properties");
	cleat_json_iter it = cleat_json_each(properties);
	struct str keyword = nesting(schema, KW_PROPERTIES);
	int rc = CLEAT_OK;

	if (!str_eqz(json_str(json_member(schema, "type")), "object"))
		return error_set(err, CLEAT_EINVAL, "a form must say \"type\": \"object\"");
	if (!json_is_object(properties))
		return error_set(err, CLEAT_EINVAL, "a form needs \"properties\"");
	if (keyword.p)
		return error_set(err, CLEAT_EINVAL,
				 "a form is flat, so \"%s\" cannot be used in it", keyword.p);
	while (!rc && cleat_json_next(&it)) {
		const struct input p = { json_str(it.key), it.value, err };

		rc = check_property(&p, style);
	}
	return rc;
}

cleat_schema *form_compile(const cleat_json *schema, enum field_schema_style style,
			   const cleat_schema_options *opts, cleat_error *err)
{
	return form_check(schema, style, err) ? NULL : cleat_schema_new(schema, opts, err);
}
