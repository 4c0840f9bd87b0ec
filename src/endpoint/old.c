/* endpoint/old.c - HTTP+SSE of 2024-11-05: GET /sse is the connection, and its first event says
 * where to POST messages to; every answer comes as an event. The connection is the session: when it
 * ends, so does everything in it.
 *
 * Clients of later revisions that fall back to this transport are served as well.
 */
#include "endpoint/impl.h"

#include "base/mem.h"

#include <stdio.h>

enum { KEEP_BUF = 64 * 1024, WAITING_MAX = 4 << 20 };

struct old_link {
	struct place place; /* first */
	struct endpoint *m;
	struct old_link *prev, *next;
	struct peer *peer;
	struct owner *owner;
	struct str principal;
	char id[SESSION_ID_CHARS + 1];
	struct buf
		waiting; /* events that the connection's queue had no room for: answers to several
			       requests come together here */
	unsigned busy;
	bool dropped;
};

static void free_link(struct old_link *k)
{
	buf_done(&k->waiting);
	owner_drop(k->m, k->owner);
	mem_free(&k->m->mem, (char *)k->principal.p);
	mem_free(&k->m->mem, k);
}

static void old_drop(struct old_link *k)
{
	struct peer *p = k->peer;

	if (k->dropped)
		return;
	k->dropped = true;
	k->peer = NULL;
	if (k->prev)
		k->prev->next = k->next;
	else
		k->m->old = k->next;
	if (k->next)
		k->next->prev = k->prev;
	if (p)
		p->ops->close(p);
	if (!k->busy)
		free_link(k);
}

static void old_on_gone(struct place *p)
{
	struct old_link *k = (struct old_link *)(void *)p;

	place_leave(k->m, p);
	old_drop(k);
}

static void old_on_drained(struct place *p)
{
	struct old_link *k = (struct old_link *)(void *)p;

	if (buf_size(&k->waiting) == 0)
		return;
	if (http_exchange_write(p->ex, buf_str(&k->waiting), true))
		place_abort(k->m, p);
	buf_reset(&k->waiting, 0);
}

static const struct place_ops ops = { .gone = old_on_gone, .drained = old_on_drained };

static void end_link(struct old_link *k)
{
	if (k->place.ex)
		old_on_drained(&k->place);
	if (k->place.ex)
		place_end(k->m, &k->place);
	old_drop(k);
}

/* ---- what the peer sends --------------------------------------------------------------------------- */

static struct buf *old_sink_begin(void *ctx, void *tag)
{
	struct old_link *k = ctx;

	(void)tag;
	if (!k->place.ex)
		return NULL;
	buf_reset(&k->m->message, KEEP_BUF);
	return &k->m->message;
}

static int wait_for_room(struct old_link *k, const struct sse_event *e)
{
	size_t before = buf_size(&k->waiting);
	int rc;

	sse_write(&k->waiting, e);
	rc = buf_status(&k->waiting);
	if (rc)
		buf_truncate(&k->waiting, before);
	return rc;
}

static int old_sink_end(void *ctx, void *tag, int kind)
{
	struct old_link *k = ctx;
	const struct sse_event e = { .data = buf_str(&k->m->message), .retry = -1 };
	int rc = buf_status(&k->m->message);

	(void)tag;
	if (rc || kind == PEER_TAKE_BACK)
		return rc;
	if (!k->place.ex)
		return CLEAT_ECLOSED;
	rc = buf_size(&k->waiting) ? CLEAT_ELIMIT : place_write(k->m, &k->place, &e, true);
	if (rc == CLEAT_ELIMIT)
		rc = wait_for_room(k, &e);
	if (rc == CLEAT_ELIMIT) { /* it cannot come back for them, so it has to begin again */
		endpoint_note(k->m, CLEAT_LOG_WARNING,
			      "a client on /sse reads too slowly and was cut off");
		place_abort(k->m, &k->place);
	}
	return rc;
}

/* The server is stopping, and this was what the link was left for. */
static void sink_ended(void *ctx, void *tag, bool lost)
{
	struct old_link *k = ctx;

	(void)tag;
	(void)lost;
	if (k->m->stopping && k->peer && k->peer->ops->inflight(k->peer) == 0)
		end_link(k);
}

static bool old_sink_congested(void *ctx)
{
	const struct old_link *k = ctx;

	return k->place.ex && http_exchange_queued(k->place.ex) + buf_size(&k->waiting) > KEEP_BUF;
}

/* ---- requests --------------------------------------------------------------------------------------- */

static struct old_link *link_new(struct endpoint *m, const struct http_exchange *ex,
				 struct str principal)
{
	struct peer_sink sink = { .begin = old_sink_begin,
				  .end = old_sink_end,
				  .ended = sink_ended,
				  .congested = old_sink_congested };
	struct peer_facts facts = { .mode = PEER_LEGACY,
				    .transport = CLEAT_TRANSPORT_HTTP,
				    .address = str_of(http_exchange_address(ex)),
				    .principal = principal };
	struct old_link *k = mem_zalloc(&m->mem, sizeof *k);

	if (!k)
		return NULL;
	k->place.ops = &ops;
	k->m = m;
	buf_init(&k->waiting, &m->mem, WAITING_MAX);
	sink.ctx = k;
	if (principal.p) {
		k->principal.p = mem_strndup(&m->mem, principal.p, principal.n);
		k->principal.n = principal.n;
	}
	k->owner = owner_take(m, principal, facts.address.p);
	if (k->owner && !principal.p == !k->principal.p && endpoint_random_id(k->id) == CLEAT_OK) {
		facts.quota = &k->owner->subscriptions;
		k->peer = m->o.accept(m->o.ctx, &sink, &facts);
	}
	if (!k->peer) {
		free_link(k);
		return NULL;
	}
	k->next = m->old;
	if (k->next)
		k->next->prev = k;
	m->old = k;
	return k;
}

void old_get(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	char where[96];
	int n;
	struct sse_event e = { .event = STR_LIT("endpoint"), .retry = -1 };
	struct old_link *k;

	if (!endpoint_accept(m, http_exchange_request(ex)).events) {
		endpoint_reply_error(m, ex, 406, CLEAT_RPC_INVALID_REQUEST,
				     "Accept must have text/event-stream");
		return;
	}
	k = m->stopping ? NULL : link_new(m, ex, principal);
	if (!k) {
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
				     "no connection can be made now; try again later");
		return;
	}
	if (!place_listen(m, &k->place, k->owner, ex)) {
		old_drop(k);
		return;
	}
	place_take(m, &k->place, ex);
	n = snprintf(where, sizeof where, "/messages?sessionId=%s", k->id);
	e.data = (struct str){ where, (size_t)n };
	if (!place_begin_stream(m, &k->place, NULL, 0))
		old_drop(k);
	else if (place_write(m, &k->place, &e, true)) {
		place_abort(m, &k->place);
		old_drop(k);
	}
}

/* The value of sessionId in a query. */
static struct str session_id(struct str query)
{
	static const char key[] = "sessionId=";
	const char *p = query.p, *end = query.p + query.n;

	while (p && p < end) {
		const char *amp = memchr(p, '&', (size_t)(end - p));
		struct str part = { p, (size_t)((amp ? amp : end) - p) };

		if (str_starts(part, key))
			return (struct str){ part.p + sizeof key - 1, part.n - sizeof key + 1 };
		p = amp ? amp + 1 : end;
	}
	return (struct str){ 0 };
}

static struct old_link *old_find(struct endpoint *m, struct str id, struct str principal)
{
	struct old_link *k = m->old;

	while (k && !str_eqz(id, k->id))
		k = k->next;
	return k && k->place.ex && !k->principal.p == !principal.p &&
			       str_eq(k->principal, principal)
		       ? k
		       : NULL;
}

void old_post(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	const struct http_request *r = http_exchange_request(ex);
	const struct peer_headers headers = endpoint_headers(m, r);
	struct old_link *k = old_find(m, session_id(r->query), principal);

	if (!http_has_media_type(http_request_field(r, "content-type"), "application/json")) {
		endpoint_reply_error(m, ex, 415, CLEAT_RPC_INVALID_REQUEST,
				     "Content-Type must be application/json");
	} else if (!k) {
		endpoint_reply_error(m, ex, 404, CLEAT_RPC_INVALID_REQUEST,
				     "there is no such session; open one with GET /sse");
	} else {
		k->busy++;
		if (k->peer->ops->receive(k->peer, r->body, NULL, &headers) == PEER_LOST)
			endpoint_reply_lost(m, ex);
		else
			endpoint_reply(m, ex, 202, STR_LIT("text/plain; charset=utf-8"),
				       STR_LIT("Accepted"), NULL, 0);
		if (--k->busy == 0 && k->dropped)
			free_link(k);
	}
}

/* Those that were cut off inside a call of their peer. */
void old_sweep(struct endpoint *m)
{
	struct old_link *k, *next;

	for (k = m->old; k; k = next) {
		next = k->next;
		if (!k->place.ex)
			old_drop(k);
	}
}

void old_stop_all(struct endpoint *m)
{
	struct old_link *k, *next;

	for (k = m->old; k; k = next) {
		next = k->next;
		if (!k->peer || k->peer->ops->inflight(k->peer) == 0)
			end_link(k);
	}
}

void old_forget_all(struct endpoint *m)
{
	for (struct old_link *k = m->old; k; k = k->next)
		k->peer = NULL;
}

void old_free_all(struct endpoint *m)
{
	while (m->old)
		old_drop(m->old);
}
