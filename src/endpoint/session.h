/* endpoint/session.h - a session of 2025-03-26 to 2025-11-25, and its channels.
 *
 * A channel is what is sent because of one POST, or (the standing one, number 0) because of nothing in
 * particular: a stream in the words of the specification. Its events are numbered and kept in the store,
 * so that a client that lost its connection can come back and have the rest: the HTTP exchange is only
 * where a stream is shown at the moment. Losing it cancels nothing (2025-11-25 basic/transports:
 * Sending Messages).
 */
#ifndef ENDPOINT_SESSION_H
#define ENDPOINT_SESSION_H

#include "endpoint/impl.h"

struct channel {
	struct place place; /* first */
	struct session *s;
	struct channel *next; /* newest first */
	uint64_t number;
	uint64_t last;          /* number of the newest event */
	uint64_t sent;          /* number of the newest event that was written to a connection */
	uint64_t missing;       /* number of the newest event that the store did not take */
	uint64_t from;          /* of the replay at hand: after which event it began */
	size_t expected, ended; /* requests in the POST, and those that are over */
	bool receiving;         /* inside peer->receive: `expected` is not known yet */
	struct endpoint_accept accept;
	bool standing;
	bool opens;    /* its request is initialize */
	bool eventful; /* it is a stream of events; otherwise it may still become one JSON answer */
	bool primed;   /* the client knows how to come back */
	bool over;     /* nothing more will come */
	bool behind;   /* the connection is too slow: events wait in the store */
	bool lost;     /* something that should have been answered was not */
	bool fresh;    /* the replay at hand is for a client that asks for no event in particular */
	bool replaying;
};

/* In the order in which they go when there is no room; one that is in use never does. */
enum session_use {
	SESSION_NEW, /* nothing was asked since it was opened */
	SESSION_USED,
	SESSION_REVOKED /* its principal may not pass any more: it ends at the next turn */
};

/* The lists a session is in. */
enum session_list { OF_ALL, OF_OWNER };

struct session {
	struct endpoint *m;
	struct owner *owner;
	struct ring links[2]; /* by enum session_list */
	enum session_use use;
	struct session *chain;
	char id[SESSION_ID_CHARS + 1];
	char mark[9]; /* in event ids: those of other sessions are not taken for ours */
	struct str principal;
	struct peer *peer;
	struct channel standing;
	struct channel *streams;
	size_t n_streams;
	uint64_t next_stream;
	uint64_t used_ms; /* written by session_touch() alone */
	int store_status; /* what the store answered last */
	unsigned busy;    /* calls on the stack that use it */
	bool dropped;     /* to be freed when they are over */
	struct buf
		opening; /* the answer to initialize, until it is known whether the session is open */
	int opening_status;
};

/* A stream for this exchange; NULL when out of memory. */
struct channel *channel_new(struct session *s, struct http_exchange *ex);
void channel_init(struct channel *st, struct session *s);
/* Sends m->message as an event; kept in the store if the client can come back for it. Anything but
 * CLEAT_OK: it was neither sent nor kept. */
int channel_send(struct channel *st, int kind);
/* All requests of the POST are over: ends it, if so. May free it. */
void channel_finish_if_over(struct channel *st);
/* Shows the stream on this exchange, from behind event number `after` on, or not at all. */
void channel_resume(struct channel *st, struct http_exchange *ex, uint64_t after);
/* Shows the stream on this exchange, with what was never sent, as far as it is still there. */
void channel_listen(struct channel *st, struct http_exchange *ex);
/* The client may go and come back after that many milliseconds. */
void channel_release(struct channel *st, uint64_t retry_ms);
/* Ends what is shown of it, if anything; forgets it. */
void channel_free(struct channel *st);
struct channel *channel_find(struct session *s, uint64_t number);
/* "mark.stream.event" to its numbers. False when it is not an event id of this session. */
bool channel_parse_id(const struct session *s, struct str id, uint64_t *stream, uint64_t *event);

/* It is used now. */
void session_touch(struct session *s);
void session_enter(struct session *s);
void session_leave(struct session *s); /* may free it */

#endif
