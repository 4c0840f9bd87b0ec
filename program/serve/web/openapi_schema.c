/* program/serve/web/openapi_schema.c - schemas of an OpenAPI document as JSON Schema (openapi_schema.h). */
#include "serve/web/openapi_schema.h"

#include <stdio.h>
#include <string.h>

enum { REQUIRED_MAX = 1000 };

/* ---- references ------------------------------------------------------------------------------- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One step of a JSON Pointer in a URI fragment: ~ and % are escapes (% first: it may stand for ~). False: it
 * is none, or too long to be a name. */
static bool unescape(char *to, size_t room, struct str part, size_t *ret_n)
{
	size_t n = 0;

	*ret_n = 0;
	for (size_t i = 0; i < part.n; i++) {
		int high = part.p[i] == '%' && i + 2 < part.n ? hex(part.p[i + 1]) : -1;
		int low = high >= 0 ? hex(part.p[i + 2]) : -1;

		if (n == room)
			return false;
		to[n++] = low < 0 ? part.p[i] : (char)(high * 16 + low);
		i += low < 0 ? 0 : 2;
	}
	for (size_t i = 0; i < n; i++) {
		char c = to[i];

		if (c == '~' && (i + 1 == n || (to[i + 1] != '0' && to[i + 1] != '1')))
			return false;
		if (c == '~')
			c = to[++i] == '0' ? '~' : '/';
		to[(*ret_n)++] = c;
	}
	return true;
}

static const cleat_json *openapi_schema_step(const cleat_json *v, const char *key, size_t n)
{
	size_t i = 0;

	if (cleat_json_type(v) != CLEAT_JSON_ARRAY)
		return cleat_json_getn(v, key, n);
	for (size_t k = 0; k < n; k++) {
		if (key[k] < '0' || key[k] > '9' || n > 6)
			return NULL;
		i = i * 10 + (size_t)(key[k] - '0');
	}
	return n ? cleat_json_at(v, i) : NULL;
}

static const cleat_json *follow(const cleat_json *root, const char *ref)
{
	char key[512];

	if (strncmp(ref, "#/", 2) != 0)
		return NULL;
	for (ref += 2; root; ref++) {
		size_t n = strcspn(ref, "/"), used;

		if (!unescape(key, sizeof key, (struct str){ ref, n }, &used))
			return NULL;
		root = openapi_schema_step(root, key, used);
		ref += n;
		if (!*ref)
			break;
	}
	return root;
}

/* The same, with what is known. `ref` is the document's own text. */
static const cleat_json *openapi_schema_find(struct openapi_doc *doc, const char *ref)
{
	uint32_t at = 2166136261u;

	for (const char *p = ref; *p; p++)
		at = (at ^ (unsigned char)*p) * 16777619u;
	at %= OPENAPI_FOUND;
	if (!doc->found[at].ref || strcmp(doc->found[at].ref, ref) != 0) {
		doc->found[at].ref = ref;
		doc->found[at].target = follow(doc->root, ref);
	}
	return doc->found[at].target;
}

const cleat_json *openapi_resolve(struct openapi_doc *doc, const cleat_json *v)
{
	for (unsigned steps = 0; steps < 16; steps++) {
		const char *ref = cleat_json_str(cleat_json_get(v, "$ref"), NULL);

		if (!ref)
			return v;
		v = openapi_schema_find(doc, ref);
	}
	return NULL;
}

static bool name_taken(const struct openapi_schemas *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->names[i], name) == 0)
			return true;
	return false;
}

/* What it is called in "$defs": the last part of the reference, as far as it needs no escapes there. */
static void make_name(struct openapi_schemas *s, const char *ref)
{
	const char *last = strrchr(ref, '/') + 1;
	char *to = s->names[s->n];
	size_t n = 0;

	for (; *last && n < OPENAPI_DEF_MAX - 8; last++) {
		bool plain = (*last >= '0' && *last <= '9') || *last == '-' || *last == '_' ||
			     *last == '.' || ((*last | 32) >= 'a' && (*last | 32) <= 'z');

		if (plain || (n && to[n - 1] != '_'))
			to[n++] = plain ? *last : '_';
	}
	to[n] = '\0';
	for (unsigned number = 2; !*to || name_taken(s, to); number++)
		snprintf(to + n, OPENAPI_DEF_MAX - n, "_%u", number);
}

/* The number of what a reference leads to; OPENAPI_REFS_MAX: there are too many, or it leads nowhere. */
static size_t add_ref(struct openapi_schemas *s, const char *ref)
{
	const cleat_json *target;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->refs[i], ref) == 0)
			return i;
	target = openapi_schema_find(s->doc, ref);
	for (size_t i = 0; i < s->n && target; i++)
		if (s->targets[i] == target)
			return i;
	if (!target || s->n == OPENAPI_REFS_MAX)
		return OPENAPI_REFS_MAX;
	make_name(s, ref);
	s->refs[s->n] = ref;
	s->targets[s->n] = target;
	return s->n++;
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void write_schema(struct openapi_schemas *s, struct jw *w, const cleat_json *v,
			 unsigned depth);

static void write_list(struct openapi_schemas *s, struct jw *w, const cleat_json *v, unsigned depth)
{
	cleat_json_iter it = cleat_json_each(v);

	jw_arr(w);
	while (cleat_json_next(&it))
		write_schema(s, w, it.value, depth);
	jw_arr_end(w);
}

static bool hidden(const struct openapi_schemas *s, const cleat_json *property)
{
	return s->request && cleat_json_bool(cleat_json_get(property, "readOnly"), false);
}

static void write_properties(struct openapi_schemas *s, struct jw *w, const cleat_json *v,
			     unsigned depth)
{
	cleat_json_iter it = cleat_json_each(v);
	struct str name;

	jw_obj(w);
	while (cleat_json_next(&it)) {
		if (hidden(s, it.value))
			continue;
		name.p = cleat_json_strn(it.key, &name.n);
		jw_keyn(w, name);
		write_schema(s, w, it.value, depth);
	}
	jw_obj_end(w);
}

/* Without those that are left out of "properties". Each is looked for there: a list that is too long for that
 * is left to the API itself. */
static void write_required(struct openapi_schemas *s, struct jw *w, const cleat_json *schema)
{
	const cleat_json *properties = cleat_json_get(schema, "properties");
	const cleat_json *list = cleat_json_get(schema, "required");
	cleat_json_iter it = cleat_json_each(list);

	if (cleat_json_size(list) > REQUIRED_MAX) {
		s->full = true;
		return;
	}
	jw_key(w, "required");
	jw_arr(w);
	while (cleat_json_next(&it))
		if (!hidden(s, cleat_json_get(properties, cleat_json_str(it.value, ""))))
			jw_value(w, it.value);
	jw_arr_end(w);
}

static void write_type(struct jw *w, const cleat_json *type, bool nullable)
{
	cleat_json_iter it = cleat_json_each(type);
	const char *one = cleat_json_str(type, NULL);

	jw_key(w, "type");
	if (one && strcmp(one, "file") == 0)
		one = "string";
	if (one && !nullable) {
		jw_strz(w, one);
		return;
	}
	jw_arr(w);
	if (one)
		jw_strz(w, one);
	while (cleat_json_next(&it))
		jw_value(w, it.value);
	if (nullable)
		jw_strz(w, "null");
	jw_arr_end(w);
}

/* A null is one of the values then, too. */
static void write_enum(struct jw *w, const cleat_json *list, bool nullable)
{
	cleat_json_iter it = cleat_json_each(list);

	jw_key(w, "enum");
	jw_arr(w);
	while (cleat_json_next(&it)) {
		nullable = nullable && cleat_json_type(it.value) != CLEAT_JSON_NULL;
		jw_value(w, it.value);
	}
	if (nullable)
		jw_null(w);
	jw_arr_end(w);
}

/* "minimum": 1, "exclusiveMinimum": true of 3.0 is "exclusiveMinimum": 1. */
static void write_bound(struct jw *w, const cleat_json *schema, const char *plain,
			const char *exclusive)
{
	const cleat_json *value = cleat_json_get(schema, plain);
	const cleat_json *strict = cleat_json_get(schema, exclusive);

	if (cleat_json_type(strict) == CLEAT_JSON_NUMBER)
		jw_kv_value(w, exclusive, strict);
	if (value)
		jw_kv_value(w, cleat_json_bool(strict, false) ? exclusive : plain, value);
}

static void write_member(struct openapi_schemas *s, struct jw *w, const char *key,
			 const cleat_json *v, unsigned depth)
{
	static const char *const plain[] = {
		"title",         "description", "default",  "multipleOf",  "minLength",
		"maxLength",     "minItems",    "maxItems", "uniqueItems", "minProperties",
		"maxProperties", "const",       NULL
	};
	static const char *const strict[] = { "pattern", "format", NULL };
	static const char *const schemas[] = { "items",         "not",      "additionalProperties",
					       "propertyNames", "contains", NULL };
	static const char *const lists[] = { "allOf", "anyOf", "oneOf", "prefixItems", NULL };
	bool schema = cleat_json_type(v) == CLEAT_JSON_OBJECT;

	if (str_among(str_of(key), plain) || (!s->loose && str_among(str_of(key), strict))) {
		jw_kv_value(w, key, v);
	} else if (str_among(str_of(key), schemas) &&
		   (schema || cleat_json_type(v) == CLEAT_JSON_BOOL)) {
		jw_key(w, key);
		write_schema(s, w, v, depth + 1);
	} else if (str_among(str_of(key), lists) && cleat_json_size(v)) {
		jw_key(w, key);
		write_list(s, w, v, depth + 1);
	} else if (strcmp(key, "properties") == 0 && schema) {
		jw_key(w, key);
		write_properties(s, w, v, depth + 1);
	}
}

void openapi_write_members(struct openapi_schemas *s, struct jw *w, const cleat_json *schema,
			   unsigned depth)
{
	bool nullable = cleat_json_bool(cleat_json_get(schema, "nullable"), false) ||
			cleat_json_bool(cleat_json_get(schema, "x-nullable"), false);
	const cleat_json *type = cleat_json_get(schema, "type");
	const cleat_json *list = cleat_json_get(schema, "enum");
	cleat_json_iter it = cleat_json_each(schema);

	if (type)
		write_type(w, type, nullable);
	if (cleat_json_type(list) == CLEAT_JSON_ARRAY)
		write_enum(w, list, nullable);
	write_bound(w, schema, "minimum", "exclusiveMinimum");
	write_bound(w, schema, "maximum", "exclusiveMaximum");
	while (cleat_json_next(&it))
		write_member(s, w, cleat_json_str(it.key, ""), it.value, depth);
	/* In 2.0 parameters have "required": true, which is not the schema's. */
	if (cleat_json_type(cleat_json_get(schema, "required")) == CLEAT_JSON_ARRAY)
		write_required(s, w, schema);
}

static void write_reference(struct openapi_schemas *s, struct jw *w, const char *ref)
{
	size_t at = add_ref(s, ref);
	char target[OPENAPI_DEF_MAX + 16];

	jw_obj(w);
	if (at < OPENAPI_REFS_MAX) {
		snprintf(target, sizeof target, "#/$defs/%s", s->names[at]);
		jw_kv_str(w, "$ref", target);
	} else {
		s->full = true; /* anything goes; the API will say what it does not like */
	}
	jw_obj_end(w);
}

static void write_schema(struct openapi_schemas *s, struct jw *w, const cleat_json *v,
			 unsigned depth)
{
	const char *ref = cleat_json_str(cleat_json_get(v, "$ref"), NULL);

	if (cleat_json_type(v) == CLEAT_JSON_BOOL) {
		jw_value(w, v);
		return;
	}
	if (ref) {
		write_reference(s, w, ref);
		return;
	}
	jw_obj(w);
	if (depth < OPENAPI_DEPTH)
		openapi_write_members(s, w, v, depth);
	else
		s->full = true;
	jw_obj_end(w);
}

void openapi_write(struct openapi_schemas *s, struct jw *w, const cleat_json *schema)
{
	write_schema(s, w, schema, 0);
}

void openapi_write_defs(struct openapi_schemas *s, struct jw *w)
{
	if (!s->n)
		return;
	jw_key(w, "$defs");
	jw_obj(w);
	for (size_t i = 0; i < s->n && buf_status(w->b) == CLEAT_OK; i++) { /* grows meanwhile */
		jw_keyn(w, str_of(s->names[i]));
		write_schema(s, w, s->targets[i], 1);
	}
	jw_obj_end(w);
}
