/* stage_client.c - transcripts of a client: what the program asks for, what the client says to its link, and what comes
 * back. The link is that of the client's unit tests, one message a line; nothing is cut.
 *
 *	> {...}                          the server says this; "> in ID {...}": in the exchange of that request; "> event
 *	                                 ID TEXT": on its stream
 *	> answer [ID] [STATUS] MEMBERS   it answers that request, or the newest one
 *	> fail [ID] STATUS STEP TEXT     the link could not do it; "lost [ID]": the session is unknown
 *	> up, down TEXT, ...             what else a link tells; "raw TEXT": a line that is not a message
 *	< {...}                          the next message to the server; "< METHOD WHAT": one of that kind
 *	< result STATUS [STEP] WHAT      what a call came to; "< NAME WHAT": what is known by a name: opens, changes, ...
 */
#include "session.h"

#include "unit/client/client_rig.h"

enum { WATCHES = 8 };

struct stage_data {
	struct rig rig;
	cleat_client_options o;
	bool open;
	size_t taken; /* messages that were expected */
	size_t results;
	cleat_call *calls[RIG_MAX];
	size_t n_calls;
	struct {
		char name[8];
		cleat_watch *w;
	} watches[WATCHES];
	char text[4][64]; /* of options */
};

static struct rig *rig_in(struct session *s)
{
	struct stage_data *d = s->data;

	if (!d->open && !rig_init(&d->rig, &d->o))
		abort();
	d->open = true;
	return &d->rig;
}

static bool client_open(struct session *s)
{
	s->data = text_alloc(sizeof(struct stage_data));
	return true;
}

static void client_end(struct session *s)
{
	struct stage_data *d = s->data;

	for (size_t i = 0; i < WATCHES; i++)
		cleat_watch_free(d->watches[i].w);
	if (d->open)
		rig_done(&d->rig);
	free(d);
}

static bool client_rest(struct session *s)
{
	(void)s;
	return true;
}

static bool client_quiet(struct session *s)
{
	struct stage_data *d = s->data;

	if (d->taken >= d->rig.n_sent)
		return true;
	return session_fail(s, "a message that was not expected:\n  %s",
			    d->rig.sent[d->taken].text);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int status_of(const char *name)
{
	static const struct {
		const char *name;
		int status;
	} known[] = { { "OK", CLEAT_OK },           { "EINVAL", CLEAT_EINVAL },
		      { "ELIMIT", CLEAT_ELIMIT },   { "ETIMEOUT", CLEAT_ETIMEOUT },
		      { "ECLOSED", CLEAT_ECLOSED }, { "ECANCELLED", CLEAT_ECANCELLED },
		      { "EREMOTE", CLEAT_EREMOTE }, { "EPROTO", CLEAT_EPROTO },
		      { "EIO", CLEAT_EIO },         { "EUNSUPPORTED", CLEAT_EUNSUPPORTED },
		      { "ENOMEM", CLEAT_ENOMEM } };

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].status;
	return 1;
}

static const char *const steps[] = { "none",     "arguments", "spawn",   "dns",      "connect",
				     "tls",      "http",      "auth",    "exchange", "negotiate",
				     "protocol", "answer",    "timeout", "asked",    "cancelled" };

static enum cleat_step step_of(const char *name)
{
	size_t i = 0;

	while (i < CLEAT_COUNT(steps) - 1 && strcmp(steps[i], name) != 0)
		i++;
	return (enum cleat_step)i;
}

/* ---- the link ------------------------------------------------------------------------------- */

/* The number at the front, which is taken off; `otherwise` when there is none. */
static long number_of(const char **p, long otherwise)
{
	char *end;
	long n = strtol(*p, &end, 10);

	if (end == *p)
		return otherwise;
	*p = end + (*end == ' ');
	return n;
}

static const struct rig_sent *request_with(struct rig *rig, long id)
{
	for (size_t i = rig->n_sent; i-- > 0;)
		if (rig->sent[i].kind == LINK_REQUEST &&
		    (id < 0 || (long)(intptr_t)rig->sent[i].tag == id))
			return &rig->sent[i];
	return NULL;
}

static bool hear(struct session *s, const char *text)
{
	struct rig *rig = rig_in(s);
	const char *rest = text + strcspn(text, " ");
	size_t n = (size_t)(rest - text);
	bool answer = strncmp(text, "answer ", 7) == 0, event = strncmp(text, "event ", 6) == 0,
	     in = event || strncmp(text, "in ", 3) == 0;
	bool failed = strncmp(text, "fail ", 5) == 0,
	     lost = n == 4 && strncmp(text, "lost", 4) == 0;
	const struct rig_sent *to = NULL;
	long status = rig->link.http ? 200 : 0, first;

	rest += *rest == ' ';
	if (answer || in || failed || lost) {
		const char *after = rest;

		if (strncmp(rest, "last", 4) == 0)
			to = rig_last(rig), rest += 4 + (rest[4] == ' '), after = NULL;
		/* One number is an id for an answer, and a status for a failure. */
		first = after ? number_of(&rest, -1) : -1;
		if (failed && after && !(*rest >= '0' && *rest <= '9'))
			first = -1, rest = after;
		to = after ? request_with(rig, first) : to;
		if (!to)
			return session_fail(s, "there is no such request");
		status = lost ? 404 : number_of(&rest, status);
	}
	if (answer) {
		rig_reply(rig, to, (int)status, rest);
	} else if (in) {
		struct text message = { 0 };

		session_message(rest, &message);
		rig_message(rig, event ? rest : text_str(&message), to->tag,
			    event ? 0 : (int)status);
		text_free(&message);
	} else if (failed || lost) {
		char step[16];
		struct link_failure f;

		snprintf(step, sizeof step, "%.*s", (int)strcspn(rest, " "), rest);
		rest += strcspn(rest, " ");
		f = rig_failure(CLEAT_EIO, lost ? CLEAT_STEP_HTTP : step_of(step), (int)status,
				lost ? "no such session" : rest + (*rest == ' '));
		f.session_lost = f.unsent = lost;
		rig->ev.failed(rig->ev.ctx, to->tag, &f);
	} else if (strcmp(text, "up") == 0) {
		rig_up(rig);
	} else if (n == 2) { /* up STEP STATUS TEXT: it could not be opened */
		struct link_failure f;
		char step[16];

		snprintf(step, sizeof step, "%.*s", (int)strcspn(rest, " "), rest);
		rest += strcspn(rest, " ") + 1;
		status = number_of(&rest, 0);
		f = rig_failure(CLEAT_EIO, step_of(step), (int)status, rest);
		rig->ev.up(rig->ev.ctx, &f);
	} else if (strncmp(text, "down ", 5) == 0) {
		rig_down(rig, rest);
	} else if (strcmp(text, "accepted") == 0) {
		rig->ev.accepted(rig->ev.ctx, rig_last(rig)->tag);
	} else if (strcmp(text, "gap") == 0) {
		rig->ev.gap(rig->ev.ctx);
	} else if (strcmp(text, "closed") == 0) {
		rig->ev.closed(rig->ev.ctx);
	} else if (strncmp(text, "raw", 3) == 0) {
		rig_message(rig, rest, NULL, 0);
	} else if (strncmp(text, "oversize ", 9) == 0) {
		rig->ev.oversize(rig->ev.ctx, NULL, (size_t)atol(rest));
	} else {
		struct text message = { 0 };

		session_message(text, &message);
		if (*text == '[' || *text_str(&message) == '{')
			rig_message(rig, text_str(&message), NULL, 0);
		else
			session_fail(s, "nothing that a link tells: %s", text);
		text_free(&message);
	}
	return !s->failure.n;
}

static bool expect_sent(struct session *s, const char *want)
{
	struct stage_data *d = s->data;
	const struct rig_sent *m = &d->rig.sent[d->taken];
	size_t n = strcspn(want, " ");

	rig_pump(rig_in(s));
	if (!*want)
		return client_quiet(s);
	if (d->taken >= d->rig.n_sent)
		return session_fail(s, "nothing was sent; expected\n  %s", want);
	d->taken++;
	if (strcmp(m->method, "initialize") == 0 ? !m->initialize || m->modern || m->rev != REV_NONE
						 : m->initialize)
		return session_fail(s, "what the link is told of the message is wrong");
	if (*want == '{')
		return session_fits(s, want, m->text);
	if (*want == '"' || (*want >= '0' && *want <= '9')) { /* in short */
		struct text message = { 0 };
		bool ok;

		session_message(want, &message);
		ok = session_fits(s, text_str(&message), m->text);
		text_free(&message);
		return ok;
	}
	if ((n != 3 || strncmp(want, "any", n) != 0) &&
	    (strlen(m->method) != n || strncmp(m->method, want, n) != 0))
		return session_fail(s, "expected %s, got\n  %s", want, m->text);
	return session_fits(s, want[n] ? want + n + 1 : "*", m->text);
}

static bool expect_result(struct session *s, const char *want);
static bool expect_fact(struct session *s, const char *want, bool *known);

static bool client_step(struct session *s, const struct step *step)
{
	struct text text = { 0 };
	bool ok, known;

	words_expand(&s->words, text_str(&step->text), &text);
	if (step->kind == STEP_EXPECT && strncmp(text_str(&text), "result ", 7) == 0) {
		ok = expect_result(s, text.p + 7);
	} else if (step->kind == STEP_EXPECT) {
		ok = expect_fact(s, text_str(&text), &known);
		ok = known ? ok : expect_sent(s, text_str(&text));
	} else {
		ok = client_quiet(s) && hear(s, text_str(&text));
	}
	text_free(&text);
	return ok;
}

/* ---- the program ---------------------------------------------------------------------------- */

static int never(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

#define OPTION(member)                                                                             \
	{                                                                                          \
#member, offsetof(cleat_client_options, member),                                   \
			sizeof((cleat_client_options *)0)->member                                  \
	}

static bool do_options(struct session *s, struct line *l)
{
	static const struct setting known[] = {
		OPTION(timeout_ms),  OPTION(max_calls),      OPTION(connect_timeout_ms),
		OPTION(max_rounds),  OPTION(max_pages),      OPTION(restart),
		OPTION(no_cache),    OPTION(no_stream),      OPTION(old_sse),
		OPTION(offer_roots), OPTION(sampling_tools),
	};
	struct stage_data *d = s->data;
	struct line numbers = { .n = 0 };

	if (d->open)
		return session_fail(s, "options come before everything else");
	for (size_t i = 1; i < l->n; i++) {
		const char **text = strncmp(l->word[i], "protocol=", 9) == 0     ? &d->o.protocol
				    : strncmp(l->word[i], "log_level=", 10) == 0 ? &d->o.log_level
				    : strncmp(l->word[i], "name=", 5) == 0       ? &d->o.name
										 : NULL;

		char *era = strstr(l->word[i], "era=");

		if (era)
			*(era > l->word[i] ? &d->o.known_era : &d->o.era) =
				era[4] == 'm'   ? CLEAT_ERA_MODERN
				: era[4] == 'l' ? CLEAT_ERA_LEGACY
						: (enum cleat_era)atoi(era + 4);
		else if (text)
			*text = strcpy(d->text[i % 4], strchr(l->word[i], '=') + 1);
		else if (strcmp(l->word[i], "form") == 0)
			d->o.on_form = never;
		else if (strcmp(l->word[i], "url") == 0)
			d->o.on_url = never;
		else if (strcmp(l->word[i], "sampling") == 0)
			d->o.on_sampling = never;
		else if (strcmp(l->word[i], "http") == 0)
			d->rig.link.http = true;
		else
			numbers.word[numbers.n++] = l->word[i];
	}
	return directive_settings(s, &numbers, 0, &d->o, known, CLEAT_COUNT(known));
}

/* ! client [http]: it is there, and nothing more; ! modern [http], ! legacy [http] [REV [CAPABILITIES]]: it is ready */
static bool do_client(struct session *s, struct line *l)
{
	struct stage_data *d = s->data;
	bool http = strcmp(l->word[1], "http") == 0;
	const char *rev = l->n > 1 + (size_t)http ? l->word[1 + http] : "2025-11-25";
	char text[1024];

	snprintf(text, sizeof text, RIG_INITIALIZE("%s", "%s"), rev,
		 l->n > 2 + (size_t)http ? l->rest[2 + http] : RIG_CAPS);
	d->open = true;
	if (l->word[0][0] == 'm')
		rig_modern(&d->rig, &d->o, http);
	else if (l->word[0][0] == 'l')
		rig_legacy(&d->rig, &d->o, http, text);
	else if (rig_init(&d->rig, &d->o))
		d->rig.link.http = http, d->rig.link.process = !http;
	d->taken = d->rig.n_sent;
	return true;
}

/* ! call [name=value]... METHOD [PARAMS], ! list WHAT */
static bool do_call(struct session *s, struct line *l)
{
	static const char *const lists[] = { "tools", "resources", "templates", "prompts" };
	struct stage_data *d = s->data;
	cleat_call_options o = { .on_progress = rig_on_progress };
	cleat_doc *meta = NULL;
	size_t i = 1, k = 0;

	for (; strchr(l->word[i], '=') && l->word[i][0] != '{'; i++) {
		const char *value = strchr(l->word[i], '=') + 1;

		if (strncmp(l->word[i], "timeout_ms", 10) == 0)
			o.timeout_ms = (unsigned)atoi(value);
		else if (strncmp(l->word[i], "hard_timeout_ms", 15) == 0)
			o.hard_timeout_ms = (unsigned)atoi(value);
		else if (strncmp(l->word[i], "meta", 4) == 0)
			meta = rig_json(value);
		else if (strncmp(l->word[i], "no_cache", 8) == 0)
			o.no_cache = true;
		else if (strncmp(l->word[i], "log_level", 9) == 0)
			o.log_level = value, o.on_log = rig_call_log;
	}
	o.meta = cleat_doc_root(meta);
	if (l->word[0][0] == 'c') {
		d->calls[d->n_calls++] = rig_call_with(rig_in(s), &o, l->word[i],
						       l->n > i + 1 ? l->rest[i + 1] : NULL);
		cleat_doc_free(meta); /* it was copied */
		return true;
	}
	while (k < 3 && strcmp(lists[k], l->word[i]) != 0)
		k++;
	d->calls[d->n_calls++] = rig_list(rig_in(s), &o, (enum cleat_list)k);
	return true;
}

static bool do_cancel(struct session *s, struct line *l)
{
	struct stage_data *d = s->data;

	client_call_cancel(d->calls[atoi(l->word[1]) - 1]);
	return true;
}

/* ! watch NAME [tools] [prompts] [resources] [URI], ! unwatch NAME */
static bool do_watch(struct session *s, struct line *l)
{
	struct stage_data *d = s->data;
	cleat_watch_options o = { .on_change = rig_on_change, .on_end = rig_on_end };
	const char *uris[WORDS] = { NULL };
	size_t at = 0, n = 0;

	while (at < WATCHES && strcmp(d->watches[at].name, l->word[1]) != 0)
		at++;
	if (l->word[0][0] == 'u') {
		cleat_watch_free(at < WATCHES ? d->watches[at].w : NULL);
		memset(&d->watches[at % WATCHES], 0, sizeof d->watches[0]);
		return true;
	}
	for (at = 0; d->watches[at].w;)
		at++;
	snprintf(d->watches[at].name, sizeof d->watches[at].name, "%s", l->word[1]);
	for (size_t i = 2; i < l->n; i++)
		if (strchr(l->word[i], ':'))
			uris[n++] = l->word[i];
		else
			o.lists |= l->word[i][0] == 't'   ? CLEAT_CHANGE_TOOLS
				   : l->word[i][0] == 'p' ? CLEAT_CHANGE_PROMPTS
							  : CLEAT_CHANGE_RESOURCES;
	o.uris = uris;
	o.userdata = d->watches[at].name;
	d->watches[at].w = cleat_client_watch(rig_in(s)->c, &o);
	return true;
}

static bool do_notify(struct session *s, struct line *l)
{
	rig_notify(rig_in(s), l->word[1], l->n > 2 ? l->rest[2] : NULL);
	return true;
}

static bool do_program(struct session *s, struct line *l)
{
	struct rig *rig = rig_in(s);

	if (strcmp(l->word[0], "start") == 0)
		client_start(rig->c);
	else if (strcmp(l->word[0], "roots-changed") == 0)
		client_roots_changed(rig->c);
	else if (strcmp(l->word[0], "close") == 0)
		client_close(rig->c);
	else if (strcmp(l->word[0], "advance") == 0)
		rig_wait(rig, strtoull(l->word[1], NULL, 10));
	return true;
}

static bool do_set(struct session *s, struct line *l)
{
	struct rig *rig = rig_in(s);

	if (strcmp(l->word[1], "random") == 0)
		rig->random = (uint32_t)atoi(l->word[2]);
	else if (strcmp(l->word[1], "send") == 0)
		rig->send_status = status_of(l->word[2]);
	else if (strcmp(l->word[1], "fall-back") == 0)
		rig->fall_back_status = status_of(l->word[2]);
	else if (strcmp(l->word[1], "no-peer") == 0)
		rig->no_peer = true;
	else if (strcmp(l->word[1], "renews") == 0)
		rig->link.renews = atoi(l->word[2]);
	else
		return session_fail(s, "nothing to set: %s", l->word[1]);
	return true;
}

/* ---- what the program gets ------------------------------------------------------------------ */

/* STATUS [STEP] [WHAT]: the next result; WHAT its text, or the message of its error, is. */
static bool expect_result(struct session *s, const char *want)
{
	struct stage_data *d = s->data;
	char status[16], step[16];
	cleat_result *r;

	snprintf(status, sizeof status, "%.*s", (int)strcspn(want, " "), want);
	want += strcspn(want, " ");
	rig_pump(rig_in(s));
	if (d->results >= d->rig.n_done)
		return session_fail(s, "there is no result yet");
	r = d->rig.done[d->results++];
	if (cleat_result_status(r) != status_of(status))
		return session_fail(s, "the result is %s: %s",
				    cleat_strstatus(cleat_result_status(r)),
				    cleat_result_error(r)->message);
	if (want[0] == ' ' && want[1] >= 'a' && want[1] <= 'z') {
		snprintf(step, sizeof step, "%.*s", (int)strcspn(want + 1, " "), want + 1);
		want += 1 + strcspn(want + 1, " ");
		if (cleat_result_step(r) != step_of(step))
			return session_fail(s, "the step is %s", steps[cleat_result_step(r)]);
	}
	return !*want || session_fits(s, want + 1,
				      cleat_result_status(r) ? cleat_result_error(r)->message
							     : cleat_result_text(r));
}

/* What the rig has written down. */
static const struct {
	const char *name;
	size_t offset;
	enum { COUNT, NUMBER, TEXT, ONCE } type; /* ONCE: read, it begins anew */
} written[] = {
	{ "opens", offsetof(struct rig, opens), NUMBER },
	{ "resets", offsetof(struct rig, resets), NUMBER },
	{ "listens", offsetof(struct rig, listens), NUMBER },
	{ "falls", offsetof(struct rig, fall_backs), NUMBER },
	{ "closes", offsetof(struct rig, closes), NUMBER },
	{ "peers-closed", offsetof(struct rig, peers_closed), NUMBER },
	{ "results", offsetof(struct rig, n_done), COUNT },
	{ "forgotten", offsetof(struct rig, n_forgotten), COUNT },
	{ "states", offsetof(struct rig, n_states), COUNT },
	{ "questions", offsetof(struct rig, n_questions), COUNT },
	{ "peer", offsetof(struct rig, cancelled), TEXT },
	{ "notes", offsetof(struct rig, notes), TEXT },
	{ "changes", offsetof(struct rig, changes), ONCE },
	{ "progress", offsetof(struct rig, progress), ONCE },
	{ "logs", offsetof(struct rig, logs), ONCE },
};

/* Gives it as text, its lines joined by " / "; false when nothing of that name was written down. */
static bool read_written(struct rig *rig, const char *name, struct text *into)
{
	size_t i = 0;
	char *at;

	while (i < CLEAT_COUNT(written) && strcmp(written[i].name, name) != 0)
		i++;
	if (i == CLEAT_COUNT(written))
		return false;
	at = (char *)rig + written[i].offset;
	if (written[i].type == COUNT)
		text_printf(into, "%zu", *(size_t *)(void *)at);
	else if (written[i].type == NUMBER)
		text_printf(into, "%u", *(unsigned *)(void *)at);
	else
		for (const char *p = at; *p; p++)
			if (*p != '\n')
				text_put(into, p, 1);
			else if (p[1])
				text_puts(into, " / ");
	if (written[i].type == ONCE)
		*at = '\0';
	return true;
}

/* The same of the client, the message that was expected last ("kind", "tag", ...), and the newest result. */
static bool read_other(struct session *s, const char *name, struct text *into)
{
	static const char *const eras[] = { "auto", "legacy", "modern" };
	static const char *const phases[] = { "idle", "opening", "ready", "waiting", "dead" };
	struct stage_data *d = s->data;
	struct rig *rig = &d->rig;
	const struct rig_sent *m = d->taken ? &rig->sent[d->taken - 1] : NULL;
	const cleat_result *r = rig->n_done ? rig_result(rig) : NULL;
	struct {
		const char *name, *text;
		long number;
	} all[] = {
		{ "wait", NULL, rig_pump(rig) },
		{ "closed", NULL, client_closed(rig->c) },
		{ "era", eras[cleat_client_era(rig->c)], 0 },
		{ "phase", phases[client_phase(rig->c)], 0 },
		{ "revision", cleat_client_revision(rig->c), 0 },
		{ "server", cleat_client_server_name(rig->c), 0 },
		{ "error", cleat_client_error(rig->c)->message, 0 },
		{ "asked", revision_name(rig->facts.rev), 0 },
		{ "asked-http", NULL, rig->facts.transport == CLEAT_TRANSPORT_HTTP },
		{ "last", rig->n_sent ? rig_last(rig)->text : "", 0 },
		{ "name", m ? m->name : "", 0 },
		{ "fields", m ? m->fields : "", 0 },
		{ "rev", m && m->rev != REV_NONE ? revision_name(m->rev) : "", 0 },
		{ "kind", NULL, m ? (long)m->kind : 0 },
		{ "modern", NULL, m ? m->modern : 0 },
		{ "tag", NULL, m ? (long)(intptr_t)m->tag : 0 },
		{ "code", NULL, r ? cleat_result_error(r)->rpc_code : 0 },
		{ "tool-error", NULL, r ? cleat_result_is_tool_error(r) : 0 },
		{ "cached", NULL, r ? cleat_result_is_cached(r) : 0 },
		{ "items", NULL, r ? (long)cleat_json_size(cleat_result_items(r)) : 0 },
		{ "http", NULL, r ? cleat_result_http_status(r) : 0 },
	};
	char *raw = r ? cleat_json_print(cleat_result_raw(r), NULL) : NULL;
	char *data = r ? cleat_json_print(cleat_result_error_data(r), NULL) : NULL;
	size_t i = 0;

	while (i < CLEAT_COUNT(all) && strcmp(all[i].name, name) != 0)
		i++;
	if (i < CLEAT_COUNT(all) && all[i].text)
		text_puts(into, all[i].text);
	else if (i < CLEAT_COUNT(all))
		text_printf(into, "%ld", all[i].number);
	else if (strcmp(name, "raw") == 0)
		text_puts(into, raw ? raw : "");
	else if (strcmp(name, "data") == 0)
		text_puts(into, data ? data : "");
	else if (strncmp(name, "question-", 9) == 0)
		text_puts(into, rig->questions[atoi(name + 9)].text);
	else
		name = NULL;
	free(raw);
	free(data);
	return name != NULL;
}

/* NAME WHAT, of what is known by a name; *known: there is such a thing. */
static bool expect_fact(struct session *s, const char *want, bool *known)
{
	struct text got = { 0 };
	char name[32];
	bool ok = true;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(want, " "), want);
	want += strcspn(want, " ");
	if (strcmp(name, "results") != 0) /* a call never ends inside the function that begins it */
		rig_pump(rig_in(s));
	*known = read_written(rig_in(s), name, &got) || read_other(s, name, &got);
	if (*known)
		ok = session_fits(s, want + (*want == ' '), text_str(&got));
	text_free(&got);
	return ok;
}

/* ! reply N MEMBERS: whoever is asked answers the N-th question (from 0); ! reply always MEMBERS; ! reply N lost;
 * ! reply N says MESSAGE, ! reply N takes-back MESSAGE: what it says meanwhile, and what it does not say after all */
static bool do_reply(struct session *s, struct line *l)
{
	struct rig *rig = rig_in(s);
	size_t i = (size_t)atoi(l->word[1]);

	if (strcmp(l->word[1], "always") == 0) {
		static char text[256];

		snprintf(text, sizeof text, "%s", l->rest[2]);
		rig->answer_at_once = text;
	} else if (strcmp(l->word[2], "lost") == 0 || strcmp(l->word[2], "given-up") == 0) {
		rig->sink.ended(rig->sink.ctx, rig->questions[i].tag, l->word[2][0] == 'l');
	} else if (strcmp(l->word[2], "says") == 0 || strcmp(l->word[2], "takes-back") == 0) {
		rig_peer_says(rig, rig->questions[i].tag,
			      l->word[2][0] == 's' ? PEER_NOTICE : PEER_TAKE_BACK, l->rest[3]);
	} else if (i < rig->n_questions && rig->questions[i].open) {
		rig_answer_question(rig, i, l->rest[2]);
	} else {
		return session_fail(s, "there is no question %zu", i);
	}
	return true;
}

static const struct directive directives[] = {
	{ "options", do_options, true }, { "client", do_client, true },
	{ "modern", do_client, true },   { "legacy", do_client, true },
	{ "call", do_call, true },       { "list", do_call, true },
	{ "cancel", do_cancel, true },   { "watch", do_watch, true },
	{ "unwatch", do_watch, true },   { "notify", do_notify, true },
	{ "start", do_program, true },   { "roots-changed", do_program, true },
	{ "close", do_program, true },   { "advance", do_program, true },
	{ "set", do_set, true },

	{ "reply", do_reply, true },
};

const struct stage stage_client = { .name = "client",
				    .open = client_open,
				    .step = client_step,
				    .rest = client_rest,
				    .quiet = client_quiet,
				    .close = client_end,
				    .directives = directives,
				    .n_directives = CLEAT_COUNT(directives) };
