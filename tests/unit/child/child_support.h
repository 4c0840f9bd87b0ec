/* tests/unit/child_support.h - for tests that start processes: waiting for conditions, looking at
 * processes from outside, and what the test program does when it is started as a child of itself.
 */
#ifndef TESTS_CHILD_SUPPORT_H
#define TESTS_CHILD_SUPPORT_H

#include "loop/loop.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 }; /* how long a condition may take before the test gives up */

/* ---- waiting ------------------------------------------------------------------------------ */

/* Steps the loop until `cond` is true. */
#define UNTIL(loop, cond)                                                                          \
	do {                                                                                       \
		uint64_t until_end = loop_now() + PATIENCE_MS;                                     \
		while (!(cond)) {                                                                  \
			int until_rc = cleat_loop_step(loop, 20);                                  \
			assert_true(until_rc == CLEAT_OK || until_rc == CLEAT_ECLOSED);            \
			assert_true(loop_now() < until_end);                                       \
		}                                                                                  \
	} while (0)

/* For what happens without a loop. */
#define UNTIL_TRUE(cond)                                                                           \
	do {                                                                                       \
		uint64_t until_end = loop_now() + PATIENCE_MS;                                     \
		while (!(cond)) {                                                                  \
			poll(NULL, 0, 2);                                                          \
			assert_true(loop_now() < until_end);                                       \
		}                                                                                  \
	} while (0)

/* ---- processes ---------------------------------------------------------------------------- */

/* Fields of /proc/PID/stat. False when there is no such process. */
struct proc_look {
	char state;
	int parent, group, session;
	char name[32];
};

static inline bool look_at_process(int pid, struct proc_look *p)
{
	char path[64], text[1024], *rest;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = 0;
	rest = strrchr(text, ')');
	if (!rest)
		return false;
	*rest = 0;
	snprintf(p->name, sizeof p->name, "%s", strchr(text, '(') + 1);
	return sscanf(rest + 1, " %c %d %d %d", &p->state, &p->parent, &p->group, &p->session) == 4;
}

/* There is nothing left of it that could do anything. (A zombie of somebody else's, of init's in a
 * container without one, is not ours to reap.) */
static inline bool gone(int pid)
{
	struct proc_look p;

	return !look_at_process(pid, &p) || p.state == 'Z' || p.state == 'X';
}

/* No child of any kind, dead or alive. */
static inline bool no_children(void)
{
	return waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD;
}

/* libuv keeps descriptors for the process; the tests count them. */
static inline int warm_up(void **state)
{
	(void)state;
	cleat_loop_free(cleat_loop_new(NULL));
	return 0;
}

/* ---- the program as its own child --------------------------------------------------------- */

static inline const char *myself(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(n > 0);
	path[n] = 0;
	return path;
}

/* The descriptors that are open, but for the one that looks. */
static inline void print_fds(void)
{
	for (int fd = 0; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	printf("\n");
}

/* "--play WHAT": true when this is the child, which has done it. */
static inline bool played(int argc, char **argv)
{
	extern char **environ;

	if (argc != 3 || strcmp(argv[1], "--play") != 0)
		return false;
	if (strcmp(argv[2], "fds") == 0)
		print_fds();
	else if (strcmp(argv[2], "env") == 0)
		for (char **e = environ; *e; e++)
			puts(*e);
	return true;
}

#endif
