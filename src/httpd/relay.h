/* httpd/relay.h - connections on one thread, the service that answers them on another.
 *
 *	front: the connections' thread, with a loop and an http_server of its own
 *	back:  the service's thread and its loop; the service sees exchanges as if they were there
 *
 * A request is copied and handed to the back; what the service does with its exchange becomes commands
 * that the front carries out. Whatever crosses is in order, and each side has exactly one outcome: a
 * client that vanishes while the service answers is gone() for the service only if it had not completed
 * the answer, and an answer that comes too late is thrown away in the front.
 *
 * Bounds: so many requests on their way to the back (then connections wait with theirs, and read no
 * further), and max_stream_queue bytes of a streamed answer from the service to the socket. Not here:
 * threads. Whoever starts them (httpd/threads.c) makes the relay first and frees it last.
 */
#ifndef HTTPD_RELAY_H
#define HTTPD_RELAY_H

#include "httpd/server.h"

struct http_relay;

struct http_relay_options {
	/* As for a server of the service's own thread, but `loop` is the front's. The allocator is used
	 * by both threads; service and note are called on the back's. */
	struct httpd_options http;
	cleat_loop *back;
	/* Called in the front when the header is there, to refuse what can be refused by looking at it
	 * or to limit the body; must not touch anything that belongs to the back. May be NULL. The
	 * service's head() is called when the whole request is there. */
	void (*screen)(void *ctx, struct http_exchange *ex);
	void *screen_ctx;
	unsigned max_requests; /* on their way to the back; 0: 256 */
	size_t max_bytes;      /* the same in bytes, over by one request; 0: 8 MiB */
};

/* Before the front's loop runs: CLEAT_OK or CLEAT_ENOMEM. */
int http_relay_new(const struct http_relay_options *o, struct http_relay **ret);
/* As httpd_add(). Also before the front's loop runs. */
int http_relay_add(struct http_relay *r, struct listener *l, cleat_error *err);

/* The rest is for the back. As httpd_set_tls(), httpd_drain() and httpd_stats();
 * `done` is never called from inside. The numbers are those of the front's last turn; of queued_bytes,
 * those of the turn after they were last asked for. */
void http_relay_set_tls(struct http_relay *r, struct tls_context *tls);
void http_relay_drain(struct http_relay *r, void (*done)(void *ctx), void *ctx);
void http_relay_stats(struct http_relay *r, struct httpd_stats *ret);
/* Records of exchanges that were too many to be logged. */
uint64_t http_relay_unlogged(struct http_relay *r);

/* After the front's loop has stopped running: calls gone() for every exchange that the service has seen
 * and not completed, and closed() for every connection. Not from inside the service's calls. The front's
 * loop is freed after this. Accepts NULL. */
void http_relay_free(struct http_relay *r);

#endif
