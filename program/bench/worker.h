/* program/bench/worker.h - one thread of the load, inside load.c and worker.c only. */
#ifndef PROGRAM_BENCH_WORKER_H
#define PROGRAM_BENCH_WORKER_H

#include "bench/load.h"
#include "bench/reader.h"

#include <pthread.h>

enum conn_state {
	CONN_DOWN,    /* connects at `retry` */
	CONN_WAITING, /* for its connection */
	CONN_UP,
	CONN_DEAD /* a program that has ended */
};

struct conn {
	int in, out;
	enum conn_state state;
	bool busy;     /* a request is under way */
	bool answered; /* it has its answer, but that is not complete */
	bool counted;  /* not of the warm-up */
	bool useful;   /* this connection has had a good answer */
	bool blocked;  /* waits until it can write */
	size_t which;  /* of the shots */
	size_t session;
	uint64_t id, due, retry;
	uint64_t since; /* when the request was sent, or the connection begun */
	char *bytes;
	size_t n, at;
	struct reader reader;
	struct conn *next; /* that is idle */
};

struct worker {
	const struct load_options *o;
	pthread_t thread;
	bool running;
	size_t first, n; /* of all connections: those of this one */
	struct conn *conns;
	struct conn *idle, **idle_end;
	int epoll;
	size_t under_way, dead;
	uint64_t next_id, random, weights;
	uint64_t begin, end;     /* of what is counted; end UINT64_MAX: by number */
	uint64_t left;           /* requests that are still to be sent, UINT64_MAX: any number */
	uint64_t arrival;        /* of the open loop: number of the next */
	double interval, offset; /* nanoseconds */
	uint64_t sweep;          /* when to look for timeouts */
	uint64_t alive;          /* when there was a connection the last time */
	bool refused;            /* since then one could not be made */
	bool draining, begun;
	struct tally tally;
	atomic_bool stop, over;
	atomic_uint_least64_t good, failed, shown_begin;
};

bool worker_init(struct worker *w, const struct load_options *o, unsigned number);
void worker_done(struct worker *w);
void worker_run(struct worker *w);

#endif
