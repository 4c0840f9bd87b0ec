/* program/cli/argument_schema.c - what a schema says about one argument: which types it may have, what there is to choose
 * from, and how that is called for people.
 *
 * This is for reading words, not for checking values: the whole schema does that in the end. Where it says
 * nothing, or leads too far, everything is allowed.
 */
#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 256, MOST_STEPS = 8, MOST_BRANCHES = 1000, TYPE_DEPTH = 4 };

/* "#/$defs/x" */
static const cleat_json *follow(const cleat_json *root, const char *ref)
{
	if (strncmp(ref, "#/", 2) != 0)
		return NULL;
	for (ref += 2; root && *ref;) {
		size_t n = strcspn(ref, "/");

		root = cleat_json_getn(root, ref, n);
		ref += n + (ref[n] == '/');
	}
	return root;
}

/* anyOf, oneOf: NULL: neither is there. */
static const cleat_json *branches(const cleat_json *schema)
{
	const cleat_json *list = cleat_json_get(schema, "anyOf");

	return list ? list : cleat_json_get(schema, "oneOf");
}

/* The one branch that is not null, or all of an allOf with one. */
static const cleat_json *only_branch(const cleat_json *schema)
{
	const cleat_json *list = branches(schema), *only = NULL;
	cleat_json_iter it;

	if (!list)
		list = cleat_json_get(schema, "allOf");
	it = cleat_json_each(list);
	while (cleat_json_next(&it)) {
		if (strcmp(cleat_json_str(cleat_json_get(it.value, "type"), ""), "null") == 0)
			continue;
		if (only)
			return NULL;
		only = it.value;
	}
	return only;
}

const cleat_json *argument_schema(const cleat_json *root, const cleat_json *schema)
{
	for (int i = 0; i < MOST_STEPS; i++) {
		const char *ref = cleat_json_str(cleat_json_get(schema, "$ref"), NULL);
		const cleat_json *next = ref                              ? follow(root, ref)
					 : cleat_json_get(schema, "type") ? NULL
									  : only_branch(schema);

		if (!next)
			break;
		schema = next;
	}
	return schema;
}

bool argument_required(const cleat_json *schema, const char *name)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "required"));

	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(it.value, ""), name) == 0)
			return true;
	return false;
}

/* A schema may lead around in circles, and has as many branches as a server likes. */
struct type_query {
	const cleat_json *root;
	const char *type;
	unsigned steps;
};

static bool is_type(const cleat_json *v, const char *type)
{
	static const char *const names[] = {
		[CLEAT_JSON_NULL] = "null",     [CLEAT_JSON_BOOL] = "boolean",
		[CLEAT_JSON_NUMBER] = "number", [CLEAT_JSON_STRING] = "string",
		[CLEAT_JSON_ARRAY] = "array",   [CLEAT_JSON_OBJECT] = "object",
	};
	enum cleat_json_type t = cleat_json_type(v);

	return (size_t)t < CLEAT_COUNT(names) && names[t] && strcmp(names[t], type) == 0;
}

/* "type": a word, or several. */
static bool names_type(const cleat_json *t, const char *type)
{
	cleat_json_iter it = cleat_json_each(t);

	if (cleat_json_type(t) != CLEAT_JSON_ARRAY)
		return strcmp(cleat_json_str(t, ""), type) == 0;
	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(it.value, ""), type) == 0)
			return true;
	return false;
}

static bool lets(struct type_query *q, const cleat_json *schema, unsigned depth);

/* One of them, or all of them. */
static bool lets_any(struct type_query *q, const cleat_json *list, bool all, unsigned depth)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		if (lets(q, it.value, depth) != all)
			return !all;
	return all;
}

static bool lets(struct type_query *q, const cleat_json *schema, unsigned depth)
{
	const char *ref = cleat_json_str(cleat_json_get(schema, "$ref"), NULL);
	const cleat_json *v;
	cleat_json_iter it;

	if (depth >= MOST_STEPS || ++q->steps > MOST_BRANCHES)
		return true;
	if (ref)
		return lets(q, follow(q->root, ref), depth + 1);
	if ((v = cleat_json_get(schema, "type")) != NULL)
		return names_type(v, q->type);
	if ((v = cleat_json_get(schema, "const")) != NULL)
		return is_type(v, q->type);
	if ((v = cleat_json_get(schema, "enum")) != NULL) {
		it = cleat_json_each(v);
		while (cleat_json_next(&it))
			if (is_type(it.value, q->type))
				return true;
		return false;
	}
	if ((v = branches(schema)) != NULL)
		return lets_any(q, v, false, depth + 1);
	v = cleat_json_get(schema, "allOf");
	return !v || lets_any(q, v, true, depth + 1);
}

/* May a value have this type? One that says nothing about types argument_allows all. */
bool argument_allows(const cleat_json *root, const cleat_json *schema, const char *type)
{
	return lets(&(struct type_query){ .root = root, .type = type }, schema, 0);
}

bool argument_allows_number(const cleat_json *root, const cleat_json *schema)
{
	return argument_allows(root, schema, "number") || argument_allows(root, schema, "integer");
}

/* Text and nothing that text could be taken for. */
bool argument_is_text(const cleat_json *root, const cleat_json *schema)
{
	return !schema ||
	       (argument_allows(root, schema, "string") && !argument_allows_number(root, schema) &&
		!argument_allows(root, schema, "boolean") &&
		!argument_allows(root, schema, "object") &&
		!argument_allows(root, schema, "array"));
}

/* An array, and nothing that a single word could be. */
bool argument_is_list(const cleat_json *root, const cleat_json *schema)
{
	return argument_allows(root, schema, "array") && !argument_allows(root, schema, "string") &&
	       !argument_allows_number(root, schema) && !argument_allows(root, schema, "boolean") &&
	       !argument_allows(root, schema, "object");
}

/* What the elements of an array have to be; NULL: it is not said. */
const cleat_json *argument_items(const cleat_json *root, const cleat_json *schema)
{
	cleat_json_iter it;

	schema = argument_schema(root, schema);
	it = cleat_json_each(branches(schema));
	while (!cleat_json_get(schema, "items") && cleat_json_next(&it)) {
		const cleat_json *branch = argument_schema(root, it.value);

		if (cleat_json_get(branch, "items"))
			schema = branch;
	}
	return cleat_json_get(schema, "items");
}

/* The values to choose from: enum, or oneOf with const. False: it is no such schema. */
const cleat_json *argument_choices(const cleat_json *schema, bool *consts)
{
	const cleat_json *list = cleat_json_get(schema, "enum");
	cleat_json_iter it;

	*consts = !list;
	if (list)
		return list;
	list = branches(schema);
	it = cleat_json_each(list);
	while (cleat_json_next(&it))
		if (!cleat_json_get(it.value, "const"))
			return NULL;
	return cleat_json_size(list) ? list : NULL;
}

/* "a|b|c" */
static bool choices(struct text *t, const cleat_json *schema)
{
	bool consts;
	const cleat_json *list = argument_choices(schema, &consts);
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it) && it.index < MOST_NAMES) {
		const cleat_json *v = consts ? cleat_json_get(it.value, "const") : it.value;
		char *text = NULL;

		if (cleat_json_type(v) != CLEAT_JSON_STRING)
			text = cleat_json_print(v, NULL);
		text_printf(t, "%s%s", it.index ? "|" : "", text ? text : cleat_json_str(v, ""));
		free(text);
	}
	return list != NULL;
}

static void type_words(struct text *t, const cleat_json *schema, unsigned depth);

/* "string|integer", of a list of types or of schemas; that it may be null need not be said. */
static void union_words(struct text *t, const cleat_json *list, unsigned depth)
{
	cleat_json_iter it = cleat_json_each(list);
	size_t before = t->n;

	while (cleat_json_next(&it) && it.index < MOST_NAMES) {
		const cleat_json *type = cleat_json_get(it.value, "type");
		const char *word = cleat_json_str(it.value, cleat_json_str(type, ""));

		if (strcmp(word, "null") == 0)
			continue;
		text_puts(t, t->n > before ? "|" : "");
		if (cleat_json_type(it.value) == CLEAT_JSON_STRING)
			text_puts(t, word);
		else
			type_words(t, it.value, depth - 1);
	}
	if (t->n == before)
		text_puts(t, "json");
}

static void type_words(struct text *t, const cleat_json *schema, unsigned depth)
{
	const cleat_json *type = cleat_json_get(schema, "type"), *items;
	struct text inner = { 0 };

	if (choices(t, schema))
		return;
	if (!type || cleat_json_type(type) == CLEAT_JSON_ARRAY) {
		union_words(t, !depth ? NULL : type ? type : branches(schema), depth);
		return;
	}
	if (strcmp(cleat_json_str(type, ""), "array") != 0) {
		text_puts(t, cleat_json_str(type, "json"));
		return;
	}
	items = depth ? cleat_json_get(schema, "items") : NULL;
	type_words(&inner, items, depth ? depth - 1 : 0);
	text_printf(t, strchr(text_str(&inner), '|') ? "(%s)[]" : "%s[]", text_str(&inner));
	text_free(&inner);
}

const char *argument_type(const cleat_json *schema)
{
	struct text t = { 0 };

	type_words(&t, schema, TYPE_DEPTH);
	return keep(text_take(&t));
}
