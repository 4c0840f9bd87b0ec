/* client/content.c - blocks of content of a result, of every revision: cleat_result_content() and
 * cleat_result_text().
 *
 * What a block does not have, or has as another type than the schema says, is absent here; a block that
 * lacks what makes its kind is CLEAT_CONTENT_OTHER. Nothing is decoded before it is asked for, and then
 * once. Reading the blocks in order takes linear time, however many there are.
 */
#include "client/result.h"

#include "base/base64.h"
#include "base/sized.h"
#include "json/parse.h"

#include <string.h>

/* What has become of a block's base64. */
struct result_bytes {
	const void *data; /* NULL: not asked for yet, or broken */
	size_t size;
	bool broken;
};

static const cleat_json *blocks(const cleat_result *r)
{
	switch (r ? r->shape : RESULT_OTHER) {
	case RESULT_TOOL:
	case RESULT_RESOURCE:
	case RESULT_PROMPT: return cleat_result_items(r);
	default: return NULL;
	}
}

/* Elements have no index: counting from the start for every one would be quadratic. */
static const cleat_json *element(cleat_result *r, size_t i)
{
	const cleat_json *all = blocks(r);
	cleat_json_iter *it = r ? &r->walk : NULL;

	if (!all || i >= cleat_json_size(all))
		return NULL;
	if (!it->value || it->index > i) {
		*it = cleat_json_each(all);
		cleat_json_next(it);
	}
	while (it->index < i && cleat_json_next(it))
		;
	return it->value;
}

/* A prompt's messages have their block inside. */
static const cleat_json *block_of(const cleat_result *r, const cleat_json *item)
{
	return r->shape == RESULT_PROMPT ? json_member(item, "content") : item;
}

/* For what C has no length for: a string with NUL in it would be another one, so there is none. */
static const char *plain(const cleat_json *obj, const char *key)
{
	struct str s = json_str(json_member(obj, key));

	return str_has_nul(s) ? NULL : s.p;
}

/* ---- bytes ------------------------------------------------------------------------------------ */

static void content_decode(cleat_result *r, struct str text, struct result_bytes *b)
{
	size_t room = text.n / 4 * 3;
	struct buf out = { .mem = arena_allocator(&r->arena), .cap = room, .max = room };
	int rc;

	out.data = arena_alloc(&r->arena, room);
	if (!out.data)
		return;
	rc = base64_decode(BASE64_STANDARD, text, &out);
	b->broken = rc == CLEAT_EPROTO;
	if (rc)
		return;
	b->data = out.data;
	b->size = buf_size(&out);
}

/* The decoded bytes of block i; none where it is not base64, or memory is short. */
static void bytes(cleat_result *r, size_t i, struct str text, cleat_content *ret)
{
	struct result_bytes *b;

	if (!r->bytes)
		r->bytes = arena_zalloc(&r->arena, cleat_json_size(blocks(r)) * sizeof *b);
	if (!r->bytes)
		return;
	b = &r->bytes[i];
	if (!b->data && !b->broken)
		content_decode(r, text, b);
	ret->data = b->data;
	ret->size = b->size;
}

/* ---- kinds ------------------------------------------------------------------------------------ */

static void set_text(cleat_content *ret, struct str text)
{
	ret->text = text.p;
	ret->size = text.n;
}

static void binary(cleat_result *r, size_t i, const cleat_json *block, enum cleat_content_kind kind,
		   cleat_content *ret)
{
	struct str data = json_str(json_member(block, "data"));

	if (!data.p)
		return;
	ret->kind = kind;
	ret->mime = plain(block, "mimeType");
	bytes(r, i, data, ret);
}

/* ResourceContents: text, or blob. */
static void resource(cleat_result *r, size_t i, const cleat_json *v, cleat_content *ret)
{
	struct str text = json_str(json_member(v, "text"));
	struct str blob = json_str(json_member(v, "blob"));

	if (!text.p && !blob.p)
		return;
	ret->kind = CLEAT_CONTENT_RESOURCE;
	ret->uri = plain(v, "uri");
	ret->mime = plain(v, "mimeType");
	if (text.p)
		set_text(ret, text);
	else
		bytes(r, i, blob, ret);
}

static void link_to(const cleat_json *block, cleat_content *ret)
{
	ret->uri = plain(block, "uri");
	if (!ret->uri)
		return;
	ret->kind = CLEAT_CONTENT_LINK;
	ret->mime = plain(block, "mimeType");
	ret->name = plain(block, "name");
	ret->description = plain(block, "description");
}

static void plain_text(const cleat_json *block, cleat_content *ret)
{
	struct str text = json_str(json_member(block, "text"));

	if (text.p)
		ret->kind = CLEAT_CONTENT_TEXT;
	set_text(ret, text);
}

static void read_block(cleat_result *r, size_t i, const cleat_json *block, cleat_content *ret)
{
	struct str type = json_str(json_member(block, "type"));

	if (r->shape == RESULT_RESOURCE)
		resource(r, i, block, ret);
	else if (str_eqz(type, "text"))
		plain_text(block, ret);
	else if (str_eqz(type, "image"))
		binary(r, i, block, CLEAT_CONTENT_IMAGE, ret);
	else if (str_eqz(type, "audio"))
		binary(r, i, block, CLEAT_CONTENT_AUDIO, ret);
	else if (str_eqz(type, "resource"))
		resource(r, i, json_member(block, "resource"), ret);
	else if (str_eqz(type, "resource_link"))
		link_to(block, ret);
}

bool cleat_result_content_(cleat_result *r, size_t i, cleat_content *ret, size_t size)
{
	const cleat_json *item = element(r, i), *block;
	cleat_content c = { 0 };

	if (!ret)
		return false;
	if (item) {
		block = block_of(r, item);
		c.kind = CLEAT_CONTENT_OTHER;
		c.json = block ? block : item;
		if (r->shape == RESULT_PROMPT)
			c.role = plain(item, "role");
		read_block(r, i, block, &c);
	}
	sized_give(ret, size, &c, sizeof c);
	return item != NULL;
}

/* ---- text ------------------------------------------------------------------------------------- */

static struct str text_of(const cleat_result *r, const cleat_json *item)
{
	const cleat_json *block = block_of(r, item);
	struct str type = json_str(json_member(block, "type"));

	if (r->shape != RESULT_RESOURCE && str_eqz(type, "resource"))
		block = json_member(block, "resource");
	else if (r->shape != RESULT_RESOURCE && !str_eqz(type, "text"))
		return (struct str){ 0 };
	return json_str(json_member(block, "text"));
}

/* Writes them one after the other, if there is a place to write to; gives the bytes, each text with the
 * newline or NUL after it. */
static size_t join(const cleat_result *r, char *to, size_t *ret_n, struct str *ret_last)
{
	cleat_json_iter it = cleat_json_each(blocks(r));
	size_t size = 0;

	*ret_n = 0;
	while (cleat_json_next(&it)) {
		struct str text = text_of(r, it.value);

		if (!text.p)
			continue;
		if (to && text.n)
			memcpy(to + size, text.p, text.n);
		size += text.n + 1;
		if (to)
			to[size - 1] = '\n';
		++*ret_n;
		*ret_last = text;
	}
	return size;
}

const char *cleat_result_text(cleat_result *r)
{
	struct str last = { "", 0 };
	size_t n, size;
	char *all;

	if (!r || r->text)
		return r ? r->text : "";
	size = join(r, NULL, &n, &last);
	if (n <= 1) /* it is terminated where it stands */
		return r->text = last.p;
	all = arena_alloc(&r->arena, size);
	if (!all)
		return ""; /* and tries again when asked again */
	join(r, all, &n, &last);
	all[size - 1] = '\0';
	return r->text = all;
}
