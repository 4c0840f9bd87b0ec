/* schema/check.h - what the other layers do with compiled schemas beyond <cleat/schema.h>. */
#ifndef SCHEMA_CHECK_H
#define SCHEMA_CHECK_H

#include "base/buf.h"

#include <cleat/schema.h>

/* Does the value fit? Appends one line for each problem, at most ten and then "... and 3 more", to
 * *problems, separated by '\n'. `member` is what a member of the whole value is called ("argument").
 * An object that has a key twice, or one with NUL in it, is a problem wherever it is, also where the
 * schema says nothing of it or says "not": the program would find another member under that name
 * than the check did.
 * CLEAT_OK; CLEAT_EINVAL when there are problems; CLEAT_ELIMIT with the reason as a line;
 * CLEAT_ENOMEM. */
int schema_check(const cleat_schema *s, const cleat_json *value, const char *member,
		 struct buf *problems);

#endif
