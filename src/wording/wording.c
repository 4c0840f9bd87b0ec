/* wording/wording.c - see wording.h. */
#include "wording/wording.h"

#include "wording/show.h"

#include <inttypes.h>

void wording_count(struct buf *b, uint64_t n, const char *unit)
{
	buf_printf(b, "%" PRIu64 " %s%s", n, unit, n == 1 ? "" : "s");
}

void wording_size(struct buf *b, uint64_t min, uint64_t max, const char *unit)
{
	if (min == 0 && max == UINT64_MAX)
		return;
	buf_appendz(b, " of ");
	if (max == UINT64_MAX)
		buf_appendz(b, "at least ");
	else if (min == 0)
		buf_appendz(b, "at most ");
	else if (min != max)
		buf_printf(b, "%" PRIu64 " to ", min);
	wording_count(b, max == UINT64_MAX ? min : max, unit);
}

void wording_unknown(struct buf *b, const char *member, const struct str_nearest *near)
{
	buf_printf(b, "unknown %s ", member);
	show_quoted(b, near->wanted, SHOW_CHARS);
	if (!near->best.p)
		return;
	buf_appendz(b, " (did you mean ");
	show_quoted(b, near->best, SHOW_CHARS);
	buf_appendz(b, "?)");
}
