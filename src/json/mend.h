/* json/mend.h - texts of peers that break a rule of JSON but can only mean one thing: a byte order mark in front
 * (RFC 8259 section 8.1: a parser MAY ignore it), and the escape of half a surrogate pair (section 8.2: the grammar
 * allows it, no UTF-8 text can hold it), which programs write that cut their strings by UTF-16 units.
 *
 * Both are looked for only after a text was refused. Not for texts of our own, nor of people: they can be told.
 */
#ifndef JSON_MEND_H
#define JSON_MEND_H

#include "json/parse.h"

enum { JSON_MENDED_BOM = 1, JSON_MENDED_SURROGATE = 2 };

/* As json_parse(). What had to be mended goes to *mended (the bits above; 0: nothing), also when the text is
 * refused all the same. */
int json_parse_peer(struct arena *ar, struct str text, const cleat_json_limits *limits,
		    const cleat_json **ret, unsigned *mended, cleat_error *err);
/* The text with a half of a pair as U+FFFD, in the arena, and without the mark; *mended is 0, and *ret the text
 * itself, when there is nothing of the kind. CLEAT_OK or CLEAT_ENOMEM. */
int json_mend(struct arena *ar, struct str text, struct str *ret, unsigned *mended);
/* What was done, for people; static. */
const char *json_mended_words(unsigned mended);

#endif
