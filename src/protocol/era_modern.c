/* protocol/era_modern.c - 2026-07-28: no handshake, every request stands alone.
 *
 * Version, capabilities and log level come with each request's _meta; nothing is remembered from an
 * earlier one. Every result says what it is (resultType), who sent it, and for how long it is good.
 */
#include "base/error.h"
#include "protocol/era.h"
#include "protocol/headers.h"
#include "json/parse.h"

#include <string.h>

static void write_versions(struct str requested, struct buf *data)
{
	struct jw w;

	jw_init(&w, data);
	jw_obj(&w);
	jw_key(&w, "supported");
	jw_arr(&w);
	jw_strz(&w, revision_name(REV_MODERN));
	jw_arr_end(&w);
	jw_key(&w, "requested");
	jw_str(&w, requested.p ? requested : STR_LIT(""));
	jw_obj_end(&w);
}

static int refuse_version(struct str requested, struct buf *data, cleat_error *err)
{
	write_versions(requested, data);
	return error_rpc(
		err, CLEAT_EPROTO, CLEAT_RPC_UNSUPPORTED_VERSION,
		"Unsupported protocol version %.*s in _meta; this server speaks %s there, and "
		"2024-11-05 to 2025-11-25 after initialize",
		(int)(requested.n < 40 ? requested.n : 40), requested.p, revision_name(REV_MODERN));
}

/* Where only this era is spoken. */
static int refuse_initialize(const struct rpc_message *m, struct buf *data, cleat_error *err)
{
	write_versions(json_str(json_member(m->params, "protocolVersion")), data);
	return error_rpc(
		err, CLEAT_EPROTO, CLEAT_RPC_UNSUPPORTED_VERSION,
		"there are no sessions here, and no initialize: every request of %s stands "
		"alone",
		revision_name(REV_MODERN));
}

static int missing_key(const char *key, const struct rpc_message *m, cleat_error *err)
{
	return error_rpc(
		err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
		"%.*s: params._meta[\"%s\"] is missing; every request of 2026-07-28 carries it "
		"(older clients send initialize first)",
		(int)(m->method.n < 60 ? m->method.n : 60), m->method.p, key);
}

static int wrong_type(const char *key, const char *want, const cleat_json *got, cleat_error *err)
{
	return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
			 "params._meta[\"%s\"] must be %s, not %s", key, want, json_type_name(got));
}

static int check_log_level(struct context *c, cleat_error *err)
{
	const cleat_json *level = json_member(c->meta, META_LOG_LEVEL);

	if (!level)
		return CLEAT_OK;
	c->log_level = log_level_find(json_str(level));
	if (c->log_level >= 0)
		return CLEAT_OK;
	return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_PARAMS,
			 "params._meta[\"" META_LOG_LEVEL "\"] must be one of debug, info, notice, "
			 "warning, error, critical, alert, emergency");
}

static int admit(const struct legacy_session *session, const struct rpc_message *m,
		 struct context *c, struct buf *data, cleat_error *err)
{
	const cleat_json *version;
	int rc;

	(void)session;
	*c = (struct context){ .era = &era_modern,
			       .meta = c->meta,
			       .headers = c->headers,
			       .rev = REV_MODERN,
			       .log_level = -1 };
	c->features = revision_features(REV_MODERN);
	rc = era_check_meta(m, c, err);
	if (rc)
		return rc;
	version = json_member(c->meta, META_PROTOCOL_VERSION);
	if (!version && str_eqz(m->method, "initialize"))
		return refuse_initialize(m, data, err);
	if (!version)
		return missing_key(META_PROTOCOL_VERSION, m, err);
	if (!json_is_string(version))
		return wrong_type(META_PROTOCOL_VERSION, "a string", version, err);
	rc = headers_check_version(c->headers, json_str(version), err);
	if (rc)
		return rc;
	if (revision_find(json_str(version)) != REV_MODERN)
		return refuse_version(json_str(version), data, err);
	c->client_caps = json_member(c->meta, META_CLIENT_CAPS);
	if (!c->client_caps)
		return missing_key(META_CLIENT_CAPS, m, err);
	if (!json_is_object(c->client_caps))
		return wrong_type(META_CLIENT_CAPS, "an object", c->client_caps, err);
	c->client_info = json_member(c->meta, META_CLIENT_INFO);
	if (c->client_info && !json_is_object(c->client_info))
		return wrong_type(META_CLIENT_INFO, "an object", c->client_info, err);
	rc = check_log_level(c, err);
	return rc ? rc : headers_check_request(c->headers, m, &data->mem, err);
}

static void result_head(struct jw *w, const struct result_facts *f)
{
	jw_kv_str(w, "resultType", f->input_required ? "input_required" : "complete");
}

static void result_tail(struct jw *w, const struct result_facts *f)
{
	if (f->cacheable) {
		jw_key(w, "ttlMs");
		jw_uint(w, f->ttl_ms);
		jw_kv_str(w, "cacheScope", f->shared ? "public" : "private");
	}
	jw_key(w, "_meta");
	jw_obj(w);
	if (f->subscription)
		jw_kv_value(w, META_SUBSCRIPTION, f->subscription);
	jw_kv_raw(w, META_SERVER_INFO, f->server_info);
	if (f->meta.n > 2) { /* splice the members of {...} in */
		jw_raw(w, (struct str){ f->meta.p + 1, f->meta.n - 2 });
	}
	jw_obj_end(w);
}

const struct era era_modern = {
	.modern = true,
	.asks_by_result = true,
	.not_found_code = CLEAT_RPC_INVALID_PARAMS,
	.cancelled_code = CLEAT_RPC_INTERNAL_ERROR,
	.too_large_code = CLEAT_RPC_INTERNAL_ERROR,
	.admit = admit,
	.result_head = result_head,
	.result_tail = result_tail,
};
