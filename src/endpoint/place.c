/* endpoint/place.c - open exchanges: how they become streams, are written to, kept alive and ended. See impl.h. */
#include "endpoint/impl.h"

enum { FIELDS_MAX = 8, KEEP_BUF = 64 * 1024 };

void place_take(struct endpoint *m, struct place *p, struct http_exchange *ex)
{
	p->ex = ex;
	ring_add(&m->places, &p->of_places);
	http_exchange_set_data(ex, p);
}

void place_leave(struct endpoint *m, struct place *p)
{
	if (p->ex)
		ring_remove(&p->of_places);
	p->ex = NULL;
	if (p->listener)
		p->listener->n_streams--;
	p->listener = NULL;
	m->n_streaming -= p->streaming;
	p->streaming = false;
}

bool place_listen(struct endpoint *m, struct place *p, struct owner *o, struct http_exchange *ex)
{
	if (o->n_streams >= o->max_streams) {
		endpoint_reply_error(
			m, ex, 429, CLEAT_RPC_INVALID_REQUEST,
			"%zu streams of this client listen already, which is the limit",
			o->n_streams);
		return false;
	}
	o->n_streams++;
	p->listener = o;
	return true;
}

bool place_begin_stream(struct endpoint *m, struct place *p, const struct http_field *extra,
			size_t n_extra)
{
	struct http_field fields[FIELDS_MAX];
	size_t n = policy_cors_fields(&m->o.policy, http_exchange_request(p->ex), false, fields);

	fields[n++] = (struct http_field){ STR_LIT("Cache-Control"), STR_LIT("no-cache") };
	fields[n++] = (struct http_field){ STR_LIT("X-Accel-Buffering"), STR_LIT("no") };
	for (size_t i = 0; i < n_extra && n < FIELDS_MAX; i++)
		fields[n++] = extra[i];
	if (http_exchange_begin(p->ex, 200, STR_LIT("text/event-stream"), fields, n)) {
		place_abort(m, p);
		return false;
	}
	p->streaming = true;
	p->spoke_ms = endpoint_now(m);
	m->n_streaming++;
	return true;
}

int place_write(struct endpoint *m, struct place *p, const struct sse_event *e, bool must)
{
	int rc;

	buf_reset(&m->frame, KEEP_BUF);
	sse_write(&m->frame, e);
	rc = buf_status(&m->frame);
	if (!rc)
		rc = http_exchange_write(p->ex, buf_str(&m->frame), must);
	if (!rc)
		p->spoke_ms = endpoint_now(m);
	buf_reset(&m->frame, KEEP_BUF);
	return rc;
}

void place_end(struct endpoint *m, struct place *p)
{
	struct http_exchange *ex = p->ex;

	place_leave(m, p);
	http_exchange_end(ex);
}

void place_abort(struct endpoint *m, struct place *p)
{
	struct http_exchange *ex = p->ex;

	place_leave(m, p);
	http_exchange_abort(ex);
}

void place_keep_alive(struct endpoint *m)
{
	uint64_t now = endpoint_now(m);
	struct ring *next;

	buf_reset(&m->frame, KEEP_BUF);
	sse_write_comment(&m->frame, "");
	for (struct ring *at = m->places.next; at != &m->places && !buf_status(&m->frame);
	     at = next) {
		struct place *p = CONTAINER_OF(at, struct place, of_places);

		next = at->next;
		if (!p->streaming || now - p->spoke_ms < m->o.keep_alive_ms)
			continue;
		p->spoke_ms = now;
		if (http_exchange_queued(p->ex) == 0)
			http_exchange_write(p->ex, buf_str(&m->frame), false);
	}
	buf_reset(&m->frame, KEEP_BUF);
}

/* As if its client had gone, except that he is told why. */
static void turn_away(struct endpoint *m, struct place *p)
{
	struct http_exchange *ex = p->ex;
	bool streaming = p->streaming;

	p->ops->gone(p);
	if (streaming)
		http_exchange_end(ex);
	else
		endpoint_reply_unauthorized(m, ex);
}

void place_end_revoked(struct endpoint *m)
{
	while (!ring_alone(&m->revoked))
		turn_away(m, CONTAINER_OF(m->revoked.next, struct place, of_places));
}
