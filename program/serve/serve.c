/* program/serve/serve.c - a server and its configuration: the first load, and each one after that.
 *
 * One runtime (loop, server, HTTP client) lives as long as the program; configurations come and go. A new
 * one is read and built beside the old one, and takes its place only when nothing was wrong with it.
 *
 * Changes of files are watched with what the newest attempt has read, whether it was good or not, so that
 * mending a file is seen.
 */
#include "serve/serve.h"

#include "base/mem.h"
#include "fetch/fetcher.h"
#include "loop/fswatch.h"
#include "run/runner.h"
#include "serve/command/job.h"
#include "serve/http_conf.h"
#include "serve/kit/set.h"
#include "serve/sandbox/sandbox.h"
#include "serve/sources.h"
#include "server/core.h"
#include "json/parse.h"

#include <stdio.h>
#include <sys/stat.h>

struct watch {
	struct watch *next;
	struct serve *s;
	struct fswatch *w;
	bool wanted;
	char path[];
};

struct serve {
	cleat_allocator mem;
	struct arena arena; /* copies of the options */
	struct serve_options opts;
	struct runtime rt;
	struct conf *conf; /* in force */
	struct set *set;
	struct http_conf http; /* in the conf's memory */
	struct watch *watches;
	struct loop_call reload_call;
	bool watch_failed; /* has been said */
};

static void serve_say(const struct serve *s, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

static void serve_say(const struct serve *s, int level, const char *fmt, ...)
{
	char line[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (s->opts.say)
		s->opts.say(s->opts.ctx, level, line);
}

/* ---- reading ---- */

/* NULL: no memory. */
static struct conf *read_conf(const struct serve *s)
{
	struct conf *c = conf_new(&s->mem);

	for (size_t i = 0; c && s->opts.files && s->opts.files[i]; i++)
		conf_add_file(c, s->opts.files[i]);
	for (size_t i = 0; c && s->opts.sources && s->opts.sources[i]; i += 2)
		conf_add_option(c, s->opts.sources[i], s->opts.sources[i + 1]);
	if (c)
		conf_ready(c);
	return c;
}

static const cleat_json *first(const struct conf *c, const char *key)
{
	const cleat_json *v = NULL;

	for (size_t i = 0; !v && conf_root(c, i); i++)
		v = cleat_json_get(conf_root(c, i), key);
	return v;
}

static void say_problems(const struct serve *s, const struct conf *c)
{
	const char *line;

	for (size_t i = 0; (line = conf_problem_line(c, i)) != NULL; i++)
		if (s->opts.say)
			s->opts.say(s->opts.ctx, CLEAT_LOG_ERROR, line);
}

/* ---- watching ---- */

static void on_change(void *ctx)
{
	struct watch *w = ctx;

	loop_defer(w->s->rt.loop, &w->s->reload_call);
}

static void on_entry(void *ctx, const char *name)
{
	(void)name;
	on_change(ctx);
}

static void on_reload_call(struct loop_call *c)
{
	serve_reload((struct serve *)(void *)((char *)c - offsetof(struct serve, reload_call)));
}

static void drop_watch(struct serve *s, struct watch **at)
{
	struct watch *w = *at;

	*at = w->next;
	fswatch_free(w->w);
	mem_free(&s->mem, w);
}

static void add_watch(struct serve *s, const char *path)
{
	size_t n = strlen(path) + 1;
	struct watch *w = mem_zalloc(&s->mem, sizeof *w + n);
	struct stat st;
	int rc = CLEAT_ENOMEM;

	if (w) {
		memcpy(w->path, path, n);
		w->s = s;
		w->wanted = true;
		rc = !stat(path, &st) && S_ISDIR(st.st_mode)
			     ? fswatch_directory(s->rt.loop, path, on_entry, w, &w->w)
			     : fswatch_file(s->rt.loop, path, on_change, w, &w->w);
	}
	if (!rc) {
		w->next = s->watches;
		s->watches = w;
		return;
	}
	mem_free(&s->mem, w);
	if (!s->watch_failed)
		serve_say(s, CLEAT_LOG_WARNING, "cannot watch %s: %s", path,
			  rc == CLEAT_ELIMIT ? FSWATCH_LIMITS : cleat_strstatus(rc));
	s->watch_failed = true;
}

/* A watch that is there stays: what it has seen and not told yet would be lost. */
static void watch_files(struct serve *s, const struct conf *c)
{
	const char *path;

	if (!s->opts.watch)
		return;
	s->watch_failed = false;
	for (struct watch *w = s->watches; w; w = w->next)
		w->wanted = false;
	for (size_t i = 0; (path = conf_watched(c, i)) != NULL; i++) {
		struct watch *w = s->watches;

		while (w && strcmp(w->path, path) != 0)
			w = w->next;
		if (w)
			w->wanted = true;
		else
			add_watch(s, path);
	}
	for (struct watch **at = &s->watches; *at;)
		if ((*at)->wanted)
			at = &(*at)->next;
		else
			drop_watch(s, at);
}

/* ---- loading ---- */

/* Builds a configuration that was read, and puts it in force. It is taken over, also when it fails. */
static int serve_load(struct serve *s, struct conf *c, struct set_change *ret)
{
	struct set *set = NULL;
	struct http_conf http = { 0 };
	struct draft b = { .conf = c, .rt = &s->rt };
	int rc = CLEAT_ENOMEM;

	*ret = (struct set_change){ 0 };
	if (c && !conf_problems(c)) {
		set = sources_read(c, &s->rt);
		http_conf_read(&b, first(c, "http"), &http);
	}
	if (c)
		watch_files(s, c);
	if (c && conf_problems(c)) {
		say_problems(s, c);
		rc = CLEAT_EINVAL;
	} else if (set) {
		rc = set_apply(set, s->set, s->rt.server, ret);
		if (rc)
			serve_say(s, CLEAT_LOG_ERROR, "%s",
				  cleat_server_error(s->rt.server)->message);
	} else {
		serve_say(s, CLEAT_LOG_ERROR, "%s", cleat_strstatus(rc));
	}
	if (rc) {
		set_free(set);
		conf_free(c);
		return rc;
	}
	set_free(s->set);
	conf_free(s->conf);
	s->set = set;
	s->conf = c;
	s->http = http;
	return CLEAT_OK;
}

/* What a server says about itself cannot change while it runs. */
static void compare_names(const struct serve *s, const struct conf *old)
{
	static const char *const fixed[] = { "name",        "version",      "title",
					     "description", "instructions", "http" };

	for (size_t i = 0; i < CLEAT_COUNT(fixed); i++)
		if (!cleat_json_equal(first(old, fixed[i]), first(s->conf, fixed[i])))
			serve_say(s, CLEAT_LOG_NOTICE,
				  "\"%s\" has changed: that counts from the next start on",
				  fixed[i]);
}

int serve_reload(struct serve *s)
{
	struct conf *old = s->conf;
	struct set_change change;
	int rc;

	loop_cancel(s->rt.loop, &s->reload_call);
	s->conf = NULL; /* serve_load() must not free it: it is still needed */
	rc = serve_load(s, read_conf(s), &change);
	if (rc) {
		s->conf = old;
		serve_say(s, CLEAT_LOG_ERROR, "the configuration stays as it was");
		return rc;
	}
	compare_names(s, old);
	conf_free(old);
	if (change.added || change.removed || change.changed)
		serve_say(s, CLEAT_LOG_NOTICE,
			  "loaded again: %zu added, %zu removed, %zu changed, %zu as before",
			  change.added, change.removed, change.changed, change.kept);
	else
		serve_say(s, CLEAT_LOG_NOTICE, "loaded again: nothing has changed");
	return CLEAT_OK;
}

/* ---- making ---- */

static void on_log(void *userdata, int level, const char *message)
{
	const struct serve *s = userdata;

	if (s->opts.say && level >= CLEAT_LOG_WARNING)
		s->opts.say(s->opts.ctx, level, message);
}

static void serve_on_ready(cleat_server *server, void *userdata)
{
	const struct serve *s = userdata;

	(void)server;
	if (s->opts.ready)
		s->opts.ready(s->opts.ctx);
}

static void on_hangup(cleat_server *server, void *userdata)
{
	(void)server;
	serve_reload(userdata);
}

static void on_last_call(void *rt)
{
	jobs_hurry(rt);
}

static int make_server(struct serve *s, struct conf *c)
{
	const char *name = s->opts.name;
	cleat_server_options o = {
		.title = conf_shown(c, first(c, "title"), NULL),
		.description = conf_shown(c, first(c, "description"), NULL),
		.instructions = conf_shown(c, first(c, "instructions"), NULL),
		.loop = s->rt.loop,
		.workers = 16, /* made when needed: long searches must not keep others waiting */
		.log = on_log,
		.on_ready = serve_on_ready,
		.on_reload = on_hangup,
		.userdata = s,
		.allocator = &s->mem,
		/* What comes later is heard only by clients that were told to expect it. */
		.capabilities = s->opts.watch
					? CLEAT_CAP_TOOLS | CLEAT_CAP_RESOURCES | CLEAT_CAP_PROMPTS
					: 0,
	};

	s->rt.server = cleat_server_new(name ? name : conf_shown(c, first(c, "name"), "cleat"),
					conf_shown(c, first(c, "version"), "1.0.0"), &o);
	if (!s->rt.server || !cleat_server_loop(s->rt.server))
		return CLEAT_ENOMEM;
	runner_get(s->rt.server)->last_call = on_last_call; /* it is there: it has the loop */
	runner_get(s->rt.server)->last_call_ctx = &s->rt;
	return cleat_server_error(s->rt.server)->status;
}

static int serve_start(struct serve *s)
{
	struct conf *c = read_conf(s);
	struct set_change change;
	int rc = c ? CLEAT_OK : CLEAT_ENOMEM;

	s->rt.loop = cleat_loop_new(&s->mem);
	if (!rc && !s->rt.loop)
		rc = CLEAT_ENOMEM;
	if (!rc && conf_problems(c)) {
		say_problems(s, c);
		conf_free(c);
		return CLEAT_EINVAL;
	}
	if (!rc)
		rc = make_server(s, c);
	if (!rc)
		return serve_load(s, c, &change);
	serve_say(s, CLEAT_LOG_ERROR, "%s",
		  rc == CLEAT_ENOMEM ? cleat_strstatus(rc)
				     : cleat_server_error(s->rt.server)->message);
	conf_free(c);
	return rc;
}

struct serve *serve_new(const struct serve_options *o, int *ret_status)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct serve *s = mem_zalloc(&mem, sizeof *s);

	*ret_status = CLEAT_ENOMEM;
	if (!s)
		return NULL;
	s->mem = mem;
	arena_init(&s->arena, &mem, 0);
	s->opts = *o;
	s->opts.mem = &s->mem;
	s->opts.files = o->files ? arena_strlist(&s->arena, o->files) : NULL;
	s->opts.sources = o->sources ? arena_strlist(&s->arena, o->sources) : NULL;
	s->opts.name = arena_strdup(&s->arena, o->name);
	s->rt = (struct runtime){ .mem = mem, .say = o->say, .say_ctx = o->ctx, .check = o->check };
	s->reload_call.fn = on_reload_call;
	*ret_status = arena_failed(&s->arena) ? CLEAT_ENOMEM : serve_start(s);
	if (!*ret_status)
		return s;
	serve_free(s);
	return NULL;
}

/* ---- the end ---- */

/* Everything but the server itself, which may be gone already. */
static void free_rest(struct serve *s)
{
	cleat_allocator mem = s->mem;

	while (s->watches)
		drop_watch(s, &s->watches);
	set_free(s->set);
	conf_free(s->conf);
	fetcher_free(s->rt.http_);
	if (s->rt.loop)
		loop_cancel(s->rt.loop, &s->reload_call);
	cleat_loop_free(s->rt.loop);
	arena_done(&s->arena);
	mem_free(&mem, s);
}

void serve_free(struct serve *s)
{
	if (!s)
		return;
	cleat_server_free(s->rt.server);
	s->rt.server = NULL;
	free_rest(s);
}

int serve_main(struct serve *s, cleat_main_options *o)
{
	int status = cleat_server_run_main(s->rt.server, o);

	s->rt.server = NULL;
	free_rest(s);
	return status;
}

/* ---- looking ---- */

cleat_server *serve_server(struct serve *s)
{
	return s->rt.server;
}

const char *serve_name(const struct serve *s)
{
	return server_name(s->rt.server);
}

static const struct shelf *shelf(const struct serve *s, enum serve_kind kind)
{
	static const enum shelf_kind shelves[] = { SHELF_TOOLS, SHELF_RESOURCES, SHELF_TEMPLATES,
						   SHELF_PROMPTS };

	return &server_registry(s->rt.server)->shelves[shelves[kind]];
}

size_t serve_count(const struct serve *s, enum serve_kind kind)
{
	return shelf(s, kind)->count;
}

const char *serve_item(const struct serve *s, enum serve_kind kind, size_t i)
{
	return i < shelf(s, kind)->count ? shelf(s, kind)->list[i]->key.p : NULL;
}

static bool needs_arguments(const struct entry *e)
{
	cleat_doc *doc = cleat_doc_parse(e->schemas.input.p, e->schemas.input.n, NULL, NULL, NULL);
	bool needs = !doc || cleat_json_size(cleat_json_get(cleat_doc_root(doc), "required"));

	cleat_doc_free(doc);
	return needs;
}

/* It asks something, or takes its time. */
static bool is_lengthy(const struct serve *s, const char *name)
{
	bool lengthy = false;

	for (size_t i = 0; conf_root(s->conf, i); i++) {
		const cleat_json *t =
			cleat_json_get(cleat_json_get(conf_root(s->conf, i), "tools"), name);

		lengthy = lengthy || cleat_json_get(t, "ask") || cleat_json_get(t, "confirm") ||
			  cleat_json_get(t, "stream");
	}
	return lengthy;
}

const char *serve_easy_tool(const struct serve *s)
{
	const struct shelf *tools = shelf(s, SERVE_TOOLS);
	const char *found = NULL;
	int best = -1;

	for (size_t i = 0; i < tools->count; i++) {
		const cleat_tool *t = &tools->list[i]->tool;
		int worth = (t->read_only == CLEAT_YES) * 2 + (t->description != NULL);

		if (worth <= best || t->read_only == CLEAT_NO || t->destructive == CLEAT_YES ||
		    needs_arguments(tools->list[i]) || is_lengthy(s, t->name))
			continue;
		best = worth;
		found = t->name;
	}
	return found;
}

void serve_probe(void (*tell)(void *ctx, int level, const char *line), void *ctx)
{
	sandbox_probe(tell, ctx);
}

const char *serve_http(const struct serve *s, cleat_http_options *ret)
{
	*ret = s->http.options;
	return s->http.address;
}

const char *serve_schema(void)
{
	return conf_schema();
}
