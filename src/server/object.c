/* server/object.c - the server object: options, hooks, its end. See core.h for who calls what, and
 * <cleat/server.h> for the public side. Registration is in add.c, events and time in events.c.
 */
#include "server/core.h"

#include "base/mem.h"
#include "base/sized.h"
#include "request/conn.h"
#include "request/life.h"
#include "server/asked_call.h"
#include "server/upkeep.h"

#include <string.h>

enum { SERVER_ARENA_MAX = 4 << 20 };

/* ---- making ------------------------------------------------------------------------------- */

static void set_default(unsigned *v, unsigned def, unsigned most)
{
	*v = *v == 0 ? def : *v > most ? most : *v;
}

static void apply_defaults(cleat_server_options *o)
{
	set_default(&o->workers, 4, 256);
	set_default(&o->page_size, 1000, REGISTRY_MAX);
	set_default(&o->max_inflight, 256, 65536);
	set_default(&o->max_queued, 1024, 1 << 20);
	set_default(&o->max_subscriptions, 1024, 1 << 20);
	set_default(&o->progress_interval_ms, 50, 60000);
	set_default(&o->max_rounds, 16, 1000);
	o->max_message = o->max_message ? o->max_message : (size_t)10 << 20;
	o->max_reply = o->max_reply ? o->max_reply : (size_t)16 << 20;
	o->ask_timeout_ms = o->ask_timeout_ms ? o->ask_timeout_ms : 600000;
	o->state_ttl_ms = o->state_ttl_ms ? o->state_ttl_ms : 600000;
}

static void copy_options(cleat_server *s)
{
	cleat_server_options *o = &s->opts;

	o->title = arena_strdup(&s->arena, o->title);
	o->description = arena_strdup(&s->arena, o->description);
	o->website = arena_strdup(&s->arena, o->website);
	o->instructions = arena_strdup(&s->arena, o->instructions);
	o->icons = entry_copy_icons(&s->arena, o->icons);
	if (o->state_key) {
		memcpy(s->key, o->state_key, sizeof s->key);
		s->has_key = true;
	}
	o->state_key = NULL;
	o->allocator = &s->mem;
	apply_defaults(o);
}

cleat_server *cleat_server_new_(const char *name, const char *version,
				const cleat_server_options *opts, size_t size)
{
	cleat_server_options o;
	cleat_error newer = { 0 };
	cleat_allocator mem;
	cleat_server *s;

	if (!SIZED_TAKE(&o, opts, size, cleat_server_options, &newer) &&
	    !SIZED_RESERVED(&o.json, cleat_json_limits, &newer))
		entry_icons_check(o.icons, &newer);
	mem = mem_resolve(o.allocator);
	s = mem_zalloc(&mem, sizeof *s);
	if (!s)
		return NULL;
	s->mem = mem;
	s->opts = o;
	s->log = o.log;
	s->log_data = o.userdata;
	s->pool_tail = &s->pool;
	s->seed = (uint32_t)(uintptr_t)s * 2654435761u; /* differs from run to run with ASLR */
	arena_init(&s->arena, &s->mem, SERVER_ARENA_MAX);
	copy_options(s);
	registry_init(&s->registry, &s->mem);
	s->name = arena_strdup(&s->arena, name ? name : "");
	s->version = arena_strdup(&s->arena, version ? version : "");
	if (newer.status)
		server_fail(s, newer.status, "%s", newer.message);
	if (!name || !*name || !version)
		server_fail(s, CLEAT_EINVAL, "a server needs a name and a version");
	if (arena_failed(&s->arena))
		server_fail(s, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	return s;
}

static void free_pool(cleat_server *s)
{
	while (s->pool) {
		cleat_request *req = s->pool;

		s->pool = req->next;
		request_free(req);
	}
	s->pool_tail = &s->pool;
}

static void forget_early(cleat_server *s)
{
	while (s->n_early)
		mem_free(&s->mem, (void *)s->early[--s->n_early].text);
}

void cleat_server_free(cleat_server *s)
{
	cleat_connection *c, *next;
	cleat_allocator mem;

	if (!s)
		return;
	s->stopping = true;
	for (c = s->conns; c; c = next) {
		next = c->next;
		conn_close(c);
	}
	if (s->runner_done)
		s->runner_done(s->runner);
	/* Somebody still holds a deferred request and may finish it: better to leak than to let them
	 * write into freed memory. */
	if (s->running) {
		server_note(
			s, CLEAT_LOG_ERROR,
			"%zu deferred requests were never finished; the server's memory is kept",
			s->running);
		return;
	}
	forget_early(s);
	if (s->asked)
		s->asked->free(s);
	registry_done(&s->registry);
	free_pool(s);
	arena_done(&s->arena);
	mem = s->mem;
	mem_free(&mem, s);
}

/* ---- small things ------------------------------------------------------------------------- */

const cleat_error *cleat_server_error(const cleat_server *s)
{
	static const cleat_error no_server = { .status = CLEAT_ENOMEM,
					       .message = "there is no server: out of memory" };

	return s ? &s->error : &no_server;
}

int server_start_status(const cleat_server *s)
{
	return s ? s->start_status : CLEAT_ENOMEM;
}

void *cleat_server_userdata(const cleat_server *s)
{
	return s ? s->opts.userdata : NULL;
}

void server_set_hooks(cleat_server *s, const struct server_hooks *hooks)
{
	s->hooks = *hooks;
	s->has_hooks = true;
}

void server_set_runner(cleat_server *s, void *runner, void (*done)(void *runner))
{
	s->runner_done = done;
	atomic_store(&s->runner, runner);
}

void *server_runner(const cleat_server *s)
{
	return atomic_load(&s->runner);
}

atomic_bool *server_stop_flag(cleat_server *s)
{
	return &s->stop_asked;
}

const cleat_server_options *server_options(const cleat_server *s)
{
	return &s->opts;
}

void server_set_log(cleat_server *s, void (*log)(void *userdata, int level, const char *message),
		    void *userdata)
{
	s->log = log;
	s->log_data = userdata;
	for (size_t i = 0; i < s->n_early; i++)
		log(userdata, s->early[i].level, s->early[i].text);
	forget_early(s);
}

const cleat_allocator *server_memory(const cleat_server *s)
{
	return &s->mem;
}

const char *server_name(const cleat_server *s)
{
	return s->name;
}

const char *server_version(const cleat_server *s)
{
	return s->version;
}

size_t server_max_message(const cleat_server *s)
{
	return s->opts.max_message;
}

size_t server_max_reply(const cleat_server *s)
{
	return s->opts.max_reply;
}

size_t server_running(const cleat_server *s)
{
	return s->running;
}

const char *server_tool_name(const cleat_server *s, size_t i)
{
	const struct shelf *tools = &s->registry.shelves[SHELF_TOOLS];

	return i < tools->count ? tools->list[i]->tool.name : NULL;
}
