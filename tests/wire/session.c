/* session.c - see session.h.
 *
 * Lines that follow each other are fed together, so that slices cross their borders; anything that
 * is not a sent line first brings everything to rest. What the server says and no line expects is a
 * failure at the next sent line, or at the end.
 */
#include "session.h"

#include "request/server.h"

#include <stdlib.h>
#include <string.h>

bool session_fail(struct session *s, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	text_printf(&s->failure, "%s:%d: %s", s->script->path, s->line, text);
	return false;
}

/* ---- the server --------------------------------------------------------------------------- */

static uint64_t fake_now(void *userdata)
{
	struct session *s = userdata;

	return s->now;
}

/* There is no public way to set the wall clock (requestState expires by it), so the core's hook is
 * replaced. Hooks have one context, the runner's; one session runs at a time. */
static struct session *wall_session;

static int64_t fake_wall(void *ctx)
{
	(void)ctx;
	return INT64_C(1767225600000) + (int64_t)wall_session->now;
}

static struct session *of_fixture(void *userdata)
{
	return (struct session *)(void *)((char *)userdata - offsetof(struct session, fixture));
}

static void on_note(void *userdata, int level, const char *message)
{
	text_printf(&of_fixture(userdata)->notes, "%s: %s\n", cleat_log_level_name(level), message);
}

static void on_roots_changed(cleat_server *server, void *userdata)
{
	(void)server;
	((struct fixture *)userdata)->roots_changed++;
}

static bool fill(struct session *s)
{
	if (strcmp(s->fixture_name, "shapes") == 0)
		fixture_add_shapes(s->server);
	else if (strcmp(s->fixture_name, "calls") == 0)
		fixture_add_calls(s->server);
	else if (strcmp(s->fixture_name, "none") != 0)
		fixture_add_all(s->server);
	if (cleat_server_error(s->server)->status)
		return session_fail(s, "the fixture: %s", cleat_server_error(s->server)->message);
	return true;
}

static bool start_server(struct session *s)
{
	static const unsigned char key[32] = "the same key in every test, so..";

	s->opts.allocator = s->memory;
	s->opts.log = on_note;
	s->opts.on_roots_changed = on_roots_changed;
	s->opts.userdata = &s->fixture;
	s->opts.state_key = key;
	s->server = cleat_server_new("fixture", "1.0.0", &s->opts);
	return fill(s);
}

struct wire_conn *session_conn(struct session *s, int conn)
{
	struct wire_conn *l = &s->conns[conn];
	cleat_wire_options o = { .now = fake_now, .userdata = s };
	cleat_wire *w;

	if (l->wire)
		return l;
	if (!s->server && !start_server(s))
		return NULL;
	w = cleat_wire_server(s->server, &o);
	if (!w) {
		session_fail(s, "no connection: %s", cleat_server_error(s->server)->message);
		return NULL;
	}
	wall_session = s;
	s->server->hooks.wall_ms = fake_wall;
	conn_init(l, w, s->how, s->dump);
	s->connected = true;
	return l;
}

void session_done(struct session *s)
{
	if (s->stage)
		s->stage->close(s);
	for (int i = 0; i < SESSION_CONNS; i++)
		if (s->conns[i].wire)
			conn_done(&s->conns[i]);
	fixture_finish_all(&s->fixture);
	cleat_server_free(s->server);
	s->server = NULL;
	words_free(&s->words);
	text_free(&s->notes);
	text_free(&s->failure);
}

/* ---- steps -------------------------------------------------------------------------------- */

static bool pending_input(const struct session *s)
{
	for (int i = 0; i < SESSION_CONNS; i++)
		if (s->conns[i].in.n)
			return true;
	return false;
}

bool session_flush(struct session *s)
{
	struct text why = { 0 };
	bool ok = true;

	if (s->stage)
		return s->stage->rest(s);
	for (int i = 0; ok && i < SESSION_CONNS; i++)
		if (s->conns[i].wire)
			ok = conn_flush(&s->conns[i], &why);
	for (int i = 0; ok && i < SESSION_CONNS; i++) /* what one caused may come out at another */
		if (s->conns[i].wire)
			ok = conn_collect(&s->conns[i], &why);
	if (!ok)
		session_fail(s, "%s", text_str(&why));
	s->malformed = s->malformed || !ok;
	text_free(&why);
	return ok;
}

/* In record mode what nobody expects is written down instead. */
static void write_record(struct session *s, int conn, const cleat_doc *doc)
{
	char *text = cleat_json_print(cleat_doc_root(doc), NULL);

	fprintf(s->record, "%s\t%d\t%d\t%s\n", s->revision ? s->revision : "-", s->last_line,
		conn + 1, text);
	free(text);
}

bool session_quiet(struct session *s)
{
	cleat_doc *doc;

	if (s->stage)
		return s->stage->quiet(s);
	for (int i = 0; i < SESSION_CONNS; i++)
		while (s->conns[i].wire && (doc = conn_take(&s->conns[i]))) {
			char *text = cleat_json_print(cleat_doc_root(doc), NULL);

			if (s->record)
				write_record(s, i, doc);
			else if (!s->torture)
				session_fail(
					s, "a message that was not expected (connection %d):\n  %s",
					i + 1, text);
			free(text);
			cleat_doc_free(doc);
			if (!s->record && !s->torture)
				return false;
		}
	return true;
}

/* How much of s an id is; 0: none. */
static size_t id_length(const char *s)
{
	size_t n = 1;

	if (*s == '"') {
		while (s[n] && s[n] != '"')
			n += s[n] == '\\' ? 2 : 1;
		return n + 1;
	}
	return (*s >= '0' && *s <= '9') || *s == '-' || strncmp(s, "null ", 5) == 0
		       ? strcspn(s, " ")
		       : 0;
}

static bool is_method(const char *s, size_t n)
{
	return (n && memchr(s, '/', n) && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'))) ||
	       (n == 4 && strncmp(s, "ping", n) == 0) ||
	       (n == 10 && strncmp(s, "initialize", n) == 0);
}

void session_message(const char *s, struct text *into)
{
	size_t id = id_length(s);
	const char *rest = id && s[id] == ' ' ? s + id + 1 : s;
	size_t n = strcspn(rest, " ");
	bool answer = rest > s && n == 1 && (*rest == '=' || *rest == '!') && rest[1];

	if (!answer && !is_method(rest, n)) {
		text_puts(into, s);
		return;
	}
	text_puts(into, "{\"jsonrpc\":\"2.0\"");
	if (rest > s)
		text_printf(into, ",\"id\":%.*s", (int)id, s);
	if (answer)
		text_printf(into, ",\"%s\":", *rest == '=' ? "result" : "error");
	else
		text_printf(into, ",\"method\":\"%.*s\"%s", (int)n, rest,
			    rest[n] ? ",\"params\":" : "");
	text_puts(into, rest[n] ? rest + n + 1 : "");
	text_puts(into, "}");
}

static bool since(const struct session *s, const char *revision)
{
	return s->revision && strcmp(s->revision, revision) >= 0;
}

/* What a tool says of arguments that do not fit: "TOOL STRING". */
static void put_misfit(const struct session *s, const char *what, struct text *into)
{
	int n = (int)strcspn(what, " ");
	const char *why = what + n + 1 + (what[n] && what[n + 1] == '"');

	if (since(s, "2025-11-25"))
		text_printf(
			into,
			"= {$HEAD\"content\":[{\"type\":\"text\",\"text\":\"Invalid arguments for "
			"tool %.*s:\\n%s}],\"isError\":true$TAIL}",
			n, what, why);
	else
		text_printf(into,
			    "! {\"code\":-32602,\"message\":\"Invalid arguments for tool %.*s\","
			    "\"data\":{\"details\":\"%s}}",
			    n, what, why);
}

/* The result of a tool that gives this JSON. */
static void put_json(const struct session *s, const char *json, struct text *into)
{
	text_puts(into, "= {$HEAD\"content\":[{\"type\":\"text\",\"text\":\"");
	for (const char *p = json; *p; p++)
		text_printf(into, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
	text_puts(into, "\"}]");
	if (since(s, *json == '{' ? "2025-06-18" : "2026-07-28"))
		text_printf(into, ",\"structuredContent\":%s", json);
	text_puts(into, "$TAIL}");
}

/* What is said most of all, shorter still; see README.md. */
static void unfold(const struct session *s, const char *line, struct text *into)
{
	bool nobody = strncmp(line, "nobody ", 7) == 0; /* an error without an id: null, or none */
	int id = nobody ? 6 : (int)id_length(line), n;
	const char *word = id && line[id] == ' ' ? line + id + 1 : "",
		   *rest = word + strcspn(word, " ");
	bool failed = strncmp(word, "failed ", 7) == 0;

	rest += *rest == ' ';
	n = (int)strcspn(rest, " ");
	if (nobody) {
		text_printf(into,
			    "{\"jsonrpc\":\"2.0\",%s\"error\":{\"code\":%.*s,\"message\":%s}}",
			    since(s, "2025-11-25") ? "" : "\"id\":null,", n, rest, rest + n + 1);
		return;
	}
	if (id && *word)
		text_printf(into, "%.*s ", id, line);
	if (strncmp(word, "call ", 5) == 0)
		text_printf(into, "tools/call {\"name\":\"%.*s\"%s%s$CALL_META}", n, rest,
			    rest[n] ? ",\"arguments\":" : "", rest[n] ? rest + n + 1 : "");
	else if (failed || strncmp(word, "text ", 5) == 0)
		text_printf(into, "= {$HEAD\"content\":[{\"type\":\"text\",\"text\":%s}]%s$TAIL}",
			    rest, failed ? ",\"isError\":true" : "");
	else if (strncmp(word, "again ", 6) == 0)
		text_printf(into, "tools/call {\"name\":\"%.*s\",\"inputResponses\":%s$CALL_META}",
			    n, rest, rest + n + 1);
	else if (strncmp(word, "asks ", 5) == 0)
		text_printf(
			into,
			"= {\"resultType\":\"input_required\",\"inputRequests\":%s,\"_meta\":$INFO}",
			rest);
	else if (strncmp(word, "json ", 5) == 0)
		put_json(s, rest, into);
	else if (strncmp(word, "misfit ", 7) == 0)
		put_misfit(s, rest, into);
	else if (strncmp(word, "! ", 2) == 0 && *rest != '{' && *rest != '"')
		text_printf(into, "! {\"code\":%.*s,\"message\":%s}", n, rest, rest + n + 1);
	else
		text_puts(into, *word ? word : line);
}

/* "[ A ;; B ]": an array of messages. */
static void unfold_all(const struct session *s, const char *line, struct text *into)
{
	const char *end = line + strlen(line) - 1;

	if (strncmp(line, "[ ", 2) != 0) {
		unfold(s, line, into);
		return;
	}
	for (const char *next; line < end; line = next) {
		size_t n;
		struct text one = { 0 };
		char *part;

		line += *line == ';' ? 3 : 2;
		next = strstr(line, ";; ");
		next = next ? next : end;
		n = (size_t)(next - line) - (next[-1] == ' ');
		part = text_dup(line, n);
		unfold(s, part, &one);
		text_puts(into, into->n ? "," : "[");
		session_message(text_str(&one), into);
		text_free(&one);
		free(part);
	}
	text_puts(into, "]");
}

/* A line as the message that it stands for. */
static void message_of(const struct session *s, const char *line, struct text *into)
{
	struct text whole = { 0 }, words = { 0 };

	unfold_all(s, line, &whole);
	words_expand(&s->words, text_str(&whole), &words);
	session_message(text_str(&words), into);
	text_free(&whole);
	text_free(&words);
}

bool session_send(struct session *s, int conn, const char *json)
{
	struct wire_conn *l;
	struct text message = { 0 };

	if (!pending_input(s) && !session_quiet(s))
		return false;
	l = session_conn(s, conn);
	if (!l)
		return false;
	message_of(s, json, &message);
	text_put(&l->in, message.p, message.n);
	text_put(&l->in, "\n", 1);
	text_free(&message);
	return true;
}

static bool send_raw(struct session *s, const struct step *step)
{
	struct wire_conn *l = session_conn(s, step->conn);
	const char *bytes = text_str(&step->text);
	char *rest;
	long count = 1;
	bool ok = true;

	if (!l)
		return false;
	if (step->kind == STEP_REPEAT) {
		count = strtol(bytes, &rest, 10);
		bytes = rest + 1;
	}
	while (ok && count-- > 0)
		ok = text_put_escaped(&l->in, bytes);
	return ok ? true : session_fail(s, "an escape that is not known");
}

/* The transcript's text as a document; NULL after a failure. */
static cleat_doc *expected(struct session *s, const char *json)
{
	struct text text = { 0 };
	cleat_error err;
	cleat_doc *doc;

	message_of(s, json, &text);
	doc = cleat_doc_parse(text_str(&text), text.n, NULL, NULL, &err);
	if (!doc)
		session_fail(s, "the expected message is no JSON: %s\n  %s", err.message,
			     text_str(&text));
	text_free(&text);
	return doc;
}

static bool compare(struct session *s, const cleat_doc *want, const cleat_doc *got)
{
	struct text why = { 0 };
	bool ok = match_message(&s->words, cleat_doc_root(want), cleat_doc_root(got), &why);
	char *w, *g;

	if (!ok) {
		w = cleat_json_print(cleat_doc_root(want), NULL);
		g = cleat_json_print(cleat_doc_root(got), NULL);
		text_printf(&s->failure, "%s:%d: not what was expected, %s\n- %s\n+ %s",
			    s->script->path, s->line, text_str(&why), w, g);
		free(w);
		free(g);
	}
	text_free(&why);
	return ok;
}

/* One of the parts that a text is to have. */
static bool has_part(const char *part, size_t n, const char *got)
{
	char *text = text_dup(part, n), *what = text;
	size_t count = 0;
	long want = -1;

	if (*what == '+') {
		want = strtol(what + 1, NULL, 10);
		free(text);
		return strlen(got) >= (size_t)want;
	}
	if (*what == '#')
		want = strtol(what + 1, &what, 10);
	else if (*what == '!')
		want = 0;
	what += want >= 0;
	for (const char *p = got; (p = strstr(p, what)) != NULL; p += strlen(what) + !*what)
		count++;
	free(text);
	return want < 0 ? count > 0 : count == (size_t)want;
}

static bool has_parts(const char *want, const char *got)
{
	for (;;) {
		const char *end = strstr(want, " ~~ ");

		if (!has_part(want, end ? (size_t)(end - want) : strlen(want), got))
			return false;
		if (!end)
			return true;
		want = end + 4;
	}
}

static bool fits_json(struct session *s, const char *want, const char *got)
{
	cleat_doc *a = expected(s, want), *b = cleat_doc_parse(got, strlen(got), NULL, NULL, NULL);
	bool ok = a && (b ? compare(s, a, b) : session_fail(s, "this is no JSON: %.2000s", got));

	cleat_doc_free(a);
	cleat_doc_free(b);
	return ok;
}

bool session_fits(struct session *s, const char *want, const char *got)
{
	if (strcmp(want, "*") == 0)
		return true;
	if (strncmp(want, "= <capture:", 11) == 0) {
		struct text quoted = { 0 };

		text_printf(&quoted, "\"%s\"", got);
		words_set(&s->words, want + 11, strlen(want) - 12, text_str(&quoted), true);
		text_free(&quoted);
		return true;
	}
	if (strncmp(want, "= ", 2) == 0 && strcmp(want + 2, got) == 0)
		return true;
	if (*want == '{' || *want == '[')
		return fits_json(s, want, got);
	if (*want ? strncmp(want, "~ ", 2) == 0 && has_parts(want + 2, got) : !*got)
		return true;
	return session_fail(s, "expected %s, got\n  %.2000s", *want ? want : "nothing", got);
}

/* With failing memory it may be missing, or not be the next; what it captures is still wanted. */
static void look_for(struct session *s, const struct wire_conn *l, const cleat_doc *want)
{
	struct text why = { 0 };
	bool found = false;

	for (const struct message *m = l->first; m && !found; m = m->next)
		found = match_message(&s->words, cleat_doc_root(want), cleat_doc_root(m->doc),
				      &why);
	text_free(&why);
}

bool session_expect(struct session *s, int conn, const char *json)
{
	struct wire_conn *l = session_conn(s, conn);
	cleat_doc *want, *got;
	bool ok;

	if (!l || !session_flush(s))
		return false;
	want = expected(s, json);
	if (!want)
		return false;
	if (s->torture) {
		look_for(s, l, want);
		cleat_doc_free(want);
		return true;
	}
	got = conn_take(l);
	ok = got ? compare(s, want, got) : session_fail(s, "nothing came; expected\n  %s", json);
	if (!ok && s->record && got) {
		write_record(s, conn, got);
		text_free(&s->failure);
		ok = true;
	}
	cleat_doc_free(want);
	cleat_doc_free(got);
	return ok;
}

static bool ends_line(const struct step *step)
{
	size_t n = step->text.n;

	return n > 1 && memcmp(step->text.p + n - 2, "\\n", 2) == 0;
}

static bool run_step(struct session *s, const struct step *step)
{
	s->line = step->line;
	if (s->stage && step->kind != STEP_DO)
		return s->stage->step(s, step);
	switch (step->kind) {
	case STEP_SEND:
		if (!session_send(s, step->conn, text_str(&step->text)))
			return false;
		if (s->record && !session_flush(s)) /* answers are written down after it */
			return false;
		break;
	case STEP_RAW:
	case STEP_REPEAT:
		if ((!pending_input(s) && !session_quiet(s)) || !send_raw(s, step))
			return false;
		if (s->record && ends_line(step) && !session_flush(s))
			return false;
		break;
	case STEP_EXPECT: return session_expect(s, step->conn, text_str(&step->text));
	case STEP_DO:
		if (s->record && (!session_flush(s) || !session_quiet(s)))
			return false;
		if (!directive_run(s, step))
			return false;
		break;
	}
	s->last_line = step->line;
	return true;
}

/* A built-in word: what every modern request and result carries. */
static void add_words(struct words *w)
{
	static const char *const lets[][2] = {
		{ "PV", "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"" },
		{ "CI",
		  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\",\"version\":\"2\"}" },
		{ "CC", "\"io.modelcontextprotocol/clientCapabilities\"" },
		{ "META", "{$PV,$CI,$CC:{}}" },
		{ "CALL_META", "" },
		{ "HEAD", "" },
		{ "TAIL", "" },
		{ "META_ALL",
		  "{$PV,$CI,$CC:{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"
		  "\"roots\":{}}}" },
		{ "SERVER",
		  "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fixture\",\"version\":\"1.0.0\"}" },
		{ "INFO", "{$SERVER}" },
		{ "SUB", "\"io.modelcontextprotocol/subscriptionId\"" },
		{ "ALL",
		  "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{}}" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(lets); i++)
		words_set(w, lets[i][0], strlen(lets[i][0]), lets[i][1], false);
}

/* $HEAD and $TAIL, $CTAIL: what a result begins and ends with, and one that may be cached. */
static void set_revision_words(struct session *s)
{
	bool modern = strcmp(s->revision, "2026-07-28") == 0;

	words_set(&s->words, "REV", 3, s->revision, false);
	words_set(&s->words, "HEAD", 4, modern ? "\"resultType\":\"complete\"," : "", false);
	words_set(&s->words, "TAIL", 4, modern ? ",\"_meta\":$INFO" : "", false);
	words_set(&s->words, "CTAIL", 5,
		  modern ? ",\"ttlMs\":0,\"cacheScope\":\"private\",\"_meta\":$INFO" : "", false);
}

/* What is let in other revisions is nothing in this one, unless it is something already. */
static void pass_over(struct session *s, const struct step *step)
{
	const char *text = text_str(&step->text);
	bool let = step->kind == STEP_DO && strncmp(text, "let ", 4) == 0;
	size_t n = let ? strcspn(text + 4, " ") : 0;

	if (let && !words_get(&s->words, text + 4, n, false))
		words_set(&s->words, text + 4, n, "", false);
}

bool session_run(struct session *s)
{
	bool ok = true;

	s->now = 1000;
	add_words(&s->words);
	if (s->revision)
		set_revision_words(s);
	for (size_t i = 0; ok && i < s->script->n_steps; i++) {
		if (!script_applies(&s->script->steps[i], s->revision)) {
			pass_over(s, &s->script->steps[i]);
			continue;
		}
		ok = run_step(s, &s->script->steps[i]);
		/* Answers may be errors or missing now; a malformed line is still a failure. */
		if (!ok && s->torture && !s->malformed) {
			text_free(&s->failure);
			ok = true;
		}
	}
	return ok && session_flush(s) && session_quiet(s);
}
