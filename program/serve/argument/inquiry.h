/* program/serve/argument/inquiry.h - what the user is asked before a tool works, and the arguments that the work is
 * given: those of the call, the defaults of the others, and the answers.
 */
#ifndef PROGRAM_SERVE_ARGUMENT_INQUIRY_H
#define PROGRAM_SERVE_ARGUMENT_INQUIRY_H

#include "serve/kit/draft.h"

/* "confirm" (text with {arg}) and "ask" ({"message", "fields": signature inside}): a question to the user
 * before the work is done. The answers to "ask" are added to the arguments under their names. */
struct inquiry;
/* NULL: nothing is asked, no argument has a default or is an integer, or a problem was added. It does not need
 * the conf any more. `int64`: integers are numbers of 64 bits where they go to, not text. */
struct inquiry *inquiry_new(struct draft *b, const cleat_json *node, const cleat_tool *t,
			    bool int64);
/* CLEAT_OK and all arguments in *ret (those of the call, defaults filled in, with the answers, integers as their
 * digits: integers.h), or NULL there when a reply says why they cannot be used; otherwise what the handler has to
 * return. q may be NULL (the arguments then). */
int inquiry_ask(const struct inquiry *q, cleat_request *req, const cleat_json **ret_args);
void inquiry_free(struct inquiry *q);

#endif
