/* json/token.h - the smallest parts of a template: words, numbers and quoted text.
 *
 * Private to json/. All of it looks at terminated text, and knows nothing of arguments or structure.
 */
#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "base/buf.h"

static inline bool token_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* May it begin a key without quotes, and stand in one? */
static inline bool token_is_word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static inline bool token_is_word(char c)
{
	return token_is_word_start(c) || token_is_digit(c) || c == '-' || c == '.' || c == '/';
}

/* End of the JSON number at p, or NULL. */
const char *token_number_end(const char *p);
/* The text in quotes, single or double, that begins at p: what it stands for is added to `to`. Gives the end
 * of it, or, with *why, the place where it is wrong. */
const char *token_quoted(const char *p, struct buf *to, const char **why);

#endif
