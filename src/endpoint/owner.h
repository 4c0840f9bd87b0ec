/* endpoint/owner.h - how much one client has open: sessions, streams that listen, subscriptions.
 *
 * A client is its principal, or its address where nobody has to say who he is; of an IPv6 address the /64
 * counts, which is what a single machine usually gets. Many may share one address: behind a proxy on this
 * machine all of them do. So addresses of this machine may have ten times as much.
 *
 * One record for each client that has a connection or a session. Not here: connections (httpd/peers.h), and
 * what happens over a bound.
 */
#ifndef ENDPOINT_OWNER_H
#define ENDPOINT_OWNER_H

#include "base/ring.h"
#include "protocol/peer.h"

struct endpoint;

struct owner {
	struct owner *next; /* in its bucket */
	size_t refs;
	size_t n_sessions, max_sessions;
	size_t n_streams, max_streams;
	struct peer_quota subscriptions;
	struct ring
		sessions[3]; /* by enum session_use, the one that was not used for longest first */
	struct str key;
	char text[];
};

/* For whoever sends from this address; `principal` absent or empty: anybody. NULL when out of memory. */
struct owner *owner_take(struct endpoint *m, struct str principal, const char *address);
/* Accepts NULL. */
void owner_drop(struct endpoint *m, struct owner *o);

#endif
