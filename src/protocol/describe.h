/* protocol/describe.h - tools, resources, templates, prompts and implementations as lists show them.
 *
 * Each is written in the shape of the reader's revision; fields that it does not know are left out.
 * The structs are the public ones, checked at registration; schemas come as finished JSON.
 */
#ifndef PROTOCOL_DESCRIBE_H
#define PROTOCOL_DESCRIBE_H

#include "protocol/revision.h"
#include "json/writer.h"

#include <cleat/server.h>

/* A tool's schemas as finished JSON. */
struct tool_schemas {
	struct str input;
	struct str output;     /* absent: none */
	bool output_is_object; /* its type is "object" */
};

void describe_tool(struct jw *w, unsigned features, const cleat_tool *t,
		   const struct tool_schemas *schemas);
void describe_resource(struct jw *w, unsigned features, const cleat_resource *r);
void describe_template(struct jw *w, unsigned features, const cleat_resource *r);
void describe_prompt(struct jw *w, unsigned features, const cleat_prompt *p);
void describe_implementation(struct jw *w, unsigned features, const char *name, const char *version,
			     const cleat_server_options *o);

#endif
