/* base/sized.h - public structs that may grow, between a program and a library of different age.
 *
 * A struct that goes to a function travels with the size that the program was compiled with. A shorter one
 * is filled up with zeros, which everywhere mean the default. A longer one was written for a newer library:
 * it is taken as long as what is not known here is zero, and refused otherwise, since something was asked
 * for that would not be done. A struct that cannot travel with its size (inside another one, in an array)
 * has reserved room instead, of which the same is asked.
 */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/cold.h"
#include <cleat/base.h>

/* Fills `to`, of `known` bytes, from the `given` bytes at `from` (NULL: all zero). CLEAT_OK, or
 * CLEAT_EUNSUPPORTED with the reason in *err (may be NULL); `to` is filled either way. */
int sized_take(void *to, size_t known, const void *from, size_t given, const char *name,
	       cleat_error *err);
/* The other way: fills a struct of the program's, of `given` bytes; what is not known here is zero. */
void sized_give(void *to, size_t given, const void *from, size_t known);
/* Is the reserved room of a struct zero? Otherwise CLEAT_EUNSUPPORTED, as above. */
int sized_reserved(const void *room, size_t n, const char *name, cleat_error *err);

/* `to` and `from` are pointers to the struct; `given` is its size there. */
#define SIZED_TAKE(to, from, given, type, err)                                                     \
	sized_take((to), sizeof(type), (const type *)(from), (given), #type, (err))
#define SIZED_RESERVED(s, type, err)                                                               \
	sized_reserved((s)->reserved, sizeof(s)->reserved, #type, (err))

#endif
