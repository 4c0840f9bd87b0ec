/* transport/http_peers.h - how many connections each client address has.
 *
 * One record an address that has at least one, so never more than connections. An IPv6 client is its
 * /64: a whole one is what a single machine usually gets. Not here: what happens over the limit.
 */
#ifndef TRANSPORT_HTTP_PEERS_H
#define TRANSPORT_HTTP_PEERS_H

#include <cleat/base.h>

enum { HTTP_PEERS_BUCKETS = 1024 };

struct http_peer;
struct sockaddr;

struct http_peers {
	struct http_peer *buckets[HTTP_PEERS_BUCKETS];
};

/* Counts one connection more. CLEAT_OK; CLEAT_ELIMIT when the address has `max` already;
 * CLEAT_ENOMEM. *ret is NULL for those that are not counted: this machine's own, and unix sockets. */
int http_peers_add(struct http_peers *p, const cleat_allocator *mem, const struct sockaddr *from,
		   unsigned max, struct http_peer **ret);
/* One less. Accepts NULL. */
void http_peers_remove(struct http_peers *p, const cleat_allocator *mem, struct http_peer *peer);

#endif
