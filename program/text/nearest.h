/* program/text/nearest.h - "did you mean". */
#ifndef PROGRAM_TEXT_NEAREST_H
#define PROGRAM_TEXT_NEAREST_H

#include <stddef.h>

/* The nearest of some names, NULL: none is near. */
const char *nearest(const char *name, const char *const *names, size_t n);

#endif
