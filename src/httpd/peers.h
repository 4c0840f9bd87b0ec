/* httpd/peers.h - how many connections there are, and how many each client address has.
 *
 * One record an address that has at least one, so never more than connections. An IPv6 client is its
 * /64: a whole one is what a single machine usually gets. Servers on several threads may share one
 * count. Not here: what happens over the limit.
 */
#ifndef HTTPD_PEERS_H
#define HTTPD_PEERS_H

#include <cleat/base.h>

#include <pthread.h>
#include <stdatomic.h>

enum { HTTP_PEERS_BUCKETS = 1024 };

struct http_peer;
struct sockaddr;

/* Zeroed is a good start for one that is not shared. */
struct http_peers {
	struct http_peer *buckets[HTTP_PEERS_BUCKETS];
	atomic_uint connections;
	bool shared;
	pthread_mutex_t lock; /* where it is shared, for the buckets */
};

/* For several threads; they use one allocator. */
void http_peers_share(struct http_peers *p);
/* When no connection is left. */
void http_peers_done(struct http_peers *p);

/* One connection more; false when there are `max` already. */
bool http_peers_enter(struct http_peers *p, unsigned max);
void http_peers_leave(struct http_peers *p);

/* Counts one connection more of its address. CLEAT_OK; CLEAT_ELIMIT when the address has `max` already;
 * CLEAT_ENOMEM. *ret is NULL for those that are not counted: this machine's own, and unix sockets. */
int http_peers_add(struct http_peers *p, const cleat_allocator *mem, const struct sockaddr *from,
		   unsigned max, struct http_peer **ret);
/* One less. Accepts NULL. */
void http_peers_remove(struct http_peers *p, const cleat_allocator *mem, struct http_peer *peer);

#endif
