/* program/cli/arguments.c - words of a command line to a JSON value, by a schema.
 *
 *	key=value    by the schema: a number where it wants one, otherwise text
 *	key:=json    JSON as it is
 *	key=@file    the text of a file; key:=@file: its JSON
 *	key=a key=b  an array, where the schema wants one
 *	{...}        members of an object; "-": the same from stdin
 *
 * What the schema does not allow is said before anything is sent.
 */
#include "cli/arguments.h"
#include "text/nearest.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 16 << 20, MOST_NAMES = 256 };

/* ---- one value ----------------------------------------------------------------------------------- */

static bool is_text(const cleat_json *v, const char *value, size_t n)
{
	size_t length = 0;
	const char *s = cleat_json_strn(v, &length);
	char *text = s ? NULL : cleat_json_print(v, &length);
	bool same = length == n && (s || text) && memcmp(s ? s : text, value, n) == 0;

	free(text);
	return same;
}

/* The one of these values that the text is, as a JSON string or as it is; NULL: none. */
static const cleat_json *choose(const cleat_json *list, bool consts, const char *value, size_t n)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it)) {
		const cleat_json *v = consts ? cleat_json_get(it.value, "const") : it.value;

		if (is_text(v, value, n))
			return v;
	}
	return NULL;
}

/* true, yes: 1; false, no: 0; anything else: -1. */
static int boolean(const char *value, size_t n)
{
	static const char *const names[] = { "false", "true", "no", "yes" };

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], value, n) == 0)
			return i % 2;
	return -1;
}

static bool allows_type(const cleat_json *root, const cleat_json *schema, const cleat_json *v)
{
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_NUMBER: return argument_allows_number(root, schema);
	case CLEAT_JSON_BOOL: return argument_allows(root, schema, "boolean");
	case CLEAT_JSON_NULL: return argument_allows(root, schema, "null");
	case CLEAT_JSON_ARRAY: return argument_allows(root, schema, "array");
	case CLEAT_JSON_OBJECT: return argument_allows(root, schema, "object");
	default: return false;
	}
}

/* Text that is JSON which the schema's types let through as it is; NULL: it is none. */
static cleat_doc *as_json(const cleat_json *root, const cleat_json *schema, const char *value,
			  size_t n)
{
	cleat_doc *doc = cleat_doc_parse(value, n, NULL, NULL, NULL);

	if (allows_type(root, schema, cleat_doc_root(doc)))
		return doc;
	cleat_doc_free(doc);
	return NULL;
}

static cleat_doc *unfit(const char **why, const cleat_json *schema, bool list, const char *value,
			size_t n)
{
	const char *type = argument_type(schema);

	*why = keepf("must be %s%s, not \"%.*s\"",
		     list                       ? "one of "
		     : strchr("aeiou", type[0]) ? "an "
						: "a ",
		     type, (int)(n > 100 ? 100 : n), value);
	return NULL;
}

static cleat_doc *as_text(const char *value, size_t n, const char **why)
{
	cleat_build *b = cleat_build_new(NULL);

	if (utf8_valid_prefix((struct str){ value, n }) < n) {
		cleat_build_free(b);
		*why = "must be text in UTF-8; send bytes as base64 where the tool takes that";
		return NULL;
	}
	cleat_build_strn(b, NULL, value, n);
	return cleat_build_finish(b, NULL);
}

cleat_doc *argument_value(const cleat_json *root, const cleat_json *schema, const char *value,
			  size_t n, const char **why)
{
	const cleat_json *plain = argument_schema(root, schema);
	bool consts, text = argument_is_text(root, schema),
		     may_be_text = text || argument_allows(root, schema, "string");
	const cleat_json *list = argument_choices(plain, &consts);
	const cleat_json *chosen = list ? choose(list, consts, value, n) : NULL;
	cleat_doc *doc;
	int b = boolean(value, n);

	*why = "cannot be kept: out of memory";
	if (chosen)
		return cleat_doc_newf(NULL, "%p", (const void *)chosen);
	if (list &&
	    !(n == 4 && memcmp(value, "null", 4) == 0 && argument_allows(root, schema, "null")))
		return unfit(why, plain, true, value, n);
	doc = list || !text ? as_json(root, schema, value, n) : NULL;
	if (doc)
		return doc;
	if (may_be_text)
		return as_text(value, n, why);
	if (b >= 0 && argument_allows(root, schema, "boolean"))
		return cleat_doc_newf(NULL, "%hhd", (signed char)b);
	return unfit(why, plain, false, value, n);
}

/* ---- the object ---------------------------------------------------------------------------------- */

/* A value, or one of the elements of an array. */
struct given {
	struct given *next;
	const cleat_json *value;
};

struct member {
	const char *name;
	struct given *first, *last;
	bool list;  /* they are the elements of an array */
	bool whole; /* JSON: nothing can be added */
};

struct owned {
	struct owned *next;
	cleat_doc *doc;
};

struct object {
	struct cli *cli;
	const char *what; /* the tool */
	const cleat_json *schema;
	struct member *members;
	size_t n, cap;
	struct owned *docs; /* what the values belong to */
	int code;
};

/* The document lives as long as the object. */
static const cleat_json *own(struct object *o, cleat_doc *doc)
{
	struct owned *d = keep_alloc(sizeof *d);

	*d = (struct owned){ o->docs, doc };
	o->docs = d;
	return cleat_doc_root(doc);
}

static void give(struct member *m, const cleat_json *value)
{
	struct given *g = keep_alloc(sizeof *g);

	g->value = value;
	if (m->last)
		m->last->next = g;
	else
		m->first = g;
	m->last = g;
}

static bool arguments_refuse(struct object *o, const char *name, const char *why)
{
	o->code = cli_error(o->cli, EXIT_USAGE, "%s: argument \"%s\" %s", o->what, name, why);
	return false;
}

static struct member *arguments_find(struct object *o, const char *name, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (strlen(o->members[i].name) == n && memcmp(o->members[i].name, name, n) == 0)
			return &o->members[i];
	return NULL;
}

static const cleat_json *property(const struct object *o, const char *name)
{
	const cleat_json *own = cleat_json_get(cleat_json_get(o->schema, "properties"), name);
	const cleat_json *others = cleat_json_get(o->schema, "additionalProperties");

	return own ? own : cleat_json_type(others) == CLEAT_JSON_OBJECT ? others : NULL;
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
	near = nearest(name, names, n);
	if (near)
		o->code = cli_error(o->cli, EXIT_USAGE,
				    "%s: there is no argument \"%s\", did you mean \"%s\"?",
				    o->what, name, near);
	else
		o->code = cli_error(o->cli, EXIT_USAGE, "%s: there is no argument \"%s\"", o->what,
				    name);
	return false;
}

static struct member *arguments_add(struct object *o, const char *name, size_t n)
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
static bool arguments_load(struct object *o, const char *name, const char *value, struct text *t)
{
	if (value[0] != '@') {
		text_puts(t, value);
		return true;
	}
	if (text_read(t, value + 1, FILE_MAX))
		return true;
	return arguments_refuse(o, name,
				keepf("cannot be read from %s: %s", value + 1, strerror(errno)));
}

static bool set_json(struct object *o, struct member *m, const struct text *t)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(t->p ? t->p : "", t->n, NULL, NULL, &err);

	if (!doc)
		return arguments_refuse(o, m->name, keepf("is no JSON: %s", err.message));
	give(m, own(o, doc));
	m->whole = true;
	return true;
}

/* A value, or the first or next element of an array. */
static bool set_typed(struct object *o, struct member *m, const struct text *t)
{
	const cleat_json *schema = property(o, m->name);
	const char *value = t->p ? t->p : "", *why = NULL;
	cleat_doc *doc = NULL;

	if (m->first) {
		m->list = true;
	} else if (argument_is_list(o->schema, schema)) {
		doc = as_json(o->schema, schema, value, t->n); /* [1, 2], null */
		m->whole = doc != NULL;
		m->list = !m->whole;
	}
	if (m->list)
		schema = argument_items(o->schema, schema);
	if (!doc)
		doc = argument_value(o->schema, schema, value, t->n, &why);
	if (!doc)
		return arguments_refuse(o, m->name, why);
	give(m, own(o, doc));
	return true;
}

static bool set(struct object *o, const char *word, size_t n, bool json, const char *value)
{
	struct member *m = arguments_find(o, word, n);
	struct text t = { 0 };
	bool good = true;

	if (m && (json || m->whole || !o->schema ||
		  !argument_allows(o->schema, property(o, m->name), "array")))
		return arguments_refuse(o, m->name, "is given twice");
	if (!m) {
		m = arguments_add(o, word, n);
		good = is_known(o, m->name);
	}
	good = good && arguments_load(o, m->name, value, &t) &&
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
		o->code = cli_error(o->cli, EXIT_USAGE,
				    "%s: the arguments%s are not a JSON object%s%s", o->what,
				    from_stdin ? " on stdin" : "", doc ? "" : ": ",
				    doc ? "" : err.message);
		cleat_doc_free(doc);
		return false;
	}
	it = cleat_json_each(own(o, doc));
	while (cleat_json_next(&it)) {
		size_t n;
		const char *name = cleat_json_strn(it.key, &n);
		bool twice = arguments_find(o, name, n) != NULL;
		struct member *m;

		if (twice || memchr(name, 0, n))
			return arguments_refuse(o, keepf("%.*s", (int)n, name),
						twice ? "is given twice" : "has a NUL in its name");
		m = arguments_add(o, name, n);
		m->whole = true;
		give(m, it.value);
	}
	return true;
}

static bool cli_arguments_take(struct object *o, const char *word)
{
	size_t n = strcspn(word, "=");
	bool json = n && word[n] && word[n - 1] == ':';

	if (word[0] == '{' || strcmp(word, "-") == 0)
		return set_object(o, word);
	if (n && word[n])
		return set(o, word, n - json, json, word + n + 1);
	o->code = cli_error(o->cli, EXIT_USAGE,
			    "%s: \"%s\" is not an argument: write key=value, key:=json, key=@file, "
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

		if (!name || arguments_find(o, name, strlen(name)))
			continue;
		o->code = cli_error(o->cli, EXIT_USAGE, "%s: missing argument \"%s\" (%s)", o->what,
				    name,
				    argument_type(argument_schema(o->schema, property(o, name))));
		return false;
	}
	return true;
}

static cleat_doc *join(const struct object *o, cleat_error *err)
{
	cleat_build *b = cleat_build_new(NULL);

	cleat_build_object(b, NULL);
	for (size_t i = 0; i < o->n; i++) {
		const struct member *m = &o->members[i];

		if (m->list)
			cleat_build_array(b, m->name);
		for (const struct given *g = m->first; g; g = g->next)
			cleat_build_value(b, m->list ? NULL : m->name, g->value);
		if (m->list)
			cleat_build_end(b);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, err);
}

/* By the whole schema. One that cannot be used is the server's fault, and it may know better. */
static bool fits(const struct object *o, const cleat_json *value, cleat_error *err)
{
	cleat_schema *schema = o->schema ? cleat_schema_new(o->schema, NULL, err) : NULL;
	bool good = !schema || cleat_schema_check(schema, value, err) != CLEAT_EINVAL;

	if (o->schema && !schema && o->cli->verbose)
		cli_note(o->cli, "%s: its schema cannot be used: %s", o->what, err->message);
	cleat_schema_free(schema);
	return good;
}

static cleat_doc *made(struct object *o)
{
	cleat_error err;
	cleat_doc *doc = join(o, &err);

	if (doc && fits(o, cleat_doc_root(doc), &err))
		return doc;
	o->code = cli_error(o->cli, EXIT_USAGE, "%s: %s", o->what, err.message);
	cleat_doc_free(doc);
	return NULL;
}

cleat_doc *cli_arguments(struct cli *cli, const char *what, int argc, const char **argv,
			 const cleat_json *schema, int *ret_code)
{
	struct object o = { .cli = cli, .what = what, .schema = schema, .code = EXIT_GOOD };
	cleat_doc *doc = NULL;
	int i = 0;

	while (i < argc && cli_arguments_take(&o, argv[i]))
		i++;
	if (i == argc && has_all(&o))
		doc = made(&o);
	for (struct owned *d = o.docs; d; d = d->next)
		cleat_doc_free(d->doc);
	free(o.members);
	*ret_code = o.code;
	return doc;
}
