/* client/visit.c - pages that the user has to visit before a request can be served: the error -32042
 * (2025-11-25 client/elicitation, URL Elicitation Required Error; no other revision has it).
 *
 * Each page is a question like those that a server asks by itself. When all are accepted the request is
 * sent again, once; otherwise, and when the server says the same again, the call ends with the error as it
 * came. Accepted means that the user agreed to go there, not that he is done; a handler that can tell may
 * wait for that, nobody waits here: notifications/elicitation/complete need not come.
 */
#include "client/state.h"

#include "json/parse.h"
#include "json/skim.h"

enum { MAX_VISITS = 64 };

void visit_done(cleat_call *call)
{
	cleat_result_free(call->visit);
	call->visit = NULL;
}

void visit_fail(cleat_call *call)
{
	cleat_result *r = call->visit;

	call->visit = NULL;
	call_end(call, r);
}

static void agreed(cleat_call *call)
{
	if (--call->asking)
		return;
	visit_done(call);
	rounds_resume(call);
}

void visit_answer(cleat_call *call, struct str result)
{
	if (skim_is_text(skim_find(result, "action"), "accept"))
		agreed(call);
	else
		visit_fail(call);
}

/* "Any elicitations returned in the error MUST be URL mode elicitations and have an elicitationId
 * property." */
static bool is_list_of_pages(const cleat_json *list)
{
	static const char *const texts[] = { "elicitationId", "url", "message" };
	cleat_json_iter it = cleat_json_each(list);
	size_t n = cleat_json_size(list);

	if (!json_is_array(list) || n < 1 || n > MAX_VISITS)
		return false;
	while (cleat_json_next(&it)) {
		if (!str_eqz(json_str(json_member(it.value, "mode")), "url"))
			return false;
		for (size_t i = 0; i < CLEAT_COUNT(texts); i++)
			if (!json_is_string(json_member(it.value, texts[i])))
				return false;
	}
	return true;
}

static bool wanted(const cleat_call *call, const cleat_result *r)
{
	const cleat_client *c = call->client;

	return r->error.rpc_code == CLEAT_RPC_URL_ELICITATION && !call->done && !call->visited &&
	       c->opts.on_url && revision_features(c->rev) & FEAT_ELICITATION_ID &&
	       is_list_of_pages(json_member(r->error_data, "elicitations"));
}

bool visit_begin(cleat_call *call, cleat_result *r)
{
	const cleat_json *list = json_member(r->error_data, "elicitations");
	cleat_json_iter it = cleat_json_each(list);

	if (!wanted(call, r))
		return false;
	call->visited = true;
	call->visit = r;
	rounds_pause(call);
	/* one more, as in rounds_begin() */
	call->asking = (unsigned)cleat_json_size(list) + 1;
	while (call->state == CALL_ASKING && cleat_json_next(&it))
		if (asked_input(call, json_str(json_member(it.value, "elicitationId")),
				STR_LIT("elicitation/create"), it.value) != CLEAT_OK)
			visit_fail(call);
	if (call->state == CALL_ASKING)
		agreed(call);
	return true;
}
