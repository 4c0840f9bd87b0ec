/* endpoint/post.c - whose message a POST is: of 2026-07-28, of a session, or of none. The header decides; where it
 * says nothing, a look at the body does, without reading it as a whole.
 */
#include "endpoint/impl.h"

#include "protocol/era.h"
#include "json/skim.h"

/* What a body is that comes without a session and without a modern header. */
enum body { BODY_INITIALIZE, BODY_MODERN, BODY_OTHER };

/* At the value of "params". */
static bool names_version(struct skim *s)
{
	bool found = false;
	struct str key;

	if (!skim_enter(s, '{')) {
		skim_value(s);
		return false;
	}
	while (skim_member(s, &key)) {
		if (!skim_is(key, "_meta") || !skim_enter(s, '{')) {
			skim_value(s);
			continue;
		}
		while (skim_member(s, &key)) {
			found |= skim_is(key, META_PROTOCOL_VERSION);
			skim_value(s);
		}
	}
	return found;
}

bool endpoint_listens(const struct endpoint *m, const struct http_request *r)
{
	static const char listen[] = "subscriptions/listen";
	struct str header = http_request_field(r, "mcp-method"), key;
	struct skim s = skim_text(r->body);
	bool found = false;

	if (header.p || !m->o.lenient_headers)
		return str_eqz(header, listen); /* the peer compares it with the message */
	if (!skim_enter(&s, '{'))
		return false;
	while (skim_member(&s, &key))
		found |= skim_is_text(skim_value(&s), listen) && skim_is(key, "method");
	return found;
}

static enum body look_at(struct str text)
{
	struct skim s = skim_text(text);
	bool initialize = false, modern = false;
	struct str key;

	if (!skim_enter(&s, '{'))
		skim_value(&s);
	else
		while (skim_member(&s, &key)) {
			if (skim_is(key, "params"))
				modern |= names_version(&s);
			else
				initialize |= skim_is_text(skim_value(&s), "initialize") &&
					      skim_is(key, "method");
		}
	if (modern || !skim_is_over(&s))
		return BODY_MODERN; /* its peer also says what is wrong with JSON that is none */
	return initialize ? BODY_INITIALIZE : BODY_OTHER;
}

static bool acceptable(struct endpoint *m, struct http_exchange *ex)
{
	const struct http_request *r = http_exchange_request(ex);
	struct endpoint_accept accept = endpoint_accept(m, r);

	/* whatever charset it says: JSON is UTF-8 (RFC 8259 section 8.1), and "utf8" is all over the place */
	if (!http_has_media_type(http_request_field(r, "content-type"), "application/json") ||
	    !http_request_field_is_single(r, "content-type"))
		endpoint_reply_error(m, ex, 415, CLEAT_RPC_INVALID_REQUEST,
				     "Content-Type must be application/json");
	else if (!accept.json && !accept.events)
		endpoint_reply_error(m, ex, 406, CLEAT_RPC_INVALID_REQUEST,
				     "Accept must have application/json and text/event-stream");
	else
		return true;
	return false;
}

/* Its header does not say that it is modern: that is an older revision's, or says nothing. (2025-11-25
 * basic/transports: without one and without a session "the server SHOULD assume [...] 2025-03-26".) */
static void post_legacy(struct endpoint *m, struct http_exchange *ex, struct str principal,
			struct str version)
{
	const struct http_request *r = http_exchange_request(ex);
	bool in_session = http_request_field(r, "mcp-session-id").p && !m->o.no_sessions;
	enum body body = in_session && !m->o.lenient_headers ? BODY_OTHER : look_at(r->body);

	if (body == BODY_MODERN)
		modern_post(m, ex, principal);
	else if (in_session)
		session_post(m, ex, principal);
	else if (m->o.no_sessions && !http_request_field_is_single(r, "mcp-protocol-version"))
		endpoint_reply_error(m, ex, 400, CLEAT_RPC_INVALID_REQUEST,
				     "MCP-Protocol-Version is there more than once");
	else if (m->o.no_sessions)
		modern_post_legacy(m, ex, principal,
				   version.p ? revision_find(version) : REV_2025_03_26);
	else if (body == BODY_INITIALIZE)
		session_open(m, ex, principal);
	else
		endpoint_reply_error(m, ex, 400, CLEAT_RPC_INVALID_REQUEST,
				     "Mcp-Session-Id is missing: begin with initialize, or send "
				     "MCP-Protocol-Version: 2026-07-28 with every request");
}

void endpoint_post(struct endpoint *m, struct http_exchange *ex, struct str principal)
{
	const struct http_request *r = http_exchange_request(ex);
	struct str version = http_request_field(r, "mcp-protocol-version");

	if (!acceptable(m, ex))
		return;
	if (m->stopping) {
		endpoint_reply_error(m, ex, 503, CLEAT_RPC_INTERNAL_ERROR,
				     "the server is stopping");
	} else if (version.p && revision_find(version) == REV_NONE &&
		   look_at(r->body) != BODY_MODERN) {
		endpoint_reply_version(m, ex, version);
	} else if (m->o.modern_only || revision_claims_modern(version)) {
		modern_post(m, ex, principal);
	} else {
		post_legacy(m, ex, principal, version);
	}
}
