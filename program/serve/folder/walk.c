/* program/serve/folder/walk.c - see walk.h.
 *
 * Reading a directory keeps at most twice the batch: when that is full the names are sorted and the
 * greater half is dropped; from then on names behind the greatest that was kept are not even copied.
 * So a page of a directory of 100,000 files costs one pass over it and little else.
 */
#define _GNU_SOURCE /* O_PATH, d_type */
#include "serve/folder/walk.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct name {
	const char *z;
	enum walk_kind kind;
};

struct level {
	DIR *dir;
	struct arena memory; /* of the names */
	struct name *names;
	size_t n, at, batch;
	bool more;   /* there are names behind these */
	size_t path; /* bytes of the directory's path, with the slash */
};

struct walk {
	struct walk_options o;
	cleat_allocator mem;
	struct level levels[WALK_DEPTH_MAX];
	size_t depth; /* levels in use */
	char path[2 * BENEATH_PATH_MAX];
	struct beneath_path real, rule; /* `from` without links; a path as the rules see it */
	struct beneath_path after;
	const char *resume; /* the rest of `after` that the next level begins with; NULL: none */
	bool enter;         /* the entry that was given is a directory to be entered */
	size_t unread;
	int status;
};

/* ---- one directory --------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->z, ((const struct name *)b)->z);
}

static void sort(struct level *l)
{
	if (l->n)
		qsort(l->names, l->n, sizeof *l->names, by_name);
}

/* Sorts and keeps the first ones, in fresh memory. */
static int prune(struct walk *w, struct level *l)
{
	struct arena fresh;

	sort(l);
	if (l->n <= l->batch)
		return CLEAT_OK;
	l->n = l->batch;
	l->more = true;
	arena_init(&fresh, &w->mem, 0);
	for (size_t i = 0; i < l->n; i++)
		l->names[i].z = arena_strdup(&fresh, l->names[i].z);
	arena_done(&l->memory);
	l->memory = fresh;
	if (!arena_failed(&fresh))
		return CLEAT_OK;
	l->n = 0;
	return CLEAT_ENOMEM;
}

static enum walk_kind kind_at(int dir, const char *name, unsigned char type)
{
	struct stat st;

	switch (type) {
	case DT_REG: return WALK_FILE;
	case DT_DIR: return WALK_DIRECTORY;
	case DT_LNK: return WALK_LINK;
	case DT_UNKNOWN: break;
	default: return WALK_OTHER;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return WALK_OTHER;
	return S_ISREG(st.st_mode)   ? WALK_FILE
	       : S_ISDIR(st.st_mode) ? WALK_DIRECTORY
	       : S_ISLNK(st.st_mode) ? WALK_LINK
				     : WALK_OTHER;
}

/* The path of an entry, in w->path. False: longer than a path may be. */
static bool path_of(struct walk *w, const struct level *l, const char *name, struct str *ret)
{
	size_t n = strlen(name);

	if (l->path + n >= BENEATH_PATH_MAX)
		return false;
	memcpy(w->path + l->path, name, n + 1);
	*ret = (struct str){ w->path, l->path + n };
	return true;
}

/* A link to a directory must not be a way around rules about paths. */
static bool allowed(struct walk *w, struct str path, const char *name)
{
	struct beneath_path *r = &w->rule;
	struct str from = w->o.from, rest = { path.p + from.n, path.n - from.n };

	if (str_eq(from, (struct str){ w->real.text, w->real.n }))
		return beneath_allows_entry(w->o.root, path, str_of(name));
	if (rest.n && !w->real.n) { /* the folder itself: no slash before what is in it */
		rest.p++;
		rest.n--;
	}
	if (w->real.n + rest.n >= sizeof r->text)
		return false;
	memcpy(r->text, w->real.text, w->real.n);
	memcpy(r->text + w->real.n, rest.p, rest.n);
	r->n = w->real.n + rest.n;
	return beneath_allows_entry(w->o.root, (struct str){ r->text, r->n }, str_of(name));
}

static bool wanted(struct walk *w, const struct level *l, const char *name, enum walk_kind kind)
{
	struct str path;

	if (!path_of(w, l, name, &path) || !allowed(w, path, name))
		return false;
	return (kind == WALK_DIRECTORY && w->o.recursive) || !w->o.wants ||
	       w->o.wants(w->o.ctx, path, kind);
}

static bool is_dots(const char *z)
{
	return z[0] == '.' && (!z[1] || (z[1] == '.' && !z[2]));
}

struct folder_scan {
	struct walk *w;
	struct level *l;
	const char *from; /* names behind this one; NULL: all */
	bool with;        /* and this one */
	size_t seen;
};

static int walk_keep(struct walk *w, struct level *l, const char *z, unsigned char type)
{
	enum walk_kind kind = kind_at(dirfd(l->dir), z, type);

	if (!wanted(w, l, z, kind))
		return CLEAT_OK;
	l->names[l->n].z = arena_strdup(&l->memory, z);
	l->names[l->n].kind = kind;
	if (!l->names[l->n].z)
		return CLEAT_ENOMEM;
	l->n++;
	return l->n == 2 * l->batch ? prune(w, l) : CLEAT_OK;
}

static int on_name(void *ctx, const char *z, unsigned char type)
{
	struct folder_scan *s = ctx;
	const struct walk *w = s->w;
	const struct level *l = s->l;
	int order = s->from ? strcmp(z, s->from) : 1;

	if ((++s->seen & 1023) == 0 && w->o.stop && w->o.stop(w->o.ctx))
		return CLEAT_ECANCELLED;
	if (order < 0 || (order == 0 && !s->with) || (z[0] == '.' && !w->o.root->hidden))
		return CLEAT_OK;
	/* After a prune the greatest that was kept is the last of the first batch. */
	if (l->more && strcmp(z, l->names[l->batch - 1].z) > 0)
		return CLEAT_OK;
	return walk_keep(s->w, s->l, z, type);
}

static int read_directory(struct folder_scan *s, struct names *names)
{
	DIR *dir = s->l->dir;
	struct names_reading reading;
	const struct dirent *d;
	int rc = CLEAT_OK;

	names_begin(names, &reading, dirfd(dir));
	rewinddir(dir);
	while (rc == CLEAT_OK && (d = readdir(dir)))
		if (!is_dots(d->d_name)) {
			names_add(&reading, d->d_name, d->d_type);
			rc = on_name(s, d->d_name, d->d_type);
		}
	names_end(names, &reading, dirfd(dir), rc == CLEAT_OK);
	return rc;
}

/* Names that are behind `from` (or equal to it, if `with`), up to a batch. */
static int scan(struct walk *w, struct level *l, const char *from, bool with)
{
	struct folder_scan s = { w, l, from, with, 0 };
	struct names *names = l == w->levels ? w->o.names : NULL;
	int rc;

	l->n = l->at = 0;
	l->more = false;
	arena_reset(&l->memory);
	if (!names_each(names, dirfd(l->dir), on_name, &s, &rc))
		rc = read_directory(&s, names);
	return rc ? rc : prune(w, l);
}

/* ---- levels ----------------------------------------------------------------------------------- */

static void pop(struct walk *w)
{
	struct level *l = &w->levels[--w->depth];

	closedir(l->dir);
	arena_done(&l->memory);
	mem_free(&w->mem, l->names);
	*l = (struct level){ 0 };
}

/* Where the next level begins: the first component of what is left of `after`. */
static bool resume_name(struct walk *w, char ret[BENEATH_NAME_MAX + 1])
{
	const char *slash;
	size_t n;

	if (!w->resume)
		return false;
	slash = strchr(w->resume, '/');
	n = slash ? (size_t)(slash - w->resume) : strlen(w->resume);
	memcpy(ret, w->resume, n);
	ret[n] = '\0';
	return true;
}

/* Takes the descriptor. */
static int push(struct walk *w, int fd, size_t path)
{
	struct level *l = &w->levels[w->depth];
	char first[BENEATH_NAME_MAX + 1];
	size_t batch = w->o.batch >> (w->depth < 16 ? w->depth : 16);

	*l = (struct level){ .path = path };
	/* A large directory is read once for each batch: few names at a time would take for ever. */
	if (batch < WALK_BATCH_DEEP)
		batch = w->o.batch < WALK_BATCH_DEEP ? w->o.batch : WALK_BATCH_DEEP;
	l->batch = batch > WALK_BATCH_MIN ? batch : WALK_BATCH_MIN;
	l->names = mem_alloc(&w->mem, 2 * l->batch * sizeof *l->names);
	l->dir = l->names ? fdopendir(fd) : NULL;
	if (!l->dir) {
		mem_free(&w->mem, l->names);
		close(fd);
		return CLEAT_ENOMEM;
	}
	arena_init(&l->memory, &w->mem, 0);
	w->depth++;
	return resume_name(w, first) ? scan(w, l, first, true) : scan(w, l, NULL, false);
}

/* Into the directory that was given last. */
static int descend(struct walk *w)
{
	struct level *l = &w->levels[w->depth - 1];
	const char *name = l->names[l->at - 1].z;
	size_t n = strlen(name);
	int fd;

	if (w->depth == WALK_DEPTH_MAX || l->path + n + 1 >= BENEATH_PATH_MAX) {
		w->unread++;
		w->resume = NULL;
		return CLEAT_OK;
	}
	fd = openat(dirfd(l->dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		w->unread += errno != ENOENT;
		w->resume = NULL;
		return CLEAT_OK;
	}
	memcpy(w->path + l->path, name, n);
	w->path[l->path + n] = '/';
	return push(w, fd, l->path + n + 1);
}

/* Is this the entry that the walk is to begin behind, or a directory on the way to it? Then it has been
 * given already. */
static bool given_before(struct walk *w, const char *name)
{
	char first[BENEATH_NAME_MAX + 1];
	const char *slash;

	if (!resume_name(w, first))
		return false;
	if (strcmp(first, name) != 0) {
		w->resume = NULL;
		return false;
	}
	slash = strchr(w->resume, '/');
	w->resume = slash ? slash + 1 : NULL;
	return true;
}

/* One step; true when *ret is an entry. */
static bool walk_step(struct walk *w, struct walk_entry *ret)
{
	struct level *l = &w->levels[w->depth - 1];
	const struct name *name;
	bool old;

	if (w->enter) {
		w->enter = false;
		w->status = descend(w);
		return false;
	}
	if (l->at == l->n) {
		w->resume = NULL;
		if (l->more) {
			char last[BENEATH_NAME_MAX + 1];

			snprintf(last, sizeof last, "%s", l->names[l->n - 1].z);
			w->status = scan(w, l, last, false);
		} else {
			pop(w);
		}
		return false;
	}
	name = &l->names[l->at++];
	old = given_before(w, name->z);
	if (!path_of(w, l, name->z, &ret->path))
		return false;
	ret->name = (struct str){ w->path + l->path, ret->path.n - l->path };
	ret->kind = name->kind;
	ret->directory = dirfd(l->dir);
	w->enter = name->kind == WALK_DIRECTORY && w->o.recursive &&
		   (!w->o.enters || w->o.enters(w->o.ctx, ret->path));
	if (!w->enter && old)
		w->resume = NULL;
	return !old && (name->kind != WALK_DIRECTORY || !w->o.recursive || !w->o.wants ||
			w->o.wants(w->o.ctx, ret->path, name->kind));
}

bool walk_next(struct walk *w, struct walk_entry *ret)
{
	while (w->depth && w->status == CLEAT_OK) {
		if (w->o.stop && w->o.stop(w->o.ctx))
			w->status = CLEAT_ECANCELLED;
		else if (walk_step(w, ret))
			return true;
	}
	return false;
}

static int walk_begin(struct walk *w, cleat_error *err)
{
	const struct beneath any = { .hidden = true };
	int fd;

	if (w->o.after.p) {
		if (beneath_clean(&any, w->o.after, &w->after, err))
			return CLEAT_EINVAL;
		w->resume = w->after.n ? w->after.text : NULL;
	}
	if (w->o.from.n + 2 > BENEATH_PATH_MAX)
		return error_set(err, CLEAT_EINVAL, "the path is too long");
	if (w->o.from.n) {
		memcpy(w->path, w->o.from.p, w->o.from.n);
		w->path[w->o.from.n] = '/';
	}
	fd = beneath_open_directory(w->o.root, w->o.from, &w->real, err);
	if (fd < 0)
		return CLEAT_EIO;
	w->status = push(w, fd, w->o.from.n ? w->o.from.n + 1 : 0);
	if (w->status == CLEAT_ENOMEM)
		return error_set(err, w->status, "no memory to read a directory");
	return CLEAT_OK;
}

struct walk *walk_new(const struct walk_options *o, cleat_error *err)
{
	const cleat_allocator mem = mem_resolve(o->mem);
	struct walk *w = mem_zalloc(&mem, sizeof *w);

	if (!w) {
		error_set(err, CLEAT_ENOMEM, "no memory to read a directory");
		return NULL;
	}
	w->mem = mem;
	w->o = *o;
	if (walk_begin(w, err) == CLEAT_OK)
		return w;
	walk_free(w);
	return NULL;
}

int walk_status(const struct walk *w)
{
	return w->status;
}

size_t walk_unread(const struct walk *w)
{
	return w->unread;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	while (w->depth)
		pop(w);
	mem_free(&w->mem, w);
}
