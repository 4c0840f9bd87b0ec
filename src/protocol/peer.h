/* protocol/peer.h - where roles and transports meet: messages in, messages out.
 *
 * A role (server, later client) gives every connection a `peer`; a transport gives every connection
 * a `peer_sink`. Neither knows the other: run/ puts them together. All calls happen on the thread
 * that owns the role. A message is one JSON text without its framing.
 *
 * Tags. A transport on which a message has a place of its own (an HTTP exchange) gives it a tag, and
 * gets the tag back with everything that is sent because of it. For one stream of messages the tag is
 * NULL, as it is for what concerns the connection as a whole.
 */
#ifndef PROTOCOL_PEER_H
#define PROTOCOL_PEER_H

#include "base/buf.h"
#include "http/fields.h"

#include <cleat/connection.h>
#include <cleat/json.h>

struct peer;

#define PEER_LOST ((size_t)-1)

/* What HTTP says about a message beside it (2026-07-28 streamable-http, Request Metadata), among other
 * things: the fields of its request, names in lower case. protocol/headers.h looks at them. */
struct peer_headers {
	const struct http_field *fields;
	size_t n;
	/* Those that are missing are not missed, and the revision may be any that we know; what contradicts
	 * the message otherwise is still refused. */
	bool lenient;
};

struct peer_ops {
	/* One message, exactly as it was framed; any bytes. Answers go to the sink, now or later. Gives
	 * the number of requests in it: for each of them, and after all that is sent because of it,
	 * sink.ended() is called, perhaps from in here. PEER_LOST: it could not be read for want of
	 * memory, or the error that says why not could not be sent. `headers` is used in here only;
	 * NULL: the transport has none. */
	size_t (*receive)(struct peer *p, struct str message, void *tag,
			  const struct peer_headers *headers);
	/* The same for one message, no batch, of somebody in this process who has it as a value; it is
	 * copied. */
	size_t (*take)(struct peer *p, const cleat_json *message, void *tag);
	/* A message was over `limit` bytes and was thrown away unread; 0: there was no memory for
	 * it. */
	void (*oversize)(struct peer *p, size_t limit);
	/* The other side is gone, or the transport is being closed: cancels what runs. The sink is not
	 * used any more when this returns; the peer frees itself when its last request has ended. */
	void (*close)(struct peer *p);
	/* After close(), where facts.lingers was said, and only there: the transport is through. */
	void (*gone)(struct peer *p);
	/* Requests that are not answered yet. */
	size_t (*inflight)(const struct peer *p);
	/* The revision that a legacy session has agreed on; NULL: none (yet). Static. */
	const char *(*revision)(const struct peer *p);
};

/* Which era a connection may speak. */
enum peer_mode {
	PEER_ANY,    /* the client decides by how it opens: stdio */
	PEER_LEGACY, /* a session: begins with initialize */
	PEER_MODERN, /* every request stands alone */
	PEER_STATELESS, /* the same of the legacy era: no handshake is needed, revision `rev`; nothing is
			 * remembered, so the client can neither be asked nor told anything later */
	PEER_ASKED /* the questions that a server asks its client: no handshake, revision `rev` */
};

/* So many of something for all connections of one client together. */
struct peer_quota {
	size_t used, max;
};

/* Facts about a connection that the transport knows. */
struct peer_facts {
	enum peer_mode mode;
	struct str principal; /* who it is, as authorization has found out; absent: anybody */
	struct str address;   /* where it comes from; absent: not known */
	enum cleat_transport transport;
	/* After close() the transport still has something of the connection, such as descriptors that it
	 * writes to, and says gone() when not. */
	bool lingers;
	void *userdata; /* of the connection at first; see <cleat/connection.h> */
	void (*destroy)(void *userdata);
	/* Of its subscriptions; must be there until close() returns. NULL: there is no other bound than the
	 * connection's. */
	struct peer_quota *quota;
	int rev; /* PEER_ASKED, PEER_STATELESS: enum revision */
};

struct peer {
	const struct peer_ops *ops;
};

/* How much a message matters when the other side does not read. */
enum peer_weight {
	PEER_MUST,  /* a response or request: never dropped */
	PEER_SHOULD /* progress and log: not even begun while the sink is congested */
};

/* What a message is. Answers are given as the HTTP status that fits: 200, also for errors that a
 * handler caused; 400 and 404 for requests that never reached one. */
enum peer_kind { PEER_TAKE_BACK = -1, PEER_NOTICE = 0, PEER_REQUEST = 1, PEER_ANSWER = 200 };

struct peer_sink {
	/* The buffer to write one message into (append only), NULL when nothing can be sent any more. */
	struct buf *(*begin)(void *ctx, void *tag);
	/* The message is complete. If the buf's error is latched (or `kind` is PEER_TAKE_BACK) the sink
	 * takes the half-written message back and returns its status; otherwise it frames and sends
	 * it. */
	int (*end)(void *ctx, void *tag, int kind);
	/* A request with this tag has ended. `lost`: without an answer, though nobody has cancelled it.
	 * NULL: not of interest. */
	void (*ended)(void *ctx, void *tag, bool lost);
	/* The client need not wait on the connection for the rest of this request's messages: it may
	 * come back for them after `retry_ms`. NULL: it cannot. */
	void (*release)(void *ctx, void *tag, uint64_t retry_ms);
	/* Is the other side so slow that only PEER_MUST messages should be written? */
	bool (*congested)(void *ctx);
	void *ctx;
};

#endif
