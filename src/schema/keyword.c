/* schema/keyword.c - see keyword.h. */
#include "schema/keyword.h"

const struct keyword keywords[KEYWORDS] = {
#define KEYWORD_ROW(NAME, text, holds, speaks)                                                     \
	[KW_##NAME] = { { text, sizeof(text) - 1 }, KW_##NAME, HOLDS_##holds, speaks },
	KEYWORD_MAP(KEYWORD_ROW)
#undef KEYWORD_ROW
};

static int keyword_compare(struct str a, struct str b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

const struct keyword *keyword_find(struct str name, unsigned speaks)
{
	size_t low = 0, high = KEYWORDS;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = keyword_compare(name, keywords[middle].name);

		if (order == 0)
			return keywords[middle].speaks & speaks ? &keywords[middle] : NULL;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}
