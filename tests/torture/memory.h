/* memory.h - what src/base/mem.c calls instead of malloc and realloc when it is built for torture. */
#ifndef TORTURE_MEMORY_H
#define TORTURE_MEMORY_H

#include <stddef.h>

void *torture_malloc(size_t size);
void *torture_realloc(void *p, size_t size);

#endif
