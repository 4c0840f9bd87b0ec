/* tests/unit/test_json.c - reading JSON: what is accepted, what is refused and how that is said,
 * limits, getters, iteration.
 */
#include "base/arena.h"
#include "support.h"
#include "unit/json/json_rig.h"
#include "json/parse.h"

#include <cleat/json.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>

static void refuse(const char *text, size_t n, const cleat_json_limits *limits, int status,
		   const char *message)
{
	cleat_error err = { 0 };

	assert_null(cleat_doc_parse(text, n, limits, NULL, &err));
	assert_int_equal(err.status, status);
	/* how it goes on is yyjson's wording, which differs between its versions */
	assert_memory_equal(err.message, message, strlen(message));
	assert_null(cleat_doc_parse(text, n, limits, NULL, NULL));
}

static bool accepts(const char *path)
{
	size_t n;
	char *text = support_read_file(path, &n);
	cleat_error err = { 0 };
	cleat_doc *doc;

	assert_non_null(text);
	doc = cleat_doc_parse(text, n, NULL, NULL, &err);
	if (!doc)
		assert_true(err.status && err.message[0]);
	free(text);
	cleat_doc_free(doc);
	return doc != NULL;
}

/* Every file of the suite that starts with `prefix`; names those that went wrong. */
static void run_suite(const char *prefix, size_t expected, bool accept)
{
	char dir[1024], path[2048];
	size_t seen = 0, wrong = 0;
	struct dirent *e;
	DIR *d;

	if (!support_data_path(dir, sizeof dir, "JSONTestSuite/test_parsing"))
		skip();
	d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		seen++;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		if (accepts(path) == accept)
			continue;
		print_message("%s: must be %s\n", e->d_name, accept ? "accepted" : "refused");
		wrong++;
	}
	closedir(d);
	assert_int_equal(wrong, 0);
	assert_int_equal(seen, expected);
}

TEST(suite_y_is_accepted)
{
	run_suite("y_", 95, true);
}

TEST(suite_n_is_refused)
{
	run_suite("n_", 188, false);
}

/* What RFC 8259 leaves open, pinned: numbers of any size are kept as text; whatever is not
 * well-formed UTF-8, or a lone surrogate, or deeper than the limit, is refused. */
TEST(suite_i_is_pinned)
{
	static const struct {
		const char *name;
		bool accept;
	} pins[] = {
		{ "i_number_double_huge_neg_exp", true },
		{ "i_number_huge_exp", true },
		{ "i_number_neg_int_huge_exp", true },
		{ "i_number_pos_double_huge_exp", true },
		{ "i_number_real_neg_overflow", true },
		{ "i_number_real_pos_overflow", true },
		{ "i_number_real_underflow", true },
		{ "i_number_too_big_neg_int", true },
		{ "i_number_too_big_pos_int", true },
		{ "i_number_very_big_negative_int", true },
		{ "i_object_key_lone_2nd_surrogate", false },
		{ "i_string_1st_surrogate_but_2nd_missing", false },
		{ "i_string_1st_valid_surrogate_2nd_invalid", false },
		{ "i_string_UTF-16LE_with_BOM", false },
		{ "i_string_UTF-8_invalid_sequence", false },
		{ "i_string_UTF8_surrogate_U+D800", false },
		{ "i_string_incomplete_surrogate_and_escape_valid", false },
		{ "i_string_incomplete_surrogate_pair", false },
		{ "i_string_incomplete_surrogates_escape_valid", false },
		{ "i_string_invalid_lonely_surrogate", false },
		{ "i_string_invalid_surrogate", false },
		{ "i_string_invalid_utf-8", false },
		{ "i_string_inverted_surrogates_U+1D11E", false },
		{ "i_string_iso_latin_1", false },
		{ "i_string_lone_second_surrogate", false },
		{ "i_string_lone_utf8_continuation_byte", false },
		{ "i_string_not_in_unicode_range", false },
		{ "i_string_overlong_sequence_2_bytes", false },
		{ "i_string_overlong_sequence_6_bytes", false },
		{ "i_string_overlong_sequence_6_bytes_null", false },
		{ "i_string_truncated-utf-8", false },
		{ "i_string_utf16BE_no_BOM", false },
		{ "i_string_utf16LE_no_BOM", false },
		{ "i_structure_500_nested_arrays", false },
		{ "i_structure_UTF-8_BOM_empty_object", false },
	};
	char name[256], path[1024];

	assert_int_equal(CLEAT_COUNT(pins), 35);
	for (size_t i = 0; i < CLEAT_COUNT(pins); i++) {
		snprintf(name, sizeof name, "JSONTestSuite/test_parsing/%s.json", pins[i].name);
		if (!support_data_path(path, sizeof path, name)) {
			assert_int_equal(i, 0); /* all of them are missing or none */
			skip();
		}
		if (accepts(path) != pins[i].accept)
			fail_msg("%s", pins[i].name);
	}
}

TEST(errors_say_where_and_why)
{
	const char *empty = "the JSON text is empty";

	refuse(NULL, 0, NULL, CLEAT_EPROTO, empty);
	refuse("", 0, NULL, CLEAT_EPROTO, empty);
	refuse(" \n ", 3, NULL, CLEAT_EPROTO, empty);
	refuse("{\n \"a\": 1,\n  x}", 14, NULL, CLEAT_EPROTO,
	       "line 3, column 3: unexpected character, expected a string");
	refuse("[\"\xC3\xA9\", }", 9, NULL, CLEAT_EPROTO,
	       "line 1, column 7: unexpected character, expected a valid JSON value");
	refuse("[1", 2, NULL, CLEAT_EPROTO, "line 1, column 3: unexpected end of data");
	refuse("[1] x", 5, NULL, CLEAT_EPROTO,
	       "line 1, column 5: unexpected content after document");
	refuse("\xEF\xBB\xBF[1]", 6, NULL, CLEAT_EPROTO,
	       "line 1, column 1: byte order mark (BOM) is not supported");
	refuse("[\"\xED\xA0\x80\"]", 7, NULL, CLEAT_EPROTO,
	       "line 1, column 3: invalid UTF-8 encoding in string");
}

/* RFC 8259 section 7: U+0000 only as an escape; section 2: nothing may follow the value. */
TEST(nul_bytes_are_refused)
{
	assert_null(cleat_doc_parse("[1]\0", 4, NULL, NULL, NULL));
	assert_null(cleat_doc_parse("1\0", 2, NULL, NULL, NULL));
	assert_null(cleat_doc_parse("[\"a\0b\"]", 7, NULL, NULL, NULL));
	assert_null(cleat_doc_parse("\0", 1, NULL, NULL, NULL));
}

static void repeat(char *to, char c, size_t n)
{
	memset(to, c, n);
}

TEST(depth_limit_is_exact)
{
	char text[2200];
	cleat_json_limits limits = { 0 };
	cleat_doc *doc;

	repeat(text, '[', 128);
	repeat(text + 128, ']', 128);
	doc = cleat_doc_parse(text, 256, NULL, NULL, NULL);
	assert_non_null(doc);
	cleat_doc_free(doc);
	repeat(text, '[', 129);
	repeat(text + 129, ']', 129);
	refuse(text, 258, NULL, CLEAT_ELIMIT, "the JSON text nests deeper than 128 levels");
	limits.max_depth = 5000; /* at most 1024 */
	repeat(text, '[', 1024);
	repeat(text + 1024, ']', 1024);
	doc = cleat_doc_parse(text, 2048, &limits, NULL, NULL);
	assert_non_null(doc);
	cleat_doc_free(doc);
	repeat(text, '[', 1025);
	repeat(text + 1025, ']', 1025);
	refuse(text, 2050, &limits, CLEAT_ELIMIT, "the JSON text nests deeper than 1024 levels");
	limits.max_depth = 2;
	doc = cleat_doc_parse("[[1],{},{\"a\":1},[2]]", 20, &limits, NULL, NULL);
	assert_non_null(doc);
	cleat_doc_free(doc);
	refuse("[[1],{},{\"a\":[]},[2]]", 21, &limits, CLEAT_ELIMIT,
	       "the JSON text nests deeper than 2 levels");
	limits.max_depth = 1; /* a scalar is not a level */
	doc = cleat_doc_parse("1", 1, &limits, NULL, NULL);
	assert_non_null(doc);
	cleat_doc_free(doc);
}

/* The root; a and its []; b, its array, the four elements and the 2; c, its object, d and null: 14. */
TEST(node_limit_is_exact)
{
	static const char text[] =
		" { \"a,:[\\\"\" : [ ] , \"b\":[1,{ },\"[,,,\",[2]], \"c\":{\"d\":null}}";
	cleat_json_limits limits = { .max_nodes = 14 };
	cleat_doc *doc;

	doc = cleat_doc_parse(text, strlen(text), &limits, NULL, NULL);
	assert_non_null(doc);
	cleat_doc_free(doc);
	limits.max_nodes = 13;
	refuse(text, strlen(text), &limits, CLEAT_ELIMIT,
	       "the JSON text has more than 13 values and keys");
	refuse("[1,2,3]", 7, &(cleat_json_limits){ .max_nodes = 3 }, CLEAT_ELIMIT,
	       "the JSON text has more than 3 values and keys");
}

/* A hostile text is refused before memory is taken for its values. */
TEST(too_many_nodes_cost_no_memory)
{
	const size_t n = 4 * 1000 * 1000;
	char *text = malloc(n);
	struct fail_alloc fa;
	cleat_error err;

	assert_non_null(text);
	for (size_t i = 0; i < n; i += 2)
		memcpy(text + i, i ? "1," : " [", 2);
	text[n - 1] = ']';
	fail_alloc_init(&fa, 0, false);
	assert_null(cleat_doc_parse(text, n, NULL, &fa.hook, &err));
	assert_int_equal(err.status, CLEAT_ELIMIT);
	assert_int_equal(fa.live, 0);
	assert_true(fa.peak < 4096);
	free(text);
}

TEST(over_the_arena_is_out_of_memory)
{
	struct arena ar;
	const cleat_json *v;
	cleat_error err;
	char text[6000];

	repeat(text, ' ', sizeof text);
	memcpy(text, "[1]", 3);
	arena_init(&ar, NULL, 5000);
	assert_int_equal(json_parse(&ar, (struct str){ text, sizeof text }, NULL, &v, &err),
			 CLEAT_ENOMEM);
	assert_null(v);
	assert_true(arena_failed(&ar));
	arena_reset(&ar);
	assert_int_equal(json_parse(&ar, STR_LIT("[1]"), NULL, &v, &err), CLEAT_OK);
	assert_int_equal(cleat_json_size(v), 1);
	arena_done(&ar);
}

TEST(getters_read_what_is_there)
{
	cleat_doc *doc = parse("{\"s\":\"a\\u0000b\",\"n\":-12,\"t\":true,\"f\":false,\"z\":null,"
			       "\"a\":[1,[2],{\"x\":3}],\"o\":{\"k\":\"v\"},\"\":7}");
	const cleat_json *v = cleat_doc_root(doc), *a = cleat_json_get(v, "a");
	size_t n;

	assert_int_equal(cleat_json_type(v), CLEAT_JSON_OBJECT);
	assert_int_equal(cleat_json_size(v), 8);
	assert_int_equal(cleat_json_type(cleat_json_get(v, "s")), CLEAT_JSON_STRING);
	assert_int_equal(cleat_json_type(cleat_json_get(v, "n")), CLEAT_JSON_NUMBER);
	assert_int_equal(cleat_json_type(cleat_json_get(v, "t")), CLEAT_JSON_BOOL);
	assert_int_equal(cleat_json_type(cleat_json_get(v, "z")), CLEAT_JSON_NULL);
	assert_int_equal(cleat_json_type(a), CLEAT_JSON_ARRAY);
	assert_memory_equal(cleat_json_strn(cleat_json_get(v, "s"), &n), "a\0b", 4);
	assert_int_equal(n, 3);
	assert_string_equal(cleat_json_str(cleat_json_get(v, "s"), "?"), "a");
	assert_int_equal(cleat_json_int(cleat_json_get(v, "n"), 0), -12);
	assert_true(cleat_json_bool(cleat_json_get(v, "t"), false));
	assert_false(cleat_json_bool(cleat_json_get(v, "f"), true));
	assert_int_equal(cleat_json_size(a), 3);
	assert_int_equal(cleat_json_int(cleat_json_at(cleat_json_at(a, 1), 0), 0), 2);
	assert_int_equal(cleat_json_int(cleat_json_get(cleat_json_at(a, 2), "x"), 0), 3);
	assert_null(cleat_json_at(a, 3));
	assert_int_equal(cleat_json_int(cleat_json_get(v, ""), 0), 7);
	assert_string_equal(cleat_json_str(json_get(json_get(v, STR_LIT("o")), STR_LIT("k")), "?"),
			    "v");
	assert_null(cleat_json_getn(v, "ss", 2));
	assert_non_null(cleat_json_getn(v, "ss", 1));
	cleat_doc_free(doc);
}

/* A key with a NUL is not the key before the NUL. */
TEST(keys_are_compared_with_their_length)
{
	cleat_doc *doc = parse("{\"id\\u0000x\":1,\"id\":2}");
	const cleat_json *v = cleat_doc_root(doc);

	assert_int_equal(cleat_json_int(cleat_json_get(v, "id"), 0), 2);
	assert_int_equal(cleat_json_int(cleat_json_getn(v, "id\0x", 4), 0), 1);
	cleat_doc_free(doc);
}

TEST(getters_fall_back_for_null_and_wrong_types)
{
	cleat_doc *doc = parse("[\"x\",1,true,null,[],{}]");
	const cleat_json *values[7] = { NULL };
	size_t n = 9;

	for (size_t i = 0; i < 6; i++)
		values[i + 1] = cleat_json_at(cleat_doc_root(doc), i);
	for (size_t i = 0; i < 7; i++) {
		const cleat_json *v = values[i];

		if (i != 1) {
			assert_string_equal(cleat_json_str(v, "fb"), "fb");
			assert_null(cleat_json_strn(v, &n));
			assert_int_equal(n, 0);
			assert_null(cleat_json_strn(v, NULL));
			assert_null(json_str(v).p);
			assert_false(json_is_string(v));
			assert_int_equal(cleat_json_size(v), 0);
		}
		if (i != 2) {
			assert_int_equal(cleat_json_int(v, -7), -7);
			assert_int_equal(cleat_json_uint(v, 7), 7);
			assert_true(cleat_json_num(v, 0.5) == 0.5);
			assert_false(cleat_json_is_integer(v));
			assert_null(cleat_json_number_text(v));
		}
		if (i != 3) {
			assert_true(cleat_json_bool(v, true));
			assert_false(cleat_json_bool(v, false));
		}
		assert_null(cleat_json_get(v, "x"));
		assert_null(cleat_json_get(v, NULL));
		assert_null(cleat_json_getn(v, NULL, 0));
		assert_null(cleat_json_at(v, 0));
		assert_null(cleat_json_duplicate(v));
		assert_int_equal(json_check_keys(v, NULL), CLEAT_OK);
		assert_int_equal(json_is_array(v), i == 5);
		assert_int_equal(json_is_object(v), i == 6);
	}
	assert_int_equal(cleat_json_type(NULL), CLEAT_JSON_NONE);
	assert_null(cleat_doc_root(NULL));
	assert_null(cleat_json_print(NULL, NULL));
	cleat_doc_free(NULL);
	cleat_doc_free(doc);
}

TEST(iteration_visits_all_in_order)
{
	cleat_doc *doc = parse("{\"a\":[10,[0,0],30],\"b\":{},\"c\":1}");
	cleat_json_iter it = cleat_json_each(cleat_doc_root(doc));

	assert_true(cleat_json_next(&it));
	assert_string_equal(cleat_json_str(it.key, ""), "a");
	assert_int_equal(it.index, 0);
	assert_true(cleat_json_next(&it));
	assert_string_equal(cleat_json_str(it.key, ""), "b");
	assert_int_equal(it.index, 1);
	assert_true(cleat_json_next(&it));
	assert_int_equal(cleat_json_int(it.value, 0), 1);
	assert_int_equal(it.index, 2);
	assert_false(cleat_json_next(&it));
	assert_false(cleat_json_next(&it));
	assert_null(it.value);
	it = cleat_json_each(cleat_json_get(cleat_doc_root(doc), "a"));
	for (size_t i = 0; i < 3; i++) {
		assert_true(cleat_json_next(&it));
		assert_null(it.key);
		assert_int_equal(it.index, i);
	}
	assert_int_equal(cleat_json_int(it.value, 0), 30);
	assert_false(cleat_json_next(&it));
	it = cleat_json_each(NULL);
	assert_false(cleat_json_next(&it));
	it = cleat_json_each(cleat_json_get(cleat_doc_root(doc), "c"));
	assert_false(cleat_json_next(&it));
	assert_false(cleat_json_next(NULL));
	cleat_doc_free(doc);
}

TEST(type_names_are_for_messages)
{
	static const char *const names[] = { "null",     "true",     "false",    "a number",
					     "a string", "an array", "an object" };
	cleat_doc *doc = parse("[null,true,false,1,\"\",[],{}]");

	for (size_t i = 0; i < CLEAT_COUNT(names); i++)
		assert_string_equal(json_type_name(cleat_json_at(cleat_doc_root(doc), i)),
				    names[i]);
	assert_string_equal(json_type_name(NULL), "nothing");
	cleat_doc_free(doc);
}
