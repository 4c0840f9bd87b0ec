/* http/sse.h - server-sent events: writing and reading (WHATWG HTML, 9.2).
 *
 * One message is one event; its data is written on one line when it has no line ends (JSON never
 * has). Not here: which stream an event belongs to.
 */
#ifndef HTTP_SSE_H
#define HTTP_SSE_H

#include "base/buf.h"
#include "base/str.h"

struct sse_event {
	struct str id;    /* absent: none. Not written when there is NUL, CR or LF in it */
	struct str event; /* absent: "message". Not written when there is CR or LF in it */
	struct str data;  /* absent: none at all; empty: an empty data line */
	int64_t retry;    /* milliseconds; negative: none */
};

/* Appends the event. Line ends of any kind in the data become several data lines. */
void sse_write(struct buf *b, const struct sse_event *e);
/* Appends a comment, which keeps a connection alive. */
void sse_write_comment(struct buf *b, const char *text);
/* Bytes before the first CR or LF, or all. */
size_t sse_line_length(struct str s);

/* ---- reading ---- */

struct sse_reader;

/* `max_event`: most bytes of data, event and id of one event. NULL when out of memory. */
struct sse_reader *sse_reader_new(const cleat_allocator *mem, size_t max_event);
void sse_reader_free(struct sse_reader *r);
/* Takes bytes in any slices and calls fn for each event that is dispatched: data is never absent,
 * event is "message" by default, id is the last event id (empty: there is none), retry is negative
 * when there was none with it. `retry` fields also count when no event is dispatched:
 * sse_reader_retry(). All of an event is good during the call; fn must neither feed nor free the
 * reader. CLEAT_OK, CLEAT_ELIMIT (an event is too large) or CLEAT_ENOMEM; after an error the reader is
 * dead and gives the same error again. What is incomplete when the stream ends never happened.
 * Iterative. */
int sse_reader_feed(struct sse_reader *r, struct str bytes,
		    void (*fn)(void *ctx, const struct sse_event *e), void *ctx);
/* The last event id as of the last empty line; empty when there is none. */
struct str sse_reader_last_id(const struct sse_reader *r);
/* The last retry field, in milliseconds; negative when there was none. */
int64_t sse_reader_retry(const struct sse_reader *r);

#endif
