/* program/serve/kit/output.h - what a command printed, as a tool's result: "output" and "outputSchema".
 *
 *	"text"        text; what is not UTF-8 in it becomes U+FFFD, binary data is an error
 *	"json"        text that must be JSON
 *	"structured"  JSON as structured content; it has to fit "outputSchema", if there is one
 *	"image/png"   a MIME type: bytes of that type (text/... is text)
 */
#ifndef PROGRAM_SERVE_KIT_OUTPUT_H
#define PROGRAM_SERVE_KIT_OUTPUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "serve/kit/draft.h"

#include <cleat/schema.h>

enum output_kind { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_STRUCTURED, OUTPUT_BLOB };

struct output {
	enum output_kind kind;
	const char *mime;     /* OUTPUT_BLOB */
	cleat_schema *schema; /* NULL: none */
};

/* From the node and what tool_describe() made of it (output_schema). False: problems were added. Texts go
 * into the arena. */
bool output_read(struct output *o, struct draft *b, struct arena *ar, const cleat_json *node,
		 const cleat_tool *t);
void output_done(struct output *o);
/* Replies with `out`, or with an error in which the program is called `who`. */
int output_reply(const struct output *o, cleat_request *req, const char *who, struct str out);

/* Is it text: no NUL, and at most one byte in ten that is not UTF-8? */
bool output_is_text(struct str s);
/* Appends s as text: no NUL, valid UTF-8. */
void output_write_text(struct buf *b, struct str s);
/* Without one line end at its end. */
struct str output_chomp(struct str s);

#endif
