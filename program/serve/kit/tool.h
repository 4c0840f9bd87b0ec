/* program/serve/kit/tool.h - what tools of all kinds have in common: description, arguments, hints, limits. */
#ifndef PROGRAM_SERVE_KIT_TOOL_H
#define PROGRAM_SERVE_KIT_TOOL_H

#include "serve/kit/draft.h"

/* "args" (inside of a signature, or a JSON Schema object), "title", "description", "hints", "icons",
 * "outputSchema" (signature text or schema), "meta" of a tool's configuration -> the members of *ret
 * (texts live in the conf's scratch). False: problems were added. */
bool tool_describe(struct draft *b, const char *name, const cleat_json *node, cleat_tool *ret);
/* {"properties": ...}: the arguments of a tool and the fields of its "ask", for text with {places}; with the
 * definitions that they refer to. Never NULL; in the conf's scratch. */
const cleat_json *tool_arguments(struct draft *b, const cleat_json *node, const cleat_tool *t);
/* Limits that every tool has ("timeout", "output_limit", "concurrency"), from the node, then "defaults". */
struct tool_limits {
	uint64_t timeout_ms;  /* 30 s; 0: never ("none") */
	size_t output_max;    /* 1 MiB */
	unsigned concurrency; /* 4; more wait; see gate.h */
};
struct tool_limits tool_limits(struct draft *b, const cleat_json *node);

/* The JSON Schema of the inside of a signature ("a: number, b?: string") as text in the conf's scratch; as a
 * form that a client can draw where that is wanted. NULL: a problem was added. */
const char *tool_fields(struct draft *b, const cleat_json *at, bool form);
/* [{"src", "mimeType", "sizes", "theme"}]; NULL for NULL. */
const cleat_icon *tool_icons(struct draft *b, const cleat_json *list);

#endif
