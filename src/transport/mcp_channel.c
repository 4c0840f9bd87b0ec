/* transport/mcp_channel.c - see mcp_session.h.
 *
 * An event is given to the store first and then written to the connection that shows the stream, if
 * there is one and it keeps up. What it did not take is read from the store when it is ready again;
 * if it is not there any more the connection is broken off, so that nothing is skipped silently.
 */
#include "transport/mcp_session.h"

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
	const char *p = id.p + mark + 1, *end = id.p + id.n;

	if (id.n < mark + 4 || memcmp(id.p, s->mark, mark) != 0 || id.p[mark] != '.')
		return false;
	p = read_number(p, end, stream);
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

static void on_gone(struct place *p)
{
	struct channel *st = (struct channel *)(void *)p;
	struct session *s = st->s;

	session_enter(s);
	place_leave(s->m, p);
	s->used_ms = mcp_now(s->m);
	if (!st->eventful && st->over && !st->standing)
		channel_free(st);
	session_leave(s);
}

static void catch_up(struct channel *st);

static void on_drained(struct place *p)
{
	struct channel *st = (struct channel *)(void *)p;

	if (!st->behind)
		return;
	session_enter(st->s);
	st->behind = false;
	catch_up(st);
	session_leave(st->s);
}

static const struct place_ops ops = { .gone = on_gone, .drained = on_drained };

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
	st->prefers_events = mcp_prefers_events(r);
	st->takes_events = mcp_takes_events(r);
	st->next = s->streams;
	s->streams = st;
	s->n_streams++;
	place_take(&st->place, ex);
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

void channel_free(struct channel *st)
{
	struct session *s = st->s;
	struct channel **at = &s->streams;

	if (st->place.ex && st->place.streaming)
		place_end(s->m, &st->place);
	else if (st->place.ex)
		place_abort(s->m, &st->place);
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

static int write_event(struct channel *st, uint64_t number, struct str data, bool must)
{
	char id[ID_CHARS];
	const struct sse_event e = { .id = event_id(st, number, id), .data = data, .retry = -1 };

	return place_write(st->s->m, &st->place, &e, must);
}

/* 2025-11-25 basic/transports: an event with an id and no data lets the client come back even when it
 * has seen nothing yet. Event 0 is that one. */
static void prime(struct channel *st)
{
	char id[ID_CHARS];
	const struct sse_event e = { .id = event_id(st, 0, id),
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
	*(int *)ctx = status;
}

/* The memory that an asynchronous store answers to has to outlive this call; this one is for stores
 * that answer at once, and otherwise the event counts as kept. */
static int keep_event(struct channel *st, uint64_t number, struct str data)
{
	struct store *store = st->s->m->o.store;
	int status = CLEAT_OK;

	store->ops->append(store, str_of(st->s->id), st->number, number, data, on_appended,
			   &status);
	return status;
}

int channel_send(struct channel *st, bool must)
{
	struct session *s = st->s;
	struct str data = buf_str(&s->m->message);
	int rc, kept;

	if (!st->place.ex && !st->eventful && !st->standing)
		return CLEAT_OK; /* the client left before it knew how to come back */
	st->eventful = true;
	if (st->place.ex && !show(st))
		return CLEAT_OK;
	kept = keep_event(st, st->last + 1, data);
	if (kept && !st->place.ex)
		return st->standing ? CLEAT_OK : kept;
	st->last++;
	if (!st->place.ex || st->behind || st->replaying)
		return CLEAT_OK;
	rc = write_event(st, st->last, data, must || kept);
	if (rc == CLEAT_OK) {
		st->sent = st->last;
	} else if (rc == CLEAT_ELIMIT && !kept) {
		st->behind = true; /* read from the store when there is room again */
	} else {
		place_abort(s->m, &st->place);
		return kept ? rc : CLEAT_OK;
	}
	return CLEAT_OK;
}

void channel_finish_if_over(struct channel *st)
{
	struct session *s = st->s;
	struct http_exchange *ex = st->place.ex;

	if (st->receiving || st->ended < st->expected || st->standing)
		return;
	st->over = true;
	if (ex && !st->eventful) { /* nothing to answer */
		place_leave(s->m, &st->place);
		mcp_reply_empty(s->m, ex, 202);
	} else if (ex && !st->behind && !st->replaying) {
		place_end(s->m, &st->place);
	}
	if (!st->eventful)
		channel_free(st);
	else
		forget_old(s);
}

/* ---- coming back --------------------------------------------------------------------------------- */

static void on_event(void *ctx, uint64_t number, struct str data)
{
	struct channel *st = ctx;

	if (st->behind || !st->place.ex || !show(st))
		return;
	if (write_event(st, number, data, false))
		st->behind = true;
	else
		st->sent = number;
}

static void on_replayed(void *ctx, int status)
{
	struct channel *st = ctx;
	struct session *s = st->s;
	struct http_exchange *ex = st->place.ex;

	st->replaying = false;
	if (!ex || st->behind)
		return;
	if (status && !st->place.streaming) {
		place_leave(s->m, &st->place);
		mcp_reply_error(
			s->m, ex, status == CLEAT_ENOENT ? 404 : 503, CLEAT_RPC_INVALID_REQUEST,
			status == CLEAT_ENOENT
				? "the events after this Last-Event-ID are not kept any more"
				: "the events cannot be read now");
	} else if (status) {
		place_abort(s->m, &st->place);
	} else if (st->sent < st->last) {
		catch_up(st); /* more came meanwhile */
	} else if (show(st) && st->over) {
		place_end(s->m, &st->place);
	}
}

static void catch_up(struct channel *st)
{
	struct store *store = st->s->m->o.store;

	if (st->replaying)
		return;
	st->replaying = true;
	store->ops->replay(store, str_of(st->s->id), st->number, st->sent, on_event, on_replayed,
			   st);
}

/* A connection that still shows the stream gives way: its client has noticed before us that it is
 * dead. */
void channel_resume(struct channel *st, struct http_exchange *ex, uint64_t after)
{
	struct session *s = st->s;

	if (st->place.ex)
		place_abort(s->m, &st->place);
	place_take(&st->place, ex);
	st->eventful = true;
	st->primed = st->number != 0 || after > 0;
	st->sent = after;
	st->behind = false;
	catch_up(st);
}

/* 2025-11-25 basic/transports: "the server MAY close the connection (without terminating the SSE
 * stream)". */
void channel_release(struct channel *st, uint64_t retry_ms)
{
	struct session *s = st->s;
	const struct sse_event e = { .retry = (int64_t)retry_ms };

	if (!st->place.ex || !st->takes_events || !has_priming(s))
		return;
	st->eventful = true;
	if (!show(st) || !st->primed)
		return;
	place_write(s->m, &st->place, &e, true);
	place_end(s->m, &st->place);
}
