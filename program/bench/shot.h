/* program/bench/shot.h - the bytes of requests, made once, from the message that the library sent.
 *
 * The library has spoken to the server before; what it sent is repeated with other ids. Over HTTP the head
 * is made here, as the revision wants it (2026-07-28 streamable-http: Mcp-Method, Mcp-Name, Mcp-Param-*).
 */
#ifndef PROGRAM_BENCH_SHOT_H
#define PROGRAM_BENCH_SHOT_H

#include "bench/load.h"

#include <cleat/json.h>

struct shot_options {
	bool http;
	const char *host, *path;
	const char *revision;       /* NULL: not known yet (initialize) */
	bool modern;                /* the headers of 2026-07-28 */
	bool session;               /* each request names one */
	const char *const *headers; /* "Name: value"; ends with NULL; NULL: none */
	const char *bearer;         /* NULL: none */
};

/* Fills all but label and weight. `schema` is that of the tool's arguments, for its headers; NULL: none.
 * False: out of memory, or the message has no id where it should. */
bool shot_make(struct shot *s, const struct shot_options *o, const char *message, size_t n,
	       const cleat_json *schema);
/* A message without an id that changes, a notification: the same bytes every time. From malloc; NULL: out of
 * memory. `session` NULL: none. `method` is "POST" or "DELETE" (then message is NULL). */
char *shot_plain(const struct shot_options *o, const char *method, const char *session,
		 const char *message, size_t n, size_t *ret_n);
void shot_done(struct shot *s);

#endif
