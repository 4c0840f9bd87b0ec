/* program/serve/kit/tool.c - see tool.h. */
#include "serve/kit/tool.h"

#include "base/mem.h"
#include "field/field.h"
#include "field/signature.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/parse.h"
#include "json/writer.h"

enum { SCHEMA_MAX = 4 << 20 };

/* ---- schemas ---- */

static const char *tool_finish(struct draft *b, struct buf *out)
{
	char *text = NULL;

	if (buf_status(out) == CLEAT_ENOMEM)
		conf_no_memory(b->conf);
	else if (buf_status(out))
		conf_problem(b->conf, NULL, "the schema of a tool: %s",
			     cleat_strstatus(buf_status(out)));
	else
		text = arena_strndup(conf_scratch(b->conf), buf_str(out).p, buf_size(out));
	buf_done(out);
	return text;
}

const char *tool_fields(struct draft *b, const cleat_json *at, bool form)
{
	const cleat_field *fields;
	cleat_error err = { 0 };
	struct buf out;
	struct jw w;
	int rc = signature_parse_args(conf_scratch(b->conf), cleat_json_str(at, ""), &fields, &err);

	if (!rc && form)
		rc = field_form_check(fields, &err);
	if (rc) {
		conf_problem(b->conf, at, "%s", err.message);
		return NULL;
	}
	buf_init(&out, &b->rt->mem, SCHEMA_MAX);
	jw_init(&w, &out);
	field_write_schema(&w, fields, form ? FIELD_SCHEMA_FORM : FIELD_SCHEMA_ARGUMENTS);
	return tool_finish(b, &out);
}

/* A schema of an object that does not say so is one all the same. */
static const char *object_schema(struct draft *b, const cleat_json *v)
{
	cleat_json_iter it = cleat_json_each(v);
	struct buf out;
	struct jw w;

	buf_init(&out, &b->rt->mem, SCHEMA_MAX);
	jw_init(&w, &out);
	jw_obj(&w);
	if (!cleat_json_get(v, "type"))
		jw_kv_str(&w, "type", "object");
	while (cleat_json_next(&it)) {
		jw_keyn(&w, json_str(it.key));
		jw_value(&w, it.value);
	}
	jw_obj_end(&w);
	return tool_finish(b, &out);
}

/* {"path": "string"} or {"path": {"type": "string"}}: arguments without the schema around them. As a schema it
 * would mean nothing at all. */
static bool is_bare(const cleat_json *v)
{
	static const char *const keywords[] = { "$ref",       "$schema",  "additionalProperties",
						"allOf",      "anyOf",    "oneOf",
						"properties", "required", "type" };

	for (size_t i = 0; i < CLEAT_COUNT(keywords); i++)
		if (cleat_json_get(v, keywords[i]))
			return false;
	return cleat_json_size(v) > 0;
}

static const char *schema_of(struct draft *b, const cleat_json *v)
{
	const cleat_json *type = cleat_json_get(v, "type");

	if (json_is_object(v) && is_bare(v)) {
		conf_problem(
			b->conf, v,
			"a JSON Schema has \"properties\": {...} around them; or write a text, "
			"as in \"path: string, depth: integer = 1\"");
		return NULL;
	}

	if (type && strcmp(cleat_json_str(type, ""), "object") != 0) {
		conf_problem(b->conf, type,
			     "expected \"object\": arguments and results have names");
		return NULL;
	}
	return json_is_object(v) ? object_schema(b, v) : tool_fields(b, v, false);
}

/* ---- description ---- */

static int8_t hint(const cleat_json *hints, const char *name)
{
	const cleat_json *v = cleat_json_get(hints, name);

	return !v ? CLEAT_UNSET : cleat_json_bool(v, false) ? CLEAT_YES : CLEAT_NO;
}

const cleat_icon *tool_icons(struct draft *b, const cleat_json *list)
{
	size_t n = cleat_json_size(list);
	cleat_icon *icons =
		list ? arena_zalloc(conf_scratch(b->conf), (n + 1) * sizeof *icons) : NULL;
	cleat_json_iter it = cleat_json_each(list);

	while (icons && cleat_json_next(&it))
		icons[it.index] = (cleat_icon){
			.src = conf_shown(b->conf, cleat_json_get(it.value, "src"), NULL),
			.mime_type = conf_text(b->conf, cleat_json_get(it.value, "mimeType"), NULL),
			.sizes = conf_text(b->conf, cleat_json_get(it.value, "sizes"), NULL),
			.theme = conf_text(b->conf, cleat_json_get(it.value, "theme"), NULL),
		};
	return icons;
}

bool tool_describe(struct draft *b, const char *name, const cleat_json *node, cleat_tool *ret)
{
	const cleat_json *args = cleat_json_get(node, "args");
	const cleat_json *output = cleat_json_get(node, "outputSchema");
	const cleat_json *meta = cleat_json_get(node, "meta");
	const cleat_json *hints = cleat_json_get(node, "hints");

	*ret = (cleat_tool){
		.name = name,
		.title = conf_shown(b->conf, cleat_json_get(node, "title"), NULL),
		.description = conf_shown(b->conf, cleat_json_get(node, "description"), NULL),
		.input_schema =
			args ? schema_of(b, args) : "{\"type\":\"object\",\"properties\":{}}",
		.output_schema = output ? schema_of(b, output) : NULL,
		.read_only = hint(hints, "read_only"),
		.destructive = hint(hints, "destructive"),
		.idempotent = hint(hints, "idempotent"),
		.open_world = hint(hints, "open_world"),
		.icons = tool_icons(b, cleat_json_get(node, "icons")),
		.meta = meta ? json_text(conf_scratch(b->conf), meta).p : NULL,
	};
	return ret->input_schema && (!output || ret->output_schema);
}

/* ---- names of arguments ---- */

/* cleat_tool has schemas as text. */
static const cleat_json *parsed(struct draft *b, const char *schema)
{
	const cleat_json *v = NULL;

	if (schema)
		(void)json_parse(conf_scratch(b->conf), str_of(schema), NULL, &v, NULL);
	return v;
}

static void put_properties(struct draft *b, struct build *to, const char *schema)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(parsed(b, schema), "properties"));

	while (cleat_json_next(&it)) {
		build_key(to, json_str(it.key));
		build_value(to, it.value);
	}
}

/* What the properties refer to. */
static void put_definitions(struct draft *b, struct build *to, const char *schema)
{
	static const char *const names[] = { "$defs", "definitions" };
	const cleat_json *v = parsed(b, schema);

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		if (cleat_json_get(v, names[i])) {
			build_keyz(to, names[i]);
			build_value(to, cleat_json_get(v, names[i]));
		}
}

const cleat_json *tool_arguments(struct draft *b, const cleat_json *node, const cleat_tool *t)
{
	const cleat_json *fields = cleat_json_get(cleat_json_get(node, "ask"), "fields");
	const cleat_json *ret = NULL;
	struct build all;

	build_init(&all, conf_scratch(b->conf));
	build_obj(&all);
	build_keyz(&all, "properties");
	build_obj(&all);
	put_properties(b, &all, t->input_schema);
	if (fields)
		put_properties(b, &all, tool_fields(b, fields, true));
	build_end(&all);
	put_definitions(b, &all, t->input_schema);
	build_end(&all);
	(void)build_finish(&all, &ret, NULL); /* an arena that has failed says so by itself */
	return ret ? ret : json_empty_object();
}

/* ---- limits ---- */

struct tool_limits tool_limits(struct draft *b, const cleat_json *node)
{
	const struct tool_limits usual = { .timeout_ms = 30000,
					   .output_max = 1 << 20,
					   .concurrency = 4 };
	const cleat_json *timeout = cleat_json_get(node, "timeout");
	const cleat_json *output = cleat_json_get(node, "output_limit");
	const cleat_json *width = cleat_json_get(node, "concurrency");
	uint64_t n;

	if (!timeout)
		timeout = draft_default(b, "timeout");
	if (!output)
		output = draft_default(b, "output_limit");
	if (!width)
		width = draft_default(b, "concurrency");
	n = cleat_json_uint(width, usual.concurrency);
	return (struct tool_limits){
		.timeout_ms = conf_timeout(b->conf, timeout, usual.timeout_ms),
		.output_max = conf_bytes(b->conf, output, usual.output_max),
		.concurrency = n > 0 && n <= 10000 ? (unsigned)n : usual.concurrency,
	};
}
