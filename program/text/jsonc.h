/* program/text/jsonc.h - JSON as people write it: with comments and trailing commas.
 *
 * Text to text, and places in text; what is valid is the parser's to say. Of the program, not of the
 * library: `cleat serve` reads its configuration with this, cli/ those of other programs.
 */
#ifndef PROGRAM_TEXT_JSONC_H
#define PROGRAM_TEXT_JSONC_H

#include <cleat/json.h>

/* Makes strict JSON of it in place: comments, commas before a closing bracket and a byte order mark
 * become spaces, so that every position stays what it was. */
void jsonc_blank(char *text, size_t n);
/* Where the value at a path of keys stands in strict JSON: line and column from 1. False: not found. */
bool jsonc_locate(const char *text, size_t n, const char *const *path, size_t depth,
		  size_t *ret_line, size_t *ret_column);
/* Line and column (characters) of an offset, from 1. */
void jsonc_line(const char *text, size_t at, size_t *ret_line, size_t *ret_column);
/* Where each value and key begins in strict JSON, in the order of the text: at most `max` offsets. Gives
 * how many there are. */
size_t jsonc_values(const char *text, size_t n, uint32_t *ret, size_t max);
/* For whoever changes such a text. Behind the comment that begins at i; i itself when there is none. */
size_t jsonc_comment_end(const char *text, size_t n, size_t i);
/* Behind the value that begins at i in strict JSON (blanks before it are skipped). */
size_t jsonc_value_end(const char *text, size_t n, size_t i);

#endif
