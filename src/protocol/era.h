/* protocol/era.h - the two ways in which MCP is spoken, behind one interface.
 *
 * Legacy (up to 2025-11-25): an initialize handshake gives a session its revision and capabilities.
 * Modern (2026-07-28): every request carries them in _meta. A server serves both on one connection;
 * era_of() decides message by message, from how the client opens. What a request may rely on stands
 * in its `context`, filled by the era; nothing above asks which revision it is.
 */
#ifndef PROTOCOL_ERA_H
#define PROTOCOL_ERA_H

#include "protocol/peer.h"
#include "protocol/revision.h"
#include "rpc/message.h"
#include "json/writer.h"

#include <cleat/request.h>

struct era;

/* What one request is served under. Values are borrowed: from the request itself (modern) or from
 * the session (legacy). */
struct context {
	const struct era *era;
	enum revision rev;
	unsigned features;                  /* FEAT_* */
	const cleat_json *client_caps;      /* NULL: none declared */
	const cleat_json *client_info;      /* NULL: not given */
	const cleat_json *meta;             /* the request's _meta; NULL: none */
	const cleat_json *progress_token;   /* NULL: no progress wanted */
	int log_level;                      /* least level to send; -1: none wanted */
	const struct peer_headers *headers; /* of the message, while it is admitted; NULL: none */
};

/* The state of a legacy session; all-zero before initialize. */
struct legacy_session {
	bool open;          /* initialize was answered */
	bool initialized;   /* and notifications/initialized came */
	unsigned announced; /* lists whose changes the client was promised to hear of */
	enum revision rev;
	const cleat_json *client_caps;
	const cleat_json *client_info;
	int log_level; /* by logging/setLevel; debug at first would flood: nothing below it is cut */
};

/* Facts that a result carries in the modern era only. */
struct result_facts {
	bool cacheable; /* discover, lists and read */
	uint64_t ttl_ms;
	bool shared;                    /* cacheScope public */
	bool input_required;            /* resultType */
	struct str server_info;         /* Implementation, JSON */
	struct str meta;                /* further members of _meta: a JSON object, or absent */
	const cleat_json *subscription; /* the id of the subscription that ends; NULL: none */
};

struct era {
	bool modern;
	bool asks_by_result; /* questions are a result (input_required), not requests */
	int not_found_code;  /* of a resource */
	int cancelled_code;  /* of a request that the server gave up */
	int too_large_code;  /* of an answer over the limit */
	/* May this request be served now? Fills *c, whose meta is set. Otherwise CLEAT_EPROTO with rpc_code and message
	 * in *err, and JSON text for `data` in *data when there is any. */
	int (*admit)(const struct legacy_session *session, const struct rpc_message *m,
		     struct context *c, struct buf *data, cleat_error *err);
	/* The members that are at the beginning and at the end of a result object. */
	void (*result_head)(struct jw *w, const struct result_facts *f);
	void (*result_tail)(struct jw *w, const struct result_facts *f);
};

extern const struct era era_legacy;
extern const struct era era_modern;

/* The keys of 2026-07-28 basic/index: _meta. */
#define META_PREFIX           "io.modelcontextprotocol/"
#define META_PROTOCOL_VERSION META_PREFIX "protocolVersion"
#define META_CLIENT_INFO      META_PREFIX "clientInfo"
#define META_CLIENT_CAPS      META_PREFIX "clientCapabilities"
#define META_LOG_LEVEL        META_PREFIX "logLevel"
#define META_SUBSCRIPTION     META_PREFIX "subscriptionId"
#define META_SERVER_INFO      META_PREFIX "serverInfo"

/* params._meta, NULL when absent. */
const cleat_json *era_meta(const struct rpc_message *m);
/* Which era a request or notification with this _meta (era_meta) belongs to. */
const struct era *era_of(const struct legacy_session *session, const struct rpc_message *m,
			 const cleat_json *meta);

/* Checks that both eras share: c->meta, if any, is an object with clean keys, progressToken is a
 * string or an integer. Sets c->progress_token. */
int era_check_meta(const struct rpc_message *m, struct context *c, cleat_error *err);

/* May the client be asked this? */
bool era_client_can(const struct context *c, enum cleat_client_capability what);
/* The same as JSON, for -32021's requiredCapabilities: {"elicitation":{"form":{}}}. */
const char *era_capability_json(enum cleat_client_capability what);
/* In words: "form elicitation". */
const char *era_capability_name(enum cleat_client_capability what);

/* "debug" … "emergency" to its number; -1 when it is not a level. */
int log_level_find(struct str name);

#endif
