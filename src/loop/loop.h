/* loop/loop.h - the event loop as the rest of the library sees it: readiness, time, and calls that
 * are carried to the loop's thread.
 *
 * libuv does the work and is seen by loop.c, watch.c and fswatch.c alone. Watches and timers are made of the
 * loop's own memory, because libuv may hold on to them for one more turn after they were freed.
 * Everything here belongs to the thread that steps the loop, except where it says "any thread".
 *
 * Not here: processes, sockets, names. Not reentrant: nothing may step a loop from inside one of
 * its callbacks.
 */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <cleat/loop.h>

/* ---- calls -------------------------------------------------------------------------------- */

/* A call that waits; embedded in whatever it is about, so that queueing cannot fail. `fn` is set
 * once, the rest belongs to the loop. A call that waits already is not queued a second time. */
struct loop_call {
	void (*fn)(struct loop_call *c);
	struct loop_call *next;
	bool queued;
};

/* Calls c->fn on the loop's thread, in the order of posting. Any thread. */
void loop_post(cleat_loop *l, struct loop_call *c);
/* Calls c->fn before the loop waits the next time, and before a step returns. */
void loop_defer(cleat_loop *l, struct loop_call *c);
/* Takes a call back, wherever it waits. Nobody may be posting it meanwhile. */
void loop_cancel(cleat_loop *l, struct loop_call *c);

/* Something that is looked at in every turn, before the loop waits and before a step returns. */
struct loop_turn {
	void (*fn)(struct loop_turn *t);
	struct loop_turn *next;
	bool active;
};

/* Adding what is there, and removing what is not, does nothing. */
void loop_turn_add(cleat_loop *l, struct loop_turn *t);
void loop_turn_remove(cleat_loop *l, struct loop_turn *t);

/* ---- state -------------------------------------------------------------------------------- */

/* Something that keeps cleat_loop_step() from giving CLEAT_ECLOSED. */
void loop_attach(cleat_loop *l);
void loop_detach(cleat_loop *l);
/* Attaches or detaches, where that has not happened yet: *held tells. Accepts NULL. */
void loop_hold(cleat_loop *l, bool *held, bool hold);
/* Is the caller the thread that stepped the loop last (or, before the first step, made it)? Any
 * thread. */
bool loop_is_owner(const cleat_loop *l);
/* Is it inside a step, so that the caller must be one of its callbacks? */
bool loop_is_stepping(const cleat_loop *l);
/* A number that only this thread has, never 0. Any thread. */
uintptr_t loop_thread(void);
/* Milliseconds of a clock that never goes back. Any thread. */
uint64_t loop_now(void);

/* ---- time --------------------------------------------------------------------------------- */

struct loop_timer;

/* NULL when out of memory. Not running yet. */
struct loop_timer *loop_timer_new(cleat_loop *l, void (*fn)(void *ctx), void *ctx);
/* Calls fn once, `ms` from now; replaces what was set before. */
void loop_timer_start(struct loop_timer *t, uint64_t ms);
void loop_timer_stop(struct loop_timer *t);
/* Accepts NULL. Also from inside fn. */
void loop_timer_free(struct loop_timer *t);

/* ---- readiness ---------------------------------------------------------------------------- */

/* LOOP_HANGUP: nothing but that the other side has gone, or at least sends no more, also while bytes that it
 * sent before are not read; for whoever cannot take more bytes and has none to send. */
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };

struct loop_watch;

/* What fn is given: the events that are there. `failed`: the descriptor is in an error state; try
 * to read or write to learn which, and do not wait for it again. */
typedef void loop_watch_fn(void *ctx, unsigned events, bool failed);

/* Watches nothing yet. CLEAT_OK; CLEAT_EEXIST (something else watches it), CLEAT_EINVAL (no
 * descriptor), CLEAT_ENOMEM, CLEAT_EIO. May set O_NONBLOCK on the descriptor. What the system cannot
 * wait for (regular files, /dev/null) is ready all the time. */
int loop_watch_new(cleat_loop *l, int fd, loop_watch_fn *fn, void *ctx, struct loop_watch **ret);
/* Which events to wait for; 0 for none. */
void loop_watch_set(struct loop_watch *w, unsigned events);
/* Is it one of those that are ready all the time? */
bool loop_watch_always(const struct loop_watch *w);
/* The descriptor may be closed as soon as this returns. Accepts NULL. Also from inside fn. */
void loop_watch_free(struct loop_watch *w);

#endif
