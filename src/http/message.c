/* http/message.c - see message.h. */
#include "http/message.h"
#include "http/token.h"

/* ---- requests --------------------------------------------------------------------------------- */

struct str http_request_find(const struct http_request *r, struct str name)
{
	for (size_t i = 0; i < r->n_fields; i++) {
		if (str_eq(r->fields[i].name, name))
			return r->fields[i].value;
	}
	return (struct str){ NULL, 0 };
}

size_t http_request_count(const struct http_request *r, struct str name)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_fields; i++)
		n += str_eq(r->fields[i].name, name);
	return n;
}

/* ---- answers ---------------------------------------------------------------------------------- */

const char *http_reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		{ 100, "Continue" },
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 303, "See Other" },
		{ 304, "Not Modified" },
		{ 307, "Temporary Redirect" },
		{ 308, "Permanent Redirect" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 410, "Gone" },
		{ 411, "Length Required" },
		{ 412, "Precondition Failed" },
		{ 413, "Content Too Large" },
		{ 414, "URI Too Long" },
		{ 415, "Unsupported Media Type" },
		{ 417, "Expectation Failed" },
		{ 421, "Misdirected Request" },
		{ 422, "Unprocessable Content" },
		{ 425, "Too Early" },
		{ 426, "Upgrade Required" },
		{ 428, "Precondition Required" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		if (reasons[i].status == status)
			return reasons[i].text;
	}
	return "";
}

/* In decimal or hexadecimal; independent of the locale and quicker than printf. */
static void put_number(struct buf *b, uint64_t v, unsigned base)
{
	char digits[20];
	size_t at = sizeof digits;

	do {
		digits[--at] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	buf_append(b, digits + at, sizeof digits - at);
}

static void message_put(struct buf *b, struct str s)
{
	buf_append(b, s.p, s.n);
}

static void put_field(struct buf *b, struct str name, struct str value)
{
	size_t n = name.n + value.n + 4;
	char *at;

	if (!value.p || !http_is_token(name) || !http_is_field_value(value))
		return;
	at = buf_reserve(b, n);
	if (!at)
		return;
	memcpy(at, name.p, name.n);
	memcpy(at + name.n, ": ", 2);
	memcpy(at + name.n + 2, value.p, value.n);
	memcpy(at + n - 2, "\r\n", 2);
	buf_commit(b, n);
}

static void put_framing(struct buf *b, const struct http_response_head *h)
{
	bool bodiless = h->status < 200 || h->status == 204; /* RFC 9110 section 8.6 */

	if (bodiless)
		return;
	if (!h->chunked) {
		message_put(b, STR_LIT("Content-Length: "));
		put_number(b, h->length, 10);
		message_put(b, STR_LIT("\r\n"));
	} else if (!h->is_1_0) {
		message_put(b, STR_LIT("Transfer-Encoding: chunked\r\n"));
	}
}

void http_write_head(struct buf *b, const struct http_response_head *h, struct str date)
{
	message_put(b, STR_LIT("HTTP/1.1 "));
	put_number(b, (uint64_t)h->status, 10);
	buf_putc(b, ' ');
	buf_appendz(b, http_reason(h->status));
	message_put(b, STR_LIT("\r\n"));
	put_field(b, STR_LIT("Date"), date);
	put_field(b, STR_LIT("Content-Type"), h->content_type);
	put_framing(b, h);
	for (size_t i = 0; i < h->n_fields; i++)
		put_field(b, h->fields[i].name, h->fields[i].value);
	if (h->close || (h->chunked && h->is_1_0))
		message_put(b, STR_LIT("Connection: close\r\n"));
	else if (h->is_1_0)
		message_put(b, STR_LIT("Connection: keep-alive\r\n"));
	message_put(b, STR_LIT("\r\n"));
}

void http_write_chunk(struct buf *b, const void *p, size_t n)
{
	if (n == 0)
		return; /* would be the last one */
	put_number(b, n, 16);
	message_put(b, STR_LIT("\r\n"));
	buf_append(b, p, n);
	message_put(b, STR_LIT("\r\n"));
}

void http_write_last_chunk(struct buf *b)
{
	message_put(b, STR_LIT("0\r\n\r\n"));
}
