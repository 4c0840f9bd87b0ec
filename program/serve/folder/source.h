/* program/serve/folder/source.h - folders: from a value of the configuration to entries of a draft, or problems. */
#ifndef PROGRAM_SERVE_FOLDER_SOURCE_H
#define PROGRAM_SERVE_FOLDER_SOURCE_H

#include "serve/kit/draft.h"

/* folders.NAME. */
void source_folder(struct draft *b, const char *name, const cleat_json *node);

#endif
