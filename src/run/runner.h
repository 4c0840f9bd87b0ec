/* run/runner.h - what a server needs to run: a loop, worker threads, clocks, and a way for other
 * threads to reach it. One for each server, made when it is first needed, freed with the server.
 *
 * A server without a loop (only wires, see wire.c) has a runner too: events wait in its queue and
 * every wire's wake() is called. Where there is a loop, the loop hears of them as well; whoever
 * comes first handles them.
 *
 * The thread that steps the loop, or feeds a wire, owns the server while it does.
 */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H

#include "loop/loop.h"
#include "net/stream.h"
#include "run/cancelfd.h"
#include "run/metrics.h"
#include "run/pool.h"
#include "server/core.h"

#include <stdatomic.h>

/* How long handlers that were cancelled may take to end. */
enum {
	/* In cleat_server_free(), for deferred requests: whoever holds one will still finish it. */
	RUNNER_FREE_MS = 5000,
	/* In cleat_server_main(), then the process ends without them. Clients wait two seconds after
	 * the end of input before they send signals; STREAM_GRACE_MS is part of that. */
	RUNNER_EXIT_MS = 1000
};

/* Somebody to be told about events, from any thread. */
struct runner_ear {
	void (*wake)(void *ctx);
	void *ctx;
	struct runner_ear *next;
};

/* A stream, and where to say that it has ended. */
struct runner_link;
struct runner_end {
	bool over;
	int status;
};

/* What HTTP listeners do when the server stops and ends. By pointers, so that a program which never
 * listens does not carry HTTP in it. */
struct runner;
struct runner_http {
	void (*stop)(struct runner *r);
	void (*free_all)(struct runner *r); /* the core has closed the peers already */
};

struct runner {
	cleat_server *server;
	cleat_allocator mem;
	_Atomic(cleat_loop *) loop; /* NULL: only wires so far */
	bool own_loop;
	bool sigpipe_ignored; /* by cleat_server_main() */
	atomic_uintptr_t owner;
	struct loop_timer *pump_timer;
	struct loop_turn turn;
	struct loop_call drain_call;
	bool pump_wanted;
	unsigned in_wire;     /* inside a call of a wire, which pumps at its end */
	pthread_mutex_t lock; /* for these four */
	pthread_cond_t posted;
	struct server_event *first, **end;
	unsigned posting; /* threads inside the post hook */
	pthread_mutex_t ears_lock;
	struct runner_ear *ears;
	struct pool pool;
	struct cancelfds cancel;
	struct runner_link *links;
	const struct runner_http *http; /* NULL: no HTTP was asked for */
	struct http_listen *https;
	struct http_metrics *metrics; /* addresses where counts can be read; NULL: nobody counts */
	struct metrics counts;
	unsigned grace_ms; /* for calls over HTTP when the server stops; 0: the usual (tests) */
	bool connected;    /* there was a connection: the clock stays */
	uint64_t (*now)(void *ctx); /* NULL: the system's clock */
	void *now_ctx;
	/* cleat_server_main(): the process ends in RUNNER_EXIT_MS, with or without the calls that were
	 * cancelled and still run. NULL: nobody wants to know. */
	void (*last_call)(void *ctx);
	void *last_call_ctx;
};

/* NULL when out of memory. Owner's thread. */
struct runner *runner_get(cleat_server *s);
/* The same, with a loop. */
struct runner *runner_with_loop(cleat_server *s);
/* Why there is none: the status. */
int runner_no_loop(cleat_error *err);

/* What is to be served. */
struct runner_attachment {
	int in, out;
	enum cleat_transport transport;
	cleat_attach_options opts;
	/* Filled in when the connection has ended, and must live until then; NULL: nobody asks. */
	struct runner_end *end;
};

/* A connection over two descriptors. On failure opts.userdata and descriptors are still the caller's. */
int runner_attach(struct runner *r, const struct runner_attachment *a, cleat_error *err);
/* Ends that connection at once, if it has not ended yet. */
void runner_detach(struct runner *r, struct runner_end *end);

/* Handles events that wait. Owner's thread. */
void runner_drain(struct runner *r);
/* Calls server_pump(); gives what it gave. */
int runner_pump(struct runner *r);
/* Handles events until no handler runs any more and no thread is posting. False when that took
 * longer than `ms`. */
bool runner_wait(struct runner *r, unsigned ms);

void runner_listen(struct runner *r, struct runner_ear *ear);
void runner_unlisten(struct runner *r, struct runner_ear *ear);
/* Tells every ear. Any thread. */
void runner_tell(struct runner *r);

#endif
