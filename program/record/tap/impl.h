/* program/record/tap/impl.h - what the files of tap/ know of each other beyond tap.h: where a server is. Nobody else
 * includes it.
 */
#ifndef PROGRAM_RECORD_TAP_IMPL_H
#define PROGRAM_RECORD_TAP_IMPL_H

#include "record/tap/tap.h"

/* All of a server's address, as a URL: "http://localhost/mcp" for a unix socket. */
const char *back_url(const struct back *b);

#endif
