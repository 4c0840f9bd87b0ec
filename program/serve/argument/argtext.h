/* program/serve/argument/argtext.h - text with places for arguments: "--depth={depth}", "{path}", "{tags}".
 *
 * {name} is replaced by the argument's value: a string as it is, a number as it was written (integers come
 * here as their digits: integers.h), true or false, anything else as JSON; null counts as not given. {*} is all
 * arguments as one JSON object (not in prompts). {{ and }} are braces. A name that the tool does not declare is a problem when the configuration is read.
 * Values are never looked at again: no quoting, no expansion, no shell.
 *
 * As an element of a command ("cmd"):
 *   - an element that is {name} and nothing else, of an array, becomes one element for each of its values;
 *   - an element that names an argument which was not given (and has no default) is left out;
 *   - a value that is at the beginning of its element and begins with '-' would be read as an option: it is
 *     refused, unless "--" comes before it in the command or the element says {name:dash}.
 *   - a NUL byte is refused everywhere, and so is what the system does not take as one word (128 KiB).
 */
#ifndef PROGRAM_SERVE_ARGUMENT_ARGTEXT_H
#define PROGRAM_SERVE_ARGUMENT_ARGTEXT_H

#include "base/arena.h"
#include "base/buf.h"

#include "serve/kit/draft.h"

struct argtext;

enum {
	ARGTEXT_PARTS_MAX = 1024,
	ARGTEXT_WORD_MAX = 128 * 1024 - 1, /* MAX_ARG_STRLEN of Linux, without the NUL */
	ARGTEXT_WORDS_MAX = 64 * 1024      /* elements of one command */
};

/* How braces are read. Prompts are prose and code: there only {name} of a declared argument is a place,
 * {{name}} is the text {name}, and every other brace is what it is. */
enum argtext_style { ARGTEXT_STRICT, ARGTEXT_PROSE };

/* Compiles into the arena. `schema`: an object whose "properties" are the names; NULL: any name will do
 * (not with ARGTEXT_PROSE). NULL with the reason in *err, which names the column. */
const struct argtext *argtext_parse(struct arena *ar, struct str text, const cleat_json *schema,
				    enum argtext_style style, cleat_error *err);
/* The same, strict, with a problem at `at` instead. The arena is the entry's own: the configuration may be
 * gone while a call runs. `text` is given expanded. */
const struct argtext *argtext_new(struct draft *b, struct arena *ar, const cleat_json *at,
				  const char *text, const cleat_json *schema);
/* Is there no place in it? Then *ret (may be NULL) is its text. */
bool argtext_is_fixed(const struct argtext *t, struct str *ret);
/* Is there a place for this argument in it? {*} is one for each. */
bool argtext_names(const struct argtext *t, struct str name);

/* Appends the text. *ret_missing (may be NULL): an argument without a value was named (nothing is in its
 * place). The buf's status. */
int argtext_write(const struct argtext *t, const cleat_json *args, struct buf *out,
		  bool *ret_missing);
/* Appends the value of one argument; false when it has none. */
bool argtext_value(struct buf *out, const cleat_json *value);
/* The elements of a command, in the arena; ends with NULL. NULL: *err says why (CLEAT_EINVAL, CLEAT_ELIMIT:
 * the value cannot be given this way, in words for the model; CLEAT_ENOMEM). */
const char **argtext_words(const struct argtext *const *elements, size_t n, const cleat_json *args,
			   struct arena *ar, cleat_error *err);

/* The text; lives as long as the request. *ret_missing as above. NULL: a reply with the reason was made
 * (return CLEAT_OK): a NUL byte, or no memory. */
const char *argtext_render(const struct argtext *t, cleat_request *req, const cleat_json *args,
			   bool *ret_missing);

#endif
