/* link/http_fields.c - what is in the header of a request: the protocol's fields and those
 * that were configured; and the checks of addresses and ids that go with them.
 *
 * A configured header never replaces one that the protocol, or HTTP itself, needs. Nothing that a server
 * or a program says gets into a header without being checked for characters that end a line.
 */
#include "link/http_impl.h"
#include "protocol/headers.h"
#include "uri/reference.h"

enum { CONFIGURED_MAX = 100, VALUE_MAX = 16 << 10 };

/* ---- addresses and ids ------------------------------------------------------------------------ */

bool link_http_id_good(struct str id)
{
	for (size_t i = 0; i < id.n; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7E)
			return false;
	return id.n > 0 && id.n <= LINK_HTTP_ID_MAX;
}

bool link_http_url_good(struct str url, cleat_error *err)
{
	struct uri u;

	if (!url.p || !uri_split(url, 0, &u) || !u.scheme.p ||
	    (!str_samez(u.scheme, "http") && !str_samez(u.scheme, "https")) || u.host.n == 0)
		error_set(err, CLEAT_EINVAL, "\"%.*s\" is not an http: or https: URL",
			  (int)(url.n < 100 ? url.n : 100), url.p ? url.p : "");
	else if (u.userinfo.p)
		error_set(err, CLEAT_EINVAL,
			  "a URL must not have a user or password in it; give a header or a bearer "
			  "token");
	else
		return true;
	return false;
}

/* ---- configured headers ----------------------------------------------------------------------- */

/* What HTTP, fetch/fetcher.h or the protocol decides about. */
static bool is_ours(struct str name)
{
	static const char *const ours[] = { "accept",
					    "accept-encoding",
					    "connection",
					    "content-encoding",
					    "content-length",
					    "content-type",
					    "expect",
					    "host",
					    "keep-alive",
					    "last-event-id",
					    "mcp-method",
					    "mcp-name",
					    "mcp-protocol-version",
					    "mcp-session-id",
					    "proxy-connection",
					    "te",
					    "trailer",
					    "transfer-encoding",
					    "upgrade" };
	static const char params[] = "mcp-param-";

	for (size_t i = 0; i < CLEAT_COUNT(ours); i++)
		if (str_samez(name, ours[i]))
			return true;
	return name.n >= sizeof params - 1 &&
	       str_samez((struct str){ name.p, sizeof params - 1 }, params);
}

/* The text itself may be a secret, so messages show nothing but the name. */
static int configure_field(struct link_http *l, const char *text, cleat_error *err)
{
	struct http_field f;

	if (!http_field_split(str_of(text), &f))
		return error_set(
			err, CLEAT_EINVAL,
			"a header has to be \"Name: value\", with a name of letters, digits "
			"and hyphens");
	if (!http_is_field_value(f.value) || f.value.n > VALUE_MAX)
		return error_set(
			err, CLEAT_EINVAL,
			"the header %.60s has a value that cannot be sent: control characters, "
			"or too long",
			text);
	if (is_ours(f.name))
		return error_set(
			err, CLEAT_EINVAL,
			"the header %.*s cannot be configured: the protocol decides about it",
			(int)(f.name.n < 60 ? f.name.n : 60), f.name.p);
	if (str_samez(f.name, "authorization")) {
		if (l->authorized)
			return error_set(err, CLEAT_EINVAL,
					 "there are two values for the header Authorization; give "
					 "either a bearer token or the header");
		l->authorized = true;
	}
	http_field_keep(&l->configured, f.name, f.value);
	return CLEAT_OK;
}

/* RFC 6750 section 2.1: b64token. Whoever issues something else still means a token without spaces. */
static int configure_bearer(struct link_http *l, const char *bearer, cleat_error *err)
{
	struct str token = str_of(bearer);

	for (size_t i = 0; i < token.n; i++)
		if (token.p[i] < 0x21 || token.p[i] > 0x7E)
			token.n = 0;
	if (token.n == 0 || token.n > VALUE_MAX)
		return error_set(
			err, CLEAT_EINVAL,
			"the bearer token is empty, too long, or has characters that no token "
			"has (a line end, perhaps)");
	http_field_add(&l->configured, STR_LIT("Authorization"),
		       str_of(arena_printf(&l->own, "Bearer %s", bearer)));
	l->authorized = true;
	return CLEAT_OK;
}

int link_http_configure(struct link_http *l, const struct link_http_options *o, cleat_error *err)
{
	int rc = CLEAT_OK;

	if (o->bearer)
		rc = configure_bearer(l, o->bearer, err);
	for (size_t i = 0; o->headers && o->headers[i] && rc == CLEAT_OK; i++)
		rc = i < CONFIGURED_MAX
			     ? configure_field(l, o->headers[i], err)
			     : error_set(err, CLEAT_EINVAL, "there are more than %d headers",
					 CONFIGURED_MAX);
	if (rc == CLEAT_OK && arena_failed(&l->own))
		rc = error_set(err, CLEAT_ENOMEM, "out of memory");
	return rc;
}

/* ---- the fields of one request ---------------------------------------------------------------- */

int link_http_fields(const struct exch *x, const struct link_message *m, struct http_field_list *to,
		     cleat_error *err)
{
	const struct link_http *l = x->l;
	enum revision rev = m ? m->rev : l->rev;
	int rc = CLEAT_OK;

	if (m)
		http_field_add(to, STR_LIT("Content-Type"), STR_LIT("application/json"));
	if (m)
		http_field_add(to, STR_LIT("Accept"),
			       STR_LIT("application/json, text/event-stream"));
	else if (x->kind != EXCH_DELETE)
		http_field_add(to, STR_LIT("Accept"), STR_LIT("text/event-stream"));
	/* 2025-06-18: on all requests after initialize. Older servers do not look at it. */
	if (rev != REV_NONE && !x->initialize && x->kind != EXCH_OLD)
		http_field_add(to, STR_LIT("MCP-Protocol-Version"), str_of(revision_name(rev)));
	if (x->in_session && l->session)
		http_field_add(to, STR_LIT("Mcp-Session-Id"), str_of(l->session));
	if (!m && buf_size(&x->last_id))
		http_field_add(to, STR_LIT("Last-Event-ID"), buf_str(&x->last_id));
	if (m && m->modern)
		rc = headers_of(m, to, err);
	for (size_t i = 0; i < l->configured.n; i++)
		http_field_add(to, l->configured.at[i].name, l->configured.at[i].value);
	if (rc == CLEAT_OK && arena_failed(to->ar))
		rc = error_set(err, CLEAT_ENOMEM, "there is no memory for a request's header");
	return rc;
}
