/* program/record/tap/tap.h - stands where a server would, and talks to one as it is: for `cleat record` and `cleat replay`.
 * The face for cli/.
 *
 * A thin layer over the library's HTTP server and client, its reader of server-sent events and its headers,
 * for a program that passes messages on instead of speaking itself. The library's own client and server are
 * not for that: they would have a conversation of their own. This module is part of the program `cleat`, not
 * of libcleat.
 *
 * Everything happens on one loop and its thread; callbacks come from cleat_loop_step(), never from inside a
 * call. `mem` may be NULL everywhere. Not here: what is written down, and what is answered (cli/).
 */
#ifndef PROGRAM_RECORD_TAP_TAP_H
#define PROGRAM_RECORD_TAP_TAP_H

#include "http/fields.h"

#include <cleat/client.h>
#include <cleat/loop.h>

/* ---- a server (front.c) ----------------------------------------------------------------------
 *
 * For programs on this machine: loopback addresses only, and requests that a web page may have caused get
 * 403. What is not a request, or is too large (64 KiB of header, 64 MiB of body), is refused without asking. */

struct front;

/* A request, and the place of its answer. Good until the answer is complete or `gone` was called; fields and
 * body only until front_begin(). */
struct front_exchange {
	const char *method, *target; /* the target begins with "/" */
	const struct http_field *fields;
	size_t n_fields;
	const char *body;
	size_t n;
	void *user; /* for whoever answers it; NULL at first */
};

struct front_user {
	/* It must be answered, now or later. */
	void (*request)(void *ctx, struct front_exchange *x);
	/* The client has gone before the end of the answer, or does not take it: the exchange is not there any
	 * more when this returns. */
	void (*gone)(void *ctx, struct front_exchange *x);
	/* All that was written has been taken. May be NULL. */
	void (*drained)(void *ctx, struct front_exchange *x);
	void *ctx;
};

/* Listens on "8080", "127.0.0.1:0", "[::1]:8080", "http://localhost:8080/path", "unix:/path". NULL with the
 * reason in *err: CLEAT_EINVAL (no address, or one that others can reach), or why it is not available. */
struct front *front_new(cleat_loop *loop, const cleat_allocator *mem, const char *address,
			const struct front_user *user, cleat_error *err);
/* Calls `gone` for what is not answered. Not from inside a callback. Accepts NULL. */
void front_free(struct front *f);
/* The address for clients ("http://127.0.0.1:8080/mcp", "unix:/path#/mcp"), with the path that it was given,
 * or with this one. The front's, until the next call. */
const char *front_url(struct front *f, const char *path);
/* The path that the address had; "": none. */
const char *front_path(const struct front *f);

/* The whole answer. `type` absent: none. `fields` besides Content-Type, Content-Length, Date and
 * Connection. */
void front_answer(struct front_exchange *x, int status, struct str type,
		  const struct http_field *fields, size_t n_fields, const char *body, size_t n);
/* An answer in parts: begin, as many writes as there are, end. */
void front_begin(struct front_exchange *x, int status, struct str type,
		 const struct http_field *fields, size_t n_fields);
/* False: so much waits now that whoever can should wait for `drained`. Who does not loses the client when
 * 128 MiB wait. */
bool front_write(struct front_exchange *x, const char *p, size_t n);
/* The same for one event of a stream: a message without line ends. */
bool front_event(struct front_exchange *x, const char *message, size_t n);
void front_end(struct front_exchange *x);
/* Without an end: the client sees that something is missing. */
void front_break(struct front_exchange *x);

/* ---- requests to a server (back.c) -----------------------------------------------------------
 *
 * Nothing is added that nobody asked for and nothing is followed or remembered: what comes back is told as it
 * comes. */

struct back;
struct back_call;

struct back_user {
	/* The head of the answer. */
	void (*head)(void *ctx, int status, const struct http_field *fields, size_t n);
	void (*data)(void *ctx, const char *p, size_t n);
	/* The end, exactly once, not after back_cancel(). `error` NULL: all of it has come. The call is not
	 * there any more when this returns. */
	void (*done)(void *ctx, const char *error);
};

/* For a server at this address ("http://...", "https://...", "unix:/path#/mcp"), with the options' headers,
 * token, certificates and proxy. `agent`: the User-Agent of requests that have none; NULL: cleat, "": none.
 * NULL with the reason in *err: CLEAT_EINVAL, CLEAT_EUNSUPPORTED (no libcurl), CLEAT_ENOMEM. */
struct back *back_new(cleat_loop *loop, const cleat_allocator *mem, const char *url,
		      const cleat_client_options *o, const char *agent, cleat_error *err);
/* Cancels all calls. Not from inside a callback. Accepts NULL. */
void back_free(struct back *b);
/* The path of the address, with its query. */
const char *back_path(const struct back *b);

/* A request for a target of the same origin. The options' fields replace those of the same name. All is copied
 * but `user`. NULL with the reason in *err. */
struct back_call *back_send(struct back *b, const char *method, const char *target,
			    const struct http_field *fields, size_t n_fields, const char *body,
			    size_t n, const struct back_user *user, void *ctx, cleat_error *err);
/* Also from inside a callback. Accepts NULL. */
void back_cancel(struct back_call *call);
/* Stops and resumes reading the answer. Accepts NULL. */
void back_pause(struct back_call *call, bool pause);

/* ---- messages in the body of an answer (body.c) ----------------------------------------------
 *
 * One JSON text, or a stream of events, by its Content-Type (absent: there is none). A body of any other type
 * has no messages, and an event of another name than "message" is none. */

struct body;

/* NULL when out of memory. */
struct body *body_new(const cleat_allocator *mem, struct str type,
		      void (*message)(void *ctx, const char *p, size_t n), void *ctx);
void body_free(struct body *b); /* accepts NULL */
/* CLEAT_OK; CLEAT_ELIMIT: a message is over 64 MiB, nothing more of this body is read; CLEAT_ENOMEM. Then the
 * same again. */
int body_feed(struct body *b, const char *p, size_t n);
/* The body is complete. */
void body_end(struct body *b);
/* The id of the last event, as text; "": there is none, or none that a header can carry and `room` holds. */
void body_last_id(const struct body *b, char *to, size_t room);

/* ---- HTTP+SSE of 2024-11-05 (reroute.c) ------------------------------------------------------
 *
 * Its first event says where to POST. When that is an absolute URL of the server, it is made one that leads
 * back to whoever is asked: the path alone. Everything else passes as it is; the first event when it is
 * complete. */

struct reroute;

/* `b` must stay. NULL when out of memory. */
struct reroute *reroute_new(const cleat_allocator *mem, const struct back *b,
			    void (*out)(void *ctx, const char *p, size_t n), void *ctx);
void reroute_free(struct reroute *r); /* accepts NULL */
void reroute_feed(struct reroute *r, const char *p, size_t n);
/* The stream has ended: what was held back, if anything. */
void reroute_end(struct reroute *r);

/* ---- headers that repeat what a message says (mirror.c) --------------------------------------
 *
 * 2026-07-28 streamable-http, Request Metadata: as the library's own client sends them. */

struct mirror;

/* NULL when out of memory. */
struct mirror *mirror_new(const cleat_allocator *mem);
void mirror_free(struct mirror *m); /* accepts NULL */
/* What the server said about its tools (the array of a result, or NULL): their arguments may be headers. */
void mirror_learn(struct mirror *m, const cleat_json *tools);
/* Adds them to the list; text of the message, or in the list's arena. CLEAT_OK; CLEAT_EINVAL: something cannot
 * be said in a header, and nothing was added; CLEAT_ENOMEM. */
int mirror_fields(struct mirror *m, const cleat_json *message, struct http_field_list *to,
		  cleat_error *err);

#endif
