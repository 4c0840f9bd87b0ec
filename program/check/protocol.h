/* program/check/protocol.h - is this message one of the protocol, and if not, what is wrong with it?
 *
 * One checker is one conversation: it remembers requests, so that a response is checked as the result of
 * its method, and finds out which revision is spoken when nobody said it. It never talks to anybody.
 */
#ifndef PROGRAM_CHECK_PROTOCOL_H
#define PROGRAM_CHECK_PROTOCOL_H

#include "cli/run.h"

struct protocol;

/* Whoever examines a server does not wait for each answer as long as somebody who wants it. */
enum { CHECK_TIMEOUT_MS = 10000 };

enum protocol_side { PROTOCOL_ANYBODY, PROTOCOL_CLIENT, PROTOCOL_SERVER };

struct protocol_finding {
	bool warning;
	const char *rule;    /* "member", "direction", ...: static */
	const char *pointer; /* of the place in the message; "" is the message */
	const char *text;    /* what is wrong, and what would be right */
};
typedef void protocol_finding_fn(void *ctx, const struct protocol_finding *f);

/* What is known about a message after it was checked. */
struct protocol_message {
	const char *kind;     /* "request", "notification", "result", "error", or "message" */
	const char *method;   /* also of the request that a response is for; NULL: unknown. Kept */
	const char *revision; /* by which it was checked */
	bool matched;         /* a response whose request was seen */
};

/* Which message of the server that is, for people: "result of tools/list", or by its number and beginning. Kept. */
const char *protocol_which(const struct protocol_message *m, size_t number, const char *text,
			   size_t n);

/* What a client asks first that does not know what a server speaks. One that knows no server/discover may answer that
 * as it likes, or not at all: it is not held against it. */
struct probe {
	bool sent;   /* server/discover, without an initialize since */
	bool legacy; /* initialize was sent: the server is of the era that has no server/discover */
};
void probe_sent(struct probe *p, const struct protocol_message *m);
/* Is this what came back? Whether it counts is known when `legacy` is. */
bool probe_reply(const struct probe *p, const struct protocol_message *m);

/* `revision` NULL: as the messages say. NULL for one that there is not. Freed at the end of the run by
 * protocol_free(). */
struct protocol *protocol_new(const char *revision);
void protocol_free(struct protocol *p);
/* "2024-11-05, 2025-03-26, ..." */
const char *protocol_revision_list(void);

/* Checks one message, or a batch. Problems are told to `fn`; gives how many were no warnings. */
size_t protocol_check(struct protocol *p, enum protocol_side from, const cleat_json *message,
		      protocol_finding_fn *fn, void *ctx, struct protocol_message *ret);
/* The same from text, which has to be JSON. */
size_t protocol_check_text(struct protocol *p, enum protocol_side from, const char *text, size_t n,
			   protocol_finding_fn *fn, void *ctx, struct protocol_message *ret);

#endif
