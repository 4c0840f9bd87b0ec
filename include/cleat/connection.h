/* cleat/connection.h - one client's connection to a server, from its beginning to its end.
 *
 *	static void opened(cleat_connection *c, void *userdata)
 *	{
 *		cleat_connection_set_userdata(c, calloc(1, sizeof(struct seat)), free);
 *	}
 *
 *	cleat_server_options o = { .on_open = opened, .on_close = closed };
 *
 * What a connection is depends on how the client came:
 *
 *   descriptors, standard input and output, a wire, the same process: the stream of messages
 *   HTTP up to 2025-11-25: the session, however many TCP connections it takes
 *   HTTP from 2026-07-28 on: the TCP connection, as long as the same principal uses it; these revisions know
 *   nothing that lasts longer
 *
 * Life: on_open (cleat_server_options) is called before the first message is read, on_close when the
 * transport is through with the connection: the last answer is written or lost, and descriptors that are
 * the program's may be closed. Requests that are still running then are cancelled, but they may take their
 * time; the connection, and its userdata, live until the last of them has ended. Otherwise a
 * cleat_connection is good until on_close returns. Every connection that was opened is closed, in
 * cleat_server_free() at the latest.
 *
 * Threads: the loop's. Handlers on other threads may call the functions below too, as long as nobody sets
 * the userdata meanwhile; setting it in on_open is safe.
 */
#ifndef CLEAT_CONNECTION_H
#define CLEAT_CONNECTION_H

#include <cleat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cleat_connection cleat_connection;
struct cleat_server;

/* How a client came. */
enum cleat_transport {
	CLEAT_TRANSPORT_FDS,   /* cleat_server_attach() */
	CLEAT_TRANSPORT_STDIO, /* cleat_server_run_stdio(), cleat_server_main() */
	CLEAT_TRANSPORT_HTTP,  /* cleat_server_listen_http(), ... */
	CLEAT_TRANSPORT_WIRE,  /* cleat_wire_server() */
	CLEAT_TRANSPORT_INPROC /* cleat_client_inproc() */
};

/* All of these take a connection that is there, not NULL. What they give is borrowed from it. */

/* How the client came. */
CLEAT_API enum cleat_transport cleat_connection_transport(const cleat_connection *c);
/* The address that the client, or over HTTP its first request, came from: "192.0.2.7", "::1", "unix". NULL
 * where there is none to know: everywhere but over HTTP. */
CLEAT_API const char *cleat_connection_address(const cleat_connection *c);
/* Who the client is, as authorization has found out; NULL: nobody was asked. */
CLEAT_API const char *cleat_connection_principal(const cleat_connection *c);
/* The server that it is a connection of. */
CLEAT_API struct cleat_server *cleat_connection_server(const cleat_connection *c);

/* What the program keeps for this connection; NULL at first, or what cleat_attach_options and
 * cleat_wire_options say. */
CLEAT_API void *cleat_connection_userdata(const cleat_connection *c);
/* Replaces it. `destroy` (may be NULL) is called with it once, when the connection is gone with its last
 * request; that of the one before is called now. */
CLEAT_API void cleat_connection_set_userdata(cleat_connection *c, void *userdata,
					     void (*destroy)(void *userdata));

#ifdef __cplusplus
}
#endif
#endif
