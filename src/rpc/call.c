/* rpc/call.c - requests and notifications that came in: handlers and their answers.
 *
 * Every answer goes the same way: open_answer() ends the call's time among the unanswered ones, the
 * text is written, close_answer() sends it (or keeps it for the batch). An answer that cannot be
 * written becomes -32603, so that the other side is never left waiting. Not here: batches (intake.c).
 */
#include "base/error.h"
#include "rpc/peer.h"

enum { SHOWN_NAME = 64 }; /* bytes of a foreign method name in a message */

/* ---- what a handler can ask --------------------------------------------------------------- */

cleat_rpc *cleat_rpc_call_peer(const cleat_rpc_call *call)
{
	return call ? call->in->rpc : NULL;
}

const char *cleat_rpc_call_method(const cleat_rpc_call *call)
{
	return call ? call->method : NULL;
}

const cleat_json *cleat_rpc_call_params(const cleat_rpc_call *call)
{
	return call ? call->params : NULL;
}

const cleat_json *cleat_rpc_param(const cleat_rpc_call *call, size_t index, const char *name)
{
	const cleat_json *params = cleat_rpc_call_params(call);

	if (cleat_json_type(params) == CLEAT_JSON_ARRAY)
		return cleat_json_at(params, index);
	return name ? cleat_json_get(params, name) : NULL;
}

const char *cleat_rpc_call_id(cleat_rpc_call *call)
{
	struct buf text;
	struct jw w;

	if (!call || !call->id)
		return NULL;
	if (call->id_text)
		return call->id_text;
	buf_init(&text, &call->in->arena.mem, call->in->arena.max);
	jw_init(&w, &text);
	jw_value(&w, call->id);
	if (buf_status(&text) == CLEAT_OK)
		call->id_text = arena_strndup(&call->in->arena, buf_str(&text).p, buf_size(&text));
	buf_done(&text);
	return call->id_text;
}

bool cleat_rpc_is_notification(const cleat_rpc_call *call)
{
	return call && !call->id;
}

void *cleat_rpc_userdata(const cleat_rpc_call *call)
{
	return call ? call->userdata : NULL;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* From here on the id is free again: the answer may be read, and the id used, inside `send`. */
static void leave_inflight(cleat_rpc_call *call)
{
	call->answered = true;
	rpc_table_remove(&call->in->rpc->inflight, &call->node);
	call->in->rpc->n_open--;
}

static int end_call(cleat_rpc_call *call, int rc)
{
	cleat_rpc *rpc = call->in->rpc;
	int sent = intake_settled(call->in);

	if (!call->running)
		intake_release(call->in);
	peer_leave(rpc);
	return rc != CLEAT_OK ? rc : sent;
}

/* CLEAT_PENDING: write the answer into *out and close_answer(). Otherwise that was all. */
static int open_answer(cleat_rpc_call *call, struct buf *out)
{
	cleat_rpc *rpc;

	if (!call)
		return CLEAT_EINVAL;
	if (call->answered)
		return CLEAT_EMISUSE;
	rpc = call->in->rpc;
	peer_enter(rpc);
	leave_inflight(call);
	if (!call->due)
		return end_call(call, CLEAT_OK);
	if (rpc->closed)
		return end_call(call, CLEAT_ECLOSED);
	*out = peer_take_out(rpc);
	return CLEAT_PENDING;
}

static int keep_for_batch(cleat_rpc_call *call, struct str text)
{
	struct intake *in = call->in;
	char *copy = arena_strndup(&in->arena, text.p, text.n);

	if (!copy)
		return CLEAT_ENOMEM;
	call->answer = (struct str){ copy, text.n };
	in->answer_bytes += text.n;
	return CLEAT_OK;
}

static int pass_on(cleat_rpc_call *call, const struct buf *out)
{
	int rc = buf_status(out);

	if (rc == CLEAT_OK && call->in->batch)
		return keep_for_batch(call, buf_str(out));
	if (rc == CLEAT_OK)
		rc = peer_send(call->in->rpc, buf_str(out));
	if (rc != CLEAT_OK && !call->in->batch)
		peer_notice(call->in->rpc, rc, 0, "an answer was lost: %s", cleat_strstatus(rc));
	return rc;
}

static bool fits(const cleat_rpc_call *call, const struct buf *out)
{
	size_t max = call->in->rpc->opts.max_message, used = call->in->answer_bytes;

	return used <= max && buf_size(out) <= max - used;
}

/* `rc` is how the writing went, beside what the buffer knows. */
static int close_answer(cleat_rpc_call *call, struct buf *out, int rc)
{
	cleat_rpc *rpc = call->in->rpc;
	int sent;

	if (rc == CLEAT_OK)
		rc = buf_status(out);
	if (rc == CLEAT_OK && !fits(call, out))
		rc = CLEAT_ELIMIT;
	if (rc != CLEAT_OK) {
		cleat_error err;

		error_set(&err, rc, "the answer could not be made: %s", cleat_strstatus(rc));
		buf_truncate(out, 0);
		peer_write_error(rpc, out, call->id, CLEAT_RPC_INTERNAL_ERROR, err.message);
	}
	sent = pass_on(call, out);
	peer_give_back(rpc, out);
	return end_call(call, rc != CLEAT_OK ? rc : sent);
}

int cleat_rpc_reply(cleat_rpc_call *call, const cleat_json *result)
{
	struct buf out;
	struct jw w;
	int rc = open_answer(call, &out);

	if (rc != CLEAT_PENDING)
		return rc;
	jw_init(&w, &out);
	rpc_begin_result(&w, call->id);
	jw_value(&w, result);
	rpc_end(&w);
	return close_answer(call, &out, CLEAT_OK);
}

CLEAT_PRINTF(2, 0)
static int replyv(cleat_rpc_call *call, const char *fmt, va_list ap)
{
	cleat_error err;
	struct buf out;
	struct jw w;
	int rc = open_answer(call, &out);

	if (rc != CLEAT_PENDING)
		return rc;
	jw_init(&w, &out);
	rpc_begin_result(&w, call->id);
	rc = fmt ? jw_vformat(&w, &err, fmt, ap)
		 : error_set(&err, CLEAT_EINVAL, "the template is NULL");
	rpc_end(&w);
	if (rc != CLEAT_OK)
		peer_notice(call->in->rpc, rc, 0, "%s: %s", call->method, err.message);
	return close_answer(call, &out, rc);
}

int cleat_rpc_replyf(cleat_rpc_call *call, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = replyv(call, fmt, ap);
	va_end(ap);
	return rc;
}

int cleat_rpc_reject(cleat_rpc_call *call, int code, const char *fmt, ...)
{
	struct buf out;
	struct jw w;
	char *text = NULL;
	int rc = open_answer(call, &out);

	if (rc != CLEAT_PENDING)
		return rc;
	if (fmt) {
		va_list ap;

		va_start(ap, fmt);
		text = arena_vprintf(&call->in->arena, fmt, ap);
		va_end(ap);
	}
	jw_init(&w, &out);
	if (text)
		rpc_write_error(&w, call->id, true, code, str_of(text), (struct str){ NULL, 0 });
	else
		peer_write_error(call->in->rpc, &out, call->id, code, NULL);
	return close_answer(call, &out, CLEAT_OK);
}

int cleat_rpc_reject_data(cleat_rpc_call *call, int code, const char *message,
			  const cleat_json *data)
{
	struct str text = str_of(message), json = { NULL, 0 };
	struct buf out, d;
	struct jw w;
	int rc = open_answer(call, &out);

	if (rc != CLEAT_PENDING)
		return rc;
	buf_init(&d, &out.mem, out.max);
	if (data) {
		jw_init(&w, &d);
		jw_value(&w, data);
		rc = buf_status(&d);
		json = buf_str(&d);
	} else {
		rc = CLEAT_OK;
	}
	jw_init(&w, &out);
	rpc_write_error(&w, call->id, true, code, text.p ? text : str_of(peer_code_text(code)),
			json);
	buf_done(&d);
	return close_answer(call, &out, rc);
}

int call_refuse(cleat_rpc_call *call, const cleat_error *why)
{
	cleat_rpc *rpc = call->in->rpc;
	struct buf out;
	int rc;

	/* JSON-RPC 2.0, 4.1: the sender of a notification is not told about errors. */
	if (!call->due) {
		peer_notice(rpc, why->status, why->rpc_code, "%s", why->message);
		return CLEAT_OK;
	}
	if (rpc->closed)
		return CLEAT_ECLOSED;
	out = peer_take_out(rpc);
	peer_write_error(rpc, &out, call->id, why->rpc_code, why->message);
	rc = pass_on(call, &out);
	peer_give_back(rpc, &out);
	return rc;
}

/* ---- handlers ----------------------------------------------------------------------------- */

/* For messages: at most SHOWN_NAME bytes, cut between characters. */
static struct str shown(struct str name)
{
	if (name.n > SHOWN_NAME)
		name.n = SHOWN_NAME;
	name.n = utf8_valid_prefix(name);
	return name;
}

static int unknown_method(cleat_rpc_call *call, struct str method)
{
	struct str near = peer_nearest(call->in->rpc, method), name = shown(method);
	cleat_error err;

	if (near.p)
		error_rpc(&err, CLEAT_ENOENT, CLEAT_RPC_METHOD_NOT_FOUND,
			  "there is no method \"%.*s\"; did you mean \"%.*s\"?", STR_ARGS(name),
			  STR_ARGS(near));
	else
		error_rpc(&err, CLEAT_ENOENT, CLEAT_RPC_METHOD_NOT_FOUND,
			  "there is no method \"%.*s\"", STR_ARGS(name));
	return call_refuse(call, &err);
}

/* The handler is back and the call is not answered: a failure, a slip, or a notification. */
static int call_settle(cleat_rpc_call *call, struct str method, int status)
{
	struct str name = shown(method);
	cleat_error err;

	if (status < 0) {
		error_rpc(&err, status, CLEAT_RPC_INTERNAL_ERROR, "%.*s failed: %s", STR_ARGS(name),
			  cleat_strstatus(status));
		return call_refuse(call, &err);
	}
	if (!call->due)
		return CLEAT_OK;
	error_rpc(&err, CLEAT_EMISUSE, CLEAT_RPC_INTERNAL_ERROR, "%.*s returned without an answer",
		  STR_ARGS(name));
	peer_notice(call->in->rpc, err.status, err.rpc_code, "%s", err.message);
	return call_refuse(call, &err);
}

int call_run(cleat_rpc_call *call, struct str method)
{
	cleat_rpc *rpc = call->in->rpc;
	struct method m = peer_method(rpc, method);
	int status = CLEAT_OK, rc = CLEAT_OK;

	call->userdata = m.handler ? m.userdata : rpc->opts.userdata;
	if (!m.handler)
		m.handler = rpc->opts.fallback;
	if (m.handler) {
		call->running = true;
		status = m.handler(call);
		call->running = false;
	}
	if (!call->answered && status == CLEAT_PENDING)
		return CLEAT_OK;
	if (!call->answered) {
		leave_inflight(call);
		rc = m.handler ? call_settle(call, method, status) : unknown_method(call, method);
		intake_settled(call->in); /* never the last: the loop is still reading */
	}
	intake_release(call->in);
	return rc;
}
