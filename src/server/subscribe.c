/* server/subscribe.c - how clients say what they want to be told: subscriptions/listen of the modern
 * era, resources/subscribe and unsubscribe of the legacy one. Telling them is in notify.c.
 */
#include "server/subscribe.h"

#include "base/mem.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "server/arguments.h"
#include "server/notify.h"
#include "server/serve.h"
#include "server/subscribed.h"
#include "json/parse.h"

#include <string.h>

/* ---- subscriptions/listen ------------------------------------------------------------------ */

static void filter_flag(struct jw *w, const cleat_request *listen, unsigned bit, const char *key)
{
	if (listen->wants & bit)
		jw_kv_bool(w, key, true);
}

/* 2026-07-28 patterns/subscriptions: the acknowledgement comes first and shows what is honoured. */
static int acknowledge(cleat_request *listen)
{
	struct out o;

	if (!out_begin(&o, listen->conn, listen, PEER_MUST))
		return CLEAT_ECLOSED;
	rpc_begin_notification(&o.w, "notifications/subscriptions/acknowledged");
	rpc_params(&o.w);
	jw_obj(&o.w);
	notify_subscription_meta(&o.w, listen);
	jw_key(&o.w, "notifications");
	jw_obj(&o.w);
	filter_flag(&o.w, listen, LISTEN_TOOLS, "toolsListChanged");
	filter_flag(&o.w, listen, LISTEN_PROMPTS, "promptsListChanged");
	filter_flag(&o.w, listen, LISTEN_RESOURCES, "resourcesListChanged");
	if (listen->wanted_uris)
		jw_kv_value(&o.w, "resourceSubscriptions", listen->wanted_uris);
	jw_obj_end(&o.w);
	jw_obj_end(&o.w);
	rpc_end(&o.w);
	return out_end(&o);
}

static bool bad_filter(cleat_request *req, const char *why)
{
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "subscriptions/listen: %s", why);
	return false;
}

static bool read_flag(cleat_request *req, const cleat_json *filter, const char *key, unsigned bit,
		      bool served)
{
	const cleat_json *v = cleat_json_get(filter, key);

	if (v && cleat_json_type(v) != CLEAT_JSON_BOOL) {
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL,
			   "subscriptions/listen: notifications.%s must be a boolean, not %s", key,
			   json_type_name(v));
		return false;
	}
	if (cleat_json_bool(v, false) && served)
		req->wants |= bit;
	return true;
}

static bool read_uris(cleat_request *req, const cleat_json *filter)
{
	const cleat_json *list = json_member(filter, "resourceSubscriptions");
	cleat_json_iter it = cleat_json_each(list);

	if (!list)
		return true;
	if (!json_is_array(list))
		return bad_filter(req,
				  "notifications.resourceSubscriptions must be an array of URIs");
	if (cleat_json_size(list) > req->server->opts.max_subscriptions)
		return bad_filter(req, "too many URIs in notifications.resourceSubscriptions");
	while (cleat_json_next(&it))
		if (!json_is_string(it.value))
			return bad_filter(
				req, "notifications.resourceSubscriptions must hold only strings");
	if (server_has_resources(req->server))
		req->wanted_uris = list;
	return true;
}

/* So many more for this client? */
static bool has_quota(const cleat_connection *c, size_t n)
{
	const struct peer_quota *q = c->facts.quota;

	return !q || (q->used < q->max && n <= q->max - q->used);
}

static void use_quota(cleat_connection *c, size_t n)
{
	if (c->facts.quota)
		c->facts.quota->used += n;
}

static void give_back_quota(cleat_connection *c)
{
	if (c->facts.quota)
		c->facts.quota->used--;
}

static bool read_filter(cleat_request *req)
{
	const cleat_json *filter = json_member(req->msg.params, "notifications");
	const cleat_server *s = req->server;

	if (!json_is_object(filter))
		return bad_filter(req, "params.notifications must be an object such as "
				       "{\"toolsListChanged\": true}");
	if (req->answers) /* never answered on its own, it would hold the whole array back */
		return bad_filter(req, "cannot be part of a batch");
	if (req->conn->n_listening >= s->opts.max_subscriptions)
		return bad_filter(req, "too many subscriptions on this connection");
	return read_flag(req, filter, "toolsListChanged", LISTEN_TOOLS, server_has_tools(s)) &&
	       read_flag(req, filter, "promptsListChanged", LISTEN_PROMPTS,
			 server_has_prompts(s)) &&
	       read_flag(req, filter, "resourcesListChanged", LISTEN_RESOURCES,
			 server_has_resources(s)) &&
	       read_uris(req, filter);
}

void serve_listen(cleat_request *req)
{
	cleat_connection *c = req->conn;
	int rc;

	if (!read_filter(req)) {
		request_end(req);
		return;
	}
	if (!has_quota(c, request_listens_to(req))) {
		bad_filter(req, "you have too many subscriptions; end some");
		request_end(req);
		return;
	}
	rc = acknowledge(req);
	if (rc) {
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
		request_end(req);
		return;
	}
	req->phase = PHASE_LISTENING;
	c->n_listening++;
	use_quota(c, request_listens_to(req));
	req->counted = false; /* it waits, it does not run */
	c->n_running--;
	req->server->running--;
	subscribed_tell_all(req);
}

/* 2026-07-28: patterns/subscriptions wants a result that says that the subscription ended gracefully,
 * patterns/cancellation notifications/cancelled when the server tears it down. The result comes
 * first: a client drops the answer to what it has seen cancelled, and with it the good news. */
void subscribe_end(cleat_request *listen)
{
	struct result_facts f = { .subscription = listen->msg.id };
	struct out o;

	if (result_begin(&o, listen, &f) && result_end(&o, listen, &f))
		server_note(listen->server, CLEAT_LOG_WARNING,
			    "the end of a subscription was lost: out of memory");
	/* over HTTP the end of the stream says it */
	if (listen->conn->facts.transport != CLEAT_TRANSPORT_HTTP &&
	    out_begin(&o, listen->conn, listen, PEER_MUST)) {
		rpc_begin_notification(&o.w, "notifications/cancelled");
		rpc_params(&o.w);
		jw_obj(&o.w);
		notify_subscription_meta(&o.w, listen);
		jw_kv_value(&o.w, "requestId", listen->msg.id);
		jw_kv_str(&o.w, "reason", "the server is stopping");
		jw_obj_end(&o.w);
		rpc_end(&o.w);
		out_end(&o);
	}
	request_end(listen);
}

/* ---- resources/subscribe of the legacy era -------------------------------------------------- */

static struct subscription **find_subscription(cleat_connection *c, struct str uri)
{
	struct subscription **p = &c->subscriptions;

	while (*p && !str_eq((*p)->uri, uri))
		p = &(*p)->next;
	return p;
}

static void subscribe(cleat_request *req, struct str uri)
{
	cleat_connection *c = req->conn;
	struct subscription *sub;

	if (*find_subscription(c, uri)) {
		result_empty(req);
		return;
	}
	if (c->n_subscriptions >= req->server->opts.max_subscriptions) {
		out_errorf(
			req, CLEAT_RPC_INTERNAL_ERROR, NULL,
			"this session has %zu subscriptions, which is the limit; unsubscribe some",
			c->n_subscriptions);
		return;
	}
	if (!has_quota(c, 1)) {
		out_errorf(req, CLEAT_RPC_INTERNAL_ERROR, NULL,
			   "your sessions have %zu subscriptions, which is the limit; end some",
			   c->facts.quota->used);
		return;
	}
	sub = mem_alloc(&c->server->mem, sizeof *sub + uri.n + 1);
	if (!sub) {
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
		return;
	}
	memcpy(sub + 1, uri.p, uri.n);
	sub->uri = (struct str){ (char *)(sub + 1), uri.n };
	sub->next = c->subscriptions;
	c->subscriptions = sub;
	c->n_subscriptions++;
	use_quota(c, 1);
	result_empty(req);
	subscribed_tell(c->server, sub->uri);
}

void serve_subscribe(cleat_request *req)
{
	struct str uri;

	if (arguments_param(req, "uri", &uri)) {
		if (resource_exists(req, uri))
			subscribe(req, uri);
	}
	request_end(req);
}

void serve_unsubscribe(cleat_request *req)
{
	struct subscription **p, *sub;
	struct str uri;

	if (arguments_param(req, "uri", &uri)) {
		p = find_subscription(req->conn, uri);
		sub = *p;
		if (sub) {
			*p = sub->next;
			req->conn->n_subscriptions--;
			give_back_quota(req->conn);
			mem_free(&req->server->mem, sub);
		}
		result_empty(req);
	}
	request_end(req);
}

void subscribe_drop_all(cleat_connection *c)
{
	while (c->subscriptions) {
		struct subscription *sub = c->subscriptions;

		c->subscriptions = sub->next;
		give_back_quota(c);
		mem_free(&c->server->mem, sub);
	}
}
