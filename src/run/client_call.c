/* run/client_call.c - the calls of <cleat/client.h>: templates become params, and a call that waits is a
 * call that starts and a loop that is stepped until its on_done has come.
 *
 * One function at a time waits for a client: a second one could only come from inside a callback of the
 * loop, and is refused. So there is one place to note who waits, and the call's userdata stays the
 * program's own.
 */
#include "base/error.h"
#include "base/sized.h"
#include "client/result.h"
#include "run/client.h"
#include "json/doc.h"
#include "json/writer.h"

/* What is sent has a limit as well: a mistake should not take all memory. */
enum { PARAMS_MAX = 64 << 20 };

/* ---- params ------------------------------------------------------------------------------- */

/* The params of a call while they are written; the first thing that is wrong stays in `err`. */
struct params {
	struct client_run *run;
	struct buf text;
	struct jw w;
	cleat_error err;
};

static void put_template(struct params *p, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
static void put_texts(struct params *p, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
static void named_call(struct params *p, cleat_client *c, const char *tool, const char *args,
		       va_list ap) CLEAT_PRINTF(4, 0);
static void any_call(struct params *p, cleat_client *c, const char *method, const char *fmt,
		     va_list ap) CLEAT_PRINTF(4, 0);

static void params_init(struct params *p, cleat_client *c)
{
	*p = (struct params){ .run = client_runner(c) };
	buf_init(&p->text, &p->run->mem, PARAMS_MAX);
	jw_init(&p->w, &p->text);
}

static void client_call_refuse(struct params *p, const char *why)
{
	if (!p->err.status)
		error_set(&p->err, CLEAT_EINVAL, "%s", why);
}

/* A value that the params must have. */
static void put_name(struct params *p, const char *key, const char *value)
{
	if (!value)
		error_set(&p->err, CLEAT_EINVAL, "the call has no %s: it is NULL", key);
	jw_kv_str(&p->w, key, value ? value : "");
}

/* What a template makes must be an object. */
static void put_template(struct params *p, const char *fmt, va_list ap)
{
	size_t before = buf_size(&p->text);
	cleat_error err;
	struct str all;

	if (p->err.status)
		return;
	if (jw_vformat(&p->w, &err, fmt, ap)) {
		if (!buf_status(&p->text))
			p->err = err;
		return;
	}
	all = buf_str(&p->text);
	if (all.n > before && all.p[before] != '{')
		client_call_refuse(
			p, "the arguments are no object: a template like \"{a: %d}\" makes one");
}

static void put_value(struct params *p, const cleat_json *v)
{
	if (cleat_json_type(v) != CLEAT_JSON_OBJECT)
		client_call_refuse(p, "the arguments are no object");
	jw_value(&p->w, v);
}

/* Arguments of prompts are text (2026-07-28 schema, GetPromptRequestParams). */
static void client_call_put_text(struct params *p, const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: jw_value(&p->w, v); break;
	case CLEAT_JSON_NUMBER: jw_strz(&p->w, cleat_json_number_text(v)); break;
	case CLEAT_JSON_BOOL: jw_strz(&p->w, cleat_json_bool(v, false) ? "true" : "false"); break;
	default:
		client_call_refuse(p, "an argument of a prompt is a text, a number or a boolean");
		break;
	}
}

static void put_texts(struct params *p, const char *fmt, va_list ap)
{
	cleat_doc *doc = p->err.status ? NULL : doc_newv(&p->run->mem, &p->err, fmt, ap);
	cleat_json_iter it = cleat_json_each(cleat_doc_root(doc));

	if (doc && cleat_json_type(cleat_doc_root(doc)) != CLEAT_JSON_OBJECT)
		client_call_refuse(
			p, "the arguments are no object: a template like \"{city: %s}\" makes one");
	jw_obj(&p->w);
	while (!p->err.status && cleat_json_next(&it)) {
		size_t n;
		const char *key = cleat_json_strn(it.key, &n);

		jw_keyn(&p->w, (struct str){ key, n });
		client_call_put_text(p, it.value);
	}
	jw_obj_end(&p->w);
	cleat_doc_free(doc);
}

/* {"name":NAME or "uri":URI, and nothing more so far */
static void begin_named(struct params *p, cleat_client *c, const char *key, const char *value)
{
	params_init(p, c);
	jw_obj(&p->w);
	put_name(p, key, value);
}

static void named_call(struct params *p, cleat_client *c, const char *tool, const char *args,
		       va_list ap)
{
	begin_named(p, c, "name", tool);
	if (args) {
		jw_key(&p->w, "arguments");
		put_template(p, args, ap);
	}
	jw_obj_end(&p->w);
}

static void valued_call(struct params *p, cleat_client *c, const char *tool, const cleat_json *args)
{
	begin_named(p, c, "name", tool);
	if (args) {
		jw_key(&p->w, "arguments");
		put_value(p, args);
	}
	jw_obj_end(&p->w);
}

static void any_call(struct params *p, cleat_client *c, const char *method, const char *fmt,
		     va_list ap)
{
	params_init(p, c);
	if (!method || !*method)
		client_call_refuse(p, "the call has no method");
	if (fmt)
		put_template(p, fmt, ap);
}

/* Is all in order? Otherwise the reason is in p->err. */
static bool params_ok(struct params *p)
{
	int rc = buf_status(&p->text);

	if (!p->err.status && rc)
		error_set(&p->err, rc, "%s", cleat_strstatus(rc));
	return !p->err.status;
}

/* Absent where nothing was written. */
static struct str params_str(const struct params *p)
{
	return buf_size(&p->text) ? buf_str(&p->text) : (struct str){ NULL, 0 };
}

/* ---- starting ----------------------------------------------------------------------------- */

static void take_options(cleat_call_options *o, const cleat_call_options *given, size_t size,
			 cleat_error *err)
{
	cleat_error newer;

	if (SIZED_TAKE(o, given, size, cleat_call_options, &newer) && !err->status)
		*err = newer;
}

static cleat_call *client_call_start(struct params *p, const cleat_call_options *o,
				     struct str method)
{
	cleat_client *c = p->run->client;
	cleat_call *call;

	if (!o->on_done)
		call = NULL;
	else if (params_ok(p))
		call = client_call(c, o, method, params_str(p));
	else if (p->err.status == CLEAT_ENOMEM)
		call = NULL;
	else
		call = client_call_failed(c, o, CLEAT_STEP_ARGUMENTS, &p->err);
	buf_done(&p->text);
	return call;
}

cleat_call *cleat_client_startf_(cleat_client *c, const cleat_call_options *opts, size_t size,
				 const char *tool, const char *args, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, args);
	named_call(&p, c, tool, args, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.err);
	return client_call_start(&p, &o, STR_LIT("tools/call"));
}

cleat_call *cleat_client_start_call_(cleat_client *c, const cleat_call_options *opts, size_t size,
				     const char *tool, const cleat_json *args)
{
	cleat_call_options o;
	struct params p;

	if (!c)
		return NULL;
	valued_call(&p, c, tool, args);
	take_options(&o, opts, size, &p.err);
	return client_call_start(&p, &o, STR_LIT("tools/call"));
}

cleat_call *cleat_client_start_requestf_(cleat_client *c, const cleat_call_options *opts,
					 size_t size, const char *method, const char *params, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.err);
	return client_call_start(&p, &o, str_of(method));
}

static cleat_call *start_list(cleat_client *c, const cleat_call_options *o, enum cleat_list what,
			      cleat_error *err)
{
	if (!err->status && what >= CLEAT_LIST_TOOLS && what <= CLEAT_LIST_PROMPTS)
		return client_call_list(c, o, what);
	if (!err->status)
		error_set(err, CLEAT_EINVAL, "there is no list number %d", (int)what);
	return client_call_failed(c, o, CLEAT_STEP_ARGUMENTS, err);
}

cleat_call *cleat_client_start_list_(cleat_client *c, const cleat_call_options *opts, size_t size,
				     enum cleat_list what)
{
	cleat_error err = { 0 };
	cleat_call_options o;

	take_options(&o, opts, size, &err);
	return c && o.on_done ? start_list(c, &o, what, &err) : NULL;
}

int cleat_client_notifyf(cleat_client *c, const char *method, const char *params, ...)
{
	struct params p;
	va_list ap;
	int rc;

	if (!c)
		return CLEAT_ENOMEM;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	rc = params_ok(&p) ? client_notify(c, str_of(method), params_str(&p)) : p.err.status;
	buf_done(&p.text);
	return rc;
}

/* The owner's thread gives it up at once, so that what is stepped next cannot finish it first; other
 * threads leave a mark. on_done follows from the loop either way. */
void cleat_call_cancel(cleat_call *call)
{
	struct client_run *run = call ? client_runner(cleat_call_client(call)) : NULL;

	if (!run)
		return;
	if (loop_is_owner(run->loop)) {
		client_call_cancel(call);
		return;
	}
	client_call_mark(call);
	loop_post(run->loop, &run->cancel);
}

/* ---- waiting ------------------------------------------------------------------------------ */

struct client_wait {
	bool over;
	cleat_result *result;
};

static void on_waited(cleat_call *call, cleat_result *r)
{
	struct client_run *run = client_runner(cleat_call_client(call));

	*run->wait = (struct client_wait){ .over = true, .result = r };
}

static cleat_result *await(struct client_run *run, const cleat_call *call)
{
	struct client_wait w = { 0 };

	if (!call)
		return NULL;
	run->wait = &w;
	while (!w.over)
		cleat_loop_step(run->loop, -1);
	run->wait = NULL;
	run->stepped_ms = loop_now();
	return w.result;
}

static cleat_result *failed(struct client_run *run, const cleat_error *why)
{
	cleat_result *r = result_new(&run->mem, RESULT_OTHER);

	if (r)
		result_fail(r, CLEAT_STEP_ARGUMENTS, 0, why);
	return r;
}

/* `o` NULL: as usual. */
static cleat_result *perform(struct params *p, const cleat_call_options *o, const char *method)
{
	cleat_call_options mine = o ? *o : (cleat_call_options){ 0 };
	struct client_run *run = p->run;

	if (mine.on_done)
		client_call_refuse(p, "on_done is for calls that do not wait");
	if (!p->err.status)
		client_run_may_wait(run, &p->err);
	if (!params_ok(p)) {
		buf_done(&p->text);
		return p->err.status == CLEAT_ENOMEM ? NULL : failed(run, &p->err);
	}
	mine.on_done = on_waited;
	return await(run, client_call_start(p, &mine, str_of(method)));
}

cleat_result *cleat_client_callf(cleat_client *c, const char *tool, const char *args, ...)
{
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, args);
	named_call(&p, c, tool, args, ap);
	va_end(ap);
	return perform(&p, NULL, "tools/call");
}

cleat_result *cleat_client_call(cleat_client *c, const char *tool, const cleat_json *args)
{
	struct params p;

	if (!c)
		return NULL;
	valued_call(&p, c, tool, args);
	return perform(&p, NULL, "tools/call");
}

cleat_result *cleat_client_read(cleat_client *c, const char *uri)
{
	struct params p;

	if (!c)
		return NULL;
	begin_named(&p, c, "uri", uri);
	jw_obj_end(&p.w);
	return perform(&p, NULL, "resources/read");
}

cleat_result *cleat_client_promptf(cleat_client *c, const char *name, const char *args, ...)
{
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	begin_named(&p, c, "name", name);
	if (args) {
		jw_key(&p.w, "arguments");
		va_start(ap, args);
		put_texts(&p, args, ap);
		va_end(ap);
	}
	jw_obj_end(&p.w);
	return perform(&p, NULL, "prompts/get");
}

/* A template has variables, and a URI a scheme; names of prompts have neither brace nor "://". */
static bool is_uri(const char *ref)
{
	return ref && (strchr(ref, '{') || strstr(ref, "://"));
}

static void put_ref(struct params *p, const char *ref)
{
	jw_key(&p->w, "ref");
	jw_obj(&p->w);
	jw_kv_str(&p->w, "type", is_uri(ref) ? "ref/resource" : "ref/prompt");
	put_name(p, is_uri(ref) ? "uri" : "name", ref);
	jw_obj_end(&p->w);
}

static void put_context(struct params *p, const char *context)
{
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_doc_parse(context, strlen(context), NULL, &p->run->mem, &err);

	if (!doc && !p->err.status)
		error_set(&p->err, err.status == CLEAT_EPROTO ? CLEAT_EINVAL : err.status,
			  "the context: %s", err.message);
	jw_key(&p->w, "context");
	jw_obj(&p->w);
	jw_key(&p->w, "arguments");
	if (doc)
		put_value(p, cleat_doc_root(doc));
	jw_obj_end(&p->w);
	cleat_doc_free(doc);
}

cleat_result *cleat_client_complete(cleat_client *c, const char *ref, const char *argument,
				    const char *typed, const char *context)
{
	struct params p;

	if (!c)
		return NULL;
	params_init(&p, c);
	jw_obj(&p.w);
	put_ref(&p, ref);
	jw_key(&p.w, "argument");
	jw_obj(&p.w);
	put_name(&p, "name", argument);
	jw_kv_str(&p.w, "value", typed ? typed : "");
	jw_obj_end(&p.w);
	if (context)
		put_context(&p, context);
	jw_obj_end(&p.w);
	return perform(&p, NULL, "completion/complete");
}

/* 2026-07-28 has no ping: server/discover is the request that every server answers without doing
 * anything (basic/lifecycle). Which it is, is known when the server is ready. */
cleat_result *cleat_client_ping(cleat_client *c)
{
	cleat_call_options fresh = { .no_cache = true };
	struct params p;

	if (!c)
		return NULL;
	params_init(&p, c);
	cleat_client_open(c); /* where it fails, so does the call */
	return perform(&p, &fresh,
		       cleat_client_era(c) == CLEAT_ERA_MODERN ? "server/discover" : "ping");
}

cleat_result *cleat_client_list(cleat_client *c, enum cleat_list what)
{
	cleat_call_options o = { .on_done = on_waited };
	struct client_run *run = c ? client_runner(c) : NULL;
	cleat_error err = { 0 };

	if (!run)
		return NULL;
	if (client_run_may_wait(run, &err))
		return failed(run, &err);
	return await(run, start_list(c, &o, what, &err));
}

cleat_result *cleat_client_requestf(cleat_client *c, const char *method, const char *params, ...)
{
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	return perform(&p, NULL, method);
}

cleat_result *cleat_client_call_withf_(cleat_client *c, const cleat_call_options *opts, size_t size,
				       const char *tool, const char *args, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, args);
	named_call(&p, c, tool, args, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.err);
	return perform(&p, &o, "tools/call");
}

cleat_result *cleat_client_request_withf_(cleat_client *c, const cleat_call_options *opts,
					  size_t size, const char *method, const char *params, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.err);
	return perform(&p, &o, method);
}
