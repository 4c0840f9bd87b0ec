/* client/result.h - how a call ended: making a cleat_result. Reading one is public (<cleat/client.h>).
 *
 * A result has an arena of its own, in which the server's message was parsed and in which it lives
 * itself; it needs neither client nor call afterwards. NULL is a result, too: the one that stands for
 * "out of memory", in everything public and in what is declared here.
 */
#ifndef CLIENT_RESULT_H
#define CLIENT_RESULT_H

#include "base/arena.h"
#include "protocol/link.h"

#include <cleat/client.h>

/* What kind of result it is, for cleat_result_items() and _content(). */
enum result_shape {
	RESULT_OTHER,
	RESULT_TOOL,     /* tools/call: content, structuredContent, isError */
	RESULT_RESOURCE, /* resources/read: contents */
	RESULT_PROMPT,   /* prompts/get: messages */
	RESULT_COMPLETE, /* completion/complete: completion.values */
	RESULT_LIST      /* tools, resources, ...; else the first member that is an array */
};
/* By the method's name. */
enum result_shape result_shape_of(struct str method);

struct result_bytes;

/* All-zero but for the arena is an empty one. */
struct cleat_result {
	struct arena arena;
	enum result_shape shape;
	cleat_error error; /* status CLEAT_OK: all is well */
	enum cleat_step step;
	int http_status;
	bool tool_error;
	bool cached;
	const cleat_json *raw;        /* the result; NULL: none */
	const cleat_json *error_json; /* the server's error; NULL: none */
	const cleat_json *error_data; /* NULL: none */
	const cleat_json *items;      /* instead of what the shape says; NULL: as that says */
	const char *text;             /* made when asked for */
	/* content.c: where the last block was found, and what is decoded of which block */
	cleat_json_iter walk;
	struct result_bytes *bytes;
	const cleat_error *misfit; /* of the last cleat_result_record(); NULL: it did fit */
};

/* Empty, with status CLEAT_OK. NULL when out of memory. Free with cleat_result_free(). */
cleat_result *result_new(const cleat_allocator *mem, enum result_shape shape);
/* Sets what went wrong. */
void result_fail(cleat_result *r, enum cleat_step step, int http_status, const cleat_error *why);
/* The value (in r->arena) is the server's result: isError of a tool becomes CLEAT_EREMOTE with the text
 * of its content as the message, what is not an object CLEAT_EPROTO. */
void result_set(cleat_result *r, const cleat_json *value);
/* The value (in r->arena) is a JSON-RPC error object: CLEAT_EREMOTE; what is none CLEAT_EPROTO. */
void result_set_error(cleat_result *r, int http_status, const cleat_json *error);

/* For values that do not fit: CLEAT_EPROTO with "what: " and the first of the problems, which are lines
 * as field_check() and schema_check() write them. */
int result_misfit(cleat_error *err, const char *what, struct str problems);

#endif
