/* child/lines.h - what a child writes to stderr, as lines that can be shown to people.
 *
 * Bytes in, lines out: at most CHILD_LINE_MAX bytes of each, no control characters, valid UTF-8. At
 * most CHILD_LINES_RATE a second; what is over that is counted, and one line tells. The line that
 * most likely says why a program failed is kept apart, rate or not.
 *
 * Not here: reading, time (given from outside).
 */
#ifndef CHILD_LINES_H
#define CHILD_LINES_H

#include "child/child.h"

enum { CHILD_LINES_RATE = 200, CHILD_WORDS_KEEP = 160 };

struct child_lines {
	void (*line)(void *ctx, const char *line); /* NULL: nobody wants them */
	void *ctx;
	uint64_t second; /* when the second began that is being counted; 0: none has */
	unsigned in_second;
	uint64_t dropped;
	size_t n;
	bool skipping; /* the rest of a line that is too long */
	bool has_error;
	char words[CHILD_WORDS_KEEP + 1];
	char buf[CHILD_LINE_MAX + 1];
};

void child_lines_init(struct child_lines *l, void (*line)(void *ctx, const char *line), void *ctx);
void child_lines_feed(struct child_lines *l, const char *p, size_t n, uint64_t now);
/* The last line may have no end. */
void child_lines_end(struct child_lines *l, uint64_t now);
/* Tells of lines that were left out, when their second is over (or `force`). Gives milliseconds until it
 * wants to be called again, 0: it need not. */
unsigned child_lines_tell(struct child_lines *l, uint64_t now, bool force);

#endif
