/* field/encode.c - from a C struct to a JSON object.
 *
 * What the struct says is written; only what cannot be said in JSON or would break the table's own
 * schema by being absent is refused: a number that is not finite, a required string that is NULL, a char[N]
 * without an end, an enum's value without a name. Ranges and choices of one's own data are not checked. Recursion follows the table, whose depth
 * field_table_check() has bounded.
 */
#include "base/error.h"
#include "field/impl.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

static int encode_record(struct jw *w, const cleat_field *fields, const char *record,
			 cleat_error *err);

static int64_t load_int(const char *from, size_t width)
{
	int8_t v8;
	int16_t v16;
	int32_t v32;
	int64_t v64;

	switch (width) {
	case 1: memcpy(&v8, from, 1); return v8;
	case 2: memcpy(&v16, from, 2); return v16;
	case 4: memcpy(&v32, from, 4); return v32;
	default: memcpy(&v64, from, 8); return v64;
	}
}

static uint64_t load_uint(const char *from, size_t width)
{
	uint8_t v8;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (width) {
	case 1: memcpy(&v8, from, 1); return v8;
	case 2: memcpy(&v16, from, 2); return v16;
	case 4: memcpy(&v32, from, 4); return v32;
	default: memcpy(&v64, from, 8); return v64;
	}
}

static double load_real(const char *from, size_t width)
{
	float f;
	double d;

	if (width == sizeof f) {
		memcpy(&f, from, sizeof f);
		return (double)f;
	}
	memcpy(&d, from, sizeof d);
	return d;
}

static const void *load_pointer(const char *from)
{
	const void *p;

	memcpy(&p, from, sizeof p);
	return p;
}

static int encode_real(struct jw *w, const cleat_field *f, const char *from, cleat_error *err)
{
	double d = load_real(from, f->width);

	if (!(d >= -DBL_MAX && d <= DBL_MAX))
		return error_set(err, CLEAT_EINVAL, "%s: not a finite number", f->name);
	jw_real(w, d);
	return CLEAT_OK;
}

static int encode_string(struct jw *w, const cleat_field *f, const char *from, cleat_error *err)
{
	const char *text = load_pointer(from);

	if (!text)
		return error_set(err, CLEAT_EINVAL, "%s: NULL, but neither optional nor any JSON",
				 f->name);
	jw_strz(w, text);
	return CLEAT_OK;
}

static int encode_chars(struct jw *w, const cleat_field *f, const char *from, cleat_error *err)
{
	const char *end = memchr(from, '\0', f->width);

	if (!end)
		return error_set(err, CLEAT_EINVAL, "%s: no NUL at the end of the text", f->name);
	jw_str(w, (struct str){ from, (size_t)(end - from) });
	return CLEAT_OK;
}

/* Whether an enum is signed is the compiler's choice. */
static int encode_enum(struct jw *w, const cleat_field *f, const char *from, cleat_error *err)
{
	int64_t i = load_int(from, f->width), u = (int64_t)load_uint(from, f->width);

	for (const cleat_enum *e = f->names; e->name; e++)
		if (e->value == i || e->value == u) {
			jw_strz(w, e->name);
			return CLEAT_OK;
		}
	return error_set(err, CLEAT_EINVAL, "%s: the value %" PRId64 " has no name", f->name, i);
}

static int encode_one(struct jw *w, const cleat_field *f, const char *from, cleat_error *err)
{
	bool yes;

	switch (f->type) {
	case CLEAT_T_BOOL:
		memcpy(&yes, from, sizeof yes);
		jw_bool(w, yes);
		break;
	case CLEAT_T_INT: jw_int(w, load_int(from, f->width)); break;
	case CLEAT_T_UINT: jw_uint(w, load_uint(from, f->width)); break;
	case CLEAT_T_REAL: return encode_real(w, f, from, err);
	case CLEAT_T_STRING: return encode_string(w, f, from, err);
	case CLEAT_T_CHARS: return encode_chars(w, f, from, err);
	case CLEAT_T_ENUM: return encode_enum(w, f, from, err);
	case CLEAT_T_JSON: jw_value(w, load_pointer(from)); break;
	case CLEAT_T_RECORD: return encode_record(w, f->fields, from, err);
	default: break;
	}
	return CLEAT_OK;
}

static int encode_array(struct jw *w, const cleat_field *f, const char *record, cleat_error *err)
{
	const char *elements = load_pointer(record + f->offset);
	size_t count;
	int rc = CLEAT_OK;

	memcpy(&count, record + f->count_offset, sizeof count);
	if (count && !elements)
		return error_set(err, CLEAT_EINVAL, "%s: NULL with a count of %zu", f->name, count);
	jw_arr(w);
	for (size_t i = 0; i < count && rc == CLEAT_OK && !buf_status(w->b); i++)
		rc = encode_one(w, f, elements + i * f->element, err);
	jw_arr_end(w);
	return rc;
}

/* Only what may be left out can be absent; a pointer says so itself, anything else by its flag. */
static bool absent(const cleat_field *f, const char *record)
{
	bool pointer = f->array || f->type == CLEAT_T_STRING || f->type == CLEAT_T_JSON;
	bool present;

	if (field_required(f))
		return false;
	if (pointer && !load_pointer(record + f->offset))
		return true;
	if (!f->has_present)
		return false;
	memcpy(&present, record + f->present_offset, sizeof present);
	return !present;
}

static int encode_record(struct jw *w, const cleat_field *fields, const char *record,
			 cleat_error *err)
{
	int rc = CLEAT_OK;

	jw_obj(w);
	for (const cleat_field *f = fields; f && f->type != CLEAT_T_END && rc == CLEAT_OK; f++) {
		if (absent(f, record))
			continue;
		jw_keyn(w, str_of(f->name));
		if (f->array)
			rc = encode_array(w, f, record, err);
		else
			rc = encode_one(w, f, record + f->offset, err);
	}
	jw_obj_end(w);
	return rc;
}

int field_encode(struct jw *w, const cleat_field *fields, const void *record, cleat_error *err)
{
	size_t start = buf_size(w->b);
	bool comma = w->comma;
	int rc;

	if (buf_status(w->b))
		return error_set(err, buf_status(w->b), "%s", cleat_strstatus(buf_status(w->b)));
	rc = encode_record(w, fields, record, err);
	if (rc) { /* half an object is worth nothing */
		buf_truncate(w->b, start);
		w->comma = comma;
		return rc;
	}
	if (buf_status(w->b))
		return error_set(err, buf_status(w->b), "%s", cleat_strstatus(buf_status(w->b)));
	return CLEAT_OK;
}
