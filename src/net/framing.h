/* net/framing.h - one message per line: bytes in any slices become whole lines.
 *
 * A line that lies whole in the bytes that are fed is handed on from there, uncopied; only the
 * beginning of a line that is not complete yet is kept. A line over the limit is skipped up to its
 * newline without being kept, and reported once, as soon as it is known to be too long; so is one
 * that there is no memory for. One CR before the LF is dropped, empty lines are ignored.
 *
 * Not here: what the bytes mean. A byte order mark, NUL, UTF-16 or broken UTF-8 is handed on and
 * refused by the JSON reader.
 */
#ifndef NET_FRAMING_H
#define NET_FRAMING_H

#include "base/buf.h"

struct framing {
	struct buf tail; /* the beginning of a line */
	size_t limit;
	bool skipping; /* inside a line that was reported as too long */
};

struct framing_sink {
	/* A line, valid during the call. False: pause after this one. */
	bool (*line)(void *ctx, struct str line);
	/* A line was over the limit; limit 0: there was no memory for it. */
	void (*oversize)(void *ctx, size_t limit);
	void *ctx;
};

/* `limit`: most bytes of a line, without its end. Allocates nothing. */
void framing_init(struct framing *f, const cleat_allocator *a, size_t limit);
void framing_done(struct framing *f);
/* Gives how many of the bytes were used: all, unless a line asked for a pause; then feed the rest
 * later. Must not be called from inside the sink. */
size_t framing_feed(struct framing *f, const char *p, size_t n, const struct framing_sink *sink);
/* No more bytes: hands on a last line that has no newline. */
void framing_end(struct framing *f, const struct framing_sink *sink);

#endif
