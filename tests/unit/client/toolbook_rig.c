/* toolbook_rig.c - see toolbook_rig.h. */
#include "unit/client/toolbook_rig.h"

#include "base/mem.h"
#include "http/field.h"

struct noted noted;

cleat_doc *parse(const char *text)
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

static void note(void *ctx, int level, const char *text)
{
	assert_ptr_equal(ctx, &noted);
	noted.n++;
	noted.level = level;
	snprintf(noted.text, sizeof noted.text, "%s", text);
}

struct toolbook *open_book(const cleat_allocator *mem)
{
	struct toolbook *b;

	memset(&noted, 0, sizeof noted);
	b = toolbook_new(&(struct toolbook_options){ .mem = mem, .note = note, .ctx = &noted });
	assert_true(b || mem);
	return b;
}

int learn(struct toolbook *b, const char *tool, cleat_error *err)
{
	cleat_doc *d = parse(tool);
	int rc = toolbook_learn(b, cleat_doc_root(d), err);

	cleat_doc_free(d); /* nothing may point into it */
	return rc;
}

int learn_properties(struct toolbook *b, const char *properties, cleat_error *err)
{
	char text[2048];

	snprintf(text, sizeof text,
		 "{'name':'t','inputSchema':{'type':'object','properties':{%s}}}", properties);
	return learn(b, text, err);
}

int fields(struct toolbook *b, const char *name, const char *args, struct buf *out,
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

void expect_fields(struct toolbook *b, const char *name, const char *args, const char *wanted)
{
	struct buf out;

	buf_init(&out, NULL, SIZE_MAX / 2);
	assert_int_equal(fields(b, name, args, &out, NULL), CLEAT_OK);
	buf_putc(&out, '\0');
	assert_string_equal(buf_str(&out).p, wanted);
	buf_done(&out);
}
