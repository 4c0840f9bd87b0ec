/* tests/unit/json/json_rig.h - texts as documents, which fail the test when they are not JSON, and objects that are
 * written member by member.
 */
#ifndef TESTS_JSON_RIG_H
#define TESTS_JSON_RIG_H

#include "base/buf.h"
#include "test.h"
#include "json/writer.h"

#include <cleat/json.h>

/* As deep and as large as can be. */
cleat_doc *parse(const char *text);
cleat_doc *parse_str(struct str text);
/* The same whichever is asked first. */
bool equal(const char *a, const char *b);

/* A text that is written with w; begins with `{`. made() ends it and gives the document. */
struct making {
	struct buf b;
	struct jw w;
};

void make_object(struct making *m);
cleat_doc *made(struct making *m);

#endif
