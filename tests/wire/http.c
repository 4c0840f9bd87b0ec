/* http.c - see http.h. */
#include "http.h"

#include <ctype.h>
#include <signal.h>

enum { PATIENCE_S = 60 };

static struct session *current;

static void tell_where(int signal)
{
	(void)signal;
	fprintf(stderr, "%s:%d: waits for what never comes\n", current->script->path,
		current->line);
	abort();
}

void http_open(struct session *s, size_t size, struct rig *(*start)(struct session *s))
{
	struct http *h = text_alloc(size);

	current = s;
	signal(SIGALRM, tell_where);
	h->start = start;
	s->data = h;
}

struct rig *http_rig(struct session *s)
{
	struct http *h = s->data;

	if (!h->rig)
		h->rig = h->start(s);
	alarm(PATIENCE_S);
	return h->rig;
}

static struct client *client_of(struct session *s, int i)
{
	struct http *h = s->data;
	struct rig *r = http_rig(s);

	if (!h->c[i]) {
		h->c[i] = dial(r);
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

void http_close(struct session *s)
{
	struct http *h = s->data;

	for (int i = 0; i < HTTP_CONNS; i++)
		leave(h, i, hang_up);
	alarm(0);
}

/* ---- requests ------------------------------------------------------------------------------- */

/* The fields "[...]" at the front, as lines; what follows them. */
const char *http_fields(const char *p, char *into, size_t size)
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
	char fields[3 * HTTP_FIELDS], method[16], target[256] = "/mcp", id[32], name[64];
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
	body = http_fields(rest, fields + n, sizeof fields - n);
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

static bool expect_status(struct session *s, int conn, char *text, bool head)
{
	char fields[2 * HTTP_FIELDS], *want;
	int status = (int)strtol(text, &want, 10);
	struct http *h = s->data;
	struct answer *a = &last_answer;
	bool whole = read_answer(client_of(s, conn), a, head);

	want = (char *)(uintptr_t)http_fields(want + (*want == ' '), fields, sizeof fields);
	h->excused = !whole || a->status >= 400 || strstr(a->body, "\"error\"");
	if (!whole || a->status != status)
		return session_fail(s, "expected %d, got %d: %.500s", status, a->status,
				    whole ? a->body : "the connection ended");
	return fields_fit(s, fields, answer_field, a) && session_fits(s, want, a->body);
}

static bool expect_stream(struct session *s, int conn, char *text)
{
	struct http *h = s->data;
	char fields[2 * HTTP_FIELDS];
	struct answer head = { 0 };

	http_fields(text, fields, sizeof fields);
	if (!stream_begin(client_of(s, conn), &h->st[conn])) {
		h->excused = s->fail_at &&
			     (!read_answer(h->c[conn], &last_answer, false) ||
			      last_answer.status >= 400 || strstr(last_answer.body, "\"error\""));
		return session_fail(s, "no stream: %.500s%.500s", h->c[conn]->buf,
				    last_answer.body);
	}
	h->streams[conn] = true;
	snprintf(head.head, sizeof head.head, "%s", h->st[conn].head);
	return fields_fit(s, fields, answer_field, &head);
}

static bool expect_event_line(struct session *s, int conn, char *text)
{
	struct http *h = s->data;
	char fields[2 * HTTP_FIELDS];
	const char *want = http_fields(text, fields, sizeof fields);
	struct event e;
	bool ok;

	if (!h->streams[conn] && !expect_stream(s, conn, ""))
		return false;
	h->excused = true;
	if (!stream_next(&h->st[conn], &e))
		return session_fail(s, "the stream ended");
	h->excused = e.data && strstr(e.data, "\"error\"");
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
	h->excused = true;
	if (stream_next(&h->st[conn], &e)) {
		h->excused = e.data && strstr(e.data, "\"error\"");
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

/* The answer to a request, as such or as the end of a stream, in which anything may come before. */
static bool expect_final(struct session *s, int conn, const char *want)
{
	struct http *h = s->data;
	struct stream *st = &h->st[conn];
	struct event e = { 0 };
	bool ok;

	if (!h->streams[conn] && !stream_begin(client_of(s, conn), st))
		return expect_status(s, conn, (char[]){ "200 *" }, false) &&
		       session_fits(s, want, last_answer.body);
	h->streams[conn] = h->excused = true;
	while (!e.data || !strstr(e.data, "\"id\":")) {
		event_done(&e);
		if (!stream_next(st, &e))
			return session_fail(s, "the stream ended");
	}
	h->excused = strstr(e.data, "\"error\"");
	ok = session_fits(s, want, e.data);
	event_done(&e);
	return ok && expect_stream_end_line(s, conn, true);
}

/* The connection ends within an answer, of which this is there. */
static bool expect_broken(struct session *s, int conn, const char *want)
{
	if (read_answer(client_of(s, conn), &last_answer, false))
		return session_fail(s, "a whole answer: %.500s", last_answer.body);
	return session_fits(s, want, last_answer.body);
}

/* "reset": not in order. */
static bool expect_eof(struct session *s, int conn, bool reset)
{
	struct client *c = client_of(s, conn);

	while (!c->eof)
		wait_more(c);
	if (reset)
		c->n = 0;
	if (c->n || c->error != reset)
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
	if (strncmp(text, "final", 5) == 0)
		return expect_final(s, conn, rest);
	if (strcmp(text, "end") == 0 || strcmp(text, "cut") == 0)
		return expect_stream_end_line(s, conn, *text == 'e');
	if (strcmp(text, "eof") == 0 || strcmp(text, "reset") == 0)
		return expect_eof(s, conn, *text == 'r');
	if (strncmp(text, "broken", 6) == 0)
		return expect_broken(s, conn, rest);
	if (strncmp(text, "head ", 5) == 0)
		return expect_status(s, conn, rest, true);
	return expect_status(s, conn, text, false);
}

bool http_step(struct session *s, const struct step *step)
{
	struct client *c = client_of(s, step->conn);
	struct http *h = s->data;
	struct text text = { 0 };
	bool ok = true;

	if (step->kind == STEP_REPEAT) {
		const char *bytes = strchr(text_str(&step->text), ' ') + 1;

		for (long n = atol(text_str(&step->text)); n > 0; n--)
			text_puts(&text, bytes);
		put_sliced(s, c, text_str(&text), text.n);
	} else if (step->kind == STEP_RAW) {
		struct text words = { 0 };

		words_expand(&s->words, text_str(&step->text), &words);
		ok = text_put_escaped(&text, text_str(&words)) ||
		     session_fail(s, "an escape that is not known");
		put_sliced(s, c, text_str(&text), text.n);
		text_free(&words);
	} else {
		words_expand(&s->words, text_str(&step->text), &text);
		if (step->kind == STEP_SEND)
			send_line(s, c, text_str(&text));
		else
			ok = expect_line(s, step->conn, text.p);
		s->gave_up = !ok && h->excused && s->fail_at && fail_alloc_hit(&http_rig(s)->fa);
	}
	text_free(&text);
	return ok;
}

/* ---- rest ----------------------------------------------------------------------------------- */

/* Everything that can be done now: over the loopback interface bytes arrive as they are sent. */
bool http_rest(struct session *s)
{
	for (int i = 0; i < 8; i++)
		cleat_loop_step(http_rig(s)->l, 0);
	return true;
}

bool http_quiet(struct session *s)
{
	struct http *h = s->data;
	struct event e;

	http_rest(s);
	for (int i = 0; i < HTTP_CONNS; i++) {
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

/* ! close, ! slam; ! half: no more requests come */
bool http_do_close(struct session *s, struct line *l)
{
	struct http *h = s->data;

	if (strcmp(l->word[0], "half") == 0)
		shutdown(client_of(s, l->conn)->fd, SHUT_WR);
	else
		leave(h, l->conn, strcmp(l->word[0], "slam") == 0 ? slam : hang_up);
	return http_rest(s);
}

bool http_do_connect(struct session *s, struct line *l)
{
	return client_of(s, l->conn) != NULL;
}

bool http_do_starve(struct session *s, struct line *l)
{
	struct rig *r = http_rig(s);

	(void)l;
	http_rest(s);
	r->fa.countdown = s->fail_at;
	r->fa.forever = s->fail_for_good;
	return true;
}

bool http_has_ended(struct session *s, int conn)
{
	look(client_of(s, conn));
	return client_of(s, conn)->eof;
}

void http_feed(struct session *s)
{
	struct rig *r = http_rig(s);

	s->hit = fail_alloc_hit(&r->fa);
	fail_alloc_calm(&r->fa);
	http_rest(s);
}

bool http_do_count(struct session *s, struct line *l,
		   size_t (*count)(struct session *s, const char *what))
{
	size_t want = strtoul(l->word[2], NULL, 10), got = count(s, l->word[1]);

	for (int i = 0; i < 500 && got != want; i++) {
		cleat_loop_step(http_rig(s)->l, 10);
		if (i == 20)
			fail_alloc_calm(&http_rig(s)->fa);
		got = count(s, l->word[1]);
	}
	return got == want ? true : session_fail(s, "%s: %zu, expected %zu", l->word[1], got, want);
}
