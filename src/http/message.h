/* http/message.h - an HTTP/1.1 request as it is after reading, and what an answer is made of.
 *
 * Bytes only: where they come from and go to is the transport's business. All slices of a request
 * lie in its parser's memory and are good until the parser goes on to the next one.
 */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include "base/buf.h"
#include "http/fields.h"

/* (The shorter names belong to llhttp.) */
enum http_method {
	HTTP_METHOD_OTHER,
	HTTP_METHOD_GET,
	HTTP_METHOD_HEAD,
	HTTP_METHOD_POST,
	HTTP_METHOD_DELETE,
	HTTP_METHOD_OPTIONS
};

enum { HTTP_MAX_FIELDS = 100 };

struct http_request {
	enum http_method method;
	struct str method_name;
	struct str path; /* of the target, as it was sent, without the query; begins with '/' (or is
			     "*" of OPTIONS) */
	struct str query; /* behind '?'; absent when there is none */
	/* Of a target that was a whole URL; absent when it was not. It has taken the place of Host's value then
	 * (RFC 9112 section 3.2.2). */
	struct str authority;
	const struct http_field *fields;
	size_t n_fields;      /* at most HTTP_MAX_FIELDS */
	bool keep_alive;      /* the client wants to use the connection again */
	bool expect_continue; /* it waits for "100 Continue" before it sends the body; never when there
				 is not a body */
	bool http_1_0;
	struct str body; /* of a complete request; empty when it has none */
};

struct str http_request_find(const struct http_request *r, struct str name);
size_t http_request_count(const struct http_request *r, struct str name);

/* The value of a field, by its name in lower case; absent when it is not there. Of a field that
 * stands more than once the first (http_request_field_is_single tells). Inline: with a literal the
 * compiler knows the length. */
static inline struct str http_request_field(const struct http_request *r, const char *name)
{
	return http_request_find(r, str_of(name));
}

/* Does it stand at most once? Fields that decide something must (Host, Origin, Content-Type,
 * Authorization, Mcp-*). */
static inline bool http_request_field_is_single(const struct http_request *r, const char *name)
{
	return http_request_count(r, str_of(name)) <= 1;
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* "Not Found"; "" for a status without a fixed text. */
const char *http_reason(int status);

struct http_response_head {
	int status;
	const struct http_field *fields; /* besides those below */
	size_t n_fields;
	struct str content_type; /* absent: none */
	bool chunked;            /* the body is sent in chunks; otherwise `length` bytes */
	size_t length;
	bool close;  /* Connection: close */
	bool is_1_0; /* the request was HTTP/1.0: no chunks, the end is the end of the connection */
};

/* Appends status line and header, up to and including the empty line. A field is left out whose value
 * has CR, LF, NUL or another control character but the tab in it, or whose name is not a token. `date` is
 * a ready value for Date, absent: none. 1xx and 204 have no body and get no Content-Length. An HTTP/1.0
 * client is told when the connection stays open. */
void http_write_head(struct buf *b, const struct http_response_head *h, struct str date);
/* Appends one chunk (nothing for n == 0), and the end of a chunked body. */
void http_write_chunk(struct buf *b, const void *p, size_t n);
void http_write_last_chunk(struct buf *b);

#endif
