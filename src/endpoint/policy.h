/* endpoint/policy.h - who may talk to an HTTP endpoint, by Host and Origin, and what browsers are
 * told about it (CORS).
 *
 * A web page can make its visitor's browser send requests to servers on the visitor's machine. So on
 * an address that only this machine can reach, Host must name this machine (DNS rebinding), and a
 * request with an Origin is refused unless the origin is this machine's or was allowed by name. There
 * is no wildcard.
 */
#ifndef ENDPOINT_POLICY_H
#define ENDPOINT_POLICY_H

#include "http/message.h"

struct policy_options {
	bool loopback; /* only this machine can reach the address */
	const char *const
		*hosts; /* further names that Host may have, without port; NULL-terminated */
	const char *const *origins; /* "https://app.example"; NULL-terminated */
};

/* NULL when the request may pass; otherwise why not, in words (403). */
const char *policy_refuse(const struct policy_options *p, const struct http_request *r);
/* Is the request's Origin one that browsers may be told about? */
bool policy_is_cors(const struct policy_options *p, const struct http_request *r);

enum { POLICY_FIELDS = 4 };
/* The CORS fields of an answer; gives how many (0 when policy_is_cors() is false). `preflight`: of the
 * answer to OPTIONS. */
size_t policy_cors_fields(const struct policy_options *p, const struct http_request *r,
			  bool preflight, struct http_field fields[POLICY_FIELDS]);

#endif
