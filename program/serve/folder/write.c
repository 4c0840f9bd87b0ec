/* program/serve/folder/write.c - the tools that change a folder: write_file, edit_file, move_file, remove_file.
 *
 * Content is written into a new file beside the old one, brought to the disk, and then takes its name in one
 * step: at any time there is the old content or the new one, never a part, also when the disk is full or the
 * power fails. The last component of a path is never followed, every step is "at" an open directory with a
 * single name. Nothing is replaced unless the caller says so; a directory is removed only when it is empty.
 * Calls that change the same directory go one after the other, so that of two edits of a file neither undoes
 * the other, however many come at once.
 */
#define _GNU_SOURCE /* renameat2 */
#include "serve/folder/folder.h"

#include "base/crypto.h"
#include "base/error.h"
#include "serve/folder/edit.h"
#include "serve/kit/taken.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { TEMP_NAME = 40, TEMP_TRIES = 16 };

/* A single name in an open directory. */
struct spot {
	int dir;
	char name[BENEATH_NAME_MAX + 1];
	struct str path;   /* for messages */
	bool no_directory; /* the path says that it is one, but nothing or something else is there */
};

/* "con/" and "con/." are no names of files. */
static bool means_directory(struct str path)
{
	if (path.n && path.p[path.n - 1] == '.')
		path.n--;
	return path.n && path.p[path.n - 1] == '/';
}

static bool spot_open(struct spot *s, const struct folder *f, struct str path, bool make,
		      cleat_error *err)
{
	char why[TAKEN_WORDS];
	struct stat st;
	bool there;

	s->path = path;
	s->dir = beneath_open_parent(&f->root, path, make, s->name, err);
	if (s->dir < 0)
		return false;
	there = fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	s->no_directory = means_directory(path) && !(there && S_ISDIR(st.st_mode));
	if (!there || !taken_is(&st, s->name, why))
		return true;
	close(s->dir);
	s->dir = -1;
	error_set(err, CLEAT_EINVAL, "%.*s: %s", (int)(path.n < 100 ? path.n : 100), path.p, why);
	return false;
}

/* Is there something where the directory above a path would be? Then making it is not what is missing: the rules
 * do not allow the path, or it is not a directory. */
static bool has_parent(const struct folder *f, struct str path)
{
	char name[BENEATH_NAME_MAX + 1];
	struct stat st;
	bool there;
	int dir;

	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	if (!path.n)
		return true; /* the folder itself */
	dir = beneath_open_parent(&f->root, path, false, name, NULL);
	there = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (dir >= 0)
		close(dir);
	return there;
}

/* Where something new will be: the caller may have the directories made. */
static bool spot_open_new(struct spot *s, const struct folder *f, cleat_request *req,
			  const char *argument, cleat_error *err)
{
	bool make = cleat_arg_bool(req, "parents");

	if (spot_open(s, f, folder_arg(req, argument), make, err))
		return true;
	if (!make && err->os_errno == ENOENT && !has_parent(f, s->path))
		error_set(err, CLEAT_ENOENT,
			  "%.*s: the directory above it is not there; parents=true makes it",
			  (int)(s->path.n < 150 ? s->path.n : 150), s->path.p);
	return false;
}

static int spot_fail(const struct spot *s, cleat_error *err)
{
	beneath_fail(err, s->path, errno);
	return CLEAT_EIO;
}

/* A file is not what the path says. */
static int spot_mismatch(const struct spot *s, cleat_error *err)
{
	return error_set(err, CLEAT_EINVAL,
			 "%.*s: a path that ends with / is a directory; a file has none there",
			 (int)(s->path.n < 150 ? s->path.n : 150), s->path.p);
}

/* ---- one after the other ------------------------------------------------------------------------ */

enum { TURNS = 8 };

/* Of the program, not of a folder: two may overlap, and after a reload there may be an old and a new one. */
static pthread_mutex_t turns[TURNS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};

static size_t turn_of(const struct spot *s)
{
	struct stat st;

	return fstat(s->dir, &st) ? 0 : (size_t)(st.st_ino ^ st.st_dev) % TURNS;
}

struct turn {
	size_t first, second; /* the same: one lock */
};

/* `b` may be NULL, or the same directory. Two are always taken in the same order. */
static struct turn turn_begin(const struct spot *a, const struct spot *b)
{
	size_t i = turn_of(a), k = b ? turn_of(b) : i;
	struct turn t = { i < k ? i : k, i < k ? k : i };

	pthread_mutex_lock(&turns[t.first]);
	if (t.first != t.second)
		pthread_mutex_lock(&turns[t.second]);
	return t;
}

static void turn_end(struct turn t)
{
	pthread_mutex_unlock(&turns[t.first]);
	if (t.first != t.second)
		pthread_mutex_unlock(&turns[t.second]);
}

/* ---- one file --------------------------------------------------------------------------------- */

static int temp_open(int dir, char name[TEMP_NAME])
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		unsigned char r[12];
		int fd;

		if (crypto_random(r, sizeof r, NULL))
			return -1;
		snprintf(name, TEMP_NAME, ".cleat-");
		for (size_t k = 0; k < sizeof r; k++)
			snprintf(name + 7 + 2 * k, 3, "%02x", r[k]);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static bool write_all(int fd, struct str s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		}
	}
	return true;
}

/* `old`: what it replaces; its rights stay. */
static bool write_fill(int fd, struct str content, const struct stat *old)
{
	if (!write_all(fd, content))
		return false;
	if (old) {
		if (fchown(fd, old->st_uid, old->st_gid))
			errno = 0; /* only root may; the content matters */
		if (fchmod(fd, old->st_mode & 0777))
			return false;
	}
	return fsync(fd) == 0;
}

/* Moves, without replacing anything. */
static int rename_fresh(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;

	if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot: nearly as good. */
	if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from_dir, from, to_dir, to);
}

static void sync_directory(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fsync(fd))
		errno = 0; /* not all file systems can */
	close(fd);
}

static int put_content(const struct spot *s, struct str content, const struct stat *old,
		       cleat_error *err)
{
	char temp[TEMP_NAME];
	int fd = temp_open(s->dir, temp), rc = CLEAT_OK;
	bool good;

	if (fd < 0)
		return spot_fail(s, err);
	good = write_fill(fd, content, old);
	if (!good)
		rc = spot_fail(s, err);
	if (close(fd) && good) {
		good = false;
		rc = spot_fail(s, err);
	}
	if (good && (old ? renameat(s->dir, temp, s->dir, s->name)
			 : rename_fresh(s->dir, temp, s->dir, s->name)))
		rc = spot_fail(s, err);
	if (rc)
		unlinkat(s->dir, temp, 0);
	else
		sync_directory(s->dir);
	return rc;
}

/* What is there now: 1 a regular file that may be replaced, 0 nothing, or a status. */
static int write_look(const struct spot *s, struct stat *ret, cleat_error *err)
{
	if (fstatat(s->dir, s->name, ret, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT)
			return 0;
		return spot_fail(s, err);
	}
	if (S_ISDIR(ret->st_mode))
		errno = EISDIR;
	else if (S_ISLNK(ret->st_mode))
		errno = ELOOP;
	else if (!S_ISREG(ret->st_mode))
		errno = ENXIO;
	else if (faccessat(s->dir, s->name, W_OK, AT_EACCESS) == 0)
		return 1;
	return spot_fail(s, err);
}

/* ---- answers ---------------------------------------------------------------------------------- */

struct answer {
	struct buf text, json;
	struct jw w;
};

static void answer_begin(struct answer *a, const struct folder *f)
{
	buf_init(&a->text, &f->mem, 256 * 1024);
	buf_init(&a->json, &f->mem, 256 * 1024);
	jw_init(&a->w, &a->json);
	jw_obj(&a->w);
}

static int answer_end(struct answer *a, cleat_request *req)
{
	int rc;

	jw_obj_end(&a->w);
	rc = folder_reply(req, &a->text, &a->json);
	buf_done(&a->text);
	buf_done(&a->json);
	return rc;
}

/* ---- write_file ------------------------------------------------------------------------------- */

static int write_at(const struct spot *s, struct str content, bool overwrite, bool *ret_created,
		    cleat_error *err)
{
	struct stat old;
	int rc = s->no_directory ? spot_mismatch(s, err) : write_look(s, &old, err);

	if (rc < 0)
		return rc;
	if (rc == 1 && !overwrite)
		return error_set(err, CLEAT_EEXIST,
				 "%.*s: already exists; overwrite=true replaces it, edit_file "
				 "changes a part of it",
				 (int)(s->path.n < 120 ? s->path.n : 120), s->path.p);
	*ret_created = rc == 0;
	return put_content(s, content, rc == 1 ? &old : NULL, err);
}

int folder_write(cleat_request *req)
{
	const struct folder *f = cleat_request_userdata(req);
	struct str content = folder_arg(req, "content");
	bool created = false;
	cleat_error err = { 0 };
	struct answer a;
	struct spot s;
	struct turn turn;
	int rc;

	if (content.n > f->max_file)
		return cleat_reply_error(req,
					 "the content has %zu bytes; the limit of this folder "
					 "is %zu (max_file)",
					 content.n, f->max_file);
	if (!spot_open_new(&s, f, req, "path", &err))
		return folder_failed(req, &err);
	turn = turn_begin(&s, NULL);
	rc = write_at(&s, content, cleat_arg_bool(req, "overwrite"), &created, &err);
	turn_end(turn);
	close(s.dir);
	if (rc)
		return folder_failed(req, &err);
	answer_begin(&a, f);
	jw_kv_strn(&a.w, "path", s.path);
	jw_kv_int(&a.w, "size", (int64_t)content.n);
	jw_kv_bool(&a.w, "created", created);
	buf_printf(&a.text, "%s %.*s (%zu bytes)", created ? "created" : "replaced",
		   STR_ARGS(s.path), content.n);
	return answer_end(&a, req);
}

/* ---- edit_file --------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int write_load(struct folder_call *c, const struct spot *s, struct buf *text,
		      struct stat *ret, cleat_error *err)
{
	int rc = s->no_directory ? spot_mismatch(s, err) : write_look(s, ret, err), fd;

	if (rc < 0)
		return rc;
	fd = rc == 1 ? beneath_open_entry(s->dir, s->name, ret) : (errno = ENOENT, -1);
	if (fd < 0)
		return spot_fail(s, err);
	rc = folder_slurp(c, fd, s->path, text, err);
	close(fd);
	return rc;
}

/* Somebody else's change must not be undone by ours. */
static int store(const struct spot *s, struct str content, const struct stat *was, cleat_error *err)
{
	struct stat is;

	if (write_look(s, &is, err) != 1 || !same_file(was, &is))
		return error_set(
			err, CLEAT_EIO,
			"%.*s: was changed by somebody else in the meantime; nothing was done",
			(int)(s->path.n < 150 ? s->path.n : 150), s->path.p);
	return put_content(s, content, was, err);
}

struct editing {
	struct buf text, fresh, diff;
	size_t count;
};

static int edit_at(struct folder_call *c, const struct spot *s, struct editing *ed,
		   cleat_error *err)
{
	struct edit e = { .old = folder_arg(c->req, "old"),
			  .fresh = folder_arg(c->req, "new"),
			  .all = cleat_arg_bool(c->req, "all") };
	cleat_error why = { 0 };
	struct stat was;
	int rc = write_load(c, s, &ed->text, &was, err);

	if (rc)
		return rc;
	e.text = buf_str(&ed->text);
	rc = edit_apply(&e, &ed->fresh, &ed->diff, &ed->count, &why);
	if (rc)
		return error_set(err, rc, "%.*s: %s", (int)(s->path.n < 60 ? s->path.n : 60),
				 s->path.p, why.message);
	return store(s, buf_str(&ed->fresh), &was, err);
}

static int edited(struct folder_call *c, const struct spot *s, struct editing *ed)
{
	struct answer a;

	answer_begin(&a, c->f);
	jw_kv_strn(&a.w, "path", s->path);
	jw_kv_int(&a.w, "replaced", (int64_t)ed->count);
	jw_kv_strn(&a.w, "diff", buf_str(&ed->diff));
	buf_printf(&a.text, "%.*s: replaced %zu\n", STR_ARGS(s->path), ed->count);
	buf_append(&a.text, buf_str(&ed->diff).p, buf_size(&ed->diff));
	return answer_end(&a, c->req);
}

int folder_edit(cleat_request *req)
{
	struct folder_call c = folder_call(req);
	cleat_error err = { 0 };
	struct editing ed;
	struct spot s;
	struct turn turn;
	int rc;

	if (!spot_open(&s, c.f, folder_arg(req, "path"), false, &err))
		return folder_failed(req, &err);
	buf_init(&ed.text, &c.f->mem, FOLDER_BUF_MAX(c.f));
	buf_init(&ed.fresh, &c.f->mem, c.f->max_file);
	buf_init(&ed.diff, &c.f->mem, 128 * 1024);
	turn = turn_begin(&s, NULL);
	rc = edit_at(&c, &s, &ed, &err);
	turn_end(turn);
	close(s.dir);
	if (rc == CLEAT_ECANCELLED)
		rc = folder_stopped(&c);
	else
		rc = rc ? folder_failed(req, &err) : edited(&c, &s, &ed);
	buf_done(&ed.text);
	buf_done(&ed.fresh);
	buf_done(&ed.diff);
	return rc;
}

/* ---- move_file, remove_file -------------------------------------------------------------------- */

/* Patterns about whole paths would not know a directory's content under its new name. */
static bool may_move_directories(const struct folder *f)
{
	for (size_t i = 0; i < f->n_exclude; i++)
		if (!glob_is_name(f->exclude[i]))
			return false;
	return true;
}

static int move(const struct folder *f, const struct spot *from, const struct spot *to,
		bool overwrite, cleat_error *err)
{
	struct stat st;

	if (fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW))
		return spot_fail(from, err);
	if (from->no_directory)
		return spot_mismatch(from, err);
	if (to->no_directory && !S_ISDIR(st.st_mode))
		return spot_mismatch(to, err);
	if (S_ISDIR(st.st_mode) && !may_move_directories(f))
		return error_set(err, CLEAT_EINVAL,
				 "directories of this folder cannot be moved: paths in it are "
				 "excluded");
	if (overwrite) {
		struct stat old;
		int rc = write_look(to, &old, err);

		if (rc < 0)
			return rc;
		if (rc == 1)
			return renameat(from->dir, from->name, to->dir, to->name)
				       ? spot_fail(to, err)
				       : CLEAT_OK;
	}
	return rename_fresh(from->dir, from->name, to->dir, to->name) ? spot_fail(to, err)
								      : CLEAT_OK;
}

int folder_move(cleat_request *req)
{
	const struct folder *f = cleat_request_userdata(req);
	cleat_error err = { 0 };
	struct spot from, to;
	struct answer a;
	struct turn turn;
	int rc;

	if (!spot_open(&from, f, folder_arg(req, "from"), false, &err))
		return folder_failed(req, &err);
	if (!spot_open_new(&to, f, req, "to", &err)) {
		close(from.dir);
		return folder_failed(req, &err);
	}
	turn = turn_begin(&from, &to);
	rc = move(f, &from, &to, cleat_arg_bool(req, "overwrite"), &err);
	turn_end(turn);
	close(from.dir);
	close(to.dir);
	if (rc)
		return folder_failed(req, &err);
	answer_begin(&a, f);
	jw_kv_strn(&a.w, "from", from.path);
	jw_kv_strn(&a.w, "to", to.path);
	buf_printf(&a.text, "moved %.*s to %.*s", STR_ARGS(from.path), STR_ARGS(to.path));
	return answer_end(&a, req);
}

static int unlink_at(const struct spot *s, cleat_error *err)
{
	struct stat st;

	if (fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW))
		return spot_fail(s, err);
	if (s->no_directory)
		return spot_mismatch(s, err);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) {
		errno = ENXIO;
		return spot_fail(s, err);
	}
	return unlinkat(s->dir, s->name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0) ? spot_fail(s, err)
										 : CLEAT_OK;
}

int folder_remove(cleat_request *req)
{
	const struct folder *f = cleat_request_userdata(req);
	cleat_error err = { 0 };
	struct answer a;
	struct spot s;
	struct turn turn;
	int rc;

	if (!spot_open(&s, f, folder_arg(req, "path"), false, &err))
		return folder_failed(req, &err);
	turn = turn_begin(&s, NULL);
	rc = unlink_at(&s, &err);
	turn_end(turn);
	close(s.dir);
	if (rc)
		return folder_failed(req, &err);
	answer_begin(&a, f);
	jw_kv_strn(&a.w, "path", s.path);
	buf_printf(&a.text, "removed %.*s", STR_ARGS(s.path));
	return answer_end(&a, req);
}
