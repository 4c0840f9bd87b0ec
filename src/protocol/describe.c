/* protocol/describe.c - see describe.h. */
#include "protocol/describe.h"

#include "field/field.h"
#include "protocol/content.h"

#include <string.h>

static void icon_sizes(struct jw *w, const char *sizes)
{
	jw_key(w, "sizes");
	jw_arr(w);
	while (*sizes) {
		size_t n = strcspn(sizes, " ");

		if (n)
			jw_str(w, (struct str){ sizes, n });
		sizes += n + (sizes[n] == ' ');
	}
	jw_arr_end(w);
}

static void icons(struct jw *w, unsigned features, const cleat_icon *list)
{
	if (!(features & FEAT_ICONS) || !list || !list->src)
		return;
	jw_key(w, "icons");
	jw_arr(w);
	for (; list->src; list++) {
		jw_obj(w);
		jw_kv_str(w, "src", list->src);
		jw_kv_str(w, "mimeType", list->mime_type);
		if (list->sizes)
			icon_sizes(w, list->sizes);
		jw_kv_str(w, "theme", list->theme);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

static void title(struct jw *w, unsigned features, const char *text)
{
	if (features & FEAT_TITLE)
		jw_kv_str(w, "title", text);
}

static void meta(struct jw *w, unsigned features, const char *json)
{
	if (json && (features & FEAT_META))
		jw_kv_raw(w, "_meta", str_of(json));
}

static void hint(struct jw *w, const char *key, int8_t value)
{
	if (value != CLEAT_UNSET)
		jw_kv_bool(w, key, value == CLEAT_YES);
}

static void tool_annotations(struct jw *w, unsigned features, const cleat_tool *t)
{
	/* Before there was a title on the tool itself, its annotations had one. */
	const char *old_title = features & FEAT_TITLE ? NULL : t->title;

	if (!(features & FEAT_TOOL_ANNOTATIONS))
		return;
	if (!t->read_only && !t->destructive && !t->idempotent && !t->open_world && !old_title)
		return;
	jw_key(w, "annotations");
	jw_obj(w);
	jw_kv_str(w, "title", old_title);
	hint(w, "readOnlyHint", t->read_only);
	hint(w, "destructiveHint", t->destructive);
	hint(w, "idempotentHint", t->idempotent);
	hint(w, "openWorldHint", t->open_world);
	jw_obj_end(w);
}

/* Until 2025-11-25 an outputSchema is of type "object"; a server that declares anything else there
 * does not declare it to those clients (and sends them text). */
static bool output_fits(unsigned features, const struct tool_schemas *s)
{
	return s->output.p && (features & FEAT_STRUCTURED) &&
	       ((features & FEAT_ANY_STRUCTURED) || s->output_is_object);
}

void describe_tool(struct jw *w, unsigned features, const cleat_tool *t,
		   const struct tool_schemas *schemas)
{
	jw_obj(w);
	jw_kv_str(w, "name", t->name);
	title(w, features, t->title);
	jw_kv_str(w, "description", t->description);
	jw_kv_raw(w, "inputSchema", schemas->input);
	if (output_fits(features, schemas))
		jw_kv_raw(w, "outputSchema", schemas->output);
	tool_annotations(w, features, t);
	icons(w, features, t->icons);
	meta(w, features, t->meta);
	jw_obj_end(w);
}

static void resource_common(struct jw *w, unsigned features, const cleat_resource *r)
{
	jw_kv_str(w, "name", r->name);
	title(w, features, r->title);
	jw_kv_str(w, "description", r->description);
	jw_kv_str(w, "mimeType", r->mime_type);
	content_annotations(w, features, r->annotations);
}

void describe_resource(struct jw *w, unsigned features, const cleat_resource *r)
{
	jw_obj(w);
	jw_kv_str(w, "uri", r->uri);
	resource_common(w, features, r);
	if (r->size > 0)
		jw_kv_int(w, "size", r->size);
	icons(w, features, r->icons);
	meta(w, features, r->meta);
	jw_obj_end(w);
}

void describe_template(struct jw *w, unsigned features, const cleat_resource *r)
{
	jw_obj(w);
	jw_kv_str(w, "uriTemplate", r->uri);
	resource_common(w, features, r);
	icons(w, features, r->icons);
	meta(w, features, r->meta);
	jw_obj_end(w);
}

static void prompt_argument(struct jw *w, unsigned features, const cleat_field *f)
{
	jw_obj(w);
	jw_kv_str(w, "name", f->name);
	title(w, features, f->title);
	jw_kv_str(w, "description", f->doc);
	jw_kv_bool(w, "required", !f->optional && !f->fallback);
	jw_obj_end(w);
}

void describe_prompt(struct jw *w, unsigned features, const cleat_prompt *p)
{
	size_t n = field_count(p->input);

	jw_obj(w);
	jw_kv_str(w, "name", p->name);
	title(w, features, p->title);
	jw_kv_str(w, "description", p->description);
	if (n) {
		jw_key(w, "arguments");
		jw_arr(w);
		for (size_t i = 0; i < n; i++)
			prompt_argument(w, features, &p->input[i]);
		jw_arr_end(w);
	}
	icons(w, features, p->icons);
	meta(w, features, p->meta);
	jw_obj_end(w);
}

void describe_implementation(struct jw *w, unsigned features, const char *name, const char *version,
			     const cleat_server_options *o)
{
	jw_obj(w);
	jw_kv_str(w, "name", name);
	jw_kv_str(w, "version", version);
	title(w, features, o->title);
	if (features & FEAT_SERVER_DETAILS) {
		jw_kv_str(w, "description", o->description);
		jw_kv_str(w, "websiteUrl", o->website);
	}
	icons(w, features, o->icons);
	jw_obj_end(w);
}
