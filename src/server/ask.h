/* server/ask.h - questions to the client, in both eras.
 *
 * A handler asks by key and runs again from the top when the answer is there. Modern clients get
 * all open questions as an input_required result, and what was answered before travels in the
 * sealed requestState; legacy clients get real requests, and the answers wait in the request.
 */
#ifndef SERVER_ASK_H
#define SERVER_ASK_H

#include "field/field.h"
#include "request/conn.h"

/* The style of forms that this revision has. */
static inline enum field_schema_style ask_form_style(const cleat_request *req)
{
	return req->ctx.features & FEAT_ELICITATION_MODES ? FIELD_SCHEMA_FORM
							  : FIELD_SCHEMA_FORM_2025_06_18;
}
/* The handler returned CLEAT_NEED_INPUT. */
void ask_send(cleat_request *req);
/* Reads inputResponses and requestState of a modern request. False: an error was sent. */
bool ask_restore(cleat_request *req);
/* A response to one of our requests. */
void ask_answered(cleat_connection *c, const struct rpc_message *m);
/* Questions that waited too long. */
void ask_expire(cleat_connection *c, uint64_t now);
/* The session is initialized now: sends what waited for that. */
void ask_flush_waiting(cleat_connection *c);

#endif
