/* http/parser.h - requests out of a byte stream, with llhttp in its strict mode and limits of ours.
 *
 * Fed with any slices, also single bytes. Everything is refused that another parser might read
 * differently (request smuggling): see http/parser.c for the list. After an error the connection
 * cannot be used any more.
 */
#ifndef HTTP_PARSER_H
#define HTTP_PARSER_H

#include "http/message.h"

struct http_limits {
	size_t max_head; /* bytes of request line and header; 0: 16 KiB */
	size_t max_body; /* bytes; 0: 4 MiB */
};

enum http_progress {
	HTTP_MORE,      /* all bytes were taken, and more are needed */
	HTTP_HEAD_DONE, /* the header is complete: look at it, then go on feeding the rest (also
			   when there is none: a request without a body is complete only then) */
	HTTP_DONE,      /* the request is complete: the rest belongs to the next one, after
			   http_parser_next() */
	HTTP_FAILED     /* see http_parser_error() */
};

struct http_parser;

/* NULL when out of memory. */
struct http_parser *http_parser_new(const cleat_allocator *mem, const struct http_limits *limits);
void http_parser_free(struct http_parser *p);
/* Takes bytes; *ret_used of them were taken. After HTTP_HEAD_DONE it is called again in any case, if need
 * be with no bytes: that tells whether the request is complete already, or its body announced to be too
 * large, before the client is told to send it ("100 Continue"). Nothing is taken after HTTP_DONE and
 * HTTP_FAILED. */
enum http_progress http_parser_feed(struct http_parser *p, const char *bytes, size_t n,
				    size_t *ret_used);
/* The request, from HTTP_HEAD_DONE on; the body from HTTP_DONE on. Good until http_parser_next(). */
const struct http_request *http_parser_request(const struct http_parser *p);
/* Has no request begun? (An idle connection may be closed at any time.) */
bool http_parser_is_idle(const struct http_parser *p);
/* A limit of the endpoint's own for this request's body, lower or higher than the usual one. Only between
 * HTTP_HEAD_DONE and the next feed; no effect at other times. */
void http_parser_limit_body(struct http_parser *p, size_t max_body);
/* Forgets the request and gets ready for the next; memory above a few KiB is given back, so that an
 * idle connection is small. */
void http_parser_next(struct http_parser *p);
/* Of HTTP_FAILED: the status to answer with (400, 413, 417, 431, 501, 505; 500 for lack of
 * memory), and why, in words; 0 when there is no failure. */
int http_parser_error(const struct http_parser *p, const char **ret_why);

#endif
