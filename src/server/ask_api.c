/* server/ask_api.c - the cleat_ask_* functions: a handler's questions, and their answers.
 *
 * The first run of a handler records a question here; the run in which the answer is known gets it
 * from here. How questions travel is in ask.c.
 */
#include "base/error.h"
#include "base/sized.h"
#include "field/field.h"
#include "field/form.h"
#include "request/question.h"
#include "schema/check.h"
#include "server/ask.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"

#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 128, PARAMS_MAX = 1 << 20, STATE_MAX = 4096 };

/* ---- one question -------------------------------------------------------------------------- */

static int misuse(cleat_request *req, const char *what)
{
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "the handler of %s %s", req->msg.method.p,
			   what);
	return CLEAT_EMISUSE;
}

/* The question `key`, made if it is new. NULL with the reason in *rc. */
static struct question *question(cleat_request *req, enum ask_kind kind, const char *key,
				 enum cleat_client_capability needs, int *rc)
{
	struct str k = str_of(key);
	struct question *q, **last = &req->questions;

	*rc = CLEAT_OK;
	if (!req->method->asks)
		*rc = misuse(req, "may not ask the client anything");
	else if (k.n == 0 || k.n > KEY_MAX)
		*rc = misuse(req, "asked with a key that is not 1 to 128 characters long");
	else if (!era_client_can(&req->ctx, needs)) {
		req->missing = (int)needs;
		*rc = CLEAT_EUNSUPPORTED;
	}
	if (*rc)
		return NULL;
	for (q = req->questions; q; last = &q->next, q = q->next)
		if (str_eq(q->key, k))
			break;
	if (q && q->kind != kind) {
		*rc = misuse(req, "asked two different questions with one key");
		return NULL;
	}
	if (!q) {
		q = arena_zalloc(&req->arena, sizeof *q);
		if (!q) {
			*rc = CLEAT_ENOMEM;
			return NULL;
		}
		q->kind = kind;
		q->key = (struct str){ arena_strdup(&req->arena, key), k.n };
		q->req = req;
		*last = q;
	}
	return q;
}

/* Is the answer there? CLEAT_OK and q->answer, or what to tell the handler. */
static int answer(cleat_request *req, struct question *q)
{
	cleat_error err;

	if (!q->answer && !q->failure && q->key.p) { /* modern: it came with the request */
		const cleat_json *v = json_get(req->given, q->key);
		bool sealed = !v;

		if (!v)
			v = json_get(req->earlier, q->key);
		if (v && !sealed && question_check_answer(q, v, &err)) {
			req->ask_failure = arena_printf(&req->arena, "inputResponses.%s: %s",
							q->key.p, err.message);
			return CLEAT_EPROTO;
		}
		q->answer = v;
	}
	if (q->failure)
		return q->failure;
	if (q->answer)
		return CLEAT_OK;
	q->fresh = true;
	return CLEAT_NEED_INPUT;
}

static struct jw begin_params(cleat_request *req, struct buf *b)
{
	struct jw w;

	buf_init(b, &req->server->mem, PARAMS_MAX);
	jw_init(&w, b);
	jw_obj(&w);
	return w;
}

static int end_params(cleat_request *req, struct question *q, struct jw *w)
{
	struct str text;
	int rc;

	jw_obj_end(w);
	text = buf_str(w->b);
	rc = buf_status(w->b);
	if (!rc) {
		q->params.p = arena_strndup(&req->arena, text.p, text.n);
		q->params.n = text.n;
		rc = q->params.p ? CLEAT_OK : CLEAT_ENOMEM;
	}
	buf_done(w->b);
	return rc;
}

/* JSON text of the program; CLEAT_EINVAL when it is not of that type. */
static int program_json(cleat_request *req, const char *key, const char *text,
			enum cleat_json_type type, const cleat_json **ret)
{
	if (!json_parse(&req->arena, str_of(text), NULL, ret, NULL) &&
	    cleat_json_type(*ret) == type)
		return CLEAT_OK;
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
			   "the handler of %s asked with a %s that is not a JSON %s",
			   req->msg.method.p, key, type == CLEAT_JSON_ARRAY ? "array" : "object");
	return CLEAT_EINVAL;
}

/* The same as a member; nothing when it is NULL. */
static int put_member(cleat_request *req, struct jw *w, const char *key, const char *text,
		      enum cleat_json_type type)
{
	const cleat_json *v;
	int rc = text ? program_json(req, key, text, type, &v) : CLEAT_OK;

	if (text && !rc)
		jw_kv_value(w, key, v);
	return rc;
}

/* ---- forms and URLs ------------------------------------------------------------------------ */

/* 2025-11-25 client/elicitation: accept, decline or cancel. */
static int action(const struct question *q)
{
	struct str a = json_str(json_member(q->answer, "action"));

	if (str_eqz(a, "accept"))
		return CLEAT_OK;
	return str_eqz(a, "decline") ? CLEAT_EDECLINED : CLEAT_ECANCELLED;
}

static void form_head(cleat_request *req, struct jw *w, const char *message)
{
	if (req->ctx.features & FEAT_ELICITATION_MODES)
		jw_kv_str(w, "mode", "form");
	jw_kv_str(w, "message", message ? message : "");
}

static int form_params(cleat_request *req, struct question *q, const char *message,
		       const cleat_field *fields)
{
	enum field_schema_style style = ask_form_style(req);
	cleat_error err;
	struct buf b;
	struct jw w;

	if (q->params.p)
		return CLEAT_OK;
	if (field_form_fits(fields, style, &err)) {
		cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
				   "the handler of %s asked with a form that cannot be shown: %s",
				   req->msg.method.p, err.message);
		return CLEAT_EINVAL;
	}
	w = begin_params(req, &b);
	form_head(req, &w, message);
	jw_key(&w, "requestedSchema");
	field_write_schema(&w, fields, style);
	return end_params(req, q, &w);
}

static int bad_answer(cleat_request *req, const struct question *q, struct str why)
{
	req->ask_failure =
		arena_printf(&req->arena, "%s%s: %.*s",
			     req->ctx.era->asks_by_result ? "inputResponses." : "The answer to ",
			     q->key.p, (int)(why.n < 2000 ? why.n : 2000), why.p);
	return CLEAT_EPROTO;
}

static int decode_form(cleat_request *req, const struct question *q, const cleat_field *fields,
		       void *record)
{
	const cleat_json *content = json_member(q->answer, "content");
	struct buf problems;
	int rc;

	buf_init(&problems, &req->server->mem, 8192);
	rc = field_check(fields, content, false, &problems);
	if (rc == CLEAT_EINVAL)
		rc = bad_answer(req, q, buf_str(&problems));
	buf_done(&problems);
	return rc ? rc : field_decode(fields, content, &req->arena, record);
}

int cleat_ask_form(cleat_request *req, const char *key, const char *message,
		   const cleat_field *fields, void *ret_record)
{
	struct question *q;
	cleat_error err;
	int rc;

	if (!req || !fields || (field_count(fields) && !ret_record))
		return CLEAT_EINVAL;
	if (field_table_check(fields, &err) || field_form_check(fields, &err)) {
		cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
				   "the handler of %s asked with wrong form fields: %s",
				   req->msg.method.p, err.message);
		return CLEAT_EINVAL;
	}
	if (field_count(fields))
		memset(ret_record, 0, fields[0].record);
	q = question(req, ASK_FORM, key, CLEAT_CLIENT_FORM, &rc);
	if (q)
		rc = form_params(req, q, message, fields);
	if (!rc)
		rc = answer(req, q);
	if (!rc)
		rc = action(q);
	return rc ? rc : decode_form(req, q, fields, ret_record);
}

int cleat_ask_confirm(cleat_request *req, const char *key, const char *fmt, ...)
{
	static const cleat_field nothing[] = { CLEAT_FIELD_END };
	const char *message;
	va_list ap;

	if (!req || !fmt)
		return CLEAT_EINVAL;
	va_start(ap, fmt);
	message = arena_vprintf(&req->arena, fmt, ap);
	va_end(ap);
	return message ? cleat_ask_form(req, key, message, nothing, NULL) : CLEAT_ENOMEM;
}

/* The requestedSchema of the program, compiled. What is wrong with it is wrong with the program. */
static int take_schema(cleat_request *req, const char *text, const cleat_json **ret_json,
		       cleat_schema **ret)
{
	const cleat_schema_options opts = { .allocator = &req->server->mem };
	cleat_error err;
	int rc = program_json(req, "requestedSchema", text, CLEAT_JSON_OBJECT, ret_json);

	if (rc)
		return rc;
	*ret = form_compile(*ret_json, ask_form_style(req), &opts, &err);
	if (*ret)
		return CLEAT_OK;
	if (err.status == CLEAT_ENOMEM)
		return CLEAT_ENOMEM;
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
			   "the handler of %s asked with a wrong requestedSchema: %s",
			   req->msg.method.p, err.message);
	return CLEAT_EINVAL;
}

static int schema_params(cleat_request *req, struct question *q, const char *message,
			 const cleat_json *schema)
{
	struct buf b;
	struct jw w;

	if (q->params.p)
		return CLEAT_OK;
	w = begin_params(req, &b);
	form_head(req, &w, message);
	jw_kv_value(&w, "requestedSchema", schema);
	return end_params(req, q, &w);
}

/* An accepted form without content is an empty one. */
static int check_content(cleat_request *req, const struct question *q, const cleat_schema *schema,
			 const cleat_json **ret)
{
	const cleat_json *content = json_member(q->answer, "content");
	struct buf problems;
	int rc;

	content = content ? content : json_empty_object();
	buf_init(&problems, &req->server->mem, 8192);
	rc = schema_check(schema, content, "member", &problems);
	if (rc == CLEAT_EINVAL || rc == CLEAT_ELIMIT)
		rc = bad_answer(req, q, buf_str(&problems));
	buf_done(&problems);
	if (!rc)
		*ret = content;
	return rc;
}

int cleat_ask_schema(cleat_request *req, const char *key, const char *message, const char *schema,
		     const cleat_json **ret)
{
	cleat_schema *compiled = NULL;
	const cleat_json *json;
	struct question *q;
	int rc;

	if (!req || !ret)
		return CLEAT_EINVAL;
	*ret = NULL;
	q = question(req, ASK_FORM, key, CLEAT_CLIENT_FORM, &rc);
	if (!q)
		return rc;
	rc = take_schema(req, schema ? schema : "", &json, &compiled);
	if (!rc)
		rc = schema_params(req, q, message, json);
	if (!rc)
		rc = answer(req, q);
	if (!rc)
		rc = action(q);
	if (!rc)
		rc = check_content(req, q, compiled, ret);
	cleat_schema_free(compiled);
	return rc;
}

/* Unique among the questions of this connection; not a secret. */
static const char *new_elicitation_id(cleat_request *req)
{
	return arena_printf(&req->arena, "%08lx-%llx", (unsigned long)req->server->seed,
			    (unsigned long long)++req->server->elicitations);
}

int cleat_ask_url(cleat_request *req, const char *key, const char *message, const char *url)
{
	struct question *q;
	struct buf b;
	struct jw w;
	int rc;

	if (!req)
		return CLEAT_EINVAL;
	q = question(req, ASK_URL, key, CLEAT_CLIENT_URL, &rc);
	if (!q)
		return rc;
	if (!q->params.p) {
		w = begin_params(req, &b);
		jw_kv_str(&w, "mode", "url");
		jw_kv_str(&w, "message", message ? message : "");
		jw_kv_str(&w, "url", url ? url : "");
		if (req->ctx.features & FEAT_ELICITATION_ID) {
			q->elicitation_id = new_elicitation_id(req);
			jw_kv_str(&w, "elicitationId", q->elicitation_id);
		}
		rc = end_params(req, q, &w);
	}
	if (!rc)
		rc = answer(req, q);
	return rc ? rc : action(q);
}

/* ---- sampling and roots -------------------------------------------------------------------- */

static int sampling_messages(cleat_request *req, struct jw *w, const cleat_sampling *s)
{
	if (s->messages)
		return put_member(req, w, "messages", s->messages, CLEAT_JSON_ARRAY);
	jw_key(w, "messages");
	jw_arr(w);
	jw_obj(w);
	jw_kv_str(w, "role", "user");
	jw_key(w, "content");
	content_text(w, req->ctx.features, str_of(s->prompt ? s->prompt : ""), NULL);
	jw_obj_end(w);
	jw_arr_end(w);
	return CLEAT_OK;
}

static int sampling_preferences(cleat_request *req, struct jw *w, const cleat_sampling *s)
{
	if (s->preferences || !s->model_hint)
		return put_member(req, w, "modelPreferences", s->preferences, CLEAT_JSON_OBJECT);
	jw_key(w, "modelPreferences");
	jw_obj(w);
	jw_key(w, "hints");
	jw_arr(w);
	jw_obj(w);
	jw_kv_str(w, "name", s->model_hint);
	jw_obj_end(w);
	jw_arr_end(w);
	jw_obj_end(w);
	return CLEAT_OK;
}

static int sampling_tools(cleat_request *req, struct jw *w, const cleat_sampling *s)
{
	int rc = put_member(req, w, "tools", s->tools, CLEAT_JSON_ARRAY);

	if (!rc && s->tools && s->tool_choice) {
		jw_key(w, "toolChoice");
		jw_obj(w);
		jw_kv_str(w, "mode", s->tool_choice);
		jw_obj_end(w);
	}
	return rc;
}

static int sampling_params(cleat_request *req, struct question *q, const cleat_sampling *s)
{
	struct buf b;
	struct jw w = begin_params(req, &b);
	int rc = sampling_messages(req, &w, s);

	if (!rc)
		rc = sampling_preferences(req, &w, s);
	jw_kv_str(&w, "systemPrompt", s->system);
	if (s->has_temperature) {
		jw_key(&w, "temperature");
		jw_real(&w, s->temperature);
	}
	jw_kv_int(&w, "maxTokens", s->max_tokens ? (int64_t)s->max_tokens : 1000);
	if (!rc)
		rc = put_member(req, &w, "stopSequences", s->stop_sequences, CLEAT_JSON_ARRAY);
	if (!rc)
		rc = put_member(req, &w, "metadata", s->metadata, CLEAT_JSON_OBJECT);
	if (!rc)
		rc = sampling_tools(req, &w, s);
	if (rc) {
		buf_done(&b);
		return rc;
	}
	return end_params(req, q, &w);
}

/* The text of a message: its only block, or the first text block of several (2025-11-25). */
static const char *message_text(const cleat_json *result)
{
	const cleat_json *content = json_member(result, "content");
	cleat_json_iter it = cleat_json_each(content);

	if (json_is_object(content))
		return cleat_json_str(json_member(content, "text"), "");
	while (cleat_json_next(&it))
		if (str_eqz(json_str(json_member(it.value, "type")), "text"))
			return cleat_json_str(json_member(it.value, "text"), "");
	return "";
}

int cleat_ask_sampling_(cleat_request *req, const char *key, const cleat_sampling *given,
			size_t size, const char **ret_text, const cleat_json **ret)
{
	enum cleat_client_capability needs;
	cleat_sampling s;
	cleat_error err;
	struct question *q;
	int rc = SIZED_TAKE(&s, given, size, cleat_sampling, &err);

	if (!req)
		return CLEAT_EINVAL;
	if (rc)
		return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "%s", err.message), rc;
	needs = s.tools ? CLEAT_CLIENT_SAMPLING_TOOLS : CLEAT_CLIENT_SAMPLING;
	if (ret_text)
		*ret_text = "";
	if (ret)
		*ret = NULL;
	q = question(req, ASK_SAMPLING, key, needs, &rc);
	if (q && !q->params.p)
		rc = sampling_params(req, q, &s);
	if (!rc)
		rc = answer(req, q);
	if (rc)
		return rc;
	if (ret_text)
		*ret_text = message_text(q->answer);
	if (ret)
		*ret = q->answer;
	return CLEAT_OK;
}

int cleat_ask_roots(cleat_request *req, const char *key, const cleat_json **ret)
{
	struct question *q;
	int rc;

	if (!req || !ret)
		return CLEAT_EINVAL;
	*ret = NULL;
	q = question(req, ASK_ROOTS, key, CLEAT_CLIENT_ROOTS, &rc);
	if (q && !q->params.p)
		q->params = STR_LIT("{}");
	if (!rc)
		rc = answer(req, q);
	if (!rc)
		*ret = json_member(q->answer, "roots");
	return rc;
}

/* ---- state --------------------------------------------------------------------------------- */

const cleat_json *cleat_request_state(cleat_request *req)
{
	return req ? req->state : NULL;
}

int cleat_request_set_state(cleat_request *req, const char *fmt, ...)
{
	const cleat_json *v;
	struct str text;
	struct build b;
	va_list ap;
	int rc;

	if (!req || !fmt)
		return CLEAT_EINVAL;
	build_init(&b, &req->arena);
	va_start(ap, fmt);
	build_vformat(&b, fmt, ap);
	va_end(ap);
	rc = build_finish(&b, &v, NULL);
	text = rc ? (struct str){ NULL, 0 } : json_text(&req->arena, v);
	if (!rc)
		rc = !text.p ? CLEAT_ENOMEM : text.n > STATE_MAX ? CLEAT_ELIMIT : CLEAT_OK;
	if (!rc)
		req->new_state = v;
	if (rc == CLEAT_EINVAL)
		misuse(req, "set a state that is not JSON");
	else if (rc == CLEAT_ELIMIT)
		misuse(req, "set a state of more than 4 KiB");
	return rc;
}
