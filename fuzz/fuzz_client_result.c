/* fuzz_client_result.c - what a server answers, as a program sees it: one JSON text, taken as the result
 * of every kind of call, as an error, as something to keep, and as tools with arguments for them.
 *
 * What must hold whatever was sent: every getter gives what its header promises; blocks are the same in
 * any order of asking; the text is that of the blocks, joined; a header's value is one that the server
 * would find equal to the argument.
 */
#include "client/cache.h"
#include "client/result.h"
#include "client/toolbook.h"
#include "protocol/headers.h"
#include "require.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- results ---------------------------------------------------------------------------------- */

static void check_plain(const char *s)
{
	require(!s || strlen(s) < (size_t)1 << 24);
}

static volatile unsigned char touched; /* what is there can be read */

static void check_block(const cleat_content *c, const cleat_json *item)
{
	bool has_data = c->kind == CLEAT_CONTENT_IMAGE || c->kind == CLEAT_CONTENT_AUDIO ||
			(c->kind == CLEAT_CONTENT_RESOURCE && !c->text);

	require(c->json && item);
	require(!c->data || has_data);
	require((c->kind != CLEAT_CONTENT_TEXT && c->kind != CLEAT_CONTENT_OTHER) || !c->uri);
	require(c->kind != CLEAT_CONTENT_TEXT || c->text);
	require(c->kind != CLEAT_CONTENT_LINK || c->uri);
	require(c->kind != CLEAT_CONTENT_OTHER || (!c->text && !c->size));
	require(!c->text || c->text[c->size] == '\0');
	if (c->data && c->size)
		touched = ((const unsigned char *)c->data)[c->size - 1];
	check_plain(c->role);
	check_plain(c->mime);
	check_plain(c->uri);
	check_plain(c->name);
	check_plain(c->description);
}

/* The joined text from `at` on begins with this block's. */
static size_t check_text(const char *all, size_t at, const cleat_content *c)
{
	if (!c->text)
		return at;
	require(memcmp(all + at, c->text, c->size) == 0);
	require(all[at + c->size] == '\n' || all[at + c->size] == '\0');
	return at + c->size + 1;
}

static void check_blocks(cleat_result *r)
{
	const cleat_json *items = cleat_result_items(r);
	const char *text = cleat_result_text(r);
	size_t n = cleat_json_size(items), at = 0;
	cleat_content c, again;

	require(!items || json_is_array(items));
	require(text == cleat_result_text(r));
	require(!cleat_result_content(r, n, &c));
	for (size_t i = 0; i < n; i++) {
		bool ok = cleat_result_content(r, i, &c);

		require(ok || (!c.json && !c.data && !c.text));
		if (ok) {
			check_block(&c, cleat_json_at(items, i));
			at = check_text(text, at, &c);
		}
		if (i % 7 == 3) { /* back and forth */
			require(cleat_result_content(r, i, &again) == ok);
			require(!ok || (again.json == c.json && again.data == c.data));
			cleat_result_content(r, n / 2, &again);
			cleat_result_content(r, 0, &again);
		}
	}
}

struct inner {
	int8_t small;
	const char *text;
};
struct record {
	const double *numbers;
	size_t n_numbers;
	const struct inner *inner;
	size_t n_inner;
	const cleat_json *any;
	bool flag;
};
static const cleat_field inner_fields[] = {
	CLEAT_FIELD(struct inner, small, NULL, .optional = true),
	CLEAT_FIELD(struct inner, text, NULL, .fallback = "\"none\""),
	CLEAT_FIELD_END,
};
static const cleat_field record_fields[] = {
	CLEAT_ARRAY(struct record, numbers, n_numbers, NULL, .optional = true),
	CLEAT_RECORD_ARRAY(struct record, inner, n_inner, inner_fields, NULL, .optional = true),
	CLEAT_FIELD(struct record, any, NULL, .optional = true),
	CLEAT_FIELD(struct record, flag, NULL, .fallback = "true"),
	CLEAT_FIELD_END,
};

static void check_record(cleat_result *r)
{
	int own = cleat_result_status(r), rc;
	struct record rec;

	memset(&rec, 0x55, sizeof rec);
	rc = cleat_result_record(r, record_fields, &rec);
	require(cleat_result_status(r) == own && cleat_result_error(r)->status == rc);
	require(own ? rc == own : rc == CLEAT_OK || rc == CLEAT_EPROTO);
	require(rc == CLEAT_OK || (!rec.n_numbers && !rec.n_inner && !rec.inner && !rec.any));
	require((cleat_result_error(r)->message[0] != '\0') == (rc != CLEAT_OK));
	for (size_t i = 0; i < rec.n_inner; i++)
		check_plain(rec.inner[i].text);
}

static void check_result(struct str text, int shape)
{
	cleat_result *r = result_new(NULL, (enum result_shape)shape);
	const cleat_json *v;

	require(r != NULL);
	if (json_parse(&r->arena, text, NULL, &v, NULL) == CLEAT_OK) {
		result_set(r, v);
		require((cleat_result_raw(r) == v) == json_is_object(v));
		require(cleat_result_is_tool_error(r) == (cleat_result_status(r) == CLEAT_EREMOTE));
		require(!cleat_result_is_tool_error(r) || shape == RESULT_TOOL);
		check_blocks(r);
		check_record(r);
		check_record(r);
	}
	cleat_result_free(r);
}

static void check_error(struct str text)
{
	cleat_result *r = result_new(NULL, RESULT_TOOL);
	const cleat_json *v;

	require(r != NULL);
	if (json_parse(&r->arena, text, NULL, &v, NULL) == CLEAT_OK) {
		result_set_error(r, 200, v);
		require(cleat_result_status(r) ==
			(json_is_object(v) ? CLEAT_EREMOTE : CLEAT_EPROTO));
		require(cleat_result_error(r)->message[0] != '\0');
		require(!cleat_result_raw(r) && !cleat_result_items(r) && !cleat_result_json(r));
		check_record(r);
	}
	cleat_result_free(r);
}

/* ---- tools ------------------------------------------------------------------------------------ */

/* A server that has the same tool agrees with the headers. (It looks at 64 KiB of one.) */
static void check_headers(struct toolbook *b, const cleat_json *tool, const cleat_json *args)
{
	struct str name = json_str(json_member(tool, "name"));
	struct link_message m = { 0 };
	struct header_param *params;
	struct arena ar;
	struct http_field_list sent = { .ar = &ar };
	cleat_error err;

	arena_init(&ar, NULL, 0);
	if (toolbook_fields(b, &ar, name, args, &m.fields, &m.n_fields, &err) == CLEAT_OK &&
	    header_params_find(&ar, json_member(tool, "inputSchema"), &params, &err) == CLEAT_OK) {
		require(headers_of(&m, &sent, &err) == CLEAT_OK);
		require(header_params_check(
				&(struct peer_headers){ .fields = sent.at, .n = sent.n }, params,
				args, NULL, &err) == CLEAT_OK);
	}
	arena_done(&ar);
}

static void check_tools(const cleat_json *v)
{
	struct toolbook *b = toolbook_new(&(struct toolbook_options){ 0 });
	cleat_json_iter it = cleat_json_each(json_member(v, "tools"));
	const cleat_json *args = json_member(v, "arguments");
	cleat_error err;

	require(b != NULL);
	toolbook_begin(b);
	while (cleat_json_next(&it)) {
		struct str name = json_str(json_member(it.value, "name"));
		int rc = toolbook_learn(b, it.value, &err);

		require(rc == CLEAT_OK || rc == CLEAT_EINVAL);
		require(toolbook_knows(b, name) == (name.n > 0));
		require(name.n == 0 || toolbook_refused(b, name, &err) == (rc == CLEAT_EINVAL));
		if (rc == CLEAT_OK)
			check_headers(b, it.value, args);
		rc = toolbook_check(b, name, v, &err);
		require(rc == CLEAT_OK || rc == CLEAT_EPROTO);
	}
	toolbook_end(b);
	toolbook_free(b);
}

static void check_cache(const cleat_json *v)
{
	struct cache *k = cache_new(NULL, 1000);
	struct buf key;

	require(k != NULL && cache_ttl(v) <= 24 * 60 * 60 * 1000);
	buf_init(&key, NULL, SIZE_MAX / 2);
	if (cache_params(&key, v, NULL) == CLEAT_OK) {
		cache_put(k, STR_LIT("m"), buf_str(&key), STR_LIT("x"), 2);
		require(cache_bytes(k) <= 1000);
		require((cache_get(k, STR_LIT("m"), buf_str(&key), 1).p != NULL) ==
			(cache_bytes(k) > 0));
	}
	buf_done(&key);
	cache_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	cleat_doc *d = cleat_doc_parse(text.p, text.n, NULL, NULL, NULL);

	if (!d)
		return 0;
	for (int shape = RESULT_OTHER; shape <= RESULT_LIST; shape++)
		check_result(text, shape);
	check_error(text);
	check_tools(cleat_doc_root(d));
	check_cache(cleat_doc_root(d));
	cleat_doc_free(d);
	return 0;
}
