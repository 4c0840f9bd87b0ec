/* endpoint/impl.h - what the parts of the MCP endpoint share.
 *
 *   endpoint.c  the gate, paths, timers
 *   answer.c    what is answered without a peer
 *   place.c     open exchanges
 *   post.c      whose message a POST is
 *   modern.c    2026-07-28
 *   session.c   sessions of 2025-03-26 to 2025-11-25: life, POST, GET, DELETE
 *   channel.c   the channels of a session: events, replay
 *   old.c       HTTP+SSE of 2024-11-05
 *   owner.c     how much one client has open
 *
 * An exchange's data (http_exchange_data) is a `struct place`: what the exchange is for, so that
 * gone() and drained() know whom to tell.
 */
#ifndef ENDPOINT_IMPL_H
#define ENDPOINT_IMPL_H

#include "base/cold.h"
#include "base/ring.h"
#include "endpoint/endpoint.h"
#include "endpoint/owner.h"
#include "http/field.h"
#include "http/sse.h"

enum { SESSION_ID_CHARS = 32, ENDPOINT_OWNERS = 1024 };

struct place;
struct session;

struct place_ops {
	void (*gone)(struct place *p);
	void (*drained)(struct place *p); /* may be NULL */
};

/* Whoever has an open exchange. A member of something larger. */
struct place {
	const struct place_ops *ops;
	struct http_exchange *ex; /* NULL: there is none (any more) */
	bool streaming;           /* an event stream has begun: comments keep it alive */
	uint64_t spoke_ms;        /* when something was last written to it */
	struct ring of_places;    /* while there is an exchange */
	struct owner *listener;   /* whose stream it is, if it counts as one that listens */
};

/* What a client's Accept says about the two media types of MCP. */
struct endpoint_accept {
	bool json, events;
	bool prefers_events; /* for a plain answer, too */
};

struct endpoint {
	struct endpoint_options o;
	cleat_allocator mem;
	char *path;
	struct buf message; /* the one message that is being written */
	struct buf frame;   /* the same as an event */
	/* The last Accept: clients send the same one with every request. */
	char accept_text[96];
	size_t accept_size; /* 0: none */
	struct endpoint_accept accept;
	struct loop_timer *timer;
	bool stopping;
	struct ring places;  /* that have an exchange */
	struct ring revoked; /* of these, those that are to end at the next turn */
	size_t n_streaming;
	unsigned revocations;      /* how often somebody was, or may have been */
	struct session **sessions; /* by id, chained */
	size_t n_buckets, n_sessions;
	struct ring by_use[3]; /* all of them, as in struct owner */
	struct owner *owners[ENDPOINT_OWNERS];
	struct old_link *old;
	struct modern *moderns;
};

uint64_t endpoint_now(const struct endpoint *m);
/* As much of a name as is shown to people. */
static inline struct str endpoint_shown(struct str s)
{
	return (struct str){ s.p, s.n < 128 ? s.n : 128 };
}
COLD void endpoint_note(struct endpoint *m, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);
/* 32 random characters, terminated. CLEAT_OK, or why there are none. */
int endpoint_random_id(char id[SESSION_ID_CHARS + 1]);

/* ---- answers ---------------------------------------------------------------------------------- */

/* `extra`: fields besides those of CORS. */
void endpoint_reply(struct endpoint *m, struct http_exchange *ex, int status, struct str type,
		    struct str body, const struct http_field *extra, size_t n_extra);
void endpoint_reply_empty(struct endpoint *m, struct http_exchange *ex, int status);
/* {"jsonrpc":"2.0","error":{...}} without an id. */
COLD void endpoint_reply_error(struct endpoint *m, struct http_exchange *ex, int status, int code,
			       const char *fmt, ...) CLEAT_PRINTF(5, 6);
/* 400: this MCP-Protocol-Version names no revision that is spoken here. */
COLD void endpoint_reply_version(struct endpoint *m, struct http_exchange *ex, struct str version);
/* There was no memory for the answer. */
COLD void endpoint_reply_lost(struct endpoint *m, struct http_exchange *ex);
/* 401. */
COLD void endpoint_reply_unauthorized(struct endpoint *m, struct http_exchange *ex);
/* 405 with Allow. */
COLD void endpoint_reply_not_allowed(struct endpoint *m, struct http_exchange *ex,
				     const char *allow);

/* ---- places ----------------------------------------------------------------------------------- */

/* The exchange is this place's from now on. */
void place_take(struct endpoint *m, struct place *p, struct http_exchange *ex);
/* What is about to be taken is a stream that listens, of this client. False after an answer: it has too
 * many. */
bool place_listen(struct endpoint *m, struct place *p, struct owner *o, struct http_exchange *ex);
/* Header of an event stream. False when that failed: the exchange is not the place's any more. */
bool place_begin_stream(struct endpoint *m, struct place *p, const struct http_field *extra,
			size_t n);
/* One event. As http_exchange_write(). */
int place_write(struct endpoint *m, struct place *p, const struct sse_event *e, bool must);
/* The answer is complete. */
void place_end(struct endpoint *m, struct place *p);
/* The connection is broken off. */
void place_abort(struct endpoint *m, struct place *p);
/* The exchange was answered, or has gone. */
void place_leave(struct endpoint *m, struct place *p);

/* A comment now and then, so that nobody in between takes a silent stream for a dead one. */
void place_keep_alive(struct endpoint *m);
/* Ends those of m->revoked. */
void place_end_revoked(struct endpoint *m);

/* Is everything of this principal to end, wherever it comes from? For endpoint_revoke(). */
bool endpoint_is_revoked(const struct endpoint *m, struct str principal, struct str name);

struct endpoint_accept endpoint_accept(struct endpoint *m, const struct http_request *r);

/* The headers that repeat what a message says. */
static inline struct peer_headers endpoint_headers(const struct endpoint *m,
						   const struct http_request *r)
{
	return (struct peer_headers){ r->fields, r->n_fields, m->o.lenient_headers };
}
/* Does it ask for subscriptions/listen? */
bool endpoint_listens(const struct endpoint *m, const struct http_request *r);

/* A POST at the endpoint's path. */
void endpoint_post(struct endpoint *m, struct http_exchange *ex, struct str principal);

/* ---- the eras ---------------------------------------------------------------------------------- */

void modern_post(struct endpoint *m, struct http_exchange *ex, struct str principal);
/* A message of a legacy revision (enum revision), answered without a session. */
void modern_post_legacy(struct endpoint *m, struct http_exchange *ex, struct str principal,
			int rev);
void modern_forget_all(struct endpoint *m);
void modern_free_all(struct endpoint *m);

/* With a session id, or with initialize in the body. */
void session_post(struct endpoint *m, struct http_exchange *ex, struct str principal);
void session_open(struct endpoint *m, struct http_exchange *ex, struct str principal);
void session_get(struct endpoint *m, struct http_exchange *ex, struct str principal);
void session_delete(struct endpoint *m, struct http_exchange *ex, struct str principal);
void session_expire_all(struct endpoint *m);
/* Marks those of principals that are revoked, as endpoint_revoke(); session_expire_all() ends them. */
void session_revoke(struct endpoint *m, struct str name);
void session_stop_all(struct endpoint *m);
void session_forget_all(struct endpoint *m);
void session_free_all(struct endpoint *m);

void old_get(struct endpoint *m, struct http_exchange *ex, struct str principal);
void old_post(struct endpoint *m, struct http_exchange *ex, struct str principal);
void old_sweep(struct endpoint *m);
void old_stop_all(struct endpoint *m);
void old_forget_all(struct endpoint *m);
void old_free_all(struct endpoint *m);

#endif
