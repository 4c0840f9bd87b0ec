/* program/record/replay_http.c - the server of replay_mock.c over HTTP: Streamable HTTP as all revisions have it.
 *
 * A request's answer is one JSON text when nothing is said before it, and a stream of events otherwise. What
 * belongs to no request goes to the client's own stream (GET, up to 2025-11-25), or waits for it. Whoever
 * begins with initialize gets a session, which is only a number: there is one recording for all.
 */
#include "record/record.h"
#include "record/replay.h"
#include "terminal/await.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_MOST = 256 };

/* An exchange that is not answered yet. */
struct spot {
	struct spot *next;
	struct front_exchange *x;
	size_t open;      /* answers that are to come */
	bool stream;      /* it has begun as one */
	bool modern;      /* the request says what 2026-07-28 wants to be said */
	bool session;     /* its answer brings one */
	bool keep;        /* subscriptions/listen, or GET: it does not end */
	bool batch;       /* the request was one: so is the answer */
	struct text body; /* of a batch */
	int status;
};

struct http_mock {
	struct cli *cli;
	struct mock *mock;
	struct front *front;
	struct spot *all, *listening; /* listening: the GET */
	char *waiting[WAITING_MOST];  /* for a GET */
	size_t n_waiting;
	const char *path;
	unsigned sessions;
};

enum { FIELDS = 2 };

/* The header of an answer: a session, where its request began one. */
static size_t fill_fields(struct http_mock *h, const struct spot *s, struct http_field to[FIELDS])
{
	size_t n = 0;

	if (s->stream)
		to[n++] = (struct http_field){ STR_LIT("Cache-Control"), STR_LIT("no-cache") };
	if (s->session)
		to[n++] = (struct http_field){ STR_LIT("Mcp-Session-Id"),
					       str_of(keepf("replay-%u", ++h->sessions)) };
	return n;
}

static void replay_http_refuse(struct front_exchange *x, int status, const char *allowed,
			       const char *why)
{
	const struct http_field allow = { STR_LIT("Allow"), str_of(allowed) };

	front_answer(x, status, str_of(why ? "text/plain" : NULL), &allow, allowed != NULL, why,
		     why ? strlen(why) : 0);
}

static void forget(struct http_mock *h, struct spot *s)
{
	struct spot **at = &h->all;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	if (h->listening == s)
		h->listening = NULL;
	text_free(&s->body);
	free(s);
}

static struct spot *new_spot(struct http_mock *h, struct front_exchange *x)
{
	struct spot *s = must_alloc(sizeof *s);

	*s = (struct spot){ .next = h->all, .x = x, .status = 200 };
	h->all = s;
	x->user = s;
	return s;
}

/* ---- what the mock says ---------------------------------------------------------------------------- */

static void begin_stream(struct http_mock *h, struct spot *s)
{
	struct http_field fields[FIELDS];

	if (s->stream)
		return;
	s->stream = true;
	front_begin(s->x, 200, STR_LIT("text/event-stream"), fields, fill_fields(h, s, fields));
}

static void write_event(struct spot *s, const char *line)
{
	front_event(s->x, line, strlen(line));
}

/* 2026-07-28 says which status goes with an error of the protocol; before, all answers are 200. */
static int status_of(const struct spot *s, int answer)
{
	if (answer == CLEAT_RPC_PARSE_ERROR || answer == CLEAT_RPC_INVALID_REQUEST)
		return 400;
	if (!s->modern || answer == MOCK_RESULT)
		return 200;
	return answer == CLEAT_RPC_METHOD_NOT_FOUND   ? 404
	       : answer <= -32020 && answer >= -32029 ? 400
						      : 200;
}

static void say_unasked(struct http_mock *h, const char *line)
{
	if (h->listening)
		write_event(h->listening, line);
	else if (h->n_waiting < WAITING_MOST && (h->waiting[h->n_waiting] = strdup(line)) != NULL)
		h->n_waiting++;
}

static void on_say(void *ctx, void *place, const char *line, int answer)
{
	struct http_mock *h = ctx;
	struct spot *s = place;

	if (!s) {
		if (answer == MOCK_NO_ANSWER)
			say_unasked(h, line);
		return;
	}
	if (answer == MOCK_NO_ANSWER || s->stream) {
		begin_stream(h, s);
		write_event(s, line);
	} else {
		text_printf(&s->body, "%s%s", s->body.n ? "," : "", line);
		s->status = status_of(s, answer);
	}
	s->open -= answer != MOCK_NO_ANSWER && s->open;
}

/* ---- what clients say ------------------------------------------------------------------------------ */

/* All that is to come has come. */
static void end_spot(struct http_mock *h, struct spot *s)
{
	struct front_exchange *x = s->x;
	struct http_field fields[FIELDS];

	if (s->stream && s->body.n) /* answers of a batch from before the stream began */
		write_event(s, keepf("[%s]", text_str(&s->body)));
	if (s->stream) {
		front_end(x);
	} else if (s->body.n) {
		const char *text =
			s->batch ? keepf("[%s]", text_str(&s->body)) : text_str(&s->body);

		front_answer(x, s->status, STR_LIT("application/json"), fields,
			     fill_fields(h, s, fields), text, strlen(text));
	} else {
		front_answer(x, 202, (struct str){ 0 }, NULL, 0, NULL, 0);
	}
	mock_gone(h->mock, s);
	forget(h, s);
}

/* Answers come from in mock_message() of this exchange, or of a later one that brings what was waited for. */
static void end_all(struct http_mock *h)
{
	struct spot *next;

	for (struct spot *s = h->all; s; s = next) {
		next = s->next;
		if (!s->open && !s->keep)
			end_spot(h, s);
	}
}

static void on_post(struct http_mock *h, struct front_exchange *x)
{
	struct spot *s = new_spot(h, x);
	cleat_doc *doc = cleat_doc_parse(x->body, x->n, NULL, NULL, NULL);
	const cleat_json *root = cleat_doc_root(doc);
	const char *method = cleat_json_str(cleat_json_get(root, "method"), "");
	const cleat_json *meta = cleat_json_get(cleat_json_get(root, "params"), "_meta");
	cleat_json_iter it = cleat_json_each(root);

	s->modern = cleat_json_get(meta, "io.modelcontextprotocol/protocolVersion") != NULL;
	s->session = strcmp(method, "initialize") == 0;
	s->keep = strcmp(method, "subscriptions/listen") == 0;
	s->batch = cleat_json_type(root) == CLEAT_JSON_ARRAY;
	/* Before it is looked at: what ends it must not end it twice. */
	s->open = s->batch ? 0 : 1;
	while (s->batch && cleat_json_next(&it))
		s->open += cleat_json_get(it.value, "id") && cleat_json_get(it.value, "method");
	cleat_doc_free(doc);
	if (!mock_message(h->mock, s, x->body, x->n))
		s->open = 0;
	/* One that is not recorded, or was refused, is answered like any other. */
	if (s->keep && s->body.n)
		s->keep = false;
	else if (s->keep)
		begin_stream(h, s);
}

static struct str session_of(const struct front_exchange *x)
{
	return http_fields_find(x->fields, x->n_fields, "mcp-session-id");
}

static void on_get(struct http_mock *h, struct front_exchange *x)
{
	struct spot *s;

	if (!session_of(x).p || h->listening) {
		replay_http_refuse(x, 405, "POST", NULL);
		return;
	}
	s = new_spot(h, x);
	s->keep = true;
	h->listening = s;
	begin_stream(h, s);
	for (size_t i = 0; i < h->n_waiting; i++) {
		write_event(s, h->waiting[i]);
		free(h->waiting[i]);
	}
	h->n_waiting = 0;
}

static void replay_http_on_request(void *ctx, struct front_exchange *x)
{
	struct http_mock *h = ctx;
	struct str session = session_of(x);
	size_t n = strcspn(x->target, "?");

	if (n != strlen(h->path) || strncmp(x->target, h->path, n) != 0)
		replay_http_refuse(x, 404, NULL, "not here\n");
	else if (session.p && !str_starts(session, "replay-"))
		replay_http_refuse(x, 404, NULL, "no such session\n");
	else if (strcmp(x->method, "POST") == 0)
		on_post(h, x);
	else if (strcmp(x->method, "GET") == 0)
		on_get(h, x);
	else if (strcmp(x->method, "DELETE") == 0)
		front_answer(x, 200, (struct str){ 0 }, NULL, 0, NULL, 0);
	else
		replay_http_refuse(x, 405, "POST, GET, DELETE", NULL);
	end_all(h);
}

static void replay_http_on_gone(void *ctx, struct front_exchange *x)
{
	struct http_mock *h = ctx;
	struct spot *s = x->user;

	if (!s)
		return;
	mock_gone(h->mock, s);
	forget(h, s);
}

/* Until Ctrl-C. */
static void replay_http_run(struct http_mock *h, cleat_loop *loop, size_t messages)
{
	h->path = *front_path(h->front) ? front_path(h->front) : "/mcp";
	cli_note(h->cli, "%zu messages at %s", messages, front_url(h->front, h->path));
	while (!cli_interrupted()) {
		size_t mark = keep_mark();
		int rc = cleat_loop_step(loop, -1);

		keep_release(mark);
		if (rc != CLEAT_OK)
			return;
	}
}

int replay_http(struct cli *cli, struct tape *tape, const char *address)
{
	struct http_mock h = { .cli = cli };
	struct front_user user = { replay_http_on_request, replay_http_on_gone, NULL, &h };
	struct mock_outlet outlet = { on_say, &h };
	cleat_loop *loop = cleat_loop_new(NULL);
	int code = EXIT_OTHER;

	if (!loop)
		return cli_error(cli, EXIT_OTHER, "out of memory");
	h.front = front_listen(cli, loop, address, &user, &code);
	if (h.front) {
		h.mock = mock_new(cli, tape, &outlet);
		await_signals(loop);
		replay_http_run(&h, loop, tape->n);
		await_signals(NULL);
		front_free(h.front);
		mock_free(h.mock);
		code = cli_interrupted() ? cli_interrupted_code() : EXIT_OTHER;
	}
	while (h.n_waiting)
		free(h.waiting[--h.n_waiting]);
	cleat_loop_free(loop);
	return code;
}
