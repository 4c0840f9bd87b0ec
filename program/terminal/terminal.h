/* program/terminal/terminal.h - questions to whoever sits at the terminal. */
#ifndef PROGRAM_TERMINAL_TERMINAL_H
#define PROGRAM_TERMINAL_TERMINAL_H

#include "cli/run.h"
#include "text/text.h"

struct terminal;

/* The terminal of the process, or stdin and stderr where both are one. NULL: there is none. */
struct terminal *terminal_open(void);
void terminal_close(struct terminal *t);
/* The following questions end when this request is cancelled. */
void terminal_begin(struct terminal *t, cleat_request *req);

/* All of these give CLEAT_OK, CLEAT_EDECLINED or CLEAT_ECANCELLED. */

/* Asks for the fields of a form that are not in the object `given`. *ret is all of them, to be freed with
 * cleat_doc_free(); NULL when there is none. */
int terminal_form(struct terminal *t, const char *message, const cleat_json *schema,
		  const cleat_json *given, cleat_doc **ret);
int terminal_url(struct terminal *t, const char *message, const char *url);
int terminal_sampling(struct terminal *t, const cleat_json *params, struct text *ret);

#endif
