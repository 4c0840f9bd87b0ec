/* program/serve/sources.h - all kinds of things that can be put behind MCP. */
#ifndef PROGRAM_SERVE_SOURCES_H
#define PROGRAM_SERVE_SOURCES_H

#include "serve/kit/draft.h"

/* Makes everything that a configuration wants; conf_problems() tells whether it is any good. NULL when out
 * of memory. See set.h. */
struct set *sources_read(struct conf *c, struct runtime *rt);

#endif
