/* cleat/wire.h - one connection of a server as bytes in, bytes out: for transports of your own, for
 * tests, and for programs that want no descriptors and no threads at all.
 *
 *	cleat_wire *w = cleat_wire_server(s, NULL);
 *	while ((n = read(fd, buf, sizeof buf)) > 0 && cleat_wire_feed(w, buf, n) == CLEAT_OK)
 *		while ((m = cleat_wire_peek(w, &out)) > 0 && (k = write(fd, out, m)) > 0)
 *			cleat_wire_consume(w, k);
 *	cleat_wire_free(w);
 *
 * Framing is that of stdio: one JSON message per line. Blocking handlers run inline, unless the
 * server's loop is driven as well. A deferred request that is finished on another thread calls
 * `wake` there; answer it with cleat_wire_poll() on the wire's own thread.
 */
#ifndef CLEAT_WIRE_H
#define CLEAT_WIRE_H

#include <cleat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_wire cleat_wire;
struct cleat_server;

typedef struct cleat_wire_options {
	/* Something is ready for cleat_wire_poll(). Called on any thread, also inside other calls of
	 * this library: set a flag or write a byte, and poll later. May be NULL. */
	void (*wake)(void *userdata);
	/* The clock, in milliseconds, that never goes back; NULL: the system's. A server has one
	 * clock: that of its first connection counts. Called on any thread. */
	uint64_t (*now)(void *userdata);
	void *userdata;
} cleat_wire_options;

CLEAT_API cleat_wire *cleat_wire_server_(struct cleat_server *s, const cleat_wire_options *opts,
					 size_t size);
/* A connection to `s`. NULL when out of memory or when the server is unusable (see
 * cleat_server_error()). Free it before the server. */
static inline cleat_wire *cleat_wire_server(struct cleat_server *s, const cleat_wire_options *opts)
{
	return cleat_wire_server_(s, opts, sizeof(cleat_wire_options));
}
/* Bytes from the other side, in any slices. Complete lines are handled at once. CLEAT_OK; broken
 * input is answered, not an error here. CLEAT_ECLOSED after cleat_wire_eof(), or when so much output
 * waits that the other side counts as gone. CLEAT_ELIMIT when the other side does not take its
 * answers and the output is full: drain, then feed again (nothing of this call was taken).
 * CLEAT_EMISUSE from inside a handler. */
CLEAT_API int cleat_wire_feed(cleat_wire *w, const void *p, size_t n);
/* The other side will send nothing more; what runs is cancelled. */
CLEAT_API void cleat_wire_eof(cleat_wire *w);
/* Bytes for the other side: how many, and where. Valid until the next call. */
CLEAT_API size_t cleat_wire_peek(cleat_wire *w, const void **ret);
/* That many of them were sent. */
CLEAT_API void cleat_wire_consume(cleat_wire *w, size_t n);
/* Handles what other threads finished, and timers. Gives milliseconds until it wants to be called
 * again, -1: not before `wake`. */
CLEAT_API int cleat_wire_poll(cleat_wire *w);
/* Requests that are not answered yet. */
CLEAT_API size_t cleat_wire_inflight(const cleat_wire *w);
/* Accepts NULL. */
CLEAT_API void cleat_wire_free(cleat_wire *w);

#ifdef __cplusplus
}
#endif
#endif
