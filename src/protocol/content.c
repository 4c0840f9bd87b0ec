/* protocol/content.c - see content.h. */
#include "protocol/content.h"

#include <string.h>

void content_annotations(struct jw *w, unsigned features, const cleat_annotations *a)
{
	bool dated = a && a->last_modified && (features & FEAT_LAST_MODIFIED);

	if (!a || (!a->user && !a->assistant && !a->has_priority && !dated))
		return;
	jw_key(w, "annotations");
	jw_obj(w);
	if (a->user || a->assistant) {
		jw_key(w, "audience");
		jw_arr(w);
		if (a->user)
			jw_strz(w, "user");
		if (a->assistant)
			jw_strz(w, "assistant");
		jw_arr_end(w);
	}
	if (a->has_priority) {
		jw_key(w, "priority");
		jw_real(w, a->priority);
	}
	if (dated)
		jw_kv_str(w, "lastModified", a->last_modified);
	jw_obj_end(w);
}

static void extras(struct jw *w, unsigned features, const struct content_extras *x)
{
	if (!x)
		return;
	content_annotations(w, features, x->annotations);
	if (features & FEAT_META)
		jw_kv_raw(w, "_meta", x->meta);
}

enum content_kind content_kind_of(const char *mime)
{
	if (mime && strncmp(mime, "image/", 6) == 0)
		return CONTENT_IMAGE;
	if (mime && strncmp(mime, "audio/", 6) == 0)
		return CONTENT_AUDIO;
	return CONTENT_OTHER;
}

void content_text(struct jw *w, unsigned features, struct str text, const struct content_extras *x)
{
	static const struct str head = { "{\"type\":\"text\",\"text\":", 22 };

	if (!x || (!x->annotations && !x->meta.p)) {
		jw_frame_str(w, head, text, STR_LIT("}"), true);
		return;
	}
	jw_frame_str(w, head, text, STR_LIT(""), true);
	extras(w, features, x);
	jw_obj_end(w);
}

static void resource_head(struct jw *w, const char *uri, const char *mime)
{
	jw_obj(w);
	jw_kv_str(w, "uri", uri);
	jw_kv_str(w, "mimeType", mime);
}

static void resource_tail(struct jw *w, unsigned features, struct str meta)
{
	if (features & FEAT_META)
		jw_kv_raw(w, "_meta", meta);
	jw_obj_end(w);
}

void content_resource_text(struct jw *w, unsigned features, const char *uri, const char *mime,
			   struct str text, struct str meta)
{
	resource_head(w, uri, mime);
	jw_key(w, "text");
	jw_str(w, text);
	resource_tail(w, features, meta);
}

void content_resource_blob(struct jw *w, unsigned features, const char *uri, const char *mime,
			   struct str bytes, struct str meta)
{
	resource_head(w, uri, mime);
	jw_key(w, "blob");
	jw_base64(w, bytes.p, bytes.n);
	resource_tail(w, features, meta);
}

void content_embed(struct jw *w)
{
	jw_obj(w);
	jw_kv_str(w, "type", "resource");
	jw_key(w, "resource");
}

void content_embed_end(struct jw *w, unsigned features, const struct content_extras *x)
{
	extras(w, features, x);
	jw_obj_end(w);
}

void content_binary(struct jw *w, unsigned features, enum content_kind kind, const char *mime,
		    const char *uri, struct str bytes, const struct content_extras *x)
{
	if (kind == CONTENT_OTHER || (kind == CONTENT_AUDIO && !(features & FEAT_AUDIO))) {
		content_embed(w);
		content_resource_blob(w, features, uri, mime, bytes, (struct str){ NULL, 0 });
		content_embed_end(w, features, x);
		return;
	}
	jw_obj(w);
	jw_kv_str(w, "type", kind == CONTENT_IMAGE ? "image" : "audio");
	jw_key(w, "data");
	jw_base64(w, bytes.p, bytes.n);
	jw_kv_str(w, "mimeType", mime);
	extras(w, features, x);
	jw_obj_end(w);
}

static void link_as_text(struct jw *w, unsigned features, const char *uri, const char *name,
			 const struct content_extras *x)
{
	jw_obj(w);
	jw_kv_str(w, "type", "text");
	jw_key(w, "text");
	if (strcmp(name, uri) == 0) {
		jw_strz(w, uri);
	} else { /* "name: uri", joined inside one JSON string */
		struct buf text;

		buf_init(&text, &w->b->mem, w->b->max);
		buf_printf(&text, "%s: %s", name, uri);
		if (buf_status(&text))
			w->b->status = buf_status(&text);
		jw_str(w, buf_str(&text));
		buf_done(&text);
	}
	extras(w, features, x);
	jw_obj_end(w);
}

void content_link(struct jw *w, unsigned features, const char *uri, const char *name,
		  const char *mime, const char *description, const struct content_extras *x)
{
	if (!(features & FEAT_RESOURCE_LINK)) {
		link_as_text(w, features, uri, name, x);
		return;
	}
	jw_obj(w);
	jw_kv_str(w, "type", "resource_link");
	jw_kv_str(w, "uri", uri);
	jw_kv_str(w, "name", name);
	jw_kv_str(w, "mimeType", mime);
	jw_kv_str(w, "description", description);
	extras(w, features, x);
	jw_obj_end(w);
}
