/* loop/impl.h - what loop.c, watch.c and fswatch.c share. Nobody else includes it: it is where libuv begins.
 */
#ifndef LOOP_IMPL_H
#define LOOP_IMPL_H

#include "loop/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

struct call_list {
	struct loop_call *first, **end;
};

struct cleat_loop {
	cleat_allocator mem;
	uv_loop_t uv;
	uv_async_t async;     /* always active, so that libuv waits also when nothing else is */
	uv_prepare_t prepare; /* the moment before waiting */
	uv_timer_t limit;     /* ends a step with a timeout */
	pthread_mutex_t lock; /* for these two */
	struct call_list posted, running;
	struct call_list deferred;
	struct loop_turn *turns;
	struct loop_turn *turn_next; /* where run_turns() goes on */
	size_t attached;
	bool stepping;
	atomic_bool stop;
	atomic_uintptr_t owner;
};

/* A libuv handle that was allocated: freed when libuv lets go of it. */
struct handle {
	union {
		uv_handle_t any;
		uv_timer_t timer;
		uv_poll_t poll;
		uv_idle_t idle;
		uv_fs_event_t fs_event;
	} uv;
	cleat_loop *loop;
};

/* Zeroed, with room for the struct around it; NULL when out of memory. */
void *handle_new(cleat_loop *l, size_t size);
/* For a handle that libuv never saw. */
void handle_drop(struct handle *h);
/* Ends a handle; its memory goes when libuv says so. */
void handle_close(struct handle *h);

#endif
