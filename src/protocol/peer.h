/* protocol/peer.h - where roles and transports meet: messages in, messages out.
 *
 * A role (server, later client) gives every connection a `peer`; a transport gives every connection
 * a `peer_sink`. Neither knows the other: run/ puts them together. All calls happen on the thread
 * that owns the role. A message is one JSON text without its framing.
 */
#ifndef PROTOCOL_PEER_H
#define PROTOCOL_PEER_H

#include "base/buf.h"
#include "base/str.h"

struct peer;

struct peer_ops {
	/* One message, exactly as it was framed; any bytes. Answers go to the sink, now or later. */
	void (*receive)(struct peer *p, struct str message);
	/* A message was over `limit` bytes and was thrown away unread; 0: there was no memory for
	 * it. */
	void (*oversize)(struct peer *p, size_t limit);
	/* The other side is gone, or the transport is being closed: cancels what runs. The sink is not
	 * used any more when this returns; the peer frees itself when its last request has ended. */
	void (*close)(struct peer *p);
	/* Requests that are not answered yet. */
	size_t (*inflight)(const struct peer *p);
};

struct peer {
	const struct peer_ops *ops;
};

/* How much a message matters when the other side does not read. */
enum peer_weight {
	PEER_MUST,  /* a response or request: never dropped */
	PEER_SHOULD /* progress and log: not even begun while the sink is congested */
};

struct peer_sink {
	/* The buffer to write one message into (append only), NULL when nothing can be sent any more.
	 * `about` is the request that the message belongs to, NULL for the connection as a whole. */
	struct buf *(*begin)(void *ctx, void *about);
	/* The message is complete. If the buf's error is latched (or `ok` is false) the sink takes the
	 * half-written message back and returns its status; otherwise it frames and sends it. */
	int (*end)(void *ctx, void *about, bool ok);
	/* Is the other side so slow that only PEER_MUST messages should be written? */
	bool (*congested)(void *ctx);
	void *ctx;
};

#endif
