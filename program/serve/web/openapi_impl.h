/* program/serve/web/openapi_impl.h - what the parts of openapi.c share: a document, an operation, its arguments.
 *
 * openapi.c reads the document and chooses operations, openapi_operation.c finds what an operation takes,
 * openapi_tool.c writes it down as a tool's configuration.
 */
#ifndef PROGRAM_SERVE_WEB_OPENAPI_IMPL_H
#define PROGRAM_SERVE_WEB_OPENAPI_IMPL_H

#include "serve/kit/draft.h"
#include "serve/web/openapi_schema.h"

enum { OPENAPI_ARGS_MAX = 100, OPENAPI_NAME_MAX = 64 /* with its end */ };

/* A document that is being read. */
struct api {
	struct draft *b;
	const cleat_json *node; /* of the configuration */
	struct openapi_doc *doc;
	const char
		*server; /* as the configuration or the document has it: ${...} is not expanded */
	const char *address; /* the same, expanded */
	bool v2;
	bool ours; /* `server` is the configuration's */
};

/* What fills a place of the request. */
struct arg {
	char name[OPENAPI_NAME_MAX + 8]; /* in the tool */
	const char *wire;                /* in the request */
	const char *in;                  /* "path", "query", "header", "body", "form", "whole" */
	const cleat_json *schema;        /* NULL: any text */
	const char *about;
	bool required;
	bool commas; /* a list is one value, with commas */
};

struct operation {
	const struct api *api;
	struct arena *ar; /* for what is needed as long as this one is being read */
	const char *method, *path;
	const cleat_json *node, *shared; /* `shared`: of its path */
	struct arg args[OPENAPI_ARGS_MAX];
	size_t n;
	const char *body_type; /* NULL: none */
	size_t written;        /* bytes of schemas, also of those that were no good */
	const char *why;       /* not NULL: it cannot be a tool */
};

/* Letters, digits and _ only: every client takes that, and so does a template. Never empty; `room` counts the
 * end. */
void openapi_make_name(char *to, size_t room, const char *from);
/* A member's text; NULL: there is none. */
const char *openapi_text(const cleat_json *v, const char *key);

/* Finds the arguments, or says in op->why what is in the way. */
void operation_read(struct operation *op);
/* The tool's configuration, in op->ar. NULL: op->why. */
const cleat_json *operation_tool(struct operation *op);

#endif
