/* json/skim.h - a look into a JSON text without reading it: the members of an object, or the elements of an
 * array, one after the other, with the text of each value.
 *
 *	struct skim s = skim_text(text);
 *	struct str key, value;
 *
 *	if (skim_enter(&s, '{'))
 *		while (skim_member(&s, &key)) {
 *			value = skim_value(&s);		or skim_enter(&s, '{') and so on, to its end
 *			...
 *		}
 *	if (skim_is_over(&s)) ...		it was complete
 *
 * For those that peek: one pass, no allocation, never past the end of the text. It knows what belongs to
 * which object in every JSON text (strings, escapes, nesting, members in any order) and is not misled by what
 * stands in strings or further down. It is not a check: numbers, escapes and the grammar inside of values that
 * are skipped are not looked at (brackets have to match, down to 1,024 of them), and a key may appear twice. Who
 * has to be sure parses (json/parse.h).
 */
#ifndef JSON_SKIM_H
#define JSON_SKIM_H

#include "base/str.h"

struct skim {
	const char *p, *end; /* what is left */
	bool fresh;          /* nothing was taken from what was entered last */
	bool bad;            /* something is not where it must be; p is at the end then */
};

/* A byte order mark in front is skipped (json/mend.h). */
static inline struct skim skim_text(struct str text)
{
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		text = (struct str){ text.p + 3, text.n - 3 };
	return (struct skim){ .p = text.p, .end = text.p + text.n };
}

/* Goes into the object '{' or the array '[' that is next; false, without a step, when there is none. */
bool skim_enter(struct skim *s, char bracket);
/* The key of the next member, as it is between its quotes; its value is next. False after the last one, which
 * leaves the object, and when s is bad. */
bool skim_member(struct skim *s, struct str *key);
/* The same for an array: is there another element? It is next. */
bool skim_element(struct skim *s);
/* The text of the next value, strings with their quotes, and a step over it. Absent when s is bad. */
struct str skim_value(struct skim *s);
/* Nothing was bad, and nothing but white space is left. */
bool skim_is_over(struct skim *s);

/* The text of the first member with this key (ASCII) of a text that is an object; absent where there is none. */
struct str skim_find(struct str text, const char *key);

/* Is what is between quotes this word (ASCII)? Escapes are read: "i\u0064" is "id". */
bool skim_is(struct str quoted, const char *word);
/* Is a value the string of this word? */
bool skim_is_text(struct str value, const char *word);
/* A value that is a whole number of up to 18 digits, written without fraction and exponent. */
bool skim_whole(struct str value, int64_t *ret);

#endif
