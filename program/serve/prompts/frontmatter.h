/* program/serve/prompts/frontmatter.h - the few lines of YAML between --- and --- at the beginning of a Markdown file.
 *
 * A subset that people write there, and nothing of YAML that could surprise (no anchors, tags, documents,
 * merge keys):
 *
 *	name: review
 *	description: "Looks over a change"    # plain, '...' or "..." (escapes as in JSON)
 *	title: >                              # | keeps line ends, > folds them
 *	  Review a change
 *	tags: [a, b]
 *	args:
 *	  - name: path                        # a list of texts, or of key: value lines
 *	    required: true
 *	  - { name: depth, required: false }
 *
 * Values are texts; true, false and null (~, or nothing) are what they say. Numbers and dates stay text. What
 * is not understood is an error with its line, never a guess.
 */
#ifndef PROGRAM_SERVE_PROMPTS_FRONTMATTER_H
#define PROGRAM_SERVE_PROMPTS_FRONTMATTER_H

#include "base/arena.h"

#include <cleat/json.h>

enum { FRONTMATTER_MAX = 64 << 10, FRONTMATTER_LINES = 2000 };

/* Splits a file into what stands in front (an object; {} when there is nothing) and its body. A byte order
 * mark and CRLF are taken as what they are. CLEAT_OK; CLEAT_EINVAL or CLEAT_ELIMIT with "line N: ..." in *err;
 * CLEAT_ENOMEM. `text` need not be terminated; *ret_body points into it. */
int frontmatter_split(struct arena *ar, struct str text, const cleat_json **ret_front,
		      struct str *ret_body, cleat_error *err);

#endif
