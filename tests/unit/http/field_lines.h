/* field_lines.h - header fields for tests, written as "Name: value". */
#ifndef TESTS_FIELD_LINES_H
#define TESTS_FIELD_LINES_H

#include "http/fields.h"

/* Splits lines, which end with NULL or after `most` of them, and gives their number. Nothing is checked or
 * trimmed but one space; a line without a colon is a name. */
static inline size_t field_lines(struct http_field *to, size_t most, const char *const *lines)
{
	size_t n = 0;

	for (; lines && n < most && lines[n]; n++) {
		size_t name = strcspn(lines[n], ":");
		const char *value = lines[n] + name + (lines[n][name] != 0);

		to[n] = (struct http_field){ { lines[n], name }, str_of(value + (*value == ' ')) };
	}
	return n;
}

#endif
