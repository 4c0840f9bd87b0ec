/* json/canonical.h - one spelling for equal JSON, so that it can be hashed.
 *
 * Compact text with the members of every object sorted by the bytes of their (decoded) keys. It is
 * narrower than equality (cleat_json_equal): numbers keep the text they came with, so 1 and 1.0
 * differ, and members with the same key keep their order. That is right for telling "the same
 * request again" from another one. It is not RFC 8785 (JCS), which sorts by UTF-16 and prints every
 * number as a double.
 */
#ifndef JSON_CANONICAL_H
#define JSON_CANONICAL_H

#include "base/buf.h"

#include <cleat/json.h>

/* Appends the canonical text of v (NULL writes null). CLEAT_OK; CLEAT_ELIMIT for values nested
 * deeper than 1024, for objects inside each other with over a million members in all, and when the
 * buf is full; CLEAT_ENOMEM. On failure the buf is cut back to where it was; one that had failed
 * before stays as it is. `mem` may be NULL; it serves for the work only. O(n log n), iterative. */
int json_write_canonical(struct buf *out, const cleat_json *v, const cleat_allocator *mem);
/* The same without some members of the outermost object: `skip` holds `n_skip` terminated keys. */
int json_write_canonical_without(struct buf *out, const cleat_json *v, const char *const *skip,
				 size_t n_skip, const cleat_allocator *mem);

#endif
