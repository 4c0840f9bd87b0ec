/* program/serve/sandbox/landlock.h - Landlock: which paths, TCP ports, signals and sockets a process may use.
 *
 * By the bare system calls, with numbers of our own: the C library has no functions for them, and its headers
 * are older than the kernels that programs run on. What a kernel does not know is left out (its ABI
 * tells); who asks for a sandbox decides whether that is enough.
 */
#ifndef PROGRAM_SERVE_SANDBOX_LANDLOCK_H
#define PROGRAM_SERVE_SANDBOX_LANDLOCK_H

#include <cleat/base.h>

enum landlock_abi {
	LANDLOCK_FILES = 1,    /* Linux 5.13 */
	LANDLOCK_REFER = 2,    /* 5.19: moving and linking between directories can be allowed */
	LANDLOCK_TRUNCATE = 3, /* 6.2 */
	LANDLOCK_TCP = 4,      /* 6.7 */
	LANDLOCK_IOCTL = 5,    /* 6.10: of devices */
	LANDLOCK_SCOPE = 6     /* 6.12: signals and abstract Unix sockets stay inside */
};

/* The kernel's ABI, or -errno: ENOSYS (it has none), EOPNOTSUPP (switched off). */
int landlock_abi(void);
/* For tests: an older kernel, or one without (-errno). 0: the real one. */
void landlock_pretend(int abi);

/* What may be done with what is at a path and beneath it. */
enum landlock_use {
	LANDLOCK_READ,   /* read files and directories */
	LANDLOCK_RUN,    /* and execute */
	LANDLOCK_CHANGE, /* read, write, make, move, remove; not execute, and no device files */
	LANDLOCK_DEVICE  /* read, write and control a device */
};

/* An empty set of rules: nothing is allowed. `tcp`: all of TCP is. A descriptor above 15, or -errno. */
int landlock_rules_new(bool tcp);
/* Adds what is at an open path (O_PATH). 0 or -errno. */
int landlock_rules_add(int rules, int path_fd, enum landlock_use use);
/* In the child: async-signal-safe; no_new_privs must be set. 0 or errno. */
int landlock_enter(int rules);

#endif
