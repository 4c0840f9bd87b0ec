/* program/serve/config/conf_check.c - a file against the schema of configurations (docs/serve.schema.json, built in).
 *
 * The schema says what is there and of which type; what a text means (a time, a variable, a signature) is
 * said by whoever reads it, in better words than a pattern's.
 */
#include "serve/config/conf_impl.h"

#include "base/mem.h"
#include "wording/show.h"
#include "json/node.h"
#include "json/parse.h"

/* Made by cmake/embed.cmake. */
extern const unsigned char serve_schema_text[];
extern const unsigned long serve_schema_text_size;

const char *conf_schema(void)
{
	return (const char *)serve_schema_text;
}

enum { TOLD_MAX = 10 }; /* problems that cleat_schema_explain() tells */

struct schema_report {
	struct conf *c;
	struct conf_file *f;
	size_t told;
};

/* The next part of a JSON Pointer, decoded into buf; false: there is none. */
static bool next_token(const char **p, char *buf, size_t size, struct str *ret)
{
	size_t n = 0;

	if (**p != '/')
		return false;
	for (++*p; **p && **p != '/'; ++*p) {
		char c = **p;

		if (c == '~' && ((*p)[1] == '0' || (*p)[1] == '1'))
			c = *++*p == '0' ? '~' : '/';
		if (n < size)
			buf[n++] = c;
	}
	*ret = (struct str){ buf, n };
	return true;
}

static const cleat_json *element(const cleat_json *v, struct str token)
{
	size_t i = 0;

	for (size_t k = 0; k < token.n; k++)
		i = i * 10 + (size_t)(token.p[k] - '0');
	return cleat_json_at(v, i);
}

/* The value at a pointer, or the last one on the way that is there. */
static const cleat_json *conf_check_resolve(const cleat_json *v, const char *pointer)
{
	char token[256];
	struct str s;

	while (next_token(&pointer, token, sizeof token, &s)) {
		const cleat_json *next = json_is_array(v) ? element(v, s) : json_get(v, s);

		if (!next)
			break;
		v = next;
	}
	return v;
}

/* The key of a member whose value this is; the value itself where there is none. */
static const cleat_json *key_of(const struct conf_file *f, const cleat_json *v)
{
	const yyjson_val *at = node_of(f->root);

	while (at != node_of(v)) {
		cleat_json_iter it = cleat_json_each(node_json(at));

		while (cleat_json_next(&it) && node_of(v) >= node_next(node_of(it.value)))
			;
		if (!it.value)
			return v;
		if (it.value == v && it.key)
			return it.key;
		at = node_of(it.value);
	}
	return v;
}

/* The line, without the value where that may be a secret which is in the wrong place. */
static const char *without_secret(struct conf *c, const cleat_schema_problem *p)
{
	const char *got = strstr(p->line, ", got ");
	const char *cut;

	if (strncmp(p->path, "/secrets/", 9) != 0 || !got)
		return p->line;
	cut = arena_printf(
		&c->arena, "%.*s%s", (int)(got - p->line), p->line,
		strchr(p->path + 9, '/') ? "" : ": {\"env\": \"NAME\"} or {\"file\": \"PATH\"}");
	return cut ? cut : "";
}

/* What people write who know other programs' files. */
static const struct advice {
	const char *section, *key; /* NULL: the section's value itself */
	enum cleat_json_type got;
	const char *words;
} advices[] = {
	{ "tools", "cmd", CLEAT_JSON_STRING,
	  "write a list of words, as in [\"rm\", \"--\", \"{path}\"], or a script as \"sh\"" },
	{ "tools", "sh", CLEAT_JSON_ARRAY, "a list of words is \"cmd\"" },
	{ "tools", "sandbox", CLEAT_JSON_BOOL,
	  "write what it may touch, as in {\"read\": [\"./docs\"]}; false is no sandbox" },
	{ "tools", NULL, CLEAT_JSON_STRING, "write {\"sh\": ...} or {\"cmd\": [...]}" },
	{ "folders", NULL, CLEAT_JSON_STRING, "write {\"path\": ...}" },
	{ "databases", NULL, CLEAT_JSON_STRING, "write {\"file\": ...}" },
	{ "openapi", NULL, CLEAT_JSON_STRING, "write {\"file\": ...}" },
	{ "resources", NULL, CLEAT_JSON_STRING, "write {\"text\": ...} or {\"file\": ...}" },
	{ "prompts", NULL, CLEAT_JSON_STRING, "write {\"text\": ...} or {\"file\": ...}" },
};

/* A member of an unknown tool, and nothing that says what the tool does. */
static const char *advice_about_tool(const struct schema_report *r, struct str name)
{
	static const char *const kinds[] = { "cmd", "sh", "http", "sql" };
	const cleat_json *tool = json_get(cleat_json_get(r->f->root, "tools"), name);

	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++)
		if (cleat_json_get(tool, kinds[i]))
			return NULL;
	return "a tool has one of \"cmd\", \"sh\", \"http\" and \"sql\"";
}

/* How it would be right, where the schema's own words do not say it; NULL. */
static const char *advice(const struct schema_report *r, const char *path, const cleat_json *at,
			  bool unknown)
{
	char text[3][256];
	struct str part[3] = { { NULL, 0 } };
	size_t n = 0;

	while (n < 3 && next_token(&path, text[n], sizeof text[n], &part[n]))
		n++;
	if (*path || n < 2)
		return NULL;
	if (unknown)
		return n == 3 && str_eqz(part[0], "tools") ? advice_about_tool(r, part[1]) : NULL;
	for (size_t i = 0; i < CLEAT_COUNT(advices); i++) {
		const struct advice *a = &advices[i];

		if (str_eqz(part[0], a->section) && cleat_json_type(at) == a->got &&
		    (a->key ? n == 3 && str_eqz(part[2], a->key) : n == 2))
			return a->words;
	}
	return NULL;
}

static void on_problem(void *ctx, const cleat_schema_problem *p)
{
	struct schema_report *r = ctx;
	const cleat_json *at = p->value ? p->value : conf_check_resolve(r->f->root, p->path);
	const char *keyword = strrchr(p->schema_path, '/');
	const char *words, *line;
	bool unknown;

	r->c->unsaid += ++r->told == TOLD_MAX; /* there may be more */
	if (r->c->n_problems == CONF_PROBLEMS_MAX) {
		r->c->unsaid++;
		return;
	}
	unknown = keyword && strcmp(keyword, "/additionalProperties") == 0;
	words = advice(r, p->path, at, unknown);
	line = without_secret(r->c, p);
	if (words)
		line = arena_printf(&r->c->arena, "%s (%s)", line, words);
	if (unknown)
		at = key_of(r->f, at);
	conf_add_problem(r->c, conf_where(r->c, at), line ? line : "");
}

static bool load_schema(struct conf *c)
{
	const cleat_schema_options opts = { .allocator = &c->mem };
	cleat_error err = { 0 };

	if (!c->schema)
		c->schema = cleat_schema_parse((const char *)serve_schema_text,
					       serve_schema_text_size, &opts, &err);
	if (!c->schema && err.status == CLEAT_ENOMEM)
		c->no_memory = true;
	else if (!c->schema)
		conf_add_problem(c, "the schema of configurations", err.message);
	return c->schema != NULL;
}

/* The library would say so, too, but of the whole object. */
static bool check_duplicates(struct conf *c, const struct conf_file *f)
{
	bool any = false;

	for (const yyjson_val *v = node_of(f->root); v < node_of(f->root) + f->count; v++) {
		const cleat_json *key =
			node_is_container(v) ? cleat_json_duplicate(node_json(v)) : NULL;

		if (key)
			conf_problem(c, key, "appears here for the second time");
		any |= key != NULL;
	}
	return any;
}

void conf_check(struct conf *c, struct conf_file *f)
{
	struct schema_report r = { .c = c, .f = f };
	cleat_error err = { 0 };
	int rc;

	if (check_duplicates(c, f) || !load_schema(c))
		return;
	rc = cleat_schema_explain(c->schema, f->root, on_problem, &r, &err);
	if (rc == CLEAT_ENOMEM)
		c->no_memory = true;
	else if (rc && rc != CLEAT_EINVAL)
		conf_add_problem(c, conf_place(c, f, 0, 0), err.message);
}
