/* program/serve/kit/taken.h - files that nobody else in this process may open: databases, as long as they are served.
 *
 * When any descriptor of a file is closed, all of the process's locks on that file are gone, whoever took them
 * (POSIX; sqlite.org/howtocorrupt.html, 2.2). So a database that a folder's tool has read is one that another
 * program may write to in the middle of a transaction of ours. To look at a file with O_PATH or stat() is
 * harmless. The files beside a database ("-wal", "-shm", "-journal") are part of it: without them, or with others, it
 * is broken.
 *
 * Any thread.
 */
#ifndef PROGRAM_SERVE_KIT_TAKEN_H
#define PROGRAM_SERVE_KIT_TAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

/* One that is taken; part of whoever has taken it. */
struct taken {
	struct taken *next;
	const char *path; /* for those beside it */
	const char *tool; /* that works with it; NULL: not known */
	uint64_t device, inode;
};

/* Entry and path stay where they are until it is removed. */
void taken_add(struct taken *t);
void taken_remove(struct taken *t); /* also one that was not added */
/* The file is this one now (NULL: none); it has this tool. */
void taken_set_file(struct taken *t, const struct stat *st);
void taken_set_tool(struct taken *t, const char *tool);

/* Is there any at all? */
bool taken_any(void);
enum { TAKEN_WORDS = 200 };
/* Is this file, which is called `name` where it was found, taken? `why` (may be NULL): words for an error, what to
 * use instead. */
bool taken_is(const struct stat *st, const char *name, char why[TAKEN_WORDS]);
/* Closes a descriptor of a file that turned out to be taken after all: it stays open, for closing it would do the
 * harm. */
void taken_leave_open(int fd);

#endif
