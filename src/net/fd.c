/* net/fd.c - see fd.h. */
#define _DEFAULT_SOURCE /* syscall */

#include "net/fd.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int fd_look(struct fd_end *e, int fd, bool write, cleat_error *err)
{
	struct stat st;
	int mode;

	*e = (struct fd_end){ .fd = fd, .flags = fcntl(fd, F_GETFL) };
	if (e->flags < 0 || fstat(fd, &st)) {
		error_set(err, CLEAT_EINVAL, "descriptor %d: %s", fd, strerror(errno));
		if (err)
			err->os_errno = errno;
		return CLEAT_EINVAL;
	}
	mode = e->flags & O_ACCMODE;
	if (mode == (write ? O_RDONLY : O_WRONLY))
		return error_set(err, CLEAT_EINVAL, "descriptor %d is not open for %s", fd,
				 write ? "writing" : "reading");
	e->socket = S_ISSOCK(st.st_mode);
	e->pipe = S_ISFIFO(st.st_mode);
	e->terminal = isatty(fd);
	return CLEAT_OK;
}

void fd_restore(const struct fd_end *e)
{
	int now = e->flags < 0 ? -1 : fcntl(e->fd, F_GETFL);

	if (now >= 0 && now != e->flags)
		fcntl(e->fd, F_SETFL, e->flags);
}

ptrdiff_t fd_read(const struct fd_end *e, void *p, size_t n)
{
	ssize_t got;

	do {
		got = read(e->fd, p, n);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Takes the SIGPIPE that a write has just caused, which waits because it is blocked. */
static void swallow(const sigset_t *sigpipe)
{
	sigset_t pending;
	int sig;

	if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1)
		sigwait(sigpipe, &sig);
}

/* Only sockets have MSG_NOSIGNAL. For the rest the signal is blocked in this thread; one that was
 * blocked and waiting already belongs to the program and stays. */
static ptrdiff_t write_masked(int fd, const void *p, size_t n)
{
	sigset_t sigpipe, before, pending;
	bool theirs = false;
	ssize_t done;
	int error;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	if (sigismember(&before, SIGPIPE) == 1)
		theirs = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
	done = write(fd, p, n);
	error = errno;
	if (done < 0 && error == EPIPE && !theirs)
		swallow(&sigpipe);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return done < 0 ? -error : done;
}

/* For pipes Linux has the like of MSG_NOSIGNAL from 6.18 on, which saves two system calls. False: it
 * has not. */
static bool write_quietly(int fd, const void *p, size_t n, ptrdiff_t *done)
{
#ifdef SYS_pwritev2
	enum { NOSIGNAL = 0x100 /* RWF_NOSIGNAL */ };
	static atomic_bool missing; /* the same for all pipes and threads */
	/* It only reads. */
	struct iovec part = { (void *)p, n };

	if (atomic_load_explicit(&missing, memory_order_relaxed))
		return false;
	*done = syscall(SYS_pwritev2, fd, &part, 1ul, -1l, -1l, NOSIGNAL);
	if (*done >= 0)
		return true;
	*done = -errno;
	if (*done != -EOPNOTSUPP && *done != -EINVAL && *done != -ENOSYS && *done != -EPERM)
		return true;
	atomic_store_explicit(&missing, true, memory_order_relaxed);
#else
	(void)fd, (void)p, (void)n, (void)done;
#endif
	return false;
}

ptrdiff_t fd_write(const struct fd_end *e, const void *p, size_t n)
{
	ptrdiff_t done;

	do {
		if (e->socket)
			done = send(e->fd, p, n, MSG_NOSIGNAL);
		else if (e->masked)
			done = write(e->fd, p, n);
		else if (!e->pipe || !write_quietly(e->fd, p, n, &done))
			done = write_masked(e->fd, p, n);
		if (done < 0 && (e->socket || e->masked))
			done = -errno;
	} while (done == -EINTR);
	return done;
}

ptrdiff_t fd_write_pair(const struct fd_end *e, struct str a, struct str b)
{
	/* sendmsg() only reads. */
	struct iovec parts[2] = { { (char *)a.p, a.n }, { (char *)b.p, b.n } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t done;

	do {
		done = sendmsg(e->fd, &m, MSG_NOSIGNAL);
	} while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : done;
}
