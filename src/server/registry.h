/* server/registry.h - what a server offers: tools, resources, templates and prompts.
 *
 * An entry is immutable and counted: the registry holds one reference, every request that uses it
 * one more, so that removing it disturbs no running call. Lists are in order of registration, which
 * never changes, and pages are cut by serial number, so a cursor stays good while entries come and
 * go. Not here: what happens when one is called.
 */
#ifndef SERVER_REGISTRY_H
#define SERVER_REGISTRY_H

#include "base/arena.h"
#include "protocol/describe.h"
#include "protocol/headers.h"
#include "uri/template.h"

#include <cleat/schema.h>
#include <cleat/server.h>

enum shelf_kind { SHELF_TOOLS, SHELF_RESOURCES, SHELF_TEMPLATES, SHELF_PROMPTS, SHELF_COUNT };

struct entry {
	enum shelf_kind kind;
	unsigned refs;
	uint64_t serial;
	struct entry *chain; /* in its hash bucket */
	struct str key;      /* name or URI */
	struct arena arena;  /* owns all of this */
	union {
		cleat_tool tool;
		cleat_resource resource;
		cleat_prompt prompt;
	};
	struct tool_schemas schemas;
	/* What arguments and results are checked against: a tool's own schema, compiled, or where that
	 * is NULL the fields (a checked copy), which are NULL where there is nothing to say. */
	cleat_schema *input_schema, *output_schema;
	const cleat_field *input, *output;
	bool decodes;                 /* input describes a struct (not a signature) */
	struct header_param *headers; /* arguments that HTTP repeats; NULL: none */
	const struct uri_template *pattern;
};

struct shelf {
	struct entry **list; /* in order of serial */
	size_t count, cap;
	struct entry **buckets;
	size_t n_buckets; /* 0 or a power of two */
	bool ever;        /* something was here once: the capability stays announced */
};

struct registry {
	cleat_allocator mem;
	struct shelf shelves[SHELF_COUNT];
	uint64_t serial;
	bool completes; /* something can be completed */
};

enum { REGISTRY_MAX = 100000 }; /* entries on one shelf */

void registry_init(struct registry *r, const cleat_allocator *mem);
void registry_done(struct registry *r);

/* Makes an entry from a public struct (checked, copied). On failure `destroy` was not called: that
 * is the caller's. A remark for the log (an unusual name) goes to *note, empty when none. */
int entry_from_tool(const cleat_allocator *mem, const cleat_tool *t, struct entry **ret,
		    cleat_error *note, cleat_error *err);
int entry_from_resource(const cleat_allocator *mem, const cleat_resource *r, struct entry **ret,
			cleat_error *note, cleat_error *err);
int entry_from_prompt(const cleat_allocator *mem, const cleat_prompt *p, struct entry **ret,
		      cleat_error *note, cleat_error *err);
/* Is there nothing in them that only a newer library knows? NULL is an empty list. */
int entry_icons_check(const cleat_icon *icons, cleat_error *err);
const cleat_icon *entry_copy_icons(struct arena *ar, const cleat_icon *icons);
void entry_ref(struct entry *e);
/* The last one destroys userdata and frees. Accepts NULL. */
void entry_unref(struct entry *e);
/* Frees without destroying userdata: for a failed registration. */
void entry_discard(struct entry *e);
void *entry_userdata(const struct entry *e);

/* Takes over the reference. CLEAT_OK, CLEAT_EEXIST, CLEAT_ENOMEM, CLEAT_ELIMIT; on failure the entry
 * is still the caller's. */
int registry_add(struct registry *r, struct entry *e, cleat_error *err);
/* Makes room, so that this many can be added without fail. CLEAT_OK, CLEAT_ENOMEM, CLEAT_ELIMIT. */
int registry_reserve(struct registry *r, enum shelf_kind kind, size_t more);
/* Takes the entry out and gives its reference to the caller; NULL when there is none. */
struct entry *registry_take(struct registry *r, enum shelf_kind kind, struct str key);
struct entry *registry_find(const struct registry *r, enum shelf_kind kind, struct str key);
/* The template that matches best; its variables go to *vars (memory from `ar`). */
struct entry *registry_match(const struct registry *r, struct str uri, struct arena *ar,
			     struct uri_vars *vars);
/* The first entry whose serial is above `after`; index into list, count when none. */
size_t registry_page_start(const struct shelf *s, uint64_t after);
/* The nearest known name, absent when nothing is near. */
struct str registry_nearest(const struct registry *r, enum shelf_kind kind, struct str key);

#endif
