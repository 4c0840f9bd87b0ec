/* httpd/threads.c - see threads.h.
 *
 * Loops and relays are made before their threads start and freed after these have ended, so that each
 * has one owner at a time without a lock. A thread ends when its loop is told to stop, or by itself
 * after draining.
 */
#define _POSIX_C_SOURCE 200809L

#include "httpd/threads.h"

#include "base/error.h"
#include "base/mem.h"
#include "httpd/peers.h"
#include "httpd/relay.h"
#include "loop/thread.h"

#include <string.h>

struct http_thread {
	cleat_loop *loop;
	struct http_relay *relay;
	pthread_t id;
	bool started;
};

struct http_threads {
	cleat_allocator mem;
	struct http_peers peers;
	unsigned n, draining; /* those that still have connections */
	void (*done)(void *ctx);
	void *done_ctx;
	struct http_thread threads[];
};

static int open_one(struct http_thread *k, const struct http_relay_options *o)
{
	struct http_relay_options own = *o;

	k->loop = cleat_loop_new(o->http.mem);
	if (!k->loop)
		return CLEAT_ENOMEM;
	own.http.loop = k->loop;
	return http_relay_new(&own, &k->relay);
}

int http_threads_new(const struct httpd_options *o, unsigned n,
		     void (*screen)(void *ctx, struct http_exchange *ex), void *screen_ctx,
		     struct http_threads **ret)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct http_threads *t = mem_zalloc(&mem, sizeof *t + n * sizeof t->threads[0]);
	struct http_relay_options relay = {
		.http = *o, .back = o->loop, .screen = screen, .screen_ctx = screen_ctx
	};
	int rc = CLEAT_OK;

	*ret = NULL;
	if (!t)
		return CLEAT_ENOMEM;
	t->mem = mem;
	t->n = n;
	http_peers_share(&t->peers);
	relay.http.mem = &t->mem;
	relay.http.peers = &t->peers;
	for (unsigned i = 0; i < n && !rc; i++)
		rc = open_one(&t->threads[i], &relay);
	if (rc) {
		http_threads_free(t);
		return rc;
	}
	*ret = t;
	return CLEAT_OK;
}

static void *http_threads_serve(void *arg)
{
	const struct http_thread *k = arg;

	cleat_loop_run(k->loop);
	return NULL;
}

/* The first gets the socket itself: with it goes the file of a unix socket. */
static int listen_all(struct http_threads *t, struct listener *l, cleat_error *err)
{
	struct listener again;
	int rc = CLEAT_OK;

	for (unsigned i = 1; i < t->n && !rc; i++) {
		rc = listener_again(l, &again, err);
		if (!rc)
			rc = http_relay_add(t->threads[i].relay, &again, err);
		if (rc)
			listener_close(&again);
	}
	return rc ? rc : http_relay_add(t->threads[0].relay, l, err);
}

int http_threads_listen(struct http_threads *t, struct listener *l, cleat_error *err)
{
	int rc = listen_all(t, l, err);

	for (unsigned i = 0; i < t->n && !rc; i++) {
		struct http_thread *k = &t->threads[i];
		int error = thread_start(&k->id, http_threads_serve, k);

		k->started = error == 0;
		if (error)
			rc = error_set(err, CLEAT_EIO, "only %u of %u threads can be started: %s",
				       i, t->n, strerror(error));
	}
	return rc;
}

void http_threads_set_tls(struct http_threads *t, struct tls_context *tls)
{
	for (unsigned i = 0; i < t->n; i++)
		http_relay_set_tls(t->threads[i].relay, tls);
}

static void http_threads_on_drained(void *ctx)
{
	struct http_threads *t = ctx;

	if (--t->draining == 0)
		t->done(t->done_ctx);
}

void http_threads_drain(struct http_threads *t, void (*done)(void *ctx), void *ctx)
{
	t->done = done;
	t->done_ctx = ctx;
	t->draining = t->n;
	for (unsigned i = 0; i < t->n; i++)
		http_relay_drain(t->threads[i].relay, http_threads_on_drained, t);
}

void http_threads_stats(struct http_threads *t, struct httpd_stats *ret)
{
	struct httpd_stats one;

	*ret = (struct httpd_stats){ 0 };
	for (unsigned i = 0; i < t->n; i++) {
		http_relay_stats(t->threads[i].relay, &one);
		ret->connections += one.connections;
		ret->exchanges += one.exchanges;
		ret->queued_bytes += one.queued_bytes;
		ret->accepted += one.accepted;
		ret->refused += one.refused;
		ret->timeouts += one.timeouts;
	}
}

uint64_t http_threads_unlogged(struct http_threads *t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < t->n; i++)
		sum += http_relay_unlogged(t->threads[i].relay);
	return sum;
}

void http_threads_free(struct http_threads *t)
{
	cleat_allocator mem;

	if (!t)
		return;
	mem = t->mem;
	for (unsigned i = 0; i < t->n; i++)
		if (t->threads[i].started)
			cleat_loop_stop(t->threads[i].loop);
	for (unsigned i = 0; i < t->n; i++) {
		struct http_thread *k = &t->threads[i];

		if (k->started)
			pthread_join(k->id, NULL);
		http_relay_free(k->relay);
		cleat_loop_free(k->loop);
	}
	http_peers_done(&t->peers);
	mem_free(&mem, t);
}
