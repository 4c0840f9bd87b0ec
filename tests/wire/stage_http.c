/* stage_http.c - transcripts of an MCP endpoint over HTTP: what clients on several connections send, and what comes
 * back. The server is that of the endpoint's unit tests; requests are cut like the lines of other transcripts.
 *
 *	> POST [Field: value]... BODY     a request to /mcp, or to the /path behind the method
 *	> CALL ID TOOL [Field: value]... ARGUMENTS   a tools/call of 2026-07-28, with its fields
 *	< 200 [Field: value]... WHAT      an answer; <capture:X>, <any>, <none> for values
 *	< stream                          the header of an event stream
 *	< event [id: value]... WHAT       its next event; also [retry: ms] and [event: name]
 *	< end                             its end, in order; "cut": the connection ended before it
 *	< eof                             the server has closed the connection
 */
#include "session.h"

#include "unit/endpoint/endpoint_rig.h"

#include <ctype.h>
#include <signal.h>

enum { CONNS = 9, PATIENCE_S = 60, FIELD_MAX = 1024 };

struct http {
	struct bench b;
	struct bench_options o;
	bool open;
	struct client *c[CONNS];
	struct stream st[CONNS];
	bool streams[CONNS]; /* between "stream" and "end" */
};

static struct session *current;

static void tell_where(int signal)
{
	(void)signal;
	fprintf(stderr, "%s:%d: waits for what never comes\n", current->script->path,
		current->line);
	abort();
}

/* Everything that can be done now: over the loopback interface bytes arrive as they are sent. */
static void settle(struct bench *b)
{
	for (int i = 0; i < 8; i++)
		cleat_loop_step(b->h.l, 0);
}

static bool http_open(struct session *s)
{
	current = s;
	signal(SIGALRM, tell_where);
	s->data = text_alloc(sizeof(struct http));
	return true;
}

static struct bench *bench_of(struct session *s)
{
	struct http *h = s->data;

	if (!h->open)
		bench_open_with(&h->b, &h->o);
	h->open = true;
	alarm(PATIENCE_S);
	return &h->b;
}

static struct client *client_of(struct session *s, int i)
{
	struct http *h = s->data;
	struct bench *b = bench_of(s);

	if (!h->c[i]) {
		h->c[i] = join(b);
		setsockopt(h->c[i]->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	}
	return h->c[i];
}

static void leave(struct http *h, int i, void (*how)(struct client *c))
{
	if (h->c[i])
		how(h->c[i]);
	stream_done(&h->st[i]);
	h->c[i] = NULL;
	h->streams[i] = false;
}

static void http_close(struct session *s)
{
	struct http *h = s->data;

	for (int i = 0; i < CONNS; i++)
		leave(h, i, hang_up);
	if (h->open)
		bench_close(&h->b);
	alarm(0);
	free(h);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* The fields "[...]" at the front, as lines; what follows them. */
static const char *read_fields(const char *p, char *into, size_t size)
{
	size_t n = 0;

	for (*into = '\0'; *p == ' ' || (*p == '[' && isalpha((unsigned char)p[1])); p++) {
		size_t length = strcspn(p, "]");

		if (*p == ' ')
			continue;
		n += (size_t)snprintf(into + n, size - n, "%.*s\r\n", (int)length - 1, p + 1);
		p += length;
	}
	return p;
}

static void put_sliced(struct session *s, struct client *c, const char *p, size_t n)
{
	static const size_t odd[] = { 3, 1, 7, 64, 2, 1000, 5 };

	for (size_t turns = 0; n; turns++) {
		size_t k = s->how == SLICE_LINES   ? n
			   : s->how == SLICE_BYTES ? 1
						   : odd[turns % CLEAT_COUNT(odd)];

		k = k < n ? k : n;
		put_bytes(c, p, k);
		p += k;
		n -= k;
		if (s->how != SLICE_LINES)
			cleat_loop_step(c->r->l, 0);
	}
}

/* The next word, which is taken off the front. */
static const char *word_of(const char **p, char *into, size_t size)
{
	size_t n = strcspn(*p, " ");

	snprintf(into, size, "%.*s", (int)n, *p);
	*p += n + ((*p)[n] == ' ');
	return into;
}

/* A body as it is, a message in short, call ID TOOL ARGUMENTS, or (empty). */
static const char *body_of(const char *body, struct text *into)
{
	char id[32], name[64];

	if (strncmp(body, "call ", 5) != 0) {
		session_message(body, into);
		return strcmp(body, "(empty)") == 0 ? "" : *body ? text_str(into) : NULL;
	}
	body += 5;
	word_of(&body, id, sizeof id);
	word_of(&body, name, sizeof name);
	text_printf(into, CALL("%s", "%s", "%s"), id, name, *body ? body : "{}");
	return text_str(into);
}

static void send_line(struct session *s, struct client *c, const char *rest)
{
	char fields[3 * FIELD_MAX], method[16], target[256] = "/mcp", id[32], name[64];
	struct text text = { 0 };
	const char *body, *bytes;
	size_t n = 0;

	word_of(&rest, method, sizeof method);
	if (*rest == '/')
		word_of(&rest, target, sizeof target);
	if (strcmp(method, "CALL") == 0) {
		word_of(&rest, id, sizeof id);
		word_of(&rest, name, sizeof name);
		snprintf(fields, sizeof fields, "%s", modern_fields("tools/call", name, ""));
		n = strlen(fields);
	}
	body = read_fields(rest, fields + n, sizeof fields - n);
	if (n) {
		struct text meta = { 0 };

		words_expand(&s->words, "$META", &meta);
		text_printf(
			&text,
			"{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"_meta\":%s,"
			"\"name\":\"%s\",\"arguments\":%s}}",
			id, text_str(&meta), name, *body ? body : "{}");
		text_free(&meta);
		body = text_str(&text);
	} else {
		body = body_of(body, &text);
	}
	bytes = request_text(n ? "POST" : method, target, fields, body);
	put_sliced(s, c, bytes, strlen(bytes));
	text_free(&text);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Each of these fields is as wanted; `got` gives what is there, NULL: nothing. */
static bool fields_fit(struct session *s, char *fields,
		       const char *(*got)(const void *, const char *), const void *of)
{
	static const char capture[] = "<capture:";

	for (char *line = strtok(fields, "\r\n"); line; line = strtok(NULL, "\r\n")) {
		char *want = strstr(line, ": ");
		const char *value;

		if (!want)
			return session_fail(s, "this is no field: %s", line);
		*want = '\0';
		want += 2;
		value = got(of, line);
		if (value && strncmp(want, capture, sizeof capture - 1) == 0) {
			struct text quoted = { 0 };

			text_printf(&quoted, "\"%s\"", value);
			words_set(&s->words, want + sizeof capture - 1,
				  strlen(want) - sizeof capture, text_str(&quoted), true);
			text_free(&quoted);
		} else if (strcmp(want, value ? "<any>" : "<none>") != 0 &&
			   (!value || strcmp(want, value) != 0)) {
			return session_fail(s, "%s is %s, expected %s", line,
					    value ? value : "not there", want);
		}
	}
	return true;
}

static const char *answer_field(const void *answer, const char *name)
{
	return header(answer, name);
}

static const char *event_field(const void *event, const char *name)
{
	static char number[32];
	const struct event *e = event;

	if (strcmp(name, "id") == 0)
		return *e->id ? e->id : NULL;
	if (strcmp(name, "event") == 0)
		return *e->name ? e->name : NULL;
	if (strcmp(name, "data") == 0)
		return e->data;
	snprintf(number, sizeof number, "%ld", e->retry);
	return e->retry < 0 ? NULL : number;
}

static bool expect_status(struct session *s, int conn, char *text)
{
	char fields[2 * FIELD_MAX], *want;
	int status = (int)strtol(text, &want, 10);
	const struct answer *a = answer_of(client_of(s, conn));

	want = (char *)(uintptr_t)read_fields(want + (*want == ' '), fields, sizeof fields);
	if (!a || a->status != status)
		return session_fail(s, "expected %d, got %d: %.500s", status, a ? a->status : 0,
				    a ? a->body : "the connection ended");
	return fields_fit(s, fields, answer_field, a) && session_fits(s, want, a->body);
}

static bool expect_stream(struct session *s, int conn, char *text)
{
	struct http *h = s->data;
	char fields[2 * FIELD_MAX];
	struct answer head = { 0 };

	read_fields(text, fields, sizeof fields);
	if (!stream_begin(client_of(s, conn), &h->st[conn]))
		return session_fail(s, "no stream: %.500s", h->c[conn]->buf);
	h->streams[conn] = true;
	snprintf(head.head, sizeof head.head, "%s", h->st[conn].head);
	return fields_fit(s, fields, answer_field, &head);
}

static bool expect_event_line(struct session *s, int conn, char *text)
{
	struct http *h = s->data;
	char fields[2 * FIELD_MAX];
	const char *want = read_fields(text, fields, sizeof fields);
	struct event e;
	bool ok;

	if (!h->streams[conn] && !expect_stream(s, conn, ""))
		return false;
	if (!stream_next(&h->st[conn], &e))
		return session_fail(s, "the stream ended");
	ok = fields_fit(s, fields, event_field, &e) && session_fits(s, want, e.data ? e.data : "");
	event_done(&e);
	return ok;
}

/* "end" and "cut": nothing more is in the stream, and it ended in order, or did not. */
static bool expect_stream_end_line(struct session *s, int conn, bool in_order)
{
	struct http *h = s->data;
	struct event e;

	if (!h->streams[conn] && !expect_stream(s, conn, ""))
		return false;
	if (stream_next(&h->st[conn], &e)) {
		session_fail(s, "the stream goes on: %.500s", e.data ? e.data : "(no data)");
		event_done(&e);
		return false;
	}
	h->streams[conn] = false;
	if (h->st[conn].ended != in_order)
		return session_fail(s, "the stream ended %s",
				    in_order ? "with the connection" : "in order");
	stream_done(&h->st[conn]);
	return true;
}

static bool expect_eof(struct session *s, int conn)
{
	struct client *c = client_of(s, conn);

	while (!c->eof)
		wait_more(c);
	if (c->n || c->error)
		return session_fail(s, "before its end the connection had: %.500s", c->buf);
	return true;
}

static bool expect_line(struct session *s, int conn, char *text)
{
	char *rest = text + strcspn(text, " ");

	rest += *rest == ' ';
	if (strncmp(text, "stream", 6) == 0)
		return expect_stream(s, conn, rest);
	if (strncmp(text, "event", 5) == 0)
		return expect_event_line(s, conn, rest);
	if (strcmp(text, "end") == 0 || strcmp(text, "cut") == 0)
		return expect_stream_end_line(s, conn, *text == 'e');
	if (strcmp(text, "eof") == 0)
		return expect_eof(s, conn);
	return expect_status(s, conn, text);
}

static bool http_step(struct session *s, const struct step *step)
{
	struct client *c = client_of(s, step->conn);
	struct text text = { 0 };
	bool ok = true;

	if (step->kind == STEP_REPEAT) {
		const char *bytes = strchr(text_str(&step->text), ' ') + 1;

		for (long n = atol(text_str(&step->text)); n > 0; n--)
			text_puts(&text, bytes);
		put_sliced(s, c, text_str(&text), text.n);
	} else if (step->kind == STEP_RAW) {
		ok = text_put_escaped(&text, text_str(&step->text)) ||
		     session_fail(s, "an escape that is not known");
		put_sliced(s, c, text_str(&text), text.n);
	} else {
		words_expand(&s->words, text_str(&step->text), &text);
		if (step->kind == STEP_SEND)
			send_line(s, c, text_str(&text));
		else
			ok = expect_line(s, step->conn, text.p);
	}
	text_free(&text);
	return ok;
}

/* ---- rest ----------------------------------------------------------------------------------- */

static bool http_rest(struct session *s)
{
	settle(bench_of(s));
	return true;
}

static bool http_quiet(struct session *s)
{
	struct http *h = s->data;
	struct event e;

	settle(bench_of(s));
	for (int i = 0; i < CONNS; i++) {
		if (!h->c[i])
			continue;
		look(h->c[i]);
		if (!h->streams[i] && h->c[i]->n)
			return session_fail(s, "not expected (connection %d): %.500s", i + 1,
					    h->c[i]->buf);
		if (h->streams[i] && stream_poll(&h->st[i], &e)) {
			session_fail(s, "not expected (connection %d): %.500s", i + 1,
				     e.data ? e.data : "(no data)");
			event_done(&e);
			return false;
		}
		if (h->streams[i] && (h->st[i].ended || h->c[i]->eof))
			return session_fail(s, "the stream of connection %d has ended", i + 1);
	}
	return true;
}

/* ---- directives ----------------------------------------------------------------------------- */

#define OPTION(name, member)                                                                       \
	{                                                                                          \
		name, offsetof(struct bench_options, member),                                      \
			sizeof((struct bench_options *)0)->member                                  \
	}

static bool do_options(struct session *s, struct line *l)
{
	static const struct setting known[] = {
		OPTION("tokens", tokens),
		OPTION("session_idle_ms", mcp.session_idle_ms),
		OPTION("keep_alive_ms", mcp.keep_alive_ms),
		OPTION("no_sessions", mcp.no_sessions),
		OPTION("no_old_sse", mcp.no_old_sse),
		OPTION("max_sessions", store.max_sessions),
		OPTION("max_session_bytes", store.max_session_bytes),
		OPTION("max_stream_queue", http.max_stream_queue),
		OPTION("request_timeout_ms", server.request_timeout_ms),
		OPTION("max_inflight", server.max_inflight),
	};
	struct http *h = s->data;

	if (h->open)
		return session_fail(s, "options come before the first message");
	return directive_settings(s, l, 1, &h->o, known, CLEAT_COUNT(known));
}

/* ! session NAME [REV [CAPABILITIES] [FIELDS]]: $NAME has the fields of its requests, $NAME_id its id. */
static bool do_session(struct session *s, struct line *l)
{
	const char *rev = l->n > 2 && l->word[2][0] != '[' ? l->word[2]
			  : s->revision                    ? s->revision
							   : "2025-11-25";
	const char *more = strchr(l->rest[1], '[');
	const char *caps = l->n > 3 && l->word[3][0] == '{' ? l->word[3] : "{\"elicitation\":{}}";
	char fields[FIELD_MAX], name[64];
	struct text text = { 0 };
	struct talk t;

	read_fields(more ? more : "", fields, sizeof fields);
	talk_open_with(bench_of(s), &t, rev, caps, fields);
	text_printf(&text, "[Mcp-Session-Id: %s]", t.id);
	if (strcmp(rev, "2025-03-26") != 0)
		text_printf(&text, " [MCP-Protocol-Version: %s]", rev);
	text_printf(&text, "%s%s", more ? " " : "", more ? more : "");
	words_set(&s->words, l->word[1], strlen(l->word[1]), text_str(&text), false);
	snprintf(name, sizeof name, "%.50s_id", l->word[1]);
	words_set(&s->words, name, strlen(name), t.id, false);
	text_free(&text);
	return true;
}

/* ! count WHAT N, when it has become so */
static bool do_count(struct session *s, struct line *l)
{
	struct bench *b = bench_of(s);
	size_t want = strtoul(l->word[2], NULL, 10), got = SIZE_MAX;

	for (int i = 0; i < 500 && got != want; i++) {
		struct store_stats kept;

		store_memory_stats(b->store, &kept);
		got = strcmp(l->word[1], "sessions") == 0      ? stats_of(b).sessions
		      : strcmp(l->word[1], "streams") == 0     ? stats_of(b).streams
		      : strcmp(l->word[1], "kept") == 0        ? kept.sessions
		      : strcmp(l->word[1], "connections") == 0 ? rig_stats(&b->h).connections
		      : strcmp(l->word[1], "cancelled") == 0   ? n_cancelled
		      : strcmp(l->word[1], "parked") == 0      ? n_parked
		      : strcmp(l->word[1], "asked") == 0       ? b->asked
		      : strcmp(l->word[1], "done") == 0        ? b->h.done
							       : SIZE_MAX;
		if (got != want)
			cleat_loop_step(b->h.l, 10);
	}
	return got == want ? true : session_fail(s, "%s: %zu, expected %zu", l->word[1], got, want);
}

static bool do_comments(struct session *s, struct line *l)
{
	struct http *h = s->data;
	size_t want = strtoul(l->word[1], NULL, 10), got = h->st[l->conn].comments;

	if (!http_quiet(s))
		return false;
	got = h->st[l->conn].comments;
	return got == want ? true : session_fail(s, "comments: %zu, expected %zu", got, want);
}

static bool do_advance(struct session *s, struct line *l)
{
	struct bench *b = bench_of(s);

	b->now_ms += strtoull(l->word[1], NULL, 10);
	endpoint_tick(b->m);
	settle(b);
	return true;
}

static bool do_close(struct session *s, struct line *l)
{
	leave(s->data, l->conn, strcmp(l->word[0], "slam") == 0 ? slam : hang_up);
	settle(bench_of(s));
	return true;
}

static bool do_connect(struct session *s, struct line *l)
{
	return client_of(s, l->conn) != NULL;
}

/* ! finish TEXT: the oldest deferred call; "x 4000" is that many of the letter */
static bool do_finish(struct session *s, struct line *l)
{
	size_t n = l->word[1][1] ? 0 : strtoul(l->word[2], NULL, 10);
	char *text = n ? text_alloc(n + 1) : text_dup(l->rest[1], strlen(l->rest[1]));

	if (!n_parked)
		return session_fail(s, "no call is parked");
	if (n)
		memset(text, l->word[1][0], n);
	unpark(text);
	free(text);
	return true;
}

/* ! log [N] TEXT: the N-th of the parked calls says it (from 1) */
static bool do_log(struct session *s, struct line *l)
{
	size_t which = l->word[1][0] >= '1' && l->word[1][0] <= '9' && l->n > 2
			       ? strtoul(l->word[1], NULL, 10)
			       : 0;

	if (which > n_parked || !n_parked)
		return session_fail(s, "no such call is parked");
	if (strcmp(l->word[0], "progress") == 0)
		cleat_request_progress(parked[which ? which - 1 : 0], 1, 0, "x");
	else if (strcmp(l->word[0], "release") == 0)
		cleat_request_release(parked[0], (unsigned)atoi(l->word[1]));
	else if (strcmp(l->word[0], "large") == 0)
		cleat_request_log(parked[0], CLEAT_LOG_ERROR, "%-*d", atoi(l->word[1]), 7);
	else
		cleat_request_log(parked[which ? which - 1 : 0], CLEAT_LOG_ERROR, "%s",
				  l->rest[which ? 2 : 1]);
	return true;
}

/* ! part NEW = OLD AT: what was captured, from this byte on */
static bool do_part(struct session *s, struct line *l)
{
	const char *old = words_get(&s->words, l->word[3], strlen(l->word[3]), true);
	struct text part = { 0 };
	size_t at = strtoul(l->word[4], NULL, 10) + 1; /* after the quote */

	if (!old || at >= strlen(old))
		return session_fail(s, "nothing of this name and length was captured");
	text_printf(&part, "\"%s", old + at);
	words_set(&s->words, l->word[1], strlen(l->word[1]), text_str(&part), true);
	text_free(&part);
	return true;
}

/* ! abandon: the newest parked call ends, cancelled */
static bool do_abandon(struct session *s, struct line *l)
{
	(void)l;
	if (!n_parked)
		return session_fail(s, "no call is parked");
	cleat_request_finish(parked[--n_parked], CLEAT_ECANCELLED);
	settle(bench_of(s));
	return true;
}

static bool do_trigger(struct session *s, struct line *l)
{
	struct bench *b = bench_of(s);
	int times = l->n > 3 ? atoi(l->word[3]) : 1;

	if (strcmp(l->word[1], "remove-tool") == 0)
		return cleat_server_remove_tool(b->s, l->word[2]) == CLEAT_OK;
	if (strcmp(l->word[1], "changed") == 0)
		cleat_server_resource_changed(b->s, l->word[2]);
	else if (strcmp(l->word[1], "logs") == 0)
		for (int i = 0; i < times; i++)
			cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "%-*d", atoi(l->word[2]), i);
	else if (strcmp(l->word[1], "log") == 0)
		cleat_server_log(b->s, CLEAT_LOG_ERROR, "x", "%s", l->rest[2]);
	else if (strcmp(l->word[1], "refuse") == 0)
		b->refuse = (size_t)atoi(l->word[2]);
	else if (strcmp(l->word[1], "stop") == 0)
		bench_stop(b);
	else if (strcmp(l->word[1], "stopping") == 0)
		server_shutdown(b->s), endpoint_shutdown(b->m);
	else if (strcmp(l->word[1], "abort") == 0)
		server_abort(b->s);
	else
		return session_fail(s, "nothing that can happen: %s", l->word[1]);
	return true;
}

static const struct directive directives[] = {
	{ "options", do_options, true },  { "session", do_session, true },
	{ "count", do_count, true },      { "comments", do_comments, false },
	{ "advance", do_advance, false }, { "connect", do_connect, true },
	{ "close", do_close, false },     { "slam", do_close, false },
	{ "finish", do_finish, true },    { "log", do_log, true },
	{ "progress", do_log, true },     { "release", do_log, true },
	{ "large", do_log, true },        { "abandon", do_abandon, true },
	{ "part", do_part, true },        { "trigger", do_trigger, true },
};

const struct stage stage_http = { .name = "http",
				  .open = http_open,
				  .step = http_step,
				  .rest = http_rest,
				  .quiet = http_quiet,
				  .close = http_close,
				  .directives = directives,
				  .n_directives = CLEAT_COUNT(directives) };
