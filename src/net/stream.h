/* net/stream.h - a server's connection over two descriptors: a line stream (linestream.h) with a peer at
 * its end, and the ways in which it ends.
 *
 *   open       reading and writing
 *   draining   end of input: requests that run may finish, for STREAM_GRACE_MS
 *   flushing   the peer is closed: what is left is written, for STREAM_FLUSH_MS
 *   closed     the descriptors are as they were before
 *
 * The peer is closed from the loop only, never from inside its own calls to the sink.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include "loop/loop.h"
#include "protocol/peer.h"

enum {
	/* `printf '...' | server` expects the answers of handlers that take a moment, but a client
	 * that closes its end to stop the server should not have to wait. */
	STREAM_GRACE_MS = 500,
	/* How long the other side may take nothing of the rest. */
	STREAM_FLUSH_MS = 1000
};

struct stream;

struct stream_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	int in, out;          /* stay the caller's; may be the same */
	size_t max_message;   /* bytes of one incoming message */
	size_t max_reply;     /* bytes of one outgoing message */
	bool sigpipe_ignored; /* by the whole process: saves two system calls a write */
	/* Remarks for people. */
	void (*note)(void *ctx, int level, const char *text);
	/* The stream is closed, CLEAT_OK when the other side ended it or left; stream_free() is all
	 * that may be called now, also from in here. Not called by stream_free(). */
	void (*closed)(void *ctx, struct stream *s, int status);
	void *ctx;
};

/* Takes the descriptors; reads nothing before stream_start(). CLEAT_OK; CLEAT_EINVAL (no such
 * descriptor), CLEAT_EEXIST (the loop serves it already), CLEAT_ENOMEM, CLEAT_EIO. */
int stream_open(const struct stream_options *o, struct stream **ret, cleat_error *err);
/* Where the peer sends to; good until the peer is closed. */
struct peer_sink stream_sink(struct stream *s);
void stream_start(struct stream *s, struct peer *p);
/* Reads no more, closes the peer, writes what is left, calls `closed` (perhaps from in here). */
void stream_finish(struct stream *s);
/* The peer was closed by somebody else and must not be used any more. */
void stream_forget(struct stream *s);
/* At once: what cannot be written without waiting is lost. Accepts NULL. */
void stream_free(struct stream *s);

#endif
