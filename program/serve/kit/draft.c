/* program/serve/kit/draft.c - what sources add, the files that they read, and recipes (draft.h). See set.c for what
 * becomes of the entries.
 */
#include "serve/kit/draft.h"

#include "base/error.h"
#include "fetch/fetcher.h"
#include "serve/kit/set.h"
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

void draft_say(struct draft *b, int level, const char *fmt, ...)
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
static bool draft_put(struct draft *b, const cleat_json *at, const char *recipe, struct entry *e,
		      int rc, const cleat_error *note, cleat_error *err)
{
	const cleat_json *other = NULL;

	if (!rc)
		rc = set_add(b->set, e, recipe ? recipe : "", at, &other, err);
	if (!rc && note->message[0])
		draft_say(b, CLEAT_LOG_WARNING, "%s", note->message);
	if (!rc)
		return true;
	entry_discard(e);
	if (other)
		conf_problem(b->conf, at, "%s (%s)", err->message, conf_where(b->conf, other));
	else
		conf_problem(b->conf, at, "%s", err->message);
	return false;
}

void draft_tool(struct draft *b, const cleat_json *at, const char *recipe, const cleat_tool *t)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_tool(server_memory(b->rt->server), t, &e, &note, &err);

	if (!draft_put(b, at, recipe, e, rc, &note, &err) && t->destroy)
		t->destroy(t->userdata);
}

void draft_resource(struct draft *b, const cleat_json *at, const char *recipe,
		    const cleat_resource *r)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_resource(server_memory(b->rt->server), r, &e, &note, &err);

	if (!draft_put(b, at, recipe, e, rc, &note, &err) && r->destroy)
		r->destroy(r->userdata);
}

void draft_prompt(struct draft *b, const cleat_json *at, const char *recipe, const cleat_prompt *p)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_prompt(server_memory(b->rt->server), p, &e, &note, &err);

	if (!draft_put(b, at, recipe, e, rc, &note, &err) && p->destroy)
		p->destroy(p->userdata);
}

void draft_keep_on(struct draft *b, const struct set_thing *t)
{
	if (!set_keep(b->set, t))
		conf_problem(b->conf, NULL, "out of memory");
}

void draft_keep(struct draft *b, void *thing, void (*destroy)(void *thing))
{
	draft_keep_on(b, &(struct set_thing){ .thing = thing, .destroy = destroy });
}

/* ---- files ---- */

void draft_watch(struct draft *b, const char *path)
{
	conf_watch(b->conf, path);
}

bool draft_read(struct draft *b, const cleat_json *at, const char *path, size_t max,
		struct str *ret)
{
	return draft_read_into(b, conf_arena(b->conf), at, path, max, ret);
}

bool draft_read_into(struct draft *b, struct arena *ar, const cleat_json *at, const char *path,
		     size_t max, struct str *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc = 0;
	struct stat st = { 0 };
	char *text = NULL;
	size_t n = 0;
	ssize_t got = 0;

	draft_watch(b, path);
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
static void write_recipe(struct draft *b, struct buf *out, const cleat_json *v)
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

const char *draft_recipe(struct draft *b, const cleat_json *node)
{
	char *text = NULL;
	struct buf out;

	buf_init(&out, &b->rt->mem, RECIPE_MAX);
	buf_printf(&out, "%s;", conf_dir(b->conf, node));
	write_recipe(b, &out, node);
	for (size_t i = 0; conf_root(b->conf, i); i++) {
		const cleat_json *defaults = cleat_json_get(conf_root(b->conf, i), "defaults");

		if (defaults) /* a file that says nothing of them changes nothing */
			write_recipe(b, &out, defaults);
	}
	if (!buf_status(&out))
		text = arena_strndup(conf_scratch(b->conf), buf_str(&out).p, buf_size(&out));
	else
		conf_problem(b->conf, node, "%s", cleat_strstatus(buf_status(&out)));
	buf_done(&out);
	return text ? text : "";
}

const cleat_json *draft_default(struct draft *b, const char *key)
{
	const cleat_json *v = NULL;

	for (size_t i = 0; !v && conf_root(b->conf, i); i++)
		v = cleat_json_get(cleat_json_get(conf_root(b->conf, i), "defaults"), key);
	return v;
}
