/* cli/arguments.h - words of a command line to JSON, by a schema. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "cli.h"
#include "text.h"

/* The value of one argument as JSON, by its schema (NULL: text). False with the reason in *why (kept until
 * the end of the run): "must be a number, not \"x\"". */
bool argument_value(struct text *out, const cleat_json *schema, const char *value, size_t n,
		    const char **why);
/* "number", "a|b|c", "string[]": what a property wants, for people; kept until the end of the run. */
const char *argument_type(const cleat_json *schema);
/* The schema behind a "$ref" into the same document, and behind an anyOf with null. */
const cleat_json *argument_schema(const cleat_json *root, const cleat_json *schema);
bool argument_required(const cleat_json *schema, const char *name);

#endif
