/* request/reply.h - from what a handler said to the result on the wire. */
#ifndef REQUEST_REPLY_H
#define REQUEST_REPLY_H

#include "request/request.h"

/* Forgets what was replied, for the next run. */
void reply_reset(cleat_request *req);
/* Sends the answer that the reply and the handler's status amount to. */
void reply_send(cleat_request *req);
/* cleat_reply_json() of text that a writer (json/writer.h) has made: it is sent as it is. */
int reply_json_text(cleat_request *req, struct str json);
/* The bodies of results, after the era's head. */
void reply_write_tool(struct jw *w, cleat_request *req);
void reply_write_resource(struct jw *w, cleat_request *req);
void reply_write_prompt(struct jw *w, cleat_request *req);
void reply_write_completion(struct jw *w, cleat_request *req);
void reply_write_own(struct jw *w, cleat_request *req); /* of a method of the program's */

#endif
