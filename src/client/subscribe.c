/* client/subscribe.c - watches on a legacy server: resources/subscribe for every resource that some watch
 * wants, resources/unsubscribe when none does any more (2025-11-25 server/resources, Subscriptions).
 *
 * One request at a time: the list says what is, the watches what should be, and each answer brings the
 * two nearer. What the server refuses ends the watch; one that could not be asked is asked again. Changes of
 * lists need no request; the server sends them if it has the capability.
 */
#include "client/state.h"

#include "base/mem.h"

enum { MAX_SUBS = 100000 };

static struct subscription *subscribe_find(cleat_client *c, struct str uri)
{
	for (struct subscription *s = c->subs; s; s = s->next)
		if (str_eq(uri, (struct str){ s->uri, s->n }))
			return s;
	return NULL;
}

static void want(cleat_client *c, const char *z)
{
	struct str uri = str_of(z);
	struct subscription *s = subscribe_find(c, uri);

	if (!s && c->n_subs < MAX_SUBS) {
		s = mem_zalloc(&c->mem, sizeof *s + uri.n + 1);
		if (s) {
			memcpy(s->uri, uri.p, uri.n);
			s->n = uri.n;
			s->next = c->subs;
			c->subs = s;
			c->n_subs++;
		}
	}
	if (s)
		s->wanted = true;
	else
		client_note(c, CLEAT_LOG_ERROR, "a resource is not watched: out of memory");
}

static void subscribe_look(cleat_client *c)
{
	struct subscription **at = &c->subs, *s;

	for (s = c->subs; s; s = s->next)
		s->wanted = false;
	for (struct cleat_watch *w = c->watches; w; w = w->next)
		for (size_t i = 0; !w->ended && i < w->n_uris; i++)
			want(c, w->uris[i]);
	while ((s = *at)) {
		if (s->wanted || s->on) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		c->n_subs--;
		mem_free(&c->mem, s);
	}
}

static COLD void refused(cleat_client *c, const struct subscription *s, const cleat_result *r)
{
	for (struct cleat_watch *w = c->watches; w; w = w->next)
		for (size_t i = 0; i < w->n_uris; i++)
			if (str_eqz((struct str){ s->uri, s->n }, w->uris[i]))
				watch_end(w, r ? r->error.status : CLEAT_ENOMEM,
					  "resources/subscribe %.80s: %s", s->uri,
					  r ? r->error.message : "out of memory");
}

/* Has the server been in no position to say yes or no? */
static bool passing(const cleat_result *r)
{
	switch (r ? r->step : CLEAT_STEP_NONE) {
	case CLEAT_STEP_DNS:
	case CLEAT_STEP_CONNECT:
	case CLEAT_STEP_TLS:
	case CLEAT_STEP_EXCHANGE:
	case CLEAT_STEP_TIMEOUT: return true;
	case CLEAT_STEP_HTTP:
		return r->http_status == 408 || r->http_status == 429 || r->http_status >= 500;
	default: return false;
	}
}

/* Later, and behind the others: it may be the only one that has no answer. */
static COLD void postpone(cleat_client *c, struct subscription *s, const cleat_result *r)
{
	struct subscription **at = &c->subs;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	while (*at)
		at = &(*at)->next;
	*at = s;
	s->next = NULL;
	client_note(c, CLEAT_LOG_WARNING, "%s", r->error.message);
	watch_later(c);
}

static void answered(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;
	struct subscription *s = c->busy;

	if (call == c->subscribing) {
		bool ok = r && r->error.status == CLEAT_OK;

		c->subscribing = NULL;
		c->busy = NULL;
		c->watch_dirty = true;
		if (s->on)
			s->on = false; /* also when it failed: nobody wants to hear of it */
		else if (passing(r))
			postpone(c, s, r);
		else if (!ok)
			refused(c, s, r);
		else
			s->on = true;
		if (ok)
			c->watch_attempts = 0;
	}
	cleat_result_free(r);
}

static void subscribe_ask(cleat_client *c, struct subscription *s)
{
	struct build params;
	cleat_call *call = client_call_new(c, &params);

	build_format(&params, "{uri: %.*s}", (int)s->n, s->uri);
	call = call_internal(call, s->on ? "resources/unsubscribe" : "resources/subscribe", &params,
			     answered);
	if (!call) {
		if (s->on)
			s->on = false;
		else
			refused(c, s, NULL);
		return;
	}
	c->subscribing = call;
	c->busy = s;
	call_send_now(call);
}

void subscribe_pump(cleat_client *c, uint64_t now)
{
	struct subscription *s;

	if (c->subscribing)
		return;
	if (client_offers(c, "resources.subscribe")) {
		subscribe_look(c);
		for (s = c->subs; s && s->on == s->wanted; s = s->next)
			;
		if (s) {
			if (watch_due(c, now))
				subscribe_ask(c, s);
			return;
		}
	}
	c->watch_at = 0;
	for (struct cleat_watch *w = c->watches; w; w = w->next)
		w->told = w->told || !w->ended;
	watch_tell(c, CLEAT_CHANGE_MISSED, (struct str){ NULL, 0 });
}

void subscribe_lost(cleat_client *c)
{
	c->subscribing = NULL;
	c->busy = NULL;
	for (struct subscription *s = c->subs; s; s = s->next)
		s->on = false;
}

void subscribe_free(cleat_client *c)
{
	while (c->subs) {
		struct subscription *s = c->subs;

		c->subs = s->next;
		mem_free(&c->mem, s);
	}
}
