/* program/serve/folder/list.c - the tools list_files and stat_file.
 *
 * A page's cursor is the path of its last entry, relative to what was listed: nothing is remembered here,
 * and entries that come and go between two pages neither repeat nor hide others.
 */
#include "serve/folder/folder.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "serve/folder/mime.h"
#include "serve/folder/walk.h"
#include "json/writer.h"

#include <fcntl.h>
#include <unistd.h>

enum { LIST_LIMIT = 200, LIST_LIMIT_MAX = 5000 };

static const char *const kind_names[] = { "file", "directory", "link", "other" };

struct list {
	struct folder_call call; /* first: see folder_stop() */
	struct glob *glob;
	size_t limit;
	struct beneath_path path;
	struct buf after; /* where to begin */
	struct buf last;  /* the path of the last entry */
	struct buf text, json;
	struct jw w;
	size_t n;
	bool recursive;
	bool more;
};

static bool wants(void *ctx, struct str path, enum walk_kind kind)
{
	const struct list *l = ctx;

	(void)kind;
	return !l->glob || glob_match(l->glob, path);
}

static bool enters(void *ctx, struct str path)
{
	const struct list *l = ctx;

	return !l->glob || glob_may_enter(l->glob, path);
}

static void write_path(struct jw *w, const char *key, struct str path, const cleat_allocator *mem)
{
	struct buf shown = BUF_INIT(mem, 4 * BENEATH_PATH_MAX);

	beneath_show(&shown, path, false);
	jw_kv_strn(w, key, buf_size(&shown) ? buf_str(&shown) : STR_LIT(""));
	buf_done(&shown);
}

static void write_facts(struct jw *w, const struct stat *st, enum walk_kind kind)
{
	char when[FOLDER_TIME];

	jw_kv_str(w, "type", kind_names[kind]);
	if (kind == WALK_FILE)
		jw_kv_int(w, "size", st->st_size);
	folder_time(st->st_mtime, when);
	jw_kv_str(w, "modified", when);
}

static void put_entry(struct list *l, const struct walk_entry *e)
{
	struct stat st;

	if (fstatat(e->directory, e->name.p, &st, AT_SYMLINK_NOFOLLOW))
		return; /* gone since */
	beneath_show(&l->text, e->path, true);
	if (e->kind == WALK_DIRECTORY) {
		buf_putc(&l->text, '/');
	} else if (e->kind == WALK_FILE) {
		buf_appendz(&l->text, " (");
		folder_size(&l->text, (uint64_t)st.st_size);
		buf_putc(&l->text, ')');
	} else {
		buf_appendz(&l->text, e->kind == WALK_LINK ? " (link)" : " (not a file)");
	}
	buf_putc(&l->text, '\n');
	jw_obj(&l->w);
	write_path(&l->w, "path", e->path, &l->call.f->mem);
	write_facts(&l->w, &st, e->kind);
	jw_obj_end(&l->w);
	l->n++;
}

static bool is_full(const struct list *l)
{
	return l->n == l->limit || buf_size(&l->text) >= l->call.f->output_max ||
	       buf_size(&l->json) >= 4 * l->call.f->output_max;
}

/* All entries of the page. */
static int list_fill(struct list *l, cleat_error *err, size_t *ret_unread)
{
	struct walk_entry e;
	struct walk *w = walk_new(
		&(struct walk_options){
			.root = &l->call.f->root,
			.mem = &l->call.f->mem,
			.from = { l->path.text, l->path.n },
			.after = buf_str(&l->after),
			.recursive = l->recursive,
			.names = l->call.f->names,
			.batch = l->limit +
				 2, /* one was given before, one more shows that there is more */
			.wants = wants,
			.enters = enters,
			.stop = folder_stop,
			.ctx = l },
		err);
	int rc;

	if (!w)
		return CLEAT_EIO;
	while (walk_next(w, &e)) {
		size_t skip = l->path.n ? l->path.n + 1 : 0;

		l->more = is_full(l);
		if (l->more)
			break;
		put_entry(l, &e);
		buf_reset(&l->last, SIZE_MAX);
		buf_append(&l->last, e.path.p + skip, e.path.n - skip);
	}
	*ret_unread = walk_unread(w);
	rc = walk_status(w);
	walk_free(w);
	return rc == CLEAT_ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

static void put_cursor(struct list *l)
{
	char cursor[2 * BENEATH_PATH_MAX];
	struct str last = buf_str(&l->last);

	*base64_encode(BASE64_URL, last.p, last.n, cursor) = '\0';
	jw_kv_str(&l->w, "next_cursor", cursor);
	buf_printf(&l->text, "\nThere is more: call %s again with cursor \"%s\".\n",
		   l->call.f->list_tool, cursor);
}

static int list_page(struct list *l, cleat_error *err)
{
	size_t unread = 0;
	int rc;

	jw_init(&l->w, &l->json);
	jw_obj(&l->w);
	jw_key(&l->w, "entries");
	jw_arr(&l->w);
	rc = list_fill(l, err, &unread);
	if (rc)
		return rc;
	jw_arr_end(&l->w);
	if (!l->n)
		buf_appendz(&l->text, l->glob ? "(nothing that matches)\n" : "(empty)\n");
	if (l->more)
		put_cursor(l);
	if (unread) {
		jw_kv_int(&l->w, "unread", (int64_t)unread);
		buf_printf(&l->text, "(%zu directories could not be read)\n", unread);
	}
	jw_obj_end(&l->w);
	return CLEAT_OK;
}

static int read_arguments(struct list *l, cleat_error *err)
{
	cleat_request *req = l->call.req;
	struct str glob = folder_arg(req, "glob"), cursor = folder_arg(req, "cursor");
	int64_t limit = cleat_json_int(cleat_arg(req, "limit"), LIST_LIMIT);

	l->recursive = cleat_arg_bool(req, "recursive");
	l->limit = limit < 1 ? 1 : limit > LIST_LIMIT_MAX ? LIST_LIMIT_MAX : (size_t)limit;
	if (beneath_clean(&l->call.f->root, folder_arg(req, "path"), &l->path, err))
		return CLEAT_EINVAL;
	if (glob.n) {
		l->glob = glob_new(&l->call.f->mem, glob, err);
		if (!l->glob)
			return CLEAT_EINVAL;
	}
	if (cursor.n && base64_decode(BASE64_URL, cursor, &l->after))
		return error_set(err, CLEAT_EINVAL,
				 "this cursor is not one that %s gave; begin without one",
				 l->call.f->list_tool);
	return CLEAT_OK;
}

int folder_list(cleat_request *req)
{
	struct folder_call call = folder_call(req);
	const struct folder *f = call.f;
	struct list *l = cleat_request_alloc(req, sizeof *l);
	cleat_error err = { 0 };
	int rc;

	if (!l)
		return CLEAT_ENOMEM;
	*l = (struct list){ .call = call };
	buf_init(&l->after, &f->mem, BENEATH_PATH_MAX);
	buf_init(&l->last, &f->mem, BENEATH_PATH_MAX);
	buf_init(&l->text, &f->mem, 2 * f->output_max + 65536);
	buf_init(&l->json, &f->mem, 5 * f->output_max + 65536);
	rc = read_arguments(l, &err);
	if (rc == CLEAT_OK)
		rc = list_page(l, &err);
	if (rc == CLEAT_ECANCELLED)
		rc = folder_stopped(&l->call);
	else if (rc)
		rc = folder_failed(req, &err);
	else
		rc = folder_reply(req, &l->text, &l->json);
	glob_free(l->glob);
	buf_done(&l->after);
	buf_done(&l->last);
	buf_done(&l->text);
	buf_done(&l->json);
	return rc;
}

/* ---- stat_file -------------------------------------------------------------------------------- */

static enum walk_kind kind_of(const struct stat *st)
{
	return S_ISREG(st->st_mode)   ? WALK_FILE
	       : S_ISDIR(st->st_mode) ? WALK_DIRECTORY
	       : S_ISLNK(st->st_mode) ? WALK_LINK
				      : WALK_OTHER;
}

/* "" where the file cannot be read. */
static void find_mime(const struct folder *f, struct str path, char ret[MIME_MAX])
{
	char head[MIME_HEAD];
	struct stat st;
	int fd = beneath_open_file(&f->root, path, &st, NULL);
	ssize_t n;

	ret[0] = '\0';
	if (fd < 0)
		return;
	n = folder_pread(fd, head, sizeof head, 0);
	close(fd);
	if (n >= 0)
		mime_guess(path, (struct str){ head, (size_t)n }, st.st_size <= n, ret);
}

static void describe(const struct folder *f, struct str path, const struct stat *st,
		     struct buf *text, struct buf *json)
{
	enum walk_kind kind = kind_of(st);
	char mime[MIME_MAX] = "", when[FOLDER_TIME];
	struct jw w;

	if (kind == WALK_FILE)
		find_mime(f, path, mime);
	folder_time(st->st_mtime, when);
	jw_init(&w, json);
	jw_obj(&w);
	write_path(&w, "path", path, &f->mem);
	write_facts(&w, st, kind);
	jw_kv_str(&w, "mime", *mime ? mime : NULL);
	jw_obj_end(&w);
	beneath_show(text, path.n ? path : STR_LIT("."), true);
	buf_printf(text, ": %s", kind_names[kind]);
	if (kind == WALK_FILE) {
		buf_printf(text, ", %s, %lld bytes", *mime ? mime : "not readable",
			   (long long)st->st_size);
	}
	buf_printf(text, ", modified %s", when);
}

int folder_stat(cleat_request *req)
{
	const struct folder *f = cleat_request_userdata(req);
	struct str path = folder_arg(req, "path");
	struct buf text = BUF_INIT(&f->mem, 65536), json = BUF_INIT(&f->mem, 65536);
	cleat_error err = { 0 };
	struct stat st;
	int fd = beneath_open_place(&f->root, path, &st, &err);
	int rc;

	if (fd < 0)
		return folder_failed(req, &err);
	close(fd);
	describe(f, path, &st, &text, &json);
	rc = folder_reply(req, &text, &json);
	buf_done(&text);
	buf_done(&json);
	return rc;
}
