/* tests/unit/test_json_hash.c - the hash of values: what is equal is hashed alike, and hardly
 * anything else is.
 */
#include "unit/json/json_rig.h"
#include "json/hash.h"

#include <stdio.h>
#include <string.h>

enum { SEED = 12345 };

static uint64_t hash_of(const char *text, uint64_t seed)
{
	cleat_doc *doc = parse(text);
	uint64_t h = json_hash(cleat_doc_root(doc), seed);

	cleat_doc_free(doc);
	return h;
}

/* Each line is one value in several spellings, and no two lines are equal. */
static const char *const spellings[][6] = {
	{ "null" },
	{ "true" },
	{ "false" },
	{ "0", "-0", "0.0", "-0e5", "0e99999999999999999999", "-0.000E-7" },
	{ "1", "1.0", "1e0", "10e-1", "0.1E1", "1.000" },
	{ "-1", "-1.0", "-1e0", "-10e-1" },
	{ "10", "1e1", "1.0e+1", "100e-1" },
	{ "0.1", "1e-1", "0.100", "10e-2" },
	{ "-0.1", "-1e-1" },
	{ "999999999999999", "999999999999999.0", "9.99999999999999e14" },
	{ "1000000000000000", "1e15", "0.001e18" },
	{ "-1000000000000000", "-1e15" },
	{ "18446744073709551615", "1844674407370955161.5e1" },
	{ "18446744073709551616", "184467440737095516160e-1", "18446744073709551616.00" },
	{ "18446744073709551617" },
	{ "123456789012345.6789012345678901", "1234567890123456789012345678901e-16" },
	{ "123456789012345.6789012345678902" },
	{ "1e999", "10e998", "0.01e1001" },
	{ "2e999" },
	{ "1e100000000000000001", "10e100000000000000000", "0.1e100000000000000002" },
	{ "1e99999999999999999999", "100e99999999999999999997", "0.1e100000000000000000000" },
	/* the exponents differ by 2^64 */
	{ "1e100000018446744073709551615", "10e100000018446744073709551614" },
	{ "1e100000000000000000000000000" },
	{ "1e-99999999999999999999", "100e-100000000000000000001" },
	{ "\"\"" },
	{ "\"a\"", "\"\\u0061\"" },
	{ "\"1\"" },
	{ "\"a\\u0000\"" },
	{ "\"null\"" },
	{ "[]", "[ ]" },
	{ "{}", "{ }" },
	{ "[[]]" },
	{ "[{}]" },
	{ "[null]" },
	{ "[[],[]]" },
	{ "[1,2]", "[1.0,20e-1]" },
	{ "[2,1]" },
	{ "[[1],2]" },
	{ "[[1,2]]" },
	{ "{\"a\":1}", "{\"\\u0061\":1.0}" },
	{ "{\"a\":\"a\"}" },
	{ "{\"b\":\"b\"}" },
	{ "{\"\":null}" },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "{\"b\":2e0,\"a\":10e-1}" },
	{ "{\"a\":2,\"b\":1}" },
	{ "{\"a\":{\"b\":1}}" },
	{ "{\"a\":[1,{\"x\":[],\"y\":{}}],\"b\":null,\"c\":-0}",
	  "{\"c\":0,\"b\":null,\"a\":[1.0,{\"y\":{},\"x\":[]}]}" },
	{ "{\"a\":[1,{\"x\":{},\"y\":[]}],\"b\":null,\"c\":0}" },
};

TEST(spellings_of_one_value_have_one_hash)
{
	for (size_t i = 0; i < CLEAT_COUNT(spellings); i++) {
		for (size_t j = 1; j < 6 && spellings[i][j]; j++) {
			assert_true(equal(spellings[i][0], spellings[i][j]));
			if (hash_of(spellings[i][0], SEED) != hash_of(spellings[i][j], SEED))
				fail_msg("%s and %s", spellings[i][0], spellings[i][j]);
		}
	}
}

TEST(different_values_have_different_hashes)
{
	for (size_t i = 0; i < CLEAT_COUNT(spellings); i++) {
		for (size_t j = 0; j < i; j++) {
			assert_false(equal(spellings[i][0], spellings[j][0]));
			if (hash_of(spellings[i][0], SEED) == hash_of(spellings[j][0], SEED))
				fail_msg("%s and %s", spellings[i][0], spellings[j][0]);
		}
	}
}

TEST(seed_changes_every_hash)
{
	for (size_t i = 0; i < CLEAT_COUNT(spellings); i++)
		for (uint64_t seed = 0; seed < 8; seed++)
			assert_true(hash_of(spellings[i][0], seed) !=
				    hash_of(spellings[i][0], seed + 1));
	assert_true(json_hash(NULL, 1) == json_hash(NULL, 1));
}

/* "An object in which a key appears twice equals another only member by member in the same order":
 * with equal hashes for more than that, the hash still agrees. */
TEST(keys_that_stand_twice_agree_with_equality)
{
	assert_true(equal("{\"a\":1,\"a\":2}", "{\"a\":1.0,\"a\":2.0}"));
	assert_true(hash_of("{\"a\":1,\"a\":2}", SEED) == hash_of("{\"a\":1.0,\"a\":2.0}", SEED));
	assert_true(hash_of("{\"a\":1,\"a\":2}", SEED) != hash_of("{\"a\":1,\"a\":1}", SEED));
	assert_true(hash_of("{\"a\":1,\"a\":1}", SEED) != hash_of("{\"a\":1}", SEED));
	assert_true(hash_of("{\"a\":1,\"a\":1}", SEED) != hash_of("{}", SEED));
}

/* ---- generated values ---------------------------------------------------------------------- */

struct gen {
	struct buf b;
	bool other;     /* the other spelling: members backwards, numbers written differently */
	size_t scalars; /* so far */
	size_t change;  /* this one of them becomes something else */
};

static uint64_t scramble(uint64_t n)
{
	n = (n ^ (n >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ (n >> 27)) * UINT64_C(0x94d049bb133111eb);
	return n ^ (n >> 31);
}

static void put_scalar(struct gen *g, uint64_t seed)
{
	unsigned n = 1 + (unsigned)(seed >> 32) % 1000;

	if (++g->scalars == g->change) {
		buf_appendz(&g->b, "\"changed\"");
		return;
	}
	switch (seed % 5) {
	case 0: buf_printf(&g->b, g->other ? "%u.0e-1" : "%ue-1", n); break;
	case 1: buf_printf(&g->b, g->other ? "-%u0000e-5" : "-%ue-1", n); break;
	case 2:
		buf_printf(&g->b, g->other ? "%u1234567890123456789e1" : "%u12345678901234567890",
			   n);
		break;
	case 3: buf_printf(&g->b, g->other ? "\"s\\u0074%u\"" : "\"st%u\"", n); break;
	default: buf_appendz(&g->b, n < 300 ? "true" : n < 600 ? "false" : "null"); break;
	}
}

/* What it makes is decided by `seed` alone, so that the order of members is free. */
static void put_value(struct gen *g, uint64_t seed, unsigned depth)
{
	const size_t n = (size_t)(seed >> 40) % (depth == 0 ? 60 : 6);
	const bool object = seed % 4 == 1;

	if (depth > 0 && (depth == 5 || seed % 4 > 1)) {
		put_scalar(g, scramble(seed));
		return;
	}
	buf_putc(&g->b, object ? '{' : '[');
	for (size_t i = 0; i < n; i++) {
		size_t member = object && g->other ? n - 1 - i : i;

		if (i > 0)
			buf_putc(&g->b, ',');
		if (object)
			buf_printf(&g->b, "\"key %zu\":", member);
		put_value(g, scramble(seed + member + 1), depth + 1);
	}
	buf_putc(&g->b, object ? '}' : ']');
}

static cleat_doc *generate(uint64_t seed, bool other, size_t change, size_t *scalars)
{
	struct gen g = { .other = other, .change = change };
	cleat_doc *doc;

	buf_init(&g.b, NULL, SIZE_MAX / 2);
	put_value(&g, seed, 0);
	assert_int_equal(buf_status(&g.b), CLEAT_OK);
	doc = parse_str(buf_str(&g.b));
	buf_done(&g.b);
	*scalars = g.scalars;
	return doc;
}

TEST(generated_values_agree_with_equality)
{
	size_t changed = 0;

	for (uint64_t i = 0; i < 400; i++) {
		uint64_t seed = scramble(i + 1) & ~UINT64_C(2); /* half of them objects */
		size_t n, ignored;
		cleat_doc *a = generate(seed, false, 0, &n), *b = generate(seed, true, 0, &ignored);
		cleat_doc *c = generate(seed, false, 1 + (size_t)i % (n ? n : 1), &ignored);
		const cleat_json *v = cleat_doc_root(a), *same = cleat_doc_root(b),
				 *differs = cleat_doc_root(c);

		assert_true(cleat_json_equal(v, same));
		assert_true(json_hash(v, i) == json_hash(same, i));
		if (n > 0) {
			assert_false(cleat_json_equal(v, differs));
			assert_true(json_hash(v, i) != json_hash(differs, i));
			changed++;
		}
		cleat_doc_free(a);
		cleat_doc_free(b);
		cleat_doc_free(c);
	}
	assert_in_range(changed, 300, 400);
}

/* As deep as anything is ever parsed; the depths are told apart. */
TEST(deepest_nesting_is_hashed)
{
	struct buf b;
	uint64_t before = 0;

	buf_init(&b, NULL, SIZE_MAX / 2);
	for (size_t depth = 1020; depth <= 1024; depth++) {
		cleat_doc *doc;
		uint64_t h;

		buf_truncate(&b, 0);
		for (size_t i = 0; i < depth; i++)
			buf_appendz(&b, i % 2 ? "[" : i + 1 < depth ? "{\"a\":" : "{");
		for (size_t i = depth; i-- > 0;)
			buf_putc(&b, i % 2 ? ']' : '}');
		doc = parse_str(buf_str(&b));
		h = json_hash(cleat_doc_root(doc), SEED);
		assert_true(h != before);
		before = h;
		cleat_doc_free(doc);
	}
	buf_done(&b);
}

/* 10,000 different values around two numbers below 100 into 65,536 slots: by chance some 9,270 are
 * taken, by a bad hash fewer. */
static void check_spread(const char *before, const char *between, const char *after)
{
	static unsigned char slots[65536];
	size_t taken = 0, fullest = 0;

	memset(slots, 0, sizeof slots);
	for (int i = 0; i < 10000; i++) {
		char text[64];
		size_t slot;

		snprintf(text, sizeof text, "%s1%02d%s1%02d%s", before, i / 100, between, i % 100,
			 after);
		slot = hash_of(text, SEED) & 0xFFFF;
		taken += slots[slot] == 0;
		slots[slot]++;
		if (slots[slot] > fullest)
			fullest = slots[slot];
	}
	assert_in_range(taken, 9150, 9400);
	assert_in_range(fullest, 1, 6);
}

TEST(small_values_spread_over_the_low_bits)
{
	check_spread("", "", "");
	check_spread("", ".", "");
	check_spread("1e", "", "");
	check_spread("\"", "", "\"");
	check_spread("[", "", "]");
	check_spread("[", ",", "]");
	check_spread("[[", "],[", "]]");
	check_spread("{\"", "\":", "}");
	check_spread("{\"a\":", ",\"b\":", "}");
	check_spread("{\"a\":1,\"b\":{\"c\":", "},\"d\":", "}");
}
