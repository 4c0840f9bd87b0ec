/* tests/unit/server/served_rig.h - a server that runs its loop on a thread of its own, with the test as
 * its client over a socket; and waiting for conditions, with a deadline that only a broken library
 * reaches.
 */
#ifndef TESTS_SERVED_RIG_H
#define TESTS_SERVED_RIG_H

#include "unit/server/server_rig.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_MS = 60000 };

/* Gives up the processor for a moment; false when the deadline is over. */
bool patience(struct timespec *since);

#define wait_until(condition)                                                                      \
	do {                                                                                       \
		struct timespec since_ = { 0 };                                                    \
		while (!(condition))                                                               \
			if (!patience(&since_)) {                                                  \
				print_error("never: %s (line %d)\n", #condition, __LINE__);        \
				abort();                                                           \
			}                                                                          \
	} while (0)

/* ---- a server on a loop of its own thread ------------------------------------------------------------ */

struct served {
	struct rig rig; /* notes and server; no wire */
	int client, server;
	cleat_loop *loop;
	pthread_t thread;
	int rc;
	char in[1 << 20];
	size_t n_in;
};

void send_line(struct served *v, const char *line);

/* Reads until `part` came. */
const char *expect(struct served *v, const char *part);
struct served *serve(const cleat_tool *tools, size_t n, const cleat_server_options *opts);

/* The client goes; the loop ends by itself. */
void leave(struct served *v);

#endif
