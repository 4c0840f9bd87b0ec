/* field/form.h - which JSON Schemas a form may be asked with.
 *
 * 2025-11-25 client/elicitation, requested schema: a flat object of strings, numbers, booleans and
 * choices, because a client has to draw it. For forms that are field tables see field/field.h; that
 * a schema is a schema at all is found out by compiling it.
 */
#ifndef FIELD_FORM_H
#define FIELD_FORM_H

#include "field/field.h"

#include <cleat/schema.h>

/* Can this be the requestedSchema of a form in this style (one of FIELD_SCHEMA_FORM...)? CLEAT_OK, or
 * CLEAT_EINVAL with the property and the reason. Keywords that only describe or bound a value are
 * left alone. No allocation; any value may be given. */
int form_check(const cleat_json *schema, enum field_schema_style style, cleat_error *err);
/* Checks it and compiles it; as cleat_schema_new(). */
cleat_schema *form_compile(const cleat_json *schema, enum field_schema_style style,
			   const cleat_schema_options *opts, cleat_error *err);
/* email, uri, date or date-time. */
bool form_knows_format(struct str format);

#endif
