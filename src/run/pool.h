/* run/pool.h - a few threads that work off a queue.
 *
 * Threads are started when there is work and none is idle, never more than asked for, and stay.
 * Whatever was queued is worked off before pool_done() returns.
 */
#ifndef RUN_POOL_H
#define RUN_POOL_H

#include <cleat/base.h>

#include <pthread.h>

struct pool {
	cleat_allocator mem;
	void (*fn)(void *item);
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_t *threads;
	unsigned max, started, idle;
	void **ring;
	size_t cap, head, count;
	bool closing;
	bool ready;
};

enum { POOL_QUEUE_MAX = 1 << 20 };

/* Starts nothing. CLEAT_OK or CLEAT_ENOMEM. */
int pool_init(struct pool *p, const cleat_allocator *mem, unsigned threads, void (*fn)(void *item));
/* fn(item) on one of the threads, first come, first served. CLEAT_OK; CLEAT_ENOMEM, CLEAT_ELIMIT, or
 * CLEAT_EIO when not even one thread could be started. Any thread. */
int pool_submit(struct pool *p, void *item);
/* Waits until everything is worked off, ends the threads. Accepts a zeroed pool. */
void pool_done(struct pool *p);

#endif
