/* link/http_stream.c - streams of events: of a request's answer, and of what the server says
 * unasked (GET); how they are resumed when they break (2025-11-25 basic/transports, Resumability and
 * Redelivery).
 *
 * A request's stream is resumed where the server gave its events ids, and never in 2026-07-28. The GET
 * stream is kept for the life of the session. Invariants: no attempt is made before the server's `retry`
 * has passed; an event whose id was seen is not told twice.
 */
#include "base/mem.h"
#include "link/http_impl.h"

enum {
	SEEN_MAX = 1024, /* ids of one stream that are remembered */
	TRIES_MAX = 2,   /* in a row, without an event, to resume an answer */
	TRIES_COUNTED = 100,
	FIRST_TRIES_MAX = 5, /* to open a GET stream that never was there */
	LIVED_MS = 5000, /* a connection that lasted so long was worth it, even without an event */
	FLOOR_MS = 20,   /* a server that ends every connection at once is not run after */
	LEAST_MS = 100,  /* between attempts, where the server does not say */
	ID_SLACK = 2048, /* for id and name of an event beside its data */
	DAY_MS = 24 * 60 * 60 * 1000
};

/* ---- ids -------------------------------------------------------------------------------------- */

/* As WHATWG HTML 9.2.3 wants it sent, bytes above ASCII included; but what a header cannot carry
 * unchanged cannot be resumed from. */
static bool can_be_sent(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if ((unsigned char)id.p[i] < 0x20 || id.p[i] == 0x7F)
			return false;
	return id.n && id.n <= LINK_HTTP_ID_MAX && id.p[0] != ' ' && id.p[id.n - 1] != ' ';
}

static void keep_id(struct buf *b, struct str id)
{
	buf_reset(b, LINK_HTTP_ID_MAX);
	if (id.n <= LINK_HTTP_ID_MAX)
		buf_append(b, id.p, id.n);
	if (buf_status(b))
		buf_reset(b, 0);
}

static struct seen_id hash_id(struct str id)
{
	return (struct seen_id){ str_hash(id, 0x9E3779B9U), str_hash(id, (uint32_t)id.n) };
}

static bool was_seen(const struct seen *s, struct seen_id id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ids[i].a == id.a && s->ids[i].b == id.b)
			return true;
	return false;
}

static void http_stream_remember(struct exch *x, struct seen_id id)
{
	struct seen *s = &x->seen;
	void *ids = s->ids;

	if (s->n == SEEN_MAX) {
		s->ids[s->at] = id;
		s->at = (s->at + 1) % SEEN_MAX;
		return;
	}
	if (s->n == s->cap &&
	    mem_grow(&x->l->mem, &ids, &s->cap, s->n, sizeof *s->ids, SEEN_MAX) != CLEAT_OK)
		return; /* a server that repeats itself would be heard twice; nothing worse */
	s->ids = ids;
	s->ids[s->n++] = id;
}

/* Has this event come before, on an earlier connection? An event that has the id of the one before it
 * has none of its own: the id stays until there is another. */
static bool is_repeated(struct exch *x, struct str id)
{
	bool repeated = false;

	if (id.n && !str_eq(id, buf_str(&x->prev_id))) {
		struct seen_id h = hash_id(id);

		repeated = x->resumed && was_seen(&x->seen, h);
		if (!repeated)
			http_stream_remember(x, h);
	}
	if (id.n)
		keep_id(&x->prev_id, id);
	return repeated;
}

/* Where to go on from, as of the last complete event. An empty id takes the place of an earlier one. */
static void take_position(struct exch *x)
{
	struct str id = sse_reader_last_id(x->reader);
	int64_t retry = sse_reader_retry(x->reader);

	x->heard |= retry >= 0 || (id.n && !str_eq(id, buf_str(&x->last_id)));
	if (id.n || x->id_here)
		keep_id(&x->last_id, can_be_sent(id) ? id : (struct str){ "", 0 });
	x->id_here |= id.n > 0;
	if (retry >= 0)
		x->retry = retry;
}

/* ---- events ----------------------------------------------------------------------------------- */

void exch_done_events(struct exch *x)
{
	sse_reader_free(x->reader);
	x->reader = NULL;
}

int exch_begin_events(struct exch *x)
{
	exch_done_events(x);
	x->reader = sse_reader_new(&x->l->mem, x->l->max_message + ID_SLACK);
	if (!x->reader)
		return CLEAT_ENOMEM;
	x->body = BODY_EVENTS;
	x->event_status = CLEAT_OK;
	x->id_here = false;
	buf_reset(&x->prev_id, LINK_HTTP_ID_MAX);
	return CLEAT_OK;
}

static void http_stream_tell(struct exch *x, struct str text)
{
	struct link_http *l = x->l;
	void *tag = x->tag;

	if (x->kind == EXCH_LISTEN) {
		l->ev.message(l->ev.ctx, text, NULL, 0);
		return;
	}
	if (link_http_look(text, x->id) & LOOK_RESPONSE)
		exch_linger(x);
	l->ev.message(l->ev.ctx, text, tag, 0);
}

static void http_stream_on_event(void *ctx, const struct sse_event *e)
{
	struct exch *x = ctx;

	if (x->gone || x->lingers || !x->fetch || x->event_status)
		return;
	if (e->data.n > x->l->max_message) {
		x->event_status = CLEAT_ELIMIT;
	} else if (x->kind == EXCH_OLD) {
		old_on_event(x, e);
	} else if (x->modern || !is_repeated(x, e->id)) {
		x->heard = true;
		if (e->data.n && str_eqz(e->event, "message"))
			http_stream_tell(
				x,
				e->data); /* without data: it only primes the client (2025-11-25) */
	}
}

/* The reader is dead. */
static void fail_events(struct exch *x)
{
	struct link_http *l = x->l;
	bool large = x->event_status == CLEAT_ELIMIT;
	struct link_failure f = link_http_failure(
		large ? CLEAT_STEP_PROTOCOL : CLEAT_STEP_EXCHANGE, x->event_status,
		large ? "%.70s sent an event that is larger than the limit of %zu bytes"
		      : "there is no memory for an event of %.70s (limit: %zu bytes)",
		l->place, l->max_message);

	f.http_status = x->status;
	if (x->kind == EXCH_REQUEST) {
		exch_fail(x, &f);
		return;
	}
	if (large)
		l->ev.oversize(l->ev.ctx, NULL, l->max_message);
	if (x->gone)
		return;
	if (x->kind == EXCH_OLD) {
		old_over(l, &f);
		return;
	}
	keep_id(&x->last_id, (struct str){ "", 0 }); /* it would be sent again and again */
	exch_stop(x);
	listen_broke(x);
}

bool exch_feed(struct exch *x, struct str bytes)
{
	struct fetch *f = x->fetch;
	int rc = sse_reader_feed(x->reader, bytes, http_stream_on_event, x);

	if (x->gone || x->fetch != f)
		return false;
	if (x->lingers)
		return true;
	take_position(x);
	if (rc && !x->event_status)
		x->event_status = rc;
	if (!x->event_status)
		return true;
	fail_events(x);
	return false;
}

/* ---- when to try again ------------------------------------------------------------------------ */

/* After an end that nothing was wrong with: what the server says, or a second. Then 1.5 times as long
 * for every attempt in vain, anywhere in that time (so that a thousand clients do not come back
 * together), but never before the server's time. */
static uint64_t pause_of(const struct exch *x)
{
	const struct link_http *l = x->l;
	uint64_t least = x->retry < 0 ? 0 : x->retry > DAY_MS ? DAY_MS : (uint64_t)x->retry;
	uint64_t d = LINK_HTTP_RETRY_MS;

	if (x->resumed && least < FLOOR_MS)
		least = FLOOR_MS;
	if (x->tries == 0)
		return x->retry < 0 ? d : least;
	for (unsigned i = 0; i < x->tries && d < LINK_HTTP_BACKOFF_MAX; i++)
		d += d / 2;
	if (d > LINK_HTTP_BACKOFF_MAX)
		d = LINK_HTTP_BACKOFF_MAX;
	if (l->random)
		d = LEAST_MS + l->random(l->random_ctx) % d;
	return d > least ? d : least;
}

/* A connection has ended: was it in vain? The POST that a stream began with never was. */
static void count_try(struct exch *x)
{
	bool lived = x->body == BODY_EVENTS && loop_now() - x->since >= LIVED_MS;

	if (x->heard || lived)
		x->tries = 0;
	else if ((x->resumed || x->kind == EXCH_LISTEN) && x->tries < TRIES_COUNTED)
		x->tries++;
}

void exch_resume(struct exch *x)
{
	struct link_failure f = link_http_failure(CLEAT_STEP_EXCHANGE, CLEAT_EIO,
						  "the connection broke before the answer");
	cleat_error err;
	int rc = CLEAT_OK;

	if (!x->doomed) {
		x->resumed = x->kind == EXCH_REQUEST || x->opened;
		x->in_session = x->l->session != NULL;
		rc = exch_fetch(x, "GET", NULL, &err);
		if (rc == CLEAT_OK)
			return;
		f.error = err;
	}
	if (x->kind == EXCH_REQUEST)
		exch_fail(x, &f);
	else
		listen_broke(x);
}

/* ---- the answer to a request ------------------------------------------------------------------ */

static void give_up(struct exch *x, const struct link_failure *why)
{
	struct link_failure f;

	if (why && !x->resumed)
		f = *why;
	else
		f = link_http_failure(CLEAT_STEP_EXCHANGE, CLEAT_EIO, "%.70s %s%s%s", x->l->place,
				      x->resumed ? "did not go on after its stream broke off"
						 : "ended the stream before the answer",
				      why ? ": " : "", why ? why->error.message : "");
	f.step = why && why->step == CLEAT_STEP_AUTH ? CLEAT_STEP_AUTH : CLEAT_STEP_EXCHANGE;
	f.http_status = x->status;
	f.session_lost = f.unsent = false;
	exch_fail(x, &f);
}

void exch_broke(struct exch *x, const struct link_failure *why)
{
	count_try(x);
	if (x->modern || buf_size(&x->last_id) == 0 || x->tries >= TRIES_MAX)
		give_up(x, why); /* 2026-07-28: "Resumable SSE streams [...] are not supported" */
	else
		exch_wait(x, pause_of(x));
}

/* The server may have trouble just now (429, 5xx), or not want this at all. */
bool resume_on_head(struct exch *x)
{
	bool later = x->status == 429 || x->status >= 500;
	struct link_failure f;

	if (exch_is_stream(x) && exch_begin_events(x) == CLEAT_OK)
		return true;
	f = link_http_refused(x);
	if (later && link_http_retry_after(x->fetch) > x->retry)
		x->retry = link_http_retry_after(x->fetch);
	exch_stop(x);
	if (later)
		exch_broke(x, &f);
	else
		give_up(x, &f);
	return false;
}

/* ---- the GET stream --------------------------------------------------------------------------- */

void link_http_listen(struct link_http *l)
{
	struct exch *x = exch_new(l, EXCH_LISTEN);
	cleat_error err;

	if (!x)
		return; /* the server's other ways to be heard remain */
	l->listen = x;
	x->in_session = l->session != NULL;
	if (exch_fetch(x, "GET", NULL, &err) != CLEAT_OK)
		exch_wait(x, pause_of(x));
}

void listen_broke(struct exch *x)
{
	x->missed |= x->opened && buf_size(&x->last_id) == 0;
	count_try(x);
	if (!x->opened && x->tries >= FIRST_TRIES_MAX) {
		link_http_note(
			x->l, CLEAT_LOG_INFO,
			"%.70s: the stream for what the server says unasked cannot be opened",
			x->l->place);
		exch_drop(x);
		return;
	}
	exch_wait(x, pause_of(x));
}

/* There is no such stream, or none any more. That it never was is nothing to speak of: "or else return
 * HTTP 405". When it was, the role has to know that it hears nothing more; if the session is lost, the
 * next request will say so. */
static void listen_over(struct exch *x)
{
	struct link_http *l = x->l;
	bool opened = x->opened;
	int status = x->status;

	exch_drop(x);
	if (!opened && status != 401 && status != 403)
		return;
	link_http_note(l, CLEAT_LOG_WARNING,
		       "%.70s answered %d: what the server says unasked is not heard any more",
		       l->place, status);
	if (opened && !l->freed && l->ev.gap)
		l->ev.gap(l->ev.ctx);
}

bool listen_on_head(struct exch *x)
{
	struct link_http *l = x->l;
	bool auth = x->status == 401 || x->status == 403;
	bool taken = x->status == 409; /* our old connection is not noticed as dead */
	bool later = taken || x->status == 429 || x->status == 408 ||
		     (x->status >= 500 && x->status != 501);
	bool stream = exch_is_stream(x);

	if (stream && exch_begin_events(x) == CLEAT_OK) {
		bool missed = x->missed;

		x->opened = true;
		x->missed = false;
		if (missed && l->ev.gap)
			l->ev.gap(l->ev.ctx);
		return true;
	}
	if (stream || later) {
		int64_t after = link_http_retry_after(x->fetch);

		x->retry = later && after > x->retry ? after : x->retry;
		/* what was said there is lost, even if we never saw that it was open */
		x->missed |= taken && buf_size(&x->last_id) == 0;
		exch_stop(x);
		listen_broke(x);
	} else if (!auth && x->status >= 400 && buf_size(&x->last_id)) {
		x->missed = true; /* what came after that event is not kept */
		keep_id(&x->last_id, (struct str){ "", 0 });
		exch_stop(x);
		listen_broke(x);
	} else {
		listen_over(x);
	}
	return false;
}
