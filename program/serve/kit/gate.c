/* program/serve/kit/gate.c - a counter and a queue in the order of arrival (gate.h).
 *
 * Whoever waits is linked into the queue by memory of its own request, so that waiting cannot fail half-way.
 * Invariant: nobody waits while there is room inside.
 */
#include "serve/kit/gate.h"

#include "base/mem.h"

struct waiter {
	struct waiter *next;
	cleat_request *req;
	void (*run)(cleat_request *req, void *ctx);
	void *ctx;
};

struct gate {
	cleat_allocator mem;
	unsigned width, inside;
	size_t waiting;
	struct waiter *first, **last;
	bool serving; /* gate_leave() is at work: what leaves meanwhile is seen by its loop */
};

struct gate *gate_new(const cleat_allocator *mem, unsigned width)
{
	const cleat_allocator a = mem_resolve(mem);
	struct gate *g = mem_zalloc(&a, sizeof *g);

	if (!g)
		return NULL;
	g->mem = a;
	g->width = width ? width : 1;
	g->last = &g->first;
	return g;
}

void gate_free(struct gate *g)
{
	if (g)
		mem_free(&g->mem, g);
}

static int wait_turn(struct gate *g, cleat_request *req, void (*run)(cleat_request *req, void *ctx),
		     void *ctx)
{
	struct waiter *w;

	if (g->waiting == GATE_WAITING_MAX)
		return cleat_reply_error(req, "busy: %u calls are running and %zu are waiting",
					 g->inside, g->waiting);
	w = cleat_request_alloc(req, sizeof *w);
	if (!w)
		return CLEAT_ENOMEM;
	*w = (struct waiter){ .req = req, .run = run, .ctx = ctx };
	*g->last = w;
	g->last = &w->next;
	g->waiting++;
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

int gate_enter(struct gate *g, cleat_request *req, void (*run)(cleat_request *req, void *ctx),
	       void *ctx)
{
	if (cleat_request_cancelled(req))
		return CLEAT_ECANCELLED;
	if (g->inside >= g->width)
		return wait_turn(g, req, run, ctx);
	g->inside++;
	cleat_request_defer(req);
	run(req, ctx);
	return CLEAT_PENDING;
}

/* Takes a waiter out of the queue. */
static void unlink_waiter(struct gate *g, struct waiter **p)
{
	struct waiter *w = *p;

	*p = w->next;
	if (!*p)
		g->last = p;
	g->waiting--;
}

bool gate_cancel(struct gate *g, cleat_request *req)
{
	for (struct waiter **p = &g->first; *p; p = &(*p)->next)
		if ((*p)->req == req) {
			unlink_waiter(g, p);
			cleat_request_finish(req, CLEAT_ECANCELLED);
			return true;
		}
	return false;
}

void gate_leave(struct gate *g)
{
	g->inside--;
	if (g->serving)
		return;
	/* A call that ends at once leaves from inside its own run(): a loop, not a recursion. */
	g->serving = true;
	while (g->first && g->inside < g->width) {
		struct waiter w = *g->first;

		unlink_waiter(g, &g->first);
		g->inside++;
		w.run(w.req, w.ctx);
	}
	g->serving = false;
}
