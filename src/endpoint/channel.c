/* endpoint/channel.c - see session.h.
 *
 * An event is given to the store first and then written to the connection that shows the stream, if
 * there is one and it keeps up. What it did not take is read from the store when it is ready again;
 * if it is not there any more the connection is broken off, so that nothing is skipped silently.
 */
#include "endpoint/session.h"

#include "base/mem.h"
#include "protocol/revision.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEEP_BUF = 64 * 1024, OLD_STREAMS = 64, RETRY_MS = 1000, ID_CHARS = 64 };

/* ---- event ids ----------------------------------------------------------------------------------- */

static struct str event_id(const struct channel *st, uint64_t event, char text[ID_CHARS])
{
	int n = snprintf(text, ID_CHARS, "%s.%" PRIu64 ".%" PRIu64, st->s->mark, st->number, event);

	return (struct str){ text, (size_t)n };
}

static const char *read_number(const char *p, const char *end, uint64_t *ret)
{
	const char *first = p;

	for (*ret = 0; p < end && *p >= '0' && *p <= '9' && p - first < 18; p++)
		*ret = *ret * 10 + (uint64_t)(*p - '0');
	return p > first ? p : NULL;
}

bool channel_parse_id(const struct session *s, struct str id, uint64_t *stream, uint64_t *event)
{
	size_t mark = strlen(s->mark);
	const char *p, *end = id.p + id.n;

	if (id.n < mark + 4 || memcmp(id.p, s->mark, mark) != 0 || id.p[mark] != '.')
		return false;
	p = read_number(id.p + mark + 1, end, stream);
	if (!p || p >= end || *p++ != '.')
		return false;
	p = read_number(p, end, event);
	return p == end;
}

/* ---- life ---------------------------------------------------------------------------------------- */

static bool has_priming(const struct session *s)
{
	const char *rev = s->peer ? s->peer->ops->revision(s->peer) : NULL;

	return rev && (revision_features(revision_find(str_of(rev))) & FEAT_SSE_PRIMING);
}

static void channel_on_gone(struct place *p)
{
	struct channel *st = (struct channel *)(void *)p;
	struct session *s = st->s;

	session_enter(s);
	place_leave(s->m, p);
	session_touch(s);
	if (!st->eventful && st->over && !st->standing)
		channel_free(st);
	session_leave(s);
}

static void catch_up(struct channel *st);

static void channel_on_drained(struct place *p)
{
	struct channel *st = (struct channel *)(void *)p;

	if (!st->behind)
		return;
	session_enter(st->s);
	st->behind = false;
	catch_up(st);
	session_leave(st->s);
}

static const struct place_ops ops = { .gone = channel_on_gone, .drained = channel_on_drained };

void channel_init(struct channel *st, struct session *s)
{
	*st = (struct channel){ .place = { .ops = &ops }, .s = s };
}

struct channel *channel_new(struct session *s, struct http_exchange *ex)
{
	struct channel *st = mem_alloc(&s->m->mem, sizeof *st);
	const struct http_request *r = http_exchange_request(ex);

	if (!st)
		return NULL;
	channel_init(st, s);
	st->number = ++s->next_stream;
	st->accept = endpoint_accept(s->m, r);
	st->next = s->streams;
	s->streams = st;
	s->n_streams++;
	place_take(st->s->m, &st->place, ex);
	return st;
}

struct channel *channel_find(struct session *s, uint64_t number)
{
	struct channel *st = s->streams;

	if (number == 0)
		return &s->standing;
	while (st && st->number != number)
		st = st->next;
	return st;
}

/* The request was cancelled, or its session ends, before the answer began. A request is answered with a
 * stream or with JSON (2025-11-25 basic/transports: Sending Messages), so it is a stream that ends. A
 * connection that breaks off would be a riddle to the client, and some that have just ended the session
 * themselves do not survive that, nor an error. */
static void end_unanswered(struct channel *st)
{
	struct endpoint *m = st->s->m;
	struct http_exchange *ex = st->place.ex;

	if (!st->accept.events) {
		place_leave(m, &st->place);
		endpoint_reply_error(m, ex, 404, CLEAT_RPC_INVALID_REQUEST,
				     "the request was given up");
	} else if (place_begin_stream(m, &st->place, NULL, 0)) {
		place_end(m, &st->place);
	}
}

void channel_free(struct channel *st)
{
	struct session *s = st->s;
	struct channel **at = &s->streams;

	if (st->place.ex && st->place.streaming)
		place_end(s->m, &st->place);
	else if (st->place.ex)
		end_unanswered(st);
	if (st->last)
		s->m->o.store->ops->stream_drop(s->m->o.store, str_of(s->id), st->number);
	if (st->standing)
		return;
	while (*at && *at != st)
		at = &(*at)->next;
	if (*at) {
		*at = st->next;
		s->n_streams--;
	}
	mem_free(&s->m->mem, st);
}

/* Streams that are over stay for a while: the last events may have been lost on the way. */
static void forget_old(struct session *s)
{
	struct channel *oldest = NULL;

	if (s->n_streams <= OLD_STREAMS)
		return;
	for (struct channel *st = s->streams; st; st = st->next)
		if (st->over && !st->place.ex && !st->replaying)
			oldest = st;
	if (oldest)
		channel_free(oldest);
}

/* ---- showing ------------------------------------------------------------------------------------- */

/* Over the bound of the queue by one, so that it is not a bound for the size of an event. */
static int write_event(struct channel *st, uint64_t number, struct str data)
{
	char id[ID_CHARS];
	const struct sse_event e = { .id = event_id(st, number, id), .data = data, .retry = -1 };

	return place_write(st->s->m, &st->place, &e, true);
}

/* 2025-11-25 basic/transports: an event with an id and no data lets the client come back even when it
 * has seen nothing yet: for what comes after the last one that was sent. */
static void prime(struct channel *st)
{
	char id[ID_CHARS];
	const struct sse_event e = { .id = event_id(st, st->sent, id),
				     .data = STR_LIT(""),
				     .retry = RETRY_MS };

	if (!st->primed && has_priming(st->s) && place_write(st->s->m, &st->place, &e, true) == 0)
		st->primed = true;
}

static bool show(struct channel *st)
{
	struct session *s = st->s;
	const struct http_field id = { STR_LIT("Mcp-Session-Id"), str_of(s->id) };

	if (st->place.streaming)
		return true;
	if (!place_begin_stream(s->m, &st->place, &id, 1))
		return false;
	prime(st);
	return st->place.ex != NULL;
}

/* ---- sending ------------------------------------------------------------------------------------- */

static void on_appended(void *ctx, int status)
{
	struct session *s = ctx;

	s->store_status = status;
	session_leave(s);
}

/* The session stays until the store has answered. One that answers later has taken the event: then
 * it counts as kept. */
static int keep_event(struct channel *st, uint64_t number, struct str data)
{
	struct session *s = st->s;
	struct store *store = s->m->o.store;
	int status;

	session_enter(s);
	session_enter(s);
	s->store_status = CLEAT_OK;
	store->ops->append(store, str_of(s->id), st->number, number, data, on_appended, s);
	status = s->store_status;
	session_leave(s);
	return status;
}

/* It cannot be shown now, so it has to be kept. */
static int put_by(struct channel *st, struct str data)
{
	int kept = keep_event(st, st->last + 1, data);

	if (kept == CLEAT_OK)
		st->last++;
	return kept;
}

/* The store may refuse it (too large, no memory): then the connection alone has it. */
static int show_event(struct channel *st, struct str data)
{
	uint64_t number = st->last + 1;
	int kept = keep_event(st, number, data);
	int rc = write_event(st, number, data);

	if (rc && kept)
		return rc;
	st->last = number;
	if (kept)
		st->missing = number;
	if (rc == CLEAT_OK)
		st->sent = number;
	else if (rc == CLEAT_ELIMIT)
		st->behind = true; /* read from the store when there is room again */
	else
		place_abort(st->s->m, &st->place);
	return CLEAT_OK;
}

int channel_send(struct channel *st, int kind)
{
	struct str data = buf_str(&st->s->m->message);
	bool left = !st->place.ex && !st->eventful && !st->standing;

	if (!left) {
		st->eventful = true;
		left = st->place.ex && !show(st);
	}
	if (left) /* before it knew how to come back */
		return kind == PEER_REQUEST ? CLEAT_ECLOSED : CLEAT_OK;
	if (!st->place.ex || st->behind || st->replaying)
		return put_by(st, data);
	return show_event(st, data);
}

void channel_finish_if_over(struct channel *st)
{
	struct session *s = st->s;
	struct http_exchange *ex = st->place.ex;

	if (st->receiving || st->ended < st->expected || st->standing)
		return;
	st->over = true;
	if (ex && !st->eventful && st->expected && !st->lost) { /* it was cancelled */
		end_unanswered(st);
	} else if (ex && !st->eventful) { /* nothing to answer, or no memory for it */
		place_leave(s->m, &st->place);
		if (st->lost)
			endpoint_reply_lost(s->m, ex);
		else
			endpoint_reply_empty(s->m, ex, 202);
	} else if (ex && !st->behind && !st->replaying) {
		place_end(s->m, &st->place);
	}
	if (!st->eventful)
		channel_free(st);
	else
		forget_old(s);
}

/* ---- coming back --------------------------------------------------------------------------------- */

static void channel_on_event(void *ctx, uint64_t number, struct str data)
{
	struct channel *st = ctx;
	int rc;

	if (st->behind || !st->place.ex || !show(st))
		return;
	rc = write_event(st, number, data);
	if (rc == CLEAT_OK)
		st->sent = number;
	else if (rc == CLEAT_ELIMIT)
		st->behind = true;
	else
		place_abort(st->s->m, &st->place); /* the client comes back for it */
}

static void refuse_replay(struct channel *st, int status)
{
	struct endpoint *m = st->s->m;
	struct http_exchange *ex = st->place.ex;
	bool gone = status == CLEAT_ENOENT;

	if (st->place.streaming) {
		place_abort(m, &st->place);
		return;
	}
	place_leave(m, &st->place);
	endpoint_reply_error(m, ex, gone ? 404 : 503,
			     gone ? CLEAT_RPC_INVALID_REQUEST : CLEAT_RPC_INTERNAL_ERROR,
			     gone ? "the events after this Last-Event-ID are not kept any more"
				  : "the events cannot be read now");
}

/* A call that was cancelled has no answer, so its client comes back for one. 204 is how a client of
 * server-sent events is told not to do that again (HTML Living Standard, 9.2 Server-sent events). */
static void nothing_left(struct channel *st)
{
	struct endpoint *m = st->s->m;
	struct http_exchange *ex = st->place.ex;

	place_leave(m, &st->place);
	endpoint_reply_empty(m, ex, 204);
}

static void on_replayed(void *ctx, int status)
{
	struct channel *st = ctx;
	bool fresh = st->fresh;

	st->replaying = st->fresh = false;
	if (!st->place.ex || st->behind)
		return;
	if (status == CLEAT_OK && st->sent < st->last && st->sent == st->from)
		status = CLEAT_ENOENT; /* the store knows less than it was given */
	if (status == CLEAT_ENOENT && fresh) {
		endpoint_note(st->s->m, CLEAT_LOG_NOTICE,
			      "events of a session were not kept until its client listened");
		st->sent = st->last;
		status = CLEAT_OK;
	}
	if (status)
		refuse_replay(st, status);
	else if (st->sent < st->last)
		catch_up(st); /* more came meanwhile */
	else if (st->over && !st->place.streaming)
		nothing_left(st);
	else if (show(st) && st->over)
		place_end(st->s->m, &st->place);
}

static void catch_up(struct channel *st)
{
	struct store *store = st->s->m->o.store;

	if (st->replaying)
		return;
	st->replaying = true;
	st->from = st->sent;
	if (st->sent < st->missing)
		on_replayed(st, CLEAT_ENOENT);
	else
		store->ops->replay(store, str_of(st->s->id), st->number, st->sent, channel_on_event,
				   on_replayed, st);
}

/* A connection that still shows the stream gives way: its client has noticed before us that it is
 * dead. */
static void attach(struct channel *st, struct http_exchange *ex, uint64_t after)
{
	if (st->place.ex)
		place_abort(st->s->m, &st->place);
	if (!place_listen(st->s->m, &st->place, st->s->owner, ex)) {
		st->fresh = false;
		return;
	}
	place_take(st->s->m, &st->place, ex);
	st->eventful = st->accept.events = true;
	st->sent = after;
	st->behind = false;
	catch_up(st);
}

void channel_resume(struct channel *st, struct http_exchange *ex, uint64_t after)
{
	st->primed = true;
	attach(st, ex, after);
}

void channel_listen(struct channel *st, struct http_exchange *ex)
{
	st->primed = false;
	st->fresh = true;
	attach(st, ex, st->sent);
}

/* 2025-11-25 basic/transports: "the server MAY close the connection (without terminating the SSE
 * stream)". */
void channel_release(struct channel *st, uint64_t retry_ms)
{
	struct session *s = st->s;
	const struct sse_event e = { .retry = (int64_t)retry_ms };

	if (!st->place.ex || !st->accept.events || !has_priming(s))
		return;
	st->eventful = true;
	if (!show(st) || !st->primed)
		return;
	place_write(s->m, &st->place, &e, true);
	place_end(s->m, &st->place);
}
