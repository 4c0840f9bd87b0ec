/* schema/path.h - where something is: in the value that is checked, and in a schema. */
#ifndef SCHEMA_PATH_H
#define SCHEMA_PATH_H

#include "base/buf.h"
#include "schema/program.h"

/* A place in a value, from the inside out; lives on the stack of the check. */
struct at {
	const struct at *up;
	const yyjson_val *key;            /* NULL: an element */
	const struct object_rules *rules; /* by which it is a member; NULL: not known */
	uint32_t index;
	uint32_t depth; /* parts of the way to it */
};

/* items[3].days; nothing for the whole value. Bounded: long names are cut, and of a long way the last
 * parts are shown. */
void path_write_plain(struct buf *b, const struct at *at);
/* /items/3/days */
void path_write_pointer(struct buf *b, const struct at *at);
/* Way to a node from its resource's root: /properties/days. In a resource of its own the way starts
 * there. */
void path_write_node(struct buf *b, const struct node *nodes, node_id id);

#endif
