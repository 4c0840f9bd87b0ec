/* request/hooks.h - what the server role needs of the outside: clocks, threads, descriptors.
 *
 * Filled in by run/, see core.h.
 */
#ifndef REQUEST_HOOKS_H
#define REQUEST_HOOKS_H

#include "base/str.h"

#include <cleat/request.h>

#include <stdbool.h>
#include <stdint.h>

/* Something that happened on another thread and is to be handled on the owner's. The owner gives it
 * back with server_deliver(), which frees it if need be. FIFO order must be kept. */
struct server_event {
	struct server_event *next; /* for the queue of whoever carries it */
};

struct server_hooks {
	/* Milliseconds of a clock that never goes back. Any thread. */
	uint64_t (*now_ms)(void *ctx);
	/* Milliseconds since 1970. Any thread. */
	int64_t (*wall_ms)(void *ctx);
	/* Is this the thread that owns the server? Any thread. */
	bool (*is_owner)(void *ctx);
	/* Carries an event to the owner's thread. Cannot fail. Any thread. */
	void (*post)(void *ctx, struct server_event *ev);
	/* Runs server_work(req) on another thread. CLEAT_OK, or an error: then the core runs the
	 * handler inline. */
	int (*work)(void *ctx, cleat_request *req);
	/* server_pump() wants to be called soon (no later than the next turn of the loop). */
	void (*wake)(void *ctx);
	/* A descriptor that is readable after cancel_fd_signal; -1 when there can be none. */
	int (*cancel_fd_open)(void *ctx);
	void (*cancel_fd_signal)(void *ctx, int fd); /* any thread */
	void (*cancel_fd_close)(void *ctx, int fd);
	/* A request was answered, with an error or not; `method` is empty where none could be read.
	 * May be NULL. */
	void (*answered)(void *ctx, struct str method, bool error);
	void *ctx;
};

/* Runs a blocking handler to its end, then posts the outcome. Worker threads. */
void server_work(cleat_request *req);

#endif
