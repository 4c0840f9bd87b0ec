/* program/serve/prompts/source.h - prompts and single resources: from a value of the configuration to entries of a draft, or problems. */
#ifndef PROGRAM_SERVE_PROMPTS_SOURCE_H
#define PROGRAM_SERVE_PROMPTS_SOURCE_H

#include "serve/kit/draft.h"

/* resources.URI: "file", "glob", "cmd"/"sh", "text"; a URI with {} is a template (resource.c). */
void source_resource(struct draft *b, const char *uri, const cleat_json *node);
/* prompts.NAME: "file" or "text" (prompt.c), and each of prompt_dirs. */
void source_prompt(struct draft *b, const char *name, const cleat_json *node);
void source_prompt_dir(struct draft *b, const cleat_json *node);

#endif
