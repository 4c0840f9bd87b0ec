/* program/record/tap/impl.h - what the files of tap/ know of each other beyond tap.h: header fields as the library has them
 * (slices) for a face that has texts which end with a zero, and where a server is. Nobody else includes it.
 */
#ifndef PROGRAM_RECORD_TAP_IMPL_H
#define PROGRAM_RECORD_TAP_IMPL_H

#include "record/tap/tap.h"

#include "base/arena.h"
#include "http/message.h"

/* A copy; NULL when the arena has no room (latched). */
const struct tap_field *field_list(struct arena *ar, const struct http_field *fields, size_t n);

/* All of a server's address, as a URL: "http://localhost/mcp" for a unix socket. */
const char *back_url(const struct back *b);

#endif
