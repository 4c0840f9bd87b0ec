/* field/check.c - does a JSON object fit a field table, and if not, why.
 *
 * Each problem is one line for a person or a model, who should be able to repair the call from it
 * alone: where, what was expected, what was there. Values are shown cut (wording/show.h), and ten
 * lines are enough for anybody. Recursion follows the table, whose depth field_table_check() has
 * bounded; the depth of the input does not matter. The cost is linear in the size of the object.
 */
#include "base/cold.h"
#include "field/impl.h"
#include "wording/show.h"
#include "wording/wording.h"
#include "json/parse.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { MOST_LINES = 10, MOST_CHOICES = 20 };

/* Where we are, from the inside out. */
struct at {
	const struct at *up;
	const cleat_field *field; /* NULL: element `index` of what is above */
	size_t index;
};

struct check {
	struct buf *out;
	size_t problems;
	size_t whole; /* of out: up to the end of the last complete line */
	bool closed;
};

static void check_object(struct check *c, const cleat_field *fields, const cleat_json *obj,
			 const struct at *at);

/* ---- lines -------------------------------------------------------------------------------- */

static void write_path(struct buf *b, const struct at *at)
{
	const struct at *chain[2 * (FIELD_DEPTH + 1)];
	size_t n = 0;

	for (; at && n < CLEAT_COUNT(chain); at = at->up)
		chain[n++] = at;
	for (size_t i = n; i-- > 0;) {
		if (!chain[i]->field) {
			buf_printf(b, "[%zu]", chain[i]->index);
			continue;
		}
		if (i + 1 < n)
			buf_putc(b, '.');
		show_name(b, str_of(chain[i]->field->name));
	}
}

/* Starts a line; false when there are enough of them and this one is only counted. */
static COLD bool problem(struct check *c, const struct at *at)
{
	if (buf_status(c->out) == CLEAT_OK)
		c->whole = buf_size(c->out);
	if (c->problems++ >= MOST_LINES)
		return false;
	if (c->problems > 1)
		buf_putc(c->out, '\n');
	write_path(c->out, at);
	if (at)
		buf_appendz(c->out, ": ");
	return true;
}

static void write_number(struct buf *b, double bound)
{
	struct jw w;

	jw_init(&w, b);
	field_write_bound(&w, bound);
}

/* " between 1 and 14", " of at least 1", " of at most 14". */
static void write_number_bounds(struct buf *b, const cleat_field *f)
{
	if (!f->bounds)
		return;
	buf_appendz(b, f->bounds == 3   ? " between "
		       : f->bounds == 1 ? " of at least "
					: " of at most ");
	write_number(b, f->bounds & 1 ? f->min : f->max);
	if (f->bounds == 3) {
		buf_appendz(b, " and ");
		write_number(b, f->max);
	}
}

/* Bounds of sizes are whole numbers that a double holds (field_table_check). */
static void write_size_bounds(struct buf *b, const cleat_field *f, const char *unit)
{
	uint64_t most = f->type == CLEAT_T_CHARS && !f->array ? f->width - 1 : UINT64_MAX;

	wording_size(b, f->bounds & 1 ? (uint64_t)f->min : 0,
		     f->bounds & 2 ? (uint64_t)f->max : most, unit);
}

static void write_choices(struct buf *b, struct field_choices choices)
{
	size_t count = choice_count(choices), i = 0;
	struct str c;

	buf_appendz(b, "one of ");
	for (; i < MOST_CHOICES && choice_next(&choices, &c); i++) {
		buf_appendz(b, i ? ", " : "");
		show_quoted(b, c, SHOW_CHARS);
	}
	if (count > i)
		buf_printf(b, ", ... (%zu in all)", count);
}

/* What one value must be: "integer between 1 and 14". For an array, one of its elements. */
static void write_expected(struct buf *b, const cleat_field *f)
{
	const char *name = field_type_name(f);

	if (field_has_choices(f)) {
		write_choices(b, field_choices(f));
		return;
	}
	buf_appendz(b, name ? name : "any JSON");
	if (f->array)
		return;
	if (f->type == CLEAT_T_STRING || f->type == CLEAT_T_CHARS)
		write_size_bounds(b, f, "character");
	else
		write_number_bounds(b, f);
}

static void write_got(struct check *c, const cleat_field *f, const cleat_json *v,
		      const struct at *at)
{
	buf_appendz(c->out, ", got ");
	show_value(c->out, v);
	if (f->optional && at && at->field == f && cleat_json_type(v) == CLEAT_JSON_NULL)
		buf_appendz(c->out, " (optional: leave it out)");
}

static COLD void mismatch(struct check *c, const cleat_field *f, const cleat_json *v,
			  const struct at *at)
{
	if (!problem(c, at))
		return;
	buf_appendz(c->out, "expected ");
	write_expected(c->out, f);
	write_got(c, f, v, at);
}

static COLD void missing(struct check *c, const cleat_field *f, const struct at *at)
{
	if (!problem(c, at))
		return;
	buf_appendz(c->out, "required, but missing (");
	if (f->array)
		buf_appendz(c->out, "array of ");
	if (field_has_choices(f) && f->doc)
		buf_appendz(c->out, "string");
	else
		write_expected(c->out, f);
	if (f->doc) {
		buf_putc(c->out, ' ');
		show_quoted(c->out, str_of(f->doc), SHOW_CHARS);
	}
	if (field_has_choices(f) && f->doc) {
		buf_appendz(c->out, ", ");
		write_choices(c->out, field_choices(f));
	}
	buf_putc(c->out, ')');
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* The getters give a fallback for what does not fit; asking twice tells it from a value. */
static bool get_int(const cleat_json *v, int64_t *ret)
{
	*ret = cleat_json_int(v, 0);
	return *ret || cleat_json_int(v, 1) == 0;
}

static bool get_uint(const cleat_json *v, uint64_t *ret)
{
	*ret = cleat_json_uint(v, 0);
	return *ret || cleat_json_uint(v, 1) == 0;
}

static bool get_real(const cleat_json *v, double *ret)
{
	*ret = cleat_json_num(v, (double)NAN);
	return !isnan(*ret);
}

/* Without bounds a short number need not be converted to be known as finite. */
static bool plainly_finite(const cleat_field *f, const cleat_json *v)
{
	enum { SHORT = 100 };
	const char *p = cleat_json_number_text(v);

	if (!p || f->bounds || f->width == sizeof(float))
		return false;
	for (int i = 0; i < SHORT; i++)
		if (!p[i] || p[i] == 'e' || p[i] == 'E')
			return !p[i];
	return false;
}

static bool fits_member(const cleat_field *f, const cleat_json *v)
{
	uint64_t u;
	int64_t i;

	if (f->type == CLEAT_T_UINT)
		return get_uint(v, &u) && u <= field_uint_max(f);
	return get_int(v, &i) && i <= field_int_max(f) && i >= -field_int_max(f) - 1;
}

/* Exact: bounds of integers and sizes are whole numbers that a double holds (field_table_check). */
static bool size_fits(const cleat_field *f, uint64_t n)
{
	return !((f->bounds & 1) && n < (uint64_t)f->min) &&
	       !((f->bounds & 2) && n > (uint64_t)f->max);
}

static bool fits_bounds(const cleat_field *f, const cleat_json *v)
{
	uint64_t u;
	int64_t i;

	if (f->array)
		return true;
	if (f->type == CLEAT_T_UINT)
		return get_uint(v, &u) && size_fits(f, u);
	return get_int(v, &i) && !((f->bounds & 1) && i < (int64_t)f->min) &&
	       !((f->bounds & 2) && i > (int64_t)f->max);
}

/* A whole number that the C member cannot hold: here the member's own limits count as well. */
static COLD void out_of_range(struct check *c, const cleat_field *f, const cleat_json *v,
			      const struct at *at)
{
	bool is_signed = f->type == CLEAT_T_INT;
	bool low = !f->array && (f->bounds & 1), high = !f->array && (f->bounds & 2);

	if (!problem(c, at))
		return;
	buf_appendz(c->out, "expected integer between ");
	if (low)
		write_number(c->out, f->min);
	else
		buf_printf(c->out, "%" PRId64, is_signed ? -field_int_max(f) - 1 : 0);
	buf_appendz(c->out, " and ");
	if (high)
		write_number(c->out, f->max);
	else if (is_signed)
		buf_printf(c->out, "%" PRId64, field_int_max(f));
	else
		buf_printf(c->out, "%" PRIu64, field_uint_max(f));
	write_got(c, f, v, at);
}

static void check_integer(struct check *c, const cleat_field *f, const cleat_json *v,
			  const struct at *at)
{
	if (!cleat_json_is_integer(v))
		mismatch(c, f, v, at);
	else if (!fits_member(f, v))
		out_of_range(c, f, v, at);
	else if (!fits_bounds(f, v))
		mismatch(c, f, v, at);
}

static void check_real(struct check *c, const cleat_field *f, const cleat_json *v,
		       const struct at *at)
{
	double d;
	bool fits;

	if (plainly_finite(f, v))
		return;
	fits = cleat_json_type(v) == CLEAT_JSON_NUMBER && get_real(v, &d);

	if (fits && f->width == sizeof(float))
		fits = d >= -(double)FLT_MAX && d <= (double)FLT_MAX;
	if (fits && !f->array &&
	    (((f->bounds & 1) && d < f->min) || ((f->bounds & 2) && d > f->max)))
		fits = false;
	if (!fits)
		mismatch(c, f, v, at);
}

/* ---- values ------------------------------------------------------------------------------- */

static COLD void wrong_size(struct check *c, const cleat_field *f, size_t n, const char *unit,
			    const struct at *at)
{
	if (!problem(c, at))
		return;
	buf_printf(c->out, "expected %s", f->array ? "array" : "string");
	write_size_bounds(c->out, f, unit);
	buf_appendz(c->out, ", got ");
	wording_count(c->out, n, unit);
}

/* A text that would not fit its char[N]. */
static COLD void too_long(struct check *c, const cleat_field *f, size_t n, const struct at *at)
{
	if (!problem(c, at))
		return;
	buf_appendz(c->out, "expected string");
	wording_size(c->out, 0, f->width - 1, "byte");
	buf_appendz(c->out, " in UTF-8, got ");
	wording_count(c->out, n, "byte");
}

static void check_string(struct check *c, const cleat_field *f, const cleat_json *v,
			 const struct at *at)
{
	struct str s = json_str(v);

	if (!json_is_string(v) || (field_has_choices(f) && !choice_has(field_choices(f), s))) {
		mismatch(c, f, v, at);
	} else if (str_has_nul(s)) {
		if (problem(c, at))
			buf_appendz(c->out, "must not contain NUL");
	} else if (f->bounds && !f->array && !size_fits(f, utf8_length(s))) {
		wrong_size(c, f, utf8_length(s), "character", at);
	} else if (f->type == CLEAT_T_CHARS && s.n >= f->width) {
		too_long(c, f, s.n, at);
	}
}

static void check_one(struct check *c, const cleat_field *f, const cleat_json *v,
		      const struct at *at)
{
	switch (f->type) {
	case CLEAT_T_BOOL:
		if (cleat_json_type(v) != CLEAT_JSON_BOOL)
			mismatch(c, f, v, at);
		break;
	case CLEAT_T_INT:
	case CLEAT_T_UINT: check_integer(c, f, v, at); break;
	case CLEAT_T_REAL: check_real(c, f, v, at); break;
	case CLEAT_T_STRING:
	case CLEAT_T_CHARS:
	case CLEAT_T_ENUM: check_string(c, f, v, at); break;
	case CLEAT_T_RECORD:
		if (!json_is_object(v))
			mismatch(c, f, v, at);
		else if (f->fields)
			check_object(c, f->fields, v, at);
		break;
	default: break;
	}
}

static void check_array(struct check *c, const cleat_field *f, const cleat_json *v,
			const struct at *at)
{
	cleat_json_iter it = cleat_json_each(v);

	if (!json_is_array(v)) {
		if (problem(c, at)) {
			buf_appendz(c->out, "expected array");
			write_size_bounds(c->out, f, "element");
			write_got(c, f, v, at);
		}
		return;
	}
	if (!size_fits(f, cleat_json_size(v)))
		wrong_size(c, f, cleat_json_size(v), "element", at);
	while (cleat_json_next(&it)) {
		struct at element = { .up = at, .index = it.index };

		check_one(c, f, it.value, &element);
	}
}

static void check_field(struct check *c, const cleat_field *f, const cleat_json *v,
			const struct at *up)
{
	struct at at = { .up = up, .field = f };

	if (!v) {
		if (field_required(f))
			missing(c, f, &at);
	} else if (f->array) {
		check_array(c, f, v, &at);
	} else {
		check_one(c, f, v, &at);
	}
}

/* ---- objects ------------------------------------------------------------------------------ */

static COLD void field_check_unknown(struct check *c, const cleat_field *fields, struct str key,
				     const struct at *at)
{
	struct str_nearest near = { .wanted = key };

	if (!problem(c, at))
		return;
	for (; fields && fields->type != CLEAT_T_END; fields++)
		str_nearest_offer(&near, str_of(fields->name));
	wording_unknown(c->out, at ? "member" : "argument", &near);
}

static COLD void check_duplicate(struct check *c, const cleat_json *obj, const struct at *at)
{
	const cleat_json *key = cleat_json_duplicate(obj);

	if (!key || !problem(c, at))
		return;
	show_quoted(c->out, json_str(key), SHOW_CHARS);
	buf_appendz(c->out, " stands twice");
}

static void check_object(struct check *c, const cleat_field *fields, const cleat_json *obj,
			 const struct at *at)
{
	const cleat_json *values[FIELD_MAX];
	struct field_index ix;
	cleat_json_iter it = cleat_json_each(obj);

	bool plain; /* every member is a field, and none appears twice */

	field_index_init(&ix, fields);
	plain = field_index_collect(&ix, obj, values) == cleat_json_size(obj);
	if (!plain)
		check_duplicate(c, obj, at);
	for (size_t i = 0; i < ix.n; i++)
		check_field(c, &fields[i], values[i], at);
	while (c->closed && !plain && cleat_json_next(&it))
		if (field_index_find(&ix, json_str(it.key)) == ix.n)
			field_check_unknown(c, fields, json_str(it.key), at);
}

/* A buf that is full keeps its complete lines: that is still an answer. */
static int field_check_finish(struct check *c)
{
	if (c->problems > MOST_LINES)
		buf_printf(c->out, "\n... and %zu more", c->problems - MOST_LINES);
	if (buf_status(c->out) == CLEAT_ELIMIT)
		buf_truncate(c->out, c->whole);
	if (buf_status(c->out) != CLEAT_OK)
		return buf_status(c->out);
	return c->problems ? CLEAT_EINVAL : CLEAT_OK;
}

int field_check(const cleat_field *fields, const cleat_json *obj, bool closed, struct buf *problems)
{
	struct check c = { .out = problems, .closed = closed, .whole = buf_size(problems) };

	if (obj && !json_is_object(obj)) {
		if (problem(&c, NULL)) {
			buf_appendz(problems, "expected object, got ");
			show_value(problems, obj);
		}
	} else {
		check_object(&c, fields, obj, NULL);
	}
	return field_check_finish(&c);
}

int field_check_value(const cleat_field *field, const cleat_json *value, struct buf *problems)
{
	struct check c = { .out = problems, .whole = buf_size(problems) };

	if (value)
		check_field(&c, field, value, NULL);
	return field_check_finish(&c);
}
