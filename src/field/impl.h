/* field/impl.h - what the files of this module share about field tables and nobody else
 * needs: limits, choices, and finding fields for the members of an object in linear time.
 */
#ifndef FIELD_IMPL_H
#define FIELD_IMPL_H

#include "field/field.h"

enum {
	FIELD_MAX = 256,    /* fields of one table */
	FIELD_DEPTH = 8,    /* tables inside tables; bounds every recursion over a table */
	FIELD_TOTAL = 4096, /* fields of a table with all tables inside it */
	FIELD_INDEX = 512
};

/* The largest magnitude up to which every integer is a double. */
#define FIELD_EXACT 9007199254740992.0

/* The next of "a|b|c". Start with *rest = the choices; false when there is none left. */
bool choice_next(const char **rest, struct str *ret);
bool choice_has(const char *choices, struct str s);
size_t choice_count(const char *choices);

bool field_required(const cleat_field *f);
/* Bytes of a number; 8 for fields of a signature, which have no member. */
size_t field_width(const cleat_field *f);
/* Is a bound a whole number that a double holds exactly? */
bool field_bound_is_exact(double bound);
/* Writes a bound as a whole number where it is one. */
void field_write_bound(struct jw *w, double bound);
/* The type's name in JSON Schema; NULL for any JSON. Of the elements, for an array. */
const char *field_type_name(const cleat_field *f);

/* Names of a table to fields. A table of a few fields is searched as it is; a larger one through
 * hashes, so that an object with a million members costs no more than that. */
struct field_index {
	const cleat_field *fields;
	size_t n;
	uint16_t slot[FIELD_INDEX]; /* position + 1; 0 is free; unused for small tables */
};

void field_index_init(struct field_index *ix, const cleat_field *fields);
/* The position, or ix->n when there is no such field. */
size_t field_index_find(const struct field_index *ix, struct str name);
/* values[i] becomes the member for field i (the first one of that name), or NULL. Gives the number
 * of fields that have one. */
size_t field_index_collect(const struct field_index *ix, const cleat_json *obj,
			   const cleat_json *values[FIELD_MAX]);

#endif
