/* program/serve/config/conf_option.c - an option of the command line as a document of the configuration's own format:
 *
 *	--dir ./docs:rw        {"folders": {"docs": {"path": "./docs", "write": true}}}
 *
 * so that there is one way from words to tools. Paths were expanded by the shell: a $ in them is a $.
 */
#define _XOPEN_SOURCE 700

#include "serve/config/conf_impl.h"

#include "base/error.h"
#include "serve/config/oneline.h"
#include "json/build.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_MAX_BYTES = 48 };

struct option {
	struct conf *c;
	const char *value;
	struct jw w;
};

/* ---- names ---- */

static bool is_taken(const struct conf *c, const char *section, const char *name)
{
	for (size_t i = 0; conf_root(c, i); i++)
		if (cleat_json_get(cleat_json_get(conf_root(c, i), section), name))
			return true;
	return false;
}

/* The last part of a path, without what is behind its dot where that is wanted. */
static struct str last_part(const char *path, bool no_suffix)
{
	size_t n = strlen(path), dot;
	const char *start;

	while (n > 1 && path[n - 1] == '/')
		n--;
	start = path + n;
	while (start > path && start[-1] != '/')
		start--;
	n = (size_t)(path + n - start);
	for (dot = n; no_suffix && dot > 0 && start[dot - 1] != '.'; dot--)
		;
	return (struct str){ start, no_suffix && dot > 1 ? dot - 1 : n };
}

/* A name of letters, digits and _ that no other of the section has. */
static const char *name_for(struct conf *c, const char *section, const char *path, bool no_suffix)
{
	char name[NAME_MAX_BYTES + 16];
	char *real = realpath(path, NULL);
	struct str part = last_part(real ? real : path, no_suffix);
	size_t n = 0;

	for (size_t i = 0; i < part.n && n < NAME_MAX_BYTES; i++) {
		char ch = part.p[i];
		bool word = (ch >= '0' && ch <= '9') || ((ch | 32) >= 'a' && (ch | 32) <= 'z');

		if (word || (n && name[n - 1] != '_'))
			name[n++] = word ? ch : '_';
	}
	free(real);
	while (n && name[n - 1] == '_')
		n--;
	if (!n)
		memcpy(name, "root", n = 4);
	name[n] = 0;
	for (unsigned k = 2; is_taken(c, section, name); k++)
		snprintf(name + n, sizeof name - n, "_%u", k);
	return arena_strdup(&c->arena, name);
}

/* ---- the documents ---- */

/* A path, as a member or (key NULL) an element: what a shell has expanded is not expanded again. */
static void put_path(struct option *o, const char *key, struct str path)
{
	if (key)
		jw_key(&o->w, key);
	jw_text_begin(&o->w);
	for (size_t i = 0, start = 0; i < path.n; i++) {
		if (path.p[i] == '$' || i + 1 == path.n) {
			jw_text_part(&o->w, (struct str){ path.p + start, i + 1 - start });
			start = i + 1;
		}
		if (path.p[i] == '$')
			jw_text_part(&o->w, STR_LIT("$"));
	}
	jw_text_end(&o->w, false);
}

static bool take_suffix(struct str *s, const char *suffix)
{
	size_t n = strlen(suffix);

	if (s->n < n || memcmp(s->p + s->n - n, suffix, n) != 0)
		return false;
	s->n -= n;
	return true;
}

static void named(struct option *o, const char *section, const char *name)
{
	jw_obj(&o->w);
	jw_key(&o->w, section);
	jw_obj(&o->w);
	jw_keyn(&o->w, str_of(name));
	jw_obj(&o->w);
}

static void end_named(struct option *o)
{
	for (int i = 0; i < 3; i++)
		jw_obj_end(&o->w);
}

static int put_tool(struct option *o, cleat_error *err, bool script)
{
	const char *const *words = NULL;
	struct oneline line;
	int rc = oneline_parse(&o->c->arena, o->value, &line, err);

	if (!rc && !script)
		rc = oneline_words(&o->c->arena, line.rest, line.column, &words, err);
	if (rc)
		return rc;
	named(o, "tools", line.name);
	jw_kv_raw(&o->w, "args", str_of(line.schema));
	jw_kv_str(&o->w, "description", line.description);
	if (script) {
		jw_kv_str(&o->w, "sh", line.rest);
	} else {
		jw_key(&o->w, "cmd");
		jw_arr(&o->w);
		while (*words)
			jw_strz(&o->w, *words++);
		jw_arr_end(&o->w);
	}
	end_named(o);
	return CLEAT_OK;
}

static int put_sh(struct option *o, cleat_error *err)
{
	return put_tool(o, err, true);
}

static int put_cmd(struct option *o, cleat_error *err)
{
	return put_tool(o, err, false);
}

/* PATH or PATH:rw. */
static int put_place(struct option *o, cleat_error *err, const char *section, const char *key,
		     bool no_suffix)
{
	struct str path = str_of(o->value);
	bool write = take_suffix(&path, ":rw");
	const char *z, *name;

	if (!write)
		take_suffix(&path, ":ro");
	z = arena_strndup(&o->c->arena, path.p, path.n);
	name = z && *z ? name_for(o->c, section, z, no_suffix) : NULL;
	if (z && !*z)
		return error_set(err, CLEAT_EINVAL, "expected a path");
	if (!name)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	named(o, section, name);
	put_path(o, key, path);
	jw_kv_bool(&o->w, "write", write);
	end_named(o);
	return CLEAT_OK;
}

static int put_dir(struct option *o, cleat_error *err)
{
	return put_place(o, err, "folders", "path", false);
}

static int put_sqlite(struct option *o, cleat_error *err)
{
	return put_place(o, err, "databases", "file", true);
}

/* FILE or FILE=http://... */
static int put_openapi(struct option *o, cleat_error *err)
{
	const char *url = strstr(o->value, "=http"), *z, *name;
	struct str path = str_of(o->value);

	if (url)
		path.n = (size_t)(url - o->value);
	z = arena_strndup(&o->c->arena, path.p, path.n);
	name = z && *z ? name_for(o->c, "openapi", z, true) : NULL;
	if (z && !*z)
		return error_set(err, CLEAT_EINVAL, "expected a file");
	if (!name)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	named(o, "openapi", name);
	put_path(o, "file", path);
	if (url)
		put_path(o, "server", str_of(url + 1));
	end_named(o);
	return CLEAT_OK;
}

static int put_prompts(struct option *o, cleat_error *err)
{
	if (!*o->value)
		return error_set(err, CLEAT_EINVAL, "expected a directory");
	jw_obj(&o->w);
	jw_key(&o->w, "prompt_dirs");
	jw_arr(&o->w);
	put_path(o, NULL, str_of(o->value));
	jw_arr_end(&o->w);
	jw_obj_end(&o->w);
	return CLEAT_OK;
}

static const struct {
	const char *option, *shown;
	int (*put)(struct option *o, cleat_error *err);
} known[] = {
	{ "sh", "--sh", put_sh },
	{ "cmd", "--cmd", put_cmd },
	{ "dir", "--dir", put_dir },
	{ "sqlite", "--sqlite", put_sqlite },
	{ "openapi", "--openapi", put_openapi },
	{ "prompts", "--prompts", put_prompts },
};

void conf_add_option(struct conf *c, const char *option, const char *value)
{
	struct option o = { .c = c, .value = value };
	cleat_error err = { 0 };
	const char *shown = option;
	const cleat_json *root;
	struct build b;
	int rc = CLEAT_EINVAL;

	error_set(&err, rc, "there is no such option");
	build_init(&b, &c->arena);
	jw_build(&o.w, &b);
	for (size_t i = 0; i < CLEAT_COUNT(known); i++) {
		if (strcmp(known[i].option, option) != 0)
			continue;
		shown = known[i].shown;
		rc = known[i].put(&o, &err);
	}
	if (!rc)
		rc = build_finish(&b, &root, &err);
	if (rc == CLEAT_ENOMEM)
		c->no_memory = true;
	else if (rc)
		conf_add_problem(c, shown, err.message);
	else
		conf_add_value(c, "command line", shown, root);
}
