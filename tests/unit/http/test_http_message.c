/* test_http_message.c - answers as they are written, and fields of requests. */
#include "http/message.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>

static const struct str none = { NULL, 0 };

static void expect_head(const struct http_response_head *h, struct str date, const char *wanted)
{
	struct buf b;

	buf_init(&b, NULL, 4096);
	http_write_head(&b, h, date);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_putc(&b, 0);
	assert_string_equal(b.data, wanted);
	buf_done(&b);
}

TEST(an_answer_has_status_fields_and_length)
{
	static const struct http_field fields[] = {
		{ { "Mcp-Session-Id", 14 }, { "abc", 3 } },
		{ { "X-Empty", 7 }, { "", 0 } },
	};
	struct http_response_head h = { .status = 200,
					.fields = fields,
					.n_fields = 2,
					.content_type = STR_LIT("application/json"),
					.length = 18446744073709551615u };

	expect_head(&h, STR_LIT("Sun, 06 Nov 1994 08:49:37 GMT"),
		    "HTTP/1.1 200 OK\r\n"
		    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
		    "Content-Type: application/json\r\n"
		    "Content-Length: 18446744073709551615\r\n"
		    "Mcp-Session-Id: abc\r\n"
		    "X-Empty: \r\n"
		    "\r\n");
	h = (struct http_response_head){ .status = 404 };
	expect_head(&h, none, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

TEST(the_framing_fits_status_and_version)
{
	static const struct {
		struct http_response_head h;
		const char *out;
	} cases[] = {
		{ { .status = 200, .chunked = true, .length = 7 },
		  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" },
		{ { .status = 200, .chunked = true, .close = true },
		  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" },
		/* HTTP/1.0 knows no chunks: the end of the connection is the end of the body */
		{ { .status = 200, .chunked = true, .is_1_0 = true },
		  "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" },
		/* and has to be told that the connection stays */
		{ { .status = 200, .length = 2, .is_1_0 = true },
		  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n" },
		{ { .status = 200, .length = 2, .is_1_0 = true, .close = true },
		  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n" },
		/* RFC 9110 8.6: no length in 1xx and 204 */
		{ { .status = 204 }, "HTTP/1.1 204 No Content\r\n\r\n" },
		{ { .status = 204, .chunked = true }, "HTTP/1.1 204 No Content\r\n\r\n" },
		{ { .status = 100 }, "HTTP/1.1 100 Continue\r\n\r\n" },
		{ { .status = 202 }, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n" },
		/* a status without a text has its space all the same (RFC 9112 4) */
		{ { .status = 299 }, "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_head(&cases[i].h, none, cases[i].out);
}

/* Response splitting. */
TEST(nothing_that_ends_a_line_is_written)
{
	static const struct http_field fields[] = {
		{ { "A", 1 }, { "x\r\nSet-Cookie: y", 16 } },
		{ { "B", 1 }, { "x\ny", 3 } },
		{ { "C", 1 }, { "x\ry", 3 } },
		{ { "D", 1 }, { "x\0y", 3 } },
		{ { "E", 1 }, { "x\x7Fy", 3 } },
		{ { "F", 1 }, { NULL, 0 } },
		{ { "G:", 2 }, { "x", 1 } },
		{ { "H\r\nI", 4 }, { "x", 1 } },
		{ { "", 0 }, { "x", 1 } },
		{ { "J", 1 }, { "x\ty \xC3\xA4", 6 } },
	};
	struct http_response_head h = { .status = 204,
					.fields = fields,
					.n_fields = sizeof fields / sizeof *fields,
					.content_type = STR_LIT("text/plain\r\n\r\n") };

	expect_head(&h, STR_LIT("x\n"), "HTTP/1.1 204 No Content\r\nJ: x\ty \xC3\xA4\r\n\r\n");
}

TEST(chunks_are_written)
{
	struct buf b;

	buf_init(&b, NULL, 4096);
	http_write_chunk(&b, "abc", 3);
	http_write_chunk(&b, "", 0); /* would be the end */
	http_write_chunk(&b, NULL, 0);
	http_write_chunk(&b, "0123456789abcdefghijklmnopq", 27);
	http_write_last_chunk(&b);
	buf_putc(&b, 0);
	assert_string_equal(b.data, "3\r\nabc\r\n1b\r\n0123456789abcdefghijklmnopq\r\n0\r\n\r\n");
	buf_done(&b);
}

TEST(reasons_are_those_of_the_registry)
{
	assert_string_equal(http_reason(200), "OK");
	assert_string_equal(http_reason(413), "Content Too Large");
	assert_string_equal(http_reason(431), "Request Header Fields Too Large");
	assert_string_equal(http_reason(505), "HTTP Version Not Supported");
	assert_string_equal(http_reason(0), "");
	assert_string_equal(http_reason(599), "");
}

TEST(fields_are_found_by_name)
{
	static const struct http_field fields[] = {
		{ { "host", 4 }, { "a", 1 } },
		{ { "x", 1 }, { "1", 1 } },
		{ { "x-y", 3 }, { "", 0 } },
		{ { "x", 1 }, { "2", 1 } },
	};
	struct http_request r = { .fields = fields, .n_fields = 4 };

	assert_true(str_eqz(http_request_field(&r, "host"), "a"));
	assert_true(str_eqz(http_request_field(&r, "x"), "1"));
	assert_non_null(http_request_field(&r, "x-y").p);
	assert_null(http_request_field(&r, "x-").p);
	assert_null(http_request_field(&r, "").p);
	assert_true(http_request_field_is_single(&r, "host"));
	assert_false(http_request_field_is_single(&r, "x"));
	assert_true(http_request_field_is_single(&r, "absent"));
	assert_true(http_request_field_is_single(&(struct http_request){ 0 }, "x"));
	assert_null(http_request_field(&(struct http_request){ 0 }, "x").p);
}
