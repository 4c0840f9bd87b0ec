/* loop/fswatch.c - see fswatch.h.
 *
 * Always directories are watched: a watch on a file is a watch on its inode, and ends when somebody
 * renames a new file over it. A file that is reached through a symbolic link has two: where its name
 * stands, and where the link leads. Each event only starts a timer; what there is to tell is found out
 * when it fires, so nothing depends on which events the system sends.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE   700

#include "loop/fswatch.h"

#include "base/mem.h"
#include "loop/impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory that is gone is looked for again that often. */
enum { LOST_MS = 1000 };

struct place {
	struct handle *h; /* NULL: not watched */
	char *path;
	dev_t dev; /* of what is watched */
	ino_t ino;
};

struct fswatch {
	cleat_loop *loop;
	char *path; /* of the file, or of the directory */
	void (*on_file)(void *ctx);
	void (*on_entry)(void *ctx, const char *name);
	void *ctx;
	struct place places[2];
	struct stat seen; /* of the file; st_nlink 0: it was not there */
	struct loop_timer *timer;
	uint64_t first; /* since when there is unrest; 0: there is none */
	char **names;   /* of entries that have changed */
	size_t n_names, cap_names;
	bool all;    /* more than that */
	bool *freed; /* set by fswatch_free() while callbacks run */
};

/* ---- what has changed ---- */

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return !a->st_nlink == !b->st_nlink && a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && same_time(&a->st_mtim, &b->st_mtim) &&
	       same_time(&a->st_ctim, &b->st_ctim);
}

static void fswatch_look(const char *path, struct stat *ret)
{
	if (stat(path, ret))
		*ret = (struct stat){ 0 };
}

static void note_name(struct fswatch *w, const char *name)
{
	void *names = w->names;

	for (size_t i = 0; i < w->n_names; i++)
		if (strcmp(w->names[i], name) == 0)
			return;
	if (mem_grow(&w->loop->mem, &names, &w->cap_names, w->n_names, sizeof *w->names,
		     FSWATCH_NAMES_MAX)) {
		w->all = true;
		return;
	}
	w->names = names;
	w->names[w->n_names] = mem_strdup(&w->loop->mem, name);
	if (w->names[w->n_names])
		w->n_names++;
	else
		w->all = true;
}

static void forget_names(struct fswatch *w)
{
	while (w->n_names)
		mem_free(&w->loop->mem, w->names[--w->n_names]);
	w->all = false;
}

static void fswatch_on_event(uv_fs_event_t *e, const char *name, int events, int status)
{
	struct fswatch *w = e->data;
	uint64_t now = loop_now(), wait = FSWATCH_QUIET_MS;

	(void)events;
	if (status < 0 || !name)
		w->all = true;
	else if (w->on_entry)
		note_name(w, name);
	if (!w->first)
		w->first = now;
	if (now - w->first + wait > FSWATCH_LONGEST_MS)
		wait = now - w->first < FSWATCH_LONGEST_MS ? FSWATCH_LONGEST_MS - (now - w->first)
							   : 0;
	loop_timer_start(w->timer, wait);
}

/* ---- the directories ---- */

static void place_leave(struct place *p)
{
	if (p->h)
		handle_close(p->h);
	p->h = NULL;
}

static int status_of(int uv)
{
	switch (uv) {
	case UV_ENOENT:
	case UV_ENOTDIR: return CLEAT_ENOENT;
	case UV_ENOMEM: return CLEAT_ENOMEM;
	case UV_ENOSPC:
	case UV_EMFILE:
	case UV_ENFILE: return CLEAT_ELIMIT;
	default: return CLEAT_EIO;
	}
}

static int place_enter(struct fswatch *w, struct place *p)
{
	struct stat st;
	int rc;

	fswatch_look(p->path, &st);
	if (!st.st_nlink || !S_ISDIR(st.st_mode))
		return CLEAT_ENOENT;
	p->h = handle_new(w->loop, sizeof *p->h);
	if (!p->h)
		return CLEAT_ENOMEM;
	uv_fs_event_init(&w->loop->uv, &p->h->uv.fs_event);
	p->h->uv.any.data = w;
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	rc = uv_fs_event_start(&p->h->uv.fs_event, fswatch_on_event, p->path, 0);
	if (!rc)
		return CLEAT_OK;
	place_leave(p);
	return status_of(rc);
}

/* Makes sure that what is watched is what is there now. False: there is nothing to watch. */
static bool place_renew(struct fswatch *w, struct place *p)
{
	struct stat st;

	if (!p->path)
		return true;
	fswatch_look(p->path, &st);
	if (p->h && st.st_nlink && st.st_dev == p->dev && st.st_ino == p->ino)
		return true;
	place_leave(p);
	if (place_enter(w, p))
		return false;
	w->all = true;
	return true;
}

/* The directory of a path; "" when there is no memory. */
static char *directory_of(const cleat_allocator *mem, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(mem, ".");
	return mem_strndup(mem, path, slash == path ? 1 : (size_t)(slash - path));
}

/* Where the file itself is, if its name is a symbolic link. */
static void follow_link(struct fswatch *w)
{
	struct place *p = &w->places[1];
	struct stat st;
	char *real = NULL, *directory = NULL;

	if (!lstat(w->path, &st) && S_ISLNK(st.st_mode))
		real = realpath(w->path, NULL);
	if (real)
		directory = directory_of(&w->loop->mem, real);
	free(real);
	if (directory && p->path && strcmp(directory, p->path) == 0) {
		mem_free(&w->loop->mem, directory);
		return;
	}
	place_leave(p);
	mem_free(&w->loop->mem, p->path);
	p->path = directory;
	if (directory)
		place_enter(w, p); /* where it fails, a new link is still seen */
}

/* ---- telling ---- */

static void tell_file(struct fswatch *w)
{
	struct stat now;

	fswatch_look(w->path, &now);
	follow_link(w);
	if (same_file(&now, &w->seen))
		return;
	w->seen = now;
	w->on_file(w->ctx);
}

/* The names are taken out first: a callback may free the watch. */
static void tell_entries(struct fswatch *w)
{
	cleat_allocator mem = w->loop->mem;
	char **names = w->names;
	size_t n = w->n_names, i;
	bool all = w->all, freed = false;

	w->names = NULL;
	w->n_names = w->cap_names = 0;
	w->all = false;
	w->freed = &freed;
	if (all)
		w->on_entry(w->ctx, NULL);
	for (i = 0; i < n && !all && !freed; i++)
		w->on_entry(w->ctx, names[i]);
	if (!freed)
		w->freed = NULL;
	for (i = 0; i < n; i++)
		mem_free(&mem, names[i]);
	mem_free(&mem, names);
}

static void on_quiet(void *ctx)
{
	struct fswatch *w = ctx;
	bool here = place_renew(w, &w->places[0]);

	place_renew(w, &w->places[1]);
	w->first = 0;
	if (!here)
		loop_timer_start(w->timer, LOST_MS);
	if (w->on_file)
		tell_file(w);
	else if (w->n_names || w->all)
		tell_entries(w);
}

/* ---- making ---- */

static int watch_new(cleat_loop *l, const char *path, void *ctx, struct fswatch **ret)
{
	struct fswatch *w = mem_zalloc(&l->mem, sizeof *w);

	*ret = w;
	if (!w)
		return CLEAT_ENOMEM;
	w->loop = l;
	w->ctx = ctx;
	w->path = mem_strdup(&l->mem, path);
	w->timer = loop_timer_new(l, on_quiet, w);
	return w->path && w->timer ? CLEAT_OK : CLEAT_ENOMEM;
}

static int watch_start(struct fswatch *w, int rc, char *directory, struct fswatch **ret)
{
	if (!rc && !directory)
		rc = CLEAT_ENOMEM;
	if (w)
		w->places[0].path = directory;
	else
		*ret = NULL;
	if (!rc)
		rc = place_enter(w, &w->places[0]);
	if (rc) {
		fswatch_free(w);
		*ret = NULL;
	}
	return rc;
}

int fswatch_file(cleat_loop *l, const char *path, void (*fn)(void *ctx), void *ctx,
		 struct fswatch **ret)
{
	int rc = watch_new(l, path, ctx, ret);
	struct fswatch *w = *ret;

	if (w)
		w->on_file = fn;
	rc = watch_start(w, rc, rc ? NULL : directory_of(&l->mem, path), ret);
	if (rc)
		return rc;
	follow_link(w);
	fswatch_look(path, &w->seen);
	return CLEAT_OK;
}

int fswatch_directory(cleat_loop *l, const char *path, void (*fn)(void *ctx, const char *name),
		      void *ctx, struct fswatch **ret)
{
	int rc = watch_new(l, path, ctx, ret);
	struct fswatch *w = *ret;

	if (w)
		w->on_entry = fn;
	return watch_start(w, rc, rc ? NULL : mem_strdup(&l->mem, path), ret);
}

void fswatch_free(struct fswatch *w)
{
	cleat_allocator mem;

	if (!w)
		return;
	mem = w->loop->mem;
	if (w->freed)
		*w->freed = true;
	forget_names(w);
	mem_free(&mem, w->names);
	for (size_t i = 0; i < CLEAT_COUNT(w->places); i++) {
		place_leave(&w->places[i]);
		mem_free(&mem, w->places[i].path);
	}
	loop_timer_free(w->timer);
	mem_free(&mem, w->path);
	mem_free(&mem, w);
}
