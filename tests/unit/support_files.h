/* tests/unit/support_files.h - files of unit tests: the descriptors that are open, and a directory of the
 * test's own, one at a time. What cannot be done aborts.
 */
#ifndef TESTS_SUPPORT_FILES_H
#define TESTS_SUPPORT_FILES_H

#include <stddef.h>

/* Not the number itself, but one that differs when a descriptor is left. */
size_t open_fds(void);

/* The directory, empty, under /tmp; "" before and after. */
extern char scratch_dir[64];

/* For cmocka, as setup and teardown of a test or of a group. */
int scratch_begin(void **state);
int scratch_end(void **state);
/* The path of something in it, in one of eight buffers. */
const char *scratch_path(const char *name);
/* Writes a file in it. */
void scratch_put(const char *name, const char *text);

#endif
