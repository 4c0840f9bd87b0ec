/* field/table.c - is a table right, can it be a form, and copies of tables.
 *
 * Everything that works with tables trusts what is checked here: names, types, that members lie
 * inside their struct, and above all the depth (FIELD_DEPTH) and the number of fields (FIELD_TOTAL,
 * shared tables counted every time), which bound each recursion over a table, this one included.
 * A table without a struct (.record 0, from a signature) has no offsets to check.
 */
#include "base/error.h"
#include "base/sized.h"
#include "field/form.h"
#include "field/impl.h"
#include "json/parse.h"

#include <float.h>
#include <string.h>

struct table_check {
	cleat_error *err;
	size_t total;
};

static int bad(const struct table_check *t, const cleat_field *f, const char *what)
{
	return error_set(t->err, CLEAT_EINVAL, "field \"%.60s\": %s", f->name, what);
}

static bool utf8_ok(const char *z)
{
	return utf8_valid_prefix(str_of(z)) == strlen(z);
}

/* ---- one field ---------------------------------------------------------------------------- */

static bool width_ok(const cleat_field *f)
{
	switch (f->type) {
	case CLEAT_T_BOOL: return f->width == sizeof(bool);
	case CLEAT_T_INT:
	case CLEAT_T_UINT:
	case CLEAT_T_ENUM: return f->width == 1 || f->width == 2 || f->width == 4 || f->width == 8;
	case CLEAT_T_REAL: return f->width == sizeof(float) || f->width == sizeof(double);
	case CLEAT_T_STRING: return f->width == sizeof(char *);
	case CLEAT_T_JSON: return f->width == sizeof(cleat_json *);
	case CLEAT_T_CHARS: return f->width > 0;
	default: return true;
	}
}

static bool inside(uint32_t offset, size_t size, uint32_t record)
{
	return size <= record && offset <= record - size;
}

/* Does the member lie inside its struct, and does the struct inside have the size its table says? */
static int check_layout(const struct table_check *t, const cleat_field *f)
{
	size_t size = f->array ? sizeof(void *) : f->width;
	uint32_t nested = f->type == CLEAT_T_RECORD ? f->fields[0].record : 0;

	if (!width_ok(f))
		return bad(t, f, "the member's size does not go with its type");
	if (f->array && f->element == 0)
		return bad(t, f, "the size of an element is missing");
	if (f->array && f->type != CLEAT_T_RECORD && f->element != f->width)
		return bad(t, f, "the element's size does not go with its type");
	if (nested && nested != (f->array ? f->element : f->width))
		return bad(t, f, "the inner table describes a struct of another size");
	if (!inside(f->offset, size, f->record) ||
	    (f->array && !inside(f->count_offset, sizeof(size_t), f->record)) ||
	    (f->has_present && !inside(f->present_offset, sizeof(bool), f->record)))
		return bad(t, f, "lies outside its struct");
	return CLEAT_OK;
}

static bool is_text(const cleat_field *f)
{
	return f->type == CLEAT_T_STRING || f->type == CLEAT_T_CHARS;
}

static bool bounds_possible(const cleat_field *f)
{
	return f->array || f->type == CLEAT_T_INT || f->type == CLEAT_T_UINT ||
	       f->type == CLEAT_T_REAL || (is_text(f) && !f->choices);
}

static bool finite(double d)
{
	return d >= -DBL_MAX && d <= DBL_MAX;
}

/* 2 to the power of n, exact. */
static double power2(size_t n)
{
	return n < 64 ? (double)(UINT64_C(1) << n) : 18446744073709551616.0;
}

/* The values that a bound of this field may have; whole numbers unless it is a real. */
static void bound_limits(const cleat_field *f, double *lo, double *hi)
{
	size_t bits = 8 * field_width(f);

	*lo = 0;
	*hi = FIELD_EXACT;
	if (f->type == CLEAT_T_CHARS && !f->array)
		*hi = f->width - 1;
	if (f->array || is_text(f))
		return;
	if (f->type == CLEAT_T_REAL) {
		*hi = f->width == sizeof(float) ? (double)FLT_MAX : DBL_MAX;
		*lo = -*hi;
		return;
	}
	if (f->type == CLEAT_T_INT)
		*lo = bits < 64 ? -power2(bits - 1) : -FIELD_EXACT;
	if (bits < 64)
		*hi = power2(bits - (f->type == CLEAT_T_INT)) - 1;
}

static int check_bounds(const struct table_check *t, const cleat_field *f)
{
	bool whole = f->array || f->type != CLEAT_T_REAL;
	double lo, hi;

	if (!f->bounds)
		return CLEAT_OK;
	if (f->bounds > 3)
		return bad(t, f, ".bounds must be 0 to 3");
	if (!bounds_possible(f))
		return bad(t, f, "this type has no range");
	bound_limits(f, &lo, &hi);
	for (int i = 0; i < 2; i++) {
		double d = i ? f->max : f->min;

		if (!(f->bounds & (1 << i)))
			continue;
		if (!finite(d) || d < lo || d > hi)
			return bad(t, f, "a bound is outside what the member can hold");
		if (whole && !field_bound_is_exact(d))
			return bad(t, f, "a bound must be a whole number");
	}
	if (f->bounds == 3 && f->min > f->max)
		return bad(t, f, "the range is empty");
	return CLEAT_OK;
}

/* A value that the member cannot hold, whether the compiler made it signed or not. */
static bool too_wide(const cleat_field *f, int64_t value)
{
	int64_t half = field_int_max(f);

	return f->width < 8 && (value < -half - 1 || value > 2 * half + 1);
}

static int check_names(const struct table_check *t, const cleat_field *f)
{
	if (f->type != CLEAT_T_ENUM)
		return f->names ? bad(t, f, "only an enum has names") : CLEAT_OK;
	if (!f->names)
		return bad(t, f, "an enum needs its names: use CLEAT_ENUM");
	for (const cleat_enum *e = f->names; e->name; e++)
		if (too_wide(f, e->value))
			return bad(t, f, "a value is outside what the member can hold");
	return f->names->name ? CLEAT_OK : bad(t, f, "an enum without a value");
}

static int check_choice(const struct table_check *t, const cleat_field *f, struct str c,
			struct field_choices rest)
{
	if (c.n == 0)
		return bad(t, f, "a choice is empty");
	if (utf8_valid_prefix(c) != c.n)
		return bad(t, f, "the choices are not UTF-8");
	if (choice_has(rest, c))
		return bad(t, f, "a choice stands twice");
	if (f->type == CLEAT_T_CHARS && c.n >= f->width)
		return bad(t, f, "a choice is longer than the member");
	return CLEAT_OK;
}

static int check_choices(const struct table_check *t, const cleat_field *f)
{
	struct field_choices rest = field_choices(f), titles = { .rest = f->choice_titles };
	int rc = check_names(t, f);
	struct str c;

	if (rc)
		return rc;
	if (!field_has_choices(f))
		return f->choice_titles ? bad(t, f, "choice titles without choices") : CLEAT_OK;
	if (f->choices && !is_text(f))
		return bad(t, f, "only strings have choices");
	if (f->format)
		return bad(t, f, "choices have no format");
	while (!rc && choice_next(&rest, &c))
		rc = check_choice(t, f, c, rest);
	if (!rc && f->choice_titles && choice_count(titles) != choice_count(field_choices(f)))
		return bad(t, f, "there must be as many choice titles as choices");
	return rc;
}

static int first_problem(const struct table_check *t, const cleat_field *f, const struct buf *b)
{
	struct str s = buf_str(b);
	const char *end = memchr(s.p, '\n', s.n);

	if (end)
		s.n = (size_t)(end - s.p);
	s.n = s.n < 160 ? s.n : 160;
	s.n = utf8_valid_prefix(s);
	return error_set(t->err, CLEAT_EINVAL, "fallback of %.40s does not fit: %.*s", f->name,
			 STR_ARGS(s));
}

static int check_fallback(const struct table_check *t, const cleat_field *f)
{
	cleat_error err = { 0 };
	const cleat_json *v;
	struct arena ar;
	struct buf b;
	int rc;

	if (!f->fallback)
		return CLEAT_OK;
	arena_init(&ar, NULL, 0);
	buf_init(&b, NULL, 64 << 10);
	rc = json_parse(&ar, str_of(f->fallback), NULL, &v, &err);
	if (rc == CLEAT_EPROTO || rc == CLEAT_ELIMIT)
		rc = error_set(t->err, CLEAT_EINVAL, "fallback of %.40s: %.180s", f->name,
			       err.message);
	else if (rc == CLEAT_OK)
		rc = field_check_value(f, v, &b);
	if (rc == CLEAT_EINVAL && buf_size(&b))
		rc = first_problem(t, f, &b);
	buf_done(&b);
	arena_done(&ar);
	if (rc == CLEAT_ENOMEM)
		error_set(t->err, rc, "%s", cleat_strstatus(rc));
	return rc;
}

/* ---- tables ------------------------------------------------------------------------------- */

static int check_table(struct table_check *t, const cleat_field *fields, size_t depth);

static int check_name(const struct table_check *t, const cleat_field *fields, size_t i)
{
	const cleat_field *f = &fields[i];

	if (!f->name || !f->name[0])
		return error_set(t->err, CLEAT_EINVAL, "field %zu has no name", i + 1);
	if (!utf8_ok(f->name))
		return error_set(t->err, CLEAT_EINVAL, "the name of field %zu is not UTF-8", i + 1);
	for (size_t k = 0; k < i; k++)
		if (strcmp(fields[k].name, f->name) == 0)
			return bad(t, f, "appears twice in the table");
	return CLEAT_OK;
}

static int check_nested(struct table_check *t, const cleat_field *f, size_t depth)
{
	if (f->type != CLEAT_T_RECORD)
		return f->fields ? bad(t, f, "only records have fields") : CLEAT_OK;
	if (!f->fields)
		return f->record ? bad(t, f,
				       "the member's type is not supported; a struct needs "
				       "CLEAT_RECORD and its own table")
				 : CLEAT_OK;
	if (depth == FIELD_DEPTH)
		return bad(t, f, "tables are nested too deep (at most 8)");
	if (!f->record && f->fields[0].record)
		return bad(t, f, "a struct inside a table without one");
	return check_table(t, f->fields, depth + 1);
}

static int check_field(struct table_check *t, const cleat_field *fields, size_t i, size_t depth)
{
	const cleat_field *f = &fields[i];
	int rc = check_name(t, fields, i);

	if (rc)
		return rc;
	if (f->type > CLEAT_T_ENUM)
		return bad(t, f, "unknown type");
	if (!f->record && (f->type == CLEAT_T_CHARS || f->type == CLEAT_T_ENUM))
		return bad(t, f, "this type needs a struct");
	rc = SIZED_RESERVED(f, cleat_field, t->err);
	if (rc)
		return rc;
	if (f->record != fields[0].record)
		return bad(t, f, "belongs to another struct than the first field");
	if (f->format && !is_text(f))
		return bad(t, f, "only strings have a format");
	rc = check_nested(t, f, depth);
	if (!rc && f->record)
		rc = check_layout(t, f);
	if (!rc)
		rc = check_choices(t, f);
	if (!rc)
		rc = check_bounds(t, f);
	if (!rc)
		rc = check_fallback(t, f);
	return rc;
}

static int check_table(struct table_check *t, const cleat_field *fields, size_t depth)
{
	int rc = CLEAT_OK;

	for (size_t i = 0; rc == CLEAT_OK && fields[i].type != CLEAT_T_END; i++) {
		if (i == FIELD_MAX)
			return error_set(t->err, CLEAT_EINVAL,
					 "more than 256 fields (is CLEAT_FIELD_END missing?)");
		if (++t->total > FIELD_TOTAL)
			return error_set(t->err, CLEAT_EINVAL, "more than 4096 fields in all");
		rc = check_field(t, fields, i, depth);
	}
	return rc;
}

int field_table_check(const cleat_field *fields, cleat_error *err)
{
	struct table_check t = { .err = err };

	return fields ? check_table(&t, fields, 1) : CLEAT_OK;
}

/* ---- forms -------------------------------------------------------------------------------- */

int field_form_check(const cleat_field *fields, cleat_error *err)
{
	struct table_check t = { .err = err };
	int rc = field_table_check(fields, err);

	for (const cleat_field *f = fields; rc == CLEAT_OK && f && f->type != CLEAT_T_END; f++) {
		if (f->type == CLEAT_T_RECORD || f->type == CLEAT_T_JSON)
			rc = bad(&t, f, "a form has only strings, numbers, booleans and choices");
		else if (f->array && !field_has_choices(f))
			rc = bad(&t, f, "a form has no arrays except of choices");
		else if (f->format && !form_knows_format(str_of(f->format)))
			rc = bad(&t, f, "a form knows the formats email, uri, date and date-time");
	}
	return rc;
}

int field_form_fits(const cleat_field *fields, enum field_schema_style style, cleat_error *err)
{
	if (style != FIELD_SCHEMA_FORM_2025_06_18)
		return CLEAT_OK;
	for (const cleat_field *f = fields; f && f->type != CLEAT_T_END; f++)
		if (f->array)
			return error_set(
				err, CLEAT_EUNSUPPORTED,
				"field \"%.60s\": revision 2025-06-18 has no arrays in forms",
				f->name);
	return CLEAT_OK;
}

/* ---- copies ------------------------------------------------------------------------------- */

static const cleat_enum *copy_names(struct arena *ar, const cleat_enum *names)
{
	cleat_enum *copy;
	size_t n = 0;

	if (!names)
		return NULL;
	while (names[n].name)
		n++;
	copy = arena_zalloc(ar, (n + 1) * sizeof *copy);
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = (cleat_enum){ arena_strdup(ar, names[i].name), names[i].value };
	return copy;
}

static cleat_field *copy_table(struct arena *ar, const cleat_field *fields)
{
	size_t n = field_count(fields);
	cleat_field *copy = arena_zalloc(ar, (n + 1) * sizeof *copy);

	for (size_t i = 0; copy && i < n; i++) {
		cleat_field *c = &copy[i];

		*c = fields[i];
		c->name = arena_strdup(ar, c->name);
		c->doc = arena_strdup(ar, c->doc);
		c->title = arena_strdup(ar, c->title);
		c->choices = arena_strdup(ar, c->choices);
		c->choice_titles = arena_strdup(ar, c->choice_titles);
		c->format = arena_strdup(ar, c->format);
		c->fallback = arena_strdup(ar, c->fallback);
		c->names = copy_names(ar, c->names);
		if (c->fields)
			c->fields = copy_table(ar, c->fields);
	}
	return copy;
}

const cleat_field *field_table_copy(struct arena *ar, const cleat_field *fields)
{
	const cleat_field *copy = copy_table(ar, fields);

	return arena_failed(ar) ? NULL : copy;
}
