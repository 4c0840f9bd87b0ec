/* program/bench/usage.h - processor time and memory of a server that runs on this machine, from /proc.
 *
 * The processes are those of our children's groups, or those that hold the socket which listens at the
 * address. As good as may be: what is not ours to see is left out, and none at all is not an error.
 */
#ifndef PROGRAM_BENCH_USAGE_H
#define PROGRAM_BENCH_USAGE_H

#include "bench/goal.h"

#include <stdint.h>
#include <sys/types.h>

#define USAGE_MAX 1024 /* processes */

struct usage {
	pid_t pids[USAGE_MAX];
	size_t n;
	uint64_t rss_first, rss_most, rss_last; /* bytes */
	uint64_t cpu_ns;                        /* since usage_begin() */
	uint64_t cpu_before;
};

void usage_of_groups(struct usage *u, const pid_t *groups, size_t n);
void usage_of_goal(struct usage *u, const struct goal *t);
/* What is counted begins here. */
void usage_begin(struct usage *u);
/* Looks again: cpu_ns, rss_most and rss_last. */
void usage_look(struct usage *u);

#endif
