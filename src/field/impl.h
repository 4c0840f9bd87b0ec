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

bool choice_has(struct field_choices c, struct str s);
size_t choice_count(struct field_choices c);
/* The one of that name; NULL when there is none. */
const cleat_enum *enum_find(const cleat_enum *names, struct str name);

bool field_required(const cleat_field *f);
/* Bytes of a number; 8 for fields of a signature, which have no member. */
size_t field_width(const cleat_field *f);
/* The largest number that an integer member holds. */
int64_t field_int_max(const cleat_field *f);
uint64_t field_uint_max(const cleat_field *f);
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
