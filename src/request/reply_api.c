/* request/reply_api.c - the cleat_reply_* functions: they write blocks of content into the request.
 *
 * A block is written straight as JSON, in the shape that the client's revision knows. Failures latch
 * in the buffers and become the answer in reply_send(); every function gives CLEAT_OK or that
 * failure, so that a handler can return it.
 */
#include "base/cold.h"
#include "base/sized.h"
#include "field/field.h"
#include "request/life.h"
#include "request/output.h"
#include "request/reply.h"
#include "request/server.h"
#include "json/copy.h"
#include "json/parse.h"

#include <stdio.h>
#include <string.h>

/* Whether a request can be replied to: CLEAT_OK, CLEAT_EINVAL (there is none), CLEAT_EMISUSE (its answer has gone:
 * as far as that can be told, while its memory waits for the next one). First in every function here. */
static int reply_may(cleat_request *req)
{
	if (!req)
		return CLEAT_EINVAL;
	if (atomic_load_explicit(&req->deferred, memory_order_relaxed) != 2)
		return CLEAT_OK;
	request_misuse(req, MISUSE_ANSWERED,
		       "a handler replied to a request that had been answered already");
	return CLEAT_EMISUSE;
}

#define REPLY_MAY(req)                                                                             \
	do {                                                                                       \
		int may_ = reply_may(req);                                                         \
		if (may_)                                                                          \
			return may_;                                                               \
	} while (0)

static int done(cleat_request *req)
{
	req->replied = true;
	return buf_status(&req->content);
}

static COLD int wrong_place(cleat_request *req, const char *what)
{
	return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
				  "the handler of %s cannot reply with %s", req->msg.method.p,
				  what);
}

/* A handler that cannot reply with blocks at all. */
static bool takes_no_blocks(const cleat_request *req)
{
	enum shape shape = req->shape;

	return shape == SHAPE_COMPLETION || shape == SHAPE_OWN || shape == SHAPE_FORM ||
	       shape == SHAPE_URL;
}

/* What to reply with instead. */
static COLD int no_blocks(cleat_request *req, const char *what)
{
	static const char *const instead[] = { [SHAPE_COMPLETION] = "cleat_reply_suggest",
					       [SHAPE_OWN] = "cleat_reply_jsonf",
					       [SHAPE_FORM] = "cleat_reply_jsonf",
					       [SHAPE_URL] = "cleat_reply_nothing" };
	char text[80];

	snprintf(text, sizeof text, "%s; use %s", what, instead[req->shape]);
	return wrong_place(req, text);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static struct jw *reply_api_begin(cleat_request *req)
{
	struct jw *w = &req->blocks_jw;

	req->blocks++;
	if (req->shape == SHAPE_PROMPT) {
		jw_obj(w);
		jw_kv_str(w, "role", req->role);
		jw_key(w, "content");
	}
	return w;
}

static int end(cleat_request *req)
{
	if (req->shape == SHAPE_PROMPT)
		jw_obj_end(&req->blocks_jw);
	req->next_annotations = NULL;
	req->next_meta = NULL;
	return done(req);
}

static struct content_extras extras(const cleat_request *req)
{
	return (struct content_extras){ req->next_annotations, str_of(req->next_meta) };
}

static const char *resource_mime(const cleat_request *req, const char *mime)
{
	return mime ? mime : req->entry->resource.mime_type;
}

static int text_block(cleat_request *req, struct str text)
{
	unsigned features = req->ctx.features;
	struct content_extras x = extras(req);
	struct jw *w;

	if (takes_no_blocks(req))
		return no_blocks(req, "text");
	w = reply_api_begin(req);
	if (req->shape == SHAPE_RESOURCE)
		content_resource_text(w, features, req->uri, resource_mime(req, NULL), text,
				      x.meta);
	else
		content_text(w, features, text, &x);
	return end(req);
}

int cleat_reply_textn(cleat_request *req, const char *text, size_t n)
{
	REPLY_MAY(req);
	return text_block(req, (struct str){ text ? text : "", text ? n : 0 });
}

int cleat_reply_text(cleat_request *req, const char *text)
{
	REPLY_MAY(req);
	return text_block(req, str_of(text ? text : ""));
}

static int CLEAT_PRINTF(2, 0) text_blockv(cleat_request *req, const char *fmt, va_list ap)
{
	char small[512], *text = small;
	va_list again;
	int n;

	if (!fmt)
		return text_block(req, STR_LIT(""));
	va_copy(again, ap);
	n = vsnprintf(small, sizeof small, fmt, again);
	va_end(again);
	if (n >= (int)sizeof small)
		text = arena_vprintf(&req->arena, fmt, ap);
	if (n < 0 || !text)
		return CLEAT_ENOMEM;
	return text_block(req, (struct str){ text, (size_t)n });
}

int cleat_reply_textf(cleat_request *req, const char *fmt, ...)
{
	va_list ap;
	int rc;

	REPLY_MAY(req);
	va_start(ap, fmt);
	rc = text_blockv(req, fmt, ap);
	va_end(ap);
	return rc;
}

static int binary_block(cleat_request *req, enum content_kind kind, const char *mime,
			struct str bytes)
{
	struct content_extras x = extras(req);
	unsigned features = req->ctx.features;
	struct jw *w;

	if (takes_no_blocks(req))
		return no_blocks(req, "bytes");
	/* A message has text, images and, from 2025-03-26 on, audio. */
	if (req->shape == SHAPE_SAMPLING &&
	    (kind == CONTENT_OTHER || (kind == CONTENT_AUDIO && !(features & FEAT_AUDIO))))
		return wrong_place(req, kind == CONTENT_AUDIO
						? "audio in this revision"
						: "bytes that are neither an image nor audio");
	w = reply_api_begin(req);
	if (req->shape == SHAPE_RESOURCE)
		content_resource_blob(w, features, req->uri, resource_mime(req, mime), bytes,
				      x.meta);
	else
		content_binary(w, features, kind, mime ? mime : "application/octet-stream",
			       kind == CONTENT_AUDIO ? "cleat:audio" : "cleat:blob", bytes, &x);
	return end(req);
}

int cleat_reply_blob(cleat_request *req, const char *mime, const void *p, size_t n)
{
	REPLY_MAY(req);
	return binary_block(req, content_kind_of(mime), mime, (struct str){ p, p ? n : 0 });
}

int cleat_reply_image(cleat_request *req, const char *mime, const void *p, size_t n)
{
	REPLY_MAY(req);
	return binary_block(req, CONTENT_IMAGE, mime ? mime : "image/png",
			    (struct str){ p, p ? n : 0 });
}

int cleat_reply_audio(cleat_request *req, const char *mime, const void *p, size_t n)
{
	REPLY_MAY(req);
	return binary_block(req, CONTENT_AUDIO, mime ? mime : "audio/wav",
			    (struct str){ p, p ? n : 0 });
}

/* An embedded resource, or in a resource handler one more content. */
static int resource_block(cleat_request *req, const char *uri, const char *mime, struct str text,
			  struct str bytes)
{
	struct content_extras x = extras(req);
	unsigned features = req->ctx.features;
	bool embedded = req->shape != SHAPE_RESOURCE;
	struct str meta = embedded ? (struct str){ NULL, 0 } : x.meta;
	struct jw *w;

	if (takes_no_blocks(req))
		return no_blocks(req, "a resource");
	if (req->shape == SHAPE_SAMPLING)
		return wrong_place(req, "a resource");
	w = reply_api_begin(req);
	if (embedded)
		content_embed(w);
	if (text.p)
		content_resource_text(w, features, uri ? uri : "", mime, text, meta);
	else
		content_resource_blob(w, features, uri ? uri : "", mime, bytes, meta);
	if (embedded)
		content_embed_end(w, features, &x);
	return end(req);
}

int cleat_reply_resource_text(cleat_request *req, const char *uri, const char *mime,
			      const char *text)
{
	REPLY_MAY(req);
	return resource_block(req, uri, mime, str_of(text ? text : ""), (struct str){ NULL, 0 });
}

int cleat_reply_resource_blob(cleat_request *req, const char *uri, const char *mime, const void *p,
			      size_t n)
{
	REPLY_MAY(req);
	return resource_block(req, uri, mime, (struct str){ NULL, 0 },
			      (struct str){ p, p ? n : 0 });
}

int cleat_reply_link(cleat_request *req, const char *uri, const char *name, const char *mime,
		     const char *description)
{
	struct content_extras x;

	REPLY_MAY(req);
	x = extras(req);
	if (takes_no_blocks(req) || req->shape == SHAPE_RESOURCE || req->shape == SHAPE_SAMPLING)
		return wrong_place(req, "a link");
	uri = uri ? uri : "";
	content_link(reply_api_begin(req), req->ctx.features, uri, name ? name : uri, mime,
		     description, &x);
	return end(req);
}

/* ---- JSON that the program wrote ----------------------------------------------------------- */

/* JSON text of the program on one line, as the wire wants it; NULL when it is not JSON. */
static const char *compact(cleat_request *req, const char *json, bool *ret_object)
{
	const cleat_json *v;

	if (json_parse(&req->arena, str_of(json), NULL, &v, NULL))
		return NULL;
	*ret_object = json_is_object(v);
	return json_text(&req->arena, v).p;
}

static const char *meta_text(cleat_request *req, const char *json)
{
	bool object = false;
	const char *copy = compact(req, json, &object);

	if (copy && object)
		return copy;
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
			   "the handler of %s gave a _meta that is not a JSON object",
			   req->msg.method.p);
	return NULL;
}

int cleat_reply_annotate(cleat_request *req, const cleat_annotations *annotations, const char *meta)
{
	cleat_annotations *copy;
	cleat_error err;

	REPLY_MAY(req);
	copy = annotations ? arena_alloc(&req->arena, sizeof *copy) : NULL;
	if (annotations && SIZED_RESERVED(annotations, cleat_annotations, &err))
		return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "%s", err.message);
	if (copy) {
		*copy = *annotations;
		copy->last_modified = arena_strdup(&req->arena, annotations->last_modified);
	}
	req->next_annotations = copy;
	req->next_meta = meta ? meta_text(req, meta) : NULL;
	return CLEAT_OK;
}

int cleat_reply_meta(cleat_request *req, const char *json)
{
	REPLY_MAY(req);
	req->meta = json ? meta_text(req, json) : NULL;
	return CLEAT_OK;
}

/* ---- structured results -------------------------------------------------------------------- */

static struct jw start_structured(cleat_request *req)
{
	struct jw w;

	buf_truncate(&req->structured, 0);
	jw_init(&w, &req->structured);
	req->replied = true;
	req->value = NULL;
	return w;
}

/* Structured results are for tools, and for a client's answers. */
static bool takes_structured(const cleat_request *req)
{
	enum shape shape = req->shape;

	return shape == SHAPE_TOOL || shape == SHAPE_OWN || shape == SHAPE_FORM ||
	       shape == SHAPE_SAMPLING;
}

/* Elsewhere they become text. */
static int end_structured(cleat_request *req, int rc, const cleat_error *err)
{
	if (rc == CLEAT_EINVAL)
		return cleat_reply_reject(
			req, CLEAT_RPC_INTERNAL_ERROR,
			"the handler of %s gave a structured result that cannot be "
			"sent: %s",
			req->msg.method.p, err ? err->message : "it is not a value");
	if (!rc && !takes_structured(req)) {
		rc = text_block(req, buf_str(&req->structured));
		buf_truncate(&req->structured, 0);
	}
	return rc ? rc : buf_status(&req->structured);
}

int cleat_reply_record(cleat_request *req, const void *record)
{
	const cleat_field *fields;
	cleat_error err;
	struct jw w;

	REPLY_MAY(req);
	if (!record)
		return CLEAT_EINVAL;
	fields = req->entry ? req->entry->output : NULL;
	w = start_structured(req);
	if (!fields && req->asked) {
		wrong_place(req,
			    "a record: the form's fields are the server's; use cleat_reply_jsonf");
		return CLEAT_EMISUSE;
	}
	if (!fields)
		return cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR,
					  "the handler of %s replied with a record, but no output "
					  "fields are declared",
					  req->msg.method.p);
	return end_structured(req, field_encode(&w, fields, record, &err), &err);
}

int cleat_reply_jsonf(cleat_request *req, const char *fmt, ...)
{
	struct jw w;
	cleat_error err;
	va_list ap;
	int rc;

	REPLY_MAY(req);
	if (!fmt)
		return CLEAT_EINVAL;
	w = start_structured(req);
	va_start(ap, fmt);
	rc = jw_vformat(&w, &err, fmt, ap);
	va_end(ap);
	return end_structured(req, rc, &err);
}

int cleat_reply_json(cleat_request *req, const cleat_json *value)
{
	struct jw w;
	int rc = CLEAT_OK;

	REPLY_MAY(req);
	w = start_structured(req);
	jw_value(&w, value);
	if (buf_status(&req->structured) == CLEAT_OK && output_is_looked_at(req))
		rc = json_copy(&req->arena, value, &req->value);
	return end_structured(req, rc, NULL);
}

int reply_json_text(cleat_request *req, struct str json)
{
	struct jw w = start_structured(req);

	jw_raw(&w, json);
	return end_structured(req, CLEAT_OK, NULL);
}

/* ---- prompts, completions, the rest --------------------------------------------------------- */

int cleat_reply_role(cleat_request *req, const char *role)
{
	REPLY_MAY(req);
	req->role = role && strcmp(role, "assistant") == 0 ? "assistant" : "user";
	return CLEAT_OK;
}

int cleat_reply_message(cleat_request *req, const char *role, const char *fmt, ...)
{
	va_list ap;
	int rc;

	REPLY_MAY(req);
	cleat_reply_role(req, role);
	va_start(ap, fmt);
	rc = text_blockv(req, fmt, ap);
	va_end(ap);
	return rc;
}

int cleat_reply_description(cleat_request *req, const char *text)
{
	REPLY_MAY(req);
	req->description = arena_strdup(&req->arena, text);
	return CLEAT_OK;
}

int cleat_reply_suggest(cleat_request *req, const char *value)
{
	enum { MOST = 100 }; /* 2025-11-25 utilities/completion: at most 100 values */

	REPLY_MAY(req);
	if (req->shape != SHAPE_COMPLETION)
		return wrong_place(req, "a suggestion");
	if (req->blocks < MOST) {
		jw_strz(&req->blocks_jw, value ? value : "");
		req->blocks++;
	}
	req->suggested++;
	return done(req);
}

int cleat_reply_suggest_from(cleat_request *req, const char *const values[], size_t n)
{
	const char *typed = cleat_request_typed(req);
	size_t len = strlen(typed);
	int rc = CLEAT_OK;

	REPLY_MAY(req);
	for (size_t i = 0; values && i < n && rc == CLEAT_OK; i++)
		if (values[i] && strncmp(values[i], typed, len) == 0)
			rc = cleat_reply_suggest(req, values[i]);
	return rc;
}

int cleat_reply_suggest_total(cleat_request *req, size_t total, bool more)
{
	REPLY_MAY(req);
	req->suggest_total = total;
	req->suggest_more = more;
	req->suggest_total_set = true;
	return done(req);
}

int cleat_reply_nothing(cleat_request *req)
{
	REPLY_MAY(req);
	return done(req);
}

int cleat_reply_cache(cleat_request *req, uint64_t ttl_ms, bool shared)
{
	REPLY_MAY(req);
	req->has_cache = true;
	req->cache_ttl = ttl_ms;
	req->cache_shared = shared;
	return CLEAT_OK;
}

/* ---- failures ------------------------------------------------------------------------------ */

static COLD void drop_content(cleat_request *req)
{
	buf_truncate(&req->content, 0);
	buf_truncate(&req->structured, 0);
	jw_init(&req->blocks_jw, &req->content);
	req->blocks = 0;
	req->next_annotations = NULL;
	req->next_meta = NULL;
}

static int CLEAT_PRINTF(4, 0)
	reject(cleat_request *req, int code, const char *data, const char *fmt, va_list ap)
{
	bool object;

	REPLY_MAY(req);
	req->replied = req->rejected = true;
	req->reject_code = code;
	req->reject_data = data ? compact(req, data, &object) : NULL;
	req->reject_message = fmt ? arena_vprintf(&req->arena, fmt, ap) : "";
	return arena_failed(&req->arena) ? CLEAT_ENOMEM : CLEAT_OK;
}

int cleat_reply_error(cleat_request *req, const char *fmt, ...)
{
	va_list ap;
	int rc;

	REPLY_MAY(req);
	va_start(ap, fmt);
	if (req->shape == SHAPE_TOOL) {
		drop_content(req);
		req->is_error = true;
		rc = text_blockv(req, fmt, ap);
	} else {
		rc = reject(req, CLEAT_RPC_INTERNAL_ERROR, NULL, fmt, ap);
	}
	va_end(ap);
	return rc;
}

int cleat_reply_reject(cleat_request *req, int rpc_code, const char *fmt, ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = reject(req, rpc_code, NULL, fmt, ap);
	va_end(ap);
	return rc;
}

int cleat_reply_reject_data(cleat_request *req, int rpc_code, const char *data, const char *fmt,
			    ...)
{
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = reject(req, rpc_code, data, fmt, ap);
	va_end(ap);
	return rc;
}
