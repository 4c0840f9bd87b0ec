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

struct bad_case {
	struct str in;
	int status;
};

static void refuse_all(const struct bad_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char wanted[16];

		snprintf(wanted, sizeof wanted, "!%d", cases[i].status);
		expect_outcome(cases[i].in, NULL, wanted);
	}
}
#define REFUSE_ALL(cases) refuse_all(cases, sizeof(cases) / sizeof *(cases))

/* ---- where does the body end? RFC 9112 section 6 ---------------------------------------------- */

TEST(two_ways_to_tell_the_length_are_refused)
{
	static const struct bad_case cases[] = {
		/* Content-Length and Transfer-Encoding */
		{ ROW(POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: x\r\nContent-Length: 3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3\r\nTransfer-Encoding: identity\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3\r\nTransfer-Encoding:\r\n\r\nabc"), 400 },
		/* two lengths, also equal ones */
		{ ROW(POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), 400 },
		{ ROW(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 0\r\nCONTENT-LENGTH: 3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3, 3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3,4\r\n\r\nabcd"), 400 },
	};

	REFUSE_ALL(cases);
}

TEST(lengths_that_are_no_plain_number_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW(POST "Content-Length:\r\n\r\n"), 400 },
		{ ROW(POST "Content-Length: +3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: -3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: -0\r\n\r\n"), 400 },
		{ ROW(POST "Content-Length: 3 4\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 0x3\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3_0\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3.0\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 3e0\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: three\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: \"3\"\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: \xEF\xBC\x93\r\n\r\nabc"), 400 },
		{ ROW(POST "Content-Length: 18446744073709551616\r\n\r\n"), 400 },
		{ ROW(POST "Content-Length: 99999999999999999999999999\r\n\r\n"), 400 },
	};

	REFUSE_ALL(cases);
}

TEST(codings_other_than_chunked_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW(POST "Transfer-Encoding: gzip\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: identity\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding:\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: , chunked\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunkedx\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: 'chunked'\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: [chunked]\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunk\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: \x0B"
			   "chunked\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: chunked\x0C\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: \xA0"
			   "chunked\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: chun\xE2\x84\xAA"
			   "ed\r\n\r\n0\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
		  400 },
		{ ROW(POST "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n"), 400 },
		/* RFC 9112 6.1: HTTP/1.0 knows no codings */
		{ ROW("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400 },
	};

	REFUSE_ALL(cases);
}

TEST(malformed_chunks_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW(CHUNKED "\r\n"), 400 },
		{ ROW(CHUNKED "x\r\n"), 400 },
		{ ROW(CHUNKED "0x3\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "+3\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "-3\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "3_0\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED " 3\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "3 \r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "3\t\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "3 ;x\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "3, 3\r\nabc\r\n"), 400 },
		/* more than 16 digits, whatever they are worth */
		{ ROW(CHUNKED "00000000000000003\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "10000000000000000\r\nabc\r\n"), 400 },
		{ ROW(CHUNKED "FFFFFFFFFFFFFFFFF\r\nabc\r\n"), 400 },
		/* line ends */
		{ ROW(CHUNKED "3\nabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3\rabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3\r\r\nabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3\r\nabc\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3\r\nabc\r0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3\r\nabc0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3;x\nabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3;x\rabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3;x=\"\n\"\r\nabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "3;\x00\r\nabc\r\n"), 400 },
		/* longer or shorter than it says */
		{ ROW(CHUNKED "2\r\nabc\r\n0\r\n\r\n"), 400 },
		{ ROW(CHUNKED "4\r\nabc\r\n0\r\n\r\n"), 400 },
		/* the end */
		{ ROW(CHUNKED "0\r\n\n"), 400 },
		{ ROW(CHUNKED "0\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\n\rX"), 400 },
	};

	REFUSE_ALL(cases);
}

TEST(malformed_trailers_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW(CHUNKED "0\r\nX\r\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\n X: y\r\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\nX: y\r\n z\r\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\nX : y\r\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\nX: y\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\nX: \x00\r\n\r\n"), 400 },
		/* fields that a trailer must not have (RFC 9110 6.5.1) and that would change the end */
		{ ROW(CHUNKED "0\r\nContent-Length: 5\r\n\r\n"), 400 },
		{ ROW(CHUNKED "0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
	};

	REFUSE_ALL(cases);
}

/* ---- lines ------------------------------------------------------------------------------------ */

TEST(malformed_header_lines_are_refused)
{
	static const struct bad_case cases[] = {
		/* line ends other than CRLF */
		{ ROW("GET / HTTP/1.1\nHost: a\r\n\r\n"), 400 },
		{ ROW("GET / HTTP/1.1\rHost: a\r\n\r\n"), 400 },
		{ ROW("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"), 400 },
		{ ROW(GET "Host: a\n\r\n"), 400 },
		{ ROW(GET "Host: a\r\n\n"), 400 },
		{ ROW(GET "Host: a\n\n"), 400 },
		{ ROW(GET "Host: a\r\r\n\r\n"), 400 },
		{ ROW(GET "Host: a\rX: b\r\n\r\n"), 400 },
		{ ROW(GET HOST "X: a\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
		{ ROW(GET HOST "X:\r\r\n\r\n"), 400 },
		{ ROW(GET HOST "X:\n\r\n"), 400 },
		{ ROW(GET HOST "X: \n\r\n"), 400 },
		{ ROW(GET HOST "\rX: a\r\n\r\n"), 400 },
		/* folded lines, and white space where a name begins */
		{ ROW(GET "Host: a\r\n b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a\r\n\tb\r\n\r\n"), 400 },
		{ ROW(GET HOST "X:\r\n y\r\n\r\n"), 400 },
		{ ROW(GET HOST "X: y\r\n \r\n\r\n"), 400 },
		{ ROW(GET " Host: a\r\n\r\n"), 400 },
		{ ROW(GET "\tHost: a\r\n\r\n"), 400 },
		{ ROW(GET HOST " Transfer-Encoding: chunked\r\n\r\n"), 400 },
		/* white space before the colon, or none */
		{ ROW(GET "Host : a\r\n\r\n"), 400 },
		{ ROW(GET "Host\t: a\r\n\r\n"), 400 },
		{ ROW(POST "Transfer-Encoding : chunked\r\n\r\n"), 400 },
		{ ROW(POST "Content-Length : 3\r\n\r\nabc"), 400 },
		{ ROW(GET "Host\r\n\r\n"), 400 },
		{ ROW(GET HOST "X\r\n\r\n"), 400 },
		{ ROW(GET HOST ": x\r\n\r\n"), 400 },
		{ ROW(GET HOST "Transfer Encoding: chunked\r\n\r\n"), 400 },
		{ ROW(GET HOST "Transfer-Encoding\x00: chunked\r\n\r\n"), 400 },
		{ ROW(GET HOST "Transfer-Encoding\x0B: chunked\r\n\r\n"), 400 },
		{ ROW(GET HOST "\xEF\xBB\xBF"
			       "X: y\r\n\r\n"),
		  400 },
	};

	REFUSE_ALL(cases);
}

TEST(malformed_request_lines_are_refused)
{
	static const struct bad_case cases[] = {
		/* HTTP/0.9, in both spellings */
		{ ROW("GET /\r\n"), 400 },
		{ ROW("GET /\n"), 400 },
		{ ROW("GET / \r\n"), 400 },
		{ ROW("GET / HTTP/0.9\r\n"), 400 },
		/* other versions and protocols */
		{ ROW("GET / HTTP/2.0\r\n"), 505 },
		{ ROW("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505 },
		{ ROW("GET / HTTP/1.2\r\n"), 505 },
		{ ROW("GET / HTTP/3.0\r\n"), 505 },
		{ ROW("GET / HTTP/9.9\r\n"), 505 },
		{ ROW("GET / HTTP/1.11\r\n"), 400 },
		{ ROW("GET / HTTP/11.1\r\n"), 400 },
		{ ROW("GET / HTTP/01.1\r\n"), 505 },
		{ ROW("GET / HTTP/1\r\n"), 400 },
		{ ROW("GET / HTTP/1,1\r\n"), 400 },
		{ ROW("GET / http/1.1\r\n"), 400 },
		{ ROW("GET / HTTP /1.1\r\n"), 400 },
		{ ROW("GET / HTTP/1.1 \r\n"), 400 },
		{ ROW("GET / HTTPS/1.1\r\n"), 400 },
		{ ROW("GET / XTTP/1.1\r\n"), 400 },
		{ ROW("OPTIONS * RTSP/1.0\r\n"), 400 },
		{ ROW("DESCRIBE / RTSP/1.0\r\n"), 400 },
		{ ROW("SOURCE / ICE/1.0\r\n"), 400 },
		/* spaces */
		{ ROW("GET  / HTTP/1.1\r\n"), 400 },
		{ ROW("GET /  HTTP/1.1\r\n"), 400 },
		{ ROW("GET\t/ HTTP/1.1\r\n"), 400 },
		{ ROW("GET /\tHTTP/1.1\r\n"), 400 },
		{ ROW("GET / HTTP/1.1\t\r\n"), 400 },
		{ ROW("GET /a b HTTP/1.1\r\n"), 400 },
		{ ROW(" GET / HTTP/1.1\r\n"), 501 },
		/* before it */
		{ ROW("\nGET / HTTP/1.1\r\n"), 400 },
		{ ROW("\rGET / HTTP/1.1\r\n"), 400 },
		{ ROW("\r\n\r\nGET / HTTP/1.1\r\n"), 400 },
		{ ROW("\r\n\nGET / HTTP/1.1\r\n"), 400 },
		{ ROW("\r\rGET / HTTP/1.1\r\n"), 400 },
		{ ROW("\0"), 400 },
		/* methods */
		{ ROW("FOO / HTTP/1.1\r\n"), 501 },
		{ ROW("GETX / HTTP/1.1\r\n"), 501 },
		{ ROW("GE / HTTP/1.1\r\n"), 501 },
		{ ROW("get / HTTP/1.1\r\n"), 501 },
		{ ROW("CONNECT a:80 HTTP/1.1\r\n"), 501 },
		{ ROW("CONNECT / HTTP/1.1\r\n"), 501 },
		{ ROW("GET\0 / HTTP/1.1\r\n"), 400 },
		{ ROW("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03"), 400 }, /* TLS */
	};

	REFUSE_ALL(cases);
}

/* RFC 9112 section 3.2: the other forms are for proxies. */
TEST(targets_other_than_paths_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW("GET http://a/ HTTP/1.1\r\n"), 400 },
		{ ROW("GET HTTP://a/ HTTP/1.1\r\n"), 400 },
		{ ROW("POST https://a:443/mcp?x HTTP/1.1\r\n"), 400 },
		{ ROW("GET a:80 HTTP/1.1\r\n"), 400 },
		{ ROW("GET a HTTP/1.1\r\n"), 400 },
		{ ROW("GET * HTTP/1.1\r\n"), 400 },
		{ ROW("POST * HTTP/1.1\r\n"), 400 },
		{ ROW("OPTIONS *x HTTP/1.1\r\n"), 400 },
		{ ROW("OPTIONS ** HTTP/1.1\r\n"), 400 },
		{ ROW("GET ?x HTTP/1.1\r\n"), 400 },
		{ ROW("GET #x HTTP/1.1\r\n"), 400 },
		{ ROW("GET /a#b HTTP/1.1\r\n"), 400 },
		{ ROW("GET /a?b#c HTTP/1.1\r\n"), 400 },
		{ ROW("GET \\a HTTP/1.1\r\n"), 400 },
		{ ROW("GET /\xC3\xA4 HTTP/1.1\r\n"), 400 },
		{ ROW("GET /\x7F HTTP/1.1\r\n"), 400 },
		{ ROW("GET /\x00 HTTP/1.1\r\n"), 400 },
		{ ROW("GET /a\x01 HTTP/1.1\r\n"), 400 },
	};

	REFUSE_ALL(cases);
}

/* RFC 9112 section 3.2: exactly one Host, and a valid one. */
TEST(host_must_be_there_once)
{
	static const struct bad_case cases[] = {
		{ ROW(GET "\r\n"), 400 },
		{ ROW(GET "X-Host: a\r\n\r\n"), 400 },
		{ ROW(GET "Host: a\r\nHost: b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a\r\nhost: a\r\n\r\n"), 400 },
		{ ROW("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a, b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a/b\r\n\r\n"), 400 },
		{ ROW(GET "Host: u@a\r\n\r\n"), 400 },
		{ ROW(GET "Host: http://a\r\n\r\n"), 400 },
		{ ROW(GET "Host: a:b\r\n\r\n"), 400 },
		{ ROW(GET "Host: a:1:2\r\n\r\n"), 400 },
		{ ROW(GET "Host: ::1\r\n\r\n"), 400 },
		{ ROW(GET "Host: \xC3\xA4\r\n\r\n"), 400 },
	};

	REFUSE_ALL(cases);
}

TEST(unknown_expectations_are_refused)
{
	static const struct bad_case cases[] = {
		{ ROW(POST "Expect: 200-ok\r\nContent-Length: 3\r\n\r\nabc"), 417 },
		{ ROW(POST "Expect: 100-continue, x\r\nContent-Length: 3\r\n\r\nabc"), 417 },
		{ ROW(POST "Expect: 100-continue\r\nExpect: x\r\nContent-Length: 3\r\n\r\nabc"),
		  417 },
		{ ROW(POST "Expect:\r\nContent-Length: 3\r\n\r\nabc"), 417 },
	};

	REFUSE_ALL(cases);
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
	static const struct str cases[] = {
		ROW(""),
		ROW("\n"),
		ROW("GET / HTTP/1.1"),
		ROW("GET / HTTP/1.1\n" HOST "\r\n"),
		ROW("GET  HTTP/1.1\r\n" HOST "\r\n"),
		ROW(" / HTTP/1.1\n" HOST "\r\n"),
		ROW(GET "Host: a\n\r\n"),
		ROW(GET HOST "\nX: y\r\n\r\n"),
		ROW(GET HOST "X: y\r\n z\r\n\r\n"),
		ROW(GET HOST "X : y\r\n\r\n"),
		ROW(GET HOST ": y\r\n\r\n"),
		ROW(GET HOST "X\r\n\r\n"),
		ROW(GET HOST "X: y\r\n"), /* cut off */
		ROW(GET HOST "transfer-encodinG: x\r\n\r\n"),
		ROW(GET "\r\n"),
		ROW("CONNECT a HTTP/1.1\r\n" HOST "\r\n"),
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *copy = malloc(cases[i].n ? cases[i].n : 1);
		struct http_field *fields = NULL;
		struct http_request r = { 0 };
		struct http_fault fault;
		size_t cap = 0;

		assert_non_null(copy);
		memcpy(copy, cases[i].p, cases[i].n);
		fault = head_read(copy, cases[i].n, &mem_default, &fields, &cap, &r);
		if (!fault.status)
			print_message("for: %s\n", cases[i].p);
		assert_true(fault.status >= 400);
		assert_non_null(fault.why);
		mem_free(&mem_default, fields);
		free(copy);
	}
}
