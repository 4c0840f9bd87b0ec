/* run/hooks.c - what the core asks of the world, answered by a runner. */
#define _POSIX_C_SOURCE 200809L

#include "run/hooks.h"

#include <time.h>

static uint64_t now_ms(void *ctx)
{
	struct runner *r = ctx;

	return r->now ? r->now(r->now_ctx) : loop_now();
}

int64_t hooks_wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t wall_ms(void *ctx)
{
	(void)ctx;
	return hooks_wall_ms();
}

static bool is_owner(void *ctx)
{
	struct runner *r = ctx;

	return atomic_load_explicit(&r->owner, memory_order_relaxed) == loop_thread();
}

static void post(void *ctx, struct server_event *ev)
{
	struct runner *r = ctx;
	cleat_loop *l;
	bool first;

	ev->next = NULL;
	pthread_mutex_lock(&r->lock);
	first = !r->first;
	*r->end = ev;
	r->end = &ev->next;
	r->posting++; /* from here on the event may be handled; the runner stays */
	pthread_mutex_unlock(&r->lock);
	l = atomic_load(&r->loop);
	if (first && l)
		loop_post(l, &r->drain_call);
	if (first)
		runner_tell(r);
	pthread_mutex_lock(&r->lock);
	r->posting--;
	pthread_cond_signal(&r->posted);
	pthread_mutex_unlock(&r->lock);
}

static void work_one(void *item)
{
	server_work(item);
}

/* Without a loop there may be nobody to hear of the end of it: the core runs it inline. */
static int work(void *ctx, cleat_request *req)
{
	struct runner *r = ctx;
	int rc = CLEAT_OK;

	if (!atomic_load(&r->loop))
		return CLEAT_EUNSUPPORTED;
	if (!r->pool.ready)
		rc = pool_init(&r->pool, &r->mem, server_options(r->server)->workers, work_one);
	return rc ? rc : pool_submit(&r->pool, req);
}

static void wake(void *ctx)
{
	struct runner *r = ctx;

	if (r->pump_wanted)
		return;
	r->pump_wanted = true;
	if (r->pump_timer)
		loop_timer_start(r->pump_timer, 0);
	if (!r->in_wire)
		runner_tell(r);
}

static int cancel_open(void *ctx)
{
	return cancelfd_open(&((struct runner *)ctx)->cancel);
}

static void cancel_signal(void *ctx, int fd)
{
	cancelfd_signal(&((struct runner *)ctx)->cancel, fd);
}

static void cancel_close(void *ctx, int fd)
{
	cancelfd_close(&((struct runner *)ctx)->cancel, fd);
}

static void answered(void *ctx, struct str method, bool error)
{
	struct runner *r = ctx;

	if (r->metrics)
		metrics_count_rpc(&r->counts, metrics_method_of(method), error);
}

void hooks_install(struct runner *r)
{
	server_set_hooks(r->server, &(struct server_hooks){
					    .now_ms = now_ms,
					    .wall_ms = wall_ms,
					    .is_owner = is_owner,
					    .post = post,
					    .work = work,
					    .wake = wake,
					    .cancel_fd_open = cancel_open,
					    .cancel_fd_signal = cancel_signal,
					    .cancel_fd_close = cancel_close,
					    .answered = answered,
					    .ctx = r,
				    });
}
