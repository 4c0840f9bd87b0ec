/* request/conn.c - see conn.h. */
#include "request/conn.h"

#include "base/mem.h"

enum {
	SESSION_ARENA_MAX = 4 << 20,
	SESSION_ARENA_FIRST = 1024 - 64, /* there may be many idle sessions */
	PENDING_MAX = 1024
};

/* A text of its own; absent stays absent. */
static bool keep(cleat_connection *c, struct str *text)
{
	bool given = text->p != NULL;

	if (given)
		text->p = mem_strndup(&c->server->mem, text->p, text->n);
	return !given || text->p;
}

static void drop_texts(cleat_connection *c)
{
	mem_free(&c->server->mem, (char *)c->facts.principal.p);
	mem_free(&c->server->mem, (char *)c->facts.address.p);
}

static bool take_facts(cleat_connection *c, const struct peer_facts *facts)
{
	if (!facts)
		return true;
	c->facts = *facts;
	c->facts.address.p = NULL;
	if (keep(c, &c->facts.principal)) {
		c->facts.address = facts->address;
		if (keep(c, &c->facts.address))
			return true;
	}
	drop_texts(c);
	return false;
}

static void link_conn(cleat_connection *c)
{
	cleat_server *s = c->server;

	c->next = s->conns;
	if (s->conns)
		s->conns->prev = c;
	s->conns = c;
}

cleat_connection *conn_new(cleat_server *s, const struct peer_sink *sink,
			   const struct peer_facts *facts)
{
	cleat_connection *c = mem_zalloc(&s->mem, sizeof *c);
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
	if (conn_has_revision(c))
		c->session.rev = (enum revision)c->facts.rev;
	arena_init(&c->arena, &s->mem, SESSION_ARENA_MAX);
	c->arena.first = SESSION_ARENA_FIRST;
	rpc_table_init(&c->inflight, &s->mem, most, s->seed);
	rpc_table_init(&c->pending, &s->mem, PENDING_MAX, s->seed);
	link_conn(c);
	return c;
}

static void unlink_conn(cleat_connection *c)
{
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		c->server->conns = c->next;
}

static void drop_userdata(cleat_connection *c)
{
	if (c->facts.destroy)
		c->facts.destroy(c->facts.userdata);
}

void conn_gone(cleat_connection *c)
{
	const cleat_server_options *o = &c->server->opts;

	c->facts.lingers = false;
	if (!o->on_close)
		return;
	c->busy++;
	o->on_close(c, o->userdata);
	c->busy--;
}

void conn_maybe_free(cleat_connection *c)
{
	cleat_server *s = c->server;

	if (!c->closed || c->facts.lingers || c->n_requests || c->busy)
		return;
	unlink_conn(c);
	drop_userdata(c);
	drop_texts(c);
	rpc_table_done(&c->inflight);
	rpc_table_done(&c->pending);
	arena_done(&c->arena);
	mem_free(&s->mem, c);
}

/* Each step looks for the first one that was not visited yet. */
void conn_each_request(cleat_connection *c, void (*fn)(cleat_request *req))
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

void conn_retry_later(cleat_connection *c)
{
	const struct server_hooks *h = &c->server->hooks;

	c->server->unsent = true;
	if (!c->server->pumping) /* otherwise server_pump() says when */
		h->wake(h->ctx);
}

/* ---- <cleat/connection.h> ----------------------------------------------------------------------- */

enum cleat_transport cleat_connection_transport(const cleat_connection *c)
{
	return c ? c->facts.transport : CLEAT_TRANSPORT_STDIO;
}

const char *cleat_connection_address(const cleat_connection *c)
{
	return c ? c->facts.address.p : NULL;
}

const char *cleat_connection_principal(const cleat_connection *c)
{
	return c ? c->facts.principal.p : NULL;
}

cleat_server *cleat_connection_server(const cleat_connection *c)
{
	return c ? c->server : NULL;
}

void *cleat_connection_userdata(const cleat_connection *c)
{
	return c ? c->facts.userdata : NULL;
}

void cleat_connection_set_userdata(cleat_connection *c, void *userdata,
				   void (*destroy)(void *userdata))
{
	if (!c)
		return;
	drop_userdata(c);
	c->facts.userdata = userdata;
	c->facts.destroy = destroy;
}
