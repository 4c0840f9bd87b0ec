/* request/entry.h - one thing that a server offers: a tool, a resource, a template, a prompt or
 * a method of its own.
 *
 * Made from a public struct, checked and copied; immutable from then on, and counted: the registry holds
 * one reference, every request that uses it one more, so that removing it disturbs no running call.
 */
#ifndef REQUEST_ENTRY_H
#define REQUEST_ENTRY_H

#include "base/arena.h"
#include "protocol/describe.h"
#include "protocol/headers.h"
#include "uri/template.h"

#include <cleat/schema.h>
#include <cleat/server.h>

enum shelf_kind {
	SHELF_TOOLS,
	SHELF_RESOURCES,
	SHELF_TEMPLATES,
	SHELF_PROMPTS,
	SHELF_METHODS,
	SHELF_COUNT
};

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
		cleat_method method;
	};
	void *userdata;                  /* of these */
	void (*destroy)(void *userdata); /* likewise */
	struct tool_schemas schemas;
	/* What arguments and results are checked against: a tool's own schema, compiled, or where that
	 * is NULL the fields (a checked copy), which are NULL where there is nothing to say. */
	cleat_schema *input_schema, *output_schema;
	const cleat_field *input, *output;
	bool open;                    /* a method that says nothing of its arguments */
	bool decodes;                 /* input describes a struct (not a signature) */
	struct header_param *headers; /* arguments that HTTP repeats; NULL: none */
	const struct uri_template *pattern;
};

/* Makes an entry from a public struct (checked, copied). On failure `destroy` was not called: that
 * is the caller's. A remark for the log (an unusual name) goes to *note, empty when none. */
int entry_from_tool(const cleat_allocator *mem, const cleat_tool *t, struct entry **ret,
		    cleat_error *note, cleat_error *err);
int entry_from_resource(const cleat_allocator *mem, const cleat_resource *r, struct entry **ret,
			cleat_error *note, cleat_error *err);
int entry_from_prompt(const cleat_allocator *mem, const cleat_prompt *p, struct entry **ret,
		      cleat_error *note, cleat_error *err);
int entry_from_method(const cleat_allocator *mem, const cleat_method *m, struct entry **ret,
		      cleat_error *note, cleat_error *err);
/* Is there nothing in them that only a newer library knows? NULL is an empty list. */
int entry_icons_check(const cleat_icon *icons, cleat_error *err);
const cleat_icon *entry_copy_icons(struct arena *ar, const cleat_icon *icons);
static inline void entry_ref(struct entry *e)
{
	e->refs++;
}
/* The last one destroys userdata and frees. Accepts NULL. */
void entry_unref(struct entry *e);
/* Frees without destroying userdata: for a failed registration. */
void entry_discard(struct entry *e);

#endif
