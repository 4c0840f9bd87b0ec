/* program/text/nearest.c - "did you mean": the nearest of some names, by letters that differ. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* How many letters have to be put in, taken out, changed or swapped; capital letters and _ for - count
 * as the same. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[3][LONGEST + 1];
	size_t n = strlen(b);

	for (unsigned j = 0; j <= n; j++)
		row[0][j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *older = row[(i + 1) % 3];
		int x = tolower((unsigned char)a[i - 1]);

		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			int y = tolower((unsigned char)b[j - 1]);
			bool same = x == y || (strchr("-_", x) && strchr("-_", y));

			now[j] = least(before[j] + 1, now[j - 1] + 1, before[j - 1] + !same);
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) && older[j - 2] + 1 < now[j])
				now[j] = older[j - 2] + 1;
		}
	}
	return row[strlen(a) % 3][n];
}

const char *cli_nearest(const char *name, const char *const *names, size_t n)
{
	size_t length = strlen(name);
	unsigned best = (unsigned)(length / 4 + 2); /* fewer than this many letters */
	const char *found = NULL;

	if (length > LONGEST || !length)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t other = strlen(names[i]);
		unsigned d;

		if (other > LONGEST)
			continue;
		d = distance(name, names[i]);
		/* Nothing of "rm" is in "ls": a name is not near when all of it differs. */
		if (d < best && d < length && d < other) {
			best = d;
			found = names[i];
		}
	}
	/* "sum" is meant to be "get-sum": the only one that contains it. */
	for (size_t i = 0; i < n && !found && length >= 3; i++)
		if (strstr(names[i], name))
			found = names[i];
	return found;
}
