/* store/events.h - the events that the memory backend keeps: who sent them in which order, and which
 * of them go when there is no more room.
 *
 * An owner (a session) has streams, a stream has events. The events of a stream are always a run of
 * numbers without a gap that ends with the last one that was appended, or none at all: what lies
 * before a gap could never be replayed, so it is not kept. Purging takes the oldest first, of the
 * owner or of all, and so keeps this true.
 *
 * A stream of which every event was purged is remembered for its last number, so that a client that
 * missed nothing is not told that it did. Only this many are (EVENTS_QUIET_MAX); an owner that had
 * older ones knows that it forgot some.
 *
 * Not here: sessions, time, the asynchronous interface (memory.c).
 */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "base/ring.h"
#include "store/buckets.h"
#include "store/store.h"

enum { EVENTS_QUIET_MAX = 4096 };

struct events {
	cleat_allocator mem;
	size_t max_bytes, max_owner_bytes;
	uint32_t seed;
	struct buckets streams; /* of all owners, by owner and number */
	struct ring order;      /* all events, oldest first */
	struct ring quiet;      /* streams without events, in the order they became so */
	size_t n_quiet, count, bytes;
	uint64_t owners; /* that ever were: what tells them apart in `streams` */
};

struct events_owner {
	uint64_t serial;
	struct ring streams;
	struct ring order; /* its events, oldest first */
	size_t bytes;
	bool forgot; /* streams that had events; the highest number among them is */
	uint64_t forgot_up_to;
};

/* CLEAT_OK or CLEAT_ENOMEM; `mem` must be complete. Must not move afterwards. */
int events_init(struct events *ev, const cleat_allocator *mem, size_t max_bytes,
		size_t max_owner_bytes, uint32_t seed);
/* All owners are done already. Accepts a zeroed one. */
void events_done(struct events *ev);

void events_owner_init(struct events *ev, struct events_owner *o);
/* Drops everything of it. */
void events_owner_done(struct events *ev, struct events_owner *o);

/* CLEAT_OK, CLEAT_EINVAL (the number does not count up), CLEAT_ELIMIT, CLEAT_ENOMEM; when it fails,
 * everything is as before. */
int events_append(struct events *ev, struct events_owner *o, uint64_t stream, uint64_t number,
		  struct str data);
/* CLEAT_OK or CLEAT_ENOENT. `each` may do anything to the events and their owners, and free them all:
 * it still gets what was there when this was called. */
int events_replay(struct events *ev, struct events_owner *o, uint64_t stream, uint64_t after,
		  store_event_fn *each, void *ctx);
void events_stream_drop(struct events *ev, struct events_owner *o, uint64_t stream);

#endif
