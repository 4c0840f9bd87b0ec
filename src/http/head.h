/* http/head.h - the header of a request: from its bytes to a struct http_request.
 *
 * llhttp has read the same bytes before; this is where they are split, and a second opinion. What
 * llhttp lets pass and other readers understand differently is refused here. Not here: the body and
 * how the bytes came together (http/parser.c).
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "http/message.h"

/* Why a request is refused. */
struct http_fault {
	int status; /* to answer with; 0: it is not refused */
	const char *why;
};

/* Looks at the request line alone, which is `line` with its line end. */
struct http_fault head_check_line(struct str line);
/* Reads the n bytes of a header, from the request line to the empty line. Names of fields are
 * changed to lower case in place; all slices of the request lie in the bytes. `*fields` grows as
 * needed and stays the caller's. Keep_alive and body are not touched, and expect_continue does not
 * tell yet whether there is a body. */
struct http_fault head_read(char *bytes, size_t n, const cleat_allocator *mem,
			    struct http_field **fields, size_t *cap, struct http_request *r);

#endif
