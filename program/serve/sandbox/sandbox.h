/* program/serve/sandbox/sandbox.h - what a command may touch: Landlock for files and TCP, seccomp for the rest.
 *
 *   "sandbox": { "read": ["docs"], "write": ["out"], "net": false }
 *
 * "read": paths that may be read and executed, besides the system's programs and libraries (the list is
 * in paths.c and in the guide; "system": false leaves them out) and the command itself. "write": paths
 * that may be read and changed, but nothing there executed. "net": false forbids every socket (and TCP by
 * Landlock, too); true allows TCP and UDP. Unix sockets are never to be had unless "unix" is true, which
 * is a way out: Landlock does not see who is connected to by a path, and behind such paths are services
 * that start programs for whoever asks (D-Bus, systemd, Docker).
 *
 * New privileges are never to be had (no_new_privs), and those of root are dropped but for access to files.
 * What else is refused is in filter.c: ptrace, mount, bpf, io_uring, namespaces, ...
 *
 * A sandbox that this kernel cannot enforce is an error when the configuration is read, and it is tried out
 * then. Files and sockets are enforced from Landlock's ABI 1 on (truncation below ABI 3 with the help of
 * seccomp). Signals to processes outside can be kept back from ABI 6 on only: sandbox_remark() says so.
 */
#ifndef PROGRAM_SERVE_SANDBOX_SANDBOX_H
#define PROGRAM_SERVE_SANDBOX_SANDBOX_H

#include <cleat/base.h>

enum { SANDBOX_PATHS_MAX = 256 };

struct sandbox;

struct sandbox_spec {
	const char *const *read;  /* absolute paths; end with NULL; NULL: none */
	const char *const *write; /* absolute paths; NULL: none */
	bool net;
	bool unix_sockets;
	bool no_modes;  /* not even where something may be written */
	bool no_system; /* not even programs and libraries */
	const char *
		program; /* argv[0] as configured, so that it and its interpreter can be run; NULL */
	const char *cwd; /* what a relative program is relative to; NULL: our directory */
};

/* Compiled once for a tool: paths are made real (no symbolic link in them is followed later) and the filter
 * is made; then a process tries to enter. NULL: *err says why (a path that does not exist, a kernel that cannot, no
 * libseccomp). Counted: sandbox_unref(). */
struct sandbox *sandbox_new(const struct sandbox_spec *spec, const cleat_allocator *mem,
			    cleat_error *err);
struct sandbox *sandbox_ref(struct sandbox *s);
void sandbox_unref(struct sandbox *s); /* accepts NULL */

/* What one process needs to enter it: the rules for the paths as they are now. */
struct sandbox_pass {
	const struct sandbox *sandbox;
	int rules; /* a descriptor above 15; -1: none */
};

/* CLEAT_OK, or *err says which path is not there any more. The sandbox must outlive it. */
int sandbox_pass_new(const struct sandbox *s, struct sandbox_pass *ret, cleat_error *err);
void sandbox_pass_done(struct sandbox_pass *pass);
/* In the child between fork and exec: async-signal-safe. `ctx` is a pass. 0 or an errno. (It is made for
 * struct child_options.prepare.) */
int sandbox_enter(const void *ctx);

/* What this kernel does not enforce although every sandbox wants it; NULL: nothing. */
const char *sandbox_remark(void);
/* What this kernel can do: lines for people. */
void sandbox_probe(void (*say)(void *ctx, int level, const char *line), void *ctx);

#endif
