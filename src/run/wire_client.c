/* run/wire_client.c - a client whose bytes the program moves; see wire.h.
 *
 * No loop, no descriptor, no thread: the client is polled (client.h) and its link is link/wire.c. What the
 * client's functions leave to be done is done in the next call of the wire; whoever calls them from outside
 * of those is told by `wake`.
 */
#include "run/wire.h"

#include "base/mem.h"
#include "base/sized.h"
#include "run/client.h"

struct client_wire {
	cleat_wire wire;
	struct client_run *run;
	struct link *link;
	cleat_allocator mem;
};

static struct client_wire *wire_enter(cleat_wire *wire)
{
	struct client_wire *w = (struct client_wire *)(void *)wire;

	client_run_own(w->run);
	return w;
}

/* What is due now. Deadlines are learnt by calling cleat_wire_poll(). */
static void catch_up(struct client_wire *w)
{
	link_wire_turn(w->link);
	if (w->run->pump_wanted && client_run_poll(w->run) >= 0 && w->wire.opts.wake)
		w->wire.opts.wake(w->wire.opts.userdata);
}

static int feed(cleat_wire *wire, const void *p, size_t n)
{
	struct client_wire *w = wire_enter(wire);
	int rc;

	if (client_phase(w->run->client) == CLIENT_IDLE)
		client_start(w->run->client);
	rc = link_wire_feed(w->link, p, n);
	catch_up(w);
	return rc;
}

static void eof(cleat_wire *wire)
{
	struct client_wire *w = wire_enter(wire);

	link_wire_eof(w->link);
	catch_up(w);
}

static struct str ready(const cleat_wire *wire)
{
	return link_wire_ready(((const struct client_wire *)(const void *)wire)->link);
}

static void sent(cleat_wire *wire, size_t n)
{
	link_wire_sent(wire_enter(wire)->link, n);
}

static int poll(cleat_wire *wire)
{
	struct client_wire *w = wire_enter(wire);
	int ms;

	link_wire_turn(w->link);
	ms = client_run_poll(w->run);
	link_wire_turn(w->link); /* it may have been lost, and wanted again */
	return w->run->pump_wanted ? 0 : ms;
}

static size_t inflight(const cleat_wire *wire)
{
	return client_calls(((const struct client_wire *)(const void *)wire)->run->client);
}

static void free_wire(cleat_wire *wire)
{
	struct client_wire *w = wire_enter(wire);
	cleat_allocator mem = w->mem;

	client_run_free(w->run); /* and the link with it */
	mem_free(&mem, w);
}

static bool inside(const struct client_wire *w)
{
	return client_run_is_owner(w->run) && w->wire.busy;
}

/* Any thread. */
static void on_wake(void *ctx)
{
	struct client_wire *w = ctx;

	if (!inside(w) && w->wire.opts.wake)
		w->wire.opts.wake(w->wire.opts.userdata);
}

static void on_due(void *ctx)
{
	wire_tell(ctx);
}

/* Its client has its link, or says why it has none. False: out of memory. */
static bool set_up(struct client_wire *w, const struct client_given *g)
{
	const cleat_wire_options *wo = &w->wire.opts;
	struct link_base_options base;
	cleat_error err;

	w->run = client_run_new_polled(g, on_wake, w, wo->now, wo->userdata);
	if (!w->run)
		return false;
	base = client_run_base(w->run);
	w->link = link_wire_new(&base, on_due, w, &err);
	return client_run_finish(w->run, w->link, &err) != NULL;
}

cleat_wire *cleat_wire_client_(const cleat_client_options *client, size_t client_size,
			       const cleat_wire_options *opts, size_t size)
{
	static const struct wire_role role = { feed, eof, ready, sent, poll, inflight, free_wire };
	struct client_given given = client_run_given(client, client_size);
	cleat_allocator mem = mem_resolve(given.opts.allocator);
	struct client_wire *w = mem_zalloc(&mem, sizeof *w);

	if (!w)
		return NULL;
	SIZED_TAKE(&w->wire.opts, opts, size, cleat_wire_options,
		   given.newer.status ? NULL : &given.newer);
	given.opts.restart = false; /* there is no other wire */
	w->wire.role = &role;
	w->mem = mem;
	if (!set_up(w, &given)) {
		mem_free(&mem, w);
		return NULL;
	}
	return &w->wire;
}

cleat_client *cleat_wire_get_client(cleat_wire *w)
{
	return w && w->role->poll == poll ? ((struct client_wire *)(void *)w)->run->client : NULL;
}
