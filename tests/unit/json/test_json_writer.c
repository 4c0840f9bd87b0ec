/* tests/unit/test_json_writer.c - JSON text: structure, escapes, invalid UTF-8, numbers, base64. */
#include "base/buf.h"
#include "test.h"
#include "json/doc.h"
#include "json/parse.h"
#include "json/writer.h"

#include <cleat/json.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct buf b;
static struct jw w;

static int setup(void **state)
{
	(void)state;
	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buf_done(&b);
	return 0;
}

/* What was written so far; starts anew. */
static void expect_written(const char *text, size_t n)
{
	struct str s = buf_str(&b);

	assert_int_equal(buf_status(&b), CLEAT_OK);
	if (s.n != n || memcmp(s.p, text, n) != 0)
		fail_msg("got %.*s, expected %s", (int)s.n, s.p, text);
	buf_reset(&b, SIZE_MAX);
	jw_init(&w, &b);
}

static void expect_text(const char *text)
{
	expect_written(text, strlen(text));
}

TEST_WITH(commas_stand_between_elements, setup, teardown)
{
	jw_obj(&w);
	jw_key(&w, "a");
	jw_arr(&w);
	jw_int(&w, 1);
	jw_obj(&w);
	jw_obj_end(&w);
	jw_arr(&w);
	jw_arr_end(&w);
	jw_null(&w);
	jw_bool(&w, true);
	jw_bool(&w, false);
	jw_strz(&w, "x");
	jw_rawz(&w, "{\"r\":1}");
	jw_real(&w, 0.5);
	jw_base64(&w, "a", 1);
	jw_arr_end(&w);
	jw_keyn(&w, STR_LIT("k\"\n"));
	jw_uint(&w, 2);
	jw_kv_int(&w, "i", -3);
	jw_obj_end(&w);
	expect_text(
		"{\"a\":[1,{},[],null,true,false,\"x\",{\"r\":1},0.5,\"YQ==\"],\"k\\\"\\n\":2,\"i\":-3}");
}

TEST_WITH(absent_members_write_nothing, setup, teardown)
{
	jw_obj(&w);
	jw_kv_str(&w, "a", NULL);
	jw_kv_strn(&w, "b", (struct str){ NULL, 0 });
	jw_kv_raw(&w, "c", (struct str){ NULL, 0 });
	jw_kv_value(&w, "d", NULL);
	jw_kv_str(&w, "e", "");
	jw_kv_strn(&w, "f", STR_LIT("f"));
	jw_kv_raw(&w, "g", STR_LIT("[]"));
	jw_kv_bool(&w, "h", false);
	jw_obj_end(&w);
	expect_text("{\"e\":\"\",\"f\":\"f\",\"g\":[],\"h\":false}");
	jw_arr(&w);
	jw_str(&w, (struct str){ NULL, 0 });
	jw_strz(&w, NULL);
	jw_rawz(&w, NULL);
	jw_value(&w, NULL);
	jw_arr_end(&w);
	expect_text("[null,null,null,null]");
}

/* RFC 8259 section 7: quote, backslash and U+0000 to U+001F; nothing else has to be escaped. */
TEST_WITH(every_ascii_character_is_encoded, setup, teardown)
{
	char all[128], quoted[400], *p = quoted;

	*p++ = '"';
	for (int c = 0; c < 128; c++) {
		static const char brief[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
		const char *at = c ? strchr(brief, c) : NULL;

		all[c] = (char)c;
		if (at)
			p += snprintf(p, 3, "\\%c", names[at - brief]);
		else if (c < 0x20)
			p += snprintf(p, 7, "\\u%04x", (unsigned)c);
		else
			*p++ = (char)c;
	}
	*p++ = '"';
	jw_str(&w, (struct str){ all, sizeof all });
	expect_written(quoted, (size_t)(p - quoted));
}

/* The eight-byte steps find a special character at every place of every length. */
TEST_WITH(special_characters_are_found_at_every_place, setup, teardown)
{
	static const char specials[] = { '"', '\\', '\x01', '\x1f' };
	static const char *const escapes[] = { "\\\"", "\\\\", "\\u0001", "\\u001f" };
	char text[40], expected[80];

	for (size_t n = 1; n <= sizeof text; n++) {
		for (size_t at = 0; at < n; at++) {
			size_t k = (n + at) % 4;

			memset(text, at % 2 ? ' ' : 'z', n);
			text[at] = specials[k];
			snprintf(expected, sizeof expected, "\"%.*s%s%.*s\"", (int)at, text,
				 escapes[k], (int)(n - at - 1), text + at + 1);
			jw_str(&w, (struct str){ text, n });
			expect_text(expected);
		}
	}
}

/* Unicode 15, section 3.9: one U+FFFD for each maximal subpart (table 3-8 and neighbours). */
TEST_WITH(invalid_utf8_becomes_replacement_characters, setup, teardown)
{
#define R "\xEF\xBF\xBD"
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E", "\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E" },
		{ "a\x80z", "a" R "z" },
		{ "\xC0\xAF", R R },
		{ "\xE0\x80\xAF", R R R },
		{ "\xED\xA0\x80", R R R },
		{ "\xF4\x90\x80\x80", R R R R },
		{ "\xFF\xFE", R R },
		{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", R R R R "A" },
		{ "\xE2\x82", R },
		{ "\xF0\x9F\x98", R },
		{ "\xF0\x9F\x98\"", R "\\\"" },
		{ "12345678\xC3", "12345678" R },
		{ "\xE2\x80\xA8\xE2\x80\xA9\x7F", "\xE2\x80\xA8\xE2\x80\xA9\x7F" },
		{ "\xF4\x8F\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\xC2\x80",
		  "\xF4\x8F\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\xC2\x80" },
	};
	char expected[64];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		snprintf(expected, sizeof expected, "\"%s\"", cases[i].out);
		jw_strz(&w, cases[i].in);
		expect_text(expected);
		snprintf(expected, sizeof expected, "\"%s\":", cases[i].out);
		jw_keyn(&w, str_of(cases[i].in));
		expect_text(expected);
	}
#undef R
}

TEST_WITH(integers_are_written_whole, setup, teardown)
{
	jw_arr(&w);
	jw_int(&w, 0);
	jw_int(&w, -1);
	jw_int(&w, INT64_MIN);
	jw_int(&w, INT64_MAX);
	jw_uint(&w, UINT64_MAX);
	jw_arr_end(&w);
	expect_text("[0,-1,-9223372036854775808,9223372036854775807,18446744073709551615]");
}

TEST_WITH(doubles_are_written_shortest, setup, teardown)
{
	jw_arr(&w);
	jw_real(&w, 3.0);
	jw_real(&w, 0.1);
	jw_real(&w, -2.5);
	jw_real(&w, 1.0 / 3);
	jw_real(&w, 0.0);
	jw_real(&w, (double)NAN);
	jw_real(&w, (double)INFINITY);
	jw_real(&w, -(double)INFINITY);
	jw_arr_end(&w);
	expect_text("[3,0.1,-2.5,0.3333333333333333,0,null,null,null]");
}

TEST_WITH(doubles_survive_a_round_trip, setup, teardown)
{
	static const double numbers[] = { 5e-324,
					  DBL_MIN,
					  DBL_MAX,
					  -DBL_MAX,
					  1e22,
					  1e21,
					  1e-7,
					  123456789012345680.0,
					  9007199254740993.0,
					  0.1 + 0.2,
					  1e15,
					  1e16,
					  1e17 };

	for (size_t i = 0; i < CLEAT_COUNT(numbers); i++) {
		cleat_doc *doc;

		jw_real(&w, numbers[i]);
		doc = cleat_doc_parse(buf_str(&b).p, buf_size(&b), NULL, NULL, NULL);
		assert_non_null(doc);
		assert_true(cleat_json_num(cleat_doc_root(doc), 0) == numbers[i]);
		cleat_doc_free(doc);
		buf_reset(&b, SIZE_MAX);
		jw_init(&w, &b);
	}
}

TEST_WITH(doubles_do_not_depend_on_the_locale, setup, teardown)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	const char *set = NULL;
	cleat_doc *doc;

	for (size_t i = 0; i < CLEAT_COUNT(names) && !set; i++)
		set = setlocale(LC_NUMERIC, names[i]);
	jw_real(&w, 1.5);
	doc = cleat_doc_parse("1.5", 3, NULL, NULL, NULL);
	setlocale(LC_NUMERIC, "C");
	expect_text("1.5");
	assert_true(cleat_json_num(cleat_doc_root(doc), 0) == 1.5);
	cleat_doc_free(doc);
	if (!set)
		skip(); /* no locale with a decimal comma is installed */
}

TEST_WITH(values_are_written_as_they_were_read, setup, teardown)
{
	static const char *const texts[] = {
		"{\"a\":[1.10,-0,1E5,12345678901234567890],\"b\":{\"c\":{},\"d\":[]},\"e\":null}",
		"[[[[]]],[{\"x\":[{}]}],true,false,\"\"]",
		"[\"\\u0000\\u001f\\\"\\\\\xC3\xA9\",{\"\\n\":1}]",
		"\"text\"",
		"0",
		"{}",
	};

	for (size_t i = 0; i < CLEAT_COUNT(texts); i++) {
		cleat_doc *doc = cleat_doc_parse(texts[i], strlen(texts[i]), NULL, NULL, NULL);
		size_t n;
		char *text;

		assert_non_null(doc);
		jw_value(&w, cleat_doc_root(doc));
		expect_text(texts[i]);
		text = cleat_json_print(cleat_doc_root(doc), &n);
		assert_string_equal(text, texts[i]);
		assert_int_equal(n, strlen(texts[i]));
		free(text);
		cleat_doc_free(doc);
	}
}

TEST_WITH(a_value_inside_a_value_is_written_alone, setup, teardown)
{
	static const char text[] = "{\"a\":[{\"b\":[1,2]},3],\"c\":4}";
	cleat_doc *doc = cleat_doc_parse(text, strlen(text), NULL, NULL, NULL);

	jw_arr(&w);
	jw_value(&w, cleat_json_at(cleat_json_get(cleat_doc_root(doc), "a"), 0));
	jw_value(&w, cleat_json_get(cleat_doc_root(doc), "c"));
	jw_arr_end(&w);
	expect_text("[{\"b\":[1,2]},4]");
	jw_obj(&w);
	jw_kv_value(&w, "v", cleat_json_get(cleat_doc_root(doc), "c"));
	jw_obj_end(&w);
	expect_text("{\"v\":4}");
	cleat_doc_free(doc);
}

TEST_WITH(deepest_value_is_written, setup, teardown)
{
	cleat_json_limits limits = { .max_depth = 1024 };
	cleat_doc *doc;
	char text[2048];

	memset(text, '[', 1024);
	memset(text + 1024, ']', 1024);
	doc = cleat_doc_parse(text, sizeof text, &limits, NULL, NULL);
	jw_value(&w, cleat_doc_root(doc));
	expect_written(text, sizeof text);
	cleat_doc_free(doc);
}

/* RFC 4648 section 10 */
TEST_WITH(base64_test_vectors, setup, teardown)
{
	static const char *const out[] = { "\"\"",        "\"Zg==\"",     "\"Zm8=\"",
					   "\"Zm9v\"",    "\"Zm9vYg==\"", "\"Zm9vYmE=\"",
					   "\"Zm9vYmFy\"" };
	static const unsigned char high[] = { 0xFF, 0xEF, 0xBE, 0xFB, 0xF0, 0x00 };

	for (size_t i = 0; i < CLEAT_COUNT(out); i++) {
		jw_base64(&w, "foobar", i);
		expect_text(out[i]);
	}
	jw_base64(&w, high, sizeof high);
	expect_text("\"/+++"
		    "+/AA\"");
	jw_base64(&w, NULL, 0);
	expect_text("\"\"");
}

TEST_WITH(the_buffers_maximum_is_exact, setup, teardown)
{
	struct buf small;
	struct jw s;

	buf_init(&small, NULL, 9);
	jw_init(&s, &small);
	jw_arr(&s);
	jw_str(&s, STR_LIT("ab"));
	jw_str(&s, STR_LIT("c"));
	assert_int_equal(buf_status(&small), CLEAT_OK);
	assert_int_equal(buf_size(&small), 9);
	jw_arr_end(&s);
	assert_int_equal(buf_status(&small), CLEAT_ELIMIT);
	jw_strz(&s, "latched: nothing happens");
	jw_base64(&s, "x", 1);
	jw_value(&s, NULL);
	assert_int_equal(buf_size(&small), 9);
	buf_done(&small);
}
