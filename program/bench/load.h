/* program/bench/load.h - the load itself: connections, one request under way on each, until the time is up.
 *
 * A closed loop sends the next request when the last one is answered; an open loop sends by a schedule, and
 * counts from the time that a request was due, so that a server which stalls cannot hide it by keeping
 * requests from being sent (coordinated omission). Requests are bytes made before; only their id and
 * session change. Workers are threads that share nothing while they run.
 */
#ifndef PROGRAM_BENCH_LOAD_H
#define PROGRAM_BENCH_LOAD_H

#include "bench/goal.h"
#include "bench/tally.h"

#include <stdatomic.h>
#include <sys/types.h>

#define LOAD_ID_FIRST                                                                              \
	1000000000u /* ids have ten digits, and fit into 32 bits for two billion requests */
#define LOAD_ID_DIGITS 10
#define LOAD_ANSWER    ((size_t)16 * 1024 * 1024)

/* A request: head, the session's id, tail. Without sessions there is no head. */
struct shot {
	char *label; /* "add", "tools/list" */
	unsigned weight;
	char *head, *tail;
	size_t head_n, tail_n;
	size_t id_at; /* in the tail: LOAD_ID_DIGITS digits */
};

/* A connection that is not made here: two ends of a pipe to a program of ours, or twice a socket. */
struct load_pipe {
	int in, out;
};

struct load_options {
	const struct goal *goal;
	const struct load_pipe *pipes; /* of lines: one for each connection; not closed here */
	const struct shot *shots;
	size_t n_shots;
	const char *const *sessions; /* ids; NULL: there are none */
	size_t n_sessions;
	unsigned connections, threads;
	double rate;                                 /* requests a second; 0: a closed loop */
	uint64_t requests;                           /* stop after that many; 0: only by time */
	uint64_t warmup_ns, duration_ns, timeout_ns; /* duration 0: only by number */
};

/* How far it is, for whoever watches. */
struct load_live {
	uint64_t good, failed;
	uint64_t begin; /* load_clock() at the end of the warm-up */
	bool over;
};

struct load;

/* Starts the workers. NULL: *ret_why says why not. */
struct load *load_start(const struct load_options *o, const char **ret_why);
void load_look(struct load *l, struct load_live *ret);
/* Ends it early; what is under way is not waited for. */
void load_stop(struct load *l);
/* Waits for the workers (load_look() says whether they are done) and adds up. */
void load_finish(struct load *l, struct tally *ret);
uint64_t load_clock(void);

#endif
