/* run/reach.h - the address of a server, taken apart: which way leads there. <cleat/client.h> lists the kinds.
 *
 * Not here: addresses to listen on (net/listen.h), names of configurations.
 */
#ifndef RUN_REACH_H
#define RUN_REACH_H

#include "base/buf.h"

struct reach {
	bool http;
	const char *url;    /* of HTTP, or of a stream; the caller's text, or in `text` */
	const char *socket; /* NULL: TCP */
	struct buf text;
};

/* CLEAT_OK, CLEAT_EINVAL or CLEAT_ELIMIT with what is wrong, CLEAT_ENOMEM. To be done with either way. */
int reach_parse(struct reach *t, const char *address, const cleat_allocator *mem, cleat_error *err);
void reach_done(struct reach *t);

#endif
