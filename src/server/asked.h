/* server/asked.h - the other direction: what an MCP server asks its client, answered by handlers.
 *
 * run/ gives every client a hidden server, and a connection of it with PEER_ASKED and the revision
 * that was agreed on: server_accept(s, sink, &(struct peer_facts){ .mode = PEER_ASKED, .rev = ... }).
 * It takes elicitation/create, sampling/createMessage, roots/list and ping, and nothing else; there is
 * no handshake. Results are plain (no resultType), so that they serve as answers to requests of a
 * legacy server as well as in inputResponses (2026-07-28 patterns/mrtr).
 *
 * Everything is called on the thread that owns the server. What is here reaches the rest of the
 * server role by a pointer only, so that a program without a client does not carry it.
 */
#ifndef SERVER_ASKED_H
#define SERVER_ASKED_H

#include <cleat/client.h>
#include <cleat/server.h>

/* A handler that is NULL: this cannot be asked. */
struct server_asked {
	cleat_handler *on_form, *on_url, *on_sampling;
	bool blocking;        /* the three run on worker threads */
	bool sampling_tools;  /* on_sampling knows tools */
	void *userdata;       /* cleat_request_userdata() */
	cleat_client *client; /* cleat_request_client() */
};

/* Before the first connection: server_accept() refuses PEER_ASKED without it, also where nothing can be
 * asked. Again: for questions that come from then on. CLEAT_OK or CLEAT_ENOMEM. */
int server_set_asked(cleat_server *s, const struct server_asked *a);
/* Offers these roots from now on, also none (n == 0); copied. Before the first call roots/list is
 * unknown. CLEAT_OK; CLEAT_EINVAL (a root whose uri is not an absolute URI), CLEAT_ELIMIT (more than
 * max_reply bytes), CLEAT_ENOMEM: then the old ones stay; CLEAT_EMISUSE before server_set_asked(). */
int server_set_roots(cleat_server *s, const cleat_root *roots, size_t n);

#endif
