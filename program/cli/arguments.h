/* program/cli/arguments.h - words of a command line to a JSON value, by a schema. */
#ifndef PROGRAM_CLI_ARGUMENTS_H
#define PROGRAM_CLI_ARGUMENTS_H

#include "cli/run.h"
#include "text/text.h"

/* key=value, key:=json, key=@file, key:=@file, "-" (an object from stdin), by the schema (NULL: strings
 * stay strings). An object, to be freed with cleat_doc_free(), or NULL after a message; checks required
 * members, types and unknown names ("did you mean"). */
cleat_doc *cli_arguments(struct cli *cli, const char *what, int argc, const char **argv,
			 const cleat_json *schema, int *ret_code);

/* The value of one argument, by its schema (NULL: text), whose "$ref" point into `root` (NULL: there are
 * none). NULL with the reason in *why (kept until the end of the run): "must be a number, not \"x\"". Free
 * with cleat_doc_free(). */
cleat_doc *argument_value(const cleat_json *root, const cleat_json *schema, const char *value,
			  size_t n, const char **why);
/* "number", "a|b|c", "string[]": what a property wants, for people; kept until the end of the run. */
const char *argument_type(const cleat_json *schema);
/* The schema behind a "$ref" into the same document, an anyOf with null, or an allOf of one. */
const cleat_json *argument_schema(const cleat_json *root, const cleat_json *schema);
bool argument_required(const cleat_json *schema, const char *name);
/* May a value be of this type ("number")? A schema that says nothing about types allows all. */
bool argument_allows(const cleat_json *root, const cleat_json *schema, const char *type);
bool argument_allows_number(const cleat_json *root, const cleat_json *schema);
/* Text, and nothing that text could be taken for; an array, and nothing that a single word could be. */
bool argument_is_text(const cleat_json *root, const cleat_json *schema);
bool argument_is_list(const cleat_json *root, const cleat_json *schema);
/* What the elements of an array have to be; NULL: it is not said. */
const cleat_json *argument_items(const cleat_json *root, const cleat_json *schema);
/* The values to choose from: an enum, or with *consts the branches of a oneOf, each with a const. NULL: it
 * is no such schema. */
const cleat_json *argument_choices(const cleat_json *schema, bool *consts);

#endif
