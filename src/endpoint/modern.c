/* endpoint/modern.c - 2026-07-28: a POST is a request, its answer is the answer. Where no sessions are wanted,
 * the same for messages of the legacy era.
 *
 * A connection has one peer for as long as the client keeps it (and is the same principal), because
 * requests on it come one after the other; nothing is remembered from one to the next. When the
 * client closes the connection before the answer is complete, the peer is closed, which cancels what
 * runs (streamable-http: Cancellation).
 */
#include "endpoint/impl.h"

#include "base/mem.h"

enum { KEEP_BUF = 64 * 1024 };

struct modern {
	struct place place; /* first */
	struct endpoint *m;
	struct modern *prev, *next;
	struct peer *peer;
	struct owner *owner; /* of the peer; NULL when there is none */
	struct str principal;
	enum peer_mode mode; /* of the peer */
	struct endpoint_accept accept;
	size_t expected, ended; /* requests in the message, and those that are over */
	bool receiving;         /* inside peer->receive: `expected` is not known yet */
	bool lost;              /* something that should have been answered was not */
};

/* ---- what the peer sends ------------------------------------------------------------------------ */

static struct buf *modern_sink_begin(void *ctx, void *tag)
{
	struct modern *x = ctx;

	(void)tag;
	if (!x->place.ex)
		return NULL;
	buf_reset(&x->m->message, KEEP_BUF);
	return &x->m->message;
}

/* The whole answer at once, unless something came before it or the client likes events better. */
static void reply(struct modern *x, int status)
{
	struct http_exchange *ex = x->place.ex;

	place_leave(x->m, &x->place);
	endpoint_reply(x->m, ex, status, STR_LIT("application/json"), buf_str(&x->m->message), NULL,
		       0);
}

/* The answer goes over the bound of the queue, if need be; so nothing else may. */
static int send_event(struct modern *x, bool must)
{
	const struct sse_event e = { .data = buf_str(&x->m->message), .retry = -1 };

	if (!x->place.streaming && !place_begin_stream(x->m, &x->place, NULL, 0))
		return CLEAT_ECLOSED;
	return place_write(x->m, &x->place, &e, must);
}

static int modern_sink_end(void *ctx, void *tag, int kind)
{
	struct modern *x = ctx;
	int rc = buf_status(&x->m->message);
	bool answer = kind >= 100;

	(void)tag;
	if (rc || kind == PEER_TAKE_BACK)
		return rc;
	if (!x->place.ex)
		return CLEAT_ECLOSED;
	if (answer && !x->place.streaming && (kind != 200 || !x->accept.prefers_events)) {
		reply(x, kind);
		return CLEAT_OK;
	}
	if (!answer && !x->accept.events)
		return CLEAT_EUNSUPPORTED; /* it has said that it cannot take them */
	return send_event(x, answer);
}

static void modern_finish(struct modern *x)
{
	struct http_exchange *ex = x->place.ex;

	if (!ex || x->receiving || x->ended < x->expected)
		return;
	if (x->place.streaming) {
		place_end(x->m, &x->place);
		return;
	}
	place_leave(x->m, &x->place);
	if (x->lost)
		endpoint_reply_lost(x->m, ex);
	else
		endpoint_reply_empty(x->m, ex, 202);
}

static void sink_ended(void *ctx, void *tag, bool lost)
{
	struct modern *x = ctx;

	(void)tag;
	x->ended++;
	x->lost = x->lost || lost;
	modern_finish(x);
}

static bool modern_sink_congested(void *ctx)
{
	const struct modern *x = ctx;

	return x->place.ex && http_exchange_queued(x->place.ex) > 64 * 1024;
}

/* ---- connections -------------------------------------------------------------------------------- */

static void close_peer(struct modern *x)
{
	struct peer *p = x->peer;

	x->peer = NULL;
	if (p)
		p->ops->close(p);
	owner_drop(x->m, x->owner);
	x->owner = NULL;
}

static void modern_on_gone(struct place *p)
{
	struct modern *x = (struct modern *)(void *)p;

	place_leave(x->m, p);
	close_peer(x);
}

static const struct place_ops ops = { .gone = modern_on_gone };

static void on_closed(void *data)
{
	struct modern *x = data;

	close_peer(x);
	if (x->prev)
		x->prev->next = x->next;
	else
		x->m->moderns = x->next;
	if (x->next)
		x->next->prev = x->prev;
	mem_free(&x->m->mem, (char *)x->principal.p);
	mem_free(&x->m->mem, x);
}

void modern_forget_all(struct endpoint *m)
{
	for (struct modern *x = m->moderns; x; x = x->next)
		x->peer = NULL;
}

void modern_free_all(struct endpoint *m)
{
	while (m->moderns)
		on_closed(m->moderns);
}

static struct modern *modern_of(struct endpoint *m, struct http_exchange *ex)
{
	struct modern *x = http_exchange_connection_data(ex);

	if (x)
		return x;
	x = mem_zalloc(&m->mem, sizeof *x);
	if (!x)
		return NULL;
	x->place.ops = &ops;
	x->m = m;
	x->next = m->moderns;
	if (x->next)
		x->next->prev = x;
	m->moderns = x;
	http_exchange_set_connection_data(ex, x, on_closed);
	return x;
}

static bool same_principal(struct str a, struct str b)
{
	return !a.p == !b.p && str_eq(a, b);
}

/* A peer of the legacy era is for one message: behind a proxy the next one may be another client's. */
static bool connect_peer(struct modern *x, const struct http_exchange *ex, struct str principal,
			 enum peer_mode mode, int rev)
{
	const struct peer_sink sink = { .begin = modern_sink_begin,
					.end = modern_sink_end,
					.ended = sink_ended,
					.congested = modern_sink_congested,
					.ctx = x };
	struct peer_facts facts = {
		.mode = mode, .rev = rev, .transport = CLEAT_TRANSPORT_HTTP, .principal = principal
	};

	if (x->peer && mode == PEER_MODERN && x->mode == mode &&
	    same_principal(x->principal, principal))
		return true;
	close_peer(x);
	x->mode = mode;
	mem_free(&x->m->mem, (char *)x->principal.p);
	x->principal = (struct str){ 0 };
	if (principal.p) {
		x->principal.p = mem_strndup(&x->m->mem, principal.p, principal.n);
		x->principal.n = principal.n;
		if (!x->principal.p)
			return false;
	}
	facts.address = str_of(http_exchange_address(ex));
	x->owner = owner_take(x->m, principal, facts.address.p);
	if (!x->owner)
		return false;
	facts.quota = &x->owner->subscriptions;
	x->peer = x->m->o.accept(x->m->o.ctx, &sink, &facts);
	return x->peer != NULL;
}

static void post_alone(struct endpoint *m, struct http_exchange *ex, struct str principal,
		       enum peer_mode mode, int rev)
{
	const struct http_request *r = http_exchange_request(ex);
	const struct peer_headers headers = endpoint_headers(m, r);
	struct modern *x = modern_of(m, ex);

	if (!x || !connect_peer(x, ex, principal, mode, rev)) {
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR, "out of memory");
		return;
	}
	if (endpoint_listens(m, r) && !place_listen(m, &x->place, x->owner, ex))
		return;
	place_take(m, &x->place, ex);
	x->accept = endpoint_accept(m, r);
	x->ended = 0;
	x->lost = false;
	x->receiving = true;
	x->expected = x->peer->ops->receive(x->peer, r->body, NULL, &headers);
	x->receiving = false;
	if (x->expected == PEER_LOST) {
		x->expected = 0;
		x->lost = true;
	}
	modern_finish(x);
}

void modern_post(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	post_alone(m, ex, principal, PEER_MODERN, 0);
}

void modern_post_legacy(struct endpoint *m, struct http_exchange *ex, struct str principal, int rev)
{
	post_alone(m, ex, principal, PEER_STATELESS, rev);
}
