/* client/negotiate.c - finding out what the server speaks, and agreeing on a revision with it.
 *
 * Two ways to open, each tried at most once while the client opens: server/discover (modern) and
 * initialize (legacy); which first depends on the options and on what was found out before. What makes
 * us change over is what the specification calls evidence (2026-07-28 basic/versioning, and the sections
 * Backward Compatibility of both transports); trouble (no connection, 401, 403, 429, 5xx) is none and
 * ends the attempt. Not here: the states (negotiation.h), opening the link, trying again later (reconnect.c).
 *
 * -32601 for server/discover: every modern server MUST have it, so this is a legacy server first of all.
 * But over HTTP 404 with -32601 is what a modern one says to an unknown method; so if it refuses
 * initialize, too, it is taken for a modern one that lacks discover, and what it has stays unknown.
 */
#include "client/state.h"

#include "base/error.h"
#include "protocol/era.h"
#include "json/parse.h"

#include <stdio.h>

static void discover(cleat_client *c);
static void initialize(cleat_client *c);

/* ---- failing -------------------------------------------------------------------------------- */

static COLD void fail_as(cleat_client *c, const cleat_result *r)
{
	static const cleat_error no_memory = { .status = CLEAT_ENOMEM, .message = "out of memory" };

	cleat_error err;

	if (!r) {
		reconnect_failed(c, CLEAT_STEP_NEGOTIATE, 0, &no_memory);
	} else if (r->step == CLEAT_STEP_ANSWER) {
		/* The calls that wait end with this, and it is not they that were answered. */
		error_set(&err, CLEAT_EREMOTE, "the server answered %s with HTTP %d: %s",
			  c->neg.stage == NEGOTIATION_DISCOVER ? "server/discover" : "initialize",
			  r->http_status, r->error.message);
		reconnect_failed(c, CLEAT_STEP_HTTP, r->http_status, &err);
	} else {
		reconnect_failed(c, r->step, r->http_status, &r->error);
	}
}

COLD CLEAT_PRINTF(3, 4) static void fail(cleat_client *c, int http_status, const char *fmt, ...)
{
	cleat_error err;
	va_list ap;

	va_start(ap, fmt);
	error_vset(&err, CLEAT_EPROTO, 0, fmt, ap);
	va_end(ap);
	reconnect_failed(c, CLEAT_STEP_NEGOTIATE, http_status, &err);
}

/* "2026-07-28, 2025-11-25", for people; what does not fit is left out. */
static void show_versions(const cleat_json *versions, char *to, size_t n)
{
	cleat_json_iter it = cleat_json_each(versions);
	size_t used = 0;

	*to = '\0';
	while (cleat_json_next(&it) && used < n) {
		struct str s = json_str(it.value);
		int len;

		if (!s.p || s.n > 20 || used + s.n + 3 > n)
			continue;
		len = snprintf(to + used, n - used, "%s%.*s", used ? ", " : "", (int)s.n, s.p);
		used += len > 0 ? (size_t)len : 0;
	}
}

static COLD void no_common(cleat_client *c, const cleat_json *versions)
{
	char theirs[100];

	show_versions(versions, theirs, sizeof theirs);
	fail(c, 0, "no common revision: the server speaks %s, this client %s%s%s",
	     *theirs ? theirs : "none that it names", c->neg.may.modern ? "2026-07-28" : "",
	     c->neg.may.modern && c->neg.may.legacy ? ", " : "",
	     !c->neg.may.legacy ? ""
	     : c->opts.protocol ? revision_name(c->neg.may.best_legacy)
				: "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05");
}

/* ---- ready ---------------------------------------------------------------------------------- */

static void done_ignored(cleat_call *call, cleat_result *r)
{
	if (r && r->error.status != CLEAT_OK)
		client_note(call->client, CLEAT_LOG_WARNING, "%.*s: %s", (int)call->method.n,
			    call->method.p, r->error.message);
	cleat_result_free(r);
}

static void ready(cleat_client *c)
{
	c->neg.stage = NEGOTIATION_NONE;
	c->phase = CLIENT_READY;
	reconnect_ready(c);
}

static void level_set(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	done_ignored(call, r);
	if (c->neg.stage == NEGOTIATION_LEVEL)
		ready(c);
}

/* Over HTTP a call that is sent at the same time may arrive first: there, what wants to be logged waits. */
static void set_log_level(cleat_client *c)
{
	struct build params;
	cleat_call *call;

	if (!c->opts.log_level || !cleat_client_server_can(c, "logging"))
		return;
	call = client_call_new(c, &params);
	build_format(&params, "{level: %s}", c->opts.log_level);
	call = call_internal(call, "logging/setLevel", &params, level_set);
	if (!call)
		return;
	if (c->link->http) {
		c->neg.stage = NEGOTIATION_LEVEL;
		call_limit(call, c->opts.probe_timeout_ms, 0);
	}
	call_send_now(call);
}

static void become_ready(cleat_client *c)
{
	c->neg.stage = NEGOTIATION_NONE;
	c->neg.verdict = c->modern ? CLEAT_ERA_MODERN : CLEAT_ERA_LEGACY;
	if (!c->modern) {
		if (c->link->http && !c->opts.no_stream)
			c->link->ops->listen(c->link);
		set_log_level(c);
	}
	if (c->phase == CLIENT_OPENING && c->neg.stage == NEGOTIATION_NONE)
		ready(c);
}

/* ---- modern --------------------------------------------------------------------------------- */

/* The questions of a session in another revision are not those of this one. */
static void set_revision(cleat_client *c, enum revision rev)
{
	if (c->rev != rev)
		asked_close(c);
	c->rev = rev;
	c->modern = revision_is_modern(rev);
}

static void not_modern(cleat_client *c, const cleat_result *r)
{
	if (!c->neg.may.legacy) {
		fail(c, r->http_status,
		     "the server does not speak 2026-07-28, and nothing else is allowed by opts.era "
		     "or opts.protocol; to server/discover it said: %s",
		     r->error.status ? r->error.message : "a result without supportedVersions");
		return;
	}
	if (r->error.status)
		c->neg.heard = r->error;
	else
		error_set(&c->neg.heard, CLEAT_EPROTO, "a result without supportedVersions");
	if (c->neg.tried_legacy)
		fail(c, r->http_status,
		     "the server speaks neither initialize nor server/discover; to the latter it "
		     "said: %s",
		     c->neg.heard.message);
	else
		initialize(c);
}

/* A list of what the server speaks has come, with a result or with -32022. */
static void follow_versions(cleat_client *c, const cleat_json *versions)
{
	enum revision rev = negotiation_pick(&c->neg, versions);

	if (revision_is_modern(rev) && !c->neg.retried_version) {
		/* It names what we have asked for, and refuses it all the same: once more. */
		c->neg.retried_version = true;
		discover(c);
	} else if (rev != REV_NONE && !revision_is_modern(rev) &&
		   negotiation_allows(&c->neg, rev) && !c->neg.tried_legacy) {
		c->neg.offer = rev;
		initialize(c);
	} else {
		no_common(c, versions);
	}
}

/* True: `r` is taken. */
static bool discovered_result(cleat_client *c, cleat_result *r)
{
	const cleat_json *versions = json_member(r->raw, "supportedVersions");
	const cleat_json *caps = json_member(r->raw, "capabilities");

	if (!json_is_array(versions) || !cleat_json_size(versions) ||
	    (caps && !json_is_object(caps))) {
		not_modern(c, r);
		return false;
	}
	if (!revision_is_modern(negotiation_pick(&c->neg, versions))) {
		follow_versions(c, versions);
		return false;
	}
	client_set_hello(c, r);
	become_ready(c);
	return true;
}

static void discovered_error(cleat_client *c, const cleat_result *r)
{
	if (r->error.rpc_code == CLEAT_RPC_METHOD_NOT_FOUND && r->http_status == 404)
		c->neg.lacks_discover = true;
	if (r->error.rpc_code == CLEAT_RPC_UNSUPPORTED_VERSION && negotiation_is_modern_error(r)) {
		follow_versions(c, json_member(r->error_data, "supported"));
	} else if (negotiation_is_modern_error(r) ||
		   (c->neg.lacks_discover && !c->neg.may.legacy)) {
		/* It is modern, but tells nothing of itself: the calls will see. */
		client_note(c, CLEAT_LOG_WARNING, "server/discover: %s", r->error.message);
		client_set_hello(c, NULL);
		become_ready(c);
	} else {
		not_modern(c, r);
	}
}

static void discovered(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	if (c->neg.stage != NEGOTIATION_DISCOVER) {
		cleat_result_free(r);
		return;
	}
	if (!r || r->error.status == CLEAT_ENOMEM ||
	    (r->error.status && negotiation_is_trouble(r, c->link->http)))
		fail_as(c, r);
	else if (r->error.status == CLEAT_OK) {
		if (discovered_result(c, r))
			return;
	} else if (r->step == CLEAT_STEP_ANSWER) {
		discovered_error(c, r);
	} else {
		not_modern(c, r);
	}
	cleat_result_free(r);
}

static void discover(cleat_client *c)
{
	cleat_call *call;

	c->neg.stage = NEGOTIATION_DISCOVER;
	c->neg.tried_modern = true;
	set_revision(c, REV_MODERN);
	call = message_set_meta(c) == CLEAT_OK ? call_internal(client_call_new(c, NULL),
							       "server/discover", NULL, discovered)
					       : NULL;
	if (!call) {
		fail_as(c, NULL);
		return;
	}
	/* 2026-07-28 stdio: a legacy server may say nothing at all. On HTTP there is always a status. */
	call_limit(call,
		   c->neg.may.legacy && !c->link->http && !c->neg.tried_legacy
			   ? c->opts.probe_timeout_ms
			   : c->opts.connect_timeout_ms,
		   0);
	call_send_now(call);
}

/* ---- legacy --------------------------------------------------------------------------------- */

static void send_initialized(cleat_client *c)
{
	void *tag = NULL;
	int rc;

	if (c->link->http) {
		c->neg.initialized_tag = ++c->last_id;
		tag = tag_make(c->neg.initialized_tag);
	}
	c->neg.stage = NEGOTIATION_INITIALIZED;
	rc = message_notice(c, STR_LIT("notifications/initialized"), NULL, tag);
	if (rc != CLEAT_OK) {
		c->neg.initialized_tag = 0;
		fail(c, 0, "notifications/initialized could not be sent: %s", cleat_strstatus(rc));
	} else if (!tag) {
		become_ready(c);
	}
}

void negotiate_accepted(cleat_client *c)
{
	c->neg.initialized_tag = 0;
	if (c->neg.stage == NEGOTIATION_INITIALIZED)
		become_ready(c);
}

void negotiate_refused(cleat_client *c, const struct link_failure *why)
{
	cleat_error err;

	c->neg.initialized_tag = 0;
	if (c->neg.stage != NEGOTIATION_INITIALIZED || (why->session_lost && negotiate_renew(c)))
		return;
	error_set(&err, why->error.status, "notifications/initialized: %s", why->error.message);
	reconnect_failed(c, why->step, why->http_status, &err);
}

/* 2025-11-25 basic/lifecycle, Version Negotiation: another revision than the one asked for is good if we
 * speak it. True: `r` is taken. */
static bool agreed(cleat_client *c, cleat_result *r)
{
	struct str version = json_str(json_member(r->raw, "protocolVersion"));
	enum revision rev = version.p ? revision_find(version) : REV_NONE;
	const cleat_json *caps = json_member(r->raw, "capabilities");

	if (!version.p || (caps && !json_is_object(caps))) {
		fail(c, r->http_status,
		     "the server's answer to initialize is not an InitializeResult");
		return false;
	}
	if (!negotiation_allows(&c->neg, rev)) {
		fail(c, r->http_status,
		     "no common revision: the server answered initialize with \"%.*s\", this client "
		     "asked for %s",
		     (int)(version.n < 20 ? version.n : 20), version.p,
		     revision_name(c->neg.offer));
		return false;
	}
	set_revision(c, rev);
	client_set_hello(c, r);
	send_initialized(c);
	return true;
}

/* What was said, without the method that it was said to. */
static const char *said(const cleat_error *e, const char *method)
{
	size_t n = strlen(method);

	return strncmp(e->message, method, n) == 0 && strncmp(e->message + n, ": ", 2) == 0
		       ? e->message + n + 2
		       : e->message;
}

/* 2026-07-28 streamable-http, HTTP+SSE Transport: 400, 404 or 405 that no modern server gives. */
static bool fall_back(cleat_client *c, const cleat_result *r)
{
	int http = r->http_status;

	if (!c->link->http || c->neg.fell_back || (http != 400 && http != 404 && http != 405) ||
	    negotiation_is_modern_error(r) || r->error.rpc_code == CLEAT_RPC_METHOD_NOT_FOUND)
		return false;
	if (c->link->ops->fall_back(c->link) != CLEAT_OK)
		return false;
	c->neg.fell_back = true;
	c->neg.skip_probe = true;
	error_set(&c->neg.heard, r->error.status, "%s", said(&r->error, "initialize"));
	c->neg.stage = NEGOTIATION_LINK;
	return true;
}

/* A program that was still starting when it was probed, and has answered now: it may be a modern one. */
static bool woke_up(const cleat_client *c)
{
	return c->neg.may.modern && !c->link->http && !c->neg.reprobed &&
	       c->neg.heard.status == CLEAT_ETIMEOUT;
}

static void no_server(cleat_client *c, const cleat_result *r)
{
	const char *first = said(&c->neg.heard, "server/discover");
	const char *second = said(&r->error, "initialize");

	if (strcmp(first, second) == 0)
		fail(c, r->http_status, "no MCP server that this client understands: %s", first);
	else
		fail(c, r->http_status,
		     "no MCP server that this client understands: to server/discover it said "
		     "\"%.80s\", to initialize \"%.80s\"",
		     first, second);
}

static void refused(cleat_client *c, const cleat_result *r)
{
	if (fall_back(c, r))
		return;
	if (woke_up(c)) {
		c->neg.reprobed = true;
		discover(c);
		return;
	}
	if (c->neg.may.modern && !c->neg.tried_modern && !c->neg.skip_probe && !c->neg.fell_back) {
		discover(c);
	} else if (c->neg.lacks_discover) {
		set_revision(c, REV_MODERN);
		client_set_hello(c, NULL);
		become_ready(c);
	} else if (c->neg.tried_modern) {
		no_server(c, r);
	} else {
		reconnect_failed(c, CLEAT_STEP_NEGOTIATE, r->http_status, &r->error);
	}
}

static void initialized(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	if (c->neg.stage != NEGOTIATION_INITIALIZE) {
		cleat_result_free(r);
		return;
	}
	if (r && r->error.status == CLEAT_OK) {
		if (agreed(c, r))
			return;
	} else if (!r || r->error.status == CLEAT_ENOMEM || r->step == CLEAT_STEP_TIMEOUT ||
		   negotiation_is_trouble(r, c->link->http)) {
		fail_as(c, r);
	} else {
		refused(c, r);
	}
	cleat_result_free(r);
}

static cleat_call *initialize_call(cleat_client *c)
{
	struct build params;
	cleat_call *call = client_call_new(c, &params);

	build_obj(&params);
	build_kv_str(&params, "protocolVersion", revision_name(c->neg.offer));
	build_keyz(&params, "capabilities");
	message_capabilities(c, &params, c->neg.offer);
	build_keyz(&params, "clientInfo");
	message_client_info(c, &params);
	build_end(&params);
	return call_internal(call, "initialize", &params, initialized);
}

static void initialize(cleat_client *c)
{
	cleat_call *call;

	c->neg.stage = NEGOTIATION_INITIALIZE;
	c->neg.tried_legacy = c->neg.greeted = true;
	set_revision(c, REV_NONE);
	c->said_roots = c->roots;
	c->session++;
	c->remarked = 0; /* of a probe that it does not know, or of another server */
	if (c->link->http)
		c->link->ops->reset(c->link);
	call = initialize_call(c);
	if (!call) {
		fail_as(c, NULL);
		return;
	}
	call_limit(call, c->opts.connect_timeout_ms, 0);
	call_send_now(call);
}

bool negotiate_renew(cleat_client *c)
{
	if ((c->neg.stage != NEGOTIATION_INITIALIZED && c->neg.stage != NEGOTIATION_LEVEL) ||
	    c->neg.renewed)
		return false;
	c->neg.renewed = true;
	client_note(c, CLEAT_LOG_NOTICE,
		    "the server lost the session as it began; another one is begun");
	initialize(c);
	return true;
}

/* ---- the beginning -------------------------------------------------------------------------- */

void negotiate_begin(cleat_client *c)
{
	bool legacy_first = c->neg.verdict == CLEAT_ERA_LEGACY || c->neg.skip_probe;

	c->neg.offer = c->neg.may.best_legacy;
	if (c->neg.may.modern && !(c->neg.may.legacy && legacy_first))
		discover(c);
	else
		initialize(c);
}
