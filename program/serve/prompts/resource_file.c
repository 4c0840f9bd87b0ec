/* program/serve/prompts/resource_file.c - resources."URI" with "file" or "glob" (resource.h).
 *
 *	"config://app":       { "file": "./app.conf" }             one file, wherever its links lead to
 *	"file-of://{+path}":  { "file": "./docs/{path}" }          a file beneath ./docs, which is opened once
 *	"docs://":            { "glob": "./docs/ ** / *.md" }      (without blanks) each file: docs://sub/a.md
 *
 * The operator chose the file, or the directory before the first {variable} or wildcard; what comes after that
 * comes from a client and is looked up beneath it (beneath.h).
 */
#include "serve/prompts/resource.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "serve/argument/argtext.h"
#include "serve/folder/folder.h"
#include "serve/folder/mime.h"
#include "serve/kit/filewatch.h"
#include "serve/kit/taken.h"
#include "serve/prompts/completion.h"
#include "uri/template.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { GLOB_LISTED_MAX = 1000, VARIABLES_MAX = 16 };

struct path_variable {
	const char *name;
	bool wide; /* may hold a '/' */
};

struct file {
	struct jobs jobs; /* first: see job.h */
	atomic_uint refs; /* the entry and the watch */
	struct folder *f; /* limits, and of a template the directory */
	struct arena arena;
	const char *uri;
	const char *path; /* of one file, or what is behind the directory, with {variables} */
	const char *mime; /* NULL: what it looks like */
	struct path_variable variables[VARIABLES_MAX];
	size_t n;
	struct completion *completion;
};

static void file_unref(void *userdata)
{
	struct file *x = userdata;
	cleat_allocator mem;

	if (!x || atomic_fetch_sub(&x->refs, 1) > 1)
		return;
	mem = x->arena.mem;
	completion_free(x->completion);
	folder_unref(x->f);
	arena_done(&x->arena);
	mem_free(&mem, x);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static int open_regular(const char *path, cleat_error *err)
{
	char why[TAKEN_WORDS];
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && taken_is(&st, path, why)) {
		error_set(err, CLEAT_EINVAL, "%.200s: %s", path, why);
		return -1;
	}
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return beneath_fail(err, str_of(path), errno);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return beneath_fail(err, str_of(path), ENXIO);
}

static const struct path_variable *variable(const struct file *x, struct str name)
{
	for (size_t i = 0; i < x->n; i++)
		if (str_eqz(name, x->variables[i].name))
			return &x->variables[i];
	return NULL;
}

/* The path behind the directory. False: a value that must not be. */
static bool render(const struct file *x, cleat_request *req, struct buf *out)
{
	const char *p = x->path;

	while (*p) {
		size_t n = strcspn(p, "{");
		const char *end = p[n] ? strchr(p + n, '}') : NULL;
		const struct path_variable *v;
		struct str value;

		buf_append(out, p, n);
		if (!end)
			break;
		v = variable(x, (struct str){ p + n + 1, (size_t)(end - p) - n - 1 });
		value = str_of(v ? cleat_request_var(req, v->name) : "");
		if (!value.n || (v && !v->wide && memchr(value.p, '/', value.n)))
			return false;
		buf_append(out, value.p, value.n);
		p = end + 1;
	}
	return buf_status(out) == CLEAT_OK;
}

static int read_template(struct file *x, struct folder_call *c)
{
	struct buf path = BUF_INIT(&x->f->mem, BENEATH_PATH_MAX);
	struct stat st;
	int fd = -1, rc;

	if (render(x, c->req, &path))
		fd = beneath_open_file(&x->f->root, buf_str(&path), &st, NULL);
	rc = fd < 0 ? cleat_reply_not_found(c->req)
		    : folder_resource_reply(c, fd, buf_str(&path), x->mime);
	if (fd >= 0)
		close(fd);
	buf_done(&path);
	return rc;
}

static int file_read(cleat_request *req)
{
	struct file *x = cleat_request_userdata(req);
	struct folder_call c = { .req = req, .f = x->f };
	cleat_error err = { 0 };
	int fd, rc;

	if (uri_is_template(str_of(x->uri)))
		return read_template(x, &c);
	fd = open_regular(x->path, &err);
	if (fd < 0)
		return err.status == CLEAT_ENOENT ? cleat_reply_not_found(req)
						  : folder_failed(req, &err);
	rc = folder_resource_reply(&c, fd, str_of(x->path), x->mime);
	close(fd);
	return rc;
}

static int file_complete(cleat_request *req)
{
	struct file *x = cleat_request_userdata(req);

	return completion_reply(x->completion, &x->jobs, req);
}

static bool find_file(void *ctx, struct str uri, char ret[FILEWATCH_PATH])
{
	const struct file *x = ctx;

	return str_eqz(uri, x->uri) &&
	       snprintf(ret, FILEWATCH_PATH, "%s", x->path) < FILEWATCH_PATH;
}

/* ---- "file" ----------------------------------------------------------------------------------- */

/* "/a/b/x-{c}.md": the directory is /a/b, the rest x-{c}.md. */
static const char *split_template(struct arena *ar, const char *path, const char **ret_directory)
{
	size_t n = strcspn(path, "{");

	while (n > 1 && path[n - 1] != '/')
		n--;
	*ret_directory = arena_strndup(ar, path, n ? n : 1);
	return arena_strdup(ar, path + n);
}

static bool read_variables(struct draft *b, struct file *x, const cleat_json *node,
			   const cleat_json *names)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(names, "properties"));

	while (cleat_json_next(&it)) {
		struct str name = str_of(cleat_json_str(it.key, ""));

		if (x->n == VARIABLES_MAX) {
			conf_problem(b->conf, node, "at most %d variables", VARIABLES_MAX);
			return false;
		}
		x->variables[x->n++] =
			(struct path_variable){ arena_strndup(&x->arena, name.p, name.n),
						resource_is_wide(x->uri, name) };
	}
	for (const char *p = strchr(x->path, '{'); p; p = strchr(p + 1, '{')) {
		size_t n = strcspn(p + 1, "}");

		if (!variable(x, (struct str){ p + 1, n })) {
			conf_problem(b->conf, cleat_json_get(node, "file"),
				     "{%.*s} is not a variable of the URI", (int)n, p + 1);
			return false;
		}
	}
	return true;
}

static bool fill_template(struct draft *b, struct file *x, const cleat_json *node, const char *path)
{
	const cleat_json *at = cleat_json_get(node, "file");
	const cleat_json *names = resource_names(b, x->uri, node);
	const char *directory;

	if (!names)
		return false;
	if (!strchr(path, '{')) {
		conf_problem(b->conf, at,
			     "the URI has variables: name them in the path, "
			     "as in \"./docs/{path}\"");
		return false;
	}
	x->path = split_template(&x->arena, path, &directory);
	if (!x->path || !directory) {
		conf_problem(b->conf, at, "no memory");
		return false;
	}
	x->f = folder_open(b, at, directory, x->uri);
	return x->f && read_variables(b, x, node, names) &&
	       completion_read(b, node, names, &x->completion);
}

static bool fill_plain(struct draft *b, struct file *x, const cleat_json *node, const char *path,
		       cleat_resource *r, char when[FOLDER_TIME])
{
	const cleat_json *at = cleat_json_get(node, "file");
	cleat_error err = { 0 };
	struct stat st;
	int fd = open_regular(path, &err);

	if (fd < 0 || fstat(fd, &st)) {
		conf_problem(b->conf, at, "%s", err.message);
		return false;
	}
	close(fd);
	r->size = st.st_size;
	folder_time(st.st_mtime, when);
	if (!r->mime_type)
		r->mime_type = mime_by_name(str_of(path));
	x->path = arena_strdup(&x->arena, path);
	x->f = folder_open(b, at, NULL, x->uri);
	return x->path && x->f;
}

static struct file *file_new(struct draft *b, const char *uri, const char *mime)
{
	struct file *x = mem_zalloc(&b->rt->mem, sizeof *x);

	if (!x)
		return NULL;
	arena_init(&x->arena, &b->rt->mem, 0);
	atomic_init(&x->refs, 1);
	x->uri = arena_strdup(&x->arena, uri);
	x->mime = arena_strdup(&x->arena, mime);
	if (!arena_failed(&x->arena))
		return x;
	file_unref(x);
	return NULL;
}

void resource_file(struct draft *b, const char *uri, const cleat_json *node)
{
	const char *path = conf_path_at(b->conf, cleat_json_get(node, "file"));
	bool is_template = uri_is_template(str_of(uri));
	char when[FOLDER_TIME];
	const cleat_annotations modified = { .last_modified = when };
	cleat_resource r = { .read = file_read, .destroy = file_unref };
	struct file *x;

	if (!path)
		return;
	resource_describe(b, uri, node, &r);
	x = file_new(b, uri, r.mime_type);
	if (!x) {
		conf_problem(b->conf, node, "no memory");
		return;
	}
	if (!(is_template ? fill_template(b, x, node, path)
			  : fill_plain(b, x, node, path, &r, when))) {
		file_unref(x);
		return;
	}
	r.userdata = x;
	r.complete = x->completion ? file_complete : NULL;
	r.blocking = !x->completion; /* which may run a command, on the loop */
	r.annotations = is_template ? NULL : &modified;
	atomic_fetch_add(&x->refs, 1); /* for the watch */
	draft_resource(b, node, draft_recipe(b, node), &r);
	if (is_template)
		file_unref(x);
	else
		filewatch_add(
			b, &(struct filewatch_options){
				   .rt = b->rt, .find = find_file, .ctx = x, .done = file_unref });
}

/* ---- "glob" ----------------------------------------------------------------------------------- */

/* "/a/b/c*d/e": the directory is /a/b, the pattern c*d/e, which is about whole paths. */
static const char *split_glob(struct arena *ar, const char *text, const char **ret_directory)
{
	size_t n = strcspn(text, "*?[{\\");

	while (n > 1 && text[n - 1] != '/')
		n--;
	*ret_directory = arena_strndup(ar, text, n ? n : 1);
	return arena_printf(ar, "/%s", text + n);
}

void resource_glob(struct draft *b, const char *uri, const cleat_json *node)
{
	struct arena *ar = conf_arena(b->conf);
	const cleat_json *at = cleat_json_get(node, "glob");
	const char *text = conf_path_at(b->conf, at), *directory, *pattern, *recipe;
	cleat_resource about = { .name = NULL };
	cleat_error err = { 0 };
	struct stat st = { 0 };
	struct folder *f;

	if (!text)
		return;
	if (uri_is_template(str_of(uri))) {
		conf_problem(
			b->conf, node,
			"the URI of a glob has no variables: it is what the URIs of the files begin with");
		return;
	}
	pattern = split_glob(ar, text, &directory);
	uri = uri[0] && uri[strlen(uri) - 1] == '/' ? uri : arena_printf(ar, "%s/", uri);
	f = pattern && directory && uri ? folder_open(b, at, directory, uri) : NULL;
	if (!f)
		return;
	f->only = glob_new(&f->mem, str_of(pattern), &err);
	if (!f->only)
		conf_problem(b->conf, at, "%s", err.message);
	fstat(f->root.fd, &st);
	recipe = arena_printf(ar, "%llu %llu %s", (unsigned long long)st.st_dev,
			      (unsigned long long)st.st_ino, draft_recipe(b, node));
	resource_describe(b, uri, node, &about);
	f->mime = mem_strdup(&f->mem, about.mime_type);
	if (f->only)
		folder_resources(b, node, recipe, f, &about, GLOB_LISTED_MAX);
	folder_unref(f);
}
