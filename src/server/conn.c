/* server/conn.c - see conn.h. */
#include "server/conn.h"
#include "base/cold.h"

#include "base/error.h"
#include "base/mem.h"
#include "server/ask.h"
#include "server/life.h"
#include "server/method.h"
#include "server/notify.h"
#include "server/out.h"
#include "json/copy.h"
#include "json/parse.h"

#include <string.h>

enum {
	BATCH_MAX = 100,
	BATCH_ERRORS_MAX = BATCH_MAX * 8192,
	SESSION_ARENA_MAX = 4 << 20,
	SESSION_ARENA_FIRST = 1024 - 64, /* there may be many idle sessions */
	PENDING_MAX = 1024
};

/* ---- requests ----------------------------------------------------------------------------- */

/* Makes a request findable by its id. Room was reserved, so this cannot fail. */
static void enlist(cleat_request *req)
{
	const cleat_server *s = req->server;
	struct rpc_table *t = &req->conn->inflight;

	if (req->inflight.in_table || req->silent)
		return;
	rpc_table_put(t, &req->inflight, req->msg.id);
	if (s->opts.request_timeout_ms && req->phase != PHASE_LISTENING) {
		rpc_table_set_deadline(t, &req->inflight,
				       s->hooks.now_ms(s->hooks.ctx) + s->opts.request_timeout_ms);
		s->hooks.wake(s->hooks.ctx);
	}
}

/* Most requests are answered before this returns; only the others need a place in the table. */
static void conn_start(cleat_request *req)
{
	struct conn *c = req->conn;
	cleat_request *outer = c->starting;

	req->phase = PHASE_RUNNING;
	req->counted = true;
	c->n_running++;
	req->server->running++;
	c->starting = req;
	method_dispatch(req);
	if (c->starting == req)
		enlist(req);
	c->starting = outer;
}

static COLD void enqueue(cleat_request *req)
{
	struct conn *c = req->conn;

	req->phase = PHASE_QUEUED;
	*c->queue_tail = req;
	c->queue_tail = &req->queue_next;
	c->n_queued++;
}

void conn_start_queued(struct conn *c)
{
	while (c->queue && !c->closed && !c->server->stopping &&
	       c->n_running < c->server->opts.max_inflight) {
		cleat_request *req = c->queue;

		c->queue = req->queue_next;
		if (!c->queue)
			c->queue_tail = &c->queue;
		c->n_queued--;
		conn_start(req);
	}
}

static COLD void server_conn_refuse(cleat_request *req, int code, const char *data,
				    const char *message)
{
	out_error(req, code, data, message);
	request_end(req);
}

/* A second request with an id that is in use is answered without an id: an answer with it would be
 * taken for the answer to the first. */
static COLD void refuse_duplicate(cleat_request *req)
{
	req->msg.id = NULL;
	server_conn_refuse(
		req, CLEAT_RPC_INVALID_REQUEST, NULL,
		"a request with this id is still being served; ids must be unique while in flight");
}

static COLD void refuse_busy(cleat_request *req)
{
	server_conn_refuse(
		req, CLEAT_RPC_INTERNAL_ERROR, NULL,
		"too many requests at once on this connection; wait for answers and try again");
}

/* Here, because the headers are gone when the request has to wait. */
static int check_params(cleat_request *req, cleat_error *err)
{
	const struct entry *e;

	if (!str_eqz(req->msg.method, "tools/call"))
		return CLEAT_OK;
	e = registry_find(&req->server->registry, SHELF_TOOLS,
			  json_str(json_member(req->msg.params, "name")));
	return e ? header_params_check(req->conn->headers, e->headers,
				       json_member(req->msg.params, "arguments"), &req->server->mem,
				       err)
		 : CLEAT_OK;
}

static const struct era *era_for(const struct conn *c, const struct rpc_message *m,
				 const cleat_json *meta)
{
	switch (c->facts.mode) {
	case PEER_MODERN: return &era_modern;
	case PEER_ASKED: return &era_legacy; /* plain results, whatever the revision */
	default: return era_of(&c->session, m, meta);
	}
}

static bool admit(cleat_request *req)
{
	struct conn *c = req->conn;
	const cleat_json *meta = era_meta(&req->msg);
	const struct era *era = era_for(c, &req->msg, meta);
	cleat_error err;
	struct buf data = BUF_INIT(&c->server->mem, 4096);
	int rc;

	req->ctx.meta = meta;
	req->ctx.headers = c->headers;
	rc = era->admit(&c->session, &req->msg, &req->ctx, &data, &err);
	if (!rc && c->headers && era->modern)
		rc = check_params(req, &err);
	if (rc) {
		bool has_data = buf_size(&data) > 0;

		buf_putc(&data, '\0');
		out_error(req, err.rpc_code,
			  has_data && !buf_status(&data) ? buf_str(&data).p : NULL, err.message);
	}
	buf_done(&data);
	return rc == CLEAT_OK;
}

static void receive_request(cleat_request *req)
{
	struct conn *c = req->conn;
	const cleat_server_options *o = &c->server->opts;
	int rc;

	req->taken = true;
	c->taken++;
	if (!admit(req)) {
		request_end(req);
		return;
	}
	req->read = true;
	rc = rpc_table_reserve(&c->inflight);
	if (rpc_table_find(&c->inflight, req->msg.id)) {
		refuse_duplicate(req);
	} else if (str_eqz(req->msg.method, "ping") && !c->server->stopping) {
		conn_start(
			req); /* 2025-11-25 utilities/ping: MUST be answered promptly, so it never waits */
	} else if (rc == CLEAT_ENOMEM) {
		server_conn_refuse(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	} else if (rc || (c->n_running >= o->max_inflight && c->n_queued >= o->max_queued)) {
		refuse_busy(req);
	} else if (c->server->stopping) {
		server_conn_refuse(req, req->ctx.era->cancelled_code, NULL,
				   "the server is stopping");
	} else if (c->n_running >= o->max_inflight) {
		enqueue(req);
		enlist(req);
	} else {
		conn_start(req);
	}
}

/* ---- notifications ------------------------------------------------------------------------ */

/* 2025-11-25 utilities/cancellation, 2026-07-28 patterns/cancellation: unknown, finished and
 * malformed ones are ignored; initialize is never in flight here, so it cannot be cancelled. */
static void receive_cancelled(struct conn *c, const struct rpc_message *m)
{
	struct rpc_node *node = rpc_table_find(&c->inflight, json_member(m->params, "requestId"));

	if (node)
		request_cancel(RPC_CONTAINER(node, cleat_request, inflight));
}

static COLD void receive_notification(struct conn *c, const struct rpc_message *m)
{
	const cleat_server_options *o = &c->server->opts;
	cleat_error err;

	if (m->params && json_check_keys(m->params, &err)) {
		server_note(c->server, CLEAT_LOG_WARNING, "%.*s ignored: %s",
			    (int)(m->method.n < 64 ? m->method.n : 64), m->method.p, err.message);
	} else if (str_eqz(m->method, "notifications/cancelled")) {
		receive_cancelled(c, m);
	} else if (str_eqz(m->method, "notifications/initialized")) {
		if (c->session.open && !c->session.initialized) {
			c->session.initialized = true;
			ask_flush_waiting(c);
		}
	} else if (str_eqz(m->method, "notifications/roots/list_changed")) {
		if (c->session.open && o->on_roots_changed)
			o->on_roots_changed(c->server, o->userdata);
	}
}

/* ---- messages ----------------------------------------------------------------------------- */

static void receive_message(cleat_request *req, const cleat_json *root)
{
	static const struct rpc_rules mcp = { .integer_ids = true,
					      .no_lookalikes = true,
					      .named_params = true };
	struct conn *c = req->conn;
	cleat_error err;

	if (rpc_classify(root, &mcp, &req->msg, &err)) {
		if (req->msg.kind == RPC_RESULT || req->msg.kind == RPC_ERROR)
			server_note(c->server, CLEAT_LOG_WARNING, "a response was ignored: %s",
				    err.message);
		else if (req->msg.kind == RPC_NOTIFICATION) /* never answered, JSON-RPC 2.0, 4.1 */
			server_note(c->server, CLEAT_LOG_WARNING, "a notification was ignored: %s",
				    err.message);
		else
			out_error(req, err.rpc_code, NULL, err.message);
		request_end(req);
		return;
	}
	switch (req->msg.kind) {
	case RPC_REQUEST: receive_request(req); return;
	case RPC_NOTIFICATION: receive_notification(c, &req->msg); break;
	case RPC_RESULT:
	case RPC_ERROR:
		if (c->facts.mode ==
		    PEER_MODERN) { /* 2026-07-28 streamable-http: MUST NOT be sent */
			req->msg.id = NULL;
			out_error(req, CLEAT_RPC_INVALID_REQUEST, NULL,
				  "a response: this server asks nothing by request");
		} else {
			ask_answered(c, &req->msg);
		}
		break;
	case RPC_INVALID: break;
	}
	request_end(req);
}

static void free_batch(struct batch *b, bool lost)
{
	struct conn *c = b->conn;

	if (b->taken && c->sink.ended && !c->closed)
		c->sink.ended(c->sink.ctx, b->tag, lost);
	buf_done(&b->out);
	mem_free(&c->server->mem, b);
}

static int send_batch(struct batch *b)
{
	struct str all = buf_str(&b->out);
	struct out o;

	if (!b->answers || !out_begin_for(&o, b->conn, b->tag, PEER_ANSWER))
		return CLEAT_OK;
	o.limit = SIZE_MAX; /* each member has kept to it */
	buf_append(o.b, all.p, all.n);
	buf_putc(o.b, ']');
	return out_end(&o);
}

/* The array is one more that has to end. Without a request in it, and nothing left to send, it is
 * none. */
static void take_batch(struct batch *b)
{
	if (b->taken)
		return;
	b->taken = true;
	b->conn->taken++;
}

/* The transport cannot carry so much at once: an error without an id says at least that. */
static COLD void lose_batch(struct batch *b, int status)
{
	struct conn *c = b->conn;
	struct out o;

	server_note(c->server, CLEAT_LOG_ERROR, "the answer to a batch was lost: %s",
		    cleat_strstatus(status));
	if (status == CLEAT_ECLOSED || !out_begin_for(&o, c, b->tag, PEER_ANSWER))
		return;
	rpc_write_error(&o.w, NULL, true, CLEAT_RPC_INTERNAL_ERROR,
			STR_LIT("the answers to this batch are too large to be sent together"),
			(struct str){ NULL, 0 });
	out_end(&o);
}

/* Memory that is too short for the answers is waited for, as with PHASE_UNSENT. */
static void finish_batch(struct batch *b)
{
	struct conn *c = b->conn;
	int rc = send_batch(b);

	if (rc == CLEAT_ENOMEM) {
		take_batch(b);
		b->next = c->unsent_batches;
		c->unsent_batches = b;
		c->n_unsent_batches++;
		conn_retry_later(c);
		return;
	}
	if (rc)
		lose_batch(b, rc);
	free_batch(b, rc != CLEAT_OK);
}

void batch_member_done(struct batch *b)
{
	if (--b->open == 0)
		finish_batch(b);
}

static struct batch *take_unsent_batches(struct conn *c)
{
	struct batch *list = c->unsent_batches;

	c->unsent_batches = NULL;
	c->n_unsent_batches = 0;
	return list;
}

/* Each member becomes a message of its own, with memory of its own. */
static int receive_member(struct batch *b, const cleat_json *v)
{
	struct conn *c = b->conn;
	cleat_request *req = request_new(c);
	const cleat_json *root;
	int rc;

	if (!req)
		return CLEAT_ENOMEM;
	rc = json_copy(&req->arena, v, &root);
	req->batch = b;
	req->tag = b->tag;
	b->open++;
	if (rc) {
		request_end(req);
		return rc;
	}
	if (str_eqz(json_str(json_member(root, "method")), "initialize")) {
		req->msg.id = json_member(root, "id");
		server_conn_refuse(req, CLEAT_RPC_INVALID_REQUEST, NULL,
				   "initialize must not be part of a batch");
		return CLEAT_OK;
	}
	receive_message(req, root);
	return CLEAT_OK;
}

static const char *batch_problem(const struct conn *c, const cleat_json *list)
{
	if (!conn_has_revision(c) || !(revision_features(c->session.rev) & FEAT_BATCH))
		return "a batch (JSON array) is only part of revision 2025-03-26, after initialize; send "
		       "one message at a time";
	if (cleat_json_size(list) == 0)
		return "an empty batch";
	if (cleat_json_size(list) > BATCH_MAX)
		return "a batch of more than 100 messages";
	return NULL;
}

static COLD void receive_batch(cleat_request *req, const cleat_json *list)
{
	struct conn *c = req->conn;
	const char *problem = batch_problem(c, list);
	struct batch *b = problem ? NULL : mem_zalloc(&c->server->mem, sizeof *b);
	cleat_json_iter it = cleat_json_each(list);
	int rc = CLEAT_OK;

	if (!b) {
		server_conn_refuse(req,
				   problem ? CLEAT_RPC_INVALID_REQUEST : CLEAT_RPC_INTERNAL_ERROR,
				   NULL, problem ? problem : cleat_strstatus(CLEAT_ENOMEM));
		return;
	}
	b->conn = c;
	b->tag = req->tag;
	b->open = 1;
	/* Results share max_reply; errors of the others, with their ids, come on top of it. */
	buf_init(&b->out, &c->server->mem,
		 c->server->opts.max_reply + BATCH_ERRORS_MAX + c->server->opts.max_message);
	while (!rc && cleat_json_next(&it))
		rc = receive_member(b, it.value);
	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	if (c->taken || b->open > 1)
		take_batch(b);
	request_end(req);
	batch_member_done(b);
}

static COLD void parse_failed(cleat_request *req, int status, const cleat_error *err)
{
	int code = status == CLEAT_ENOMEM   ? CLEAT_RPC_INTERNAL_ERROR
		   : status == CLEAT_ELIMIT ? CLEAT_RPC_INVALID_REQUEST
					    : CLEAT_RPC_PARSE_ERROR;

	server_conn_refuse(req, code, NULL, err->message);
}

static size_t peer_receive(struct peer *p, struct str text, void *tag,
			   const struct peer_headers *headers)
{
	struct conn *c = (struct conn *)(void *)p;
	cleat_request *req;
	const cleat_json *root;
	cleat_error err;
	size_t taken;
	int rc;

	if (c->closed)
		return 0;
	c->lost = false;
	req = request_new(c);
	if (!req) {
		out_lost(c, tag);
		return c->lost ? PEER_LOST : 0;
	}
	req->tag = tag;
	c->headers = headers;
	c->taken = 0;
	c->busy++;
	rc = json_parse(&req->arena, text, &c->server->opts.json, &root, &err);
	if (rc)
		parse_failed(req, rc, &err);
	else if (json_is_array(root))
		receive_batch(req, root);
	else
		receive_message(req, root);
	c->headers = NULL;
	c->busy--;
	taken = !c->taken && c->lost ? PEER_LOST : c->taken;
	conn_maybe_free(c);
	return taken;
}

static void peer_oversize(struct peer *p, size_t limit)
{
	struct conn *c = (struct conn *)(void *)p;
	cleat_request *req = c->closed || !limit ? NULL : request_new(c);

	if (c->closed)
		return;
	if (!req) {
		out_lost(c, NULL);
		return;
	}
	out_errorf(req, CLEAT_RPC_INVALID_REQUEST, NULL,
		   "a message was over the limit of %zu bytes and was not read", limit);
	request_end(req);
}

static void peer_close(struct peer *p)
{
	conn_close((struct conn *)(void *)p);
}

static size_t peer_inflight(const struct peer *p)
{
	const struct conn *c = (const struct conn *)(const void *)p;

	/* a subscription is never answered on its own */
	return c->n_requests - c->n_listening + c->n_unsent_batches;
}

static const char *peer_revision(const struct peer *p)
{
	const struct conn *c = (const struct conn *)(const void *)p;

	return conn_has_revision(c) ? revision_name(c->session.rev) : NULL;
}

/* ---- life --------------------------------------------------------------------------------- */

static const struct peer_ops conn_ops = {
	.receive = peer_receive,
	.oversize = peer_oversize,
	.close = peer_close,
	.inflight = peer_inflight,
	.revision = peer_revision,
};

/* Closed ones may wait for a request that somebody still holds. */
static bool any_open(const cleat_server *s)
{
	const struct conn *c = s->conns;

	while (c && c->closed)
		c = c->next;
	return c != NULL;
}

/* The facts, with a principal of its own. */
static bool take_facts(struct conn *c, const struct peer_facts *facts)
{
	if (!facts)
		return true;
	c->facts = *facts;
	c->facts.principal.p = NULL;
	if (facts->principal.p)
		c->facts.principal.p =
			mem_strndup(&c->server->mem, facts->principal.p, facts->principal.n);
	return c->facts.principal.p || !facts->principal.p;
}

struct peer *server_accept(cleat_server *s, const struct peer_sink *sink,
			   const struct peer_facts *facts)
{
	bool asked = facts && facts->mode == PEER_ASKED;
	struct conn *c = asked && !s->asked ? NULL : mem_zalloc(&s->mem, sizeof *c);
	size_t most = (size_t)s->opts.max_inflight + s->opts.max_queued + s->opts.max_subscriptions;

	if (!c)
		return NULL;
	s->serving = true;
	if (!any_open(s))
		s->stopping = false; /* a server that was stopped is being run again */
	c->peer.ops = &conn_ops;
	c->server = s;
	c->sink = *sink;
	c->queue_tail = &c->queue;
	c->session.log_level = CLEAT_LOG_INFO;
	if (asked)
		c->session.rev = (enum revision)facts->rev;
	arena_init(&c->arena, &s->mem, SESSION_ARENA_MAX);
	c->arena.first = SESSION_ARENA_FIRST;
	if (!take_facts(c, facts)) {
		mem_free(&s->mem, c);
		return NULL;
	}
	rpc_table_init(&c->inflight, &s->mem, most, s->seed);
	rpc_table_init(&c->pending, &s->mem, PENDING_MAX, s->seed);
	c->next = s->conns;
	if (s->conns)
		s->conns->prev = c;
	s->conns = c;
	return &c->peer;
}

/* Each step looks for the first one that was not visited yet. */
void conn_each_request(struct conn *c, void (*fn)(cleat_request *req))
{
	unsigned visit = ++c->visit;
	cleat_request *req;

	c->busy++;
	for (;;) {
		for (req = c->requests; req && req->visit == visit; req = req->next)
			;
		if (!req)
			break;
		req->visit = visit;
		fn(req);
	}
	c->busy--;
}

void conn_close(struct conn *c)
{
	if (c->closed)
		return;
	c->closed = true;
	conn_each_request(c, request_cancel);
	conn_maybe_free(c);
}

/* Over HTTP a call may finish: the transport waits for it, for a while. */
static void shut_down(cleat_request *req)
{
	if (req->phase == PHASE_LISTENING && !req->behind)
		notify_listen_end(req);
	else if (req->phase == PHASE_RUNNING && req->conn->facts.http)
		return;
	else if (req->phase != PHASE_UNSENT && req->phase != PHASE_READING)
		request_abort(req, req->ctx.era->cancelled_code, "the server is stopping");
}

void conn_shutdown(struct conn *c)
{
	conn_each_request(c, shut_down);
	conn_maybe_free(c);
}

static void abort_running(cleat_request *req)
{
	if (req->phase == PHASE_RUNNING)
		request_abort(req, req->ctx.era->cancelled_code, "the server is stopping");
}

void conn_abort(struct conn *c)
{
	conn_each_request(c, abort_running);
	conn_maybe_free(c);
}

static void free_subscriptions(struct conn *c)
{
	while (c->subscriptions) {
		struct subscription *sub = c->subscriptions;

		c->subscriptions = sub->next;
		mem_free(&c->server->mem, sub);
	}
}

void conn_maybe_free(struct conn *c)
{
	cleat_server *s = c->server;
	struct batch *b, *next;

	if (!c->closed || c->n_requests || c->busy)
		return;
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		s->conns = c->next;
	for (b = take_unsent_batches(c); b; b = next) {
		next = b->next;
		free_batch(b, true);
	}
	free_subscriptions(c);
	mem_free(&s->mem, (char *)c->facts.principal.p);
	rpc_table_done(&c->inflight);
	rpc_table_done(&c->pending);
	arena_done(&c->arena);
	mem_free(&s->mem, c);
}

static void retry(cleat_request *req)
{
	if (req->phase != PHASE_UNSENT)
		return;
	req->phase = PHASE_READING;
	out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
	request_end(req);
}

void conn_retry_unsent(struct conn *c)
{
	struct batch *b = take_unsent_batches(c), *next;

	for (; b; b = next) {
		next = b->next;
		finish_batch(b);
	}
	conn_each_request(c, retry);
}

void conn_retry_later(struct conn *c)
{
	const struct server_hooks *h = &c->server->hooks;

	c->server->unsent = true;
	if (!c->server->pumping) /* otherwise server_pump() says when */
		h->wake(h->ctx);
}

void conn_expire(struct conn *c, uint64_t now)
{
	struct rpc_node *node;

	while ((node = rpc_table_expired(&c->inflight, now))) {
		cleat_request *req = RPC_CONTAINER(node, cleat_request, inflight);

		rpc_table_set_deadline(&c->inflight, node, 0);
		if (req->phase != PHASE_LISTENING)
			request_abort(req, CLEAT_RPC_INTERNAL_ERROR, "the request took too long");
	}
}
