/* run/accesslog.h - one line of JSON for every HTTP exchange.
 *
 *	{"time":"2026-07-28T09:30:00.123Z","remote":"127.0.0.1","method":"POST","path":"/mcp",
 *	 "status":200,"bytes":118,"micros":412,"session":"9f2c41d0","revision":"2025-11-25",
 *	 "principal":"alice","rpc":"tools/call"}
 *
 * What is not known is left out. Nothing that could be a secret is in it: no header, no query, no body,
 * and of a session the first eight characters. What a client chose is cut to a bound and cannot change
 * the line, nor the terminal that shows it.
 *
 * A line is one write. It never waits: a line that the descriptor does not take at once is dropped and
 * counted. One thread. Not here: files and their rotation (the descriptor is given), the clock.
 */
#ifndef RUN_ACCESSLOG_H
#define RUN_ACCESSLOG_H

#include "base/buf.h"
#include "base/str.h"
#include "net/fd.h"

/* An exchange that is over. Texts may be absent, and anything. */
struct accesslog_entry {
	struct str remote; /* the client's address */
	struct str method; /* of HTTP */
	struct str path;   /* of the target; what is behind '?' is not shown */
	int status;        /* 0: the client was gone before there was one */
	uint64_t bytes;    /* of the answer's body */
	uint64_t micros;
	struct str session;
	struct str revision; /* of the protocol */
	struct str principal;
	struct str rpc; /* method of JSON-RPC */
};

/* Bytes of a line, with its end: with one more in front (the end of a torn line), what a pipe takes at
 * once or not at all (PIPE_BUF of Linux). */
enum { ACCESSLOG_LINE = 4095 };

struct accesslog {
	struct fd_end end;
	struct buf line;
	bool torn; /* the last line has no end */
	uint64_t dropped;
};

/* Appends the line, with its '\n': never more than ACCESSLOG_LINE bytes. `wall_ms`: milliseconds since
 * 1970-01-01 UTC. Errors latch in the buf. */
void accesslog_format(struct buf *b, const struct accesslog_entry *e, uint64_t wall_ms);

/* `fd` -1: standard error. It stays the caller's, and as it is: it is not made non-blocking, others
 * may share it. CLEAT_OK, CLEAT_EINVAL (not open for writing), CLEAT_ENOMEM. */
int accesslog_init(struct accesslog *l, const cleat_allocator *mem, int fd, cleat_error *err);
/* Allocates nothing. */
void accesslog_write(struct accesslog *l, const struct accesslog_entry *e, uint64_t wall_ms);
/* Lines that were not written, or not whole. */
uint64_t accesslog_dropped(const struct accesslog *l);
/* Accepts a zeroed one. */
void accesslog_done(struct accesslog *l);

#endif
