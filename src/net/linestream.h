/* net/linestream.h - a line stream: one message per line each way, between bytes and whole lines.
 *
 * Over two descriptors on a loop it reads as much as is there (64 KiB at a time), hands on every line of
 * it, and writes all that waits at once: one read and one write for any number of messages. What the other
 * side does not take yet waits in the outbox; where the user says so (`pauses`), input waits as well when
 * that is full. Without descriptors somebody else moves the bytes: linestream_feed() and the outbox.
 *
 * Not here: what a line means, and what follows from an end or an error. Three use it: stream.c (a server's
 * connections), link/line.c (a client's links) and run/wire_server.c.
 */
#ifndef NET_LINESTREAM_H
#define NET_LINESTREAM_H

#include "loop/loop.h"
#include "net/fd.h"
#include "net/framing.h"
#include "net/outbox.h"

enum { LINESTREAM_CHUNK = 64 * 1024 };

struct linestream_user {
	/* As in framing.h. */
	bool (*line)(void *ctx, struct str line);
	void (*oversize)(void *ctx, size_t limit);
	/* Nothing more comes in (`out` false; error 0: its regular end), or can be written. Once each. */
	void (*ended)(void *ctx, bool out, int error);
	/* The descriptors (NULL: there are none) are: linestream_ready(), and what follows from it. */
	loop_watch_fn *ready;
};

struct linestream {
	const struct linestream_user *user;
	void *ctx;
	cleat_allocator mem;
	struct framing framing;
	struct outbox box;
	struct fd_end in, out;
	struct loop_watch *in_watch,
		*out_watch; /* one and the same for one descriptor; NULL: none */
	bool pauses;        /* input waits while the outbox is full */
	bool reading;       /* wanted, and not at the end of input */
	bool paused;        /* until the outbox is half empty */
	bool writing;       /* waits for room */
	bool broken;        /* nothing more is written */
	size_t at, have;    /* what of the chunk was not looked at yet */
	char *chunk;
};

/* Allocates nothing. `max_in`, `max_out`: bytes of one message. */
void linestream_init(struct linestream *s, const cleat_allocator *mem,
		     const struct linestream_user *user, void *ctx, size_t max_in, size_t max_out);
void linestream_done(struct linestream *s);

/* Takes the descriptors, which stay the caller's. CLEAT_OK; CLEAT_EINVAL (no such descriptor),
 * CLEAT_EEXIST (the loop serves it already), CLEAT_ENOMEM, CLEAT_EIO. */
int linestream_attach(struct linestream *s, cleat_loop *loop, int in, int out, cleat_error *err);
/* Lets go of them, as they were before; may be repeated. */
void linestream_detach(struct linestream *s);

/* Writes what is ready, once; or, where one cannot wait for room, until it is written. */
void linestream_flush(struct linestream *s);
/* Waits for what there is to wait for: after anything else. */
void linestream_watch(struct linestream *s);
/* Writes and reads what it can: for user->ready, with what that was given. */
void linestream_ready(struct linestream *s, unsigned events, bool failed);
/* One chunk and the lines in it, without waiting. Gives the bytes; 0: nothing was there. `failed` as in
 * loop_watch_fn. */
size_t linestream_read(struct linestream *s, bool failed);
/* No more lines, not even those that are here already. */
void linestream_deafen(struct linestream *s);
/* No more output, not even what is ready. */
void linestream_break(struct linestream *s);

/* Bytes that somebody else has read; not while `paused`. */
void linestream_feed(struct linestream *s, const void *p, size_t n);
/* There are no more of them. */
void linestream_end(struct linestream *s);
/* Somebody else has written this many of those in the outbox. */
void linestream_sent(struct linestream *s, size_t n);

#endif
