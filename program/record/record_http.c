/* program/record/record_http.c - stands between a client and a server that both speak HTTP.
 *
 * What passes is not understood and not changed, but for what belongs to one connection (RFC 9110 section
 * 7.6.1), compression, the headers of the command line, which replace the client's, and the address for
 * messages that HTTP+SSE (2024-11-05) begins with, which has to lead here. Messages are written down from
 * bodies, as they complete. No more of an answer is taken from the server than the client takes.
 */
#include "record/record.h"
#include "terminal/await.h"

#include <stdlib.h>
#include <string.h>

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

/* In a list with spaces or commas between its words. */
static bool is_among(struct str name, struct str list)
{
	for (size_t i = 0, n; i < list.n; i += n + 1) {
		for (n = 0; i + n < list.n && !memchr(", \t", list.p[i + n], 3);)
			n++;
		if (n && str_same((struct str){ list.p + i, n }, name))
			return true;
	}
	return false;
}

/* Those of one connection. */
static bool is_own(const struct http_field *all, size_t n, struct str name)
{
	/* Without compression, what passes can be read. */
	static const char names[] =
		"host connection keep-alive te trailer transfer-encoding upgrade "
		"content-length accept-encoding expect proxy-connection "
		"http2-settings";

	for (size_t i = 0; i < n; i++)
		if (str_samez(all[i].name, "connection") && is_among(name, all[i].value))
			return true;
	return is_among(name, str_of(names));
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
static void begin_body(struct passage *g, int status, struct str type)
{
	static const struct str events = { "text/event-stream", 17 };
	bool get = strcmp(g->x->method, "GET") == 0;

	if (!type.p)
		return;
	/* What is said about a stream that there is not (405) is not a message. */
	if (strcmp(g->x->method, "POST") == 0 || status < 300)
		g->body = body_new(NULL, type, record_http_on_message, g);
	if (get && status == 200 && type.n >= events.n &&
	    str_same((struct str){ type.p, events.n }, events))
		g->stream = reroute_new(NULL, g->r->back, on_bytes, g);
}

static void record_http_on_head(void *ctx, int status, const struct http_field *fields, size_t n)
{
	struct passage *g = ctx;
	struct str type = http_fields_find(fields, n, "content-type"),
		   length = http_fields_find(fields, n, "content-length");
	struct http_field more[FIELDS_MOST];
	size_t k = 0;

	for (size_t i = 0; i < n && k < FIELDS_MOST; i++)
		if (!is_own(fields, n, fields[i].name) &&
		    !is_among(fields[i].name, STR_LIT("content-type date")))
			more[k++] = fields[i];
	begin_body(g, status, type);
	g->begun = true;
	if (status == 204 || status == 304 || str_eqz(length, "0")) {
		front_answer(g->x, status, type, more, k, NULL, 0);
		g->x = NULL;
	} else {
		front_begin(g->x, status, type, more, k);
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
		front_answer(g->x, 502, STR_LIT("text/plain"), NULL, 0, error, strlen(error));
	end_passage(g);
}

static const struct back_user answer = { record_http_on_head, on_data, record_http_on_done };

/* ---- the request --------------------------------------------------------------------------------- */

static void record_http_on_request(void *ctx, struct front_exchange *x)
{
	struct recorder *r = ctx;
	struct passage *g = must_alloc(sizeof *g);
	struct http_field fields[FIELDS_MOST];
	size_t n = 0;
	cleat_error err;

	*g = (struct passage){ .r = r, .x = x };
	x->user = g;
	if (x->n)
		transcript_add(r->to, true, x->body, x->n);
	for (size_t i = 0; i < x->n_fields && n < FIELDS_MOST; i++)
		if (!is_own(x->fields, x->n_fields, x->fields[i].name))
			fields[n++] = x->fields[i];
	g->call = back_send(r->back, x->method, x->target, fields, n, x->body, x->n, &answer, g,
			    &err);
	if (!g->call) {
		front_answer(x, err.status == CLEAT_EINVAL ? 400 : 502, STR_LIT("text/plain"), NULL,
			     0, err.message, strlen(err.message));
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
