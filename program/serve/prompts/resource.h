/* program/serve/prompts/resource.h - the kinds of resources, for resource.c, which tells them apart. */
#ifndef PROGRAM_SERVE_PROMPTS_RESOURCE_H
#define PROGRAM_SERVE_PROMPTS_RESOURCE_H

#include "serve/kit/draft.h"

/* "file" and "glob" (resource_file.c). */
void resource_file(struct draft *b, const char *uri, const cleat_json *node);
void resource_glob(struct draft *b, const char *uri, const cleat_json *node);

/* "title", "description", "mime", "name", "ttl", "icons" and "meta" of any resource; texts live in the conf's arena. */
void resource_describe(struct draft *b, const char *uri, const cleat_json *node,
		       cleat_resource *ret);
/* {"properties": {...}} of a template's variables ({} for a URI without); in the conf's arena. NULL: a problem
 * was added. */
const cleat_json *resource_names(struct draft *b, const char *uri, const cleat_json *node);
/* May a variable's value hold a '/': {+v}, {#v}, {?v}, {&v}, {;v} or {v*}? A value of any other that was given
 * as %2F, or is "." or "..", is an attempt at another path. */
bool resource_is_wide(const char *uri, struct str name);

#endif
