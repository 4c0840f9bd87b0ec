/* loop/fswatch.h - files and directories that are watched for changes (inotify, through libuv).
 *
 * Changes are gathered: what is told is told once things have been quiet for a moment, or after half a
 * second of unrest. A watch survives what editors and deployments do: a new file renamed over the old one,
 * a symbolic link that is turned elsewhere, a directory that goes and comes again.
 *
 * Not here: directories below a directory (watch each of them), and what has changed in a file. Loop
 * thread.
 */
#ifndef LOOP_FSWATCH_H
#define LOOP_FSWATCH_H

#include "loop/loop.h"

struct fswatch;

/* What CLEAT_ELIMIT means, for a message. */
#define FSWATCH_LIMITS                                                                             \
	"a limit is reached (fs.inotify.max_user_watches, fs.inotify.max_user_instances, or "      \
	"open files)"

enum { FSWATCH_QUIET_MS = 50, FSWATCH_LONGEST_MS = 500, FSWATCH_NAMES_MAX = 256 };

/* Calls fn(ctx) when the file is another one than before: replaced, written, gone, there again (its
 * identity, size and times are compared). It need not exist yet, its directory must. CLEAT_OK;
 * CLEAT_ENOENT (no such directory), CLEAT_ELIMIT (the system's limit of watches), CLEAT_EIO,
 * CLEAT_ENOMEM. */
int fswatch_file(cleat_loop *l, const char *path, void (*fn)(void *ctx), void *ctx,
		 struct fswatch **ret);
/* Calls fn for each entry of a directory that has come, gone or changed; `name` NULL: the directory itself
 * has, or there were too many to tell: look at all. `name` is valid during the call. */
int fswatch_directory(cleat_loop *l, const char *path, void (*fn)(void *ctx, const char *name),
		      void *ctx, struct fswatch **ret);
/* Accepts NULL. Also from inside fn. */
void fswatch_free(struct fswatch *w);

#endif
