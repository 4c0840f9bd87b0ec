/* endpoint/session.c - sessions: how they begin and end, and what POST, GET and DELETE do with
 * them. See session.h.
 *
 * An id is made here and nowhere else. It is looked up, never recognised by its shape, and a session
 * of somebody else is as unknown as one that never was.
 */
#include "endpoint/session.h"

#include "base/mem.h"
#include "protocol/revision.h"

enum { KEEP_BUF = 64 * 1024, FIRST_BUCKETS = 64, LOOK_AT = 64 };

/* ---- the table ------------------------------------------------------------------------------------ */

/* Ids are random: their first characters are as good as a hash. */
static size_t bucket_of(const struct endpoint *m, const char *id)
{
	size_t h = 0;

	for (int i = 0; i < 8; i++)
		h = h * 31 + (unsigned char)id[i];
	return h & (m->n_buckets - 1);
}

static int make_room(struct endpoint *m)
{
	size_t n = m->n_buckets ? m->n_buckets * 2 : FIRST_BUCKETS;
	struct session **old = m->sessions, **buckets, *s, *next;
	size_t n_old = m->n_buckets;

	if (m->n_sessions < m->n_buckets)
		return CLEAT_OK;
	buckets = mem_zalloc(&m->mem, n * sizeof *buckets);
	if (!buckets)
		return CLEAT_ENOMEM;
	m->sessions = buckets;
	m->n_buckets = n;
	for (size_t i = 0; i < n_old; i++)
		for (s = old[i]; s; s = next) {
			size_t b = bucket_of(m, s->id);

			next = s->chain;
			s->chain = buckets[b];
			buckets[b] = s;
		}
	mem_free(&m->mem, old);
	return CLEAT_OK;
}

/* At the end of its lists. */
static void enlist(struct session *s, enum session_use use)
{
	s->use = use;
	ring_cut(&s->links[OF_ALL]);
	ring_cut(&s->links[OF_OWNER]);
	ring_add(&s->m->by_use[use], &s->links[OF_ALL]);
	ring_add(&s->owner->sessions[use], &s->links[OF_OWNER]);
}

void session_touch(struct session *s)
{
	s->used_ms = endpoint_now(s->m);
	if (!s->dropped)
		enlist(s, s->use);
}

static void unlist(struct session *s)
{
	struct endpoint *m = s->m;
	struct session **at = m->n_buckets ? &m->sessions[bucket_of(m, s->id)] : NULL;

	while (at && *at && *at != s)
		at = &(*at)->chain;
	if (at && *at) {
		*at = s->chain;
		m->n_sessions--;
		s->owner->n_sessions--;
		ring_remove(&s->links[OF_ALL]);
		ring_remove(&s->links[OF_OWNER]);
	}
}

static bool is_owner(const struct session *s, struct str principal)
{
	return !s->principal.p == !principal.p && str_eq(s->principal, principal);
}

static struct session *session_find(struct endpoint *m, struct str id, struct str principal)
{
	struct session *s = NULL;

	if (m->n_buckets && id.n == SESSION_ID_CHARS)
		s = m->sessions[bucket_of(m, id.p)];
	while (s && !str_eqz(id, s->id))
		s = s->chain;
	return s && is_owner(s, principal) ? s : NULL;
}

/* The session of the request, entered; NULL after an answer. */
static struct session *session_of(struct endpoint *m, struct http_exchange *ex,
				  struct str principal)
{
	const struct http_request *r = http_exchange_request(ex);
	struct str id = http_request_field(r, "mcp-session-id");
	struct str version = http_request_field(r, "mcp-protocol-version");
	struct session *s = NULL;

	if (!id.p || !http_request_field_is_single(r, "mcp-session-id")) {
		endpoint_reply_error(m, ex, 400, CLEAT_RPC_INVALID_REQUEST,
				     "Mcp-Session-Id is needed, once");
		return NULL;
	}
	if (!http_request_field_is_single(r, "mcp-protocol-version")) {
		endpoint_reply_error(m, ex, 400, CLEAT_RPC_INVALID_REQUEST,
				     "MCP-Protocol-Version is there more than once");
		return NULL;
	}
	if (version.p && revision_find(version) == REV_NONE) {
		endpoint_reply_version(m, ex, version);
		return NULL;
	}
	s = session_find(m, id, principal);
	if (!s) {
		endpoint_reply_error(m, ex, 404, CLEAT_RPC_INVALID_REQUEST,
				     "there is no such session; begin a new one with initialize");
		return NULL;
	}
	session_enter(s);
	session_touch(s);
	return s;
}

/* ---- life ----------------------------------------------------------------------------------------- */

static void ignore_status(void *ctx, int status)
{
	(void)ctx;
	(void)status;
}

static void free_session(struct session *s)
{
	struct endpoint *m = s->m;

	while (s->streams)
		channel_free(s->streams);
	channel_free(&s->standing);
	buf_done(&s->opening);
	owner_drop(m, s->owner);
	mem_free(&m->mem, (char *)s->principal.p);
	mem_free(&m->mem, s);
}

void session_enter(struct session *s)
{
	s->busy++;
}

void session_leave(struct session *s)
{
	if (--s->busy == 0 && s->dropped)
		free_session(s);
}

/* Cancels what runs, and forgets everything. */
static void endpoint_session_drop(struct session *s)
{
	struct endpoint *m = s->m;
	struct peer *p = s->peer;

	if (s->dropped)
		return;
	s->dropped = true;
	s->peer = NULL;
	session_enter(s);
	if (p)
		p->ops->close(p);
	unlist(s);
	m->o.store->ops->session_drop(m->o.store, str_of(s->id), ignore_status, NULL);
	session_leave(s);
}

static bool is_in_use(const struct session *s)
{
	if (s->busy || s->standing.place.ex || (s->peer && s->peer->ops->inflight(s->peer)))
		return true;
	for (const struct channel *st = s->streams; st; st = st->next)
		if (st->place.ex)
			return true;
	return false;
}

static struct session *first_of(const struct ring *list, enum session_list which)
{
	return CONTAINER_OF(list->next - which, struct session, links);
}

static void expire(struct endpoint *m, enum session_use use, uint64_t ms)
{
	uint64_t now = endpoint_now(m);

	while (!ring_alone(&m->by_use[use])) {
		struct session *s = first_of(&m->by_use[use], OF_ALL);

		if (now - s->used_ms < ms)
			return;
		if (ms && is_in_use(s))
			session_touch(s);
		else
			endpoint_session_drop(s);
	}
}

void session_expire_all(struct endpoint *m)
{
	expire(m, SESSION_NEW, m->o.session_unused_ms);
	expire(m, SESSION_USED, m->o.session_idle_ms);
	expire(m, SESSION_REVOKED, 0);
}

/* Ends one that nobody uses: first those that were never used, then the one that was not for longest. False
 * when there is none among the first few; the next that asks looks at others. */
static bool make_way(struct ring lists[], enum session_list which)
{
	for (int use = SESSION_NEW; use <= SESSION_USED; use++)
		for (int i = 0; i < LOOK_AT && !ring_alone(&lists[use]); i++) {
			struct session *s = first_of(&lists[use], which);

			if (!is_in_use(s)) {
				endpoint_session_drop(s);
				return true;
			}
			session_touch(s);
		}
	return false;
}

void session_revoke(struct endpoint *m, struct str name)
{
	for (size_t i = 0; i < m->n_buckets; i++)
		for (struct session *s = m->sessions[i]; s; s = s->chain)
			if (endpoint_is_revoked(m, s->principal, name))
				enlist(s, SESSION_REVOKED);
}

/* Streams that only listen end; those of requests end with their answers. */
void session_stop_all(struct endpoint *m)
{
	for (size_t i = 0; i < m->n_buckets; i++)
		for (struct session *s = m->sessions[i]; s; s = s->chain)
			if (s->standing.place.ex)
				place_end(m, &s->standing.place);
}

void session_forget_all(struct endpoint *m)
{
	for (size_t i = 0; i < m->n_buckets; i++)
		for (struct session *s = m->sessions[i]; s; s = s->chain)
			s->peer = NULL;
}

void session_free_all(struct endpoint *m)
{
	for (size_t i = 0; i < m->n_buckets; i++)
		while (m->sessions[i])
			endpoint_session_drop(m->sessions[i]);
	mem_free(&m->mem, m->sessions);
	m->sessions = NULL;
	m->n_buckets = 0;
}

/* ---- what the peer sends --------------------------------------------------------------------------- */

static struct buf *session_sink_begin(void *ctx, void *tag)
{
	struct session *s = ctx;

	(void)tag;
	buf_reset(&s->m->message, KEEP_BUF);
	return &s->m->message;
}

static struct channel *channel_of(struct session *s, void *tag)
{
	return tag ? tag : &s->standing;
}

/* One JSON answer, if nothing was sent before it and nothing else is to come. */
static bool answers_plainly(const struct channel *st, int kind)
{
	if (st->eventful || st->standing)
		return false;
	return !st->accept.events || kind != 200 || !st->accept.prefers_events;
}

static void reply(struct channel *st, int status)
{
	struct endpoint *m = st->s->m;
	struct http_exchange *ex = st->place.ex;
	const struct http_field id = { STR_LIT("Mcp-Session-Id"), str_of(st->s->id) };

	if (!ex)
		return;
	place_leave(m, &st->place);
	endpoint_reply(m, ex, status, STR_LIT("application/json"), buf_str(&m->message), &id, 1);
}

static int session_sink_end(void *ctx, void *tag, int kind)
{
	struct session *s = ctx;
	struct channel *st = channel_of(s, tag);
	int rc = buf_status(&s->m->message);
	bool answer = kind >= 100;

	if (rc || kind == PEER_TAKE_BACK)
		return rc;
	if (st->opens) {
		struct str text = buf_str(&s->m->message);

		buf_append(&s->opening, text.p, text.n);
		s->opening_status = kind;
		return buf_status(&s->opening);
	}
	if (answer && answers_plainly(st, kind)) {
		reply(st, kind);
		return CLEAT_OK;
	}
	if (!answer && !st->standing && !st->accept.events && st->place.ex)
		return kind == PEER_REQUEST ? CLEAT_ECLOSED : CLEAT_OK;
	return channel_send(st, kind);
}

static void sink_ended(void *ctx, void *tag, bool lost)
{
	struct session *s = ctx;
	struct channel *st = channel_of(s, tag);

	session_enter(s);
	session_touch(s);
	st->ended++;
	st->lost = st->lost || lost;
	channel_finish_if_over(st);
	session_leave(s);
}

static void sink_release(void *ctx, void *tag, uint64_t retry_ms)
{
	channel_release(channel_of(ctx, tag), retry_ms);
}

static bool session_sink_congested(void *ctx)
{
	(void)ctx; /* each stream has a queue of its own, and the store after it */
	return false;
}

/* Something was asked in it, or listens. */
static void begin_use(struct session *s)
{
	if (s->use == SESSION_NEW && !s->dropped)
		enlist(s, SESSION_USED);
}

/* ---- POST ------------------------------------------------------------------------------------------ */

static void feed(struct session *s, struct channel *st, const struct http_request *r)
{
	const struct peer_headers headers = endpoint_headers(s->m, r);

	st->receiving = true;
	st->expected = s->peer->ops->receive(s->peer, r->body, st, &headers);
	st->receiving = false;
	if (st->expected == PEER_LOST) {
		st->expected = 0;
		st->lost = true;
	}
}

void session_post(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	struct session *s = session_of(m, ex, principal);
	struct channel *st;

	if (!s)
		return;
	st = channel_new(s, ex);
	if (!st) {
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR, "out of memory");
	} else {
		feed(s, st, http_exchange_request(ex));
		if (st->expected)
			begin_use(s);
		channel_finish_if_over(st);
	}
	session_leave(s);
}

/* ---- initialize ------------------------------------------------------------------------------------ */

static struct session *session_new(struct endpoint *m, const struct http_exchange *ex,
				   struct str principal)
{
	const struct peer_sink sink_ops = { .begin = session_sink_begin,
					    .end = session_sink_end,
					    .ended = sink_ended,
					    .release = sink_release,
					    .congested = session_sink_congested };
	struct peer_facts facts = { .mode = PEER_LEGACY,
				    .transport = CLEAT_TRANSPORT_HTTP,
				    .address = str_of(http_exchange_address(ex)),
				    .principal = principal };
	struct session *s = mem_zalloc(&m->mem, sizeof *s);
	struct peer_sink sink = sink_ops;
	char mark[SESSION_ID_CHARS + 1];

	if (!s)
		return NULL;
	s->m = m;
	channel_init(&s->standing, s);
	s->standing.standing = s->standing.accept.events = true;
	buf_init(&s->opening, &m->mem, m->o.max_reply);
	s->used_ms = endpoint_now(m);
	s->owner = owner_take(m, principal, facts.address.p);
	ring_init(&s->links[OF_ALL]);
	ring_init(&s->links[OF_OWNER]);
	if (principal.p) {
		s->principal.p = mem_strndup(&m->mem, principal.p, principal.n);
		s->principal.n = principal.n;
	}
	sink.ctx = s;
	if (s->owner && endpoint_random_id(s->id) == CLEAT_OK &&
	    endpoint_random_id(mark) == CLEAT_OK && !s->principal.p == !principal.p &&
	    make_room(m) == CLEAT_OK) {
		facts.quota = &s->owner->subscriptions;
		s->peer = m->o.accept(m->o.ctx, &sink, &facts);
	}
	if (!s->peer) {
		free_session(s);
		return NULL;
	}
	memcpy(s->mark, mark, sizeof s->mark - 1);
	s->chain = m->sessions[bucket_of(m, s->id)];
	m->sessions[bucket_of(m, s->id)] = s;
	m->n_sessions++;
	s->owner->n_sessions++;
	enlist(s, SESSION_NEW);
	return s;
}

static void on_put(void *ctx, int status)
{
	struct session *s = ctx;

	s->store_status = status;
	session_leave(s);
}

static int put_session(struct session *s)
{
	struct store *store = s->m->o.store;
	const struct store_session record = { .id = str_of(s->id), .principal = s->principal };
	int status;

	session_enter(s);
	session_enter(s);
	s->store_status = CLEAT_OK;
	store->ops->session_put(store, &record, on_put, s);
	status = s->store_status;
	session_leave(s);
	return status;
}

static int session_remember(struct session *s)
{
	int rc = put_session(s);

	return rc == CLEAT_ELIMIT && make_way(s->m->by_use, OF_ALL) ? put_session(s) : rc;
}

static void refuse_opening(struct channel *st, int status)
{
	struct endpoint *m = st->s->m;
	struct http_exchange *ex = st->place.ex;

	place_leave(m, &st->place);
	if (status == CLEAT_EPROTO)
		endpoint_reply_error(m, ex, 400, CLEAT_RPC_INVALID_REQUEST,
				     "initialize must be a request, with an id");
	else
		endpoint_reply_error(
			m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
			status == CLEAT_ELIMIT
				? "all sessions that there can be are in use; try again later"
				: "no session can be made now; try again later");
}

/* What was found out about it: is there something to say? It is in m->message then. */
static int opening_status(struct session *s, const struct channel *st)
{
	struct endpoint *m = s->m;
	struct str text = buf_str(&s->opening);

	if (st->lost || buf_status(&s->opening) || (!text.n && st->expected))
		return CLEAT_ENOMEM;
	if (!text.n)
		return CLEAT_EPROTO;
	buf_reset(&m->message, KEEP_BUF);
	buf_append(&m->message, text.p, text.n);
	return buf_status(&m->message);
}

/* The answer waited until it was known whether there is a session now. */
static void answer_opening(struct session *s, struct channel *st)
{
	struct endpoint *m = s->m;
	bool open = s->peer->ops->revision(s->peer) != NULL;
	int rc = opening_status(s, st);

	if (!rc && open)
		rc = session_remember(s);
	st->opens = false;
	if (rc) {
		open = false;
		refuse_opening(st, rc);
	} else if (!open) {
		struct http_exchange *ex = st->place.ex;

		place_leave(m, &st->place);
		endpoint_reply(m, ex, s->opening_status, STR_LIT("application/json"),
			       buf_str(&m->message), NULL, 0);
	} else if (answers_plainly(st, s->opening_status)) {
		reply(st, s->opening_status);
	} else {
		channel_send(st, PEER_ANSWER);
		open = st->place.ex != NULL; /* otherwise nobody will know its id */
	}
	channel_finish_if_over(st);
	buf_reset(&s->opening, 0);
	if (!open)
		endpoint_session_drop(s);
}

void session_open(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	struct session *s = session_new(m, ex, principal);
	struct channel *st = NULL;
	bool many = false;

	if (s) {
		session_enter(s);
		many = s->owner->n_sessions > s->owner->max_sessions &&
		       !make_way(s->owner->sessions, OF_OWNER);
		st = many ? NULL : channel_new(s, ex);
	}
	if (many) {
		endpoint_reply_error(m, ex, 429, CLEAT_RPC_INVALID_REQUEST,
				     "all %zu sessions that this client may have are in use",
				     s->owner->max_sessions);
		endpoint_session_drop(s);
	} else if (!st) {
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
				     "no session can be made now; try again later");
		if (s)
			endpoint_session_drop(s);
	} else {
		st->opens = true;
		feed(s, st, http_exchange_request(ex));
		answer_opening(s, st);
	}
	if (s)
		session_leave(s);
}

/* ---- GET and DELETE --------------------------------------------------------------------------------- */

static void resume(struct session *s, struct http_exchange *ex, struct str last)
{
	uint64_t number, event;
	struct channel *st = NULL;

	if (channel_parse_id(s, last, &number, &event))
		st = channel_find(s, number);
	if (!st || event > st->last)
		endpoint_reply_error(s->m, ex, 404, CLEAT_RPC_INVALID_REQUEST,
				     "Last-Event-ID names no event of this session");
	else
		channel_resume(st, ex, event);
}

void session_get(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	const struct http_request *r = http_exchange_request(ex);
	struct str last = http_request_field(r, "last-event-id");
	struct session *s;

	if (revision_is_modern(revision_find(http_request_field(r, "mcp-protocol-version")))) {
		endpoint_reply_not_allowed(m, ex, "POST");
		return;
	}
	if (!endpoint_accept(m, r).events) {
		endpoint_reply_error(m, ex, 406, CLEAT_RPC_INVALID_REQUEST,
				     "Accept must have text/event-stream");
		return;
	}
	s = session_of(m, ex, principal);
	if (!s)
		return;
	begin_use(s);
	if (m->stopping)
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
				     "the server is stopping");
	else if (last.n)
		resume(s, ex, last);
	else if (s->standing.place.ex)
		endpoint_reply_error(m, ex, 409, CLEAT_RPC_INVALID_REQUEST,
				     "this session has a stream that listens already");
	else
		channel_listen(&s->standing, ex);
	session_leave(s);
}

void session_delete(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	const struct http_request *r = http_exchange_request(ex);
	struct session *s;

	if (revision_is_modern(revision_find(http_request_field(r, "mcp-protocol-version")))) {
		endpoint_reply_not_allowed(m, ex, "POST");
		return;
	}
	s = session_of(m, ex, principal);
	if (!s)
		return;
	endpoint_session_drop(s);
	endpoint_reply_empty(m, ex, 204);
	session_leave(s);
}
