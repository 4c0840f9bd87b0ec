/* program/serve/folder/glob.h - patterns for paths, as gitignore and ripgrep know them.
 *
 *	*        any characters but '/'          ?        one character but '/'
 *	** /     (without the blank) any number of directories; at the end: everything below
 *	[a-z]    one of these, [!a-z] none       {a,b}    either
 *	\x       x itself
 *
 * A pattern without '/' is about the last component of a path, wherever it is; with one, about the whole
 * path (a leading '/' only says that). Characters are code points. Case matters.
 *
 * Compiled once. A match takes at most (items of the pattern) x (length of the path) steps: there is no
 * pattern that hangs. Any number of threads may match with one glob.
 */
#ifndef PROGRAM_SERVE_FOLDER_GLOB_H
#define PROGRAM_SERVE_FOLDER_GLOB_H

#include "base/str.h"

#include <cleat/base.h>

enum {
	GLOB_TEXT_MAX = 1024, /* bytes of a pattern */
	GLOB_ITEMS_MAX = 256, /* of one alternative */
	GLOB_BRANCHES_MAX = 64
};

struct glob;

/* NULL: *err says what is wrong with it. */
struct glob *glob_new(const cleat_allocator *mem, struct str pattern, cleat_error *err);
/* Does it match this path (relative, clean)? */
bool glob_match(const struct glob *g, struct str path);
/* May something below this directory match? "" is the root. */
bool glob_may_enter(const struct glob *g, struct str directory);
/* Is the pattern about last components only? */
bool glob_is_name(const struct glob *g);
/* Accepts NULL. */
void glob_free(struct glob *g);

/* Does the text have a character with a meaning? */
bool glob_is_pattern(struct str text);

#endif
