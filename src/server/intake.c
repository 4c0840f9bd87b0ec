/* server/intake.c - what comes in over a connection: the peer that transports talk to.
 *
 * Decides the era of each message and refuses what is malformed, unknown or too much; what may be served
 * goes on to the queue. Batches are taken apart in batch.c.
 */
#include "base/cold.h"
#include "base/error.h"
#include "request/life.h"
#include "request/out.h"
#include "request/queue.h"
#include "server/ask.h"
#include "server/batch.h"
#include "server/core.h"
#include "server/method.h"
#include "server/upkeep.h"
#include "json/copy.h"
#include "json/mend.h"

/* ---- requests ----------------------------------------------------------------------------- */

static COLD void intake_refuse(cleat_request *req, int code, const char *data, const char *message)
{
	out_error(req, code, data, message);
	request_end(req);
}

/* A second request with an id that is in use is answered without an id: an answer with it would be
 * taken for the answer to the first. */
static COLD void refuse_duplicate(cleat_request *req)
{
	req->msg.id = NULL;
	intake_refuse(
		req, CLEAT_RPC_INVALID_REQUEST, NULL,
		"a request with this id is still being served; ids must be unique while in flight");
}

static COLD void refuse_busy(cleat_request *req)
{
	intake_refuse(
		req, CLEAT_RPC_INTERNAL_ERROR, NULL,
		"too many requests at once on this connection; wait for answers and try again");
}

/* Here, because the headers are gone when the request has to wait. The tool that was found stays. */
static int check_params(cleat_request *req, cleat_error *err)
{
	struct entry *e;

	if (!str_eqz(req->msg.method, "tools/call"))
		return CLEAT_OK;
	e = registry_find(&req->server->registry, SHELF_TOOLS,
			  json_str(json_member(req->msg.params, "name")));
	if (!e)
		return CLEAT_OK;
	request_use(req, e, SHAPE_TOOL);
	return header_params_check(req->conn->headers, e->headers,
				   json_member(req->msg.params, "arguments"), &req->server->mem,
				   err);
}

static const struct era *era_for(const cleat_connection *c, const struct rpc_message *m,
				 const cleat_json *meta)
{
	switch (c->facts.mode) {
	case PEER_MODERN: return &era_modern;
	case PEER_STATELESS:
	case PEER_ASKED: return &era_legacy; /* plain results, whatever the revision */
	default: return era_of(&c->session, m, meta);
	}
}

static bool admit(cleat_request *req)
{
	cleat_connection *c = req->conn;
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
	/* before anything was opened: what is missing of a method that there is not does not matter */
	if (rc && c->facts.mode == PEER_ANY && !json_member(meta, META_PROTOCOL_VERSION) &&
	    !method_exists(req)) {
		method_refuse(req);
	} else if (rc) {
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
	cleat_connection *c = req->conn;
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
		queue_start(
			req); /* 2025-11-25 utilities/ping: MUST be answered promptly, so it never waits */
	} else if (rc == CLEAT_ENOMEM) {
		intake_refuse(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	} else if (rc || (c->n_running >= o->max_inflight && c->n_queued >= o->max_queued)) {
		refuse_busy(req);
	} else if (c->server->stopping) {
		intake_refuse(req, req->ctx.era->cancelled_code, NULL, "the server is stopping");
	} else if (c->n_running >= o->max_inflight) {
		queue_wait(req);
	} else {
		queue_start(req);
	}
}

/* ---- notifications ------------------------------------------------------------------------ */

/* 2025-11-25 utilities/cancellation, 2026-07-28 patterns/cancellation: unknown, finished and
 * malformed ones are ignored; initialize is never in flight here, so it cannot be cancelled. */
static void receive_cancelled(cleat_connection *c, const struct rpc_message *m)
{
	struct rpc_node *node = rpc_table_find(&c->inflight, json_member(m->params, "requestId"));

	if (node)
		request_cancel(CONTAINER_OF(node, cleat_request, inflight));
}

static COLD void receive_notification(cleat_connection *c, const struct rpc_message *m)
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

/* A notification's context: what a request would need to say of itself, it need not. */
static bool admit_notification(cleat_request *req)
{
	cleat_connection *c = req->conn;
	const cleat_json *meta = era_meta(&req->msg);
	const struct era *era = era_for(c, &req->msg, meta);
	struct buf data = BUF_INIT(&c->server->mem, 4096);
	cleat_error err;
	int rc;

	req->ctx.meta = meta;
	req->ctx.headers = c->headers;
	if (era->modern && !json_member(meta, META_PROTOCOL_VERSION)) {
		req->ctx = (struct context){ .era = era,
					     .rev = REV_MODERN,
					     .features = revision_features(REV_MODERN),
					     .meta = meta,
					     .log_level = -1 };
		return true;
	}
	rc = era->admit(&c->session, &req->msg, &req->ctx, &data, &err);
	buf_done(&data);
	if (rc)
		server_note(c->server, CLEAT_LOG_WARNING, "%s ignored: %s", req->msg.method.p,
			    err.message);
	return rc == CLEAT_OK;
}

/* One that the program wants to have. True when it has been taken on. */
static COLD bool receive_own(cleat_request *req)
{
	cleat_connection *c = req->conn;
	const cleat_server_options *o = &c->server->opts;
	const struct entry *e = registry_find(&c->server->registry, SHELF_METHODS, req->msg.method);

	if (!e || !e->method.notification || c->server->stopping || !admit_notification(req))
		return false;
	if (c->n_running >= o->max_inflight && c->n_queued >= o->max_queued) {
		server_note(c->server, CLEAT_LOG_WARNING, "%s ignored: too much at once", e->key.p);
		return false;
	}
	req->silent = true;
	request_let_go(req);
	if (c->n_running >= o->max_inflight)
		queue_wait(req);
	else
		queue_start(req);
	return true;
}

/* ---- messages ----------------------------------------------------------------------------- */

static void receive_message(cleat_request *req, const cleat_json *root)
{
	static const struct rpc_rules mcp = { .integer_ids = true,
					      .no_lookalikes = true,
					      .named_params = true };
	cleat_connection *c = req->conn;
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
	case RPC_NOTIFICATION:
		if (receive_own(req))
			return;
		receive_notification(c, &req->msg);
		break;
	case RPC_RESULT:
	case RPC_ERROR:
		if (c->facts.mode ==
		    PEER_MODERN) { /* 2026-07-28 streamable-http: MUST NOT be sent */
			req->msg.id = NULL;
			out_error(req, CLEAT_RPC_INVALID_REQUEST, NULL,
				  "a response: this server asks nothing by request");
		} else {
			if (req->msg.null_beside)
				server_note(
					c->server, CLEAT_LOG_WARNING,
					"a response has \"result\" and \"error\", one of them null, which is overlooked");
			ask_answered(c, &req->msg);
		}
		break;
	case RPC_INVALID: break;
	}
	request_end(req);
}

static int parse(cleat_request *req, struct str text, const cleat_json **ret, cleat_error *err)
{
	cleat_server *s = req->server;
	unsigned mended;
	int rc = json_parse_peer(&req->arena, text, &s->opts.json, ret, &mended, err);

	if (!mended)
		return rc;
	server_note(s, CLEAT_LOG_WARNING, "%s", json_mended_words(mended));
	/* An answer would have another id than the request, and nobody would wait for it. */
	if (!rc && mended & JSON_MENDED_SURROGATE &&
	    strstr(cleat_json_str(json_member(*ret, "id"), ""), "\xEF\xBF\xBD"))
		return error_set(err, CLEAT_EPROTO,
				 "\"id\" has half of a surrogate pair, which cannot be sent back");
	return rc;
}

static COLD void parse_failed(cleat_request *req, int status, const cleat_error *err)
{
	int code = status == CLEAT_ENOMEM   ? CLEAT_RPC_INTERNAL_ERROR
		   : status == CLEAT_ELIMIT ? CLEAT_RPC_INVALID_REQUEST
					    : CLEAT_RPC_PARSE_ERROR;

	intake_refuse(req, code, NULL, err->message);
}

/* A message that is text, or a value. */
static size_t intake_take(cleat_connection *c, struct str text, const cleat_json *value, void *tag,
			  const struct peer_headers *headers)
{
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
	rc = value ? json_copy(&req->arena, value, &root) : parse(req, text, &root, &err);
	if (rc)
		parse_failed(req, rc, &err);
	else if (json_is_array(root))
		batch_read(req, root, receive_message);
	else
		receive_message(req, root);
	c->headers = NULL;
	c->busy--;
	taken = !c->taken && c->lost ? PEER_LOST : c->taken;
	conn_maybe_free(c);
	return taken;
}

static size_t peer_receive(struct peer *p, struct str text, void *tag,
			   const struct peer_headers *headers)
{
	return intake_take((cleat_connection *)(void *)p, text, NULL, tag, headers);
}

static size_t peer_take(struct peer *p, const cleat_json *message, void *tag)
{
	return intake_take((cleat_connection *)(void *)p, (struct str){ NULL, 0 }, message, tag,
			   NULL);
}

static void peer_oversize(struct peer *p, size_t limit)
{
	cleat_connection *c = (cleat_connection *)(void *)p;
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
	conn_close((cleat_connection *)(void *)p);
}

static void peer_gone(struct peer *p)
{
	cleat_connection *c = (cleat_connection *)(void *)p;

	conn_gone(c);
	conn_maybe_free(c);
}

static size_t peer_inflight(const struct peer *p)
{
	const cleat_connection *c = (const cleat_connection *)(const void *)p;

	/* a subscription is never answered on its own */
	return c->n_requests - c->n_listening + c->n_unsent_batches;
}

static const char *peer_revision(const struct peer *p)
{
	const cleat_connection *c = (const cleat_connection *)(const void *)p;

	return conn_has_revision(c) ? revision_name(c->session.rev) : NULL;
}

/* ---- life --------------------------------------------------------------------------------- */

static const struct peer_ops conn_ops = {
	.receive = peer_receive,
	.take = peer_take,
	.oversize = peer_oversize,
	.close = peer_close,
	.gone = peer_gone,
	.inflight = peer_inflight,
	.revision = peer_revision,
};

/* Closed ones may wait for a request that somebody still holds. */
static bool any_open(const cleat_server *s)
{
	const cleat_connection *c = s->conns;

	while (c && c->closed)
		c = c->next;
	return c != NULL;
}

struct peer *server_accept(cleat_server *s, const struct peer_sink *sink,
			   const struct peer_facts *facts)
{
	bool asked = facts && facts->mode == PEER_ASKED;
	bool again = !any_open(s);
	cleat_connection *c = asked && !s->asked ? NULL : conn_new(s, sink, facts);

	if (!c)
		return NULL;
	c->peer.ops = &conn_ops;
	c->dispatch = method_dispatch;
	s->serving = true;
	if (again)
		s->stopping = false; /* a server that was stopped is being run again */
	if (s->opts.on_open)
		s->opts.on_open(c, s->opts.userdata);
	return &c->peer;
}
