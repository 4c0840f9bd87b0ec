/* program/check/schema.c - schemas of tools: valid, and such that others understand them. */
#include "check/check.h"

#include <string.h>

enum { DEPTH = 64 };

/* The first "$ref" that leads out of the schema. */
static const char *outer_reference(const cleat_json *v, unsigned depth)
{
	cleat_json_iter it = cleat_json_each(v);
	const char *ref = cleat_json_str(cleat_json_get(v, "$ref"), NULL);

	if (ref && *ref != '#' && strncmp(ref, "https://json-schema.org/", 24) != 0 &&
	    strncmp(ref, "http://json-schema.org/", 23) != 0)
		return ref;
	while (depth && cleat_json_next(&it)) {
		ref = outer_reference(it.value, depth - 1);
		if (ref)
			return ref;
	}
	return NULL;
}

/* Names may be described elsewhere. */
static bool has_other_members(const cleat_json *schema)
{
	static const char *const words[] = {
		"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"
	};

	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		if (cleat_json_get(schema, words[i]))
			return true;
	return false;
}

/* A required name that is not described can be given, unless nothing else is allowed: then nothing fits. */
static void check_required(struct check *c, const char *where, const char *member,
			   const cleat_json *schema)
{
	cleat_json_iter it = cleat_json_each(
		has_other_members(schema) ? NULL : cleat_json_get(schema, "required"));
	const cleat_json *properties = cleat_json_get(schema, "properties");
	bool closed = !cleat_json_bool(cleat_json_get(schema, "additionalProperties"), true);

	while (cleat_json_next(&it)) {
		size_t n = 0;
		const char *name = cleat_json_strn(it.value, &n);

		if (name && !cleat_json_getn(properties, name, n))
			check_report(c, closed ? CHECK_ERROR : CHECK_WARNING, "schema", where,
				     "%s requires \"%s\", which is not among its properties",
				     member, name);
	}
}

static void check_described(struct check *c, const char *where, const cleat_json *schema)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));
	struct text names = { 0 };
	unsigned n = 0;

	while (cleat_json_next(&it))
		if (!cleat_json_get(it.value, "description") && !cleat_json_get(it.value, "$ref"))
			text_printf(&names, "%s%s", n++ ? ", " : "", cleat_json_str(it.key, "?"));
	if (n)
		check_report(c, CHECK_WARNING, "argument-description", where, "not described: %s",
			     text_str(&names));
	text_free(&names);
}

/* Model providers want an object with properties at the top, and refuse combinations there. */
static void check_portable(struct check *c, const char *where, const cleat_json *schema)
{
	static const char *const words[] = { "oneOf", "anyOf", "allOf", "not", "if", "enum" };

	for (size_t i = 0; i < CLEAT_COUNT(words); i++)
		if (cleat_json_get(schema, words[i]))
			check_report(
				c, CHECK_WARNING, "schema-portable", where,
				"inputSchema has \"%s\" at the top, which several models refuse",
				words[i]);
	if (cleat_json_get(schema, "$ref"))
		check_report(c, CHECK_WARNING, "schema-portable", where,
			     "inputSchema is a \"$ref\" at the top, which several models refuse");
	if (!cleat_json_get(schema, "additionalProperties") &&
	    cleat_json_size(cleat_json_get(schema, "properties")))
		check_report(c, CHECK_NOTE, "schema-closed", where,
			     "inputSchema does not say whether other arguments are allowed");
}

void check_tool_schema(struct check *c, const char *where, const char *member,
		       const cleat_json *schema)
{
	bool input = strcmp(member, "inputSchema") == 0;
	const char *type = cleat_json_str(cleat_json_get(schema, "type"), "");
	const char *outside = outer_reference(schema, DEPTH);
	cleat_schema *compiled;
	cleat_error err;

	if (cleat_json_type(schema) != CLEAT_JSON_OBJECT)
		return; /* the protocol's business */
	/* One that leads to an "$id" inside of the same schema is none. */
	compiled = cleat_schema_new(schema, NULL, &err);
	if (!compiled && outside)
		check_report(c, CHECK_ERROR, "schema-reference", where,
			     "%s refers to %s: nobody fetches that", member, outside);
	else if (!compiled)
		check_report(c, err.status == CLEAT_EINVAL ? CHECK_ERROR : CHECK_WARNING,
			     err.status == CLEAT_EUNSUPPORTED ? "schema-portable" : "schema", where,
			     "%s: %s", member, err.message);
	cleat_schema_free(compiled);
	if (input && strcmp(type, "object") != 0)
		check_report(c, CHECK_ERROR, "schema", where,
			     "inputSchema must have \"type\": \"object\"");
	check_required(c, where, member, schema);
	if (input) {
		check_described(c, where, schema);
		check_portable(c, where, schema);
	}
}
