/* wording/show.h - JSON values and text as they appear in messages and in signatures.
 *
 * What is shown comes from the other side and ends up on terminals and in front of models, so it
 * is bounded, on one line, and free of control and direction-changing characters (they are written
 * as JSON escapes). Not here: JSON for the wire (json/writer.h).
 */
#ifndef WORDING_SHOW_H
#define WORDING_SHOW_H

#include "base/buf.h"
#include "base/str.h"

#include <cleat/json.h>

enum { SHOW_CHARS = 60 };

/* A JSON string literal of at most `max` characters of s; "…" comes before the closing quote
 * where something was cut off. Without a cut it parses to s again. */
void show_quoted(struct buf *b, struct str s, size_t max);
/* A value, cut to SHOW_CHARS. NULL shows as nothing at all ("nothing"). */
void show_value(struct buf *b, const cleat_json *v);
/* Text as it is, with unsafe characters written as JSON escapes. */
void show_plain(struct buf *b, struct str s);
/* A name: plain when it is a word (see show_is_word), quoted otherwise. */
void show_name(struct buf *b, struct str s);
/* Does s fit the WORD rule of docs/signatures.md: letters, digits and _ $ . / + - after a first
 * letter, _ or $, no two dots in a row? Other characters from U+00A1 on count as letters. */
bool show_is_word(struct str s);
/* Length of the character that s starts with, if it can be seen and does nothing else; else 0. */
size_t show_visible(struct str s);
/* Length of the word that s starts with; 0 when it starts with none. */
size_t show_word(struct str s);

#endif
