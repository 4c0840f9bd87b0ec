/* run/cancelfd.h - descriptors that become readable once, for handlers that wait with poll().
 *
 * An eventfd where the system has one. Elsewhere a pipe, whose other end is found in a small list.
 * All functions: any thread.
 */
#ifndef RUN_CANCELFD_H
#define RUN_CANCELFD_H

#include <cleat/base.h>

#include <pthread.h>

struct cancel_pipe;

struct cancelfds {
	cleat_allocator mem;
	pthread_mutex_t lock;
	struct cancel_pipe *list;
	bool pipes; /* no eventfd; set by tests */
};

void cancelfds_init(struct cancelfds *c, const cleat_allocator *mem);
void cancelfds_done(struct cancelfds *c);
/* -1 when the system has none left. */
int cancelfd_open(struct cancelfds *c);
void cancelfd_signal(struct cancelfds *c, int fd);
void cancelfd_close(struct cancelfds *c, int fd);

#endif
