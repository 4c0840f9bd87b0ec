/* client/negotiation.c - see negotiation.h. */
#include "client/negotiation.h"

#include "base/error.h"
#include "protocol/era.h"
#include "json/parse.h"

/* ---- judging -------------------------------------------------------------------------------- */

enum revision negotiation_pick(const struct negotiation *n, const cleat_json *versions)
{
	enum revision best = REV_NONE;
	cleat_json_iter it = cleat_json_each(versions);

	while (json_is_array(versions) && cleat_json_next(&it)) {
		enum revision rev = revision_find(json_str(it.value));

		if (rev == REV_NONE || rev < best)
			continue;
		if (revision_is_modern(rev) ? n->may.modern
					    : n->may.legacy && rev <= n->may.best_legacy)
			best = rev;
	}
	return best;
}

bool negotiation_allows(const struct negotiation *n, enum revision rev)
{
	if (rev == REV_NONE || revision_is_modern(rev))
		return false;
	return !n->one_revision || rev == n->may.best_legacy;
}

bool negotiation_is_modern_error(const cleat_result *r)
{
	if (r->step != CLEAT_STEP_ANSWER)
		return false;
	switch (r->error.rpc_code) {
	case CLEAT_RPC_HEADER_MISMATCH:
	case CLEAT_RPC_MISSING_CAPABILITY: return true;
	/* The code is in the range that legacy servers use as they like; the list tells. */
	case CLEAT_RPC_UNSUPPORTED_VERSION:
		return json_is_array(json_member(r->error_data, "supported"));
	default: return false;
	}
}

bool negotiation_is_trouble(const cleat_result *r, bool http)
{
	int status = r->http_status;
	/* a proxy's, a wait that was too long, too much at once, or the server's own */
	bool passing = status == 407 || status == 408 || status == 429 || status >= 500;

	if (r->step == CLEAT_STEP_ANSWER || r->error.status == CLEAT_EPROTO)
		return passing;
	if (r->step == CLEAT_STEP_TIMEOUT)
		return http;
	if (r->step != CLEAT_STEP_HTTP)
		return true;
	return status < 400 || status == 401 || status == 403 || passing;
}

/* ---- states --------------------------------------------------------------------------------- */

void negotiation_init(struct negotiation *n, const cleat_client_options *o,
		      const struct options_eras *may)
{
	*n = (struct negotiation){ .may = *may,
				   .one_revision = o->protocol != NULL,
				   .verdict = o->known_era };
}

void negotiation_open(struct negotiation *n)
{
	n->stage = NEGOTIATION_LINK;
	n->stale = n->lacks_discover = n->retried_version = false;
	n->tried_modern = n->tried_legacy = n->reprobed = n->renewed = false;
	n->skip_probe = n->fell_back;
	error_clear(&n->heard);
}

void negotiation_stop(struct negotiation *n)
{
	n->stage = NEGOTIATION_NONE;
	n->initialized_tag = 0;
}

void negotiation_new_connection(struct negotiation *n)
{
	n->greeted = false;
}

void negotiation_suspect(struct negotiation *n)
{
	n->stale = n->may.legacy;
}

bool negotiation_died_of_probe(struct negotiation *n, const struct link *l, const cleat_error *why)
{
	if (n->stage != NEGOTIATION_DISCOVER || !n->may.legacy || n->tried_legacy ||
	    n->verdict == CLEAT_ERA_MODERN || l->http || l->local)
		return false;
	n->stage = NEGOTIATION_LINK;
	n->skip_probe = true;
	n->heard = *why;
	return true;
}
