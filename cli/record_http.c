/* cli/record_http.c - stands between a client and a server that both speak HTTP.
 *
 * What passes is not understood and not changed, but for what belongs to one connection (RFC 9110 section
 * 7.6.1), compression, and the headers of the command line, which replace the client's. Messages are
 * written down from bodies, as they complete.
 */
#include "await.h"
#include "http_events.h"
#include "http_front.h"
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
	struct http_events events;
	bool begun;
};

static bool is_own(const char *field)
{
	/* Without compression, what passes can be read. */
	static const char *const names[] = { "host",    "connection",     "keep-alive",
					     "te",      "trailer",        "transfer-encoding",
					     "upgrade", "content-length", "accept-encoding",
					     "expect",  "content-type",   "proxy-connection" };
	size_t n = strcspn(field, ":");

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (strlen(names[i]) == n && strncasecmp(names[i], field, n) == 0)
			return true;
	return false;
}

/* ---- the answer ---------------------------------------------------------------------------------- */

static void on_message(void *ctx, const char *p, size_t n)
{
	const struct passage *g = ctx;

	transcript_add(g->r->to, false, p, n);
}

static void on_head(void *ctx, int status, const struct words *fields)
{
	struct passage *g = ctx;
	const char *type = back_field(fields, "content-type"),
		   *length = back_field(fields, "content-length");
	struct text more = { 0 };

	if (!g->x || g->begun)
		return;
	for (size_t i = 0; i < fields->n; i++)
		if (!is_own(fields->at[i]))
			text_printf(&more, "%s\r\n", fields->at[i]);
	/* What is said about a stream that there is not (405) is no message. */
	http_events_begin(&g->events,
			  strcmp(g->x->method, "POST") == 0 || status < 300 ? type : NULL);
	g->begun = true;
	if (status == 204 || status == 304 || strcmp(g->x->method, "HEAD") == 0 ||
	    (length && strcmp(length, "0") == 0)) {
		front_answer(g->x, status, type, text_str(&more), NULL, 0);
		g->x = NULL;
	} else {
		front_begin(g->x, status, type, text_str(&more));
	}
	text_free(&more);
}

static void on_data(void *ctx, const char *p, size_t n)
{
	struct passage *g = ctx;

	http_events_feed(&g->events, p, n);
	if (g->x)
		front_write(g->x, p, n);
}

static void end_passage(struct passage *g)
{
	http_events_free(&g->events);
	free(g);
}

static void on_done(void *ctx, const char *error)
{
	struct passage *g = ctx;

	if (!error)
		http_events_end(&g->events);
	else
		cli_note(g->r->cli, "%s", error);
	if (g->x && g->begun && !error) {
		front_end(g->x);
	} else if (g->x && g->begun) {
		front_break(g->x);
	} else if (g->x) {
		const char *text = error ? error : "the server gave no answer";

		front_answer(g->x, 502, "text/plain", NULL, text, strlen(text));
	}
	end_passage(g);
}

static const struct back_user answer = { on_head, on_data, on_done };

/* ---- the request --------------------------------------------------------------------------------- */

static void on_request(void *ctx, struct front_exchange *x)
{
	struct recorder *r = ctx;
	struct passage *g = must_alloc(sizeof *g);
	struct words fields = { 0 };

	*g = (struct passage){ .r = r, .x = x, .events = { .message = on_message, .ctx = g } };
	x->user = g;
	if (x->n)
		transcript_add(r->to, true, x->body, x->n);
	for (const struct front_field *f = x->fields; f->name; f++)
		if (!is_own(f->name) || strcasecmp(f->name, "content-type") == 0)
			words_add(&fields, keepf("%s: %s", f->name, f->value));
	g->call = back_send(r->back, x->method, x->target, &fields, x->body, x->n, &answer, g);
	if (!g->call) {
		front_answer(x, 502, "text/plain", NULL, "out of memory", 13);
		end_passage(g);
	}
}

/* The client is gone: so is its request, which is how one is cancelled (2026-07-28). */
static void on_gone(void *ctx, struct front_exchange *x)
{
	struct passage *g = x->user;

	(void)ctx;
	back_cancel(g->call);
	end_passage(g);
}

int record_http(struct cli *cli, struct transcript *to, struct back *server, const char *address)
{
	struct recorder r = { .cli = cli, .to = to, .back = server };
	struct front_user user = { on_request, on_gone, &r };
	struct pollfd fds[FRONT_FDS + 1];
	int code;

	r.front = front_new(cli, address, &user, &code);
	if (!r.front)
		return code;
	cli_note(cli, "recording; connect to %s%s instead of the server", front_origin(r.front),
		 back_path(server));
	while (!cli_interrupted()) {
		size_t n = front_poll(r.front, fds), mark = keep_mark();

		fds[n] = (struct pollfd){ .fd = cli_interrupt_fd(), .events = POLLIN };
		back_wait(server, fds, n + 1, 60000);
		front_serve(r.front, fds, n);
		keep_release(mark);
	}
	front_free(r.front);
	return cli_interrupted_code();
}
