/* run/runner.c - see runner.h; the hooks that the core is given are in hooks.c. */
#define _POSIX_C_SOURCE 200809L

#include "run/runner.h"
#include "base/ring.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "run/hooks.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* ---- events ------------------------------------------------------------------------------- */

void runner_drain(struct runner *r)
{
	struct server_event *ev, *next;

	pthread_mutex_lock(&r->lock);
	ev = r->first;
	r->first = NULL;
	r->end = &r->first;
	pthread_mutex_unlock(&r->lock);
	for (; ev; ev = next) {
		next = ev->next; /* handling frees it */
		server_deliver(r->server, ev);
	}
}

static void on_drain(struct loop_call *c)
{
	runner_drain(CONTAINER_OF(c, struct runner, drain_call));
}

static void deadline_after(struct timespec *ts, unsigned ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += ms / 1000;
	ts->tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
}

/* The lock is held. */
static bool quiet(const struct runner *r)
{
	return !r->first && r->posting == 0 && server_running(r->server) == 0;
}

bool runner_wait(struct runner *r, unsigned ms)
{
	struct timespec until;
	bool over = false;
	int rc = 0;

	deadline_after(&until, ms);
	while (!over && rc != ETIMEDOUT) {
		runner_drain(r);
		pthread_mutex_lock(&r->lock);
		over = quiet(r);
		while (!over && !r->first && rc != ETIMEDOUT) {
			rc = pthread_cond_timedwait(&r->posted, &r->lock, &until);
			over = quiet(r);
		}
		pthread_mutex_unlock(&r->lock);
	}
	return over;
}

void runner_listen(struct runner *r, struct runner_ear *ear)
{
	pthread_mutex_lock(&r->ears_lock);
	ear->next = r->ears;
	r->ears = ear;
	pthread_mutex_unlock(&r->ears_lock);
}

void runner_unlisten(struct runner *r, struct runner_ear *ear)
{
	struct runner_ear **at = &r->ears;

	pthread_mutex_lock(&r->ears_lock);
	while (*at && *at != ear)
		at = &(*at)->next;
	if (*at)
		*at = ear->next;
	pthread_mutex_unlock(&r->ears_lock);
}

void runner_tell(struct runner *r)
{
	pthread_mutex_lock(&r->ears_lock);
	for (struct runner_ear *e = r->ears; e; e = e->next)
		e->wake(e->ctx);
	pthread_mutex_unlock(&r->ears_lock);
}

/* ---- time --------------------------------------------------------------------------------- */

int runner_pump(struct runner *r)
{
	int ms;

	r->pump_wanted = false;
	ms = server_pump(r->server);
	if (r->pump_timer && ms >= 0 && !r->pump_wanted)
		loop_timer_start(r->pump_timer, ms ? (uint64_t)ms : 1);
	return ms;
}

static void on_pump(void *ctx)
{
	runner_pump(ctx);
}

/* ---- connections -------------------------------------------------------------------------- */

struct runner_link {
	struct runner *r;
	struct runner_link *next;
	struct stream *stream;
	struct peer *peer;
	int in, out; /* to be closed; -1: not by us */
	struct runner_end *end;
};

static void runner_on_note(void *ctx, int level, const char *text)
{
	struct runner_link *k = ctx;

	server_note(k->r->server, level, "%s", text);
}

static void close_fds(int in, int out)
{
	if (in >= 0)
		close(in);
	if (out >= 0 && out != in)
		close(out);
}

static void drop_link(struct runner_link *k)
{
	struct runner *r = k->r;
	struct runner_link **at = &r->links;

	while (*at && *at != k)
		at = &(*at)->next;
	if (*at)
		*at = k->next;
	stream_free(k->stream);
	close_fds(k->in, k->out);
	if (k->peer)
		k->peer->ops->gone(k->peer);
	mem_free(&r->mem, k);
}

static void on_closed(void *ctx, struct stream *s, int status)
{
	struct runner_link *k = ctx;

	(void)s;
	if (k->end)
		*k->end = (struct runner_end){ .over = true, .status = status };
	drop_link(k);
}

static int open_stream(struct runner_link *k, const struct runner_attachment *a, cleat_error *err)
{
	struct runner *r = k->r;
	struct stream_options o = {
		.loop = atomic_load(&r->loop),
		.mem = &r->mem,
		.in = a->in,
		.out = a->out,
		.max_message = server_max_message(r->server),
		.max_reply = server_max_reply(r->server),
		.sigpipe_ignored = r->sigpipe_ignored,
		.note = runner_on_note,
		.closed = on_closed,
		.ctx = k,
	};
	const struct peer_facts facts = { .transport = a->transport,
					  .lingers = true,
					  .userdata = a->opts.userdata,
					  .destroy = a->opts.destroy };
	struct peer_sink sink;
	int rc = stream_open(&o, &k->stream, err);

	if (rc)
		return rc;
	sink = stream_sink(k->stream);
	k->peer = server_accept(r->server, &sink, &facts);
	if (!k->peer)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	if (a->opts.own_fds) {
		k->in = a->in;
		k->out = a->out;
	}
	stream_start(k->stream, k->peer);
	return CLEAT_OK;
}

int runner_attach(struct runner *r, const struct runner_attachment *a, cleat_error *err)
{
	struct runner_link *k = mem_zalloc(&r->mem, sizeof *k);
	int rc;

	if (!k)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	k->r = r;
	k->end = a->end;
	k->in = k->out = -1;
	rc = open_stream(k, a, err);
	if (rc) {
		drop_link(k);
		return rc;
	}
	k->next = r->links;
	r->links = k;
	r->connected = true;
	return CLEAT_OK;
}

void runner_detach(struct runner *r, struct runner_end *end)
{
	struct runner_link *k = r->links;

	while (k && k->end != end)
		k = k->next;
	if (k)
		drop_link(k);
}

/* ---- stopping ----------------------------------------------------------------------------- */

static void stop(struct runner *r)
{
	struct runner_link *k, *next;

	server_shutdown(r->server);
	for (k = r->links; k; k = next) {
		next = k->next;
		stream_finish(k->stream); /* may drop k */
	}
	if (r->http)
		r->http->stop(r);
}

static void on_turn(struct loop_turn *t)
{
	struct runner *r = CONTAINER_OF(t, struct runner, turn);
	atomic_bool *asked = server_stop_flag(r->server);

	atomic_store_explicit(&r->owner, loop_thread(), memory_order_relaxed);
	if (atomic_load(asked) && atomic_exchange(asked, false))
		stop(r);
}

void cleat_server_stop(cleat_server *s)
{
	struct runner *r;
	cleat_loop *l;

	if (!s)
		return;
	/* The run function looks at the flag after it has published runner and loop, so either it
	 * sees the flag or we see the loop. */
	atomic_store(server_stop_flag(s), true);
	r = server_runner(s);
	l = r ? atomic_load(&r->loop) : NULL;
	if (l)
		cleat_loop_wake(l);
}

/* ---- beginning and end -------------------------------------------------------------------- */

static void leave_loop(struct runner *r)
{
	cleat_loop *l = atomic_load(&r->loop);

	if (!l)
		return;
	loop_cancel(l, &r->drain_call);
	loop_turn_remove(l, &r->turn);
	loop_timer_free(r->pump_timer);
	if (r->own_loop)
		cleat_loop_free(l);
}

static void runner_release(struct runner *r)
{
	cleat_allocator mem = r->mem;

	leave_loop(r);
	cancelfds_done(&r->cancel);
	pthread_cond_destroy(&r->posted);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->ears_lock);
	mem_free(&mem, r);
}

/* The core has closed the peers, so the streams must not. */
static void done(void *ctx)
{
	struct runner *r = ctx;

	while (r->links) {
		stream_forget(r->links->stream);
		drop_link(r->links);
	}
	if (r->http)
		r->http->free_all(r);
	pool_done(&r->pool);
	/* A deferred request is still held by somebody who will call cleat_request_finish(). Where
	 * nobody does, memory is left behind: better than being pulled away under that call. */
	if (runner_wait(r, RUNNER_FREE_MS))
		runner_release(r);
	else
		server_note(r->server, CLEAT_LOG_ERROR,
			    "%zu requests were deferred and never finished",
			    server_running(r->server));
}

static void init_locks(struct runner *r)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->ears_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->posted, &attr);
	pthread_condattr_destroy(&attr);
}

struct runner *runner_get(cleat_server *s)
{
	struct runner *r = server_runner(s);

	if (r)
		return r;
	r = mem_zalloc(server_memory(s), sizeof *r);
	if (!r)
		return NULL;
	r->server = s;
	r->mem = *server_memory(s);
	r->end = &r->first;
	r->drain_call.fn = on_drain;
	r->turn.fn = on_turn;
	atomic_init(&r->loop, NULL);
	atomic_init(&r->owner, loop_thread());
	init_locks(r);
	cancelfds_init(&r->cancel, &r->mem);
	hooks_install(r);
	server_set_runner(s, r, done);
	return r;
}

int runner_no_loop(cleat_error *err)
{
	if (errno == EMFILE || errno == ENFILE)
		return error_set(err, CLEAT_EIO, "too few descriptors for an event loop (%s)",
				 errno == EMFILE ? "raise the limit: ulimit -n"
						 : "the system has no more");
	return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
}

struct runner *runner_with_loop(cleat_server *s)
{
	struct runner *r = runner_get(s);
	cleat_loop *l;

	if (!r || atomic_load(&r->loop))
		return r;
	l = server_options(s)->loop;
	r->own_loop = !l;
	if (r->own_loop)
		l = cleat_loop_new(&r->mem);
	if (l)
		r->pump_timer = loop_timer_new(l, on_pump, r);
	if (!r->pump_timer) {
		if (r->own_loop)
			cleat_loop_free(l);
		return NULL;
	}
	loop_turn_add(l, &r->turn);
	atomic_store(&r->loop, l);
	loop_post(l, &r->drain_call); /* what came while there was no loop */
	loop_timer_start(r->pump_timer, 0);
	return r;
}

cleat_loop *cleat_server_loop(cleat_server *s)
{
	struct runner *r = s ? runner_with_loop(s) : NULL;

	return r ? atomic_load(&r->loop) : NULL;
}

static int attach(cleat_server *s, const struct runner_attachment *a)
{
	struct runner *r;
	cleat_error err;
	int rc = server_start_status(s);

	if (rc)
		return rc;
	r = runner_with_loop(s);
	rc = r ? runner_attach(r, a, &err) : runner_no_loop(&err);
	return rc ? server_refuse(s, rc, "%s", err.message) : CLEAT_OK;
}

int cleat_server_attach_(cleat_server *s, int in, int out, const cleat_attach_options *opts,
			 size_t size)
{
	struct runner_attachment a = { .in = in, .out = out };
	cleat_error err;
	int rc = SIZED_TAKE(&a.opts, opts, size, cleat_attach_options, &err);

	if (rc && s)
		server_refuse(s, rc, "%s", err.message);
	if (!rc)
		rc = attach(s, &a);
	if (rc && a.opts.own_fds && rc != CLEAT_EEXIST)
		close_fds(in, out);
	if (rc && a.opts.destroy)
		a.opts.destroy(a.opts.userdata);
	return rc;
}
