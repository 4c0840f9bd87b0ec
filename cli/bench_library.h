/* cli/bench_library.h - the load through the library's client, for what raw sockets cannot: https, HTTP+SSE.
 *
 * One client, as many calls under way as there are connections. It costs several times as much as
 * bench_load.h, and the report says so.
 */
#ifndef CLI_BENCH_LIBRARY_H
#define CLI_BENCH_LIBRARY_H

#include "bench_load.h"
#include "bench_plan.h"

/* Runs to the end. `tick` is called about ten times a second; true from it ends the run. */
bool library_run(struct cli *cli, const struct plan *plan, const struct load_opts *o,
		 struct tally *ret, bool (*tick)(void *ctx, const struct load_live *live),
		 void *ctx);

#endif
