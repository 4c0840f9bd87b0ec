/* request/out.h - writing one message to a connection.
 *
 * A message is written straight into the transport's buffer; if it fails half-way (memory, size) it
 * is taken back as a whole. Answers of a batch go to the batch instead.
 */
#ifndef REQUEST_OUT_H
#define REQUEST_OUT_H

#include "base/cold.h"
#include "request/conn.h"

/* The answers of a batch (batch.h), as one array. */
struct answers {
	struct buf text;
	size_t n;
	void (*ended)(struct answers *a); /* one of its requests */
};

struct out {
	cleat_connection *conn;
	void *tag;
	cleat_request *req;   /* whose answer this is, or whom the message is about; NULL: nobody */
	struct answers *into; /* the batch that it is part of; NULL: none */
	struct buf *b;
	struct jw w;
	size_t start;
	int kind;     /* enum peer_kind; of an answer its HTTP status */
	size_t limit; /* bytes that it may have; of a batch: with what comes before it */
};

/* False when nothing can be sent (closed, or congested and not important). */
bool out_begin(struct out *o, cleat_connection *c, cleat_request *about, enum peer_weight weight);
/* For what is about no request, but about a message with this tag. */
bool out_begin_for(struct out *o, cleat_connection *c, void *tag, int kind);
/* CLEAT_OK, or why the message could not be written; then nothing of it is sent. */
int out_end(struct out *o);

/* An error response. `data` is JSON text or NULL. It has no limit but what came in: most of it is
 * the id. If memory is too short even for that it is kept and tried again later (PHASE_UNSENT) by
 * request_end(). */
COLD void out_error(cleat_request *req, int code, const char *data, const char *message);
COLD void out_errorf(cleat_request *req, int code, const char *data, const char *fmt, ...)
	CLEAT_PRINTF(4, 5);
/* The same where there is not even a request: a message could not be read for want of memory. */
COLD void out_lost(cleat_connection *c, void *tag);
/* The error for something unknown: names it, and the nearest known thing in data.details. */
COLD void out_unknown(cleat_request *req, int code, const char *what, struct str name,
		      struct str nearest);

/* The begin and the end of a result in the shape of the request's era. */
bool result_begin(struct out *o, cleat_request *req, const struct result_facts *f);
int result_end(struct out *o, cleat_request *req, struct result_facts *f);
/* {} (with what the era adds). */
void result_empty(cleat_request *req);

#endif
