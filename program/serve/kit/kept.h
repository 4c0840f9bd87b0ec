/* program/serve/kit/kept.h - what a command said a moment ago: a few texts, each under a key, each for a while.
 *
 * Places are used in turn. Larger texts are not kept. Loop thread only.
 */
#ifndef PROGRAM_SERVE_KIT_KEPT_H
#define PROGRAM_SERVE_KIT_KEPT_H

#include "base/str.h"

#include <cleat/base.h>

enum { KEPT_PLACES = 8, KEPT_BYTES_MAX = 1 << 20 };

/* All-zero is empty. */
struct kept {
	struct kept_text {
		char *key; /* NULL: nothing here */
		char *text;
		size_t n;
		uint64_t until;
	} places[KEPT_PLACES];
	size_t turn;
};

/* Keeps a copy for `ms` from now; without memory it does not. */
void kept_put(struct kept *k, const cleat_allocator *mem, const char *key, struct str text,
	      uint64_t ms);
/* True and the text, good until the next kept_put(). */
bool kept_find(const struct kept *k, const char *key, struct str *ret);
void kept_clear(struct kept *k, const cleat_allocator *mem);

#endif
