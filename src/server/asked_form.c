/* server/asked_form.c - elicitation/create in the asked mode: a form that the user fills in, or a URL to
 * open.
 *
 * What is sent back always fits: members that were left out get the form's defaults (SEP-1034), then
 * all of it is checked against requestedSchema, and a member that the form does not have is refused.
 * Not here: showing anything to anybody.
 */
#include "field/form.h"
#include "request/life.h"
#include "request/output.h"
#include "server/arguments.h"
#include "server/ask.h"
#include "server/asked_call.h"
#include "server/method.h"
#include "uri/reference.h"
#include "wording/show.h"
#include "json/build.h"
#include "json/parse.h"
#include "json/writer.h"

/* ---- the question --------------------------------------------------------------------------- */

/* Formats are checked: a form has few of them, and they are there to be kept to. */
static cleat_schema_options options(const cleat_request *req)
{
	return (cleat_schema_options){ .allocator = &req->server->mem, .assert_formats = true };
}

bool asked_can_elicit(const cleat_server *s)
{
	return s->asked->who.on_form || s->asked->who.on_url;
}

static bool check_form(cleat_request *req)
{
	const cleat_json *schema = json_member(req->msg.params, "requestedSchema");
	const cleat_schema_options opts = options(req);
	cleat_error err;
	cleat_schema *compiled = form_compile(schema, ask_form_style(req), &opts, &err);

	req->asked->form = schema;
	cleat_schema_free(compiled);
	if (compiled)
		return true;
	if (err.status == CLEAT_ENOMEM)
		return asked_no_memory(req);
	return asked_refuse(req, "params.requestedSchema: %s", err.message);
}

static bool is_letters(struct str s, const char *lower)
{
	return str_eqz(s, lower) || str_lookalike(s, lower);
}

/* 2025-11-25 client/elicitation, URL mode: "a valid URL", which the user is going to open: nothing that
 * a browser, or what else opens URLs, takes for a file or a program. */
static bool check_url(cleat_request *req)
{
	struct str url;
	struct uri u;

	if (!arguments_param(req, "url", &url))
		return false;
	if (uri_split(url, 0, &u) && u.host.n &&
	    (is_letters(u.scheme, "https") || is_letters(u.scheme, "http")))
		return true;
	return asked_refuse(req, "params.url must be an http or https URL with a host");
}

/* 2025-11-25 client/elicitation: a request without a mode is a form. -32602 for a mode that was not
 * declared; what a revision does not have cannot have been. */
static cleat_handler *choose(cleat_request *req, enum shape *ret_shape)
{
	const struct server_asked *who = &req->server->asked->who;
	const cleat_json *mode = json_member(req->msg.params, "mode");
	bool url = str_eqz(json_str(mode), "url");
	cleat_handler *fn = url ? who->on_url : who->on_form;

	*ret_shape = url ? SHAPE_URL : SHAPE_FORM;
	if (mode && !url && !str_eqz(json_str(mode), "form"))
		asked_refuse(req, "params.mode must be \"form\" or \"url\"");
	else if (url && !(req->ctx.features & FEAT_ELICITATION_MODES))
		asked_refuse(req, "revision %s has only forms, no mode \"url\"",
			     revision_name(req->ctx.rev));
	else if (!fn)
		asked_refuse(req, "this client has not declared the mode \"%s\"",
			     url ? "url" : "form");
	else
		return fn;
	return NULL;
}

static void asked_form_settle(cleat_request *req);

static cleat_handler *asked_form_prepare(cleat_request *req)
{
	enum shape shape;
	cleat_handler *fn = choose(req, &shape);
	struct asked_call *call = fn ? asked_begin(req, shape) : NULL;
	struct str message;

	if (!call || !arguments_param(req, "message", &message) ||
	    !(shape == SHAPE_URL ? check_url(req) : check_form(req)))
		return NULL;
	call->settle = asked_form_settle;
	return fn;
}

void asked_elicit(cleat_request *req)
{
	cleat_handler *fn;

	if (!(req->ctx.features & FEAT_ELICITATION)) {
		method_unknown(req);
		return;
	}
	fn = asked_form_prepare(req);
	if (fn)
		request_call(req, fn, req->server->asked->who.blocking, asked_settle);
	else
		request_end(req);
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Is a default good for its own field? One that is not (an empty string where at least one character
 * is wanted, null) is what the server wrote into an empty form: the user has to fill that in. */
static int default_fits(const cleat_request *req, const cleat_json *field, const cleat_json *value,
			bool *ret)
{
	const cleat_schema_options opts = options(req);
	cleat_error err;
	cleat_schema *s = cleat_schema_new(field, &opts, &err);
	int rc = s ? cleat_schema_check(s, value, NULL) : err.status;

	cleat_schema_free(s);
	*ret = rc == CLEAT_OK;
	return rc == CLEAT_ENOMEM ? rc : CLEAT_OK;
}

/* The content, and the defaults of what it leaves out. */
static int write_filled(const cleat_request *req, const cleat_json *content, struct jw *w)
{
	cleat_json_iter it = cleat_json_each(content);
	int rc = CLEAT_OK;
	bool fits;

	jw_obj(w);
	while (cleat_json_next(&it)) {
		jw_keyn(w, json_str(it.key));
		jw_value(w, it.value);
	}
	it = cleat_json_each(json_member(req->asked->form, "properties"));
	while (!rc && cleat_json_next(&it)) {
		const cleat_json *value = json_member(it.value, "default");

		if (!value || json_get(content, json_str(it.key)))
			continue;
		rc = default_fits(req, it.value, value, &fits);
		if (!rc && fits) {
			jw_keyn(w, json_str(it.key));
			jw_value(w, value);
		}
	}
	jw_obj_end(w);
	return rc;
}

/* The server is told the field and not what is in it: errors end up in more logs than forms do. */
static void misfit(cleat_request *req, struct str field, const char *why)
{
	struct buf told;

	buf_init(&told, &req->server->mem, 1024);
	buf_appendz(&told, "the user's answer does not fit the form");
	if (field.n) {
		buf_appendz(&told, ", field ");
		show_quoted(&told, field, SHOW_CHARS);
	}
	buf_putc(&told, '\0');
	asked_misfit(req, buf_status(&told) ? cleat_strstatus(CLEAT_ENOMEM) : buf_str(&told).p,
		     why);
	buf_done(&told);
}

struct complaint {
	cleat_request *req;
	const char *line; /* NULL: none yet */
	struct str field; /* absent: all of it */
};

static void take_first(void *ctx, const cleat_schema_problem *p)
{
	struct complaint *c = ctx;
	const char *name = p->path[0] == '/' ? p->path + 1 : "";
	size_t n = strcspn(name, "/");

	if (c->line)
		return;
	c->line = cleat_request_printf(c->req, "%s", p->line);
	c->field = (struct str){ arena_strndup(&c->req->arena, name, n), n };
}

/* Does the content, defaults and all, fit? If not, it was rejected, or the status says what else is wrong. */
static void asked_form_check(cleat_request *req, const cleat_json *content)
{
	const cleat_schema_options opts = options(req);
	struct complaint c = { .req = req };
	cleat_error err;
	cleat_schema *s = cleat_schema_new(req->asked->form, &opts, &err);
	int rc = s ? cleat_schema_explain(s, content, take_first, &c, &err) : err.status;

	cleat_schema_free(s);
	if (rc == CLEAT_ENOMEM || arena_failed(&req->arena))
		req->status = CLEAT_ENOMEM;
	else if (rc)
		misfit(req, c.field, c.line ? c.line : err.message);
}

/* The first member that is not a field; absent when all are. Members that nobody asked for may be
 * anything, and ElicitResult has only strings, numbers, booleans and choices. */
static struct str stranger(const cleat_request *req, const cleat_json *content)
{
	const cleat_json *fields = json_member(req->asked->form, "properties");
	cleat_json_iter it = cleat_json_each(content);

	while (cleat_json_next(&it))
		if (!json_get(fields, json_str(it.key)))
			return json_str(it.key);
	return (struct str){ NULL, 0 };
}

/* Makes the reply into the content that is sent. */
static void complete(cleat_request *req, const cleat_json *content)
{
	struct build b;
	struct jw w;
	int rc;

	build_init(&b, &req->arena);
	jw_build(&w, &b);
	rc = write_filled(req, content, &w);
	if (!rc)
		rc = build_finish(&b, &req->asked->content, NULL);
	if (rc)
		req->status = rc;
	else
		asked_form_check(req, req->asked->content);
}

static void accept_form(cleat_request *req)
{
	const cleat_json *content = json_empty_object();
	struct str extra;

	if (buf_size(&req->structured)) {
		req->status = output_value(req, NULL);
		content = req->value;
	}
	if (req->status)
		return;
	if (!json_is_object(content)) {
		misfit(req, (struct str){ NULL, 0 }, "it is not an object");
		return;
	}
	extra = stranger(req, content);
	if (extra.p)
		misfit(req, extra, "it has a member that the form does not have");
	else
		complete(req, content);
}

/* 2025-11-25 client/elicitation, response actions. */
static void asked_form_settle(cleat_request *req)
{
	struct asked_call *call = req->asked;
	int status = req->status;

	req->missing = -1;
	if (req->rejected)
		return;
	call->action = status == CLEAT_OK          ? "accept"
		       : status == CLEAT_EDECLINED ? "decline"
						   : "cancel";
	if (status == CLEAT_OK && req->shape == SHAPE_FORM) {
		if (req->replied)
			accept_form(req);
	} else if (status == CLEAT_OK || status == CLEAT_EDECLINED || status == CLEAT_ECANCELLED) {
		req->status = CLEAT_OK;
		req->replied = true;
	}
}

void asked_write_elicited(struct jw *w, cleat_request *req)
{
	const struct asked_call *call = req->asked;

	jw_kv_str(w, "action", call->action);
	if (req->shape == SHAPE_FORM && str_eqz(str_of(call->action), "accept"))
		jw_kv_value(w, "content", call->content);
}
