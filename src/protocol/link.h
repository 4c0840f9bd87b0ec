/* protocol/link.h - where the client role and transports meet: messages out, messages in.
 *
 * The counterpart of peer.h. A transport gives the client one `link`; the client gives the link its
 * `link_events`. Neither knows the other: run/ puts them together. A message is one JSON text without
 * its framing.
 *
 * Tags. A request is sent with a tag (never NULL) that comes back with what becomes of it. A link on
 * which messages have no place of their own (a pipe) knows no tag for what it receives: NULL. On HTTP
 * everything that comes in the answer to a POST has that POST's tag. There, a message that is a response
 * (it has a result or an error, no method, and no id that says another request's: rpc_id_may_mean()), and a
 * body that is one message, is the last one with its tag: nothing more comes (but `failed` after a body that
 * is not a response), forget() is not needed. A tag is free to be used again while it is told.
 *
 * Events come from the loop, never from inside a call of link_ops: who calls send() need not expect
 * anything to happen before it returns. Who is told something may call any of link_ops, free() too. All
 * on the thread that owns the client.
 */
#ifndef PROTOCOL_LINK_H
#define PROTOCOL_LINK_H

#include "http/fields.h"
#include "protocol/revision.h"

#include <cleat/client.h>

struct link;

/* Why something did not work, in words that a person can act on. */
struct link_failure {
	cleat_error
		error; /* status, errno; the message names the step, the place and what to try */
	enum cleat_step step;
	int http_status;   /* 0: none */
	bool session_lost; /* 404 for a session that there was: initialize anew, then send again */
	bool unsent;       /* the server has certainly not seen the message: it may be sent again */
};

enum link_kind {
	LINK_REQUEST, /* an answer is expected */
	LINK_NOTICE,
	LINK_ANSWER /* to a request of the server's (legacy) */
};

struct link_message {
	struct str text; /* borrowed during send() */
	enum link_kind kind;
	/* LINK_REQUEST: its tag. LINK_NOTICE: NULL, or a tag that `accepted` or `failed` comes back with.
	 * LINK_ANSWER: the tag that the server's request came with. */
	void *tag;
	/* for HTTP; absent where they do not apply */
	enum revision rev;               /* REV_NONE: none agreed on yet */
	bool modern;                     /* Mcp-Method, Mcp-Name; no session, no resuming */
	bool initialize;                 /* the answer may bring a session */
	struct str method;               /* of a request or notice */
	struct str name;                 /* params.name or params.uri; absent: none */
	const struct http_field *fields; /* Mcp-Param-*, for HTTP; values not encoded yet */
	size_t n_fields;
};

struct link_events {
	/* A message, as it was framed. `http_status`: of the answer that it is the body of; 0: none, on HTTP
	 * because it is an event of the answer's stream. */
	void (*message)(void *ctx, struct str text, void *tag, int http_status);
	/* HTTP: the server has taken this notice (202). */
	void (*accepted)(void *ctx, void *tag);
	/* This request or notice will get no (further) answer. Not after forget(). */
	void (*failed)(void *ctx, void *tag, const struct link_failure *why);
	/* The link as a whole is gone (the child has died, the connection is closed): nothing that is
	 * under way will be answered; no `failed` for each. open() may be tried. Streams only, of which
	 * HTTP+SSE is one. */
	void (*down)(void *ctx, const struct link_failure *why);
	/* reopen() has succeeded, or failed (`why` not NULL). Also after the first open. */
	void (*up)(void *ctx, const struct link_failure *why);
	/* HTTP, legacy: the stream for what the server says unasked broke and is back, and events may have
	 * been lost in between; or it broke for good, because the session is lost, perhaps: a request
	 * would tell. May be NULL. */
	void (*gap)(void *ctx);
	/* A message was over the limit and was thrown away unread; `tag` as in message. On a stream nobody
	 * knows whose it was. */
	void (*oversize)(void *ctx, void *tag, size_t limit);
	/* Remarks for people, and the child's stderr. */
	void (*note)(void *ctx, int level, const char *text);
	void (*err_line)(void *ctx, const char *line);
	void (*closed)(void *ctx); /* what close() began has ended */
	void *ctx;
};

struct link_ops {
	/* Starts the program, connects. `up` follows. HTTP: `up` follows at once, nothing is sent.
	 * Called again after `down` (a new process, a new connection). */
	void (*open)(struct link *l);
	/* Sends, or queues (bounded). CLEAT_OK; otherwise the message has not left and no event follows:
	 * CLEAT_ELIMIT (the server does not read: too much waits), CLEAT_ECLOSED, CLEAT_ENOMEM,
	 * CLEAT_EINVAL (a method, or the name of a field, that no header can carry). */
	int (*send)(struct link *l, const struct link_message *m);
	/* Nobody waits for this request any more. HTTP closes its exchange (2026-07-28: this is the
	 * cancellation). No more events with this tag. */
	void (*forget)(struct link *l, void *tag);
	/* HTTP, legacy: the session is initialized; what the server says unasked may be heard (GET). */
	void (*listen)(struct link *l);
	/* HTTP: forget the session (it is lost, or another era is tried), with its GET stream; what was to
	 * be resumed in it fails. HTTP+SSE: if anything was sent in it, `down` follows, unless open() does.
	 * Streams that renew: the connection (the child) is given up, without an event; open() makes
	 * another. */
	void (*reset)(struct link *l);
	/* The next older way to reach the same server: HTTP+SSE instead of Streamable HTTP. CLEAT_OK: `up`
	 * follows; CLEAT_EUNSUPPORTED: there is none. */
	int (*fall_back)(struct link *l);
	/* In order: the session is deleted, the child is let go (end of input, SIGTERM, SIGKILL, reaped).
	 * `closed` follows, in bounded time. Nothing is sent any more. */
	void (*close)(struct link *l);
	/* At once, what close() would do politely; after `closed` nothing is left to do. No events. */
	void (*free)(struct link *l);
};

struct link {
	const struct link_ops *ops;
	bool http; /* cancellation by closing; headers; the probe is any modern request */
	bool process; /* a child: open() starts a new one, and a server may exit on a first message that it
			 does not know */
	bool local;  /* in this process */
	bool renews; /* a stream that open() can make anew after reset() */
};

#endif
