/* store/events.c - see events.h. An event is one block in three rings: of all, of its owner, of its
 * stream. It is counted, so that a replay can hold what it is about to give away while the callback
 * does as it likes.
 *
 * An event costs its data and COST, which is at least what it takes: itself, and a stream that it may
 * be alone in. So the limits hold for memory, whatever the events are like.
 */
#include "store/events.h"

#include "base/mem.h"

struct event_stream {
	struct bucket_node node;
	struct events_owner *owner;
	struct ring of_owner;
	struct ring quiet; /* in events.quiet while there are no events */
	struct ring events;
	uint64_t number;
	uint64_t last; /* number of the newest event that ever was */
};

struct event {
	struct ring of_all, of_owner, of_stream;
	struct event_stream *stream;
	size_t refs; /* one for being in the rings, one for every replay under way */
	uint64_t number;
	size_t n;
	char data[];
};

enum { COST = sizeof(struct event) + sizeof(struct event_stream) };

int events_init(struct events *ev, const cleat_allocator *mem, size_t max_bytes,
		size_t max_owner_bytes, uint32_t seed)
{
	*ev = (struct events){ .mem = *mem,
			       .max_bytes = max_bytes,
			       .max_owner_bytes = max_owner_bytes,
			       .seed = seed };
	ring_init(&ev->order);
	ring_init(&ev->quiet);
	return buckets_init(&ev->streams, mem);
}

void events_done(struct events *ev)
{
	buckets_done(&ev->streams);
}

void events_owner_init(struct events *ev, struct events_owner *o)
{
	*o = (struct events_owner){ .serial = ev->owners++ };
	ring_init(&o->streams);
	ring_init(&o->order);
}

/* ---- streams ------------------------------------------------------------------------------ */

static uint32_t hash_of(const struct events *ev, const struct events_owner *o, uint64_t number)
{
	const uint64_t key[2] = { o->serial, number };

	return str_hash((struct str){ (const char *)key, sizeof key }, ev->seed);
}

static struct event_stream *events_find(const struct events *ev, const struct events_owner *o,
					uint64_t number)
{
	struct bucket_node *n = buckets_first(&ev->streams, hash_of(ev, o, number));

	for (; n; n = buckets_next(n)) {
		struct event_stream *s = CONTAINER_OF(n, struct event_stream, node);

		if (s->owner == o && s->number == number)
			return s;
	}
	return NULL;
}

static void quiet_add(struct events *ev, struct event_stream *s)
{
	ring_add(&ev->quiet, &s->quiet);
	ev->n_quiet++;
}

static void quiet_remove(struct events *ev, struct event_stream *s)
{
	ring_remove(&s->quiet);
	ev->n_quiet--;
}

static struct event_stream *stream_new(struct events *ev, struct events_owner *o, uint64_t number)
{
	struct event_stream *s = mem_alloc(&ev->mem, sizeof *s);

	if (!s)
		return NULL;
	*s = (struct event_stream){ .owner = o, .number = number };
	ring_init(&s->events);
	ring_add(&o->streams, &s->of_owner);
	buckets_put(&ev->streams, &s->node, hash_of(ev, o, number));
	quiet_add(ev, s);
	return s;
}

/* s is quiet. */
static void stream_free(struct events *ev, struct event_stream *s)
{
	quiet_remove(ev, s);
	ring_remove(&s->of_owner);
	buckets_remove(&ev->streams, &s->node);
	mem_free(&ev->mem, s);
}

static void forget_oldest(struct events *ev)
{
	struct event_stream *s = CONTAINER_OF(ev->quiet.next, struct event_stream, quiet);
	struct events_owner *o = s->owner;

	if (!o->forgot || s->number > o->forgot_up_to)
		o->forgot_up_to = s->number;
	o->forgot = true;
	stream_free(ev, s);
}

/* ---- purging ------------------------------------------------------------------------------ */

static void events_release(const cleat_allocator *mem, struct event *e)
{
	if (--e->refs == 0)
		mem_free(mem, e);
}

/* The oldest event of its stream. */
static void purge(struct events *ev, struct event *e)
{
	struct event_stream *s = e->stream;

	ring_remove(&e->of_all);
	ring_remove(&e->of_owner);
	ring_cut(&e->of_stream); /* see events_replay() */
	s->owner->bytes -= e->n + COST;
	ev->bytes -= e->n + COST;
	ev->count--;
	if (ring_alone(&s->events))
		quiet_add(ev, s);
	events_release(&ev->mem, e);
}

static void purge_stream(struct events *ev, struct event_stream *s)
{
	while (!ring_alone(&s->events))
		purge(ev, CONTAINER_OF(s->events.next, struct event, of_stream));
}

/* What was put in last stays: it alone is not over a limit. */
static void purge_excess(struct events *ev, struct events_owner *o)
{
	while (o->bytes > ev->max_owner_bytes)
		purge(ev, CONTAINER_OF(o->order.next, struct event, of_owner));
	while (ev->bytes > ev->max_bytes)
		purge(ev, CONTAINER_OF(ev->order.next, struct event, of_all));
	while (ev->n_quiet > EVENTS_QUIET_MAX)
		forget_oldest(ev);
}

void events_stream_drop(struct events *ev, struct events_owner *o, uint64_t stream)
{
	struct event_stream *s = events_find(ev, o, stream);

	if (!s)
		return;
	purge_stream(ev, s);
	stream_free(ev, s);
}

void events_owner_done(struct events *ev, struct events_owner *o)
{
	while (!ring_alone(&o->streams)) {
		struct event_stream *s =
			CONTAINER_OF(o->streams.next, struct event_stream, of_owner);

		purge_stream(ev, s);
		stream_free(ev, s);
	}
}

/* ---- in and out --------------------------------------------------------------------------- */

static struct event *event_new(struct events *ev, uint64_t number, struct str data)
{
	struct event *e = mem_alloc(&ev->mem, sizeof *e + data.n);

	if (!e)
		return NULL;
	*e = (struct event){ .refs = 1, .number = number, .n = data.n };
	if (data.n)
		memcpy(e->data, data.p, data.n);
	return e;
}

static void events_put(struct events *ev, struct event_stream *s, struct event *e)
{
	if (e->number != s->last + 1) /* a gap */
		purge_stream(ev, s);
	if (ring_alone(&s->events))
		quiet_remove(ev, s);
	e->stream = s;
	s->last = e->number;
	ring_add(&ev->order, &e->of_all);
	ring_add(&s->owner->order, &e->of_owner);
	ring_add(&s->events, &e->of_stream);
	s->owner->bytes += e->n + COST;
	ev->bytes += e->n + COST;
	ev->count++;
}

int events_append(struct events *ev, struct events_owner *o, uint64_t stream, uint64_t number,
		  struct str data)
{
	size_t most = ev->max_bytes < ev->max_owner_bytes ? ev->max_bytes : ev->max_owner_bytes;
	struct event_stream *s = events_find(ev, o, stream);
	struct event *e;

	if (number <= (s ? s->last : 0))
		return CLEAT_EINVAL;
	if (most < COST || data.n > most - COST)
		return CLEAT_ELIMIT;
	e = event_new(ev, number, data);
	if (e && !s)
		s = stream_new(ev, o, stream);
	if (!e || !s) {
		mem_free(&ev->mem, e);
		return CLEAT_ENOMEM;
	}
	events_put(ev, s, e);
	purge_excess(ev, o);
	return CLEAT_OK;
}

/* Of a stream that was forgotten nobody knows whether it had an event with a number above 0. */
static int replay_unknown(const struct events_owner *o, uint64_t stream, uint64_t after)
{
	bool forgotten = o->forgot && stream <= o->forgot_up_to;

	return after > 0 || forgotten ? CLEAT_ENOENT : CLEAT_OK;
}

/* Holds the events above `after`, of which there are some, and gives the first. */
static struct event *hold(struct event_stream *s, uint64_t after)
{
	struct ring *r = s->events.prev;
	struct event *e = NULL;

	for (; r != &s->events; r = r->prev) {
		struct event *older = CONTAINER_OF(r, struct event, of_stream);

		if (older->number <= after)
			break;
		e = older;
		e->refs++;
	}
	return e;
}

int events_replay(struct events *ev, struct events_owner *o, uint64_t stream, uint64_t after,
		  store_event_fn *each, void *ctx)
{
	struct event_stream *s = events_find(ev, o, stream);
	cleat_allocator mem = ev->mem;
	struct event *e, *next;
	uint64_t last;

	if (!s)
		return replay_unknown(o, stream, after);
	last = s->last;
	if (after >= last)
		return CLEAT_OK;
	if (ring_alone(&s->events) ||
	    CONTAINER_OF(s->events.next, struct event, of_stream)->number > after + 1)
		return CLEAT_ENOENT;
	/* From here on ev, o and s may vanish. The held events keep their links to the next one, also
	 * when they are taken out of the ring, because that happens oldest first. */
	for (e = hold(s, after); e; e = next) {
		uint64_t number = e->number;

		each(ctx, number, (struct str){ e->data, e->n });
		next = number < last ? CONTAINER_OF(e->of_stream.next, struct event, of_stream)
				     : NULL;
		events_release(&mem, e);
	}
	return CLEAT_OK;
}
