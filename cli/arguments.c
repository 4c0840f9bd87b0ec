/* cli/arguments.c - words of a command line to JSON, by a schema.
 *
 *	key=value    by the schema: a number where it wants one, otherwise text
 *	key:=json    JSON as it is
 *	key=@file    the text of a file; key:=@file: its JSON
 *	key=a key=b  an array, where the schema wants one
 *	{...}        members of an object; "-": the same from stdin
 *
 * What the schema does not allow is said before anything is sent.
 */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 16 << 20, MOST_NAMES = 256, MOST_STEPS = 8 };

/* ---- schemas ------------------------------------------------------------------------------------- */

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

/* The one branch that is not null. */
static const cleat_json *only_branch(const cleat_json *schema)
{
	const cleat_json *list = cleat_json_get(schema, "anyOf"), *only = NULL;
	cleat_json_iter it;

	if (!list)
		list = cleat_json_get(schema, "oneOf");
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

/* May a value have this type? Without "type" it may have any. */
static bool allows(const cleat_json *schema, const char *type)
{
	const cleat_json *t = cleat_json_get(schema, "type");
	cleat_json_iter it = cleat_json_each(t);

	if (!t || cleat_json_type(t) == CLEAT_JSON_STRING)
		return !t || strcmp(cleat_json_str(t, ""), type) == 0;
	while (cleat_json_next(&it))
		if (strcmp(cleat_json_str(it.value, ""), type) == 0)
			return true;
	return false;
}

/* "a|b|c" of enum, or of oneOf with const. */
static bool choices(struct text *t, const cleat_json *schema)
{
	const cleat_json *list = cleat_json_get(schema, "enum");
	bool consts = !list;
	cleat_json_iter it;

	if (consts)
		list = cleat_json_get(schema, "oneOf");
	if (consts && !list)
		list = cleat_json_get(schema, "anyOf");
	it = cleat_json_each(list);
	while (cleat_json_next(&it) && it.index < MOST_NAMES) {
		const cleat_json *v = consts ? cleat_json_get(it.value, "const") : it.value;
		char *text = NULL;

		if (!v)
			return false;
		if (cleat_json_type(v) != CLEAT_JSON_STRING)
			text = cleat_json_print(v, NULL);
		text_printf(t, "%s%s", it.index ? "|" : "", text ? text : cleat_json_str(v, ""));
		free(text);
	}
	return cleat_json_size(list) > 0;
}

static void type_words(struct text *t, const cleat_json *schema)
{
	const cleat_json *type = cleat_json_get(schema, "type");
	cleat_json_iter it = cleat_json_each(type);

	if (choices(t, schema))
		return;
	if (strcmp(cleat_json_str(type, ""), "array") == 0) {
		const cleat_json *items = cleat_json_get(schema, "items");

		text_printf(t, "%s[]", cleat_json_str(cleat_json_get(items, "type"), "json"));
		return;
	}
	if (cleat_json_type(type) != CLEAT_JSON_ARRAY) {
		text_puts(t, cleat_json_str(type, "json"));
		return;
	}
	while (cleat_json_next(&it))
		text_printf(t, "%s%s", it.index ? "|" : "", cleat_json_str(it.value, "?"));
}

const char *argument_type(const cleat_json *schema)
{
	struct text t = { 0 };

	type_words(&t, schema);
	return keep(text_take(&t));
}

/* ---- one value ----------------------------------------------------------------------------------- */

static bool is_json(const char *text, size_t n, enum cleat_json_type *type)
{
	cleat_doc *doc = cleat_doc_parse(text, n, NULL, NULL, NULL);

	*type = cleat_json_type(cleat_doc_root(doc));
	cleat_doc_free(doc);
	return *type != CLEAT_JSON_NONE;
}

/* Is the text, as a JSON string or as it is, one of an enum's values? Writes that one. */
static bool choose(struct text *out, const cleat_json *schema, const char *value, size_t n)
{
	const cleat_json *list = cleat_json_get(schema, "enum");
	cleat_json_iter it;

	it = cleat_json_each(list);
	while (cleat_json_next(&it)) {
		size_t length = 0;
		const char *s = cleat_json_strn(it.value, &length);
		char *text = cleat_json_print(it.value, NULL);
		bool same = s ? length == n && memcmp(s, value, n) == 0
			      : text && strlen(text) == n && memcmp(text, value, n) == 0;

		if (same && text)
			text_puts(out, text);
		free(text);
		if (same)
			return true;
	}
	return false;
}

static const char *boolean(const char *value, size_t n)
{
	static const char *const names[][2] = {
		{ "true", "true" }, { "yes", "true" }, { "false", "false" }, { "no", "false" }
	};

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (strlen(names[i][0]) == n && memcmp(names[i][0], value, n) == 0)
			return names[i][1];
	return NULL;
}

/* JSON that the schema's types let through as it is. */
static bool fits_as_json(const cleat_json *schema, const char *value, size_t n)
{
	enum cleat_json_type type;

	if (!is_json(value, n, &type))
		return false;
	switch (type) {
	case CLEAT_JSON_NUMBER: return allows(schema, "number") || allows(schema, "integer");
	case CLEAT_JSON_BOOL: return allows(schema, "boolean");
	case CLEAT_JSON_NULL: return allows(schema, "null");
	case CLEAT_JSON_ARRAY: return allows(schema, "array");
	case CLEAT_JSON_OBJECT: return allows(schema, "object");
	default: return false;
	}
}

bool argument_value(struct text *out, const cleat_json *schema, const char *value, size_t n,
		    const char **why)
{
	const cleat_json *list = cleat_json_get(schema, "enum");
	bool only_text = !schema || (cleat_json_get(schema, "type") && allows(schema, "string") &&
				     !allows(schema, "number") && !allows(schema, "integer") &&
				     !allows(schema, "boolean") && !allows(schema, "object") &&
				     !allows(schema, "array"));
	const char *b = boolean(value, n);

	if (list && choose(out, schema, value, n))
		return true;
	if (list || (!only_text && !allows(schema, "string") && !fits_as_json(schema, value, n) &&
		     !(b && allows(schema, "boolean")))) {
		const char *type = argument_type(schema);

		*why = keepf("must be %s%s, not \"%.*s\"",
			     list                       ? "one of "
			     : strchr("aeiou", type[0]) ? "an "
							: "a ",
			     type, (int)(n > 100 ? 100 : n), value);
		return false;
	}
	if (!only_text && fits_as_json(schema, value, n))
		text_add(out, value, n);
	else if (b && cleat_json_get(schema, "type") && allows(schema, "boolean"))
		text_puts(out, b);
	else
		text_json(out, value, n);
	return true;
}

/* ---- the object ---------------------------------------------------------------------------------- */

struct member {
	const char *name;
	struct text value; /* JSON */
	bool list;         /* elements so far, without brackets */
};

struct object {
	struct cli *cli;
	const char *what; /* the tool */
	const cleat_json *schema;
	struct member *members;
	size_t n, cap;
	int code;
};

static bool refuse(struct object *o, const char *name, const char *why)
{
	o->code = cli_error(o->cli, EXIT_USAGE, "%s: argument \"%s\" %s", o->what, name, why);
	return false;
}

static struct member *find(struct object *o, const char *name, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (strlen(o->members[i].name) == n && memcmp(o->members[i].name, name, n) == 0)
			return &o->members[i];
	return NULL;
}

static const cleat_json *property(const struct object *o, const char *name)
{
	const cleat_json *properties = cleat_json_get(o->schema, "properties");

	return argument_schema(o->schema, cleat_json_get(properties, name));
}

/* A name that the schema does not have is a slip of the finger, unless the schema says that there are
 * others. */
static bool is_known(struct object *o, const char *name)
{
	const cleat_json *properties = cleat_json_get(o->schema, "properties");
	const cleat_json *others = cleat_json_get(o->schema, "additionalProperties");
	const char *names[MOST_NAMES], *near;
	cleat_json_iter it = cleat_json_each(properties);
	size_t n = 0;

	if (!o->schema || cleat_json_get(properties, name) ||
	    cleat_json_get(o->schema, "patternProperties") ||
	    (others &&
	     !(cleat_json_type(others) == CLEAT_JSON_BOOL && !cleat_json_bool(others, true))))
		return true;
	if (!others && !cleat_json_size(properties))
		return true;
	while (cleat_json_next(&it) && n < MOST_NAMES)
		names[n++] = cleat_json_str(it.key, "");
	near = cli_nearest(name, names, n);
	if (near)
		o->code = cli_error(o->cli, EXIT_USAGE,
				    "%s: there is no argument \"%s\", did you mean \"%s\"?",
				    o->what, name, near);
	else
		o->code = cli_error(o->cli, EXIT_USAGE, "%s: there is no argument \"%s\"", o->what,
				    name);
	return false;
}

static struct member *add(struct object *o, const char *name, size_t n)
{
	struct member *m;

	if (o->n == o->cap) {
		o->cap = o->cap ? 2 * o->cap : 16;
		m = realloc(o->members, o->cap * sizeof *m);
		if (!m)
			exit(cli_error(o->cli, EXIT_OTHER, "out of memory"));
		o->members = m;
	}
	m = &o->members[o->n++];
	memset(m, 0, sizeof *m);
	m->name = keepf("%.*s", (int)n, name);
	return m;
}

/* The text behind = or :=, from a file where it begins with @. */
static bool load(struct object *o, const char *name, const char *value, struct text *t)
{
	if (value[0] != '@') {
		text_puts(t, value);
		return true;
	}
	if (text_read(t, value + 1, FILE_MAX))
		return true;
	return refuse(o, name, keepf("cannot be read from %s: %s", value + 1, strerror(errno)));
}

static bool set_json(struct object *o, struct member *m, const struct text *t)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(t->p ? t->p : "", t->n, NULL, NULL, &err);

	if (!doc)
		return refuse(o, m->name, keepf("is no JSON: %s", err.message));
	cleat_doc_free(doc);
	text_add(&m->value, t->p, t->n);
	return true;
}

static bool set_typed(struct object *o, struct member *m, const struct text *t)
{
	const cleat_json *schema = property(o, m->name);
	const char *type = cleat_json_str(cleat_json_get(schema, "type"), ""), *why = NULL;
	enum cleat_json_type given;

	if (strcmp(type, "array") == 0 &&
	    !(is_json(t->p ? t->p : "", t->n, &given) && given == CLEAT_JSON_ARRAY && !m->list)) {
		schema = argument_schema(o->schema, cleat_json_get(schema, "items"));
		if (m->list)
			text_puts(&m->value, ",");
		m->list = true;
	}
	if (argument_value(&m->value, schema, t->p ? t->p : "", t->n, &why))
		return true;
	return refuse(o, m->name, why);
}

static bool set(struct object *o, const char *word, size_t n, bool json, const char *value)
{
	struct member *m = find(o, word, n);
	struct text t = { 0 };
	bool good = true;

	if (!m)
		m = add(o, word, n);
	else if (!m->list || json)
		return refuse(o, m->name, "is given twice");
	if (m->value.n == 0)
		good = is_known(o, m->name);
	good = good && load(o, m->name, value, &t) &&
	       (json ? set_json(o, m, &t) : set_typed(o, m, &t));
	text_free(&t);
	return good;
}

/* Members of a JSON object, from a word or from stdin. */
static bool set_object(struct object *o, const char *word)
{
	bool from_stdin = strcmp(word, "-") == 0;
	struct text t = { 0 };
	cleat_doc *doc = NULL;
	cleat_error err = { 0 };
	cleat_json_iter it;

	if (from_stdin && !text_read(&t, "-", FILE_MAX))
		snprintf(err.message, sizeof err.message, "%s", strerror(errno));
	else
		doc = cleat_doc_parse(from_stdin ? text_str(&t) : word,
				      from_stdin ? t.n : strlen(word), NULL, NULL, &err);
	text_free(&t);
	if (!doc || cleat_json_type(cleat_doc_root(doc)) != CLEAT_JSON_OBJECT) {
		o->code = cli_error(
			o->cli, EXIT_USAGE, "%s: the arguments%s are no JSON object%s%s", o->what,
			from_stdin ? " on stdin" : "", doc ? "" : ": ", doc ? "" : err.message);
		cleat_doc_free(doc);
		return false;
	}
	it = cleat_json_each(cleat_doc_root(doc));
	while (cleat_json_next(&it)) {
		size_t n;
		const char *name = cleat_json_strn(it.key, &n);
		char *value = cleat_json_print(it.value, NULL);

		text_puts(&add(o, name, n)->value, value ? value : "null");
		free(value);
	}
	cleat_doc_free(doc);
	return true;
}

static bool take(struct object *o, const char *word)
{
	size_t n = strcspn(word, "=");
	bool json = n && word[n] && word[n - 1] == ':';

	if (word[0] == '{' || strcmp(word, "-") == 0)
		return set_object(o, word);
	if (n && word[n])
		return set(o, word, n - json, json, word + n + 1);
	o->code = cli_error(o->cli, EXIT_USAGE,
			    "%s: \"%s\" is no argument: write key=value, key:=json, key=@file, "
			    "a JSON object or - (stdin)",
			    o->what, word);
	return false;
}

/* ---- checking the whole -------------------------------------------------------------------------- */

static bool has_all(struct object *o)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(o->schema, "required"));

	while (cleat_json_next(&it)) {
		const char *name = cleat_json_str(it.value, NULL);

		if (!name || find(o, name, strlen(name)))
			continue;
		o->code = cli_error(o->cli, EXIT_USAGE, "%s: missing argument \"%s\" (%s)", o->what,
				    name, argument_type(property(o, name)));
		return false;
	}
	return true;
}

static char *join(struct object *o)
{
	struct text t = { 0 };

	text_puts(&t, "{");
	for (size_t i = 0; i < o->n; i++) {
		if (i)
			text_puts(&t, ",");
		text_json(&t, o->members[i].name, strlen(o->members[i].name));
		text_printf(&t, ":%s%s%s", o->members[i].list ? "[" : "",
			    text_str(&o->members[i].value), o->members[i].list ? "]" : "");
	}
	text_puts(&t, "}");
	return text_take(&t);
}

/* By the whole schema. One that cannot be used is the server's fault, and it may know better. */
static bool fits(struct object *o, const char *text)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(text, strlen(text), NULL, NULL, &err);
	cleat_schema *schema = NULL;
	bool good = doc != NULL;

	if (good && o->schema) {
		schema = cleat_schema_new(o->schema, NULL, &err);
		if (!schema && o->cli->verbose)
			cli_note(o->cli, "%s: its schema cannot be used: %s", o->what, err.message);
		good = !schema ||
		       cleat_schema_check(schema, cleat_doc_root(doc), &err) != CLEAT_EINVAL;
	}
	if (!good)
		o->code = cli_error(o->cli, EXIT_USAGE, "%s: %s", o->what, err.message);
	cleat_schema_free(schema);
	cleat_doc_free(doc);
	return good;
}

char *cli_arguments(struct cli *cli, const char *what, int argc, const char **argv,
		    const cleat_json *schema, int *ret_code)
{
	struct object o = { .cli = cli, .what = what, .schema = schema, .code = EXIT_GOOD };
	char *text = NULL;
	int i = 0;

	while (i < argc && take(&o, argv[i]))
		i++;
	if (i == argc && has_all(&o)) {
		text = join(&o);
		if (!fits(&o, text)) {
			free(text);
			text = NULL;
		}
	}
	for (size_t k = 0; k < o.n; k++)
		text_free(&o.members[k].value);
	free(o.members);
	*ret_code = o.code;
	return text;
}
