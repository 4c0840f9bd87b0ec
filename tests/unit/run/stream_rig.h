/* stream_rig.h - a stream over real pipes or sockets, with a peer that echoes. */
#ifndef TESTS_STREAM_RIG_H
#define TESTS_STREAM_RIG_H

#include "net/outbox.h"
#include "net/stream.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a peer that echoes ------------------------------------------------------------------- */

/* Answers each line with itself. "big N" with a line of N z; "defer" is answered by finish(). */
struct echo {
	struct peer peer;
	struct peer_sink sink;
	size_t received, oversize, closed, inflight, unsent;
	bool congested;
};

void answer(struct echo *e, const char *p, size_t n);

/* ---- a connection under test -------------------------------------------------------------- */

struct rig {
	cleat_loop *l;
	struct stream *s;
	struct echo echo;
	bool over;
	int status;
	char notes[1024];
	int in[2], out[2]; /* in[1] is where the test writes, out[0] where it reads */
	const cleat_allocator *mem;
};

int open_rig(struct rig *r, int in, int out);
/* Nothing here can be tested without one. */
cleat_loop *new_loop(void);
void make_pipes(struct rig *r);
void begin_pipes(struct rig *r);
/* One socket both ways, with as little room as the system gives. */
void begin_socket(struct rig *r);
void close_fd(int *fd);
void end(struct rig *r);
void put(struct rig *r, const char *text);
/* Whatever is there now. */
size_t get(struct rig *r, char *to, size_t room);
void expect(struct rig *r, const char *text);
void run_to_end(struct rig *r);

/* A case on a rig, which it begins itself; PIPES_TEST: on two pipes. */
#define RIG_TEST(name)   TEST_ON(name, struct rig, r, (void)0, end)
#define PIPES_TEST(name) TEST_ON(name, struct rig, r, begin_pipes(r), end)

#endif
