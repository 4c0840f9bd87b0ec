/* request/request_api.c - the reading half of <cleat/request.h>: what a handler can learn of its
 * request. Replies are in reply_api.c, questions in ask_api.c, progress and
 * log in events.c. Without a request there is nothing to learn: every function takes NULL.
 */
#include "base/cold.h"
#include "field/field.h"
#include "request/conn.h"
#include "request/life.h"
#include "json/parse.h"

const void *cleat_request_args(cleat_request *req)
{
	return req ? req->args : NULL;
}

const cleat_json *cleat_request_arguments(cleat_request *req)
{
	return req ? req->arguments : NULL;
}

/* A name that the tool does not declare is a slip of the pen: its value is never there. */
static COLD void undeclared(cleat_request *req, const char *name)
{
	struct str_nearest near = { .wanted = str_of(name) };

	if (!field_count(req->entry->input))
		return;
	for (const cleat_field *f = req->entry->input; f->name; f++)
		str_nearest_offer(&near, str_of(f->name));
	request_misuse(req, MISUSE_ARGUMENT,
		       near.best.p ? "%s has no argument \"%.100s\"; did you mean \"%.*s\"?"
				   : "%s has no argument \"%.100s\"",
		       req->entry->key.p, name, (int)near.best.n, near.best.p);
}

const cleat_json *cleat_arg(cleat_request *req, const char *name)
{
	const cleat_json *v = req ? cleat_json_get(req->arguments, name) : NULL;
	const cleat_field *f;

	if (v || !req || !req->entry || !name)
		return v;
	f = field_find(req->entry->input, str_of(name));
	if (!f)
		undeclared(req, name);
	return f ? field_fallback(f, &req->arena) : NULL;
}

const char *cleat_arg_str(cleat_request *req, const char *name)
{
	return cleat_json_str(cleat_arg(req, name), "");
}

double cleat_arg_num(cleat_request *req, const char *name)
{
	return cleat_json_num(cleat_arg(req, name), 0);
}

int64_t cleat_arg_int(cleat_request *req, const char *name)
{
	return cleat_json_int(cleat_arg(req, name), 0);
}

bool cleat_arg_bool(cleat_request *req, const char *name)
{
	return cleat_json_bool(cleat_arg(req, name), false);
}

bool cleat_arg_given(cleat_request *req, const char *name)
{
	return req && cleat_json_get(req->arguments, name) != NULL;
}

const char *cleat_request_uri(cleat_request *req)
{
	return req && req->uri ? req->uri : "";
}

const char *cleat_request_var(cleat_request *req, const char *name)
{
	for (size_t i = 0; req && i < req->vars.n; i++)
		if (str_eqz(req->vars.v[i].name, name))
			return req->vars.v[i].value.p;
	return "";
}

const char *cleat_request_completing(cleat_request *req)
{
	return req ? cleat_json_str(json_member(req->complete_arg, "name"), "") : "";
}

const char *cleat_request_typed(cleat_request *req)
{
	return req ? cleat_json_str(json_member(req->complete_arg, "value"), "") : "";
}

const char *cleat_request_context(cleat_request *req, const char *name)
{
	return req ? cleat_json_str(cleat_json_get(req->complete_ctx, name), NULL) : NULL;
}

const char *cleat_request_method(cleat_request *req)
{
	return req && req->method ? req->msg.method.p : "";
}

const char *cleat_request_name(cleat_request *req)
{
	return req && req->entry &&
			       (req->entry->kind == SHELF_TOOLS ||
				req->entry->kind == SHELF_PROMPTS)
		       ? req->entry->key.p
		       : "";
}

const char *cleat_request_revision(cleat_request *req)
{
	return req ? revision_name(req->ctx.rev) : "";
}

const char *cleat_request_client_name(cleat_request *req)
{
	return req ? cleat_json_str(json_member(req->ctx.client_info, "name"), "") : "";
}

const char *cleat_request_client_version(cleat_request *req)
{
	return req ? cleat_json_str(json_member(req->ctx.client_info, "version"), "") : "";
}

const cleat_json *cleat_request_meta(cleat_request *req)
{
	return req ? req->ctx.meta : NULL;
}

void *cleat_request_userdata(cleat_request *req)
{
	return req ? req->userdata : NULL;
}

struct cleat_server *cleat_request_server(cleat_request *req)
{
	return req ? req->server : NULL;
}

cleat_connection *cleat_request_connection(cleat_request *req)
{
	return req ? req->conn : NULL;
}

void *cleat_request_alloc(cleat_request *req, size_t n)
{
	return req ? arena_zalloc(&req->arena, n) : NULL;
}

const char *cleat_request_printf(cleat_request *req, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	if (!req || !fmt)
		return "";
	va_start(ap, fmt);
	text = arena_vprintf(&req->arena, fmt, ap);
	va_end(ap);
	return text ? text : "";
}

bool cleat_request_client_can(cleat_request *req, enum cleat_client_capability what)
{
	return req && era_client_can(&req->ctx, what);
}

const char *cleat_request_principal(cleat_request *req)
{
	return req ? req->conn->facts.principal.p : NULL;
}
