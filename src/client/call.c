/* client/call.c - the life of a call: begun, sent (perhaps several times), ended once.
 *
 * A call has a new id for each request that is sent for it; its entry in client->calls moves along.
 * What is sent is in message.c, what comes back in answer.c. Ending a call never runs its callback:
 * that is done in client_leave() (turn.c).
 */
#include "client/state.h"

#include "base/error.h"
#include "base/mem.h"
#include "protocol/era.h"
#include "protocol/headers.h"
#include "json/copy.h"
#include "json/parse.h"

#include <stdio.h>

enum { MAX_SPARE = 8, FIRST_CHUNK = 1024 };

/* ---- making --------------------------------------------------------------------------------- */

static cleat_call *call_alloc(cleat_client *c)
{
	struct arena arena;
	cleat_call *call = c->spare;

	/* An on_done that always begins another call would keep a client from ever being closed. */
	if (c->closing && c->n_late++ >= c->opts.max_calls)
		return NULL;
	if (call) {
		c->spare = call->next;
		c->n_spare--;
		arena = call->arena;
		memset(call, 0, sizeof *call);
	} else {
		call = mem_zalloc(&c->mem, sizeof *call);
		if (!call)
			return NULL;
		arena_init(&arena, &c->mem, SIZE_MAX / 2);
		arena.first = FIRST_CHUNK;
	}
	call->arena = arena;
	call->client = c;
	call->progress = -1;
	call->answers = BUF_INIT(&c->mem, MAX_OUT);
	return call;
}

void call_free(cleat_call *call)
{
	cleat_client *c = call->client;

	rounds_done(call);
	visit_done(call);
	pages_free(call);
	buf_done(&call->answers);
	if (c->n_spare >= MAX_SPARE) {
		arena_done(&call->arena);
		mem_free(&c->mem, call);
		return;
	}
	arena_reset(&call->arena); /* large params do not wait for the next call */
	call->next = c->spare;
	c->spare = call;
	c->n_spare++;
}

cleat_call *client_call_new(cleat_client *c, struct build *params)
{
	cleat_call *call = call_alloc(c);

	if (!params)
		return call;
	build_init(params, call ? &call->arena : NULL);
	params->err.status = call ? CLEAT_OK : CLEAT_ENOMEM;
	return call;
}

void client_call_drop(cleat_call *call)
{
	call_free(call);
}

static int check_object(const char *what, const cleat_json *v, cleat_error *err)
{
	if (!json_is_object(v))
		return error_set(err, CLEAT_EINVAL, "the %s: %s instead of an object", what,
				 json_type_name(v));
	if (json_check_keys(v, err) != CLEAT_OK)
		return error_set(err, CLEAT_EINVAL, "the %s: %s", what, err->message);
	return CLEAT_OK;
}

static int keep_options(cleat_call *call, const cleat_call_options *o, cleat_error *err)
{
	int rc;

	call->opts = *o;
	call->opts.log_level = arena_strdup(&call->arena, o->log_level);
	call->opts.meta = NULL;
	if (arena_failed(&call->arena))
		return CLEAT_ENOMEM;
	if (o->log_level && log_level_find(str_of(o->log_level)) < 0)
		return error_set(err, CLEAT_EINVAL, "\"%.40s\" is not a log level", o->log_level);
	if (!o->meta)
		return CLEAT_OK;
	rc = check_object("meta", o->meta, err);
	return rc == CLEAT_OK ? json_copy(&call->arena, o->meta, &call->meta) : rc;
}

/* `params` may be NULL: none. */
static int call_fill(cleat_call *call, const cleat_call_options *o, struct str method,
		     struct build *params, cleat_error *err)
{
	bool some = params && (params->n || params->err.status);
	int rc = keep_options(call, o, err);

	if (rc == CLEAT_OK && some)
		rc = build_finish(params, &call->params, err);
	if (rc == CLEAT_ENOMEM)
		return rc;
	call->method.p = arena_strndup(&call->arena, method.p, method.n);
	call->method.n = method.n;
	if (!call->method.p)
		return CLEAT_ENOMEM;
	if (rc == CLEAT_OK && some)
		rc = check_object("params", call->params, err);
	if (rc == CLEAT_OK) {
		call->name = headers_name(call->method, call->params);
		call->shape = result_shape_of(call->method);
	}
	return rc;
}

static void set_limits(cleat_call *call)
{
	const cleat_client_options *co = &call->client->opts;
	cleat_call_options *o = &call->opts;

	call->idle_ms = o->timeout_ms ? o->timeout_ms : co->timeout_ms;
	if (!o->hard_timeout_ms)
		o->hard_timeout_ms =
			co->hard_timeout_ms > call->idle_ms ? co->hard_timeout_ms : call->idle_ms;
	call_limit(call, call->idle_ms, o->hard_timeout_ms);
}

/* Enters it in the table, under its first id. */
static int call_enter(cleat_call *call)
{
	cleat_client *c = call->client;
	int rc = rpc_table_put_int(&c->calls, &call->node, c->last_id + 1);

	if (rc == CLEAT_OK) {
		c->last_id++;
		set_limits(call);
	}
	return rc;
}

cleat_call *call_internal(cleat_call *call, const char *method, struct build *params,
			  void (*done)(cleat_call *, cleat_result *))
{
	static const cleat_call_options none;
	cleat_error err;

	if (!call)
		return NULL;
	call->done = done;
	if (call_fill(call, &none, str_of(method), params, &err) != CLEAT_OK ||
	    call_enter(call) != CLEAT_OK) {
		call_free(call);
		return NULL;
	}
	return call;
}

static void queue_end(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	call->state = CALL_ENDED;
	call->result = r;
	call->next = NULL;
	if (c->done_last)
		c->done_last->next = call;
	else
		c->done_first = call;
	c->done_last = call;
	if (!c->depth)
		client_arm(c, 0);
}

/* May the program make another call? */
static int admit(cleat_client *c, cleat_error *err)
{
	if (c->closing)
		return error_set(err, CLEAT_ECLOSED, "the client is closed");
	if (c->n_calls > c->opts.max_calls)
		return error_set(err, CLEAT_ELIMIT, "%u calls are under way (opts.max_calls)",
				 c->opts.max_calls);
	return reconnect_admit(c, err);
}

static enum cleat_step admit_step(const cleat_client *c, int rc)
{
	if (rc == CLEAT_ECLOSED && c->closing)
		return CLEAT_STEP_CANCELLED;
	return rc == CLEAT_ELIMIT || !c->error_step ? CLEAT_STEP_ARGUMENTS : c->error_step;
}

cleat_call *call_begin(cleat_call *call, const cleat_call_options *o, struct str method,
		       struct build *params)
{
	cleat_client *c = call->client;
	cleat_error err = { 0 };
	int rc;

	c->n_calls++;
	rc = call_fill(call, o, method, params, &err);
	if (rc == CLEAT_OK) {
		rc = admit(c, &err);
		if (rc != CLEAT_OK) {
			call_fail_error(call, admit_step(c, rc), c->error_http, &err);
			return call;
		}
		rc = call_enter(call);
	} else if (rc != CLEAT_ENOMEM) {
		call_fail_error(call, CLEAT_STEP_ARGUMENTS, 0, &err);
		return call;
	}
	if (rc != CLEAT_OK) {
		c->n_calls--;
		call_free(call);
		return NULL;
	}
	return call;
}

cleat_call *client_call(cleat_call *call, const cleat_call_options *o, struct str method,
			struct build *params)
{
	cleat_result *cached;

	call = call_begin(call, o, method, params);
	if (!call || call->state == CALL_ENDED)
		return call;
	answer_set_key(call, call->params);
	cached = answer_cached(call);
	if (cached)
		call_end(call, cached);
	else
		call_send(call);
	return call;
}

cleat_call *client_call_failed(cleat_client *c, const cleat_call_options *o, enum cleat_step step,
			       const cleat_error *why)
{
	cleat_call *call = call_alloc(c);

	if (!call)
		return NULL;
	c->n_calls++;
	call->opts = *o;
	call_fail_error(call, step, 0, why);
	return call;
}

/* ---- time ----------------------------------------------------------------------------------- */

void call_set_deadline(cleat_call *call)
{
	uint64_t at = call->idle_at;

	if (!at || (call->hard_at && call->hard_at < at))
		at = call->hard_at;
	rpc_table_set_deadline(&call->client->calls, &call->node, at);
	if (at)
		client_arm(call->client, at);
}

void call_limit(cleat_call *call, uint64_t idle_ms, uint64_t hard_ms)
{
	uint64_t now = client_now(call->client);

	call->idle_ms = (unsigned)idle_ms;
	call->idle_at = idle_ms ? now + idle_ms : 0;
	call->hard_at = hard_ms ? now + hard_ms : 0;
	call_set_deadline(call);
}

void call_touch(cleat_call *call)
{
	if (!call->idle_at)
		return;
	call->idle_at = client_now(call->client) + call->idle_ms;
	call_set_deadline(call);
}

/* ---- sending -------------------------------------------------------------------------------- */

/* The next request of this call has a new id (2026-07-28 patterns/mrtr: it MUST). Cannot fail: the
 * entry that is taken out leaves its room. */
static void renumber(cleat_call *call)
{
	cleat_client *c = call->client;
	uint64_t deadline = call->node.deadline;

	if (!call->used) {
		call->used = true;
		return;
	}
	rpc_table_remove(&c->calls, &call->node);
	rpc_table_put_int(&c->calls, &call->node, ++c->last_id);
	rpc_table_set_deadline(&c->calls, &call->node, deadline);
}

static int add_fields(cleat_call *call, struct link_message *m, cleat_error *err)
{
	cleat_client *c = call->client;

	if (!c->link->http || !c->modern || call->shape != RESULT_TOOL)
		return CLEAT_OK;
	if (toolbook_refused(c->tools, call->name, err))
		return CLEAT_EINVAL;
	return toolbook_fields(c->tools, &call->arena, call->name,
			       json_member(call->params, "arguments"), &m->fields, &m->n_fields,
			       err);
}

static int post(cleat_call *call, const struct buf *out, cleat_error *err)
{
	cleat_client *c = call->client;
	bool initialize = call->done && negotiation_is_at(&c->neg, NEGOTIATION_INITIALIZE);
	struct link_message m = { .text = buf_str(out),
				  .kind = LINK_REQUEST,
				  .tag = tag_make(call->node.number),
				  .rev = initialize ? REV_NONE : c->rev,
				  .modern = c->modern,
				  .initialize = initialize,
				  .method = call->method,
				  .name = call->name };
	int rc = buf_status(out);

	if (rc == CLEAT_ELIMIT)
		return error_set(err, rc, "the request is over %d bytes", MAX_OUT);
	if (rc != CLEAT_OK)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	rc = add_fields(call, &m, err);
	if (rc != CLEAT_OK)
		return rc;
	call->state = CALL_SENT;
	call->session = c->session;
	rc = message_post(c, &m);
	if (rc == CLEAT_ELIMIT)
		return error_set(err, rc, "too much waits for the server, which does not read");
	return rc == CLEAT_OK ? rc
			      : error_set(err, rc, "the request could not be sent: %s",
					  cleat_strstatus(rc));
}

/* A stream that has ended takes nothing any more, and says so soon (`down`). The server has not seen the
 * call: once, it may wait for the next one. */
static bool may_wait(cleat_call *call)
{
	bool once = !call->resent && !call->done;

	call->resent = true;
	return once && call->client->phase == CLIENT_READY && !call->client->link->http;
}

void call_send_now(cleat_call *call)
{
	cleat_client *c = call->client;
	struct buf out = message_take(c);
	cleat_error err = { 0 };
	int rc;

	renumber(call);
	call->progress = -1;
	message_request(call, &out);
	rc = post(call, &out, &err);
	message_give(c, &out);
	/* A callback that heard of the message may have ended the call. */
	if (call->state == CALL_ENDED)
		return;
	if (rc == CLEAT_OK)
		call_touch(call);
	else if (rc == CLEAT_ECLOSED && may_wait(call))
		call->state = CALL_WAITING;
	else
		call_fail_error(call,
				rc == CLEAT_EINVAL || rc == CLEAT_ENOMEM ? CLEAT_STEP_ARGUMENTS
									 : CLEAT_STEP_EXCHANGE,
				0, &err);
}

void call_send(cleat_call *call)
{
	cleat_client *c = call->client;

	if (c->phase == CLIENT_READY && !negotiation_stale(&c->neg)) {
		if (!pages_empty(call))
			call_send_now(call);
		return;
	}
	call->state = CALL_WAITING;
	client_start(c);
}

static void send_waiting(cleat_call *call, void *arg)
{
	(void)arg;
	if (call->client->phase == CLIENT_READY)
		call_send(call);
}

void call_flush(cleat_client *c)
{
	call_each(c, CALL_WAITING, send_waiting, NULL);
}

/* ---- ending --------------------------------------------------------------------------------- */

void call_end(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	if (call->state == CALL_ENDED) {
		cleat_result_free(r);
		return;
	}
	asked_forget(call);
	rpc_table_remove(&c->calls, &call->node);
	if (!call->done)
		c->n_calls--;
	queue_end(call, r);
}

const char *call_label(const cleat_call *call, char *to, size_t n)
{
	struct str m = call->method, s = call->name;

	if (m.n > 40)
		m.n = 40;
	if (s.n > 60)
		s.n = 60;
	m.n = m.p ? utf8_valid_prefix(m) : 0;
	s.n = s.p ? utf8_valid_prefix(s) : 0;
	snprintf(to, n, "%.*s%s%.*s", (int)m.n, m.p ? m.p : "", s.n ? " " : "", (int)s.n,
		 s.p ? s.p : "");
	return to;
}

/* What failed comes first: "tools/call add: the server did not answer within 60 s". */
void call_fail_error(cleat_call *call, enum cleat_step step, int http_status,
		     const cleat_error *why)
{
	cleat_result *r = result_new(&call->client->mem, call->shape);
	cleat_error err = *why;
	char label[128];

	call_label(call, label, sizeof label);
	if (*label) {
		error_rpc(&err, why->status, why->rpc_code, "%s: %s", label, why->message);
		err.os_errno = why->os_errno;
	}
	if (r)
		result_fail(r, step, http_status, &err);
	call_end(call, r);
}

void call_fail(cleat_call *call, enum cleat_step step, int status, const char *fmt, ...)
{
	cleat_error err;
	va_list ap;

	va_start(ap, fmt);
	error_vset(&err, status, 0, fmt, ap);
	va_end(ap);
	call_fail_error(call, step, 0, &err);
}

void call_fail_link(cleat_call *call, const struct link_failure *why)
{
	call_fail_error(call, why->step ? why->step : CLEAT_STEP_EXCHANGE, why->http_status,
			&why->error);
}

/* 2026-07-28 patterns/cancellation, Transport-Specific Cancellation: over HTTP closing the exchange
 * says it; elsewhere, and to legacy servers on HTTP too, the notification. 2025-11-25 basic/utilities/
 * cancellation: initialize MUST NOT be cancelled. */
void call_abandon(cleat_call *call, const char *reason)
{
	cleat_client *c = call->client;
	bool initialize = call->done && negotiation_is_at(&c->neg, NEGOTIATION_INITIALIZE);

	if (call->state != CALL_SENT || !c->link)
		return;
	if (!initialize && !(c->link->http && c->modern))
		message_cancel(c, call->node.number, reason);
	if (c->link->http)
		c->link->ops->forget(c->link, tag_make(call->node.number));
}

void call_drop(cleat_call *call, const char *reason)
{
	cleat_client *c;

	if (!call || call->state == CALL_ENDED)
		return;
	c = call->client;
	call_abandon(call, reason);
	rpc_table_remove(&c->calls, &call->node);
	call_free(call);
}

void client_call_cancel(cleat_call *call)
{
	if (call->state == CALL_ENDED)
		return;
	call_abandon(call, "cancelled");
	call_fail(call, CLEAT_STEP_CANCELLED, CLEAT_ECANCELLED, "cancelled");
}

void client_call_mark(cleat_call *call)
{
	atomic_store(&call->marked, true);
}

static void cancel_marked(cleat_call *call, void *arg)
{
	(void)arg;
	if (!call->done && atomic_load(&call->marked))
		client_call_cancel(call);
}

void client_cancel_marked(cleat_client *c)
{
	client_enter(c);
	for (int s = CALL_WAITING; s < CALL_ENDED; s++)
		call_each(c, (enum call_state)s, cancel_marked, NULL);
	client_leave(c);
}

/* ---- finding -------------------------------------------------------------------------------- */

static cleat_call *sent(struct rpc_node *n)
{
	cleat_call *call = n ? CONTAINER_OF(n, cleat_call, node) : NULL;

	return call && call->state == CALL_SENT ? call : NULL;
}

cleat_call *call_by_number(cleat_client *c, int64_t number)
{
	return sent(rpc_table_find_int(&c->calls, number));
}

cleat_call *call_by_tag(cleat_client *c, void *tag)
{
	return tag ? call_by_number(c, tag_id(tag)) : NULL;
}

cleat_call *call_by_id(cleat_client *c, const cleat_json *id)
{
	bool loose;
	cleat_call *call = sent(rpc_table_find_own(&c->calls, id, &loose));

	if (call && loose)
		client_remark(
			c, REMARK_ID,
			"the server writes our ids in another way (\"1\" or 1.0 for 1); they are "
			"taken for the same");
	return call;
}

cleat_call *call_only(cleat_client *c)
{
	cleat_call *only = NULL;

	for (struct rpc_node *n = rpc_table_first(&c->calls); n; n = rpc_table_next(n)) {
		cleat_call *call = sent(n);

		if (!call || call == c->listen)
			continue;
		if (only)
			return NULL;
		only = call;
	}
	return only;
}

/* Callbacks for tracing run in between and may end or begin calls, so there is no place to remember
 * but an id: ids grow, and what is begun in here comes after the last one. */
void call_each(cleat_client *c, enum call_state state, void (*fn)(cleat_call *, void *), void *arg)
{
	uint64_t end = c->calls.serial, seen = 0;
	struct rpc_node *n = rpc_table_first(&c->calls);

	while (n && n->order < end) {
		cleat_call *call = CONTAINER_OF(n, cleat_call, node);

		if (n->order < seen || call->state != state) {
			n = rpc_table_next(n);
			continue;
		}
		seen = n->order + 1;
		fn(call, arg);
		n = rpc_table_first(&c->calls);
	}
}

void *cleat_call_userdata(const cleat_call *call)
{
	return call ? call->opts.userdata : NULL;
}

cleat_client *cleat_call_client(const cleat_call *call)
{
	return call ? call->client : NULL;
}
