/* tests/unit/support.h - what several unit tests need: an allocator that fails when told to, and
 * the test data.
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <cleat/base.h>

#include <stdio.h>

/* An allocator on malloc whose n-th allocation (malloc or growing realloc alike) fails.
 *
 *	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
 *		... work with &fa.hook ...
 *	}
 *
 * Blocks carry their size: a wrong old_size, a foreign pointer or a double free aborts. The struct
 * must not move while it is in use. Not thread-safe. */
struct fail_alloc {
	cleat_allocator hook; /* give &fa.hook wherever a const cleat_allocator * is wanted */
	size_t countdown;     /* this many requests from now one fails (1: the next); 0: none */
	bool forever;         /* after it, fail every one */
	size_t live;          /* blocks that are not freed */
	size_t bytes;         /* in them */
	size_t peak;          /* most bytes at any time */
	size_t requests;      /* since init */
	size_t failures;      /* since init */
	size_t round;         /* of fail_alloc_next(): which request fails */
	bool lasting;         /* in its second half */
};

/* countdown 0 never fails: only counts. */
void fail_alloc_init(struct fail_alloc *fa, size_t countdown, bool forever);
/* Did a request fail since init? */
bool fail_alloc_hit(const struct fail_alloc *fa);
/* Begins the next of these rounds: the first request fails, the second, ... until none of a round fails;
 * then the same with all the requests after it failing, too. False at the end of both. `fa` begins as
 * { 0 }. A round has to give back all that it took: what is left ends the program. */
bool fail_alloc_next(struct fail_alloc *fa);
/* In a round: from here on nothing fails; from here on its requests are counted. For a part of the work. */
void fail_alloc_calm(struct fail_alloc *fa);
void fail_alloc_arm(struct fail_alloc *fa);

/* JSON that is easier to read in C: ' is written for ". In one of eight buffers. */
const char *json_of(const char *text);

/* The path of a file in the test data: $CLEAT_TEST_DATA, or ../shared/data beside the source tree; else
 * .deps/data, where scripts/setup puts what it can get. False when there is no such file (or directory): skip() then. */
bool support_data_path(char *buf, size_t n, const char *name);
/* A copy, from malloc, in which ' has become ": JSON that can be read in a table. */
char *support_json(const char *text);
/* A whole file, terminated, from malloc; NULL when it cannot be read. */
char *support_read_file(const char *path, size_t *ret_len);

#endif
