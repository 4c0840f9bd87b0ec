/* field/field.c - the small questions about fields, and the public functions on tables.
 *
 * Not here: is a table right (table.c), its schema (schema.c), does a value fit
 * (check.c), to and from structs (decode.c, encode.c).
 */
#include "field/field.h"

#include "base/error.h"
#include "field/impl.h"
#include "json/doc.h"
#include "json/parse.h"

#include <string.h>

enum {
	SMALL_TABLE = 16,
	SCHEMA_MAX = 16 << 20,
	PROBLEMS_MAX = 64 << 10,
	DECODED_MAX = 64 << 20 /* an array of "{}" can be much larger as structs than as text */
};

bool field_has_choices(const cleat_field *f)
{
	return f->choices || f->names;
}

struct field_choices field_choices(const cleat_field *f)
{
	return (struct field_choices){ f->choices, f->names };
}

bool choice_next(struct field_choices *c, struct str *ret)
{
	size_t n;

	if (c->names && c->names->name) {
		*ret = str_of(c->names++->name);
		return true;
	}
	if (!c->rest)
		return false;
	n = strcspn(c->rest, "|");
	*ret = (struct str){ c->rest, n };
	c->rest = c->rest[n] ? c->rest + n + 1 : NULL;
	return true;
}

bool choice_has(struct field_choices c, struct str s)
{
	struct str one;

	while (choice_next(&c, &one))
		if (str_eq(one, s))
			return true;
	return false;
}

size_t choice_count(struct field_choices c)
{
	struct str one;
	size_t n = 0;

	while (choice_next(&c, &one))
		n++;
	return n;
}

const cleat_enum *enum_find(const cleat_enum *names, struct str name)
{
	for (; names && names->name; names++)
		if (str_eqz(name, names->name))
			return names;
	return NULL;
}

bool field_required(const cleat_field *f)
{
	return !f->optional && !f->fallback;
}

size_t field_width(const cleat_field *f)
{
	return f->width ? f->width : 8;
}

int64_t field_int_max(const cleat_field *f)
{
	return INT64_MAX >> (64 - 8 * field_width(f));
}

uint64_t field_uint_max(const cleat_field *f)
{
	return UINT64_MAX >> (64 - 8 * field_width(f));
}

bool field_bound_is_exact(double bound)
{
	return bound >= -FIELD_EXACT && bound <= FIELD_EXACT && (double)(int64_t)bound == bound;
}

void field_write_bound(struct jw *w, double bound)
{
	if (field_bound_is_exact(bound))
		jw_int(w, (int64_t)bound);
	else
		jw_real(w, bound);
}

const char *field_type_name(const cleat_field *f)
{
	switch (f->type) {
	case CLEAT_T_BOOL: return "boolean";
	case CLEAT_T_INT:
	case CLEAT_T_UINT: return "integer";
	case CLEAT_T_REAL: return "number";
	case CLEAT_T_STRING:
	case CLEAT_T_CHARS:
	case CLEAT_T_ENUM: return "string";
	case CLEAT_T_RECORD: return "object";
	default: return NULL;
	}
}

size_t field_count(const cleat_field *fields)
{
	size_t n = 0;

	while (fields && fields[n].type != CLEAT_T_END)
		n++;
	return n;
}

static bool named(const cleat_field *f, struct str name)
{
	return f->name[0] == (name.n ? name.p[0] : '\0') && str_eqz(name, f->name);
}

const cleat_field *field_find(const cleat_field *fields, struct str name)
{
	if (!name.p)
		return NULL;
	for (; fields && fields->type != CLEAT_T_END; fields++)
		if (named(fields, name))
			return fields;
	return NULL;
}

void field_index_init(struct field_index *ix, const cleat_field *fields)
{
	ix->fields = fields;
	ix->n = field_count(fields);
	if (ix->n <= SMALL_TABLE)
		return;
	memset(ix->slot, 0, sizeof ix->slot);
	for (size_t i = 0; i < ix->n; i++) {
		size_t at = str_hash(str_of(fields[i].name), 0) % FIELD_INDEX;

		while (ix->slot[at])
			at = (at + 1) % FIELD_INDEX;
		ix->slot[at] = (uint16_t)(i + 1);
	}
}

size_t field_index_find(const struct field_index *ix, struct str name)
{
	if (ix->n <= SMALL_TABLE) {
		const cleat_field *f = field_find(ix->fields, name);

		return f ? (size_t)(f - ix->fields) : ix->n;
	}
	for (size_t at = str_hash(name, 0) % FIELD_INDEX; ix->slot[at]; at = (at + 1) % FIELD_INDEX)
		if (named(&ix->fields[ix->slot[at] - 1], name))
			return (size_t)ix->slot[at] - 1;
	return ix->n;
}

size_t field_index_collect(const struct field_index *ix, const cleat_json *obj,
			   const cleat_json *values[FIELD_MAX])
{
	cleat_json_iter it = cleat_json_each(obj);
	size_t found = 0, i = 0;

	for (size_t j = 0; j < ix->n; j++)
		values[j] = NULL;
	while (cleat_json_next(&it)) {
		struct str key = json_str(it.key);

		/* Members mostly stand in the order of the fields. */
		if (i >= ix->n || !named(&ix->fields[i], key))
			i = field_index_find(ix, key);
		if (i < ix->n && !values[i]) {
			values[i++] = it.value;
			found++;
		}
	}
	return found;
}

const cleat_json *field_fallback(const cleat_field *field, struct arena *ar)
{
	const cleat_json *v = NULL;

	if (!field->fallback)
		return NULL;
	return json_parse(ar, str_of(field->fallback), NULL, &v, NULL) == CLEAT_OK ? v : NULL;
}

/* ---- public ------------------------------------------------------------------------------- */

char *cleat_fields_schema(const cleat_field *fields, cleat_error *err)
{
	struct buf b;
	struct jw w;

	if (field_table_check(fields, err))
		return NULL;
	buf_init(&b, NULL, SCHEMA_MAX);
	jw_init(&w, &b);
	field_write_schema(&w, fields, FIELD_SCHEMA_TOOL);
	buf_putc(&b, '\0');
	if (!buf_status(&b))
		return b.data;
	error_set(err, buf_status(&b), "%s", cleat_strstatus(buf_status(&b)));
	buf_done(&b);
	return NULL;
}

static int set_first_line(cleat_error *err, const struct buf *problems)
{
	struct str text = buf_str(problems);
	const char *end = memchr(text.p, '\n', text.n);

	if (end)
		text.n = (size_t)(end - text.p);
	if (err && text.n >= sizeof err->message)
		text.n = sizeof err->message - 1;
	text.n = utf8_valid_prefix(text);
	return error_set(err, CLEAT_EINVAL, "%.*s", STR_ARGS(text));
}

static int decode_bounded(const cleat_field *fields, cleat_doc *doc, void *record)
{
	struct arena *ar = doc_arena(doc);
	size_t max = ar->max;
	int rc;

	memset(record, 0, fields->record);
	if (max > DECODED_MAX && ar->total < max - DECODED_MAX)
		ar->max = ar->total + DECODED_MAX;
	rc = field_decode(fields, cleat_doc_root(doc), ar, record);
	ar->max = max;
	return rc;
}

int cleat_fields_decode(const cleat_field *fields, cleat_doc *doc, void *record, cleat_error *err)
{
	struct buf problems;
	int rc;

	if (!doc || !record)
		return error_set(err, CLEAT_EINVAL, "no %s given", doc ? "record" : "document");
	rc = field_table_check(fields, err);
	if (rc)
		return rc;
	if (!field_count(fields) || !fields->record)
		return error_set(err, CLEAT_EINVAL, "the table does not describe a struct");
	buf_init(&problems, NULL, PROBLEMS_MAX);
	rc = field_check(fields, cleat_doc_root(doc), false, &problems);
	if (rc == CLEAT_EINVAL)
		rc = set_first_line(err, &problems);
	buf_done(&problems);
	if (!rc)
		rc = decode_bounded(fields, doc, record);
	if (rc == CLEAT_ENOMEM)
		error_set(err, rc, "%s", cleat_strstatus(rc));
	return rc;
}

cleat_doc *cleat_fields_encode(const cleat_field *fields, const void *record, cleat_error *err)
{
	cleat_build *b;
	struct jw w;

	if (!record) {
		error_set(err, CLEAT_EINVAL, "no record given");
		return NULL;
	}
	if (field_table_check(fields, err))
		return NULL;
	if (field_count(fields) && !fields->record) {
		error_set(err, CLEAT_EINVAL, "the table does not describe a struct");
		return NULL;
	}
	b = cleat_build_new(NULL);
	if (doc_writer(b, &w) && field_encode(&w, fields, record, err)) {
		cleat_build_free(b);
		return NULL;
	}
	return cleat_build_finish(b, err);
}
