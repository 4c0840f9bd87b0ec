/* server/method.c - see method.h. The one table of methods.
 *
 * 2026-07-28 removed initialize, ping, logging/setLevel and resources/(un)subscribe: to a modern
 * request they are unknown, also on a connection that speaks the legacy era as well.
 */
#include "server/method.h"
#include "base/cold.h"

#include "server/asked_call.h"
#include "server/conn.h"
#include "server/life.h"
#include "server/out.h"
#include "server/reply.h"
#include "server/serve.h"

static bool has_logging(const cleat_server *s)
{
	return !s->opts.no_logging;
}

#define BOTH .legacy = true, .modern = true

static const struct method methods[] = {
	{ .name = "tools/call",
	  BOTH,
	  .asks = true,
	  .available = server_has_tools,
	  .serve = serve_tools_call,
	  .write = reply_write_tool },
	{ .name = "tools/list",
	  BOTH,
	  .cacheable = true,
	  .available = server_has_tools,
	  .serve = serve_tools_list },
	{ .name = "resources/read",
	  BOTH,
	  .asks = true,
	  .cacheable = true,
	  .available = server_has_resources,
	  .serve = serve_resources_read,
	  .write = reply_write_resource },
	{ .name = "resources/list",
	  BOTH,
	  .cacheable = true,
	  .available = server_has_resources,
	  .serve = serve_resources_list },
	{ .name = "resources/templates/list",
	  BOTH,
	  .cacheable = true,
	  .available = server_has_resources,
	  .serve = serve_templates_list },
	{ .name = "resources/subscribe",
	  .legacy = true,
	  .available = server_has_resources,
	  .serve = serve_subscribe },
	{ .name = "resources/unsubscribe",
	  .legacy = true,
	  .available = server_has_resources,
	  .serve = serve_unsubscribe },
	{ .name = "prompts/get",
	  BOTH,
	  .asks = true,
	  .available = server_has_prompts,
	  .serve = serve_prompts_get,
	  .write = reply_write_prompt },
	{ .name = "prompts/list",
	  BOTH,
	  .cacheable = true,
	  .available = server_has_prompts,
	  .serve = serve_prompts_list },
	{ .name = "completion/complete",
	  BOTH,
	  .available = server_has_completions,
	  .serve = serve_complete,
	  .write = reply_write_completion },
	{ .name = "ping", .legacy = true, .serve = serve_ping },
	{ .name = "initialize", .legacy = true, .serve = serve_initialize },
	{ .name = "logging/setLevel",
	  .legacy = true,
	  .available = has_logging,
	  .serve = serve_set_level },
	{ .name = "server/discover", .modern = true, .cacheable = true, .serve = serve_discover },
	{ .name = "subscriptions/listen", .modern = true, .serve = serve_listen },
};

static bool known(const struct method *m, const cleat_request *req)
{
	return (req->ctx.era->modern ? m->modern : m->legacy) &&
	       (!m->available || m->available(req->server));
}

/* Those that this connection can know. */
static struct method_table table_of(const cleat_request *req)
{
	if (req->conn->facts.mode == PEER_ASKED)
		return req->server->asked->methods;
	return (struct method_table){ methods, CLEAT_COUNT(methods) };
}

COLD void method_unknown(cleat_request *req)
{
	struct method_table t = table_of(req);
	struct str_nearest n = { .wanted = req->msg.method };

	for (size_t i = 0; i < t.n; i++)
		if (known(&t.v[i], req) && !str_eqz(req->msg.method, t.v[i].name))
			str_nearest_offer(&n, str_of(t.v[i].name));
	out_unknown(req, CLEAT_RPC_METHOD_NOT_FOUND, "method", req->msg.method, n.best);
	request_end(req);
}

void method_dispatch(cleat_request *req)
{
	struct method_table t = table_of(req);

	for (size_t i = 0; i < t.n; i++) {
		const struct method *m = &t.v[i];

		if (str_eqz(req->msg.method, m->name) && known(m, req)) {
			req->method = m;
			m->serve(req);
			return;
		}
	}
	method_unknown(req);
}
