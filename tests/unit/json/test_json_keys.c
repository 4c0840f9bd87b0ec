/* tests/unit/test_json_keys.c - duplicate keys and equality, from one member to tens of
 * thousands, which take several passes.
 */
#include "unit/json/json_rig.h"
#include "json/node.h"
#include "json/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An object of n members "k<i>": <i>, i running in steps of `stride` (coprime to n) from `first`;
 * the key at place `at` (if below n) is that of place `copy` instead. */
static cleat_doc *numbered(size_t n, size_t first, size_t stride, size_t at, size_t copy)
{
	struct making m;

	make_object(&m);
	for (size_t i = 0; i < n; i++) {
		size_t place = i == at ? copy : i, number = (first + place * stride) % n;
		char key[32];

		snprintf(key, sizeof key, "k%zu", number);
		jw_key(&m.w, key);
		jw_uint(&m.w, number);
	}
	return made(&m);
}

static const size_t sizes[] = { 1, 2, 15, 16, 17, 64, 257, 1023, 1024, 1025, 20480, 20481, 60007 };

TEST(distinct_keys_have_no_duplicate)
{
	for (size_t i = 0; i < CLEAT_COUNT(sizes); i++) {
		cleat_doc *doc = numbered(sizes[i], 0, 1, SIZE_MAX, 0);

		assert_null(cleat_json_duplicate(cleat_doc_root(doc)));
		assert_int_equal(json_check_keys(cleat_doc_root(doc), NULL), CLEAT_OK);
		cleat_doc_free(doc);
	}
}

TEST(one_duplicate_is_found_wherever_it_stands)
{
	for (size_t i = 1; i < CLEAT_COUNT(sizes); i++) {
		const size_t n = sizes[i], at[] = { 1, n / 2, n - 1 }, from[] = { 0, 0, n - 2 };

		for (size_t j = 0; j < 3; j++) {
			cleat_doc *doc = numbered(n, 0, 1, at[j], from[j]);
			char expected[64];
			cleat_error err;

			if (at[j] == from[j]) {
				cleat_doc_free(doc);
				continue;
			}
			snprintf(expected, sizeof expected, "the key \"k%zu\" appears twice",
				 from[j]);
			assert_non_null(cleat_json_duplicate(cleat_doc_root(doc)));
			assert_int_equal(json_check_keys(cleat_doc_root(doc), &err), CLEAT_EPROTO);
			assert_string_equal(err.message, expected);
			cleat_doc_free(doc);
		}
	}
}

/* "The first key that appears twice": of several, the one that is repeated first, at any size. */
TEST(first_of_several_duplicates_is_given)
{
	static const size_t counts[] = { 12, 500, 60000 };

	for (size_t i = 0; i < CLEAT_COUNT(counts); i++) {
		struct making m;
		cleat_doc *doc;
		char key[32];

		make_object(&m);
		for (size_t j = 0; j < counts[i]; j++) {
			/* from two thirds on every key stands for the second time */
			snprintf(key, sizeof key, "%zu", (j * 3 / 2) % counts[i]);
			jw_key(&m.w, j == counts[i] / 3 ? "0" : key);
			jw_int(&m.w, 1);
		}
		doc = made(&m);
		assert_string_equal(
			cleat_json_str(cleat_json_duplicate(cleat_doc_root(doc)), "none"), "0");
		cleat_doc_free(doc);
	}
}

/* The hash sees every byte of keys of every length: none is taken for another, each is found. */
TEST(keys_of_every_length_are_told_apart)
{
	for (size_t twice = 0; twice <= 40; twice++) {
		struct making m;
		cleat_doc *doc;
		char key[41];

		memset(key, 'x', sizeof key);
		make_object(&m);
		for (size_t n = 0; n <= 40; n++) {
			jw_keyn(&m.w, (struct str){ key, n });
			jw_null(&m.w);
			for (size_t i = 0; i < n; i++) {
				key[i] = 'y';
				jw_keyn(&m.w, (struct str){ key, n });
				jw_null(&m.w);
				key[i] = 'x';
			}
		}
		if (twice) {
			jw_keyn(&m.w, (struct str){ key, twice });
			jw_null(&m.w);
		}
		doc = made(&m);
		if (twice)
			assert_int_equal(cleat_json_size(cleat_json_duplicate(cleat_doc_root(doc))),
					 twice);
		else
			assert_null(cleat_json_duplicate(cleat_doc_root(doc)));
		cleat_doc_free(doc);
	}
}

static void check(const char *text, int status, const char *message)
{
	cleat_doc *doc = parse(text);
	cleat_error err = { 0 };

	assert_int_equal(json_check_keys(cleat_doc_root(doc), &err), status);
	assert_string_equal(err.message, message);
	assert_int_equal(json_check_keys(cleat_doc_root(doc), NULL), status);
	cleat_doc_free(doc);
}

TEST(keys_are_checked_by_their_bytes)
{
	check("{}", CLEAT_OK, "");
	check("{\"a\":{\"b\":1,\"b\":2},\"A\":1}", CLEAT_OK, ""); /* nested ones are not its own */
	check("{\"a\":1,\"\\u0061\":2}", CLEAT_EPROTO, "the key \"a\" appears twice");
	check("{\"\":1,\"\":2}", CLEAT_EPROTO, "the key \"\" appears twice");
	check("{\"a\\u0000\":1}", CLEAT_EPROTO, "a key contains a NUL character");
	check("{\"a\\nb\":1,\"a\\nb\":2}", CLEAT_EPROTO, "the key \"a?b\" appears twice");
	check("{\"\xC3\xA9xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xC3\xA9yy\":1,"
	      "\"\xC3\xA9xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xC3\xA9yy\":2}",
	      CLEAT_EPROTO,
	      "the key \"\xC3\xA9xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" "
	      "appears twice");
}

static void check_all(const char *text, int status, const char *message)
{
	cleat_doc *doc = parse(text);
	cleat_error err = { 0 };

	assert_int_equal(json_check_all_keys(cleat_doc_root(doc), &err), status);
	assert_string_equal(err.message, message);
	cleat_doc_free(doc);
}

TEST(keys_are_checked_at_every_depth)
{
	check_all("1", CLEAT_OK, "");
	check_all("[]", CLEAT_OK, "");
	check_all("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}", CLEAT_OK, "");
	check_all("{\"a\":1,\"a\":1}", CLEAT_EPROTO, "the key \"a\" appears twice");
	check_all("[[{\"a\":1}],[1,{\"b\":[{\"c\":1,\"d\":[],\"c\":2}]}]]", CLEAT_EPROTO,
		  "the key \"c\" appears twice");
	check_all("{\"a\":[{\"x\\u0000\":1}]}", CLEAT_EPROTO, "a key contains a NUL character");
	assert_int_equal(json_check_all_keys(NULL, NULL), CLEAT_OK);
	/* A part of a document: what comes after it does not count. */
	{
		static const char text[] = "[{\"a\":1},{\"b\":1,\"b\":1}]";
		cleat_doc *doc = parse(text);

		assert_int_equal(json_check_all_keys(cleat_json_at(cleat_doc_root(doc), 0), NULL),
				 CLEAT_OK);
		cleat_doc_free(doc);
	}
}

/* It has no document, and is as good as any other. */
TEST(the_empty_object_is_one)
{
	const cleat_json *v = json_empty_object();
	cleat_doc *doc = parse("{}");
	cleat_json_iter it = cleat_json_each(v);
	char *text = cleat_json_print(v, NULL);

	assert_true(json_is_object(v));
	assert_int_equal(cleat_json_size(v), 0);
	assert_false(cleat_json_next(&it));
	assert_null(cleat_json_get(v, "a"));
	assert_true(cleat_json_equal(v, cleat_doc_root(doc)));
	assert_int_equal(json_check_all_keys(v, NULL), CLEAT_OK);
	assert_string_equal(text, "{}");
	free(text);
	cleat_doc_free(doc);
}

TEST(values_are_equal_as_json)
{
	assert_true(equal("null", "null"));
	assert_false(equal("true", "false"));
	assert_false(equal("null", "false"));
	assert_true(equal("\"\\u0061\\/\"", "\"a/\""));
	assert_false(equal("\"a\"", "\"a\\u0000\""));
	assert_true(equal("[]", "[ ]"));
	assert_false(equal("[]", "{}"));
	assert_false(equal("[1]", "[1,1]"));
	assert_false(equal("[1,2]", "[2,1]"));
	assert_false(equal("[[]]", "[1]"));
	assert_true(equal("{\"a\":1,\"b\":[{\"c\":2,\"d\":{}}]}",
			  "{\"b\":[{\"d\":{},\"c\":2.0}],\"a\":1}"));
	assert_false(equal("{\"a\":1,\"b\":[{\"c\":2,\"d\":{}}]}",
			   "{\"b\":[{\"d\":[],\"c\":2}],\"a\":1}"));
	assert_false(equal("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}"));
	assert_false(equal("{\"a\":1}", "{\"a\":1,\"b\":2}"));
	assert_true(cleat_json_equal(NULL, NULL));
}

TEST(null_equals_no_value)
{
	cleat_doc *doc = parse("null");

	assert_false(cleat_json_equal(NULL, cleat_doc_root(doc)));
	assert_false(cleat_json_equal(cleat_doc_root(doc), NULL));
	cleat_doc_free(doc);
}

/* Such an object equals another only in the same order. */
TEST(objects_with_duplicates_are_equal_only_in_order)
{
	assert_true(equal("{\"x\":1,\"x\":2}", "{\"x\":1,\"x\":2}"));
	assert_false(equal("{\"x\":1,\"x\":2}", "{\"x\":2,\"x\":1}"));
	assert_false(equal("{\"x\":1,\"x\":1}", "{\"x\":1,\"y\":1}"));
	assert_false(equal("{\"x\":1,\"y\":2,\"x\":1}", "{\"y\":2,\"x\":1,\"x\":1}"));
	assert_false(equal("{\"x\":1,\"x\":1,\"y\":1}", "{\"y\":1,\"x\":1,\"y\":1}"));
}

TEST(large_objects_are_equal_in_any_order)
{
	for (size_t i = 0; i < CLEAT_COUNT(sizes); i++) {
		const size_t n = sizes[i];
		cleat_doc *a = numbered(n, 0, 1, SIZE_MAX, 0);
		cleat_doc *b = numbered(n, n / 2, n - 1, SIZE_MAX, 0); /* backwards */
		cleat_doc *c = numbered(n, n / 2, n - 1, n - 1, 0);

		assert_true(cleat_json_equal(cleat_doc_root(a), cleat_doc_root(b)));
		assert_true(cleat_json_equal(cleat_doc_root(b), cleat_doc_root(a)));
		assert_int_equal(cleat_json_equal(cleat_doc_root(a), cleat_doc_root(c)), n == 1);
		assert_int_equal(cleat_json_equal(cleat_doc_root(c), cleat_doc_root(a)), n == 1);
		cleat_doc_free(a);
		cleat_doc_free(b);
		cleat_doc_free(c);
	}
}

/* Outer and inner objects are both too large for a scan, so that they fight for the one table. */
static cleat_doc *nested(size_t n, bool backwards, size_t odd)
{
	struct making m;
	char key[32];

	make_object(&m);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof key, "outer%zu", backwards ? n - 1 - i : i);
		jw_key(&m.w, key);
		jw_obj(&m.w);
		for (size_t j = 0; j < n; j++) {
			size_t number = backwards ? n - 1 - j : j;

			snprintf(key, sizeof key, "inner%zu", number);
			jw_key(&m.w, key);
			jw_uint(&m.w, i == odd && j == odd ? 4711 : number);
		}
		jw_obj_end(&m.w);
	}
	return made(&m);
}

TEST(large_objects_in_large_ones_are_compared)
{
	cleat_doc *a = nested(300, false, SIZE_MAX), *b = nested(300, true, SIZE_MAX);
	cleat_doc *c = nested(300, true, 150);

	assert_true(cleat_json_equal(cleat_doc_root(a), cleat_doc_root(b)));
	assert_false(cleat_json_equal(cleat_doc_root(a), cleat_doc_root(c)));
	assert_false(cleat_json_equal(cleat_doc_root(c), cleat_doc_root(b)));
	cleat_doc_free(a);
	cleat_doc_free(b);
	cleat_doc_free(c);
}

/* The table of the first pair must not be taken for that of the second. */
TEST(large_objects_beside_each_other_are_compared)
{
	cleat_doc *a = nested(60, false, SIZE_MAX), *b = nested(60, true, SIZE_MAX);
	cleat_doc *x = cleat_doc_newf(NULL, "[%p, %p]", (void *)cleat_doc_root(a),
				      (void *)cleat_json_get(cleat_doc_root(a), "outer7"));
	cleat_doc *y = cleat_doc_newf(NULL, "[%p, %p]", (void *)cleat_doc_root(b),
				      (void *)cleat_json_get(cleat_doc_root(b), "outer9"));
	cleat_doc *z = cleat_doc_newf(NULL, "[%p, %p]", (void *)cleat_doc_root(b),
				      (void *)cleat_doc_root(b));

	assert_true(cleat_json_equal(cleat_doc_root(x), cleat_doc_root(y)));
	assert_false(cleat_json_equal(cleat_doc_root(x), cleat_doc_root(z)));
	cleat_doc_free(a);
	cleat_doc_free(b);
	cleat_doc_free(x);
	cleat_doc_free(y);
	cleat_doc_free(z);
}

TEST(deepest_values_are_compared)
{
	char a[2049], b[2049];

	memset(a, '[', 1024);
	memset(a + 1024, ']', 1024);
	a[2048] = '\0';
	memcpy(b, a, sizeof b);
	assert_true(equal(a, b));
	memcpy(b + 1023, "{}", 2);
	assert_false(equal(a, b));
}

/* Keys that differ in pairs of blocks, so that what one block changes in a weak hash the next takes
 * back, whatever the seed: an earlier keys_hash() gave 718 hashes for these. */
TEST(keys_chosen_to_collide_do_not)
{
	enum { BITS = 10, KEYS = 1 << BITS, BLOCK = 16, SIZE = BITS * BLOCK };
	static char keys[KEYS][SIZE];
	static uint64_t hashes[KEYS];
	size_t twins = 0;

	for (size_t k = 0; k < KEYS; k++) {
		memset(keys[k], 'a', SIZE);
		for (size_t bit = 0; bit < BITS; bit++) {
			char *b = keys[k] + bit * BLOCK;

			if (!(k >> bit & 1))
				continue;
			b[3] ^= 0x40;
			b[7] ^= 0x40;
			b[12] ^= 0x02;
			b[15] ^= 0x40;
		}
	}
	for (size_t k = 0; k < KEYS; k++) {
		const yyjson_val v = { .tag = (uint64_t)SIZE << YYJSON_TAG_BIT | YYJSON_TYPE_STR,
				       .uni.str = keys[k] };

		hashes[k] = keys_hash(&v, 12345);
		for (size_t j = 0; j < k; j++)
			twins += hashes[j] == hashes[k];
	}
	assert_int_equal(twins, 0);
}
