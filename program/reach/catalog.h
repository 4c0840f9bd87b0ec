/* program/reach/catalog.h - what a server has, one line each. */
#ifndef PROGRAM_REACH_CATALOG_H
#define PROGRAM_REACH_CATALOG_H

#include "cli/run.h"
#include "text/text.h"

struct catalog_kind {
	enum cleat_list list;
	const char *option; /* of `cleat ls` */
	const char *title;
	const char *member; /* of the result */
	const char *key;    /* what an entry is called by */
	const char *one;    /* "tool" */
};

extern const struct catalog_kind catalog_kinds[4];
const struct catalog_kind *catalog_kind(enum cleat_list list);

/* "add(a: number, b?: number)", "prompt(x)", a URI; kept until the end of the run. */
const char *catalog_head(const struct catalog_kind *kind, const cleat_json *entry);
const char *catalog_name(const struct catalog_kind *kind, const cleat_json *entry);
/* "read-only, idempotent"; "" when it says nothing. Kept. */
const char *catalog_hints(const cleat_json *entry);
/* Prints a list in columns. */
void catalog_print(struct cli *cli, FILE *to, const struct catalog_kind *kind,
		   const cleat_json *items);
/* The entry of this name. */
const cleat_json *catalog_find(const struct catalog_kind *kind, const cleat_json *items,
			       const char *name);
/* Adds the names of a list. */
void catalog_names(const struct catalog_kind *kind, const cleat_json *items, struct words *to);

/* The params of completion/complete, for a prompt or (`uri`) a template; `known` is an object of the arguments that are
 * there already. NULL when out of memory. */
cleat_doc *catalog_completion(bool uri, const char *ref, const char *argument, const char *typed,
			      const cleat_json *known);

#endif
