/* program/serve/web/openapi_operation.c - what an operation of an OpenAPI document takes: parameters and body as a list of
 * arguments (openapi_impl.h).
 */
#include "serve/web/openapi_impl.h"

#include "serve/web/web_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of which some may be no arguments: headers that a tool does not set, what the configuration sets. */
enum { PARAMETERS_MAX = 1000 };

/* ---- names ------------------------------------------------------------------------------------ */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

/* Letters, digits and _ only: every client takes that, and so does a template. */
void openapi_make_name(char *to, size_t room, const char *from)
{
	size_t n = 0;

	for (; *from && n + 1 < room; from++)
		if (is_word(*from))
			to[n++] = *from;
		else if (n && to[n - 1] != '_')
			to[n++] = '_';
	while (n > 1 && to[n - 1] == '_')
		n--;
	to[n] = '\0';
	if (!n)
		snprintf(to, room, "x");
}

const char *openapi_text(const cleat_json *v, const char *key)
{
	return cleat_json_str(cleat_json_get(v, key), NULL);
}

static bool name_taken(const struct operation *op, const char *name)
{
	for (size_t i = 0; i < op->n; i++)
		if (strcmp(op->args[i].name, name) == 0)
			return true;
	return false;
}

static struct arg *add_arg(struct operation *op, const char *wire, const char *in)
{
	struct arg *a;
	char name[OPENAPI_NAME_MAX];

	if (op->n == OPENAPI_ARGS_MAX) {
		op->why = "it has more than 100 arguments";
		return NULL;
	}
	openapi_make_name(name, sizeof name, wire);
	a = &op->args[op->n];
	*a = (struct arg){ .wire = wire, .in = in };
	snprintf(a->name, sizeof a->name, "%s", name);
	for (unsigned i = 2; name_taken(op, a->name); i++)
		snprintf(a->name, sizeof a->name, "%s_%u", name, i);
	op->n++;
	return a;
}

/* ---- parameters ------------------------------------------------------------------------------- */

static const cleat_json *openapi_operation_resolve(const struct operation *op, const cleat_json *v)
{
	return openapi_resolve(op->api->doc, v);
}

/* Headers that OpenAPI itself says are not parameters, and those that are not a tool's to set. */
static bool ignored_header(const char *name)
{
	return strcasecmp(name, "accept") == 0 || strcasecmp(name, "content-type") == 0 ||
	       strcasecmp(name, "authorization") == 0 || !web_request_may_set(name);
}

/* What the configuration sets itself is nobody else's: an API's key, say. */
static bool is_set(const struct operation *op, const char *name, const char *in)
{
	bool header = strcmp(in, "header") == 0, query = strcmp(in, "query") == 0;
	cleat_json_iter it =
		cleat_json_each(cleat_json_get(op->api->node, header ? "headers" : "query"));

	while ((header || query) && cleat_json_next(&it)) {
		const char *set = cleat_json_str(it.key, "");

		if (header ? strcasecmp(set, name) == 0 : strcmp(set, name) == 0)
			return true;
	}
	return false;
}

static bool has_param(const struct operation *op, const char *name, const char *in)
{
	for (size_t i = 0; i < op->n; i++)
		if (strcmp(op->args[i].wire, name) == 0 && strcmp(op->args[i].in, in) == 0)
			return true;
	return false;
}

/* Lists are comma-separated by default in 2.0, and where "explode" is false in 3.x. */
static bool wants_commas(const struct operation *op, const cleat_json *p, const char *in)
{
	const char *format = openapi_text(p, "collectionFormat");
	const char *style = openapi_text(p, "style");

	if (op->api->v2)
		return !format || strcmp(format, "multi") != 0;
	if (strcmp(in, "query") != 0 || (style && strcmp(style, "form") != 0))
		return strcmp(in, "query") != 0;
	return !cleat_json_bool(cleat_json_get(p, "explode"), true);
}

static const cleat_json *first_value(const cleat_json *object)
{
	cleat_json_iter it = cleat_json_each(object);

	return cleat_json_next(&it) ? it.value : NULL;
}

static void set_arg(struct operation *op, struct arg *a, const cleat_json *p)
{
	const cleat_json *content = first_value(cleat_json_get(p, "content"));

	a->schema = op->api->v2 ? p : cleat_json_get(content ? content : p, "schema");
	a->about = openapi_text(p, "description");
	a->required = cleat_json_bool(cleat_json_get(p, "required"), false);
	a->commas = !content && wants_commas(op, p, a->in);
}

static void body_json(struct operation *op, const cleat_json *schema, bool required,
		      const char *about);

static void add_parameter(struct operation *op, const cleat_json *v)
{
	const cleat_json *p = openapi_operation_resolve(op, v);
	const char *name = openapi_text(p, "name"), *in = openapi_text(p, "in");
	struct arg *a;

	if (!name || !in) {
		op->why = "one of its parameters has no name";
		return;
	}
	if (strcmp(in, "body") == 0) {
		op->body_type = "application/json";
		body_json(op, cleat_json_get(p, "schema"),
			  cleat_json_bool(cleat_json_get(p, "required"), false),
			  openapi_text(p, "description"));
		return;
	}
	if (strcmp(in, "formData") == 0) {
		const char *type = openapi_text(p, "type");

		if (type && strcmp(type, "file") == 0) {
			op->why = "it uploads a file";
			return;
		}
		in = "form";
		op->body_type = "application/x-www-form-urlencoded";
	} else if (strcmp(in, "cookie") == 0) {
		if (cleat_json_bool(cleat_json_get(p, "required"), false))
			op->why = "it needs a cookie";
		return;
	} else if (strcmp(in, "path") != 0 && strcmp(in, "query") != 0 &&
		   strcmp(in, "header") != 0) {
		op->why = "one of its parameters is of an unknown kind";
		return;
	}
	if ((strcmp(in, "header") == 0 && ignored_header(name)) || is_set(op, name, in) ||
	    has_param(op, name, in))
		return;
	a = add_arg(op, name, in);
	if (a)
		set_arg(op, a, p);
	if (a && strcmp(in, "path") == 0)
		a->required = true;
}

static void add_parameters(struct operation *op, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	if (cleat_json_size(list) > PARAMETERS_MAX)
		op->why = "it has more than 1000 parameters";
	while (!op->why && cleat_json_next(&it))
		add_parameter(op, it.value);
}

/* Names in the path that nobody has declared. */
static void add_path_names(struct operation *op)
{
	for (const char *p = strchr(op->path, '{'), *end; p && !op->why; p = strchr(end, '{')) {
		const char *name;
		struct arg *a;

		end = p + strcspn(p + 1, "{}") + 1;
		if (*end != '}' || end == p + 1) {
			op->why = "its path is broken";
			return;
		}
		name = arena_strndup(op->ar, p + 1, (size_t)(end - p) - 1);
		if (!name || has_param(op, name, "path"))
			continue;
		a = add_arg(op, name, "path");
		if (a)
			a->required = true;
	}
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static bool in_list(const cleat_json *list, const char *word)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(it.value, ""), word) == 0)
			return true;
	return false;
}

/* Members become arguments where that is possible: it is how a model likes it. */
static bool can_be_flat(const struct operation *op, const cleat_json *schema)
{
	const cleat_json *properties = cleat_json_get(schema, "properties");
	const char *type = openapi_text(schema, "type");

	return cleat_json_size(properties) &&
	       cleat_json_size(properties) + op->n <= OPENAPI_ARGS_MAX / 2 &&
	       (!type || strcmp(type, "object") == 0) && !cleat_json_get(schema, "allOf") &&
	       !cleat_json_get(schema, "oneOf") && !cleat_json_get(schema, "anyOf") &&
	       cleat_json_type(cleat_json_get(schema, "additionalProperties")) != CLEAT_JSON_OBJECT;
}

static void add_members(struct operation *op, const cleat_json *schema, const char *in,
			bool required)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));

	while (!op->why && cleat_json_next(&it)) {
		struct arg *a;

		if (cleat_json_bool(cleat_json_get(it.value, "readOnly"), false))
			continue;
		a = add_arg(op, cleat_json_str(it.key, ""), in);
		if (!a)
			return;
		a->schema = it.value;
		a->required = required && in_list(cleat_json_get(schema, "required"), a->wire);
	}
}

static void body_json(struct operation *op, const cleat_json *schema, bool required,
		      const char *about)
{
	const cleat_json *s = openapi_operation_resolve(op, schema);
	struct arg *a;

	if (can_be_flat(op, s)) {
		add_members(op, s, "body", required);
		return;
	}
	a = add_arg(op, "body", "whole");
	if (!a)
		return;
	a->schema = schema;
	a->about = about;
	a->required = required;
}

static bool is_json_type(const char *type)
{
	return web_is_json(type) || strcmp(type, "*/*") == 0;
}

/* The first kind of body that can be made of arguments. */
static void add_body(struct operation *op, const cleat_json *v)
{
	const cleat_json *body = openapi_operation_resolve(op, v);
	const cleat_json *content = cleat_json_get(body, "content");
	bool required = cleat_json_bool(cleat_json_get(body, "required"), false);
	const cleat_json *best = NULL;
	cleat_json_iter it = cleat_json_each(content);
	unsigned rank = 0;

	while (cleat_json_next(&it)) {
		const char *type = cleat_json_str(it.key, "");
		unsigned r = !web_request_is_type(type)                                    ? 0
			     : is_json_type(type)                                          ? 3
			     : strncmp(type, "application/x-www-form-urlencoded", 33) == 0 ? 2
			     : strncmp(type, "text/", 5) == 0                              ? 1
											   : 0;

		if (r <= rank)
			continue;
		rank = r;
		best = cleat_json_get(it.value, "schema");
		op->body_type = strcmp(type, "*/*") == 0 ? "application/json" : type;
	}
	if (!rank && (required || cleat_json_size(content))) {
		op->why = "its body is no JSON, form or text";
		op->body_type = NULL;
	} else if (rank == 3) {
		body_json(op, best, required, openapi_text(body, "description"));
	} else if (rank == 2) {
		add_members(op, openapi_operation_resolve(op, best), "form", required);
	} else if (rank == 1) {
		struct arg *a = add_arg(op, "body", "whole");

		if (a)
			a->required = required;
	}
}

void operation_read(struct operation *op)
{
	/* Those of the operation itself count before those of its path. */
	add_parameters(op, cleat_json_get(op->node, "parameters"));
	add_parameters(op, cleat_json_get(op->shared, "parameters"));
	if (!op->why)
		add_path_names(op);
	if (!op->why && cleat_json_get(op->node, "requestBody"))
		add_body(op, cleat_json_get(op->node, "requestBody"));
	if (arena_failed(op->ar))
		op->why = "out of memory";
}
