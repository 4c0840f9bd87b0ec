/* program/serve/prompts/completion.h - suggestions for the arguments of a prompt or the variables of a template.
 *
 *	"complete": { "service": ["nginx", "app"], "unit": {"cmd": ["units", "{service}"]}, "x": {"file": "x.txt"} }
 *
 * A list, the lines of a file (read each time), or the lines that a command prints. The command may name the
 * other arguments, as far as they are known; it has two seconds, and what it said is good for five. What goes
 * wrong is not a suggestion and a remark to the operator: nobody who types wants an error.
 */
#ifndef PROGRAM_SERVE_PROMPTS_COMPLETION_H
#define PROGRAM_SERVE_PROMPTS_COMPLETION_H

#include "serve/command/job.h"
#include "serve/kit/draft.h"

enum {
	COMPLETION_TIMEOUT_MS = 2000,
	COMPLETION_KEPT_MS = 5000,
	COMPLETION_BYTES = 256 << 10,   /* of a command's output */
	COMPLETION_FILE_BYTES = 4 << 20 /* of a file: the words of a language are one */
};

struct completion;

/* From "complete" of the node (absent: *ret is NULL). `names`: an object whose "properties" can be completed.
 * False: problems were added. */
bool completion_read(struct draft *b, const cleat_json *node, const cleat_json *names,
		     struct completion **ret);
/* Accepts NULL. */
void completion_free(struct completion *c);
/* To be returned by a `complete` handler whose userdata begins with `jobs`. `c` may be NULL. */
int completion_reply(struct completion *c, struct jobs *jobs, cleat_request *req);

#endif
