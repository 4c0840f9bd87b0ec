/* program/serve/build.c - from a configuration to what a server offers: who reads what, and what they add.
 *
 * The sources (sources.h) are given the values of the configuration one by one, and add entries here. See
 * set.c for what becomes of them.
 */
#include "serve/sources.h"

#include "base/error.h"
#include "fetch/fetcher.h"
#include "serve/set.h"
#include "server/core.h"
#include "json/node.h"
#include "json/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fetcher *runtime_http(struct runtime *rt, cleat_error *err)
{
	const struct fetcher_options o = { .loop = rt->loop, .mem = &rt->mem };

	if (!rt->http_)
		rt->http_ = fetcher_new(&o, err);
	return rt->http_;
}

void build_say(struct build *b, int level, const char *fmt, ...)
{
	char line[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	conf_hide_secrets(b->conf, line);
	if (b->rt->say)
		b->rt->say(b->rt->say_ctx, level, line);
}

/* ---- entries ---- */

/* Puts an entry that was made (rc 0), or tells why it was not. False: userdata is to be destroyed. */
static bool build_put(struct build *b, const cleat_json *at, const char *recipe, struct entry *e,
		      int rc, const cleat_error *note, cleat_error *err)
{
	const cleat_json *other = NULL;

	if (!rc)
		rc = set_add(b->set, e, recipe ? recipe : "", at, &other, err);
	if (!rc && note->message[0])
		build_say(b, CLEAT_LOG_WARNING, "%s", note->message);
	if (!rc)
		return true;
	entry_discard(e);
	if (other)
		conf_problem(b->conf, at, "%s (%s)", err->message, conf_where(b->conf, other));
	else
		conf_problem(b->conf, at, "%s", err->message);
	return false;
}

void build_tool(struct build *b, const cleat_json *at, const char *recipe, const cleat_tool *t)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_tool(server_memory(b->rt->server), t, &e, &note, &err);

	if (!build_put(b, at, recipe, e, rc, &note, &err) && t->destroy)
		t->destroy(t->userdata);
}

void build_resource(struct build *b, const cleat_json *at, const char *recipe,
		    const cleat_resource *r)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_resource(server_memory(b->rt->server), r, &e, &note, &err);

	if (!build_put(b, at, recipe, e, rc, &note, &err) && r->destroy)
		r->destroy(r->userdata);
}

void build_prompt(struct build *b, const cleat_json *at, const char *recipe, const cleat_prompt *p)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_prompt(server_memory(b->rt->server), p, &e, &note, &err);

	if (!build_put(b, at, recipe, e, rc, &note, &err) && p->destroy)
		p->destroy(p->userdata);
}

void build_keep_on(struct build *b, const struct set_thing *t)
{
	if (!set_keep(b->set, t))
		conf_problem(b->conf, NULL, "out of memory");
}

void build_keep(struct build *b, void *thing, void (*destroy)(void *thing))
{
	build_keep_on(b, &(struct set_thing){ .thing = thing, .destroy = destroy });
}

/* ---- files ---- */

void build_watch(struct build *b, const char *path)
{
	conf_watch(b->conf, path);
}

bool build_read(struct build *b, const cleat_json *at, const char *path, size_t max,
		struct str *ret)
{
	return build_read_into(b, conf_arena(b->conf), at, path, max, ret);
}

bool build_read_into(struct build *b, struct arena *ar, const cleat_json *at, const char *path,
		     size_t max, struct str *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc = 0;
	struct stat st = { 0 };
	char *text = NULL;
	size_t n = 0;
	ssize_t got = 0;

	build_watch(b, path);
	if (fd < 0 || fstat(fd, &st))
		rc = errno;
	else if (S_ISDIR(st.st_mode))
		rc = EISDIR;
	else if (st.st_size > 0 && (uintmax_t)st.st_size > max)
		rc = EFBIG;
	if (!rc) {
		/* What has no size (a pipe) has less than the limit. */
		max = st.st_size > 0 ? (size_t)st.st_size : max;
		text = arena_alloc(ar, max + 1);
		rc = text ? 0 : ENOMEM;
	}
	while (!rc && n < max && (got = read(fd, text + n, max - n)) > 0)
		n += (size_t)got;
	if (!rc && got < 0)
		rc = errno;
	else if (!rc && n == max && st.st_size <= 0)
		rc = EFBIG; /* there may be more, and half of it is worse than nothing */
	if (fd >= 0)
		close(fd);
	if (rc) {
		conf_problem(b->conf, at, "cannot read %s: %s", path, strerror(rc));
		return false;
	}
	text[n] = 0;
	*ret = (struct str){ text, n };
	return true;
}

/* ---- recipes ---- */

enum { RECIPE_MAX = 16 << 20 };

/* The values of a document lie in one array: written one after the other, each with its type and size,
 * they are text that tells any two apart. */
static void write_recipe(struct build *b, struct buf *out, const cleat_json *v)
{
	const yyjson_val *end = v ? node_next(node_of(v)) : NULL;

	for (const yyjson_val *at = node_of(v); at < end; at++) {
		const cleat_json *j = node_json(at);
		const char *text =
			json_is_string(j) ? conf_loose_text(b->conf, j) : cleat_json_number_text(j);

		buf_printf(out, "%d:%zu:%d:", (int)cleat_json_type(j),
			   text ? strlen(text) : cleat_json_size(j), cleat_json_bool(j, false));
		if (text)
			buf_appendz(out, text);
	}
	buf_putc(out, ';');
}

const char *build_recipe(struct build *b, const cleat_json *node)
{
	char *text = NULL;
	struct buf out;

	buf_init(&out, &b->rt->mem, RECIPE_MAX);
	buf_printf(&out, "%s;", conf_dir(b->conf, node));
	write_recipe(b, &out, node);
	for (size_t i = 0; conf_root(b->conf, i); i++)
		write_recipe(b, &out, cleat_json_get(conf_root(b->conf, i), "defaults"));
	if (!buf_status(&out))
		text = arena_strndup(conf_scratch(b->conf), buf_str(&out).p, buf_size(&out));
	else
		conf_problem(b->conf, node, "%s", cleat_strstatus(buf_status(&out)));
	buf_done(&out);
	return text ? text : "";
}

const cleat_json *build_default(struct build *b, const char *key)
{
	const cleat_json *v = NULL;

	for (size_t i = 0; !v && conf_root(b->conf, i); i++)
		v = cleat_json_get(cleat_json_get(conf_root(b->conf, i), "defaults"), key);
	return v;
}

/* ---- the whole ---- */

/* tools.NAME has one of these, which says what it is. */
static const struct {
	const char *key;
	void (*source)(struct build *b, const char *name, const cleat_json *node);
} kinds[] = {
	{ "cmd", source_command },
	{ "sh", source_command },
	{ "http", source_web },
	{ "sql", source_sql },
};

static void source_tool(struct build *b, const char *name, const cleat_json *node)
{
	const char *first = NULL;
	size_t found = CLEAT_COUNT(kinds);

	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++) {
		const cleat_json *v = cleat_json_get(node, kinds[i].key);

		if (!v)
			continue;
		if (first) {
			conf_problem(b->conf, v, "a tool has \"%s\" or \"%s\", not both", first,
				     kinds[i].key);
			return;
		}
		first = kinds[i].key;
		found = i;
	}
	if (first)
		kinds[found].source(b, name, node);
	else
		conf_problem(b->conf, node,
			     "a tool needs one of \"cmd\", \"sh\", \"http\" or \"sql\"");
}

static const struct {
	const char *section;
	void (*source)(struct build *b, const char *name, const cleat_json *node);
	bool makes; /* each value makes something, or is a problem */
} sections[] = {
	{ "databases", source_database, false }, { "folders", source_folder, false },
	{ "tools", source_tool, true },          { "openapi", source_openapi, false },
	{ "resources", source_resource, true },  { "prompts", source_prompt, true },
};

static void read_value(struct build *b, size_t section, const char *name, const cleat_json *node)
{
	size_t before = set_size(b->set);

	sections[section].source(b, name, node);
	conf_scratch_reset(b->conf);
	/* A source whose own memory ran out may have nothing to say it with. One that needs something else which
	 * is wrong (a database) is silent, too, but then a problem is known. */
	if (sections[section].makes && set_size(b->set) == before && !conf_problems(b->conf))
		conf_problem(b->conf, node, "out of memory");
}

static void read_section(struct build *b, size_t section)
{
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		cleat_json_iter it = cleat_json_each(
			cleat_json_get(conf_root(b->conf, i), sections[section].section));

		while (cleat_json_next(&it)) {
			if (str_has_nul(json_str(it.key)))
				conf_problem(b->conf, it.key, "a NUL character has no place here");
			else if (json_is_object(it.value))
				read_value(b, section, cleat_json_str(it.key, ""), it.value);
		}
	}
}

static void read_prompt_dirs(struct build *b)
{
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		cleat_json_iter it =
			cleat_json_each(cleat_json_get(conf_root(b->conf, i), "prompt_dirs"));

		while (cleat_json_next(&it))
			if (json_is_string(it.value))
				source_prompt_dir(b, it.value);
	}
}

struct set *build_all(struct conf *c, struct runtime *rt)
{
	struct build b = { .conf = c, .rt = rt, .set = set_new(server_memory(rt->server)) };

	if (!b.set)
		return NULL;
	for (size_t i = 0; i < CLEAT_COUNT(sections); i++)
		read_section(&b, i);
	read_prompt_dirs(&b);
	return b.set;
}
