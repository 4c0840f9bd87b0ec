/* json/copy.h - a value that is to outlive its document: as a value, or as text.
 *
 * Numbers stay as they were written, and nothing recurses.
 */
#ifndef JSON_COPY_H
#define JSON_COPY_H

#include "base/arena.h"

#include <cleat/json.h>

/* The same value in another arena. CLEAT_OK or CLEAT_ENOMEM. */
int json_copy(struct arena *ar, const cleat_json *v, const cleat_json **ret);
/* Compact text on one line, terminated, in the arena; absent when out of memory. */
struct str json_text(struct arena *ar, const cleat_json *v);

#endif
