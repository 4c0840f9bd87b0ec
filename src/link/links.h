/* link/links.h - the ways to a server (protocol/link.h), one constructor each.
 *
 * All copy their options; nothing is started or connected before link_ops.open(). NULL with the reason
 * in *err when the options cannot work or memory is short. The events are copied and used until
 * link_ops.free().
 */
#ifndef LINK_LINKS_H
#define LINK_LINKS_H

#include "base/buf.h"
#include "loop/loop.h"
#include "protocol/link.h"
#include "protocol/peer.h"

struct link_base_options {
	cleat_loop *loop;
	const cleat_allocator *mem;
	struct link_events events;
	size_t max_message;            /* bytes of one message from the server */
	unsigned connect_ms;           /* 0: 30 s */
	uint32_t (*random)(void *ctx); /* for jitter; NULL: none is added */
	void *random_ctx;
};

/* line.c: one message per line, over ... */

/* ... a child's stdin and stdout. A line that is not a JSON object or array (a server that prints to
 * stdout) is noted (first 200 bytes) and skipped; after 100 such lines in a row the link goes down. */
struct link *link_child_new(const struct link_base_options *o, const char *const *argv,
			    const char *cwd, const char *const *env, bool inherit_env,
			    cleat_error *err);
int link_child_pid(const struct link *l); /* 0: none runs */
/* ... "tcp://host:port" or "unix-stream:/path". Names are resolved without blocking the loop. */
struct link *link_socket_new(const struct link_base_options *o, const char *address,
			     cleat_error *err);
/* ... two descriptors that stay the caller's; open() after `down` fails. */
struct link *link_fds_new(const struct link_base_options *o, int in, int out, cleat_error *err);

/* ... bytes that somebody else moves (wire.c); base.loop is NULL. It can be opened once. `wake`: something
 * is due for link_wire_turn(), or was sent; called also inside link_ops. */
struct link *link_wire_new(const struct link_base_options *o, void (*wake)(void *ctx), void *ctx,
			   cleat_error *err);
/* Where events come from, beside link_wire_feed() and link_wire_eof(): what the ops have left to be done. */
void link_wire_turn(struct link *l);
/* Bytes from the server. CLEAT_OK, or CLEAT_ECLOSED: it is not open. */
int link_wire_feed(struct link *l, const void *p, size_t n);
/* There will be no more of them. */
void link_wire_eof(struct link *l);
/* Bytes for the server, and that some of them were sent. */
struct str link_wire_ready(const struct link *l);
void link_wire_sent(struct link *l, size_t n);

/* local.c: a peer in this process; `accept` makes it when the link is opened. */
struct link_local_options {
	struct peer *(*accept)(void *ctx, const struct peer_sink *sink,
			       const struct peer_facts *facts);
	void *ctx;
};
struct link *link_local_new(const struct link_base_options *o,
			    const struct link_local_options *local, cleat_error *err);
/* The peer was closed by somebody else and must not be used any more; `down` follows. */
void link_local_lost(struct link *l);

/* http.c: Streamable HTTP in both eras, and HTTP+SSE of 2024-11-05. */
struct link_http_options {
	const char *url;            /* http: or https: */
	const char *const *headers; /* "Name: value"; NULL: none */
	const char *bearer;
	const char *proxy, *ca_file, *client_cert, *client_key, *unix_socket;
	bool insecure, no_http2, old_sse, no_stream;
	void (*trace)(void *ctx, bool out, const char *line); /* may be NULL */
	void *trace_ctx;
};
struct link *link_http_new(const struct link_base_options *o, const struct link_http_options *http,
			   cleat_error *err);

#endif
