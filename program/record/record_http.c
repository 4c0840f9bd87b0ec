/* program/record/record_http.c - stands between a client and a server that both speak HTTP.
 *
 * What passes is not understood and not changed, but for what belongs to one connection (RFC 9110 section
 * 7.6.1), compression, the headers of the command line, which replace the client's, and the address for
 * messages that HTTP+SSE (2024-11-05) begins with, which has to lead here. Messages are written down from
 * bodies, as they complete. No more of an answer is taken from the server than the client takes.
 */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FIELDS_MOST = 200 }; /* no header has more */

struct recorder {
	struct cli *cli;
	struct transcript *to;
	struct front *front;
	struct back *back;
};

struct passage {
	struct recorder *r;
	struct front_exchange *x; /* NULL: it has been answered */
	struct back_call *call;
	struct body *body;      /* NULL: there are no messages in it */
	struct reroute *stream; /* NULL: what comes is no answer to GET */
	bool begun;
};

/* ---- fields -------------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *list)
{
	size_t length = strlen(name);

	while (list && *list) {
		size_t n;

		list += strspn(list, ", \t");
		n = strcspn(list, ", \t");
		if (n == length && strncasecmp(list, name, n) == 0)
			return true;
		list += n;
	}
	return false;
}

/* Those of one connection. */
static bool is_own(const struct tap_field *all, const char *name)
{
	/* Without compression, what passes can be read. */
	static const char names[] =
		"host connection keep-alive te trailer transfer-encoding upgrade "
		"content-length accept-encoding expect proxy-connection "
		"http2-settings";

	for (const struct tap_field *f = all; f->name; f++)
		if (strcasecmp(f->name, "connection") == 0 && is_among(name, f->value))
			return true;
	return is_among(name, names);
}

/* ---- the answer ---------------------------------------------------------------------------------- */

static void record_http_on_message(void *ctx, const char *p, size_t n)
{
	const struct passage *g = ctx;

	transcript_add(g->r->to, false, p, n);
}

/* As it goes to the client, which may have enough for now. */
static void on_bytes(void *ctx, const char *p, size_t n)
{
	struct passage *g = ctx;

	if (!front_write(g->x, p, n))
		back_pause(g->call, true);
}

static void record_http_on_drained(void *ctx, struct front_exchange *x)
{
	const struct passage *g = x->user;

	(void)ctx;
	back_pause(g->call, false);
}

/* What is to be seen of the body. */
static void begin_body(struct passage *g, int status, const char *type)
{
	bool get = strcmp(g->x->method, "GET") == 0;

	if (!type)
		return;
	/* What is said about a stream that there is not (405) is no message. */
	if (strcmp(g->x->method, "POST") == 0 || status < 300)
		g->body = body_new(NULL, type, record_http_on_message, g);
	if (get && status == 200 && strncasecmp(type, "text/event-stream", 17) == 0)
		g->stream = reroute_new(NULL, g->r->back, on_bytes, g);
}

static void record_http_on_head(void *ctx, int status, const struct tap_field *fields)
{
	struct passage *g = ctx;
	const char *type = tap_field(fields, "content-type"),
		   *length = tap_field(fields, "content-length");
	struct tap_field more[FIELDS_MOST + 1];
	size_t n = 0;

	for (const struct tap_field *f = fields; f->name && n < FIELDS_MOST; f++)
		if (!is_own(fields, f->name) && !is_among(f->name, "content-type, date"))
			more[n++] = *f;
	more[n] = (struct tap_field){ NULL, NULL };
	begin_body(g, status, type);
	g->begun = true;
	if (status == 204 || status == 304 || (length && strcmp(length, "0") == 0)) {
		front_answer(g->x, status, type, more, NULL, 0);
		g->x = NULL;
	} else {
		front_begin(g->x, status, type, more);
	}
}

static void on_data(void *ctx, const char *p, size_t n)
{
	struct passage *g = ctx;

	if (g->body && body_feed(g->body, p, n) != CLEAT_OK) {
		cli_note(g->r->cli,
			 "a message of more than 64 MiB is passed on, but not written down; "
			 "nor is what follows it in its answer");
		body_free(g->body);
		g->body = NULL;
	}
	if (!g->x)
		return;
	if (g->stream)
		reroute_feed(g->stream, p, n);
	else
		on_bytes(g, p, n);
}

static void end_passage(struct passage *g)
{
	body_free(g->body);
	reroute_free(g->stream);
	free(g);
}

static void record_http_on_done(void *ctx, const char *error)
{
	struct passage *g = ctx;

	g->call = NULL;
	if (error)
		cli_note(g->r->cli, "%s", error);
	else if (g->body)
		body_end(g->body);
	if (g->x && g->begun && g->stream && !error)
		reroute_end(g->stream);
	if (g->x && g->begun && !error)
		front_end(g->x);
	else if (g->x && g->begun)
		front_break(g->x);
	else if (g->x)
		front_answer(g->x, 502, "text/plain", NULL, error, strlen(error));
	end_passage(g);
}

static const struct back_user answer = { record_http_on_head, on_data, record_http_on_done };

/* ---- the request --------------------------------------------------------------------------------- */

static void record_http_on_request(void *ctx, struct front_exchange *x)
{
	struct recorder *r = ctx;
	struct passage *g = must_alloc(sizeof *g);
	struct words lines = { 0 };
	cleat_error err;

	*g = (struct passage){ .r = r, .x = x };
	x->user = g;
	if (x->n)
		transcript_add(r->to, true, x->body, x->n);
	for (const struct tap_field *f = x->fields; f->name; f++)
		if (!is_own(x->fields, f->name))
			words_add(&lines, keepf("%s: %s", f->name, f->value));
	g->call =
		back_send(r->back, x->method, x->target, lines.at, x->body, x->n, &answer, g, &err);
	if (!g->call) {
		front_answer(x, err.status == CLEAT_EINVAL ? 400 : 502, "text/plain", NULL,
			     err.message, strlen(err.message));
		end_passage(g);
	}
}

/* The client is gone: so is its request, which is how one is cancelled (2026-07-28). */
static void record_http_on_gone(void *ctx, struct front_exchange *x)
{
	struct passage *g = x->user;

	(void)ctx;
	back_cancel(g->call);
	end_passage(g);
}

int record_http(struct cli *cli, struct transcript *to, struct back *server, const char *address)
{
	struct recorder r = { .cli = cli, .to = to, .back = server };
	struct front_user user = { record_http_on_request, record_http_on_gone,
				   record_http_on_drained, &r };
	int rc = CLEAT_OK;

	r.front = front_listen(cli, cli->loop, address, &user, &rc);
	if (!r.front)
		return rc;
	cli_note(cli, "recording; connect to %s instead of the server",
		 front_url(r.front, back_path(server)));
	while (!cli_interrupted() && rc == CLEAT_OK) {
		size_t mark = keep_mark();

		rc = cleat_loop_step(cli->loop, -1);
		keep_release(mark);
	}
	front_free(r.front);
	return cli_interrupted() ? cli_interrupted_code() : EXIT_OTHER;
}

struct front *front_listen(const struct cli *cli, cleat_loop *loop, const char *address,
			   const struct front_user *user, int *ret_code)
{
	cleat_error err;
	struct front *f = front_new(loop, NULL, address, user, &err);

	if (!f && err.status == CLEAT_EINVAL)
		*ret_code = cli_error(cli, EXIT_USAGE,
				      "--http is an address like 8080 or 127.0.0.1:8080: %s",
				      err.message);
	else if (!f)
		*ret_code = cli_error(cli, EXIT_OTHER, "%s", err.message);
	return f;
}
