/* http/fields.h - header fields as they travel: a name and a value each, from where they come in (the
 * parser, libcurl, a configuration) to where they go out as lines.
 *
 * Slices; whoever makes a field says how long its text stays. Not here: what values mean (http/field.h).
 */
#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include "base/arena.h"

/* A header field. Names of a request that was read are in lower case; values have no white space around
 * them. */
struct http_field {
	struct str name, value;
};

/* Takes "Name: value" apart, without its line end. False when the name is not a token; the value is not looked
 * at. */
bool http_field_split(struct str line, struct http_field *ret);
/* RFC 9110 section 5.5: may this be sent as a value? No control characters but the tab. */
bool http_is_field_value(struct str s);
/* The value of the first field of this name, whatever its case; absent: there is none. */
struct str http_fields_find(const struct http_field *fields, size_t n, const char *name);

/* Fields that come together one after the other. Lack of memory latches in the arena. */
struct http_field_list {
	struct arena *ar;
	struct http_field *at;
	size_t n, room;
};

/* The text stays the caller's. */
void http_field_add(struct http_field_list *l, struct str name, struct str value);
/* The text is copied, each terminated. */
void http_field_keep(struct http_field_list *l, struct str name, struct str value);

#endif
