/* program/bench/library.h - the load through the library's client, for what raw sockets cannot: https, HTTP+SSE.
 *
 * One client, as many calls under way as there are connections. It costs several times as much as
 * load.h, and the report says so.
 */
#ifndef PROGRAM_BENCH_LIBRARY_H
#define PROGRAM_BENCH_LIBRARY_H

#include "bench/load.h"
#include "bench/plan.h"

/* Runs to the end. `tick` is called about ten times a second; true from it ends the run. */
bool library_run(struct cli *cli, const struct plan *plan, const struct load_options *o,
		 struct tally *ret, bool (*tick)(void *ctx, const struct load_live *live),
		 void *ctx);

#endif
