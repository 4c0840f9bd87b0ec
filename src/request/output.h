/* request/output.h - a tool's result, held against what its output schema or fields promise.
 *
 * 2025-06-18 server/tools, output schema: a server that gives one MUST give structured results that
 * conform to it. So a result that does not is a fault of the program: it is logged for the one who
 * wrote it, and the client gets an error without any of it.
 */
#ifndef REQUEST_OUTPUT_H
#define REQUEST_OUTPUT_H

#include "request/entry.h"
#include "request/request.h"

/* Has the request's tool said what its results are, and is this one no error? */
static inline bool output_promised(const cleat_request *req)
{
	return req->entry && req->entry->schemas.output.p && !req->is_error;
}

/* Is the structured result looked at before it is sent? */
static inline bool output_is_looked_at(const cleat_request *req)
{
	return req->asked || req->shape == SHAPE_OWN || output_promised(req);
}

/* The structured result, of which there is one. A value that was given was kept; what a table of fields or
 * a template has written is read: text is what is going to be sent, and to read a little of it takes fewer
 * steps than to make values beside it. CLEAT_OK, or why not, with the reason in *err (may be NULL). */
int output_value(cleat_request *req, cleat_error *err);

/* Does the structured result, in whichever revision and whether or not it will be sent as such, fit?
 * If not, the reason is logged and the error was sent. */
bool output_check(cleat_request *req);

#endif
