/* store/store.h - what has to outlive a connection: sessions, and the events of their streams.
 *
 * One asynchronous interface; memory is the backend that is always there. Every function that asks
 * for something gives its answer to a callback, exactly once, from inside the call or later on the
 * loop's thread; whoever calls may not rely on either. A store that cannot answer says CLEAT_EIO: that
 * is "try again later", never "there is no such session".
 *
 * Everything is bounded: sessions, bytes of a session's events, bytes of all events. The oldest events
 * go first, and are missed (CLEAT_ENOENT) rather than skipped when somebody asks for them.
 *
 * A callback may call anything of the store, drop the very session it is about, or free the store.
 * What it is given is good until it returns; what a function is given, until that returns. One thread.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/str.h"

#include <cleat/base.h>

struct store;

struct store_session {
	struct str id;        /* printable, unguessable; made by the caller */
	struct str principal; /* whose it is; empty: nobody's in particular */
	struct str data;      /* anything the caller wants to find again */
};

typedef void store_done_fn(void *ctx, int status);
typedef void store_session_fn(void *ctx, int status, const struct store_session *s);
/* One event; `number` counts up within its stream, from 1. */
typedef void store_event_fn(void *ctx, uint64_t number, struct str data);

struct store_ops {
	/* Makes a session, or gives an old one another principal and other data; its streams stay.
	 * CLEAT_OK, CLEAT_EINVAL (no id), CLEAT_ELIMIT (too many sessions, or over 64 KiB in this one),
	 * CLEAT_ENOMEM; when it fails, what was there is as before. */
	void (*session_put)(struct store *st, const struct store_session *s, store_done_fn *fn,
			    void *ctx);
	/* CLEAT_ENOENT, and NULL, when there is none. Getting a session is using it, as are putting it,
	 * appending to it and replaying from it, whatever comes of these. */
	void (*session_get)(struct store *st, struct str id, store_session_fn *fn, void *ctx);
	/* With all its streams. CLEAT_ENOENT when there is none. */
	void (*session_drop)(struct store *st, struct str id, store_done_fn *fn, void *ctx);
	/* Appends an event to a stream of a session; the first one makes the stream. CLEAT_OK,
	 * CLEAT_ELIMIT (larger than all that a session may keep), CLEAT_EINVAL (the number is not above
	 * the last), CLEAT_ENOENT (no such session), CLEAT_ENOMEM; when it fails, everything is as
	 * before. A number may be left out: whoever asks for it misses it. */
	void (*append)(struct store *st, struct str session, uint64_t stream, uint64_t number,
		       struct str data, store_done_fn *fn, void *ctx);
	/* Calls `each` for the events of a stream with numbers above `after`, in order, then `fn`.
	 * CLEAT_ENOENT, and nothing at all, when one of them is not there any more. It gives what was
	 * there when it was called, whatever `each` does to the store meanwhile. Of a stream that is not
	 * known, CLEAT_OK and nothing when `after` is 0, CLEAT_ENOENT otherwise. */
	void (*replay)(struct store *st, struct str session, uint64_t stream, uint64_t after,
		       store_event_fn *each, store_done_fn *fn, void *ctx);
	/* The stream is over and was read to its end. */
	void (*stream_drop)(struct store *st, struct str session, uint64_t stream);
	/* Sessions that were last used before `before_ms` are dropped; fn for each of them, the one that
	 * was not used for longest first. All are gone when it is first called. */
	void (*expire)(struct store *st, uint64_t before_ms, void (*fn)(void *ctx, struct str id),
		       void *ctx);
	void (*free)(struct store *st);
};

struct store {
	const struct store_ops *ops;
};

/* An event counts its data and a fixed amount for what it takes besides (less than 200 bytes). */
struct store_limits {
	size_t max_sessions;      /* 0: 10,000; more are CLEAT_ELIMIT */
	size_t max_event_bytes;   /* of all sessions; 0: 10 MiB */
	size_t max_session_bytes; /* of one; 0: 1 MiB */
};

/* `limits` NULL: the defaults. `now` gives milliseconds of a clock that never goes back; NULL: that of
 * the loop. NULL when out of memory. */
struct store *store_memory_new(const cleat_allocator *mem, const struct store_limits *limits,
			       uint64_t (*now)(void *ctx), void *now_ctx);

struct store_stats {
	size_t sessions, streams, events, bytes;
};
void store_memory_stats(const struct store *st, struct store_stats *ret);

#endif
