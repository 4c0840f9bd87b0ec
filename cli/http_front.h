/* cli/http_front.h - a small HTTP/1.1 server, for tools that stand where a server would: `replay --http` and
 * `record --http`.
 *
 * It listens on the loopback interface only, and takes requests that name it: web pages that somebody has
 * lured here get 403. Requests are whole when they are given, answers may be streams. It is not the
 * library's server: it knows nothing of MCP, and is made for one user, not for load.
 *
 * Who uses it polls: front_poll() fills in the descriptors, front_serve() does what there is to do.
 */
#ifndef CLI_HTTP_FRONT_H
#define CLI_HTTP_FRONT_H

#include "cli.h"
#include "text.h"

#include <poll.h>

enum { FRONT_FDS = 1026, FRONT_FIELDS = 64 };

struct front;

struct front_field {
	const char *name, *value;
};

/* A request and its answer. What is in it is good until front_end(), or `gone`. */
struct front_exchange {
	const char *method, *target;                 /* the target begins with "/" */
	struct front_field fields[FRONT_FIELDS + 1]; /* ends with name NULL */
	const char *body;
	size_t n;
	void *user; /* whose request it is */
};

struct front_user {
	/* It must be answered, now or later. */
	void (*request)(void *ctx, struct front_exchange *x);
	/* The client has gone before the end of the answer: the exchange is not there any more. */
	void (*gone)(void *ctx, struct front_exchange *x);
	void *ctx;
};

/* "8080", "127.0.0.1:0", "[::1]:8080", "http://localhost:8080". NULL: it cannot be had (printed), and
 * *ret_code is what to return. */
struct front *front_new(const struct cli *cli, const char *address, const struct front_user *user,
			int *ret_code);
void front_free(struct front *f);
/* "http://127.0.0.1:8080", and the path of the address ("" where it has none). Kept. */
const char *front_origin(const struct front *f);
const char *front_path(const struct front *f);

/* At most FRONT_FDS. */
size_t front_poll(const struct front *f, struct pollfd *to);
void front_serve(struct front *f, const struct pollfd *polled, size_t n);

/* The value of a header field; NULL: there is none. */
const char *front_header(const struct front_exchange *x, const char *name);
/* A whole answer. `type` NULL: without content. `fields`: further header lines, each with its "\r\n"; may
 * be NULL. */
void front_answer(struct front_exchange *x, int status, const char *type, const char *fields,
		  const char *body, size_t n);
/* An answer in parts: begin, as many writes as there are, end. */
void front_begin(struct front_exchange *x, int status, const char *type, const char *fields);
void front_write(struct front_exchange *x, const char *p, size_t n);
void front_end(struct front_exchange *x);
/* Without an end: the client sees that something is missing. */
void front_break(struct front_exchange *x);

#endif
