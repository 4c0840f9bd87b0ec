/* server/conn.h - one connection of the server: what comes in, and which requests are under way.
 *
 * Implements the peer that transports talk to. Decides the era of each message, refuses what is
 * malformed, unknown or too much, and keeps the tables that ids are looked up in.
 */
#ifndef SERVER_CONN_H
#define SERVER_CONN_H

#include "server/state.h"

/* Has a revision been agreed on, before or with the session that is open now? */
static inline bool conn_has_revision(const struct conn *c)
{
	return c->session.open || c->facts.mode == PEER_ASKED;
}

/* Starts waiting requests while there is room. */
void conn_start_queued(struct conn *c);
/* Frees a closed connection without requests. */
void conn_maybe_free(struct conn *c);
/* Answers that could not be written for lack of memory: tries again. */
void conn_retry_unsent(struct conn *c);
/* There is such an answer. */
void conn_retry_later(struct conn *c);
/* Requests over their deadline. */
void conn_expire(struct conn *c, uint64_t now);
/* Calls fn once for every request there is; fn may end any of them and start others. */
void conn_each_request(struct conn *c, void (*fn)(cleat_request *req));
/* Ends everything in an orderly way; the connection stays. Over HTTP, calls that run go on. */
void conn_shutdown(struct conn *c);
/* Those end, too. */
void conn_abort(struct conn *c);
void conn_close(struct conn *c);
/* One member of a batch has ended. */
void batch_member_done(struct batch *b);

/* The answers of one batch (2025-03-26), sent as one array when the last member has ended. */
struct batch {
	struct batch *next; /* in conn->unsent_batches */
	struct conn *conn;
	void *tag;
	struct buf out;
	size_t answers;
	size_t open; /* members that have not ended, plus one while the batch is being read */
	bool taken;  /* the transport waits for its end */
};

#endif
