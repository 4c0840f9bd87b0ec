/* net/resolve.h - addresses of a name, found without keeping the loop waiting.
 *
 * The system's resolver blocks and cannot be interrupted, so that it runs on a thread of its own, one
 * for each question; there are few. Who gives a question up does not wait for it: the thread then
 * ends by itself and frees what it has. Numbers are converted at once, without a thread.
 */
#ifndef NET_RESOLVE_H
#define NET_RESOLVE_H

#include "loop/loop.h"

struct addrinfo;
struct resolve;

/* `list` is the callee's to free (freeaddrinfo); NULL: `why` says in words why there is none. From the
 * loop, once. */
typedef void resolve_fn(void *ctx, struct addrinfo *list, const char *why);

/* Stream sockets for host and port. CLEAT_OK, CLEAT_ENOMEM, or CLEAT_EIO (no thread). */
int resolve_start(cleat_loop *l, const char *host, const char *port, resolve_fn *fn, void *ctx,
		  struct resolve **ret);
/* Before fn was called: it is not going to be. Accepts NULL. */
void resolve_cancel(struct resolve *r);

#endif
