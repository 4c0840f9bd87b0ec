/* run/client.c - a client and its loop: making it, stepping, ending it. See client.h.
 *
 * The role (client/core.h) has no clock of its own: a timer calls client_pump() when it asks for that,
 * and when a deadline is near. A client is attached to its loop as long as it lives, so that a loop with
 * nothing but a client on it waits for the server instead of saying that it is done.
 *
 * Not here: the ways to a server (client_spawn.c, ...), calls (client_call.c).
 */
#define _DEFAULT_SOURCE /* getentropy() */

#include "run/client.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/ring.h"
#include "base/sized.h"
#include "child/child.h"

#include <cleat/server.h>

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The polite steps of a link take no longer than this; then the rest is done at once. */
enum {
	LINGER_MS = 2 * CHILD_GRACE_MS + 1000,
	PAUSE_MS =
		20 /* calls that follow each other at once need no extra look at the descriptors */
};
/* The role notices by itself that an attempt has taken too long; it shall be first. */
enum { OPEN_SLACK_MS = 1000 };

/* ---- hooks -------------------------------------------------------------------------------- */

static uint64_t now_ms(void *ctx)
{
	const struct client_poll *p = &((struct client_run *)ctx)->poll;

	return p->now ? p->now(p->now_ctx) : loop_now();
}

static void wake(void *ctx)
{
	struct client_run *run = ctx;

	if (run->pump_wanted)
		return;
	run->pump_wanted = true;
	/* A timer, not loop_defer(): what pumping causes must not keep descriptors waiting. */
	if (run->loop)
		loop_timer_start(run->timer, 0);
	else
		run->poll.wake(run->poll.ctx);
}

static void on_pump(void *ctx)
{
	struct client_run *run = ctx;
	int ms;

	run->pump_wanted = false;
	ms = client_pump(run->client);
	if (ms >= 0 && !run->pump_wanted)
		loop_timer_start(run->timer, ms ? (uint64_t)ms : 1);
}

/* For jitter: where the system has nothing better, the clock's low bits do. */
static uint32_t random32(void *ctx)
{
	uint32_t v;

	if (getentropy(&v, sizeof v))
		v = (uint32_t)loop_now() * 2654435761u ^ (uint32_t)(uintptr_t)ctx;
	return v;
}

static void on_cancel(struct loop_call *k)
{
	struct client_run *run = CONTAINER_OF(k, struct client_run, cancel);

	client_cancel_marked(run->client);
}

/* ---- making ------------------------------------------------------------------------------- */

struct client_given client_run_given(const cleat_client_options *o, size_t size)
{
	struct client_given g = { 0 };

	SIZED_TAKE(&g.opts, o, size, cleat_client_options, &g.newer);
	return g;
}

static void client_release(struct client_run *run)
{
	cleat_allocator mem = run->mem;

	if (run->asked)
		runner_unlisten(server_runner(run->asked), &run->ear);
	cleat_server_free(run->asked); /* waits for handlers, which may still look at the client */
	if (run->client)
		client_free(run->client);
	if (run->loop) {
		loop_cancel(run->loop, &run->cancel);
		loop_timer_free(run->timer);
		loop_detach(run->loop);
	}
	if (run->own_loop)
		cleat_loop_free(run->loop);
	mem_free(&mem, run);
}

static bool take_loop(struct client_run *run, cleat_loop *loop)
{
	run->own_loop = !loop;
	run->loop = loop ? loop : cleat_loop_new(&run->mem);
	if (!run->loop)
		return false;
	loop_attach(run->loop);
	run->timer = loop_timer_new(run->loop, on_pump, run);
	return run->timer != NULL;
}

static struct client_run *new_run(const struct client_given *g)
{
	cleat_allocator mem = mem_resolve(g->opts.allocator);
	struct client_run *run = mem_zalloc(&mem, sizeof *run);

	if (run) {
		run->mem = mem;
		run->cancel.fn = on_cancel;
	}
	return run;
}

/* NULL: out of memory, and all is freed. */
static struct client_run *new_client(struct client_run *run, const struct client_given *g)
{
	run->client = client_new(&g->opts, &(struct client_hooks){ .now_ms = now_ms,
								   .wake = wake,
								   .random = random32,
								   .asked = client_run_asked,
								   .ctx = run });
	if (!run->client) {
		client_release(run);
		return NULL;
	}
	client_set_runner(run->client, run);
	if (g->newer.status)
		client_fail(run->client, CLEAT_STEP_ARGUMENTS, &g->newer);
	return run;
}

struct client_run *client_run_new(const struct client_given *g, cleat_loop *loop)
{
	struct client_run *run = new_run(g);

	if (run && !take_loop(run, loop ? loop : g->opts.loop)) {
		client_release(run);
		return NULL;
	}
	return run ? new_client(run, g) : NULL;
}

struct client_run *client_run_new_polled(const struct client_given *g, void (*wake_up)(void *ctx),
					 void *ctx, uint64_t (*now)(void *ctx), void *now_ctx)
{
	struct client_run *run = new_run(g);

	if (!run)
		return NULL;
	run->poll.wake = wake_up;
	run->poll.ctx = ctx;
	run->poll.now = now;
	run->poll.now_ctx = now_ctx;
	client_run_own(run);
	return new_client(run, g);
}

struct link_base_options client_run_base(struct client_run *run)
{
	const cleat_client_options *o = client_options(run->client);

	return (struct link_base_options){ .loop = run->loop,
					   .mem = &run->mem,
					   .events = client_link_events(run->client),
					   .max_message = o->max_message,
					   .connect_ms = o->connect_timeout_ms,
					   .random = random32,
					   .random_ctx = run };
}

cleat_client *client_run_finish(struct client_run *run, struct link *l, const cleat_error *why)
{
	cleat_error err = { 0 };

	if (l) {
		client_set_link(run->client, l);
		client_run_check(run, &err);
	} else {
		err = *why;
	}
	if (err.status == CLEAT_ENOMEM) {
		client_release(run);
		return NULL;
	}
	if (err.status)
		client_fail(run->client, CLEAT_STEP_ARGUMENTS, &err);
	return run->client;
}

/* ---- using -------------------------------------------------------------------------------- */

int client_run_may_wait(struct client_run *run, cleat_error *err)
{
	if (run->ending)
		return error_set(err, CLEAT_ECLOSED, "the client is being freed");
	if (!run->loop)
		return error_set(err, CLEAT_EMISUSE,
				 "a client over a wire cannot wait: nobody would move its bytes "
				 "meanwhile; use the function that starts a call");
	if (loop_is_stepping(run->loop))
		return error_set(err, CLEAT_EMISUSE,
				 "called inside a callback of the loop that it would wait for; "
				 "use the function that starts a call");
	if (loop_now() - run->stepped_ms >= PAUSE_MS)
		cleat_loop_step(run->loop, 0);
	return CLEAT_OK;
}

cleat_loop *cleat_client_loop(cleat_client *c)
{
	struct client_run *run = c ? client_runner(c) : NULL;

	return run ? run->loop : NULL;
}

int cleat_client_start(cleat_client *c)
{
	return c ? client_start(c) : CLEAT_ENOMEM;
}

bool cleat_client_ready(const cleat_client *c)
{
	return c && client_phase(c) == CLIENT_READY;
}

static bool reaching(const cleat_client *c)
{
	enum client_phase phase = client_phase(c);

	return phase != CLIENT_READY && phase != CLIENT_DEAD;
}

static void step_until(struct client_run *run, uint64_t now, uint64_t until)
{
	uint64_t ms = until - now;

	cleat_loop_step(run->loop, ms < INT_MAX ? (int)ms : INT_MAX);
}

/* An attempt ends after opts.connect_timeout_ms; only a server that was lost is tried more than once. */
static void reach(struct client_run *run)
{
	cleat_client *c = run->client;
	uint64_t until = loop_now() + client_options(c)->connect_timeout_ms + OPEN_SLACK_MS;
	uint64_t now;

	while (reaching(c) && (now = loop_now()) < until)
		step_until(run, now, until);
}

int cleat_client_open(cleat_client *c)
{
	struct client_run *run = c ? client_runner(c) : NULL;
	int rc = run ? client_run_may_wait(run, NULL) : CLEAT_ENOMEM;

	if (!rc)
		rc = client_start(c);
	if (rc)
		return rc;
	reach(run);
	if (client_phase(c) == CLIENT_READY)
		return CLEAT_OK;
	rc = cleat_client_error(c)->status;
	return rc ? rc : CLEAT_ETIMEOUT;
}

/* ---- without a loop ----------------------------------------------------------------------- */

bool client_run_is_owner(const struct client_run *run)
{
	if (run->loop)
		return loop_is_owner(run->loop);
	return atomic_load_explicit(&run->poll.owner, memory_order_relaxed) == loop_thread();
}

void client_run_own(struct client_run *run)
{
	struct runner *r = run->asked ? server_runner(run->asked) : NULL;

	atomic_store_explicit(&run->poll.owner, loop_thread(), memory_order_relaxed);
	if (r)
		atomic_store_explicit(&r->owner, loop_thread(), memory_order_relaxed);
}

int client_run_poll(struct client_run *run)
{
	struct runner *r = run->asked ? server_runner(run->asked) : NULL;
	int ms, more = -1;

	client_cancel_marked(run->client);
	if (r) {
		runner_drain(r);
		more = runner_pump(r);
	}
	run->pump_wanted = false;
	ms = client_pump(run->client);
	return ms < 0 || (more >= 0 && more < ms) ? more : ms;
}

/* ---- ending ------------------------------------------------------------------------------- */

static void linger(struct client_run *run)
{
	uint64_t until = loop_now() + LINGER_MS;
	uint64_t now;

	while (!client_closed(run->client) && (now = loop_now()) < until)
		step_until(run, now, until);
}

void client_run_free(struct client_run *run)
{
	if (run->ending)
		return;
	run->ending = true;
	client_close(run->client);
	if (run->loop && !loop_is_stepping(run->loop))
		linger(run);
	client_release(run);
}

void cleat_client_free(cleat_client *c)
{
	struct client_run *run = c ? client_runner(c) : NULL;

	if (run && run->loop) /* the other one is its wire's */
		client_run_free(run);
}
