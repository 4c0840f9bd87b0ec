/* client/notify.c - notifications of the server: progress, log messages, changes, and what it gives up.
 *
 * Unknown ones, and those whose params are not what they should be, are ignored: nobody can be told.
 */
#include "client/state.h"

#include "protocol/era.h"
#include "json/parse.h"

static const struct str absent;

/* ---- progress ------------------------------------------------------------------------------- */

/* 2026-07-28 patterns/progress: the value MUST increase; what goes back is not passed on, but the server
 * lives. The clock is set back as patterns/cancellation allows; the hard timeout stands. */
static void progress(cleat_client *c, const cleat_json *params)
{
	cleat_call *call = call_by_id(c, json_member(params, "progressToken"));
	double done = cleat_json_num(json_member(params, "progress"), -1);
	double total = cleat_json_num(json_member(params, "total"), 0);

	if (!call || !cleat_json_number_text(json_member(params, "progress")))
		return;
	call_touch(call);
	if (done < call->progress)
		return;
	call->progress = done;
	if (call->opts.on_progress)
		call->opts.on_progress(call, done, total,
				       cleat_json_str(json_member(params, "message"), ""));
}

/* ---- log ------------------------------------------------------------------------------------ */

/* Over HTTP a message belongs to the exchange that it came in; on a stream nothing says so, but where
 * there is only one call it is that one's (2026-07-28 server/utilities/logging). */
static cleat_call *whose(cleat_client *c, void *tag)
{
	cleat_call *call = tag ? call_by_tag(c, tag) : call_only(c);

	return c->modern && call && call->opts.on_log ? call : NULL;
}

static void log_message(cleat_client *c, const cleat_json *params, void *tag)
{
	static const struct str none = { "", 0 };
	struct str name = json_str(json_member(params, "level"));
	const cleat_json *data = json_member(params, "data");
	const char *logger = cleat_json_str(json_member(params, "logger"), NULL);
	int level = log_level_find(name.p ? name : none);
	cleat_call *call = whose(c, tag);

	if (level < 0 || !data)
		return;
	if (call)
		call->opts.on_log(call, level, logger, data);
	else if (c->opts.on_log)
		c->opts.on_log(c, level, logger, data, c->opts.userdata);
}

/* ---- changes -------------------------------------------------------------------------------- */

/* 2026-07-28 caching: a relevant notification makes what is kept stale. */
static void forget(cleat_client *c, const char *method)
{
	c->changes++;
	if (c->cache)
		cache_drop(c->cache, str_of(method), absent);
}

static void resource_updated(cleat_client *c, const cleat_json *params)
{
	struct str uri = json_str(json_member(params, "uri"));

	if (!uri.p || str_has_nul(uri))
		return;
	/* It may be a part of what was read, so all that was read goes. */
	forget(c, "resources/read");
	watch_tell(c, CLEAT_CHANGE_RESOURCE, uri);
}

static void changed(cleat_client *c, const struct rpc_message *m)
{
	if (str_eqz(m->method, "notifications/resources/updated")) {
		resource_updated(c, m->params);
	} else if (str_eqz(m->method, "notifications/tools/list_changed")) {
		forget(c, "tools/list");
		toolbook_clear(c->tools); /* what it promised is not good any more, either */
		watch_tell(c, CLEAT_CHANGE_TOOLS, absent);
	} else if (str_eqz(m->method, "notifications/prompts/list_changed")) {
		forget(c, "prompts/list");
		watch_tell(c, CLEAT_CHANGE_PROMPTS, absent);
	} else if (str_eqz(m->method, "notifications/resources/list_changed")) {
		forget(c, "resources/list");
		forget(c, "resources/templates/list");
		watch_tell(c, CLEAT_CHANGE_RESOURCES, absent);
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

void notify_take(cleat_client *c, const struct rpc_message *m, const cleat_json *message, void *tag)
{
	const cleat_json *meta = json_member(m->params, "_meta");

	if (str_eqz(m->method, "notifications/progress"))
		progress(c, m->params);
	else if (str_eqz(m->method, "notifications/message"))
		log_message(c, m->params, tag);
	else if (str_eqz(m->method, "notifications/cancelled") && c->modern)
		listen_cancelled(c, json_member(m->params, "requestId"));
	else if (str_eqz(m->method, "notifications/cancelled"))
		asked_cancelled(c, message);
	else if (str_eqz(m->method, "notifications/subscriptions/acknowledged") && c->modern)
		listen_acknowledged(c, meta, m->params, tag);
	else if (!c->modern || listen_owns(c, meta, tag))
		changed(c, m);
}
