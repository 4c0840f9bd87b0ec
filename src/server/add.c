/* server/add.c - adding and removing what a server offers, also while it runs.
 *
 * A call that adds several adds all or none; either way every userdata is destroyed exactly once.
 */
#include "base/error.h"
#include "base/sized.h"
#include "request/server.h"
#include "server/core.h"
#include "server/method.h"
#include "server/notify.h"
#include "server/serve.h"

#include <string.h>

/* One add function's differences from the others. */
struct kind_ops {
	const char *name; /* of the public struct */
	size_t size;      /* as this library knows it */
	int (*make)(const cleat_allocator *mem, const void *in, struct entry **ret,
		    cleat_error *note, cleat_error *err);
	void (*destroy)(const void *in);
};

static int make_tool(const cleat_allocator *mem, const void *in, struct entry **ret,
		     cleat_error *note, cleat_error *err)
{
	return entry_from_tool(mem, in, ret, note, err);
}

static void destroy_tool(const void *in)
{
	const cleat_tool *t = in;

	if (t->destroy)
		t->destroy(t->userdata);
}

static int make_resource(const cleat_allocator *mem, const void *in, struct entry **ret,
			 cleat_error *note, cleat_error *err)
{
	return entry_from_resource(mem, in, ret, note, err);
}

static void destroy_resource(const void *in)
{
	const cleat_resource *r = in;

	if (r->destroy)
		r->destroy(r->userdata);
}

static int make_prompt(const cleat_allocator *mem, const void *in, struct entry **ret,
		       cleat_error *note, cleat_error *err)
{
	return entry_from_prompt(mem, in, ret, note, err);
}

static void destroy_prompt(const void *in)
{
	const cleat_prompt *p = in;

	if (p->destroy)
		p->destroy(p->userdata);
}

static int make_method(const cleat_allocator *mem, const void *in, struct entry **ret,
		       cleat_error *note, cleat_error *err)
{
	int rc = entry_from_method(mem, in, ret, note, err);

	if (!rc && method_is_reserved((*ret)->key)) {
		rc = error_set(err, CLEAT_EINVAL,
			       "method \"%s\": the name belongs to the protocol; write for example "
			       "\"com.example/%s\"",
			       (*ret)->key.p, (*ret)->key.p);
		entry_discard(*ret);
		*ret = NULL;
	}
	return rc;
}

static void destroy_method(const void *in)
{
	const cleat_method *m = in;

	if (m->destroy)
		m->destroy(m->userdata);
}

static const struct kind_ops tool_ops = { "cleat_tool", sizeof(cleat_tool), make_tool,
					  destroy_tool };
static const struct kind_ops resource_ops = { "cleat_resource", sizeof(cleat_resource),
					      make_resource, destroy_resource };
static const struct kind_ops prompt_ops = { "cleat_prompt", sizeof(cleat_prompt), make_prompt,
					    destroy_prompt };
static const struct kind_ops method_ops = { "cleat_method", sizeof(cleat_method), make_method,
					    destroy_method };

/* The public struct i of an array whose elements may be shorter or longer than ours. */
static int add_load(cleat_server *s, const struct kind_ops *k, const void *from, size_t size,
		    void *to)
{
	cleat_error err;
	int rc = sized_take(to, k->size, from, size, k->name, &err);

	return rc && s ? server_fail(s, rc, "%s", err.message) : rc;
}

union any_public {
	cleat_tool tool;
	cleat_resource resource;
	cleat_prompt prompt;
	cleat_method method;
};

static int add_one(cleat_server *s, const struct kind_ops *k, const void *in, enum shelf_kind *ret)
{
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = k->make(&s->mem, in, &e, &note, &err);

	if (!rc)
		rc = registry_add(&s->registry, e, &err);
	if (rc) {
		entry_discard(e);
		return server_fail(s, rc, "%s", err.message);
	}
	if (note.message[0])
		server_note(s, CLEAT_LOG_WARNING, "%s", note.message);
	*ret = e->kind;
	return CLEAT_OK;
}

/* What was announced before a call that adds. */
struct announced {
	uint64_t serial;
	bool ever[SHELF_COUNT];
	bool completes;
};

static struct announced announced(const struct registry *r)
{
	struct announced a = { .serial = r->serial, .completes = r->completes };

	for (int kind = 0; kind < SHELF_COUNT; kind++)
		a.ever[kind] = r->shelves[kind].ever;
	return a;
}

/* Takes the entries of this call out again; their userdata is destroyed with them. */
static void undo(cleat_server *s, const struct announced *before)
{
	s->registry.completes = before->completes;
	for (int kind = 0; kind < SHELF_COUNT; kind++) {
		struct shelf *shelf = &s->registry.shelves[kind];

		shelf->ever = before->ever[kind];
		while (shelf->count && shelf->list[shelf->count - 1]->serial > before->serial) {
			struct entry *e = shelf->list[shelf->count - 1];

			entry_unref(registry_take(&s->registry, (enum shelf_kind)kind, e->key));
		}
	}
}

static int add_all(cleat_server *s, const struct kind_ops *k, const void *array, size_t n,
		   size_t size)
{
	struct announced before = { 0 };
	int rc = s ? CLEAT_OK : CLEAT_ENOMEM, newer;
	enum shelf_kind kind = SHELF_TOOLS;
	union any_public in;
	size_t i;

	if (s)
		before = announced(&s->registry);
	for (i = 0; i < n; i++) {
		newer = add_load(s, k, (const char *)array + i * size, size, &in);
		if (!rc)
			rc = newer;
		if (!rc)
			rc = add_one(s, k, &in, &kind);
		if (rc)
			k->destroy(&in);
	}
	if (rc && s)
		undo(s, &before);
	else if (s && n)
		notify_changed(s, kind);
	return rc;
}

int cleat_server_add_tools_(cleat_server *s, const cleat_tool *tools, size_t n, size_t size)
{
	return add_all(s, &tool_ops, tools, n, size);
}

int cleat_server_add_resources_(cleat_server *s, const cleat_resource *resources, size_t n,
				size_t size)
{
	return add_all(s, &resource_ops, resources, n, size);
}

int cleat_server_add_prompts_(cleat_server *s, const cleat_prompt *prompts, size_t n, size_t size)
{
	return add_all(s, &prompt_ops, prompts, n, size);
}

int cleat_server_add_methods_(cleat_server *s, const cleat_method *methods, size_t n, size_t size)
{
	return add_all(s, &method_ops, methods, n, size);
}

static int remove_entry(cleat_server *s, enum shelf_kind kind, const char *key)
{
	struct entry *e = s && key ? registry_take(&s->registry, kind, str_of(key)) : NULL;

	if (!e)
		return s ? CLEAT_ENOENT : CLEAT_ENOMEM;
	entry_unref(e);
	notify_changed(s, kind);
	return CLEAT_OK;
}

int cleat_server_remove_tool(cleat_server *s, const char *name)
{
	return remove_entry(s, SHELF_TOOLS, name);
}

int cleat_server_remove_resource(cleat_server *s, const char *uri)
{
	int rc = remove_entry(s, SHELF_RESOURCES, uri);

	return rc == CLEAT_ENOENT ? remove_entry(s, SHELF_TEMPLATES, uri) : rc;
}

int cleat_server_remove_prompt(cleat_server *s, const char *name)
{
	return remove_entry(s, SHELF_PROMPTS, name);
}

int cleat_server_remove_method(cleat_server *s, const char *name)
{
	return remove_entry(s, SHELF_METHODS, name);
}

/* ---- many at once ---- */

static bool is_gone(const struct entry *e, struct entry *const *gone, size_t n_gone)
{
	for (size_t i = 0; i < n_gone; i++)
		if (gone[i] == e)
			return true;
	return false;
}

/* Everything that can fail. */
static int add_prepare(cleat_server *s, struct entry *const *gone, size_t n_gone,
		       const struct registry *more)
{
	int rc = CLEAT_OK;

	for (unsigned kind = 0; kind < SHELF_COUNT && !rc; kind++) {
		const struct shelf *shelf = &more->shelves[kind];

		rc = registry_reserve(&s->registry, (enum shelf_kind)kind, shelf->count);
		for (size_t i = 0; i < shelf->count && !rc; i++) {
			const struct entry *there = registry_find(
				&s->registry, (enum shelf_kind)kind, shelf->list[i]->key);

			if (there && !is_gone(there, gone, n_gone))
				rc = server_refuse(s, CLEAT_EEXIST, "\"%s\" is registered already",
						   there->key.p);
		}
	}
	return rc;
}

/* What comes for an entry that goes takes its place in the lists, which have changed only if they say something
 * else of it. Serial numbers that `more` has given count for nothing here. */
static void inherit(cleat_server *s, struct entry *const *gone, size_t n_gone,
		    struct registry *more, bool *changed)
{
	for (unsigned kind = 0; kind < SHELF_COUNT; kind++)
		for (size_t i = 0; i < more->shelves[kind].count; i++)
			more->shelves[kind].list[i]->serial = 0;
	for (size_t i = 0; i < n_gone; i++) {
		struct entry *e = registry_find(more, gone[i]->kind, gone[i]->key);

		if (e)
			e->serial = gone[i]->serial;
		if (!e || !lists_alike(s, gone[i], e))
			changed[gone[i]->kind] = true;
	}
}

int server_exchange(cleat_server *s, struct entry *const *gone, size_t n_gone,
		    struct registry *more, void (*between)(void *ctx), void *ctx)
{
	bool changed[SHELF_COUNT] = { false };
	int rc = add_prepare(s, gone, n_gone, more);

	if (rc)
		return rc;
	inherit(s, gone, n_gone, more, changed);
	for (size_t i = 0; i < n_gone; i++)
		entry_unref(registry_take(&s->registry, gone[i]->kind, gone[i]->key));
	if (between)
		between(ctx);
	for (unsigned kind = 0; kind < SHELF_COUNT; kind++) {
		struct shelf *shelf = &more->shelves[kind];

		for (size_t i = 0; i < shelf->count; i++) {
			changed[kind] = changed[kind] || !shelf->list[i]->serial;
			registry_add(&s->registry, shelf->list[i], NULL);
		}
		shelf->count = 0; /* they are the server's now */
		if (shelf->n_buckets)
			memset(shelf->buckets, 0, shelf->n_buckets * sizeof *shelf->buckets);
		if (changed[kind])
			notify_changed(s, (enum shelf_kind)kind);
	}
	return CLEAT_OK;
}

struct registry *server_registry(cleat_server *s)
{
	return &s->registry;
}
