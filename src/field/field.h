/* field/field.h - what the other layers do with field tables.
 *
 * A table is checked once, when it is registered (field_table_check); everything after that trusts
 * it. Tables come from C (CLEAT_FIELD) or from a signature (field/signature.h); the latter describe
 * no struct (.record is 0), so they can be checked against and turned into a schema but not decoded.
 * In such a table CLEAT_T_RECORD without .fields is "any object".
 */
#ifndef FIELD_FIELD_H
#define FIELD_FIELD_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/writer.h"

#include <cleat/field.h>

/* Which schema shapes the reader knows. Tools get FIELD_SCHEMA_TOOL; a form's requestedSchema
 * depends on the revision (2025-06-18 knows no string/number defaults and titles choices with
 * enumNames; from 2025-11-25 on oneOf/anyOf with const+title, and arrays of choices). */
enum field_schema_style {
	FIELD_SCHEMA_TOOL,
	FIELD_SCHEMA_ARGUMENTS, /* the same, and it says that other members are refused */
	FIELD_SCHEMA_FORM_2025_06_18,
	FIELD_SCHEMA_FORM
};

/* Deep check of a table: names, no duplicates, types, widths, nested tables (depth <= 8, no
 * cycles), fallbacks parse and fit, choices well-formed, at most 256 fields. CLEAT_EINVAL with the
 * reason. NULL is an empty table. */
int field_table_check(const cleat_field *fields, cleat_error *err);
/* Can it be a form (flat, primitive, or an array of choices)? CLEAT_EINVAL with the reason. */
int field_form_check(const cleat_field *fields, cleat_error *err);
/* Can that form be sent in this style? 2025-06-18 has no arrays of choices: CLEAT_EUNSUPPORTED with
 * the field's name. For a table that has passed field_form_check(). */
int field_form_fits(const cleat_field *fields, enum field_schema_style style, cleat_error *err);
/* A deep copy in the arena, NULL when out of memory. */
const cleat_field *field_table_copy(struct arena *ar, const cleat_field *fields);
/* Number of fields before the end mark; 0 for NULL. */
size_t field_count(const cleat_field *fields);
/* The choices of a field, one after the other: a walk begins with field_choices() and can be copied. */
struct field_choices {
	const char *rest;        /* "b|c" */
	const cleat_enum *names; /* or these */
};
bool field_has_choices(const cleat_field *f);
struct field_choices field_choices(const cleat_field *f);
/* False when there is none left. */
bool choice_next(struct field_choices *c, struct str *ret);

/* The field of that name, NULL when there is none. */
const cleat_field *field_find(const cleat_field *fields, struct str name);

/* Writes {"type":"object","properties":{...},"required":[...]}. NULL table: no properties. */
void field_write_schema(struct jw *w, const cleat_field *fields, enum field_schema_style style);

/* Does the object fit the table? Appends one line for each problem (at most ten) to *problems,
 * "days: expected integer between 1 and 14, got \"tomorrow\"", separated by '\n'. Unknown members
 * are a problem only when `closed` ("unknown argument \"cty\" (did you mean \"city\"?)").
 * CLEAT_OK, CLEAT_EINVAL when there are problems, CLEAT_ENOMEM. `obj` NULL counts as {}. */
int field_check(const cleat_field *fields, const cleat_json *obj, bool closed,
		struct buf *problems);
/* The same for one value of one field (never "missing"); unknown members are no problem. */
int field_check_value(const cleat_field *field, const cleat_json *value, struct buf *problems);
/* Fills a zeroed record of fields[0].record bytes from an object that fits; arrays go into the
 * arena, strings stay in the document. CLEAT_OK or CLEAT_ENOMEM. */
int field_decode(const cleat_field *fields, const cleat_json *obj, struct arena *ar, void *record);
/* Writes the record as an object. Optional absent members (NULL pointer, has_present false) are
 * left out. Real numbers that are not finite and required strings that are NULL are an error
 * (CLEAT_EINVAL with the member's name); then nothing is written. */
int field_encode(struct jw *w, const cleat_field *fields, const void *record, cleat_error *err);
/* The fallback of an absent field parsed into the arena; NULL when it has none. */
const cleat_json *field_fallback(const cleat_field *field, struct arena *ar);

#endif
