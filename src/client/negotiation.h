/* client/negotiation.h - how a server may be spoken to, what was heard of it, and how far the client has come
 * with finding out.
 *
 *	NONE         nothing is being found out
 *	LINK         the link opens (or opens anew, the older way) -> DISCOVER or INITIALIZE
 *	DISCOVER     server/discover is under way -> NONE (ready), or INITIALIZE
 *	INITIALIZE   initialize is under way -> INITIALIZED, or DISCOVER, or LINK
 *	INITIALIZED  notifications/initialized is sent; HTTP: not accepted yet -> LEVEL, or NONE (ready)
 *	LEVEL        HTTP: logging/setLevel is not answered yet -> NONE (ready)
 *
 * A failure leads to NONE from everywhere. The members are read and written by negotiation.c and negotiate.c
 * (which has the conversation); everybody else asks and tells by the functions below.
 */
#ifndef CLIENT_NEGOTIATION_H
#define CLIENT_NEGOTIATION_H

#include "client/options.h"
#include "client/result.h"
#include "protocol/link.h"

enum negotiation_stage {
	NEGOTIATION_NONE,
	NEGOTIATION_LINK,
	NEGOTIATION_DISCOVER,
	NEGOTIATION_INITIALIZE,
	NEGOTIATION_INITIALIZED,
	NEGOTIATION_LEVEL
};

struct negotiation {
	enum negotiation_stage stage;
	/* for the client's life */
	struct options_eras may; /* what the options allow */
	bool one_revision;       /* they name it */
	enum cleat_era verdict;  /* what was found out */
	bool fell_back;          /* to HTTP+SSE */
	bool stale;              /* HTTP: the era seems to have changed */
	/* in this opening */
	enum revision offer;             /* what is asked for in initialize */
	bool tried_modern, tried_legacy; /* each at most once */
	bool skip_probe;                 /* the server died of it */
	bool lacks_discover;             /* HTTP: 404 and -32601, as only a modern server says it */
	bool retried_version;            /* -32022 */
	bool reprobed;                   /* after a probe that timed out */
	bool renewed;                    /* the first session was lost at once */
	cleat_error heard; /* why the modern probe, or the newer transport, did not work */
	/* on this connection */
	bool greeted;            /* initialize was sent */
	int64_t initialized_tag; /* of notifications/initialized; 0: none under way */
};

/* ---- asking -------------------------------------------------------------------------------- */

static inline bool negotiation_is_at(const struct negotiation *n, enum negotiation_stage stage)
{
	return n->stage == stage;
}

/* Is this the tag of a notice of the negotiation's? */
static inline bool negotiation_sent(const struct negotiation *n, const void *tag)
{
	return n->initialized_tag && (int64_t)(uintptr_t)tag == n->initialized_tag;
}

static inline enum cleat_era negotiation_verdict(const struct negotiation *n)
{
	return n->verdict;
}

/* The era seems to have changed: it is found out anew with the next call. */
static inline bool negotiation_stale(const struct negotiation *n)
{
	return n->stale;
}

/* A server that was greeted on this connection, and should not be again. */
static inline bool negotiation_greeted(const struct negotiation *n)
{
	return n->greeted;
}

/* What the first attempt of this opening heard; status CLEAT_OK: nothing. */
static inline const cleat_error *negotiation_heard(const struct negotiation *n)
{
	return &n->heard;
}

/* From a list of versions the best one that we may speak; REV_NONE: none. */
enum revision negotiation_pick(const struct negotiation *n, const cleat_json *versions);
/* May this legacy revision be agreed on? With opts.protocol only that one will do. */
bool negotiation_allows(const struct negotiation *n, enum revision rev);
/* Is it an error that only a modern server gives? */
bool negotiation_is_modern_error(const cleat_result *r);
/* Something that says nothing about the era. */
bool negotiation_is_trouble(const cleat_result *r, bool http);

/* ---- telling ------------------------------------------------------------------------------- */

void negotiation_init(struct negotiation *n, const cleat_client_options *o,
		      const struct options_eras *may);
/* An opening begins; its stage is LINK. */
void negotiation_open(struct negotiation *n);
/* It is over, one way or the other. */
void negotiation_stop(struct negotiation *n);
/* There is a new connection, or none any more. */
void negotiation_new_connection(struct negotiation *n);
/* A modern server has said something that only a legacy one says. */
void negotiation_suspect(struct negotiation *n);
/* The server was lost. True when it may have died of our probe: a legacy server may end at a first message
 * that it does not know (2026-07-28 stdio, Backward Compatibility, says "any other error"); a new one is to be
 * greeted in the old way. The stage is LINK then, and nobody waits for the probe. */
bool negotiation_died_of_probe(struct negotiation *n, const struct link *l, const cleat_error *why);

#endif
