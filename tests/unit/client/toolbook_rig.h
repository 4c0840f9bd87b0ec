/* tests/unit/toolbook_rig.h - a client's book of tools; JSON is written with ' for ". */
#ifndef TESTS_TOOLBOOK_RIG_H
#define TESTS_TOOLBOOK_RIG_H

#include "base/mem.h"
#include "client/toolbook.h"
#include "http/field.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

#define REGION      "'region':{'type':'string','description':'d','x-mcp-header':'Region'},"
#define PRIORITY    "'priority':{'type':'integer','x-mcp-header':'Priority'},"
#define ONE(header) "'value':{'type':'string','x-mcp-header':'" header "'}"

static inline cleat_doc *parse(const char *text)
{
	char *copy = mem_strdup(&mem_default, text);
	cleat_doc *d;

	assert_non_null(copy);
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	d = cleat_doc_parse(copy, strlen(copy), NULL, NULL, NULL);
	if (!d)
		print_error("no JSON: %s\n", copy);
	assert_non_null(d);
	mem_free(&mem_default, copy);
	return d;
}

static struct {
	int n, level;
	char text[300];
} noted;

static inline void note(void *ctx, int level, const char *text)
{
	assert_ptr_equal(ctx, &noted);
	noted.n++;
	noted.level = level;
	snprintf(noted.text, sizeof noted.text, "%s", text);
}

static inline struct toolbook *open_book(const cleat_allocator *mem)
{
	struct toolbook *b;

	memset(&noted, 0, sizeof noted);
	b = toolbook_new(&(struct toolbook_options){ .mem = mem, .note = note, .ctx = &noted });
	assert_true(b || mem);
	return b;
}

static inline int learn(struct toolbook *b, const char *tool, cleat_error *err)
{
	cleat_doc *d = parse(tool);
	int rc = toolbook_learn(b, cleat_doc_root(d), err);

	cleat_doc_free(d); /* nothing may point into it */
	return rc;
}

/* A tool "t" with these properties. */
static inline int learn_properties(struct toolbook *b, const char *properties, cleat_error *err)
{
	char text[2048];

	snprintf(text, sizeof text,
		 "{'name':'t','inputSchema':{'type':'object','properties':{%s}}}", properties);
	return learn(b, text, err);
}

/* "name: value" lines, as they stand in a request. */
static inline int fields(struct toolbook *b, const char *name, const char *args, struct buf *out,
			 cleat_error *err)
{
	cleat_doc *d = args ? parse(args) : NULL;
	const struct http_field *f;
	struct arena ar;
	size_t n;
	int rc;

	arena_init(&ar, NULL, 0);
	rc = toolbook_fields(b, &ar, str_of(name), cleat_doc_root(d), &f, &n, err);
	cleat_doc_free(d);
	toolbook_clear(b); /* and what was given needs neither */
	assert_true(rc == CLEAT_OK || (n == 0 && !f));
	for (size_t i = 0; i < n; i++) {
		buf_append(out, f[i].name.p, f[i].name.n);
		buf_appendz(out, ": ");
		http_sentinel_encode(f[i].value, out);
		buf_putc(out, '\n');
	}
	arena_done(&ar);
	return rc;
}

static inline void expect_fields(struct toolbook *b, const char *name, const char *args,
				 const char *wanted)
{
	struct buf out;

	buf_init(&out, NULL, SIZE_MAX / 2);
	assert_int_equal(fields(b, name, args, &out, NULL), CLEAT_OK);
	buf_putc(&out, '\0');
	assert_string_equal(buf_str(&out).p, wanted);
	buf_done(&out);
}

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
