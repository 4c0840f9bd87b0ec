/* server/serve.h - what serves each method: answers the request and ends it, or starts its handler. */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "request/request.h"

/* lifecycle.c */
void serve_initialize(cleat_request *req);
void serve_ping(cleat_request *req);
void serve_discover(cleat_request *req);
void serve_set_level(cleat_request *req);
/* lists.c */
void serve_tools_list(cleat_request *req);
void serve_resources_list(cleat_request *req);
void serve_templates_list(cleat_request *req);
void serve_prompts_list(cleat_request *req);
/* Do lists say the same of both? False when there is no memory to tell. */
bool lists_alike(const cleat_server *s, const struct entry *a, const struct entry *b);
/* calls.c */
void serve_tools_call(cleat_request *req);
void serve_resources_read(cleat_request *req);
void serve_prompts_get(cleat_request *req);
void serve_complete(cleat_request *req);
void serve_own(cleat_request *req); /* a method of the program's */
/* Is there such a resource, by itself or by a template? An error is sent when not. */
bool resource_exists(cleat_request *req, struct str uri);
/* subscribe.c */
void serve_subscribe(cleat_request *req);
void serve_unsubscribe(cleat_request *req);
void serve_listen(cleat_request *req);

#endif
