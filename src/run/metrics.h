/* run/metrics.h - what the server counts, for Prometheus.
 *
 * Counters and one histogram that any thread may add to at any time, without locks and without
 * waiting; and readings that somebody else keeps and that are asked for when the text is written
 * (text format 0.0.4). A scrape that runs while others count is consistent in itself (the histogram's
 * buckets, its count and the counters never go back), not a moment in time. Not here: HTTP, labels
 * from the wire: the set of series is fixed, so no client can make it grow.
 */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "base/buf.h"
#include "base/str.h"

#include <stdatomic.h>

/* The kinds of JSON-RPC methods that are told apart. */
enum metrics_method {
	METRICS_TOOLS_CALL,
	METRICS_TOOLS_LIST,
	METRICS_RESOURCES_READ,
	METRICS_PROMPTS_GET,
	METRICS_OTHER,
	METRICS_METHODS
};

enum { METRICS_CLASSES = 6 };  /* 1xx to 5xx, and exchanges that ended without a status */
enum { METRICS_BUCKETS = 14 }; /* bounds of the histogram; there is one bucket more */

/* What others know. Zero where nobody does. */
struct metrics_readings {
	/* now */
	uint64_t connections;
	uint64_t sessions;
	uint64_t streams;
	uint64_t queued_bytes;
	/* since the start */
	uint64_t accepted;
	uint64_t refused;
	uint64_t timeouts;
	uint64_t log_dropped;
};

/* Zeroed is a good start: nothing was counted. */
struct metrics {
	atomic_uint_least64_t http[METRICS_CLASSES];
	atomic_uint_least64_t rpc[METRICS_METHODS];
	atomic_uint_least64_t rpc_errors[METRICS_METHODS];
	atomic_uint_least64_t latency[METRICS_BUCKETS + 1]; /* not cumulative */
	atomic_uint_least64_t latency_micros;
	/* Fills the readings, which are zeroed, on the thread that writes. NULL: none are written. */
	void (*read)(void *ctx, struct metrics_readings *ret);
	void *read_ctx;
};

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The kind that a method belongs to. */
enum metrics_method metrics_method_of(struct str name);

/* An HTTP exchange is over; a status that is none counts as "none". Any thread. */
void metrics_count_http(struct metrics *m, int status);
/* A JSON-RPC request was answered, with an error or not. Any thread. */
void metrics_count_rpc(struct metrics *m, enum metrics_method method, bool error);
/* How long a request took. Any thread. */
void metrics_observe(struct metrics *m, uint64_t micros);

/* Appends everything as text. Errors latch in the buf, and what was written is a part then: see
 * buf_truncate(). */
void metrics_write(struct metrics *m, struct buf *b);

#endif
