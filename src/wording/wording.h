/* wording/wording.h - phrases that field tables and JSON Schemas have in common, so that a model reads
 * the same words whichever way a tool was declared. What is shown of values: wording/show.h.
 */
#ifndef WORDING_WORDING_H
#define WORDING_WORDING_H

#include "base/buf.h"
#include "base/str.h"

/* " of 1 to 80 characters", " of at least 1 element", " of 3 members". UINT64_MAX: no maximum;
 * nothing when there is neither. */
void wording_size(struct buf *b, uint64_t min, uint64_t max, const char *unit);
/* "3 characters", "1 element". */
void wording_count(struct buf *b, uint64_t n, const char *unit);
/* "unknown argument \"cty\"", and " (did you mean \"city\"?)" if something is near. */
void wording_unknown(struct buf *b, const char *member, const struct str_nearest *near);

#endif
