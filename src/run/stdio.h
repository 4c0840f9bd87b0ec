/* run/stdio.h - taking standard input and output away from the program, and giving them back.
 *
 * While they are taken, the protocol has descriptors of its own that no child process inherits;
 * descriptor 0 is /dev/null and descriptor 1 is a copy of 2. So a printf() in a tool, or a command
 * that it starts, can neither corrupt the protocol nor eat its input.
 */
#ifndef RUN_STDIO_H
#define RUN_STDIO_H

#include <cleat/base.h>

struct stdio_claim {
	int in, out;
};

/* CLEAT_OK, CLEAT_EINVAL (standard input or output is closed) or CLEAT_EIO; then nothing has
 * changed. */
int stdio_take(struct stdio_claim *c, cleat_error *err);
void stdio_give_back(struct stdio_claim *c);

#endif
