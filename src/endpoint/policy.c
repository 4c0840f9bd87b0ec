/* endpoint/policy.c - see policy.h. */
#include "endpoint/policy.h"

#include "http/field.h"

static bool is_listed(const char *const *list, struct str s)
{
	for (; list && *list; list++)
		if (str_samez(s, *list))
			return true;
	return false;
}

static bool host_is_known(const struct policy_options *p, struct str host)
{
	return (p->loopback && http_is_loopback_name(host)) || is_listed(p->hosts, host);
}

/* Without a list, an address that others can reach has no name of its own to compare with. */
static bool host_passes(const struct policy_options *p, const struct http_request *r)
{
	struct str host, port;

	if (!http_request_field_is_single(r, "host"))
		return false;
	if (!http_split_host(http_request_field(r, "host"), &host, &port))
		return false;
	return host_is_known(p, host) || (!p->loopback && (!p->hosts || !*p->hosts));
}

static bool origin_passes(const struct policy_options *p, struct str origin)
{
	struct str scheme, host, port;

	if (is_listed(p->origins, origin))
		return true;
	if (!http_split_origin(origin, &scheme, &host, &port))
		return false;
	return host_is_known(p, host);
}

const char *policy_refuse(const struct policy_options *p, const struct http_request *r)
{
	struct str origin = http_request_field(r, "origin");
	struct str site = http_request_field(r, "sec-fetch-site");

	if (!host_passes(p, r))
		return "this Host is not served here; allow it by name if it should be "
		       "(--allow-host)";
	if (origin.p && (!http_request_field_is_single(r, "origin") || !origin_passes(p, origin)))
		return "requests of this Origin are refused; allow it by name if they should not be "
		       "(--allow-origin)";
	if (!origin.p && str_samez(site, "cross-site"))
		return "requests of other sites are refused";
	return NULL;
}

/* An origin of this machine may connect, but its pages get to read answers only when it was named. */
bool policy_is_cors(const struct policy_options *p, const struct http_request *r)
{
	struct str origin = http_request_field(r, "origin");

	return origin.p && is_listed(p->origins, origin);
}

size_t policy_cors_fields(const struct policy_options *p, const struct http_request *r,
			  bool preflight, struct http_field fields[POLICY_FIELDS])
{
	size_t n = 0;

	if (!policy_is_cors(p, r))
		return 0;
	fields[n++] = (struct http_field){ STR_LIT("Access-Control-Allow-Origin"),
					   http_request_field(r, "origin") };
	fields[n++] = (struct http_field){ STR_LIT("Vary"), STR_LIT("Origin") };
	if (!preflight) {
		fields[n++] = (struct http_field){ STR_LIT("Access-Control-Expose-Headers"),
						   STR_LIT("Mcp-Session-Id, WWW-Authenticate, "
							   "Retry-After") };
		return n;
	}
	fields[n++] = (struct http_field){ STR_LIT("Access-Control-Allow-Methods"),
					   STR_LIT("POST, GET, DELETE") };
	/* The names are those the browser asked for: it may only send what it names here, and none of
	 * them means anything to us that it could not. */
	if (http_request_field(r, "access-control-request-headers").p)
		fields[n++] = (struct http_field){
			STR_LIT("Access-Control-Allow-Headers"),
			http_request_field(r, "access-control-request-headers"),
		};
	return n;
}
