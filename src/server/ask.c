/* server/ask.c - how questions reach the client and answers come back. See ask.h.
 *
 * Legacy: each open question is a request with an id of ours; the request waits in PHASE_ASKING
 * until all are answered, then its handler runs again. Modern: the questions are the result, and
 * nothing stays behind; answers of earlier rounds and the handler's state are in the sealed
 * requestState (2026-07-28 patterns/mrtr).
 */
#include "server/ask.h"

#include "base/error.h"
#include "protocol/seal.h"
#include "request/conn.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "request/question.h"
#include "json/copy.h"
#include "json/parse.h"

enum { STATE_TOKEN_MAX = 1 << 20 };

/* ---- modern: by result ---------------------------------------------------------------------- */

static int server_key(cleat_server *s, cleat_error *err)
{
	int rc = CLEAT_OK;

	if (!s->has_key)
		rc = crypto_random(s->key, sizeof s->key, err);
	s->has_key = s->has_key || rc == CLEAT_OK;
	return rc;
}

static int bind(cleat_request *req, struct seal_binding *to, cleat_error *err)
{
	*to = (struct seal_binding){ .principal = req->conn->facts.principal,
				     .method = req->msg.method };
	return seal_digest(req->msg.params, &req->server->mem, to->params, err);
}

static bool anything_to_remember(const cleat_request *req)
{
	if (req->new_state || req->state)
		return true;
	for (const struct question *q = req->questions; q; q = q->next)
		if (q->answer)
			return true;
	return false;
}

/* {"r":rounds,"s":state,"a":{key:answer,...}} */
static void write_payload(struct jw *w, const cleat_request *req)
{
	jw_obj(w);
	jw_kv_int(w, "r", (int64_t)req->rounds);
	if (req->new_state)
		jw_kv_value(w, "s", req->new_state);
	else if (req->state)
		jw_kv_value(w, "s", req->state);
	jw_key(w, "a");
	jw_obj(w);
	for (const struct question *q = req->questions; q; q = q->next)
		if (q->answer) {
			jw_keyn(w, q->key);
			jw_value(w, q->answer);
		}
	jw_obj_end(w);
	jw_obj_end(w);
}

static int seal_state(cleat_request *req, struct buf *token, cleat_error *err)
{
	cleat_server *s = req->server;
	int64_t expires = s->hooks.wall_ms(s->hooks.ctx) + (int64_t)s->opts.state_ttl_ms;
	struct seal_binding to;
	struct buf payload;
	struct jw w;
	int rc = server_key(s, err);

	if (!rc)
		rc = bind(req, &to, err);
	if (rc)
		return rc;
	buf_init(&payload, &s->mem, STATE_TOKEN_MAX / 2);
	jw_init(&w, &payload);
	write_payload(&w, req);
	rc = buf_status(&payload);
	if (rc)
		error_set(err, rc, "%s", cleat_strstatus(rc));
	else
		rc = seal_write(s->key, &to, expires, buf_str(&payload), token, err);
	buf_done(&payload);
	return rc;
}

static void write_questions(struct jw *w, const cleat_request *req)
{
	jw_key(w, "inputRequests");
	jw_obj(w);
	for (const struct question *q = req->questions; q; q = q->next) {
		if (!q->fresh)
			continue;
		jw_keyn(w, q->key);
		jw_obj(w);
		jw_kv_str(w, "method", question_method(q));
		jw_kv_raw(w, "params", q->params);
		jw_obj_end(w);
	}
	jw_obj_end(w);
}

static void send_as_result(cleat_request *req)
{
	struct result_facts f = { .input_required = true };
	struct buf token;
	cleat_error err;
	struct out o;
	int rc = CLEAT_OK;

	buf_init(&token, &req->server->mem, STATE_TOKEN_MAX);
	if (anything_to_remember(req))
		rc = seal_state(req, &token, &err);
	if (rc) {
		server_note(req->server, CLEAT_LOG_ERROR, "a requestState could not be made: %s",
			    err.message);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL,
			  "the request's state cannot be kept");
	} else if (result_begin(&o, req, &f)) {
		write_questions(&o.w, req);
		if (buf_size(&token))
			jw_kv_strn(&o.w, "requestState", buf_str(&token));
		rc = result_end(&o, req, &f);
		if (rc)
			out_errorf(req, CLEAT_RPC_INTERNAL_ERROR, NULL,
				   "the handler's questions cannot be sent: %s",
				   cleat_strstatus(rc));
	}
	buf_done(&token);
	request_end(req);
}

static bool refuse_state(cleat_request *req, int status, const char *why)
{
	if (status == CLEAT_ENOMEM || status == CLEAT_EUNSUPPORTED)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, why);
	else
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "params.requestState: %s", why);
	return false;
}

static bool open_state(cleat_request *req, struct str token)
{
	cleat_server *s = req->server;
	const cleat_json *payload = NULL;
	struct seal_binding to;
	struct buf plain;
	cleat_error err;
	int rc = server_key(s, &err);

	if (!rc)
		rc = bind(req, &to, &err);
	buf_init(&plain, &s->mem, STATE_TOKEN_MAX);
	if (!rc)
		rc = seal_read(s->key, &to, s->hooks.wall_ms(s->hooks.ctx), token, &plain, &err);
	if (!rc)
		rc = json_parse(&req->arena, buf_str(&plain), NULL, &payload, &err);
	buf_done(&plain);
	if (rc)
		return refuse_state(req, rc, err.message);
	req->state = json_member(payload, "s");
	req->earlier = json_member(payload, "a");
	req->rounds = (unsigned)cleat_json_uint(json_member(payload, "r"), 0);
	return true;
}

bool ask_restore(cleat_request *req)
{
	const cleat_json *state, *given;
	cleat_error err;

	if (!req->ctx.era->asks_by_result)
		return true;
	state = json_member(req->msg.params, "requestState");
	given = json_member(req->msg.params, "inputResponses");
	if (given && (!json_is_object(given) || json_check_keys(given, &err))) {
		out_error(req, CLEAT_RPC_INVALID_PARAMS, NULL,
			  "params.inputResponses must be an object with one answer for each key of "
			  "inputRequests");
		return false;
	}
	req->given = given;
	if (!state)
		return true;
	if (!json_is_string(state))
		return refuse_state(req, CLEAT_EPROTO, "must be the string that this server sent");
	return open_state(req, json_str(state));
}

/* ---- legacy: by request --------------------------------------------------------------------- */

/* All answers are there, or have failed: the handler runs again. */
static void question_settled(struct question *q)
{
	cleat_request *req = q->req;

	if (--req->open_questions == 0)
		request_run(req);
}

static void send_as_requests(cleat_request *req)
{
	const struct server_hooks *h = &req->server->hooks;
	struct question *q;

	req->phase = PHASE_ASKING;
	req->open_questions = 1; /* held while sending: failures settle at once */
	for (q = req->questions; q; q = q->next) {
		if (!q->fresh || q->answer || q->failure)
			continue;
		req->open_questions++;
		q->failure = question_send(q);
		if (q->failure)
			req->open_questions--;
	}
	h->wake(h->ctx); /* there are deadlines now */
	if (--req->open_questions == 0)
		request_run(req);
}

/* 2025-11-25 basic/lifecycle: before initialized a server sends nothing but pings and logs. */
static bool must_wait(const cleat_request *req)
{
	return !req->conn->session.initialized;
}

static void send_if_waiting(cleat_request *req)
{
	if (req->phase == PHASE_ASKING && req->waits_for_session) {
		req->waits_for_session = false;
		send_as_requests(req);
	}
}

void ask_flush_waiting(cleat_connection *c)
{
	conn_each_request(c, send_if_waiting);
}

static bool any_fresh(const cleat_request *req)
{
	for (const struct question *q = req->questions; q; q = q->next)
		if (q->fresh && !q->answer && !q->failure)
			return true;
	return false;
}

/* The state set in this run is what the next run reads. */
static void ask_by_request(cleat_request *req)
{
	if (req->new_state)
		req->state = req->new_state;
	req->new_state = NULL;
	req->waits_for_session = must_wait(req);
	if (req->waits_for_session)
		req->phase = PHASE_ASKING;
	else
		send_as_requests(req);
}

void ask_send(cleat_request *req)
{
	const char *problem = NULL;

	if (!any_fresh(req))
		problem = "the handler waits for an answer but asked nothing";
	else if (++req->rounds > req->server->opts.max_rounds)
		problem = "the handler asked too many times";
	else if (arena_failed(&req->arena))
		problem = cleat_strstatus(CLEAT_ENOMEM);
	else if (req->server->stopping && !req->ctx.era->asks_by_result)
		problem = "the server is stopping";
	if (problem) {
		server_note(req->server, CLEAT_LOG_ERROR, "%s: %s", req->entry->key.p, problem);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, problem);
		request_end(req);
	} else if (req->ctx.era->asks_by_result) {
		send_as_result(req);
	} else {
		ask_by_request(req);
	}
}

/* Copies the answer into the request, where it lives through all further runs. */
static int take_answer(struct question *q, const cleat_json *result)
{
	cleat_request *req = q->req;
	cleat_error err;

	if (question_check_answer(q, result, &err)) {
		req->next_failure = arena_printf(
			&req->arena, "The client's answer is not usable: %s", err.message);
		return CLEAT_EPROTO;
	}
	return json_copy(&req->arena, result, &q->answer);
}

void ask_answered(cleat_connection *c, const struct rpc_message *m)
{
	bool loose;
	struct rpc_node *node = rpc_table_find_own(&c->pending, m->id, &loose);
	struct question *q;
	cleat_request *req;

	if (!node) {
		server_note(c->server, CLEAT_LOG_NOTICE, "a response to no question was ignored");
		return;
	}
	if (loose)
		server_note(
			c->server, CLEAT_LOG_WARNING,
			"the client writes the id %lld in another way; it is taken for the same",
			(long long)node->number);
	q = CONTAINER_OF(node, struct question, pending);
	req = q->req;
	rpc_table_remove(&c->pending, node);
	if (m->kind == RPC_RESULT) {
		q->failure = take_answer(q, m->result);
	} else {
		q->failure = CLEAT_EREMOTE;
		req->next_failure =
			arena_printf(&req->arena, "The client answered with error %lld: %.*s",
				     (long long)m->error_code,
				     (int)(m->error_message.n < 500 ? m->error_message.n : 500),
				     m->error_message.p);
	}
	question_settled(q);
}

void ask_expire(cleat_connection *c, uint64_t now)
{
	struct rpc_node *node;

	while ((node = rpc_table_expired(&c->pending, now))) {
		struct question *q = CONTAINER_OF(node, struct question, pending);

		question_take_back(q, "no answer in time");
		q->failure = CLEAT_ETIMEOUT;
		question_settled(q);
	}
}
