/* server/arguments.c - see arguments.h. */
#include "server/arguments.h"
#include "base/cold.h"

#include "field/field.h"
#include "request/entry.h"
#include "request/out.h"
#include "request/reply.h"
#include "schema/check.h"
#include "json/build.h"
#include "json/parse.h"
#include "json/writer.h"

enum { PROBLEMS_MAX = 8192 };

bool arguments_param(cleat_request *req, const char *key, struct str *ret)
{
	const cleat_json *v = cleat_json_get(req->msg.params, key);

	*ret = json_str(v);
	if (ret->p && !str_has_nul(*ret))
		return true;
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "%s: params.%s must be a string%s, not %s",
		   req->msg.method.p, key, ret->p ? " without NUL" : "",
		   ret->p ? "one with NUL" : json_type_name(v));
	return false;
}

bool arguments_take(cleat_request *req)
{
	const cleat_json *v = json_member(req->msg.params, "arguments");

	if (v && !json_is_object(v)) {
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL,
			   "%s: params.arguments must be an object, not %s", req->msg.method.p,
			   json_type_name(v));
		return false;
	}
	req->arguments = v;
	return true;
}

/* Is this text a JSON value of the field's type? */
static bool reads_as(const cleat_field *f, struct str text, struct arena *ar,
		     const cleat_json **ret)
{
	enum cleat_json_type type;

	if (f->type == CLEAT_T_STRING && !f->array)
		return false;
	if (json_parse(ar, text, NULL, ret, NULL))
		return false;
	type = cleat_json_type(*ret);
	if (f->array)
		return type == CLEAT_JSON_ARRAY;
	switch (f->type) {
	case CLEAT_T_BOOL: return type == CLEAT_JSON_BOOL;
	case CLEAT_T_INT:
	case CLEAT_T_UINT:
	case CLEAT_T_REAL: return type == CLEAT_JSON_NUMBER;
	case CLEAT_T_RECORD: return type == CLEAT_JSON_OBJECT;
	default: return true;
	}
}

static void convert(struct jw *w, cleat_request *req)
{
	cleat_json_iter it = cleat_json_each(req->arguments);

	jw_obj(w);
	while (cleat_json_next(&it)) {
		const cleat_field *f = field_find(req->entry->input, json_str(it.key));
		const cleat_json *v;

		jw_keyn(w, json_str(it.key));
		if (f && json_is_string(it.value) &&
		    reads_as(f, json_str(it.value), &req->arena, &v))
			jw_value(w, v);
		else
			jw_value(w, it.value);
	}
	jw_obj_end(w);
}

static bool only_strings(const cleat_field *f)
{
	for (; f && f->type != CLEAT_T_END; f++)
		if (f->type != CLEAT_T_STRING || f->array)
			return false;
	return true;
}

/* The arguments anew, as `write` makes them of what is there. */
static bool rewrite(cleat_request *req, void (*write)(struct jw *w, cleat_request *req))
{
	struct build b;
	struct jw w;
	int rc;

	build_init(&b, &req->arena);
	jw_build(&w, &b);
	write(&w, req);
	rc = build_finish(&b, &req->arguments, NULL);
	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	return rc == CLEAT_OK;
}

bool arguments_take_strings(cleat_request *req)
{
	return arguments_take(req) &&
	       (!req->arguments || only_strings(req->entry->input) || rewrite(req, convert));
}

static bool is_protocols(struct str key)
{
	return str_eqz(key, "_meta") || str_eqz(key, "inputResponses") ||
	       str_eqz(key, "requestState");
}

static void leave_out(struct jw *w, cleat_request *req)
{
	cleat_json_iter it = cleat_json_each(req->msg.params);

	jw_obj(w);
	while (cleat_json_next(&it))
		if (!is_protocols(json_str(it.key))) {
			jw_keyn(w, json_str(it.key));
			jw_value(w, it.value);
		}
	jw_obj_end(w);
}

bool arguments_take_params(cleat_request *req)
{
	cleat_json_iter it = cleat_json_each(req->msg.params);
	cleat_error err;

	req->arguments = req->msg.params;
	if (req->entry->open && req->arguments && json_check_all_keys(req->arguments, &err)) {
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "%s: params: %s", req->msg.method.p,
			   err.message);
		return false;
	}
	while (cleat_json_next(&it))
		if (is_protocols(json_str(it.key)))
			return rewrite(req, leave_out);
	return true;
}

/* Arguments that do not fit: from 2025-11-25 on a tool error that the model reads and mends, before
 * that, and for prompts, a protocol error. */
static COLD void server_arguments_refuse(cleat_request *req, struct buf *problems)
{
	bool tool = req->entry->kind == SHELF_TOOLS;
	const char *name = req->entry->key.p;
	const char *what = tool ? "tool" : req->entry->kind == SHELF_PROMPTS ? "prompt" : "method";
	struct str lines = buf_str(problems);
	struct buf data;
	struct jw w;

	if (tool && (req->ctx.features & FEAT_INPUT_TOOL_ERROR)) {
		reply_reset(req);
		cleat_reply_error(req, "Invalid arguments for %s %s:\n%.*s", what, name,
				  STR_ARGS(lines));
		req->status = CLEAT_OK;
		reply_send(req);
		return;
	}
	buf_init(&data, &req->server->mem, PROBLEMS_MAX * 6);
	jw_init(&w, &data);
	jw_obj(&w);
	jw_kv_strn(&w, "details", lines);
	jw_obj_end(&w);
	buf_putc(&data, '\0');
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, buf_status(&data) ? NULL : buf_str(&data).p,
		   "Invalid arguments for %s %s", what, name);
	buf_done(&data);
}

static bool arguments_decode(cleat_request *req)
{
	const struct entry *e = req->entry;
	int rc = CLEAT_ENOMEM;

	if (!e->decodes || !field_count(e->input))
		return true;
	req->args = arena_zalloc(&req->arena, e->input[0].record);
	if (req->args)
		rc = field_decode(e->input, req->arguments, &req->arena, req->args);
	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	return rc == CLEAT_OK;
}

/* Arguments that are not given at all are none. */
static int check_schema(const cleat_request *req, struct buf *problems)
{
	return schema_check(req->entry->input_schema,
			    req->arguments ? req->arguments : json_empty_object(), "argument",
			    problems);
}

bool arguments_check(cleat_request *req)
{
	struct buf problems = BUF_INIT(&req->server->mem, PROBLEMS_MAX);
	int rc;

	if (req->entry->open)
		return true;
	if (req->entry->input_schema)
		rc = check_schema(req, &problems);
	else
		rc = field_check(req->entry->input, req->arguments, true, &problems);
	if (rc == CLEAT_EINVAL || rc == CLEAT_ELIMIT) /* which is a line by itself */
		server_arguments_refuse(req, &problems);
	else if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	buf_done(&problems);
	return rc == CLEAT_OK && arguments_decode(req);
}
