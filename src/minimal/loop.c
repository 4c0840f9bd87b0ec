/* minimal/loop.c - a minimal build (CLEAT_MINIMAL) has wires and neither loops nor streams.
 *
 * What runs a server is made for both: it asks whether there is a loop, and here there is never one. So these
 * functions are never called with one; the ones that would make a loop or a stream say that there are none.
 * The clock and the thread's number, which a wire needs, are as in loop/loop.c.
 */
#define _POSIX_C_SOURCE 200809L

#include "loop/loop.h"

#include "base/error.h"
#include "net/stream.h"

#include <time.h>

uintptr_t loop_thread(void)
{
	static _Thread_local char here;

	return (uintptr_t)&here;
}

uint64_t loop_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

cleat_loop *cleat_loop_new(const cleat_allocator *allocator)
{
	(void)allocator;
	return NULL;
}

int stream_open(const struct stream_options *o, struct stream **ret, cleat_error *err)
{
	(void)o;
	*ret = NULL;
	return error_set(err, CLEAT_EUNSUPPORTED,
			 "this is a minimal build of libcleat: use a wire");
}

/* clang-format off */
void cleat_loop_free(cleat_loop *l) { (void)l; }
void cleat_loop_wake(cleat_loop *l) { (void)l; }
void loop_post(cleat_loop *l, struct loop_call *c) { (void)l; (void)c; }
void loop_cancel(cleat_loop *l, struct loop_call *c) { (void)l; (void)c; }
void loop_turn_add(cleat_loop *l, struct loop_turn *t) { (void)l; (void)t; }
void loop_turn_remove(cleat_loop *l, struct loop_turn *t) { (void)l; (void)t; }
struct loop_timer *loop_timer_new(cleat_loop *l, void (*fn)(void *), void *ctx) { (void)l; (void)fn; (void)ctx; return NULL; }
void loop_timer_start(struct loop_timer *t, uint64_t ms) { (void)t; (void)ms; }
void loop_timer_free(struct loop_timer *t) { (void)t; }
int loop_watch_new(cleat_loop *l, int fd, loop_watch_fn *fn, void *ctx, struct loop_watch **ret) { (void)l; (void)fd; (void)fn; (void)ctx; *ret = NULL; return CLEAT_EUNSUPPORTED; }
void loop_watch_set(struct loop_watch *w, unsigned events) { (void)w; (void)events; }
bool loop_watch_always(const struct loop_watch *w) { (void)w; return false; }
void loop_watch_free(struct loop_watch *w) { (void)w; }
struct peer_sink stream_sink(struct stream *s) { (void)s; return (struct peer_sink){ 0 }; }
void stream_start(struct stream *s, struct peer *p) { (void)s; (void)p; }
void stream_finish(struct stream *s) { (void)s; }
void stream_forget(struct stream *s) { (void)s; }
void stream_free(struct stream *s) { (void)s; }
/* clang-format on */
