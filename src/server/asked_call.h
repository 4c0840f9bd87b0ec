/* server/asked_call.h - a question that a server asks, while it is answered; and the little that the rest of
 * the server role knows of the asked mode. See asked.h.
 *
 * The rest reaches asked*.c through `struct asked` and a request's `settle` only: a program that never
 * makes a client has none of it.
 */
#ifndef SERVER_ASKED_CALL_H
#define SERVER_ASKED_CALL_H

#include "request/request.h"
#include "request/server.h"
#include "server/asked.h"

struct asked {
	struct method_table methods;
	void (*free)(cleat_server *s);
	struct server_asked who;
	struct buf roots; /* JSON; the array of roots/list */
	bool has_roots;
};

/* A question under way; lives in the request's arena. */
struct asked_call {
	cleat_client *client;
	/* Turns what the handler said, and its status, into what the method's write() sends, or into a
	 * rejection. Owner's thread, once, when the handler has ended. */
	void (*settle)(cleat_request *req);
	/* elicitation */
	const cleat_json *form;    /* requestedSchema */
	const char *action;        /* accept, decline, cancel */
	const cleat_json *content; /* of the form, filled in */
	/* sampling */
	const char *model, *stop_reason; /* NULL: not said */
	const cleat_json *blocks; /* the content, as an array, where it is going to be one block */
	const cleat_json *result; /* a whole result instead */
	size_t tool_uses;
	bool tools; /* may be used */
};

/* The question's facts, before its handler runs. NULL after an error was sent; the caller ends the
 * request. */
struct asked_call *asked_begin(cleat_request *req, enum shape shape);
/* -32602 that names the method; gives false. */
bool asked_refuse(cleat_request *req, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* -32603; gives false. */
bool asked_no_memory(cleat_request *req);
/* The program's answer cannot be sent: `why` goes to the log, `told` to the server. */
void asked_misfit(cleat_request *req, const char *told, const char *why);

/* For request_call(): settles, answers, ends. */
void asked_settle(cleat_request *req);

/* asked_form.c */
bool asked_can_elicit(const cleat_server *s);
void asked_elicit(cleat_request *req);
void asked_write_elicited(struct jw *w, cleat_request *req);
/* asked_sampling.c */
bool asked_can_sample(const cleat_server *s);
void asked_sample(cleat_request *req);
void asked_write_sampled(struct jw *w, cleat_request *req);

#endif
