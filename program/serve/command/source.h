/* program/serve/command/source.h - commands as tools: from a value of the configuration to entries of a draft, or problems. */
#ifndef PROGRAM_SERVE_COMMAND_SOURCE_H
#define PROGRAM_SERVE_COMMAND_SOURCE_H

#include "serve/kit/draft.h"

/* tools.NAME with "cmd" or "sh". */
void source_command(struct draft *b, const char *name, const cleat_json *node);

#endif
