/* request/question.h - one question of a handler, and its way to a legacy client and back.
 *
 * Sent as a request of ours; see ask.h for when.
 */
#ifndef REQUEST_QUESTION_H
#define REQUEST_QUESTION_H

#include "request/request.h"

enum ask_kind { ASK_FORM, ASK_URL, ASK_SAMPLING, ASK_ROOTS };

/* One question of a handler, by its key; lives in the request's arena. */
struct question {
	struct question *next;
	enum ask_kind kind;
	struct str key;
	struct str params;          /* JSON of the params of elicitation/create, ... */
	const char *elicitation_id; /* URL mode in 2025-11-25 */
	const cleat_json *answer;   /* the client's result; NULL: none yet */
	int failure;                /* a negative status instead of an answer */
	bool fresh;                 /* asked in this run of the handler */
	/* legacy: the request on its way to the client */
	cleat_request *req;
	struct rpc_node pending;
};

/* "elicitation/create", ... */
const char *question_method(const struct question *q);
/* Checks that an elicitation or sampling or roots result has the right shape. */
int question_check_answer(const struct question *q, const cleat_json *v, cleat_error *err);
/* As a request, which waits in conn->pending. CLEAT_OK, or why it could not be sent. */
int question_send(struct question *q);
/* Tells the client that we do not wait for this any more. */
void question_take_back(struct question *q, const char *reason);
/* The request is cancelled: its questions are taken back. */
void questions_abandon(cleat_request *req);

#endif
