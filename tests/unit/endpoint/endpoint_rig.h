/* tests/unit/endpoint_rig.h - a server with a few tools behind the MCP endpoint, its store, an HTTP server
 * and clients on real sockets, all in one thread; time of the endpoint stands still unless a test
 * moves it.
 */
#ifndef TESTS_MCP_RIG_H
#define TESTS_MCP_RIG_H

#include "endpoint/endpoint.h"
#include "http/field.h"
#include "messages.h"
#include "server/core.h"
#include "unit/httpd/httpd_rig.h"

#include <cleat/http.h>

/* ---- tools -------------------------------------------------------------------------------- */

/* Requests that were deferred. */
static cleat_request *parked[64];
static size_t n_parked, n_cancelled, n_roots_changed;

static inline int tool_echo(cleat_request *req)
{
	return cleat_reply_textf(req, "echo %s", cleat_arg_str(req, "text"));
}

static inline int tool_big(cleat_request *req)
{
	size_t n = (size_t)cleat_arg_int(req, "n");
	char *z = cleat_request_alloc(req, n + 1);

	if (z)
		memset(z, 'z', n);
	return cleat_reply_text(req, z);
}

/* `n` log messages of `size` bytes, then the answer. */
static inline int tool_chat(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n"), size = cleat_arg_int(req, "size");

	for (int64_t i = 1; i <= n; i++)
		cleat_request_log(req, CLEAT_LOG_ERROR, "<%lld>%*s", (long long)i, (int)size, "");
	return cleat_reply_text(req, "said");
}

static inline int tool_steps(cleat_request *req)
{
	int64_t n = cleat_arg_int(req, "n");

	for (int64_t i = 1; i <= n; i++)
		cleat_request_progress(req, (double)i, (double)n, "step %d", (int)i);
	return cleat_reply_text(req, "walked");
}

static inline void on_parked_cancel(cleat_request *req)
{
	(void)req;
	n_cancelled++;
}

static inline int tool_park(cleat_request *req)
{
	assert_true(n_parked < CLEAT_COUNT(parked));
	parked[n_parked++] = req;
	cleat_request_on_cancel(req, on_parked_cancel);
	cleat_request_defer(req);
	return CLEAT_PENDING;
}

/* Answers the oldest that is parked. */
static inline void unpark(const char *text)
{
	cleat_request *req = parked[0];

	assert_true(n_parked > 0);
	memmove(parked, parked + 1, --n_parked * sizeof *parked);
	cleat_request_finish(req, cleat_reply_text(req, text));
}

static inline int tool_ask(cleat_request *req)
{
	int rc = cleat_ask_confirm(req, "sure", "Really?");

	return rc ? rc : cleat_reply_text(req, "confirmed");
}

static inline int tool_who(cleat_request *req)
{
	const char *name = cleat_request_principal(req);

	return cleat_reply_textf(req, "you are %s", name ? name : "anybody");
}

static inline int tool_region(cleat_request *req)
{
	return cleat_reply_text(req, "there");
}

static size_t n_poked;

static inline int method_poke(cleat_request *req)
{
	(void)req;
	n_poked++;
	return CLEAT_OK;
}

static inline int method_poked(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{poked: %zu}", n_poked);
}

static inline void add_tools(cleat_server *s)
{
	static const cleat_tool tools[] = {
		{ .signature = "echo(text: string)", .call = tool_echo },
		{ .signature = "big(n: integer)", .call = tool_big },
		{ .signature = "chat(n: integer, size: integer = 0)", .call = tool_chat },
		{ .signature = "steps(n: integer)", .call = tool_steps },
		{ .name = "park", .call = tool_park },
		{ .name = "ask", .call = tool_ask },
		{ .name = "who", .call = tool_who },
		{ .name = "region",
		  .call = tool_region,
		  .input_schema = "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":"
				  "\"string\",\"x-mcp-header\":\"Region\"},\"zone\":{\"type\":"
				  "\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
				  "\"x-mcp-header\":\"Zone\"}}},\"dry\":{\"type\":\"boolean\","
				  "\"x-mcp-header\":\"Dry-Run\"}}}" },
	};
	static const cleat_resource resources[] = {
		{ .uri = "test://one", .text = "1" },
		{ .uri = "test://two", .text = "2" },
	};

	static const cleat_method methods[] = {
		{ .name = "com.example/poke", .call = method_poke, .notification = true },
		{ .name = "com.example/poked", .call = method_poked },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	cleat_server_add_methods(s, methods, CLEAT_COUNT(methods));
	cleat_server_add_resources(s, resources, CLEAT_COUNT(resources));
}

/* ---- the endpoint ------------------------------------------------------------------------- */

struct bench {
	struct rig h; /* loop, memory and address, for the clients */
	cleat_server *s;
	struct endpoint *m;
	struct store *store;
	uint64_t now_ms; /* the endpoint's clock */
	char notes[8192];
	size_t refuse; /* accept() gives no connection so many times */
	size_t asked;  /* who somebody is */
	char lent[64]; /* the last answer to that */
};

struct bench_options {
	struct endpoint_options mcp;
	struct store_limits store;
	struct httpd_options http;
	cleat_server_options server;
	bool tokens; /* "Authorization: Bearer NAME" is NAME; without it nobody passes */
};

static inline uint64_t bench_clock(void *ctx)
{
	return ((struct bench *)ctx)->now_ms;
}

static inline void bench_note(void *ctx, int level, const char *text)
{
	struct bench *b = ctx;
	size_t n = strlen(b->notes);

	(void)level;
	snprintf(b->notes + n, sizeof b->notes - n, "%s\n", text);
}

static inline struct peer *bench_accept(void *ctx, const struct peer_sink *sink,
					const struct peer_facts *facts)
{
	struct bench *b = ctx;

	if (b->refuse) {
		b->refuse--;
		return NULL;
	}
	return server_accept(b->s, sink, facts);
}

static inline int bench_authorize(void *ctx, const struct http_request *r, struct str *ret)
{
	struct str name = http_bearer(http_request_field(r, "authorization"));
	struct bench *b = ctx;

	b->asked++;
	snprintf(b->lent, sizeof b->lent, "%.*s", (int)name.n, name.p ? name.p : "");
	*ret = str_of(b->lent);
	return name.p ? CLEAT_OK : CLEAT_ENOENT;
}

static inline void bench_http(struct bench *b, const struct bench_options *o)
{
	struct httpd_options http = o->http;
	struct address a;

	http.loop = b->h.l;
	http.mem = &b->h.fa.hook;
	http.service = endpoint_service(b->m);
	http.note = bench_note;
	http.note_ctx = b;
	assert_int_equal(httpd_new(&http, &b->h.h), CLEAT_OK);
	httpd_set_clock(b->h.h, rig_clock, &b->h);
	assert_int_equal(address_parse(":0", &a, NULL), CLEAT_OK);
	assert_int_equal(listener_open(&a, NULL, &b->h.ear, NULL), CLEAT_OK);
	assert_int_equal(httpd_add(b->h.h, &b->h.ear, NULL), CLEAT_OK);
}

static inline void bench_base(struct bench *b, const struct bench_options *o)
{
	cleat_server_options server = o->server;

	memset(b, 0, sizeof *b);
	n_parked = n_cancelled = n_roots_changed = 0;
	n_poked = 0;
	b->now_ms = 1000000;
	rig_ground(&b->h);
	alarm(120); /* these take longer */
	server.allocator = &b->h.fa.hook;
	server.loop = b->h.l;
	server.log = bench_note;
	server.userdata = b;
	b->s = cleat_server_new("bench", "1", &server);
	add_tools(b->s);
	assert_ptr_equal(cleat_server_loop(b->s), b->h.l);
}

static inline void bench_open_with(struct bench *b, const struct bench_options *o)
{
	struct endpoint_options mcp = o->mcp;

	bench_base(b, o);
	b->store = store_memory_new(&b->h.fa.hook, &o->store, bench_clock, b);
	assert_non_null(b->store);
	mcp.loop = b->h.l;
	mcp.mem = &b->h.fa.hook;
	mcp.accept = bench_accept;
	mcp.authorize = o->tokens ? bench_authorize : NULL;
	mcp.note = bench_note;
	mcp.ctx = b;
	mcp.policy.loopback = true;
	mcp.store = b->store;
	mcp.now = bench_clock;
	assert_int_equal(endpoint_new(&mcp, &b->m, NULL), CLEAT_OK);
	bench_http(b, o);
}

static inline void bench_open(struct bench *b)
{
	bench_open_with(b, &(struct bench_options){ 0 });
}

/* What cleat_server_stop() leads to. */
static inline void bench_stop(struct bench *b)
{
	server_shutdown(b->s);
	endpoint_shutdown(b->m);
	httpd_drain(b->h.h, on_done, &b->h);
}

static inline void bench_close(struct bench *b)
{
	while (n_parked)
		unpark("late");
	httpd_free(b->h.h);
	endpoint_free(b->m);
	cleat_server_free(b->s);
	b->store->ops->free(b->store);
	rig_ground_done(&b->h);
}

static inline struct client *join(struct bench *b)
{
	return dial(&b->h);
}

static inline void turn(struct bench *b)
{
	rig_turn(&b->h);
}

static inline void pass(struct bench *b, uint64_t ms)
{
	b->now_ms += ms;
	endpoint_tick(b->m);
	turn(b);
}

static inline struct endpoint_stats stats_of(const struct bench *b)
{
	struct endpoint_stats s;

	endpoint_stats(b->m, &s);
	return s;
}

/* ---- requests ----------------------------------------------------------------------------- */

/* A request as text, in memory that the next call uses again. `fields`: lines with CRLF; a default for
 * Host, Accept and Content-Type, unless they are there. `body` NULL: none. */
static inline const char *request_text(const char *method, const char *target, const char *fields,
				       const char *body)
{
	static char text[1 << 17];
	int n = snprintf(
		text, sizeof text, "%s %s HTTP/1.1\r\n%s%s%s%s", method, target,
		strstr(fields, "Host:") ? "" : "Host: localhost\r\n",
		strstr(fields, "Accept:") ? "" : "Accept: application/json, text/event-stream\r\n",
		body && !strstr(fields, "Content-Type:") ? "Content-Type: application/json\r\n"
							 : "",
		fields);

	if (body)
		n += snprintf(text + n, sizeof text - (size_t)n, "Content-Length: %zu\r\n",
			      strlen(body));
	n += snprintf(text + n, sizeof text - (size_t)n, "\r\n%s", body ? body : "");
	assert_true((size_t)n < sizeof text);
	return text;
}

static inline void send_request(struct client *c, const char *method, const char *target,
				const char *fields, const char *body)
{
	put(c, request_text(method, target, fields, body));
}

#define VERSION(v)     "MCP-Protocol-Version: " v "\r\n"
#define MODERN_VERSION VERSION("2026-07-28")

/* The fields of a modern request; `name` NULL: no Mcp-Name. In memory that the next call uses
 * again. */
static inline const char *modern_fields(const char *method, const char *name, const char *more)
{
	static char fields[2048];

	snprintf(fields, sizeof fields, MODERN_VERSION "Mcp-Method: %s\r\n%s%s%s%s", method,
		 name ? "Mcp-Name: " : "", name ? name : "", name ? "\r\n" : "", more);
	return fields;
}

/* A modern tools/call; `args` is JSON. */
#define MODERN_CALL(id, name, args)                                                                \
	REQUEST(id, "tools/call", MODERN ",\"name\":\"" name "\",\"arguments\":" args)
#define LOGGING                                                                                    \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{},"                                       \
	"\"io.modelcontextprotocol/logLevel\":\"debug\",\"progressToken\":7}"
#define LISTEN(id, filter)                                                                         \
	REQUEST(id, "subscriptions/listen", MODERN ",\"notifications\":{" filter "}")

static inline void modern_call(struct client *c, const char *tool, const char *body)
{
	send_request(c, "POST", "/mcp", modern_fields("tools/call", tool, ""), body);
}

static inline void modern_listen(struct client *c, const char *body)
{
	send_request(c, "POST", "/mcp", modern_fields("subscriptions/listen", NULL, ""), body);
}

/* ---- answers ------------------------------------------------------------------------------ */

/* One whole answer, in memory that the next call uses again; NULL when the connection ended before its
 * end. */
static inline const struct answer *answer_of(struct client *c)
{
	return read_answer(c, &last_answer, false) ? &last_answer : NULL;
}

/* The same, with this status; gives its body. */
#define expect_answer(c, status) expect_answer_(c, status, __FILE__, __LINE__)
static inline const char *expect_answer_(struct client *c, int status, const char *file, int line)
{
	const struct answer *a = answer_of(c);

	if (!a || a->status != status) {
		print_error("wanted %d, got %d: %.500s\n", status, a ? a->status : 0,
			    a ? a->body : "the connection ended");
		_fail(file, line);
	}
	return a ? a->body : "";
}

/* Asks and gives the body of the answer, which must have this status. */
#define ask(c, status, method, fields, body)                                                       \
	(send_request(c, method, "/mcp", fields, body), expect_answer(c, status))

/* ---- event streams ------------------------------------------------------------------------ */

struct stream {
	struct client *c;
	char head[4096];
	char *text; /* of the body, not taken yet */
	size_t n, cap;
	bool ended; /* by the last chunk */
	size_t comments;
};

struct event {
	char id[80];
	char *data; /* points into `block`; NULL: no data line */
	long retry; /* -1: none */
	char name[32];
	char *block;
};

static inline void stream_take_chunk(struct stream *st)
{
	struct client *c = st->c;
	char *end = strstr(c->buf, "\r\n");
	size_t size, line;

	if (!end)
		return;
	size = (size_t)strtoul(c->buf, NULL, 16);
	line = (size_t)(end - c->buf) + 2;
	if (c->n < line + size + 2)
		return;
	assert_memory_equal(c->buf + line + size, "\r\n", 2);
	if (st->n + size + 1 > st->cap) {
		st->cap = (st->n + size + 1) * 2;
		st->text = realloc(st->text, st->cap);
		assert_non_null(st->text);
	}
	memcpy(st->text + st->n, c->buf + line, size);
	st->n += size;
	st->text[st->n] = '\0';
	st->ended = size == 0;
	take_front(c, line + size + 2);
}

/* Takes all whole chunks that have come. */
static inline void stream_take(struct stream *st)
{
	struct client *c = st->c;
	size_t before;

	look(c);
	c->buf[c->n] = '\0';
	do {
		before = c->n;
		if (!st->ended && c->n)
			stream_take_chunk(st);
	} while (c->n != before && !st->ended);
}

/* The header of an event stream has come; false when it is something else (it is left where it is) or
 * the connection ended. */
static inline bool stream_begin(struct client *c, struct stream *st)
{
	char *end;

	memset(st, 0, sizeof *st);
	st->c = c;
	c->buf[c->n] = '\0';
	while (!strstr(c->buf, "\r\n\r\n") && !c->eof)
		wait_more(c);
	end = strstr(c->buf, "\r\n\r\n");
	if (!end || !strstr(c->buf, "Content-Type: text/event-stream") ||
	    strncmp(c->buf, "HTTP/1.1 200 ", 13) != 0)
		return false;
	assert_true((size_t)(end - c->buf) + 4 < sizeof st->head);
	memcpy(st->head, c->buf, (size_t)(end - c->buf) + 4);
	take_front(c, (size_t)(end - c->buf) + 4);
	return true;
}

static inline void stream_expect(struct client *c, struct stream *st)
{
	if (!stream_begin(c, st)) {
		print_error("no stream: %.500s\n", c->buf);
		fail();
	}
}

static inline void stream_done(struct stream *st)
{
	free(st->text);
	memset(st, 0, sizeof *st);
}

static inline void event_read(struct event *e, char *block)
{
	*e = (struct event){ .retry = -1, .block = block };
	for (char *line = strtok(block, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, "id: ", 4) == 0)
			snprintf(e->id, sizeof e->id, "%s", line + 4);
		else if (strncmp(line, "data:", 5) == 0)
			e->data = line + 5 + (line[5] == ' ');
		else if (strncmp(line, "retry: ", 7) == 0)
			e->retry = atol(line + 7);
		else if (strncmp(line, "event: ", 7) == 0)
			snprintf(e->name, sizeof e->name, "%s", line + 7);
	}
}

/* Takes the next event if all of it has come; comments are counted and left out. */
static inline bool stream_poll(struct stream *st, struct event *e)
{
	char *end, *block;

	stream_take(st);
	while ((end = st->n ? strstr(st->text, "\n\n") : NULL) != NULL) {
		size_t n = (size_t)(end - st->text) + 2;

		block = malloc(n + 1);
		assert_non_null(block);
		memcpy(block, st->text, n);
		block[n] = '\0';
		memmove(st->text, st->text + n, st->n - n + 1);
		st->n -= n;
		if (block[0] != ':') {
			event_read(e, block);
			return true;
		}
		st->comments++;
		free(block);
	}
	return false;
}

static inline void event_done(struct event *e)
{
	free(e->block);
	e->block = NULL;
}

/* The next event; false when the stream, or the connection, ended before. */
static inline bool stream_next(struct stream *st, struct event *e)
{
	while (!stream_poll(st, e)) {
		if (st->ended || st->c->eof)
			return false;
		wait_more(st->c);
	}
	return true;
}

/* The next event has this in its data. Gives its id, in memory that the next call uses again. */
#define expect_event(st, part) expect_event_(st, part, __FILE__, __LINE__)
static inline const char *expect_event_(struct stream *st, const char *part, const char *file,
					int line)
{
	static char id[80];
	struct event e;

	if (!stream_next(st, &e)) {
		print_error("wanted %s, but the stream ended\n", part);
		_fail(file, line);
		return "";
	}
	if (!e.data || !strstr(e.data, part)) {
		print_error("wanted %s, got: %.500s\n", part, e.data ? e.data : "(no data)");
		_fail(file, line);
	}
	snprintf(id, sizeof id, "%s", e.id);
	event_done(&e);
	return id;
}

/* A stream of changes begins. */
static inline void listen_on(struct client *c, struct stream *st, const char *body)
{
	modern_listen(c, body);
	stream_expect(c, st);
	expect_event(st, "notifications/subscriptions/acknowledged");
}

/* The stream ends in order, with nothing more in it. */
#define expect_stream_end(st) expect_stream_end_(st, __FILE__, __LINE__)
static inline void expect_stream_end_(struct stream *st, const char *file, int line)
{
	struct event e;

	if (stream_next(st, &e)) {
		print_error("wanted the end, got: %.500s\n", e.data ? e.data : "(no data)");
		_fail(file, line);
	}
	if (!st->ended) {
		print_error("the connection ended before the stream\n");
		_fail(file, line);
	}
	stream_done(st);
}

/* Nothing has come, and the stream is open. */
static inline void expect_silence(struct bench *b, struct stream *st)
{
	struct event e;

	turn(b);
	if (stream_poll(st, &e)) {
		print_error("wanted silence, got: %.500s\n", e.data ? e.data : "(no data)");
		fail();
	}
	assert_false(st->ended);
	assert_false(st->c->eof);
}

/* ---- sessions ----------------------------------------------------------------------------- */

struct talk {
	struct bench *b;
	char id[64];
	char fields[256]; /* of every request in it */
	char rev[16];
};

#define INITIALIZE(rev, caps)                                                                      \
	REQUEST("\"init\"", "initialize",                                                          \
		"\"protocolVersion\":\"" rev "\",\"capabilities\":" caps                           \
		",\"clientInfo\":{\"name\":\"bench\",\"version\":\"7\"}")

/* Begins a session of that revision: initialize and notifications/initialized; `more`: further
 * fields. */
static inline void talk_open_with(struct bench *b, struct talk *t, const char *rev,
				  const char *caps, const char *more)
{
	struct client *c = join(b);
	char body[1024];
	const struct answer *a;
	int n;

	memset(t, 0, sizeof *t);
	t->b = b;
	snprintf(t->rev, sizeof t->rev, "%s", rev);
	snprintf(body, sizeof body, INITIALIZE("%s", "%s"), rev, caps);
	send_request(c, "POST", "/mcp", more, body);
	a = answer_of(c);
	assert_non_null(a);
	assert_int_equal(a->status, 200);
	assert_has(a->body, rev);
	assert_non_null(header(a, "Mcp-Session-Id"));
	snprintf(t->id, sizeof t->id, "%.40s", header(a, "Mcp-Session-Id"));
	n = snprintf(t->fields, sizeof t->fields, "Mcp-Session-Id: %s\r\n%s%s%s%s", t->id,
		     strcmp(rev, "2025-03-26") ? "MCP-Protocol-Version: " : "",
		     strcmp(rev, "2025-03-26") ? rev : "", strcmp(rev, "2025-03-26") ? "\r\n" : "",
		     more);
	assert_in_range(n, 1, sizeof t->fields - 1);
	send_request(c, "POST", "/mcp", t->fields, NOTE("notifications/initialized", ""));
	expect_answer(c, 202);
	hang_up(c);
}

static inline void talk_open(struct bench *b, struct talk *t, const char *rev)
{
	talk_open_with(b, t, rev, "{\"elicitation\":{}}", "");
}

/* Sends a message of the session. */
static inline void talk_post(struct talk *t, struct client *c, const char *body)
{
	send_request(c, "POST", "/mcp", t->fields, body);
}

/* Opens the standing stream (last NULL), or resumes one. */
/* A call that goes on until unpark(). */
static inline struct client *park_call(struct talk *t)
{
	struct client *c = join(t->b);

	talk_post(t, c, CALL("1", "park", "{}"));
	WAIT_FOR(&t->b->h, n_parked == 1);
	return c;
}

static inline void talk_get(struct talk *t, struct client *c, const char *last)
{
	char fields[512];
	int n = snprintf(fields, sizeof fields, "%s%s%s%sAccept: text/event-stream\r\n", t->fields,
			 last ? "Last-Event-ID: " : "", last ? last : "", last ? "\r\n" : "");

	assert_in_range(n, 1, sizeof fields - 1);
	send_request(c, "GET", "/mcp", fields, NULL);
}

/* The status of a whole exchange on a connection of its own. */
static inline int talk_status(struct talk *t, const char *method, const char *body)
{
	struct client *c = join(t->b);
	const struct answer *a;
	int status;

	send_request(c, method, "/mcp", t->fields, body);
	a = answer_of(c);
	status = a ? a->status : 0;
	hang_up(c);
	return status;
}

#define PING(id) REQUEST(id, "ping", "")

/* A case on an endpoint; BENCH_TEST_WITH: with these members of struct bench_options. */
#define BENCH_TEST(name) TEST_ON(name, struct bench, b, bench_open(b), bench_close)
#define BENCH_TEST_WITH(name, ...)                                                                 \
	TEST_ON(name, struct bench, b, bench_open_with(b, &(struct bench_options){ __VA_ARGS__ }), \
		bench_close)

#endif
