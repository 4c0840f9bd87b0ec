/* run/pool.c - see pool.h. */
#define _POSIX_C_SOURCE 200809L

#include "run/pool.h"

#include "base/mem.h"
#include "loop/thread.h"

#include <string.h>

int pool_init(struct pool *p, const cleat_allocator *mem, unsigned threads, void (*fn)(void *item))
{
	*p = (struct pool){ .mem = mem_resolve(mem), .fn = fn, .max = threads ? threads : 1 };
	p->threads = mem_zalloc(&p->mem, p->max * sizeof *p->threads);
	if (!p->threads)
		return CLEAT_ENOMEM;
	pthread_mutex_init(&p->lock, NULL); /* with default attributes neither can fail on Linux */
	pthread_cond_init(&p->work, NULL);
	p->ready = true;
	return CLEAT_OK;
}

static void *pool_take(struct pool *p)
{
	void *item = p->ring[p->head];

	p->head = (p->head + 1) % p->cap;
	p->count--;
	return item;
}

static void *worker(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		void *item;

		p->idle++;
		while (p->count == 0 && !p->closing)
			pthread_cond_wait(&p->work, &p->lock);
		p->idle--;
		if (p->count == 0)
			break;
		item = pool_take(p);
		pthread_mutex_unlock(&p->lock);
		p->fn(item);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* The lock is held: the new thread waits for it. */
static void start_thread(struct pool *p)
{
	if (thread_start(&p->threads[p->started], worker, p) == 0)
		p->started++;
}

static int make_room(struct pool *p)
{
	size_t cap = p->cap ? p->cap * 2 : 16;
	void **ring;

	if (p->count < p->cap)
		return CLEAT_OK;
	if (cap > POOL_QUEUE_MAX)
		return CLEAT_ELIMIT;
	ring = mem_alloc(&p->mem, cap * sizeof *ring);
	if (!ring)
		return CLEAT_ENOMEM;
	for (size_t i = 0; i < p->count; i++)
		ring[i] = p->ring[(p->head + i) % p->cap];
	mem_free(&p->mem, p->ring);
	p->ring = ring;
	p->cap = cap;
	p->head = 0;
	return CLEAT_OK;
}

int pool_submit(struct pool *p, void *item)
{
	int rc;

	pthread_mutex_lock(&p->lock);
	rc = make_room(p);
	/* Idle threads may already have been promised to items that wait. */
	if (rc == CLEAT_OK && p->idle <= p->count && p->started < p->max)
		start_thread(p);
	if (rc == CLEAT_OK && p->started == 0)
		rc = CLEAT_EIO;
	if (rc == CLEAT_OK) {
		p->ring[(p->head + p->count) % p->cap] = item;
		p->count++;
		pthread_cond_signal(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void pool_done(struct pool *p)
{
	if (!p->ready)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->started; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	mem_free(&p->mem, p->ring);
	mem_free(&p->mem, p->threads);
	p->ready = false;
}
