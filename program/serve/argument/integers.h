/* program/serve/argument/integers.h - integers as their digits.
 *
 * JSON writes one integer in many ways: 12, 12.0, 1.2e1. All of them are integers to a schema, but to a script, a
 * database or somebody else's parser only the first one is. So what the schema calls an integer is given on
 * in digits, wherever it stands in the arguments; one that has no digits worth writing (1e400) is refused.
 */
#ifndef PROGRAM_SERVE_ARGUMENT_INTEGERS_H
#define PROGRAM_SERVE_ARGUMENT_INTEGERS_H

#include "json/build.h"

struct integers {
	const cleat_json
		*schema; /* an object with "properties", and "$defs" if there are any; NULL: none */
	bool int64;      /* digits that do not fit into 64 bits, with a sign, are refused, too */
};

/* Adds key and value, with integers as their digits. What is refused latches in `to`, in words for the model. */
void integers_put(const struct integers *n, struct build *to, struct str key,
		  const cleat_json *value);

#endif
