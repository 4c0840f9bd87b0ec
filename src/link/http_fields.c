/* link/http_fields.c - what stands in the header of a request: the protocol's fields and those
 * that were configured; and the checks of addresses and ids that go with them.
 *
 * A configured header never replaces one that the protocol, or HTTP itself, needs. Nothing that a server
 * or a program says gets into a header without being checked for characters that end a line.
 */
#include "base/mem.h"
#include "http/field.h"
#include "http/token.h"
#include "link/http_impl.h"
#include "uri/reference.h"

enum { LINES_MAX = 100, LINE_MAX_BYTES = 16 << 10 };

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
		error_set(err, CLEAT_EINVAL, "\"%.*s\" is no http: or https: URL",
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

static bool is_field_value(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7F)
			return false;
	return s.n <= LINE_MAX_BYTES;
}

static int add_line(struct link_http *l, struct str name, struct str value, cleat_error *err)
{
	struct buf line;
	int rc;

	buf_init(&line, &l->mem, LINE_MAX_BYTES * 2);
	buf_append(&line, name.p, name.n);
	buf_appendz(&line, ": ");
	buf_append(&line, value.p, value.n);
	rc = buf_status(&line);
	if (rc == CLEAT_OK) {
		l->lines[l->n_lines] = mem_strndup(&l->mem, buf_str(&line).p, buf_size(&line));
		rc = l->lines[l->n_lines] ? CLEAT_OK : CLEAT_ENOMEM;
	}
	buf_done(&line);
	if (rc)
		return error_set(err, rc, "a header cannot be kept: %s", cleat_strstatus(rc));
	l->n_lines++;
	return CLEAT_OK;
}

/* The text itself may be a secret, so messages show nothing but the name. */
static int configure_line(struct link_http *l, const char *text, cleat_error *err)
{
	const char *colon = strchr(text, ':');
	struct str name = { text, colon ? (size_t)(colon - text) : 0 };
	struct str value = http_trim(str_of(colon ? colon + 1 : ""));

	if (!http_is_token(name))
		return error_set(
			err, CLEAT_EINVAL,
			"a header has to be \"Name: value\", with a name of letters, digits "
			"and hyphens");
	if (!is_field_value(value))
		return error_set(
			err, CLEAT_EINVAL,
			"the header %.60s has a value that cannot be sent: control characters, "
			"or too long",
			text);
	if (is_ours(name))
		return error_set(
			err, CLEAT_EINVAL,
			"the header %.*s cannot be configured: the protocol decides about it",
			(int)(name.n < 60 ? name.n : 60), name.p);
	if (str_samez(name, "authorization")) {
		if (l->authorized)
			return error_set(err, CLEAT_EINVAL,
					 "there are two values for the header Authorization; give "
					 "either a bearer token or the header");
		l->authorized = true;
	}
	return add_line(l, name, value, err);
}

/* RFC 6750 section 2.1: b64token. Whoever issues something else still means a token without spaces. */
static int configure_bearer(struct link_http *l, const char *bearer, cleat_error *err)
{
	struct str token = str_of(bearer), name = STR_LIT("Authorization");
	struct buf value;
	int rc;

	for (size_t i = 0; i < token.n; i++)
		if (token.p[i] < 0x21 || token.p[i] > 0x7E)
			token.n = 0;
	if (token.n == 0 || token.n > LINE_MAX_BYTES)
		return error_set(
			err, CLEAT_EINVAL,
			"the bearer token is empty, too long, or has characters that no token "
			"has (a line end, perhaps)");
	buf_init(&value, &l->mem, LINE_MAX_BYTES + 16);
	buf_appendz(&value, "Bearer ");
	buf_append(&value, token.p, token.n);
	rc = buf_status(&value);
	rc = rc ? error_set(err, rc, "the bearer token cannot be kept: %s", cleat_strstatus(rc))
		: add_line(l, name, buf_str(&value), err);
	buf_done(&value);
	l->authorized = true;
	return rc;
}

int link_http_configure(struct link_http *l, const struct link_http_options *o, cleat_error *err)
{
	size_t n = 0;
	int rc = CLEAT_OK;

	while (o->headers && o->headers[n])
		n++;
	if (n > LINES_MAX)
		return error_set(err, CLEAT_EINVAL, "there are more than %d headers", LINES_MAX);
	l->lines = mem_zalloc(&l->mem, (n + 1) * sizeof *l->lines);
	if (!l->lines)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	if (o->bearer)
		rc = configure_bearer(l, o->bearer, err);
	for (size_t i = 0; i < n && rc == CLEAT_OK; i++)
		rc = configure_line(l, o->headers[i], err);
	return rc;
}

/* ---- the fields of one request ---------------------------------------------------------------- */

static void put_field(struct buf *b, const char *name, struct str value)
{
	buf_appendz(b, name);
	buf_appendz(b, ": ");
	buf_append(b, value.p, value.n);
	buf_putc(b, '\0');
}

/* 2026-07-28 streamable-http, "Custom Headers from Tool Parameters", "Value Encoding". */
static int put_encoded(struct buf *b, struct str name, struct str value)
{
	if (!http_is_token(name))
		return CLEAT_EINVAL;
	buf_append(b, name.p, name.n);
	buf_appendz(b, ": ");
	if (value.n) /* an empty value is as safe as any, though the encoding has one for it */
		http_sentinel_encode(value, b);
	buf_putc(b, '\0');
	return CLEAT_OK;
}

/* "Standard Request Headers": the method is sent as it is; there is no encoding for it. */
int link_http_mirror(struct buf *b, const struct link_message *m, cleat_error *err)
{
	int rc = CLEAT_OK;

	if (m->method.p) {
		if (!link_http_id_good(m->method))
			return error_set(
				err, CLEAT_EINVAL,
				"the method cannot be named in a header, as 2026-07-28 wants it");
		put_field(b, "Mcp-Method", m->method);
	}
	if (m->name.p)
		put_encoded(b, STR_LIT("Mcp-Name"), m->name);
	for (size_t i = 0; i < m->n_fields && rc == CLEAT_OK; i++)
		rc = put_encoded(b, m->fields[i].name, m->fields[i].value);
	return rc ? error_set(err, rc, "a header of this tool has a name that is none") : CLEAT_OK;
}

int link_http_fields(const struct exch *x, const struct link_message *m, struct buf *out,
		     cleat_error *err)
{
	const struct link_http *l = x->l;
	enum revision rev = m ? m->rev : l->rev;
	int rc = CLEAT_OK;

	if (m)
		put_field(out, "Content-Type", STR_LIT("application/json"));
	if (m)
		put_field(out, "Accept", STR_LIT("application/json, text/event-stream"));
	else if (x->kind != EXCH_DELETE)
		put_field(out, "Accept", STR_LIT("text/event-stream"));
	/* 2025-06-18: on all requests after initialize. Older servers do not look at it. */
	if (rev != REV_NONE && !x->initialize && x->kind != EXCH_OLD)
		put_field(out, "MCP-Protocol-Version", str_of(revision_name(rev)));
	if (x->in_session && l->session)
		put_field(out, "Mcp-Session-Id", str_of(l->session));
	if (!m && buf_size(&x->last_id))
		put_field(out, "Last-Event-ID", buf_str(&x->last_id));
	if (m && m->modern)
		rc = link_http_mirror(out, m, err);
	for (size_t i = 0; i < l->n_lines; i++)
		buf_append(out, l->lines[i], strlen(l->lines[i]) + 1);
	if (rc == CLEAT_OK && buf_status(out))
		rc = error_set(err, buf_status(out), "the header of a request cannot be made: %s",
			       cleat_strstatus(buf_status(out)));
	return rc;
}
