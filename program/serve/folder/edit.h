/* program/serve/folder/edit.h - exact replacement in a text, and a short unified diff of what it did. No files here. */
#ifndef PROGRAM_SERVE_FOLDER_EDIT_H
#define PROGRAM_SERVE_FOLDER_EDIT_H

#include "base/buf.h"

enum {
	EDIT_DIFF_MAX = 4096, /* bytes of the diff, about; more is left out and said */
	EDIT_LINE_MAX = 200,  /* of one of its lines */
	EDIT_CONTEXT = 2
};

struct edit {
	struct str text; /* any bytes */
	struct str old, fresh;
	bool all; /* every occurrence, from left to right; otherwise there must be one */
};

/* Writes the new text and the diff. CLEAT_OK and how many were replaced; CLEAT_EINVAL (nothing to do), CLEAT_ENOENT
 * (does not occur), CLEAT_EEXIST (occurs several times), CLEAT_ELIMIT, CLEAT_ENOMEM, with the reason. `out` and
 * `diff` must be empty; on failure they hold nothing of use. */
int edit_apply(const struct edit *e, struct buf *out, struct buf *diff, size_t *ret_count,
	       cleat_error *err);

#endif
