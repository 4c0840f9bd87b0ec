/* match.h - is this message the expected one? And the words of a transcript that stand for values.
 *
 * Messages are compared member by member, in any order; numbers by their text, so that 1 and 1.0
 * differ. In an expected message "<any>" fits everything, "<capture:NAME>" too and remembers it, and
 * "<NAME>" is what was remembered.
 */
#ifndef WIRE_MATCH_H
#define WIRE_MATCH_H

#include "text.h"

#include <cleat/json.h>

/* Names and what they stand for: $NAME by "! let", "<NAME>" by capture. */
struct words {
	struct word {
		struct word *next;
		char *name;
		struct text value; /* let: plain text; capture: JSON */
		bool captured;
	} * first;
};

void words_set(struct words *w, const char *name, size_t n, const char *value, bool captured);
const char *words_get(const struct words *w, const char *name, size_t n, bool captured);
void words_free(struct words *w);
/* Appends `s` with $NAME and "<NAME>" replaced; unknown names stay as they are. */
void words_expand(const struct words *w, const char *s, struct text *into);

/* True when `got` is what `want` says. Otherwise *why tells the first difference. */
bool match_message(struct words *w, const cleat_json *want, const cleat_json *got,
		   struct text *why);

/* A key that appears twice somewhere in v; NULL: none. */
const char *match_duplicate(const cleat_json *v);

#endif
