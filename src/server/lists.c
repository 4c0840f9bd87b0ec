/* server/lists.c - tools/list, resources/list, resources/templates/list, prompts/list: pages of the
 * registry.
 *
 * A cursor is opaque to clients; to us it is the serial number of the last entry of the page before,
 * so it stays good when entries come and go. 2025-11-25 utilities/pagination: an invalid cursor is
 * -32602.
 */
#include "request/life.h"
#include "request/out.h"
#include "server/serve.h"
#include "json/parse.h"

#include <stdio.h>

static const char cursor_mark[] = "c1-";

static bool read_cursor(cleat_request *req, uint64_t *after)
{
	const cleat_json *v = json_member(req->msg.params, "cursor");
	struct str s = json_str(v);
	uint64_t n = 0;

	*after = 0;
	if (!v)
		return true;
	if (str_starts(s, cursor_mark) && s.n > sizeof cursor_mark - 1 && s.n <= 19) {
		size_t i = sizeof cursor_mark - 1;

		while (i < s.n) {
			char ch = s.p[i];
			int digit = ch >= '0' && ch <= '9'   ? ch - '0'
				    : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
							     : -1;

			if (digit < 0)
				break;
			n = n << 4 | (uint64_t)digit;
			i++;
		}
		if (i == s.n) {
			*after = n;
			return true;
		}
	}
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL,
		   "%s: this cursor is not one that this server gave; start again without a cursor",
		   req->msg.method.p);
	return false;
}

static void write_cursor(struct jw *w, uint64_t serial)
{
	char text[32];

	snprintf(text, sizeof text, "%s%llx", cursor_mark, (unsigned long long)serial);
	jw_kv_str(w, "nextCursor", text);
}

static void write_entry(struct jw *w, unsigned features, const struct entry *e)
{
	switch (e->kind) {
	case SHELF_TOOLS: describe_tool(w, features, &e->tool, &e->schemas); break;
	case SHELF_RESOURCES: describe_resource(w, features, &e->resource); break;
	case SHELF_TEMPLATES: describe_template(w, features, &e->resource); break;
	case SHELF_PROMPTS: describe_prompt(w, features, &e->prompt); break;
	case SHELF_METHODS:
	case SHELF_COUNT: break;
	}
}

bool lists_alike(const cleat_server *s, const struct entry *a, const struct entry *b)
{
	const struct entry *both[] = { a, b };
	struct buf text[2];
	struct jw w;
	bool alike;

	for (size_t i = 0; i < 2; i++) {
		buf_init(&text[i], &s->mem, SIZE_MAX);
		jw_init(&w, &text[i]);
		write_entry(&w, ~0u, both[i]); /* revisions have only added to it */
	}
	alike = !buf_status(&text[0]) && !buf_status(&text[1]) &&
		str_eq(buf_str(&text[0]), buf_str(&text[1]));
	buf_done(&text[0]);
	buf_done(&text[1]);
	return alike;
}

static void write_page(struct out *o, cleat_request *req, const struct shelf *shelf,
		       const char *member, uint64_t after)
{
	const cleat_server_options *opts = &req->server->opts;
	size_t i = registry_page_start(shelf, after), n = 0;

	jw_key(&o->w, member);
	jw_arr(&o->w);
	/* A page also ends when it is half as large as an answer may be. */
	for (; i < shelf->count && n < opts->page_size &&
	       buf_size(o->b) - o->start <= opts->max_reply / 2;
	     i++, n++)
		write_entry(&o->w, req->ctx.features, shelf->list[i]);
	jw_arr_end(&o->w);
	if (i < shelf->count)
		write_cursor(&o->w, shelf->list[i - 1]->serial);
}

static void serve_list(cleat_request *req, enum shelf_kind kind, const char *member)
{
	const cleat_server_options *opts = &req->server->opts;
	struct result_facts f = { .cacheable = true,
				  .ttl_ms = opts->list_ttl_ms,
				  .shared = opts->list_scope == CLEAT_CACHE_PUBLIC };
	struct out o;
	uint64_t after;
	int rc;

	if (read_cursor(req, &after) && result_begin(&o, req, &f)) {
		write_page(&o, req, &req->server->registry.shelves[kind], member, after);
		rc = result_end(&o, req, &f);
		if (rc)
			out_error(req,
				  rc == CLEAT_ELIMIT ? req->ctx.era->too_large_code
						     : CLEAT_RPC_INTERNAL_ERROR,
				  NULL, cleat_strstatus(rc));
	}
	request_end(req);
}

void serve_tools_list(cleat_request *req)
{
	serve_list(req, SHELF_TOOLS, "tools");
}

void serve_resources_list(cleat_request *req)
{
	serve_list(req, SHELF_RESOURCES, "resources");
}

void serve_templates_list(cleat_request *req)
{
	serve_list(req, SHELF_TEMPLATES, "resourceTemplates");
}

void serve_prompts_list(cleat_request *req)
{
	serve_list(req, SHELF_PROMPTS, "prompts");
}
