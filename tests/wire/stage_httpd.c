/* stage_httpd.c - transcripts of the HTTP server alone: requests, answers, deadlines, the ends of connections. Its
 * service is that of the unit tests (httpd_rig.h), which does what the path says; what it keeps, /defer and /stream, the
 * transcript answers. In runs "direct" and "relay" (! for REV in ...) without and behind a relay. See http.h for
 * requests and answers.
 */
#include "http.h"

#include "unit/httpd/httpd_relay_rig.h"

struct plain {
	struct http http;
	struct pair p; /* direct: only its rig */
	struct http_relay_options o;
	bool relay;
};

static struct rig *plain_start(struct session *s)
{
	struct plain *d = s->data;

	d->relay = s->revision && strcmp(s->revision, "relay") == 0;
	if (d->relay)
		pair_open_with(&d->p, false, d->o);
	else
		rig_open_with(&d->p.rig, ":0", d->o.http);
	return &d->p.rig;
}

static bool plain_open(struct session *s)
{
	http_open(s, sizeof(struct plain), plain_start);
	return true;
}

static void plain_close(struct session *s)
{
	struct plain *d = s->data;

	http_close(s);
	if (s->fail_at && d->http.rig) {
		http_feed(s);
		expect_alive(&d->p.rig);
		http_rest(s);
	}
	if (d->http.rig && d->relay)
		pair_close(&d->p);
	else if (d->http.rig)
		rig_close(&d->p.rig);
	free(d);
}

static bool do_options(struct session *s, struct line *l)
{
	static const struct setting known[] = {
		{ "max_connections", offsetof(struct httpd_options, max_connections),
		  sizeof((struct httpd_options *)0)->max_connections },
		{ "max_per_address", offsetof(struct httpd_options, max_per_address),
		  sizeof((struct httpd_options *)0)->max_per_address },
	};

	return directive_settings(s, l, 1, &((struct plain *)s->data)->o.http, known,
				  CLEAT_COUNT(known));
}

static size_t count(struct session *s, const char *what)
{
	struct rig *r = http_rig(s);
	const struct {
		const char *name;
		size_t n;
	} all[] = {
		{ "heads", r->heads },
		{ "requests", r->requests },
		{ "gone", r->gone },
		{ "closed", r->closed },
		{ "done", r->done },
		{ "held", r->n_held },
		{ "logged", r->logged },
		{ "status", (size_t)r->status },
		{ "bytes", r->bytes },
		{ "micros", r->micros },
		{ "connections", rig_stats(r).connections },
		{ "exchanges", rig_stats(r).exchanges },
		{ "accepted", rig_stats(r).accepted },
		{ "refused", rig_stats(r).refused },
		{ "timeouts", rig_stats(r).timeouts },
		{ "queued", rig_stats(r).queued_bytes > 0 },
	};

	for (size_t i = 0; i < CLEAT_COUNT(all); i++)
		if (strcmp(all[i].name, what) == 0)
			return all[i].n;
	return SIZE_MAX;
}

static bool do_count(struct session *s, struct line *l)
{
	return http_do_count(s, l, count);
}

/* ! logged METHOD PATH: the last that was */
static bool do_logged(struct session *s, struct line *l)
{
	const char *line = http_rig(s)->line;

	return strcmp(line, l->rest[1]) == 0 ? true
					     : session_fail(s, "what was logged last: %s", line);
}

static bool do_advance(struct session *s, struct line *l)
{
	rig_pass(http_rig(s), strtoull(l->word[1], NULL, 10));
	return http_rest(s);
}

static bool do_drain(struct session *s, struct line *l)
{
	struct plain *d = s->data;
	struct rig *r = http_rig(s);

	if (strcmp(l->word[1], "inside") == 0)
		r->drain_in_request = true;
	else if (d->relay)
		http_relay_drain(d->p.relay, on_done, r);
	else
		httpd_drain(r->h, on_done, r);
	return true;
}

/* ! reply STATUS TEXT, begin, write TEXT, end, abort: what the service does with the oldest that it keeps. */
static bool do_held(struct session *s, struct line *l)
{
	struct rig *r = http_rig(s);
	struct http_exchange *ex;
	const char *what = l->word[0];

	for (int i = 0; i < 500 && !r->n_held && !(s->fail_at && http_has_ended(s, l->conn)); i++) {
		cleat_loop_step(r->l, r->fa.failures ? 1 : 10);
		if (i == 40)
			fail_alloc_calm(&r->fa);
	}
	s->gave_up = !r->n_held && s->fail_at && fail_alloc_hit(&r->fa);
	if (!r->n_held)
		return session_fail(s, "the service keeps nothing");
	ex = r->held[0];
	if (strcmp(what, "begin") == 0)
		http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0);
	else if (strcmp(what, "write") == 0)
		s->gave_up = http_exchange_write(ex, str_of(l->rest[1]), false) != CLEAT_OK;
	else
		memmove(r->held, r->held + 1, --r->n_held * sizeof *r->held);
	if (strcmp(what, "reply") == 0)
		reply_text(ex, atoi(l->word[1]), str_of(l->rest[2]));
	else if (strcmp(what, "end") == 0)
		http_exchange_end(ex);
	else if (strcmp(what, "abort") == 0)
		http_exchange_abort(ex);
	return !s->gave_up || session_fail(s, "what is written is not taken");
}

static const struct directive directives[] = {
	{ "options", do_options, true },      { "count", do_count, true },
	{ "logged", do_logged, true },        { "advance", do_advance, false },
	{ "connect", http_do_connect, true }, { "close", http_do_close, false },
	{ "slam", http_do_close, false },     { "half", http_do_close, true },
	{ "starve", http_do_starve, true },   { "drain", do_drain, true },
	{ "reply", do_held, true },           { "begin", do_held, true },
	{ "write", do_held, true },           { "end", do_held, true },
	{ "abort", do_held, true },
};

const struct stage stage_httpd = { .name = "httpd",
				   .open = plain_open,
				   .step = http_step,
				   .rest = http_rest,
				   .quiet = http_quiet,
				   .close = plain_close,
				   .directives = directives,
				   .n_directives = CLEAT_COUNT(directives) };
