/* conn.c - see conn.h. */
#include "conn.h"

#include "match.h"

#include <stdlib.h>
#include <string.h>

static const size_t odd_slices[] = { 3, 1, 7, 64, 2, 1000, 5 };

const char *slicing_name(enum slicing how)
{
	static const char *const names[] = { "lines", "bytes", "odd slices" };

	return names[how];
}

static size_t next_slice(struct wire_conn *l, size_t most)
{
	size_t n = most;

	if (l->how == SLICE_BYTES)
		n = 1;
	else if (l->how == SLICE_ODD)
		n = odd_slices[l->turn++ % (sizeof odd_slices / sizeof *odd_slices)];
	return n < most ? n : most;
}

void conn_init(struct wire_conn *l, cleat_wire *wire, enum slicing how, FILE *dump)
{
	*l = (struct wire_conn){ .wire = wire, .how = how, .dump = dump };
	l->end = &l->first;
}

static void free_sent(struct sent *s)
{
	free(s->id);
	free(s->method);
	free(s->revision);
	free(s);
}

void conn_done(struct wire_conn *l)
{
	cleat_doc *doc;

	while ((doc = conn_take(l)))
		cleat_doc_free(doc);
	while (l->sent) {
		struct sent *s = l->sent;

		l->sent = s->next;
		free_sent(s);
	}
	text_free(&l->in);
	text_free(&l->line);
	text_free(&l->out);
	cleat_wire_free(l->wire);
	l->wire = NULL;
}

/* ---- what was sent, what is answered --------------------------------------------------------- */

static void set(char *field, const char *value)
{
	snprintf(field, 16, "%s", value);
}

/* As basic/versioning of 2026-07-28 has it: _meta names a modern revision; otherwise the session's,
 * and before there is one only initialize and ping are legacy. */
static const char *revision_of(const struct wire_conn *l, const cleat_json *m)
{
	static const char modern[] = "2026-07-28";
	const char *method = cleat_json_str(cleat_json_get(m, "method"), "");
	const cleat_json *meta = cleat_json_get(cleat_json_get(m, "params"), "_meta");

	if (cleat_json_get(meta, "io.modelcontextprotocol/protocolVersion"))
		return modern;
	if (l->session[0] || l->opening[0])
		return l->session[0] ? l->session : l->opening;
	return strcmp(method, "initialize") && strcmp(method, "ping") ? modern : "2025-11-25";
}

/* The legacy revision that the answer to this initialize will name. */
static const char *asked_for(const cleat_json *m)
{
	const char *version =
		cleat_json_str(cleat_json_get(cleat_json_get(m, "params"), "protocolVersion"), "");

	return strcmp(version, "2025-11-25") <= 0 && strncmp(version, "202", 3) == 0 ? version
										     : "2025-11-25";
}

static void note_request(struct wire_conn *l, const cleat_json *m)
{
	const cleat_json *id = cleat_json_get(m, "id"), *method = cleat_json_get(m, "method");
	struct sent *s;

	if (cleat_json_type(method) != CLEAT_JSON_STRING)
		return;
	set(l->latest, revision_of(l, m));
	if (!id)
		return;
	if (strcmp(cleat_json_str(method, ""), "initialize") == 0)
		set(l->opening, asked_for(m));
	s = text_alloc(sizeof *s);
	s->id = cleat_json_print(id, NULL);
	s->method = text_dup(cleat_json_str(method, ""), strlen(cleat_json_str(method, "")));
	s->revision = text_dup(l->latest, strlen(l->latest));
	s->line = l->n_lines;
	s->next = l->sent;
	l->sent = s;
}

static void note_message(struct wire_conn *l, const cleat_json *m);

static void note_line(struct wire_conn *l, const char *json, size_t n)
{
	cleat_doc *doc = cleat_doc_parse(json, n, NULL, NULL, NULL);
	const cleat_json *root = cleat_doc_root(doc);
	cleat_json_iter it = cleat_json_each(root);

	l->n_lines++;
	if (cleat_json_type(root) == CLEAT_JSON_ARRAY)
		while (cleat_json_next(&it))
			note_message(l, it.value);
	else
		note_message(l, root);
	cleat_doc_free(doc);
}

static void note_lines(struct wire_conn *l)
{
	char *end;

	text_put(&l->line, text_str(&l->in), l->in.n);
	while (l->line.n && (end = memchr(l->line.p, '\n', l->line.n))) {
		note_line(l, l->line.p, (size_t)(end - l->line.p));
		text_drop(&l->line, (size_t)(end - l->line.p) + 1);
	}
}

void conn_eof(struct wire_conn *l)
{
	note_line(l, text_str(&l->line), l->line.n);
	cleat_wire_eof(l->wire);
	l->ended = true;
}

/* The request with this id that waits for its answer: the oldest one, and only where there is none
 * one that was cancelled. */
static struct sent *waiting(struct wire_conn *l, const cleat_json *v)
{
	char *id = v && cleat_json_type(v) != CLEAT_JSON_NULL ? cleat_json_print(v, NULL) : NULL;
	struct sent *found = NULL;

	for (struct sent *s = id ? l->sent : NULL; s; s = s->next)
		if (!s->answered && strcmp(s->id, id) == 0 &&
		    (!found || found->cancelled || !s->cancelled))
			found = s;
	free(id);
	return found;
}

static struct sent *answered_by(struct wire_conn *l, const cleat_json *m)
{
	struct sent *found = waiting(l, cleat_json_get(m, "id"));

	if (found)
		found->answered = true;
	return found;
}

/* A request that is cancelled gets no answer; its id may be used again. */
static void note_message(struct wire_conn *l, const cleat_json *m)
{
	const cleat_json *params = cleat_json_get(m, "params");
	const cleat_json *id = cleat_json_get(params, "requestId");
	struct sent *s;

	note_request(l, m);
	if (!id ||
	    strcmp(cleat_json_str(cleat_json_get(m, "method"), ""), "notifications/cancelled") != 0)
		return;
	s = waiting(l, id);
	if (s)
		s->cancelled = true;
}

size_t conn_unanswered(const struct wire_conn *l)
{
	size_t n = 0, last = 0;

	if (l->ended)
		return 0;
	for (const struct sent *s = l->sent; s; s = s->next) {
		if (s->answered || s->cancelled || s->line == last)
			continue;
		last = s->line;
		n++;
	}
	return n;
}

static void learn_session(struct wire_conn *l, const struct sent *s, const cleat_json *m)
{
	const cleat_json *version = cleat_json_get(cleat_json_get(m, "result"), "protocolVersion");

	if (!s || strcmp(s->method, "initialize") != 0)
		return;
	set(l->opening, "");
	if (version)
		set(l->session, cleat_json_str(version, ""));
}

/* Notifications and requests of the server name no revision. */
static const char *revision_of_own(const struct wire_conn *l, const cleat_json *m)
{
	const char *method = cleat_json_str(cleat_json_get(m, "method"), "");
	const cleat_json *meta = cleat_json_get(cleat_json_get(m, "params"), "_meta");

	if (cleat_json_get(meta, "io.modelcontextprotocol/subscriptionId"))
		return "2026-07-28";
	if (strcmp(method, "notifications/progress") == 0 ||
	    strcmp(method, "notifications/message") == 0)
		return l->latest;
	return l->session[0] ? l->session : "2026-07-28";
}

/* An answer to nothing that is known. */
static void note_stray(struct wire_conn *l, const cleat_json *m)
{
	const cleat_json *id = cleat_json_get(m, "id");

	if (id && cleat_json_type(id) != CLEAT_JSON_NULL)
		l->strays++;
	else if (l->orphan_line != l->n_taken)
		l->orphans++, l->orphan_line = l->n_taken;
}

static void note_received(struct wire_conn *l, const cleat_json *m)
{
	bool own = cleat_json_get(m, "method") != NULL;
	struct sent *s = own ? NULL : answered_by(l, m);
	const char *revision;
	cleat_doc *line;
	char *text;

	if (!own && !s)
		note_stray(l, m);
	learn_session(l, s, m);
	revision = own ? revision_of_own(l, m)
		   : s && strcmp(s->method, "initialize") == 0 && l->session[0] ? l->session
		   : s                                                          ? s->revision
		   : l->session[0]                                              ? l->session
										: "2026-07-28";
	if (!l->dump)
		return;
	line = cleat_doc_newf(NULL, "{revision: %s, direction: %s, answers: %s, message: %p}",
			      revision,
			      !own                      ? "response"
			      : cleat_json_get(m, "id") ? "request"
							: "notification",
			      s ? s->method : NULL, (void *)(uintptr_t)m);
	text = cleat_json_print(cleat_doc_root(line), NULL);
	fprintf(l->dump, "%s\n", text);
	free(text);
	cleat_doc_free(line);
}

/* ---- bytes out ------------------------------------------------------------------------------ */

/* JSON-RPC 2.0, 4 and 5: a call, or an answer with either a result or an error. */
static bool is_message(const cleat_json *m)
{
	const cleat_json *e = cleat_json_get(m, "error");
	bool call = cleat_json_type(cleat_json_get(m, "method")) == CLEAT_JSON_STRING;
	bool result = cleat_json_get(m, "result") != NULL;

	if (strcmp(cleat_json_str(cleat_json_get(m, "jsonrpc"), ""), "2.0") != 0)
		return false;
	if (call + result + (e != NULL) != 1)
		return false;
	if (result)
		return cleat_json_get(m, "id") != NULL;
	return call || (cleat_json_type(cleat_json_get(e, "code")) == CLEAT_JSON_NUMBER &&
			cleat_json_type(cleat_json_get(e, "message")) == CLEAT_JSON_STRING);
}

static bool are_messages(const cleat_json *root)
{
	cleat_json_iter it = cleat_json_each(root);
	bool ok = cleat_json_size(root) > 0;

	if (cleat_json_type(root) != CLEAT_JSON_ARRAY)
		return is_message(root);
	while (ok && cleat_json_next(&it))
		ok = is_message(it.value);
	return ok;
}

static bool take_line(struct wire_conn *l, size_t n, struct text *why)
{
	static const cleat_json_limits deep = { .max_depth = 1024 };
	struct message *m;
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(l->out.p, n, &deep, NULL, &err);
	const cleat_json *root = cleat_doc_root(doc);
	const char *twice = match_duplicate(root);
	cleat_json_iter it = cleat_json_each(root);

	if (!doc || memchr(l->out.p, '\r', n) || twice || !are_messages(root)) {
		text_printf(why, "the server sent a malformed line (%s%s): %.*s",
			    !doc    ? err.message
			    : twice ? "duplicate key "
				    : "carriage return, or no message",
			    twice ? twice : "", (int)(n < 500 ? n : 500), l->out.p);
		cleat_doc_free(doc);
		return false;
	}
	l->n_taken++;
	if (cleat_json_type(root) == CLEAT_JSON_ARRAY)
		while (cleat_json_next(&it))
			note_received(l, it.value);
	else
		note_received(l, root);
	m = text_alloc(sizeof *m);
	m->doc = doc;
	*l->end = m;
	l->end = &m->next;
	return true;
}

static bool take_lines(struct wire_conn *l, struct text *why)
{
	char *end;

	while (l->out.n && (end = memchr(l->out.p, '\n', l->out.n))) {
		if (!take_line(l, (size_t)(end - l->out.p), why))
			return false;
		text_drop(&l->out, (size_t)(end - l->out.p) + 1);
	}
	return true;
}

bool conn_collect(struct wire_conn *l, struct text *why)
{
	const void *p;
	size_t n;

	while ((n = cleat_wire_peek(l->wire, &p)) > 0) {
		/* Byte by byte out costs a move of the rest each time: large answers go in pieces. */
		size_t k = n > 65536 ? 65536 : next_slice(l, n);

		text_put(&l->out, p, k);
		cleat_wire_consume(l->wire, k);
	}
	return take_lines(l, why);
}

cleat_doc *conn_take(struct wire_conn *l)
{
	struct message *m = l->first;
	cleat_doc *doc;

	if (!m)
		return NULL;
	doc = m->doc;
	l->first = m->next;
	if (!l->first)
		l->end = &l->first;
	free(m);
	return doc;
}

/* ---- bytes in ------------------------------------------------------------------------------- */

static bool feed(struct wire_conn *l, const char *p, size_t n, struct text *why)
{
	int rc = cleat_wire_feed(l->wire, p, n);

	while (rc == CLEAT_ELIMIT) {
		if (!conn_collect(l, why))
			return false;
		rc = cleat_wire_feed(l->wire, p, n);
	}
	if (rc == (l->ended ? CLEAT_ECLOSED : CLEAT_OK))
		return true;
	text_printf(why, "feeding gave status %d (%s)", rc, cleat_strstatus(rc));
	return false;
}

/* With its end; without one, all of it. */
static size_t line_length(const char *p, size_t n)
{
	const char *end = memchr(p, '\n', n);

	return end ? (size_t)(end - p) + 1 : n;
}

bool conn_flush(struct wire_conn *l, struct text *why)
{
	size_t at = 0;
	bool ok = true;

	note_lines(l);
	while (ok && at < l->in.n) {
		size_t left = l->in.n - at;
		size_t n = l->how == SLICE_LINES ? line_length(l->in.p + at, left)
						 : next_slice(l, left);

		ok = feed(l, l->in.p + at, n, why) && conn_collect(l, why);
		at += n;
	}
	text_free(&l->in);
	cleat_wire_poll(l->wire);
	return ok && conn_collect(l, why);
}
