/* field/schema.c - a field table as JSON Schema.
 *
 * Tools get plain JSON Schema 2020-12; forms get the narrow shapes that a revision's
 * PrimitiveSchemaDefinition allows (2025-06-18, then 2025-11-25 and later). Bounds are those that were
 * declared, and otherwise those of the member: of integers up to 32 bits (beyond, not every reader of JSON
 * could compare them), and of a char[N], whose N - 1 bytes no text of more characters fits. Recursion
 * follows the table, whose depth field_table_check() has bounded.
 */
#include "field/impl.h"

#include <string.h>

static void object_members(struct jw *w, const cleat_field *fields, enum field_schema_style style);

static void write_choices(struct jw *w, const char *key, struct field_choices choices)
{
	struct str c;

	jw_key(w, key);
	jw_arr(w);
	while (choice_next(&choices, &c))
		jw_str(w, c);
	jw_arr_end(w);
}

/* 2025-11-25 TitledSingleSelectEnumSchema (oneOf), TitledMultiSelectEnumSchema (anyOf). */
static void write_titled_choices(struct jw *w, const char *key, const cleat_field *f)
{
	struct field_choices choices = field_choices(f), titles = { .rest = f->choice_titles };
	struct str c, title;

	jw_key(w, key);
	jw_arr(w);
	while (choice_next(&choices, &c) && choice_next(&titles, &title)) {
		jw_obj(w);
		jw_kv_strn(w, "const", c);
		jw_kv_strn(w, "title", title);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void write_bounds(struct jw *w, const cleat_field *f, const char *min, const char *max)
{
	if (f->bounds & 1) {
		jw_key(w, min);
		field_write_bound(w, f->min);
	}
	if (f->bounds & 2) {
		jw_key(w, max);
		field_write_bound(w, f->max);
	}
}

/* Of the value itself, where none were declared: the bounds of an array are those of its size. */
static void write_integer_bounds(struct jw *w, const cleat_field *f)
{
	bool low = !f->array && (f->bounds & 1), high = !f->array && (f->bounds & 2);
	bool small = field_width(f) <= 4;

	if (low || f->type == CLEAT_T_UINT || small)
		jw_key(w, "minimum");
	if (low)
		field_write_bound(w, f->min);
	else if (f->type == CLEAT_T_UINT)
		jw_int(w, 0);
	else if (small)
		jw_int(w, -field_int_max(f) - 1);
	if (high || small)
		jw_key(w, "maximum");
	if (high)
		field_write_bound(w, f->max);
	else if (small)
		jw_uint(w,
			f->type == CLEAT_T_UINT ? field_uint_max(f) : (uint64_t)field_int_max(f));
}

static void write_string(struct jw *w, const cleat_field *f, enum field_schema_style style)
{
	jw_kv_str(w, "format", f->format);
	if (!field_has_choices(f)) {
		if (!f->array)
			write_bounds(w, f, "minLength", "maxLength");
		if (f->type == CLEAT_T_CHARS && (f->array || !(f->bounds & 2)))
			jw_kv_int(w, "maxLength", (int64_t)f->width - 1);
		return;
	}
	if (f->choice_titles && style == FIELD_SCHEMA_FORM) {
		write_titled_choices(w, f->array ? "anyOf" : "oneOf", f);
		return;
	}
	write_choices(w, "enum", field_choices(f));
	if (f->choice_titles && style == FIELD_SCHEMA_FORM_2025_06_18)
		write_choices(w, "enumNames", (struct field_choices){ .rest = f->choice_titles });
}

/* What follows "type" for the value itself, or for the elements of an array. */
static void write_value(struct jw *w, const cleat_field *f, enum field_schema_style style)
{
	switch (f->type) {
	case CLEAT_T_INT:
	case CLEAT_T_UINT: write_integer_bounds(w, f); break;
	case CLEAT_T_REAL:
		if (!f->array)
			write_bounds(w, f, "minimum", "maximum");
		break;
	case CLEAT_T_STRING:
	case CLEAT_T_CHARS:
	case CLEAT_T_ENUM: write_string(w, f, style); break;
	case CLEAT_T_RECORD:
		if (f->fields)
			object_members(w, f->fields, style);
		break;
	default: break;
	}
}

static void write_items(struct jw *w, const cleat_field *f, enum field_schema_style style)
{
	bool titled = f->choice_titles && style == FIELD_SCHEMA_FORM;

	write_bounds(w, f, "minItems", "maxItems");
	jw_key(w, "items");
	jw_obj(w);
	if (!titled)
		jw_kv_str(w, "type", field_type_name(f));
	write_value(w, f, style);
	jw_obj_end(w);
}

/* The fallback as it was written. Line breaks, which valid JSON has only between tokens, become
 * spaces, because a message must stay on one line. */
static void write_default(struct jw *w, const char *json)
{
	size_t n;

	json += strspn(json, " \t\r\n");
	n = w->values ? strlen(json) : strcspn(json, "\r\n");
	jw_kv_raw(w, "default", (struct str){ json, n });
	while (json[n]) {
		json += n + 1;
		n = strcspn(json, "\r\n");
		buf_putc(w->b, ' ');
		buf_append(w->b, json, n);
	}
}

static bool has_default(const cleat_field *f, enum field_schema_style style)
{
	/* 2025-06-18 knows a default for BooleanSchema alone. */
	return f->fallback && (style != FIELD_SCHEMA_FORM_2025_06_18 || f->type == CLEAT_T_BOOL);
}

static void write_property(struct jw *w, const cleat_field *f, enum field_schema_style style)
{
	jw_obj(w);
	jw_kv_str(w, "type", f->array ? "array" : field_type_name(f));
	jw_kv_str(w, "title", f->title);
	jw_kv_str(w, "description", f->doc);
	if (f->array)
		write_items(w, f, style);
	else
		write_value(w, f, style);
	if (has_default(f, style))
		write_default(w, f->fallback);
	jw_obj_end(w);
}

static void write_required(struct jw *w, const cleat_field *fields)
{
	bool any = false;

	for (const cleat_field *f = fields; f && f->type != CLEAT_T_END; f++) {
		if (!field_required(f))
			continue;
		if (!any) {
			jw_key(w, "required");
			jw_arr(w);
			any = true;
		}
		jw_strz(w, f->name);
	}
	if (any)
		jw_arr_end(w);
}

static void object_members(struct jw *w, const cleat_field *fields, enum field_schema_style style)
{
	jw_key(w, "properties");
	jw_obj(w);
	for (const cleat_field *f = fields; f && f->type != CLEAT_T_END; f++) {
		jw_keyn(w, str_of(f->name));
		write_property(w, f, style);
	}
	jw_obj_end(w);
	write_required(w, fields);
	if (style == FIELD_SCHEMA_ARGUMENTS)
		jw_kv_bool(w, "additionalProperties", false);
}

void field_write_schema(struct jw *w, const cleat_field *fields, enum field_schema_style style)
{
	jw_obj(w);
	jw_kv_str(w, "type", "object");
	object_members(w, fields, style);
	jw_obj_end(w);
}
