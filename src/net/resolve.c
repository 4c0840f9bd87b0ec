/* net/resolve.c - see resolve.h.
 *
 * The question is shared by the thread and the one who asked; the lock says who is last and frees it. Its
 * memory is malloc's: it may outlive the allocator of whoever asked.
 */
#define _POSIX_C_SOURCE 200809L

#include "net/resolve.h"
#include "base/ring.h"

#include "base/mem.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

struct resolve {
	cleat_loop *loop;
	resolve_fn *fn;
	void *ctx;
	struct loop_call call;
	pthread_mutex_t lock; /* for these two */
	bool given_up, done;
	struct addrinfo *list;
	int rc, error;
	char host[256], port[8];
};

static void resolve_drop(struct resolve *r)
{
	pthread_mutex_destroy(&r->lock);
	mem_free(&mem_default, r);
}

static int resolve_ask(struct resolve *r, int flags)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICSERV | flags };

	r->rc = getaddrinfo(r->host, r->port, &hints, &r->list);
	r->error = errno;
	if (r->rc)
		r->list = NULL;
	return r->rc;
}

/* The answer is posted under the lock, so that nobody gives up in between. */
static void *resolve_run(void *arg)
{
	struct resolve *r = arg;
	bool last;

	resolve_ask(r, 0);
	pthread_mutex_lock(&r->lock);
	last = r->given_up;
	r->done = true;
	if (!last)
		loop_post(r->loop, &r->call);
	pthread_mutex_unlock(&r->lock);
	if (last) {
		if (r->list)
			freeaddrinfo(r->list);
		resolve_drop(r);
	}
	return NULL;
}

static void resolve_on_done(struct loop_call *c)
{
	struct resolve *r = CONTAINER_OF(c, struct resolve, call);
	const char *why = r->rc == EAI_SYSTEM ? strerror(r->error) : gai_strerror(r->rc);
	struct addrinfo *list = r->list;
	resolve_fn *fn = r->fn;
	void *ctx = r->ctx;

	/* The thread may still be on its way out of the lock. */
	pthread_mutex_lock(&r->lock);
	pthread_mutex_unlock(&r->lock);
	resolve_drop(r);
	fn(ctx, list, list ? NULL : why);
}

/* Without the program's signals: they are for its own threads. */
static int start_thread(struct resolve *r)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	if (pthread_attr_init(&attr))
		return CLEAT_ENOMEM;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(&thread, &attr, resolve_run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc ? CLEAT_EIO : CLEAT_OK;
}

int resolve_start(cleat_loop *l, const char *host, const char *port, resolve_fn *fn, void *ctx,
		  struct resolve **ret)
{
	struct resolve *r;

	*ret = NULL;
	if (strlen(host) >= sizeof r->host || strlen(port) >= sizeof r->port)
		return CLEAT_EINVAL;
	r = mem_zalloc(&mem_default, sizeof *r);
	if (!r)
		return CLEAT_ENOMEM;
	if (pthread_mutex_init(&r->lock, NULL)) {
		mem_free(&mem_default, r);
		return CLEAT_ENOMEM;
	}
	r->loop = l;
	r->fn = fn;
	r->ctx = ctx;
	r->call.fn = resolve_on_done;
	memcpy(r->host, host, strlen(host) + 1);
	memcpy(r->port, port, strlen(port) + 1);
	if (resolve_ask(r, AI_NUMERICHOST) == 0) {
		r->done = true;
		loop_defer(l, &r->call);
	} else if (start_thread(r)) {
		resolve_drop(r);
		return CLEAT_EIO;
	}
	*ret = r;
	return CLEAT_OK;
}

void resolve_cancel(struct resolve *r)
{
	bool done;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	done = r->done;
	r->given_up = true;
	pthread_mutex_unlock(&r->lock);
	if (!done)
		return;
	loop_cancel(r->loop, &r->call);
	if (r->list)
		freeaddrinfo(r->list);
	resolve_drop(r);
}
