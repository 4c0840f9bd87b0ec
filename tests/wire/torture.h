/* torture.h - a transcript again and again, each time with another allocation of the server failing.
 *
 * Not what the transcript expects is checked then, but what must hold always: every line is a
 * message; a request gets one answer, no more, and no less unless it was cancelled or could not be
 * read (which is said); once memory is back the next request works; nothing is left behind.
 */
#ifndef WIRE_TORTURE_H
#define WIRE_TORTURE_H

#include "script.h"

struct torture_counts {
	size_t allocations; /* that a run without failures makes (the most, over all slicings) */
	size_t runs;
};

/* Once for each allocation, and once for it and all that follow. Allocations count from the first
 * connection on, or from_start: from the making of the server. Runs in a process of its own, so that
 * a crash is a finding like others. False with *why. */
bool torture_run(const struct script *script, const char *revision, bool from_start,
		 struct torture_counts *counts, struct text *why);

#endif
