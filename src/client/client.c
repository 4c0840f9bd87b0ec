/* client/client.c - the client as an object: made, asked about itself and its server, freed.
 *
 * Not here: what it does in a turn of the loop (turn.c), reaching the server (reconnect.c,
 * negotiate.c), calls (call.c).
 */
#include "client/options.h"
#include "client/state.h"

#include "base/error.h"
#include "base/mem.h"
#include "protocol/era.h"
#include "json/parse.h"

#include <stdio.h>

/* ---- making and freeing ---------------------------------------------------------------------- */

static void note_tool(void *ctx, int level, const char *text)
{
	client_note(ctx, level, "%s", text);
}

static bool make_parts(cleat_client *c)
{
	arena_init(&c->keep, &c->mem, 0);
	if (options_copy(&c->keep, &c->opts) != CLEAT_OK)
		return false;
	c->tools = toolbook_new(
		&(struct toolbook_options){ .mem = &c->mem, .note = note_tool, .ctx = c });
	if (!c->opts.no_cache)
		c->cache = cache_new(&c->mem, c->opts.max_cache);
	return c->tools && (c->cache || c->opts.no_cache);
}

static void check_options(cleat_client *c)
{
	struct options_eras eras;
	cleat_error err;

	if (options_check(&c->opts, &eras, &err) != CLEAT_OK)
		client_fail(c, CLEAT_STEP_ARGUMENTS, &err);
	if (c->opts.old_sse) { /* which is older than the other era */
		eras.modern = false;
		eras.legacy = true;
	}
	negotiation_init(&c->neg, &c->opts, &eras);
	c->roots = c->opts.n_roots || c->opts.offer_roots;
}

cleat_client *client_new(const cleat_client_options *opts, const struct client_hooks *hooks)
{
	cleat_allocator mem = mem_resolve(opts ? opts->allocator : NULL);
	cleat_client *c = mem_zalloc(&mem, sizeof *c);

	if (!c)
		return NULL;
	c->mem = mem;
	c->hooks = *hooks;
	if (opts)
		c->opts = *opts;
	c->opts.allocator = &c->mem;
	c->rev = REV_NONE;
	buf_init(&c->out, &c->mem, MAX_OUT);
	buf_init(&c->meta, &c->mem, MAX_OUT);
	buf_init(&c->asked_out, &c->mem, MAX_OUT);
	if (!make_parts(c)) {
		client_free(c);
		return NULL;
	}
	rpc_table_init(&c->calls, &c->mem, (size_t)c->opts.max_calls + MAX_INTERNAL,
		       hooks->random(hooks->ctx));
	check_options(c);
	return c;
}

static void free_calls(cleat_client *c)
{
	struct rpc_node *n;

	while ((n = rpc_table_first(&c->calls))) {
		rpc_table_remove(&c->calls, n);
		call_free(CONTAINER_OF(n, cleat_call, node));
	}
	while (c->done_first) {
		cleat_call *call = c->done_first;

		c->done_first = call->next;
		cleat_result_free(call->result);
		call_free(call);
	}
	while (c->spare) {
		cleat_call *call = c->spare;

		c->spare = call->next;
		arena_done(&call->arena);
		mem_free(&c->mem, call);
	}
	rpc_table_done(&c->calls);
}

static void free_notices(cleat_client *c)
{
	while (c->notices) {
		struct notice *n = c->notices;

		c->notices = n->next;
		cleat_doc_free(n->doc);
		mem_free(&c->mem, n);
	}
}

void client_free(cleat_client *c)
{
	if (!c)
		return;
	c->closing = true;
	c->n_spare = MAX_INTERNAL; /* nothing is kept any more */
	asked_close(c);
	free_calls(c);
	free_notices(c);
	watch_free_all(c);
	subscribe_free(c);
	if (c->link)
		c->link->ops->free(c->link);
	cleat_result_free(c->hello);
	cache_free(c->cache);
	toolbook_free(c->tools);
	buf_done(&c->out);
	buf_done(&c->meta);
	buf_done(&c->asked_out);
	arena_done(&c->keep);
	mem_free(&c->mem, c);
}

/* ---- what run/ wants to know ------------------------------------------------------------------ */

void client_set_link(cleat_client *c, struct link *l)
{
	c->link = l;
}

void client_set_runner(cleat_client *c, void *runner)
{
	c->runner = runner;
}

void *client_runner(const cleat_client *c)
{
	return c->runner;
}

const cleat_client_options *client_options(const cleat_client *c)
{
	return &c->opts;
}

size_t client_calls(const cleat_client *c)
{
	return c->n_calls;
}

enum client_phase client_phase(const cleat_client *c)
{
	return c->phase;
}

uint64_t client_now(cleat_client *c)
{
	return c->hooks.now_ms(c->hooks.ctx);
}

void client_note(cleat_client *c, int level, const char *fmt, ...)
{
	cleat_error text;
	va_list ap;

	if (!c->opts.on_note)
		return;
	/* For what an error does to a text: one line, whole characters. */
	va_start(ap, fmt);
	error_vset(&text, CLEAT_OK, 0, fmt, ap);
	va_end(ap);
	c->opts.on_note(c, level, text.message, c->opts.userdata);
}

void client_remark(cleat_client *c, unsigned remark, const char *text)
{
	if (!(c->remarked & remark))
		client_note(c, CLEAT_LOG_WARNING, "%s", text);
	c->remarked |= remark;
}

int client_roots_changed(cleat_client *c)
{
	c->roots = true;
	if (c->phase != CLIENT_READY)
		return CLEAT_OK;
	if (c->modern)
		return message_set_meta(c);
	if (c->said_roots)
		message_notice(c, STR_LIT("notifications/roots/list_changed"), NULL, NULL);
	return CLEAT_OK;
}

/* ---- the server ------------------------------------------------------------------------------- */

void client_set_hello(cleat_client *c, cleat_result *r)
{
	cleat_result_free(c->hello);
	c->hello = r;
	c->caps = r ? json_member(r->raw, "capabilities") : NULL;
}

static bool has(const cleat_json *caps, const char *path)
{
	const cleat_json *v = caps;

	while (v && *path) {
		size_t n = strcspn(path, ".");

		v = cleat_json_getn(v, path, n);
		path += path[n] ? n + 1 : n;
	}
	return v && cleat_json_type(v) != CLEAT_JSON_NULL && cleat_json_bool(v, true);
}

bool client_offers(const cleat_client *c, const char *capability)
{
	return !c->caps || has(c->caps, capability);
}

bool cleat_client_server_can(const cleat_client *c, const char *capability)
{
	return c && capability && *capability && c->caps && has(c->caps, capability);
}

enum cleat_era cleat_client_era(const cleat_client *c)
{
	if (!c || !c->ever_ready)
		return CLEAT_ERA_AUTO;
	return negotiation_verdict(&c->neg);
}

const char *cleat_client_revision(const cleat_client *c)
{
	return c && c->ever_ready && c->rev != REV_NONE ? revision_name(c->rev) : NULL;
}

const cleat_json *cleat_client_server(const cleat_client *c)
{
	return c && c->hello ? c->hello->raw : NULL;
}

/* Legacy: serverInfo; 2026-07-28 server/discover: in _meta. */
static const char *server_info(const cleat_client *c, const char *member)
{
	const cleat_json *hello = cleat_client_server(c);
	const cleat_json *info = json_member(hello, "serverInfo");

	if (!info)
		info = json_member(json_member(hello, "_meta"), META_SERVER_INFO);
	return cleat_json_str(json_member(info, member), "");
}

const char *cleat_client_server_name(const cleat_client *c)
{
	return server_info(c, "name");
}

const char *cleat_client_server_version(const cleat_client *c)
{
	return server_info(c, "version");
}

const char *cleat_client_instructions(const cleat_client *c)
{
	return cleat_json_str(json_member(cleat_client_server(c), "instructions"), NULL);
}

const cleat_error *cleat_client_error(const cleat_client *c)
{
	static const cleat_error none = { .status = CLEAT_ENOMEM, .message = "out of memory" };

	return c ? &c->error : &none;
}

enum cleat_step cleat_client_error_step(const cleat_client *c)
{
	return c ? c->error_step : CLEAT_STEP_NONE;
}

int cleat_client_error_http_status(const cleat_client *c)
{
	return c ? c->error_http : 0;
}

void *cleat_client_userdata(const cleat_client *c)
{
	return c ? c->opts.userdata : NULL;
}
