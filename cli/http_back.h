/* cli/http_back.h - HTTP requests to a server, as they are: for `cleat record`, which stands before it.
 *
 * Nothing is added that nobody asked for and nothing is followed, remembered or tried again: what comes back
 * is told as it comes. libcurl makes the requests; it is opened when it is first needed. (The library's
 * client is not used here, because it would have a conversation of its own.)
 */
#ifndef CLI_HTTP_BACK_H
#define CLI_HTTP_BACK_H

#include "cli.h"
#include "text.h"

#include <poll.h>

struct back;
struct back_call;

struct back_user {
	/* The head of the answer: its status, and its fields, a line each without its end. */
	void (*head)(void *ctx, int status, const struct words *fields);
	void (*data)(void *ctx, const char *p, size_t n);
	/* The end, exactly once, not after back_cancel(). `error` NULL: all of it has come. */
	void (*done)(void *ctx, const char *error);
};

/* For a server at this address ("http://...", "https://...", "unix:/path#/mcp"), with the options' headers,
 * token, certificates and proxy. NULL: it cannot be (printed). */
struct back *back_new(const struct cli *cli, const char *url, const cleat_client_opts *o);
void back_free(struct back *b);
/* The path of the address, with its query. */
const char *back_path(const struct back *b);

/* A request for a target of the same origin; `fields` are lines without their end. All is copied but `user`.
 * NULL: out of memory. */
struct back_call *back_send(struct back *b, const char *method, const char *target,
			    const struct words *fields, const char *body, size_t n,
			    const struct back_user *user, void *ctx);
void back_cancel(struct back_call *call);
/* How many are under way. */
size_t back_open(const struct back *b);
/* Waits until something has happened, here or at one of these descriptors, and does what there is to do
 * here. */
void back_wait(struct back *b, struct pollfd *fds, size_t n, int timeout_ms);

/* The value of a field of that name; NULL: there is none. */
const char *back_field(const struct words *fields, const char *name);

#endif
