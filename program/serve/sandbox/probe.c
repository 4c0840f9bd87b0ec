/* program/serve/sandbox/probe.c - what this kernel can and cannot enforce, in words; see sandbox.h. */
#include "serve/sandbox/sandbox.h"

#include "serve/sandbox/filter.h"
#include "serve/sandbox/landlock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

struct talk {
	void (*say)(void *ctx, int level, const char *line);
	void *ctx;
};

static void probe_tell(const struct talk *t, int level, const char *what, const char *how)
{
	char line[256];

	snprintf(line, sizeof line, "  %-35s %s", what, how);
	t->say(t->ctx, level, line);
}

static void tell_kernel(const struct talk *t, int abi)
{
	struct utsname u;
	char line[256], version[64];

	if (uname(&u))
		memset(&u, 0, sizeof u);
	if (abi > 0)
		snprintf(version, sizeof version, "ABI %d", abi);
	else
		snprintf(version, sizeof version, "not available (%s)", strerror(-abi));
	snprintf(line, sizeof line, "%.60s %.60s: Landlock %s, seccomp filters %s", u.sysname,
		 u.release, version, filter_probe() ? "not available" : "available");
	t->say(t->ctx, abi > 0 ? CLEAT_LOG_INFO : CLEAT_LOG_ERROR, line);
}

/* The kernel has what it takes; this says also whether a process really can enter, and that libseccomp is
 * there. */
static bool try_one(const struct talk *t)
{
	cleat_error err = { 0 };
	struct sandbox *s = sandbox_new(&(struct sandbox_spec){ 0 }, NULL, &err);
	char line[sizeof err.message + 64];

	if (s) {
		sandbox_unref(s);
		return true;
	}
	snprintf(line, sizeof line, "  sandboxes are not available: %s", err.message);
	t->say(t->ctx, CLEAT_LOG_ERROR, line);
	return false;
}

const char *sandbox_remark(void)
{
	int abi = landlock_abi();

	return abi >= 1 && abi < LANDLOCK_SCOPE
		       ? "on this kernel a sandboxed command can send signals to other processes of "
			 "the same user; preventing that needs Linux 6.12 (Landlock ABI 6)"
		       : NULL;
}

void sandbox_probe(void (*say)(void *ctx, int level, const char *line), void *ctx)
{
	const struct talk t = { say, ctx };
	int abi = landlock_abi();

	tell_kernel(&t, abi);
	if (!try_one(&t))
		return;
	probe_tell(&t, CLEAT_LOG_INFO, "reading, executing, changing files", "enforced (Landlock)");
	probe_tell(&t, CLEAT_LOG_INFO, "emptying files",
		   abi >= LANDLOCK_TRUNCATE
			   ? "enforced (Landlock)"
			   : "enforced (seccomp: truncate(2) is refused everywhere)");
	probe_tell(&t, CLEAT_LOG_INFO, "moving between allowed directories",
		   abi >= LANDLOCK_REFER
			   ? "enforced (Landlock)"
			   : "refused everywhere (to be allowed it needs Linux 5.19)");
	probe_tell(&t, CLEAT_LOG_INFO, "network",
		   abi >= LANDLOCK_TCP ? "enforced (seccomp; TCP by Landlock, too)"
				       : "enforced (seccomp)");
	probe_tell(&t, CLEAT_LOG_INFO, "Unix sockets", "enforced (seccomp)");
	probe_tell(&t, abi >= LANDLOCK_SCOPE ? CLEAT_LOG_INFO : CLEAT_LOG_WARNING,
		   "signals to others",
		   abi >= LANDLOCK_SCOPE ? "enforced (Landlock)"
					 : "NOT enforced (needs Linux 6.12, Landlock ABI 6)");
	probe_tell(&t, CLEAT_LOG_INFO, "other processes, mounts, the kernel",
		   "enforced (seccomp, no_new_privs)");
	probe_tell(&t, CLEAT_LOG_INFO, "modes, owners, times of files",
		   "enforced (seccomp) where \"write\" is empty; \"modes\": false keeps modes");
	probe_tell(&t, CLEAT_LOG_INFO, "that a file exists, its size, times",
		   "NOT enforced by any kernel");
}
