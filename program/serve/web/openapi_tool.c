/* program/serve/web/openapi_tool.c - an operation of an OpenAPI document as a tool's configuration (openapi_impl.h).
 *
 * Variables are expanded in a configuration, so every $ that comes from the document is doubled; what comes
 * from the configuration itself stays as it is there, so that a secret remains known as one.
 */
#include "serve/web/openapi_impl.h"

#include "serve/web/web_request.h"
#include "uri/template.h"
#include "json/build.h"

#include <stdio.h>
#include <string.h>

#include <cleat/schema.h>

enum { TOOL_MAX = 1 << 20, URL_MAX = 16 << 10, ABOUT_MAX = 1000 };

/* Text of the document in a place where variables are expanded: a $ is a $. */
static void put_plain(struct jw *w, const char *text)
{
	jw_text_begin(w);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "$");

		jw_text_part(w, (struct str){ p, n });
		p += n;
		if (*p == '$') {
			jw_text_part(w, STR_LIT("$$"));
			p++;
		}
	}
	jw_text_end(w, false);
}

static bool is_in(const struct arg *a, const char *in)
{
	return strcmp(a->in, in) == 0;
}

/* Does it stand after the path, as {?name}? */
static bool in_url(const struct arg *a)
{
	return is_in(a, "query") && a->commas && strcmp(a->name, a->wire) == 0;
}

static const struct arg *path_arg(const struct operation *op, const char *name, size_t n)
{
	for (size_t i = 0; i < op->n; i++)
		if (is_in(&op->args[i], "path") && strlen(op->args[i].wire) == n &&
		    memcmp(op->args[i].wire, name, n) == 0)
			return &op->args[i];
	return NULL;
}

/* The path, with the tool's own names; what has commas comes after it as {?name}. Without a fragment: some
 * tell paths apart by one. */
static void put_path(const struct operation *op, struct buf *url, const char *dollar)
{
	bool query = strchr(op->path, '?') != NULL;

	for (const char *p = op->path; *p && *p != '#'; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		const struct arg *a = end ? path_arg(op, p + 1, (size_t)(end - p) - 1) : NULL;

		if (a) {
			buf_printf(url, "{%s}", a->name);
			p = end;
		} else if (*p == '$') {
			buf_appendz(url, dollar);
		} else {
			buf_putc(url, *p);
		}
	}
	for (size_t i = 0; i < op->n; i++)
		if (in_url(&op->args[i])) {
			buf_printf(url, "{%c%s}", query ? '&' : '?', op->args[i].name);
			query = true;
		}
}

/* Can it be the address of a request? What web_request_new() would say of it is nothing that the operator can
 * mend. */
static bool check_url(struct operation *op)
{
	const cleat_allocator mem = arena_allocator(op->ar);
	const struct uri_template *t;
	const char *why = NULL;
	cleat_error err;
	struct str sent;
	struct buf url;

	buf_init(&url, &mem, URL_MAX);
	buf_appendz(&url, op->api->address);
	put_path(op, &url, "$");
	sent = web_request_url(op->ar, buf_str(&url), &why);
	if (buf_status(&url) != CLEAT_OK || !sent.p || why ||
	    uri_template_compile(op->ar, sent, &t, &err) != CLEAT_OK)
		op->why = "its path cannot be part of an address";
	return !op->why;
}

static void put_url(const struct operation *op, struct jw *w)
{
	const cleat_allocator mem = arena_allocator(op->ar);
	struct buf url;

	buf_init(&url, &mem, 2 * URL_MAX);
	for (const char *p = op->api->server; *p; p++) {
		if (*p == '$' && !op->api->ours)
			buf_putc(&url, '$');
		buf_putc(&url, *p);
	}
	put_path(op, &url, "$$");
	jw_key(w, "url");
	jw_str(w, buf_str(&url));
}

/* "wire": "{name}" for each argument of a kind. */
static void put_places(const struct operation *op, struct jw *w, const char *in)
{
	char place[OPENAPI_NAME_MAX + 16];

	for (size_t i = 0; i < op->n; i++) {
		const struct arg *a = &op->args[i];

		if (!is_in(a, in) || in_url(a))
			continue;
		snprintf(place, sizeof place, "{%s}", a->name);
		jw_keyn(w, str_of(a->wire));
		jw_strz(w, place);
	}
}

static void copy_members(struct jw *w, const cleat_json *object)
{
	cleat_json_iter it = cleat_json_each(object);
	struct str key;

	while (cleat_json_next(&it)) {
		key.p = cleat_json_strn(it.key, &key.n);
		jw_keyn(w, key);
		jw_value(w, it.value);
	}
}

static void put_body(const struct operation *op, struct jw *w)
{
	jw_key(w, "body");
	for (size_t i = 0; i < op->n; i++)
		if (is_in(&op->args[i], "whole")) {
			char place[OPENAPI_NAME_MAX + 16];

			snprintf(place, sizeof place, "{%s}", op->args[i].name);
			jw_strz(w, place);
			return;
		}
	jw_obj(w);
	put_places(op, w, "body");
	put_places(op, w, "form");
	jw_obj_end(w);
}

static void put_http(const struct operation *op, struct jw *w)
{
	const cleat_json *node = op->api->node;

	jw_key(w, "http");
	jw_obj(w);
	jw_kv_str(w, "method", op->method);
	put_url(op, w);
	jw_key(w, "query");
	jw_obj(w);
	put_places(op, w, "query");
	copy_members(w, cleat_json_get(node, "query"));
	jw_obj_end(w);
	jw_key(w, "headers");
	jw_obj(w);
	put_places(op, w, "header");
	copy_members(w, cleat_json_get(node, "headers"));
	jw_obj_end(w);
	if (op->body_type) {
		jw_key(w, "type");
		put_plain(w, op->body_type);
		put_body(op, w);
	}
	jw_obj_end(w);
}

/* An argument's schema, with the parameter's own words where the schema has none. */
static void put_arg(const struct arg *a, struct openapi_schemas *s, struct jw *w)
{
	if (a->schema && (!a->about || cleat_json_get(a->schema, "description"))) {
		openapi_write(s, w, a->schema);
		return;
	}
	jw_obj(w);
	if (cleat_json_get(a->schema, "$ref")) {
		jw_key(w, "allOf");
		jw_arr(w);
		openapi_write(s, w, a->schema);
		jw_arr_end(w);
	} else if (a->schema) {
		openapi_write_members(s, w, a->schema, 1);
	} else {
		jw_kv_str(w, "type", "string");
	}
	if (a->about)
		jw_kv_str(w, "description", a->about);
	jw_obj_end(w);
}

static void put_schema(const struct operation *op, struct openapi_schemas *s, struct jw *w)
{
	jw_obj(w);
	jw_kv_str(w, "type", "object");
	jw_key(w, "properties");
	jw_obj(w);
	for (size_t i = 0; i < op->n; i++) {
		jw_key(w, op->args[i].name);
		put_arg(&op->args[i], s, w);
	}
	jw_obj_end(w);
	jw_key(w, "required");
	jw_arr(w);
	for (size_t i = 0; i < op->n; i++)
		if (op->args[i].required)
			jw_strz(w, op->args[i].name);
	jw_arr_end(w);
	jw_kv_bool(w, "additionalProperties", false);
	openapi_write_defs(s, w);
	jw_obj_end(w);
}

/* The schema as text, one that can be honoured: as it is, otherwise without patterns and formats. NULL:
 * neither works. */
static const char *args_schema(struct operation *op)
{
	const cleat_allocator mem = arena_allocator(op->ar);

	for (int loose = 0; loose < 2; loose++) {
		struct openapi_schemas s = { .doc = op->api->doc, .request = true, .loose = loose };
		cleat_schema *compiled;
		struct buf text;
		struct jw w;

		buf_init(&text, &mem, TOOL_MAX);
		jw_init(&w, &text);
		put_schema(op, &s, &w);
		op->written += buf_size(&text);
		if (buf_status(&text) != CLEAT_OK)
			return NULL;
		compiled = cleat_schema_parse(buf_str(&text).p, buf_size(&text), NULL, NULL);
		cleat_schema_free(compiled);
		if (compiled)
			return arena_strndup(op->ar, buf_str(&text).p, buf_size(&text));
	}
	return NULL;
}

static struct str cut(const char *text)
{
	struct str s = str_of(text ? text : "");

	return (struct str){ s.p, s.n <= ABOUT_MAX
					  ? s.n
					  : utf8_valid_prefix((struct str){ s.p, ABOUT_MAX }) };
}

/* Summary and description, as much as a model wants to read. NULL: no memory. */
static const char *description(const struct operation *op)
{
	const char *summary = openapi_text(op->node, "summary");
	const char *about = openapi_text(op->node, "description");
	bool old = cleat_json_bool(cleat_json_get(op->node, "deprecated"), false);
	struct str first, second, all;
	const char *text;

	if (summary && about && strncmp(summary, about, strlen(summary)) == 0)
		summary = NULL;
	if ((!summary || !*summary) && (!about || !*about))
		return arena_printf(op->ar, "%s%s %.*s", old ? "(Deprecated.) " : "", op->method,
				    STR_ARGS(cut(op->path)));
	first = cut(summary);
	second = cut(about);
	text = arena_printf(op->ar, "%s%.*s%s%.*s", old ? "(Deprecated.) " : "", STR_ARGS(first),
			    summary && about ? "\n\n" : "", STR_ARGS(second));
	all = cut(text);
	if (!text || (text[all.n] == '\0' && (!about || second.n == strlen(about)) &&
		      (!summary || first.n == strlen(summary))))
		return text;
	return arena_printf(op->ar, "%.*s…", STR_ARGS(all));
}

static void put_hints(const struct operation *op, struct jw *w)
{
	jw_key(w, "hints");
	jw_obj(w);
	if (strcmp(op->method, "GET") == 0 || strcmp(op->method, "HEAD") == 0)
		jw_kv_bool(w, "read_only", true);
	if (strcmp(op->method, "PUT") == 0 || strcmp(op->method, "DELETE") == 0)
		jw_kv_bool(w, "idempotent", true);
	if (strcmp(op->method, "DELETE") == 0)
		jw_kv_bool(w, "destructive", true);
	jw_obj_end(w);
}

static const cleat_json *tool_node(const struct operation *op, const char *schema)
{
	static const char *const limits[] = { "timeout", "output_limit", "concurrency" };
	const char *about = description(op);
	const cleat_json *node;
	struct build b;
	struct jw w;

	build_init(&b, op->ar);
	jw_build(&w, &b);
	jw_obj(&w);
	jw_key(&w, "description");
	put_plain(&w, about ? about : "");
	jw_key(&w, "args");
	jw_raw(&w, str_of(schema));
	put_hints(op, &w);
	put_http(op, &w);
	for (size_t i = 0; i < CLEAT_COUNT(limits); i++)
		if (cleat_json_get(op->api->node, limits[i]))
			jw_kv_value(&w, limits[i], cleat_json_get(op->api->node, limits[i]));
	jw_obj_end(&w);
	build_finish(&b, &node, NULL);
	return node;
}

const cleat_json *operation_tool(struct operation *op)
{
	const cleat_json *node = NULL;
	const char *schema;

	if (!check_url(op))
		return NULL;
	schema = args_schema(op);
	if (schema)
		node = tool_node(op, schema);
	if (arena_failed(op->ar) || !schema || !node) {
		op->why = arena_failed(op->ar) ? "it is too large"
			  : !schema            ? "its schema cannot be honoured"
					       : "it is too large";
		return NULL;
	}
	return node;
}
