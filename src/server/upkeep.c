/* server/upkeep.c - closing, stopping, deadlines, and what waits for memory. See upkeep.h and core.h. */
#include "server/upkeep.h"

#include "request/life.h"
#include "request/out.h"
#include "server/ask.h"
#include "server/batch.h"
#include "server/core.h"
#include "server/notify.h"
#include "server/subscribe.h"

enum { RETRY_MS = 20 }; /* for answers that memory was too short for */

void conn_close(cleat_connection *c)
{
	if (c->closed)
		return;
	c->closed = true;
	conn_each_request(c, request_cancel);
	batch_drop(c);
	subscribe_drop_all(c);
	if (!c->facts.lingers)
		conn_gone(c);
	conn_maybe_free(c);
}

/* Over HTTP a call may finish: the transport waits for it, for a while. */
static void shut_down(cleat_request *req)
{
	if (req->phase == PHASE_LISTENING && !req->behind)
		subscribe_end(req);
	else if (req->phase == PHASE_RUNNING && req->conn->facts.transport == CLEAT_TRANSPORT_HTTP)
		return;
	else if (req->phase != PHASE_UNSENT && req->phase != PHASE_READING)
		request_abort(req, req->ctx.era->cancelled_code, "the server is stopping");
}

static void abort_running(cleat_request *req)
{
	if (req->phase == PHASE_RUNNING)
		request_abort(req, req->ctx.era->cancelled_code, "the server is stopping");
}

static void retry(cleat_request *req)
{
	if (req->phase != PHASE_UNSENT)
		return;
	req->phase = PHASE_READING;
	out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
	request_end(req);
}

/* Requests over their deadline. */
static void expire(cleat_connection *c, uint64_t now)
{
	struct rpc_node *node;

	while ((node = rpc_table_expired(&c->inflight, now))) {
		cleat_request *req = CONTAINER_OF(node, cleat_request, inflight);

		rpc_table_set_deadline(&c->inflight, node, 0);
		if (req->phase != PHASE_LISTENING)
			request_abort(req, CLEAT_RPC_INTERNAL_ERROR, "the request took too long");
	}
}

void server_shutdown(cleat_server *s)
{
	cleat_connection *c, *next;

	s->stopping = true;
	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_each_request(c, shut_down);
		conn_maybe_free(c);
	}
}

void server_abort(cleat_server *s)
{
	cleat_connection *c, *next;

	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_each_request(c, abort_running);
		conn_maybe_free(c);
	}
}

static void sooner(uint64_t *next, uint64_t deadline)
{
	if (deadline && (!*next || deadline < *next))
		*next = deadline;
}

int server_pump(cleat_server *s)
{
	uint64_t now = s->hooks.now_ms(s->hooks.ctx), deadline = 0;
	cleat_connection *c, *next;

	s->pumping = true;
	s->unsent = false;
	notify_flush(s);
	for (c = s->conns; c; c = next) {
		next = c->next;
		c->busy++;
		notify_end_behind(c);
		batch_retry(c);
		conn_each_request(c, retry);
		expire(c, now);
		ask_expire(c, now);
		sooner(&deadline, rpc_table_next_deadline(&c->inflight));
		sooner(&deadline, rpc_table_next_deadline(&c->pending));
		c->busy--;
		conn_maybe_free(c);
	}
	s->pumping = false;
	if (s->unsent)
		sooner(&deadline, now + RETRY_MS);
	if (!deadline)
		return -1;
	return deadline <= now ? 0 : deadline - now > 60000 ? 60000 : (int)(deadline - now);
}
