/* field/decode.c - from a JSON object that fits its table into a C struct.
 *
 * The object has passed field_check() and the table field_table_check(), so nothing is judged here
 * again; memory is the only thing that can go wrong. Members are stored with memcpy, which makes
 * packed structs fine. Recursion follows the table, whose depth is bounded. An absent optional
 * record without a fallback stays zero: the fallbacks inside it are not applied.
 */
#include "field/impl.h"
#include "json/parse.h"

#include <string.h>

static int decode_record(const cleat_field *fields, const cleat_json *obj, struct arena *ar,
			 char *record);

static void store_int(char *to, size_t width, int64_t v)
{
	int8_t v8 = (int8_t)v;
	int16_t v16 = (int16_t)v;
	int32_t v32 = (int32_t)v;

	switch (width) {
	case 1: memcpy(to, &v8, 1); break;
	case 2: memcpy(to, &v16, 2); break;
	case 4: memcpy(to, &v32, 4); break;
	default: memcpy(to, &v, 8); break;
	}
}

static void store_uint(char *to, size_t width, uint64_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (width) {
	case 1: memcpy(to, &v8, 1); break;
	case 2: memcpy(to, &v16, 2); break;
	case 4: memcpy(to, &v32, 4); break;
	default: memcpy(to, &v, 8); break;
	}
}

static void store_real(char *to, size_t width, double v)
{
	float f = (float)v;

	if (width == sizeof f)
		memcpy(to, &f, sizeof f);
	else
		memcpy(to, &v, sizeof v);
}

/* A text that was checked fits. */
static void store_chars(char *to, size_t width, struct str s)
{
	size_t n = s.n < width ? s.n : width - 1;

	memcpy(to, s.p, n);
	to[n] = '\0';
}

static int decode_one(const cleat_field *f, const cleat_json *v, struct arena *ar, char *to)
{
	const cleat_enum *named;
	const char *text;
	bool yes;

	switch (f->type) {
	case CLEAT_T_BOOL:
		yes = cleat_json_bool(v, false);
		memcpy(to, &yes, sizeof yes);
		break;
	case CLEAT_T_INT: store_int(to, f->width, cleat_json_int(v, 0)); break;
	case CLEAT_T_UINT: store_uint(to, f->width, cleat_json_uint(v, 0)); break;
	case CLEAT_T_REAL: store_real(to, f->width, cleat_json_num(v, 0)); break;
	case CLEAT_T_STRING:
		text = cleat_json_str(v, NULL);
		memcpy(to, &text, sizeof text);
		break;
	case CLEAT_T_CHARS: store_chars(to, f->width, json_str(v)); break;
	case CLEAT_T_ENUM:
		named = enum_find(f->names, json_str(v));
		store_int(to, f->width, named ? named->value : 0);
		break;
	case CLEAT_T_JSON: memcpy(to, &v, sizeof v); break;
	case CLEAT_T_RECORD: return decode_record(f->fields, v, ar, to);
	default: break;
	}
	return CLEAT_OK;
}

/* An empty array still gets a pointer, so that it can be told from an absent one. */
static int decode_array(const cleat_field *f, const cleat_json *v, struct arena *ar, char *record)
{
	size_t count = cleat_json_size(v);
	cleat_json_iter it = cleat_json_each(v);
	char *elements;

	if (count > SIZE_MAX / f->element)
		return CLEAT_ENOMEM;
	elements = arena_zalloc(ar, count * f->element);
	if (!elements)
		return CLEAT_ENOMEM;
	while (cleat_json_next(&it)) {
		int rc = decode_one(f, it.value, ar, elements + it.index * f->element);

		if (rc)
			return rc;
	}
	memcpy(record + f->offset, &elements, sizeof elements);
	memcpy(record + f->count_offset, &count, sizeof count);
	return CLEAT_OK;
}

static int decode_field(const cleat_field *f, const cleat_json *v, struct arena *ar, char *record)
{
	bool present = v != NULL;

	if (f->has_present)
		memcpy(record + f->present_offset, &present, sizeof present);
	if (!v && !f->fallback)
		return CLEAT_OK;
	if (!v)
		v = field_fallback(f, ar);
	if (!v) /* a checked fallback parses unless memory is short */
		return CLEAT_ENOMEM;
	if (f->array)
		return decode_array(f, v, ar, record);
	return decode_one(f, v, ar, record + f->offset);
}

static int decode_record(const cleat_field *fields, const cleat_json *obj, struct arena *ar,
			 char *record)
{
	const cleat_json *values[FIELD_MAX];
	struct field_index ix;
	int rc = CLEAT_OK;

	field_index_init(&ix, fields);
	field_index_collect(&ix, obj, values);
	for (size_t i = 0; i < ix.n && rc == CLEAT_OK; i++)
		rc = decode_field(&fields[i], values[i], ar, record);
	return rc;
}

int field_decode(const cleat_field *fields, const cleat_json *obj, struct arena *ar, void *record)
{
	return decode_record(fields, obj, ar, record);
}
