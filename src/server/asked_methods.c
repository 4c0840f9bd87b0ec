/* server/asked_methods.c - see asked.h. Who answers, and the methods of the asked mode; what is particular to
 * forms is in asked_form.c, to messages of a model in asked_sampling.c.
 *
 * A method that nobody here can answer is unknown (-32601), as 2025-11-25 client/roots, error handling,
 * says of roots: a client that declared nothing has no such method.
 */
#include "base/mem.h"
#include "base/sized.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "server/asked.h"
#include "server/asked_call.h"
#include "server/serve.h"
#include "uri/reference.h"

/* ---- roots/list ----------------------------------------------------------------------------- */

static bool has_roots(const cleat_server *s)
{
	return s->asked->has_roots;
}

static void serve_roots(cleat_request *req)
{
	struct result_facts f = { 0 };
	struct out o;
	int rc;

	if (result_begin(&o, req, &f)) {
		jw_kv_raw(&o.w, "roots", buf_str(&req->server->asked->roots));
		rc = result_end(&o, req, &f);
		if (rc)
			out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	}
	request_end(req);
}

static bool is_uri(const char *text)
{
	struct uri u;

	return text && uri_split(str_of(text), 0, &u) && u.scheme.p;
}

static void write_roots(struct jw *w, const cleat_root *roots, size_t n)
{
	jw_arr(w);
	for (size_t i = 0; i < n; i++) {
		jw_obj(w);
		jw_kv_str(w, "uri", roots[i].uri);
		jw_kv_str(w, "name", roots[i].name);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

int server_set_roots(cleat_server *s, const cleat_root *roots, size_t n)
{
	cleat_error err;
	struct buf text;
	struct jw w;
	int rc;

	if (!s->asked)
		return CLEAT_EMISUSE;
	for (size_t i = 0; i < n; i++)
		if (SIZED_RESERVED(&roots[i], cleat_root, &err))
			return server_refuse(s, err.status, "%s", err.message);
		else if (!is_uri(roots[i].uri))
			return server_refuse(s, CLEAT_EINVAL, "root %zu: \"%.200s\" is not a URI",
					     i, roots[i].uri ? roots[i].uri : "");
	buf_init(&text, &s->mem, s->opts.max_reply);
	jw_init(&w, &text);
	write_roots(&w, roots, n);
	rc = buf_status(&text);
	if (rc) {
		buf_done(&text);
		return rc;
	}
	buf_done(&s->asked->roots);
	s->asked->roots = text;
	s->asked->has_roots = true;
	return CLEAT_OK;
}

/* ---- the mode ------------------------------------------------------------------------------- */

static const struct method methods[] = {
	{ .name = "elicitation/create",
	  .legacy = true,
	  .asks = true, /* so that cleat_ask_*() gives CLEAT_EUNSUPPORTED: nobody is there to ask */
	  .available = asked_can_elicit,
	  .serve = asked_elicit,
	  .write = asked_write_elicited },
	{ .name = "sampling/createMessage",
	  .legacy = true,
	  .asks = true,
	  .available = asked_can_sample,
	  .serve = asked_sample,
	  .write = asked_write_sampled },
	{ .name = "roots/list", .legacy = true, .available = has_roots, .serve = serve_roots },
	{ .name = "ping", .legacy = true, .serve = serve_ping },
};

static void free_asked(cleat_server *s)
{
	buf_done(&s->asked->roots);
	mem_free(&s->mem, s->asked);
}

int server_set_asked(cleat_server *s, const struct server_asked *a)
{
	struct asked *asked = s->asked ? s->asked : mem_zalloc(&s->mem, sizeof *asked);

	if (!asked)
		return CLEAT_ENOMEM;
	if (!s->asked)
		buf_init(&asked->roots, &s->mem, s->opts.max_reply);
	asked->methods = (struct method_table){ methods, CLEAT_COUNT(methods) };
	asked->free = free_asked;
	asked->who = *a;
	s->asked = asked;
	return CLEAT_OK;
}
