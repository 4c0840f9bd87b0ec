/* program/bench/greet.h - what has to be said before the load: sessions over HTTP, initialize on each pipe.
 *
 * Blocking, one after the other, with a deadline for each: nothing here is measured.
 */
#ifndef PROGRAM_BENCH_GREET_H
#define PROGRAM_BENCH_GREET_H

#include "bench/shot.h"

struct greeting {
	const char *
		initialize; /* the messages that the library sent; NULL: none are needed (2026-07-28) */
	size_t initialize_n;
	const char *initialized;
	size_t initialized_n;
	uint64_t timeout_ns;
	char why[300]; /* after a failure */
};

/* Opens n sessions. *ret is a list from malloc of n ids from malloc, or NULL when the server has no
 * sessions. False: see why. *ret_status is the HTTP status of a refusal, otherwise 0. */
bool greet_sessions(struct greeting *g, const struct goal *t, const struct shot_options *o,
		    size_t n, char ***ret, int *ret_status);
/* Says that they are over (DELETE), as far as a second suffices; frees the list. */
void greet_goodbye(const struct goal *t, const struct shot_options *o, char **sessions, size_t n);
/* A socket for each of n connections that speaks lines; false: see why, and nothing is open. */
bool greet_connect(struct greeting *g, const struct goal *t, struct load_pipe *pipes, size_t n);
/* Waits until all n are ready: initialize, or a first request (`shot`) where there is no such thing. Then
 * they do not block any more. */
bool greet_pipes(struct greeting *g, const struct load_pipe *pipes, size_t n,
		 const struct shot *shot);

#endif
