/* program/serve/command/family.h - what a process has started, as /proc tells: how many there are, how much memory they have.
 *
 * A look, not a promise: they come and go meanwhile. Threads are part of their process. Memory is what is their
 * own; a page that several have since a fork counts once. Memory that was made to be shared and files in
 * memory (/dev/shm) do not count: nobody can tell whose they are. Kernels without CONFIG_PROC_CHILDREN show nobody.
 */
#ifndef PROGRAM_SERVE_COMMAND_FAMILY_H
#define PROGRAM_SERVE_COMMAND_FAMILY_H

#include <stddef.h>
#include <stdint.h>

enum { FAMILY_MAX = 4096 };

struct family {
	size_t processes; /* at most FAMILY_MAX + 1 */
	uint64_t memory;  /* bytes */
};

/* All descendants of `root`, without itself. Where their memory looks like more than `memory_max`, the look
 * is a closer one. */
struct family family_look(int root, uint64_t memory_max);

#endif
