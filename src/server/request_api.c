/* server/request_api.c - the reading half of <cleat/request.h>: what a handler can learn of its
 * request. Replies are in reply_api.c, questions in ask_api.c.
 */
#include "base/mem.h"
#include "field/field.h"
#include "server/asked_impl.h"
#include "server/method.h"
#include "server/notify.h"
#include "server/state.h"
#include "json/parse.h"

#include <stdio.h>
#include <string.h>

const void *cleat_request_args(cleat_request *req)
{
	return req->args;
}

const cleat_json *cleat_request_arguments(cleat_request *req)
{
	return req->arguments;
}

const cleat_json *cleat_arg(cleat_request *req, const char *name)
{
	const cleat_json *v = cleat_json_get(req->arguments, name);
	const cleat_field *f;

	if (v || !req->entry)
		return v;
	f = field_find(req->entry->input, str_of(name));
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
	return cleat_json_get(req->arguments, name) != NULL;
}

const char *cleat_request_uri(cleat_request *req)
{
	return req->uri ? req->uri : "";
}

const char *cleat_request_var(cleat_request *req, const char *name)
{
	for (size_t i = 0; i < req->vars.n; i++)
		if (str_eqz(req->vars.v[i].name, name))
			return req->vars.v[i].value.p;
	return "";
}

const char *cleat_request_completing(cleat_request *req)
{
	return cleat_json_str(json_member(req->complete_arg, "name"), "");
}

const char *cleat_request_typed(cleat_request *req)
{
	return cleat_json_str(json_member(req->complete_arg, "value"), "");
}

const char *cleat_request_context(cleat_request *req, const char *name)
{
	return cleat_json_str(cleat_json_get(req->complete_ctx, name), NULL);
}

const char *cleat_request_method(cleat_request *req)
{
	return req->method ? req->method->name : "";
}

const char *cleat_request_name(cleat_request *req)
{
	return req->entry && (req->entry->kind == SHELF_TOOLS || req->entry->kind == SHELF_PROMPTS)
		       ? req->entry->key.p
		       : "";
}

const char *cleat_request_revision(cleat_request *req)
{
	return revision_name(req->ctx.rev);
}

const char *cleat_request_client_name(cleat_request *req)
{
	return cleat_json_str(json_member(req->ctx.client_info, "name"), "");
}

const char *cleat_request_client_version(cleat_request *req)
{
	return cleat_json_str(json_member(req->ctx.client_info, "version"), "");
}

const cleat_json *cleat_request_meta(cleat_request *req)
{
	return req->ctx.meta;
}

void *cleat_request_userdata(cleat_request *req)
{
	if (req->entry)
		return entry_userdata(req->entry);
	return req->asked ? req->asked->userdata : NULL;
}

struct cleat_server *cleat_request_server(cleat_request *req)
{
	return req->server;
}

void *cleat_request_alloc(cleat_request *req, size_t n)
{
	return arena_zalloc(&req->arena, n);
}

const char *cleat_request_printf(cleat_request *req, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(&req->arena, fmt, ap);
	va_end(ap);
	return text ? text : "";
}

bool cleat_request_client_can(cleat_request *req, enum cleat_client_capability what)
{
	return era_client_can(&req->ctx, what);
}

/* ---- progress and log, from any thread ----------------------------------------------------- */

enum { NOTE_TEXT_MAX = 16384 };

/* An event with a formatted text (fmt NULL: none); NULL when out of memory: such notes are lost. */
static struct text_event *CLEAT_PRINTF(2, 0)
	format_event(cleat_request *req, const char *fmt, va_list ap)
{
	const cleat_allocator *mem = &req->server->mem;
	struct text_event *ev;
	va_list again;
	int n = 0;

	if (fmt) {
		va_copy(again, ap);
		n = vsnprintf(NULL, 0, fmt, again);
		va_end(again);
		n = n < 0 ? 0 : n > NOTE_TEXT_MAX ? NOTE_TEXT_MAX : n;
	}
	ev = mem_zalloc(mem, sizeof *ev + (size_t)n + 1);
	if (!ev)
		return NULL;
	if (fmt)
		vsnprintf(ev->text, (size_t)n + 1, fmt, ap);
	ev->has_text = fmt != NULL;
	ev->len = (size_t)n;
	ev->e.req = req;
	return ev;
}

/* On the owner's thread at once, from others by way of its queue. */
static void hand_over(cleat_request *req, struct text_event *ev)
{
	const struct server_hooks *h = &req->server->hooks;

	if (!ev)
		return;
	atomic_fetch_add(&req->posted, 1);
	if (h->is_owner(h->ctx))
		server_deliver(req->server, &ev->e.base);
	else
		h->post(h->ctx, &ev->e.base);
}

void cleat_request_progress(cleat_request *req, double done, double total, const char *fmt, ...)
{
	struct text_event *ev;
	va_list ap;

	if (!req->ctx.progress_token || cleat_request_cancelled(req))
		return;
	va_start(ap, fmt);
	ev = format_event(req, fmt, ap);
	va_end(ap);
	if (ev) {
		ev->e.kind = EVENT_PROGRESS;
		ev->e.done = done;
		ev->e.total = total;
	}
	hand_over(req, ev);
}

void cleat_request_release(cleat_request *req, uint64_t retry_ms)
{
	struct text_event *ev = mem_zalloc(&req->server->mem, sizeof *ev);

	if (ev)
		ev->e = (struct event){ .kind = EVENT_RELEASE, .req = req, .retry_ms = retry_ms };
	hand_over(req, ev);
}

const char *cleat_request_principal(cleat_request *req)
{
	return req->conn->facts.principal.p;
}

void cleat_request_log(cleat_request *req, int level, const char *fmt, ...)
{
	struct text_event *ev;
	va_list ap;

	if (req->ctx.log_level < 0 || !cleat_log_level_name(level) || req->server->opts.no_logging)
		return;
	va_start(ap, fmt);
	ev = format_event(req, fmt, ap);
	va_end(ap);
	if (ev) {
		ev->e.kind = EVENT_LOG;
		ev->e.level = level;
	}
	hand_over(req, ev);
}
