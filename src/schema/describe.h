/* schema/describe.h - a schema in a few words: "integer between 1 and 14". */
#ifndef SCHEMA_DESCRIBE_H
#define SCHEMA_DESCRIBE_H

#include "base/buf.h"
#include "schema/program.h"

/* What a value has to be. Always something; the length is bounded. */
void describe_node(struct buf *b, const cleat_schema *s, node_id id);
/* The same for a value of one type (TYPE_...): a schema that leaves the type open is only asked about
 * this one. */
void describe_for_type(struct buf *b, const cleat_schema *s, node_id id, unsigned type);
/* What is missing: `integer between 1 and 14 "Days ahead"`, with the schema's own words. Nothing when
 * it may be anything. */
void describe_wanted(struct buf *b, const cleat_schema *s, node_id id);
/* One of several schemas: `"a" or integer`, `one of "a", "b"`. */
void describe_forms(struct buf *b, const cleat_schema *s, const struct node_list *list);
/* The types that any of them is about, as "object or array". */
void describe_types(struct buf *b, unsigned which);
/* The types that a value must have to fit, as far as one can tell without trying: TYPE_... */
unsigned describe_types_of(const cleat_schema *s, node_id id);
/* Does describe_node() say all that the schema says? Members and elements, and schemas on the same
 * value, are not put into words. */
bool describe_is_complete(const cleat_schema *s, node_id id);
/* The schema's own title; absent when it has none. */
struct str describe_title(const cleat_schema *s, node_id id);

#endif
