/* test_policy.c - Host, Origin and CORS: what passes, what is refused, and what browsers are told
 * (2026-07-28 basic/transports/streamable-http: Security & Endpoint; RFC 9110, 7.2; Fetch, CORS).
 */
#include "endpoint/policy.h"
#include "test.h"
#include "unit/httpd/httpd_support.h"

#include <string.h>

static const char *const no_names[] = { NULL };
static const char *const names[] = { "mcp.example.com", "192.0.2.7", "[2001:db8::1]", NULL };
static const char *const pages[] = { "https://app.example", "http://app.example:8080",
				     "vscode-webview://x", NULL };

static const struct policy_options here = { .loopback = true };
static const struct policy_options named = { .loopback = true, .hosts = names, .origins = pages };
static const struct policy_options wide = { .loopback = false };
static const struct policy_options wide_named = { .hosts = names, .origins = pages };
static const struct policy_options empty_lists = { .hosts = no_names, .origins = no_names };

enum { MOST = 4 };

/* "name: value" lines; a value may be empty. */
struct sent {
	struct http_field fields[MOST];
	struct http_request r;
};

static const struct http_request *sent(struct sent *s, const char *const lines[MOST])
{
	*s = (struct sent){ .r = { .method = HTTP_METHOD_POST } };
	put_lines(&s->r, s->fields, lines, MOST);
	return &s->r;
}

/* ---- who passes --------------------------------------------------------------------------- */

TEST(requests_pass_or_are_refused)
{
	static const struct {
		const struct policy_options *p;
		const char *lines[MOST];
		const char *refused; /* a word of the reason; NULL: it passes */
	} rows[] = {
		/* Host on an address that only this machine reaches: DNS rebinding */
		{ &here, { "host: localhost" }, NULL },
		{ &here, { "host: localhost:8080" }, NULL },
		{ &here, { "host: LOCALHOST:1" }, NULL },
		{ &here, { "host: 127.0.0.1" }, NULL },
		{ &here, { "host: 127.0.0.1:65535" }, NULL },
		{ &here, { "host: 127.8.9.1" }, NULL },
		{ &here, { "host: [::1]:8080" }, NULL },
		{ &here, { "host: app.localhost" }, NULL },
		{ &here, { NULL }, "Host" },
		{ &here, { "host:" }, "Host" },
		{ &here, { "host: evil.example" }, "Host" },
		{ &here, { "host: localhost.evil.example" }, "Host" },
		{ &here, { "host: evillocalhost" }, "Host" },
		{ &here, { "host: 127.0.0.1.evil.example" }, "Host" },
		{ &here, { "host: 128.0.0.1" }, "Host" },
		{ &here, { "host: 2130706433" }, "Host" },
		{ &here, { "host: 0x7f.0.0.1" }, "Host" },
		{ &here, { "host: [::2]" }, "Host" },
		{ &here, { "host: 0.0.0.0" }, "Host" },
		{ &here, { "host: localhost@evil.example" }, "Host" },
		{ &here, { "host: localhost/x" }, "Host" },
		{ &here, { "host: localhost:x" }, "Host" },
		{ &here, { "host: localhost, evil.example" }, "Host" },
		{ &here, { "host: localhost", "host: localhost" }, "Host" },
		{ &here, { "host: mcp.example.com" }, "Host" },
		/* names that were allowed, besides */
		{ &named, { "host: mcp.example.com" }, NULL },
		{ &named, { "host: MCP.Example.COM:443" }, NULL },
		{ &named, { "host: 192.0.2.7:80" }, NULL },
		{ &named, { "host: [2001:db8::1]" }, NULL },
		{ &named, { "host: localhost" }, NULL },
		{ &named, { "host: example.com" }, "Host" },
		{ &named, { "host: x.mcp.example.com" }, "Host" },
		/* an address that others reach has no name of its own, unless it was given some */
		{ &wide, { "host: anything.example" }, NULL },
		{ &wide, { NULL }, "Host" },
		{ &wide, { "host: a b" }, "Host" },
		{ &wide_named, { "host: mcp.example.com" }, NULL },
		{ &wide_named, { "host: localhost" }, "Host" },
		{ &wide_named, { "host: other.example" }, "Host" },
		{ &empty_lists, { "host: anything.example" }, NULL },
		/* Origin */
		{ &here, { "host: localhost", "origin: http://localhost:3000" }, NULL },
		{ &here, { "host: localhost", "origin: https://127.0.0.1" }, NULL },
		{ &here, { "host: localhost", "origin: http://[::1]:5" }, NULL },
		{ &here, { "host: localhost", "origin: https://evil.example" }, "Origin" },
		{ &here, { "host: localhost", "origin: null" }, "Origin" },
		{ &here, { "host: localhost", "origin:" }, "Origin" },
		{ &here, { "host: localhost", "origin: localhost" }, "Origin" },
		{ &here, { "host: localhost", "origin: http://localhost/" }, "Origin" },
		{ &here, { "host: localhost", "origin: http://localhost@evil.example" }, "Origin" },
		{ &here, { "host: localhost", "origin: http://localhost.evil.example" }, "Origin" },
		{ &here,
		  { "host: localhost", "origin: http://localhost", "origin: http://localhost" },
		  "Origin" },
		{ &here,
		  { "host: localhost", "origin: http://localhost https://evil.example" },
		  "Origin" },
		{ &named, { "host: localhost", "origin: https://app.example" }, NULL },
		{ &named, { "host: localhost", "origin: HTTPS://APP.example" }, NULL },
		{ &named, { "host: localhost", "origin: http://app.example:8080" }, NULL },
		{ &named, { "host: localhost", "origin: vscode-webview://x" }, NULL },
		{ &named, { "host: localhost", "origin: http://app.example" }, "Origin" },
		{ &named, { "host: localhost", "origin: https://app.example:444" }, "Origin" },
		{ &named, { "host: localhost", "origin: https://app.example.evil" }, "Origin" },
		{ &named, { "host: localhost", "origin: https://mcp.example.com" }, NULL },
		{ &wide, { "host: a.example", "origin: http://a.example" }, "Origin" },
		{ &wide, { "host: a.example", "origin: http://localhost" }, "Origin" },
		{ &wide_named,
		  { "host: mcp.example.com", "origin: https://mcp.example.com" },
		  NULL },
		{ &empty_lists, { "host: a.example", "origin: http://a.example" }, "Origin" },
		/* a browser without Origin: a navigation, an image */
		{ &here, { "host: localhost", "sec-fetch-site: cross-site" }, "sites" },
		{ &here, { "host: localhost", "sec-fetch-site: Cross-Site" }, "sites" },
		{ &here, { "host: localhost", "sec-fetch-site: same-origin" }, NULL },
		{ &here, { "host: localhost", "sec-fetch-site: none" }, NULL },
		{ &named,
		  { "host: localhost", "origin: https://app.example",
		    "sec-fetch-site: cross-site" },
		  NULL },
	};
	struct sent s;

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		const char *why = policy_refuse(rows[i].p, sent(&s, rows[i].lines));

		if (!why != !rows[i].refused || (why && !strstr(why, rows[i].refused)))
			fail_msg("row %zu (%s): %s", i,
				 rows[i].lines[0] ? rows[i].lines[0] : "no Host",
				 why ? why : "it passed");
	}
}

/* ---- what browsers are told --------------------------------------------------------------- */

static struct str value_of(const struct http_field *f, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eqz(f[i].name, name))
			return f[i].value;
	return (struct str){ 0 };
}

TEST(cors_names_the_origin_and_no_other)
{
	static const char *const lines[][MOST] = {
		{ "host: localhost", "origin: https://app.example" },
	};
	struct http_field f[POLICY_FIELDS];
	struct sent s;

	for (size_t i = 0; i < CLEAT_COUNT(lines); i++) {
		const struct http_request *r = sent(&s, lines[i]);
		size_t n = policy_cors_fields(&named, r, false, f);

		assert_true(policy_is_cors(&named, r));
		assert_true(n <= POLICY_FIELDS);
		assert_true(str_eqz(value_of(f, n, "Access-Control-Allow-Origin"),
				    lines[i][1] + strlen("origin: ")));
		assert_true(str_eqz(value_of(f, n, "Vary"), "Origin"));
		/* a page must be able to read the session's id */
		assert_true(str_eqz(value_of(f, n, "Access-Control-Expose-Headers"),
				    "Mcp-Session-Id, WWW-Authenticate"));
		assert_null(value_of(f, n, "Access-Control-Allow-Credentials").p);
		assert_null(value_of(f, n, "Access-Control-Allow-Methods").p);
	}
}

TEST(nobody_else_is_told_anything)
{
	static const char *const lines[][MOST] = {
		{ "host: localhost" },
		{ "host: localhost", "origin: https://evil.example" },
		{ "host: localhost", "origin: null" },
		/* may connect, but was not named */
		{ "host: localhost", "origin: http://localhost:3000" },
	};
	struct http_field f[POLICY_FIELDS];
	struct sent s;

	for (size_t i = 0; i < CLEAT_COUNT(lines); i++)
		for (int preflight = 0; preflight < 2; preflight++) {
			const struct http_request *r = sent(&s, lines[i]);

			assert_false(policy_is_cors(&named, r));
			assert_int_equal(policy_cors_fields(&named, r, preflight, f), 0);
		}
}

TEST(a_preflight_is_answered_with_what_was_asked_for)
{
	static const char *const with[MOST] = {
		"host: localhost", "origin: https://app.example",
		"access-control-request-method: POST",
		"access-control-request-headers: mcp-session-id,content-type"
	};
	static const char *const without[MOST] = { "host: localhost",
						   "origin: https://app.example" };
	struct http_field f[POLICY_FIELDS];
	struct sent s;
	size_t n;

	n = policy_cors_fields(&named, sent(&s, with), true, f);
	assert_true(str_eqz(value_of(f, n, "Access-Control-Allow-Origin"), "https://app.example"));
	assert_true(str_eqz(value_of(f, n, "Access-Control-Allow-Methods"), "POST, GET, DELETE"));
	assert_true(str_eqz(value_of(f, n, "Access-Control-Allow-Headers"),
			    "mcp-session-id,content-type"));
	assert_true(str_eqz(value_of(f, n, "Vary"), "Origin"));
	n = policy_cors_fields(&named, sent(&s, without), true, f);
	assert_null(value_of(f, n, "Access-Control-Allow-Headers").p);
}
