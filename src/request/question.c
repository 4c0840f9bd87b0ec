/* request/question.c - see question.h. */
#include "request/question.h"

#include "base/error.h"
#include "request/out.h"
#include "json/parse.h"

const char *question_method(const struct question *q)
{
	switch (q->kind) {
	case ASK_SAMPLING: return "sampling/createMessage";
	case ASK_ROOTS: return "roots/list";
	default: return "elicitation/create";
	}
}

/* ---- what an answer must look like ---------------------------------------------------------- */

static int check_elicitation(const struct question *q, const cleat_json *v, cleat_error *err)
{
	struct str action = json_str(json_member(v, "action"));
	const cleat_json *content = json_member(v, "content");

	if (!str_eqz(action, "accept") && !str_eqz(action, "decline") && !str_eqz(action, "cancel"))
		return error_set(err, CLEAT_EPROTO,
				 "\"action\" must be \"accept\", \"decline\" or \"cancel\"");
	if (q->kind == ASK_FORM && str_eqz(action, "accept") && content && !json_is_object(content))
		return error_set(err, CLEAT_EPROTO, "\"content\" must be an object, not %s",
				 json_type_name(content));
	return CLEAT_OK;
}

static int check_sampling(const cleat_json *v, cleat_error *err)
{
	const cleat_json *content = json_member(v, "content");

	if (!json_is_string(json_member(v, "role")) || !json_is_string(json_member(v, "model")))
		return error_set(err, CLEAT_EPROTO, "\"role\" and \"model\" must be strings");
	if (!json_is_object(content) && !json_is_array(content))
		return error_set(err, CLEAT_EPROTO,
				 "\"content\" must be an object or an array, not %s",
				 json_type_name(content));
	return CLEAT_OK;
}

int question_check_answer(const struct question *q, const cleat_json *v, cleat_error *err)
{
	if (!json_is_object(v))
		return error_set(err, CLEAT_EPROTO, "the answer to %s must be an object, not %s",
				 question_method(q), json_type_name(v));
	if (json_check_keys(v, err))
		return CLEAT_EPROTO;
	switch (q->kind) {
	case ASK_SAMPLING: return check_sampling(v, err);
	case ASK_ROOTS:
		return json_is_array(json_member(v, "roots"))
			       ? CLEAT_OK
			       : error_set(err, CLEAT_EPROTO, "\"roots\" must be an array");
	default: return check_elicitation(q, v, err);
	}
}

/* ---- on its way -------------------------------------------------------------------------------- */

int question_send(struct question *q)
{
	cleat_request *req = q->req;
	cleat_connection *c = req->conn;
	const struct server_hooks *h = &req->server->hooks;
	struct out o;
	int rc = rpc_table_put_int(&c->pending, &q->pending, ++c->next_id);

	if (rc)
		return rc;
	if (!out_begin(&o, c, req, PEER_MUST))
		rc = CLEAT_ECLOSED;
	if (!rc) {
		o.kind = PEER_REQUEST;
		rpc_begin_request(&o.w, c->next_id, question_method(q));
		rpc_params(&o.w);
		jw_raw(&o.w, q->params);
		rpc_end(&o.w);
		rc = out_end(&o);
	}
	if (rc)
		rpc_table_remove(&c->pending, &q->pending);
	else
		rpc_table_set_deadline(&c->pending, &q->pending,
				       h->now_ms(h->ctx) + req->server->opts.ask_timeout_ms);
	return rc;
}

void question_take_back(struct question *q, const char *reason)
{
	cleat_connection *c = q->req->conn;
	struct out o;

	rpc_table_remove(&c->pending, &q->pending);
	if (!out_begin(&o, c, q->req, PEER_MUST))
		return;
	rpc_begin_notification(&o.w, "notifications/cancelled");
	rpc_params(&o.w);
	jw_obj(&o.w);
	jw_kv_int(&o.w, "requestId", q->pending.number);
	jw_kv_str(&o.w, "reason", reason);
	jw_obj_end(&o.w);
	rpc_end(&o.w);
	out_end(&o);
}

void questions_abandon(cleat_request *req)
{
	for (struct question *q = req->questions; q; q = q->next)
		if (q->pending.in_table)
			question_take_back(q, "the request that asked was cancelled");
}

void cleat_ask_url_done(cleat_request *req, const char *key)
{
	struct question *q = req ? req->questions : NULL;
	struct out o;

	while (q && !str_eqz(q->key, key))
		q = q->next;
	if (!q || !q->elicitation_id || !out_begin(&o, req->conn, req, PEER_MUST))
		return;
	rpc_begin_notification(&o.w, "notifications/elicitation/complete");
	rpc_params(&o.w);
	jw_obj(&o.w);
	jw_kv_str(&o.w, "elicitationId", q->elicitation_id);
	jw_obj_end(&o.w);
	rpc_end(&o.w);
	out_end(&o);
}
