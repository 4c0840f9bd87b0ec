/* stage_http.c - transcripts of an MCP endpoint over HTTP, with the server of the endpoint's unit tests. See http.h. */
#include "http.h"

struct mcp {
	struct http http;
	struct bench b;
	struct bench_options o;
};

static struct bench *bench_of(struct session *s)
{
	http_rig(s);
	return &((struct mcp *)s->data)->b;
}

static struct rig *mcp_start(struct session *s)
{
	struct mcp *m = s->data;

	bench_open_with(&m->b, &m->o);
	return &m->b.h;
}

static bool mcp_open(struct session *s)
{
	http_open(s, sizeof(struct mcp), mcp_start);
	return true;
}

/* The next client is served as if nothing had happened. */
static void check_as_new(struct bench *b)
{
	struct client *c = join(b);
	struct talk t;

	modern_call(c, "echo", MODERN_CALL("1", "echo", "{\"text\":\"after\"}"));
	assert_has(expect_answer(c, 200), "echo after");
	hang_up(c);
	talk_open(b, &t, "2025-11-25");
	assert_int_equal(talk_status(&t, "POST", CALL("1", "chat", "{\"n\":1}")), 200);
	assert_int_equal(talk_status(&t, "DELETE", NULL), 204);
}

static void mcp_close(struct session *s)
{
	struct mcp *m = s->data;

	http_close(s);
	if (s->fail_at && m->http.rig) {
		http_feed(s);
		if (!m->b.h.done)
			check_as_new(&m->b);
	}
	if (m->http.rig)
		bench_close(&m->b);
	free(m);
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
		OPTION("pages", pages),
		OPTION("session_idle_ms", mcp.session_idle_ms),
		OPTION("keep_alive_ms", mcp.keep_alive_ms),
		OPTION("no_sessions", mcp.no_sessions),
		OPTION("modern_only", mcp.modern_only),
		OPTION("lenient_headers", mcp.lenient_headers),
		OPTION("no_old_sse", mcp.no_old_sse),
		OPTION("max_sessions", store.max_sessions),
		OPTION("max_session_bytes", store.max_session_bytes),
		OPTION("session_unused_ms", mcp.session_unused_ms),
		OPTION("sessions_each", mcp.max_sessions_per_client),
		OPTION("streams_each", mcp.max_streams_per_client),
		OPTION("subscriptions_each", mcp.max_subscriptions_per_client),
		OPTION("max_stream_queue", http.max_stream_queue),
		OPTION("request_timeout_ms", server.request_timeout_ms),
		OPTION("max_inflight", server.max_inflight),
	};
	struct mcp *m = s->data;

	if (m->http.rig)
		return session_fail(s, "options come before the first message");
	return directive_settings(s, l, 1, &m->o, known, CLEAT_COUNT(known));
}

/* ! session NAME [REV [CAPABILITIES] [FIELDS]]: $NAME has the fields of its requests, $NAME_id its id. */
static bool do_session(struct session *s, struct line *l)
{
	const char *rev = l->n > 2 && l->word[2][0] != '[' ? l->word[2]
			  : s->revision                    ? s->revision
							   : "2025-11-25";
	const char *more = strchr(l->rest[1], '[');
	const char *caps = l->n > 3 && l->word[3][0] == '{' ? l->word[3] : "{\"elicitation\":{}}";
	char fields[HTTP_FIELDS], name[64];
	struct text text = { 0 };
	struct talk t;

	http_fields(more ? more : "", fields, sizeof fields);
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

static size_t count(struct session *s, const char *what)
{
	struct bench *b = bench_of(s);
	struct store_stats kept;

	store_memory_stats(b->store, &kept);
	return strcmp(what, "sessions") == 0      ? stats_of(b).sessions
	       : strcmp(what, "streams") == 0     ? stats_of(b).streams
	       : strcmp(what, "kept") == 0        ? kept.sessions
	       : strcmp(what, "connections") == 0 ? rig_stats(&b->h).connections
	       : strcmp(what, "cancelled") == 0   ? n_cancelled
	       : strcmp(what, "parked") == 0      ? n_parked
	       : strcmp(what, "asked") == 0       ? b->asked
	       : strcmp(what, "opened") == 0      ? b->opened
	       : strcmp(what, "closed") == 0      ? b->closed
	       : strcmp(what, "done") == 0        ? b->h.done
						  : SIZE_MAX;
}

static bool do_count(struct session *s, struct line *l)
{
	return http_do_count(s, l, count);
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
	return http_rest(s);
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

/* ! part NEW = OLD AT [N]: what was captured, from this byte on, so many of them */
static bool do_part(struct session *s, struct line *l)
{
	const char *old = words_get(&s->words, l->word[3], strlen(l->word[3]), true);
	struct text part = { 0 };
	size_t at = strtoul(l->word[4], NULL, 10) + 1; /* after the quote */

	if (!old || at >= strlen(old))
		return session_fail(s, "nothing of this name and length was captured");
	if (l->n > 5)
		text_printf(&part, "\"%.*s\"", atoi(l->word[5]), old + at);
	else
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
	return http_rest(s);
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
	else if (strcmp(l->word[1], "ban") ==
		 0) /* NAME may not pass any more, and nobody is told */
		snprintf(b->banned, sizeof b->banned, "%s", l->word[2]);
	else if (strcmp(l->word[1], "revoke") == 0) /* [NAME] */
		endpoint_revoke(b->m, l->n > 2 ? str_of(l->word[2]) : (struct str){ 0 });
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
	{ "options", do_options, true },   { "session", do_session, true },
	{ "count", do_count, true },       { "comments", do_comments, false },
	{ "advance", do_advance, false },  { "connect", http_do_connect, true },
	{ "close", http_do_close, false }, { "slam", http_do_close, false },
	{ "finish", do_finish, true },     { "log", do_log, true },
	{ "progress", do_log, true },      { "release", do_log, true },
	{ "large", do_log, true },         { "abandon", do_abandon, true },
	{ "part", do_part, true },         { "starve", http_do_starve, true },
	{ "trigger", do_trigger, true },
};

const struct stage stage_http = { .name = "http",
				  .open = mcp_open,
				  .step = http_step,
				  .rest = http_rest,
				  .quiet = http_quiet,
				  .close = mcp_close,
				  .directives = directives,
				  .n_directives = CLEAT_COUNT(directives) };
