/* program/serve/sandbox/paths.h - the paths of a sandbox: the system's, those that are asked for, the program's.
 *
 * A path that was asked for is made real when the configuration is read. From then on no symbolic link in
 * it is followed: who may write beside it could else lead the next process elsewhere. A file that is
 * replaced under the same name is found again.
 */
#ifndef PROGRAM_SERVE_SANDBOX_PATHS_H
#define PROGRAM_SERVE_SANDBOX_PATHS_H

#include "base/arena.h"
#include "serve/sandbox/landlock.h"
#include "serve/sandbox/sandbox.h"

struct sandbox_path {
	const char *path;
	enum landlock_use use;
	bool optional; /* one of the system's: may be missing, and may be a symbolic link */
};

struct sandbox_paths {
	const struct sandbox_path *list;
	size_t n;
};

/* Everything is in `ar`. CLEAT_OK, CLEAT_EINVAL (what is wrong with a path), CLEAT_ENOMEM. */
int sandbox_paths_make(struct sandbox_paths *ret, const struct sandbox_spec *spec, struct arena *ar,
		       cleat_error *err);
/* Adds them to the rules as they are now. CLEAT_OK or CLEAT_EIO. */
int sandbox_paths_allow(const struct sandbox_paths *p, int rules, cleat_error *err);

#endif
