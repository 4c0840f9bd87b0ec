/* program/text/jsonedit.h - changes one member of an object in JSON with comments, and leaves the rest as it is.
 *
 * Other programs' configuration files are written by people: their comments, order and indentation stay.
 * The text must have been parsed before (comments and trailing commas allowed), and what the path goes
 * through must be objects.
 */
#ifndef PROGRAM_TEXT_JSONEDIT_H
#define PROGRAM_TEXT_JSONEDIT_H

#include "text/text.h"

#include <stdio.h>

#include <cleat/json.h>

/* The text with the member at `path` set to `value`, replaced or added at the end of its object; objects on
 * the way that are not there are made. An empty text counts as {}. */
void jsonedit_set(struct text *ret, const char *text, size_t n, const char *const *path,
		  size_t depth, const cleat_json *value);
/* The text without that member. False: it is not there. */
bool jsonedit_remove(struct text *ret, const char *text, size_t n, const char *const *path,
		     size_t depth);

/* How two texts that differ in one place differ, as `diff -u` shows it, with three lines around it. */
void jsonedit_diff(FILE *to, const char *name, struct text *before, struct text *after, bool color);

#endif
