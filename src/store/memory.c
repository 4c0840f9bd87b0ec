/* store/memory.c - the store in this process's memory: sessions by id and by last use, with the events
 * of events.c. Every answer comes from inside the call.
 *
 * Invariant: the callback is the last thing that a call does, or everything that is needed after it is
 * held; so callbacks may call anything here, drop the very session, or free the store.
 *
 * Not here: what a session means, when it expires, random ids. Ids are found by a seeded hash and
 * compared only where the hash is right, so the time that takes does not lead to an id byte by byte;
 * and as only ids that the caller made are put in, nobody outside can choose collisions.
 */
#include "base/mem.h"
#include "loop/loop.h"
#include "store/events.h"

enum { RECORD_MAX = 64 * 1024 }; /* bytes of id, principal and data together */
enum { SESSIONS_DEFAULT = 10000, EVENTS_DEFAULT = 10 << 20, SESSION_DEFAULT = 1 << 20 };

/* What a session is to the caller. Counted: it outlives the session while a callback looks at it. */
struct record {
	struct store_session s; /* slices of text */
	size_t refs;
	char text[];
};

struct session {
	struct bucket_node node;
	struct ring use; /* in memory.use */
	struct record *record;
	struct events_owner events;
	uint64_t used_ms;
};

struct memory {
	struct store store; /* first: a pointer to one is a pointer to the other */
	cleat_allocator mem;
	uint64_t (*now)(void *ctx);
	void *now_ctx;
	size_t max_sessions;
	uint32_t seed;
	struct buckets sessions;
	struct ring use; /* sessions, the one that was not used for longest first */
	struct events events;
};

static struct memory *memory_of(struct store *st)
{
	return (struct memory *)st;
}

/* ---- records ------------------------------------------------------------------------------ */

static struct str memory_copy(char **to, struct str s)
{
	struct str ret = { *to, s.n };

	if (s.n)
		memcpy(*to, s.p, s.n);
	*to += s.n;
	return ret;
}

/* NULL when out of memory. */
static struct record *record_new(const cleat_allocator *mem, const struct store_session *s)
{
	struct record *r = mem_alloc(mem, sizeof *r + s->id.n + s->principal.n + s->data.n);
	char *to;

	if (!r)
		return NULL;
	r->refs = 1;
	to = r->text;
	r->s.id = memory_copy(&to, s->id);
	r->s.principal = memory_copy(&to, s->principal);
	r->s.data = memory_copy(&to, s->data);
	return r;
}

static void record_release(const cleat_allocator *mem, struct record *r)
{
	if (--r->refs == 0)
		mem_free(mem, r);
}

/* CLEAT_OK, CLEAT_EINVAL or CLEAT_ELIMIT. */
static int record_check(const struct store_session *s)
{
	if (s->id.n == 0)
		return CLEAT_EINVAL;
	if (s->id.n > RECORD_MAX || s->principal.n > RECORD_MAX || s->data.n > RECORD_MAX)
		return CLEAT_ELIMIT;
	return s->id.n + s->principal.n + s->data.n > RECORD_MAX ? CLEAT_ELIMIT : CLEAT_OK;
}

/* ---- sessions ----------------------------------------------------------------------------- */

static struct session *memory_find(struct memory *m, struct str id)
{
	struct bucket_node *n = buckets_first(&m->sessions, str_hash(id, m->seed));

	for (; n; n = buckets_next(n)) {
		struct session *s = CONTAINER_OF(n, struct session, node);

		if (str_eq(s->record->s.id, id))
			return s;
	}
	return NULL;
}

static void touch(struct memory *m, struct session *s)
{
	s->used_ms = m->now(m->now_ctx);
	ring_remove(&s->use);
	ring_add(&m->use, &s->use);
}

/* The session, which is used by that. */
static struct session *find_used(struct memory *m, struct str id)
{
	struct session *s = memory_find(m, id);

	if (s)
		touch(m, s);
	return s;
}

/* r belongs to the session when this succeeds. */
static int session_new(struct memory *m, struct record *r)
{
	struct session *s = mem_alloc(&m->mem, sizeof *s);

	if (!s)
		return CLEAT_ENOMEM;
	*s = (struct session){ .record = r, .used_ms = m->now(m->now_ctx) };
	events_owner_init(&m->events, &s->events);
	ring_add(&m->use, &s->use);
	buckets_put(&m->sessions, &s->node, str_hash(r->s.id, m->seed));
	return CLEAT_OK;
}

/* Takes it out, with its streams; it is in no ring then. */
static void session_remove(struct memory *m, struct session *s)
{
	events_owner_done(&m->events, &s->events);
	buckets_remove(&m->sessions, &s->node);
	ring_remove(&s->use);
}

static void session_free(const cleat_allocator *mem, struct session *s)
{
	record_release(mem, s->record);
	mem_free(mem, s);
}

static int memory_put(struct memory *m, const struct store_session *s)
{
	struct session *have = find_used(m, s->id);
	int status = record_check(s);
	struct record *r;

	if (status != CLEAT_OK)
		return status;
	if (!have && m->sessions.count >= m->max_sessions)
		return CLEAT_ELIMIT;
	r = record_new(&m->mem, s);
	if (!r)
		return CLEAT_ENOMEM;
	if (!have) {
		status = session_new(m, r);
		if (status != CLEAT_OK)
			record_release(&m->mem, r);
		return status;
	}
	record_release(&m->mem, have->record);
	have->record = r;
	return CLEAT_OK;
}

/* ---- the interface ------------------------------------------------------------------------ */

static void op_session_put(struct store *st, const struct store_session *s, store_done_fn *fn,
			   void *ctx)
{
	fn(ctx, memory_put(memory_of(st), s));
}

static void op_session_get(struct store *st, struct str id, store_session_fn *fn, void *ctx)
{
	struct memory *m = memory_of(st);
	struct session *s = find_used(m, id);
	cleat_allocator mem = m->mem;
	struct record *r;

	if (!s) {
		fn(ctx, CLEAT_ENOENT, NULL);
		return;
	}
	r = s->record;
	r->refs++;
	fn(ctx, CLEAT_OK, &r->s);
	record_release(&mem, r);
}

static void op_session_drop(struct store *st, struct str id, store_done_fn *fn, void *ctx)
{
	struct memory *m = memory_of(st);
	struct session *s = memory_find(m, id);

	if (s) {
		session_remove(m, s);
		session_free(&m->mem, s);
	}
	fn(ctx, s ? CLEAT_OK : CLEAT_ENOENT);
}

static void op_append(struct store *st, struct str session, uint64_t stream, uint64_t number,
		      struct str data, store_done_fn *fn, void *ctx)
{
	struct memory *m = memory_of(st);
	struct session *s = find_used(m, session);

	fn(ctx, s ? events_append(&m->events, &s->events, stream, number, data) : CLEAT_ENOENT);
}

static void op_replay(struct store *st, struct str session, uint64_t stream, uint64_t after,
		      store_event_fn *each, store_done_fn *fn, void *ctx)
{
	struct memory *m = memory_of(st);
	struct session *s = find_used(m, session);

	fn(ctx, s ? events_replay(&m->events, &s->events, stream, after, each, ctx) : CLEAT_ENOENT);
}

static void op_stream_drop(struct store *st, struct str session, uint64_t stream)
{
	struct memory *m = memory_of(st);
	struct session *s = memory_find(m, session);

	if (s)
		events_stream_drop(&m->events, &s->events, stream);
}

/* All of them are out of the store before the first callback: it may put sessions in again, expire
 * others, or free the store. */
static void op_expire(struct store *st, uint64_t before_ms, void (*fn)(void *ctx, struct str id),
		      void *ctx)
{
	struct memory *m = memory_of(st);
	cleat_allocator mem = m->mem;
	struct session *s;
	struct ring gone;

	ring_init(&gone);
	while (!ring_alone(&m->use)) {
		s = CONTAINER_OF(m->use.next, struct session, use);
		if (s->used_ms >= before_ms)
			break;
		session_remove(m, s);
		ring_add(&gone, &s->use);
	}
	while (!ring_alone(&gone)) {
		s = CONTAINER_OF(gone.next, struct session, use);
		ring_remove(&s->use);
		fn(ctx, s->record->s.id);
		session_free(&mem, s);
	}
}

static void op_free(struct store *st)
{
	struct memory *m = memory_of(st);
	cleat_allocator mem = m->mem;

	while (!ring_alone(&m->use)) {
		struct session *s = CONTAINER_OF(m->use.next, struct session, use);

		session_remove(m, s);
		session_free(&mem, s);
	}
	events_done(&m->events);
	buckets_done(&m->sessions);
	mem_free(&mem, m);
}

static const struct store_ops memory_ops = {
	.session_put = op_session_put,
	.session_get = op_session_get,
	.session_drop = op_session_drop,
	.append = op_append,
	.replay = op_replay,
	.stream_drop = op_stream_drop,
	.expire = op_expire,
	.free = op_free,
};

static uint64_t clock_of_loop(void *ctx)
{
	(void)ctx;
	return loop_now();
}

static size_t or_default(size_t limit, size_t otherwise)
{
	return limit ? limit : otherwise;
}

struct store *store_memory_new(const cleat_allocator *mem, const struct store_limits *limits,
			       uint64_t (*now)(void *ctx), void *now_ctx)
{
	const struct store_limits max = limits ? *limits : (struct store_limits){ 0 };
	cleat_allocator hooks = mem_resolve(mem);
	struct memory *m = mem_zalloc(&hooks, sizeof *m);

	if (!m)
		return NULL;
	m->store.ops = &memory_ops;
	m->mem = hooks;
	m->now = now ? now : clock_of_loop;
	m->now_ctx = now_ctx;
	m->max_sessions = or_default(max.max_sessions, SESSIONS_DEFAULT);
	m->seed = (uint32_t)(uintptr_t)m * 2654435761u; /* differs from run to run with ASLR */
	ring_init(&m->use);
	if (buckets_init(&m->sessions, &hooks) == CLEAT_OK &&
	    events_init(&m->events, &hooks, or_default(max.max_event_bytes, EVENTS_DEFAULT),
			or_default(max.max_session_bytes, SESSION_DEFAULT), m->seed) == CLEAT_OK)
		return &m->store;
	op_free(&m->store);
	return NULL;
}

void store_memory_stats(const struct store *st, struct store_stats *ret)
{
	const struct memory *m = (const struct memory *)st;

	*ret = (struct store_stats){ .sessions = m->sessions.count,
				     .streams = m->events.streams.count,
				     .events = m->events.count,
				     .bytes = m->events.bytes };
}
