/* server/method.c - see method.h. The one table of methods.
 *
 * 2026-07-28 removed initialize, ping, logging/setLevel and resources/(un)subscribe: to a modern
 * request they are unknown, also on a connection that speaks the legacy era as well.
 */
#include "server/method.h"
#include "base/cold.h"

#include "request/conn.h"
#include "request/life.h"
#include "request/out.h"
#include "request/reply.h"
#include "server/asked_call.h"
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
	  .lasting = true,
	  .available = server_has_resources,
	  .serve = serve_subscribe },
	{ .name = "resources/unsubscribe",
	  .legacy = true,
	  .lasting = true,
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
	  .lasting = true,
	  .available = has_logging,
	  .serve = serve_set_level },
	{ .name = "server/discover", .modern = true, .cacheable = true, .serve = serve_discover },
	{ .name = "subscriptions/listen", .modern = true, .serve = serve_listen },
};

/* A method of the program's own. */
static const struct method own = { BOTH, .asks = true, .serve = serve_own,
				   .write = reply_write_own };
static const struct method own_notification = { BOTH, .serve = serve_own };

static bool is_of_protocol(struct str name)
{
	for (size_t i = 0; i < CLEAT_COUNT(methods); i++)
		if (str_eqz(name, methods[i].name))
			return true;
	return false;
}

bool method_is_reserved(struct str name)
{
	static const char *const others[] = { "elicitation/create", "sampling/createMessage",
					      "roots/list" }; /* asked of clients */

	if (is_of_protocol(name))
		return true;
	for (size_t i = 0; i < CLEAT_COUNT(others); i++)
		if (str_eqz(name, others[i]))
			return true;
	return str_starts(name, "rpc.") || str_starts(name, "notifications/");
}

static bool known(const struct method *m, const cleat_request *req)
{
	return (req->ctx.era->modern ? m->modern : m->legacy) &&
	       !(m->lasting && req->conn->facts.mode == PEER_STATELESS) &&
	       (!m->available || m->available(req->server));
}

/* Those that this connection can know. */
static struct method_table table_of(const cleat_request *req)
{
	if (req->conn->facts.mode == PEER_ASKED)
		return req->server->asked->methods;
	return (struct method_table){ methods, CLEAT_COUNT(methods) };
}

static void offer_own(const cleat_request *req, struct str_nearest *n)
{
	enum { ENOUGH = 1000 }; /* names looked at: a hint must not become work */
	const struct shelf *own_ones = &req->server->registry.shelves[SHELF_METHODS];

	for (size_t i = 0; i < own_ones->count && i < ENOUGH; i++)
		if (!own_ones->list[i]->method.notification)
			str_nearest_offer(n, own_ones->list[i]->key);
}

bool method_exists(const cleat_request *req)
{
	return is_of_protocol(req->msg.method) ||
	       registry_find(&req->server->registry, SHELF_METHODS, req->msg.method);
}

COLD void method_refuse(cleat_request *req)
{
	struct method_table t = table_of(req);
	struct str_nearest n = { .wanted = req->msg.method };

	for (size_t i = 0; i < t.n; i++)
		if (known(&t.v[i], req) && !str_eqz(req->msg.method, t.v[i].name))
			str_nearest_offer(&n, str_of(t.v[i].name));
	offer_own(req, &n);
	out_unknown(req, CLEAT_RPC_METHOD_NOT_FOUND, "method", req->msg.method, n.best);
}

COLD void method_unknown(cleat_request *req)
{
	method_refuse(req);
	request_end(req);
}

static bool dispatch_own(cleat_request *req)
{
	bool notification = req->msg.kind == RPC_NOTIFICATION;
	struct entry *e = registry_find(&req->server->registry, SHELF_METHODS, req->msg.method);

	if (!e || e->method.notification != notification)
		return false;
	req->method = notification ? &own_notification : &own;
	request_use(req, e, SHAPE_OWN);
	req->method->serve(req);
	return true;
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
	if (!dispatch_own(req))
		method_unknown(req);
}
