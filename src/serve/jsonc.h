/* cli/jsonc.h - JSON as people write it: with comments and trailing commas. */
#ifndef CLI_JSONC_H
#define CLI_JSONC_H

#include <cleat/json.h>

/* Makes strict JSON of it in place: comments, commas before a closing bracket and a byte order mark
 * become spaces, so that every position stays what it was. */
void jsonc_blank(char *text, size_t n);
/* Where the value at a path of keys stands in strict JSON: line and column from 1. False: not found. */
bool jsonc_locate(const char *text, size_t n, const char *const *path, size_t depth,
		  size_t *ret_line, size_t *ret_column);

#endif
