/* program/serve/web/source.h - HTTP requests as tools: from a value of the configuration to entries of a draft, or problems. */
#ifndef PROGRAM_SERVE_WEB_SOURCE_H
#define PROGRAM_SERVE_WEB_SOURCE_H

#include "serve/kit/draft.h"

/* tools.NAME with "http" (web.c). */
void source_web(struct draft *b, const char *name, const cleat_json *node);
/* openapi.NAME (openapi.c). */
void source_openapi(struct draft *b, const char *name, const cleat_json *node);

#endif
