/* loop/loop.c - see loop.h. Steps, calls between threads, timers; descriptors are in watch.c.
 *
 * Two kinds of calls: posted ones cross threads (a mutex and one byte through libuv's async handle,
 * written only when the queue was empty), deferred ones stay on the loop's thread and cost nothing.
 * Deferred calls and turns run right before libuv waits and once more when a step ends, so that
 * what a callback left behind (answers to write) never waits for the next event.
 *
 * libuv takes some memory of its own (its tables) from malloc and aborts when there is none; only
 * its handles can come from the allocator hook.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/mem.h"
#include "loop/impl.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* ---- threads and time --------------------------------------------------------------------- */

uintptr_t loop_thread(void)
{
	static _Thread_local char here;

	return (uintptr_t)&here;
}

bool loop_is_owner(const cleat_loop *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) == loop_thread();
}

bool loop_is_stepping(const cleat_loop *l)
{
	return l->stepping;
}

uint64_t loop_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* ---- calls -------------------------------------------------------------------------------- */

static void list_init(struct call_list *q)
{
	q->first = NULL;
	q->end = &q->first;
}

static void list_add(struct call_list *q, struct loop_call *c)
{
	c->queued = true;
	c->next = NULL;
	*q->end = c;
	q->end = &c->next;
}

static struct loop_call *list_take(struct call_list *q)
{
	struct loop_call *c = q->first;

	if (!c)
		return NULL;
	q->first = c->next;
	if (!q->first)
		q->end = &q->first;
	c->queued = false;
	return c;
}

static void list_remove(struct call_list *q, struct loop_call *c)
{
	struct loop_call **at = &q->first;

	while (*at && *at != c)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = c->next;
	if (q->end == &c->next)
		q->end = at;
	c->queued = false;
}

void loop_post(cleat_loop *l, struct loop_call *c)
{
	bool first = false;

	pthread_mutex_lock(&l->lock);
	if (!c->queued) {
		first = !l->posted.first;
		list_add(&l->posted, c);
	}
	pthread_mutex_unlock(&l->lock);
	if (first)
		uv_async_send(&l->async);
}

void loop_defer(cleat_loop *l, struct loop_call *c)
{
	if (c->queued)
		return;
	list_add(&l->deferred, c);
	/* Between steps somebody else's loop may be about to wait for our descriptor. */
	if (!l->stepping)
		uv_async_send(&l->async);
}

void loop_cancel(cleat_loop *l, struct loop_call *c)
{
	pthread_mutex_lock(&l->lock);
	list_remove(&l->posted, c);
	list_remove(&l->running, c);
	pthread_mutex_unlock(&l->lock);
	list_remove(&l->deferred, c);
}

/* What these calls post in turn is for the next turn of the loop, or I/O would starve. */
static void run_posted(cleat_loop *l)
{
	struct loop_call *c;

	pthread_mutex_lock(&l->lock);
	if (l->posted.first) {
		*l->running.end = l->posted.first;
		l->running.end = l->posted.end;
		list_init(&l->posted);
	}
	while ((c = list_take(&l->running)) != NULL) {
		pthread_mutex_unlock(&l->lock);
		c->fn(c); /* may free c, and cancel others */
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
}

/* A call of the program's, which has no struct to put it into. */
struct program_call {
	struct loop_call call;
	cleat_loop *loop;
	void (*fn)(void *arg);
	void *arg;
};

static void run_program_call(struct loop_call *c)
{
	struct program_call p = *(struct program_call *)(void *)c;

	mem_free(&p.loop->mem, c);
	p.fn(p.arg);
}

int cleat_loop_post(cleat_loop *l, void (*fn)(void *arg), void *arg)
{
	struct program_call *p;

	if (!l || !fn)
		return CLEAT_EMISUSE;
	p = mem_alloc(&l->mem, sizeof *p);
	if (!p)
		return CLEAT_ENOMEM;
	*p = (struct program_call){ .call.fn = run_program_call, .loop = l, .fn = fn, .arg = arg };
	loop_post(l, &p->call);
	return CLEAT_OK;
}

/* Other calls that wait belong to somebody else. */
static void drop_program_calls(cleat_loop *l)
{
	struct loop_call *c;

	while ((c = list_take(&l->posted)) != NULL)
		if (c->fn == run_program_call)
			mem_free(&l->mem, c);
}

void loop_turn_add(cleat_loop *l, struct loop_turn *t)
{
	if (t->active)
		return;
	t->active = true;
	t->next = l->turns;
	l->turns = t;
}

void loop_turn_remove(cleat_loop *l, struct loop_turn *t)
{
	struct loop_turn **at = &l->turns;

	if (!t->active)
		return;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (l->turn_next == t)
		l->turn_next = t->next;
	t->active = false;
}

static void run_local(cleat_loop *l)
{
	struct loop_call *c;

	for (struct loop_turn *t = l->turns; t; t = l->turn_next) {
		l->turn_next = t->next;
		t->fn(t);
	}
	while ((c = list_take(&l->deferred)) != NULL)
		c->fn(c);
}

static void on_async(uv_async_t *a)
{
	run_posted(a->data);
}

static void on_prepare(uv_prepare_t *p)
{
	run_local(p->data);
}

/* ---- handles and timers ------------------------------------------------------------------- */

void *handle_new(cleat_loop *l, size_t size)
{
	struct handle *h = mem_zalloc(&l->mem, size);

	if (h)
		h->loop = l;
	return h;
}

void handle_drop(struct handle *h)
{
	cleat_allocator mem = h->loop->mem;

	mem_free(&mem, h);
}

static void on_closed(uv_handle_t *any)
{
	if (any->data)
		handle_drop(any->data);
}

void handle_close(struct handle *h)
{
	h->uv.any.data = h;
	uv_close(&h->uv.any, on_closed);
}

struct loop_timer {
	struct handle h;
	void (*fn)(void *ctx);
	void *ctx;
};

static void loop_on_timer(uv_timer_t *uv)
{
	struct loop_timer *t = uv->data;

	uv_stop(uv->loop); /* libuv runs timers before it waits, too: then this step has had its event */
	t->fn(t->ctx);
}

struct loop_timer *loop_timer_new(cleat_loop *l, void (*fn)(void *ctx), void *ctx)
{
	struct loop_timer *t = handle_new(l, sizeof *t);

	if (!t)
		return NULL;
	uv_timer_init(&l->uv, &t->h.uv.timer);
	t->h.uv.timer.data = t;
	t->fn = fn;
	t->ctx = ctx;
	return t;
}

void loop_timer_start(struct loop_timer *t, uint64_t ms)
{
	/* libuv counts from when it last looked at the clock, which may be long ago. */
	uv_update_time(&t->h.loop->uv);
	uv_timer_start(&t->h.uv.timer, loop_on_timer, ms, 0);
	if (!t->h.loop->stepping)
		uv_async_send(&t->h.loop->async); /* as in loop_defer() */
}

void loop_timer_stop(struct loop_timer *t)
{
	uv_timer_stop(&t->h.uv.timer);
}

void loop_timer_free(struct loop_timer *t)
{
	if (t)
		handle_close(&t->h);
}

/* ---- the loop ----------------------------------------------------------------------------- */

/* That it fired ends the step; also when it did before libuv began to wait, which would be without end. */
static void on_limit(uv_timer_t *t)
{
	uv_stop(t->loop);
}

/* libuv aborts where it closes a descriptor below 3, as one becomes that was free, and where a pipe of its own
 * cannot be made. So the three are there first (/dev/null where nothing is), and so many more are free as a loop
 * takes. */
static bool descriptors_suffice(void)
{
	enum { FOR_LOOP = 7 }; /* epoll, a wake-up, two pipes for signals, one to spare */
	int taken[FOR_LOOP], n = 0, why;

	do
		taken[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (taken[0] >= 0 && taken[0] <= STDERR_FILENO);
	for (n = taken[0] >= 0; n > 0 && n < FOR_LOOP; n++) {
		taken[n] = fcntl(taken[0], F_DUPFD_CLOEXEC, 0);
		if (taken[n] < 0)
			break;
	}
	why = errno;
	for (int i = 0; i < n; i++)
		close(taken[i]);
	errno = why;
	return n == FOR_LOOP;
}

cleat_loop *cleat_loop_new(const cleat_allocator *mem)
{
	cleat_allocator a = mem_resolve(mem);
	cleat_loop *l = descriptors_suffice() ? mem_zalloc(&a, sizeof *l) : NULL;

	if (!l)
		return NULL;
	l->mem = a;
	list_init(&l->posted);
	list_init(&l->running);
	list_init(&l->deferred);
	atomic_init(&l->stop, false);
	atomic_init(&l->owner, loop_thread());
	if (pthread_mutex_init(&l->lock, NULL))
		goto no_lock;
	if (uv_loop_init(&l->uv))
		goto no_loop;
	if (uv_async_init(&l->uv, &l->async, on_async))
		goto no_async;
	uv_prepare_init(&l->uv, &l->prepare);
	uv_timer_init(&l->uv, &l->limit);
	uv_prepare_start(&l->prepare, on_prepare);
	l->async.data = l->prepare.data = l;
	uv_run(&l->uv, UV_RUN_NOWAIT); /* so that the descriptor tells of a wake from now on */
	return l;
no_async:
	uv_loop_close(&l->uv);
no_loop:
	pthread_mutex_destroy(&l->lock);
no_lock:
	mem_free(&a, l);
	return NULL;
}

/* The loop's own handles are not allocated: their data is cleared before. */
static void close_any(uv_handle_t *h, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(h))
		uv_close(h, on_closed);
}

void cleat_loop_free(cleat_loop *l)
{
	cleat_allocator a;

	if (!l)
		return;
	a = l->mem;
	l->async.data = l->prepare.data = NULL;
	uv_prepare_stop(&l->prepare);
	uv_walk(&l->uv, close_any, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT);
	uv_loop_close(&l->uv);
	drop_program_calls(l);
	pthread_mutex_destroy(&l->lock);
	mem_free(&a, l);
}

int cleat_loop_fd(const cleat_loop *l)
{
	return l ? uv_backend_fd(&l->uv) : -1;
}

int cleat_loop_timeout(const cleat_loop *l)
{
	if (!l)
		return -1;
	if (l->deferred.first)
		return 0;
	uv_update_time((uv_loop_t *)&l->uv); /* the clock it caches is no state anybody can see */
	return uv_backend_timeout(&l->uv);
}

int cleat_loop_step(cleat_loop *l, int timeout_ms)
{
	uv_run_mode mode = UV_RUN_ONCE;

	if (!l)
		return CLEAT_EINVAL;
	if (l->stepping)
		return CLEAT_EMISUSE;
	l->stepping = true;
	atomic_store_explicit(&l->owner, loop_thread(), memory_order_relaxed);
	run_local(l);
	if (timeout_ms == 0 || l->attached == 0)
		mode = UV_RUN_NOWAIT;
	else if (timeout_ms > 0) {
		uv_update_time(&l->uv);
		uv_timer_start(&l->limit, on_limit, (uint64_t)timeout_ms, 0);
	}
	uv_run(&l->uv, mode);
	uv_timer_stop(&l->limit);
	run_local(l);
	l->stepping = false;
	return l->attached ? CLEAT_OK : CLEAT_ECLOSED;
}

int cleat_loop_run(cleat_loop *l)
{
	int rc = CLEAT_OK;

	if (!l)
		return CLEAT_EINVAL;
	while (rc == CLEAT_OK && !atomic_load(&l->stop))
		rc = cleat_loop_step(l, -1);
	atomic_store(&l->stop, false);
	return rc == CLEAT_ECLOSED ? CLEAT_OK : rc;
}

void cleat_loop_stop(cleat_loop *l)
{
	if (!l)
		return;
	atomic_store(&l->stop, true);
	uv_async_send(&l->async);
}

void cleat_loop_wake(cleat_loop *l)
{
	if (l)
		uv_async_send(&l->async);
}

void loop_attach(cleat_loop *l)
{
	l->attached++;
}

void loop_detach(cleat_loop *l)
{
	l->attached--;
}

void loop_hold(cleat_loop *l, bool *held, bool hold)
{
	if (l && hold && !*held)
		loop_attach(l);
	else if (l && !hold && *held)
		loop_detach(l);
	*held = hold;
}
