/* server/calls.c - the three methods that run a handler of the program: tools/call, resources/read,
 * prompts/get; methods of its own, and completion/complete beside them.
 */
#include "field/field.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "request/output.h"
#include "request/reply.h"
#include "server/arguments.h"
#include "server/ask.h"
#include "server/serve.h"
#include "json/parse.h"

#include <string.h>

/* The handler has ended. */
static void settle(cleat_request *req)
{
	if (req->status == CLEAT_NEED_INPUT && !req->rejected) {
		ask_send(req);
	} else {
		reply_send(req);
		request_end(req);
	}
}

/* ---- tools/call --------------------------------------------------------------------------- */

static bool prepare_tool(cleat_request *req)
{
	struct registry *r = &req->server->registry;
	struct entry *e;
	struct str name;

	if (!arguments_param(req, "name", &name))
		return false;
	if (!req->entry) { /* the headers of HTTP may have asked for it already */
		e = registry_find(r, SHELF_TOOLS, name);
		if (!e) {
			out_unknown(req, CLEAT_RPC_INVALID_PARAMS, "tool", name,
				    registry_nearest(r, SHELF_TOOLS, name));
			return false;
		}
		request_use(req, e, SHAPE_TOOL);
	}
	return arguments_take(req) && arguments_check(req) && ask_restore(req);
}

void serve_tools_call(cleat_request *req)
{
	if (prepare_tool(req))
		request_call(req, req->entry->tool.call, req->entry->tool.blocking, settle);
	else
		request_end(req);
}

/* ---- resources/read ----------------------------------------------------------------------- */

static int read_fixed_text(cleat_request *req)
{
	return cleat_reply_text(req, req->entry->resource.text);
}

static struct entry *find_resource(cleat_request *req, struct str uri)
{
	struct registry *r = &req->server->registry;
	struct entry *e = registry_find(r, SHELF_RESOURCES, uri);

	return e ? e : registry_match(r, uri, &req->arena, &req->vars);
}

/* {"uri":...} for the data of a resource that is not there, and a hint where there is one. NULL when
 * out of memory. */
static const char *not_found_data(cleat_request *req, struct str uri, struct str near)
{
	const char *text = NULL;
	struct buf data;
	struct jw w;

	buf_init(&data, &req->server->mem, 65536);
	jw_init(&w, &data);
	jw_obj(&w);
	jw_kv_strn(&w, "uri", uri);
	if (near.p)
		jw_kv_str(&w, "details", cleat_request_printf(req, "did you mean %s?", near.p));
	jw_obj_end(&w);
	if (!buf_status(&data))
		text = arena_strndup(&req->arena, buf_str(&data).p, buf_size(&data));
	buf_done(&data);
	return text;
}

/* -32002 up to 2025-11-25, -32602 from 2026-07-28 on; the URI is in data either way. */
static void not_found(cleat_request *req, struct str uri)
{
	struct str near = registry_nearest(&req->server->registry, SHELF_RESOURCES, uri);

	out_errorf(req, req->ctx.era->not_found_code, not_found_data(req, uri, near),
		   "Resource not found: %.*s", (int)(uri.n < 256 ? uri.n : 256), uri.p);
}

int cleat_reply_not_found(cleat_request *req)
{
	struct str uri = str_of(cleat_request_uri(req));

	if (!req)
		return CLEAT_EINVAL;
	return cleat_reply_reject_data(req, req->ctx.era->not_found_code,
				       not_found_data(req, uri, (struct str){ NULL, 0 }),
				       "Resource not found: %.*s", (int)(uri.n < 256 ? uri.n : 256),
				       uri.p);
}

/* NULL after an error was sent. */
static struct entry *resource_of(cleat_request *req, struct str uri)
{
	struct entry *e = find_resource(req, uri);

	if (arena_failed(&req->arena)) {
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
		return NULL;
	}
	if (!e)
		not_found(req, uri);
	return e;
}

bool resource_exists(cleat_request *req, struct str uri)
{
	return resource_of(req, uri) != NULL;
}

static bool prepare_resource(cleat_request *req)
{
	struct entry *e;
	struct str uri;

	if (!arguments_param(req, "uri", &uri))
		return false;
	req->uri = arena_strndup(&req->arena, uri.p, uri.n);
	e = resource_of(req, uri);
	if (!e)
		return false;
	request_use(req, e, SHAPE_RESOURCE);
	return ask_restore(req);
}

void serve_resources_read(cleat_request *req)
{
	const cleat_resource *r;

	if (!prepare_resource(req)) {
		request_end(req);
		return;
	}
	r = &req->entry->resource;
	request_call(req, r->read ? r->read : read_fixed_text, r->read && r->blocking, settle);
}

/* ---- prompts/get -------------------------------------------------------------------------- */

static struct entry *find_prompt(cleat_request *req, struct str name)
{
	struct registry *r = &req->server->registry;
	struct entry *e = registry_find(r, SHELF_PROMPTS, name);

	if (!e)
		out_unknown(req, CLEAT_RPC_INVALID_PARAMS, "prompt", name,
			    registry_nearest(r, SHELF_PROMPTS, name));
	return e;
}

static bool prepare_prompt(cleat_request *req)
{
	struct entry *e;
	struct str name;

	if (!arguments_param(req, "name", &name))
		return false;
	e = find_prompt(req, name);
	if (!e)
		return false;
	request_use(req, e, SHAPE_PROMPT);
	return arguments_take_strings(req) && arguments_check(req) && ask_restore(req);
}

void serve_prompts_get(cleat_request *req)
{
	if (prepare_prompt(req))
		request_call(req, req->entry->prompt.get, req->entry->prompt.blocking, settle);
	else
		request_end(req);
}

/* ---- a method of the program's own -------------------------------------------------------- */

/* The handler's object becomes the result, so it may have none of the members that the era adds. */
static const char *own_problem(cleat_request *req)
{
	cleat_error err;

	if (!buf_size(&req->structured))
		return NULL;
	if (output_value(req, &err) || !json_is_object(req->value))
		return "the result must be an object";
	if (json_check_keys(req->value, &err))
		return "the result has a member twice";
	if (json_member(req->value, "_meta") || json_member(req->value, "resultType"))
		return "\"_meta\" and \"resultType\" are not for the handler; there is cleat_reply_meta()";
	return NULL;
}

static void settle_own(cleat_request *req)
{
	bool done = req->status == CLEAT_OK && !req->rejected && !buf_status(&req->structured);
	const char *problem = done ? own_problem(req) : NULL;

	if (problem) {
		server_note(req->server, CLEAT_LOG_ERROR, "the handler of %s: %s",
			    req->msg.method.p, problem);
		cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
				   "the handler's reply cannot be sent");
	}
	settle(req);
}

void serve_own(cleat_request *req)
{
	const cleat_method *m = &req->entry->method;

	if (arguments_take_params(req) && arguments_check(req) && ask_restore(req))
		request_call(req, m->call, m->blocking, settle_own);
	else
		request_end(req);
}

/* ---- completion/complete ------------------------------------------------------------------ */

/* A field with choices completes itself. */
static int complete_choices(cleat_request *req)
{
	struct str typed = json_str(json_member(req->complete_arg, "value"));
	const cleat_field *f =
		field_find(req->entry->input, json_str(json_member(req->complete_arg, "name")));
	struct field_choices choices = f ? field_choices(f) : (struct field_choices){ 0 };
	struct str c;

	while (choice_next(&choices, &c))
		if (c.n >= typed.n && memcmp(c.p, typed.p, typed.n) == 0)
			cleat_reply_suggest(req, arena_strndup(&req->arena, c.p, c.n));
	return cleat_reply_nothing(req);
}

static int complete_nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static bool bad_completion(cleat_request *req, const char *why)
{
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "completion/complete: %s", why);
	return false;
}

/* The entry that params.ref names. */
static struct entry *find_ref(cleat_request *req)
{
	const cleat_json *ref = json_member(req->msg.params, "ref");
	struct str type = json_str(json_member(ref, "type"));
	struct str key;
	struct entry *e;

	if (str_eqz(type, "ref/prompt")) {
		key = json_str(json_member(ref, "name"));
		return key.p ? find_prompt(req, key)
			     : (bad_completion(req, "params.ref.name must be a string"), NULL);
	}
	if (!str_eqz(type, "ref/resource")) {
		bad_completion(req, "params.ref.type must be \"ref/prompt\" or \"ref/resource\"");
		return NULL;
	}
	key = json_str(json_member(ref, "uri"));
	if (!key.p) {
		bad_completion(req, "params.ref.uri must be a string");
		return NULL;
	}
	e = registry_find(&req->server->registry, SHELF_TEMPLATES, key);
	if (!e)
		e = registry_find(&req->server->registry, SHELF_RESOURCES, key);
	if (!e) /* 2025-11-25 utilities/completion: an invalid reference is -32602 */
		out_unknown(req, CLEAT_RPC_INVALID_PARAMS, "resource template", key,
			    registry_nearest(&req->server->registry, SHELF_TEMPLATES, key));
	return e;
}

static bool argument_known(const struct entry *e, struct str name)
{
	if (e->kind == SHELF_PROMPTS)
		return field_find(e->input, name) != NULL;
	for (size_t i = 0; e->pattern && i < uri_template_var_count(e->pattern); i++)
		if (str_eq(uri_template_var_name(e->pattern, i), name))
			return true;
	return false;
}

static struct str nearest_argument(const struct entry *e, struct str name)
{
	struct str_nearest n = { .wanted = name };

	if (e->kind == SHELF_PROMPTS)
		for (const cleat_field *f = e->input; f && f->type != CLEAT_T_END; f++)
			str_nearest_offer(&n, str_of(f->name));
	for (size_t i = 0; e->pattern && i < uri_template_var_count(e->pattern); i++)
		str_nearest_offer(&n, uri_template_var_name(e->pattern, i));
	return n.best;
}

static bool prepare_completion(cleat_request *req)
{
	const cleat_json *arg = json_member(req->msg.params, "argument");
	const cleat_json *context = json_member(req->msg.params, "context");
	const cleat_json *known = json_member(context, "arguments");
	struct str name = json_str(json_member(arg, "name"));
	struct entry *e;

	if (!name.p || !json_is_string(json_member(arg, "value")))
		return bad_completion(req,
				      "params.argument must have a name and a value, both strings");
	if (context && !json_is_object(context))
		return bad_completion(req, "params.context must be an object");
	if (known && !json_is_object(known))
		return bad_completion(req, "params.context.arguments must be an object");
	e = find_ref(req);
	if (!e)
		return false;
	if (!argument_known(e, name)) {
		out_unknown(req, CLEAT_RPC_INVALID_PARAMS, "argument", name,
			    nearest_argument(e, name));
		return false;
	}
	request_use(req, e, SHAPE_COMPLETION);
	req->complete_arg = arg;
	req->complete_ctx = known;
	return true;
}

void serve_complete(cleat_request *req)
{
	cleat_handler *fn = complete_nothing;
	struct entry *e;

	if (!prepare_completion(req)) {
		request_end(req);
		return;
	}
	e = req->entry;
	if (e->kind == SHELF_PROMPTS)
		fn = e->prompt.complete ? e->prompt.complete : complete_choices;
	else if (e->resource.complete)
		fn = e->resource.complete;
	request_call(req, fn,
		     e->kind == SHELF_PROMPTS ? e->prompt.complete && e->prompt.blocking
					      : e->resource.complete && e->resource.blocking,
		     settle);
}
