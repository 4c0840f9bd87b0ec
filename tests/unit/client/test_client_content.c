/* test_client_content.c - blocks of content of all kinds of every revision: text, images and embedded
 * resources (2024-11-05), audio (2025-03-26), resource links (2025-06-18); in tools' results, prompts'
 * messages and resources' contents; and what hostile servers make of them.
 */
#include "base/base64.h"
#include "client/result.h"
#include "support.h"
#include "test.h"
#include "json/parse.h"

#include <stdlib.h>
#include <string.h>

static cleat_result *make_with(const cleat_allocator *mem, enum result_shape shape, struct str text)
{
	cleat_result *r = result_new(mem, shape);
	const cleat_json *v;

	assert_non_null(r);
	assert_int_equal(json_parse(&r->arena, text, NULL, &v, NULL), CLEAT_OK);
	result_set(r, v);
	return r;
}

static cleat_result *make(enum result_shape shape, const char *text)
{
	return make_with(NULL, shape, str_of(text));
}

static void same(const char *got, const char *wanted)
{
	assert_int_equal(got != NULL, wanted != NULL);
	if (got)
		assert_string_equal(got, wanted);
}

/* ---- kinds ------------------------------------------------------------------------------------ */

struct row {
	const char *block;
	cleat_content wanted; /* .json is not looked at */
};
#define TEXT(s)  .text = (s), .size = sizeof(s) - 1
#define BYTES(s) .data = (s), .size = sizeof(s) - 1

static void expect_block(const struct row *row, enum result_shape shape, const char *before,
			 const char *after, const char *role)
{
	cleat_content c = { .kind = CLEAT_CONTENT_LINK, .uri = "old" };
	const cleat_content *w = &row->wanted;
	char text[1024];
	cleat_result *r;

	snprintf(text, sizeof text, "%s%s%s", before, row->block, after);
	r = make(shape, text);
	assert_true(cleat_result_content(r, 0, &c));
	assert_int_equal(c.kind, w->kind);
	same(c.role, role);
	same(c.text, w->text);
	assert_int_equal(c.size, w->size);
	assert_int_equal(c.data != NULL, w->data != NULL);
	if (w->data)
		assert_memory_equal(c.data, w->data, w->size);
	same(c.mime, w->mime);
	same(c.uri, w->uri);
	same(c.name, w->name);
	same(c.description, w->description);
	assert_non_null(c.json);
	assert_false(cleat_result_content(r, 1, &c));
	cleat_result_free(r);
}

TEST(every_kind_of_block_is_read)
{
	static const struct row rows[] = {
		{ "{\"type\":\"text\",\"text\":\"hi\"}",
		  { .kind = CLEAT_CONTENT_TEXT, TEXT("hi") } },
		{ "{\"text\":\"hi\",\"annotations\":{\"priority\":1},\"type\":\"text\",\"_meta\":{}}",
		  { .kind = CLEAT_CONTENT_TEXT, TEXT("hi") } },
		{ "{\"type\":\"text\",\"text\":\"\"}", { .kind = CLEAT_CONTENT_TEXT, TEXT("") } },
		{ "{\"type\":\"text\",\"text\":\"a\\u0000b\"}",
		  { .kind = CLEAT_CONTENT_TEXT, .text = "a", .size = 3 } },
		{ "{\"type\":\"image\",\"data\":\"AAEC/w==\",\"mimeType\":\"image/png\"}",
		  { .kind = CLEAT_CONTENT_IMAGE, BYTES("\0\1\2\xFF"), .mime = "image/png" } },
		{ "{\"type\":\"image\",\"data\":\"QQ==\"}",
		  { .kind = CLEAT_CONTENT_IMAGE, BYTES("A") } },
		{ "{\"type\":\"image\",\"data\":\"\",\"mimeType\":7}",
		  { .kind = CLEAT_CONTENT_IMAGE, BYTES("") } },
		{ "{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":\"audio/wav\"}",
		  { .kind = CLEAT_CONTENT_AUDIO, BYTES("RIFF"), .mime = "audio/wav" } },
		{ "{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"mimeType\":\"text/x\","
		  "\"text\":\"inside\"}}",
		  { .kind = CLEAT_CONTENT_RESOURCE,
		    TEXT("inside"),
		    .uri = "file:///a",
		    .mime = "text/x" } },
		{ "{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"QUJD\"}}",
		  { .kind = CLEAT_CONTENT_RESOURCE, BYTES("ABC"), .uri = "file:///a" } },
		/* both: text is what a person reads */
		{ "{\"type\":\"resource\",\"resource\":{\"text\":\"t\",\"blob\":\"!\"}}",
		  { .kind = CLEAT_CONTENT_RESOURCE, TEXT("t") } },
		{ "{\"type\":\"resource_link\",\"uri\":\"file:///b\",\"name\":\"b\",\"description\":"
		  "\"d\",\"mimeType\":\"text/plain\",\"size\":3}",
		  { .kind = CLEAT_CONTENT_LINK,
		    .uri = "file:///b",
		    .name = "b",
		    .description = "d",
		    .mime = "text/plain" } },
		{ "{\"type\":\"resource_link\",\"uri\":\"file:///b\"}",
		  { .kind = CLEAT_CONTENT_LINK, .uri = "file:///b" } },
		/* what only sampling has, or nobody knows */
		{ "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"x\",\"input\":{}}",
		  { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"video\",\"data\":\"QQ==\"}", { .kind = CLEAT_CONTENT_OTHER } },
		/* a kind without what makes it one */
		{ "{\"type\":\"text\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"text\",\"text\":[\"x\"]}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"image\",\"data\":null}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"audio\",\"data\":{}}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource\",\"resource\":\"file:///a\"}",
		  { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource\",\"resource\":{\"uri\":\"x\",\"text\":1}}",
		  { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource_link\",\"name\":\"b\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource_link\",\"uri\":7}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":{\"text\":1},\"text\":\"x\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"text\\u0000\",\"text\":\"x\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"Text\",\"text\":\"x\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"text\":\"x\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "[]", { .kind = CLEAT_CONTENT_OTHER } },
		{ "\"text\"", { .kind = CLEAT_CONTENT_OTHER } },
		{ "null", { .kind = CLEAT_CONTENT_OTHER } },
		{ "1e999", { .kind = CLEAT_CONTENT_OTHER } },
		/* a C string would say something else than the server has */
		{ "{\"type\":\"resource_link\",\"uri\":\"https://good\\u0000.evil\",\"name\":\"b\"}",
		  { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"type\":\"resource_link\",\"uri\":\"u\",\"name\":\"a\\u0000b\"}",
		  { .kind = CLEAT_CONTENT_LINK, .uri = "u" } },
		{ "{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/png\\u0000\"}",
		  { .kind = CLEAT_CONTENT_IMAGE, BYTES("") } },
		/* broken data */
		{ "{\"type\":\"image\",\"data\":\"QQ\"}", { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"image\",\"data\":\"Q\"}", { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"image\",\"data\":\"====\"}", { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"image\",\"data\":\"QR==\"}", { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"image\",\"data\":\"QUJD\\n\"}", { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"image\",\"data\":\"QUJD\\u0000\"}",
		  { .kind = CLEAT_CONTENT_IMAGE } },
		{ "{\"type\":\"audio\",\"data\":\"QU_-\"}", { .kind = CLEAT_CONTENT_AUDIO } },
		{ "{\"type\":\"audio\",\"data\":\"data:audio/wav;base64,QQ==\"}",
		  { .kind = CLEAT_CONTENT_AUDIO } },
		{ "{\"type\":\"resource\",\"resource\":{\"uri\":\"u\",\"blob\":\"*\"}}",
		  { .kind = CLEAT_CONTENT_RESOURCE, .uri = "u" } },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		expect_block(&rows[i], RESULT_TOOL, "{\"content\":[", "]}", NULL);
		expect_block(&rows[i], RESULT_PROMPT,
			     "{\"messages\":[{\"role\":\"assistant\",\"content\":", "}]}",
			     "assistant");
	}
}

/* resources/read: contents have no type. */
TEST(parts_of_a_resource_are_read)
{
	static const struct row rows[] = {
		{ "{\"uri\":\"file:///a\",\"text\":\"t\",\"mimeType\":\"text/plain\"}",
		  { .kind = CLEAT_CONTENT_RESOURCE,
		    TEXT("t"),
		    .uri = "file:///a",
		    .mime = "text/plain" } },
		{ "{\"uri\":\"file:///a\",\"blob\":\"QUI=\"}",
		  { .kind = CLEAT_CONTENT_RESOURCE, BYTES("AB"), .uri = "file:///a" } },
		{ "{\"type\":\"image\",\"data\":\"QQ==\",\"text\":\"t\"}",
		  { .kind = CLEAT_CONTENT_RESOURCE, TEXT("t") } },
		{ "{\"uri\":\"file:///a\"}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"uri\":\"file:///a\",\"blob\":7}", { .kind = CLEAT_CONTENT_OTHER } },
		{ "7", { .kind = CLEAT_CONTENT_OTHER } },
		{ "{\"uri\":\"file:///a\",\"blob\":\"QUI\"}",
		  { .kind = CLEAT_CONTENT_RESOURCE, .uri = "file:///a" } },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++)
		expect_block(&rows[i], RESULT_RESOURCE, "{\"contents\":[", "]}", NULL);
}

TEST(messages_of_a_prompt_have_a_role)
{
	static const struct {
		const char *message, *role;
		enum cleat_content_kind kind;
		int json; /* type of .json */
	} rows[] = {
		{ "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}", "user",
		  CLEAT_CONTENT_TEXT, CLEAT_JSON_OBJECT },
		{ "{\"content\":{\"type\":\"text\",\"text\":\"x\"}}", NULL, CLEAT_CONTENT_TEXT,
		  CLEAT_JSON_OBJECT },
		{ "{\"role\":7,\"content\":{\"type\":\"text\",\"text\":\"x\"}}", NULL,
		  CLEAT_CONTENT_TEXT, CLEAT_JSON_OBJECT },
		{ "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}", "user",
		  CLEAT_CONTENT_OTHER, CLEAT_JSON_ARRAY },
		{ "{\"role\":\"user\",\"content\":\"x\"}", "user", CLEAT_CONTENT_OTHER,
		  CLEAT_JSON_STRING },
		{ "{\"role\":\"user\"}", "user", CLEAT_CONTENT_OTHER, CLEAT_JSON_OBJECT },
		{ "[\"user\"]", NULL, CLEAT_CONTENT_OTHER, CLEAT_JSON_ARRAY },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_content c;
		char text[256];
		cleat_result *r;

		snprintf(text, sizeof text, "{\"messages\":[%s]}", rows[i].message);
		r = make(RESULT_PROMPT, text);
		assert_true(cleat_result_content(r, 0, &c));
		same(c.role, rows[i].role);
		assert_int_equal(c.kind, rows[i].kind);
		assert_int_equal(cleat_json_type(c.json), rows[i].json);
		cleat_result_free(r);
	}
}

TEST(other_results_have_no_blocks)
{
	static const struct {
		enum result_shape shape;
		const char *text;
	} rows[] = {
		{ RESULT_LIST, "{\"tools\":[{\"type\":\"text\",\"text\":\"x\"}]}" },
		{ RESULT_COMPLETE, "{\"completion\":{\"values\":[\"x\"]}}" },
		{ RESULT_OTHER, "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}" },
		{ RESULT_TOOL, "{\"content\":{\"type\":\"text\",\"text\":\"x\"}}" },
		{ RESULT_TOOL, "{\"content\":\"x\"}" },
		{ RESULT_TOOL, "{\"content\":[]}" },
		{ RESULT_TOOL, "{}" },
		{ RESULT_TOOL, "[{\"type\":\"text\",\"text\":\"x\"}]" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(rows[i].shape, rows[i].text);
		cleat_content c;

		assert_false(cleat_result_content(r, 0, &c));
		assert_false(cleat_result_content(r, SIZE_MAX, &c));
		assert_string_equal(cleat_result_text(r), "");
		cleat_result_free(r);
	}
}

/* ---- text ------------------------------------------------------------------------------------- */

TEST(all_text_is_joined_with_newlines)
{
	static const struct {
		enum result_shape shape;
		const char *text, *wanted;
	} rows[] = {
		{ RESULT_TOOL, "{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", "a" },
		{ RESULT_TOOL,
		  "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"data\":"
		  "\"QQ==\"},{\"type\":\"text\",\"text\":\"b\"}]}",
		  "a\nb" },
		{ RESULT_TOOL,
		  "{\"content\":[{\"type\":\"resource\",\"resource\":{\"text\":\"in\"}},"
		  "{\"type\":\"resource_link\",\"uri\":\"u\",\"text\":\"no\"},{\"type\":\"text\","
		  "\"text\":\"\"},{\"type\":\"text\",\"text\":\"z\"},{\"text\":\"no\"},7]}",
		  "in\n\nz" },
		{ RESULT_TOOL, "{\"content\":[{\"type\":\"image\",\"data\":\"QQ==\"}]}", "" },
		{ RESULT_TOOL, "{\"content\":[{\"type\":\"text\",\"text\":5}]}", "" },
		{ RESULT_RESOURCE,
		  "{\"contents\":[{\"uri\":\"a\",\"text\":\"1\"},{\"uri\":\"b\",\"blob\":\"QQ==\"},"
		  "{\"uri\":\"c\",\"text\":\"2\"}]}",
		  "1\n2" },
		{ RESULT_PROMPT,
		  "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"q\"}},"
		  "{\"role\":\"assistant\",\"content\":{\"type\":\"resource\",\"resource\":{\"text\":"
		  "\"r\"}}},{\"text\":\"no\"}]}",
		  "q\nr" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_result *r = make(rows[i].shape, rows[i].text);
		const char *text = cleat_result_text(r);

		assert_string_equal(text, rows[i].wanted);
		assert_ptr_equal(cleat_result_text(r), text);
		cleat_result_free(r);
	}
}

TEST(text_with_nul_in_it_keeps_the_rest)
{
	cleat_result *r =
		make(RESULT_TOOL, "{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"},"
				  "{\"type\":\"text\",\"text\":\"c\"}]}");

	assert_memory_equal(cleat_result_text(r), "a\0b\nc", 6);
	cleat_result_free(r);
}

/* ---- cost ------------------------------------------------------------------------------------- */

TEST(blocks_are_decoded_once)
{
	enum { N = 9000 };
	struct fail_alloc fa;
	cleat_content first, again;
	struct buf text;
	cleat_result *r;
	size_t requests;

	fail_alloc_init(&fa, 0, false);
	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_appendz(&text, "{\"content\":[{\"type\":\"image\",\"data\":\"");
	for (int i = 0; i < N; i++)
		buf_appendz(&text, "QUJD");
	buf_appendz(&text, "\"},{\"type\":\"audio\",\"data\":\"");
	for (int i = 0; i < N; i++)
		buf_appendz(&text, "!!!!");
	buf_appendz(&text, "\"}]}");
	r = make_with(&fa.hook, RESULT_TOOL, buf_str(&text));
	assert_true(cleat_result_content(r, 0, &first));
	assert_int_equal(first.size, 3 * N);
	assert_true(cleat_result_content(r, 1, &again));
	assert_null(again.data);
	requests = fa.requests;
	for (int i = 0; i < 100; i++) {
		assert_true(cleat_result_content(r, 0, &again));
		assert_ptr_equal(first.data, again.data);
		assert_true(cleat_result_content(r, 1, &again));
		assert_null(again.data);
	}
	assert_int_equal(fa.requests, requests);
	cleat_result_free(r);
	assert_int_equal(fa.live, 0);
	buf_done(&text);
}

/* In any order, and in linear time in order: with a search from the start for each of them this would
 * take minutes. */
TEST(many_blocks_are_no_burden)
{
	enum { N = 300000 };
	struct buf text;
	cleat_result *r;
	cleat_content c;
	size_t n = 0;

	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_appendz(&text, "{\"content\":[[0]");
	for (int i = 1; i < N; i++)
		buf_appendz(&text, ",[0]");
	buf_appendz(&text, "]}");
	r = make_with(NULL, RESULT_TOOL, buf_str(&text));
	while (cleat_result_content(r, n, &c))
		n++;
	assert_int_equal(n, N);
	assert_true(cleat_result_content(r, 0, &c));
	assert_ptr_equal(c.json, cleat_json_at(cleat_result_items(r), 0));
	assert_true(cleat_result_content(r, N - 1, &c));
	assert_ptr_equal(c.json, cleat_json_at(cleat_result_items(r), N - 1));
	assert_true(cleat_result_content(r, N / 2, &c));
	assert_ptr_equal(c.json, cleat_json_at(cleat_result_items(r), N / 2));
	assert_false(cleat_result_content(r, N, &c));
	cleat_result_free(r);
	buf_done(&text);
}

/* A block that could not be decoded for lack of memory can be, later. */
TEST(lack_of_memory_is_not_remembered)
{
	struct fail_alloc fa;
	struct buf text;
	bool hit = true;

	buf_init(&text, NULL, SIZE_MAX / 2);
	buf_appendz(&text, "{\"contents\":[{\"uri\":\"u\",\"blob\":\"");
	for (int i = 0; i < 30000; i++)
		buf_appendz(&text, "QUJD");
	buf_appendz(&text, "\"},{\"uri\":\"u\",\"text\":\"");
	for (int i = 0; i < 5000; i++)
		buf_putc(&text, 'x');
	buf_appendz(&text, "\"},{\"uri\":\"u\",\"text\":\"y\"}]}");
	for (size_t n = 1; hit; n++) {
		cleat_content c;
		cleat_result *r;

		fail_alloc_init(&fa, 0, false);
		r = make_with(&fa.hook, RESULT_RESOURCE, buf_str(&text));
		fa.countdown = n;
		assert_true(cleat_result_content(r, 0, &c));
		if (!c.data)
			assert_true(fail_alloc_hit(&fa));
		if (!cleat_result_text(r)[0])
			assert_true(fail_alloc_hit(&fa));
		hit = fail_alloc_hit(&fa);
		fa.countdown = 0;
		assert_true(cleat_result_content(r, 0, &c));
		assert_int_equal(c.size, 90000);
		assert_int_equal(strlen(cleat_result_text(r)), 5002);
		cleat_result_free(r);
		assert_int_equal(fa.live, 0);
	}
	buf_done(&text);
}
