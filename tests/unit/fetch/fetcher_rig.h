/* fetcher_rig.h - an HTTP client, and a server that sends whatever it is told to (origin_rig.h), on one loop in one
 * thread.
 */
#ifndef HTTP_CLIENT_RIG_H
#define HTTP_CLIENT_RIG_H

#include "fetch/fetcher.h"
#include "support.h"
#include "support_files.h"
#include "test.h"
#include "unit/fetch/origin_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Answers. */
#define OK_HELLO "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
#define CHUNKED                                                                                    \
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n"

struct rig {
	struct origin o;
	cleat_loop *l;
	struct fail_alloc fa;
	struct fetcher *h;
	struct fetcher_options opts; /* for those who open another */
	size_t fds;
};

void web_open(struct rig *r, struct fetcher_options o);
void web_close(struct rig *r);
/* One step of both. */
void web_step(struct rig *r);
/* Everything that can be done without waiting for anybody. */
void web_turn(struct rig *r);

#define WAIT_FOR(r, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			web_step(r);                                                               \
	} while (0)

/* What became of a fetch. */
struct got {
	struct rig *r;
	struct fetch *f; /* NULL when it has ended */
	size_t heads, bodies, ends;
	int status;
	char body[1 << 16]; /* its beginning */
	uint64_t n;         /* all of it */
	bool ok;
	struct link_failure why;
	char type[64]; /* Content-Type */
	/* what to do in an event */
	bool stop_in_head, stop_in_body;
	struct fetch **cancel_in_head, **cancel_in_body, **cancel_in_end;
	bool free_in_head, free_in_body, free_in_end, pause_in_body;
};

void got_free_client(struct rig *r);
const char *web_url(const struct rig *r, const char *path);
/* Good until the next call. */
void set_fields(struct fetch_options *o, const char *const *lines);
/* Begins a fetch. `o`: without a method a GET, a URL may be a path only; `fields`: lines, or NULL. */
struct got *got_new(struct rig *r, struct fetch_options *o, const char *const *fields);
struct got *web_start(struct rig *r, struct fetch_options o, const char *const *fields);
#define START(r, ...) web_start(r, (struct fetch_options){ __VA_ARGS__ }, NULL)
struct got *start_get(struct rig *r, const char *path);
struct got *start_post(struct rig *r, const char *path, struct str body);
struct got *wait_end(struct got *g);
struct got *do_get(struct rig *r, const char *path);
struct got *do_post(struct rig *r, const char *path, struct str body);
/* This URL, wherever it leads; POST if there is a body. */
struct got *get_url(struct rig *r, const char *url, struct str body);

/* These end with free(g). */
void got_ok(struct got *g, int status, const char *body);
void got_failure(struct got *g, enum cleat_step step, int status, const char *words);
/* Nothing happened and nothing will. */
void got_silence(struct got *g, size_t heads);
/* The client works as if nothing had happened. */
void web_alive(struct rig *r);

/* A case on a fetcher; RIG_TEST_WITH: with these members of struct fetcher_options. */
#define RIG_TEST(name) RIG_TEST_WITH(name, 0)
#define RIG_TEST_WITH(name, ...)                                                                   \
	TEST_ON(name, struct rig, r, web_open(r, (struct fetcher_options){ __VA_ARGS__ }),         \
		web_close)
#define RIG_TEST_PLAIN(name) TEST_ON(name, struct rig, r, (void)0, web_close) /* it opens itself */

#endif
