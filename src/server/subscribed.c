/* server/subscribed.c - who has subscribed to what, for those that watch it (core.h). Owner's thread.
 *
 * A hook may be taken away by its own call, not by that of another.
 */
#include "server/subscribed.h"

#include "server/core.h"
#include "server/notify.h"
#include "json/parse.h"

void subscribed_tell(cleat_server *s, struct str uri)
{
	struct subscription_hook *next;

	for (struct subscription_hook *h = s->subscription_hooks; h; h = next) {
		next = h->next;
		h->fn(h, uri);
	}
}

void subscribed_tell_all(const cleat_request *listen)
{
	cleat_json_iter it = cleat_json_each(listen->wanted_uris);

	while (listen->server->subscription_hooks && cleat_json_next(&it))
		subscribed_tell(listen->server, json_str(it.value));
}

static void tell_listened(struct subscription_hook *h, const cleat_request *listen)
{
	cleat_json_iter it = cleat_json_each(listen->wanted_uris);

	while (cleat_json_next(&it))
		h->fn(h, json_str(it.value));
}

void server_hook_subscriptions(cleat_server *s, struct subscription_hook *h)
{
	h->next = s->subscription_hooks;
	s->subscription_hooks = h;
	for (cleat_connection *c = s->conns; c; c = c->next) {
		for (struct subscription *sub = c->subscriptions; sub; sub = sub->next)
			h->fn(h, sub->uri);
		for (cleat_request *req = c->n_listening ? c->requests : NULL; req; req = req->next)
			if (req->phase == PHASE_LISTENING)
				tell_listened(h, req);
	}
}

void server_unhook_subscriptions(cleat_server *s, struct subscription_hook *h)
{
	struct subscription_hook **p = &s->subscription_hooks;

	while (*p && *p != h)
		p = &(*p)->next;
	if (*p)
		*p = h->next;
}

bool server_is_subscribed(const cleat_server *s, struct str uri)
{
	for (const cleat_connection *c = s->conns; c; c = c->next) {
		for (struct subscription *sub = c->subscriptions; sub; sub = sub->next)
			if (str_eq(sub->uri, uri))
				return true;
		for (cleat_request *req = c->n_listening ? c->requests : NULL; req; req = req->next)
			if (req->phase == PHASE_LISTENING && notify_wants_uri(req, uri))
				return true;
	}
	return false;
}
