/* program/serve/config/conf.c - the files of a configuration: reading, including, finding one's way back from a value.
 *
 * A file is read once however often it is named, so includes cannot go round in circles; they are read in
 * the order of being named, each file before those that it includes. Nothing here gives up at a problem:
 * what can still be looked at is looked at, so that one run tells all.
 */
#define _XOPEN_SOURCE 700

#include "serve/config/conf_impl.h"

#include "base/error.h"
#include "base/mem.h"
#include "text/jsonc.h"
#include "json/node.h"
#include "json/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARENA_MAX = 256 << 20, PIPE_WAIT_MS = 5000 };

struct conf *conf_new(const cleat_allocator *mem)
{
	cleat_allocator a = mem_resolve(mem);
	struct conf *c = mem_zalloc(&a, sizeof *c);

	if (!c)
		return NULL;
	c->mem = a;
	arena_init(&c->arena, &a, ARENA_MAX);
	arena_init(&c->scratch, &a, 0);
	return c;
}

void conf_free(struct conf *c)
{
	cleat_allocator mem;

	if (!c)
		return;
	mem = c->mem;
	cleat_schema_free(c->schema);
	mem_free(&mem, c->words);
	mem_free(&mem, c->watched);
	arena_done(&c->arena);
	arena_done(&c->scratch);
	mem_free(&mem, c);
}

struct arena *conf_arena(struct conf *c)
{
	return &c->arena;
}

struct arena *conf_scratch(struct conf *c)
{
	return &c->scratch;
}

void conf_scratch_reset(struct conf *c)
{
	c->no_memory |= arena_failed(&c->scratch);
	arena_reset(&c->scratch);
}

const cleat_json *conf_root(const struct conf *c, size_t i)
{
	return i < c->n_files ? c->files[i].root : NULL;
}

const char *conf_path(const struct conf *c, size_t i)
{
	return i < c->n_files ? c->files[i].path : NULL;
}

void conf_stand_in(struct conf *c, const cleat_json *place)
{
	c->stand_in = place;
}

static struct conf_file *find_file(const struct conf *c, const cleat_json *v)
{
	const yyjson_val *node = node_of(v);

	for (size_t i = 0; node && i < c->n_files; i++) {
		const struct conf_file *f = &c->files[i];

		if (node >= node_of(f->root) && node < node_of(f->root) + f->count)
			return (struct conf_file *)f;
	}
	return NULL;
}

struct conf_file *conf_file_of(const struct conf *c, const cleat_json **v)
{
	struct conf_file *f = find_file(c, *v);

	if (f || !*v || !c->stand_in)
		return f;
	*v = c->stand_in;
	return find_file(c, *v);
}

bool conf_is_typed(const struct conf *c, const cleat_json *at)
{
	const struct conf_file *f = conf_file_of(c, &at);

	return f && f->option;
}

const char *conf_dir(const struct conf *c, const cleat_json *at)
{
	const struct conf_file *f = conf_file_of(c, &at);

	return f ? f->dir : ".";
}

void conf_watch(struct conf *c, const char *path)
{
	const char *copy;

	for (size_t i = 0; i < c->n_watched; i++)
		if (strcmp(c->watched[i], path) == 0)
			return;
	if (c->n_watched == CONF_WATCHED_MAX)
		return;
	copy = arena_strdup(&c->arena, path);
	if (!copy || mem_grow(&c->mem, (void **)&c->watched, &c->cap_watched, c->n_watched,
			      sizeof *c->watched, CONF_WATCHED_MAX))
		c->no_memory = true;
	else
		c->watched[c->n_watched++] = copy;
}

const char *conf_watched(const struct conf *c, size_t i)
{
	return i < c->n_watched ? c->watched[i] : NULL;
}

/* ---- one document ---- */

static void learn_places(struct conf *c, struct conf_file *f)
{
	yyjson_val *root = node_of(f->root);

	f->count = (size_t)(node_next(root) - root);
	f->at = arena_alloc(&c->arena, f->count * sizeof *f->at);
	if (f->at && jsonc_values(f->text, f->n, f->at, f->count) != f->count)
		f->at = NULL;
}

/* JSON of another kind, and what to do with it; NULL: none that is known. */
static const char *other_json(const cleat_json *root)
{
	if (json_is_string(cleat_json_get(root, "openapi")) ||
	    json_is_string(cleat_json_get(root, "swagger")))
		return "this is an OpenAPI document, not a configuration: serve it with --openapi, or "
		       "name it in \"openapi\"";
	if (cleat_json_get(root, "mcpServers"))
		return "this is the configuration of a client, which starts servers: cleat install "
		       "writes into such a file";
	return NULL;
}

/* The parser's words, or better ones. */
static const char *parse_error(const char *message)
{
	if (strstr(message, "control character in string"))
		return "a text ends on its line: write \\n for the end of a line, and close the text "
		       "with \"";
	return message;
}

void conf_parse(struct conf *c, struct conf_file *f, char *text, size_t n)
{
	cleat_error err = { 0 };
	const char *other;
	size_t line, column;

	jsonc_blank(text, n);
	f->text = text;
	f->n = n;
	if (json_parse_at(&c->arena, (struct str){ text, n }, NULL, &f->root, &line, &column,
			  &err)) {
		f->root = json_empty_object(); /* no part of the document: nothing is in it */
		c->no_memory |= err.status == CLEAT_ENOMEM;
		conf_add_problem(c, conf_place(c, f, line, column), parse_error(err.message));
		return;
	}
	other = other_json(f->root);
	if (other) {
		f->root = json_empty_object();
		conf_add_problem(c, f->path, other);
		return;
	}
	learn_places(c, f);
	conf_check(c, f);
}

struct conf_file *conf_new_file(struct conf *c, const char *path)
{
	struct conf_file *f;

	if (c->n_files == CONF_FILES_MAX) {
		if (!c->unsaid)
			conf_add_problem(c, path, "there are too many files");
		return NULL;
	}
	f = &c->files[c->n_files];
	*f = (struct conf_file){ .dir = ".",
				 .path = arena_strdup(&c->arena, path),
				 .root = json_empty_object() };
	if (!f->path) {
		c->no_memory = true;
		return NULL;
	}
	c->n_files++;
	return f;
}

static const char *current_directory(struct conf *c)
{
	char *cwd = getcwd(NULL, 0);
	const char *copy = arena_strdup(&c->arena, cwd ? cwd : "/");

	free(cwd);
	return copy;
}

/* Relative paths in a file are relative to it; /dev/stdin and <(command) are nowhere. */
static const char *directory_of(struct conf *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name, *real;
	const char *copy;

	if (!slash || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
		return current_directory(c);
	name = arena_strndup(&c->arena, path, slash == path ? 1 : (size_t)(slash - path));
	real = name ? realpath(name, NULL) : NULL;
	copy = real ? arena_strdup(&c->arena, real) : name;
	free(real);
	return copy;
}

/* ---- reading ---- */

/* A pipe, as of <(command): what is to come comes soon. A server that is running must not wait for long. */
static bool wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, PIPE_WAIT_MS) > 0;
}

/* All of it, or the reason. */
static int slurp(struct conf *c, int fd, char **ret, size_t *ret_n)
{
	size_t cap = 64 << 10, n = 0;
	char *text = arena_alloc(&c->arena, cap);

	for (;;) {
		ssize_t got;

		if (!text)
			return ENOMEM;
		got = read(fd, text + n, cap - n);
		if (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for(fd))))
			continue;
		if (got < 0)
			return errno;
		n += (size_t)got;
		if (got == 0)
			break;
		if (n > CONF_FILE_MAX)
			return EFBIG;
		if (n == cap) {
			text = arena_realloc(&c->arena, text, cap, cap * 2);
			cap *= 2;
		}
	}
	*ret = text;
	*ret_n = n;
	return 0;
}

static bool seen(const struct conf *c, const struct stat *st)
{
	for (size_t i = 0; i < c->n_files; i++)
		if (!c->files[i].option && c->files[i].ino == st->st_ino &&
		    c->files[i].dev == st->st_dev)
			return true;
	return false;
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n > k && strcmp(path + n - k, end) == 0;
}

/* What else somebody may have wanted to serve, and how; NULL: it may be a configuration. */
static const char *other_kind(const char *path, const char *text, size_t n)
{
	static const char sqlite[] = "SQLite format 3";

	if (n >= sizeof sqlite && !memcmp(text, sqlite, sizeof sqlite))
		return "this is an SQLite database, not a configuration: serve it with --sqlite";
	if (ends_with(path, ".yaml") || ends_with(path, ".yml"))
		return "a configuration is JSON; an OpenAPI document is served with --openapi";
	if (ends_with(path, ".md"))
		return "a configuration is JSON; a folder is served with --dir, one of prompts with "
		       "--prompts";
	return NULL;
}

static const char *reading_error(int error)
{
	return error == EFBIG    ? "is larger than 4 MB"
	       : error == EISDIR ? "is a directory: serve a folder with --dir"
				 : strerror(error);
}

/* `from`: the "include" that names it, NULL: the command line. */
static void read_file(struct conf *c, const char *path, const cleat_json *from)
{
	struct conf_file *f;
	const char *other;
	struct stat st;
	char *text = NULL;
	size_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc = 0;

	conf_watch(c, path);
	if (fd < 0 || fstat(fd, &st))
		rc = errno;
	else if (S_ISDIR(st.st_mode))
		rc = EISDIR;
	else if (seen(c, &st))
		goto out;
	else
		rc = slurp(c, fd, &text, &n);
	other = rc ? NULL : other_kind(path, text, n);
	f = rc || other ? NULL : conf_new_file(c, path);
	if (f) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
		f->dir = directory_of(c, path);
		conf_parse(c, f, text, n);
	} else if (rc && from) {
		conf_problem(c, from, "cannot read %s: %s", path, strerror(rc));
	} else if (rc || other) {
		conf_add_problem(c, path, other ? other : reading_error(rc));
	}
	c->no_memory |= rc == ENOMEM;
out:
	if (fd >= 0)
		close(fd);
}

/* ---- including ---- */

/* The directory in which files may come, as far as its name is known. */
static void watch_around(struct conf *c, const char *pattern)
{
	size_t n = strcspn(pattern, "*?[");
	char *directory;

	while (n > 1 && pattern[n - 1] != '/')
		n--;
	directory = arena_strndup(&c->arena, pattern, n > 1 ? n - 1 : n);
	if (directory)
		conf_watch(c, directory);
}

static void include(struct conf *c, const struct conf_file *f, const cleat_json *v)
{
	const char *text = conf_early_text(c, v), *path;
	glob_t found = { 0 };
	int rc;

	if (!text || !*text)
		return;
	path = *text == '/' ? text : arena_printf(&c->arena, "%s/%s", f->dir, text);
	if (!path) {
		c->no_memory = true;
		return;
	}
	if (!strpbrk(text, "*?[")) {
		read_file(c, path, v);
		return;
	}
	watch_around(c, path);
	rc = glob(path, 0, NULL, &found); /* sorted */
	for (size_t i = 0; !rc && i < found.gl_pathc; i++)
		read_file(c, found.gl_pathv[i], v);
	if (rc && rc != GLOB_NOMATCH)
		conf_problem(c, v, "cannot look for %s", path);
	if (!rc)
		globfree(&found);
}

void conf_add_file(struct conf *c, const char *path)
{
	size_t next = c->n_files;

	read_file(c, path, NULL);
	for (; next < c->n_files; next++) {
		const struct conf_file *f = &c->files[next];
		const cleat_json *list = cleat_json_get(f->root, "include");
		cleat_json_iter it = cleat_json_each(list);

		if (cleat_json_type(list) == CLEAT_JSON_STRING)
			include(c, f, list);
		while (cleat_json_next(&it))
			if (json_is_string(it.value))
				include(c, f, it.value);
	}
}

/* ---- the command line ---- */

void conf_add_value(struct conf *c, const char *path, const char *option, const cleat_json *root)
{
	struct conf_file *f = conf_new_file(c, path);

	if (!f)
		return;
	f->option = option;
	f->dir = current_directory(c);
	f->root = root;
	f->count = json_nodes(root);
	conf_check(c, f);
}
