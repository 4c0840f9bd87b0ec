/* child/plan.h - what a child is started with: the program's file, arguments, environment.
 *
 * All of it is made before the fork, because after it nothing may be allocated. The environment is
 * by default only what every program expects (HOME, LOGNAME, PATH, SHELL, TERM, USER): our own may
 * hold the keys of other services, and a server is somebody else's program.
 */
#ifndef CHILD_PLAN_H
#define CHILD_PLAN_H

#include "base/arena.h"
#include "child/child.h"

struct child_plan {
	const char *path; /* relative to cwd */
	char **argv;
	char **envp; /* sorted by nothing, each name once */
	const char *cwd;
};

enum { CHILD_WORDS_MAX = 65536 /* arguments; variables */ };

/* Everything is in `ar`. CLEAT_OK; CLEAT_EINVAL (no program, a variable without a name); CLEAT_EIO with errno
 * (no such program in PATH), CLEAT_ENOMEM. */
int child_plan_make(struct child_plan *p, const struct child_options *o, struct arena *ar,
		    cleat_error *err);

#endif
