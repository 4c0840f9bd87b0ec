/* program/record/bridge.c - stands between a client on stdin and stdout and a server that speaks HTTP.
 *
 * Each line of the client becomes the body of a POST, as it is; what has to be said in headers beside it
 * (revision, session, Mcp-Method and the like) is taken from the messages that pass. Messages of the answers
 * become lines. Where there is no answer to a request, because HTTP has failed, an error of our own takes its
 * place, so that the client does not wait for ever; that is written down, too, and remarked on.
 *
 * Not here: HTTP+SSE of 2024-11-05, and the resuming of an answer whose connection broke. Not the library's
 * link to a server either (link/links.h), which does both: it decides what is an answer and what is not,
 * and here everything has to pass, also what no client of ours would have said.
 */
#include "record/record.h"
#include "terminal/await.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CHUNK = 4096, /* a pipe that can be written to takes as much without waiting */
	LINE_MOST = 64 << 20,
	OUT_MOST =
		64
		<< 20,   /* that the client does not take: then nothing more is read, from nobody */
	AGAIN_MS = 1000, /* before a stream that ended is opened anew */
	ENDING_MS = 30000, /* for answers that are to come when the client has said its last */
	DELETE_MS = 2000
};

enum post_kind { POST_MESSAGE, POST_STREAM, POST_DELETE };

struct bridge;

/* A request by HTTP that is under way. */
struct post {
	struct bridge *b;
	struct post *next;
	struct back_call *call;
	enum post_kind kind;
	char *id; /* of the client's request, JSON text; NULL: none */
	int status;
	bool answered, modern, initialize, initialized, listens;
	struct body *body; /* NULL: there is none yet */
};

struct bridge {
	struct cli *cli;
	struct transcript *to;
	struct back *back;
	struct post *posts;
	bool input_ended, deaf; /* deaf: nobody reads what is written */
	struct text in, out;
	size_t sent;
	char *session, *revision;
	struct mirror *mirror; /* which arguments of tools are headers */
	bool stream_wanted;    /* what the server says by itself, up to 2025-11-25 */
	long long stream_at;   /* not before */
	char last_id[256];
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ---- to the client ------------------------------------------------------------------------------- */

static void bridge_say(struct bridge *b, const char *p, size_t n)
{
	transcript_add(b->to, false, p, n);
	for (size_t i = 0; i < n; i++) /* one line, whatever it was */
		if (p[i] != '\n' && p[i] != '\r') {
			size_t part = i;

			while (part < n && p[part] != '\n' && p[part] != '\r')
				part++;
			text_add(&b->out, p + i, part - i);
			i = part;
		}
	text_puts(&b->out, "\n");
}

/* An error in the place of an answer that does not come. */
static void bridge_fail(struct bridge *b, struct post *p, const char *why)
{
	struct text t = { 0 };

	cli_note(b->cli, "%s", why);
	if (p->id && !p->answered) {
		text_printf(&t,
			    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":",
			    p->id, CLEAT_RPC_INTERNAL_ERROR);
		text_json(&t, why, strlen(why));
		text_puts(&t, "}}");
		bridge_say(b, t.p, t.n);
	}
	p->answered = true;
	text_free(&t);
}

/* The end of its stream is the end of a subscription over HTTP; on a pipe a notification says so (2026-07-28
 * cancellation). */
static void end_subscription(struct bridge *b, struct post *p)
{
	struct text t = { 0 };

	text_printf(&t,
		    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		    "\"requestId\":%s,\"reason\":\"the server ended its stream\"}}",
		    p->id);
	bridge_say(b, t.p, t.n);
	p->answered = true;
	text_free(&t);
}

/* ---- what passes is looked at -------------------------------------------------------------------- */

static void note_answer(struct bridge *b, struct post *p, const cleat_json *msg)
{
	const cleat_json *result = cleat_json_get(msg, "result");
	const char *version = cleat_json_str(cleat_json_get(result, "protocolVersion"), NULL);
	char *id = cleat_json_print(cleat_json_get(msg, "id"), NULL);

	/* An error may have no id, where the request could not be read. */
	if (!cleat_json_get(msg, "method") &&
	    (cleat_json_get(msg, "error") || (id && p->id && strcmp(id, p->id) == 0)))
		p->answered = true;
	if (p->initialize && version) {
		free(b->revision);
		b->revision = strdup(version);
	}
	mirror_learn(b->mirror, cleat_json_get(result, "tools"));
	free(id);
}

static void bridge_on_message(void *ctx, const char *text, size_t n)
{
	struct post *p = ctx;
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, NULL);

	/* The body of a refusal may be anything; that of a stream that there is not (405) is not a message. */
	if (p->status >= 300 &&
	    (p->kind != POST_MESSAGE || !cleat_json_get(cleat_doc_root(doc), "jsonrpc"))) {
		cleat_doc_free(doc);
		return;
	}
	note_answer(p->b, p, cleat_doc_root(doc));
	bridge_say(p->b, text, n);
	cleat_doc_free(doc);
}

/* ---- HTTP ---------------------------------------------------------------------------------------- */

static void bridge_on_head(void *ctx, int status, const struct http_field *fields, size_t n)
{
	struct post *p = ctx;
	struct str session = http_fields_find(fields, n, "mcp-session-id");

	p->status = status;
	p->body = body_new(NULL, http_fields_find(fields, n, "content-type"), bridge_on_message, p);
	if (p->initialize && session.p && status < 300) {
		free(p->b->session);
		p->b->session = strndup(session.p, session.n);
	}
}

static void end_post(struct post *p)
{
	struct post **at = &p->b->posts;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	body_free(p->body);
	free(p->id);
	free(p);
}

static void end_stream(struct post *p, const char *error)
{
	struct bridge *b = p->b;
	char id[sizeof b->last_id] = "";

	if (p->body)
		body_last_id(p->body, id, sizeof id);
	if (*id)
		memcpy(b->last_id, id, sizeof id);
	b->stream_wanted = p->status == 200; /* 405: there is none */
	b->stream_at = now_ms() + AGAIN_MS;
	if (error && p->status == 200)
		cli_note(b->cli, "the server's stream broke: %s", error);
}

static void bridge_on_done(void *ctx, const char *error)
{
	struct post *p = ctx;
	struct bridge *b = p->b;

	if (!error && p->body)
		body_end(p->body);
	if (p->kind == POST_STREAM)
		end_stream(p, error);
	else if (p->kind == POST_MESSAGE && error)
		bridge_fail(b, p, error);
	else if (p->kind == POST_MESSAGE && p->status >= 300 && !p->answered)
		bridge_fail(b, p, keepf("the server answered with HTTP status %d", p->status));
	else if (p->listens && !p->answered)
		end_subscription(b, p);
	else if (p->id && !p->answered)
		bridge_fail(b, p, "the server's answer ended without a response");
	if (p->initialized && !error && p->status < 300) {
		b->stream_wanted = true;
		b->stream_at = 0;
	}
	end_post(p);
}

/* The client does not take what it is given. */
static bool is_full(const struct bridge *b)
{
	return b->out.n - b->sent >= OUT_MOST;
}

static void on_data(void *ctx, const char *data, size_t n)
{
	struct post *p = ctx;

	if (p->body && body_feed(p->body, data, n) == CLEAT_OK) {
		if (is_full(p->b)) /* at once: a server may have more to say than fits anywhere */
			back_pause(p->call, true);
		return;
	}
	back_cancel(p->call);
	bridge_on_done(p,
		       p->body ? "the server sent a message of more than 64 MiB" : "out of memory");
}

static const struct back_user answer = { bridge_on_head, on_data, bridge_on_done };

static struct post *new_post(struct bridge *b, enum post_kind kind)
{
	struct post *p = must_alloc(sizeof *p);

	*p = (struct post){ .b = b, .next = b->posts, .kind = kind };
	b->posts = p;
	return p;
}

static void add_session(const struct bridge *b, struct http_field_list *fields)
{
	if (b->revision)
		http_field_add(fields, STR_LIT("MCP-Protocol-Version"), str_of(b->revision));
	if (b->session)
		http_field_add(fields, STR_LIT("Mcp-Session-Id"), str_of(b->session));
}

/* The fields' memory ends here. */
static void send_post(struct post *p, const char *method, struct http_field_list *fields,
		      const char *body, size_t n)
{
	struct back *to = p->b->back;
	cleat_error err = { .message = "out of memory" };

	if (!arena_failed(fields->ar))
		p->call = back_send(to, method, back_path(to), fields->at, fields->n, body, n,
				    &answer, p, &err);
	arena_done(fields->ar);
	if (!p->call)
		bridge_on_done(p, err.message);
}

static void open_stream(struct bridge *b)
{
	struct arena ar;
	struct http_field_list fields = { .ar = &ar };

	arena_init(&ar, NULL, 0);
	http_field_add(&fields, STR_LIT("Accept"), STR_LIT("text/event-stream"));
	add_session(b, &fields);
	if (*b->last_id)
		http_field_add(&fields, STR_LIT("Last-Event-ID"), str_of(b->last_id));
	b->stream_wanted = false;
	send_post(new_post(b, POST_STREAM), "GET", &fields, NULL, 0);
}

/* ---- from the client ----------------------------------------------------------------------------- */

/* The headers of 2026-07-28. What cannot be said in them is left out: the server has something to say about
 * that, not we. */
static void add_modern(const struct bridge *b, const cleat_json *msg, const char *version,
		       struct http_field_list *fields)
{
	cleat_error err;

	http_field_add(fields, STR_LIT("MCP-Protocol-Version"), str_of(version));
	if (mirror_fields(b->mirror, msg, fields, &err) != CLEAT_OK)
		cli_note(b->cli, "%s", err.message);
}

/* Closing the answer is how a request is cancelled over HTTP since 2026-07-28; before, the server is told, and
 * no answer is missed then. */
static bool cancel(struct bridge *b, const cleat_json *params)
{
	char *id = cleat_json_print(cleat_json_get(params, "requestId"), NULL);
	struct post *p = b->posts;

	while (p && !(p->id && id && strcmp(p->id, id) == 0))
		p = p->next;
	free(id);
	if (p && !p->modern)
		p->answered = true;
	if (!p || !p->modern)
		return false;
	back_cancel(p->call);
	end_post(p);
	return true;
}

static bool has_header_form(const char *text)
{
	for (; *text; text++)
		if (*text < 0x21 || *text > 0x7E)
			return false;
	return true;
}

static void pass_line(struct bridge *b, const char *line, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(line, n, NULL, NULL, NULL);
	const cleat_json *msg = cleat_doc_root(doc), *params = cleat_json_get(msg, "params");
	const char *method = cleat_json_str(cleat_json_get(msg, "method"), "");
	const char *version =
		cleat_json_str(cleat_json_get(cleat_json_get(params, "_meta"),
					      "io.modelcontextprotocol/protocolVersion"),
			       NULL);
	struct arena ar;
	struct http_field_list fields = { .ar = &ar };
	struct post *p;

	transcript_add(b->to, true, line, n);
	if (strcmp(method, "notifications/cancelled") == 0 && cancel(b, params)) {
		cleat_doc_free(doc);
		return;
	}
	p = new_post(b, POST_MESSAGE);
	p->initialize = strcmp(method, "initialize") == 0;
	p->initialized = strcmp(method, "notifications/initialized") == 0;
	p->listens = strcmp(method, "subscriptions/listen") == 0;
	p->modern = version && has_header_form(version);
	if (*method && cleat_json_get(msg, "id"))
		p->id = cleat_json_print(cleat_json_get(msg, "id"), NULL);
	arena_init(&ar, NULL, 0);
	http_field_add(&fields, STR_LIT("Content-Type"), STR_LIT("application/json"));
	http_field_add(&fields, STR_LIT("Accept"), STR_LIT("application/json, text/event-stream"));
	if (p->modern)
		add_modern(b, msg, version, &fields);
	else if (!p->initialize)
		add_session(b, &fields);
	send_post(p, "POST", &fields, line, n);
	cleat_doc_free(doc);
}

/* The order of a pipe has to be the order at the server: what comes behind a notification, an answer or the
 * beginning waits until the server has taken it. Requests do not wait for each other. */
static bool is_held(const struct bridge *b)
{
	for (const struct post *p = b->posts; p; p = p->next)
		if (p->kind == POST_MESSAGE && (p->initialize || !p->id))
			return true;
	return false;
}

static void pass_lines(struct bridge *b)
{
	size_t at = 0;

	while (at < b->in.n && !is_held(b)) {
		const char *start = b->in.p + at, *end = memchr(start, '\n', b->in.n - at);
		size_t n = end ? (size_t)(end - start) : b->in.n - at;

		if (!end && !b->input_ended && n <= LINE_MOST)
			break;
		if (strspn(text_str(&b->in) + at, " \t\r") < n && n <= LINE_MOST)
			pass_line(b, start, n);
		else if (n > LINE_MOST)
			cli_note(b->cli, "a message of more than 64 MiB was left out");
		at += end ? n + 1 : n;
	}
	text_drop(&b->in, at);
}

static void bridge_take(struct bridge *b)
{
	char buf[65536];
	ssize_t n = read(STDIN_FILENO, buf, sizeof buf);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		text_add(&b->in, buf, (size_t)n);
	b->input_ended = n <= 0;
}

static void give(struct bridge *b)
{
	size_t left = b->out.n - b->sent;
	ssize_t n = write(STDOUT_FILENO, b->out.p + b->sent, left < CHUNK ? left : CHUNK);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	b->deaf = n < 0;
	b->sent += n > 0 ? (size_t)n : 0;
	text_drop_taken(&b->out, &b->sent);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* One round; `read_input`: the client is listened to. */
static void bridge_step(struct bridge *b, bool read_input, int timeout_ms)
{
	bool full = is_full(b);
	cleat_loop *loop = b->cli->loop;
	struct pollfd p[4] = {
		{ .fd = read_input && !full && b->in.n <= LINE_MOST ? STDIN_FILENO : -1,
		  .events = POLLIN },
		{ .fd = b->out.n ? STDOUT_FILENO : -1, .events = POLLOUT },
		{ .fd = cli_interrupt_fd(), .events = POLLIN },
		{ .fd = cleat_loop_fd(loop), .events = POLLIN },
	};
	int due = cleat_loop_timeout(loop);
	size_t mark = keep_mark();

	for (const struct post *post = b->posts; post; post = post->next)
		back_pause(post->call, full);
	poll(p, 4, due >= 0 && due < timeout_ms ? due : timeout_ms);
	cleat_loop_step(loop, 0);
	if (p[1].revents)
		give(b);
	if (p[0].revents)
		bridge_take(b);
	if (b->in.n)
		pass_lines(b);
	keep_release(mark);
}

/* Is there an answer still to come that comes by itself? */
static bool is_waiting(const struct bridge *b, enum post_kind kind)
{
	for (const struct post *p = b->posts; p; p = p->next)
		if (p->kind == kind && !p->listens)
			return true;
	return false;
}

static bool goes_on(const struct bridge *b)
{
	return !b->deaf && !cli_interrupted();
}

static void end_session(struct bridge *b)
{
	struct arena ar;
	struct http_field_list fields = { .ar = &ar };
	long long until = now_ms() + DELETE_MS;

	if (!b->session || cli_interrupted())
		return;
	arena_init(&ar, NULL, 0);
	add_session(b, &fields);
	send_post(new_post(b, POST_DELETE), "DELETE", &fields, NULL, 0);
	while (is_waiting(b, POST_DELETE) && now_ms() < until && !cli_interrupted())
		bridge_step(b, false, 100);
}

static void clear(struct bridge *b)
{
	struct post *next;

	for (struct post *p = b->posts; p; p = next) {
		next = p->next;
		back_cancel(p->call);
		end_post(p);
	}
	mirror_free(b->mirror);
	text_free(&b->in);
	text_free(&b->out);
	free(b->session);
	free(b->revision);
}

int record_bridge(struct cli *cli, struct transcript *to, struct back *server)
{
	struct bridge *b = keep_alloc(sizeof *b);
	long long until;

	b->cli = cli;
	b->to = to;
	b->back = server;
	b->mirror = mirror_new(NULL);
	if (!b->mirror)
		return cli_error(cli, EXIT_OTHER, "out of memory");
	while (goes_on(b) && !b->input_ended) {
		if (b->stream_wanted && now_ms() >= b->stream_at)
			open_stream(b);
		bridge_step(b, true, b->stream_wanted ? AGAIN_MS : 60000);
	}
	until = now_ms() + ENDING_MS;
	while (goes_on(b) && (is_waiting(b, POST_MESSAGE) || b->in.n || b->out.n) &&
	       now_ms() < until)
		bridge_step(b, false, 1000);
	end_session(b);
	clear(b);
	return cli_interrupted() ? cli_interrupted_code() : EXIT_GOOD;
}
