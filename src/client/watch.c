/* client/watch.c - watches: what the program wants to hear of, whatever the server speaks.
 *
 * How a server is told is in listen.c (2026-07-28: subscriptions/listen) and subscribe.c (older:
 * resources/subscribe). A watch may be freed from any callback, its own included; so one that is freed
 * while somebody walks along the list only dies, and is buried when the walk has ended.
 */
#include "client/state.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"

#include <string.h>

/* ---- the object ----------------------------------------------------------------------------- */

static void bury(struct cleat_watch *w)
{
	cleat_client *c = w->client;

	if (w->prev)
		w->prev->next = w->next;
	else
		c->watches = w->next;
	if (w->next)
		w->next->prev = w->prev;
	mem_free(&c->mem, w);
}

/* Walk along the watches: nothing is freed in between. */
static void begin_walk(cleat_client *c)
{
	c->walking++;
}

static void end_walk(cleat_client *c)
{
	struct cleat_watch *w = c->watches, *next;

	if (--c->walking)
		return;
	for (; w; w = next) {
		next = w->next;
		if (w->dead)
			bury(w);
	}
}

void watch_free_all(cleat_client *c)
{
	while (c->watches)
		bury(c->watches);
}

/* One block: the watch, its list of pointers, their texts. */
static struct cleat_watch *make(cleat_client *c, const cleat_watch_options *o)
{
	struct cleat_watch *w;
	size_t n = 0, bytes = 0;
	char *text;

	for (; o->uris && o->uris[n]; n++)
		bytes += strlen(o->uris[n]) + 1;
	w = mem_zalloc(&c->mem, sizeof *w + (n + 1) * sizeof *w->uris + bytes);
	if (!w)
		return NULL;
	w->client = c;
	w->opts = *o;
	w->n_uris = n;
	w->uris = (char **)(void *)(w + 1);
	text = (char *)(w->uris + n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(o->uris[i]) + 1;

		w->uris[i] = memcpy(text, o->uris[i], len);
		text += len;
	}
	w->opts.uris = (const char *const *)w->uris;
	return w;
}

static void set_dirty(cleat_client *c)
{
	c->watch_dirty = true;
	if (!c->depth)
		client_arm(c, 0);
}

cleat_watch *cleat_client_watch_(cleat_client *c, const cleat_watch_options *o, size_t size)
{
	cleat_watch_options whole;
	cleat_error newer = { 0 };
	struct cleat_watch *w;

	if (!c)
		return NULL;
	SIZED_TAKE(&whole, o, size, cleat_watch_options, &newer);
	w = make(c, &whole);
	if (!w)
		return NULL;
	w->next = c->watches;
	if (w->next)
		w->next->prev = w;
	c->watches = w;
	w->gen = ++c->watch_gen;
	set_dirty(c);
	if (newer.status)
		watch_end(w, newer.status, "%s", newer.message);
	else if (c->doomed)
		watch_end(w, c->error.status, "%s", c->error.message);
	else if (!c->closing)
		client_start(c);
	return w;
}

void cleat_watch_free(cleat_watch *w)
{
	cleat_client *c;

	if (!w || w->dead)
		return;
	c = w->client;
	w->dead = w->ended = true;
	c->watch_gen++;
	set_dirty(c);
	if (!c->walking)
		bury(w);
}

void *cleat_watch_userdata(const cleat_watch *w)
{
	return w ? w->opts.userdata : NULL;
}

cleat_client *cleat_watch_client(const cleat_watch *w)
{
	return w ? w->client : NULL;
}

/* ---- what it wants -------------------------------------------------------------------------- */

unsigned watch_lists(const cleat_client *c, const struct cleat_watch *w)
{
	unsigned lists = w->opts.lists;

	if (!client_offers(c, "tools.listChanged"))
		lists &= ~(unsigned)CLEAT_CHANGE_TOOLS;
	if (!client_offers(c, "prompts.listChanged"))
		lists &= ~(unsigned)CLEAT_CHANGE_PROMPTS;
	if (!client_offers(c, "resources.listChanged"))
		lists &= ~(unsigned)CLEAT_CHANGE_RESOURCES;
	return lists & (CLEAT_CHANGE_TOOLS | CLEAT_CHANGE_PROMPTS | CLEAT_CHANGE_RESOURCES);
}

void watch_end(struct cleat_watch *w, int status, const char *fmt, ...)
{
	va_list ap;

	if (w->ended)
		return;
	va_start(ap, fmt);
	error_vset(&w->why, status, 0, fmt, ap);
	va_end(ap);
	w->ended = w->ending = true;
	w->client->watch_gen++;
	set_dirty(w->client);
}

static void end_hopeless(cleat_client *c)
{
	for (struct cleat_watch *w = c->watches; w; w = w->next)
		if (!w->ended && !watch_lists(c, w) &&
		    !(w->n_uris && client_offers(c, "resources.subscribe")))
			watch_end(w, CLEAT_EUNSUPPORTED,
				  "the server does not tell of changes of this kind");
}

/* ---- telling -------------------------------------------------------------------------------- */

/* 2025-11-25 server/resources: the uri may be that of a part of what was subscribed to. */
static bool has_uri(const struct cleat_watch *w, struct str uri)
{
	for (size_t i = 0; i < w->n_uris; i++) {
		struct str mine = str_of(w->uris[i]);

		if (uri.n < mine.n || memcmp(uri.p, mine.p, mine.n) != 0)
			continue;
		if (uri.n == mine.n || (mine.n && mine.p[mine.n - 1] == '/') ||
		    strchr("/?#", uri.p[mine.n]))
			return true;
	}
	return false;
}

static bool concerns(const struct cleat_watch *w, enum cleat_change_kind what, struct str uri)
{
	if (w->ended || !w->opts.on_change)
		return false;
	if (what == CLEAT_CHANGE_MISSED)
		return w->missed;
	if (what == CLEAT_CHANGE_RESOURCE)
		return has_uri(w, uri);
	return w->opts.lists & (unsigned)what;
}

void watch_tell(cleat_client *c, enum cleat_change_kind what, struct str uri)
{
	begin_walk(c);
	for (struct cleat_watch *w = c->watches; w; w = w->next) {
		if (!concerns(w, what, uri))
			continue;
		if (what == CLEAT_CHANGE_MISSED)
			w->missed = false;
		w->opts.on_change(w, what, what == CLEAT_CHANGE_RESOURCE ? uri.p : NULL);
	}
	end_walk(c);
}

static void run_ends(cleat_client *c)
{
	begin_walk(c);
	for (struct cleat_watch *w = c->watches; w; w = w->next) {
		if (!w->ending || w->dead)
			continue;
		w->ending = false;
		if (w->opts.on_end)
			w->opts.on_end(w, &w->why);
	}
	end_walk(c);
}

/* ---- when ----------------------------------------------------------------------------------- */

void watch_later(cleat_client *c)
{
	c->watch_at = client_now(c) + reconnect_delay(c, c->watch_attempts++);
	client_arm(c, c->watch_at);
}

bool watch_due(cleat_client *c, uint64_t now)
{
	if (now < c->watch_at) {
		client_arm(c, c->watch_at);
		return false;
	}
	c->watch_at = 0;
	return true;
}

void watch_missed(cleat_client *c)
{
	for (struct cleat_watch *w = c->watches; w; w = w->next)
		w->missed = w->missed || w->told;
}

void watch_lost(cleat_client *c)
{
	watch_missed(c);
	c->listen = c->listen_next = NULL;
	subscribe_lost(c);
}

void watch_ready(cleat_client *c)
{
	c->watch_at = 0;
	if (c->watches)
		c->watch_dirty = true;
}

void watch_pump(cleat_client *c, uint64_t now)
{
	c->watch_dirty = false;
	if (!c->watches && !c->listen && !c->listen_next && !c->subs) {
		c->watch_at = 0;
		return;
	}
	if (c->phase == CLIENT_READY) {
		end_hopeless(c);
		if (c->modern)
			listen_pump(c, now);
		else
			subscribe_pump(c, now);
	}
	run_ends(c);
}

uint64_t watch_next(const cleat_client *c)
{
	return c->phase == CLIENT_READY ? c->watch_at : 0;
}
