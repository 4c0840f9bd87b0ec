/* server/notify.c - see notify.h. Owner's thread only.
 *
 * Progress and log belong to a request and stop with its answer. Changed lists and updated resources
 * go to legacy sessions as they are, and to every subscriptions/listen that wants them with its
 * subscriptionId.
 */
#include "server/notify.h"

#include "request/conn.h"
#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "json/parse.h"

#include <math.h>
#include <stdio.h>

enum { PROGRESS_BURST = 10 };

/* ---- of a request -------------------------------------------------------------------------- */

static bool may_speak(const cleat_request *req)
{
	return req->phase == PHASE_RUNNING && !req->silent && !req->answered;
}

/* A bucket of PROGRESS_BURST notes that fills up with one per interval; the last note of a known
 * total always passes. */
static bool progress_passes(cleat_request *req, double done, double total)
{
	const struct server_hooks *h = &req->server->hooks;
	uint64_t now = h->now_ms(h->ctx);
	double interval = req->server->opts.progress_interval_ms;

	if (!isfinite(done) || (req->any_progress && done <= req->last_progress))
		return false; /* 2025-11-25 utilities/progress: MUST increase */
	if (!req->any_progress)
		req->progress_credit = PROGRESS_BURST;
	else
		req->progress_credit += (double)(now - req->last_progress_ms) / interval;
	if (req->progress_credit > PROGRESS_BURST)
		req->progress_credit = PROGRESS_BURST;
	req->any_progress = true;
	req->last_progress_ms = now;
	if (req->progress_credit < 1 && !(total > 0 && done >= total))
		return false;
	req->progress_credit -= 1;
	req->last_progress = done;
	return true;
}

void notify_progress(cleat_request *req, double done, double total, struct str text)
{
	struct out o;

	if (!may_speak(req) || !progress_passes(req, done, total) ||
	    !out_begin(&o, req->conn, req, PEER_SHOULD))
		return;
	rpc_begin_notification(&o.w, "notifications/progress");
	rpc_params(&o.w);
	jw_obj(&o.w);
	jw_kv_value(&o.w, "progressToken", req->ctx.progress_token);
	jw_key(&o.w, "progress");
	jw_real(&o.w, done);
	if (isfinite(total) && total > 0) {
		jw_key(&o.w, "total");
		jw_real(&o.w, total);
	}
	if (text.p && (req->ctx.features & FEAT_PROGRESS_MESSAGE))
		jw_kv_strn(&o.w, "message", text);
	jw_obj_end(&o.w);
	rpc_end(&o.w);
	out_end(&o);
}

void notify_release(cleat_request *req, uint64_t retry_ms)
{
	const struct peer_sink *sink = &req->conn->sink;

	if (may_speak(req) && sink->release && !req->conn->closed)
		sink->release(sink->ctx, req->tag, retry_ms);
}

static void send_log(cleat_connection *c, cleat_request *about, int level, const char *logger,
		     struct str text)
{
	struct out o;

	if (!out_begin(&o, c, about, PEER_SHOULD))
		return;
	rpc_begin_notification(&o.w, "notifications/message");
	rpc_params(&o.w);
	jw_obj(&o.w);
	jw_kv_str(&o.w, "level", cleat_log_level_name(level));
	jw_kv_str(&o.w, "logger", logger);
	jw_key(&o.w, "data");
	jw_str(&o.w, text.p ? text : STR_LIT(""));
	jw_obj_end(&o.w);
	rpc_end(&o.w);
	out_end(&o);
}

void notify_log(cleat_request *req, int level, struct str text)
{
	/* logging/setLevel may have changed a session's level since the request came. */
	int least = req->ctx.era->modern ? req->ctx.log_level : req->conn->session.log_level;
	const char *name = cleat_request_name(req);

	if (may_speak(req) && least >= 0 && level >= least)
		send_log(req->conn, req, level, *name ? name : NULL, text);
}

void cleat_server_log(cleat_server *s, int level, const char *logger, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!s || !fmt || s->opts.no_logging || !cleat_log_level_name(level))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (cleat_connection *c = s->conns; c; c = c->next)
		if (c->session.initialized && level >= c->session.log_level)
			send_log(c, NULL, level, logger, str_of(text));
}

/* ---- to everybody who wants to know -------------------------------------------------------- */

void notify_subscription_meta(struct jw *w, const cleat_request *listen)
{
	jw_key(w, "_meta");
	jw_obj(w);
	jw_kv_value(w, META_SUBSCRIPTION, listen->msg.id);
	jw_obj_end(w);
}

/* Over HTTP a subscription has a stream of its own: it ends, with an error, when it has lost something.
 * Not here, where somebody walks along the requests. */
static void fall_behind(cleat_request *listen)
{
	const struct server_hooks *h = &listen->server->hooks;

	listen->behind = true;
	listen->conn->any_behind = true;
	h->wake(h->ctx);
}

static void end_if_behind(cleat_request *req)
{
	if (req->phase == PHASE_LISTENING && req->behind)
		request_abort(req, CLEAT_RPC_INTERNAL_ERROR,
			      "the client reads too slowly: a notification was lost, and with it "
			      "this subscription ends; subscribe again");
}

void notify_end_behind(cleat_connection *c)
{
	if (!c->any_behind)
		return;
	c->any_behind = false;
	conn_each_request(c, end_if_behind);
}

/* `listen` NULL: to a legacy session. `uri` absent: none. */
static void send_notice(cleat_connection *c, cleat_request *listen, const char *method,
			struct str uri)
{
	struct out o;

	if (!out_begin(&o, c, listen, PEER_MUST))
		return;
	rpc_begin_notification(&o.w, method);
	if (listen || uri.p) {
		rpc_params(&o.w);
		jw_obj(&o.w);
		if (listen)
			notify_subscription_meta(&o.w, listen);
		jw_kv_strn(&o.w, "uri", uri);
		jw_obj_end(&o.w);
	}
	rpc_end(&o.w);
	if (out_end(&o) == CLEAT_OK)
		return;
	server_note(c->server, CLEAT_LOG_WARNING, "%s could not be sent", method);
	if (listen && c->facts.transport == CLEAT_TRANSPORT_HTTP)
		fall_behind(listen);
}

static bool is_listening(const cleat_request *req)
{
	return req->phase == PHASE_LISTENING && !req->behind;
}

void notify_changed(cleat_server *s, enum shelf_kind kind)
{
	if (!s->conns || kind == SHELF_METHODS)
		return; /* there is nobody whose list is old */
	s->changed |= kind == SHELF_TEMPLATES ? (unsigned)LISTEN_RESOURCES : 1u << kind;
	if (s->has_hooks)
		s->hooks.wake(s->hooks.ctx);
}

static void flush_kind(cleat_server *s, unsigned bit, const char *method)
{
	const struct str no_uri = { NULL, 0 };

	if (!(s->changed & bit))
		return;
	for (cleat_connection *c = s->conns; c; c = c->next) {
		if (c->session.initialized && (c->session.announced & bit))
			send_notice(c, NULL, method, no_uri);
		for (cleat_request *req = c->n_listening ? c->requests : NULL; req; req = req->next)
			if (is_listening(req) && (req->wants & bit))
				send_notice(c, req, method, no_uri);
	}
}

void notify_flush(cleat_server *s)
{
	if (!s->changed)
		return;
	flush_kind(s, LISTEN_TOOLS, "notifications/tools/list_changed");
	flush_kind(s, LISTEN_RESOURCES, "notifications/resources/list_changed");
	flush_kind(s, LISTEN_PROMPTS, "notifications/prompts/list_changed");
	s->changed = 0;
}

bool notify_wants_uri(const cleat_request *listen, struct str uri)
{
	cleat_json_iter it = cleat_json_each(listen->wanted_uris);

	while (cleat_json_next(&it))
		if (str_eq(json_str(it.value), uri))
			return true;
	return false;
}

void cleat_server_resource_changed(cleat_server *s, const char *uri)
{
	static const char method[] = "notifications/resources/updated";
	struct str key = str_of(uri);

	if (!s || !uri)
		return;
	for (cleat_connection *c = s->conns; c; c = c->next) {
		for (struct subscription *sub = c->subscriptions; sub; sub = sub->next)
			if (str_eq(sub->uri, key))
				send_notice(c, NULL, method, key);
		for (cleat_request *req = c->n_listening ? c->requests : NULL; req; req = req->next)
			if (is_listening(req) && notify_wants_uri(req, key))
				send_notice(c, req, method, key);
	}
	if (s->has_hooks && s->conns)
		s->hooks.wake(s->hooks.ctx);
}
