/* program/serve/folder/listing.c - see listing.h. */
#include "serve/folder/listing.h"

#include "base/mem.h"
#include "loop/fswatch.h"
#include "request/registry.h"
#include "serve/folder/mime.h"
#include "serve/folder/walk.h"
#include "serve/kit/set.h"
#include "server/core.h"

#include <fcntl.h>
#include <stdlib.h>

struct shown {
	char *uri; /* NULL: none */
	char *name;
	struct timespec modified;
	off_t size;
	bool ours; /* the server has it from us, not from somebody else under the same URI */
};

struct shown_list {
	struct shown *v;
	size_t n, cap;
};

struct watched {
	char *path;
	struct fswatch *watch;
	bool seen;
};

struct listing {
	struct runtime *rt;
	struct folder *f;
	size_t limit;
	struct shown_list shown;
	struct watched *dirs;
	size_t n_dirs, cap_dirs;
	struct loop_timer *timer;
	uint64_t started, cost; /* of the last look, ms */
	uint64_t told;          /* when the facts of all files were last right */
	uint64_t due;           /* of the next look, if `waiting` */
	bool waiting;
};

/* ---- lists ------------------------------------------------------------------------------------ */

static void shown_free(struct listing *l, struct shown_list *s)
{
	for (size_t i = 0; i < s->n; i++) {
		mem_free(&l->rt->mem, s->v[i].uri);
		mem_free(&l->rt->mem, s->v[i].name);
	}
	mem_free(&l->rt->mem, s->v);
	*s = (struct shown_list){ 0 };
}

static int by_uri(const void *a, const void *b)
{
	return strcmp(((const struct shown *)a)->uri, ((const struct shown *)b)->uri);
}

static char *listing_copy(struct listing *l, struct buf *text)
{
	char *z =
		buf_status(text) ? NULL : mem_strndup(&l->rt->mem, buf_str(text).p, buf_size(text));

	buf_done(text);
	return z;
}

static bool put_file(struct listing *l, struct shown_list *to, const struct walk_entry *e)
{
	struct buf uri = BUF_INIT(&l->rt->mem, 16 * BENEATH_PATH_MAX);
	struct buf name = BUF_INIT(&l->rt->mem, 4 * BENEATH_PATH_MAX);
	struct stat st;
	struct shown s;

	if (fstatat(e->directory, e->name.p, &st, AT_SYMLINK_NOFOLLOW))
		return true; /* gone since */
	folder_uri(l->f, e->path, &uri);
	beneath_show(&name, e->path, true);
	s = (struct shown){ listing_copy(l, &uri), listing_copy(l, &name), st.st_mtim, st.st_size,
			    false };
	if (s.uri && s.name &&
	    mem_grow(&l->rt->mem, (void **)&to->v, &to->cap, to->n, sizeof *to->v, l->limit) ==
		    CLEAT_OK) {
		to->v[to->n++] = s;
		return true;
	}
	mem_free(&l->rt->mem, s.uri);
	mem_free(&l->rt->mem, s.name);
	return false;
}

/* ---- looking ---------------------------------------------------------------------------------- */

static void listing_on_event(void *ctx, const char *name);

static void watch(struct listing *l, struct str path)
{
	struct buf full = BUF_INIT(&l->rt->mem, 16 * BENEATH_PATH_MAX);
	struct watched *w;
	char *text;

	buf_printf(&full, "%s/", l->f->directory);
	buf_append(&full, path.p, path.n);
	text = listing_copy(l, &full);
	for (size_t i = 0; text && i < l->n_dirs; i++)
		if (strcmp(l->dirs[i].path, text) == 0) {
			l->dirs[i].seen = true;
			mem_free(&l->rt->mem, text);
			return;
		}
	if (!text || mem_grow(&l->rt->mem, (void **)&l->dirs, &l->cap_dirs, l->n_dirs,
			      sizeof *l->dirs, LISTING_DIRECTORIES_MAX)) {
		mem_free(&l->rt->mem, text);
		return;
	}
	w = &l->dirs[l->n_dirs];
	*w = (struct watched){ .path = text, .seen = true };
	if (fswatch_directory(l->rt->loop, text, listing_on_event, l, &w->watch))
		mem_free(&l->rt->mem, text);
	else
		l->n_dirs++;
}

static void unwatch(struct listing *l, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_dirs; i++) {
		struct watched *w = &l->dirs[i];

		if (w->seen && !all) {
			l->dirs[kept++] = *w;
			continue;
		}
		fswatch_free(w->watch);
		mem_free(&l->rt->mem, w->path);
	}
	l->n_dirs = kept;
}

static bool wants(void *ctx, struct str path, enum walk_kind kind)
{
	const struct listing *l = ctx;

	return kind == WALK_FILE && (!l->f->only || glob_match(l->f->only, path));
}

static bool enters(void *ctx, struct str path)
{
	struct listing *l = ctx;

	if (l->f->only && !glob_may_enter(l->f->only, path))
		return false;
	watch(l, path);
	return true;
}

static bool is_late(void *ctx)
{
	const struct listing *l = ctx;

	return loop_now() - l->started > LISTING_PATIENCE_MS;
}

static bool listing_look(struct listing *l, struct shown_list *ret)
{
	const struct walk_options o = { .root = &l->f->root,
					.mem = &l->rt->mem,
					.recursive = true,
					.names = l->f->names,
					.batch = l->limit,
					.wants = wants,
					.enters = enters,
					.stop = is_late,
					.ctx = l };
	struct walk *w;
	struct walk_entry e;
	bool good;

	for (size_t i = 0; i < l->n_dirs; i++)
		l->dirs[i].seen = false;
	watch(l, STR_LIT(""));
	w = walk_new(&o, NULL);
	good = w != NULL;
	while (good && ret->n < l->limit && walk_next(w, &e))
		good = put_file(l, ret, &e);
	good = good && walk_status(w) != CLEAT_ENOMEM;
	walk_free(w);
	if (good)
		unwatch(l, false);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof *ret->v, by_uri);
	return good;
}

/* ---- the server's list ------------------------------------------------------------------------ */

static void take_back(struct listing *l, const struct shown *s)
{
	if (s->ours)
		cleat_server_remove_resource(l->rt->server, s->uri);
}

static void offer(struct listing *l, struct shown *s)
{
	char when[FOLDER_TIME];
	const cleat_annotations a = { .last_modified = when };

	folder_time(s->modified.tv_sec, when);
	s->ours =
		cleat_server_add_resource(
			l->rt->server,
			&(cleat_resource){ .uri = s->uri,
					   .name = s->name,
					   .mime_type = l->f->mime ? l->f->mime
								   : mime_by_name(str_of(s->name)),
					   .read = folder_resource_read,
					   .size = s->size,
					   .annotations = &a,
					   .blocking = true,
					   .userdata = folder_ref(l->f),
					   .destroy = folder_unref }) == CLEAT_OK;
}

static bool same(const struct shown *a, const struct shown *b)
{
	return a->size == b->size && a->modified.tv_sec == b->modified.tv_sec &&
	       a->modified.tv_nsec == b->modified.tv_nsec;
}

/* A file that grows all the time must not make the list a new one all the time: its size and time are kept as
 * they were told. True: there are some to tell later. */
static bool put_off(struct listing *l, struct shown_list *now)
{
	bool any = false;

	if (l->started - l->told >= LISTING_FACTS_MS || l->shown.n != now->n)
		return false;
	for (size_t i = 0; i < now->n; i++)
		if (strcmp(l->shown.v[i].uri, now->v[i].uri) != 0)
			return false;
	for (size_t i = 0; i < now->n; i++) {
		any = any || !same(&l->shown.v[i], &now->v[i]);
		now->v[i].modified = l->shown.v[i].modified;
		now->v[i].size = l->shown.v[i].size;
	}
	return any;
}

/* Both sorted: what is new, gone or different. */
static void exchange(struct listing *l, struct shown_list *now)
{
	const struct shown_list *old = &l->shown;
	size_t i = 0, k = 0;

	while (i < old->n || k < now->n) {
		int order = i == old->n   ? 1
			    : k == now->n ? -1
					  : strcmp(old->v[i].uri, now->v[k].uri);

		if (order < 0) {
			take_back(l, &old->v[i++]);
		} else if (order > 0) {
			offer(l, &now->v[k++]);
		} else {
			now->v[k].ours = old->v[i].ours;
			if (!same(&old->v[i], &now->v[k])) {
				take_back(l, &old->v[i]);
				offer(l, &now->v[k]);
			}
			i++;
			k++;
		}
	}
}

static void later(struct listing *l, uint64_t ms)
{
	uint64_t due = loop_now() + ms;

	if (l->waiting && l->due <= due)
		return;
	l->waiting = true;
	l->due = due;
	loop_timer_start(l->timer, ms);
}

static void refresh(void *ctx)
{
	struct listing *l = ctx;
	struct shown_list now = { 0 };

	l->waiting = false;
	l->started = loop_now();
	if (listing_look(l, &now)) {
		if (put_off(l, &now))
			later(l, LISTING_FACTS_MS);
		else
			l->told = l->started;
		exchange(l, &now);
		shown_free(l, &l->shown);
		l->shown = now;
	} else {
		shown_free(l, &now);
	}
	l->cost = loop_now() - l->started;
}

static void listing_on_event(void *ctx, const char *name)
{
	struct listing *l = ctx;
	uint64_t rest = 20 * l->cost > LISTING_REST_MS ? 20 * l->cost : LISTING_REST_MS;
	uint64_t since = loop_now() - l->started;

	(void)name;
	later(l, since < rest ? rest - since : 0);
}

static void listing_free(void *thing)
{
	struct listing *l = thing;
	cleat_allocator mem = l->rt->mem;

	loop_timer_free(l->timer);
	unwatch(l, true);
	mem_free(&mem, l->dirs);
	for (size_t i = 0; l->rt->server && i < l->shown.n; i++)
		take_back(l, &l->shown.v[i]);
	shown_free(l, &l->shown);
	folder_unref(l->f);
	mem_free(&mem, l);
}

/* The configuration was loaded again: whoever did that wants to see what is there now. What it has of its own
 * under one of our URIs has taken the place of ours already. */
static void go_on(void *thing)
{
	struct listing *l = thing;
	const struct registry *r = server_registry(l->rt->server);

	for (size_t i = 0; i < l->shown.n; i++)
		if (!registry_find(r, SHELF_RESOURCES, str_of(l->shown.v[i].uri)))
			l->shown.v[i].ours = false;
	later(l, 0);
}

void listing_add(struct draft *b, const char *recipe, struct folder *f, size_t limit)
{
	struct listing *l = b->rt->server ? mem_zalloc(&b->rt->mem, sizeof *l) : NULL;

	if (!l)
		return;
	*l = (struct listing){ .rt = b->rt, .limit = limit };
	l->timer = loop_timer_new(b->rt->loop, refresh, l);
	if (!l->timer) {
		mem_free(&b->rt->mem, l);
		return;
	}
	l->f = folder_ref(f);
	/* Two folders may be the same but for their URIs. */
	recipe = arena_printf(conf_arena(b->conf), "%s %s", f->uri, recipe);
	draft_keep_on(b, &(struct set_thing){ .thing = l,
					      .destroy = listing_free,
					      .begin = refresh,
					      .recipe = recipe,
					      .go_on = go_on });
}
