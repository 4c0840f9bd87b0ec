/* schema/compiler.h - what the files that compile a schema share: locate.c (documents, resources,
 * anchors, references), rules.c (keywords) and compile.c (the whole).
 *
 * A document is first searched for its subschemas, which become nodes (with parent, resource and
 * anchors); only then references can be followed. Nodes of the schema itself are all compiled, those
 * of known documents when something reaches them. The first error latches in the compiler.
 */
#ifndef SCHEMA_COMPILER_H
#define SCHEMA_COMPILER_H

#include "base/buf.h"
#include "base/cold.h"
#include "schema/keyword.h"
#include "schema/program.h"

enum { COMPILE_URI_MAX = 64 * 1024 };

struct resource {
	struct str uri; /* absolute as far as can be, without fragment; may be empty */
	node_id root;
	unsigned speaks;
};

struct anchor {
	struct str name;
	uint32_t resource;
	node_id node;
	bool dynamic;
};

/* Indexes into an array of the compiler, found by hash; the array knows what is equal. */
struct index {
	uint32_t *slots; /* position + 1 */
	size_t size;     /* a power of two, or 0 */
};

struct compiler {
	cleat_schema *s;
	cleat_schema_options opts;
	cleat_error *err;
	int status;
	struct node *nodes; /* [0] is not used */
	size_t n_nodes, cap_nodes, searched;
	bool *reached; /* beside nodes */
	node_id *queue;
	size_t n_queue, cap_queue, done;
	struct resource *resources;
	size_t n_resources, cap_resources;
	struct anchor *anchors;
	size_t n_anchors, cap_anchors;
	struct index by_json, by_uri, by_anchor;
	struct regex **regexes;
	size_t n_regexes, cap_regexes, regex_bytes;
	struct dynamic_name *dynamic; /* those that some $dynamicRef looks for */
	struct buf uri;               /* scratch */
	uint32_t depth_max;
};

/* ---- errors: latch, and give the status ------------------------------------------------------ */

COLD int compile_fail(struct compiler *c, int status, const char *fmt, ...) CLEAT_PRINTF(3, 4);
COLD int compile_no_memory(struct compiler *c);
/* For what c->uri has no room for: memory, or its own limit. */
COLD int compile_no_room(struct compiler *c, const char *keyword);
/* "/properties/days/minimum: " and the message. `keyword` may be NULL. */
COLD int compile_bad(struct compiler *c, node_id id, const char *keyword, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
/* The same with another status than CLEAT_EINVAL. */
COLD int compile_fail_at(struct compiler *c, int status, node_id id, const char *keyword,
			 const char *fmt, ...) CLEAT_PRINTF(5, 6);
/* "/properties/days/pattern: "TEXT" WHY", the text cut and harmless. */
COLD int compile_bad_text(struct compiler *c, node_id id, const char *keyword, struct str text,
			  const char *why);
/* "/properties/days/minimum: expected WHAT, got VALUE". */
COLD int compile_expected(struct compiler *c, node_id id, const char *keyword, const char *what,
			  const cleat_json *got);

/* ---- locate.c ---- */

/* Searches a document for subschemas; its root becomes *ret. `speaks` counts where it does not name
 * its dialect. */
int locate_document(struct compiler *c, const cleat_json *root, struct str uri, unsigned speaks,
		    node_id *ret);
/* The node of a subschema that was found by the search; 0 when there is none. */
node_id locate_node(const struct compiler *c, const cleat_json *json);
/* Follows a reference of node `from`, loading known documents as needed. For a $dynamicRef *ret_name
 * becomes the name if it leads to a dynamic anchor (absent otherwise); NULL for a plain one. */
int locate_reference(struct compiler *c, node_id from, const struct keyword *kw, struct str ref,
		     node_id *ret, struct str *ret_name);

/* ---- rules.c ---- */

/* Compiles one node's keywords. */
int rules_compile(struct compiler *c, node_id id);

/* ---- compile.c ---- */

/* Sees to it that the node gets compiled; gives the id back. */
node_id compile_reach(struct compiler *c, node_id id);
void *compile_alloc(struct compiler *c, size_t n); /* zeroed, latches */

#endif
