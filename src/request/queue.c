/* request/queue.c - see queue.h. */
#include "request/queue.h"

#include "base/cold.h"

/* Makes a request findable by its id, and sets its deadline. */
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
void queue_start(cleat_request *req)
{
	cleat_connection *c = req->conn;
	cleat_request *outer = c->starting;

	req->phase = PHASE_RUNNING;
	req->counted = true;
	c->n_running++;
	req->server->running++;
	c->starting = req;
	c->dispatch(req);
	if (c->starting == req)
		enlist(req);
	c->starting = outer;
}

COLD void queue_wait(cleat_request *req)
{
	cleat_connection *c = req->conn;

	req->phase = PHASE_QUEUED;
	*c->queue_tail = req;
	c->queue_tail = &req->queue_next;
	c->n_queued++;
	enlist(req);
}

void queue_leave(cleat_request *req)
{
	cleat_connection *c = req->conn;
	cleat_request **p = &c->queue;

	while (*p && *p != req)
		p = &(*p)->queue_next;
	if (!*p)
		return;
	*p = req->queue_next;
	if (!*p)
		c->queue_tail = p;
	c->n_queued--;
}

void queue_advance(cleat_connection *c)
{
	while (c->queue && !c->closed && !c->server->stopping &&
	       c->n_running < c->server->opts.max_inflight) {
		cleat_request *req = c->queue;

		c->queue = req->queue_next;
		if (!c->queue)
			c->queue_tail = &c->queue;
		c->n_queued--;
		queue_start(req);
	}
}
