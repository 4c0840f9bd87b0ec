/* run/client_call.c - the calls of <cleat/client.h>: templates and values become params, in the memory of
 * the call; and a call that waits is a call that starts and a loop that is stepped until its on_done has
 * come.
 *
 * One function at a time waits for a client: a second one could only come from inside a callback of the
 * loop, and is refused. So there is one place to note who waits, and the call's userdata stays the
 * program's own.
 */
#include "base/error.h"
#include "base/sized.h"
#include "client/result.h"
#include "run/client.h"
#include "json/build.h"
#include "json/doc.h"

/* ---- params ------------------------------------------------------------------------------- */

/* A call and its params while they are built, in the call's own memory. */
struct params {
	struct client_run *run;
	cleat_call *call; /* NULL: out of memory */
	struct build b;
};

static void put_template(struct build *b, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
static void put_texts(struct params *p, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
static void named_call(struct params *p, cleat_client *c, const char *tool, const char *args,
		       va_list ap) CLEAT_PRINTF(4, 0);
static void any_call(struct params *p, cleat_client *c, const char *method, const char *fmt,
		     va_list ap) CLEAT_PRINTF(4, 0);

static void params_init(struct params *p, cleat_client *c)
{
	p->run = client_runner(c);
	p->call = client_call_new(c, &p->b);
}

/* A value that the params must have. */
static void put_name(struct params *p, const char *key, const char *value)
{
	if (!value)
		build_fail(&p->b, CLEAT_EINVAL, "the call has no %s: it is NULL", key);
	build_kv_str(&p->b, key, value);
}

/* What a template makes must be an object. */
static void put_template(struct build *b, const char *fmt, va_list ap)
{
	size_t at = b->n;

	build_vformat(b, fmt, ap);
	if (!b->err.status && cleat_json_type(build_at(b, at)) != CLEAT_JSON_OBJECT)
		build_fail(
			b, CLEAT_EINVAL,
			"the arguments are not an object: a template like \"{a: %%d}\" makes one");
}

static void put_value(struct build *b, const cleat_json *v)
{
	if (cleat_json_type(v) != CLEAT_JSON_OBJECT)
		build_fail(b, CLEAT_EINVAL, "the arguments are not an object");
	build_value(b, v);
}

/* Arguments of prompts are text (2026-07-28 schema, GetPromptRequestParams). */
static void put_text(struct build *b, const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: build_value(b, v); break;
	case CLEAT_JSON_NUMBER: build_strz(b, cleat_json_number_text(v)); break;
	case CLEAT_JSON_BOOL: build_strz(b, cleat_json_bool(v, false) ? "true" : "false"); break;
	default:
		build_fail(b, CLEAT_EINVAL,
			   "an argument of a prompt is a text, a number or a boolean");
		break;
	}
}

static void put_texts(struct params *p, const char *fmt, va_list ap)
{
	cleat_error err = { 0 };
	cleat_doc *doc = doc_newv(&p->run->mem, &err, fmt, ap);
	cleat_json_iter it = cleat_json_each(cleat_doc_root(doc));

	if (!doc)
		build_fail(&p->b, err.status, "%s", err.message);
	else if (cleat_json_type(cleat_doc_root(doc)) != CLEAT_JSON_OBJECT)
		build_fail(
			&p->b, CLEAT_EINVAL,
			"the arguments are not an object: a template like \"{city: %%s}\" makes one");
	build_obj(&p->b);
	while (cleat_json_next(&it)) {
		size_t n;
		const char *key = cleat_json_strn(it.key, &n);

		build_key(&p->b, (struct str){ key, n });
		put_text(&p->b, it.value);
	}
	build_end(&p->b);
	cleat_doc_free(doc);
}

/* {"name":NAME or "uri":URI, and nothing more so far */
static void begin_named(struct params *p, cleat_client *c, const char *key, const char *value)
{
	params_init(p, c);
	build_obj(&p->b);
	put_name(p, key, value);
}

static void named_call(struct params *p, cleat_client *c, const char *tool, const char *args,
		       va_list ap)
{
	begin_named(p, c, "name", tool);
	if (args) {
		build_keyz(&p->b, "arguments");
		put_template(&p->b, args, ap);
	}
	build_end(&p->b);
}

static void valued_call(struct params *p, cleat_client *c, const char *tool, const cleat_json *args)
{
	begin_named(p, c, "name", tool);
	if (args) {
		build_keyz(&p->b, "arguments");
		put_value(&p->b, args);
	}
	build_end(&p->b);
}

static void any_call(struct params *p, cleat_client *c, const char *method, const char *fmt,
		     va_list ap)
{
	params_init(p, c);
	if (!method || !*method)
		build_fail(&p->b, CLEAT_EINVAL, "the call has no method");
	if (fmt)
		put_template(&p->b, fmt, ap);
}

/* ---- starting ----------------------------------------------------------------------------- */

static void take_options(cleat_call_options *o, const cleat_call_options *given, size_t size,
			 cleat_error *err)
{
	cleat_error newer;

	if (SIZED_TAKE(o, given, size, cleat_call_options, &newer) && !err->status)
		*err = newer;
}

/* What was wrong with the params from the start is not a failure of `method`, which may be NULL. */
static cleat_call *client_call_start(struct params *p, const cleat_call_options *o,
				     struct str method)
{
	cleat_client *c = p->run->client;
	cleat_error *err = &p->b.err;

	if (p->call && o->on_done && !err->status)
		return client_call(p->call, o, method, &p->b);
	if (p->call)
		client_call_drop(p->call);
	return err->status == CLEAT_ENOMEM || !o->on_done
		       ? NULL
		       : client_call_failed(c, o, CLEAT_STEP_ARGUMENTS, err);
}

cleat_call *cleat_client_startf_(size_t size, cleat_client *c, const cleat_call_options *opts,
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
	take_options(&o, opts, size, &p.b.err);
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
	take_options(&o, opts, size, &p.b.err);
	return client_call_start(&p, &o, STR_LIT("tools/call"));
}

cleat_call *cleat_client_start_requestf_(size_t size, cleat_client *c,
					 const cleat_call_options *opts, const char *method,
					 const char *params, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.b.err);
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
	const struct client_run *run = c ? client_runner(c) : NULL;
	cleat_error err = { 0 };
	cleat_doc *doc = NULL;
	va_list ap;
	int rc;

	if (!c)
		return CLEAT_ENOMEM;
	va_start(ap, params);
	if (params)
		doc = doc_newv(&run->mem, &err, params, ap);
	va_end(ap);
	if (err.status)
		rc = err.status;
	else if (!method || !*method ||
		 (doc && cleat_json_type(cleat_doc_root(doc)) != CLEAT_JSON_OBJECT))
		rc = CLEAT_EINVAL;
	else
		rc = client_notify(c, str_of(method), cleat_doc_root(doc));
	cleat_doc_free(doc);
	return rc;
}

/* The owner's thread gives it up at once, so that what is stepped next cannot finish it first; other
 * threads leave a mark. on_done follows from the loop either way. */
void cleat_call_cancel(cleat_call *call)
{
	struct client_run *run = call ? client_runner(cleat_call_client(call)) : NULL;

	if (!run)
		return;
	if (client_run_is_owner(run)) {
		client_call_cancel(call);
		return;
	}
	client_call_mark(call);
	if (run->loop)
		loop_post(run->loop, &run->cancel);
	else
		run->poll.wake(run->poll.ctx);
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
	cleat_error *err = &p->b.err;

	if (!p->call)
		return NULL;
	if (mine.on_done)
		build_fail(&p->b, CLEAT_EINVAL, "on_done is for calls that do not wait");
	if (!err->status)
		client_run_may_wait(run, err);
	if (err->status) {
		client_call_drop(p->call);
		return err->status == CLEAT_ENOMEM ? NULL : failed(run, err);
	}
	mine.on_done = on_waited;
	return await(run, client_call(p->call, &mine, str_of(method), &p->b));
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
	build_end(&p.b);
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
		build_keyz(&p.b, "arguments");
		va_start(ap, args);
		put_texts(&p, args, ap);
		va_end(ap);
	}
	build_end(&p.b);
	return perform(&p, NULL, "prompts/get");
}

/* A template has variables, and a URI a scheme; names of prompts have neither brace nor "://". */
static bool is_uri(const char *ref)
{
	return ref && (strchr(ref, '{') || strstr(ref, "://"));
}

static void put_ref(struct params *p, const char *ref)
{
	build_keyz(&p->b, "ref");
	build_obj(&p->b);
	build_kv_str(&p->b, "type", is_uri(ref) ? "ref/resource" : "ref/prompt");
	put_name(p, is_uri(ref) ? "uri" : "name", ref);
	build_end(&p->b);
}

static void put_context(struct params *p, const cleat_json *context)
{
	build_keyz(&p->b, "context");
	build_obj(&p->b);
	build_keyz(&p->b, "arguments");
	put_value(&p->b, context);
	build_end(&p->b);
}

cleat_result *cleat_client_complete(cleat_client *c, const char *ref, const char *argument,
				    const char *typed, const cleat_json *context)
{
	struct params p;

	if (!c)
		return NULL;
	params_init(&p, c);
	build_obj(&p.b);
	put_ref(&p, ref);
	build_keyz(&p.b, "argument");
	build_obj(&p.b);
	put_name(&p, "name", argument);
	build_kv_str(&p.b, "value", typed ? typed : "");
	build_end(&p.b);
	if (context)
		put_context(&p, context);
	build_end(&p.b);
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

cleat_result *cleat_client_call_withf_(size_t size, cleat_client *c, const cleat_call_options *opts,
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
	take_options(&o, opts, size, &p.b.err);
	return perform(&p, &o, "tools/call");
}

cleat_result *cleat_client_request_withf_(size_t size, cleat_client *c,
					  const cleat_call_options *opts, const char *method,
					  const char *params, ...)
{
	cleat_call_options o;
	struct params p;
	va_list ap;

	if (!c)
		return NULL;
	va_start(ap, params);
	any_call(&p, c, method, params, ap);
	va_end(ap);
	take_options(&o, opts, size, &p.b.err);
	return perform(&p, &o, method);
}
