/* server/method.h - the methods a server knows, and what serves each of them. */
#ifndef SERVER_METHOD_H
#define SERVER_METHOD_H

#include "server/state.h"

struct method {
	const char *name;
	bool legacy, modern;
	bool asks;      /* its handler may ask the client (2026-07-28 patterns/mrtr) */
	bool cacheable; /* its result carries ttlMs and cacheScope */
	/* Is there anything behind it? NULL: always. */
	bool (*available)(const cleat_server *s);
	/* Serves the request: answers and ends it, or starts its handler. */
	void (*serve)(cleat_request *req);
	/* Writes the result of its handler; NULL where serve answers itself. */
	void (*write)(struct jw *w, cleat_request *req);
};

struct method_table {
	const struct method *v;
	size_t n;
};

void method_dispatch(cleat_request *req);
/* -32601, and the request ends: for a method that its revision does not have, too. */
void method_unknown(cleat_request *req);

/* A string member of params; an error is sent when it is missing or unfit (not a string, with NUL
 * inside). */
bool method_param(cleat_request *req, const char *key, struct str *ret);

/* Which shelves and features the server announces. */
bool server_has_tools(const cleat_server *s);
bool server_has_resources(const cleat_server *s);
bool server_has_prompts(const cleat_server *s);
bool server_has_completions(const cleat_server *s);

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
/* calls.c */
void serve_tools_call(cleat_request *req);
void serve_resources_read(cleat_request *req);
void serve_prompts_get(cleat_request *req);
void serve_complete(cleat_request *req);
/* Is there such a resource, by itself or by a template? An error is sent when not. */
bool resource_exists(cleat_request *req, struct str uri);
/* subscribe.c */
void serve_subscribe(cleat_request *req);
void serve_unsubscribe(cleat_request *req);
void serve_listen(cleat_request *req);

#endif
