/* http/token.h - the characters of tokens (RFC 9110 section 5.6.2), of which names of methods and
 * header fields are made.
 */
#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include "base/str.h"

/* The lower case of a token character, 0 for every other byte. */
extern const unsigned char http_token[256];

static inline char http_token_lower(char c)
{
	return (char)http_token[(unsigned char)c];
}

/* At least one character, and all of them are. */
bool http_is_token(struct str s);
/* Without the optional white space (spaces and tabs) around it. */
struct str http_trim(struct str s);

#endif
