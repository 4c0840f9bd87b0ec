/* httpd/threads.h - the connections of one address on several threads, each with a loop of its own;
 * the service stays on the thread of the server's loop (httpd/relay.h).
 *
 * Has the face of an http_server (httpd/server.h), and belongs to the service's thread like
 * one; the threads are started when it listens and joined when it is freed. Limits on connections are
 * for all threads together.
 */
#ifndef HTTPD_THREADS_H
#define HTTPD_THREADS_H

#include "httpd/server.h"

struct http_threads;

/* `o` as for an http_server on the service's loop; for `screen` see http_relay_options (httpd/relay.h). CLEAT_OK or
 * CLEAT_ENOMEM. Starts nothing yet. */
int http_threads_new(const struct httpd_options *o, unsigned n,
		     void (*screen)(void *ctx, struct http_exchange *ex), void *screen_ctx,
		     struct http_threads **ret);
/* Listens, with this socket and further ones for the same address (listener_again), and starts the
 * threads. Once. On failure the socket may be closed, and the threads can only be freed. CLEAT_OK,
 * CLEAT_ENOMEM, CLEAT_EIO (could not start a thread, or no descriptor is left). */
int http_threads_listen(struct http_threads *t, struct listener *l, cleat_error *err);
void http_threads_set_tls(struct http_threads *t, struct tls_context *tls);
/* `done` is called from the service's loop when no thread has a connection any more. */
void http_threads_drain(struct http_threads *t, void (*done)(void *ctx), void *ctx);
/* The sum over all threads, of a moment ago. */
void http_threads_stats(struct http_threads *t, struct httpd_stats *ret);
/* Records that were not logged; see http_relay_unlogged(). */
uint64_t http_threads_unlogged(struct http_threads *t);
/* At once: as httpd_free(). Not from inside the service's calls. Accepts NULL. */
void http_threads_free(struct http_threads *t);

#endif
