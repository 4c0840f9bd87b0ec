/* run/hooks.h - the core's way to clocks, threads and descriptors; see server/core.h. */
#ifndef RUN_HOOKS_H
#define RUN_HOOKS_H

#include "run/runner.h"

void hooks_install(struct runner *r);
/* Milliseconds since 1970. Any thread. */
int64_t hooks_wall_ms(void);

#endif
