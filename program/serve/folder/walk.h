/* program/serve/folder/walk.h - the entries of a directory, or of all below it, in order.
 *
 * Entries of a directory come sorted by their bytes; a directory comes before what is in it. The order depends
 * on the names alone, so a walk can begin again behind any path, also one that is gone meanwhile: that is how
 * pages work. Links are entries and are never followed; a directory that cannot be read is counted.
 *
 * Memory is bounded whatever is there: of a directory only the next `batch` names are kept, and when they are
 * used up it is read again for the following ones. Descriptors: one for each level, at most WALK_DEPTH_MAX.
 */
#ifndef PROGRAM_SERVE_FOLDER_WALK_H
#define PROGRAM_SERVE_FOLDER_WALK_H

#include "serve/folder/beneath.h"
#include "serve/folder/names.h"

enum { WALK_DEPTH_MAX = 64, WALK_BATCH_MIN = 64, WALK_BATCH_DEEP = 2048 };

enum walk_kind { WALK_FILE, WALK_DIRECTORY, WALK_LINK, WALK_OTHER };

struct walk_entry {
	struct str path; /* relative to the folder; terminated */
	struct str name; /* its last component */
	enum walk_kind kind;
	int directory; /* open; holds it */
};

struct walk_options {
	const struct beneath *root;
	const cleat_allocator *mem;
	struct str from;  /* a clean path; a directory */
	struct str after; /* begin behind this, relative to `from`; absent: at the beginning */
	bool recursive;
	size_t batch; /* names kept of a directory; of deeper ones fewer, if more than WALK_BATCH_DEEP */
	struct names *names; /* remembers the first directory, if it is large; may be NULL */
	/* Is this entry wanted? Directories that are not are entered all the same. NULL: all. */
	bool (*wants)(void *ctx, struct str path, enum walk_kind kind);
	/* Is this directory to be entered? NULL: all. */
	bool (*enters)(void *ctx, struct str path);
	/* Asked now and then; true ends the walk. NULL: never. */
	bool (*stop)(void *ctx);
	void *ctx;
};

struct walk;

/* NULL: *err says why. */
struct walk *walk_new(const struct walk_options *o, cleat_error *err);
/* False: no more (walk_status() tells whether that is the end). The entry is good until the next call. */
bool walk_next(struct walk *w, struct walk_entry *ret);
int walk_status(const struct walk *w);    /* CLEAT_OK, CLEAT_ENOMEM, CLEAT_ECANCELLED */
size_t walk_unread(const struct walk *w); /* directories that could not be read, or too deep */
/* Accepts NULL. */
void walk_free(struct walk *w);

#endif
