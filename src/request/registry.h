/* request/registry.h - what a server offers: tools, resources, templates and prompts.
 *
 * Lists are in order of registration, which never changes, and pages are cut by serial number, so a
 * cursor stays good while entries come and go. Not here: what an entry is (entry.h), and what happens
 * when one is called.
 */
#ifndef REQUEST_REGISTRY_H
#define REQUEST_REGISTRY_H

#include "request/entry.h"

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

/* Takes over the reference. An entry without a serial number gets the next one; one that has that of an entry
 * which was here stands in its place. CLEAT_OK, CLEAT_EEXIST, CLEAT_ENOMEM, CLEAT_ELIMIT; on failure the entry
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
