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

/* A request with these lines; `refused`: a word of the reason, NULL: it passes. */
static void expect(const struct policy_options *p, const char *refused, const char *const *lines)
{
	const char *why;
	struct sent s;

	why = policy_refuse(p, sent(&s, lines));
	if (!why != !refused || (why && !strstr(why, refused)))
		fail_msg("%s (%s): %s", lines[0] ? lines[0] : "no Host",
			 lines[0] && lines[1] ? lines[1] : "", why ? why : "it passed");
}

/* The same for each value of a field, behind another line (NULL: none). */
static void expect_each(const struct policy_options *p, const char *refused, const char *first,
			const char *name, const char *const *values)
{
	for (; *values; values++) {
		char line[128];

		snprintf(line, sizeof line, "%s%s", name, *values);
		expect(p, refused, first ? TEXTS(first, line) : TEXTS(line));
	}
}

TEST(requests_pass_or_are_refused)
{
	/* Host on an address that only this machine reaches: DNS rebinding */
	expect_each(&here, NULL, NULL, "host: ",
		    TEXTS("localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1",
			  "127.0.0.1:65535", "127.8.9.1", "[::1]:8080", "app.localhost"));
	expect(&here, "Host", TEXTS(NULL));
	expect(&here, "Host", TEXTS("host:"));
	expect_each(&here, "Host", NULL, "host: ",
		    TEXTS("evil.example", "localhost.evil.example", "evillocalhost",
			  "127.0.0.1.evil.example", "128.0.0.1", "2130706433", "0x7f.0.0.1",
			  "[::2]", "0.0.0.0", "localhost@evil.example", "localhost/x",
			  "localhost:x", "localhost, evil.example", "mcp.example.com"));
	expect(&here, "Host", TEXTS("host: localhost", "host: localhost"));
	/* names that were allowed, besides */
	expect_each(&named, NULL, NULL, "host: ",
		    TEXTS("mcp.example.com", "MCP.Example.COM:443", "192.0.2.7:80", "[2001:db8::1]",
			  "localhost"));
	expect_each(&named, "Host", NULL, "host: ", TEXTS("example.com", "x.mcp.example.com"));
	/* an address that others reach has no name of its own, unless it was given some */
	expect_each(&wide, NULL, NULL, "host: ", TEXTS("anything.example"));
	expect(&wide, "Host", TEXTS(NULL));
	expect_each(&wide, "Host", NULL, "host: ", TEXTS("a b"));
	expect_each(&wide_named, NULL, NULL, "host: ", TEXTS("mcp.example.com"));
	expect_each(&wide_named, "Host", NULL, "host: ", TEXTS("localhost", "other.example"));
	expect_each(&empty_lists, NULL, NULL, "host: ", TEXTS("anything.example"));
	/* Origin */
	expect_each(&here, NULL, "host: localhost", "origin: ",
		    TEXTS("http://localhost:3000", "https://127.0.0.1", "http://[::1]:5"));
	expect_each(&here, "Origin", "host: localhost", "origin: ",
		    TEXTS("https://evil.example", "null", "localhost", "http://localhost/",
			  "http://localhost@evil.example", "http://localhost.evil.example",
			  "http://localhost https://evil.example"));
	expect(&here, "Origin", TEXTS("host: localhost", "origin:"));
	expect(&here, "Origin",
	       TEXTS("host: localhost", "origin: http://localhost", "origin: http://localhost"));
	expect_each(&named, NULL, "host: localhost", "origin: ",
		    TEXTS("https://app.example", "HTTPS://APP.example", "http://app.example:8080",
			  "vscode-webview://x", "https://mcp.example.com"));
	expect_each(
		&named, "Origin", "host: localhost", "origin: ",
		TEXTS("http://app.example", "https://app.example:444", "https://app.example.evil"));
	expect(&wide, "Origin", TEXTS("host: a.example", "origin: http://a.example"));
	expect(&wide, "Origin", TEXTS("host: a.example", "origin: http://localhost"));
	expect(&wide_named, NULL,
	       TEXTS("host: mcp.example.com", "origin: https://mcp.example.com"));
	expect(&empty_lists, "Origin", TEXTS("host: a.example", "origin: http://a.example"));
	/* a browser without Origin: a navigation, an image */
	expect_each(&here, "sites", "host: localhost",
		    "sec-fetch-site: ", TEXTS("cross-site", "Cross-Site"));
	expect_each(&here, NULL, "host: localhost",
		    "sec-fetch-site: ", TEXTS("same-origin", "none"));
	expect(&named, NULL,
	       TEXTS("host: localhost", "origin: https://app.example",
		     "sec-fetch-site: cross-site"));
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
				    "Mcp-Session-Id, WWW-Authenticate, Retry-After"));
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
