/* run/cancelfd.c - see cancelfd.h. */
#define _POSIX_C_SOURCE 200809L

#include "run/cancelfd.h"

#include "base/mem.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/eventfd.h>
#endif

struct cancel_pipe {
	struct cancel_pipe *next;
	int read_end, write_end;
};

void cancelfds_init(struct cancelfds *c, const cleat_allocator *mem)
{
	*c = (struct cancelfds){ .mem = mem_resolve(mem) };
	pthread_mutex_init(&c->lock, NULL);
#if !defined(__linux__)
	c->pipes = true;
#endif
}

void cancelfds_done(struct cancelfds *c)
{
	while (c->list)
		cancelfd_close(c, c->list->read_end);
	pthread_mutex_destroy(&c->lock);
}

static int open_pipe(struct cancelfds *c)
{
	struct cancel_pipe *p = mem_alloc(&c->mem, sizeof *p);
	int ends[2];

	if (!p)
		return -1;
	if (pipe(ends)) {
		mem_free(&c->mem, p);
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		fcntl(ends[i], F_SETFD, FD_CLOEXEC);
		fcntl(ends[i], F_SETFL, O_NONBLOCK);
	}
	p->read_end = ends[0];
	p->write_end = ends[1];
	pthread_mutex_lock(&c->lock);
	p->next = c->list;
	c->list = p;
	pthread_mutex_unlock(&c->lock);
	return p->read_end;
}

static struct cancel_pipe **cancelfd_find(struct cancelfds *c, int fd)
{
	struct cancel_pipe **at = &c->list;

	while (*at && (*at)->read_end != fd)
		at = &(*at)->next;
	return at;
}

int cancelfd_open(struct cancelfds *c)
{
#if defined(__linux__)
	if (!c->pipes)
		return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#endif
	return open_pipe(c);
}

/* Closing the other end makes a pipe readable (end of file), for good and without a write that could
 * fail. */
static void close_write_end(struct cancel_pipe *p)
{
	if (p->write_end >= 0)
		close(p->write_end);
	p->write_end = -1;
}

void cancelfd_signal(struct cancelfds *c, int fd)
{
	struct cancel_pipe *p;
	uint64_t one = 1;

	if (!c->pipes) {
		/* The counter starts at 0 and is never near its end: this cannot fail. */
		ssize_t n = write(fd, &one, sizeof one);

		(void)n;
		return;
	}
	pthread_mutex_lock(&c->lock);
	p = *cancelfd_find(c, fd);
	if (p)
		close_write_end(p);
	pthread_mutex_unlock(&c->lock);
}

void cancelfd_close(struct cancelfds *c, int fd)
{
	struct cancel_pipe **at, *p = NULL;

	if (c->pipes) {
		pthread_mutex_lock(&c->lock);
		at = cancelfd_find(c, fd);
		p = *at;
		if (p)
			*at = p->next;
		pthread_mutex_unlock(&c->lock);
	}
	if (p)
		close_write_end(p);
	mem_free(&c->mem, p);
	close(fd);
}
