/* link_http_rig.h - an HTTP link, what it tells, and a server that is the test itself (origin_rig.h): it takes
 * requests one by one and answers them with whatever bytes it likes. One loop, one thread.
 */
#ifndef TESTS_LINK_HTTP_RIG_H
#define TESTS_LINK_HTTP_RIG_H

#include "link/links.h"
#include "support.h"
#include "test.h"
#include "unit/fetch/origin_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- what the link tells ------------------------------------------------------------------- */

enum told_kind {
	TOLD_MESSAGE,
	TOLD_ACCEPTED,
	TOLD_FAILED,
	TOLD_DOWN,
	TOLD_UP,
	TOLD_GAP,
	TOLD_OVERSIZE,
	TOLD_NOTE,
	TOLD_CLOSED
};

struct told {
	enum told_kind kind;
	void *tag;
	int status;  /* HTTP, or the level of a note */
	char *text;  /* of a message (terminated), a failure, a note */
	size_t size; /* of a message, or the limit */
	struct link_failure why;
};

enum { TOLD_MAX = 4096 };

struct rig_link {
	struct origin o;
	cleat_loop *l;
	struct fail_alloc fa;
	struct link *link;
	struct told told[TOLD_MAX];
	size_t n_told, taken;
	size_t fds;
	uint32_t random; /* what the link gets, and how often it has asked */
	size_t drawn;
	void (*on_told)(struct rig_link *r, struct told *t);
	char url[128];
};

struct link_base_options rig_base(struct rig_link *r);

/* libcurl and what it loads keep descriptors and memory of their own from the first use on. */
void rig_warm_up(void);
/* A loop and a server; no link yet. */
void rig_base_open(struct rig_link *r);
bool rig_link_with(struct rig_link *r, struct link_base_options base, struct link_http_options o,
		   cleat_error *err);
/* And a link that is open; with these options. */
void rig_start(struct rig_link *r);
void rig_start_with(struct rig_link *r, struct link_http_options o);
void rig_open_link(struct rig_link *r);
void rig_drop_told(struct rig_link *r);
void rig_close_link(struct rig_link *r);
void rig_done(struct rig_link *r);

/* ---- the server's side ------------------------------------------------------------------------ */

void rig_step(struct rig_link *r);

#define RIG_WAIT(r, condition)                                                                     \
	do {                                                                                       \
		while (!(condition))                                                               \
			rig_step(r);                                                               \
	} while (0)

/* One request: its head and its body, and where to answer. */
struct asked {
	struct line *c;
	char head[8192];
	char body[65536];
};

void take_request(struct line *c, struct asked *q);
/* The next request, in memory that stays until the call after the next four. */
struct asked *next_asked(struct rig_link *r);
/* Is there one, without waiting for it any longer than a few turns? */
bool nobody_asks(struct rig_link *r);

void say_bytes(struct rig_link *r, struct line *c, const char *p, size_t n);
void say(struct rig_link *r, const struct asked *q, const char *text);
/* An answer with a length. `fields`: lines with CRLF. */
void reply(struct rig_link *r, const struct asked *q, const char *status, const char *fields,
	   const char *body);

#define JSON_TYPE   "Content-Type: application/json\r\n"
#define EVENTS_TYPE "Content-Type: text/event-stream\r\n"
#define EVENTS_HEAD "HTTP/1.1 200 OK\r\n" EVENTS_TYPE "Transfer-Encoding: chunked\r\n\r\n"
#define EVENTS_OPEN "HTTP/1.1 200 OK\r\n" EVENTS_TYPE "\r\n" /* to the end of the connection */

void reply_json(struct rig_link *r, const struct asked *q, const char *body);
/* Some bytes of an event stream that began with EVENTS_HEAD. */
void say_chunk(struct rig_link *r, const struct asked *q, const char *text);
void say_end(struct rig_link *r, const struct asked *q);
void hang_up_on(const struct asked *q);
/* The client has closed this connection. */
void expect_hung_up(struct rig_link *r, const struct asked *q);
/* A header field of a request; NULL: it has none. Names are compared as curl sends them. */
void expect_field(const struct asked *q, const char *name, const char *value);
void expect_line(const struct asked *q, const char *start);

/* ---- the role's side -------------------------------------------------------------------------- */

/* Tags are the addresses of these. */
extern char rig_tags[64];
#define TAG(i) ((void *)&rig_tags[i])

/* The next thing that the link told. */
#define expect_told(r, kind) expect_told_(r, kind, __FILE__, __LINE__)
struct told *expect_told_(struct rig_link *r, enum told_kind kind, const char *file, int line);
#define expect_message(r, tag, status, text)                                                       \
	expect_message_(r, tag, status, text, __FILE__, __LINE__)
void expect_message_(struct rig_link *r, void *tag, int status, const char *text, const char *file,
		     int line);
#define expect_failed(r, tag, step) expect_failed_(r, tag, step, __FILE__, __LINE__)
struct told *expect_failed_(struct rig_link *r, void *tag, enum cleat_step step, const char *file,
			    int line);
void expect_nothing_told(struct rig_link *r);
void expect_text(const struct told *t, const char *part);
/* It is up, and nothing was wrong. */
void expect_up(struct rig_link *r);

int rig_send(struct rig_link *r, struct link_message m, const char *text);
/* Sends a request with the id of its tag, and gives what the server got. */
struct asked *rig_ask(struct rig_link *r, struct link_message m);

#define LEGACY_REQUEST(i)                                                                          \
	((struct link_message){ .kind = LINK_REQUEST, .tag = TAG(i), .rev = REV_2025_11_25 })
#define MODERN_REQUEST(i, what)                                                                    \
	((struct link_message){ .kind = LINK_REQUEST,                                              \
				.tag = TAG(i),                                                     \
				.rev = REV_2026_07_28,                                             \
				.modern = true,                                                    \
				.method = STR_LIT(what) })
#define NOTICE(i)                                                                                  \
	((struct link_message){ .kind = LINK_NOTICE, .tag = TAG(i), .rev = REV_2025_11_25 })

#define Q(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"ping\"}"
#define A(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":{}}"
#define N(n)  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" #n "\"}"

/* initialize and its answer with this session id. */
void rig_session(struct rig_link *r, const char *id);

/* A case on a link that has begun; PLAIN: on a rig that it begins itself; EACH: on one such link for every row. */
#define LINK_TEST(name)       TEST_ON(name, struct rig_link, r, rig_start(r), rig_done)
#define LINK_TEST_PLAIN(name) TEST_ON(name, struct rig_link, r, (void)0, rig_done)
#define LINK_TEST_EACH(name, rows)                                                                 \
	static void name##_each(struct rig_link *r, size_t i);                                     \
	TEST(name)                                                                                 \
	{                                                                                          \
		static struct rig_link r;                                                          \
                                                                                                   \
		for (size_t i = 0; i < (rows); i++) {                                              \
			rig_start(&r);                                                             \
			name##_each(&r, i);                                                        \
			rig_done(&r);                                                              \
		}                                                                                  \
	}                                                                                          \
	static void name##_each(struct rig_link *r, size_t i)

#endif
