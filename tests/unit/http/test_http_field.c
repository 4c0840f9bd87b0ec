/* test_http_field.c - what stands in header fields: media types, preferences, the sentinel encoding of
 * MCP, hosts, origins, bearer tokens.
 */
#include "http/field.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ROW(s)                                                                                     \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

static const struct str none = { NULL, 0 };

/* What is said of each of these. */
static void expect_each(bool (*is)(struct str value), bool wanted, const char *const *values)
{
	for (; *values; values++)
		if (is(str_of(*values)) != wanted)
			fail_msg("%s", *values);
}

static bool is_json(struct str value)
{
	return http_is_media_type(value, "application/json");
}

static bool is_host(struct str value)
{
	struct str host, port;

	return http_split_host(value, &host, &port);
}

static bool is_origin(struct str value)
{
	struct str scheme, host, port;

	return http_split_origin(value, &scheme, &host, &port);
}

/* RFC 9110 section 8.3 */
TEST(content_types_are_recognised)
{
	expect_each(is_json, true,
		    TEXTS("application/json", "Application/JSON", "application/json;charset=utf-8",
			  "application/json ; Charset=\"UTF-8\" ; x=y", "application/json;",
			  "application/json; ;x=y;", "application/json; x=\";charset=latin1\"",
			  "application/json; x=\"\\\";charset=latin1\""));
	expect_each(is_json, false,
		    TEXTS("application/json;charset=iso-8859-1",
			  "application/json;charset=utf-8;charset=utf-16",
			  "application/json;charset=\"\"", "application/json;charset=",
			  "application/json;charset", "application/json;charset =utf-8",
			  "application/json; x=a b", "application/json; x=\"a",
			  "application/json; =y", "application/json,text/plain",
			  "application/jsonx", "application/json-rpc", "application/", "json", ""));
	/* what a form of another site can send (CORS-safelisted) is never JSON */
	expect_each(is_json, false,
		    TEXTS("text/plain; application/json", "text/plain",
			  "text/plain;x=application/json",
			  "multipart/form-data; boundary=application/json"));
	assert_false(is_json(none));
	assert_false(is_json(STR_LIT("application/json\0")));
}

/* RFC 9110 section 12.5.1 */
TEST(accept_gives_qualities)
{
	static const struct {
		const char *accept;
		int json, sse;
	} cases[] = {
		{ "application/json, text/event-stream", 1000, 1000 },
		{ "application/json", 1000, 0 },
		{ "TEXT/Event-Stream", 0, 1000 },
		{ "*/*", 1000, 1000 },
		{ "text/*", 0, 1000 },
		{ "application/*;q=0.5, text/*;q=0.25", 500, 250 },
		{ "application/json;q=0", 0, 0 },
		{ "*/*, application/json;q=0", 0, 1000 },
		/* the more specific range wins, wherever it stands */
		{ "application/json;q=0.1, application/*;q=0.9, */*;q=0.5", 100, 500 },
		{ "*/*;q=0.5, text/*;q=0.7, text/event-stream;q=0.001", 500, 1 },
		{ "application/json;q=0.1, application/json;q=0.3, application/json;q=0.2", 300,
		  0 },
		/* parameters, quotes, empty elements, white space */
		{ "application/json; charset=utf-8; q=0.5 , ,text/event-stream", 500, 1000 },
		{ "application/json;x=\",text/event-stream;\";q=0.5", 500, 0 },
		{ "application/json\t;\tq=1.000", 1000, 0 },
		{ "application/json;Q=0.5", 500, 0 },
		/* Java's URLConnection */
		{ "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", 200, 200 },
		/* broken qualities do not count */
		{ "application/json;q=x", 0, 0 },
		{ "application/json;q=1.1", 0, 0 },
		{ "application/json;q=2", 0, 0 },
		{ "application/json;q=-1", 0, 0 },
		{ "application/json;q=0.1234", 0, 0 },
		{ "application/json;q=", 1000, 0 },
		{ "application/json;q=1.", 1000, 0 },
		{ "application/json;q=\"0.5\"", 500, 0 },
		{ "application/json;q=\"\"", 0, 0 },
		{ "application/json;q=0.5-", 0, 0 },
		{ "application/json;q=0.5x", 0, 0 },
		{ "application/json;;q=0.5;", 500, 0 },
		/* nothing of it */
		{ "", 0, 0 },
		{ ",", 0, 0 },
		{ "application", 0, 0 },
		{ "application/", 0, 0 },
		{ "applicatio*/*", 0, 0 },
		{ "application/js*", 0, 0 },
		{ "*/json", 0, 0 },
		{ "application/jsonx, text/event-stream-x", 0, 0 },
		{ "\"application/json", 0, 0 },
		{ "x\"\\", 0, 0 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str accept = str_of(cases[i].accept);

		if (http_accept_quality(accept, "application/json") != cases[i].json ||
		    http_accept_quality(accept, "text/event-stream") != cases[i].sse)
			fail_msg("%s", cases[i].accept);
	}
	assert_int_equal(http_accept_quality(none, "application/json"), 1000);
}

TEST(accept_prefers_quality_then_order)
{
	static const struct {
		const char *accept;
		bool json, sse; /* is it preferred to the other? */
	} cases[] = {
		{ "application/json, text/event-stream", true, false },
		{ "text/event-stream, application/json", false, true },
		{ "application/json;q=0.5, text/event-stream", false, true },
		{ "text/event-stream;q=0.9, application/json", true, false },
		{ "application/json", true, false },
		{ "*/*", false, false },
		{ "*/*, text/event-stream", false, true },
		{ "text/*, application/*", false, true },
		{ "", false, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str accept = str_of(cases[i].accept);

		if (http_accept_prefers(accept, "application/json", "text/event-stream") !=
			    cases[i].json ||
		    http_accept_prefers(accept, "text/event-stream", "application/json") !=
			    cases[i].sse)
			fail_msg("%s", cases[i].accept);
	}
	assert_false(http_accept_prefers(none, "application/json", "text/event-stream"));
}

/* ---- the sentinel: 2026-07-28 basic/transports/streamable-http, "Value Encoding" --------------- */

static int decode(struct str value, struct buf *out)
{
	buf_init(out, NULL, 4096);
	buf_appendz(out, "<"); /* the result is appended */
	return http_sentinel_decode(value, out);
}

TEST(values_are_encoded_where_they_must_be)
{
	static const struct {
		struct str plain;
		const char *sent;
	} cases[] = {
		/* the examples of the specification */
		{ ROW("us-west1"), "us-west1" },
		{ ROW("Hello, \xE4\xB8\x96\xE7\x95\x8C"), "=?base64?SGVsbG8sIOS4lueVjA==?=" },
		{ ROW(" padded "), "=?base64?IHBhZGRlZCA=?=" },
		{ ROW("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=" },
		{ ROW("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=" },
		/* the edges */
		{ ROW("a b\tc"), "a b\tc" },
		{ ROW("!~"), "!~" },
		{ ROW("\ta"), "=?base64?CWE=?=" },
		{ ROW("a\t"), "=?base64?YQk=?=" },
		{ ROW(" "), "=?base64?IA==?=" },
		{ ROW("a\x7F"), "=?base64?YX8=?=" },
		{ ROW("a\0b"), "=?base64?YQBi?=" },
		{ ROW("=?base64?="), "=?base64?PT9iYXNlNjQ/PQ==?=" },
		{ ROW("=?base64?"
		      "?="),
		  "=?base64?PT9iYXNlNjQ/Pz0=?=" },
		{ ROW("=?base64?x"), "=?base64?x" },
		{ ROW("=?BASE64?x?="), "=?BASE64?x?=" },
		{ ROW("x?="), "x?=" },
		/* or it might vanish on its way (in one piece the two are a trigraph) */
		{ ROW(""), "=?base64?"
			   "?=" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b;

		buf_init(&b, NULL, 4096);
		http_sentinel_encode(cases[i].plain, &b);
		if (!str_eqz(buf_str(&b), cases[i].sent))
			fail_msg("%s", cases[i].sent);
		buf_done(&b);
		assert_int_equal(decode(str_of(cases[i].sent), &b), CLEAT_OK);
		assert_int_equal(buf_size(&b), 1 + cases[i].plain.n);
		assert_memory_equal(b.data + 1, cases[i].plain.p, cases[i].plain.n);
		buf_done(&b);
	}
}

TEST(values_are_taken_literally_where_they_may_be)
{
	/* the conformance suite's: no prefix, no suffix */
	static const char *const cases[] = { "SGVsbG8=",
					     "=?base64?SGVsbG8=",
					     "SGVsbG8=?=",
					     "=?Base64?SGVsbG8=?=",
					     "=?base64 SGVsbG8=?=",
					     "" };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf b;

		assert_int_equal(decode(str_of(cases[i]), &b), CLEAT_OK);
		buf_putc(&b, 0);
		assert_string_equal(b.data + 1, cases[i]);
		buf_done(&b);
	}
}

static bool is_encoded(struct str value)
{
	struct buf b;
	int rc = decode(value, &b);

	assert_true(rc == CLEAT_OK || rc == CLEAT_EPROTO);
	assert_true(rc == CLEAT_OK || str_eqz(buf_str(&b), "<")); /* nothing is left of it */
	buf_done(&b);
	return rc == CLEAT_OK;
}

TEST(broken_values_are_refused)
{
	/* conformance: padding, alphabet */
	expect_each(
		is_encoded, false,
		TEXTS("=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG8==?=",
		      "=?base64?SGVsbG8 =?=", "=?base64?=?=", "=?base64?====?=", "=?base64?A===?=",
		      "=?base64?YQ==YQ==?=", "=?base64?YWFh-_==?=", "=?base64?="));
	/* bits after the last byte, no UTF-8, a surrogate */
	expect_each(is_encoded, false,
		    TEXTS("=?base64?SGVsbG9=?=", "=?base64?/w==?=", "=?base64?7aCA?="));
	/* what had to be encoded */
	expect_each(is_encoded, false, TEXTS(" x", "x ", "\tx", "x\ny", "x\x7F", "\xC3\xA4"));
	assert_false(is_encoded(STR_LIT("x\0y")));
}

TEST(lack_of_room_is_told)
{
	struct fail_alloc fa;
	struct buf b;

	buf_init(&b, NULL, 3);
	assert_int_equal(http_sentinel_decode(STR_LIT("=?base64?YWFhYQ==?="), &b), CLEAT_ELIMIT);
	buf_done(&b);
	buf_init(&b, NULL, 3);
	assert_int_equal(http_sentinel_decode(STR_LIT("aaaa"), &b), CLEAT_ELIMIT);
	buf_done(&b);
	buf_init(&b, NULL, 12);
	http_sentinel_encode(STR_LIT("\n"), &b);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
	fail_alloc_init(&fa, 1, true);
	buf_init(&b, &fa.hook, 100);
	assert_int_equal(http_sentinel_decode(STR_LIT("=?base64?YQ==?="), &b), CLEAT_ENOMEM);
	buf_done(&b);
}

/* ---- hosts and origins ------------------------------------------------------------------------ */

/* RFC 9110 section 7.2 */
TEST(hosts_are_split)
{
	static const struct {
		const char *value, *host, *port; /* port NULL: none */
	} cases[] = {
		{ "localhost", "localhost", NULL },
		{ "localhost:8080", "localhost", "8080" },
		{ "Example.COM:0", "Example.COM", "0" },
		{ "a-b_c.d1:65535", "a-b_c.d1", "65535" },
		{ "example.com.", "example.com.", NULL },
		{ "127.0.0.1:80", "127.0.0.1", "80" },
		{ "1.2.3.4.example", "1.2.3.4.example", NULL },
		{ "0xg", "0xg", NULL },
		{ "[::1]", "[::1]", NULL },
		{ "[::1]:443", "[::1]", "443" },
		{ "[::ffff:1.2.3.4]:443", "[::ffff:1.2.3.4]", "443" },
	};
	struct str host, port;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (!http_split_host(str_of(cases[i].value), &host, &port))
			fail_msg("%s", cases[i].value);
		assert_true(str_eqz(host, cases[i].host));
		assert_true(str_eq(port, str_of(cases[i].port)));
		assert_int_equal(!port.p, !cases[i].port);
	}
}

TEST(what_is_no_host_is_refused)
{
	char longest[257];

	expect_each(is_host, false,
		    TEXTS("", ".", ".a", "a..b", "a..", ":80", "a:", "a:-1", "a:+1", "a:65536",
			  "a:080", "a:000080", "a:80 ", "a:80:80", "a:8o", " a", "a,b", "a/", "a?",
			  "a#", "a@b", "a%2eb", "a\\b", "\xC3\xA4", "::1", "[::1", "[::1]80",
			  "[::1]:", "[::1]]", "[]", "[a]", "[::1%25lo]", "[127.0.0.1]", "[v1.x]"));
	/* addresses to some readers: WHATWG URL, "ends in a number" */
	expect_each(is_host, false,
		    TEXTS("127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.01",
			  "127.0.0.1.", "1.2.3.256", "a.0x", "a.0XfF", "a.1"));
	assert_false(is_host(none));
	assert_false(is_host(STR_LIT("a\0")));
	assert_false(is_host(STR_LIT("a\0.b")));
	memset(longest, 'a', sizeof longest);
	assert_true(is_host((struct str){ longest, 255 }));
	assert_false(is_host((struct str){ longest, 256 }));
}

/* RFC 6454 section 7 */
TEST(origins_are_split)
{
	struct str scheme, host, port;

	assert_true(http_split_origin(STR_LIT("https://Example.com:8443"), &scheme, &host, &port));
	assert_true(str_eqz(scheme, "https") && str_eqz(host, "Example.com") &&
		    str_eqz(port, "8443"));
	assert_true(http_split_origin(STR_LIT("vscode-webview://1abc2"), &scheme, &host, &port));
	assert_true(str_eqz(scheme, "vscode-webview") && str_eqz(host, "1abc2") && !port.p);
	assert_true(http_split_origin(STR_LIT("http://[::1]:3000"), &scheme, &host, &port));
	assert_true(str_eqz(host, "[::1]") && str_eqz(port, "3000"));
	assert_true(http_split_origin(STR_LIT("a+b-c.1://x"), &scheme, &host, &port));
}

TEST(what_is_no_origin_is_refused)
{
	expect_each(is_origin, false,
		    TEXTS("", "null", "localhost", "localhost:80", "http:", "http:/", "http://",
			  "http:///", "http://a/", "http://a/b", "http://a?b", "http://a#b",
			  "http://u@a", "http://u:p@a", "http://a:80:80", "http://a http://b",
			  "http://a, http://b", "http:\\\\a", "://a", "1http://a", "-http://a",
			  "ht tp://a", "file://", "http://127.1", "http://localhost:3000/"));
	assert_false(is_origin(none));
	assert_false(is_origin(STR_LIT("http://a\0")));
}

TEST(loopback_names_are_known)
{
	expect_each(http_is_loopback_name, true,
		    TEXTS("localhost", "LocalHost", "a.localhost", "A.b.LOCALHOST", "127.0.0.1",
			  "127.255.255.254", "[::1]"));
	expect_each(http_is_loopback_name, false,
		    TEXTS("", "localhost.example", "localhost.evil.com", "xlocalhost", ".localhost",
			  "a..localhost", "a/b.localhost", "a:80.localhost", "127.0.0.1.example",
			  "127.1", "127.0.0.256", "128.0.0.1", "0.0.0.0", "1127.0.0.1", "::1",
			  "[::2]", "[::]"));
	assert_false(http_is_loopback_name(none));
	assert_false(http_is_loopback_name(STR_LIT("localhost\0")));
}

static bool has_bearer(struct str value)
{
	return http_bearer(value).p != NULL;
}

/* RFC 6750 section 2.1 */
TEST(bearer_tokens_are_found)
{
	assert_true(str_eqz(http_bearer(STR_LIT("Bearer abc")), "abc"));
	assert_true(str_eqz(http_bearer(STR_LIT("bEARER   a-._~+/9==")), "a-._~+/9=="));
	expect_each(has_bearer, false,
		    TEXTS("Bearer", "Bearer ", "Bearer  ", "Bearerabc", "Bearer\tabc",
			  "Bearer ==", "Bearer a b", "Bearer a,b", "Bearer a=b", "Bearer \xC3\xA4",
			  "Bearer \"a\"", "Basic YTpi", "Bearers abc", ""));
	assert_false(has_bearer(STR_LIT("Bearer a\0")));
	assert_false(has_bearer(none));
}
