/* schema/program.h - a compiled schema: what compiling makes and checking runs.
 *
 * Every subschema that can be reached is one node, an index into one array; references between
 * schemas are indexes, so recursion costs nothing and nothing has to be freed on its own. What a
 * node says about one type of value hangs behind a pointer that is NULL when it says nothing.
 * Strings, enum values and bounds stay where they are in the copied document. All of it lives in
 * one arena and never changes after compiling, so any number of threads may use it.
 */
#ifndef SCHEMA_PROGRAM_H
#define SCHEMA_PROGRAM_H

#include "base/arena.h"
#include "base/regex.h"
#include "format/format.h"

#include <cleat/schema.h>
#include <yyjson.h>

enum {
	TYPE_NULL = 1,
	TYPE_BOOL = 2,
	TYPE_INTEGER = 4,  /* numbers without a fraction */
	TYPE_FRACTION = 8, /* all others */
	TYPE_STRING = 16,
	TYPE_ARRAY = 32,
	TYPE_OBJECT = 64,
	TYPE_NUMBER = TYPE_INTEGER | TYPE_FRACTION,
	TYPE_ANY = 127
};

/* Schemas inside schemas while checking: this many for each level of max_depth. */
enum { NESTING_PER_LEVEL = 8, DEPTH_DEFAULT = 64, DEPTH_MOST = 256 };

typedef uint32_t node_id; /* 0: there is none */

struct node_list {
	const node_id *at;
	uint32_t n;
};

enum bound { BOUND_MIN, BOUND_MAX, BOUND_ABOVE, BOUND_BELOW, BOUNDS };

struct number_rules {
	const cleat_json *bound[BOUNDS]; /* NULL: not set */
	int64_t small[BOUNDS];           /* its value, where small_set has its bit */
	uint8_t small_set;
	bool all_small; /* every bound is small, and there is no multipleOf */
	const cleat_json *multiple_of;
	uint64_t digits; /* of all these numbers */
};

struct string_rules {
	uint64_t min, max; /* characters; UINT64_MAX: no maximum */
	const struct regex *pattern;
	struct str pattern_text;
	enum format format; /* asserted */
};

struct array_rules {
	uint64_t min, max; /* elements */
	bool unique;
	struct node_list prefix;
	node_id rest; /* of the elements after the prefix */
	node_id contains;
	uint64_t min_contains, max_contains;
};

struct property {
	const yyjson_val *key; /* in the schema's document */
	node_id node;          /* 0: only its name is known */
	bool required;
};

struct pattern_property {
	const struct regex *pattern;
	struct str text;
	node_id node;
};

struct dependency {
	uint32_t property; /* if this one is there ... */
	node_id node;      /* ... the object fits this, and */
	const uint32_t *needs;
	uint32_t n_needs; /* ... these are there */
};

struct object_rules {
	uint64_t min, max; /* members */
	struct property *properties;
	uint32_t n;
	uint32_t n_required;
	uint32_t mask;         /* of slots; 0: few properties, no slots */
	const uint32_t *slots; /* index + 1 by hash */
	uint64_t required;     /* bit i: property i is required, when n <= 64 */
	const struct pattern_property *patterns;
	uint32_t n_patterns;
	bool names_only; /* neither patterns nor propertyNames: a known member is done with its schema */
	node_id rest; /* additionalProperties */
	node_id names;
	const struct dependency *dependencies;
	uint32_t n_dependencies;
};

/* enum and const: the value is equal to one of these. */
struct value_rules {
	const cleat_json *const *values;
	const uint64_t *hashes; /* of each, when there are many; else NULL */
	uint32_t n;
	bool strings; /* all of them are strings */
	bool is_const;
};

/* All dynamic anchors of one name. */
struct dynamic_name {
	struct str name;
	uint32_t n;
	const struct dynamic_target {
		uint32_t resource;
		node_id node;
	} * targets;
	struct dynamic_name *next; /* while compiling */
};

struct dynamic_ref {
	node_id fallback;                /* where it leads by its text */
	const struct dynamic_name *name; /* NULL: only there */
};

/* Schemas that apply to the same value. */
struct combine_rules {
	node_id ref;
	const struct dynamic_ref *dynamic;
	struct node_list all, any, one;
	node_id not, when, then, otherwise;
};

struct node {
	uint8_t types; /* none: the schema false */
	bool plain;    /* it has rules for types only, nothing below up to unevaluated_properties */
	const struct number_rules *number;
	const struct string_rules *string;
	const struct array_rules *array;
	const struct object_rules *object;
	/* not plain: */
	const struct value_rules *value, *constant;
	const struct combine_rules *combine;
	node_id unevaluated_items, unevaluated_properties;
	uint32_t resource;
	/* for messages: the schema as it is written, and the way to it */
	const cleat_json *json;
	node_id parent;
	const char *keyword;   /* of the parent, under which it stands; NULL: a document's root */
	const yyjson_val *key; /* in that keyword's object, or NULL: */
	uint32_t depth;        /* below its document's root */
	uint32_t index;        /* in its array; NO_INDEX: the keyword holds it directly */
};

#define NO_INDEX UINT32_MAX

struct cleat_schema {
	cleat_allocator mem;
	struct arena ar;
	struct node *nodes; /* from 1 */
	uint32_t n_nodes;
	node_id root;
	struct str *uris; /* of the resources */
	uint32_t n_resources;
	struct regex **regexes; /* to be freed */
	uint32_t n_regexes;
	uint64_t seed;
	uint32_t max_depth;
	uint64_t max_steps;
};

#endif
