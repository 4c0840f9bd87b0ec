/* program/serve/folder/beneath.h - a directory that was opened once, and what lies beneath it: the only way from a path that
 * somebody else wrote to a file.
 *
 * A path is relative, separated by '/', without "..", without NUL; "" and "." are the directory itself. It is
 * resolved by the kernel under the descriptor (openat2 with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS), never
 * compared as text: there is no prefix to fool, and a symbolic link that is swapped during the call cannot
 * lead out, because it is the kernel that refuses. Links that stay inside are followed, except by what writes:
 * the last component of a path that is written, moved or removed is never followed. Where the kernel has no
 * openat2, the path is walked one component at a time and no link is followed at all.
 *
 * Rules: components that begin with '.' are hidden unless `hidden`; what matches one of `exclude` is not there.
 * A link does not help: where it leads to has to be allowed as well.
 *
 * Only regular files are opened, no FIFO, device or socket. All descriptors are close-on-exec. Any thread.
 */
#ifndef PROGRAM_SERVE_FOLDER_BENEATH_H
#define PROGRAM_SERVE_FOLDER_BENEATH_H

#include "base/str.h"
#include "serve/folder/glob.h"

#include <cleat/base.h>

#include <sys/stat.h>

enum {
	BENEATH_PATH_MAX = 4096, /* bytes, with the end */
	BENEATH_NAME_MAX = 255
};

struct beneath {
	int fd;        /* -1: none */
	bool stepwise; /* the kernel has no openat2; tests set it */
	bool hidden;
	struct glob *const *exclude; /* borrowed */
	size_t n_exclude;
};

/* Opens the directory (a path of the operator's: links are followed). */
int beneath_init(struct beneath *b, const char *directory, cleat_error *err);
void beneath_done(struct beneath *b); /* also one that failed, and twice */

/* A path as it is used here: "." and doubled slashes gone, checked against the rules. */
struct beneath_path {
	char text[BENEATH_PATH_MAX];
	size_t n;
};
/* CLEAT_OK; CLEAT_EINVAL or CLEAT_ENOENT (hidden, excluded) with the reason. */
int beneath_clean(const struct beneath *b, struct str path, struct beneath_path *ret,
		  cleat_error *err);
/* Do the rules allow this clean path? */
bool beneath_allows(const struct beneath *b, struct str path);
/* The same for an entry whose directory is allowed. */
bool beneath_allows_entry(const struct beneath *b, struct str path, struct str name);

/* Each gives a descriptor, or -1 with the reason (status CLEAT_ENOENT when it is not there). A name
 * that beneath_show() escaped is understood. */
int beneath_open_file(const struct beneath *b, struct str path, struct stat *ret, cleat_error *err);
/* *ret_real: where it is without links, for the rules about what is in it; may be NULL. */
int beneath_open_directory(const struct beneath *b, struct str path, struct beneath_path *ret_real,
			   cleat_error *err);
/* Only to be looked at (O_PATH). */
int beneath_open_place(const struct beneath *b, struct str path, struct stat *ret,
		       cleat_error *err);
/* The directory that holds the path's last component, and that component, for the functions whose
 * names end in "at". `make`: missing directories are made. */
int beneath_open_parent(const struct beneath *b, struct str path, bool make,
			char ret_name[BENEATH_NAME_MAX + 1], cleat_error *err);
/* A regular file in an open directory, by a single name, no link. -1 with errno. */
int beneath_open_entry(int directory, const char *name, struct stat *ret);

/* Fills *err with what errno means for this path; gives -1. */
int beneath_fail(cleat_error *err, struct str path, int error);

/* A name for people and for JSON: as it is when it is UTF-8 (and, with `line`, has no control
 * characters), otherwise with \xHH for each such byte and each '\'. */
struct buf;
void beneath_show(struct buf *out, struct str name, bool line);

#endif
