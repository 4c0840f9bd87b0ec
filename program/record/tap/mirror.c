/* program/record/tap/mirror.c - the headers that repeat what a message says; see tap.h. Which they are, and how values are
 * written, is the library's: client/toolbook.h knows the tools, link/links.h the encoding.
 */
#include "record/tap/tap.h"

#include "base/error.h"
#include "base/mem.h"
#include "client/toolbook.h"
#include "link/links.h"
#include "protocol/headers.h"
#include "json/parse.h"

enum { LINES_MAX = 256 << 10 };

struct mirror {
	cleat_allocator mem;
	struct toolbook *tools;
};

struct mirror *mirror_new(const cleat_allocator *mem)
{
	cleat_allocator a = mem_resolve(mem);
	struct mirror *m = mem_zalloc(&a, sizeof *m);

	if (!m)
		return NULL;
	m->mem = a;
	m->tools = toolbook_new(&(struct toolbook_options){ .mem = &m->mem });
	if (!m->tools) {
		mem_free(&a, m);
		return NULL;
	}
	return m;
}

void mirror_free(struct mirror *m)
{
	cleat_allocator a;

	if (!m)
		return;
	toolbook_free(m->tools);
	a = m->mem;
	mem_free(&a, m);
}

void mirror_learn(struct mirror *m, const cleat_json *tools)
{
	cleat_json_iter it = cleat_json_each(tools);

	while (cleat_json_next(&it))
		toolbook_learn(m->tools, it.value, NULL); /* a tool that is wrong has no headers */
}

static int gather(struct mirror *m, const cleat_json *message, struct arena *ar, struct buf *lines,
		  cleat_error *err)
{
	const cleat_json *params = json_member(message, "params");
	struct link_message all = { .method = json_str(json_member(message, "method")) };
	int rc = CLEAT_OK;

	all.name = headers_name(all.method, params);
	if (str_eqz(all.method, "tools/call"))
		rc = toolbook_fields(m->tools, ar, all.name, json_member(params, "arguments"),
				     &all.fields, &all.n_fields, err);
	if (rc == CLEAT_OK)
		rc = link_http_mirror(lines, &all, err);
	if (rc == CLEAT_OK && buf_status(lines))
		rc = error_set(err, buf_status(lines), "too much for a header");
	return rc;
}

int mirror_lines(struct mirror *m, const cleat_json *message,
		 void (*add)(void *ctx, const char *line), void *ctx, cleat_error *err)
{
	struct buf lines;
	struct arena ar;
	int rc;

	arena_init(&ar, &m->mem, 0);
	buf_init(&lines, &m->mem, LINES_MAX);
	rc = gather(m, message, &ar, &lines, err);
	for (size_t at = 0; rc == CLEAT_OK && at < buf_size(&lines);) {
		const char *line = buf_str(&lines).p + at;

		at += strlen(line) + 1;
		add(ctx, line);
	}
	buf_done(&lines);
	arena_done(&ar);
	return rc;
}
