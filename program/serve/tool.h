/* program/serve/tool.h - what tool.c shares with question.c and other sources. See build.h for the rest. */
#ifndef PROGRAM_SERVE_TOOL_H
#define PROGRAM_SERVE_TOOL_H

#include "serve/build.h"

/* The JSON Schema of the inside of a signature ("a: number, b?: string") as text in the conf's scratch; as a
 * form that a client can draw where that is wanted. NULL: a problem was added. */
const char *tool_fields(struct build *b, const cleat_json *at, bool form);
/* [{"src", "mimeType", "sizes", "theme"}]; NULL for NULL. */
const cleat_icon *tool_icons(struct build *b, const cleat_json *list);

#endif
