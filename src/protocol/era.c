/* protocol/era.c - what the two eras share: telling them apart, and reading _meta and capabilities.
 *
 * 2026-07-28 basic/versioning: a request with modern _meta is served by that revision; initialize
 * selects the legacy era. A claim that is malformed is never taken for legacy silently.
 */
#include "protocol/era.h"

#include "base/cold.h"
#include "base/error.h"
#include "json/parse.h"

const cleat_json *era_meta(const struct rpc_message *m)
{
	return json_is_object(m->params) ? json_member(m->params, "_meta") : NULL;
}

const struct era *era_of(const struct legacy_session *session, const struct rpc_message *m,
			 const cleat_json *meta)
{
	if (meta && json_member(meta, META_PROTOCOL_VERSION))
		return &era_modern;
	if (session->open || str_eqz(m->method, "initialize") || str_eqz(m->method, "ping"))
		return &era_legacy;
	/* Only the modern era has a word for a request that comes out of nowhere: -32602, with the
	 * missing keys named. */
	return &era_modern;
}

/* Members that the protocol gives a meaning, in any request. */
static const struct str param_names[] = { STR_INIT("_meta"),           STR_INIT("name"),
					  STR_INIT("arguments"),       STR_INIT("uri"),
					  STR_INIT("cursor"),          STR_INIT("level"),
					  STR_INIT("requestState"),    STR_INIT("ref"),
					  STR_INIT("argument"),        STR_INIT("inputResponses"),
					  STR_INIT("context"),         STR_INIT("notifications"),
					  STR_INIT("protocolVersion"), STR_INIT("capabilities"),
					  STR_INIT("clientInfo"),      STR_INIT("requestId") };
static const struct str meta_names[] = {
	STR_INIT("progressToken"),  STR_INIT(META_PROTOCOL_VERSION), STR_INIT(META_CLIENT_INFO),
	STR_INIT(META_CLIENT_CAPS), STR_INIT(META_LOG_LEVEL),        STR_INIT(META_SUBSCRIPTION)
};

/* The position of a name that is ours, n for any other. */
static size_t position(struct str key, const struct str names[], size_t n)
{
	size_t i = 0;

	while (i < n && (names[i].n != key.n || memcmp(names[i].p, key.p, key.n) != 0))
		i++;
	return i;
}

/* Only members of ours, each once: what nearly every request has. */
static bool is_plain(const cleat_json *obj, const struct str names[], size_t n)
{
	cleat_json_iter it = cleat_json_each(obj);
	unsigned long seen = 0;

	while (cleat_json_next(&it)) {
		size_t i = position(json_str(it.key), names, n);

		if (i == n || (seen >> i & 1))
			return false;
		seen |= 1ul << i;
	}
	return true;
}

/* A gateway or log reader that folds case would take "Name" for "name": neither may be there. */
static COLD int check_members(const cleat_json *obj, const struct str names[], size_t n,
			      const char *where, cleat_error *err)
{
	cleat_json_iter it = cleat_json_each(obj);
	cleat_error why;

	if (json_check_keys(obj, &why))
		return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS, "%s: %s", where,
				 why.message);
	while (cleat_json_next(&it))
		for (size_t i = 0; i < n; i++)
			if (str_lookalike(json_str(it.key), names[i].p))
				return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
						 "%s: a member looks like \"%s\" but is not", where,
						 names[i].p);
	return CLEAT_OK;
}

int era_check_meta(const struct rpc_message *m, struct context *c, cleat_error *err)
{
	const cleat_json *meta = c->meta, *token;
	const size_t n_params = CLEAT_COUNT(param_names), n_meta = CLEAT_COUNT(meta_names);

	if (!m->params)
		return CLEAT_OK;
	if (!is_plain(m->params, param_names, n_params) &&
	    check_members(m->params, param_names, n_params, "params", err))
		return CLEAT_EPROTO;
	if (!meta)
		return CLEAT_OK;
	if (!json_is_object(meta))
		return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
				 "params._meta must be an object, not %s", json_type_name(meta));
	if (!is_plain(meta, meta_names, n_meta) &&
	    check_members(meta, meta_names, n_meta, "params._meta", err))
		return CLEAT_EPROTO;
	token = json_member(meta, "progressToken");
	if (token && !json_is_string(token) && !cleat_json_is_integer(token))
		return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
				 "progressToken must be a string or an integer, not %s",
				 json_type_name(token));
	c->progress_token = token;
	return CLEAT_OK;
}

bool era_client_can(const struct context *c, enum cleat_client_capability what)
{
	const cleat_json *elicitation = json_member(c->client_caps, "elicitation");
	const cleat_json *sampling = json_member(c->client_caps, "sampling");

	switch (what) {
	case CLEAT_CLIENT_FORM:
		/* 2025-11-25 client/elicitation: an empty object means form mode only. */
		return (c->features & FEAT_ELICITATION) && json_is_object(elicitation) &&
		       (json_member(elicitation, "form") || !json_member(elicitation, "url"));
	case CLEAT_CLIENT_URL:
		return (c->features & FEAT_ELICITATION_MODES) &&
		       json_is_object(json_member(elicitation, "url"));
	case CLEAT_CLIENT_SAMPLING: return json_is_object(sampling);
	case CLEAT_CLIENT_SAMPLING_TOOLS:
		return (c->features & FEAT_SAMPLING_TOOLS) &&
		       json_is_object(json_member(sampling, "tools"));
	case CLEAT_CLIENT_ROOTS: return json_is_object(json_member(c->client_caps, "roots"));
	}
	return false;
}

const char *era_capability_json(enum cleat_client_capability what)
{
	switch (what) {
	case CLEAT_CLIENT_FORM: return "{\"elicitation\":{\"form\":{}}}";
	case CLEAT_CLIENT_URL: return "{\"elicitation\":{\"url\":{}}}";
	case CLEAT_CLIENT_SAMPLING: return "{\"sampling\":{}}";
	case CLEAT_CLIENT_SAMPLING_TOOLS: return "{\"sampling\":{\"tools\":{}}}";
	case CLEAT_CLIENT_ROOTS: return "{\"roots\":{}}";
	}
	return "{}";
}

const char *era_capability_name(enum cleat_client_capability what)
{
	switch (what) {
	case CLEAT_CLIENT_FORM: return "form elicitation";
	case CLEAT_CLIENT_URL: return "URL elicitation";
	case CLEAT_CLIENT_SAMPLING: return "sampling";
	case CLEAT_CLIENT_SAMPLING_TOOLS: return "sampling with tools";
	case CLEAT_CLIENT_ROOTS: return "roots";
	}
	return "this";
}

int log_level_find(struct str name)
{
	for (int level = CLEAT_LOG_DEBUG; level <= CLEAT_LOG_EMERGENCY; level++)
		if (str_eqz(name, cleat_log_level_name(level)))
			return level;
	return -1;
}
