/* base/buf.h - a growing byte buffer with a mandatory maximum.
 *
 * Errors latch (CLEAT_ENOMEM or CLEAT_ELIMIT): after one, appends do nothing and buf_status() tells.
 * Bytes are taken from the front with buf_consume(); memory moves only when that is cheap. Not
 * thread-safe. Not here: JSON (json/writer.h writes into a buf).
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <cleat/base.h>

struct buf {
	cleat_allocator mem;
	char *data;
	size_t head; /* first live byte */
	size_t len;  /* one past the last live byte */
	size_t cap;
	size_t max; /* most live bytes */
	int status;
};

/* For buffers on a hot path that are mostly not used: an initializer, with an allocator that is known
 * to be complete. */
#define BUF_INIT(allocator, limit) ((struct buf){ .mem = *(allocator), .max = (limit) })
/* Allocates nothing. `max` must be given; SIZE_MAX/2 is the most. */
void buf_init(struct buf *b, const cleat_allocator *a, size_t max);
void buf_done(struct buf *b);
/* Empties and clears the latched error; keeps the memory unless it is larger than `keep`. */
void buf_reset(struct buf *b, size_t keep);
int buf_status(const struct buf *b);

/* Live bytes. buf_str() is valid until the next change of the buffer. */
size_t buf_size(const struct buf *b);
struct str buf_str(const struct buf *b);

/* Room for n more bytes, to be written by the caller and then claimed with buf_commit(n).
 * NULL on failure (latched). */
char *buf_reserve(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);
/* What is appended must not be in the buffer itself. */
void buf_append(struct buf *b, const void *p, size_t n);
void buf_appendz(struct buf *b, const char *z);
void buf_putc(struct buf *b, char c);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) CLEAT_PRINTF(2, 0);
void buf_printf(struct buf *b, const char *fmt, ...) CLEAT_PRINTF(2, 3);
void buf_consume(struct buf *b, size_t n);
/* Cuts back to n live bytes (n <= buf_size), also clears a latched error: undo of a half-written
 * message. */
void buf_truncate(struct buf *b, size_t n);

#endif
