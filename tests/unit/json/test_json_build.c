/* tests/unit/json/test_json_build.c - values made step by step: what comes out is what parsing the same
 * text gives, what is wrong is said in the end, and lack of memory leaves nothing behind.
 */
#include "support.h"
#include "test.h"
#include "json/build.h"
#include "json/copy.h"
#include "json/doc.h"
#include "json/parse.h"
#include "json/writer.h"

#include <cleat/json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Is the finished document this text, and equal to what parsing it gives? */
static void assert_built(cleat_build *b, const char *expected)
{
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_build_finish(b, &err);
	cleat_doc *parsed = cleat_doc_parse(expected, strlen(expected), NULL, NULL, NULL);
	char *text = cleat_json_print(cleat_doc_root(doc), NULL);

	assert_string_equal(err.message, "");
	assert_non_null(parsed);
	assert_string_equal(text, expected);
	assert_true(cleat_json_equal(cleat_doc_root(doc), cleat_doc_root(parsed)));
	assert_int_equal(json_nodes(cleat_doc_root(doc)), json_nodes(cleat_doc_root(parsed)));
	free(text);
	cleat_doc_free(doc);
	cleat_doc_free(parsed);
}

static void put_all(cleat_build *b, const cleat_json *v)
{
	cleat_build_object(b, NULL);
	cleat_build_str(b, "text", "a\"b\\c\n\xC3\xA9\xFF");
	cleat_build_strn(b, "bytes", "a\0b", 3);
	cleat_build_str(b, "none", NULL);
	cleat_build_array(b, "numbers");
	cleat_build_int(b, NULL, INT64_MIN);
	cleat_build_uint(b, NULL, UINT64_MAX);
	cleat_build_num(b, NULL, 0.1);
	cleat_build_num(b, NULL, 3);
	cleat_build_num(b, NULL, INFINITY);
	cleat_build_end(b);
	cleat_build_object(b, "empty");
	cleat_build_end(b);
	cleat_build_bool(b, "yes", true);
	cleat_build_bool(b, "", false);
	cleat_build_null(b, "null");
	cleat_build_value(b, "value", v);
	cleat_build_value(b, "no value", NULL);
	cleat_build_valuef(b, "template", "{a: [%d, 'x\\u00e9\\'\\n\\ud83d\\ude00'], 'q\\\\': %s}",
			   1, "t");
	cleat_build_array(b, "rows");
	for (int i = 0; i < 40; i++) {
		cleat_build_array(b, NULL);
		cleat_build_end(b);
	}
	cleat_build_end(b);
	cleat_build_end(b);
}

#define ROWS "[],[],[],[],[],[],[],[],[],[]"
static const char all[] =
	"{\"text\":\"a\\\"b\\\\c\\n\xC3\xA9\xEF\xBF\xBD\",\"bytes\":\"a\\u0000b\",\"none\":null,"
	"\"numbers\":[-9223372036854775808,18446744073709551615,0.1,3,null],\"empty\":{},"
	"\"yes\":true,\"\":false,\"null\":null,\"value\":{\"x\":[1.10,\"\\u0001\",{}]},"
	"\"no value\":null,"
	"\"template\":{\"a\":[1,\"x\xC3\xA9'\\n\xF0\x9F\x98\x80\"],\"q\\\\\":\"t\"},"
	"\"rows\":[" ROWS "," ROWS "," ROWS "," ROWS "]}";

TEST(what_is_built_is_what_parsing_gives)
{
	const char *part = "{\"x\":[1.10,\"\\u0001\",{}]}";
	cleat_doc *doc = cleat_doc_parse(part, strlen(part), NULL, NULL, NULL);
	cleat_build *b = cleat_build_new(NULL);

	put_all(b, cleat_doc_root(doc));
	cleat_doc_free(doc); /* it was copied */
	assert_built(b, all);
	b = cleat_build_new(NULL);
	cleat_build_str(b, NULL, "alone");
	assert_built(b, "\"alone\"");
	b = cleat_build_new(NULL);
	cleat_build_valuef(b, NULL, "%d", 7);
	assert_built(b, "7");
	b = cleat_build_new(NULL);
	cleat_build_object(b, NULL);
	cleat_build_free(b);
	cleat_build_free(NULL);
}

/* All that a writer can be told, but for pieces of values. */
static void write_all(struct jw *w, const cleat_json *v)
{
	jw_obj(w);
	jw_kv_str(w, "text", "a\"\n\xC3\xA9\xFF");
	jw_text_begin(w);
	jw_text_part(w, STR_LIT("in "));
	jw_text_part(w, STR_LIT("\"parts"));
	jw_text_end(w, true);
	jw_arr(w);
	jw_int(w, -1);
	jw_real(w, 0.1);
	jw_rawz(w, "1e400");
	jw_rawz(w, "1.0");
	jw_rawz(w, "{\"z\":[-0,\"2\"],\"a\":null,\"z\":0}");
	jw_bool(w, false);
	jw_strz(w, NULL);
	jw_base64(w, "abcd", 4);
	jw_base64(w, "", 0);
	jw_format(w, NULL, "{a: [%s, true]}", "x");
	jw_arr_end(w);
	jw_kv_value(w, "value", v);
	jw_kv_int(w, "value", 1); /* as when it is read, a key may appear twice */
	jw_obj_end(w);
}

TEST(a_writer_makes_the_values_of_its_text)
{
	const char *part = "{\"x\":[1.10,\"\\u0001\",{}]}";
	cleat_doc *doc = cleat_doc_parse(part, strlen(part), NULL, NULL, NULL);
	struct buf text;
	const cleat_json *v, *parsed;
	struct build b;
	struct arena ar;
	struct jw w;
	int rc;

	buf_init(&text, NULL, 4096);
	jw_init(&w, &text);
	write_all(&w, cleat_doc_root(doc));
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		arena_init(&ar, &fa.hook, 1 << 20);
		build_init(&b, &ar);
		jw_build(&w, &b);
		write_all(&w, cleat_doc_root(doc));
		rc = build_finish(&b, &v, NULL);
		assert_true(rc == (fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK));
		if (!rc) {
			fail_alloc_calm(&fa);
			assert_true(str_eq(json_text(&ar, v), buf_str(&text)));
			assert_int_equal(json_parse(&ar, buf_str(&text), NULL, &parsed, NULL),
					 CLEAT_OK);
			assert_int_equal(json_nodes(v), json_nodes(parsed));
		}
		arena_done(&ar);
	}
	buf_done(&text);
	cleat_doc_free(doc);
}

TEST(a_writer_of_values_takes_no_pieces)
{
	const cleat_json *v;
	struct arena ar;
	struct build b;
	struct jw w;

	for (int i = 0; i < 4; i++) {
		arena_init(&ar, NULL, 0);
		build_init(&b, &ar);
		jw_build(&w, &b);
		if (i == 0)
			jw_splice(&w, STR_LIT("{\"a\":"), false);
		else if (i == 1)
			jw_frame(&w, STR_LIT("["), STR_LIT("1"), STR_LIT("]"), true);
		else if (i == 2)
			jw_frame_str(&w, STR_LIT("["), STR_LIT("1"), STR_LIT("]"), true);
		else
			jw_rawz(&w, "nonsense");
		assert_int_not_equal(build_finish(&b, &v, NULL), CLEAT_OK);
		assert_null(v);
		arena_done(&ar);
	}
}

TEST(lookups_work_in_what_was_built)
{
	cleat_doc *doc = cleat_doc_newf(NULL, "{a: {b: [1, [2, 3], 'x']}, c: %s}", "\x80");
	const cleat_json *v = cleat_json_get(cleat_json_get(cleat_doc_root(doc), "a"), "b");

	assert_int_equal(cleat_json_size(v), 3);
	assert_int_equal(cleat_json_int(cleat_json_at(cleat_json_at(v, 1), 1), 0), 3);
	assert_string_equal(cleat_json_str(cleat_json_at(v, 2), ""), "x");
	assert_string_equal(cleat_json_str(cleat_json_get(cleat_doc_root(doc), "c"), ""),
			    "\xEF\xBF\xBD");
	cleat_doc_free(doc);
}

/* Steps: { } objects, [ ] arrays (with a key where it follows k or l), 1 and a value, v a wrong template. */
static void perform(cleat_build *b, const char *steps)
{
	const char *key = NULL;

	for (; *steps; steps++) {
		switch (*steps) {
		case 'k': key = "k"; continue;
		case 'l': key = "l"; continue;
		case '{': cleat_build_object(b, key); break;
		case '[': cleat_build_array(b, key); break;
		case '1': cleat_build_int(b, key, 1); break;
		case 'v': cleat_build_valuef(b, key, "{"); break;
		default: cleat_build_end(b); break;
		}
		key = NULL;
	}
}

TEST(misuse_is_said_in_the_end)
{
	static const struct {
		const char *steps;
		int status;
		const char *says;
	} rows[] = {
		{ "", CLEAT_EMISUSE, "there is no value" },
		{ "k1", CLEAT_EMISUSE, "a key outside of an object" },
		{ "11", CLEAT_EMISUSE, "a second value" },
		{ "{}[", CLEAT_EMISUSE, "a second value" },
		{ "{1", CLEAT_EMISUSE, "has no key" },
		{ "{[", CLEAT_EMISUSE, "has no key" },
		{ "[k1", CLEAT_EMISUSE, "in an array has a key" },
		{ "}", CLEAT_EMISUSE, "an end without" },
		{ "[]]", CLEAT_EMISUSE, "an end without" },
		{ "[[]", CLEAT_EMISUSE, "is not ended" },
		{ "{k1l1k[]}", CLEAT_EINVAL, "the key \"k\" appears twice" },
		{ "[v", CLEAT_EINVAL, "template: expected a key or '}' at 1" },
		{ "[v]]k1", CLEAT_EINVAL, "template: expected" }, /* the first thing */
	};

	for (size_t i = 0; i < CLEAT_COUNT(rows); i++) {
		cleat_build *b = cleat_build_new(NULL);
		cleat_error err;

		perform(b, rows[i].steps);
		assert_null(cleat_build_finish(b, &err));
		assert_int_equal(err.status, rows[i].status);
		assert_non_null(strstr(err.message, rows[i].says));
	}
}

/* `around` arrays around a value that has `inside` levels itself. */
static int nest(int around, int inside, cleat_error *err)
{
	cleat_build *b = cleat_build_new(NULL), *v = cleat_build_new(NULL);
	cleat_doc *doc, *part;

	for (int i = 0; i < inside; i++)
		cleat_build_array(v, NULL);
	for (int i = 0; i < inside; i++)
		cleat_build_end(v);
	part = inside ? cleat_build_finish(v, NULL) : NULL;
	for (int i = 0; i < around; i++)
		cleat_build_array(b, NULL);
	cleat_build_value(b, NULL, cleat_doc_root(part));
	for (int i = 0; i < around; i++)
		cleat_build_end(b);
	doc = cleat_build_finish(b, err);
	if (!inside)
		cleat_build_free(v);
	cleat_doc_free(part);
	cleat_doc_free(doc);
	return doc ? CLEAT_OK : err->status;
}

TEST(nesting_has_a_limit)
{
	cleat_error err;

	assert_int_equal(nest(1024, 0, &err), CLEAT_OK);
	assert_int_equal(nest(1025, 0, &err), CLEAT_ELIMIT);
	assert_non_null(strstr(err.message, "nested deeper than 1024 levels"));
	assert_int_equal(nest(24, 1000, &err), CLEAT_OK);
	assert_int_equal(nest(25, 1000, &err), CLEAT_ELIMIT);
}

TEST(lack_of_memory_leaves_nothing)
{
	const char *part = "{\"x\":[1.10,\"\\u0001\",{}]}";
	cleat_doc *v = cleat_doc_parse(part, strlen(part), NULL, NULL, NULL);
	struct fail_alloc fa;
	size_t i = 0;

	do {
		cleat_error err = { 0 };
		cleat_build *b;
		cleat_doc *doc;

		i++;
		fail_alloc_init(&fa, i, i % 2);
		b = cleat_build_new(&fa.hook);
		put_all(b, cleat_doc_root(v));
		for (int k = 0; k < 100; k++) /* misuse by now, or out of memory */
			cleat_build_str(b, "k", "v");
		doc = cleat_build_finish(b, &err);
		assert_null(doc);
		assert_int_equal(err.status, fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_EMISUSE);
		assert_int_equal(fa.live, 0);
	} while (fail_alloc_hit(&fa));
	assert_true(i > 2);
	cleat_doc_free(v);
}

ARENA_TEST(copies_outlive_their_document)
{
	static const char *const texts[] = { "null", "\"x\\u0000y\"", "1.10", "[]", all };

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		cleat_doc *doc = cleat_doc_parse(texts[i], strlen(texts[i]), NULL, NULL, NULL);
		const cleat_json *copy;
		char *text;

		assert_int_equal(json_copy(ar, cleat_doc_root(doc), &copy), CLEAT_OK);
		cleat_doc_free(doc);
		text = cleat_json_print(copy, NULL);
		assert_string_equal(text, texts[i]);
		free(text);
	}
}
