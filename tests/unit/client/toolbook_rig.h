/* toolbook_rig.h - a client's book of tools; JSON is written with ' for ". */
#ifndef TESTS_TOOLBOOK_RIG_H
#define TESTS_TOOLBOOK_RIG_H

#include "base/buf.h"
#include "client/toolbook.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

#define REGION      "'region':{'type':'string','description':'d','x-mcp-header':'Region'},"
#define PRIORITY    "'priority':{'type':'integer','x-mcp-header':'Priority'},"
#define ONE(header) "'value':{'type':'string','x-mcp-header':'" header "'}"

cleat_doc *parse(const char *text);
extern struct noted {
	int n, level;
	char text[300];
} noted;

struct toolbook *open_book(const cleat_allocator *mem);
int learn(struct toolbook *b, const char *tool, cleat_error *err);
/* A tool "t" with these properties. */
int learn_properties(struct toolbook *b, const char *properties, cleat_error *err);
/* "name: value" lines, as they stand in a request. */
int fields(struct toolbook *b, const char *name, const char *args, struct buf *out,
	   cleat_error *err);
void expect_fields(struct toolbook *b, const char *name, const char *args, const char *wanted);

/* A case on a book of its own, with a place for errors. */
#define BOOK_TEST(name)                                                                            \
	static void name##_on(struct toolbook *b, cleat_error *err);                               \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct toolbook *b = open_book(NULL);                                              \
                                                                                                   \
		name##_on(b, &(cleat_error){ 0 });                                                 \
		toolbook_free(b);                                                                  \
	}                                                                                          \
	static void name##_on(struct toolbook *b, __attribute__((unused)) cleat_error *err)

#endif
