/* schema/locate.c - documents, resources, anchors, and where a reference leads.
 *
 * Searching goes through the keywords that hold subschemas and nothing else: what looks like a
 * schema inside an enum or an unknown keyword is none (2020-12 core 9.4.2), unless a reference
 * points at it. Nothing is fetched: documents come from the set of known ones and from the
 * meta-schemas that are built in. The search is a queue, so deep schemas cost no stack.
 */
#include "schema/compiler.h"

#include "base/error.h"
#include "base/mem.h"
#include "schema/dialect.h"
#include "schema/metaschema.h"
#include "schema/path.h"
#include "schema/set.h"
#include "uri/chars.h"
#include "uri/reference.h"
#include "json/copy.h"
#include "json/node.h"
#include "json/parse.h"

enum { MOST_RESOURCES = 1 << 20 };

/* ---- indexes --------------------------------------------------------------------------------- */

static uint32_t hash_pointer(const void *p)
{
	uint64_t h = (uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15);

	return (uint32_t)(h >> 32);
}

static void locate_put(struct index *ix, uint32_t hash, uint32_t value)
{
	size_t i = hash & (ix->size - 1);

	while (ix->slots[i])
		i = (i + 1) & (ix->size - 1);
	ix->slots[i] = value;
}

/* Room for one more of `used`; a table that has to grow is filled again by `hash_of`. */
static int make_room(struct compiler *c, struct index *ix, size_t first, size_t used,
		     uint32_t (*hash_of)(const struct compiler *, size_t))
{
	size_t size = ix->size ? ix->size * 2 : 64;
	uint32_t *slots;

	if ((used + 1) * 2 <= ix->size)
		return CLEAT_OK;
	slots = mem_zalloc(&c->s->mem, size * sizeof *slots);
	if (!slots)
		return compile_no_memory(c);
	mem_free(&c->s->mem, ix->slots);
	*ix = (struct index){ slots, size };
	for (size_t i = first; i < used; i++)
		locate_put(ix, hash_of(c, i), (uint32_t)i + 1);
	return CLEAT_OK;
}

static uint32_t hash_node(const struct compiler *c, size_t i)
{
	return hash_pointer(c->nodes[i].json);
}

static uint32_t hash_resource(const struct compiler *c, size_t i)
{
	return str_hash(c->resources[i].uri, (uint32_t)c->s->seed);
}

static uint32_t hash_name(const struct compiler *c, uint32_t resource, struct str name)
{
	return str_hash(name, (uint32_t)c->s->seed + resource * 0x9E3779B9u);
}

static uint32_t hash_anchor(const struct compiler *c, size_t i)
{
	return hash_name(c, c->anchors[i].resource, c->anchors[i].name);
}

node_id locate_node(const struct compiler *c, const cleat_json *json)
{
	const struct index *ix = &c->by_json;

	if (!ix->size)
		return 0;
	for (size_t i = hash_pointer(json) & (ix->size - 1); ix->slots[i];
	     i = (i + 1) & (ix->size - 1))
		if (c->nodes[ix->slots[i] - 1].json == json)
			return ix->slots[i] - 1;
	return 0;
}

static const struct resource *find_resource(const struct compiler *c, struct str uri)
{
	const struct index *ix = &c->by_uri;

	if (!ix->size)
		return NULL;
	for (size_t i = str_hash(uri, (uint32_t)c->s->seed) & (ix->size - 1); ix->slots[i];
	     i = (i + 1) & (ix->size - 1))
		if (str_eq(c->resources[ix->slots[i] - 1].uri, uri))
			return &c->resources[ix->slots[i] - 1];
	return NULL;
}

static const struct anchor *find_anchor(const struct compiler *c, uint32_t resource,
					struct str name)
{
	const struct index *ix = &c->by_anchor;

	if (!ix->size)
		return NULL;
	for (size_t i = hash_name(c, resource, name) & (ix->size - 1); ix->slots[i];
	     i = (i + 1) & (ix->size - 1)) {
		const struct anchor *a = &c->anchors[ix->slots[i] - 1];

		if (a->resource == resource && str_eq(a->name, name))
			return a;
	}
	return NULL;
}

/* ---- nodes, resources, anchors ---------------------------------------------------------------- */

static int add_node(struct compiler *c, struct node node, node_id *ret)
{
	void *array = c->nodes;
	enum cleat_json_type type = cleat_json_type(node.json);
	size_t cap = c->cap_nodes;
	int rc;

	if (c->n_nodes > c->opts.max_subschemas)
		return compile_fail(c, CLEAT_ELIMIT, "more than %zu subschemas (max_subschemas)",
				    c->opts.max_subschemas);
	rc = mem_grow(&c->s->mem, &array, &c->cap_nodes, c->n_nodes, sizeof node, UINT32_MAX - 1);
	if (rc)
		return compile_no_memory(c);
	c->nodes = array;
	if (cap != c->cap_nodes) {
		bool *reached = mem_realloc(&c->s->mem, c->reached, cap, c->cap_nodes);

		if (!reached) {
			c->cap_nodes = cap; /* the larger block is only given back later */
			return compile_no_memory(c);
		}
		c->reached = reached;
	}
	*ret = (node_id)c->n_nodes;
	c->nodes[*ret] = node;
	c->reached[*ret] = false;
	if (type != CLEAT_JSON_OBJECT && type != CLEAT_JSON_BOOL) {
		c->n_nodes++;
		return compile_expected(c, *ret, NULL, "a schema (an object or a boolean)",
					node.json);
	}
	if (make_room(c, &c->by_json, 1, c->n_nodes, hash_node))
		return c->status;
	locate_put(&c->by_json, hash_pointer(node.json), *ret + 1);
	c->n_nodes++;
	return CLEAT_OK;
}

static int add_resource(struct compiler *c, struct str uri, node_id root, unsigned speaks,
			uint32_t *ret)
{
	void *array = c->resources;
	struct resource r = { { arena_strndup(&c->s->ar, uri.p ? uri.p : "", uri.n), uri.n },
			      root,
			      speaks };

	if (!r.uri.p || mem_grow(&c->s->mem, &array, &c->cap_resources, c->n_resources, sizeof r,
				 MOST_RESOURCES))
		return compile_no_memory(c);
	c->resources = array;
	*ret = (uint32_t)c->n_resources;
	c->resources[c->n_resources] = r;
	if (make_room(c, &c->by_uri, 0, c->n_resources, hash_resource))
		return c->status;
	locate_put(&c->by_uri, hash_resource(c, c->n_resources), *ret + 1);
	c->n_resources++;
	return CLEAT_OK;
}

static int add_anchor(struct compiler *c, node_id id, const char *keyword, struct str name,
		      bool dynamic)
{
	struct anchor a = { name, c->nodes[id].resource, id, dynamic };
	const struct anchor *old = find_anchor(c, a.resource, name);
	void *array = c->anchors;

	if (old && old->node != id)
		return compile_bad_text(c, id, keyword, name,
					"is the name of another schema already");
	if (old) { /* $anchor and $dynamicAnchor of one schema may have one name */
		((struct anchor *)old)->dynamic |= dynamic;
		return CLEAT_OK;
	}
	if (mem_grow(&c->s->mem, &array, &c->cap_anchors, c->n_anchors, sizeof a, MOST_RESOURCES))
		return compile_no_memory(c);
	c->anchors = array;
	c->anchors[c->n_anchors] = a;
	if (make_room(c, &c->by_anchor, 0, c->n_anchors, hash_anchor))
		return c->status;
	locate_put(&c->by_anchor, hash_anchor(c, c->n_anchors), (uint32_t)c->n_anchors + 1);
	c->n_anchors++;
	return CLEAT_OK;
}

static bool is_anchor_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';

		if (!letter && (i == 0 || !((ch >= '0' && ch <= '9') || ch == '-' || ch == '.')))
			return false;
	}
	return s.n > 0;
}

/* ---- what a schema says about itself ---------------------------------------------------------- */

/* A reference resolved, in c->uri. False when it is not a URI reference, or memory is short. One within
 * the schema is taken as it is: generators write "#/definitions/List<Foo>", which no URI can be, and
 * what it means is plain. */
static bool locate_resolve(struct compiler *c, struct str base, struct str ref)
{
	buf_reset(&c->uri, 4096);
	if (ref.n && ref.p[0] == '#') {
		buf_append(&c->uri, base.p, base.n);
		buf_append(&c->uri, ref.p, ref.n);
		return buf_status(&c->uri) == CLEAT_OK;
	}
	return uri_resolve(&c->uri, base, ref) && buf_status(&c->uri) == CLEAT_OK;
}

static int resolve_failed(struct compiler *c, node_id id, const char *keyword,
			  const cleat_json *value)
{
	if (buf_status(&c->uri))
		return compile_no_room(c, keyword);
	return compile_expected(c, id, keyword, "a URI reference", value);
}

static int take_dialect(struct compiler *c, node_id id, unsigned *speaks)
{
	const cleat_json *v = json_member(c->nodes[id].json, "$schema");

	if (!v)
		return CLEAT_OK;
	if (!json_is_string(v))
		return compile_expected(c, id, "$schema", "a URI", v);
	return dialect_find(c, id, json_str(v), speaks);
}

/* Of draft-07: a schema with $ref is only that, and everything beside it is ignored. */
static bool only_ref(const struct compiler *c, node_id id, unsigned speaks)
{
	return (speaks & SPEAKS_DRAFT_07) && json_member(c->nodes[id].json, "$ref");
}

static int taken(struct compiler *c, node_id id, struct str uri)
{
	return compile_bad_text(c, id, "$id", uri, "is the URI of another schema already");
}

/* $id: a resource of its own, or, in draft-07, an anchor ("#name"). */
static int take_id(struct compiler *c, node_id id, const cleat_json *v)
{
	const struct resource here = c->resources[c->nodes[id].resource];
	struct str text = json_str(v), before, fragment = { 0 };
	unsigned speaks = here.speaks;
	uint32_t resource;

	if (!json_is_string(v))
		return compile_expected(c, id, "$id", "a URI reference", v);
	before = uri_without_fragment(text);
	if (before.n < text.n)
		fragment = (struct str){ text.p + before.n + 1, text.n - before.n - 1 };
	if (fragment.n && !(speaks & SPEAKS_DRAFT_07))
		return compile_bad(c, id, "$id", "must have no fragment; use $anchor");
	if (before.n && here.root != id) {
		if (!locate_resolve(c, here.uri, before))
			return resolve_failed(c, id, "$id", v);
		if (find_resource(c, buf_str(&c->uri)))
			return taken(c, id, before);
		if (take_dialect(c, id, &speaks) ||
		    add_resource(c, buf_str(&c->uri), id, speaks, &resource))
			return c->status;
		c->nodes[id].resource = resource;
	}
	return fragment.n ? add_anchor(c, id, "$id", fragment, false) : CLEAT_OK;
}

static int take_anchor(struct compiler *c, node_id id, const char *keyword, bool dynamic)
{
	const cleat_json *v = json_member(c->nodes[id].json, keyword);
	unsigned speaks = c->resources[c->nodes[id].resource].speaks;

	if (!v || !(speaks & SPEAKS_CORE))
		return CLEAT_OK;
	if (!json_is_string(v) || !is_anchor_name(json_str(v)))
		return compile_expected(c, id, keyword,
					"a name (a letter, then letters, digits, _ - .)", v);
	return add_anchor(c, id, keyword, json_str(v), dynamic);
}

/* ---- the search ------------------------------------------------------------------------------- */

static int add_child(struct compiler *c, node_id parent, const struct keyword *kw,
		     const cleat_json *json, const cleat_json *key, uint32_t index)
{
	struct node n = { .json = json,
			  .parent = parent,
			  .resource = c->nodes[parent].resource,
			  .depth = c->nodes[parent].depth + 1,
			  .keyword = kw->name.p,
			  .key = key ? node_of(key) : NULL,
			  .index = index };
	node_id id;

	if (n.depth > c->depth_max)
		return compile_fail(c, CLEAT_ELIMIT, "schemas nested deeper than %u (max_depth)",
				    (unsigned)c->depth_max);
	return add_node(c, n, &id);
}

static int add_children(struct compiler *c, node_id parent, const struct keyword *kw,
			const cleat_json *value)
{
	cleat_json_iter it = cleat_json_each(value);

	while (cleat_json_next(&it)) {
		bool names = kw->holds == HOLDS_MIXED && json_is_array(it.value);

		if (!names && add_child(c, parent, kw, it.value, it.key,
					it.key ? NO_INDEX : (uint32_t)it.index))
			return c->status;
	}
	return CLEAT_OK;
}

/* What the keyword's own compiling will complain about is passed over here. */
static int search_keyword(struct compiler *c, node_id id, const struct keyword *kw,
			  const cleat_json *value)
{
	bool list = json_is_array(value), map = json_is_object(value);

	switch (kw->holds) {
	case HOLDS_SCHEMA: return add_child(c, id, kw, value, NULL, NO_INDEX);
	case HOLDS_EITHER:
		return list ? add_children(c, id, kw, value)
			    : add_child(c, id, kw, value, NULL, NO_INDEX);
	case HOLDS_LIST: return list ? add_children(c, id, kw, value) : CLEAT_OK;
	case HOLDS_MAP:
	case HOLDS_MIXED: return map ? add_children(c, id, kw, value) : CLEAT_OK;
	default: return CLEAT_OK;
	}
}

static int search_node(struct compiler *c, node_id id)
{
	const cleat_json *json = c->nodes[id].json;
	cleat_json_iter it = cleat_json_each(json);
	const cleat_json *own = json_member(json, "$id");
	const cleat_json *twice = cleat_json_duplicate(json);
	unsigned speaks = c->resources[c->nodes[id].resource].speaks;
	bool ref = only_ref(c, id, speaks);

	if (twice)
		return compile_bad_text(c, id, NULL, json_str(twice), "stands twice");
	if (own && !ref && take_id(c, id, own))
		return c->status;
	if (take_anchor(c, id, "$anchor", false) || take_anchor(c, id, "$dynamicAnchor", true))
		return c->status;
	speaks = c->resources[c->nodes[id].resource].speaks;
	while (cleat_json_next(&it)) {
		const struct keyword *kw = keyword_find(json_str(it.key), speaks);

		if (!kw || (ref && kw->id != KW_DEFINITIONS))
			continue;
		if (search_keyword(c, id, kw, it.value))
			return c->status;
	}
	return CLEAT_OK;
}

static int search(struct compiler *c)
{
	while (c->searched < c->n_nodes && !c->status)
		search_node(c, (node_id)c->searched++);
	return c->status;
}

int locate_document(struct compiler *c, const cleat_json *root, struct str uri, unsigned speaks,
		    node_id *ret)
{
	const cleat_json *own;
	struct str text;
	uint32_t resource;

	if (add_node(c, (struct node){ .json = root, .index = NO_INDEX }, ret) ||
	    add_resource(c, uri, *ret, speaks, &resource))
		return c->status;
	c->nodes[*ret].resource = resource;
	if (take_dialect(c, *ret, &speaks))
		return c->status;
	c->resources[resource].speaks = speaks;
	own = json_member(root, "$id");
	text = uri_without_fragment(json_str(own));
	if (text.n && !only_ref(c, *ret, speaks)) {
		const struct resource *same;

		if (!locate_resolve(c, uri, text))
			return resolve_failed(c, *ret, "$id", own);
		same = find_resource(c, buf_str(&c->uri));
		if (same && same->root != *ret)
			return taken(c, *ret, text);
		/* a document that was asked for by another name than its own has both */
		if (!same && add_resource(c, buf_str(&c->uri), *ret, speaks, &resource))
			return c->status;
		c->nodes[*ret].resource = resource;
	}
	return search(c);
}

/* ---- references ------------------------------------------------------------------------------- */

static int locate_load(struct compiler *c, node_id from, const char *keyword, struct str uri)
{
	unsigned speaks = c->resources[c->nodes[from].resource].speaks;
	const cleat_json *known = schema_set_find(c->opts.known, uri), *copy;
	struct str text = { 0 };
	node_id root;
	int rc;

	if (!known)
		text = metaschema_text(uri);
	if (!known && !text.p)
		return compile_bad(c, from, keyword,
				   "refers to %.120s, which is not known (nothing is fetched)",
				   uri.n ? uri.p : "a place that is not there");
	rc = known ? json_copy(&c->s->ar, known, &copy)
		   : json_parse(&c->s->ar, text, NULL, &copy, NULL);
	if (rc)
		return compile_fail(c, rc, "%s", cleat_strstatus(rc));
	return locate_document(c, copy, uri, speaks, &root);
}

/* Percent escapes of a fragment decoded, in the arena. */
static struct str locate_decode(struct compiler *c, struct str s)
{
	char *out = arena_alloc(&c->s->ar, s.n + 1);
	size_t n = 0;

	if (!out)
		return (struct str){ 0 };
	for (size_t i = 0; i < s.n; i++) {
		if (uri_escape_at(s, i)) {
			out[n++] =
				(char)(uri_hex_digit(s.p[i + 1]) * 16 + uri_hex_digit(s.p[i + 2]));
			i += 2;
		} else {
			out[n++] = s.p[i];
		}
	}
	out[n] = '\0';
	return (struct str){ out, n };
}

/* One reference token of RFC 6901, unescaped in place. */
static struct str unescape(char *p, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '~' && i + 1 < n && (p[i + 1] == '0' || p[i + 1] == '1'))
			p[out++] = p[++i] == '0' ? '~' : '/';
		else
			p[out++] = p[i];
	}
	return (struct str){ p, out };
}

static const cleat_json *locate_step(const cleat_json *v, struct str token)
{
	size_t index = 0;

	if (json_is_object(v))
		return json_get(v, token);
	if (!json_is_array(v) || token.n == 0 || token.n > 9 || (token.p[0] == '0' && token.n > 1))
		return NULL;
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] < '0' || token.p[i] > '9')
			return NULL;
		index = index * 10 + (size_t)(token.p[i] - '0');
	}
	return cleat_json_at(v, index);
}

/* A JSON Pointer from a resource's root. A place that the search did not take for a schema becomes
 * one now; it belongs to whatever schema is around it. *ret is 0 when there is no such place. */
static int follow_pointer(struct compiler *c, node_id root, struct str pointer, node_id *ret)
{
	const cleat_json *v = c->nodes[root].json;
	char *tokens = arena_strndup(&c->s->ar, pointer.p, pointer.n);
	struct node node = { .parent = root, .index = NO_INDEX };
	size_t at = 0, known = 0; /* how far we are, and how far a schema is known */

	*ret = 0;
	if (!tokens)
		return compile_no_memory(c);
	while (at < pointer.n && v) {
		const char *slash = memchr(pointer.p + at + 1, '/', pointer.n - at - 1);
		size_t next = slash ? (size_t)(slash - pointer.p) : pointer.n;

		v = locate_step(v, unescape(tokens + at + 1, next - at - 1));
		at = next;
		if (v && locate_node(c, v)) {
			node.parent = locate_node(c, v);
			known = at;
		}
	}
	if (v && known == pointer.n)
		*ret = node.parent;
	if (!v || *ret)
		return CLEAT_OK;
	node.json = v;
	node.keyword = pointer.p + known + 1;
	node.resource = c->nodes[node.parent].resource;
	node.depth = c->nodes[node.parent].depth + 1;
	return add_node(c, node, ret) ? c->status : search(c);
}

static int lost(struct compiler *c, node_id from, const char *keyword, struct str ref)
{
	return compile_bad_text(c, from, keyword, ref, "leads nowhere");
}

int locate_reference(struct compiler *c, node_id from, const struct keyword *kw, struct str ref,
		     node_id *ret, struct str *ret_name)
{
	const char *keyword = kw->name.p;
	const struct resource *r;
	const struct anchor *a;
	struct str whole, uri, fragment;

	if (ret_name)
		*ret_name = (struct str){ 0 };
	if (!locate_resolve(c, c->resources[c->nodes[from].resource].uri, ref))
		return resolve_failed(c, from, keyword, json_get(c->nodes[from].json, kw->name));
	whole = (struct str){ arena_strndup(&c->s->ar, buf_str(&c->uri).p, buf_size(&c->uri)),
			      buf_size(&c->uri) };
	if (!whole.p)
		return compile_no_memory(c);
	uri = uri_without_fragment(whole);
	fragment = (struct str){ "", 0 };
	if (uri.n < whole.n)
		fragment =
			locate_decode(c, (struct str){ whole.p + uri.n + 1, whole.n - uri.n - 1 });
	uri.p = arena_strndup(&c->s->ar, uri.p, uri.n);
	if (!uri.p || !fragment.p)
		return compile_no_memory(c);
	if (!find_resource(c, uri) && locate_load(c, from, keyword, uri))
		return c->status;
	r = find_resource(c, uri);
	if (!r)
		return lost(c, from, keyword, ref);
	*ret = r->root;
	if (!fragment.n)
		return CLEAT_OK;
	if (fragment.p[0] == '/') {
		if (follow_pointer(c, r->root, fragment, ret))
			return c->status;
		return *ret ? CLEAT_OK : lost(c, from, keyword, ref);
	}
	a = find_anchor(c, c->nodes[r->root].resource, fragment);
	if (!a)
		return lost(c, from, keyword, ref);
	*ret = a->node;
	if (ret_name && a->dynamic)
		*ret_name = a->name;
	return CLEAT_OK;
}
