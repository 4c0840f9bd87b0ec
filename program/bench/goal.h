/* program/bench/goal.h - where requests go, as sockets: HTTP or lines, over TCP or a Unix socket.
 *
 * An address is resolved once, here; connections are made by number. https is none of these: what is
 * encrypted goes through the library (library.h).
 */
#ifndef PROGRAM_BENCH_GOAL_H
#define PROGRAM_BENCH_GOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum goal_kind {
	GOAL_HTTP,
	GOAL_LINES,  /* tcp://, unix-stream: */
	GOAL_CHILD,  /* a program for each connection */
	GOAL_LIBRARY /* only the library can */
};

struct goal {
	enum goal_kind kind;
	struct sockaddr_storage addr;
	socklen_t addr_n;
	char host[300]; /* for the Host header */
	char path[2048];
};

/* False: *ret_why says why not. `unix_socket`: connect there instead (may be NULL). */
bool goal_parse(struct goal *t, const char *url, const char *unix_socket, const char **ret_why);
/* A socket that is connected or connecting, not blocking; -1: errno. *ret_waiting: it is not connected
 * yet, and will be writable when it is. */
int goal_connect(const struct goal *t, bool *ret_waiting);
/* The TCP port; 0: none. The path of a Unix socket; NULL: none. */
unsigned goal_port(const struct goal *t);
const char *goal_socket(const struct goal *t);
bool goal_is_local(const struct goal *t);

#endif
