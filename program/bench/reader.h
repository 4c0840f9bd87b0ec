/* program/bench/reader.h - answers as they arrive on a connection: HTTP/1.1 (with a length, in chunks, up to
 * the end of the connection, event streams), or one message a line.
 *
 * The reader owns one buffer that bytes are received into and messages are given out of, in place. It
 * grows up to a maximum while messages are larger than before, and never again: no allocation for each
 * message. A connection carries one request at a time; what arrives beyond the answer is kept and read as
 * the next one. No redirects, no compression: both are errors here, as a load generator must not hide
 * them.
 */
#ifndef PROGRAM_BENCH_READER_H
#define PROGRAM_BENCH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READER_HEAD_MAX    ((size_t)64 * 1024)
#define READER_SESSION_MAX 256

enum reader_step {
	READER_MORE,  /* receive more */
	READER_EVENT, /* one event's data, or one line, is `body`; call reader_step() again */
	READER_DONE,  /* the answer is complete; `body` unless it was an event stream */
	READER_BAD    /* no HTTP: `why` */
};

enum reader_phase {
	READER_LINES, /* no HTTP at all */
	READER_STATUS,
	READER_FIELDS,
	READER_SIZED,
	READER_UNSIZED,
	READER_CHUNK_SIZE,
	READER_CHUNK,
	READER_CHUNK_END,
	READER_TRAILER,
	READER_ENDED
};

struct reader {
	char *buf;
	size_t cap, max;
	size_t n;       /* bytes in the buffer */
	size_t at;      /* the first one that was not looked at */
	size_t seen;    /* where the search for a line's end goes on */
	size_t decoded; /* events and chunks are moved to the buffer's start: that many are there */
	size_t line;    /* where the line of an event stream begins, in these */
	size_t looked;  /* bytes of that line that hold no end */
	size_t data;    /* bytes of the event's data, at the very start */
	uint64_t left;  /* of the body or the chunk */
	enum reader_phase phase;
	bool has_data, after_cr, has_length, eof;
	/* the answer */
	int status;
	bool close, chunked, stream;
	char session[READER_SESSION_MAX]; /* Mcp-Session-Id; "": none */
	const char *body;                 /* good until the next call of any function here */
	size_t body_n;
	const char *why;
};

/* False: out of memory. `lines`: one message a line. */
bool reader_init(struct reader *r, bool lines, size_t max);
void reader_done(struct reader *r);
/* Forgets everything: a new connection. */
void reader_reset(struct reader *r);
/* Where to receive to, at least 2 KiB; NULL: the answer is too large, or memory is short. */
char *reader_room(struct reader *r, size_t *ret_n);
/* That much was received there. */
void reader_received(struct reader *r, size_t n);
/* The connection has ended: nothing more will come. */
void reader_ended(struct reader *r);
/* Goes on. After READER_DONE call reader_next() first. */
enum reader_step reader_step(struct reader *r);
void reader_next(struct reader *r);
/* Has anything of an answer arrived? */
bool reader_started(const struct reader *r);

#endif
