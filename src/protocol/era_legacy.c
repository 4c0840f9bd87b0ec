/* protocol/era_legacy.c - 2024-11-05 to 2025-11-25: a session opened by initialize.
 *
 * Results carry nothing but what the method says; _meta is added only when a handler set one.
 */
#include "base/error.h"
#include "protocol/era.h"
#include "json/parse.h"

static int admit(const struct legacy_session *session, const struct rpc_message *m,
		 struct context *c, struct buf *data, cleat_error *err)
{
	bool opening = str_eqz(m->method, "initialize");

	(void)data;
	*c = (struct context){
		.era = &era_legacy, .meta = c->meta, .rev = session->rev, .log_level = -1
	};
	c->features = revision_features(session->rev);
	if (session->open) {
		c->client_caps = session->client_caps;
		c->client_info = session->client_info;
		c->log_level = session->log_level;
	}
	if (opening && session->open)
		return error_rpc(err, CLEAT_EPROTO, CLEAT_RPC_INVALID_REQUEST,
				 "this session is already initialized (revision %s)",
				 revision_name(session->rev));
	return era_check_meta(m, c, err);
}

static void result_head(struct jw *w, const struct result_facts *f)
{
	(void)w;
	(void)f;
}

static void result_tail(struct jw *w, const struct result_facts *f)
{
	jw_kv_raw(w, "_meta", f->meta);
}

const struct era era_legacy = {
	.modern = false,
	.asks_by_result = false,
	.not_found_code = CLEAT_RPC_RESOURCE_NOT_FOUND,
	.cancelled_code = CLEAT_RPC_REQUEST_CANCELLED,
	.too_large_code = CLEAT_RPC_CONTENT_TOO_LARGE,
	.admit = admit,
	.result_head = result_head,
	.result_tail = result_tail,
};
