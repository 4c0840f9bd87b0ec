/* program/serve/web/web_request.h - an HTTP request with places for arguments: "http" of a tool.
 *
 *	"http": { "method": "GET", "url": "https://api.example.com/items/{id}{?q}",
 *		  "query": { "page-size": "{limit}" }, "headers": { "Authorization": "Bearer ${token}" },
 *		  "body": { "name": "{name}" }, "type": "application/json" }
 *
 * Where it goes is fixed: scheme, host and port stand in the configuration, and no value can change them. In
 * the path a value is one segment or a part of one: reserved characters are encoded, and one that would make
 * a segment "." or ".." is refused. A header value with a line end is refused. In "query", "headers" and
 * "body" what names an argument that was not given is left out; a text of the body that is {name} and
 * nothing else is the argument itself, with its type.
 */
#ifndef PROGRAM_SERVE_WEB_WEB_REQUEST_H
#define PROGRAM_SERVE_WEB_WEB_REQUEST_H

#include "http/fields.h"
#include "serve/kit/draft.h"

struct web_request;

/* Compiles the "http" object; `names`: an object whose "properties" are the arguments. NULL: problems were
 * added. Needs nothing of the conf afterwards. */
struct web_request *web_request_new(struct draft *b, const cleat_json *node,
				    const cleat_json *names);
void web_request_free(struct web_request *w); /* accepts NULL */

struct web_message {
	const char *method, *url;
	struct http_field_list fields;
	struct str body; /* absent: none */
};

/* Fills in the arguments; what it makes is in the arena. CLEAT_OK; CLEAT_EINVAL with words for the model;
 * CLEAT_ELIMIT; CLEAT_ENOMEM. */
int web_request_render(const struct web_request *w, const cleat_json *args, struct arena *ar,
		       struct web_message *ret, cleat_error *err);
/* Is this the type of JSON: application/json, or something+json, with or without parameters? */
bool web_is_json(const char *type);
/* "GET https://api.example.com/items", for errors: without what was filled in, and without secrets. */
const char *web_request_name(const struct web_request *w);

/* The address (a URI template) of a request, as it is sent: brackets behind the host are encoded. *why says why
 * it cannot be one; NULL: it can, if it compiles. Absent without memory. */
struct str web_request_url(struct arena *ar, struct str url, const char **why);
/* May a tool set this header? It is a name, and none that frames the message. */
bool web_request_may_set(const char *header);
/* Is it a media type, perhaps with parameters: "text/plain; charset=utf-8"? */
bool web_request_is_type(const char *type);

#endif
