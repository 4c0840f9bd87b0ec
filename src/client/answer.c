/* client/answer.c - what an answer means for its call: the end, another round, another page, or the same
 * request once more.
 *
 * Also what is kept of results (2026-07-28 server/utilities/caching): which methods, under which key.
 */
#include "client/state.h"

#include "base/error.h"
#include "json/parse.h"

/* ---- the cache ------------------------------------------------------------------------------ */

static bool cacheable(const cleat_call *call)
{
	static const char *const methods[] = {
		"server/discover",          "tools/list",    "prompts/list", "resources/list",
		"resources/templates/list", "resources/read"
	};

	/* what nearly every call is */
	if (call->shape == RESULT_TOOL)
		return false;
	for (size_t i = 0; i < CLEAT_COUNT(methods); i++)
		if (str_eqz(call->method, methods[i]))
			return true;
	return false;
}

void answer_set_key(cleat_call *call, const cleat_json *params)
{
	cleat_client *c = call->client;
	struct buf key = BUF_INIT(&c->mem, MAX_OUT);

	call->cache_key = (struct str){ NULL, 0 };
	call->changes = c->changes;
	if (!c->cache || !cacheable(call) || json_member(params, "inputResponses") ||
	    json_member(params, "requestState"))
		return;
	if (cache_params(&key, params, &c->mem) == CLEAT_OK) {
		call->cache_key.p = arena_strndup(&call->arena, buf_str(&key).p, buf_size(&key));
		call->cache_key.n = call->cache_key.p ? buf_size(&key) : 0;
	}
	buf_done(&key);
}

cleat_result *answer_cached(cleat_call *call)
{
	cleat_client *c = call->client;
	const cleat_json *value;
	struct str text;
	cleat_result *r;

	if (!call->cache_key.p || call->opts.no_cache)
		return NULL;
	text = cache_get(c->cache, call->method, call->cache_key, client_now(c));
	if (!text.p)
		return NULL;
	/* kept as text: half the memory of values, and the limit of a cache is in bytes */
	r = result_new(&c->mem, call->shape);
	if (!r || json_parse(&r->arena, text, &c->opts.json, &value, NULL) != CLEAT_OK) {
		cleat_result_free(r);
		return NULL;
	}
	result_set(r, value);
	r->cached = true;
	return r;
}

/* A result that took questions and answers depends on them: it MUST NOT be kept. Over HTTP one may be
 * overtaken by the notification that makes it stale. */
static bool may_keep(const cleat_call *call)
{
	const cleat_client *c = call->client;

	return c->modern && call->cache_key.p && !call->rounds && call->changes == c->changes;
}

static void answer_keep(cleat_call *call, const cleat_json *value)
{
	cleat_client *c = call->client;
	uint64_t ttl = may_keep(call) ? cache_ttl(value) : 0;
	struct buf text = BUF_INIT(&c->mem, MAX_OUT);
	struct jw w;

	if (!ttl)
		return;
	jw_init(&w, &text);
	jw_value(&w, value);
	if (buf_status(&text) == CLEAT_OK)
		cache_put(c->cache, call->method, call->cache_key, buf_str(&text),
			  client_now(c) + ttl);
	buf_done(&text);
}

/* ---- results -------------------------------------------------------------------------------- */

static COLD void protocol_error(cleat_call *call, cleat_result *r, const char *what)
{
	cleat_result_free(r);
	call_fail(call, CLEAT_STEP_PROTOCOL, CLEAT_EPROTO, "%s", what);
}

static bool may_ask(const cleat_call *call)
{
	return call->shape == RESULT_TOOL || call->shape == RESULT_PROMPT ||
	       call->shape == RESULT_RESOURCE;
}

/* 2026-07-28 basic/index, Responses: a result without resultType is complete; one that is not known is an
 * error. True: `r` is taken. */
static bool not_complete(cleat_call *call, cleat_result *r, const cleat_json *value)
{
	const cleat_json *type = json_member(value, "resultType");

	if (!call->client->modern || !type || str_eqz(json_str(type), "complete"))
		return false;
	if (!str_eqz(json_str(type), "input_required"))
		protocol_error(call, r, "the server's result has a resultType that is not known");
	else if (!may_ask(call))
		protocol_error(call, r,
			       "the server wants input for a method that cannot ask for any");
	else
		rounds_begin(call, r, value);
	return true;
}

/* Does a tool's result keep what its outputSchema promised? */
static void check_tool(cleat_call *call, cleat_result *r)
{
	cleat_error err;

	if (call->shape != RESULT_TOOL || r->error.status != CLEAT_OK)
		return;
	if (toolbook_check(call->client->tools, call->name, r->raw, &err) == CLEAT_OK)
		return;
	error_set(&err, err.status, "tools/call %.*s: %s",
		  (int)(call->name.n < 60 ? call->name.n : 60), call->name.p, err.message);
	result_fail(r, CLEAT_STEP_PROTOCOL, r->http_status, &err);
}

void answer_result(cleat_call *call, cleat_result *r, const cleat_json *value, int http_status)
{
	cleat_client *c = call->client;

	r->http_status = http_status;
	if (!call->done)
		c->sessions_lost = 0;
	if (!json_is_object(value)) {
		result_set(r, value);
		call_end(call, r);
		return;
	}
	if (json_check_keys(value, NULL) != CLEAT_OK) {
		protocol_error(call, r, "a key appears twice in the server's result");
		return;
	}
	if (not_complete(call, r, value))
		return;
	if (str_eqz(call->method, "tools/list")) {
		value = tools_learn(call, r, value);
		if (!value) {
			cleat_result_free(r);
			call_end(call, NULL);
			return;
		}
	}
	answer_keep(call, value);
	result_set(r, value);
	check_tool(call, r);
	if (call->pages)
		pages_take(call, r);
	else
		call_end(call, r);
}

/* ---- errors --------------------------------------------------------------------------------- */

/* 2026-07-28 basic/versioning: select a mutually supported version and retry. Only one modern revision
 * is known here, so that is the same one once more; a server that has only legacy ones is another one
 * than it was. */
static bool retry_version(cleat_call *call, const cleat_result *r)
{
	cleat_client *c = call->client;
	enum revision rev;

	if (!c->modern || r->error.rpc_code != CLEAT_RPC_UNSUPPORTED_VERSION ||
	    call->retried_version || call->done)
		return false;
	rev = negotiation_pick(&c->neg, json_member(r->error_data, "supported"));
	if (rev == REV_NONE)
		return false;
	call->retried_version = true;
	if (!revision_is_modern(rev))
		negotiation_suspect(&c->neg);
	call_send(call);
	return true;
}

/* 2026-07-28 streamable-http, Custom Headers: on HeaderMismatch the client SHOULD read the list of tools
 * anew and retry, for the tool may have other annotations now. */
static bool retry_headers(cleat_call *call, const cleat_result *r)
{
	cleat_client *c = call->client;

	if (!c->modern || !c->link->http || call->shape != RESULT_TOOL || call->retried_headers ||
	    r->error.rpc_code != CLEAT_RPC_HEADER_MISMATCH)
		return false;
	call->retried_headers = true;
	tools_refresh(call);
	return true;
}

static bool has_cursor(const cleat_call *call)
{
	return call->pages ? pages_begun(call) : json_member(call->params, "cursor") != NULL;
}

/* What the server says is quoted, but what failed comes first. */
static void name_error(cleat_call *call, cleat_result *r)
{
	cleat_error said = r->error;
	char label[128];

	if (!call->done)
		error_rpc(&r->error, said.status, said.rpc_code, "%s: %s",
			  call_label(call, label, sizeof label), said.message);
}

void answer_error(cleat_call *call, cleat_result *r, const cleat_json *error, int http_status)
{
	result_set_error(r, http_status, error);
	if (!call->done)
		call->client->sessions_lost = 0;
	if (retry_version(call, r) || retry_headers(call, r)) {
		cleat_result_free(r);
		return;
	}
	/* A cursor that is not good any more: what is known of the other pages is not, either. */
	if (call->client->cache && cacheable(call) && has_cursor(call))
		cache_drop(call->client->cache, call->method, (struct str){ NULL, 0 });
	if (call->pages && pages_restart(call)) {
		cleat_result_free(r);
		return;
	}
	name_error(call, r);
	if (!visit_begin(call, r))
		call_end(call, r);
}
