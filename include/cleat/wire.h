/* cleat/wire.h - one connection, of a server or of a client, as bytes in, bytes out: for transports of your
 * own (a WebSocket, a serial line), for tests, and for programs that want no descriptors and no threads.
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
 *
 * A client is the same with one thing more: its calls are begun in between.
 *
 *	cleat_wire *w = cleat_wire_client(NULL, NULL);
 *	cleat_client_startf(cleat_wire_get_client(w), &opts, "add", ...);
 *	do {
 *		ms = cleat_wire_poll(w);
 *		... write what cleat_wire_peek() has, wait at most ms, feed what has come ...
 *	} while (cleat_wire_inflight(w));
 *	cleat_wire_free(w);
 *
 * All its callbacks come from the functions below. Nobody moves the bytes while a function of <cleat/client.h>
 * waits: those that wait give CLEAT_EMISUSE.
 */
#ifndef CLEAT_WIRE_H
#define CLEAT_WIRE_H

#include <cleat/client.h>

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
	 * clock: that of its first connection counts. Called on any thread. A client has its own. */
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
CLEAT_API cleat_wire *cleat_wire_client_(const cleat_client_options *client, size_t client_size,
					 const cleat_wire_options *opts, size_t size);
/* A client of whatever is at the other end, with its wire. Both may be NULL: the usual. Of the client's
 * options `loop` and `restart` have no meaning here, and handlers of questions never get a thread
 * (blocking_handlers). NULL when out of memory; options that cannot work are the result of the calls. */
static inline cleat_wire *cleat_wire_client(const cleat_client_options *client,
					    const cleat_wire_options *opts)
{
	return cleat_wire_client_(client, sizeof(cleat_client_options), opts,
				  sizeof(cleat_wire_options));
}
/* The client of a wire; NULL for a server's wire, or NULL. Borrowed: it is freed with its wire,
 * cleat_client_free() does nothing, cleat_client_loop() gives NULL. It has to be used on the wire's thread;
 * cleat_call_cancel() is good on any. After using it call cleat_wire_poll() (`wake` says so, too). */
CLEAT_API cleat_client *cleat_wire_get_client(cleat_wire *w);
/* Bytes from the other side, in any slices. Complete lines are handled at once. CLEAT_OK; broken
 * input is answered (by a client: skipped, and noted), not an error here. CLEAT_ECLOSED after
 * cleat_wire_eof(), or when so much output waits that the other side counts as gone; a client's also when
 * what came was a hundred lines that are no messages. CLEAT_ELIMIT (servers) when the other side does not
 * take its answers and the output is full: drain, then feed again (nothing of this call was taken).
 * CLEAT_EMISUSE from inside a handler or another callback. */
CLEAT_API int cleat_wire_feed(cleat_wire *w, const void *p, size_t n);
/* The other side will send nothing more. A server's requests that run are cancelled; a client's calls end
 * with CLEAT_ECLOSED, in here, and so do all later ones. */
CLEAT_API void cleat_wire_eof(cleat_wire *w);
/* Bytes for the other side: how many, and where. Valid until the next call. */
CLEAT_API size_t cleat_wire_peek(cleat_wire *w, const void **ret);
/* That many of them were sent. */
CLEAT_API void cleat_wire_consume(cleat_wire *w, size_t n);
/* Handles what other threads finished, timers, and what a client's functions have begun. Gives milliseconds until it wants to be called
 * again, -1: not before `wake`. */
CLEAT_API int cleat_wire_poll(cleat_wire *w);
/* Requests that are not answered yet: by a server; for a client its calls that have not ended. */
CLEAT_API size_t cleat_wire_inflight(const cleat_wire *w);
/* Frees a client with it: what is under way ends with CLEAT_ECLOSED, in here. Not from inside a callback.
 * Accepts NULL. */
CLEAT_API void cleat_wire_free(cleat_wire *w);

#ifdef __cplusplus
}
#endif
#endif
