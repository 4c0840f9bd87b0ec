/* net/fd.h - reading and writing descriptors of any kind without surprises: no SIGPIPE, no
 * EINTR, and a non-blocking mode that is given back.
 *
 * The descriptors stay the caller's. Nothing of the process is changed: SIGPIPE is held back for the
 * thread during one write, not ignored.
 */
#ifndef NET_FD_H
#define NET_FD_H

#include "base/str.h"

#include <cleat/base.h>

#include <errno.h>

struct fd_end {
	int fd;
	int flags; /* as they were; -1: nothing to give back */
	bool socket, pipe;
	bool terminal;
	bool masked; /* SIGPIPE needs no care here: the process ignores it */
};

/* Looks at a descriptor. CLEAT_OK, or CLEAT_EINVAL when it is closed or was not opened for reading
 * (`write` false) or writing. */
int fd_look(struct fd_end *e, int fd, bool write, cleat_error *err);
/* Gives back the flags that it had. */
void fd_restore(const struct fd_end *e);

/* As read() and write(), but the result is -errno on failure and never -EINTR. */
ptrdiff_t fd_read(const struct fd_end *e, void *p, size_t n);
ptrdiff_t fd_write(const struct fd_end *e, const void *p, size_t n);
/* a and then b, with one call; for sockets. */
ptrdiff_t fd_write_pair(const struct fd_end *e, struct str a, struct str b);

/* Does the result of one of these say that it has to be tried again later? */
static inline bool fd_would_block(ptrdiff_t rc)
{
	return rc == -EAGAIN || rc == -EWOULDBLOCK;
}

#endif
