/* program/serve/folder/folder.c - see folder.h: folders.NAME of the configuration, and what its tools share. */
#include "serve/folder/folder.h"

#include "base/error.h"
#include "base/mem.h"
#include "request/reply.h"
#include "serve/folder/names.h"
#include "serve/folder/source.h"
#include "serve/kit/tool.h"
#include "uri/chars.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_FILE = 10 << 20,
	MAX_FILE_MOST = 64 << 20,
	OUTPUT_MOST = 5 << 19 /* six times as much, as escaped text may be, still fits an answer */
};

/* ---- its life --------------------------------------------------------------------------------- */

struct folder *folder_ref(struct folder *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

void folder_unref(void *folder)
{
	struct folder *f = folder;
	cleat_allocator mem;

	if (!f || atomic_fetch_sub(&f->refs, 1) > 1)
		return;
	mem = f->mem;
	beneath_done(&f->root);
	for (size_t i = 0; i < f->n_exclude; i++)
		glob_free(f->exclude[i]);
	mem_free(&mem, f->exclude);
	glob_free(f->only);
	mem_free(&mem, f->directory);
	mem_free(&mem, f->mime);
	mem_free(&mem, f->uri);
	names_free(f->names);
	mem_free(&mem, f->list_tool);
	mem_free(&mem, f->read_tool);
	mem_free(&mem, f);
}

static char *join(const cleat_allocator *mem, const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b) + 1;
	char *z = mem_alloc(mem, n);

	if (z)
		snprintf(z, n, "%s%s", a, b);
	return z;
}

/* Paths have no empty component, no "." and no "..": a pattern with one would leave nothing out. */
static bool never_matches(struct str text)
{
	size_t from = str_starts(text, "/") ? 1 : 0;

	for (size_t i = from; i <= text.n; i++)
		if (i == text.n || text.p[i] == '/') {
			struct str part = { text.p + from, i - from };

			if (!part.n || str_eqz(part, ".") || str_eqz(part, ".."))
				return true;
			from = i + 1;
		}
	return false;
}

static bool read_excludes(struct draft *b, struct folder *f, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);
	size_t n = cleat_json_size(list);

	if (!n)
		return true;
	f->exclude = mem_zalloc(&f->mem, n * sizeof *f->exclude);
	if (!f->exclude) {
		conf_problem(b->conf, list, "no memory");
		return false;
	}
	while (cleat_json_next(&it)) {
		struct str text = str_of(conf_text(b->conf, it.value, ""));
		cleat_error err = { 0 };

		while (text.n > 1 && text.p[text.n - 1] == '/')
			text.n--;
		if (str_starts(text, "./")) { /* from the folder on, as "/" says */
			text.p++;
			text.n--;
		}
		if (never_matches(text)) {
			conf_problem(b->conf, it.value,
				     "would leave out nothing: expected a name, or a path from the "
				     "folder on without \".\" and \"..\"");
			return false;
		}
		f->exclude[f->n_exclude] = glob_new(&f->mem, text, &err);
		if (!f->exclude[f->n_exclude]) {
			conf_problem(b->conf, it.value, "%s", err.message);
			return false;
		}
		f->n_exclude++;
	}
	f->root.exclude = f->exclude;
	f->root.n_exclude = f->n_exclude;
	return true;
}

/* A scheme (RFC 3986 section 3.1) made of the folder's name, and ":///". */
static const char *make_uri(struct arena *ar, const char *name)
{
	static const char *const taken[] = { "file:", "http:",   "https:",     "ftp:",
					     "data:", "blob:",   "about:",     "ws:",
					     "wss:",  "mailto:", "javascript:" };
	char *uri = arena_printf(ar, "%s:///", name);
	bool other;

	for (size_t i = 0; uri && i < strlen(name); i++) {
		if (uri[i] >= 'A' && uri[i] <= 'Z')
			uri[i] = (char)(uri[i] + ('a' - 'A'));
		else if (!(uri_char_class(uri[i]) & (CHAR_ALPHA | CHAR_DIGIT)) && uri[i] != '.' &&
			 uri[i] != '+')
			uri[i] = '-';
	}
	if (!uri)
		return NULL;
	/* It begins with a letter; and one that means something to a client must not lead it there. */
	other = !(uri_char_class(uri[0]) & CHAR_ALPHA);
	for (size_t i = 0; i < CLEAT_COUNT(taken); i++)
		other = other || strncmp(uri, taken[i], strlen(taken[i])) == 0;
	return other ? arena_printf(ar, "folder-%s", uri) : uri;
}

static const char *prefix_for(struct draft *b, const char *name)
{
	size_t folders = 0;

	for (size_t i = 0; conf_root(b->conf, i); i++)
		folders += cleat_json_size(cleat_json_get(conf_root(b->conf, i), "folders"));
	return folders > 1 ? arena_printf(conf_arena(b->conf), "%s_", name) : "";
}

struct folder *folder_open(struct draft *b, const cleat_json *at, const char *directory,
			   const char *uri)
{
	struct folder *f = mem_zalloc(&b->rt->mem, sizeof *f);
	cleat_error err = { 0 };

	if (!f) {
		conf_problem(b->conf, at, "no memory");
		return NULL;
	}
	atomic_init(&f->refs, 1);
	f->mem = b->rt->mem;
	f->max_file = MAX_FILE;
	f->directory = mem_strdup(&f->mem, directory);
	f->uri = mem_strdup(&f->mem, uri);
	f->root.fd = -1;
	f->names = directory ? names_new(&f->mem, NAMES_QUIET_MS) : NULL;
	if (directory && beneath_init(&f->root, directory, &err))
		conf_problem(b->conf, at, "%s", err.message);
	else if ((directory && !f->directory) || !f->uri)
		conf_problem(b->conf, at, "no memory");
	else
		return f;
	folder_unref(f);
	return NULL;
}

static bool folder_read_options(struct draft *b, struct folder *f, const cleat_json *node,
				const char *prefix)
{
	struct tool_limits limits = tool_limits(b, node);
	const cleat_json *max_file = cleat_json_get(node, "max_file");

	f->timeout_ms = limits.timeout_ms;
	f->output_max = limits.output_max < OUTPUT_MOST ? limits.output_max : OUTPUT_MOST;
	f->max_file = conf_bytes(b->conf, max_file, MAX_FILE);
	if (f->max_file > MAX_FILE_MOST) {
		conf_problem(b->conf, max_file, "at most 64MB");
		return false;
	}
	f->root.hidden = cleat_json_bool(cleat_json_get(node, "hidden"), false);
	f->list_tool = join(&f->mem, prefix, "list_files");
	f->read_tool = join(&f->mem, prefix, "read_file");
	if (!f->list_tool || !f->read_tool) {
		conf_problem(b->conf, node, "no memory");
		return false;
	}
	return read_excludes(b, f, cleat_json_get(node, "exclude"));
}

struct folder *folder_new(struct draft *b, const char *name, const cleat_json *node)
{
	const cleat_json *path = cleat_json_get(node, "path");
	const char *directory = conf_path_at(b->conf, path);
	const char *prefix = prefix_for(b, name), *uri = make_uri(conf_arena(b->conf), name);
	struct folder *f;

	if (!directory) /* a problem was added */
		return NULL;
	if (!prefix || !uri) {
		conf_problem(b->conf, node, "no memory");
		return NULL;
	}
	f = folder_open(b, path, directory, uri);
	if (f && folder_read_options(b, f, node, prefix))
		return f;
	folder_unref(f);
	return NULL;
}

/* ---- what the tools share ---------------------------------------------------------------------- */

struct folder_call folder_call(cleat_request *req)
{
	const struct folder *f = cleat_request_userdata(req);

	return (struct folder_call){ .req = req,
				     .f = f,
				     .deadline = f->timeout_ms ? loop_now() + f->timeout_ms : 0 };
}

bool folder_stop(void *call)
{
	struct folder_call *c = call;

	if (!c->late && c->deadline)
		c->late = loop_now() > c->deadline;
	return c->late || cleat_request_cancelled(c->req);
}

int folder_stopped(const struct folder_call *c)
{
	if (!c->late)
		return CLEAT_ECANCELLED;
	return cleat_reply_error(c->req, "this took longer than %llu seconds; ask for less",
				 (unsigned long long)(c->f->timeout_ms + 999) / 1000);
}

int folder_failed(cleat_request *req, const cleat_error *err)
{
	return err->status == CLEAT_ENOMEM ? CLEAT_ENOMEM
					   : cleat_reply_error(req, "%s", err->message);
}

struct str folder_arg(cleat_request *req, const char *name)
{
	const cleat_json *v = cleat_arg(req, name);
	struct str s = { NULL, 0 };

	s.p = cleat_json_strn(v, &s.n);
	return s.p ? s : STR_LIT("");
}

ssize_t folder_pread(int fd, char *to, size_t n, off_t at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = pread(fd, to + got, n - got, at + (off_t)got);

		if (k == 0)
			break;
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

static int too_large(const struct folder_call *c, struct str path, cleat_error *err)
{
	return error_set(err, CLEAT_ELIMIT,
			 "%.*s: is larger than %zu bytes, which is the limit of this folder "
			 "(max_file)",
			 (int)(path.n < 150 ? path.n : 150), path.p, c->f->max_file);
}

int folder_slurp(struct folder_call *c, int fd, struct str path, struct buf *out, cleat_error *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size > c->f->max_file)
		return too_large(c, path, err);
	for (;;) {
		char *room = buf_reserve(out, FOLDER_BLOCK);
		ssize_t n;

		if (!room)
			return error_set(err, CLEAT_ENOMEM, "out of memory");
		n = folder_pread(fd, room, FOLDER_BLOCK, (off_t)buf_size(out));
		if (folder_stop(c))
			return CLEAT_ECANCELLED;
		if (n < 0) {
			beneath_fail(err, path, errno);
			return CLEAT_EIO;
		}
		if (n == 0)
			return CLEAT_OK;
		buf_commit(out, (size_t)n);
		if (buf_size(out) > c->f->max_file)
			return too_large(c, path, err);
	}
}

void folder_time(time_t t, char ret[FOLDER_TIME])
{
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(ret, FOLDER_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(ret, FOLDER_TIME, "1970-01-01T00:00:00Z");
}

void folder_size(struct buf *out, uint64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	uint64_t tenths;
	size_t unit = 0;

	if (bytes < 1000) {
		buf_printf(out, "%u bytes", (unsigned)bytes);
		return;
	}
	for (tenths = bytes / 100; tenths >= 10000 && unit + 1 < CLEAT_COUNT(units); unit++)
		tenths /= 1000;
	buf_printf(out, "%llu.%u %s", (unsigned long long)(tenths / 10), (unsigned)(tenths % 10),
		   units[unit]);
}

int folder_reply(cleat_request *req, struct buf *text, struct buf *json)
{
	if (buf_status(text) || buf_status(json))
		return buf_status(text) ? buf_status(text) : buf_status(json);
	cleat_reply_textn(req, buf_str(text).p, buf_size(text));
	return reply_json_text(req, buf_str(json));
}

void folder_uri(const struct folder *f, struct str path, struct buf *out)
{
	struct buf shown = BUF_INIT(&f->mem, 4 * BENEATH_PATH_MAX);
	struct str s;

	beneath_show(&shown, path, false);
	s = buf_str(&shown);
	buf_appendz(out, f->uri);
	for (size_t i = 0; i < s.n; i++) {
		char three[3];

		if ((uri_char_class(s.p[i]) & CHAR_UNRESERVED) || s.p[i] == '/') {
			buf_putc(out, s.p[i]);
		} else {
			uri_escape(three, (unsigned char)s.p[i]);
			buf_append(out, three, 3);
		}
	}
	buf_done(&shown);
}

bool folder_path_of(const struct folder *f, struct str uri, struct buf *out)
{
	if (!str_starts(uri, f->uri))
		return false;
	for (size_t i = strlen(f->uri); i < uri.n; i++) {
		char c = uri.p[i];

		if (c == '%') {
			if (!uri_escape_at(uri, i))
				return false;
			c = (char)(uri_hex_digit(uri.p[i + 1]) << 4 | uri_hex_digit(uri.p[i + 2]));
			i += 2;
		}
		buf_putc(out, c);
	}
	return buf_status(out) == CLEAT_OK;
}
