/* program/serve/command/exitmap.h - what an exit status means: "exit": {"1": "ok", "2": {"error": "no match for {pattern}"}}.
 *
 * "ok": the output is the result; "error": the tool failed, in its own words; {"error": TEXT}: it failed, in
 * these; {"text": TEXT}: it went well, and this is the result. "*" is every status that is not named. 0 is
 * "ok" and the others are "error" where nothing is said.
 */
#ifndef PROGRAM_SERVE_COMMAND_EXITMAP_H
#define PROGRAM_SERVE_COMMAND_EXITMAP_H

#include "serve/argument/argtext.h"

enum exit_meaning { EXIT_OK, EXIT_ERROR, EXIT_ERROR_TEXT, EXIT_TEXT };

struct exit_rule {
	int status; /* -1: all others */
	enum exit_meaning meaning;
	const struct argtext *text;
};

struct exitmap {
	struct exit_rule *rules;
	size_t n;
};

/* From "exit" (NULL: the usual). `names` as for argtext_new(); `structured`: a text cannot be the result.
 * False: problems were added. */
bool exitmap_read(struct exitmap *m, struct draft *b, struct arena *ar, const cleat_json *node,
		  const cleat_json *names, bool structured);
/* Never NULL. */
const struct exit_rule *exitmap_find(const struct exitmap *m, int status);

#endif
