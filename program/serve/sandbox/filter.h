/* program/serve/sandbox/filter.h - seccomp: the system calls that a sandboxed command does not have.
 *
 * What Landlock does not see is refused by number and argument here: sockets, changes of modes and times
 * where nothing may be written, the ways into other processes and the kernel, and system calls that are
 * newer than this file. Everything else is allowed: programs go on to work.
 *
 * libseccomp makes the program when a configuration is read; entering it is one system call.
 */
#ifndef PROGRAM_SERVE_SANDBOX_FILTER_H
#define PROGRAM_SERVE_SANDBOX_FILTER_H

#include <cleat/base.h>

struct filter_wish {
	bool inet;   /* TCP and UDP */
	bool unix_;  /* sockets to be connected to what has a name in the file system */
	bool change; /* times of files; set-id bits never */
	bool modes;  /* modes and owners of files, too */
	bool truncate; /* Landlock does not see truncation: nothing is opened for reading and emptied */
};

struct filter {
	void *code; /* what SECCOMP_SET_MODE_FILTER wants */
	unsigned short length;
};

/* CLEAT_OK; CLEAT_EUNSUPPORTED (no libseccomp, no seccomp), CLEAT_ENOMEM, CLEAT_EIO. */
int filter_new(struct filter *ret, const struct filter_wish *w, const cleat_allocator *mem,
	       cleat_error *err);
void filter_done(struct filter *f, const cleat_allocator *mem);
/* In the child: async-signal-safe; no_new_privs must be set. 0 or errno. */
int filter_enter(const struct filter *f);
/* 0, or why this kernel has no filters: an errno. */
int filter_probe(void);

#endif
