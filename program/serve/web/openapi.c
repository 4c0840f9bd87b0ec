/* program/serve/web/openapi.c - a web API with an OpenAPI document: each operation becomes a tool.
 *
 *	"openapi": { "pets": { "file": "petstore.json", "server": "http://127.0.0.1:8080/v1" } }
 *
 * An operation is written as a tool's configuration with "http" (web.c) and goes the way of all tools. The
 * document is somebody else's: what it says is data. Variables (${...}) in it are not expanded, references
 * to other files are not followed, and where requests go is fixed when the configuration is read. An
 * operation that cannot be a tool (it uploads files, its schema is broken) is left out with a remark.
 *
 * OpenAPI 3.0, 3.1 and Swagger 2.0. Not here: what an operation takes (openapi_operation.c), how it becomes a
 * tool (openapi_tool.c), the schemas' dialects (openapi_schema.c), YAML (yaml.c).
 */
#include "base/mem.h"
#include "serve/web/openapi_impl.h"
#include "serve/web/source.h"
#include "serve/web/web.h"
#include "serve/web/web_request.h"
#include "text/yaml.h"

#include <stdio.h>
#include <string.h>

enum {
	DOCUMENT_MAX = 32 << 20,
	OPERATION_MEMORY = 32 << 20, /* to read one with */
	TOOLS_MAX = 10000,
	SCHEMAS_MAX = 16 << 20, /* bytes of all operations' schemas */
	NAMES = 1 << 15,        /* places of the table; a power of two, well over TOOLS_MAX */
	MANY_TOOLS = 100
};

/* What is needed while a document is being read, and goes then: tools have copies of theirs. */
struct reading {
	struct api api;
	struct arena document, operation;
	const char **names; /* of the tools: a hash table */
	size_t tools, skipped;
	size_t written; /* bytes of schemas */
	bool full;
	bool *included, *excluded; /* which patterns were of use */
	char why[200];             /* the first that was left out, and why */
};

/* ---- names ------------------------------------------------------------------------------------ */

/* The place of a name in the table, or the free one for it. */
static const char **find_name(const struct reading *r, const char *name)
{
	uint32_t at = 2166136261u;

	for (const char *p = name; *p; p++)
		at = (at ^ (unsigned char)*p) * 16777619u;
	while (r->names[at % NAMES] && strcmp(r->names[at % NAMES], name) != 0)
		at++;
	return &r->names[at % NAMES];
}

/* Long names are cut and may then be the same: a number tells them apart. NULL: no memory. */
static const char *unique(struct reading *r, const char *name)
{
	struct arena *ar = conf_arena(r->api.b->conf);
	const char *base = name, **at;

	if (!name)
		return NULL;
	for (size_t k = 2; *(at = find_name(r, name)); k++) {
		if (k == 10 && r->tools > k) /* there are many: straight to a number that is free */
			k = r->tools;
		name = arena_printf(ar, "%.*s_%zu", OPENAPI_NAME_MAX - 7, base, k);
		if (!name)
			return NULL;
	}
	*at = name;
	return name;
}

static const char *tool_name(const struct operation *op)
{
	struct conf *c = op->api->b->conf;
	const char *prefix = conf_text(c, cleat_json_get(op->api->node, "prefix"), "");
	const char *id = openapi_text(op->node, "operationId");
	char name[OPENAPI_NAME_MAX];
	char method[16] = "";

	for (size_t i = 0; i < sizeof method - 1 && op->method[i]; i++)
		method[i] = (char)(op->method[i] | 32);
	if (!id || !*id)
		id = arena_printf(op->ar, "%s_%s", method, op->path);
	if (!id || !prefix)
		return NULL;
	openapi_make_name(name, strlen(prefix) < 32 ? sizeof name - strlen(prefix) : 32, id);
	return arena_printf(conf_arena(c), "%s%s", prefix, name);
}

/* ---- which operations ------------------------------------------------------------------------- */

/* A * stands for anything. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			from = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool one_matches(const struct operation *op, const char *pattern)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(op->node, "tags"));
	const char *id = openapi_text(op->node, "operationId");
	const char *whole;

	if (strncmp(pattern, "op:", 3) == 0)
		return id && matches(pattern + 3, id);
	if (strncmp(pattern, "tag:", 4) == 0) {
		while (cleat_json_next(&it))
			if (matches(pattern + 4, cleat_json_str(it.value, "")))
				return true;
		return false;
	}
	whole = arena_printf(op->ar, "%s %s", op->method, op->path);
	return whole && matches(pattern, whole);
}

static bool any_matches(const struct operation *op, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		if (one_matches(op, cleat_json_str(it.value, "")))
			return true;
	return false;
}

static bool is_wanted(const struct operation *op)
{
	const cleat_json *include = cleat_json_get(op->api->node, "include");

	return (!include || any_matches(op, include)) &&
	       !any_matches(op, cleat_json_get(op->api->node, "exclude"));
}

/* Which patterns name this operation? */
static void mark(const struct operation *op, const cleat_json *list, bool *used)
{
	cleat_json_iter it = cleat_json_each(list);

	for (size_t i = 0; cleat_json_next(&it); i++)
		used[i] = used[i] || one_matches(op, cleat_json_str(it.value, ""));
}

/* A pattern that names nothing is a slip: the operator would wait for a tool, or believe that one is gone. */
static void tell_unused(const struct reading *r, const char *key, const bool *used)
{
	struct draft *b = r->api.b;
	cleat_json_iter it = cleat_json_each(cleat_json_get(r->api.node, key));

	for (size_t i = 0; cleat_json_next(&it); i++)
		if (!used[i])
			draft_say(b, CLEAT_LOG_WARNING,
				  "%s: \"%s\" names no operation of the document (METHOD /path, "
				  "op:operationId, tag:name; * stands for anything)",
				  conf_where(b->conf, it.value), cleat_json_str(it.value, ""));
}

static void skip(struct reading *r, const struct operation *op)
{
	if (!r->skipped++)
		snprintf(r->why, sizeof r->why, "%s %.80s: %s", op->method, op->path, op->why);
}

static void add_operation(struct reading *r, struct operation *op)
{
	const cleat_json *node = NULL;
	const char *name;

	if (!is_wanted(op))
		return;
	if (r->tools == TOOLS_MAX || r->written > SCHEMAS_MAX) {
		r->full = true;
		return;
	}
	operation_read(op);
	if (!op->why)
		node = operation_tool(op);
	r->written += op->written;
	if (!node) {
		skip(r, op);
		return;
	}
	name = unique(r, tool_name(op));
	if (!name) {
		conf_problem(r->api.b->conf, r->api.node, "out of memory");
		return;
	}
	r->tools++;
	conf_stand_in(r->api.b->conf, r->api.node);
	web_add(r->api.b, r->api.node, name, node);
	conf_stand_in(r->api.b->conf, NULL);
	conf_scratch_reset(r->api.b->conf);
}

static void add_path(struct reading *r, const char *path, const cleat_json *v)
{
	static const char *const methods[] = { "get", "put", "post", "delete", "patch", "head" };
	static const char *const upper[] = { "GET", "PUT", "POST", "DELETE", "PATCH", "HEAD" };
	const cleat_json *item = openapi_resolve(r->api.doc, v);

	for (size_t i = 0; i < CLEAT_COUNT(methods) && !r->full; i++) {
		const cleat_json *node = cleat_json_get(item, methods[i]);
		struct operation *op;

		if (cleat_json_type(node) != CLEAT_JSON_OBJECT)
			continue;
		op = arena_zalloc(&r->operation, sizeof *op);
		if (!op) {
			conf_problem(r->api.b->conf, r->api.node, "out of memory");
			return;
		}
		op->api = &r->api;
		op->ar = &r->operation;
		op->method = upper[i];
		op->path = path;
		op->node = node;
		op->shared = item;
		mark(op, cleat_json_get(r->api.node, "include"), r->included);
		mark(op, cleat_json_get(r->api.node, "exclude"), r->excluded);
		add_operation(r, op);
		arena_reset(&r->operation);
	}
}

/* ---- the server ------------------------------------------------------------------------------- */

/* "https://{region}.example.com": the defaults of its variables. */
static const char *server_of_v3(const struct api *api, struct arena *ar)
{
	const cleat_json *first = cleat_json_at(cleat_json_get(api->doc->root, "servers"), 0);
	const cleat_json *variables = cleat_json_get(first, "variables");
	const char *url = openapi_text(first, "url"), *value;

	const cleat_allocator mem = arena_allocator(ar);
	struct buf out;

	buf_init(&out, &mem, 4096);
	for (const char *p = url ? url : ""; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;

		if (!end) {
			buf_putc(&out, *p);
			continue;
		}
		value = openapi_text(cleat_json_getn(variables, p + 1, (size_t)(end - p) - 1),
				     "default");
		if (!value)
			return "";
		buf_appendz(&out, value);
		p = end;
	}
	buf_putc(&out, '\0');
	return buf_status(&out) == CLEAT_OK ? buf_str(&out).p : "";
}

static bool has_https(const cleat_json *schemes)
{
	cleat_json_iter it = cleat_json_each(schemes);

	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(it.value, ""), "https") == 0)
			return true;
	return !schemes;
}

static const char *server_of_v2(const struct api *api, struct arena *ar)
{
	const char *host = openapi_text(api->doc->root, "host");
	const char *base = openapi_text(api->doc->root, "basePath");
	bool https = has_https(cleat_json_get(api->doc->root, "schemes"));

	if (!host)
		return "";
	return arena_printf(ar, "%s://%s%s", https ? "https" : "http", host, base ? base : "");
}

/* Without the slash at its end: paths begin with one. NULL: no memory. */
static const char *without_slash(struct arena *ar, const char *url)
{
	size_t n = url ? strlen(url) : 0;

	while (n && url[n - 1] == '/')
		n--;
	return arena_strndup(ar, url, n);
}

static bool find_server(struct reading *r)
{
	struct api *api = &r->api;
	const cleat_json *given = cleat_json_get(api->node, "server");
	const char *why;
	const char *found = given     ? conf_text(api->b->conf, given, "")
			    : api->v2 ? server_of_v2(api, &r->document)
				      : server_of_v3(api, &r->document);

	api->ours = given != NULL;
	api->address = without_slash(&r->document, found);
	api->server = given ? without_slash(&r->document, conf_raw(given, "")) : api->address;
	if (!api->address || !api->server)
		conf_problem(api->b->conf, api->node, "out of memory");
	else if (!strpbrk(api->address, "{}?#") &&
		 web_request_url(&r->document, str_of(api->address), &why).p && !why)
		return true;
	else
		conf_problem(api->b->conf, given ? given : api->node,
			     given ? "expected an address such as https://api.example.com/v1"
				   : "the document does not say where the API is: add \"server\": "
				     "\"https://...\" (on the command line, FILE=https://...)");
	return false;
}

/* ---- the source ------------------------------------------------------------------------------- */

/* By its name, or because it does not begin as JSON does. */
static bool is_yaml(const char *path, struct str text)
{
	size_t n = strlen(path), i = 0;

	while (i < text.n &&
	       (text.p[i] == ' ' || text.p[i] == '\n' || text.p[i] == '\r' || text.p[i] == '\t'))
		i++;
	return (n > 5 && strcmp(path + n - 5, ".yaml") == 0) ||
	       (n > 4 && strcmp(path + n - 4, ".yml") == 0) || (i < text.n && text.p[i] != '{');
}

static cleat_doc *parse_yaml(struct str text, const cleat_json_limits *limits,
			     const cleat_allocator *mem, cleat_error *err)
{
	cleat_doc *doc = NULL;
	struct buf json;

	buf_init(&json, NULL, DOCUMENT_MAX);
	if (yaml_to_json(text, &json, err) == CLEAT_OK)
		doc = cleat_doc_parse(buf_str(&json).p, buf_size(&json), limits, mem, err);
	buf_done(&json);
	return doc;
}

static const cleat_json *read_document(struct reading *r)
{
	struct draft *b = r->api.b;
	const cleat_json *file = cleat_json_get(r->api.node, "file");
	const cleat_allocator mem = arena_allocator(&r->document);
	const cleat_json_limits limits = { .max_depth = 512, .max_nodes = 4000000 };
	const char *path = conf_path_at(b->conf, file);
	cleat_error err = { 0 };
	struct str text;
	cleat_doc *doc;

	if (!path || !draft_read_into(b, &r->document, file, path, DOCUMENT_MAX, &text))
		return NULL;
	doc = is_yaml(path, text) ? parse_yaml(text, &limits, &mem, &err)
				  : cleat_doc_parse(text.p, text.n, &limits, &mem, &err);
	if (!doc)
		conf_problem(b->conf, file, "%s: %s", path, err.message);
	return cleat_doc_root(doc); /* gone with the arena */
}

static bool check_version(struct api *api)
{
	const char *v3 = openapi_text(api->doc->root, "openapi"),
		   *v2 = openapi_text(api->doc->root, "swagger");

	api->v2 = v2 != NULL;
	if ((v3 && strncmp(v3, "3.", 2) == 0) || (v2 && strcmp(v2, "2.0") == 0))
		return true;
	conf_problem(
		api->b->conf, cleat_json_get(api->node, "file"),
		"this is not an OpenAPI document: expected \"openapi\": \"3.x\" or \"swagger\": "
		"\"2.0\"");
	return false;
}

/* What became of it, for the operator. */
static void sum_up(const struct reading *r, const char *name)
{
	struct draft *b = r->api.b;

	if (r->full && r->tools < TOOLS_MAX)
		conf_problem(b->conf, r->api.node,
			     "the schemas of its operations are more than %d MB: choose some with "
			     "\"include\"",
			     SCHEMAS_MAX >> 20);
	else if (r->full)
		conf_problem(b->conf, r->api.node,
			     "more than %d operations: choose some with \"include\"", TOOLS_MAX);
	else if (!r->tools)
		conf_problem(b->conf, r->api.node, "no operation of it can be a tool%s%s%s",
			     r->skipped ? " (" : "", r->why, r->skipped ? ")" : "");
	else if (r->skipped)
		draft_say(b, CLEAT_LOG_NOTICE,
			  "openapi %s: %zu operations are tools, %zu cannot be (%s)", name,
			  r->tools, r->skipped, r->why);
	if (!r->full) {
		tell_unused(r, "include", r->included);
		tell_unused(r, "exclude", r->excluded);
	}
	if (r->tools > MANY_TOOLS && !r->full)
		draft_say(
			b, CLEAT_LOG_NOTICE,
			"openapi %s: %zu tools are more than a model works well with; choose some "
			"with \"include\"",
			name, r->tools);
}

/* One for each pattern of the list. */
static bool *flags_for(struct reading *r, const char *key)
{
	return arena_zalloc(&r->document, cleat_json_size(cleat_json_get(r->api.node, key)) + 1);
}

static void openapi_read_all(struct reading *r, const char *name)
{
	struct draft *b = r->api.b;
	struct openapi_doc *doc;
	cleat_json_iter it;

	r->names = arena_zalloc(&r->document, NAMES * sizeof *r->names);
	r->included = flags_for(r, "include");
	r->excluded = flags_for(r, "exclude");
	doc = arena_zalloc(&r->document, sizeof *doc);
	if (!r->names || !r->included || !r->excluded || !doc) {
		conf_problem(b->conf, r->api.node, "out of memory");
		return;
	}
	doc->root = read_document(r);
	r->api.doc = doc;
	if (!doc->root || !check_version(&r->api) || !find_server(r)) {
		if (arena_failed(&r->document))
			conf_problem(b->conf, r->api.node, "out of memory, or too large");
		return;
	}
	it = cleat_json_each(cleat_json_get(r->api.doc->root, "paths"));
	while (!r->full && cleat_json_next(&it))
		if (*cleat_json_str(it.key, "") == '/')
			add_path(r, cleat_json_str(it.key, ""), it.value);
	sum_up(r, name);
}

void source_openapi(struct draft *b, const char *name, const cleat_json *node)
{
	struct reading r = { .api = { .b = b, .node = node } };

	arena_init(&r.document, &b->rt->mem, 8 * (size_t)DOCUMENT_MAX);
	arena_init(&r.operation, &b->rt->mem, OPERATION_MEMORY);
	openapi_read_all(&r, name);
	arena_done(&r.operation);
	arena_done(&r.document);
}
