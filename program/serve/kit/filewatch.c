/* program/serve/kit/filewatch.c - see filewatch.h. */
#include "serve/kit/filewatch.h"

#include "base/mem.h"
#include "loop/fswatch.h"
#include "server/core.h"

#include <stdio.h>

struct watched {
	struct watched *next;
	struct filewatch *of;
	struct fswatch *watch;
	size_t n;
	char uri[]; /* terminated */
};

struct filewatch {
	struct subscription_hook hook; /* first */
	struct filewatch_options o;
	struct watched *list;
	size_t n;
	bool told; /* that one could not be watched */
};

static void filewatch_drop(struct filewatch *w, struct watched **at)
{
	struct watched *gone = *at;

	*at = gone->next;
	w->n--;
	fswatch_free(gone->watch);
	mem_free(&w->o.rt->mem, gone);
}

static struct watched **filewatch_find(struct filewatch *w, struct str uri)
{
	struct watched **at = &w->list;

	while (*at && !str_eq((struct str){ (*at)->uri, (*at)->n }, uri))
		at = &(*at)->next;
	return at;
}

/* Those that nobody wants to hear of any more. */
static void prune(struct filewatch *w)
{
	struct watched **at = &w->list;

	while (*at)
		if (server_is_subscribed(w->o.rt->server, (struct str){ (*at)->uri, (*at)->n }))
			at = &(*at)->next;
		else
			filewatch_drop(w, at);
}

static void on_change(void *ctx)
{
	struct watched *x = ctx;
	struct filewatch *w = x->of;
	struct str uri = { x->uri, x->n };

	if (server_is_subscribed(w->o.rt->server, uri))
		cleat_server_resource_changed(w->o.rt->server, x->uri);
	else
		filewatch_drop(w, filewatch_find(w, uri));
}

/* The client was told that it is subscribed; whoever runs the server can do something about it. */
static void complain(struct filewatch *w, const char *path, int status)
{
	char line[600];

	if (w->told || !w->o.rt->say)
		return;
	w->told = true;
	snprintf(line, sizeof line, "cannot watch %.300s for a subscription: %s", path,
		 status == CLEAT_ELIMIT ? FSWATCH_LIMITS : cleat_strstatus(status));
	w->o.rt->say(w->o.rt->say_ctx, CLEAT_LOG_WARNING, line);
}

static void on_subscribed(struct subscription_hook *h, struct str uri)
{
	struct filewatch *w = (struct filewatch *)(void *)h;
	char path[FILEWATCH_PATH];
	struct watched *x;
	int rc;

	if (!uri.n || *filewatch_find(w, uri) || !w->o.find(w->o.ctx, uri, path))
		return;
	prune(w);
	if (w->n == FILEWATCH_MAX) {
		complain(w, path, CLEAT_ELIMIT);
		return;
	}
	x = mem_zalloc(&w->o.rt->mem, sizeof *x + uri.n + 1);
	if (!x)
		return;
	x->of = w;
	x->n = uri.n;
	memcpy(x->uri, uri.p, uri.n);
	rc = fswatch_file(w->o.rt->loop, path, on_change, x, &x->watch);
	if (rc) {
		complain(w, path, rc);
		mem_free(&w->o.rt->mem, x);
		return;
	}
	x->next = w->list;
	w->list = x;
	w->n++;
}

static void filewatch_free(void *thing)
{
	struct filewatch *w = thing;
	cleat_allocator mem = w->o.rt->mem;

	if (w->o.rt->server) /* NULL: it has ended before */
		server_unhook_subscriptions(w->o.rt->server, &w->hook);
	while (w->list)
		filewatch_drop(w, &w->list);
	if (w->o.done)
		w->o.done(w->o.ctx);
	mem_free(&mem, w);
}

void filewatch_add(struct draft *b, const struct filewatch_options *o)
{
	struct filewatch *w = o->rt->server ? mem_zalloc(&o->rt->mem, sizeof *w) : NULL;

	if (!w) {
		if (o->done)
			o->done(o->ctx);
		return;
	}
	w->o = *o;
	w->hook.fn = on_subscribed;
	server_hook_subscriptions(o->rt->server, &w->hook);
	draft_keep(b, w, filewatch_free);
}
