/* program/text/nearest.c - "did you mean" for words that somebody has typed: a little more generous than the library is
 * with names that programs send (base/str.h), because verbs and options are short and only a few.
 */
#include "text/nearest.h"

#include "base/str.h"

const char *nearest(const char *name, const char *const *names, size_t n)
{
	size_t length = strlen(name), limit = length / 4 + 1, distance;
	const char *found = NULL;

	for (size_t i = 0; i < n && limit; i++) {
		distance = str_distance(str_of(name), str_of(names[i]), limit);
		/* Nothing of "rm" is in "ls": a name is not near when all of it differs. */
		if (distance < length && distance < strlen(names[i])) {
			limit = distance ? distance - 1 : 0;
			found = names[i];
		}
	}
	/* "sum" is meant to be "get-sum": the only one that contains it. */
	for (size_t i = 0; i < n && !found && length >= 3; i++)
		if (strstr(names[i], name))
			found = names[i];
	return found;
}
