/* server/conn.c - see conn.h. */
#include "server/conn.h"

#include "base/mem.h"

enum {
	SESSION_ARENA_MAX = 4 << 20,
	SESSION_ARENA_FIRST = 1024 - 64, /* there may be many idle sessions */
	PENDING_MAX = 1024
};

/* The facts, with a principal of its own. */
static bool take_facts(struct conn *c, const struct peer_facts *facts)
{
	if (!facts)
		return true;
	c->facts = *facts;
	c->facts.principal.p = NULL;
	if (facts->principal.p)
		c->facts.principal.p =
			mem_strndup(&c->server->mem, facts->principal.p, facts->principal.n);
	return c->facts.principal.p || !facts->principal.p;
}

static void link_conn(struct conn *c)
{
	cleat_server *s = c->server;

	c->next = s->conns;
	if (s->conns)
		s->conns->prev = c;
	s->conns = c;
}

struct conn *conn_new(cleat_server *s, const struct peer_sink *sink, const struct peer_facts *facts)
{
	struct conn *c = mem_zalloc(&s->mem, sizeof *c);
	size_t most = (size_t)s->opts.max_inflight + s->opts.max_queued + s->opts.max_subscriptions;

	if (!c)
		return NULL;
	c->server = s;
	c->sink = *sink;
	c->queue_tail = &c->queue;
	c->session.log_level = CLEAT_LOG_INFO;
	if (!take_facts(c, facts)) {
		mem_free(&s->mem, c);
		return NULL;
	}
	if (c->facts.mode == PEER_ASKED)
		c->session.rev = (enum revision)c->facts.rev;
	arena_init(&c->arena, &s->mem, SESSION_ARENA_MAX);
	c->arena.first = SESSION_ARENA_FIRST;
	rpc_table_init(&c->inflight, &s->mem, most, s->seed);
	rpc_table_init(&c->pending, &s->mem, PENDING_MAX, s->seed);
	link_conn(c);
	return c;
}

static void unlink_conn(struct conn *c)
{
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->server->conns = c->next;
}

void conn_maybe_free(struct conn *c)
{
	cleat_server *s = c->server;

	if (!c->closed || c->n_requests || c->busy)
		return;
	unlink_conn(c);
	mem_free(&s->mem, (char *)c->facts.principal.p);
	rpc_table_done(&c->inflight);
	rpc_table_done(&c->pending);
	arena_done(&c->arena);
	mem_free(&s->mem, c);
}

/* Each step looks for the first one that was not visited yet. */
void conn_each_request(struct conn *c, void (*fn)(cleat_request *req))
{
	unsigned visit = ++c->visit;
	cleat_request *req;

	c->busy++;
	for (;;) {
		for (req = c->requests; req && req->visit == visit; req = req->next)
			;
		if (!req)
			break;
		req->visit = visit;
		fn(req);
	}
	c->busy--;
}

void conn_retry_later(struct conn *c)
{
	const struct server_hooks *h = &c->server->hooks;

	c->server->unsent = true;
	if (!c->server->pumping) /* otherwise server_pump() says when */
		h->wake(h->ctx);
}
