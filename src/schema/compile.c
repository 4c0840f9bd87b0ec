/* schema/compile.c - a schema from JSON to its compiled form: limits, errors, order of work, and the
 * one property that no single node has: a schema must not lead back to itself on the same value,
 * because checking it would never end.
 *
 * Not here: finding subschemas and references (locate.c), keywords (rules.c).
 */
#include "schema/compiler.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "schema/path.h"
#include "uri/reference.h"
#include "wording/show.h"
#include "json/copy.h"
#include "json/node.h"
#include "json/parse.h"

#include <stdio.h>

enum { MESSAGE_MAX = 1024, PLACE_MAX = 100 };

/* ---- errors ----------------------------------------------------------------------------------- */

static int fail_text(struct compiler *c, int status, struct buf *b)
{
	struct str text = buf_str(b);

	if (!c->status) {
		c->status = buf_status(b) == CLEAT_ENOMEM ? CLEAT_ENOMEM : status;
		error_set(c->err, c->status, "%.*s", STR_ARGS(text));
	}
	buf_done(b);
	return c->status;
}

int compile_fail(struct compiler *c, int status, const char *fmt, ...)
{
	va_list ap;

	if (c->status)
		return c->status;
	va_start(ap, fmt);
	c->status = error_vset(c->err, status, 0, fmt, ap);
	va_end(ap);
	return c->status;
}

int compile_no_memory(struct compiler *c)
{
	return compile_fail(c, CLEAT_ENOMEM, "out of memory while compiling a schema");
}

int compile_no_room(struct compiler *c, const char *keyword)
{
	if (buf_status(&c->uri) != CLEAT_ELIMIT)
		return compile_no_memory(c);
	return compile_fail(c, CLEAT_ELIMIT, "%s: a URI of more than %d bytes", keyword,
			    COMPILE_URI_MAX);
}

/* The place, as it is before a message; nothing for the whole schema. Of a long one the end is
 * shown, so that the message itself is not cut off. */
static void place(struct compiler *c, struct buf *b, node_id id, const char *keyword)
{
	struct buf all;
	struct str text;

	buf_init(&all, &c->s->mem, SIZE_MAX / 2);
	if (c->nodes[id].resource != c->nodes[c->s->root].resource) {
		struct str uri = c->resources[c->nodes[id].resource].uri;

		buf_append(&all, uri.p, uri.n);
		buf_putc(&all, '#');
	}
	path_write_node(&all, c->nodes, id);
	if (keyword)
		buf_printf(&all, "/%s", keyword);
	text = buf_str(&all);
	buf_init(b, &c->s->mem, MESSAGE_MAX);
	if (text.n > PLACE_MAX) {
		const char *end = text.p + text.n;
		const char *slash = memchr(end - PLACE_MAX, '/', PLACE_MAX);

		buf_appendz(b, "…");
		text.p = slash ? slash : end - PLACE_MAX;
		text.n = (size_t)(end - text.p);
	}
	show_plain(b, text);
	if (text.n)
		buf_appendz(b, ": ");
	buf_done(&all);
}

static int CLEAT_PRINTF(5, 0) bad_text(struct compiler *c, int status, node_id id,
				       const char *keyword, const char *fmt, va_list ap)
{
	struct buf b;

	place(c, &b, id, keyword);
	buf_vprintf(&b, fmt, ap);
	return fail_text(c, status, &b);
}

int compile_fail_at(struct compiler *c, int status, node_id id, const char *keyword,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bad_text(c, status, id, keyword, fmt, ap);
	va_end(ap);
	return c->status;
}

int compile_bad(struct compiler *c, node_id id, const char *keyword, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bad_text(c, CLEAT_EINVAL, id, keyword, fmt, ap);
	va_end(ap);
	return c->status;
}

int compile_bad_text(struct compiler *c, node_id id, const char *keyword, struct str text,
		     const char *why)
{
	struct buf b;

	place(c, &b, id, keyword);
	show_quoted(&b, text, SHOW_CHARS);
	buf_printf(&b, " %s", why);
	return fail_text(c, CLEAT_EINVAL, &b);
}

int compile_expected(struct compiler *c, node_id id, const char *keyword, const char *what,
		     const cleat_json *got)
{
	struct buf b;

	place(c, &b, id, keyword);
	buf_printf(&b, "expected %s, got ", what);
	show_value(&b, got);
	return fail_text(c, CLEAT_EINVAL, &b);
}

/* ---- work ------------------------------------------------------------------------------------- */

void *compile_alloc(struct compiler *c, size_t n)
{
	void *p = arena_zalloc(&c->s->ar, n);

	if (!p)
		compile_no_memory(c);
	return p;
}

node_id compile_reach(struct compiler *c, node_id id)
{
	void *array = c->queue;

	if (!id || c->reached[id])
		return id;
	if (mem_grow(&c->s->mem, &array, &c->cap_queue, c->n_queue, sizeof *c->queue, UINT32_MAX)) {
		compile_no_memory(c);
		return id;
	}
	c->queue = array;
	c->reached[id] = true;
	c->queue[c->n_queue++] = id;
	return id;
}

/* Every dynamic anchor of a name that some $dynamicRef looks for can be where it leads. */
static void reach_dynamic(struct compiler *c)
{
	for (const struct dynamic_name *u = c->dynamic; u; u = u->next)
		for (size_t i = 0; i < c->n_anchors; i++)
			if (c->anchors[i].dynamic && str_eq(c->anchors[i].name, u->name))
				compile_reach(c, c->anchors[i].node);
}

static int compile_all(struct compiler *c)
{
	do {
		while (c->done < c->n_queue && !c->status)
			rules_compile(c, c->queue[c->done++]);
		if (!c->status)
			reach_dynamic(c);
	} while (c->done < c->n_queue && !c->status);
	return c->status;
}

static int list_targets(struct compiler *c, struct dynamic_name *name)
{
	struct dynamic_target *list;
	uint32_t n = 0;

	for (size_t i = 0; i < c->n_anchors; i++)
		n += c->anchors[i].dynamic && str_eq(c->anchors[i].name, name->name);
	list = compile_alloc(c, (n + 1) * sizeof *list);
	if (!list)
		return c->status;
	name->targets = list;
	for (size_t i = 0; i < c->n_anchors; i++)
		if (c->anchors[i].dynamic && str_eq(c->anchors[i].name, name->name))
			list[name->n++] = (struct dynamic_target){ c->anchors[i].resource,
								   c->anchors[i].node };
	return CLEAT_OK;
}

static int list_all_targets(struct compiler *c)
{
	for (struct dynamic_name *name = c->dynamic; name && !c->status; name = name->next)
		list_targets(c, name);
	return c->status;
}

/* ---- loops ------------------------------------------------------------------------------------ */

/* Where a dynamic reference leads in every check; 0 when that depends on the check. */
static node_id only_target(const struct dynamic_ref *ref)
{
	return ref && (!ref->name || ref->name->n <= 1) ? ref->fallback : 0;
}

/* The next schema from *i on that a node applies to the very value it is applied to; 0: no more. */
static node_id same_value(const struct node *n, uint32_t *i)
{
	static const struct combine_rules none;
	const struct combine_rules *r = n->combine ? n->combine : &none;
	const node_id single[] = { r->ref,      only_target(r->dynamic), r->not, r->when, r->then,
				   r->otherwise };
	const struct node_list lists[] = {
		{ single, CLEAT_COUNT(single) }, r->all, r->any, r->one
	};
	uint32_t first = 0;

	for (size_t k = 0; k < CLEAT_COUNT(lists); first += lists[k++].n)
		while (*i - first < lists[k].n) {
			node_id id = lists[k].at[(*i)++ - first];

			if (id)
				return id;
		}
	while (n->object && *i - first < n->object->n_dependencies) {
		node_id id = n->object->dependencies[(*i)++ - first].node;

		if (id)
			return id;
	}
	return 0;
}

struct visit {
	node_id id;
	uint32_t next;
};

enum { WHITE, GREY, BLACK };

/* Depth-first from one node; a way back to a node that is still open is a loop. */
static int find_loop(struct compiler *c, node_id from, unsigned char *colour, struct visit *stack)
{
	size_t depth = 0;

	stack[depth++] = (struct visit){ .id = from };
	colour[from] = GREY;
	while (depth) {
		struct visit *v = &stack[depth - 1];
		node_id to = same_value(&c->nodes[v->id], &v->next);

		if (!to) {
			colour[v->id] = BLACK;
			depth--;
		} else if (colour[to] == GREY) {
			return compile_bad(c, v->id, NULL,
					   "leads back to itself without going deeper into the "
					   "value, so checking it would never end");
		} else if (colour[to] == WHITE) {
			colour[to] = GREY;
			stack[depth++] = (struct visit){ .id = to };
		}
	}
	return CLEAT_OK;
}

static int refuse_loops(struct compiler *c)
{
	unsigned char *colour = mem_zalloc(&c->s->mem, c->n_nodes);
	struct visit *stack = mem_alloc(&c->s->mem, c->n_nodes * sizeof *stack);

	if (!colour || !stack)
		compile_no_memory(c);
	for (node_id id = 1; id < c->n_nodes && !c->status; id++)
		if (colour[id] == WHITE && c->reached[id])
			find_loop(c, id, colour, stack);
	mem_free(&c->s->mem, stack);
	mem_free(&c->s->mem, colour);
	return c->status;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static uint32_t depth_of(const cleat_schema_options *opts)
{
	size_t depth = opts && opts->max_depth ? opts->max_depth : DEPTH_DEFAULT;

	return depth < DEPTH_MOST ? (uint32_t)depth : DEPTH_MOST;
}

static void take_limits(struct compiler *c, const cleat_schema_options *opts)
{
	if (opts)
		c->opts = *opts;
	if (!c->opts.max_subschemas)
		c->opts.max_subschemas = 10000;
	if (c->opts.max_subschemas > UINT32_MAX / 4)
		c->opts.max_subschemas = UINT32_MAX / 4;
	c->depth_max = c->s->max_depth = depth_of(opts);
	c->s->max_steps = c->opts.max_steps ? c->opts.max_steps : 1000000;
}

/* The URI that a schema without one of its own has. */
static int base_uri(struct compiler *c, struct str *ret)
{
	struct str given = str_of(c->opts.base_uri);

	*ret = (struct str){ "", 0 };
	if (!given.n)
		return CLEAT_OK;
	if (!uri_resolve(&c->uri, *ret, uri_without_fragment(given)))
		return compile_fail(c, CLEAT_EINVAL, "base_uri: %.100s is not a URI", given.p);
	if (buf_status(&c->uri))
		return compile_no_room(c, "base_uri");
	*ret = (struct str){ arena_strndup(&c->s->ar, buf_str(&c->uri).p, buf_size(&c->uri)),
			     buf_size(&c->uri) };
	return ret->p ? CLEAT_OK : compile_no_memory(c);
}

static int compile_root(struct compiler *c, const cleat_json *json)
{
	unsigned speaks =
		c->opts.dialect == CLEAT_SCHEMA_DRAFT_07 ? SPEAKS_DRAFT_07 : SPEAKS_2020_12;
	struct str uri;

	if (c->opts.dialect != CLEAT_SCHEMA_DRAFT_07 && c->opts.dialect != CLEAT_SCHEMA_2020_12)
		return compile_fail(c, CLEAT_EINVAL, "options.dialect: there is no dialect %d",
				    c->opts.dialect);
	if (base_uri(c, &uri) || locate_document(c, json, uri, speaks, &c->s->root))
		return c->status;
	for (node_id id = 1; id < c->n_nodes && !c->status; id++)
		compile_reach(c, id);
	if (c->status || compile_all(c) || list_all_targets(c))
		return c->status;
	return refuse_loops(c);
}

/* What checking needs stays with the schema; the rest was only needed on the way. */
static void compile_keep(struct compiler *c)
{
	cleat_schema *s = c->s;

	s->nodes = c->nodes;
	s->n_nodes = (uint32_t)c->n_nodes;
	s->regexes = c->regexes;
	s->n_regexes = (uint32_t)c->n_regexes;
	s->n_resources = (uint32_t)c->n_resources;
	s->uris = arena_alloc(&s->ar, (c->n_resources + 1) * sizeof *s->uris);
	for (size_t i = 0; s->uris && i < c->n_resources; i++)
		s->uris[i] = c->resources[i].uri;
	if (!s->uris)
		compile_no_memory(c);
	mem_free(&s->mem, c->reached);
	mem_free(&s->mem, c->queue);
	mem_free(&s->mem, c->resources);
	mem_free(&s->mem, c->anchors);
	mem_free(&s->mem, c->by_json.slots);
	mem_free(&s->mem, c->by_uri.slots);
	mem_free(&s->mem, c->by_anchor.slots);
	buf_done(&c->uri);
}

static cleat_schema *schema_alloc(const cleat_schema_options *opts, cleat_error *err)
{
	const cleat_allocator mem = mem_resolve(opts ? opts->allocator : NULL);
	cleat_schema *s = mem_zalloc(&mem, sizeof *s);

	if (!s) {
		error_set(err, CLEAT_ENOMEM, "out of memory while compiling a schema");
		return NULL;
	}
	s->mem = mem;
	s->seed = keys_seed(s);
	arena_init(&s->ar, &mem, SIZE_MAX / 2);
	return s;
}

/* `json` is in the schema's own arena. */
static cleat_schema *compile_compile(cleat_schema *s, const cleat_json *json,
				     const cleat_schema_options *opts, cleat_error *err)
{
	struct compiler c = { .s = s, .err = err, .n_nodes = 1, .searched = 1 };

	take_limits(&c, opts);
	buf_init(&c.uri, &s->mem, COMPILE_URI_MAX);
	compile_root(&c, json);
	compile_keep(&c);
	if (c.status) {
		cleat_schema_free(s);
		return NULL;
	}
	return s;
}

cleat_schema *cleat_schema_new_(const cleat_json *schema, const cleat_schema_options *given,
				size_t size, cleat_error *err)
{
	cleat_schema_options opts;
	const cleat_json *copy;
	cleat_schema *s;
	int rc;

	if (SIZED_TAKE(&opts, given, size, cleat_schema_options, err))
		return NULL;
	if (!schema) {
		error_set(err, CLEAT_EINVAL, "there is no schema");
		return NULL;
	}
	s = schema_alloc(&opts, err);
	if (!s)
		return NULL;
	rc = json_copy(&s->ar, schema, &copy);
	if (rc) {
		error_set(err, rc, "%s while compiling a schema", cleat_strstatus(rc));
		cleat_schema_free(s);
		return NULL;
	}
	return compile_compile(s, copy, &opts, err);
}

cleat_schema *cleat_schema_parse_(const char *text, size_t n, const cleat_schema_options *given,
				  size_t size, cleat_error *err)
{
	cleat_json_limits limits = { 0 };
	cleat_schema_options opts;
	const cleat_json *json;
	cleat_schema *s;

	if (SIZED_TAKE(&opts, given, size, cleat_schema_options, err))
		return NULL;
	/* a schema inside a schema is two levels of JSON ("properties", its name), and what is in an
	 * enum has its own */
	limits.max_depth = 2 * depth_of(&opts) + DEPTH_DEFAULT;
	s = schema_alloc(&opts, err);
	if (!s)
		return NULL;
	if (json_parse(&s->ar, (struct str){ text, n }, &limits, &json, err)) {
		cleat_schema_free(s);
		return NULL;
	}
	return compile_compile(s, json, &opts, err);
}

void cleat_schema_free(cleat_schema *s)
{
	cleat_allocator mem;

	if (!s)
		return;
	mem = s->mem;
	for (uint32_t i = 0; i < s->n_regexes; i++)
		regex_free(s->regexes[i]);
	mem_free(&mem, s->regexes);
	mem_free(&mem, s->nodes);
	arena_done(&s->ar);
	mem_free(&mem, s);
}
