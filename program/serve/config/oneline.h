/* program/serve/config/oneline.h - a tool in one line of the command line: NAME(args) "description": COMMAND
 *
 * The signature is that of docs/signatures.md; after it a colon, and what to run. As a script (--sh) that
 * is one text; as a command (--cmd) it is words, divided by blanks, with '...' and "..." around what belongs
 * together and \ before a single character outside of '...'. No shell has a part in this, and no character
 * but these has a meaning.
 */
#ifndef PROGRAM_SERVE_CONFIG_ONELINE_H
#define PROGRAM_SERVE_CONFIG_ONELINE_H

#include "base/arena.h"

enum { ONELINE_MAX = 64 << 10, ONELINE_WORDS_MAX = 1024 };

struct oneline {
	const char *name;
	const char *schema;      /* JSON Schema of the arguments, as text */
	const char *description; /* NULL: none */
	const char *rest;        /* what to run, without white space around it; never empty */
	size_t column;           /* of rest, from 1 */
};

/* CLEAT_OK; CLEAT_EINVAL, CLEAT_ELIMIT with the column in *err, or CLEAT_ENOMEM. */
int oneline_parse(struct arena *ar, const char *text, struct oneline *ret, cleat_error *err);
/* The words of `text`, of which the first stands in column `column`; at least one; ends with NULL.
 * Errors as above. */
int oneline_words(struct arena *ar, const char *text, size_t column, const char *const **ret,
		  cleat_error *err);

#endif
