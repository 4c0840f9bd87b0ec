/* directive.c - the "! " lines of transcripts: options before the server starts, and what cannot be
 * said with messages afterwards. README.md lists them.
 */
#include "session.h"

#include "server/core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void cut(struct line *l, const struct session *s, const struct step *step)
{
	struct text text = { 0 };
	char *p;

	*l = (struct line){ .conn = step->conn };
	words_expand(&s->words, text_str(&step->text), &text);
	l->whole = text_dup(text_str(&text), text.n);
	l->cut = text_dup(text_str(&text), text.n);
	text_free(&text);
	for (size_t i = 0; i < WORDS; i++)
		l->word[i] = l->rest[i] = l->whole + strlen(l->whole);
	p = l->cut;
	while (*p && l->n < WORDS) {
		l->word[l->n] = p;
		l->rest[l->n] = l->whole + (p - l->cut);
		l->n++;
		p += strcspn(p, " ");
		while (*p == ' ')
			*p++ = '\0';
	}
}

static void line_free(struct line *l)
{
	free(l->cut);
	free(l->whole);
}

/* ---- before the server starts --------------------------------------------------------------- */

static void give_details(cleat_server_options *o)
{
	static const cleat_icon icons[] = { { .src = "https://example.com/s.png",
					      .mime_type = "image/png",
					      .sizes = "48x48",
					      .theme = "dark" },
					    { .src = NULL } };

	o->title = "The Fixture";
	o->description = "Serves tests";
	o->website = "https://example.com/";
	o->instructions = "Ask politely.";
	o->icons = icons;
}

bool directive_settings(struct session *s, const struct line *l, size_t first, void *to,
			const struct setting *known, size_t n)
{
	for (size_t i = first; i < l->n; i++) {
		size_t length = strcspn(l->word[i], "="), k = 0;
		uint64_t v = l->word[i][length] ? strtoull(l->word[i] + length + 1, NULL, 10) : 1;
		char *at;

		while (k < n && (strlen(known[k].name) != length ||
				 strncmp(known[k].name, l->word[i], length) != 0))
			k++;
		if (k == n)
			return session_fail(s, "an option that is not known: %s", l->word[i]);
		at = (char *)to + known[k].offset;
		if (known[k].size == sizeof(uint64_t))
			*(uint64_t *)(void *)at = v;
		else if (known[k].size == sizeof(uint32_t))
			*(uint32_t *)(void *)at = (uint32_t)v;
		else
			*(bool *)(void *)at = v;
	}
	return true;
}

#define OPTION(name, member)                                                                       \
	{                                                                                          \
		name, offsetof(cleat_server_options, member),                                      \
			sizeof((cleat_server_options *)0)->member                                  \
	}

static bool do_options(struct session *s, struct line *l)
{
	static const struct setting known[] = {
		OPTION("page_size", page_size),
		OPTION("max_inflight", max_inflight),
		OPTION("max_queued", max_queued),
		OPTION("max_subscriptions", max_subscriptions),
		OPTION("max_rounds", max_rounds),
		OPTION("progress_interval_ms", progress_interval_ms),
		OPTION("capabilities", capabilities),
		OPTION("list_ttl_ms", list_ttl_ms),
		OPTION("request_timeout_ms", request_timeout_ms),
		OPTION("ask_timeout_ms", ask_timeout_ms),
		OPTION("state_ttl_ms", state_ttl_ms),
		OPTION("max_message", max_message),
		OPTION("max_reply", max_reply),
		OPTION("json_depth", json.max_depth),
		OPTION("json_nodes", json.max_nodes),
		OPTION("no_logging", no_logging),
		OPTION("public_lists", list_scope),
	};
	bool details = strcmp(l->word[1], "details") == 0;

	if (s->server)
		return session_fail(s, "options come before the first message");
	if (details)
		give_details(&s->opts);
	return directive_settings(s, l, 1 + details, &s->opts, known, CLEAT_COUNT(known));
}

static bool do_fixture(struct session *s, struct line *l)
{
	snprintf(s->fixture_name, sizeof s->fixture_name, "%s", l->word[1]);
	return true;
}

/* ! let NAME = text */
static bool do_let(struct session *s, struct line *l)
{
	words_set(&s->words, l->word[1], strlen(l->word[1]), l->rest[3], false);
	return true;
}

/* ---- handshake ---------------------------------------------------------------------------- */

/* ! initialize [REVISION [CAPABILITIES]] */
static bool do_initialize(struct session *s, struct line *l)
{
	const char *revision = l->n > 1 ? l->word[1] : s->revision ? s->revision : "2025-11-25";
	const char *capabilities = l->n > 2 ? l->rest[2] : "{}";
	struct text text = { 0 };
	bool ok;

	text_printf(
		&text,
		"{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"tester\","
		"\"version\":\"2\"}}}",
		revision, capabilities);
	ok = session_send(s, l->conn, text_str(&text));
	text_free(&text);
	text_printf(&text,
		    "{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"result\":{\"protocolVersion\":\"%s\","
		    "\"capabilities\":\"<any>\",\"serverInfo\":{\"name\":\"fixture\",\"version\":"
		    "\"1.0.0\"}}}",
		    revision);
	ok = ok && session_expect(s, l->conn, text_str(&text)) &&
	     session_send(s, l->conn,
			  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}") &&
	     session_flush(s);
	text_free(&text);
	return ok;
}

/* ! open [CAPABILITIES]: as a client of the run's revision begins. Sets $M, the _meta of a request,
 * and $MM, the same without braces and with a comma, to add to. */
static bool do_open(struct session *s, struct line *l)
{
	const char *capabilities = l->n > 1 ? l->rest[1] : "{}";
	bool modern = s->revision && strcmp(s->revision, "2026-07-28") == 0;
	struct text text = { 0 };
	struct line legacy = *l;

	if (!s->revision)
		return session_fail(s, "open needs a revision: ! for REV in");
	if (modern)
		text_printf(&text, "$PV,$CI,$CC:%s,", capabilities);
	words_set(&s->words, "MM", 2, text_str(&text), false);
	words_set(&s->words, "M", 1, modern ? "{$MM\"example.com/x\":1}" : "{}", false);
	words_set(&s->words, "CALL_META", 9, ",\"_meta\":$M", false);
	text_free(&text);
	if (modern)
		return true;
	legacy.n = 3;
	legacy.word[1] = (char *)(uintptr_t)s->revision;
	legacy.rest[2] = (char *)(uintptr_t)capabilities;
	return do_initialize(s, &legacy);
}

/* ---- time, end, and what can be asked of the library ------------------------------------------- */

static bool do_advance(struct session *s, struct line *l)
{
	s->now += strtoull(l->word[1], NULL, 10);
	return session_flush(s);
}

static bool do_nothing(struct session *s, struct line *l)
{
	(void)l;
	return session_quiet(s);
}

static bool do_eof(struct session *s, struct line *l)
{
	struct wire_conn *k = session_conn(s, l->conn);

	if (!k)
		return false;
	conn_eof(k);
	return session_flush(s);
}

static bool do_close(struct session *s, struct line *l)
{
	if (!s->conns[l->conn].wire)
		return session_fail(s, "this connection is not open");
	conn_done(&s->conns[l->conn]);
	return true;
}

/* What stopping the run function does; a wire has no word for it. */
static bool do_shutdown(struct session *s, struct line *l)
{
	(void)l;
	server_shutdown(s->server);
	return session_flush(s);
}

static bool do_inflight(struct session *s, struct line *l)
{
	struct wire_conn *k = session_conn(s, l->conn);
	size_t want = strtoul(l->word[1], NULL, 10), got = k ? cleat_wire_inflight(k->wire) : 0;

	return want == got ? true
			   : session_fail(s, "%zu requests are in flight, expected %zu", got, want);
}

static bool do_noted(struct session *s, struct line *l)
{
	if (strstr(text_str(&s->notes), l->rest[1]))
		return true;
	return session_fail(s, "the library did not remark \"%s\"; it said:\n%s", l->rest[1],
			    text_str(&s->notes));
}

static bool counted(struct session *s, struct line *l, const char *what, size_t got)
{
	size_t want = strtoul(l->word[1], NULL, 10);

	return want == got ? true : session_fail(s, "%s: %zu, expected %zu", what, got, want);
}

static bool do_destroyed(struct session *s, struct line *l)
{
	return counted(s, l, "userdata given back", s->fixture.destroyed);
}

static bool do_roots_changed(struct session *s, struct line *l)
{
	return counted(s, l, "changes of roots", s->fixture.roots_changed);
}

/* ! tamper NEW = OLD AT: another letter at this place */
static bool do_tamper(struct session *s, struct line *l)
{
	const char *old = words_get(&s->words, l->word[3], strlen(l->word[3]), true);
	size_t at = strtoul(l->word[4], NULL, 10) + 1; /* after the quote */
	char *copy;

	if (!old || at >= strlen(old) - 1)
		return session_fail(s, "nothing of this name and length was captured");
	copy = text_dup(old, strlen(old));
	copy[at] = copy[at] == 'A' ? 'B' : 'A';
	words_set(&s->words, l->word[1], strlen(l->word[1]), copy, true);
	free(copy);
	return true;
}

/* ---- deferred requests ---------------------------------------------------------------------- */

struct finishing {
	cleat_request *req;
	struct fixture *fixture;
	const char *key;
	int status;
};

static void *finish_elsewhere(void *arg)
{
	struct finishing *f = arg;

	fixture_finish(f->fixture, f->key, f->status);
	return NULL;
}

/* ! finish KEY STATUS [thread] */
static bool do_finish(struct session *s, struct line *l)
{
	struct finishing f = { .fixture = &s->fixture,
			       .key = l->word[1],
			       .status = atoi(l->word[2]) };
	pthread_t thread;

	if (!fixture_parked(&s->fixture, l->word[1]))
		return session_fail(s, "no request is parked as %s", l->word[1]);
	if (strcmp(l->word[3], "thread") != 0)
		finish_elsewhere(&f);
	else if (pthread_create(&thread, NULL, finish_elsewhere, &f) == 0)
		pthread_join(thread, NULL);
	else
		return session_fail(s, "no thread");
	return session_flush(s);
}

static bool do_cancelled(struct session *s, struct line *l)
{
	cleat_request *req = fixture_parked(&s->fixture, l->word[1]);
	bool want = strcmp(l->word[0], "cancelled") == 0;

	if (!req)
		return session_fail(s, "no request is parked as %s", l->word[1]);
	if (cleat_request_cancelled(req) == want)
		return true;
	return session_fail(s, "%s is %scancelled", l->word[1], want ? "not " : "");
}

/* ! progress KEY DONE TOTAL [text] */
static bool do_progress(struct session *s, struct line *l)
{
	cleat_request *req = fixture_parked(&s->fixture, l->word[1]);

	if (!req)
		return session_fail(s, "no request is parked as %s", l->word[1]);
	if (l->n > 4)
		cleat_request_progress(req, atof(l->word[2]), atof(l->word[3]), "%s", l->rest[4]);
	else
		cleat_request_progress(req, atof(l->word[2]), atof(l->word[3]), NULL);
	return session_flush(s);
}

static int level_of(const char *name)
{
	for (int level = CLEAT_LOG_DEBUG; level <= CLEAT_LOG_EMERGENCY; level++)
		if (strcmp(cleat_log_level_name(level), name) == 0)
			return level;
	return -1;
}

/* ! log KEY LEVEL text */
static bool do_log(struct session *s, struct line *l)
{
	cleat_request *req = fixture_parked(&s->fixture, l->word[1]);

	if (!req)
		return session_fail(s, "no request is parked as %s", l->word[1]);
	cleat_request_log(req, level_of(l->word[2]), "%s", l->rest[3]);
	return session_flush(s);
}

/* ---- things that happen in the program ------------------------------------------------------ */

static int say_hello(cleat_request *req)
{
	return cleat_reply_text(req, "hello");
}

static int trigger(cleat_server *server, const char *what, const char *name, const char *rest)
{
	if (strcmp(what, "add-tool") == 0)
		return cleat_server_add_tool(server,
					     &(cleat_tool){ .name = name, .call = say_hello });
	if (strcmp(what, "remove-tool") == 0)
		return cleat_server_remove_tool(server, name);
	if (strcmp(what, "add-prompt") == 0)
		return cleat_server_add_prompt(server,
					       &(cleat_prompt){ .name = name, .get = say_hello });
	if (strcmp(what, "remove-prompt") == 0)
		return cleat_server_remove_prompt(server, name);
	if (strcmp(what, "add-resource") == 0)
		return cleat_server_add_resource(server,
						 &(cleat_resource){ .uri = name, .text = "hello" });
	if (strcmp(what, "remove-resource") == 0)
		return cleat_server_remove_resource(server, name);
	if (strcmp(what, "changed") == 0)
		return cleat_server_resource_changed(server, name), CLEAT_OK;
	if (strcmp(what, "log") == 0)
		return cleat_server_log(server, level_of(name), "program", "%s", rest), CLEAT_OK;
	return CLEAT_EINVAL;
}

/* ! trigger WHAT NAME [text] */
static bool do_trigger(struct session *s, struct line *l)
{
	int rc;

	if (!session_conn(s, l->conn))
		return false;
	rc = trigger(s->server, l->word[1], l->word[2], l->rest[3]);
	if (rc)
		return session_fail(s, "%s %s: %s", l->word[1], l->word[2], cleat_strstatus(rc));
	return session_flush(s);
}

static bool do_connect(struct session *s, struct line *l)
{
	return session_conn(s, l->conn) != NULL;
}

/* ------------------------------------------------------------------------------------------- */

static bool do_stage(struct session *s, struct line *l)
{
	static const struct stage *const stages[] = { &stage_http, &stage_httpd, &stage_client };

	for (size_t i = 0; i < CLEAT_COUNT(stages); i++)
		if (strcmp(stages[i]->name, l->word[1]) == 0) {
			s->stage = stages[i];
			return s->stage->open(s);
		}
	return session_fail(s, "a stage that is not known: %s", l->word[1]);
}

static const struct directive everywhere[] = {
	{ "let", do_let, true },
	{ "nothing", do_nothing, false },
	{ "stage", do_stage, true },
};

static const struct directive wires[] = {
	{ "options", do_options, true },
	{ "fixture", do_fixture, true },
	{ "connect", do_connect, false },
	{ "initialize", do_initialize, false },
	{ "open", do_open, false },
	{ "advance", do_advance, false },
	{ "eof", do_eof, false },
	{ "close", do_close, false },
	{ "shutdown", do_shutdown, false },
	{ "inflight", do_inflight, false },
	{ "noted", do_noted, false },
	{ "destroyed", do_destroyed, false },
	{ "roots-changed", do_roots_changed, false },
	{ "tamper", do_tamper, false },
	{ "finish", do_finish, false },
	{ "cancelled", do_cancelled, false },
	{ "running", do_cancelled, false },
	{ "progress", do_progress, false },
	{ "log", do_log, false },
	{ "trigger", do_trigger, false },
};

static const struct directive *find(const struct directive *known, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

bool directive_run(struct session *s, const struct step *step)
{
	const struct directive *d;
	struct line l;
	bool ok = true;

	cut(&l, s, step);
	d = s->stage ? find(s->stage->directives, s->stage->n_directives, l.word[0])
		     : find(wires, CLEAT_COUNT(wires), l.word[0]);
	if (!d)
		d = find(everywhere, CLEAT_COUNT(everywhere), l.word[0]);
	if (!d)
		ok = session_fail(s, "a directive that is not known: %s", l.word[0]);
	else if (!d->early)
		ok = session_flush(s);
	ok = ok && d->run(s, &l);
	line_free(&l);
	return ok;
}
