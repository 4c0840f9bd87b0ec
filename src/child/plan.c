/* child/plan.c - see plan.h. */
#define _DEFAULT_SOURCE /* environ */

#include "child/plan.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* On systems that do not declare it. */
extern char **environ;

static int plan_no_memory(cleat_error *err)
{
	return error_set(err, CLEAT_ENOMEM, "out of memory");
}

static size_t plan_count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* ---- environment -------------------------------------------------------------------------- */

struct vars {
	char **list; /* with room for all, and NULL */
	size_t n;
	struct arena *ar;
};

static size_t name_length(const char *text)
{
	return strcspn(text, "=");
}

/* The place of this name: where it is already, or a new one. */
static char **place_of(struct vars *v, const char *name, size_t n)
{
	for (size_t i = 0; i < v->n; i++)
		if (name_length(v->list[i]) == n && memcmp(v->list[i], name, n) == 0)
			return &v->list[i];
	return &v->list[v->n];
}

/* A NULL place is one that the arena had no memory for: its latch tells. */
static void set(struct vars *v, const char *text)
{
	char **at = place_of(v, text, name_length(text));
	char *copy = arena_strdup(v->ar, text);

	if (!copy)
		return;
	v->n += at == &v->list[v->n];
	*at = copy;
}

static void set_as_ours(struct vars *v, const char *name, bool careful)
{
	const char *value = getenv(name);
	const char *text;

	/* Shell functions used to travel like this, and could be code (CVE-2014-6271). */
	if (!value || (careful && strncmp(value, "()", 2) == 0))
		return;
	text = arena_printf(v->ar, "%s=%s", name, value);
	if (text)
		set(v, text);
}

static void set_ours(struct vars *v, bool all)
{
	static const char *const usual[] = { "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER" };

	for (size_t i = 0; all && environ && environ[i]; i++)
		if (name_length(environ[i]) > 0)
			set(v, environ[i]);
	for (size_t i = 0; !all && i < CLEAT_COUNT(usual); i++)
		set_as_ours(v, usual[i], true);
}

static int make_env(struct child_plan *p, const struct child_options *o, struct arena *ar,
		    cleat_error *err)
{
	size_t most = plan_count(o->env) + plan_count((const char *const *)environ) + 8;
	struct vars v = { .ar = ar };

	if (most > CHILD_WORDS_MAX)
		return error_set(err, CLEAT_EINVAL, "too many environment variables: %zu", most);
	v.list = arena_zalloc(ar, (most + 1) * sizeof *v.list);
	if (!v.list)
		return plan_no_memory(err);
	set_ours(&v, o->inherit_env);
	for (const char *const *e = o->env; e && *e; e++) {
		if (name_length(*e) == 0)
			return error_set(err, CLEAT_EINVAL,
					 "environment \"%s\" has no name: write NAME=value", *e);
		if (strchr(*e, '='))
			set(&v, *e);
		else
			set_as_ours(&v, *e, false);
	}
	p->envp = v.list;
	return arena_failed(ar) ? plan_no_memory(err) : CLEAT_OK;
}

/* ---- program ------------------------------------------------------------------------------ */

static int no_program(cleat_error *err, const char *name, int error)
{
	const char *why = error != ENOENT ? strerror(error)
			  : strpbrk(name, " \t")
				  ? "there is no such program in PATH; its arguments are "
				    "words of their own"
				  : "there is no such program in PATH";

	error_set(err, CLEAT_EIO, "cannot start %.120s: %s", name, why);
	if (err)
		err->os_errno = error;
	return CLEAT_EIO;
}

/* 0, or why this file is none to start. */
static int look_at(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == EACCES ? EACCES : ENOENT;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

/* Only absolute directories are looked at: an entry like "." would make it depend on the directory
 * which program is started. */
static int plan_find(struct child_plan *p, const char *name, struct arena *ar, cleat_error *err)
{
	const char *dirs = getenv("PATH");
	int error = ENOENT;

	for (dirs = dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *dirs;) {
		size_t n = strcspn(dirs, ":");
		struct str dir = { dirs, n };
		char *path;
		int why;

		dirs += n + (dirs[n] == ':');
		if (!str_starts(dir, "/") || n > CHILD_LINE_MAX)
			continue;
		path = arena_printf(ar, "%.*s/%s", STR_ARGS(dir), name);
		if (!path)
			return plan_no_memory(err);
		why = look_at(path);
		if (why == 0) {
			p->path = path;
			return CLEAT_OK;
		}
		if (why == EACCES)
			error = EACCES;
	}
	return no_program(err, name, error);
}

static int make_argv(struct child_plan *p, const struct child_options *o, struct arena *ar,
		     cleat_error *err)
{
	size_t n = plan_count(o->argv);

	if (n == 0 || !o->argv[0][0])
		return error_set(err, CLEAT_EINVAL, "no program to start: argv is empty");
	if (n > CHILD_WORDS_MAX)
		return error_set(err, CLEAT_EINVAL, "too many arguments: %zu", n);
	p->argv = arena_zalloc(ar, (n + 1) * sizeof *p->argv);
	for (size_t i = 0; p->argv && i < n; i++)
		p->argv[i] = arena_strdup(ar, o->argv[i]);
	if (arena_failed(ar))
		return plan_no_memory(err);
	if (!strchr(o->argv[0], '/'))
		return plan_find(p, o->argv[0], ar, err);
	p->path = p->argv[0];
	return CLEAT_OK;
}

int child_plan_make(struct child_plan *p, const struct child_options *o, struct arena *ar,
		    cleat_error *err)
{
	int rc;

	*p = (struct child_plan){ .cwd = arena_strdup(ar, o->cwd) };
	if (arena_failed(ar))
		return plan_no_memory(err);
	rc = make_argv(p, o, ar, err);
	return rc ? rc : make_env(p, o, ar, err);
}
