/* json/copy.h - a value that is to outlive its document.
 *
 * Both go by way of the text: numbers stay as they were written, and nothing recurses. The memory in
 * between comes from the arena's own allocator and is given back.
 */
#ifndef JSON_COPY_H
#define JSON_COPY_H

#include "base/arena.h"

#include <cleat/json.h>

/* The same value in another arena. CLEAT_OK, CLEAT_ENOMEM or CLEAT_ELIMIT. */
int json_copy(struct arena *ar, const cleat_json *v, const cleat_json **ret);
/* Compact text on one line, terminated, in the arena; absent when out of memory. */
struct str json_text(struct arena *ar, const cleat_json *v);

#endif
