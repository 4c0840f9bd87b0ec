/* request/life.h - the life of a request, from the pool and back.
 *
 * reading -> (queued ->) running -> ended, with detours: deferred (a hold is kept until finish),
 * asking (the handler runs again when the answers are there), listening (until cancelled).
 */
#ifndef REQUEST_LIFE_H
#define REQUEST_LIFE_H

#include "base/cold.h"
#include "request/conn.h"

/* A request of this connection, PHASE_READING; NULL when out of memory. */
cleat_request *request_new(cleat_connection *c);
void request_free(cleat_request *req); /* for the pool's end */
/* It is about this entry, which is counted, and its handler replies in this shape. */
void request_use(cleat_request *req, struct entry *e, enum shape shape);
/* Has its handler run, now or on a worker thread; `settle` answers and ends the request then, or asks. */
void request_call(cleat_request *req, cleat_handler *fn, bool blocking,
		  void (*settle)(cleat_request *req));
/* Once more. */
void request_run(cleat_request *req);
/* The run is over. Owner's thread. */
void request_complete(cleat_request *req);
/* What the program did wrong with a request, for its log: once of a kind. A library that is built for debugging
 * (without NDEBUG) says it on standard error and aborts, unless CLEAT_MISUSE=log is in the environment. Any
 * thread. */
enum misuse {
	MISUSE_FINISHED_TWICE,
	MISUSE_NOT_DEFERRED,
	MISUSE_NOT_PENDING,
	MISUSE_ANSWERED,
	MISUSE_ARGUMENT
};
COLD void request_misuse(cleat_request *req, enum misuse kind, const char *fmt, ...)
	CLEAT_PRINTF(3, 4);
/* Neither its batch nor the transport waits for it any more. */
void request_let_go(cleat_request *req);
/* Nothing more is to be done: takes it out of its tables and back to the pool. */
void request_end(cleat_request *req);
/* Tells the handler to stop. No answer will be sent. Ends the request at once if no handler
 * runs. */
void request_cancel(cleat_request *req);
/* The same for our own reasons: the client gets an error first. */
void request_abort(cleat_request *req, int code, const char *message);

#endif
