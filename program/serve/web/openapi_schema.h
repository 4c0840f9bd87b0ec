/* program/serve/web/openapi_schema.h - schemas of an OpenAPI document as JSON Schema 2020-12.
 *
 * Swagger 2.0 and OpenAPI 3.0 have a dialect of their own ("nullable", "exclusiveMinimum": true, "example");
 * 3.1 is 2020-12. What a tool's arguments refer to ("#/components/schemas/Pet") is collected and stands in
 * "$defs" behind them, each once: a schema that refers to itself stays finite. References to other documents
 * are never followed.
 */
#ifndef PROGRAM_SERVE_WEB_OPENAPI_SCHEMA_H
#define PROGRAM_SERVE_WEB_OPENAPI_SCHEMA_H

#include "json/writer.h"

enum { OPENAPI_DEPTH = 48, OPENAPI_REFS_MAX = 200, OPENAPI_DEF_MAX = 80, OPENAPI_FOUND = 4096 };

/* A document, and where references in it led to: a name is looked for among all names of its object, and
 * the same few are wanted by every operation. */
struct openapi_doc {
	const cleat_json *root;
	struct {
		const char *ref; /* NULL: free */
		const cleat_json *target;
	} found[OPENAPI_FOUND];
};

struct openapi_schemas {
	struct openapi_doc *doc;
	const char *refs[OPENAPI_REFS_MAX]; /* what was referred to, in order */
	const cleat_json *targets[OPENAPI_REFS_MAX];
	char names[OPENAPI_REFS_MAX][OPENAPI_DEF_MAX]; /* in "$defs" */
	size_t n;
	bool loose;   /* leave out what a checker may choke on: patterns and formats */
	bool request; /* leave out members that only answers have (readOnly) */
	bool full; /* there were too many references, or it was too deep: something was left open */
};

/* What "#/a/b" leads to, over several steps; the value itself when it is not a reference; NULL: nothing. */
const cleat_json *openapi_resolve(struct openapi_doc *doc, const cleat_json *v);
/* Writes a schema as a value. */
void openapi_write(struct openapi_schemas *s, struct jw *w, const cleat_json *schema);
/* The members of a schema object, without its braces. */
void openapi_write_members(struct openapi_schemas *s, struct jw *w, const cleat_json *schema,
			   unsigned depth);
/* Writes "$defs": {...}, of all that was referred to so far and of what these refer to; nothing when nothing
 * was. */
void openapi_write_defs(struct openapi_schemas *s, struct jw *w);

#endif
