/* test_http_parser.c - requests out of a byte stream: what is in them, limits, keep-alive, memory. What
 * is refused because others might read it differently is in test_http_smuggling.c.
 */
#include "test.h"
#include "unit/httpd/httpd_support.h"

#define HOST "Host: a\r\n"

/* ---- what is in a request --------------------------------------------------------------------- */

static const struct {
	struct str in;
	const char *out;
} good[] = {
	{ ROW("GET / HTTP/1.1\r\n" HOST "\r\n"), "GET / - 1.1 keep {host=a} [] idle" },
	/* names in lower case, white space around values goes, inside it stays */
	{ ROW("POST /mcp HTTP/1.1\r\nHOST:a\r\nX-Some_Thing: \t a \t b \t\r\nEmpty:\r\nBlank:  \r\n"
	      "Content-Length: 2\r\n\r\n{}"),
	  "POST /mcp - 1.1 keep {host=a}{x-some_thing=a \t b}{empty=}{blank=}{content-length=2} [{}] "
	  "idle" },
	/* the query, also an empty one */
	{ ROW("GET /a/b?x=1&y=?/ HTTP/1.1\r\n" HOST "\r\n"),
	  "GET /a/b x=1&y=?/ 1.1 keep {host=a} [] idle" },
	{ ROW("GET /? HTTP/1.1\r\n" HOST "\r\n"), "GET /  1.1 keep {host=a} [] idle" },
	/* paths stay as they were sent */
	{ ROW("GET //x/../%2e%00/ HTTP/1.1\r\n" HOST "\r\n"),
	  "GET //x/../%2e%00/ - 1.1 keep {host=a} [] idle" },
	/* all methods; TRACE and PUT are nobody's but well-formed */
	{ ROW("HEAD / HTTP/1.1\r\n" HOST "\r\nDELETE / HTTP/1.1\r\n" HOST "\r\n"),
	  "HEAD / - 1.1 keep {host=a} [] DELETE / - 1.1 keep {host=a} [] idle" },
	{ ROW("OPTIONS * HTTP/1.1\r\n" HOST "\r\nTRACE / HTTP/1.1\r\n" HOST "\r\n"),
	  "OPTIONS * - 1.1 keep {host=a} [] TRACE / - 1.1 keep {host=a} [] idle" },
	/* HTTP/1.0, with and without keep-alive, without Host */
	{ ROW("GET / HTTP/1.0\r\n\r\n"), "GET / - 1.0 close  [] idle" },
	{ ROW("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
	  "GET / - 1.0 keep {connection=Keep-Alive} [] idle" },
	{ ROW("GET / HTTP/1.1\r\n" HOST "Connection: x, close\r\n\r\n"),
	  "GET / - 1.1 close {host=a}{connection=x, close} [] idle" },
	/* RFC 9112 2.2: an empty line before a request is ignored */
	{ ROW("\r\nGET / HTTP/1.1\r\n" HOST "\r\n\r\n"), "GET / - 1.1 keep {host=a} [] idle" },
	/* a body of any bytes */
	{ ROW("POST / HTTP/1.0\r\nContent-Length: 10\r\n\r\nGET / \r\n\r\nPOST"),
	  "POST / - 1.0 close {content-length=10} [GET / \r\n\r\n] more" },
	{ ROW("POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
	  "POST / - 1.1 keep {host=a}{content-length=0} [] idle" },
	{ ROW("POST / HTTP/1.1\r\n" HOST "Content-Length: 00003 \r\n\r\nabc"),
	  "POST / - 1.1 keep {host=a}{content-length=00003} [abc] idle" },
	/* chunks, their extensions, a trailer, which is dropped */
	{ ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
	      "3\r\nabc\r\nA;x=y;z=\"q;\\\" \"\r\n0123456789\r\n00\r\nTrailer: x\r\nY: z\r\n\r\n"
	      "GET / HTTP/1.1\r\n" HOST "\r\n"),
	  "POST / - 1.1 keep {host=a}{transfer-encoding=Chunked} [abc0123456789] "
	  "GET / - 1.1 keep {host=a} [] idle" },
	{ ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	  "POST / - 1.1 keep {host=a}{transfer-encoding=chunked} [] idle" },
	/* a body of a method that usually has none */
	{ ROW("GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx"),
	  "GET / - 1.1 keep {host=a}{content-length=1} [x] idle" },
	/* RFC 9110 7.8: an offer to upgrade may be ignored, and Java's client makes one with every
	 * first request */
	{ ROW("POST / HTTP/1.1\r\n" HOST "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
	      "HTTP2-Settings: AA\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n" HOST "\r\n"),
	  "POST / - 1.1 keep {host=a}{connection=Upgrade, HTTP2-Settings}{upgrade=h2c}"
	  "{http2-settings=AA}{content-length=2} [{}] GET / - 1.1 keep {host=a} [] idle" },
	{ ROW("GET / HTTP/1.1\r\n" HOST "Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"
	      "GET / HTTP/1.1\r\n" HOST "\r\n"),
	  "GET / - 1.1 keep {host=a}{connection=upgrade}{upgrade=websocket} [] "
	  "GET / - 1.1 keep {host=a} [] idle" },
	/* RFC 9110 10.1.1 */
	{ ROW("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx"),
	  "POST / - 1.1 keep expect {host=a}{expect=100-Continue}{content-length=1} [x] idle" },
	{ ROW("GET / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n\r\n"),
	  "GET / - 1.1 keep {host=a}{expect=100-continue} [] idle" },
	{ ROW("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"),
	  "POST / - 1.0 close {expect=100-continue}{content-length=1} [x] idle" },
	/* values beyond ASCII: obs-text of RFC 9110 5.5 */
	{ ROW("GET / HTTP/1.1\r\n" HOST "X: \xC3\xA4\xFF\r\n\r\n"),
	  "GET / - 1.1 keep {host=a}{x=\xC3\xA4\xFF} [] idle" },
	/* RFC 9112 3.2.2: the absolute form is accepted, and its host is the one that counts */
	{ ROW("POST http://b:80/mcp?q HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"),
	  "POST /mcp q 1.1 keep {host=b:80}{content-length=0} [] idle" },
	{ ROW("GET HTTPS://[::1] HTTP/1.1\r\nHost: x\r\n\r\n"),
	  "GET / - 1.1 keep {host=[::1]} [] idle" },
	{ ROW("GET http://b?q HTTP/1.1\r\n" HOST "\r\n"), "GET / q 1.1 keep {host=b} [] idle" },
	/* an empty Host, an address, a port */
	{ ROW("GET / HTTP/1.1\r\nHost:\r\n\r\n"), "GET / - 1.1 keep {host=} [] idle" },
	{ ROW("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"),
	  "GET / - 1.1 keep {host=[::1]:8080} [] idle" },
	/* not complete */
	{ ROW(""), "idle" },
	{ ROW("\r\n"), "idle" },
	{ ROW("\r"), "idle" },
	{ ROW("G"), "more" },
	{ ROW("GET / HTTP/1.1\r\n" HOST "\r"), "more" },
	{ ROW("POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n"), "more" },
	{ ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n"), "more" },
};

TEST(requests_do_not_depend_on_slices)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		expect_outcome(good[i].in, NULL, good[i].out);
}

TEST(every_split_in_two_gives_the_same)
{
	static const char text[] =
		"POST /a?b HTTP/1.1\r\n" HOST
		"Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: u\r\n\r\n";
	static const char wanted[] =
		"POST /a b 1.1 keep {host=a}{transfer-encoding=chunked} [abc] idle";
	size_t n = sizeof text - 1;

	for (size_t cut = 1; cut < n; cut++) {
		struct http_parser *p = http_parser_new(NULL, NULL);
		struct buf b;

		buf_init(&b, NULL, 4096);
		feed_all(p, (struct str){ text, cut }, SIZE_MAX, &b);
		buf_truncate(&b, 0); /* "more", or "idle" */
		feed_all(p, (struct str){ text + cut, n - cut }, SIZE_MAX, &b);
		buf_putc(&b, 0);
		assert_string_equal(b.data, wanted);
		buf_done(&b);
		http_parser_free(p);
	}
}

TEST(methods_have_their_numbers)
{
	static const struct {
		const char *name;
		enum http_method method;
	} cases[] = {
		{ "GET", HTTP_METHOD_GET },         { "HEAD", HTTP_METHOD_HEAD },
		{ "POST", HTTP_METHOD_POST },       { "DELETE", HTTP_METHOD_DELETE },
		{ "OPTIONS", HTTP_METHOD_OPTIONS }, { "PUT", HTTP_METHOD_OTHER },
		{ "LOCK", HTTP_METHOD_OTHER },      { "REBIND", HTTP_METHOD_OTHER },
		{ "MKCOL", HTTP_METHOD_OTHER },     { "PROPFIND", HTTP_METHOD_OTHER },
		{ "REPORT", HTTP_METHOD_OTHER },    { "CHECKOUT", HTTP_METHOD_OTHER },
		{ "UNLOCK", HTTP_METHOD_OTHER },    { "MKACTIVITY", HTTP_METHOD_OTHER },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct http_parser *p = http_parser_new(NULL, NULL);
		char text[64];
		int n = snprintf(text, sizeof text, "%s / HTTP/1.1\r\n" HOST "\r\n", cases[i].name);
		size_t used;

		assert_int_equal(http_parser_feed(p, text, (size_t)n, &used), HTTP_HEAD_DONE);
		assert_int_equal(http_parser_request(p)->method, cases[i].method);
		http_parser_free(p);
	}
}

/* ---- the order of things ---------------------------------------------------------------------- */

static enum http_progress feed(struct http_parser *p, const char *text)
{
	size_t used;
	enum http_progress got = http_parser_feed(p, text, strlen(text), &used);

	assert_true(used <= strlen(text));
	return got;
}

TEST(the_header_is_shown_before_the_body_is_taken)
{
	static const char text[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabcGET";
	struct http_parser *p = http_parser_new(NULL, NULL);
	size_t used, at, n = sizeof text - 1;

	assert_true(http_parser_is_idle(p));
	assert_int_equal(http_parser_feed(p, text, n, &used), HTTP_HEAD_DONE);
	assert_false(http_parser_is_idle(p));
	assert_int_equal(used, n - 6);
	at = used;
	assert_true(str_eqz(http_request_field(http_parser_request(p), "content-length"), "3"));
	assert_int_equal(http_parser_feed(p, text + at, n - at, &used), HTTP_DONE);
	assert_int_equal(used, 3);
	assert_true(str_eqz(http_parser_request(p)->body, "abc"));
	/* nothing is taken before next() */
	assert_int_equal(http_parser_feed(p, "GET", 3, &used), HTTP_DONE);
	assert_int_equal(used, 0);
	http_parser_next(p);
	assert_true(http_parser_is_idle(p));
	assert_int_equal(feed(p, "GET"), HTTP_MORE);
	http_parser_free(p);
}

TEST(a_request_without_body_is_complete_at_the_next_feed)
{
	struct http_parser *p = http_parser_new(NULL, NULL);
	size_t used = 1;

	assert_int_equal(feed(p, "GET / HTTP/1.1\r\n" HOST "\r\n"), HTTP_HEAD_DONE);
	assert_int_equal(http_parser_feed(p, NULL, 0, &used), HTTP_DONE);
	assert_int_equal(used, 0);
	http_parser_free(p);
}

TEST(failure_is_final)
{
	struct http_parser *p = http_parser_new(NULL, NULL);
	const char *why = NULL;
	size_t used = 1;

	assert_int_equal(http_parser_error(p, &why), 0);
	assert_int_equal(feed(p, "GET / HTTP/1.1\r\nBad\r\n"), HTTP_FAILED);
	assert_int_equal(http_parser_feed(p, "GET / HTTP/1.1\r\n" HOST "\r\n", 27, &used),
			 HTTP_FAILED);
	assert_int_equal(used, 0);
	assert_int_equal(http_parser_error(p, &why), 400);
	assert_non_null(why);
	assert_true(*why != 0);
	assert_false(http_parser_is_idle(p));
	http_parser_free(p);
}

/* Slices of the header stay where they are while the body grows. */
TEST(slices_outlive_the_growth_of_buffers)
{
	struct http_parser *p = http_parser_new(NULL, NULL);
	const struct http_request *r = http_parser_request(p);
	char line[256], piece[1000];
	size_t used, sent = 0;
	const char *host;

	assert_int_equal(feed(p, "POST /path?q HTTP/1.1\r\n" HOST), HTTP_MORE);
	for (int i = 0; i < 60; i++) {
		snprintf(line, sizeof line, "X-%d: %0*d\r\n", i, 100, i);
		assert_int_equal(feed(p, line), HTTP_MORE);
	}
	assert_int_equal(feed(p, "Content-Length: 100000\r\n\r\n"), HTTP_HEAD_DONE);
	host = http_request_field(r, "host").p;
	for (memset(piece, 'x', sizeof piece); sent < 99000; sent += used)
		assert_int_equal(http_parser_feed(p, piece, sizeof piece, &used), HTTP_MORE);
	assert_int_equal(http_parser_feed(p, piece, sizeof piece, &used), HTTP_DONE);
	assert_ptr_equal(http_request_field(r, "host").p, host);
	assert_true(str_eqz(r->path, "/path") && str_eqz(r->query, "q"));
	assert_true(str_eqz(r->method_name, "POST"));
	assert_int_equal(r->n_fields, 62);
	assert_int_equal(r->body.n, 100000);
	http_parser_free(p);
}

/* ---- limits ----------------------------------------------------------------------------------- */

#define CHUNKED  "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
#define SIZED(n) "POST / HTTP/1.1\r\n" HOST "Content-Length: " n "\r\n\r\n"

/* With so much between them, these end as wanted. */
static void expect_filled(const char *before, size_t times, const char *fill, const char *behind,
			  const struct http_limits *l, const char *wanted)
{
	struct buf b;
	char *got;

	buf_init(&b, NULL, SIZE_MAX / 2);
	buf_appendz(&b, before);
	for (size_t i = 0; i < times; i++)
		buf_appendz(&b, fill);
	buf_appendz(&b, behind);
	got = outcome(buf_str(&b), l);
	assert_true(strlen(got) >= strlen(wanted));
	assert_string_equal(got + strlen(got) - strlen(wanted), wanted);
	free(got);
	buf_done(&b);
}

TEST(the_header_has_a_limit)
{
	static const char start[] = "GET / HTTP/1.1\r\n" HOST "X: ";
	static const size_t limits[] = { 100, 1024, 1025, 3000, 0 };

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct http_limits l = { .max_head = limits[i] };
		size_t fill = (limits[i] ? limits[i] : 16384) - strlen(start) - 4;

		expect_filled(start, fill, "x", "\r\n\r\n", &l, " [] idle");
		expect_filled(start, fill + 1, "x", "\r\n\r\n", &l, "!431");
	}
}

TEST(an_endless_request_line_is_cut_off)
{
	struct http_limits l = { .max_head = 64 };

	expect_filled("GET /", 59, "x", "", &l, "more");
	expect_filled("GET /", 60, "x", "", &l, "!431");
}

TEST(a_hundred_fields_are_enough)
{
	expect_filled("GET / HTTP/1.1\r\n" HOST, 99, "a:\r\n", "\r\n", NULL, "idle");
	expect_filled("GET / HTTP/1.1\r\n" HOST, 100, "a:\r\n", "\r\n", NULL, "!431");
}

TEST(the_body_has_a_limit)
{
	static const struct http_limits l = { .max_body = 10 };

	expect_outcome(BYTES(SIZED("10") "0123456789"), &l,
		       "POST / - 1.1 keep {host=a}{content-length=10} [0123456789] idle");
	/* known before a byte of it is there */
	expect_outcome(BYTES(SIZED("11")), &l, "!413");
	expect_outcome(BYTES(SIZED("18446744073709551615")), &l, "!413");
	expect_outcome(BYTES(CHUNKED "6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n"), &l,
		       "POST / - 1.1 keep {host=a}{transfer-encoding=chunked} [0123456789] idle");
	/* known when the size of the chunk is */
	expect_outcome(BYTES(CHUNKED "6\r\n012345\r\n5\r\n"), &l, "!413");
	expect_outcome(BYTES(CHUNKED "FFFFFFFFFFFFFFFF\r\n"), &l, "!413");
	/* 4 MiB by default */
	expect_outcome(BYTES(SIZED("4194304")), NULL, "more");
	expect_outcome(BYTES(SIZED("4194305")), NULL, "!413");
}

TEST(an_endpoint_sets_its_own_limit)
{
	struct http_limits l = { .max_body = 10 };
	struct http_parser *p = http_parser_new(NULL, &l);

	http_parser_limit_body(p, 1); /* too early: no effect */
	assert_int_equal(feed(p, SIZED("5")), HTTP_HEAD_DONE);
	http_parser_limit_body(p, 5);
	assert_int_equal(feed(p, "0"), HTTP_MORE);
	http_parser_limit_body(p, 1); /* too late */
	assert_int_equal(feed(p, "1234"), HTTP_DONE);
	http_parser_next(p); /* and it was for that request only */
	assert_int_equal(feed(p, SIZED("10")), HTTP_HEAD_DONE);
	assert_int_equal(feed(p, "0123456789"), HTTP_DONE);
	http_parser_next(p);
	assert_int_equal(feed(p, SIZED("20")), HTTP_HEAD_DONE);
	http_parser_limit_body(p, 20); /* more is possible too */
	assert_int_equal(feed(p, ""), HTTP_MORE);
	http_parser_free(p);
	p = http_parser_new(NULL, &l);
	assert_int_equal(feed(p, SIZED("5")), HTTP_HEAD_DONE);
	http_parser_limit_body(p, 4);
	assert_int_equal(feed(p, ""), HTTP_FAILED);
	assert_int_equal(http_parser_error(p, NULL), 413);
	http_parser_free(p);
}

TEST(the_trailer_has_a_limit)
{
	static const struct http_limits l = { .max_head = 80 };

	expect_filled(CHUNKED "0\r\nX: ", 73, "x", "\r\n\r\n", &l, " [] idle");
	expect_filled(CHUNKED "0\r\nX: ", 74, "x", "\r\n\r\n", &l, "!431");
}

/* 256 bytes of extensions, ';' and line end with them, in one chunk or in all together */
TEST(chunk_extensions_have_a_limit)
{
	expect_filled(CHUNKED "2;", 253, "x", "\r\nab\r\n0\r\n\r\n", NULL, " [ab] idle");
	expect_filled(CHUNKED "2;", 254, "x", "\r\nab\r\n0\r\n\r\n", NULL, "!400");
	expect_filled(CHUNKED, 64, "1;x\r\na\r\n", "0\r\n\r\n", NULL, "a] idle");
	expect_filled(CHUNKED, 65, "1;x\r\na\r\n", "0\r\n\r\n", NULL, "!400");
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void put_large_request(struct buf *b)
{
	buf_appendz(b, "POST / HTTP/1.1\r\n" HOST);
	for (int i = 0; i < 50; i++)
		buf_printf(b, "X-%d: %0*d\r\n", i, 100, i);
	buf_appendz(b, "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 50; i++)
		buf_printf(b, "3e8\r\n%0*d\r\n", 1000, i);
	buf_appendz(b, "0\r\n\r\n");
}

TEST(an_idle_connection_is_small)
{
	struct fail_alloc fa;
	struct http_parser *p;
	struct buf large, sink;
	size_t at_first;

	fail_alloc_init(&fa, 0, false);
	buf_init(&large, NULL, SIZE_MAX / 2);
	buf_init(&sink, NULL, SIZE_MAX / 2);
	put_large_request(&large);
	p = http_parser_new(&fa.hook, NULL);
	at_first = fa.bytes;
	assert_true(at_first < 1024);
	feed_all(p, buf_str(&large), SIZE_MAX, &sink);
	assert_true(fa.peak > 50000);
	assert_true(fa.bytes < at_first + 3072);
	http_parser_free(p);
	assert_int_equal(fa.live, 0);
	buf_done(&large);
	buf_done(&sink);
}

/* The second ordinary request on a connection asks for no memory. */
MEMORY_TEST(a_busy_connection_allocates_nothing)
{
	static const char text[] = SIZED("5") "hello";
	struct http_parser *p;
	size_t requests = 0;

	p = http_parser_new(&fa->hook, NULL);
	for (int i = 0; i < 10; i++) {
		struct buf b;

		buf_init(&b, NULL, 4096);
		feed_all(p, BYTES(text), SIZE_MAX, &b);
		buf_done(&b);
		if (i == 0)
			requests = fa->requests;
	}
	assert_int_equal(fa->requests, requests);
	http_parser_free(p);
}

TEST(lack_of_memory_is_500_and_leaks_nothing)
{
	struct buf large;

	buf_init(&large, NULL, SIZE_MAX / 2);
	put_large_request(&large);
	buf_appendz(&large, SIZED("20000"));
	for (int i = 0; i < 20000; i++)
		buf_putc(&large, 'b');
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct http_parser *p;
		struct buf out;

		buf_init(&out, NULL, SIZE_MAX / 2);
		p = http_parser_new(&fa.hook, NULL);
		if (p) {
			feed_all(p, buf_str(&large), 500, &out);
			buf_putc(&out, 0);
			assert_non_null(strstr(out.data, fail_alloc_hit(&fa) ? "!500" : "b] idle"));
			/* the next connection's request on the same parser would work */
			fa.countdown = 0;
			fa.forever = false;
			http_parser_next(p);
			buf_truncate(&out, 0);
			feed_all(p, BYTES(SIZED("1") "x"), SIZE_MAX, &out);
			buf_putc(&out, 0);
			assert_non_null(strstr(out.data, "[x] idle"));
		}
		http_parser_free(p);
		buf_done(&out);
	}
	buf_done(&large);
}
