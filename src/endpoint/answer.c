/* endpoint/answer.c - what the endpoint itself answers, without asking a peer: errors, refusals, and the fields that
 * browsers want in every answer. See impl.h.
 */
#include "endpoint/impl.h"

#include "protocol/revision.h"
#include "json/writer.h"

#include <stdio.h>

enum { FIELDS_MAX = 8, KEEP_BUF = 64 * 1024 };

static const struct str json_type = { "application/json", 16 };

void endpoint_reply(struct endpoint *m, struct http_exchange *ex, int status, struct str type,
		    struct str body, const struct http_field *extra, size_t n_extra)
{
	struct http_field fields[FIELDS_MAX];
	size_t n = policy_cors_fields(&m->o.policy, http_exchange_request(ex), false, fields);

	for (size_t i = 0; i < n_extra && n < FIELDS_MAX; i++)
		fields[n++] = extra[i];
	http_exchange_reply(ex, status, type, fields, n, body);
}

void endpoint_reply_empty(struct endpoint *m, struct http_exchange *ex, int status)
{
	endpoint_reply(m, ex, status, (struct str){ 0 }, STR_LIT(""), NULL, 0);
}

static void reply_error(struct endpoint *m, struct http_exchange *ex, int status, int code,
			const char *text, const struct http_field *extra, size_t n_extra)
{
	struct buf b;
	struct jw w;

	buf_init(&b, &m->mem, KEEP_BUF);
	jw_init(&w, &b);
	jw_format(&w, NULL, "{jsonrpc: '2.0', error: {code: %d, message: %s}}", code, text);
	endpoint_reply(m, ex, status, json_type, buf_status(&b) ? STR_LIT("") : buf_str(&b), extra,
		       n_extra);
	buf_done(&b);
}

void endpoint_reply_error(struct endpoint *m, struct http_exchange *ex, int status, int code,
			  const char *fmt, ...)
{
	static const struct http_field later = { { "Retry-After", 11 }, { "1", 1 } };
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	reply_error(m, ex, status, code, text, &later, status == 503 || status == 429);
}

void endpoint_reply_lost(struct endpoint *m, struct http_exchange *ex)
{
	endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
			     "out of memory; try again later");
}

void endpoint_reply_not_allowed(struct endpoint *m, struct http_exchange *ex, const char *allow)
{
	const struct http_field field = { STR_LIT("Allow"), str_of(allow) };

	reply_error(m, ex, 405, CLEAT_RPC_INVALID_REQUEST, "this method is not used here", &field,
		    1);
}

void endpoint_reply_unauthorized(struct endpoint *m, struct http_exchange *ex)
{
	static const struct http_field ask = { { "WWW-Authenticate", 16 }, { "Bearer", 6 } };

	reply_error(m, ex, 401, CLEAT_RPC_INVALID_REQUEST,
		    "a valid token is needed: Authorization: Bearer TOKEN", &ask, 1);
}

/* Otherwise a request of no revision that we know would be told what it lacks of one that we do. */
void endpoint_reply_version(struct endpoint *m, struct http_exchange *ex, struct str version)
{
	char text[256];
	struct buf b;
	struct jw w;

	buf_init(&b, &m->mem, KEEP_BUF);
	jw_init(&w, &b);
	snprintf(text, sizeof text,
		 "MCP-Protocol-Version: \"%.*s\" is not a revision that this server speaks",
		 (int)endpoint_shown(version).n, version.p);
	jw_obj(&w);
	jw_kv_str(&w, "jsonrpc", "2.0");
	jw_key(&w, "error");
	jw_obj(&w);
	jw_key(&w, "code");
	jw_int(&w, CLEAT_RPC_UNSUPPORTED_VERSION);
	jw_kv_str(&w, "message", text);
	jw_key(&w, "data");
	jw_obj(&w);
	jw_key(&w, "supported");
	jw_arr(&w);
	for (int rev = 0; rev < REV_COUNT; rev++)
		if (revision_is_modern(rev) || !m->o.modern_only)
			jw_strz(&w, revision_name(rev));
	jw_arr_end(&w);
	jw_key(&w, "requested");
	jw_str(&w, endpoint_shown(version));
	jw_obj_end(&w);
	jw_obj_end(&w);
	jw_obj_end(&w);
	endpoint_reply(m, ex, 400, json_type, buf_status(&b) ? STR_LIT("") : buf_str(&b), NULL, 0);
	buf_done(&b);
}
