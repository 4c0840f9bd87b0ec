/* client/tools.c - every tools/list passes here: what the client must remember of it, and what it must
 * take out of it.
 *
 * 2026-07-28 streamable-http, Custom Headers: a client on HTTP MUST leave out tools whose x-mcp-header
 * annotations are wrong, and SHOULD warn. The knowledge itself is in toolbook.c.
 */
#include "client/state.h"

#include "json/parse.h"

static const struct str absent;

static bool is_first(const cleat_call *call)
{
	if (call->pages)
		return !pages_begun(call);
	return !json_member(call->params, "cursor");
}

static void warn(cleat_client *c, const cleat_json *tool, const cleat_error *why)
{
	struct str name = json_str(json_member(tool, "name"));

	if (name.n > 60)
		name.n = 60;
	client_note(c, CLEAT_LOG_WARNING, "the tool \"%.*s\" was left out: %s", (int)name.n,
		    name.p ? name.p : "", why->message);
}

/* The result without the tools that are marked, in the same arena; NULL when out of memory. */
static const cleat_json *without(cleat_result *r, const cleat_json *value, const bool *bad)
{
	cleat_json_iter it = cleat_json_each(value), tools;
	const cleat_json *ret;
	struct build b;

	build_init(&b, &r->arena);
	build_obj(&b);
	while (cleat_json_next(&it)) {
		build_key(&b, json_str(it.key));
		if (!str_eqz(json_str(it.key), "tools")) {
			build_value(&b, it.value);
			continue;
		}
		build_arr(&b);
		tools = cleat_json_each(it.value);
		while (cleat_json_next(&tools))
			if (!bad[tools.index])
				build_value(&b, tools.value);
		build_end(&b);
	}
	build_end(&b);
	build_finish(&b, &ret, NULL);
	return ret;
}

const cleat_json *tools_learn(cleat_call *call, cleat_result *r, const cleat_json *value)
{
	cleat_client *c = call->client;
	const cleat_json *tools = json_member(value, "tools");
	cleat_json_iter it = cleat_json_each(tools);
	size_t n = cleat_json_size(tools), n_bad = 0;
	bool strict = c->modern && c->link->http;
	cleat_error err;
	bool *bad;

	if (!json_is_array(tools))
		return value;
	bad = arena_zalloc(&r->arena, n);
	if (!bad)
		return NULL;
	if (is_first(call))
		toolbook_begin(c->tools);
	while (cleat_json_next(&it)) {
		int rc = toolbook_learn(c->tools, it.value, &err);

		if (rc == CLEAT_EINVAL && strict) {
			bad[it.index] = true;
			n_bad++;
			warn(c, it.value, &err);
		}
	}
	if (!json_is_string(json_member(value, "nextCursor")))
		toolbook_end(c->tools);
	return n_bad ? without(r, value, bad) : value;
}

/* ---- reading the list anew ------------------------------------------------------------------- */

static void resend(cleat_call *call, void *arg)
{
	(void)arg;
	call_send(call);
}

static void refreshed(cleat_call *call, cleat_result *r)
{
	cleat_client *c = call->client;

	cleat_result_free(r);
	c->refreshing_tools = false;
	/* Also when the list could not be read: the server says the same once more, then. */
	if (!c->closing)
		call_each(c, CALL_HELD, resend, NULL);
}

void tools_refresh(cleat_call *call)
{
	cleat_client *c = call->client;
	cleat_call *list;

	call->state = CALL_HELD;
	if (c->cache)
		cache_drop(c->cache, STR_LIT("tools/list"), absent);
	if (c->refreshing_tools)
		return;
	list = call_internal(client_call_new(c, NULL), "tools/list", NULL, refreshed);
	if (!list || !pages_attach(list, CLEAT_LIST_TOOLS)) {
		call_drop(list, "");
		call_end(call, NULL);
		return;
	}
	c->refreshing_tools = true;
	call_send(list);
}
