/* program/serve/prompts/prompt.h - a prompt's text: Markdown with messages, places and something in front. */
#ifndef PROGRAM_SERVE_PROMPTS_PROMPT_H
#define PROGRAM_SERVE_PROMPTS_PROMPT_H

#include "base/arena.h"
#include "base/str.h"

#include <cleat/field.h>

enum { PROMPT_FILE_MAX = 1 << 20, PROMPT_MESSAGES_MAX = 256, PROMPT_FILES_MAX = 1000 };

/* What a file says: front matter (all may be NULL or absent), and the rest. In the arena. */
struct prompt_file {
	const char *name, *title, *description;
	const cleat_field *fields; /* NULL: says nothing of arguments */
	struct str body;
};

/* CLEAT_OK, or CLEAT_EINVAL, CLEAT_ELIMIT with the reason in *err, or CLEAT_ENOMEM. `body` points into
 * `text`. */
int prompt_file_parse(struct arena *ar, struct str text, struct prompt_file *ret, cleat_error *err);

struct prompt_message {
	const char *role; /* "user" or "assistant" */
	struct str text;  /* without blank lines around it */
};

/* Divides a body at lines that are "## user" or "## assistant"; the text before the first is the user's.
 * There is at least one message. How many, or 0: more than PROMPT_MESSAGES_MAX. */
size_t prompt_split(struct str body, struct prompt_message ret[PROMPT_MESSAGES_MAX]);

#endif
