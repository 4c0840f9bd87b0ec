/* client/toolbook.c - see toolbook.h. A hash table of tools; each has an arena of its own, in which it
 * lies itself, so that replacing one frees all that was known of it.
 *
 * What is kept of a tool is its name, the paths of the arguments that go into headers and the text of
 * its outputSchema; not its description, nor what a program gets from tools/list anyway.
 */
#include "client/toolbook.h"

#include "base/error.h"
#include "base/mem.h"
#include "client/result.h"
#include "protocol/headers.h"
#include "schema/check.h"
#include "json/copy.h"
#include "json/parse.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	BUCKETS = 1024,
	TOOLS_MAX = 10000,
	BYTES_MAX = 16 << 20,
	FIRST_CHUNK = 512 - 64,
	PROBLEMS_MAX = 8192,
	STEPS_MAX = 10 * 1000 * 1000, /* a result may be as large as a message */
	SHOWN = 60
};

/* 2026-07-28 streamable-http, Schema Extension: what JavaScript counts exactly. */
static const int64_t safe_integer = (INT64_C(1) << 53) - 1;

struct tool {
	struct tool *chain;
	struct arena arena;
	struct str name;
	uint32_t hash;
	uint64_t round; /* the list it was last seen in */
	const char *refused;
	struct header_param *params; /* in the order of the schema */
	struct str output;           /* text of outputSchema; absent: none, or it is not usable */
	cleat_schema *compiled;
};

struct toolbook {
	struct toolbook_options opts;
	cleat_allocator mem;
	uint32_t seed;
	uint64_t round;
	size_t count, bytes;
	struct tool *buckets[BUCKETS];
};

/* ---- the table -------------------------------------------------------------------------------- */

struct toolbook *toolbook_new(const struct toolbook_options *o)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct toolbook *b = mem_zalloc(&mem, sizeof *b);

	if (!b)
		return NULL;
	b->opts = *o;
	b->mem = mem;
	b->seed = (uint32_t)((uintptr_t)b >> 4); /* a server cannot choose colliding names */
	return b;
}

static void discard(struct tool *t)
{
	struct arena ar = t->arena;

	cleat_schema_free(t->compiled);
	arena_done(&ar);
}

static struct tool **place(const struct toolbook *b, struct str name)
{
	uint32_t hash = str_hash(name, b->seed);
	struct tool **at = (struct tool **)&b->buckets[hash % BUCKETS];

	while (*at && !((*at)->hash == hash && str_eq((*at)->name, name)))
		at = &(*at)->chain;
	return at;
}

static void toolbook_drop(struct toolbook *b, struct tool **at)
{
	struct tool *t = *at;

	*at = t->chain;
	b->count--;
	b->bytes -= t->arena.total;
	discard(t);
}

static void drop_others(struct toolbook *b, uint64_t round)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct tool **at = &b->buckets[i]; *at;)
			if ((*at)->round != round)
				toolbook_drop(b, at);
			else
				at = &(*at)->chain;
}

void toolbook_clear(struct toolbook *b)
{
	drop_others(b, ++b->round);
}

void toolbook_free(struct toolbook *b)
{
	cleat_allocator mem;

	if (!b)
		return;
	toolbook_clear(b);
	mem = b->mem;
	mem_free(&mem, b);
}

void toolbook_begin(struct toolbook *b)
{
	b->round++;
}

void toolbook_end(struct toolbook *b)
{
	drop_others(b, b->round);
}

bool toolbook_knows(const struct toolbook *b, struct str name)
{
	return *place(b, name) != NULL;
}

bool toolbook_refused(const struct toolbook *b, struct str name, cleat_error *err)
{
	const struct tool *t = *place(b, name);

	if (!t || !t->refused)
		return false;
	error_set(err, CLEAT_EINVAL, "%s", t->refused);
	return true;
}

/* ---- learning --------------------------------------------------------------------------------- */

static int toolbook_no_memory(cleat_error *err)
{
	return error_set(err, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
}

static int shown(struct str s)
{
	return (int)(s.n < SHOWN ? s.n : SHOWN);
}

static struct str copy_str(struct arena *ar, struct str s)
{
	return (struct str){ arena_strndup(ar, s.p, s.n), s.n };
}

/* The keys of what header_params_find() gives are the message's; these are the tool's. */
static bool copy_param(struct tool *t, const struct header_param *p)
{
	struct header_param *copy = arena_zalloc(&t->arena, sizeof *copy);

	if (!copy)
		return false;
	copy->field = copy_str(&t->arena, p->field);
	copy->path = arena_zalloc(&t->arena, p->depth * sizeof *copy->path);
	for (; copy->path && copy->depth < p->depth; copy->depth++)
		copy->path[copy->depth] = copy_str(&t->arena, p->path[copy->depth]);
	copy->next = t->params; /* the list came in reverse order */
	t->params = copy;
	return !arena_failed(&t->arena);
}

static int learn_headers(struct tool *t, const cleat_json *schema, cleat_error *err)
{
	struct header_param *params;
	struct arena work;
	cleat_error why;
	int rc;

	arena_init(&work, &t->arena.mem, SIZE_MAX / 2); /* a part of what the message has */
	rc = header_params_find(&work, schema, &params, &why);
	if (rc == CLEAT_EINVAL) {
		error_set(err, rc, "tool \"%.*s\": %s", shown(t->name), t->name.p, why.message);
		t->refused = arena_strdup(&t->arena, err ? err->message : why.message);
	}
	for (; !rc && params; params = params->next)
		if (!copy_param(t, params))
			rc = CLEAT_ENOMEM;
	arena_done(&work);
	return rc == CLEAT_ENOMEM || arena_failed(&t->arena) ? toolbook_no_memory(err) : rc;
}

static bool learn_output(struct tool *t, const cleat_json *schema)
{
	if (!schema || cleat_json_type(schema) == CLEAT_JSON_NULL)
		return true;
	t->output = json_text(&t->arena, schema);
	return t->output.p != NULL;
}

static struct tool *new_tool(struct toolbook *b, struct str name)
{
	struct arena ar;
	struct tool *t;

	arena_init(&ar, &b->mem, SIZE_MAX / 2); /* toolbook_enter() judges */
	ar.first = FIRST_CHUNK;
	t = arena_zalloc(&ar, sizeof *t);
	if (!t)
		return NULL;
	t->arena = ar;
	t->name = copy_str(&t->arena, name);
	t->hash = str_hash(name, b->seed);
	t->round = b->round;
	if (t->name.p)
		return t;
	discard(t);
	return NULL;
}

/* CLEAT_OK and CLEAT_EINVAL: it is in the book. */
static int toolbook_enter(struct toolbook *b, struct tool *t, int rc, cleat_error *err)
{
	struct tool **at;

	if ((rc == CLEAT_OK || rc == CLEAT_EINVAL) &&
	    (b->count == TOOLS_MAX || t->arena.total > BYTES_MAX - b->bytes))
		rc = error_set(
			err, CLEAT_ELIMIT,
			"tool \"%.*s\" is not remembered: the server has more than %d tools, "
			"or their schemas more than %d MiB",
			shown(t->name), t->name.p, TOOLS_MAX, BYTES_MAX >> 20);
	if (rc != CLEAT_OK && rc != CLEAT_EINVAL) {
		discard(t);
		return rc;
	}
	b->count++;
	b->bytes += t->arena.total;
	at = place(b, t->name);
	t->chain = *at;
	*at = t;
	return rc;
}

int toolbook_learn(struct toolbook *b, const cleat_json *tool, cleat_error *err)
{
	struct str name = json_str(json_member(tool, "name"));
	struct tool *t, **old;
	int rc;

	if (!name.n)
		return error_set(err, CLEAT_EINVAL, "an entry of tools/list has no name");
	old = place(b, name);
	if (*old)
		toolbook_drop(b, old);
	t = new_tool(b, name);
	if (!t)
		return toolbook_no_memory(err);
	rc = learn_headers(t, json_member(tool, "inputSchema"), err);
	if (rc != CLEAT_ENOMEM && !learn_output(t, json_member(tool, "outputSchema")))
		rc = toolbook_no_memory(err);
	return toolbook_enter(b, t, rc, err);
}

/* ---- headers ---------------------------------------------------------------------------------- */

static struct str decimal(struct arena *ar, int64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%" PRId64, v);

	return copy_str(ar, (struct str){ text, (size_t)n });
}

/* 2026-07-28 streamable-http, Value Encoding, Type conversion. Absent with *ret_ok: out of memory. */
static struct str header_text(struct arena *ar, const cleat_json *v, bool *ret_ok)
{
	int64_t i = cleat_json_int(v, INT64_MAX);

	*ret_ok = true;
	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: return copy_str(ar, json_str(v));
	case CLEAT_JSON_BOOL: return cleat_json_bool(v, false) ? STR_LIT("true") : STR_LIT("false");
	case CLEAT_JSON_NUMBER:
		if (i >= -safe_integer && i <= safe_integer)
			return decimal(ar, i);
		break;
	default: break;
	}
	*ret_ok = false;
	return (struct str){ 0 };
}

static int header(struct arena *ar, const struct header_param *p, const cleat_json *v,
		  struct http_field *ret, cleat_error *err)
{
	struct str key = p->path[p->depth - 1];
	bool ok;

	ret->value = header_text(ar, v, &ok);
	if (!ok)
		return error_set(
			err, CLEAT_EINVAL,
			"argument \"%.*s\" goes into the header %s and must be a string, a "
			"boolean or an integer of at most 2^53 - 1, not %s",
			shown(key), key.p, p->field.p, json_type_name(v));
	ret->name = copy_str(ar, p->field);
	return ret->name.p && ret->value.p ? CLEAT_OK : toolbook_no_memory(err);
}

int toolbook_fields(struct toolbook *b, struct arena *ar, struct str name, const cleat_json *args,
		    const struct http_field **ret, size_t *ret_n, cleat_error *err)
{
	const struct tool *t = *place(b, name);
	struct http_field *fields;
	size_t n = 0;
	int rc = CLEAT_OK;

	*ret = NULL;
	*ret_n = 0;
	for (const struct header_param *p = t ? t->params : NULL; p; p = p->next)
		n += header_param_value(p, args) != NULL;
	if (!n)
		return CLEAT_OK;
	fields = arena_zalloc(ar, n * sizeof *fields);
	if (!fields)
		return toolbook_no_memory(err);
	for (const struct header_param *p = t->params; p && !rc; p = p->next) {
		const cleat_json *v = header_param_value(p, args);

		if (v)
			rc = header(ar, p, v, &fields[(*ret_n)++], err);
	}
	*ret = rc ? NULL : fields;
	*ret_n = rc ? 0 : n;
	return rc;
}

/* ---- results ---------------------------------------------------------------------------------- */

static void give_up(struct toolbook *b, struct tool *t, const cleat_error *why)
{
	cleat_error text;

	t->output = (struct str){ 0 };
	error_set(
		&text, why->status,
		"the results of tool \"%.*s\" are not checked: its outputSchema cannot be used: %s",
		shown(t->name), t->name.p, why->message);
	if (b->opts.note)
		b->opts.note(b->opts.ctx, CLEAT_LOG_WARNING, text.message);
}

/* CLEAT_OK with t->compiled still NULL: nothing can be checked. */
static int toolbook_compile(struct toolbook *b, struct tool *t)
{
	const cleat_schema_options opts = { .allocator = &b->mem, .max_steps = STEPS_MAX };
	cleat_error why = { 0 };

	if (t->compiled || !t->output.p)
		return CLEAT_OK;
	t->compiled = cleat_schema_parse(t->output.p, t->output.n, &opts, &why);
	if (!t->compiled && why.status == CLEAT_ENOMEM)
		return CLEAT_ENOMEM;
	if (!t->compiled)
		give_up(b, t, &why);
	return CLEAT_OK;
}

/* 2026-07-28 server/tools, Output Schema: "Clients SHOULD validate structured results". */
int toolbook_check(struct toolbook *b, struct str name, const cleat_json *result, cleat_error *err)
{
	const cleat_json *v = json_member(result, "structuredContent");
	struct buf problems = BUF_INIT(&b->mem, PROBLEMS_MAX);
	struct tool *t = *place(b, name);
	int rc;

	if (!t || cleat_json_bool(json_member(result, "isError"), false))
		return CLEAT_OK;
	rc = toolbook_compile(b, t);
	if (rc)
		return toolbook_no_memory(err);
	if (!t->compiled)
		return CLEAT_OK;
	if (!v)
		return error_set(
			err, CLEAT_EPROTO,
			"the tool promises a structured result (outputSchema), but its result "
			"has no structuredContent");
	rc = schema_check(t->compiled, v, "member", &problems);
	if (rc == CLEAT_ENOMEM)
		toolbook_no_memory(err);
	else if (rc)
		rc = result_misfit(err, "structuredContent does not fit the tool's outputSchema",
				   buf_str(&problems));
	buf_done(&problems);
	return rc;
}
