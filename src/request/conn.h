/* request/conn.h - one connection of the server: who is there, and which requests are under way.
 *
 * Lives until it is closed and its last request has ended. What comes in over it is read in intake.c; how it
 * is closed is in upkeep.c.
 */
#ifndef REQUEST_CONN_H
#define REQUEST_CONN_H

#include "request/request.h"
#include "request/server.h"

enum {
	LISTEN_TOOLS = 1 << SHELF_TOOLS,
	LISTEN_RESOURCES = 1 << SHELF_RESOURCES, /* templates count as resources */
	LISTEN_PROMPTS = 1 << SHELF_PROMPTS
};

struct subscription {
	struct subscription *next;
	struct str uri;
};

struct cleat_connection {
	struct peer peer; /* first */
	cleat_server *server;
	cleat_connection *next, *prev;
	struct peer_sink sink;
	void (*dispatch)(cleat_request *req); /* serves one that may start: method.h */
	struct peer_facts facts;              /* with texts and userdata of its own */
	size_t taken;                         /* requests, in the call of receive() at hand */
	bool lost;                            /* an error without an id could not be sent in it */
	const struct peer_headers *headers;   /* of the message at hand */
	bool closed;
	struct legacy_session session;
	struct arena arena;        /* session data */
	struct rpc_table inflight; /* requests by id */
	struct rpc_table pending;  /* our questions by number */
	cleat_request *starting;   /* the request whose method is being served, until it ends */
	int64_t next_id;
	cleat_request *requests; /* all that have not ended */
	size_t n_requests, n_running, n_listening;
	bool any_behind; /* of those that listen */
	cleat_request *queue, **queue_tail;
	size_t n_queued;
	struct subscription *subscriptions; /* legacy */
	size_t n_subscriptions;
	struct batch *unsent_batches;
	size_t n_unsent_batches;
	unsigned visit;
	unsigned busy; /* inside a call that must not free it */
};

/* A connection on the server's list; NULL when out of memory. Sink and facts are copied; `facts` may be
 * NULL. */
cleat_connection *conn_new(cleat_server *s, const struct peer_sink *sink,
			   const struct peer_facts *facts);
/* The transport is through with a closed connection: the program learns of its end. */
void conn_gone(cleat_connection *c);
/* Frees a closed connection that is gone and has no requests. */
void conn_maybe_free(cleat_connection *c);
/* There is an answer that could not be written for lack of memory: it is tried again. */
void conn_retry_later(cleat_connection *c);
/* Calls fn once for every request there is; fn may end any of them and start others. */
void conn_each_request(cleat_connection *c, void (*fn)(cleat_request *req));

/* Has a revision been agreed on, before or with the session that is open now? */
static inline bool conn_has_revision(const cleat_connection *c)
{
	return c->session.open || c->facts.mode == PEER_ASKED || c->facts.mode == PEER_STATELESS;
}

#endif
