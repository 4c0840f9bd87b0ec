/* program/serve/folder/names.h - the names in one large directory, remembered.
 *
 * A page of a directory needs a look at all its names, and the kernel takes 30 ms for 100,000 of them. So the last
 * large directory that was read is kept, as it came, for as long as it does not change (its times tell; one that has
 * just changed is not kept, because a change within the same tick would not be seen). Small ones are read each time.
 *
 * Any thread.
 */
#ifndef PROGRAM_SERVE_FOLDER_NAMES_H
#define PROGRAM_SERVE_FOLDER_NAMES_H

#include "base/buf.h"

#include <sys/stat.h>

enum {
	NAMES_MIN = 2000,      /* a directory with fewer is not remembered, */
	NAMES_BYTES = 8 << 20, /* nor one with more bytes of names */
	NAMES_QUIET_MS = 1000, /* nor one that has changed so recently (`quiet_ms`) */
	NAMES_KEPT_MS = 10000  /* not for longer: there are file systems that tell no times */
};

struct names;

/* NULL: no memory. */
struct names *names_new(const cleat_allocator *mem, int64_t quiet_ms);
/* Accepts NULL. */
void names_free(struct names *n);

/* Calls fn for each name of the directory, with its d_type, until it gives another status than CLEAT_OK, which goes
 * to *ret. False: they are not known. `n` may be NULL. */
bool names_each(struct names *n, int dir,
		int (*fn)(void *ctx, const char *name, unsigned char type), void *ctx, int *ret);

/* A reading that may be remembered: begin before the first entry, add each, end with whether all were read. */
struct names_reading {
	struct buf text;
	struct stat st;
	size_t count;
	bool on;
};
void names_begin(struct names *n, struct names_reading *r, int dir);
void names_add(struct names_reading *r, const char *name, unsigned char type);
void names_end(struct names *n, struct names_reading *r, int dir, bool all);

#endif
