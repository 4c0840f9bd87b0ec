/* cleat/loop.h - the event loop, and how to live inside somebody else's.
 *
 * A program that has no loop of its own never needs this header. A program that has one polls
 * cleat_loop_fd() for reading, at most cleat_loop_timeout() milliseconds, and then calls
 * cleat_loop_step(loop, 0).
 */
#ifndef CLEAT_LOOP_H
#define CLEAT_LOOP_H

#include <cleat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_loop cleat_loop;

/* A new loop; NULL when there is no memory, or errno is EMFILE or ENFILE and there are no descriptors.
 * `allocator` may be NULL. Where one of the descriptors 0, 1 and 2 is closed it is /dev/null afterwards: what is
 * opened later must not be taken for standard output. */
CLEAT_API cleat_loop *cleat_loop_new(const cleat_allocator *allocator);
/* Frees a loop on which nothing is attached any more (servers and clients that use it are freed
 * first). Accepts NULL. */
CLEAT_API void cleat_loop_free(cleat_loop *l);
/* A descriptor that is readable when there is something to do. Borrowed. */
CLEAT_API int cleat_loop_fd(const cleat_loop *l);
/* Milliseconds until cleat_loop_step() wants to be called anyway; -1: only when the descriptor is
 * readable, as long as nothing is attached, too. -1 for NULL. */
CLEAT_API int cleat_loop_timeout(const cleat_loop *l);
/* Does what there is to do, after waiting for it at most timeout_ms (-1: as long as it takes, 0:
 * not at all). CLEAT_OK; CLEAT_ECLOSED when nothing is attached any more; or an error. */
CLEAT_API int cleat_loop_step(cleat_loop *l, int timeout_ms);
/* Steps until nothing is attached any more or cleat_loop_stop() is called. */
CLEAT_API int cleat_loop_run(cleat_loop *l);
/* Makes cleat_loop_run() return. Any thread, also a signal handler. */
CLEAT_API void cleat_loop_stop(cleat_loop *l);
/* Makes a waiting cleat_loop_step() return. Any thread, also a signal handler. */
CLEAT_API void cleat_loop_wake(cleat_loop *l);
/* Calls fn(arg) once, on the thread that steps the loop, in the order of posting; what fn posts in turn
 * comes after the descriptors that are ready. Wakes the loop, but does not keep it running. Any thread
 * (the loop's allocator has to be good for it too), no signal handler. CLEAT_OK; CLEAT_ENOMEM;
 * CLEAT_EMISUSE when `l` or `fn` is NULL.
 * What still waits in cleat_loop_free() is dropped without being called, because what it is about has
 * been freed by then; `arg` stays yours. cleat_loop_step(l, 0) calls what waits before that. */
CLEAT_API int cleat_loop_post(cleat_loop *l, void (*fn)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif
#endif
