/* test_http_smuggling.c - requests that two readers could take for different ones are refused: RFC 9112
 * section 11.2 and what is known to have worked on others. Every case is fed whole, byte by byte and
 * in odd slices.
 */
#include "http/head.h"
#include "test.h"
#include "unit/httpd/httpd_support.h"

#define GET     "GET / HTTP/1.1\r\n"
#define HOST    "Host: a\r\n"
#define POST    "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

/* Each of these, in this place, makes a request that is refused with this status. */
static void refuse(int status, const char *before, const char *behind, const char *const *values)
{
	char wanted[16];

	snprintf(wanted, sizeof wanted, "!%d", status);
	for (; *values; values++) {
		struct buf b;

		buf_init(&b, NULL, 4096);
		buf_printf(&b, "%s%s%s", before, *values, behind);
		expect_outcome(buf_str(&b), NULL, wanted);
		buf_done(&b);
	}
}
#define REFUSE(status, before, behind, ...) refuse(status, before, behind, TEXTS(__VA_ARGS__))

/* ---- where does the body end? RFC 9112 section 6 ---------------------------------------------- */

TEST(two_ways_to_tell_the_length_are_refused)
{
	/* Content-Length and Transfer-Encoding */
	REFUSE(400, POST, "", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	       "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
	       "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n",
	       "Transfer-Encoding: x\r\nContent-Length: 3\r\n\r\nabc",
	       "Content-Length: 3\r\nTransfer-Encoding: identity\r\n\r\nabc",
	       "Content-Length: 3\r\nTransfer-Encoding:\r\n\r\nabc");
	/* two lengths, also equal ones */
	REFUSE(400, POST, "", "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
	       "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
	       "Content-Length: 0\r\nCONTENT-LENGTH: 3\r\n\r\nabc",
	       "Content-Length: 3, 3\r\n\r\nabc", "Content-Length: 3,4\r\n\r\nabcd");
}

TEST(lengths_that_are_no_plain_number_are_refused)
{
	REFUSE(400, POST, "", "Content-Length:\r\n\r\n");
	REFUSE(400, POST "Content-Length: ", "\r\n\r\nabc", "+3", "-3", "3 4", "0x3", "3_0", "3.0",
	       "3e0", "three", "\"3\"", "\xEF\xBC\x93");
	REFUSE(400, POST "Content-Length: ", "\r\n\r\n", "-0", "18446744073709551616",
	       "99999999999999999999999999");
}

TEST(codings_other_than_chunked_are_refused)
{
	REFUSE(400, POST "Transfer-Encoding: ", "\r\n\r\n", "gzip", "identity",
	       "chunked\r\nTransfer-Encoding: chunked", "x\r\nTransfer-Encoding: chunked",
	       "chunked\r\nTransfer-Encoding: x");
	REFUSE(400, POST, "", "Transfer-Encoding:\r\n\r\n",
	       "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n");
	REFUSE(400, POST "Transfer-Encoding: ", "\r\n\r\n0\r\n\r\n", "gzip, chunked",
	       "chunked, gzip", "chunked, chunked", "chunked,", ", chunked", "xchunked", "chunkedx",
	       "chunked;q=1", "\"chunked\"", "'chunked'", "[chunked]", "chunk",
	       "\x0B"
	       "chunked",
	       "chunked\x0C",
	       "\xA0"
	       "chunked",
	       "chun\xE2\x84\xAA"
	       "ed");
	/* RFC 9112 6.1: HTTP/1.0 knows no codings */
	REFUSE(400, "", "", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

TEST(malformed_chunks_are_refused)
{
	REFUSE(400, CHUNKED, "", "\r\n", "x\r\n");
	REFUSE(400, CHUNKED, "\r\nabc\r\n", "0x3", "+3", "-3", "3_0", " 3", "3 ", "3\t", "3 ;x",
	       "3, 3");
	/* more than 16 digits, whatever they are worth */
	REFUSE(400, CHUNKED, "\r\nabc\r\n", "00000000000000003", "10000000000000000",
	       "FFFFFFFFFFFFFFFFF");
	/* line ends */
	REFUSE(400, CHUNKED, "", "3\nabc\r\n0\r\n\r\n", "3\rabc\r\n0\r\n\r\n",
	       "3\r\r\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r0\r\n\r\n",
	       "3\r\nabc0\r\n\r\n", "3;x\nabc\r\n0\r\n\r\n", "3;x\rabc\r\n0\r\n\r\n",
	       "3;x=\"\n\"\r\nabc\r\n0\r\n\r\n");
	expect_outcome(BYTES(CHUNKED "3;\x00\r\nabc\r\n"), NULL, "!400");
	/* longer or shorter than it says */
	REFUSE(400, CHUNKED, "", "2\r\nabc\r\n0\r\n\r\n", "4\r\nabc\r\n0\r\n\r\n");
	/* the end */
	REFUSE(400, CHUNKED, "", "0\r\n\n", "0\n\r\n", "0\r\n\rX");
}

TEST(malformed_trailers_are_refused)
{
	REFUSE(400, CHUNKED "0\r\n", "\r\n\r\n", "X", " X: y", "X: y\r\n z", "X : y");
	REFUSE(400, CHUNKED, "", "0\r\nX: y\n\r\n");
	expect_outcome(BYTES(CHUNKED "0\r\nX: \x00\r\n\r\n"), NULL, "!400");
	/* fields that a trailer must not have (RFC 9110 6.5.1) and that would change the end */
	REFUSE(400, CHUNKED "0\r\n", "\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked");
}

/* ---- lines ------------------------------------------------------------------------------------ */

TEST(malformed_header_lines_are_refused)
{
	/* line ends other than CRLF */
	REFUSE(400, "", "", "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\rHost: a\r\n\r\n",
	       "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n");
	REFUSE(400, GET, "", "Host: a\n\r\n", "Host: a\r\n\n", "Host: a\n\n");
	REFUSE(400, GET, "\r\n\r\n", "Host: a\r", "Host: a\rX: b");
	REFUSE(400, GET HOST, "\r\n\r\n", "X: a\nTransfer-Encoding: chunked", "X:\r", "\rX: a");
	REFUSE(400, GET HOST, "", "X:\n\r\n", "X: \n\r\n");
	/* folded lines, and white space where a name begins */
	REFUSE(400, GET, "\r\n\r\n", "Host: a\r\n b", "Host: a\r\n\tb", " Host: a", "\tHost: a");
	REFUSE(400, GET HOST, "\r\n\r\n", "X:\r\n y", "X: y\r\n ", " Transfer-Encoding: chunked");
	/* white space before the colon, or none */
	REFUSE(400, GET, "\r\n\r\n", "Host : a", "Host\t: a", "Host");
	REFUSE(400, POST, "", "Transfer-Encoding : chunked\r\n\r\n",
	       "Content-Length : 3\r\n\r\nabc");
	REFUSE(400, GET HOST, "\r\n\r\n", "X", ": x", "Transfer Encoding: chunked",
	       "Transfer-Encoding\x0B: chunked",
	       "\xEF\xBB\xBF"
	       "X: y");
	expect_outcome(BYTES(GET HOST "Transfer-Encoding\x00: chunked\r\n\r\n"), NULL, "!400");
}

TEST(malformed_request_lines_are_refused)
{
	/* HTTP/0.9, in both spellings */
	REFUSE(400, "", "\r\n", "GET /", "GET / ", "GET / HTTP/0.9");
	REFUSE(400, "", "", "GET /\n");
	/* other versions and protocols */
	REFUSE(505, "", "\r\n", "GET / HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n", "GET / HTTP/1.2",
	       "GET / HTTP/3.0", "GET / HTTP/9.9", "GET / HTTP/01.1");
	REFUSE(400, "", "\r\n", "GET / HTTP/1.11", "GET / HTTP/11.1", "GET / HTTP/1",
	       "GET / HTTP/1,1", "GET / http/1.1", "GET / HTTP /1.1", "GET / HTTP/1.1 ",
	       "GET / HTTPS/1.1", "GET / XTTP/1.1", "OPTIONS * RTSP/1.0", "DESCRIBE / RTSP/1.0",
	       "SOURCE / ICE/1.0");
	/* spaces */
	REFUSE(400, "", "\r\n", "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1",
	       "GET /\tHTTP/1.1", "GET / HTTP/1.1\t", "GET /a b HTTP/1.1");
	REFUSE(501, "", "\r\n", " GET / HTTP/1.1");
	/* before it */
	REFUSE(400, "", "\r\n", "\nGET / HTTP/1.1", "\rGET / HTTP/1.1", "\r\n\r\nGET / HTTP/1.1",
	       "\r\n\nGET / HTTP/1.1", "\r\rGET / HTTP/1.1");
	expect_outcome(BYTES("\0"), NULL, "!400");
	/* methods */
	REFUSE(501, "", "\r\n", "FOO / HTTP/1.1", "GETX / HTTP/1.1", "GE / HTTP/1.1",
	       "get / HTTP/1.1", "CONNECT a:80 HTTP/1.1", "CONNECT / HTTP/1.1");
	expect_outcome(BYTES("GET\0 / HTTP/1.1\r\n"), NULL, "!400");
	expect_outcome(BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03"), NULL, "!400");
	/* TLS */
}

/* RFC 9112 section 3.2: the other forms are for proxies. */
TEST(targets_other_than_paths_are_refused)
{
	REFUSE(400, "", " HTTP/1.1\r\n", "GET http://", "GET http:///a", "GET ftp://a/",
	       "GET http:/a", "GET http://u@a/", "GET http://a:b/", "GET http://a/#b", "GET http:a",
	       "GET a:80", "GET a", "GET *", "POST *", "OPTIONS *x", "OPTIONS **", "GET ?x",
	       "GET #x", "GET /a#b", "GET /a?b#c", "GET \\a", "GET /\xC3\xA4", "GET /\x7F",
	       "GET /a\x01");
	expect_outcome(BYTES("GET /\x00 HTTP/1.1\r\n"), NULL, "!400");
}

/* RFC 9112 section 3.2: exactly one Host, and a valid one. */
TEST(host_must_be_there_once)
{
	REFUSE(400, GET, "", "\r\n", "X-Host: a\r\n\r\n");
	REFUSE(400, GET "Host: ", "\r\n\r\n", "a\r\nHost: b", "a\r\nhost: a", "a, b", "a b", "a/b",
	       "u@a", "http://a", "a:b", "a:1:2", "::1", "\xC3\xA4");
	REFUSE(400, "", "", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n");
}

TEST(unknown_expectations_are_refused)
{
	REFUSE(417, POST, "", "Expect: 200-ok\r\nContent-Length: 3\r\n\r\nabc",
	       "Expect: 100-continue, x\r\nContent-Length: 3\r\n\r\nabc",
	       "Expect: 100-continue\r\nExpect: x\r\nContent-Length: 3\r\n\r\nabc",
	       "Expect:\r\nContent-Length: 3\r\n\r\nabc");
}

/* ---- every byte in every place ---------------------------------------------------------------- */

/* The outcome with the byte in the middle: does the parser accept it? */
static bool accepts(const char *before, char c, const char *behind)
{
	struct buf b;
	char *got;
	bool ok;

	buf_init(&b, NULL, 4096);
	buf_appendz(&b, before);
	buf_putc(&b, c);
	buf_appendz(&b, behind);
	got = outcome(buf_str(&b), NULL);
	ok = got[0] != '!';
	free(got);
	buf_done(&b);
	return ok;
}

static bool is_in(const char *set, int c)
{
	return c != 0 && strchr(set, c);
}

TEST(every_byte_is_judged_by_the_grammar)
{
	static const char alnum[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

	for (int c = 0; c < 256; c++) {
		/* RFC 9110 5.6.2; the colon ends the name, and what is left is a value */
		bool name = is_in(alnum, c) || is_in("!#$%&'*+-.^_`|~", c) || c == ':';
		/* RFC 9110 5.5: field-vchar, obs-text, SP, HTAB */
		bool value = c >= 0x80 || (c >= 0x20 && c < 0x7F) || c == '\t';
		/* visible, and no fragment; '?' begins the query */
		bool target = c > 0x20 && c < 0x7F && c != '#';

		assert_int_equal(accepts(GET HOST "Xa", (char)c, "b: c\r\n\r\n"), name);
		assert_int_equal(accepts(GET HOST "X: a", (char)c, "b\r\n\r\n"), value);
		assert_int_equal(accepts(GET HOST "X: a", (char)c, "\r\n\r\n"), value);
		assert_int_equal(accepts("GET /a", (char)c, "b HTTP/1.1\r\n" HOST "\r\n"), target);
		assert_int_equal(accepts("GET /?a", (char)c, "b HTTP/1.1\r\n" HOST "\r\n"), target);
		/* digits; after 1 the line end is cut in two, and its first half is data */
		assert_int_equal(accepts(CHUNKED "0", (char)c, "\r\n\r\n"),
				 is_in("023456789abcdefABCDEF", c));
	}
}

/* ---- the second opinion ----------------------------------------------------------------------- */

/* Headers are also judged without llhttp, whose next version may be more lenient. */
TEST(headers_are_judged_twice)
{
	const char *const *cases =
		TEXTS("", "\n", "GET / HTTP/1.1", "GET / HTTP/1.1\n" HOST "\r\n",
		      "GET  HTTP/1.1\r\n" HOST "\r\n", " / HTTP/1.1\n" HOST "\r\n",
		      GET "Host: a\n\r\n", GET HOST "\nX: y\r\n\r\n", GET HOST "X: y\r\n z\r\n\r\n",
		      GET HOST "X : y\r\n\r\n", GET HOST ": y\r\n\r\n", GET HOST "X\r\n\r\n",
		      GET HOST "X: y\r\n", GET HOST "transfer-encodinG: x\r\n\r\n", GET "\r\n",
		      "CONNECT a HTTP/1.1\r\n" HOST "\r\n");

	for (; *cases; cases++) {
		size_t n = strlen(*cases), cap = 0;
		char *copy = malloc(n ? n : 1);
		struct http_field *fields = NULL;
		struct http_request r = { 0 };
		struct http_fault fault;

		assert_non_null(copy);
		memcpy(copy, *cases, n);
		fault = head_read(copy, n, &mem_default, &fields, &cap, &r);
		if (!fault.status)
			print_message("for: %s\n", *cases);
		assert_true(fault.status >= 400);
		assert_non_null(fault.why);
		mem_free(&mem_default, fields);
		free(copy);
	}
}
