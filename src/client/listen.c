/* client/listen.c - watches on a modern server: one subscriptions/listen for all of them (2026-07-28
 * patterns/subscriptions).
 *
 * When the watches change, a new request takes the place of the old one, which goes only when the new one
 * is acknowledged: nothing is missed in between. One that ends by itself is made anew after a random
 * while, and the watches hear that they may have missed something.
 */
#include "client/state.h"

#include "base/error.h"
#include "protocol/era.h"
#include "json/parse.h"

enum { GOOD_WHILE = 60000 };

/* ---- the request ---------------------------------------------------------------------------- */

static bool seen_before(const cleat_client *c, const struct cleat_watch *until, size_t i)
{
	struct str uri = str_of(until->uris[i]);

	for (const struct cleat_watch *w = c->watches; w; w = w->next)
		for (size_t k = 0; !w->ended && k < w->n_uris; k++) {
			if (w == until && k == i)
				return false;
			if (str_eqz(uri, w->uris[k]))
				return true;
		}
	return false;
}

static void put_uris(const cleat_client *c, struct build *b)
{
	bool begun = false;

	if (!client_offers(c, "resources.subscribe"))
		return;
	for (const struct cleat_watch *x = c->watches; x; x = x->next)
		for (size_t i = 0; !x->ended && i < x->n_uris; i++) {
			if (seen_before(c, x, i))
				continue;
			if (!begun) {
				build_keyz(b, "resourceSubscriptions");
				build_arr(b);
			}
			begun = true;
			build_strz(b, x->uris[i]);
		}
	if (begun)
		build_end(b);
}

static unsigned all_lists(const cleat_client *c, bool *ret_uris)
{
	unsigned lists = 0;

	*ret_uris = false;
	for (const struct cleat_watch *w = c->watches; w; w = w->next) {
		if (w->ended)
			continue;
		lists |= watch_lists(c, w);
		*ret_uris |= w->n_uris && client_offers(c, "resources.subscribe");
	}
	return lists;
}

static void put_flag(struct build *b, const char *key, unsigned on)
{
	if (!on)
		return;
	build_keyz(b, key);
	build_bool(b, true);
}

static void put_filter(const cleat_client *c, struct build *b, unsigned lists)
{
	build_obj(b);
	build_keyz(b, "notifications");
	build_obj(b);
	put_flag(b, "toolsListChanged", lists & CLEAT_CHANGE_TOOLS);
	put_flag(b, "promptsListChanged", lists & CLEAT_CHANGE_PROMPTS);
	put_flag(b, "resourcesListChanged", lists & CLEAT_CHANGE_RESOURCES);
	put_uris(c, b);
	build_end(b);
	build_end(b);
}

/* ---- its end -------------------------------------------------------------------------------- */

static void again_later(cleat_client *c)
{
	if (c->listen_since && client_now(c) - c->listen_since >= GOOD_WHILE)
		c->watch_attempts = 0;
	c->listen_since = 0;
	watch_later(c);
}

/* The server has said no: those that were never heard by it hear nothing. */
static COLD void refused(cleat_client *c, const cleat_error *why)
{
	bool unknown = why->rpc_code == CLEAT_RPC_METHOD_NOT_FOUND;

	for (struct cleat_watch *w = c->watches; w; w = w->next)
		if (!c->listen || !w->told)
			watch_end(w, unknown ? CLEAT_EUNSUPPORTED : CLEAT_EREMOTE,
				  "subscriptions/listen: %s", why->message);
	c->listen_gen = c->watch_gen;
}

static void ended(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	if (call == c->listen_next) {
		c->listen_next = NULL;
		if (r && r->step == CLEAT_STEP_ANSWER)
			refused(c, &r->error);
		else
			again_later(c);
	} else if (call == c->listen) {
		c->listen = NULL;
		watch_missed(c);
		again_later(c);
	}
	cleat_result_free(r);
}

void listen_cancelled(cleat_client *c, const cleat_json *id)
{
	cleat_call *call = call_by_id(c, id);

	if (call && (call == c->listen || call == c->listen_next))
		call_fail(call, CLEAT_STEP_EXCHANGE, CLEAT_ECLOSED, "the server has ended it");
}

void listen_drop(cleat_client *c)
{
	cleat_call *old = c->listen, *next = c->listen_next;

	c->listen = c->listen_next = NULL;
	call_drop(old, "nobody watches");
	call_drop(next, "nobody watches");
}

/* ---- making what is wanted true --------------------------------------------------------------- */

static void listen(cleat_client *c, unsigned lists)
{
	struct build params;
	cleat_call *call = client_call_new(c, &params);

	put_filter(c, &params, lists);
	call = call_internal(call, "subscriptions/listen", &params, ended);
	if (!call) {
		again_later(c);
		return;
	}
	c->listen_next = call;
	c->listen_next_gen = c->watch_gen;
	call_limit(call, c->opts.timeout_ms, 0); /* until it is acknowledged */
	call_send_now(call);
}

void listen_pump(cleat_client *c, uint64_t now)
{
	bool uris;
	unsigned lists = all_lists(c, &uris);

	if (!lists && !uris) {
		c->watch_at = 0;
		listen_drop(c);
		return;
	}
	if (c->listen_next || (c->listen && c->listen_gen == c->watch_gen))
		return;
	if (watch_due(c, now))
		listen(c, lists);
}

/* ---- what comes ------------------------------------------------------------------------------- */

/* The subscription that a notification names; on HTTP the exchange that it came in will do. */
static bool names(cleat_client *c, const cleat_call *call, const cleat_json *meta, void *tag)
{
	const cleat_json *id = json_member(meta, META_SUBSCRIPTION);

	if (!call || call->state != CALL_SENT)
		return false;
	return id ? call_by_id(c, id) == call : tag && call_by_tag(c, tag) == call;
}

bool listen_owns(cleat_client *c, const cleat_json *meta, void *tag)
{
	return names(c, c->listen, meta, tag);
}

static bool honours_uri(const cleat_json *filter, const struct cleat_watch *w)
{
	cleat_json_iter it = cleat_json_each(json_member(filter, "resourceSubscriptions"));

	while (cleat_json_next(&it))
		for (size_t i = 0; i < w->n_uris; i++)
			if (json_is_string(it.value) && str_eqz(json_str(it.value), w->uris[i]))
				return true;
	return false;
}

static bool honours(const cleat_json *filter, const struct cleat_watch *w)
{
	static const struct {
		unsigned bit;
		const char *key;
	} rows[] = { { CLEAT_CHANGE_TOOLS, "toolsListChanged" },
		     { CLEAT_CHANGE_PROMPTS, "promptsListChanged" },
		     { CLEAT_CHANGE_RESOURCES, "resourcesListChanged" } };

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		if (w->opts.lists & rows[i].bit &&
		    cleat_json_bool(json_member(filter, rows[i].key), false))
			return true;
	return honours_uri(filter, w);
}

/* "The client SHOULD check the acknowledged filter against what it requested." Watches that came after
 * the request was made are not in it. */
static void listen_check(cleat_client *c, const cleat_json *filter)
{
	for (struct cleat_watch *w = c->watches; w; w = w->next) {
		if (w->ended || w->gen > c->listen_gen)
			continue;
		if (honours(filter, w))
			w->told = true;
		else
			watch_end(w, CLEAT_EUNSUPPORTED,
				  "the server does not tell of changes of this kind");
	}
}

void listen_acknowledged(cleat_client *c, const cleat_json *meta, const cleat_json *params,
			 void *tag)
{
	cleat_call *old = c->listen;

	if (!names(c, c->listen_next, meta, tag))
		return;
	c->listen = c->listen_next;
	c->listen_gen = c->listen_next_gen;
	c->listen_next = NULL;
	c->listen_since = client_now(c);
	call_limit(c->listen, 0, 0);
	call_drop(old, "another one took its place");
	listen_check(c, json_member(params, "notifications"));
	watch_tell(c, CLEAT_CHANGE_MISSED, (struct str){ NULL, 0 });
	if (c->listen_gen != c->watch_gen)
		c->watch_dirty = true;
}
