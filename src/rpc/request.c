/* rpc/request.c - requests and notifications of our own, and the responses to them.
 *
 * Every request that was sent ends exactly once: by a response, its deadline, cancellation or close.
 * Its callback never runs while cleat_rpc_request() is on the stack; a response that arrives inside
 * `send` is held until the next tick or message. Not here: the clock, which comes in through
 * cleat_rpc_tick().
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "rpc/peer.h"

#include <limits.h>
#include <string.h>

static struct pending *of_node(struct rpc_node *node)
{
	return CONTAINER_OF(node, struct pending, node);
}

/* ---- the end of a request ----------------------------------------------------------------- */

/* The table forgets it before the callback, which may do anything, also send the next one. */
static void request_finish(cleat_rpc *rpc, struct pending *p, cleat_rpc_response *r)
{
	struct intake *held = p->held;

	r->id = p->node.number;
	rpc_table_remove(&rpc->pending, &p->node);
	if (held)
		rpc->n_held--;
	if (p->on_response)
		p->on_response(p->userdata, r);
	if (held)
		intake_release(held);
	mem_free(&rpc->mem, p);
}

/* Ends without a response. While it is being sent its function is told instead. */
static void abandon(cleat_rpc *rpc, struct pending *p, int status, const char *why)
{
	cleat_rpc_response r = { 0 };

	if (p->sending) {
		p->ended = status;
		rpc_table_remove(&rpc->pending, &p->node);
		return;
	}
	error_set(&r.error, status, "%s", why);
	request_finish(rpc, p, &r);
}

static void deliver(cleat_rpc *rpc, struct pending *p)
{
	cleat_rpc_response r = p->response;

	request_finish(rpc, p, &r);
}

void pending_deliver_held(cleat_rpc *rpc)
{
	struct rpc_node *node = rpc_table_first(&rpc->pending);
	size_t n = rpc->n_held; /* what a callback adds is for the next time */

	while (n > 0 && rpc->n_held > 0 && node) {
		struct pending *p = of_node(node);

		node = rpc_table_next(node);
		if (!p->held || p->sending)
			continue;
		n--;
		deliver(rpc, p);
		node = rpc_table_first(&rpc->pending); /* the callback may have changed anything */
	}
}

void pending_close_all(cleat_rpc *rpc)
{
	struct rpc_node *node;

	while ((node = rpc_table_first(&rpc->pending))) {
		struct pending *p = of_node(node);

		if (p->held && !p->sending)
			deliver(rpc, p);
		else
			abandon(rpc, p, CLEAT_ECLOSED, "the peer was closed before an answer came");
	}
}

/* ---- responses ---------------------------------------------------------------------------- */

static int clamp_code(int64_t code)
{
	return code < INT_MIN ? INT_MIN : code > INT_MAX ? INT_MAX : (int)code;
}

static void fill_response(cleat_rpc_response *r, const struct rpc_message *m, int rc,
			  const cleat_error *err)
{
	*r = (cleat_rpc_response){ 0 };
	if (rc != CLEAT_OK) {
		r->error = *err;
	} else if (m->kind == RPC_RESULT) {
		r->result = m->result;
	} else {
		size_t n = m->error_message.n;

		error_rpc(&r->error, CLEAT_EREMOTE, clamp_code(m->error_code), "%.*s",
			  n < sizeof r->error.message ? (int)n : (int)sizeof r->error.message,
			  m->error_message.p);
		r->error_object = m->error;
	}
}

/* Nobody waits for it: late, a second time, or never asked for. */
static int stray(cleat_rpc *rpc, const cleat_rpc_response *r, const cleat_json *id)
{
	const char *number = cleat_json_number_text(id);

	if (r->error.status != CLEAT_OK)
		peer_notice(rpc, r->error.status, r->error.rpc_code,
			    "an error that answers no request: %s", r->error.message);
	else
		peer_notice(rpc, CLEAT_ENOENT, 0, "a response that answers no request%s%.32s",
			    number ? ": id " : "", number ? number : "");
	return r->error.status == CLEAT_EPROTO ? CLEAT_EPROTO : CLEAT_OK;
}

int pending_response(cleat_rpc *rpc, struct intake *in, const struct rpc_message *m, int rc,
		     const cleat_error *err)
{
	struct rpc_node *node = rpc_table_find(&rpc->pending, m->id);
	struct pending *p = node ? of_node(node) : NULL;
	cleat_rpc_response r;

	fill_response(&r, m, rc, err);
	if (!p || p->held)
		return stray(rpc, &r, m->id);
	if (p->sending) {
		p->response = r;
		p->held = in;
		in->holds++;
		rpc->n_held++;
	} else {
		request_finish(rpc, p, &r);
	}
	return rc;
}

/* ---- sending ------------------------------------------------------------------------------ */

static int check_method(const cleat_rpc *rpc, const char *method)
{
	if (!rpc || !method)
		return CLEAT_EINVAL;
	return rpc->closed ? CLEAT_ECLOSED : CLEAT_OK;
}

/* Writes params, where there are any, and the end. JSON-RPC 2.0, 4.2: a structured value. */
CLEAT_PRINTF(3, 0)
static int write_params(cleat_rpc *rpc, struct jw *w, const char *fmt, va_list ap)
{
	cleat_error err;
	size_t start;
	int rc = CLEAT_OK;

	if (fmt) {
		rpc_params(w);
		start = buf_size(w->b);
		rc = jw_vformat(w, &err, fmt, ap);
		if (rc == CLEAT_OK && buf_str(w->b).p[start] != '{' &&
		    buf_str(w->b).p[start] != '[')
			rc = CLEAT_EINVAL;
	}
	rpc_end(w);
	if (rc == CLEAT_OK)
		rc = buf_status(w->b);
	return rc == CLEAT_OK && buf_size(w->b) > rpc->opts.max_message ? CLEAT_ELIMIT : rc;
}

CLEAT_PRINTF(4, 0)
static int send_request(cleat_rpc *rpc, struct pending *p, const char *method, const char *fmt,
			va_list ap)
{
	struct buf out = peer_take_out(rpc);
	struct jw w;
	int rc;

	jw_init(&w, &out);
	rpc_begin_request(&w, p->node.number, method);
	rc = write_params(rpc, &w, fmt, ap);
	if (rc == CLEAT_OK) {
		p->sending = true;
		rc = peer_send(rpc, buf_str(&out));
		p->sending = false;
	}
	peer_give_back(rpc, &out);
	return p->ended ? p->ended : rc;
}

/* The request did not go out: no callback will come, so a response that is held is dropped. */
static void forget(cleat_rpc *rpc, struct pending *p)
{
	rpc_table_remove(&rpc->pending, &p->node);
	if (p->held) {
		rpc->n_held--;
		intake_release(p->held);
	}
	mem_free(&rpc->mem, p);
}

CLEAT_PRINTF(4, 0)
static int64_t request(cleat_rpc *rpc, const cleat_rpc_request_options *o, const char *method,
		       const char *fmt, va_list ap)
{
	struct pending *p;
	int64_t id;
	int rc;

	p = mem_zalloc(&rpc->mem, sizeof *p);
	if (!p)
		return CLEAT_ENOMEM;
	p->on_response = o->on_response;
	p->userdata = o->userdata;
	p->timeout_ms = o->timeout_ms;
	id = rpc->last_id + 1;
	rc = rpc_table_put_int(&rpc->pending, &p->node, id);
	if (rc != CLEAT_OK) {
		mem_free(&rpc->mem, p);
		return rc;
	}
	rpc->last_id = id;
	rc = send_request(rpc, p, method, fmt, ap);
	if (rc != CLEAT_OK) {
		forget(rpc, p);
		return rc;
	}
	return id;
}

int64_t cleat_rpc_requestv_(size_t size, cleat_rpc *rpc, const cleat_rpc_request_options *opts,
			    const char *method, const char *fmt, va_list ap)
{
	cleat_rpc_request_options o;
	int64_t id = check_method(rpc, method);

	if (id >= 0)
		id = SIZED_TAKE(&o, opts, size, cleat_rpc_request_options, NULL);
	if (id < 0)
		return id;
	peer_enter(rpc);
	id = request(rpc, &o, method, fmt, ap);
	peer_leave(rpc);
	return id;
}

int64_t cleat_rpc_request_(size_t size, cleat_rpc *rpc, const cleat_rpc_request_options *opts,
			   const char *method, const char *fmt, ...)
{
	int64_t id;
	va_list ap;

	va_start(ap, fmt);
	id = cleat_rpc_requestv_(size, rpc, opts, method, fmt, ap);
	va_end(ap);
	return id;
}

int cleat_rpc_notifyv(cleat_rpc *rpc, const char *method, const char *fmt, va_list ap)
{
	int rc = check_method(rpc, method);
	struct buf out;
	struct jw w;

	if (rc != CLEAT_OK)
		return rc;
	peer_enter(rpc);
	out = peer_take_out(rpc);
	jw_init(&w, &out);
	rpc_begin_notification(&w, method);
	rc = write_params(rpc, &w, fmt, ap);
	if (rc == CLEAT_OK)
		rc = peer_send(rpc, buf_str(&out));
	peer_give_back(rpc, &out);
	peer_leave(rpc);
	return rc;
}

int cleat_rpc_notify(cleat_rpc *rpc, const char *method, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = cleat_rpc_notifyv(rpc, method, fmt, ap);
	va_end(ap);
	return rc;
}

int cleat_rpc_cancel(cleat_rpc *rpc, int64_t id)
{
	struct rpc_node *node;

	if (!rpc)
		return CLEAT_EINVAL;
	node = rpc_table_find_int(&rpc->pending, id);
	if (!node)
		return CLEAT_ENOENT;
	peer_enter(rpc);
	abandon(rpc, of_node(node), CLEAT_ECANCELLED, "the request was cancelled");
	peer_leave(rpc);
	return CLEAT_OK;
}

/* ---- time --------------------------------------------------------------------------------- */

static uint64_t later(uint64_t now, uint64_t ms)
{
	uint64_t at = ms < UINT64_MAX - now ? now + ms : UINT64_MAX;

	return at ? at : 1; /* 0 would mean: none */
}

/* New requests are at the end of the table. */
static void anchor(cleat_rpc *rpc)
{
	struct rpc_node *node = rpc_table_last(&rpc->pending);

	for (; node && !of_node(node)->anchored; node = rpc_table_prev(node)) {
		struct pending *p = of_node(node);

		p->anchored = true;
		if (p->timeout_ms)
			rpc_table_set_deadline(&rpc->pending, node,
					       later(rpc->now_ms, p->timeout_ms));
	}
}

static int64_t until_next(const cleat_rpc *rpc)
{
	uint64_t next = rpc_table_next_deadline(&rpc->pending);

	if (rpc->n_held > 0)
		return 0;
	if (!next)
		return -1;
	next = next > rpc->now_ms ? next - rpc->now_ms : 0;
	return next < INT64_MAX ? (int64_t)next : INT64_MAX;
}

int64_t cleat_rpc_tick(cleat_rpc *rpc, uint64_t now_ms)
{
	struct rpc_node *node;
	int64_t wait;

	if (!rpc || rpc->closed)
		return -1;
	peer_enter(rpc);
	if (now_ms > rpc->now_ms)
		rpc->now_ms = now_ms;
	pending_deliver_held(rpc);
	while ((node = rpc_table_expired(&rpc->pending, rpc->now_ms)))
		abandon(rpc, of_node(node), CLEAT_ETIMEOUT, "no answer came in time");
	anchor(rpc);
	wait = until_next(rpc);
	peer_leave(rpc);
	return wait;
}
