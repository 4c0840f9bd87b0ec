/* server/lifecycle.c - initialize, ping and logging/setLevel of the legacy era, server/discover of
 * the modern one: who the server is and what it can do.
 */
#include "protocol/describe.h"
#include "request/life.h"
#include "request/out.h"
#include "server/arguments.h"
#include "server/serve.h"
#include "json/copy.h"
#include "json/parse.h"

static void flag_object(struct jw *w, const char *key, bool lasting, bool subscribe)
{
	jw_key(w, key);
	jw_obj(w);
	if (lasting)
		jw_kv_bool(w, "listChanged", true);
	if (lasting && subscribe)
		jw_kv_bool(w, "subscribe", true);
	jw_obj_end(w);
}

static void empty_object(struct jw *w, const char *key)
{
	jw_key(w, key);
	jw_obj(w);
	jw_obj_end(w);
}

/* Only what a client can have: nobody can be told of a change who is forgotten after each answer. */
static void capabilities(struct jw *w, const cleat_request *req)
{
	const cleat_server *s = req->server;
	bool lasting = req->conn->facts.mode != PEER_STATELESS;

	jw_key(w, "capabilities");
	jw_obj(w);
	if (server_has_tools(s))
		flag_object(w, "tools", lasting, false);
	if (server_has_resources(s))
		flag_object(w, "resources", lasting, true);
	if (server_has_prompts(s))
		flag_object(w, "prompts", lasting, false);
	if (server_has_completions(s) && (req->ctx.features & FEAT_COMPLETIONS))
		empty_object(w, "completions");
	if (!s->opts.no_logging && lasting)
		empty_object(w, "logging");
	jw_obj_end(w);
}

/* 2025-11-25 basic/lifecycle: only what was negotiated is used, so what comes to be offered later is
 * no business of this session. */
static unsigned announced(const cleat_server *s)
{
	return (server_has_tools(s) ? (unsigned)LISTEN_TOOLS : 0) |
	       (server_has_resources(s) ? (unsigned)LISTEN_RESOURCES : 0) |
	       (server_has_prompts(s) ? (unsigned)LISTEN_PROMPTS : 0);
}

static void done(cleat_request *req, struct out *o, struct result_facts *f)
{
	int rc = result_end(o, req, f);

	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	request_end(req);
}

static bool check_initialize(cleat_request *req, struct str *version)
{
	const cleat_json *caps = json_member(req->msg.params, "capabilities");
	const cleat_json *info = json_member(req->msg.params, "clientInfo");

	if (!arguments_param(req, "protocolVersion", version))
		return false;
	if (caps && !json_is_object(caps)) {
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL,
			   "initialize: params.capabilities must be an object, not %s",
			   json_type_name(caps));
		return false;
	}
	if (info && !json_is_object(info)) {
		out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL,
			   "initialize: params.clientInfo must be an object, not %s",
			   json_type_name(info));
		return false;
	}
	return true;
}

/* Fills the session; false when out of memory, then it stays closed. */
static bool open_session(cleat_request *req, enum revision rev)
{
	struct legacy_session *session = &req->conn->session;
	const cleat_json *caps = json_member(req->msg.params, "capabilities");
	const cleat_json *info = json_member(req->msg.params, "clientInfo");

	session->client_caps = session->client_info = NULL;
	if ((caps && json_copy(&req->conn->arena, caps, &session->client_caps)) ||
	    (info && json_copy(&req->conn->arena, info, &session->client_info)))
		return false;
	session->rev = rev;
	return true;
}

/* 2025-11-25 basic/lifecycle: initialization. A request for a revision that we do not know gets the
 * newest that we do; the client decides whether to go on. */
void serve_initialize(cleat_request *req)
{
	struct result_facts f = { 0 };
	cleat_connection *c = req->conn;
	struct str version;
	enum revision rev;
	struct out o;

	if (!check_initialize(req, &version)) {
		request_end(req);
		return;
	}
	rev = revision_negotiate(version);
	req->ctx.rev = rev;
	req->ctx.features = revision_features(rev);
	if (!open_session(req, rev)) {
		arena_reset(&c->arena);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
		request_end(req);
		return;
	}
	if (!result_begin(&o, req, &f)) {
		request_end(req);
		return;
	}
	jw_kv_str(&o.w, "protocolVersion", revision_name(rev));
	capabilities(&o.w, req);
	jw_key(&o.w, "serverInfo");
	describe_implementation(&o.w, req->ctx.features, req->server->name, req->server->version,
				&req->server->opts);
	jw_kv_str(&o.w, "instructions", req->server->opts.instructions);
	if (result_end(&o, req, &f) == CLEAT_OK) {
		c->session.open = true;
		c->session.announced = announced(req->server);
	} else {
		arena_reset(&c->arena);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
	}
	request_end(req);
}

void serve_ping(cleat_request *req)
{
	result_empty(req);
	request_end(req);
}

/* 2025-11-25 utilities/logging: an unknown level is -32602. */
void serve_set_level(cleat_request *req)
{
	struct str name;
	int level;

	if (arguments_param(req, "level", &name)) {
		level = log_level_find(name);
		if (level >= 0) {
			req->conn->session.log_level = level;
			result_empty(req);
		} else {
			out_errorf(
				req, CLEAT_RPC_INVALID_PARAMS, NULL,
				"logging/setLevel: unknown level \"%.*s\"; it is one of debug, info, "
				"notice, warning, error, critical, alert, emergency",
				(int)(name.n < 40 ? name.n : 40), name.p);
		}
	}
	request_end(req);
}

/* 2026-07-28 server/discover. Only modern revisions are listed: those are what _meta may name. */
void serve_discover(cleat_request *req)
{
	const cleat_server_options *opts = &req->server->opts;
	struct result_facts f = { .cacheable = true,
				  .ttl_ms = opts->list_ttl_ms,
				  .shared = opts->list_scope == CLEAT_CACHE_PUBLIC };
	struct out o;

	if (!result_begin(&o, req, &f)) {
		request_end(req);
		return;
	}
	jw_key(&o.w, "supportedVersions");
	jw_arr(&o.w);
	jw_strz(&o.w, revision_name(REV_MODERN));
	jw_arr_end(&o.w);
	capabilities(&o.w, req);
	jw_kv_str(&o.w, "instructions", opts->instructions);
	done(req, &o, &f);
}
