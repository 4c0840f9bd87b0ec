/* program/record/tap/mirror.c - the headers that repeat what a message says; see tap.h. Which they are, and how values are
 * written, is the library's: client/toolbook.h knows the tools, protocol/headers.h the rest.
 */
#include "record/tap/tap.h"

#include "base/error.h"
#include "base/mem.h"
#include "client/toolbook.h"
#include "protocol/headers.h"
#include "json/parse.h"

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

int mirror_fields(struct mirror *m, const cleat_json *message, struct http_field_list *to,
		  cleat_error *err)
{
	const cleat_json *params = json_member(message, "params");
	struct link_message all = { .method = json_str(json_member(message, "method")) };
	size_t before = to->n;
	int rc = CLEAT_OK;

	all.name = headers_name(all.method, params);
	if (str_eqz(all.method, "tools/call"))
		rc = toolbook_fields(m->tools, to->ar, all.name, json_member(params, "arguments"),
				     &all.fields, &all.n_fields, err);
	if (rc == CLEAT_OK)
		rc = headers_of(&all, to, err);
	if (rc == CLEAT_OK && arena_failed(to->ar))
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	if (rc != CLEAT_OK)
		to->n = before;
	return rc;
}
