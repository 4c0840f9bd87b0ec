/* httpd_rig.h - an HTTP server with a service that does what the path says, and clients on real
 * sockets, all in one thread.
 */
#ifndef HTTP_RIG_H
#define HTTP_RIG_H

#include "httpd/conn.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the service -------------------------------------------------------------------------- */

enum { HELD = 64 };

struct rig {
	cleat_loop *l;
	struct client *clients; /* who is there at the end goes then */
	struct fail_alloc fa;
	struct httpd *h;
	struct listener ear; /* what it was before it was given away */
	uint64_t now_us;     /* the server's clock */
	size_t fds;          /* open before */
	/* What the service saw. */
	struct http_exchange *held[HELD]; /* answered later */
	size_t n_held;
	size_t heads, requests, gone, drained, logged, closed, freed;
	int status; /* the last that was logged */
	uint64_t bytes, micros;
	char line[256];   /* method and path, as logged */
	char remark[256]; /* the last note */
	size_t remarks;
	size_t pump; /* bytes that drained() writes, 1,000 at a time */
	bool free_in_gone, free_in_request, free_in_logged, free_in_drained, drain_in_request, done;
};

void rig_free_server(struct rig *r);
void on_done(void *ctx);
bool path_is(const struct http_exchange *ex, const char *path);
void reply_text(struct http_exchange *ex, int status, struct str text);

/* ---- the server --------------------------------------------------------------------------- */

uint64_t rig_clock(void *ctx);

/* Before there is a server: what has to be as it was when all is over. */
void rig_ground(struct rig *r);
void rig_ground_done(struct rig *r);

/* The rest of the options of a server whose service is the rig's; then its clock and its ear. */
void rig_fill(struct rig *r, struct httpd_options *o);
void rig_hear(struct rig *r, const char *where);
/* Listens; `where` as in listen.h. */
void rig_open_with(struct rig *r, const char *where, struct httpd_options o);
const char *unix_address(void);
void rig_open(struct rig *r);
struct httpd_stats rig_stats(const struct rig *r);
void rig_close(struct rig *r);

/* Everything that can be done without waiting for anybody. The kernel may need a moment to carry
 * bytes from one socket to the other. */
void rig_turn(struct rig *r);

#define WAIT_FOR(r, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			cleat_loop_step((r)->l, 10);                                               \
	} while (0)

void rig_pass(struct rig *r, uint64_t ms);

/* ---- clients ------------------------------------------------------------------------------ */

struct client {
	struct rig *r;
	struct client *next;
	void *tls; /* a session, whose calls these are; NULL: none */
	ssize_t (*send)(struct client *c, const void *p, size_t n);
	ssize_t (*recv)(struct client *c, void *p, size_t n);
	void (*bye)(struct client *c);
	int fd;
	char buf[1 << 20];
	size_t n;
	bool eof, error;
};

/* Large, and looked at before the next one is read: one is enough for a program. */
extern struct answer {
	int status;
	char head[4096];
	char body[1 << 18];
	size_t n;
} last_answer;

/* A connection that does not block; a client at one. */
int dial_fd(struct rig *r);
struct client *dial(struct rig *r);
void hang_up(struct client *c);

/* Most tests: a server and one client. */
struct client *rig_begin(struct rig *r);

/* With a reset. */
void slam(struct client *c);
void put_bytes(struct client *c, const char *p, size_t n);
void put(struct client *c, const char *text);

/* Reads what is there. */
void look(struct client *c);
void wait_more(struct client *c);
void take_front(struct client *c, size_t n);
/* So many bytes have come; false when it ended before. */
bool need(struct client *c, size_t n);
const char *header(const struct answer *a, const char *name);

/* One whole answer; false when the connection ends before its end. `head_only`: to HEAD. */
bool read_answer(struct client *c, struct answer *a, bool head_only);
void expect(struct client *c, int status, const char *body);

/* The server has closed, cleanly, and nothing more came. */
void expect_end(struct client *c);

/* Another client is served as if nothing had happened. */
void expect_alive(struct rig *r);

#define GET(path) "GET " path " HTTP/1.1\r\nHost: h\r\n\r\n"

/* A case on a server that listens. */
#define RIG_TEST(name)       TEST_ON(name, struct rig, r, rig_open(r), rig_close)

#define RIG_TEST_PLAIN(name) TEST_ON(name, struct rig, r, (void)0, rig_close) /* it opens itself */

#endif
