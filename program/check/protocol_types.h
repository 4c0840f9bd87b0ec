/* program/check/protocol_types.h - the messages of MCP, as field lists, and how they become schemas. */
#ifndef PROGRAM_CHECK_PROTOCOL_TYPES_H
#define PROGRAM_CHECK_PROTOCOL_TYPES_H

#include "text/text.h"

enum { PROTOCOL_REVISIONS = 5 };

/* Revisions have letters in the tables: 'a' is the oldest. */
extern const char *const protocol_revisions[PROTOCOL_REVISIONS];

struct protocol_type {
	const char *name, *revisions, *type;
};
extern const struct protocol_type protocol_types[]; /* ends with name NULL */

struct protocol_method {
	const char *name, *revisions;
	char from;          /* 'c', 's', or 'b' for both */
	const char *params; /* a type; "?" before it: they may be absent */
	const char *result; /* a type; NULL: a notification */
};
extern const struct protocol_method protocol_methods[]; /* ends with name NULL */

/* The type of this name in a revision; NULL: there is none. */
const struct protocol_type *protocol_type_find(const char *name, size_t n, char revision);
/* Adds the JSON Schema of a type. References are "<base>#/$defs/Name". */
void protocol_schema(struct text *to, const char *type, char revision, const char *base);
/* Adds {"$defs": ...} of all types of a revision. */
void protocol_schema_all(struct text *to, char revision, const char *base);

#endif
