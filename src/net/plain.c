/* net/plain.c - see plain.h. */
#include "net/plain.h"

#include "base/str.h"
#include "wording/show.h"

enum { NO_BREAK_SPACE = 0xA0 };

void plain(char *p, size_t n)
{
	struct str s = { p, n };

	for (size_t i = 0; i < n;) {
		size_t from = i;
		uint32_t c = utf8_next(s, &i);

		if (c == '\t')
			p[from] = ' ';
		else if (c != ' ' && c != NO_BREAK_SPACE &&
			 show_visible((struct str){ p + from, n - from }) == 0)
			memset(p + from, '?', i - from);
	}
}
